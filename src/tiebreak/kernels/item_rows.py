# SPDX-License-Identifier: BSD-3-Clause
"""The kernel between items as a matrix of rows, for solvers that work on items.

A row is that of one item; nothing here knows of comparisons. A linear kernel never
needs its items × items matrix: few features are a thin factor as they are
(:class:`~tiebreak.kernels.FactorRows`, without a copy), and with many the products go
through the features (:class:`LinearRows`).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tiebreak.data.threads import chunks, in_threads
from tiebreak.kernels.functions import Table
from tiebreak.kernels.items import ItemKernel
from tiebreak.kernels.pair_rows import DifferenceRows
from tiebreak.kernels.rows import FactorRows, MatrixRows, make_rows

__all__ = ["ItemRows", "LinearRows", "make_item_rows", "make_linear_rows"]

# A thin factor has at most this many rows; interior-point steps cost n r².
_MAX_FEATURES = 1000


class ItemRows:
    """Rows of the kernel between items, computed when they are asked for.

    Parameters
    ----------
    kernel : ItemKernel
        Kernel between the items.
    """

    def __init__(self, kernel: ItemKernel) -> None:
        self.kernel = kernel
        self.n_rows = kernel.n_items

    def fill(self, index: np.ndarray, table: np.ndarray, slots: np.ndarray) -> None:
        """Write the rows ``K[index]`` into ``table[slots]``."""
        dtype = table.dtype.type

        def fill_part(part: slice) -> None:
            table[slots[part]] = self.kernel.block(index[part], dtype)

        in_threads(fill_part, chunks(len(index), 64))

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""
        return self.kernel.product(coef)

    def diagonal(self) -> np.ndarray:
        """The diagonal of ``K``."""
        everything = np.arange(self.n_rows)
        return self.kernel.paired(everything, everything)


class LinearRows:
    """The linear kernel ``X Xᵀ``, of which nothing is kept: products go through X.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, p)
        Features, one row per item.
    """

    dtype: type = np.float64
    factor: np.ndarray | None = None

    def __init__(self, X: Table) -> None:
        self.X = X
        self.n_rows = self.capacity = X.shape[0]
        self._diagonal = DifferenceRows(X).diagonal()
        self.whole_block: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def block(self, row: np.ndarray, sign: np.ndarray, dtype: type) -> np.ndarray:
        """``sign[a] sign[b] K[row[a], row[b]]``, shape ``(len(row), len(row))``."""
        distinct, code = np.unique(row, return_inverse=True)
        part = self.X[distinct]
        block = part @ part.T
        block = block.toarray() if sp.issparse(block) else block
        out = block[np.ix_(code, code)].astype(dtype, copy=False)
        out *= sign.astype(dtype)[:, None]
        out *= sign.astype(dtype)
        return out

    def add(self, row: np.ndarray, coef: np.ndarray, f: np.ndarray) -> None:
        """Add ``Σ coef[k] K[row[k]]`` to ``f`` in place."""
        f += self.X @ (self.X[row].T @ coef)

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision."""
        return self.X @ (self.X.T @ coef)

    def diagonal(self) -> np.ndarray:
        """The diagonal of K."""
        return self._diagonal


def make_item_rows(kernel: ItemKernel, max_bytes: float = 2e8) -> MatrixRows:
    """Rows of a kernel between items: a thin factor where there is one, or on demand.

    Parameters
    ----------
    kernel : ItemKernel
        Kernel between the items.
    max_bytes : float
        Memory limit for kept rows or for the factor.

    Returns
    -------
    MatrixRows
    """
    return make_rows(ItemRows(kernel), max_bytes)


def make_linear_rows(X: Table, max_bytes: float = 2e8) -> MatrixRows:
    """Rows of the linear kernel between items, never more than the features need.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, p)
        Features.
    max_bytes : float
        Memory limit for a dense copy of sparse features.

    Returns
    -------
    MatrixRows
        Up to a third as many features as items, and up to 1000, are a factor. With
        more, products go through the features.
    """
    n, p = X.shape
    thin = p <= min(max(n // 3, 32), _MAX_FEATURES)
    if thin and not sp.issparse(X):
        return FactorRows(X.T)
    if thin and 8.0 * n * p <= max_bytes:
        return FactorRows(X.toarray().T)
    return LinearRows(X)
