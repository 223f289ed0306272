# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of different grades within groups, without writing one of them down.

The grades of a group are halved again and again, log₂ k levels for k grades: every pair
of items of different grades is separated exactly once.

Rows of a group stand in *slots*, ascending in grade. A node (lo, mid, hi, level) is a
range of slots, cut between two grades: every item in [mid, hi) is better than every
item in [lo, mid). A better item i and a worse j are *partners* when u_i < u_j + 1: they
keep no margin of one.

Inside a node items ascend in utility, so the partners of one item are a range: from the
first item on for the lower half, up to the last for the upper half. ``bound`` holds the
other end, found by walking two sorted lists per node, in O(n log k) after a sort of the
utilities.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import in_threads, n_threads

Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def _nearest_cut(cuts: Codes, lo: int, hi: int) -> int:
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
def build_nodes(
    nodes: Ints,
    stack: Ints,
    cuts: Codes,
    first: Codes,
    starts: Codes,
) -> None:
    """Write the nodes of every group, a node before those within it."""
    # A range of slots is cut at the change of grade nearest to its middle.
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
    starts: Codes,
    first: int,
    last: int,
    spare: Ints,
) -> None:
    """Sort the slots of each group by utility, in place."""
    # A merge sort from short sorted runs, fast where `order` is nearly sorted already.
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
    """Order the halves of every node by utility; find ranges of partners."""
    for t in range(first, last):
        lo, mid, hi, level = nodes[t, 0], nodes[t, 1], nodes[t, 2], nodes[t, 3]
        here, halves, ends = order[level], order[level + 1], bound[level]
        # Branch-free: a branch on the half of an item would be mispredicted.
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
    """Add to every item the sum of x over its partners, in place."""
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


@njit(cache=True, nogil=True)
def add_partner_rows(
    nodes: Ints, order: Ints, bound: Ints, X: Floats, spare: Floats, out: Floats
) -> None:
    """Add to every row the sum of the rows of its partners, in place."""
    # It is ``add_partner_sums`` for many columns at once, of all nodes.
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


# Fewer slots than this are not worth handing to a thread: with 20,000, two threads took
# a tenth longer than one for 60,000 and 100,000 items in one group, with 50,000 less.
_LEAST_TASK = 50_000


def run_tasks(
    work: Callable[[tuple[int, int]], None], tasks: list[tuple[int, int]]
) -> None:
    """Run tasks at the same time, a single one right here."""
    if len(tasks) == 1:
        work(tasks[0])
    else:
        in_threads(work, tasks)


def _even_parts(starts: Codes, first: int, last: int) -> list[tuple[int, int]]:
    """Divide groups so that every thread gets as many slots."""
    if first >= last:
        return []
    n = int(starts[last] - starts[first])
    parts = min(n_threads(), max(1, n // _LEAST_TASK))
    wanted = starts[first] + np.arange(1, parts) * (n // parts)
    inner = first + np.searchsorted(starts[first : last + 1], wanted)
    edges = np.unique([first, *inner, last])
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def parts_around(large: Codes, starts: Codes) -> list[tuple[int, int]]:
    """Divide all groups but the large ones."""
    edges = [-1, *large.tolist(), len(starts) - 1]
    return [
        part
        for before, after in pairwise(edges)
        for part in _even_parts(starts, before + 1, after)
    ]


# NumPy's own sort is the faster one for groups larger than this.
_LARGE_GROUP = 2048


class GradeTree:
    """The pairs of graded items that a ranking has to put in order."""

    def __init__(
        self,
        y: Floats,
        group: Codes,
        weight: Floats,
        per_group: str = "sum",
        group_weight: Floats | None = None,
    ) -> None:
        self.n_rows = len(y)
        present = np.flatnonzero(weight > 0)
        rows = present[_by_group_and_grade(group[present], y[present])]
        group, y, n_groups = group[rows], y[rows], int(group.max(initial=-1)) + 1
        starts = np.searchsorted(group, np.arange(n_groups + 1))
        # A group whose grades are all equal has no pair; its rows are left out.
        sizes = np.diff(starts)
        filled = np.flatnonzero(sizes)
        lowest, highest = y[starts[filled]], y[starts[filled + 1] - 1]
        paired = np.zeros(n_groups, dtype=bool)
        paired[filled] = lowest < highest
        self.n_groups = len(filled)
        self.n_idle_groups = self.n_groups - int(paired.sum())
        kept = paired[group]
        self.rows, y, sizes = rows[kept], y[kept], sizes[paired]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.weight = weight[self.rows]
        self._build(y)
        self.per_group = per_group
        self.group_weight = np.ones(len(sizes))
        if group_weight is not None:
            self.group_weight = group_weight[:n_groups][paired]
        self._count(per_group)
        m = len(self.rows)
        self._order = np.empty((self.n_levels + 1, m), dtype=np.int32)
        self._order[0] = np.arange(m)
        self._bound = np.empty((self.n_levels, m), dtype=np.int32)
        self._spare = np.empty(m)
        parts = _even_parts(self.starts, 0, len(sizes))
        self._tasks = [(int(self._roots[a]), int(self._roots[b])) for a, b in parts]

    def twin(self) -> GradeTree:
        """Return a tree of the same pairs, arranged by itself."""
        other = copy(self)
        other._order, other._bound = self._order.copy(), self._bound.copy()
        other._spare = np.empty_like(self._spare)
        return other

    def _build(self, y: Floats) -> None:
        change = np.append(y[1:] != y[:-1], False)
        change[self.starts[1:] - 1] = False
        self.cuts = cuts = np.flatnonzero(change) + 1
        first = np.searchsorted(cuts, self.starts)
        self.nodes = np.empty((len(cuts), 4), dtype=np.int32)
        stack = np.empty((int(np.diff(first).max(initial=0)) + 2, 3), dtype=np.int32)
        self._roots = first
        build_nodes(self.nodes, stack, cuts, first, self.starts)
        self.n_levels = int(self.nodes[:, 3].max(initial=-1)) + 1

    def sample(self, n_rows: int) -> tuple[Codes, GradeTree]:
        """Choose rows at random, of few groups rather than few of each."""
        rng = np.random.default_rng(0)
        n_groups = len(self.starts) - 1
        typical = max(1, min(n_rows, len(self.rows) // n_groups))
        n_taken = min(n_groups, max(1, n_rows // typical))
        taken = rng.choice(n_groups, n_taken, replace=False)
        most = max(2, n_rows // n_taken)
        slots = []
        for lo, hi in zip(self.starts[taken], self.starts[taken + 1], strict=True):
            of_group = np.arange(lo, hi)
            if len(of_group) > most:
                of_group = rng.choice(of_group, most, replace=False)
            slots.append(of_group)
        chosen = np.sort(np.concatenate(slots))
        group = np.searchsorted(np.sort(self.starts[taken]), chosen, side="right") - 1
        grade = np.searchsorted(self.cuts, chosen, side="right")
        rows, weight = self.rows[chosen], self.weight[chosen]
        group_weight = self.group_weight[np.sort(taken)]
        grades = grade.astype(np.float64)
        return rows, GradeTree(grades, group, weight, self.per_group, group_weight)

    def _count(self, per_group: str) -> None:
        """Count the pairs, and weigh those of each group."""
        lo, mid, hi = self.nodes[:, :3].astype(np.int64).T
        self.n_pairs = int(((mid - lo) * (hi - mid)).sum())
        below = np.concatenate([[0.0], np.cumsum(self.weight)])
        pair_weight = (below[mid] - below[lo]) * (below[hi] - below[mid])
        total = np.concatenate([[0.0], np.cumsum(pair_weight)])
        in_group = total[self._roots[1:]] - total[self._roots[:-1]]
        self.scale: Floats | float = 1.0
        self.total = float(in_group.sum())
        if per_group == "mean":
            self.scale = np.repeat(self.group_weight / in_group, np.diff(self.starts))
            self.total = float(self.group_weight.sum())

    def gather(self, u: Floats) -> Floats:
        """Give the slots what their rows have."""
        return u[self.rows]

    def center(self, s: Floats) -> Floats:
        """Take off the mean of each group, in place."""
        # Only differences count, and sums of numbers near zero lose fewer digits.
        if len(s):
            sizes = np.diff(self.starts)
            mean = np.add.reduceat(s, self.starts[:-1]) / sizes
            s -= mean[0] if len(mean) == 1 else np.repeat(mean, sizes)
        return s

    def scatter(self, s: Floats) -> Floats:
        """Give slots back to their rows; rows without a pair get 0."""
        out = np.zeros(self.n_rows)
        out[self.rows] = s
        return out

    def arrange(self, s: Floats) -> None:
        """Find which items keep no margin of one from which others."""
        self._sort(s)
        arrays = self._order, self._bound, s[self._order[0]], self._spare
        self._each_task(lambda a, b: split_nodes(self.nodes, a, b, *arrays))

    def partner_sums(self, x: Floats) -> tuple[Floats, Floats]:
        """Sum over the partners of each slot."""
        over_worse, over_better = np.zeros((2, len(x)))
        self._add_sums(x, over_worse, over_better)
        return over_worse, over_better

    def partner_sum(self, x: Floats) -> Floats:
        """Sum over all partners of each slot, better or worse."""
        out = np.zeros(len(x))
        self._add_sums(x, out, out)
        return out

    def partner_rows(self, X: Floats) -> Floats:
        """Sum the rows of all partners of each slot."""
        out, spare = np.zeros(X.shape), np.empty((len(X) + 1, X.shape[1]))
        add_partner_rows(self.nodes, self._order, self._bound, X, spare, out)
        return out

    def _add_sums(self, x: Floats, over_worse: Floats, over_better: Floats) -> None:
        arrays = self._order, self._bound, x, self._spare, over_worse, over_better
        self._each_task(lambda a, b: add_partner_sums(self.nodes, a, b, *arrays))

    def _each_task(self, work: Callable[[int, int], None]) -> None:
        run_tasks(lambda task: work(*task), self._tasks)

    def _sort(self, s: Floats) -> None:
        """Sort the slots of each group by utility, from where they stood last."""
        starts, order = self.starts, self._order[0]
        large = np.flatnonzero(np.diff(starts) > _LARGE_GROUP)
        tasks = parts_around(large, starts)
        spare = np.empty(len(order) if tasks else 0, dtype=np.int32)
        run_tasks(lambda task: sort_groups(order, s, starts, *task, spare), tasks)
        for g in large:
            lo, hi = starts[g], starts[g + 1]
            order[lo:hi] = lo + np.argsort(s[lo:hi])


def _by_group_and_grade(group: Codes, y: Floats) -> Codes:
    """Sort rows by group, then ascending grade."""
    if len(y) == 0:
        return np.empty(0, dtype=np.int64)
    order = np.argsort(y)
    new = np.diff(y[order], prepend=y[order[0]]) > 0
    grade = np.empty(len(y), dtype=np.int64)
    grade[order] = np.cumsum(new)
    return np.argsort(group * (grade[order[-1]] + 1) + grade)
