# SPDX-License-Identifier: BSD-3-Clause
"""Weigh the concordant, tied and discordant pairs of every group.

A pair is two rows of one group with different grades; *concordant* when the row of the
higher grade has the higher utility, *discordant* when it has the lower, *tied* when the
utilities are equal. It weighs the product of the weights of its rows.

The rows of a group enter a binary tree over the ranks of its utilities in ascending
order of grade. A row looks up the weight below, at and above its own utility before the
rows of its own grade enter; each climbs from a leaf to the root, O(n log n) in all.
Nothing is ever subtracted: a count that should be 0 is 0.

A *run* is a maximal set of rows of one group with one value: two values are tied if
and only if they compare equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.compiled import njit

Floats = NDArray[np.float64]


def sort_into_runs(
    group: NDArray[np.int64], values: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Sort rows by group, then by value, both ascending."""
    order = np.lexsort((values, group))
    sorted_group, sorted_values = group[order], values[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = sorted_group[1:] != sorted_group[:-1]
    starts[1:] |= sorted_values[1:] != sorted_values[:-1]
    return order, np.cumsum(starts) - 1


def sums_by(code: NDArray[np.int64], values: NDArray[Any]) -> Floats:
    """Add up the values of each code 0, 1, ..."""
    return np.bincount(code, weights=values).astype(np.float64, copy=False)


def group_starts(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each group begins once rows are sorted by group, and n."""
    return np.concatenate([[0], np.cumsum(np.bincount(group))])


def dense_ranks(group: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
    """Rank the distinct values of each group 0, 1, ... from the lowest."""
    order, run = sort_into_runs(group, values)
    first_run = run[group_starts(group)[:-1]]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = run - first_run[group[order]]
    return ranks


def average_ranks(group: NDArray[np.int64], values: NDArray[Any]) -> Floats:
    """Rank the rows of each group from 0; tied rows share their mean rank."""
    order, run = sort_into_runs(group, values)
    size = np.bincount(run)
    middle = np.cumsum(size) - (size + 1) / 2
    ranks = np.empty(len(order))
    ranks[order] = middle[run] - group_starts(group)[group[order]]
    return ranks


def pair_counts(
    y: NDArray[Any], utility: NDArray[Any], group: NDArray[np.int64], weight: Floats
) -> Floats:
    """Return concordant, tied and discordant pair weight of each group."""
    ranks = dense_ranks(group, utility)
    order, run = sort_into_runs(group, y)
    row_starts = group_starts(group)
    run_starts = np.concatenate([[0], np.cumsum(np.bincount(run))])
    first_runs = np.append(run[row_starts[:-1]], len(run_starts) - 1)
    counts = np.zeros((len(row_starts) - 1, 3))
    tree = np.zeros(2 * _tree_size(int(ranks.max()) + 1))
    add_pair_weights(counts, tree, ranks[order], weight[order], run_starts, first_runs)
    return counts


@njit(cache=True, nogil=True)
def _tree_size(n_leaves: int) -> int:
    """Return the smallest power of two that is at least ``n_leaves``."""
    size = 1
    while size < n_leaves:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def add_pair_weights(
    counts: Floats,
    tree: Floats,
    ranks: NDArray[np.int64],
    weight: Floats,
    run_starts: NDArray[np.int64],
    first_runs: NDArray[np.int64],
) -> None:
    """Add the pair weights of every group to ``counts``, in place."""
    for group in range(len(counts)):
        group_rows = ranks[
            run_starts[first_runs[group]] : run_starts[first_runs[group + 1]]
        ]
        size = _tree_size(group_rows.max() + 1)
        tree[: 2 * size] = 0.0
        for run in range(first_runs[group], first_runs[group + 1]):
            for row in range(run_starts[run], run_starts[run + 1]):
                node = size + ranks[row]
                below, at, above = 0.0, tree[node], 0.0
                while node > 1:
                    if node & 1:
                        below += tree[node - 1]
                    else:
                        above += tree[node + 1]
                    node >>= 1
                counts[group, 0] += weight[row] * below
                counts[group, 1] += weight[row] * at
                counts[group, 2] += weight[row] * above
            for row in range(run_starts[run], run_starts[run + 1]):
                node = size + ranks[row]
                while node > 0:
                    tree[node] += weight[row]
                    node >>= 1
