# SPDX-License-Identifier: BSD-3-Clause
"""Attributes as voters on which of two items is the better one, and greedy orders."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tiebreak.losses import GradeTree
from tiebreak.metrics.pair_counts import pair_counts

__all__ = [
    "fill_greedy_order",
    "normalized_weights",
    "voter_losses",
    "voter_losses_by_group",
]

Floats = NDArray[np.float64]


def voter_losses(values: Floats, tree: GradeTree) -> Floats:
    """Give the mean loss of each attribute over all pairs.

    The loss of a pair is 1 if the worse item has more of the attribute, ½ if both have
    as much, else 0. O(n log n) for an attribute of n rows.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Attributes of the rows.
    tree : GradeTree
        Their pairs.

    Returns
    -------
    ndarray of shape (p,)
    """
    return np.array([_mean_loss(c.sum(axis=0)) for c in _vote_counts(values, tree)])


def voter_losses_by_group(values: Floats, tree: GradeTree) -> Floats:
    """Give the mean loss of each attribute over the pairs of each group.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Attributes of the rows.
    tree : GradeTree
        Their pairs.

    Returns
    -------
    ndarray of shape (G, p)
        Groups without a pair are left out.
    """
    return np.stack([_mean_loss(c.T) for c in _vote_counts(values, tree)], axis=1)


def _vote_counts(values: Floats, tree: GradeTree) -> list[Floats]:
    """Weigh the pairs with, without and against each attribute, by group."""
    sizes = np.diff(tree.starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    grade = np.searchsorted(tree.cuts, np.arange(len(group)), side="right")
    return [
        pair_counts(grade, column, group, tree.weight) for column in values[tree.rows].T
    ]


def _mean_loss(counts: Floats) -> Floats:
    concordant, tied, discordant = counts
    return (discordant + 0.5 * tied) / (concordant + tied + discordant)


def normalized_weights(log_weight: Floats) -> Floats:
    """Give weights of sum one from their logarithms.

    Parameters
    ----------
    log_weight : ndarray
        Any numbers, -inf for none.

    Returns
    -------
    ndarray of the same shape
    """
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum()


@njit(cache=True, nogil=True)
def fill_greedy_order(
    order: NDArray[np.int64],
    claim: Floats,
    values: Floats,
    net_weight: Floats,
    equal: float,
) -> None:
    """Write the greedy order of items, in place; O(n² p).

    Parameters
    ----------
    order : ndarray of int64 of shape (n,)
        Row numbers, best first; written.
    claim : ndarray of shape (n,)
        Scratch: what speaks for each item minus what speaks against it.
    values : ndarray of shape (n, p)
        Attributes.
    net_weight : ndarray of shape (p,)
        Weight of each attribute minus that of its negation.
    equal : float
        A later row must have a larger claim by more than this.
    """
    n, p = values.shape
    for i in range(n):
        claim[i] = 0.0
        for j in range(n):
            claim[i] += _net_vote(values[i], values[j], net_weight, p)
    left = np.ones(n, dtype=np.bool_)
    for place in range(n):
        best = -1
        for i in range(n):
            if left[i] and (best < 0 or claim[i] > claim[best] + equal):
                best = i
        order[place] = best
        left[best] = False
        for i in range(n):
            if left[i]:
                claim[i] -= _net_vote(values[i], values[best], net_weight, p)


@njit(cache=True, nogil=True)
def _net_vote(a: Floats, b: Floats, net_weight: Floats, p: int) -> float:
    """Sum the weights for a over b, minus those against."""
    total = 0.0
    for f in range(p):
        if a[f] > b[f]:
            total += net_weight[f]
        elif a[f] < b[f]:
            total -= net_weight[f]
    return total
