# SPDX-License-Identifier: BSD-3-Clause
"""Compiled pair steps over a small working set whose variables form blocks.

Boundary conventions: a variable exactly at a bound cannot move past it; two
candidates of equal gain are resolved to the lower index; a curvature at or below
1e-12 (duplicated rows) is treated as 1e-12, so that the step runs to a bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["solve_blocks"]

_FLAT = 1e-12


@njit(cache=True, nogil=True)
def solve_blocks(K, e, s, lower, upper, starts, eps, max_steps):  # type: ignore[no-untyped-def]
    """Move pairs inside blocks until no block violates optimality by more than eps.

    On entry ``e`` is the gradient at ``s``; on exit both are updated in place. The
    pair is taken from the block that violates most: its first variable violates most,
    the second gains most (second order). Returns the number of steps.
    """
    for step in range(max_steps):
        i = -1
        block = -1
        worst = eps
        for b in range(len(starts) - 1):
            high = -1
            lowest = np.inf
            for k in range(starts[b], starts[b + 1]):
                if s[k] < upper[k] and (high < 0 or e[k] > e[high]):
                    high = k
                if s[k] > lower[k] and e[k] < lowest:
                    lowest = e[k]
            if high >= 0 and e[high] - lowest > worst:
                worst = e[high] - lowest
                i = high
                block = b
        if i < 0:
            return step
        j = -1
        best = 0.0
        for k in range(starts[block], starts[block + 1]):
            if s[k] > lower[k] and e[k] < e[i]:
                curve = max(K[i, i] + K[k, k] - 2.0 * K[i, k], _FLAT)
                gain = (e[i] - e[k]) * (e[i] - e[k]) / curve
                if gain > best:
                    best = gain
                    j = k
        if j < 0:
            return step
        curve = max(K[i, i] + K[j, j] - 2.0 * K[i, j], _FLAT)
        move = (e[i] - e[j]) / curve
        room_i = upper[i] - s[i]
        room_j = s[j] - lower[j]
        if room_i <= move and room_i <= room_j:
            move = room_i
        elif room_j <= move:
            move = room_j
        s[i] = upper[i] if move == room_i else s[i] + move
        s[j] = lower[j] if move == room_j else s[j] - move
        for k in range(len(e)):
            e[k] -= move * (K[i, k] - K[j, k])
    return max_steps
