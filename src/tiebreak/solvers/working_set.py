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

from tiebreak.kernels.functions import exp_in_place
from tiebreak.kernels.rows import add_rows, gather_block, subtract_sides

_LOGGER = logging.getLogger("tiebreak")
_FLAT = 1e-12


@njit(cache=True, nogil=True)
def find_violation(e, s, lower, upper):  # type: ignore[no-untyped-def]
    """Find the variable that gains most by growing, and how much a pair violates."""
    i = -1
    highest = -np.inf
    lowest = np.inf
    for k in range(len(e)):
        if s[k] < upper[k] and e[k] > highest:
            highest = e[k]
            i = k
        if s[k] > lower[k] and e[k] < lowest:
            lowest = e[k]
    return i, highest - lowest


@njit(cache=True, nogil=True)
def find_partner(row, diagonal, e, s, lower, own, highest):  # type: ignore[no-untyped-def]
    """Find the variable whose shrinking gains most (second order), or -1."""
    j = -1
    best = 0.0
    for k in range(len(e)):
        if s[k] > lower[k] and e[k] < highest:
            curve = max(own + diagonal[k] - 2.0 * row[k], _FLAT)
            gain = (highest - e[k]) * (highest - e[k]) / curve
            if gain > best:
                best = gain
                j = k
    return j


@njit(cache=True, nogil=True)
def solve_blocks(K, e, s, lower, upper, starts, eps, max_steps):  # type: ignore[no-untyped-def]
    """Move pairs inside blocks until no block violates optimality by more than eps.

    On entry ``e`` is the gradient at ``s``; on exit both are updated in place, and the
    sum of every block is what it was. The pair is taken from the block that violates
    most: its first variable violates most, the second gains most. Returns the number
    of steps.
    """
    diagonal = np.diag(K).copy()
    for step in range(max_steps):
        i = -1
        begin = end = 0
        worst = eps
        for b in range(len(starts) - 1):
            # Loops over slices know that no index is negative, and are faster for it.
            mine = slice(starts[b], starts[b + 1])
            high, violation = find_violation(e[mine], s[mine], lower[mine], upper[mine])
            if high >= 0 and violation > worst:
                worst = violation
                begin, end = starts[b], starts[b + 1]
                i = begin + high
        if i < 0:
            return step
        mine = slice(begin, end)
        j = find_partner(
            K[i, mine], diagonal[mine], e[mine], s[mine], lower[mine], K[i, i], e[i]
        )
        if j < 0:
            return step
        j += begin
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
        Precision that kernel rows will have.
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
        square, start = np.ones((1, 1)), (np.zeros(1), np.zeros(1))
        solve_box(square, *start, -one, one, 1e-3, 1)
        solve_blocks(square, *start, -one, one, np.arange(2), 1e-3, 1)
        for out in (np.ones((1, 1)), np.ones((1, 1), dtype=dtype)):
            gather_block(table, where, one, where, one, out)
        add_rows(table, where, one, np.zeros(1))
        subtract_sides(table, where, where, table.copy(), where)
        exp_in_place(table)
    finally:
        notice.cancel()
    _compiled.add(dtype)
