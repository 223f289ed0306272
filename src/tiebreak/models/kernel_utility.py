# SPDX-License-Identifier: BSD-3-Clause
"""A utility that is linear in features, or a sum of kernel functions at items."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from tiebreak.data import ItemTable
from tiebreak.data.features import check_features
from tiebreak.data.threads import chunks, in_threads
from tiebreak.kernels import KernelFunction
from tiebreak.models.base import UtilityMixin
from tiebreak.models.pair_program import TrainingItems

__all__ = ["KernelUtility", "expand_kernel", "weigh_features"]

_CHUNK = 2048
_ALL = [slice(None)]


class KernelUtility(UtilityMixin):
    """Utility w·x (``coef_``) or Σ item_coef_[j] k(support_items_[j], x).

    Subclasses store the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``.
    With a precomputed kernel, ``item_coef_`` has one entry for each column.
    """

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float

    def _keep_expansion(self, items: TrainingItems, a: np.ndarray) -> None:
        """Keep the coefficients of the distinct training items."""
        if items.gram is not None:
            self.item_coef_ = a
        elif items.is_linear:
            self.coef_ = items.linear_coef(a)
        else:
            assert items.table is not None and items.function is not None
            needed = np.flatnonzero(a)
            self.item_coef_ = a[needed]
            self.support_items_ = items.table.values[needed]
            self.gamma_ = items.function.gamma

    def _utility_of_table(self, table: ItemTable) -> NDArray[np.float64]:
        if not hasattr(self, "coef_"):
            return super()._utility_of_table(table)
        # Row by row, identical items get the identical utility without being merged.
        check_features(self, table)
        return self._utility(table)

    def _utility(self, table: ItemTable) -> np.ndarray:
        values = table.values
        if hasattr(self, "coef_"):
            return weigh_features(values, self.coef_)
        if not hasattr(self, "support_items_"):
            return np.asarray(values @ self.item_coef_).ravel()
        if callable(self.kernel):
            function = KernelFunction(self.kernel)
        else:
            function = KernelFunction(self.kernel, self.gamma_, self.degree, self.coef0)
        return expand_kernel(function, values, self.support_items_, self.item_coef_)


def weigh_features(values: Any, coef: np.ndarray) -> NDArray[np.float64]:
    """``values @ coef``, in which equal rows give equal results to the last bit.

    A product of the linear algebra library would not: how it sums a row may depend on
    where in the table the row stands.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n, p)
        Items.
    coef : ndarray of shape (p,)
        Weights of the features.

    Returns
    -------
    ndarray of shape (n,)
    """
    if sp.issparse(values):
        return np.asarray(values @ coef).ravel()
    out = np.empty(len(values))
    coef = np.ascontiguousarray(coef, dtype=np.float64)

    def fill(rows: slice) -> None:
        weigh_rows(values[rows], coef, out[rows])

    in_threads(fill, chunks(len(values), 100_000) if len(values) > _CHUNK else _ALL)
    return out


@njit(cache=True, nogil=True)
def weigh_rows(
    values: NDArray[np.float64], coef: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write the weighted sum of every row to ``out``."""
    for i in range(len(values)):
        total = 0.0
        for j in range(len(coef)):
            total += values[i, j] * coef[j]
        out[i] = total


def expand_kernel(
    function: KernelFunction, values: Any, centers: Any, coef: np.ndarray
) -> np.ndarray:
    """``K(values, centers) @ coef``, a chunk of rows at a time."""
    if centers.shape[0] == 0:
        return np.zeros((values.shape[0], *coef.shape[1:]))

    def chunk(start: int) -> np.ndarray:
        return function.block(values[start : start + _CHUNK], centers) @ coef

    return np.concatenate(in_threads(chunk, range(0, values.shape[0], _CHUNK)))
