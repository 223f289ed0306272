# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the pair kernel, computed when they are asked for.

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

from tiebreak.data.threads import chunks, in_threads, scratch
from tiebreak.kernels.functions import Table
from tiebreak.kernels.items import ItemKernel

__all__ = ["DifferenceRows", "ItemPairRows", "RowSource"]


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
        Kernel between the items.
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

        def fill_part(part: slice) -> None:
            shape = (len(index[part]), self.kernel.n_items)
            of_right = scratch("right", shape, dtype)
            of_left = scratch("left", shape, dtype)
            block = self.kernel.block(self.right[index[part]], dtype, of_right)
            block -= self.kernel.block(self.left[index[part]], dtype, of_left)
            subtract_sides(block, self.left, self.right, table, slots[part])

        in_threads(fill_part, chunks(len(index), 64))

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
        Difference of features, one row per comparison.
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


@njit(cache=True, nogil=True)
def subtract_sides(block, left, right, table, slots):  # type: ignore[no-untyped-def]
    """Write ``block[:, right] - block[:, left]`` into ``table[slots]``."""
    for k in range(len(slots)):
        values = block[k]
        out = table[slots[k]]
        for t in range(len(left)):
            out[t] = values[right[t]] - values[left[t]]
