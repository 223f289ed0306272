# SPDX-License-Identifier: BSD-3-Clause
"""Find the partners of every graded item, and sum over them.

Rows of a group stand in *slots*, ascending in grade. A node (lo, mid, hi, level) is a
range of slots, cut between two grades: every item in [mid, hi) is better than every
item in [lo, mid). Together the nodes hold each pair of different grades once. Item i
is a *partner* of item j, i better than j, when u_i < u_j + 1: when the pair does not
keep a margin of one.

Inside a node the items stand in ascending order of utility, so the partners of one
item are a range: from the first item on, for an item of the lower half; up to the last
one, for an item of the upper half. ``bound`` holds the other end of that range. It is
found once for given utilities, and then serves any number of sums.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "add_partner_rows",
    "add_partner_sums",
    "plant_nodes",
    "sort_groups",
    "split_nodes",
]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _nearest_cut(cuts: NDArray[np.int64], lo: int, hi: int) -> int:
    """Give the cut strictly between lo and hi nearest to their middle, or -1."""
    middle = (lo + hi) / 2
    below, above = 0, len(cuts)
    while below < above:
        half = (below + above) // 2
        if cuts[half] < middle:
            below = half + 1
        else:
            above = half
    nearest = -1
    for at in (below - 1, below):
        if (
            0 <= at < len(cuts)
            and lo < cuts[at] < hi
            and (nearest < 0 or abs(cuts[at] - middle) < abs(nearest - middle))
        ):
            nearest = cuts[at]
    return nearest


@njit(cache=True, nogil=True)
def plant_nodes(
    nodes: Ints,
    stack: Ints,
    cuts: NDArray[np.int64],
    first: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> None:
    """Write the nodes of every group, a node before those within it.

    A range of slots is cut at the change of grade nearest to its middle.

    Parameters
    ----------
    nodes : ndarray of shape (T, 4)
        lo, mid, hi, level; updated.
    stack : ndarray of shape (S, 3)
        Scratch; S is at least the largest number of grades of a group plus one.
    cuts : ndarray of shape (T,)
        Slots at which a new grade of the same group begins.
    first : ndarray of shape (G + 1,)
        First cut, and so first node, of each group, and T.
    starts : ndarray of shape (G + 1,)
        First slot of each group, and the number of slots.
    """
    for group in range(len(starts) - 1):
        own = cuts[first[group] : first[group + 1]]
        stack[0, 0], stack[0, 1], stack[0, 2] = starts[group], starts[group + 1], 0
        size, t = 1, first[group]
        while size:
            size -= 1
            lo, hi, level = stack[size, 0], stack[size, 1], stack[size, 2]
            mid = _nearest_cut(own, lo, hi)
            if mid < 0:
                continue
            nodes[t, 0], nodes[t, 1], nodes[t, 2], nodes[t, 3] = lo, mid, hi, level
            t += 1
            stack[size, 0], stack[size, 1], stack[size, 2] = mid, hi, level + 1
            size += 1
            stack[size, 0], stack[size, 1], stack[size, 2] = lo, mid, level + 1
            size += 1


@njit(cache=True, nogil=True)
def sort_groups(
    order: Ints,
    u: Floats,
    starts: NDArray[np.int64],
    first: int,
    last: int,
    spare: Ints,
) -> None:
    """Sort the slots of each group by utility, in place.

    A merge sort from short sorted runs, fast where `order` is nearly sorted already.

    Parameters
    ----------
    order : ndarray of shape (n,)
        A permutation of the slots of each group; sorted.
    u : ndarray of shape (n,)
        Utility of each slot.
    starts : ndarray of shape (G + 1,)
        First slot of each group, and n.
    first, last : int
        The groups to sort.
    spare : ndarray of shape (n,)
        Scratch.
    """
    for group in range(first, last):
        lo, hi = starts[group], starts[group + 1]
        run = 8
        for a in range(lo, hi, run):
            for k in range(a + 1, min(a + run, hi)):
                slot = order[k]
                value = u[slot]
                at = k
                while at > a and u[order[at - 1]] > value:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = slot
        while run < hi - lo:
            for a in range(lo, hi - run, 2 * run):
                mid, b = a + run, min(a + 2 * run, hi)
                if u[order[mid - 1]] > u[order[mid]]:
                    spare[a:mid] = order[a:mid]
                    i, j = a, mid
                    for k in range(a, b):
                        if i == mid:
                            break
                        if j < b and u[order[j]] < u[spare[i]]:
                            order[k] = order[j]
                            j += 1
                        else:
                            order[k] = spare[i]
                            i += 1
            run *= 2


def sort_groups_naive(
    order: Ints,
    u: Floats,
    starts: NDArray[np.int64],
    first: int,
    last: int,
    spare: Ints,
) -> None:
    """Do what ``sort_groups`` does with NumPy's sort."""
    for group in range(first, last):
        here = order[starts[group] : starts[group + 1]]
        here[:] = here[np.argsort(u[here], kind="stable")]


@njit(cache=True, nogil=True)
def split_nodes(
    nodes: Ints,
    first: int,
    last: int,
    order: Ints,
    bound: Ints,
    u: Floats,
    spare: Floats,
) -> None:
    """Order the halves of every node by utility and find the ranges of partners.

    Parameters
    ----------
    nodes : ndarray of shape (T, 4)
        lo, mid, hi, level, a node before the nodes within it.
    first, last : int
        The nodes to split.
    order : ndarray of shape (n_levels + 1, n)
        Row `level` holds the slots of each node by ascending utility; the row after it
        is updated, lower half first.
    bound : ndarray of shape (n_levels, n)
        Where the partners end (lower half) or begin (upper half), as positions in
        the next row of `order`; updated.
    u : ndarray of shape (n,)
        Utilities in the order of the row of the first node; rearranged.
    spare : ndarray of shape (n,)
        Scratch.
    """
    for t in range(first, last):
        lo, mid, hi, level = nodes[t, 0], nodes[t, 1], nodes[t, 2], nodes[t, 3]
        here, halves, ends = order[level], order[level + 1], bound[level]
        # No branch on which half an item is in: nobody could predict it.
        a, b = lo, mid
        for k in range(lo, hi):
            slot = here[k]
            upper = np.int64(slot >= mid)
            at = a + upper * (b - a)
            halves[at] = slot
            spare[at] = u[k]
            a += 1 - upper
            b += upper
        u[lo:hi] = spare[lo:hi]
        a, b = lo, mid
        while a < mid and b < hi:
            upper = np.int64(u[b] < u[a] + 1.0)
            ends[a + upper * (b - a)] = b + upper * (a - b)
            a += 1 - upper
            b += upper
        ends[a:mid] = hi
        ends[b:hi] = mid


def split_nodes_naive(
    nodes: Ints,
    first: int,
    last: int,
    order: Ints,
    bound: Ints,
    u: Floats,
    spare: Floats,
) -> None:
    """Do what ``split_nodes`` does by testing every pair of every node."""
    for t in range(first, last):
        lo, mid, hi, level = nodes[t]
        here = order[level, lo:hi].copy()
        upper = here >= mid
        order[level + 1, lo:hi] = np.concatenate([here[~upper], here[upper]])
        u[lo:hi] = np.concatenate([u[lo:hi][~upper], u[lo:hi][upper]])
        partner = u[mid:hi, None] < u[None, lo:mid] + 1.0
        bound[level, lo:mid] = mid + partner.sum(axis=0)
        bound[level, mid:hi] = mid - partner.sum(axis=1)


@njit(cache=True, nogil=True)
def add_partner_sums(
    nodes: Ints,
    first: int,
    last: int,
    order: Ints,
    bound: Ints,
    x: Floats,
    spare: Floats,
    over_worse: Floats,
    over_better: Floats,
) -> None:
    """Add to every item the sum of x over its partners, in place.

    Parameters
    ----------
    nodes, first, last, order, bound
        As ``split_nodes`` left them.
    x : ndarray of shape (n,)
        A number for each slot.
    spare : ndarray of shape (n,)
        Scratch.
    over_worse, over_better : ndarray of shape (n,)
        Sums over partners of lower and of higher grade, by slot; may be one array.
    """
    for t in range(first, last):
        lo, mid, hi, level = nodes[t, 0], nodes[t, 1], nodes[t, 2], nodes[t, 3]
        halves, ends = order[level + 1], bound[level]
        total = 0.0
        for k in range(mid, hi):
            spare[k] = total
            total += x[halves[k]]
        for k in range(lo, mid):
            end = ends[k]
            over_better[halves[k]] += spare[end] if end < hi else total
        total = 0.0
        for k in range(mid - 1, lo - 1, -1):
            total += x[halves[k]]
            spare[k] = total
        for k in range(mid, hi):
            begin = ends[k]
            if begin < mid:
                over_worse[halves[k]] += spare[begin]


def add_partner_sums_naive(
    nodes: Ints,
    first: int,
    last: int,
    order: Ints,
    bound: Ints,
    x: Floats,
    spare: Floats,
    over_worse: Floats,
    over_better: Floats,
) -> None:
    """Do what ``add_partner_sums`` does by visiting every pair of partners."""
    for t in range(first, last):
        lo, mid, _, level = nodes[t]
        halves = order[level + 1]
        for worse in range(lo, mid):
            for better in range(mid, bound[level, worse]):
                over_better[halves[worse]] += x[halves[better]]
                over_worse[halves[better]] += x[halves[worse]]


@njit(cache=True, nogil=True)
def add_partner_rows(
    nodes: Ints,
    order: Ints,
    bound: Ints,
    X: Floats,
    spare: Floats,
    out: Floats,
) -> None:
    """Add to the row of every item the sum of the rows of its partners, in place.

    It is ``add_partner_sums`` for many columns at once, of all nodes.

    Parameters
    ----------
    nodes, order, bound
        As ``split_nodes`` left them.
    X : ndarray of shape (n, q)
        A row for each slot.
    spare : ndarray of shape (n + 1, q)
        Scratch.
    out : ndarray of shape (n, q)
        Sums over partners of lower and of higher grade, by slot.
    """
    q = X.shape[1]
    for t in range(len(nodes)):
        lo, mid, hi, level = nodes[t, 0], nodes[t, 1], nodes[t, 2], nodes[t, 3]
        halves, ends = order[level + 1], bound[level]
        spare[mid] = 0.0
        for k in range(mid, hi):
            row, total, after = X[halves[k]], spare[k], spare[k + 1]
            for c in range(q):
                after[c] = total[c] + row[c]
        for k in range(lo, mid):
            row, total = out[halves[k]], spare[ends[k]]
            for c in range(q):
                row[c] += total[c]
        for k in range(mid - 1, lo - 1, -1):  # spare[mid] is still zero
            row, total, after = X[halves[k]], spare[k + 1], spare[k]
            for c in range(q):
                after[c] = total[c] + row[c]
        for k in range(mid, hi):
            row, total = out[halves[k]], spare[ends[k]]
            for c in range(q):
                row[c] += total[c]


def add_partner_rows_naive(
    nodes: Ints,
    order: Ints,
    bound: Ints,
    X: Floats,
    spare: Floats,
    out: Floats,
) -> None:
    """Do what ``add_partner_rows`` does by visiting every pair of partners."""
    for lo, mid, _, level in nodes:
        halves = order[level + 1]
        for worse in range(lo, mid):
            for better in range(mid, bound[level, worse]):
                out[halves[worse]] += X[halves[better]]
                out[halves[better]] += X[halves[worse]]
