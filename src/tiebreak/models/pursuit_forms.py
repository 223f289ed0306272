# SPDX-License-Identifier: BSD-3-Clause
"""Quadratic forms of utilities, as a pursuit needs them.

A form gives products L v, the numbers kᵀLk of a block of columns k, and takes from a
column what L does not see. Of a Laplacian that is a constant, and leaving it in would
cost the digits of columns that hardly vary, such as those of a wide Gaussian kernel.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.losses import GroupLaplacian, PairLaplacian

__all__ = ["GroupForm", "PairForm", "WeightForm"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class WeightForm:
    """L = diag(w).

    Parameters
    ----------
    weight : ndarray of shape (n,)
        w.
    """

    def __init__(self, weight: Floats) -> None:
        self.weight = weight

    def product(self, v: Floats) -> Floats:
        """Give L v."""
        return self.weight * v if v.ndim == 1 else self.weight[:, None] * v

    def measure(self, block: Floats) -> Floats:
        """Give kᵀLk twice, for columns in rows; nothing cancels in it."""
        norm = np.einsum("ij,ij,j->i", block, block, self.weight)
        return np.column_stack([norm, norm])

    def reduce(self, k: Floats) -> Floats:
        """Give k itself: L sees all of it."""
        return k


class GroupForm:
    """The Laplacian of groups of rows, as a function of distinct items.

    Parameters
    ----------
    laplacian : GroupLaplacian
        Of the rows.
    code : ndarray of int of shape (n_rows,), optional
        Item of each row. None: every row is an item.
    """

    def __init__(self, laplacian: GroupLaplacian, code: Codes | None = None) -> None:
        self._laplacian, self._code = laplacian, code
        self._diagonal = laplacian.diagonal()
        if code is not None:
            n, m = laplacian.n, int(code.max()) + 1
            self._gather = sp.csr_array((np.ones(n), (code, np.arange(n))), (m, n))

    def gather(self, v: Floats) -> Floats:
        """Sum the rows of each item."""
        return v if self._code is None else np.asarray(self._gather @ v)

    def product(self, v: Floats) -> Floats:
        """Give L v of one vector, or of several in columns."""
        at_rows = v if self._code is None else v[self._code]
        return self.gather(self._laplacian.product(at_rows))

    def measure(self, block: Floats) -> Floats:
        """Give kᵀLk, and its size without cancellation, of columns in rows."""
        at_rows = np.ascontiguousarray(block.T)
        if self._code is not None:
            at_rows = at_rows[self._code]
        root = self._laplacian.root(at_rows)
        norm = np.einsum("ij,ij->j", root, root)
        scale = np.einsum("ij,ij,i->j", at_rows, at_rows, self._diagonal)
        return np.column_stack([norm, scale])

    def reduce(self, k: Floats) -> Floats:
        """Subtract the mean, of which L sees nothing."""
        return k - k.mean()


class PairForm:
    """The Laplacian of listed pairs of items.

    Parameters
    ----------
    laplacian : PairLaplacian
    """

    def __init__(self, laplacian: PairLaplacian) -> None:
        self._laplacian, self._diagonal = laplacian, laplacian.diagonal()

    def product(self, v: Floats) -> Floats:
        """Give L v of one vector, or of several in columns."""
        return self._laplacian.product(v)

    def measure(self, block: Floats) -> Floats:
        """Give kᵀLk, and its size without cancellation, of columns in rows."""
        # L does not see constants, which would only cancel.
        centered = np.ascontiguousarray((block - block.mean(axis=1)[:, None]).T)
        norm = np.einsum("ij,ij->j", centered, self._laplacian.product(centered))
        scale = np.einsum("ij,ij,j->i", block, block, self._diagonal)
        return np.column_stack([norm, scale])

    def reduce(self, k: Floats) -> Floats:
        """Subtract the mean, of which L sees nothing."""
        return k - k.mean()
