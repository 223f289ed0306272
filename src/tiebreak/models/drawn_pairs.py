# SPDX-License-Identifier: BSD-3-Clause
"""A few random partners for every graded item, as Herbrich et al. do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tiebreak.losses import GradeTree

__all__ = ["draw_pairs"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def draw_pairs(
    tree: GradeTree, per_item: int, random_state: Any
) -> tuple[Rows, Rows, NDArray[np.int8], Floats]:
    """Pair every item with random items of other grades of its group.

    Parameters
    ----------
    tree : GradeTree
        All pairs of the items; items that are in none are left out.
    per_item : int
        Number k of distinct partners of each item, drawn without replacement; all of
        them where there are fewer.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    left, right : ndarray of int64
        Rows of an item and of its partner; a pair that two items drew comes twice.
    y : ndarray of int8
        Outcomes, never 0.
    weight : ndarray
        w_i w_j, divided by its sum over the group where the tree says "mean".
    """
    m = len(tree.rows)
    edges = np.unique(np.concatenate([tree.starts, tree.cuts]))
    run = np.searchsorted(edges, np.arange(m), side="right") - 1
    # Items of equal grade by row, so that the draw is the same on every machine.
    slot = np.lexsort((tree.rows, run))
    rows, slot_weight = tree.rows[slot], tree.weight[slot]
    own_first, own_last = edges[run], edges[run + 1]
    group = np.searchsorted(tree.starts, np.arange(m), side="right") - 1
    first, last = tree.starts[group], tree.starts[group + 1]
    others = (last - first) - (own_last - own_first)
    k = min(per_item, int(others.max()))
    uniform = check_random_state(random_state).random_sample((m, k))
    partner = np.full((m, k), -1, dtype=np.int64)
    draw_without_replacement(partner, uniform, others)
    item, column = np.nonzero(partner >= 0)
    drawn = first[item] + partner[item, column]
    # The items of the own grade stand in the middle and are stepped over.
    drawn += np.where(drawn >= own_first[item], (own_last - own_first)[item], 0)
    outcome = np.where(drawn > item, 1, -1).astype(np.int8)
    weight = slot_weight[item] * slot_weight[drawn]
    if tree.per_group == "mean":
        mean_of = tree.group_weight / np.bincount(group[item], weight)
        weight *= mean_of[group[item]]
    return rows[item], rows[drawn], outcome, weight


@njit(cache=True, nogil=True)
def draw_without_replacement(
    out: NDArray[np.int64], uniform: Floats, n_choices: NDArray[np.int64]
) -> None:
    """Write distinct random numbers below ``n_choices[i]`` to each row, in place.

    Floyd's way: the j-th of k draws is among the first n - k + j + 1 numbers; one that
    was drawn before is replaced by the last of them.

    Parameters
    ----------
    out : ndarray of shape (m, k)
        Filled from the left; entries beyond ``n_choices[i]`` are left alone.
    uniform : ndarray of shape (m, k)
        Random numbers in [0, 1).
    n_choices : ndarray of shape (m,)
        How many numbers there are to draw from.
    """
    for i in range(len(out)):
        k = min(out.shape[1], n_choices[i])
        for j in range(k):
            top = n_choices[i] - k + j
            number = np.int64(uniform[i, j] * (top + 1))
            for before in range(j):
                if out[i, before] == number:
                    number = top
                    break
            out[i, j] = number
