# SPDX-License-Identifier: BSD-3-Clause
"""Least squares on differences of utilities, as one of two linear systems.

The problem is to minimize ‖t - B u‖² + α‖w‖² over the utilities u_i = w·Φ(x_i) of n
points, with the root B of a Laplacian L = BᵀB (m rows) and a target t. A utility is
known in one of two ways:

- by weights x of the q columns of a design A: u = A x and ‖w‖ = ‖x‖;
- by coefficients of the points: u = K Bᵀ b, with the kernel matrix K = A Aᵀ.

The smaller of the two systems, of q columns or of m rows, is solved. In both
b = (t - B u) / α and w = Σ (Bᵀb)_i Φ(x_i) at the solution.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymv

from tiebreak.data import Comparisons, Grades
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.kernels import factor_kernel, upper_triangle
from tiebreak.kernels.cholesky import refuse_infinite
from tiebreak.kernels.functions import squared_norms
from tiebreak.losses import Laplacian, PairLaplacian
from tiebreak.losses.laplacian import mirror
from tiebreak.losses.linear_objective import (
    back_product,
    forward_product,
    weigh_squares,
)
from tiebreak.models.base import warn_flat, warn_gap
from tiebreak.models.problem import (
    MAX_PIVOTS,
    KernelItems,
    dense_array,
    edges_of,
    factor_gram,
    is_kernel,
    laplacian_of,
    refuse_only_ties,
    rows_of_differences,
)
from tiebreak.solvers.ridge import (
    RidgeSolution,
    RidgeSystem,
    solve_by_products,
    thin_inverse,
)

# A feature that varies by less, inside groups and relative to its size, is constant.
CONSTANT = 1e-12
# Columns that are made dense at a time.
_CHUNK = 1024


class LinearPoints:
    """Points with features: A holds them, and K = A Aᵀ."""

    def __init__(self, X: Any) -> None:
        self.design = X
        self.n, self.n_columns = X.shape

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m)."""
        cross = np.zeros((self.n, laplacian.n_roots))
        for X, Z in self._rooted(laplacian):
            cross += X @ Z.T
        return cross

    def squares(self, laplacian: Laplacian) -> Floats:
        """Give B K Bᵀ, of shape (m, m)."""
        parts = (Z @ Z.T for _, Z in self._rooted(laplacian))
        return reduce(np.add, parts, np.zeros((1, 1)))

    def _rooted(self, laplacian: Laplacian) -> Iterator[tuple[Any, Floats]]:
        """Give X and B X, some columns at a time, without the rounding of constants."""
        diagonal = laplacian.diagonal()
        columns = self.design.tocsc() if sp.issparse(self.design) else self.design
        for start in range(0, self.n_columns, _CHUNK):
            X = columns[:, start : start + _CHUNK]
            dense = dense_array(X)
            Z = laplacian.root(dense)
            size = weigh_squares(dense, diagonal)
            # What rounding leaves of features that are constant inside groups.
            Z[:, np.einsum("ij,ij->j", Z, Z) <= CONSTANT**2 * size] = 0.0
            yield X, Z

    def product(self, a: Floats) -> Floats:
        """Give K a."""
        return np.asarray(self.design @ (self.design.T @ a))

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        return dense_array(self.design[rows] @ self.design.T)

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        return squared_norms(self.design)

    def coef_of_columns(self, x: Floats) -> Floats:
        """Give the weights of the features."""
        return x

    def coef_of_roots(self, laplacian: Laplacian, b: Floats) -> Floats:
        """Give the weights of the features from Bᵀb."""
        return np.concatenate([b @ Z for _, Z in self._rooted(laplacian)])


class KernelPoints:
    """Points that are items with a kernel, maybe repeated."""

    def __init__(self, items: KernelItems, code: Codes) -> None:
        self.items, self.code, self._kernel = items, code, items.kernel
        self.n, self.n_columns = len(code), items.n_items

    @property
    def design(self) -> Floats:
        """A, the factor of K: shape (n, q), with q at most the number of items."""
        return self.items.factor.values[self.code]

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m)."""
        gram = self._gram()
        mirror(gram)
        return laplacian.root(gram).T

    def squares(self, laplacian: Laplacian) -> Floats:
        """Give B K Bᵀ, of shape (m, m)."""
        return laplacian.sandwich(self._gram())

    def _gram(self) -> Floats:
        """Give K, shape (n, n); only the upper triangle is filled."""
        gram = upper_triangle(self.n_columns, self._kernel.between)
        sums = dsymv(1.0, gram.T, np.ones(len(gram)), lower=1)
        if not np.isfinite(sums).all():
            refuse_infinite()
        function = self.items.function
        if function is None or not function.is_definite:
            mirror(gram)
            factor_gram(gram)
        if not np.array_equal(self.code, np.arange(self.n_columns)):
            mirror(gram)
            gram = gram[np.ix_(self.code, self.code)]
        return gram

    def product(self, a: Floats) -> Floats:
        """Give K a, by blocks of kernel values that are not kept."""
        on_items = np.bincount(self.code, a, self.n_columns)
        return self._kernel.product(on_items.astype(np.float64))[self.code]

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        return self._kernel.block(self.code[rows], np.float64)[:, self.code]

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        return self._kernel.paired(self.code, self.code)

    def coef_of_columns(self, x: Floats) -> Floats:
        """Give the coefficients of the items, on the pivots."""
        return self.items.design_coef(x)

    def coef_of_roots(self, laplacian: Laplacian, b: Floats) -> Floats:
        """Give the coefficients of the items from Bᵀb."""
        a = laplacian.root_transpose(b)
        return np.bincount(self.code, a, self.items.n_items).astype(np.float64)


Points = LinearPoints | KernelPoints


# Columns of the preconditioner of a kernel, and memory for them in bytes.
_PIVOTS = 1000
_PIVOT_BYTES = 4e8
# Squared sizes are differences of sums where features are sparse.
_CONSTANT_SPARSE = 1e-7


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """A solution of the problem; `n_dropped` directions are hidden by rounding."""

    solution: RidgeSolution  # of the linear system
    b: Floats  # (m,), coefficients of the rows of the root
    value: float  # value of the objective
    gap: float  # duality gap, relative to it
    idle: bool  # whether all compared points have the same utility

    def fitted(self, model: Any) -> dict[str, Any]:
        """Return the certificate attributes, and warn."""
        solution = self.solution
        converged = solution.method != "cg" or self.gap <= model.tol
        if self.idle:
            warn_flat(
                model,
                "no feature has to do with the differences of grades in a group, or "
                "features are too small for floating-point numbers",
            )
        elif solution.n_dropped:
            warn_user(
                f"alpha={model.alpha:g} is lost in rounding, which leaves "
                f"{solution.n_dropped} direction(s) open. Try a larger alpha.",
                FitWarning,
            )
        if not converged:
            warn_gap(model, solution.n_iter, self.gap)
        return {
            "gap_": self.gap,
            "n_iter_": solution.n_iter,
            "solver_": solution.method,
            "converged_": converged,
        }


class ColumnForm:
    """(AᵀLA + α I) x = AᵀBᵀt, of q columns."""

    constant: Flags  # columns without a difference; set by `system`

    def __init__(self, points: Points, laplacian: Laplacian, target: Floats) -> None:
        self.points, self.laplacian, self.target = points, laplacian, target
        self.A = points.design

    @cached_property
    def system(self) -> RidgeSystem:
        """The system that direct solvers factor."""
        c = self.laplacian.root_transpose(self.target)
        H, h, size = self.laplacian.form(self.A, c)
        limit = _CONSTANT_SPARSE if sp.issparse(self.A) else CONSTANT
        self.constant = drop_constant(H, h, size, limit)
        return RidgeSystem(H, h)

    def by_products(self, alpha: float, tol: float, max_iter: int) -> LeastSquaresFit:
        """Solve by conjugate gradients with a diagonal preconditioner."""
        A, L = self.A, self.laplacian
        h = back_product(A, L.root_transpose(self.target))
        # What the diagonal of AᵀLA would be if points had nothing in common.
        size = weigh_squares(A, L.diagonal())
        start = float(self.target @ self.target)
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

    def finish(self, solution: RidgeSolution, alpha: float) -> LeastSquaresFit:
        """Convert a solution of the system."""
        x = solution.x
        rest = self.target - self.laplacian.root(forward_product(self.A, x))
        value = float(rest @ rest) + alpha * float(x @ x)
        gap = solution.residual / (alpha * value)
        return LeastSquaresFit(solution, rest / alpha, value, gap, not x.any())

    def coefficients(self, fit: LeastSquaresFit, scale: float) -> Floats:
        """Give the coefficients of features or items, times `scale`."""
        return self.points.coef_of_columns(scale * fit.solution.x)


def drop_constant(H: Floats, h: Floats, size: Floats, limit: float = CONSTANT) -> Flags:
    """Remove what rounding leaves of features that are constant inside groups."""
    constant = H.diagonal() <= limit**2 * size
    H[constant], H[:, constant], h[constant] = 0.0, 0.0, 0.0
    return constant


class RowForm:
    """(BKBᵀ + α I) b = t, of m rows."""

    def __init__(self, points: Points, laplacian: Laplacian, target: Floats) -> None:
        self.points, self.laplacian, self.target = points, laplacian, target

    @cached_property
    def cross(self) -> Floats:
        """K Bᵀ, of shape (n, m)."""
        return self.points.cross(self.laplacian)

    @cached_property
    def system(self) -> RidgeSystem:
        """The system that direct solvers factor."""
        # K Bᵀ is as large, and there only where it was asked for.
        if (cross := vars(self).get("cross")) is not None:
            H = self.laplacian.root(cross)
        else:
            H = self.points.squares(self.laplacian)
        return RidgeSystem(H, self.target)

    @cached_property
    def _size(self) -> float:
        """What the trace of BKBᵀ would be if points had nothing in common."""
        return float(self.laplacian.diagonal() @ self.points.diagonal())

    def product(self, b: Floats) -> Floats:
        """Give BKBᵀ b."""
        return self.laplacian.root(
            self.points.product(self.laplacian.root_transpose(b))
        )

    def by_products(self, alpha: float, tol: float, max_iter: int) -> LeastSquaresFit:
        """Solve by conjugate gradients; some columns of K make the preconditioner."""
        t = self.target

        def allowed(b: Floats, residual: Floats) -> float:
            value = float(residual @ residual + alpha * (b @ (t + residual)))
            return tol * max(value, 0.0)

        solution = solve_by_products(
            self.product, t, alpha, thin_inverse(self._thin, alpha), allowed, max_iter
        )
        return self.finish(solution, alpha)

    @cached_property
    def _thin(self) -> Floats:
        """B F for a thin factor of the kernel, K ≈ F Fᵀ; shape (m, r)."""
        m = self.laplacian.n_roots
        factor = factor_kernel(
            self.points.block,
            self.points.diagonal(),
            max_pivots=int(min(_PIVOTS, max(1, _PIVOT_BYTES // (8 * m)))),
            tol=1e-12,
            all_or_nothing=False,
        )
        return self.laplacian.root(np.ascontiguousarray(factor.rows.T))

    def finish(self, solution: RidgeSolution, alpha: float) -> LeastSquaresFit:
        """Convert a solution of the system."""
        b = solution.x
        differences = self.product(b) if solution.image is None else solution.image
        rest = self.target - differences
        value = float(rest @ rest) + alpha * float(b @ differences)
        direct = solution.method != "cg"
        trace = np.trace(self.system.H) if direct else np.sum(self._thin**2)
        # Kernel values are centered after they were computed, and lose digits to it.
        limit = 0.0 if isinstance(self.points, LinearPoints) else CONSTANT
        idle = bool(trace <= limit * self._size)
        gap = solution.residual / value
        return LeastSquaresFit(solution, 0.0 * b if idle else b, value, gap, idle)

    def coefficients(self, fit: LeastSquaresFit, scale: float) -> Floats:
        """Give the coefficients of features or items, times `scale`."""
        return self.points.coef_of_roots(self.laplacian, scale * fit.b)


# Direct solvers store a matrix of this many rows and columns at most, unless asked to.
LARGEST = 8192


@dataclass(frozen=True, eq=False)
class LeastSquaresProblem:
    """min over w of ‖t - B u‖² + α‖w‖², with u the utilities of points."""

    points: Points  # n points: graded rows, or the distinct items of comparisons
    laplacian: Laplacian  # L = BᵀB of the points
    target: Floats  # (m,), t, divided by `scale`
    scale: float  # the largest entry of the target
    rows: Codes  # numbers of the rows or comparisons that have a coefficient
    n_pairs: int  # number of pairs
    data: Comparisons | Grades

    def form(self) -> ColumnForm | RowForm:
        """Choose the smaller of the two linear systems."""
        kind = ColumnForm if self._by_columns else RowForm
        return kind(self.points, self.laplacian, self.target)

    @property
    def _by_columns(self) -> bool:
        q, m = self.points.n_columns, self.laplacian.n_roots
        if isinstance(self.points, LinearPoints):
            return q < m
        # A kernel has a design only after it was factored, which takes time.
        return 2 * q < m and q <= MAX_PIVOTS

    def fits(self) -> bool:
        """Whether the smaller system is small enough for direct solvers."""
        q, m = self.points.n_columns, self.laplacian.n_roots
        return (q if self._by_columns else m) <= LARGEST

    def row_coef(self, b: Floats) -> Floats:
        """Give the coefficients of the rows or comparisons."""
        b = self.scale * b
        if isinstance(self.data, Comparisons):
            return np.sqrt(self.laplacian.weight) * b
        return self.laplacian.root_transpose(b)


def graded_squares(
    model: Any, data: Grades, keep_all: bool = False
) -> LeastSquaresProblem:
    """Make the problem of graded rows; `keep_all` keeps points without a pair."""
    active = rows_of_differences(data, np.flatnonzero(data.weight), model.per_group)
    keep_all = keep_all or is_kernel(model, "linear")
    rows = np.arange(len(data)) if keep_all else active
    # A mean divides by the weight of the rows once, which must leave that of the list.
    weight = data.item_weight if model.per_group == "mean" else data.weight
    kept = np.zeros(len(data))
    kept[active] = weight[active]
    laplacian = laplacian_of(data, rows, kept, model.per_group)
    # Differences of grades, however large or small, become numbers near 1.
    y = data.y[rows]
    span = np.abs(laplacian.center(y))[kept[rows] > 0].max(initial=0.0)
    target = laplacian.root(y / span)
    largest = float(np.abs(target).max())
    if data.graph is None:
        size = np.bincount(data.group[active], minlength=data.n_groups)
        n_pairs = int((size * (size - 1) // 2).sum())
    else:
        n_pairs = len(edges_of(data, active)[0])
    return LeastSquaresProblem(
        _points_of_rows(model, data, rows, active),
        laplacian,
        target / largest,
        largest * span,
        rows,
        n_pairs,
        data,
    )


def _points_of_rows(model: Any, data: Grades, rows: Codes, active: Codes) -> Points:
    if is_kernel(model, "linear"):
        return LinearPoints(data.items.values)
    items, code = KernelItems.merge(model, data.table, data.places[rows])
    if len(active) < len(rows):
        # The kernel is that of the items that count, whatever others there are.
        counted, _ = KernelItems.merge(model, data.table, data.places[active])
        items = replace(items, function=counted.function)
    return KernelPoints(items, code)


def compared_squares(model: Any, data: Comparisons) -> LeastSquaresProblem:
    """Make the problem of comparisons."""
    if not data.y.any():
        refuse_only_ties(model, len(data))
    items, left, right = KernelItems.merge_pairs(model, data.pairs)
    points: Points
    if items.is_linear:
        design = items.design
        # Squares of what all have in common would hide the differences.
        centered = design if sp.issparse(design) else design - design.mean(axis=0)
        points = LinearPoints(centered)
    else:
        points = KernelPoints(items, np.arange(items.n_items))
    target = np.sqrt(data.weight) * data.y
    scale = float(np.abs(target).max())
    return LeastSquaresProblem(
        points,
        PairLaplacian(left, right, data.weight, points.n),
        target / scale,
        scale,
        data.rows,
        len(data),
        data,
    )
