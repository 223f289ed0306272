# SPDX-License-Identifier: BSD-3-Clause
"""Compiled loops over a small working set of dual variables.

Boundary conventions: a variable exactly at a bound cannot move past it; two
candidates of equal gain are resolved to the lower index; a curvature at or below
1e-12 (duplicated comparisons) is treated as 1e-12, so that the step runs to a bound.
"""

from __future__ import annotations

import logging
import threading

import numpy as np
from numba import njit

from tiebreak.kernels.exponential import exp_in_place
from tiebreak.kernels.pair_rows import subtract_sides
from tiebreak.kernels.rows import add_rows, gather_block

__all__ = ["compile_kernels", "solve_balanced", "solve_box"]

_LOGGER = logging.getLogger("tiebreak")
_FLAT = 1e-12


@njit(cache=True, nogil=True)
def solve_balanced(K, e, s, lower, upper, eps, max_steps):  # type: ignore[no-untyped-def]
    """Move pairs of variables along Σ s = const until the violation is at most eps.

    On entry ``e`` is the gradient at ``s``; on exit both are updated in place. The
    first variable of a pair violates most, the second gains most (second order).
    Returns the number of steps.
    """
    for step in range(max_steps):
        i = -1
        highest = -np.inf
        lowest = np.inf
        for k in range(len(e)):
            if s[k] < upper[k] and e[k] > highest:
                highest = e[k]
                i = k
            if s[k] > lower[k] and e[k] < lowest:
                lowest = e[k]
        if i < 0 or highest - lowest <= eps:
            return step
        j = -1
        best = 0.0
        for k in range(len(e)):
            if s[k] > lower[k] and e[k] < highest:
                curve = max(K[i, i] + K[k, k] - 2.0 * K[i, k], _FLAT)
                gain = (highest - e[k]) * (highest - e[k]) / curve
                if gain > best:
                    best = gain
                    j = k
        if j < 0:
            return step
        curve = max(K[i, i] + K[j, j] - 2.0 * K[i, j], _FLAT)
        move = (highest - e[j]) / curve
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


@njit(cache=True, nogil=True)
def solve_box(K, e, s, lower, upper, eps, max_steps):  # type: ignore[no-untyped-def]
    """Move single variables, the largest gain first, until no gradient exceeds eps.

    On entry ``e`` is the gradient at ``s``; on exit both are updated in place.
    Returns the number of steps.
    """
    for step in range(max_steps):
        best = 0.0
        i = -1
        worst = 0.0
        for k in range(len(e)):
            if (e[k] > 0.0 and s[k] < upper[k]) or (e[k] < 0.0 and s[k] > lower[k]):
                worst = max(worst, abs(e[k]))
                curve = max(K[k, k], _FLAT)
                move = min(max(s[k] + e[k] / curve, lower[k]), upper[k]) - s[k]
                gain = move * (e[k] - 0.5 * curve * move)
                if gain > best:
                    best = gain
                    i = k
        if i < 0 or worst <= eps:
            return step
        target = s[i] + e[i] / max(K[i, i], _FLAT)
        target = min(max(target, lower[i]), upper[i])
        move = target - s[i]
        s[i] = target
        for k in range(len(e)):
            e[k] -= move * K[i, k]
    return max_steps


_compiled: set[type] = set()


def compile_kernels(dtype: type) -> None:
    """Compile every loop for one precision of the rows, or load it from the cache.

    A line is logged when it takes longer than a moment, because the first fit on a
    machine has to wait for it. Call it before starting worker processes.

    Parameters
    ----------
    dtype : numpy.float32 or numpy.float64
    """
    if dtype in _compiled:
        return
    notice = threading.Timer(
        1.0,
        _LOGGER.warning,
        ["compiling the solver, once on this machine (a few seconds) ..."],
    )
    notice.daemon = True
    notice.start()
    try:
        one = np.ones(1)
        where = np.zeros(1, dtype=np.int64)
        table: np.ndarray = np.ones((1, 1), dtype=dtype)
        for solve in (solve_balanced, solve_box):
            solve(np.ones((1, 1)), np.zeros(1), np.zeros(1), -one, one, 1e-3, 1)
        for out in (np.ones((1, 1)), np.ones((1, 1), dtype=dtype)):
            gather_block(table, where, one, where, one, out)
        add_rows(table, where, one, np.zeros(1))
        subtract_sides(table, where, where, table.copy(), where)
        exp_in_place(table)
    finally:
        notice.cancel()
    _compiled.add(dtype)
