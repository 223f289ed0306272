# SPDX-License-Identifier: BSD-3-Clause
"""How items resemble each other: kernel functions, pair rows and thin factors."""

from tiebreak.kernels.cholesky import pivoted_cholesky
from tiebreak.kernels.functions import KERNEL_NAMES, KernelFunction, make_kernel
from tiebreak.kernels.items import FunctionKernel, GramKernel, ItemKernel, check_gram
from tiebreak.kernels.pair_rows import DifferenceRows, ItemPairRows, RowSource
from tiebreak.kernels.rows import CachedRows, FactorRows, MatrixRows, make_rows

__all__ = [
    "KERNEL_NAMES",
    "CachedRows",
    "DifferenceRows",
    "FactorRows",
    "FunctionKernel",
    "GramKernel",
    "ItemKernel",
    "ItemPairRows",
    "KernelFunction",
    "MatrixRows",
    "RowSource",
    "check_gram",
    "make_kernel",
    "make_rows",
    "pivoted_cholesky",
]
