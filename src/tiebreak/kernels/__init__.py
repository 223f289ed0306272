# SPDX-License-Identifier: BSD-3-Clause
"""How items resemble each other: kernel functions, pair rows and thin factors."""

from tiebreak.kernels.cholesky import PivotedFactor, pivoted_cholesky
from tiebreak.kernels.dictionary import KernelDictionary, MatrixDictionary
from tiebreak.kernels.functions import KERNEL_NAMES, KernelFunction, make_kernel
from tiebreak.kernels.item_rows import (
    ItemRows,
    LinearRows,
    make_item_rows,
    make_linear_rows,
)
from tiebreak.kernels.items import FunctionKernel, GramKernel, ItemKernel, check_gram
from tiebreak.kernels.nystroem import NystroemMap
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
    "ItemRows",
    "KernelDictionary",
    "KernelFunction",
    "LinearRows",
    "MatrixDictionary",
    "MatrixRows",
    "NystroemMap",
    "PivotedFactor",
    "RowSource",
    "check_gram",
    "make_item_rows",
    "make_kernel",
    "make_linear_rows",
    "make_rows",
    "pivoted_cholesky",
]
