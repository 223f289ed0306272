# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of potentials: running sums over slots in ascending order of grade.

Slots are sorted by group and then by grade; a run is slots of equal grade.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# What begins with a slot.
NEW_RUN, NEW_GROUP = 1, 2


@njit(cache=True, nogil=True)
def fill_utilities(s: Floats, u: Floats, item: Codes) -> tuple[float, float]:
    """Write the utilities of all slots; return the smallest and the largest."""
    low, high = np.inf, -np.inf
    for i in range(len(item)):
        s[i] = u[item[i]]
        low = min(low, s[i])
        high = max(high, s[i])
    return low, high


@njit(cache=True, nogil=True)
def add_shares(
    as_better: Floats,
    as_worse: Floats,
    up: Floats,
    down: Floats,
    item: Codes,
    step: NDArray[np.int8],
) -> float:
    """Add down_b up_c of every pair of slots to its two items, in place.

    Parameters
    ----------
    as_better, as_worse : ndarray of shape (N,)
        Sums over the pairs in which an item is the better one, and the worse one.
    up, down : ndarray of shape (m,)
        The factor of each slot where it is the worse one, and where the better one.
    item : ndarray of shape (m,)
        The item in each slot.
    step : ndarray of int8 of shape (m + 1,)
        2 where a group begins, and at the end; 1 where a run of equal grades does.

    Returns
    -------
    float
        The sum over all pairs.
    """
    total, below, seen = 0.0, 0.0, 0.0
    for i in range(len(item)):
        if step[i] == NEW_GROUP:
            seen = 0.0
        if step[i] > 0:
            below = seen
        as_better[item[i]] += down[i] * below
        total += down[i] * below
        seen += up[i]
    above = 0.0
    for i in range(len(item) - 1, -1, -1):
        if step[i + 1] == NEW_GROUP:
            seen = 0.0
        if step[i + 1] > 0:
            above = seen
        as_worse[item[i]] += up[i] * above
        seen += down[i]
    return total


def add_shares_naive(
    as_better: Floats,
    as_worse: Floats,
    up: Floats,
    down: Floats,
    item: Codes,
    step: NDArray[np.int8],
) -> float:
    """Do what ``add_shares`` does by visiting every two slots."""
    group, run = np.cumsum(step[:-1] == NEW_GROUP), np.cumsum(step[:-1] > 0)
    total = 0.0
    for b in range(len(item)):
        for c in range(b):
            if group[b] == group[c] and run[b] > run[c]:
                as_better[item[b]] += down[b] * up[c]
                as_worse[item[c]] += down[b] * up[c]
                total += down[b] * up[c]
    return total


@njit(cache=True, nogil=True)
def split_pairs(
    up: Floats, down: Floats, h: Floats, item: Codes, step: NDArray[np.int8]
) -> tuple[float, float]:
    """Sum down_b up_c over the pairs with h 1 and 0, and over those with 0 and 1.

    Parameters
    ----------
    up, down, item, step
        As in ``add_shares``.
    h : ndarray of shape (N,)
        0 or 1 for each item.

    Returns
    -------
    in_order, reversed : float
    """
    in_order, turned = 0.0, 0.0
    zeros, ones, zeros_below, ones_below = 0.0, 0.0, 0.0, 0.0
    for i in range(len(item)):
        if step[i] == NEW_GROUP:
            zeros, ones = 0.0, 0.0
        if step[i] > 0:
            zeros_below, ones_below = zeros, ones
        if h[item[i]] > 0.0:
            in_order += down[i] * zeros_below
            ones += up[i]
        else:
            turned += down[i] * ones_below
            zeros += up[i]
    return in_order, turned


@njit(cache=True, nogil=True)
def largest_power(
    u: Floats, log_weight: Floats, runs: Codes, first_run: Codes
) -> float:
    """Find the largest log w_b + log w_c - (u_b - u_c) over all pairs.

    Parameters
    ----------
    u, log_weight : ndarray of shape (m,)
        Utility and logarithm of the weight of each slot.
    runs : ndarray of shape (R + 1,)
        First slot of each run of equal grades, and m.
    first_run : ndarray of shape (G + 1,)
        First run of each group, and R.

    Returns
    -------
    float
    """
    found = -np.inf
    for group in range(len(first_run) - 1):
        below = -np.inf
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                found = max(found, log_weight[i] - u[i] + below)
            for i in range(runs[run], runs[run + 1]):
                below = max(below, log_weight[i] + u[i])
    return found


def largest_power_naive(
    u: Floats, log_weight: Floats, runs: Codes, first_run: Codes
) -> float:
    """Do what ``largest_power`` does by visiting every pair."""
    found = -math.inf
    for group in range(len(first_run) - 1):
        start = runs[first_run[group]]
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                for j in range(start, runs[run]):
                    power = log_weight[i] + log_weight[j] - (u[i] - u[j])
                    found = max(found, power)
    return found
