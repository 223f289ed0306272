# SPDX-License-Identifier: BSD-3-Clause
"""Kernel functions, rows of pair kernels and thin factors."""

from tiebreak.kernels.cholesky import factor_kernel, pivoted_cholesky
from tiebreak.kernels.dictionary import KernelDictionary, MatrixDictionary
from tiebreak.kernels.functions import KernelFunction, make_kernel
from tiebreak.kernels.nystroem import NystroemMap
from tiebreak.kernels.rows import (
    CachedRows,
    DifferenceRows,
    FactorRows,
    FunctionKernel,
    GramKernel,
    ItemKernel,
    ItemPairRows,
    ItemRows,
    LinearRows,
    MatrixRows,
    check_gram,
    make_linear_rows,
    make_rows,
    upper_triangle,
)
