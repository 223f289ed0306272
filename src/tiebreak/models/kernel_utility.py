# SPDX-License-Identifier: BSD-3-Clause
"""Utilities that are linear in features or sums of kernel functions."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tiebreak.data import ItemTable
from tiebreak.data.arrays import Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads
from tiebreak.data.validation import check_features
from tiebreak.kernels import KernelFunction
from tiebreak.kernels.functions import Gamma, Kernel
from tiebreak.models.base import UtilityMixin

_CHUNK = 2048


@dataclass(eq=False, repr=False)
class KernelUtility(UtilityMixin):
    """Utility w·x (``coef_``) or Σ item_coef_[j] k(support_items_[j], x)."""

    _: KW_ONLY
    kernel: Kernel = "rbf"
    gamma: Gamma = "scale"
    degree: int = 3
    coef0: float = 0.0

    _fitted_arrays: ClassVar = {
        "item_coef_": "s",
        "support_items_": "s p",
        "support_": "d: index",
        "dual_coef_": "d",
    }

    def _utility_of_table(self, table: ItemTable) -> Floats:
        if not hasattr(self, "coef_"):
            return super()._utility_of_table(table)
        # Row by row, identical items get the identical utility without being merged.
        check_features(self, table)
        return self._utility(table)

    def _utility(self, table: ItemTable) -> Floats:
        values = table.values
        if hasattr(self, "coef_"):
            return weigh_features(values, self.coef_)
        if not hasattr(self, "support_items_"):
            return np.asarray(values @ self.item_coef_).ravel()
        return expand_support(self, values, self.item_coef_)


def expand_support(model: Any, values: Any, coef: Floats) -> Floats:
    """Sum kernel functions at the support; precomputed ``values`` are theirs."""
    if not hasattr(model, "support_items_"):
        return np.asarray(values[:, model.support_] @ coef)
    kernel = KernelFunction(model.kernel, model.gamma_, model.degree, model.coef0)
    return expand_kernel(kernel, values, model.support_items_, coef)


def weigh_features(values: Any, coef: Floats) -> Floats:
    """``values @ coef``; equal rows give equal results to the last bit."""
    if sp.issparse(values):
        return np.asarray(values @ coef).ravel()
    # A product of the linear algebra library would not: how it sums a row may depend
    # on where in the table the row stands.
    out = np.empty(len(values))
    coef = np.ascontiguousarray(coef, dtype=np.float64)

    def fill(rows: slice) -> None:
        weigh_rows(values[rows], coef, out[rows])

    in_threads(fill, chunks(len(values), 100_000, len(coef)))
    return out


@njit(cache=True, nogil=True)
def weigh_rows(values: Floats, coef: Floats, out: Floats) -> None:
    """Write the weighted sum of every row to ``out``."""
    for i in range(len(values)):
        total = 0.0
        for j in range(len(coef)):
            total += values[i, j] * coef[j]
        out[i] = total


def expand_kernel(
    function: KernelFunction, values: Any, centers: Any, coef: Floats
) -> Floats:
    """``K(values, centers) @ coef``, a chunk of rows at a time."""
    if centers.shape[0] == 0:
        return np.zeros((values.shape[0], *coef.shape[1:]))

    def chunk(start: int) -> Floats:
        return function.block(values[start : start + _CHUNK], centers) @ coef

    return np.concatenate(in_threads(chunk, range(0, values.shape[0], _CHUNK)))
