# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of different grades within groups, without writing one of them down.

The grades of a group are halved again and again, so that every pair of items of
different grades is split apart exactly once: log₂ k levels for k grades. Which items
keep a margin of one from each other is then found by walking two sorted lists per
node, in O(n log k) after a sort of the utilities, for any real grades and weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tiebreak.losses.grade_kernels import (
    add_partner_rows,
    add_partner_sums,
    plant_nodes,
    sort_groups,
    split_nodes,
)
from tiebreak.losses.grade_tasks import parts_around, plan_stages, run_tasks

__all__ = ["GradeTree"]

Floats = NDArray[np.float64]

# NumPy's own sort is the faster one for groups larger than this.
_LARGE_GROUP = 2048


class GradeTree:
    """The pairs of graded items that a ranking has to put in order.

    A pair is two rows of one group with y_i > y_j and positive weights; it weighs
    w_i w_j, and every weight of a group is divided by the group's total where
    ``per_group="mean"``.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Grades; only their order matters.
    group : ndarray of int of shape (n,)
        Number of the group of each row, 0 to G - 1.
    weight : ndarray of shape (n,)
        Weights of rows.
    per_group : {"sum", "mean"}, default="sum"
        Whether the sum over the pairs of a group is divided by their total weight.
    group_weight : ndarray of shape (G,), optional
        What the mean of each group is multiplied by. None: 1.

    Attributes
    ----------
    n_rows : int
        n.
    rows : ndarray of shape (m,)
        The row in each slot: those that are in a pair, by group and ascending grade.
    weight : ndarray of shape (m,)
        Weight of each slot.
    scale : ndarray of shape (m,) or float
        What a pair's loss is multiplied by.
    n_pairs : int
        Number of pairs.
    n_groups : int
        Groups with a row of positive weight.
    n_idle_groups : int
        Those of them without a pair.
    n_levels : int
        How often grades are halved at most.
    """

    def __init__(
        self,
        y: Floats,
        group: NDArray[np.int64],
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
        if len(self.rows) > np.iinfo(np.int32).max:
            raise ValueError(
                f"{len(self.rows)} graded rows are more than one machine word can "
                "number here; expected fewer than 2^31. Try parts of the data."
            )
        self.weight = weight[self.rows]
        self._plant(y)
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
        self._stages = plan_stages(self.nodes, self._roots, self.starts)

    def _plant(self, y: Floats) -> None:
        change = np.append(y[1:] != y[:-1], False)
        change[self.starts[1:] - 1] = False
        self.cuts = cuts = np.flatnonzero(change) + 1
        first = np.searchsorted(cuts, self.starts)
        self.nodes = np.empty((len(cuts), 4), dtype=np.int32)
        stack = np.empty((int(np.diff(first).max(initial=0)) + 2, 3), dtype=np.int32)
        self._roots = first
        plant_nodes(self.nodes, stack, cuts, first, self.starts)
        self.n_levels = int(self.nodes[:, 3].max(initial=-1)) + 1

    def sample(self, n_rows: int) -> tuple[NDArray[np.int64], GradeTree]:
        """Choose some rows at random, of few groups rather than few of each.

        Parameters
        ----------
        n_rows : int
            About how many.

        Returns
        -------
        rows : ndarray of int
            The chosen rows.
        tree : GradeTree
            Their pairs. The sum over all pairs is about ``self.total / tree.total``
            times the sum over these.
        """
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
        tree = GradeTree(
            grade.astype(np.float64),
            group,
            self.weight[chosen],
            self.per_group,
            self.group_weight[np.sort(taken)],
        )
        return self.rows[chosen], tree

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
        """Give the slots what their rows have.

        Parameters
        ----------
        u : ndarray of shape (n,)
            A number for each row.

        Returns
        -------
        ndarray of shape (m,)
        """
        return u[self.rows]

    def center(self, s: Floats) -> Floats:
        """Take off the mean of each group, in place.

        Only differences count, and sums of numbers near zero lose fewer digits.

        Parameters
        ----------
        s : ndarray of shape (m,)
            A number for each slot.

        Returns
        -------
        ndarray of shape (m,)
            The same array.
        """
        if len(s):
            sizes = np.diff(self.starts)
            mean = np.add.reduceat(s, self.starts[:-1]) / sizes
            s -= mean[0] if len(mean) == 1 else np.repeat(mean, sizes)
        return s

    def scatter(self, s: Floats) -> Floats:
        """Give slots back to their rows; rows without a pair get 0.

        Parameters
        ----------
        s : ndarray of shape (m,)
            A number for each slot.

        Returns
        -------
        ndarray of shape (n,)
        """
        out = np.zeros(self.n_rows)
        out[self.rows] = s
        return out

    def arrange(self, s: Floats) -> None:
        """Find which items keep no margin of one from which others.

        Parameters
        ----------
        s : ndarray of shape (m,)
            Utilities of slots.
        """
        self._sort(s)
        in_order = s[self._order[0]]

        def split(first: int, last: int) -> None:
            split_nodes(
                self.nodes, first, last, self._order, self._bound, in_order, self._spare
            )

        self._each_stage(split)

    def partner_sums(self, x: Floats) -> tuple[Floats, Floats]:
        """Sum over the partners of each slot, as last arranged.

        Parameters
        ----------
        x : ndarray of shape (m,)
            A number for each slot.

        Returns
        -------
        over_worse, over_better : ndarray of shape (m,)
            Σ x_j over the worse items from which the slot keeps no margin, and over
            the better ones.
        """
        over_worse, over_better = np.zeros((2, len(x)))
        self._add_sums(x, over_worse, over_better)
        return over_worse, over_better

    def partner_sum(self, x: Floats) -> Floats:
        """Sum over all partners of each slot, better or worse, as last arranged.

        Parameters
        ----------
        x : ndarray of shape (m,)
            A number for each slot.

        Returns
        -------
        ndarray of shape (m,)
        """
        out = np.zeros(len(x))
        self._add_sums(x, out, out)
        return out

    def partner_rows(self, X: Floats) -> Floats:
        """Sum the rows of all partners of each slot, as last arranged.

        Parameters
        ----------
        X : ndarray of shape (m, q)
            A row for each slot.

        Returns
        -------
        ndarray of shape (m, q)
        """
        out, spare = np.zeros(X.shape), np.empty((len(X) + 1, X.shape[1]))
        add_partner_rows(self.nodes, self._order, self._bound, X, spare, out)
        return out

    def _add_sums(self, x: Floats, over_worse: Floats, over_better: Floats) -> None:
        def add(first: int, last: int) -> None:
            add_partner_sums(
                self.nodes,
                first,
                last,
                self._order,
                self._bound,
                x,
                self._spare,
                over_worse,
                over_better,
            )

        self._each_stage(add)

    def _each_stage(self, work: Callable[[int, int], None]) -> None:
        for tasks in self._stages:
            run_tasks(lambda task: work(*task), tasks)

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


def _by_group_and_grade(group: NDArray[np.int64], y: Floats) -> NDArray[np.int64]:
    """Sort rows by group, then ascending grade; faster than sorting by two keys."""
    if len(y) == 0:
        return np.empty(0, dtype=np.int64)
    order = np.argsort(y)
    new = np.diff(y[order], prepend=y[order[0]]) > 0
    grade = np.empty(len(y), dtype=np.int64)
    grade[order] = np.cumsum(new)
    return np.argsort(group * (grade[order[-1]] + 1) + grade)
