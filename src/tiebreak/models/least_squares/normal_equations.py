# SPDX-License-Identifier: BSD-3-Clause
"""Squared differences as a linear system: of columns, or of rows.

The program is ‖t - B u‖² + α‖w‖² for utilities u of n points, with the root B of a
Laplacian (m rows) and a target t. With u = A x it is a system for the q columns of A,
with u = K Bᵀ b one for the m rows of B; the smaller one is solved. In both

    b = (t - B u) / α    and    w = Σ (Bᵀb)_i Φ(x_i)

at the solution, and the duality gap is the squared residual of the system of rows, or
at most 1/α times that of the system of columns.

Points at which a utility is asked for squared differences, and their kernel.

A utility is w·Φ(x). Penalized least squares knows it in one of two ways: by weights of
the columns of a design A, u = A x and ‖w‖ = ‖x‖, or by coefficients of the points,
u = K a and ‖w‖² = aᵀKa, with the kernel matrix K = A Aᵀ of the n points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data.messages import warn_user
from tiebreak.data.threads import chunks, in_threads
from tiebreak.kernels import FunctionKernel, GramKernel, ItemKernel, pivoted_cholesky
from tiebreak.kernels.rows import DifferenceRows
from tiebreak.losses import Laplacian
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.models.kernel_utility import KernelFactor, KernelUtility, factor_kernel
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers.ridge import (
    RidgeSolution,
    RidgeSystem,
    solve_by_products,
    thin_inverse,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# A feature that varies by less, inside groups and relative to its size, is constant.
CONSTANT = 1e-12
# Columns that are made dense, or rows of a kernel that are computed, at a time.
_CHUNK = 1024
# Smallest eigenvalue of a kernel matrix that rounding explains, relative to its size.
_ROUNDING = 1e-8


class Points(Protocol):
    """n points and the kernel between them."""

    n: int
    n_columns: int

    @property
    def design(self) -> Any:
        """A, of shape (n, q)."""
        ...

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m), for the root B of a Laplacian."""
        ...

    def gram(self, rows: Codes) -> Floats:
        """Give K between some of the points."""
        ...

    def product(self, a: Floats) -> Floats:
        """Give K a."""
        ...

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        ...

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        ...

    def keep_columns(self, model: KernelUtility, x: Floats) -> None:
        """Set the attributes of a utility with weights x of the columns of A."""
        ...

    def keep_roots(self, model: KernelUtility, laplacian: Laplacian, b: Floats) -> None:
        """Set the attributes of a utility with coefficients Bᵀb of the points."""
        ...


class LinearPoints:
    """Points with features: A holds them, and K = A Aᵀ.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, p)
        Features.
    """

    def __init__(self, X: Any) -> None:
        self.design = X
        self.n, self.n_columns = X.shape

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m)."""
        cross = np.zeros((self.n, laplacian.n_roots))
        for X, Z in self._rooted(laplacian):
            cross += X @ Z.T
        return cross

    def _rooted(self, laplacian: Laplacian) -> Iterator[tuple[Any, Floats]]:
        """Give X and B X, some columns at a time.

        Centered features lose no digits to their distance from the origin, and what
        rounding leaves of features that are constant inside groups is set to zero.
        """
        diagonal = laplacian.diagonal()
        columns = self.design.tocsc() if sp.issparse(self.design) else self.design
        for start in range(0, self.n_columns, _CHUNK):
            X = columns[:, start : start + _CHUNK]
            dense = _dense(X)
            Z = laplacian.root(dense)
            size = weigh_squares(dense, diagonal)
            Z[:, np.einsum("ij,ij->j", Z, Z) <= CONSTANT**2 * size] = 0.0
            yield X, Z

    def gram(self, rows: Codes) -> Floats:
        """Give K between some of the points."""
        X = self.design[rows]
        return _dense(X @ X.T)

    def product(self, a: Floats) -> Floats:
        """Give K a."""
        return np.asarray(self.design @ (self.design.T @ a))

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        return _dense(self.design[rows] @ self.design.T)

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        return DifferenceRows(self.design).diagonal()

    def keep_columns(self, model: KernelUtility, x: Floats) -> None:
        """Set ``coef_``."""
        model.coef_ = x

    def keep_roots(self, model: KernelUtility, laplacian: Laplacian, b: Floats) -> None:
        """Set ``coef_``."""
        model.coef_ = np.concatenate([b @ Z for _, Z in self._rooted(laplacian)])


class KernelPoints:
    """Points that are items with a kernel; several may be the same item.

    Parameters
    ----------
    items : TrainingItems
        Distinct items with a kernel function or a Gram matrix.
    code : ndarray of int of shape (n,)
        The item of each point.
    """

    def __init__(self, items: TrainingItems, code: Codes) -> None:
        self.items, self.code = items, code
        self.n = len(code)
        # Items of a Gram matrix may not all occur.
        self._used, self._place = np.unique(code, return_inverse=True)
        self.n_columns = len(self._used)
        self._kernel: ItemKernel
        if items.gram is not None:
            self._kernel = GramKernel(items.gram)
        else:
            assert items.function is not None and items.table is not None
            self._kernel = FunctionKernel(items.function, items.table.values)

    @cached_property
    def _factor(self) -> KernelFactor:
        return factor_kernel(self.items, self._used)

    @property
    def design(self) -> Floats:
        """A, the factor of K: shape (n, q), with q at most the number of items."""
        return self._factor.values[self._place]

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m)."""
        gram = np.empty((self.n_columns, self.n_columns))

        def fill(rows: slice) -> None:
            # Threads do not inherit what the caller says about overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                block = self._kernel.block(self._used[rows], np.float64)
            # Of a precomputed kernel not all items need occur.
            gram[rows] = block[:, self._used]

        in_threads(fill, chunks(self.n_columns, _CHUNK))
        self._refuse_indefinite(gram)
        if not np.array_equal(self._place, np.arange(self.n_columns)):
            gram = gram[np.ix_(self._place, self._place)]
        return laplacian.root(gram).T

    def gram(self, rows: Codes) -> Floats:
        """Give K between some of the points."""
        return self.block(rows)[:, rows]

    def product(self, a: Floats) -> Floats:
        """Give K a, by blocks of kernel values that are not kept."""
        on_items = np.bincount(self.code, a, self._kernel.n_items)
        return self._kernel.product(on_items.astype(np.float64))[self.code]

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        return self._kernel.block(self.code[rows], np.float64)[:, self.code]

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        return self._kernel.paired(self.code, self.code)

    def keep_columns(self, model: KernelUtility, x: Floats) -> None:
        """Set the coefficients of the pivots of the factor."""
        a = np.zeros(self.items.n_items)
        a[self._used[self._factor.pivots]] = self._factor.item_coef(x)
        model._keep_expansion(self.items, a)

    def keep_roots(self, model: KernelUtility, laplacian: Laplacian, b: Floats) -> None:
        """Set the coefficients of the items."""
        a = laplacian.root_transpose(b)
        on_items = np.bincount(self.code, a, self.items.n_items)
        model._keep_expansion(self.items, on_items.astype(np.float64))

    def _refuse_indefinite(self, gram: Floats) -> None:
        if not np.isfinite(gram).all():
            raise ValueError(
                "the kernel between the training items is not finite: some of its "
                "values are NaN or inf. Scale the features first, for example with "
                "StandardScaler, or try another kernel."
            )
        function = self.items.function
        known = function is not None and function.name in ("linear", "rbf")
        if known or (
            function is not None and function.name == "poly" and function.coef0 >= 0
        ):
            return
        scale = np.abs(gram).max(initial=0.0)
        moved = gram + (_ROUNDING * scale * len(gram)) * np.eye(len(gram))
        try:
            la.cholesky(moved, lower=True, overwrite_a=True, check_finite=False)
        except la.LinAlgError:
            lowest = la.eigvalsh(gram, subset_by_index=[0, 0])[0]
            if lowest >= -_ROUNDING * scale * len(gram):  # zero, but for rounding
                return
            raise ValueError(
                "the kernel between the training items is not positive semidefinite: "
                f"its matrix has the eigenvalue {lowest:.3g}, so there is no norm to "
                "penalize. Try another kernel, or for a polynomial one coef0 ≥ 0."
            ) from None


def weigh_squares(A: Any, weight: Floats) -> Floats:
    """Give the sum of squares of every column, rows weighted.

    Parameters
    ----------
    A : ndarray or sparse array of shape (n, q)
        Columns.
    weight : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (q,)
    """
    if sp.issparse(A):
        return np.asarray(A.multiply(A).T @ weight)
    return np.einsum("ij,ij,i->j", A, A, weight)


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if sp.issparse(values) else values)


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

    def fitted(self, model: Any) -> dict[str, Any]:
        """Return what every convex model says of its solution, and warn.

        Parameters
        ----------
        model : estimator
            The model that is being fitted, with its ``alpha`` and ``tol``.
        """
        converged = self.method != "cg" or self.gap <= model.tol
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
        if not converged:
            warn_user(
                f"{name} stopped after {self.n_iter} iterations with a relative "
                f"duality gap of {self.gap:.2g}; asked for tol={model.tol:g}. The "
                "result is kept. Try a larger max_iter, scaled features or a larger "
                "alpha.",
                ConvergenceWarning,
            )
        return {
            "gap_": self.gap,
            "n_iter_": self.n_iter,
            "solver_": self.method,
            "converged_": converged,
        }


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
