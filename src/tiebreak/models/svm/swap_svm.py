# SPDX-License-Identifier: BSD-3-Clause
"""The structural support vector machine that minimizes swapped pairs."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from tiebreak.data import read_grades
from tiebreak.data.parameters import COUNT, POSITIVE, check_parameters
from tiebreak.losses import GradeHinge
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.problem import GradedProblem, graded_problem
from tiebreak.models.svm import duals


@dataclass(eq=False, repr=False)
class SwapSVM(KernelUtility, BaseEstimator):
    """Structural support vector machine of swapped pairs: RankSVM in a paper's scale.

    ``SwapSVM(C)`` orders as ``RankSVM(4 * C)`` with the hinge. Prefer :class:`RankSVM`,
    which takes more kinds of data; use this one to repeat published results with their
    values of C.

    The right order must win against every other by a margin, the number of pairs they
    disagree on, with one slack for all::

        minimize over w, ξ ≥ 0   ½ ‖w‖² + C ξ
        such that   ξ ≥ Σ_{(i,j) swapped} w_i w_j (1 - 2 w·(Φ(x_i) - Φ(x_j)))
                    for every set of swapped pairs (i better than j).

    The largest right side has the pairs with a positive term, so ::

        ξ = Σ_{y_i > y_j} w_i w_j (1 - 2 w·(Φ(x_i) - Φ(x_j)))₊,

    a sum over pairs and not a mean: the w of ``SwapSVM(C)`` is half of that of
    ``RankSVM(4 * C)``, and its objective a quarter.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the slack.
    kernel, gamma, degree, coef0, tol, max_iter
        As in :class:`RankSVM`.

    Attributes
    ----------
    coef_, support_, dual_coef_, support_items_, item_coef_ : ndarray
        As in :class:`RankSVM`.
    n_pairs_, objective_, gap_, n_iter_, converged_, solver_, gamma_
        As in :class:`RankSVM`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from tiebreak import SwapSVM
    >>> X = [[3.0, 1], [1, 1], [2, 0], [9, 1], [7, 0]]
    >>> y, qid = [2, 0, 1, 1, 0], ["a", "a", "a", "b", "b"]
    >>> model = SwapSVM(kernel="linear").fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid)
    1.0
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    C: float = 1.0
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 10_000

    _parameters: ClassVar = {
        **dict.fromkeys(("C", "tol"), POSITIVE),
        "max_iter": COUNT,
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from graded items or orders.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``, without comparisons.

        Returns
        -------
        Self
        """
        return self._keep(self._solve(self._read(X, y, qid, sample_weight))[0])

    path = duals.path

    def _read(self, *data: Any) -> GradedProblem:
        check_parameters(self)
        return graded_problem(self, read_grades(*data))

    def _solve(self, problem: GradedProblem, last: Any = None) -> duals.Fitted:
        slack = GradeHinge(problem.tree, slope=2.0)  # ξ as a function of utilities
        return duals.fit_graded(self, problem, slack, last)
