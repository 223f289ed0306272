# SPDX-License-Identifier: BSD-3-Clause
"""Dual problems of one block, and of several blocks without signs."""

import numpy as np

from tiebreak.solvers import DualQP


def box(linear, lower, upper, row, sign, balanced):
    block, loading = np.zeros(len(linear), dtype=np.int64), np.ones((1, 1))
    return DualQP(linear, lower, upper, row, sign, block, loading, balanced)


def blocks(linear, lower, upper, row, block, loading):
    sign = np.ones(len(linear))
    return DualQP(linear, lower, upper, row, sign, block, loading, True)
