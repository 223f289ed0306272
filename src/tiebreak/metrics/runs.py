# SPDX-License-Identifier: BSD-3-Clause
"""Sort rows inside their groups and find the runs of equal values.

A *run* is a maximal set of rows of one group with one value. All metrics on
groups are sums over sorted runs, so these few functions are where ties are
decided: two values are tied if and only if they compare equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def sort_into_runs(
    group: NDArray[np.int64], values: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Sort rows by group, then by value, both ascending.

    Returns
    -------
    order : ndarray of shape (n,)
        Row numbers in sorted order.
    run : ndarray of shape (n,)
        Number of the run of each sorted row: 0, 1, ...
    """
    order = np.lexsort((values, group))
    sorted_group, sorted_values = group[order], values[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (sorted_group[1:] != sorted_group[:-1]) | (
        sorted_values[1:] != sorted_values[:-1]
    )
    return order, np.cumsum(starts) - 1


def sums_by(code: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
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


def average_ranks(
    group: NDArray[np.int64], values: NDArray[Any]
) -> NDArray[np.float64]:
    """Rank the rows of each group from 0; tied rows share their mean rank."""
    order, run = sort_into_runs(group, values)
    size = np.bincount(run)
    middle = np.cumsum(size) - (size + 1) / 2
    ranks = np.empty(len(order))
    ranks[order] = middle[run] - group_starts(group)[group[order]]
    return ranks
