# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between items and between comparisons, by rows.

*Item kernels* evaluate k between the rows of one item table: :class:`FunctionKernel` by
a function, :class:`GramKernel` from an items × items matrix.

*Row sources* are symmetric matrices known by their rows. For comparisons
t = (left, right) of items the pair kernel is

    K[s, t] = k(r_s, r_t) - k(r_s, l_t) - k(l_s, r_t) + k(l_s, l_t),

the inner product of the differences Φ(right) - Φ(left); a row costs two rows of the
item kernel. A tie and its mirror share one row up to sign.

*Matrix rows* are what solvers see: :class:`CachedRows` computes rows on demand,
:class:`FactorRows` has a thin factor, and :class:`LinearRows` multiplies through the
features. :func:`make_rows` chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads, one_blas_thread, scratch
from tiebreak.kernels.cholesky import pivoted_cholesky
from tiebreak.kernels.functions import KernelFunction, Table, squared_norms

_TILE = 256
_TRIANGLE_ROWS = 64
# Rows and columns of a block of kernel values that stays in the cache.
_PART_ROWS, _PART = 64, 256
# From this share of the rows on all of them are computed, from half of the matrix.
_MANY = 0.2


class GramKernel:
    """Kernel values looked up in a matrix."""

    def __init__(self, gram: Floats) -> None:
        self.gram = gram
        self.n_items = len(gram)

    def block(self, index: Codes, dtype: type, out: Floats | None = None) -> Floats:
        """Values between ``index`` and all items, shape ``(len(index), N)``."""
        return self.gram[index].astype(dtype, copy=False)

    def between(self, i: Codes, j: Codes) -> Floats:
        """Values between items i and items j in double precision."""
        return self.gram[np.ix_(i, j)]

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision, shape ``(N,)``."""
        return self.gram @ coef

    def paired(self, i: Codes, j: Codes) -> Floats:
        """``k(item i[t], item j[t])`` for every t."""
        return self.gram[i, j]


class FunctionKernel:
    """Kernel values computed on demand."""

    def __init__(self, function: KernelFunction, table: Table) -> None:
        self.function, self.table, self.n_items = function, table, table.shape[0]
        self._evaluators: dict[type, Callable[..., Floats]] = {}

    def _evaluate(self, dtype: type) -> Callable[..., Floats]:
        if dtype not in self._evaluators:
            self._evaluators[dtype] = self.function.evaluator(self.table, dtype)
        return self._evaluators[dtype]

    def block(self, index: Codes, dtype: type, out: Floats | None = None) -> Floats:
        """Values between ``index`` and all items, shape ``(len(index), N)``."""
        return self._evaluate(dtype)(index, slice(None), out)

    def between(self, i: Codes, j: Codes) -> Floats:
        """Values between items i and items j in double precision."""
        return self._evaluate(np.float64)(i, j)

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision, shape ``(N,)``."""
        used = np.flatnonzero(coef)
        order = np.concatenate([used, np.flatnonzero(coef == 0)])
        weight = coef[order]
        evaluate = self._evaluate(np.float64)
        out = np.zeros(self.n_items)

        def add_tile(start: int) -> Floats:
            # Tile columns [start, stop) of the used items against every later row.
            stop = min(start + _TILE, len(used))
            part = np.zeros(self.n_items)
            for first in range(start, self.n_items, _TILE):
                last = min(first + _TILE, self.n_items)
                buffer = scratch("tile", (last - first, stop - start), np.float64)
                tile = evaluate(order[first:last], order[start:stop], buffer)
                part[first:last] += tile @ weight[start:stop]
                if first > start:
                    inner = min(last, len(used))
                    if inner > first:
                        part[start:stop] += weight[first:inner] @ tile[: inner - first]
            return part

        out[order] = sum(in_threads(add_tile, range(0, len(used), _TILE)))
        return out

    @cached_property
    def _diagonal(self) -> Floats:
        return self.function.diagonal(self.table)

    def paired(self, i: Codes, j: Codes) -> Floats:
        """``k(item i[t], item j[t])`` for every t."""
        evaluate = self._evaluate(np.float64)
        same = i == j
        out = np.where(same, self._diagonal[i], 0.0)
        todo = np.flatnonzero(~same)
        for start in range(0, len(todo), 64):
            t = todo[start : start + 64]
            out[t] = np.diag(evaluate(i[t], j[t]))
        return out


def check_gram(gram: Floats) -> Floats:
    """Refuse an items × items matrix that is not square, finite and symmetric."""
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(
            f"a precomputed kernel must be square (items × items) for fit, got shape "
            f"{gram.shape}. To search over graded items use tiebreak.tune."
        )
    scale = np.abs(gram).max(initial=0.0)
    for start in range(0, len(gram), _TILE):
        rows = slice(start, start + _TILE)
        apart = np.abs(gram[rows] - gram[:, rows].T)
        if apart.max(initial=0.0) > 1e-8 * max(scale, np.finfo(float).tiny):
            i, j = np.unravel_index(apart.argmax(), apart.shape)
            i += start
            raise ValueError(
                f"the kernel must be symmetric, but K[{i}, {j}] = "
                f"{gram[i, j]:g} and K[{j}, {i}] = {gram[j, i]:g}."
            )
    return gram


class ItemPairRows:
    """The pair kernel over an item kernel."""

    def __init__(self, kernel: ItemKernel, left: Codes, right: Codes) -> None:
        self.kernel, self.left, self.right = kernel, left, right
        self.n_rows = len(left)

    def fill(self, index: Codes, table: Floats, slots: Codes) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        dtype = table.dtype.type

        def fill_part(part: slice) -> None:
            shape = (len(index[part]), self.kernel.n_items)
            of_right = scratch("right", shape, dtype)
            of_left = scratch("left", shape, dtype)
            block = self.kernel.block(self.right[index[part]], dtype, of_right)
            block -= self.kernel.block(self.left[index[part]], dtype, of_left)
            subtract_sides(block, self.left, self.right, table, slots[part])

        in_threads(fill_part, chunks(len(index), 64, self.kernel.n_items))

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision."""
        utility = self.kernel.product(self.item_coef(coef))
        return utility[self.right] - utility[self.left]

    def between(self, i: Codes, j: Codes) -> Floats:
        """``K[i][:, j]`` in double precision."""
        sides = np.concatenate([self.right[i], self.left[i]])
        block = self.kernel.between(sides, self.right[j])
        block -= self.kernel.between(sides, self.left[j])
        block[: len(i)] -= block[len(i) :]
        return block[: len(i)]

    @property
    def shares_items(self) -> bool:
        """Whether whole rows of few items are cheaper than parts."""
        return self.kernel.n_items < self.n_rows

    def item_coef(self, coef: Floats) -> Any:
        """Coefficients on items: a with Σ coef_t (Φ(r_t) - Φ(l_t)) = Σ a_j Φ(j)."""
        size = self.kernel.n_items
        return np.bincount(self.right, coef, size) - np.bincount(self.left, coef, size)

    def diagonal(self) -> Floats:
        """The diagonal of ``K``."""
        left, right, k = self.left, self.right, self.kernel.paired
        return k(right, right) + k(left, left) - 2.0 * k(left, right)


class DifferenceRows:
    """The linear pair kernel ``Z Zᵀ`` with ``Z = X[right] - X[left]``."""

    def __init__(self, Z: Table) -> None:
        self.Z = Z
        self.n_rows = Z.shape[0]

    def fill(self, index: Codes, table: Floats, slots: Codes) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        rows = self.Z[index] @ self.Z.T
        table[slots] = rows.toarray() if sp.issparse(rows) else rows

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision."""
        return self.Z @ (self.Z.T @ coef)

    def diagonal(self) -> Floats:
        """The diagonal of ``K``."""
        return squared_norms(self.Z)


def upper_triangle(n: int, between: Callable[[Codes, Codes], Floats]) -> Floats:
    """Form an n × n matrix from blocks; only the upper triangle is filled."""
    out, every = np.empty((n, n)), np.arange(n)

    def fill(rows: slice) -> None:
        # Threads do not inherit what the caller says about overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            out[rows, rows.start :] = between(every[rows], every[rows.start :])

    in_threads(fill, chunks(n, _TRIANGLE_ROWS))
    return out


@njit(cache=True, nogil=True)
def subtract_sides(block, left, right, table, slots):  # type: ignore[no-untyped-def]
    """Write ``block[:, right] - block[:, left]`` into ``table[slots]``."""
    for k in range(len(slots)):
        values = block[k]
        out = table[slots[k]]
        for t in range(len(left)):
            out[t] = values[right[t]] - values[left[t]]


# Up to this many rows they are kept in double precision.
_DOUBLE_LIMIT = 2000
# A thin factor has at most this many rows; interior-point steps cost n r².
_MAX_PIVOTS = 1000
# Above this many rows a linear kernel is used through its features.
_FEW_ROWS = 1000


class FactorRows:
    """A matrix given by its thin factor, ``K = FᵀF``."""

    dtype: type = np.float64

    def __init__(self, F: Floats) -> None:
        self.factor: Floats | None = F
        self._F = F
        self.n_rows = self.capacity = F.shape[1]
        self._diagonal = np.einsum("ij,ij->j", F, F)

    def block(self, row: Codes, sign: Floats, dtype: type) -> Floats:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""
        G: Floats = (self._F[:, row] * sign).astype(dtype, copy=False)
        return G.T @ G

    def add(self, row: Codes, coef: Floats, f: Floats) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""
        f += (self._F[:, row] @ coef) @ self._F

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision."""
        return (self._F @ coef) @ self._F

    def diagonal(self) -> Floats:
        """The diagonal of K."""
        return self._diagonal


class CachedRows:
    """Rows of a source, the most recent ones kept within a memory limit."""

    factor: Floats | None = None

    def __init__(
        self, source: RowSource, max_bytes: float, dtype: type | None = None
    ) -> None:
        self.source, self.n_rows = source, source.n_rows
        if dtype is None:
            dtype = np.float64 if self.n_rows <= _DOUBLE_LIMIT else np.float32
        self.dtype = dtype
        row_bytes = self.n_rows * np.dtype(dtype).itemsize
        self.capacity = int(min(self.n_rows, max(max_bytes // row_bytes, 64)))
        # np.empty touches no memory before a row is written.
        self._table: Floats = np.empty((self.capacity, self.n_rows), dtype=dtype)
        self._slot_of = np.full(self.n_rows, -1, dtype=np.int64)
        self._row_in = np.full(self.capacity, -1, dtype=np.int64)
        self._used_at = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0
        # Whether the table is the matrix, computed in double precision and rounded.
        self.whole = False
        self._diagonal: Floats | None = None

    def diagonal(self) -> Floats:
        """The diagonal of K, computed once."""
        if self._diagonal is None:
            self._diagonal = self.source.diagonal()
        return self._diagonal

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision."""
        if self.whole and self.dtype is np.float64:
            return coef @ self._table
        used = np.flatnonzero(coef)
        slots = self._slot_of[used]
        if self.dtype is np.float64 and (slots >= 0).all():
            return coef[used] @ self._table[slots]
        return self.source.product(coef)

    def block(self, row: Codes, sign: Floats, dtype: type) -> Floats:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""
        out: Floats = np.empty((len(row), len(row)), dtype=dtype)
        for part in self._parts(len(row)):
            slots = self._slots(row[part])
            gather_block(self._table, slots, sign[part], row, sign, out[part])
        return out

    def add(self, row: Codes, coef: Floats, f: Floats) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""
        for part in self._parts(len(row)):
            add_rows(self._table, self._slots(row[part]), coef[part], f)

    def rows(self, index: Codes) -> Floats:
        """The rows ``K[index]``, shape ``(len(index), n_rows)``."""
        return self._table[self._slots(index)]

    def _parts(self, n: int) -> list[slice]:
        """Slices of rows that fit the cache; one if all rows do."""
        size = n if self.capacity == self.n_rows else self.capacity
        return [slice(start, start + size) for start in range(0, n, max(size, 1))]

    def _slots(self, index: Codes) -> Codes:
        """Ensure that rows are in the table; give their slots."""
        self._clock += 1
        wanted = np.unique(index)
        held = self._slot_of[wanted]
        self._used_at[held[held >= 0]] = self._clock
        missing = wanted[held < 0]
        if len(missing):
            # Oldest slots first; those needed now carry the newest stamp.
            oldest = np.argpartition(self._used_at, len(missing) - 1)[: len(missing)]
            evicted = self._row_in[oldest]
            self._slot_of[evicted[evicted >= 0]] = -1
            if self._wants_all(len(missing)):
                self._fill_whole()
                return index
            self.source.fill(missing, self._table, oldest)
            self._row_in[oldest] = missing
            self._slot_of[missing] = oldest
            self._used_at[oldest] = self._clock
        return self._slot_of[index]

    def _wants_all(self, n_missing: int) -> bool:
        """Whether half of the matrix is cheaper than so many rows."""
        source = self.source
        if self.capacity < self.n_rows or not isinstance(
            source, ItemPairRows | ItemRows
        ):
            return False
        n_held = int((self._slot_of >= 0).sum())
        return not source.shares_items and n_held + n_missing > _MANY * self.n_rows

    def _fill_whole(self) -> None:
        """Fill the table from the upper triangle of K, row i in slot i."""
        source = cast("ItemPairRows | ItemRows", self.source)
        every = np.arange(self.n_rows)

        def fill_part(rows: slice) -> None:
            for start in range(rows.start, self.n_rows, _PART):
                columns = slice(start, start + _PART)
                block = source.between(every[rows], every[columns])
                self._table[rows, columns] = block
                self._table[columns, rows] = block.T

        in_threads(fill_part, chunks(self.n_rows, _PART_ROWS))
        self._slot_of[:] = self._row_in[:] = every
        self.whole = True


def make_rows(source: RowSource, max_bytes: float = 2e8) -> MatrixRows:
    """Choose between rows on demand and a thin factor."""
    n = source.n_rows
    # Beyond a third of the rows the factor costs as much as the matrix it stands for.
    budget = int(min(max(n // 3, 32), _MAX_PIVOTS, max(max_bytes / (8 * n), 1)))
    if isinstance(source, DifferenceRows) and source.Z.shape[1] <= budget:
        Z = source.Z.toarray() if sp.issparse(source.Z) else source.Z
        return FactorRows(np.ascontiguousarray(Z.T))
    if isinstance(source, DifferenceRows) and n > _FEW_ROWS:
        return LinearRows(source.Z)
    if isinstance(source, DifferenceRows) and sp.issparse(source.Z):
        # Rows of a sparse product are cheap, and its factor would be dense.
        return CachedRows(source, max_bytes)

    def rows(index: Codes) -> Floats:
        out = np.empty((len(index), n))
        source.fill(index, out, np.arange(len(index)))
        return out

    with one_blas_thread():
        factor = pivoted_cholesky(rows, source.diagonal(), max_pivots=budget)
    return FactorRows(factor.rows) if factor.complete else CachedRows(source, max_bytes)


@njit(cache=True, nogil=True)
def gather_block(table, slots, slot_sign, column, column_sign, out):  # type: ignore[no-untyped-def]
    """Write the signed block of kept rows ``slots`` and given columns into ``out``."""
    for a in range(len(slots)):
        kept = table[slots[a]]
        for b in range(len(column)):
            out[a, b] = slot_sign[a] * column_sign[b] * kept[column[b]]


@njit(cache=True, nogil=True)
def add_rows(table, slots, coef, f):  # type: ignore[no-untyped-def]
    """Add ``Σ coef[k] · table[slots[k]]`` to ``f`` in place, in double precision."""
    # Four rows at a time, because f is read and written as often as they are.
    rest = len(slots) % 4
    for k in range(rest):
        row, c = table[slots[k]], coef[k]
        for t in range(len(f)):
            f[t] += c * row[t]
    for k in range(rest, len(slots), 4):
        row, c = table[slots[k]], coef[k]
        row1, c1 = table[slots[k + 1]], coef[k + 1]
        row2, c2 = table[slots[k + 2]], coef[k + 2]
        row3, c3 = table[slots[k + 3]], coef[k + 3]
        for t in range(len(f)):
            f[t] += (c * row[t] + c1 * row1[t]) + (c2 * row2[t] + c3 * row3[t])


class ItemRows:
    """Rows of the kernel between items, computed on demand."""

    def __init__(self, kernel: ItemKernel) -> None:
        self.kernel = kernel
        self.n_rows = kernel.n_items

    def fill(self, index: Codes, table: Floats, slots: Codes) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        dtype = table.dtype.type

        def fill_part(part: slice) -> None:
            table[slots[part]] = self.kernel.block(index[part], dtype)

        in_threads(fill_part, chunks(len(index), 64, self.kernel.n_items))

    def product(self, coef: Floats) -> Floats:
        """``K @ coef`` in double precision."""
        return self.kernel.product(coef)

    shares_items = False

    def between(self, i: Codes, j: Codes) -> Floats:
        """``K[i][:, j]`` in double precision."""
        return self.kernel.between(i, j)

    def item_coef(self, coef: Floats) -> Floats:
        """Coefficients on items: themselves."""
        return coef

    def diagonal(self) -> Floats:
        """The diagonal of ``K``."""
        everything = np.arange(self.n_rows)
        return self.kernel.paired(everything, everything)


class LinearRows(DifferenceRows):
    """The linear kernel ``X Xᵀ``; products go through X."""

    dtype: type = np.float64
    factor: Floats | None = None

    def __init__(self, X: Table) -> None:
        super().__init__(X)
        self.X, self.capacity = X, self.n_rows

    def block(self, row: Codes, sign: Floats, dtype: type) -> Floats:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""
        distinct, code = np.unique(row, return_inverse=True)
        part = self.X[distinct]
        block = part @ part.T
        block = block.toarray() if sp.issparse(block) else block
        out = block[np.ix_(code, code)].astype(dtype, copy=False)
        out *= sign.astype(dtype)[:, None]
        out *= sign.astype(dtype)
        return out

    def add(self, row: Codes, coef: Floats, f: Floats) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""
        f += self.X @ (self.X[row].T @ coef)


def make_linear_rows(X: Table, max_bytes: float = 2e8) -> MatrixRows:
    """Rows of the linear kernel: a factor if features are few, else products."""
    n, p = X.shape
    thin = p <= min(max(n // 3, 32), _MAX_PIVOTS)
    if thin and not sp.issparse(X):
        return FactorRows(X.T)
    if thin and 8.0 * n * p <= max_bytes:
        return FactorRows(X.toarray().T)
    return LinearRows(X)


# A kernel between N items; a matrix known by its rows; and what solvers ask of one.
ItemKernel: TypeAlias = GramKernel | FunctionKernel
RowSource: TypeAlias = ItemPairRows | DifferenceRows | ItemRows
MatrixRows: TypeAlias = FactorRows | CachedRows | LinearRows
