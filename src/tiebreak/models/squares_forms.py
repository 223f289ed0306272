# SPDX-License-Identifier: BSD-3-Clause
"""Squared differences as a linear system: of columns, or of rows.

The program is ‖t - B u‖² + α‖w‖² for utilities u of n points, with the root B of a
Laplacian (m rows) and a target t. With u = A x it is a system for the q columns of A,
with u = K Bᵀ b one for the m rows of B; the smaller one is solved. In both

    b = (t - B u) / α    and    w = Σ (Bᵀb)_i Φ(x_i)

at the solution, and the duality gap is the squared residual of the system of rows, or
at most 1/α times that of the system of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data.messages import warn_user
from tiebreak.kernels import pivoted_cholesky
from tiebreak.losses import Laplacian
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.squares_points import CONSTANT, LinearPoints, Points, weigh_squares
from tiebreak.solvers.ridge import (
    RidgeSolution,
    RidgeSystem,
    solve_by_products,
    thin_inverse,
)

__all__ = ["ColumnForm", "RowForm", "SquaresFit"]

Floats = NDArray[np.float64]

# Columns of the preconditioner of a kernel, and memory for them in bytes.
_PIVOTS = 1000
_PIVOT_BYTES = 4e8
# Squared sizes are differences of sums where features are sparse.
_CONSTANT_SPARSE = 1e-7


@dataclass(frozen=True, eq=False)
class SquaresFit:
    """A solution of the program.

    Attributes
    ----------
    x : ndarray of shape (q,) or None
        Weights of the columns of the design, if these were solved for.
    b : ndarray of shape (m,)
        Coefficients of the rows of the root.
    value : float
        Value of the objective.
    gap : float
        Duality gap, relative to it.
    n_iter : int
        Number of iterations.
    method : str
        Name of the solver.
    n_dropped : int
        Number of directions that were left out because rounding hides them.
    idle : bool
        Whether the features tell no two compared points apart.
    """

    x: Floats | None
    b: Floats
    value: float
    gap: float
    n_iter: int
    method: str
    n_dropped: int
    idle: bool

    def unpack(self, model: Any) -> None:
        """Set what every convex model tells of its solution, and warn.

        Parameters
        ----------
        model : estimator
            The model that is being fitted, with its ``alpha`` and ``tol``.
        """
        model.gap_, model.n_iter_, model.solver_ = self.gap, self.n_iter, self.method
        model.converged_ = self.method != "cg" or self.gap <= model.tol
        name = type(model).__name__
        if self.idle:
            warn_user(
                f"{name} gives all items of a group the same utility: no feature has "
                "to do with the differences of their grades, or features are too small "
                "for floating-point numbers. Nothing was learned."
            )
        elif self.n_dropped:
            warn_user(
                f"alpha={model.alpha:g} is lost in rounding next to the squared "
                f"differences of the features, which leave {self.n_dropped} "
                "direction(s) open. The solution is the smallest one in these; try a "
                "larger alpha."
            )
        if not model.converged_:
            warn_user(
                f"{name} stopped after {self.n_iter} iterations with a relative "
                f"duality gap of {self.gap:.2g}; asked for tol={model.tol:g}. The "
                "result is kept. Try a larger max_iter, scaled features or a larger "
                "alpha.",
                ConvergenceWarning,
            )


class ColumnForm:
    """(AᵀLA + α I) x = AᵀBᵀt, of q columns.

    Parameters
    ----------
    points : Points
        n points with a design.
    laplacian : Laplacian
        L = BᵀB.
    target : ndarray of shape (m,)
        t.

    Attributes
    ----------
    constant : ndarray of bool of shape (q,)
        Columns that tell no two compared points apart; known once there is a `system`.
    """

    constant: NDArray[np.bool_]

    def __init__(self, points: Points, laplacian: Laplacian, target: Floats) -> None:
        self.points, self.laplacian, self.target = points, laplacian, target
        self.A = points.design

    @property
    def _right_side(self) -> Floats:
        return back_product(self.A, self.laplacian.root_transpose(self.target))

    @cached_property
    def _size(self) -> Floats:
        """What the diagonal of AᵀLA would be if points had nothing in common."""
        size: Floats = _finite(weigh_squares(self.A, self.laplacian.diagonal()))
        return size

    @cached_property
    def system(self) -> RidgeSystem:
        """The system that direct solvers factor."""
        H, h = _finite(self.laplacian.quadratic(self.A)), self._right_side
        size = self._size
        limit = _CONSTANT_SPARSE if sp.issparse(self.A) else CONSTANT
        # What rounding leaves of features that are constant inside groups is no signal.
        self.constant = H.diagonal() <= limit**2 * size
        H[self.constant] = 0.0
        H[:, self.constant] = 0.0
        h[self.constant] = 0.0
        return RidgeSystem(H, h)

    def by_products(self, alpha: float, tol: float, max_iter: int) -> SquaresFit:
        """Solve by conjugate gradients with a diagonal preconditioner."""
        A, L, h = self.A, self.laplacian, self._right_side
        size, start = self._size, float(self.target @ self.target)
        diagonal = size + alpha
        h[np.abs(h) <= CONSTANT * np.sqrt(size * start)] = 0.0
        least = np.finfo(np.float64).eps * start
        # With a large α zero is near the optimum, but it puts nothing in order.
        largest = float(h @ h)

        def allowed(x: Floats, residual: Floats) -> float:
            value = start - float(x @ (h + residual))
            return tol * min(alpha * max(value, least), largest)

        solution = solve_by_products(
            lambda v: back_product(A, L.product(forward_product(A, v))),
            h,
            alpha,
            lambda r: r / diagonal,
            allowed,
            max_iter,
        )
        return self.finish(solution, alpha)

    def finish(self, solution: RidgeSolution, alpha: float) -> SquaresFit:
        """Say what a solution of the system means.

        Parameters
        ----------
        solution : RidgeSolution
            For this α.
        alpha : float
            α.

        Returns
        -------
        SquaresFit
        """
        x = solution.x
        rest = self.target - self.laplacian.root(forward_product(self.A, x))
        value = float(rest @ rest) + alpha * float(x @ x)
        return SquaresFit(
            x,
            rest / alpha,
            value,
            solution.residual / (alpha * value),
            solution.n_iter,
            solution.method,
            solution.n_dropped,
            not x.any(),
        )

    def keep(self, model: KernelUtility, fit: SquaresFit, scale: float) -> None:
        """Set the attributes from which the model computes utilities."""
        assert fit.x is not None
        self.points.keep_columns(model, scale * fit.x)


class RowForm:
    """(BKBᵀ + α I) b = t, of m rows.

    Parameters
    ----------
    points : Points
        n points with a kernel.
    laplacian : Laplacian
        L = BᵀB.
    target : ndarray of shape (m,)
        t.
    """

    def __init__(self, points: Points, laplacian: Laplacian, target: Floats) -> None:
        self.points, self.laplacian, self.target = points, laplacian, target

    @cached_property
    def cross(self) -> Floats:
        """K Bᵀ, of shape (n, m)."""
        return _finite(self.points.cross(self.laplacian))

    @cached_property
    def system(self) -> RidgeSystem:
        """The system that direct solvers factor."""
        # K Bᵀ is as large, and kept only where it was asked for.
        kept = vars(self).get("cross")
        cross = self.points.cross(self.laplacian) if kept is None else kept
        H = self.laplacian.root(_finite(cross))
        return RidgeSystem(_finite(H), self.target)

    @cached_property
    def _size(self) -> float:
        """What the trace of BKBᵀ would be if points had nothing in common."""
        return float(self.laplacian.diagonal() @ self.points.diagonal())

    def product(self, b: Floats) -> Floats:
        """Give BKBᵀ b."""
        return self.laplacian.root(
            self.points.product(self.laplacian.root_transpose(b))
        )

    def by_products(self, alpha: float, tol: float, max_iter: int) -> SquaresFit:
        """Solve by conjugate gradients; some columns of K make the preconditioner."""
        t = self.target

        def allowed(b: Floats, residual: Floats) -> float:
            value = float(residual @ residual + alpha * (b @ (t + residual)))
            return tol * max(value, 0.0)

        solution = solve_by_products(
            self.product,
            t,
            alpha,
            thin_inverse(self._thin, alpha),
            allowed,
            max_iter,
        )
        return self.finish(solution, alpha)

    @cached_property
    def _thin(self) -> Floats:
        """B F for a thin factor of the kernel, K ≈ F Fᵀ; shape (m, r)."""
        m = self.laplacian.n_roots
        factor = pivoted_cholesky(
            lambda rows: self.points.block(rows),
            _finite(self.points.diagonal()),
            max_pivots=int(min(_PIVOTS, max(1, _PIVOT_BYTES // (8 * m)))),
            tol=1e-12,
            all_or_nothing=False,
        )
        if factor.indefinite:
            raise ValueError(
                "the kernel between the training items is not positive semidefinite: "
                f"what {len(factor.pivots)} of them leave of its diagonal is negative, "
                "so there is no norm to penalize. Try another kernel, or for a "
                "polynomial one coef0 ≥ 0."
            )
        return self.laplacian.root(np.ascontiguousarray(factor.rows.T))

    def finish(self, solution: RidgeSolution, alpha: float) -> SquaresFit:
        """Say what a solution of the system means.

        Parameters
        ----------
        solution : RidgeSolution
            For this α.
        alpha : float
            α.

        Returns
        -------
        SquaresFit
        """
        b = solution.x
        direct = solution.method != "cg"
        differences = self.system.H @ b if direct else self.product(b)
        rest = self.target - differences
        value = float(rest @ rest) + alpha * float(b @ differences)
        trace = np.trace(self.system.H) if direct else np.sum(self._thin**2)
        # Kernel values are centered after they were computed, and lose digits to it.
        limit = 0.0 if isinstance(self.points, LinearPoints) else CONSTANT
        idle = bool(trace <= limit * self._size)
        return SquaresFit(
            None,
            0.0 * b if idle else b,
            value,
            solution.residual / value,
            solution.n_iter,
            solution.method,
            solution.n_dropped,
            idle,
        )

    def keep(self, model: KernelUtility, fit: SquaresFit, scale: float) -> None:
        """Set the attributes from which the model computes utilities."""
        self.points.keep_roots(model, self.laplacian, scale * fit.b)


def _finite(values: Any) -> Any:
    if not np.isfinite(values).all():
        raise ValueError(
            "the sum of squared differences overflows, so there is no solution in "
            "floating-point numbers. Scale the features first, for example with "
            "StandardScaler, or try smaller weights."
        )
    return values
