# SPDX-License-Identifier: BSD-3-Clause
"""k-o'means by its words: loops over lists and items, and over all partitions."""

from itertools import product

import numpy as np
from scipy.special import ndtri


def central_scores(lists, n_items):
    """Thurstone scores of the items from the lists of one cluster, best first."""
    z = np.zeros((n_items, n_items))
    for a in range(n_items):
        for b in range(n_items):
            both = [own for own in lists if a in own and b in own and a != b]
            above = sum(own.index(a) < own.index(b) for own in both)
            z[a, b] = ndtri((above + 0.5) / (len(both) + 1.0))
    return z.sum(axis=1) / (n_items - 1)


def distance(own, scores):
    """1 - ρ of a list and the scores of its items; 1 if these are all equal."""
    mine = scores[own]
    rank = [np.sum(mine > s) + 0.5 * np.sum(mine == s) for s in mine]
    if np.ptp(rank) == 0:
        return 1.0
    return 1.0 - np.corrcoef(np.arange(len(own)), rank)[0, 1]


def total_distance(lists, labels, n_items, k):
    """Sum of the distances to the nearest of the centers of a partition."""
    centers = [
        central_scores(
            [own for own, c in zip(lists, labels, strict=True) if c == j], n_items
        )
        for j in range(k)
    ]
    return sum(min(distance(own, center) for center in centers) for own in lists)


def least_total(lists, n_items, k):
    """The least total of all partitions without an empty cluster."""
    return min(
        total_distance(lists, labels, n_items, k)
        for labels in product(range(k), repeat=len(lists))
        if labels[0] == 0 and len(set(labels)) == k
    )
