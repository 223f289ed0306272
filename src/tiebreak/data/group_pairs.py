# SPDX-License-Identifier: BSD-3-Clause
"""Grades within groups, written out as comparisons, for models that take only those."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["GroupPairs", "pair_of_number", "pairs_within_groups"]


class GroupPairs(NamedTuple):
    """Comparisons of rows of the same group."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    y: NDArray[np.int8]
    group: NDArray[np.int64]
    n_possible: int


def pairs_within_groups(
    group: NDArray[np.int64],
    grade: NDArray[np.float64],
    *,
    limit: int = 2_000_000,
    random_state: int = 0,
) -> GroupPairs:
    """Compare every two rows of the same group by their grades.

    Parameters
    ----------
    group : ndarray of int64 of shape (n,)
        Number of the group of each row, from 0.
    grade : ndarray of float64 of shape (n,)
        Grades; higher is better, equal ones tie.
    limit : int, default=2,000,000
        If there are more pairs than this, so many of them are drawn at random, without
        replacement.
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    GroupPairs
        Row numbers left and right, outcomes, groups, and how many pairs there were.
        Sides are exchanged at random, so that left is not better by its place.
    """
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    per_group = sizes * (sizes - 1) // 2
    total = int(per_group.sum())
    rng = np.random.default_rng(random_state)
    number = _draw_numbers(total, limit, rng) if total > limit else np.arange(total)
    ends = np.cumsum(per_group)
    of = np.searchsorted(ends, number, side="right")
    i, j = pair_of_number(number - (ends - per_group)[of])
    one, two = order[starts[of] + i], order[starts[of] + j]
    turned = rng.random(len(one)) < 0.5
    left, right = np.where(turned, two, one), np.where(turned, one, two)
    y = np.sign(grade[right] - grade[left]).astype(np.int8)
    return GroupPairs(left, right, y, of.astype(np.int64), total)


def _draw_numbers(
    total: int, n_numbers: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw distinct numbers below `total`, ascending, without listing all of them."""
    if total <= 4 * n_numbers:
        return np.sort(rng.choice(total, size=n_numbers, replace=False))
    found = np.empty(0, dtype=np.int64)
    while len(found) < n_numbers:
        more = rng.integers(total, size=n_numbers - len(found))
        found = np.sort(np.concatenate([found, more]))
        found = found[np.diff(found, prepend=-1) > 0]
    return found


def pair_of_number(
    k: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give i and j, 0 ≤ j < i, of the pairs with numbers k = i (i - 1) / 2 + j.

    Parameters
    ----------
    k : ndarray of int64
        Numbers of pairs, below 2⁶⁰.

    Returns
    -------
    i, j : ndarray of int64
        Exactly, though the square root is rounded.
    """
    i = ((1.0 + np.sqrt(1.0 + 8.0 * k)) / 2.0).astype(np.int64)
    i -= i * (i - 1) // 2 > k  # rounded up
    i += (i + 1) * i // 2 <= k  # rounded down
    return i, k - i * (i - 1) // 2
