# SPDX-License-Identifier: BSD-3-Clause
"""Regularized least squares on differences of grades."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from tiebreak.data import Grades, read_data, read_grades
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.parameters import COUNT, POSITIVE, check_parameters, one_of
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import GroupLaplacian
from tiebreak.models.base import clones_along, split_groups
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.least_squares.normal_equations import (
    LARGEST,
    ColumnForm,
    KernelPoints,
    LeastSquaresProblem,
    RowForm,
    compared_squares,
    graded_squares,
)
from tiebreak.models.problem import dense_array, support


@dataclass(eq=False, repr=False)
class RankRLS(KernelUtility, BaseEstimator):
    """Rank regularized least squares: differences of utilities like those of grades.

    It solves ::

        minimize over w   Σ_{i<j} w_i w_j ((y_i - y_j) - (f_i - f_j))² + α ‖w‖²

    with f_i = w·Φ(x_i), a sum over pairs and not a mean, as a linear system. The pairs
    are

    - graded items: all pairs of a group, those of equal grades too. How far grades are
      apart matters;
    - orders: grades are minus the positions in a list, which start at 0;
    - a graph W in place of groups: Σ_{i<j} W_ij w_i w_j (…)², that is
      (y - f)ᵀL(y - f) with the Laplacian L = D - W. W = 1 inside groups is the first;
    - comparisons: Σ w_t (y_t - (f_right - f_left))², with y_t = 0 for a tie, or a real
      margin in place of y_t.

    Wrap it in :class:`ThresholdCompare` to predict ties.

    Parameters
    ----------
    alpha : float, default=10.0
        α > 0, the weight of the penalty.
    kernel, gamma, degree, coef0
        As in :class:`SVMCompare`.
    per_group : {"sum", "mean"}, default="sum"
        Graded items and orders: ``"mean"`` divides the pair sum of a group by the sum
        of its weights.
    solver : {"auto", "direct", "cg"}, default="auto"
        ``"direct"`` factors a matrix with one row per feature, or per item or
        comparison if these are fewer or have a kernel. ``"cg"`` is conjugate gradients.
        ``"auto"`` is direct up to 8192 rows.
    tol, max_iter : float, default=1e-10, and int, default=1000
        Relative duality gap and iterations of conjugate gradients.

    Attributes
    ----------
    coef_, items_, support_, dual_coef_, support_items_, item_coef_ : ndarray
        The utility, as in :class:`RankSVM`. A feature that is constant inside every
        group has weight zero.
    n_pairs_ : int
        Number of pairs.
    objective_, gap_, n_iter_, converged_, gamma_
        As in :class:`SVMCompare`; the gap is from the residual of the linear system.
    solver_ : {"cholesky", "eigen", "cg"}
        What solved the system.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from tiebreak import RankRLS
    >>> X = [[3.0, 1], [1, 1], [2, 0], [9, 1], [7, 0]]
    >>> y, qid = [2, 0, 1, 1, 0], ["a", "a", "a", "b", "b"]
    >>> model = RankRLS(0.1, kernel="linear").fit(X, y, qid=qid)
    >>> model.coef_.round(2)
    array([ 0.83, -0.22])
    >>> model.score(X, y, qid=qid)
    1.0
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True, "margin": True}
    _fits_items: ClassVar[bool] = True

    alpha: float = 10.0
    _: KW_ONLY
    per_group: Literal["sum", "mean"] = "sum"
    solver: Literal["auto", "direct", "cg"] = "auto"
    tol: float = 1e-10
    max_iter: int = 1000

    _parameters: ClassVar = {
        **dict.fromkeys(("alpha", "tol"), POSITIVE),
        "max_iter": COUNT,
        "per_group": one_of("sum", "mean"),
        "solver": one_of("auto", "direct", "cg"),
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
    ) -> Self:
        """Learn from comparisons, graded items or orders.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``.
        graph : sparse matrix or array-like of shape (n, n), optional
            Graded items: symmetric weights W of pairs of rows, in place of groups; a
            pair counts W_ij w_i w_j. Splitters cannot cut it. Not with qid.
        margin : array-like of shape (n,), optional
            Comparisons: real differences, right minus left, in place of y.

        Returns
        -------
        Self
        """
        problem = self._read(X, y, qid, sample_weight, graph, margin)
        return self._keep(self._solve(problem, problem.form()))

    def path(
        self,
        X: Any,
        y: ArrayLike | None = None,
        alphas: Iterable[float] = (),
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        graph: Any = None,
        margin: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit for several values of alpha, from one eigendecomposition.

        Parameters
        ----------
        X, y
            As in ``fit``.
        alphas : iterable of float
            Values of alpha.
        qid, sample_weight, graph, margin
            As in ``fit``.

        Returns
        -------
        iterator of fitted models
            One for each alpha, in order; this model itself is not fitted.
        """
        models = clones_along(self, "alpha", alphas)
        problem = self._read(X, y, qid, sample_weight, graph, margin)
        form = problem.form()
        return (model._keep(model._solve(problem, form, True)) for model in models)

    def leave_group_out(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Floats:
        """Utility of every item from a fit without its group, in closed form.

        It costs about two fits. ``gamma="scale"`` is that of all rows.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``fit``, with at least two groups, and no comparisons; a graph has no
            groups that could be left out.

        Returns
        -------
        ndarray of shape (n,)
            Utilities of the rows, or of the entries of the lists.
        """
        check_parameters(self)
        data = read_grades(X, y, qid, sample_weight)
        problem = graded_squares(self, data, keep_all=True)
        if self._by_products(problem):
            raise ValueError(
                "What is left out of a fit has a closed form where the direct solver "
                f"is used: up to {LARGEST} features or items, or with solver='direct'."
            )
        with one_blas_thread():
            return _leave_group_out(problem, self.alpha)

    def _read(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, graph: Any, margin: Any
    ) -> LeastSquaresProblem:
        check_parameters(self)
        data = read_data(X, y, qid, sample_weight, graph=graph, margin=margin)
        if isinstance(data, Grades):
            return graded_squares(self, data)
        return compared_squares(self, data)

    def _by_products(self, problem: LeastSquaresProblem) -> bool:
        return self.solver == "cg" or (self.solver == "auto" and not problem.fits())

    def _solve(
        self,
        problem: LeastSquaresProblem,
        form: ColumnForm | RowForm,
        again: bool = False,
    ) -> dict[str, Any]:
        """Solve; `again` shares what is to be computed once for several alphas."""
        alpha, scale = float(self.alpha), problem.scale
        # What overflows is refused. For the threads see data.threads: more only wait.
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            if self._by_products(problem):
                fit = form.by_products(alpha, self.tol, int(self.max_iter))
            else:
                solve = form.system.solve_again if again else form.system.solve
                fit = form.finish(solve(alpha), alpha)
            coef = form.coefficients(fit, scale)
            utility: dict[str, Any] = {"coef_": coef}
            if isinstance(problem.points, KernelPoints):
                utility = problem.points.items.keep(coef)
            row_coef = problem.row_coef(fit.b)
        return {
            **problem.data.attributes,
            **utility,
            **support(problem.rows, row_coef),
            **fit.fitted(self),
            "objective_": float(fit.value * scale * scale),
            "n_pairs_": problem.n_pairs,
        }


# Rows of the root B belong to one group each, so that leaving out a group g deletes
# rows of a ridge regression. With the system of columns, H = AᵀLA + α I, Z = B_g A,
#
#     x' = x - H⁻¹Zᵀ (I - Z H⁻¹Zᵀ)⁻¹ (t_g - Z x);
#
# with that of rows, P = (BKBᵀ + α I)⁻¹, the coefficients become
#
#     b' = b - P_{·g} P_gg⁻¹ b_g.


def _leave_group_out(problem: LeastSquaresProblem, alpha: float) -> Floats:
    """Give held-out utilities of the graded rows, shape (n,)."""
    laplacian: Any = problem.laplacian
    form = problem.form()
    if len(laplacian.size) < 2:
        raise ValueError(
            "To leave a group out there must be at least two groups, got one: without "
            "it there is nothing to learn from. Pass qid."
        )
    try:
        inverse = form.system.inverse(alpha)
    except la.LinAlgError:
        raise ValueError(
            f"alpha={alpha:g} is lost in the rounding of features or kernel, and a "
            "group left out then has no closed form. Try a larger alpha."
        ) from None
    groups = split_groups(laplacian.group)
    utility = np.empty(problem.points.n)
    if isinstance(form, RowForm):
        cross, b = form.cross, inverse @ form.target
        for rows in groups:
            push = la.solve(inverse[np.ix_(rows, rows)], b[rows], assume_a="pos")
            utility[rows] = cross[rows] @ (b - inverse[:, rows] @ push)
    else:
        x = form.system.solve(alpha).x
        for rows in groups:
            utility[rows] = _columns_without(form, inverse, x, rows, alpha)
    return problem.scale * utility


def _columns_without(
    form: ColumnForm, inverse: Floats, x: Floats, rows: Codes, alpha: float
) -> Floats:
    """Give held-out utilities of a group, by the system of columns."""
    A, laplacian = dense_array(form.A[rows]), cast(GroupLaplacian, form.laplacian)
    Z, t = laplacian.root_of(A, rows), form.target[rows]
    Z[:, form.constant] = 0.0
    if len(Z) > len(x):
        H = form.system.H - Z.T @ Z
        H.flat[:: len(H) + 1] += alpha
        return A @ (la.inv(H) @ (form.system.h - Z.T @ t))
    solved = inverse @ Z.T
    left = np.eye(len(Z)) - Z @ solved
    return A @ (x - solved @ la.solve(left, t - Z @ x, assume_a="pos"))
