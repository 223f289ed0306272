# SPDX-License-Identifier: BSD-3-Clause
"""Weigh the concordant, tied and discordant pairs of every group.

A pair is two rows of one group with different grades; *concordant* when the row of the
higher grade has the higher utility, *discordant* when it has the lower, *tied* when the
utilities are equal. It weighs the product of the weights of its rows.

Without weights, the utilities of a group in order of grade are merge-sorted, and every
merge counts inversions. With weights, the rows enter a binary tree over the ranks of
the utilities, grade by grade; each first looks up the weight below, at and above its
utility. Nothing is subtracted, so that a count of 0 is exact. Both take O(n log n).

A *run* is a maximal set of rows of one group with one value.
"""

from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.jit import njit

Floats = NDArray[np.float64]


# Runs up to this length are sorted in the kernel, longer ones by NumPy.
_SHORT_RUN = 32


class Groups:
    """The rows of groups 0, 1, ..., none of them empty, in any order."""

    def __init__(self, code: NDArray[np.int64]) -> None:
        self.code = code
        # One group needs no keys.
        self.starts = group_starts(code) if code.any() else np.array([0, len(code)])
        self.sizes = np.diff(self.starts)
        # Rows group by group, if they do not stand like that.
        self.rows = None
        if len(self.sizes) > 1 and (code[1:] < code[:-1]).any():
            self.rows = _sort_codes(code, len(self.sizes))
        # The groups are a table if they have the same size.
        same = (self.sizes == self.sizes[0]).all()
        self.shape = (len(self.sizes), int(self.sizes[0])) if same else None

    def sort(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Sort rows by group, then by value, both ascending."""
        grouped = values if self.rows is None else values[self.rows]
        if self.shape is not None:
            order = np.argsort(grouped.reshape(self.shape), axis=1)
            if len(self.sizes) > 1:
                order += self.starts[:-1, None]
            order = order.ravel()
        else:
            order = np.argsort(grouped)
            code = np.repeat(np.arange(len(self.sizes)), self.sizes)
            order = order[_sort_codes(code[order], len(self.sizes))]
        return order if self.rows is None else self.rows[order]

    def new_runs(self, ordered: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark where a run begins, given values as `sort` orders them."""
        begins = np.ones(len(ordered), dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
        begins[self.starts[:-1]] = True
        return begins

    def weigh(self, ordered: Floats, table: Floats) -> Floats:
        """Sum values in the order of `sort`, times the table's entries for places."""
        if self.shape is not None:
            return ordered.reshape(self.shape) @ table[: self.shape[1]]
        place = np.arange(len(ordered)) - np.repeat(self.starts[:-1], self.sizes)
        return np.add.reduceat(ordered * table[place], self.starts[:-1])


def _sort_codes(code: NDArray[np.int64], n_codes: int) -> NDArray[np.intp]:
    """Sort rows by code, rows of one code as they stand."""
    small = code.astype(np.uint16) if n_codes <= 1 << 16 else code  # NumPy's radix sort
    return np.argsort(small, kind="stable")


def sort_into_runs(
    group: NDArray[np.int64], values: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Sort rows by group, then by value, and number their runs."""
    groups = Groups(group)
    order = groups.sort(values)
    return order, np.cumsum(groups.new_runs(values[order])) - 1


def sums_by(code: NDArray[np.int64], values: NDArray[Any]) -> Floats:
    """Add up the values of each code 0, 1, ..."""
    return np.bincount(code, weights=values).astype(np.float64, copy=False)


def group_starts(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each group begins in rows sorted by group, and n."""
    return np.concatenate([[0], np.cumsum(np.bincount(group))])


def run_bounds(
    group: NDArray[np.int64], run: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where runs begin in sorted rows, and the first run of each group."""
    starts = group_starts(run)
    return starts, np.append(run[group_starts(group)[:-1]], len(starts) - 1)


def group_ranks(
    group: NDArray[np.int64],
    values: NDArray[Any],
    ties: Literal["average", "dense", "min"],
) -> NDArray[Any]:
    """Rank the rows of each group from 1."""
    table = pl.DataFrame({"group": group, "value": values})
    rank = pl.col("value").rank(ties).over("group")
    return table.select(rank).to_series().to_numpy()


def pair_counts(
    y: NDArray[Any],
    utility: NDArray[Any],
    group: NDArray[np.int64],
    weight: Floats | None = None,
) -> Floats:
    """Return concordant, tied and discordant pair weight of each group."""
    if weight is None:
        return count_pairs(y, utility, Groups(group))[:, :3].astype(np.float64)
    ranks = group_ranks(group, utility, "dense").astype(np.int64) - 1
    order, run = sort_into_runs(group, y)
    run_starts, first_runs = run_bounds(group, run)
    counts = np.zeros((len(first_runs) - 1, 3))
    tree = np.zeros(2 * _tree_size(ranks.max() + 1))
    add_pair_weights(counts, tree, ranks[order], weight[order], run_starts, first_runs)
    return counts


def count_pairs(
    y: NDArray[Any], utility: NDArray[Any], groups: Groups
) -> NDArray[np.int64]:
    """Count concordant, tied and discordant pairs, and those of different utility."""
    order = groups.sort(y)
    begins = groups.new_runs(y[order])
    ascending = utility[order]
    starts = np.append(np.flatnonzero(begins), len(order))
    for run in np.flatnonzero(np.diff(starts) > _SHORT_RUN).tolist():
        ascending[starts[run] : starts[run + 1]].sort()
    counts = np.zeros((len(groups.sizes), 4), dtype=np.int64)
    fill_pair_counts(counts, ascending, np.empty_like(ascending), begins, groups.starts)
    return counts


@njit(cache=True, nogil=True)
def fill_pair_counts(
    counts: NDArray[np.int64],
    u: Floats,
    spare: Floats,
    begins: NDArray[np.bool_],
    starts: NDArray[np.int64],
) -> None:
    """Count the pairs of every group by merging, which sorts its part of u, in place.

    Rows ascend in grade, ``begins`` marks the first of each; grades of more than 32
    rows ascend in u already.
    """
    for group in range(len(counts)):
        lo, hi = starts[group], starts[group + 1]
        # Pairs of equal grade; of these, those of equal utility too.
        same_grade = same_both = 0
        a = lo
        while a < hi:
            b = a + 1
            while b < hi and not begins[b]:
                b += 1
            if b - a <= 32:
                _sort_block(u, a, b)
            same_grade += (b - a) * (b - a - 1) // 2
            same_both += _tied_pairs(u, a, b)
            a = b
        turned, width = 0, 16
        for a in range(lo, hi, width):
            turned += _sort_block(u, a, min(a + width, hi))
        while width < hi - lo:
            for a in range(lo, hi - width, 2 * width):
                turned += _merge(u, spare, a, a + width, min(a + 2 * width, hi))
            width *= 2
        n_pairs, same_utility = (hi - lo) * (hi - lo - 1) // 2, _tied_pairs(u, lo, hi)
        tied = same_utility - same_both
        counts[group, 0] = n_pairs - same_grade - tied - turned
        counts[group, 1] = tied
        counts[group, 2] = turned
        counts[group, 3] = n_pairs - same_utility


@njit(cache=True, nogil=True)
def _sort_block(u: Floats, lo: int, hi: int) -> int:
    """Sort a few values by insertion; gives the number of inversions."""
    turned = 0
    for k in range(lo + 1, hi):
        value, at = u[k], k
        while at > lo and u[at - 1] > value:
            u[at] = u[at - 1]
            at -= 1
        u[at] = value
        turned += k - at
    return turned


@njit(cache=True, nogil=True)
def _merge(u: Floats, spare: Floats, lo: int, mid: int, hi: int) -> int:
    """Merge two sorted halves; gives the number of pairs turned round."""
    if u[mid - 1] <= u[mid]:
        return 0
    for k in range(lo, mid):
        spare[k] = u[k]
    turned, i, j, k = 0, lo, mid, lo
    while i < mid and j < hi:
        # No branch on which half comes first: nobody could predict it.
        later, earlier = u[j], spare[i]
        first = int(later < earlier)
        u[k] = later if first else earlier
        turned += first * (mid - i)
        j += first
        i += 1 - first
        k += 1
    while i < mid:
        u[k] = spare[i]
        i += 1
        k += 1
    return turned


@njit(cache=True, nogil=True)
def _tied_pairs(u: Floats, lo: int, hi: int) -> int:
    """Count the pairs of equal values among ascending ones."""
    total = same = 0
    for k in range(lo + 1, hi):
        same = same + 1 if u[k] == u[k - 1] else 0
        total += same
    return total


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
