# SPDX-License-Identifier: BSD-3-Clause
"""Support vector ordinal regression: one utility and a threshold between grades.

Boundary convention: a utility exactly at a threshold belongs to the higher grade.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Orders, is_pairs, read_grades
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.parameters import check_parameters
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.problem import CellProblem, sided_problem
from tiebreak.models.svm import duals

# Every threshold constrains every item.
_MAX_GRADES = 50


@dataclass(eq=False, repr=False)
class OrdinalSVM(KernelUtility, BaseEstimator):
    """Ordinal regression: a utility, and thresholds that cut it into grades.

    With r grades and z_ij = +1 if the grade of item i is above threshold j, else -1, it
    solves (the implicit constraints of Chu and Keerthi) ::

        minimize over w, b   ½ ‖w‖² + C Σ_i w_i Σ_{j<r} (1 - z_ij (w·Φ(x_i) - b_j))₊,

    a sum over items and thresholds and not a mean. Only the order of the grades
    matters. The thresholds come out in order, b_1 ≤ … ≤ b_{r-1}, without a constraint.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    kernel, gamma, degree, coef0, tol, max_iter, cache_size
        As in :class:`SVMCompare`. ``"precomputed"``: X has the kernel values.

    Attributes
    ----------
    thresholds_ : ndarray of shape (r - 1,)
        b, ascending; the middle where an interval is optimal.
    grades_ : ndarray of shape (r,)
        The distinct grades, ascending.
    coef_, support_, dual_coef_, support_items_, item_coef_ : ndarray
        The utility, as in :class:`RankSVM`.
    objective_, gap_, n_iter_, converged_, solver_, gamma_
        As in :class:`SVMCompare`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Grades must mean the same for all items: more than one group is refused. For groups
    take :class:`RankSVM`.

    Examples
    --------
    >>> from tiebreak import OrdinalSVM
    >>> X = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]
    >>> model = OrdinalSVM(C=10, kernel="linear").fit(X, [1, 1, 2, 2, 3, 3])
    >>> model.coef_, model.thresholds_
    (array([0.6667]), array([1.6667, 4.3333]))
    >>> model.predict([[2.4], [2.6], [100.0]])
    array([1., 2., 3.])
    >>> model.order(X)
    array([5, 4, 3, 2, 1, 0])
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    C: float = 1.0
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 10_000
    cache_size: float = 200

    _parameters: ClassVar = duals.DUAL_PARAMETERS

    _fitted_arrays: ClassVar = {"grades_": "g: rising", "thresholds_": "g+-1"}

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from graded items.

        Parameters
        ----------
        X, y, qid, sample_weight
            Items of one group as in ``RankSVM.fit``, with two to 50 different grades. A
            weight of 2 is the same as a second row.

        Returns
        -------
        Self
        """
        return self._keep(self._solve(self._read(X, y, qid, sample_weight))[0])

    path = duals.path

    def _read(self, *data: Any) -> CellProblem:
        check_parameters(self)
        if isinstance(data[0], Orders):
            raise TypeError(
                "OrdinalSVM learns from graded items, and orders have no common "
                "grades. Try RankSVM, which takes these too."
            )
        items = read_grades(*data)
        present = np.flatnonzero(items.weight)
        grades, grade = np.unique(items.y[present], return_inverse=True)
        _check_grades(grades, items.group[present])
        is_above = grade > np.arange(len(grades) - 1)[:, None]
        side = np.where(is_above, 1, -1).astype(np.int8)
        return sided_problem(self, items, present, side)

    def _solve(self, problem: CellProblem, last: Any = None) -> duals.Fitted:
        loading = np.ones((len(problem.weight) // 2, 1))
        fitted, solution = duals.fit_thresholds(self, problem, loading, last)
        # They come out in order, but for the rounding of weights that add up to zero.
        fitted["thresholds_"] = np.maximum.accumulate(fitted["thresholds_"])
        fitted["grades_"] = np.unique(problem.data.y[problem.rows])
        return fitted, solution

    def predict(self, X: Any) -> NDArray[Any]:
        """Grades of items, or outcomes of comparisons.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features), or Pairs
            Items, seen or unseen. Pairs and 3-D arrays are comparisons.

        Returns
        -------
        ndarray of shape (n,)
            One of ``grades_`` for each item, exactly at a threshold the higher one; -1,
            0 or +1 for comparisons.
        """
        check_is_fitted(self)
        if is_pairs(X):
            return super().predict(X)
        above = np.searchsorted(self.thresholds_, self.utility(X), side="right")
        return self.grades_[above]


def _check_grades(grades: Floats, group: Codes) -> None:
    if (n_groups := len(np.unique(group))) > 1:
        raise ValueError(
            f"qid has {n_groups} groups, but OrdinalSVM has one set of thresholds for "
            "all items; expected one group. Try RankSVM, or leave qid out."
        )
    if len(grades) == 1:
        raise ValueError(
            f"all items ({len(group)} sample(s)) have the grade {grades[0]:g}; "
            "expected two grades or more, or there is no threshold to learn."
        )
    if len(grades) > _MAX_GRADES:
        raise ValueError(
            f"y has {len(grades)} different grades; OrdinalSVM expects at most "
            f"{_MAX_GRADES}. Bin them, or try RankSVM, which takes any number."
        )
