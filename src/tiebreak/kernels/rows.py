# SPDX-License-Identifier: BSD-3-Clause
"""A large symmetric matrix as solvers see it: blocks, combinations of rows, products.

Two forms share one interface: :class:`CachedRows` computes rows when they are needed
and keeps the most recent ones, :class:`FactorRows` has a thin factor that stands for
all of them. :func:`make_rows` chooses.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit

from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels.cholesky import pivoted_cholesky
from tiebreak.kernels.pair_rows import DifferenceRows, RowSource

__all__ = ["CachedRows", "FactorRows", "MatrixRows", "make_rows"]

# Up to this many rows they are kept in double precision.
_DOUBLE_LIMIT = 2000
# A thin factor has at most this many rows; interior-point steps cost n r².
_MAX_PIVOTS = 1000


class MatrixRows(Protocol):
    """What solvers need from a positive semidefinite matrix K of n rows.

    ``whole_block`` is for a solver to keep the block of a small program, with its rows
    and signs, so that the next program on the same matrix need not form it again.
    """

    n_rows: int
    dtype: type
    capacity: int
    factor: np.ndarray | None
    whole_block: tuple[np.ndarray, np.ndarray, np.ndarray] | None

    def block(self, row: np.ndarray, sign: np.ndarray, dtype: type) -> np.ndarray:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""

    def add(self, row: np.ndarray, coef: np.ndarray, f: np.ndarray) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""

    def diagonal(self) -> np.ndarray:
        """The diagonal of K."""


class FactorRows:
    """A matrix given by its thin factor, ``K = FᵀF``.

    Parameters
    ----------
    F : ndarray of shape (r, n)
        The factor.
    """

    dtype: type = np.float64

    def __init__(self, F: np.ndarray) -> None:
        self.factor: np.ndarray | None = F
        self._F = F
        self.n_rows = self.capacity = F.shape[1]
        self._diagonal = np.einsum("ij,ij->j", F, F)
        self.whole_block: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def block(self, row: np.ndarray, sign: np.ndarray, dtype: type) -> np.ndarray:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""
        G = (self._F[:, row] * sign).astype(dtype, copy=False)
        return G.T @ G

    def add(self, row: np.ndarray, coef: np.ndarray, f: np.ndarray) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""
        f += (self._F[:, row] @ coef) @ self._F

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""
        return (self._F @ coef) @ self._F

    def diagonal(self) -> np.ndarray:
        """The diagonal of K."""
        return self._diagonal


class CachedRows:
    """Rows of a source, the most recently used ones kept within a memory limit.

    Parameters
    ----------
    source : RowSource
        Computes rows.
    max_bytes : float
        Memory for kept rows. At least 64 rows are always kept.
    dtype : numpy.float32 or numpy.float64, optional
        Precision of the kept rows; by default double up to 2000 rows.

    Attributes
    ----------
    capacity : int
        Distinct rows that can be kept at the same time.
    """

    factor: np.ndarray | None = None

    def __init__(
        self, source: RowSource, max_bytes: float, dtype: type | None = None
    ) -> None:
        self.source = source
        self.n_rows = source.n_rows
        if dtype is None:
            dtype = np.float64 if self.n_rows <= _DOUBLE_LIMIT else np.float32
        self.dtype = dtype
        row_bytes = self.n_rows * np.dtype(dtype).itemsize
        self.capacity = int(min(self.n_rows, max(max_bytes // row_bytes, 64)))
        # np.empty touches no memory before a row is written.
        self._table: np.ndarray = np.empty((self.capacity, self.n_rows), dtype=dtype)
        self._slot_of = np.full(self.n_rows, -1, dtype=np.int64)
        self._row_in = np.full(self.capacity, -1, dtype=np.int64)
        self._used_at = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0
        self._diagonal: np.ndarray | None = None
        self.whole_block: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def diagonal(self) -> np.ndarray:
        """The diagonal of K, computed once."""
        if self._diagonal is None:
            self._diagonal = self.source.diagonal()
        return self._diagonal

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision, whatever the precision of the rows."""
        used = np.flatnonzero(coef)
        slots = self._slot_of[used]
        if self.dtype is np.float64 and (slots >= 0).all():
            return coef[used] @ self._table[slots]
        return self.source.product(coef)

    def block(self, row: np.ndarray, sign: np.ndarray, dtype: type) -> np.ndarray:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""
        out: np.ndarray = np.empty((len(row), len(row)), dtype=dtype)
        for part in self._parts(len(row)):
            slots = self._slots(row[part])
            gather_block(self._table, slots, sign[part], row, sign, out[part])
        return out

    def add(self, row: np.ndarray, coef: np.ndarray, f: np.ndarray) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""
        for part in self._parts(len(row)):
            add_rows(self._table, self._slots(row[part]), coef[part], f)

    def rows(self, index: np.ndarray) -> np.ndarray:
        """The rows ``K[index]``, shape ``(len(index), n_rows)``."""
        return self._table[self._slots(index)]

    def _parts(self, n: int) -> list[slice]:
        """Slices of rows that fit the cache; one if all rows do."""
        size = n if self.capacity == self.n_rows else self.capacity
        return [slice(start, start + size) for start in range(0, n, max(size, 1))]

    def _slots(self, index: np.ndarray) -> np.ndarray:
        """Make sure that rows are in the table and say where."""
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
            self.source.fill(missing, self._table, oldest)
            self._row_in[oldest] = missing
            self._slot_of[missing] = oldest
            self._used_at[oldest] = self._clock
        return self._slot_of[index]


def make_rows(source: RowSource, max_bytes: float = 2e8) -> MatrixRows:
    """Choose between rows on demand and a thin factor.

    Parameters
    ----------
    source : RowSource
        The matrix.
    max_bytes : float
        Memory limit for kept rows or for the factor.

    Returns
    -------
    MatrixRows
        A :class:`FactorRows` when at most 1000 pivots, and at most a third of the rows,
        reproduce the matrix to ten digits; else :class:`CachedRows`.
    """
    n = source.n_rows
    # Beyond a third of the rows the factor costs as much as the matrix it stands for.
    budget = int(min(max(n // 3, 32), _MAX_PIVOTS, max(max_bytes / (8 * n), 1)))
    if isinstance(source, DifferenceRows) and source.Z.shape[1] <= budget:
        Z = source.Z
        return FactorRows(
            np.ascontiguousarray((Z.toarray() if sp.issparse(Z) else Z).T)
        )
    if isinstance(source, DifferenceRows) and sp.issparse(source.Z):
        # Rows of a sparse product are cheap, and its factor would be dense.
        return CachedRows(source, max_bytes)
    with one_blas_thread():
        factor = pivoted_cholesky(
            lambda index: _double_rows(source, index),
            source.diagonal(),
            max_pivots=budget,
        )
    return FactorRows(factor.rows) if factor.complete else CachedRows(source, max_bytes)


def _double_rows(source: RowSource, index: np.ndarray) -> np.ndarray:
    out = np.empty((len(index), source.n_rows))
    source.fill(index, out, np.arange(len(index)))
    return out


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
    for k in range(len(slots)):
        row = table[slots[k]]
        c = coef[k]
        if c != 0.0:
            for t in range(len(f)):
                f[t] += c * row[t]
