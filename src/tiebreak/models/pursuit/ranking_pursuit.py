# SPDX-License-Identifier: BSD-3-Clause
"""Pursuits of one utility: a greedy sum of kernel functions."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from tiebreak.data import Grades, ItemTable, read_data, read_grades
from tiebreak.data.arrays import Floats
from tiebreak.data.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    Values,
    check_parameters,
    one_of,
)
from tiebreak.kernels import KernelDictionary, MatrixDictionary
from tiebreak.kernels.cholesky import refuse_indefinite
from tiebreak.kernels.functions import Gamma, Kernel
from tiebreak.models.base import UtilityMixin
from tiebreak.models.kernel_utility import expand_support, weigh_features
from tiebreak.models.pursuit.problem import (
    PursuitProblem,
    problem_of_comparisons,
    problem_of_differences,
    problem_of_values,
    validation_errors,
    warn_of_path,
)
from tiebreak.solvers import pursue
from tiebreak.solvers.pursuit import penalize_path


@dataclass(eq=False, repr=False)
class KernelPursuit(UtilityMixin):
    """Utility Σ dual_coef_[j] k(support_items_[j], x), chosen function by function."""

    n_basis: int = 10
    _: KW_ONLY
    alpha: float = 0.0
    kernel: Kernel = "rbf"
    gamma: Gamma = "scale"
    degree: int = 3
    coef0: float = 0.0
    backfit: bool = True
    prefit: bool = False
    cache_size: float = 500

    _fits_items: ClassVar[bool] = True

    _parameters: ClassVar[Mapping[str, Values]] = {
        "n_basis": COUNT,
        "alpha": NOT_NEGATIVE,
        **dict.fromkeys(("backfit", "prefit"), FLAG),
        "cache_size": POSITIVE,
    }
    _fitted_arrays: ClassVar = {
        "path_": "f f",
        "path_support_": "f: index",
        "objective_path_": "f+1",
        "support_": "k: index",
        "dual_coef_": "k",
        "support_items_": "k p",
    }

    def _pursue(self, problem: PursuitProblem, validation: Any) -> Self:
        """Choose and fit the functions; keep as many as validation chooses."""
        if self.prefit and not self.backfit:
            raise ValueError(
                f"{type(self).__name__} got prefit=True with backfit=False, but prefit "
                "chooses the best column after back-fitting. Use backfit=True."
            )
        items, form, b = problem.items, problem.form, problem.b
        columns: KernelDictionary | MatrixDictionary
        if items.gram is not None:
            columns = MatrixDictionary(items.gram)
        else:
            values, memory = items.table.values, 1e6 * self.cache_size
            columns = KernelDictionary(items.function, values, values, memory)
        path = pursue(
            columns,
            form,
            b,
            problem.c,
            n_steps=int(self.n_basis),
            backfit=self.backfit,
            prefit=self.prefit,
        )
        chosen = path.columns
        basis = items.keep_support(chosen)
        if self.alpha and self.backfit and len(chosen):
            inner = items.kernel.between(chosen, chosen)
            try:
                path = penalize_path(
                    path, columns.columns(chosen), inner, form, b, float(self.alpha)
                )
            except la.LinAlgError:
                refuse_indefinite("that of the chosen centers has no Cholesky factor")
        n_steps = len(path.coefs)
        warn_of_path(self, n_steps, path.exhausted)
        unit, learned = problem.unit, {**problem.data.attributes, **basis}
        with np.errstate(over="ignore", under="ignore"):
            objective = unit * (unit * path.objective)
        if validation is not None:
            draft = clone(self)._keep(learned)
            errors = validation_errors(
                draft,
                validation,
                lambda table: expand_support(draft, table.values, path.coefs.T),
            )
            if n_steps:
                learned["validation_path_"] = errors
                n_steps = int(np.argmin(errors)) + 1
        n_taken = int(path.n_taken[n_steps - 1]) if n_steps else 0
        coefs = unit * path.coefs
        coef = coefs[n_steps - 1, :n_taken].copy() if n_steps else np.zeros(0)
        learned |= {
            "path_": coefs,
            "path_support_": basis["support_"],
            "objective_path_": objective,
            "n_basis_": n_steps,
            "support_": basis["support_"][:n_taken],
            "dual_coef_": coef,
        }
        if items.gram is None:
            centers = learned["support_items_"] = basis["support_items_"][:n_taken]
            if items.is_linear:
                learned["coef_"] = np.asarray(centers.T @ coef).ravel()
        return self._keep(learned)

    def _utility(self, table: ItemTable) -> Floats:
        if hasattr(self, "coef_"):
            return weigh_features(table.values, self.coef_)
        return expand_support(self, table.values, self.dual_coef_)


@dataclass(eq=False, repr=False)
class RankingPursuit(KernelPursuit, BaseEstimator):
    """A ranking function of a few kernel functions, one chosen after another.

    The utility is r(x) = Σ a_j k(c_j, x) with few centers c_j. It minimizes

    - graded items and orders: Σ w_i w_j ((s_i - s_j) - (r(x_i) - r(x_j)))² over all
      pairs of rows of a group, those of equal grades too: (s - f)ᵀL(s - f) with the
      Laplacian L of the groups, or of a graph;
    - comparisons: Σ w (y - (r(right) - r(left)))² with y = -1, 0, +1, or real margins.

    Both are sums and not means. For the residual ρ = s - f a column k of kernel values
    makes the sum smaller by (kᵀLρ)² / kᵀLk; the largest is taken. With back-fitting all
    coefficients are then solved for again, with the penalty α ‖r‖² of :class:`RankRLS`.

    Parameters
    ----------
    n_basis : int, default=10
        Number of steps; with a validation set in ``fit`` the largest to try.
    alpha : float, default=1.0
        Penalty of ‖r‖², at least 0. Functions are chosen without it, and it has no
        effect without back-fitting.
    kernel, gamma, degree, coef0
        As in :class:`SVMCompare`.
    backfit : bool, default=True
        Whether all coefficients are solved for again after every step. If not, a basis
        function may be chosen several times.
    cache_size : float, default=500
        Megabytes for columns of kernel values.
    per_group : {"sum", "mean"}, default="sum"
        Graded items, orders: ``"mean"`` divides the sum of a group by its size.
    prefit : bool, default=False
        Whether to choose the function that is best after back-fitting.

    Attributes
    ----------
    support_ : ndarray of int of shape (k,)
        Rows of the chosen centers in the item table, in the order of choice; of
        identical items the first.
    dual_coef_ : ndarray of shape (k,)
        Their coefficients.
    support_items_ : ndarray or csr_array of shape (k, n_features)
        The chosen centers, unless the kernel is precomputed.
    coef_ : ndarray of shape (n_features,)
        Weights of the features, for the linear kernel.
    n_basis_ : int
        Number of steps kept.
    path_, path_support_ : ndarray
        Coefficients after every step, shape (n_steps, n_chosen), and ``support_`` of
        the whole path, also beyond ``n_basis_``.
    objective_path_ : ndarray of shape (n_steps + 1,)
        The penalized sum of squares before the first step and after every step.
    validation_path_ : ndarray
        Fraction of swapped pairs, or of wrong comparisons, in the validation set after
        every step.
    gamma_ : float
        The gamma used.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import RankingPursuit
    >>> X = np.linspace(0, 5, 100)[:, None]
    >>> y = -np.abs(X.ravel() - 2.5)
    >>> model = RankingPursuit(n_basis=3, gamma=0.5).fit(X, y)
    >>> model.dual_coef_.shape
    (3,)
    >>> model.score(X, y) > 0.98
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True, "margin": True}
    _fits_pairs: ClassVar[bool] = True

    _: KW_ONLY
    alpha: float = 1.0
    per_group: Literal["sum", "mean"] = "sum"

    _parameters: ClassVar = {
        **KernelPursuit._parameters,
        "per_group": one_of("sum", "mean"),
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        graph: Any = None,
        margin: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from graded items, orders or comparisons.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``.
        graph, margin
            As in ``RankRLS.fit``.
        validation : (X, y) or (X, y, qid), optional
            Data on which the number of steps, 1 to ``n_basis``, is chosen: the smallest
            with the least error.

        Returns
        -------
        Self
        """
        check_parameters(self)
        data = read_data(X, y, qid, sample_weight, graph=graph, margin=margin)
        if isinstance(data, Grades):
            return self._pursue(problem_of_differences(self, data), validation)
        return self._pursue(problem_of_comparisons(self, data), validation)


@dataclass(eq=False, repr=False)
class MatchingPursuit(KernelPursuit, BaseEstimator):
    """Grades as a sum of a few kernel functions, one chosen after another.

    It is :class:`RankingPursuit` with L the identity: it minimizes ::

        Σ w_i (s_i - r(x_i))²,    r(x) = Σ a_j k(c_j, x),

    a sum over items and not a mean. Groups play no part in the fit, only in ``score``.
    There is no intercept.

    Parameters
    ----------
    n_basis, alpha, kernel, gamma, degree, coef0, backfit, cache_size, prefit
        As in :class:`RankingPursuit`; the default of ``alpha`` is 0.

    Attributes
    ----------
    support_, dual_coef_, support_items_, coef_, gamma_
        As in :class:`RankingPursuit`.
    n_basis_, path_, path_support_, objective_path_, validation_path_
        As in :class:`RankingPursuit`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import MatchingPursuit
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = MatchingPursuit(n_basis=6, gamma=0.5).fit(X, np.sin(X.ravel()))
    >>> bool(np.abs(model.utility(X) - np.sin(X.ravel())).max() < 0.1)
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from graded items or orders.

        Parameters
        ----------
        X, y, qid, sample_weight, validation
            As in ``RankingPursuit.fit``, without comparisons; grades of orders are
            minus the positions.

        Returns
        -------
        Self
        """
        check_parameters(self)
        data = read_grades(X, y, qid, sample_weight)
        return self._pursue(problem_of_values(self, data), validation)
