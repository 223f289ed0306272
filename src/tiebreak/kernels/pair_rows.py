# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the pair kernel, computed when a solver asks for them and kept in a cache.

For comparisons t = (left, right) of items the pair kernel is

    K[s, t] = k(r_s, r_t) - k(r_s, l_t) - k(l_s, r_t) + k(l_s, l_t),

the inner product of the differences Φ(right) - Φ(left). It is never formed: a row
costs two rows of the item kernel, and when the matrix is numerically thin a pivoted
Cholesky factor stands for all of it. A tie and its mirror share one row up to sign, so
rows are kept per comparison and not per dual variable.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit

from tiebreak.kernels.cholesky import pivoted_cholesky
from tiebreak.kernels.functions import Table
from tiebreak.kernels.items import ItemKernel
from tiebreak.kernels.threads import in_threads, one_blas_thread

__all__ = [
    "CachedRows",
    "DifferenceRows",
    "FactorRows",
    "ItemPairRows",
    "RowSource",
    "make_rows",
]

# Up to this many comparisons rows are kept in double precision.
_DOUBLE_LIMIT = 2000
# A thin factor has at most this many columns; interior-point steps cost n r².
_MAX_PIVOTS = 1000
# Rows evaluated by one thread at a time.
_CHUNK = 64


class RowSource(Protocol):
    """A symmetric positive semidefinite matrix known by its rows."""

    n_rows: int

    def fill(self, index: np.ndarray, table: np.ndarray, slots: np.ndarray) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""

    def diagonal(self) -> np.ndarray:
        """The diagonal of ``K``."""


class ItemPairRows:
    """The pair kernel over an item kernel.

    Parameters
    ----------
    kernel : ItemKernel
    left, right : ndarray of int, shape (n,)
        Item rows of each comparison.
    """

    def __init__(self, kernel: ItemKernel, left: np.ndarray, right: np.ndarray) -> None:
        self.kernel = kernel
        self.left = left
        self.right = right
        self.n_rows = len(left)

    def fill(self, index: np.ndarray, table: np.ndarray, slots: np.ndarray) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        dtype = table.dtype.type

        def fill_part(start: int) -> None:
            part = index[start : start + _CHUNK]
            block = self.kernel.block(self.right[part], dtype)
            block -= self.kernel.block(self.left[part], dtype)
            where = slots[start : start + _CHUNK]
            subtract_sides(block, self.left, self.right, table, where)

        in_threads(fill_part, range(0, len(index), _CHUNK))

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""
        utility = self.kernel.product(self.item_coef(coef))
        return utility[self.right] - utility[self.left]

    def item_coef(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients on items: a with Σ coef_t (Φ(r_t) - Φ(l_t)) = Σ a_j Φ(j)."""
        size = self.kernel.n_items
        return np.bincount(self.right, coef, size) - np.bincount(self.left, coef, size)

    def diagonal(self) -> np.ndarray:
        """The diagonal of ``K``."""
        left, right = self.left, self.right
        return (
            self.kernel.paired(right, right)
            + self.kernel.paired(left, left)
            - 2.0 * self.kernel.paired(left, right)
        )


class DifferenceRows:
    """The linear pair kernel ``Z Zᵀ`` with ``Z = X[right] - X[left]``.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, p)
    """

    def __init__(self, Z: Table) -> None:
        self.Z = Z
        self.n_rows = Z.shape[0]

    def fill(self, index: np.ndarray, table: np.ndarray, slots: np.ndarray) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        rows = self.Z[index] @ self.Z.T
        table[slots] = rows.toarray() if sp.issparse(rows) else rows

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""
        return self.Z @ (self.Z.T @ coef)

    def diagonal(self) -> np.ndarray:
        """The diagonal of ``K``."""
        if sp.issparse(self.Z):
            return np.asarray(self.Z.multiply(self.Z).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", self.Z, self.Z)


class FactorRows:
    """A matrix given by its thin factor, ``K = FᵀF``.

    Parameters
    ----------
    F : ndarray of shape (r, n)
    """

    def __init__(self, F: np.ndarray) -> None:
        self.F = F
        self.n_rows = F.shape[1]
        self._copies = {F.dtype: F}

    def fill(self, index: np.ndarray, table: np.ndarray, slots: np.ndarray) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        # The product in the precision of the table is what makes rows cheap.
        F = self._copies.get(table.dtype)
        if F is None:
            F = self._copies[table.dtype] = self.F.astype(table.dtype)
        table[slots] = F[:, index].T @ F

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""
        return (self.F @ coef) @ self.F

    def diagonal(self) -> np.ndarray:
        """The diagonal of ``K``."""
        return np.einsum("ij,ij->j", self.F, self.F)


class CachedRows:
    """Rows of a source, the most recently used ones kept within a memory limit.

    Parameters
    ----------
    source : RowSource
    max_bytes : float
        Memory for kept rows. At least a few rows are always kept.
    dtype : numpy.float32 or numpy.float64, optional
        Precision of the kept rows; by default double up to 2000 rows.

    Attributes
    ----------
    table : ndarray of shape (n_slots, n_rows)
        The kept rows; ``table[slots(index)]`` are the rows ``K[index]``.
    factor : ndarray of shape (r, n_rows) or None
        The thin factor when the source is one.
    """

    def __init__(
        self, source: RowSource, max_bytes: float, dtype: type | None = None
    ) -> None:
        self.source = source
        self.n_rows = source.n_rows
        self.factor = source.F if isinstance(source, FactorRows) else None
        if dtype is None:
            dtype = np.float64 if self.n_rows <= _DOUBLE_LIMIT else np.float32
        self.dtype = dtype
        row_bytes = self.n_rows * np.dtype(dtype).itemsize
        self.n_slots = int(min(self.n_rows, max(max_bytes // row_bytes, 64)))
        # np.empty touches no memory before a row is written.
        self.table: np.ndarray = np.empty((self.n_slots, self.n_rows), dtype=dtype)
        self._slot_of = np.full(self.n_rows, -1, dtype=np.int64)
        self._row_in = np.full(self.n_slots, -1, dtype=np.int64)
        self._used_at = np.zeros(self.n_slots, dtype=np.int64)
        self._clock = 0
        self._diagonal: np.ndarray | None = None

    def diagonal(self) -> np.ndarray:
        """The diagonal of the matrix, computed once."""
        if self._diagonal is None:
            self._diagonal = self.source.diagonal()
        return self._diagonal

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision, whatever the precision of the rows."""
        used = np.flatnonzero(coef)
        if self.dtype is np.float64 and self.factor is None:
            slots = self._slot_of[used]
            if (slots >= 0).all():
                return coef[used] @ self.table[slots]
        return self.source.product(coef)

    def slots(self, index: np.ndarray) -> np.ndarray:
        """Make sure that rows are in ``table`` and say where.

        Parameters
        ----------
        index : ndarray of int
            Row numbers, possibly repeated; at most ``n_slots`` distinct ones.

        Returns
        -------
        ndarray of int
            ``table[slots[t]]`` is row ``index[t]``.
        """
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
            self.source.fill(missing, self.table, oldest)
            self._row_in[oldest] = missing
            self._slot_of[missing] = oldest
            self._used_at[oldest] = self._clock
        return self._slot_of[index]


def make_rows(source: RowSource, max_bytes: float = 2e8) -> CachedRows:
    """Choose between rows on demand and a thin factor.

    Parameters
    ----------
    source : RowSource
        The matrix.
    max_bytes : float
        Memory limit for kept rows or for the factor.

    Returns
    -------
    CachedRows
        Over a :class:`FactorRows` when at most 1000 pivots, and at most a third of the
        rows, reproduce the matrix to ten digits; else over the source itself.
    """
    n = source.n_rows
    # Beyond a third of the rows the factor costs as much as the matrix it stands for.
    budget = int(min(max(n // 3, 32), _MAX_PIVOTS, max(max_bytes / (8 * n), 1)))
    factor: np.ndarray | None
    if isinstance(source, DifferenceRows) and source.Z.shape[1] <= budget:
        Z = source.Z
        factor = np.ascontiguousarray((Z.toarray() if sp.issparse(Z) else Z).T)
    elif isinstance(source, DifferenceRows) and sp.issparse(source.Z):
        # Rows of a sparse product are cheap, and its factor would be dense.
        factor = None
    else:
        with one_blas_thread():
            factor = pivoted_cholesky(
                lambda index: _double_rows(source, index),
                source.diagonal(),
                max_pivots=budget,
            )
    if factor is None:
        return CachedRows(source, max_bytes)
    return CachedRows(FactorRows(factor), max_bytes)


def _double_rows(source: RowSource, index: np.ndarray) -> np.ndarray:
    out = np.empty((len(index), source.n_rows))
    source.fill(index, out, np.arange(len(index)))
    return out


@njit(cache=True, nogil=True)
def subtract_sides(block, left, right, table, slots):  # type: ignore[no-untyped-def]
    """Write ``block[:, right] - block[:, left]`` into ``table[slots]``."""
    for k in range(len(slots)):
        values = block[k]
        out = table[slots[k]]
        for t in range(len(left)):
            out[t] = values[right[t]] - values[left[t]]
