# SPDX-License-Identifier: BSD-3-Clause
"""Distinct items, the kernel between them, and rows added up.

Kernels become features: with the pivoted Cholesky factor K = G Gᵀ a utility G β has the
norm ‖w‖² = ‖β‖². With the pivots P, G = K[:, P] T⁻ᵀ for a triangular T, so the utility
of any item is k(x, items P) a with Tᵀ a = β.

Rows of the same items and outcome are one cell with the sum of their weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpstrf

from tiebreak.data import Comparisons, Grades, ItemTable, Pairs
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import (
    DifferenceRows,
    FunctionKernel,
    GramKernel,
    ItemKernel,
    ItemPairRows,
    ItemRows,
    KernelFunction,
    MatrixRows,
    check_gram,
    factor_kernel,
    make_kernel,
    make_linear_rows,
    make_rows,
)
from tiebreak.kernels.cholesky import refuse_indefinite, refuse_infinite
from tiebreak.losses import GradeTree, GroupLaplacian, PairLaplacian

# Largest entry of K - G Gᵀ, relative to the largest entry of K.
FACTOR_TOL = 1e-10
# Up to this many items the Gram matrix is formed; beyond, so many pivots must do.
MAX_PIVOTS = 6144
EQUAL_GRADES = " or all grades equal"
# A kernel function is tried on this many items: enough to find a wrong one, and cheap.
_SYMMETRY_SAMPLE = 64


@dataclass(frozen=True, eq=False)
class KernelFactor:
    """K = G Gᵀ; G of shape (N, r) is lower triangular in the rows of the pivots."""

    values: Floats
    pivots: NDArray[np.intp]
    rest: float = 0.0  # trace of K - G Gᵀ, where it is known

    def item_coef(self, beta: Floats) -> Floats:
        """Coefficients a on the pivots: utility(x) = k(x, items P) a."""
        triangle = self.values[self.pivots]
        return np.asarray(la.solve_triangular(triangle, beta, trans="T", lower=True))


@dataclass(frozen=True, eq=False)
class KernelItems:
    """The N distinct training items, and the kernel between them."""

    # Features and kernel of the items; None: names alone, or kernel values.
    table: Any
    function: Any
    gram: Floats | None  # the kernel values, if precomputed
    # (N,) row of each in the table that was read, of equal ones the first
    places: Codes
    n_rows: int  # of that table

    @classmethod
    def merge(
        cls, model: Any, table: ItemTable, rows: Codes
    ) -> tuple[KernelItems, Codes]:
        """Merge identical rows of a table; give the item of each row too."""
        places, code = touched(rows, table.n_items)
        if is_kernel(model, "precomputed"):
            gram = check_gram(table.dense())
            if len(places) < len(gram):
                gram = gram[np.ix_(places, places)]
            return cls(None, None, gram, places, table.n_items), code
        places, distinct, number = distinct_rows(table, places)
        function = make_kernel(model, distinct.values)
        if callable(model.kernel):
            some = distinct.values[:_SYMMETRY_SAMPLE]
            check_gram(function.block(some, some))
        return cls(distinct, function, None, places, table.n_items), number[code]

    @classmethod
    def merge_pairs(cls, model: Any, pairs: Pairs) -> tuple[KernelItems, Codes, Codes]:
        """Merge the items of comparisons; give both sides too."""
        if pairs.has_features:
            ends = np.concatenate([pairs.left, pairs.right])
            items, code = cls.merge(model, pairs.table, ends)
            return items, code[: len(pairs)], code[len(pairs) :]
        if not is_kernel(model, "linear"):
            raise ValueError(
                f"kernel={model.kernel!r} compares features, but these items have none "
                "(items=None). Use kernel='linear': one utility per item."
            )
        every = np.arange(pairs.n_items)
        return cls(None, None, None, every, len(every)), pairs.left, pairs.right

    @classmethod
    def of_features(cls, table: ItemTable) -> KernelItems:
        """Take all rows with the linear kernel, without merging."""
        every = np.arange(table.n_items)
        return cls(table, KernelFunction("linear"), None, every, len(every))

    @property
    def n_items(self) -> int:
        """N."""
        return len(self.places)

    @property
    def is_linear(self) -> bool:
        """Whether the utility is linear in features (or one per item)."""
        if self.gram is not None:
            return False
        return self.function is None or self.function.name == "linear"

    @property
    def kernel(self) -> ItemKernel:
        """The kernel between the items, which must have features."""
        if self.gram is not None:
            return GramKernel(self.gram)
        return FunctionKernel(self.function, self.table.values)

    @cached_property
    def factor(self) -> KernelFactor:
        """The factor of the kernel between the items, within `FACTOR_TOL`."""
        if self.gram is not None:
            return factor_gram(self.gram)
        if self.n_items <= MAX_PIVOTS:
            return factor_gram(self.kernel.block(np.arange(self.n_items), np.float64))
        factor = self.thin_factor(MAX_PIVOTS, FACTOR_TOL)
        if factor is None:
            raise ValueError(
                f"the kernel of {self.n_items} distinct items needs a factor of more "
                f"than {MAX_PIVOTS} columns. Try a smaller gamma, or a NystroemMap."
            )
        return factor

    def thin_factor(self, max_pivots: int, tol: float) -> KernelFactor | None:
        """Factor the kernel from few rows, if these are enough."""
        kernel, diagonal = self.kernel, self.function.diagonal(self.table.values)
        factor = factor_kernel(
            lambda index: kernel.block(index, np.float64),
            diagonal,
            max_pivots=max_pivots,
            tol=tol,
        )
        if not factor.complete:
            return None
        rest = float(factor.left.sum())
        return KernelFactor(np.ascontiguousarray(factor.rows.T), factor.pivots, rest)

    @property
    def design(self) -> Any:
        """A with K = A Aᵀ: features, one column per item without, or the factor."""
        if not self.is_linear:
            return self.factor.values
        if self.table is None:
            return sp.eye_array(self.n_items, format="csr")
        return self.table.values

    def rows(self, ends: tuple[Codes, Codes] | None, cache_bytes: float) -> MatrixRows:
        """Rows of the kernel between items, or between pairs (left, right) of them."""
        if ends is None:
            if self.is_linear:
                return make_linear_rows(self.design, cache_bytes)
            return make_rows(ItemRows(self.kernel), cache_bytes)
        left, right = ends
        if self.is_linear:
            differences = self.design[right] - self.design[left]
            return make_rows(DifferenceRows(differences), cache_bytes)
        kernel = self.kernel
        few = self.gram is None and self.n_items <= len(left) // 2
        if few and 8 * self.n_items**2 <= cache_bytes:
            with one_blas_thread():  # a thin product: others would only wait
                kernel = GramKernel(kernel.block(np.arange(self.n_items), np.float64))
        return make_rows(ItemPairRows(kernel, left, right), cache_bytes)

    def linear_coef(self, a: Floats) -> Floats:
        """Weights of the features for coefficients on items; themselves without."""
        if self.table is None:
            return a
        return np.asarray(self.table.values.T @ a).ravel()

    def keep(self, a: Floats) -> dict[str, Any]:
        """Return the attributes of Σ a_j k(item j, x)."""
        if self.is_linear:
            return {"coef_": self.linear_coef(a)}
        if self.gram is not None:
            of_rows = np.zeros(self.n_rows)
            of_rows[self.places] = a
            return {"item_coef_": of_rows}
        needed = np.flatnonzero(a)
        return {
            "item_coef_": a[needed],
            "support_items_": self.table.values[needed],
            "gamma_": self.function.gamma,
        }

    def keep_support(self, some: Any) -> dict[str, Any]:
        """Return the rows of some items, and their features for kernel functions."""
        kept: dict[str, Any] = {"support_": self.places[some]}
        if self.table is not None and self.function is not None:
            kept["support_items_"] = self.table.values[some]
            kept["gamma_"] = self.function.gamma
        return kept

    def design_coef(self, x: Floats) -> Floats:
        """Coefficients on the items for coefficients x of the factor."""
        a = np.zeros(self.n_items)
        a[self.factor.pivots] = self.factor.item_coef(x)
        return a


def is_kernel(model: Any, name: str) -> bool:
    """Whether a model has the kernel of this name."""
    return isinstance(model.kernel, str) and model.kernel == name


def touched(rows: Codes, n: int) -> tuple[Codes, Codes]:
    """Return the distinct numbers below n, ascending, and the place of each row."""
    seen = np.zeros(n, dtype=bool)
    seen[rows] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[rows]


def distinct_rows(table: ItemTable, rows: Codes) -> tuple[Codes, ItemTable, Codes]:
    """Merge identical rows: first rows, table, and number of each row."""
    some = table if len(rows) == table.n_items else table.take(rows)
    distinct, number = some.unique()
    first = np.empty(distinct.n_items, dtype=np.int64)
    first[number[::-1]] = rows[::-1]
    return first, distinct, number


def merge_sides(pairs: Pairs) -> tuple[ItemTable, Codes, Codes]:
    """Merge identical items of comparisons; give both sides too."""
    places, code = touched(np.append(pairs.left, pairs.right), pairs.n_items)
    _, table, number = distinct_rows(pairs.table, places)
    code = number[code]
    return table, code[: len(pairs)], code[len(pairs) :]


def add_up(first: Codes, second: Codes, n: int) -> tuple[Codes, Codes, Codes]:
    """Return the distinct pairs of numbers below n, sorted, and that of each row."""
    key, row = np.unique(first * n + second, return_inverse=True)
    return key // n, key % n, row


def dense_array(values: Any) -> Floats:
    """Convert to a dense array."""
    return np.asarray(values.toarray() if sp.issparse(values) else values)


def support(rows: Codes, coef: Floats) -> dict[str, Any]:
    """Return the nonzero coefficients, and their places in ``rows``."""
    used = np.flatnonzero(coef)
    return {"support_": rows[used], "dual_coef_": coef[used]}


@dataclass(frozen=True, eq=False)
class CellProblem:
    """Rows of data, added up by kind in m rows of a kernel of N items."""

    data: Any  # Comparisons or Grades
    items: KernelItems
    ends: Any  # (m,) items of pairs; None: the items themselves
    weight: Floats  # (k, m) summed weights of each kind
    share: sp.csr_array  # (n, k m) which share of a cell's coefficient each row has
    rows: Codes  # (n,) places of the rows in what the user passed
    cache_bytes: float
    n_pairs: int = 0  # of drawn pairs of graded items

    @cached_property
    def kernel(self) -> MatrixRows:
        """Rows of the kernel, of which some are kept."""
        return self.items.rows(self.ends, self.cache_bytes)

    def item_coef(self, coef: Floats) -> Floats:
        """Coefficients on items for coefficients of rows of the kernel."""
        if self.ends is None:
            return coef
        # Sides are summed apart, so that equal items have exactly equal coefficients.
        n, (left, right) = self.items.n_items, self.ends
        return np.asarray(np.bincount(right, coef, n) - np.bincount(left, coef, n))


def pair_problem(model: Any, data: Comparisons) -> CellProblem:
    """Add up comparisons of the same two items; kinds are left, tie and right better.

    The item of lower number is on the left of a row.
    """
    items, left, right = KernelItems.merge_pairs(model, data.pairs)
    side = np.where(left > right, -1, 1)
    low, high, row = add_up(
        np.minimum(left, right), np.maximum(left, right), items.n_items
    )
    cell = (side * data.y + 1) * len(low) + row
    return _cells(model, data, items, (low, high), data.rows, cell, side * data.weight)


def sided_problem(
    model: Any, data: Grades, rows: Codes, side: NDArray[np.int8]
) -> CellProblem:
    """Add up rows of the same item; kinds are above and below each of B thresholds.

    ``side`` (B, n) is +1 above, -1 below, 0 where a row takes no part.
    """
    items, code = KernelItems.merge(model, data.table, data.places[rows])
    block, row = np.nonzero(side)
    kind = 2 * block + (side[block, row] < 0)
    cell = kind * items.n_items + code[row]
    weight = data.item_weight[rows][row]
    return _cells(model, data, items, None, rows, cell, weight, row, 2 * len(side))


def _cells(
    model: Any,
    data: Comparisons | Grades,
    items: KernelItems,
    ends: tuple[Codes, Codes] | None,
    rows: Codes,
    cell: Codes,
    signed: Floats,
    row: Codes | None = None,
    n_kinds: int = 3,
) -> CellProblem:
    m = items.n_items if ends is None else len(ends[0])
    total: Floats = np.bincount(cell, np.abs(signed), n_kinds * m).astype(np.float64)
    row = np.arange(len(rows)) if row is None else row
    shape = (len(rows), len(total))
    share = sp.csr_array((signed / total[cell], (row, cell)), shape=shape)
    cache_bytes = 1e6 * getattr(model, "cache_size", 200)
    weight = total.reshape(n_kinds, m).astype(np.float64, copy=False)
    return CellProblem(data, items, ends, weight, share, rows, cache_bytes)


@dataclass(frozen=True, eq=False)
class GradedProblem:
    """Graded items, their pairs, and a design A with utilities A x."""

    data: Grades
    tree: GradeTree  # the pairs of the rows of A
    items: KernelItems
    A: Any
    rows: Codes  # places of the rows of A in what the user passed


def graded_problem(model: Any, data: Grades, per_group: str = "sum") -> GradedProblem:
    """Find the pairs and resolve the kernel of the model."""
    tree, rows = build_grade_tree(data, per_group), np.arange(len(data))
    if is_kernel(model, "linear"):
        items = KernelItems.of_features(data.items)
        return GradedProblem(data, tree, items, items.design, rows)
    # A kernel costs memory for every row, so rows without a pair are left out.
    if len(tree.rows) < len(rows):
        rows = np.sort(tree.rows)
        tree = grade_tree(data, per_group, rows)
    items, code = KernelItems.merge(model, data.table, data.places[rows])
    same = len(code) == items.n_items and (np.diff(code) > 0).all()
    A = items.design if same else items.design[code]
    return GradedProblem(data, tree, items, A, rows)


def build_grade_tree(data: Grades, per_group: str = "sum") -> GradeTree:
    """Find the pairs of graded items; warn of groups that have none."""
    tree = grade_tree(data, per_group)
    if tree.n_pairs == 0:
        refuse_no_pairs(len(data), data.n_groups)
    warn_idle_groups(tree.n_idle_groups, tree.n_groups, EQUAL_GRADES)
    return tree


def grade_tree(data: Grades, per_group: str, rows: Any = slice(None)) -> GradeTree:
    """Find the pairs of some graded items; a list has its weight whatever is left."""
    y, group, weight = data.y[rows], data.group[rows], data.weight[rows]
    return GradeTree(y, group, weight, per_group, data.group_weight)


def refuse_no_pairs(n_rows: int, n_groups: int) -> NoReturn:
    """Raise an error: no two items can be compared."""
    raise ValueError(
        f"There is no pair to learn from: {n_rows} sample(s) in {n_groups} group(s), "
        "none with different grades. Check that qid is the group, not the row number."
    )


def refuse_only_ties(model: Any, n_rows: int) -> NoReturn:
    """Raise an error: all comparisons are ties."""
    raise ValueError(
        f"all {n_rows} comparisons are ties, so there is no order for "
        f"{type(model).__name__} to learn; at least one needs a winner."
    )


def warn_idle_groups(n_idle: int, n_groups: int, also: str = "") -> None:
    """Warn of groups of one item; ``also`` names other reasons."""
    if n_idle:
        warn_user(
            f"{n_idle} of {n_groups} groups have one item only{also}. Nothing is to be "
            "learned from them.",
            DataWarning,
        )


def laplacian_of(data: Grades, rows: Codes, weight: Floats, per_group: str) -> Any:
    """Give the Laplacian of the pairs of some rows, of weights of all rows."""
    if data.graph is not None:
        i, j, own = edges_of(data, rows)
        return PairLaplacian(i, j, own * weight[rows[i]] * weight[rows[j]], len(rows))
    return GroupLaplacian(data.group[rows], weight[rows], per_group)


def edges_of(data: Grades, rows: Codes) -> tuple[Codes, Codes, Floats]:
    """Return the pairs of some rows in a graph, numbered in them, and its weights."""
    edges = data.graph[rows][:, rows].tocoo()
    return edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data


def rows_of_differences(data: Grades, rows: Codes, per_group: str = "sum") -> Codes:
    """Find the rows that are in a pair; refuse equal grades in all pairs."""
    if data.graph is not None:
        if per_group == "mean":
            raise ValueError(
                "per_group='mean' divides by sizes of groups, and a graph has none; "
                "put what a pair counts into its weight."
            )
        i, j, _ = edges_of(data, rows)
        if not (data.y[rows[i]] != data.y[rows[j]]).any():
            raise ValueError(
                f"There is no pair to learn from: of {len(i)} pair(s) in graph none "
                "has different grades."
            )
        return rows[np.union1d(i, j)]
    y, group = data.y[rows], data.group[rows]
    last = np.zeros(data.n_groups)
    last[group] = y
    if not (y != last[group]).any():
        refuse_no_pairs(len(data), data.n_groups)
    size = np.bincount(group, minlength=data.n_groups)
    warn_idle_groups(int((size == 1).sum()), int((size > 0).sum()))
    return rows[size[group] > 1]


def factor_gram(gram: Floats) -> KernelFactor:
    """Factor a kernel matrix; refuse an indefinite one."""
    scale = np.abs(gram).max(initial=0.0)
    if not np.isfinite(scale):
        refuse_infinite()
    # Without pivots it takes a third of the time, and fails early where they matter.
    upper, info = dpotrf(gram, lower=0, clean=1)
    if info == 0 and upper.diagonal().min(initial=np.inf) ** 2 > FACTOR_TOL * scale:
        return KernelFactor(upper.T, np.arange(len(gram)))
    lower, order, r, _ = dpstrf(gram, lower=1, tol=FACTOR_TOL * scale)
    values = np.empty((len(gram), r))
    values[order - 1] = np.tril(lower)[:, :r]
    # A semidefinite matrix is now explained; the rest of another one is not small.
    probe = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(gram), 8))
    rest = np.abs(gram @ probe - values @ (values.T @ probe)).max(initial=0.0)
    if rest > 1e-8 * scale * len(gram):
        lowest = la.eigvalsh(gram, subset_by_index=[0, 0])[0]
        refuse_indefinite(f"its matrix has the eigenvalue {lowest:.3g}")
    return KernelFactor(values, order[:r] - 1)
