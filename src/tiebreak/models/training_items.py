# SPDX-License-Identifier: BSD-3-Clause
"""The items that a kernel model learns from, and the kernel between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tiebreak.data import ItemTable, Pairs
from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import (
    DifferenceRows,
    FunctionKernel,
    GramKernel,
    ItemKernel,
    ItemPairRows,
    KernelFunction,
    MatrixRows,
    check_gram,
    make_item_rows,
    make_kernel,
    make_linear_rows,
    make_rows,
)

# A kernel function is tried on this many items: enough to find a wrong one, and cheap.
_SYMMETRY_SAMPLE = 64


@dataclass(frozen=True)
class TrainingItems:
    """The n_items distinct items of the training data and the kernel between them.

    ``code`` is the distinct item of every row. Without features there is no kernel.
    """

    table: ItemTable | None
    function: KernelFunction | None
    gram: np.ndarray | None
    n_items: int
    code: np.ndarray

    @classmethod
    def read(
        cls, pairs: Pairs, kernel: Any, gamma: float | str, degree: int, coef0: float
    ) -> TrainingItems:
        """Merge identical items of compact pairs and resolve the kernel."""
        if not pairs.has_features:
            if kernel != "linear":
                raise ValueError(
                    f"kernel={kernel!r} compares features, but these items have none "
                    "(items=None), only identity. Use kernel='linear': one utility "
                    "per item."
                )
            n = pairs.n_items
            return cls(None, None, None, n, np.arange(n))
        if isinstance(kernel, str) and kernel == "precomputed":
            return cls.of_gram(pairs.table)
        table, code = pairs.unique_items()
        return cls.of_table(table, code, kernel, gamma, degree, coef0)

    @classmethod
    def of_gram(cls, table: ItemTable) -> TrainingItems:
        """Take a table that holds the kernel values between all items."""
        gram = check_gram(table.dense())
        return cls(None, None, gram, len(gram), np.arange(len(gram)))

    @classmethod
    def of_table(
        cls,
        table: ItemTable,
        code: np.ndarray,
        kernel: Any,
        gamma: float | str,
        degree: int,
        coef0: float,
    ) -> TrainingItems:
        """Resolve the kernel between the distinct items of a table."""
        function = make_kernel(
            kernel, gamma=gamma, degree=degree, coef0=coef0, items=table.values
        )
        if callable(kernel):
            _check_symmetric(function, table)
        return cls(table, function, None, table.n_items, code)

    @property
    def is_linear(self) -> bool:
        """Whether the utility is a weighted sum of features (or one per item)."""
        if self.gram is not None:
            return False
        return self.function is None or self.function.name == "linear"

    def linear_coef(self, item_coef: np.ndarray) -> np.ndarray:
        """Weights of the features for coefficients on items; themselves without."""
        if self.table is None:
            return item_coef
        return np.asarray(self.table.values.T @ item_coef).ravel()

    @property
    def kernel(self) -> ItemKernel:
        """The kernel between the distinct items, which must have features."""
        if self.gram is not None:
            return GramKernel(self.gram)
        assert self.function is not None and self.table is not None
        return FunctionKernel(self.function, self.table.values)

    def item_rows(self, cache_bytes: float) -> MatrixRows:
        """Rows of the kernel between the distinct items."""
        if self.is_linear:
            assert self.table is not None
            return make_linear_rows(self.table.values, cache_bytes)
        return make_item_rows(self.kernel, cache_bytes)

    def rows(
        self, left: np.ndarray, right: np.ndarray, cache_bytes: float
    ) -> MatrixRows:
        """Rows of the pair kernel for comparisons of distinct items."""
        if self.is_linear:
            differences = self._differences(left, right)
            return make_rows(DifferenceRows(differences), cache_bytes)
        kernel = self.kernel
        few = self.gram is None and self.n_items <= len(left) // 2
        if few and 8 * self.n_items**2 <= cache_bytes:
            with one_blas_thread():  # a thin product: others would only wait
                gram = kernel.block(np.arange(self.n_items), np.float64)
            kernel = GramKernel(gram)
        return make_rows(ItemPairRows(kernel, left, right), cache_bytes)

    def _differences(
        self, left: np.ndarray, right: np.ndarray
    ) -> np.ndarray | sp.csr_array:
        if self.table is not None:
            return self.table.values[right] - self.table.values[left]
        n = len(left)
        data = np.repeat([1.0, -1.0], n)
        row = np.tile(np.arange(n), 2)
        column = np.concatenate([right, left])
        return sp.csr_array((data, (row, column)), shape=(n, self.n_items))


def _check_symmetric(function: KernelFunction, table: ItemTable) -> None:
    """Refuse a kernel function that is not symmetric on the first items."""
    some = table.values[:_SYMMETRY_SAMPLE]
    block = function.block(some, some)
    apart = np.abs(block - block.T)
    if apart.max() > 1e-8 * np.abs(block).max():
        i, j = np.unravel_index(apart.argmax(), apart.shape)
        raise ValueError(
            f"the kernel function is not symmetric: it gives {block[i, j]:g} for "
            f"distinct items {i} and {j}, and {block[j, i]:g} the other way round. A "
            "kernel compares items, so that the order of its arguments must not "
            "matter."
        )
