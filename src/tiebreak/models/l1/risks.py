# SPDX-License-Identifier: BSD-3-Clause
"""The slacks of 1-norm ranking: functions of weights, and rows of a linear program.

Three sums, each divided by a constant:

* :class:`GradedPairRisk`: Σ c_i c_j (1 - w·(x_i - x_j))₊ over all pairs of different
  grades, by a tree;
* :class:`ListedPairRisk`: the same over pairs that are listed;
* :class:`ItemRisk`: Σ c_i max(0, θ_below + ½ - w·x_i, w·x_i - θ_above + ½), one slack
  per item and thresholds θ between its grade and the next ones.

A pair or an item exactly at its margin costs nothing and has the subgradient 0.

A class has the rows of one grade in one group; its identical rows are one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import Grades, ItemTable
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.losses import (
    GradeHinge,
    GradeSquaredHinge,
    GradeTree,
    ItemDesign,
    ListedSquaredHinge,
    SmoothedHinge,
)
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.models.problem import dense_array
from tiebreak.solvers import Plane, SlackRows
from tiebreak.solvers.hull import hull_vertices

# A linear program for each of more points than this takes too long to be a reduction.
_MOST_POINTS, _EASY_DIMENSIONS = 20_000, 6


@dataclass(frozen=True, eq=False)
class GradeClasses:
    """Distinct rows, sorted by group and ascending grade."""

    table: ItemTable  # features of the N distinct rows
    weight: Floats  # (N,), their weights
    count: Codes  # (N,), how many given rows each of them is
    group: Codes  # (N,), group of each row
    grade: Floats  # (N,), grade of each row

    @classmethod
    def read(cls, data: Grades, weight: Floats, rows: Codes) -> GradeClasses:
        """Merge rows."""
        table, code = data.items.take(rows).unique()
        order = np.lexsort([code, data.y[rows], data.group[rows]])
        rows, code = rows[order], code[order]
        y, group = data.y[rows], data.group[rows]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = np.diff(code) != 0
        new[1:] |= (np.diff(y) != 0) | (np.diff(group) != 0)
        first = np.flatnonzero(new)
        return cls(
            table.take(code[first]),
            np.add.reduceat(weight[rows], first),
            np.diff(np.append(first, len(rows))),
            group[first],
            y[first],
        )

    @cached_property
    def starts(self) -> Codes:
        """Where classes start, and the number of rows."""
        change = (np.diff(self.grade) != 0) | (np.diff(self.group) != 0)
        inner = np.flatnonzero(change) + 1
        return np.concatenate([[0], inner, [len(self.grade)]]).astype(np.int64)

    def _reach(self, adjacent: bool) -> tuple[Codes, Codes]:
        """Give the range of classes compared with each class, itself included."""
        group = self.group[self.starts[:-1]]
        here = np.arange(len(group))
        first, last = (
            np.searchsorted(group, group, side) for side in ("left", "right")
        )
        if adjacent:
            first, last = np.maximum(first, here - 1), np.minimum(last, here + 2)
        return first, last

    def _of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give every row the value of its class."""
        return np.repeat(values, np.diff(self.starts))

    def worse_rows(self, adjacent: bool) -> tuple[Codes, Codes]:
        """Give the range of rows below each row."""
        first, _ = self._reach(adjacent)
        return self._of_rows(self.starts[first]), self._of_rows(self.starts[:-1])

    def n_pairs(self, adjacent: bool) -> int:
        """Count the pairs of different, or neighboring, grades."""
        first, last = self.worse_rows(adjacent)
        below = np.append(0, np.cumsum(self.count))
        return int(self.count @ (below[last] - below[first]))

    def partner_weight(self, adjacent: bool) -> Floats:
        """Give the weight of the rows compared with each row."""
        first, last = self._reach(adjacent)
        below = np.append(0.0, np.cumsum(self.weight))[self.starts]
        worse, better = below[:-1] - below[first], below[last] - below[1:]
        return self._of_rows(worse + better)

    def thresholds(self, adjacent: bool) -> tuple[Codes, Codes, int, Any]:
        """Number the thresholds between neighboring grades of a group.

        Returns the threshold below and above each row, or -1, their number, and the
        rows that keep them in order.
        """
        first, _ = self._reach(adjacent=False)
        has_worse = first < np.arange(len(first))
        n = int(has_worse.sum())
        under = np.where(has_worse, np.cumsum(has_worse) - 1, -1)
        over = np.append(under[1:], -1)
        both = (under >= 0) & (over >= 0) & (not adjacent)
        order = ItemDesign(under[both], over[both], n).matrix()
        return self._of_rows(under), self._of_rows(over), n, order


def list_ranges(
    first: Codes, last: Codes, most: int | None = None
) -> tuple[Codes, Codes]:
    """List first[i] to last[i] - 1 for every i, and i; beyond `most` thinned evenly."""
    sizes = np.maximum(last - first, 0)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    place = np.arange(total)
    if most is not None and total > most:
        place = np.arange(most) * total // most
    owner = np.searchsorted(ends, place, side="right")
    return first[owner] + place - (ends - sizes)[owner], owner


def keep_vertices(classes: GradeClasses) -> GradeClasses:
    """Keep the vertices of the convex hull of each class."""
    values, kept, skipped = classes.table.dense(), [], 0
    for lo, hi in pairwise(classes.starts):
        if hi - lo > _MOST_POINTS and values.shape[1] > _EASY_DIMENSIONS:
            kept.append(np.arange(lo, hi))
            skipped += 1
        else:
            kept.append(lo + hull_vertices(values[lo:hi]))
    if skipped:
        warn_user(
            f"The hull reduction was skipped for {skipped} of {len(kept)} grades with "
            f"more than {_MOST_POINTS} rows; reduction='threshold' is exact and fast.",
            FitWarning,
        )
    rows = np.concatenate(kept)
    return GradeClasses(
        classes.table.take(rows),
        classes.weight[rows],
        classes.count[rows],
        classes.group[rows],
        classes.grade[rows],
    )


# A pair whose margin is this close to the edge of what is listed is left out, so that
# rounding cannot count it twice.
_SLIVER = 1e-9


def pair_rows(
    A: Any, better: Codes, worse: Codes, cost: Floats, rest: Plane | None
) -> SlackRows:
    """List pairs, each with a slack of its own."""
    m, items = len(better), ItemDesign(worse, better, A.shape[0]).matrix()
    D, S = sp.csr_array(items @ A), sp.eye_array(m, format="csr")
    return SlackRows(D, S, np.ones(m), cost, rest)


class ListedPairRisk:
    """Hinges of listed pairs."""

    def __init__(self, A: Any, better: Codes, worse: Codes, weight: Floats) -> None:
        self.A, self.weight = A, weight
        self.pairs = ItemDesign(worse, better, A.shape[0])
        self.n_variables, self.n_rows = A.shape[1], len(better)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the risk and a subgradient."""
        short = self.short_of(forward_product(self.A, x))
        value = float(self.weight @ np.maximum(short, 0.0))
        return value, back_product(self.A, self.slope_of(short > 0.0))

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """List the pairs closest to their margin."""
        short, m = self.short_of(forward_product(self.A, x)), self.n_rows
        if m <= max_rows:
            near, rest = np.arange(m), None
        else:
            near = np.sort(np.argpartition(np.abs(short), max_rows)[:max_rows])
            far = short > 0.0
            far[near] = False
            slope = self.slope_of(far)
            rest = Plane(back_product(self.A, slope), float(self.weight @ far))
        worse, better = self.pairs.left[near], self.pairs.right[near]
        return pair_rows(self.A, better, worse, self.weight[near], rest)

    def smoothed(self, width: float) -> SmoothRisk:
        """Smooth the hinges over `width`."""
        wide, narrow = (
            ListedSquaredHinge(
                self.pairs.right, self.pairs.left, self.weight, self.pairs.n_coef
            )
            for _ in range(2)
        )
        return SmoothRisk(self.A, SmoothedHinge(wide, narrow, width), 1.0)

    def short_of(self, u: Floats) -> Floats:
        """How far the utilities of pairs are from their margin."""
        return 1.0 - self.pairs.apply(u)

    def slope_of(self, share: Any) -> Floats:
        """Give the slope in the utilities of shares of the pairs' lines."""
        return self.pairs.back(-self.weight * share)


class SmoothRisk:
    """A smooth sum of hinges of weights, above the sum itself.

    Its slope is everywhere that of a plane below the sum.
    """

    def __init__(self, A: Any, loss: Any, total: float) -> None:
        self.A, self.loss, self.total = A, loss, total

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the value and the gradient; keep x for plane and curvature."""
        value, slope = self.loss.expand(forward_product(self.A, x))
        self._slope = back_product(self.A, slope) / self.total
        return value / self.total, self._slope

    def plane(self) -> Plane:
        """Give the plane below the sum."""
        return Plane(self._slope, self.loss.dual_sum / self.total)

    def hessian(self, columns: Codes) -> Floats:
        """Give the second derivatives by these variables."""
        part = dense_array(self.A[:, columns])
        return self.loss.sketch(part) / self.total


class GradedPairRisk:
    """Hinges of all pairs of different grades in groups, divided by their weight."""

    def __init__(self, A: Any, tree: GradeTree) -> None:
        self.A, self.tree, self.total = A, tree, tree.total
        self.hinge = GradeHinge(tree)
        self.n_variables, self.n_rows = A.shape[1], tree.n_pairs

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the risk and a subgradient."""
        value, slope = self.hinge.expand(forward_product(self.A, x))
        return value / self.total, back_product(self.A, slope) / self.total

    def smoothed(self, width: float) -> SmoothRisk:
        """Smooth the hinges over `width`."""
        wide, narrow = (GradeSquaredHinge(t) for t in (self.tree, self.tree.twin()))
        return SmoothRisk(self.A, SmoothedHinge(wide, narrow, width), self.total)

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """List the pairs closest to their margin."""
        u = forward_product(self.A, x)
        rest = None
        if self.n_rows <= max_rows:
            better, worse = self._list_between(u, np.inf, max_rows)
        else:
            width = self._width(u, max_rows)
            better, worse = self._list_between(u, width, max_rows)
            near = np.abs(1.0 - (u[better] - u[worse])) <= width - _SLIVER
            better, worse = better[near], worse[near]
            # A hinge with a margin of 1 - width knows the pairs further below.
            far = GradeHinge(self.tree, slope=1.0 / (1.0 - width))
            value, slope = far.expand(u)
            n_far = value - float(slope @ u)
            slope *= (1.0 - width) / self.total
            rest = Plane(back_product(self.A, slope), n_far / self.total)
        row_weight = np.zeros(len(u))
        row_weight[self.tree.rows] = self.tree.weight
        cost = row_weight[better] * row_weight[worse] / self.total
        return pair_rows(self.A, better, worse, cost, rest)

    def _width(self, u: Floats, wanted: int) -> float:
        """Find the width around the margin with about so many pairs."""
        low, high, width = 0.0, 0.9, 0.1
        for _ in range(12):
            levels = self._levels(u, width)
            count = sum(int(np.sum(last - first)) for _, _, first, last in levels)
            if 0.5 * wanted <= count <= wanted:
                return width
            if count > wanted:
                high = width
            else:
                low = width
            guess = width * 0.75 * wanted / max(count, 1)
            width = guess if low < guess < high else 0.5 * (low + high)
        return low if low > 0.0 else width

    def _levels(self, u: Floats, width: float) -> Any:
        """For every level of the tree: slots by utility, and ranges of partners."""
        tree = self.tree
        s = u[tree.rows]
        span = float(np.ptp(s)) + 4.0
        for level in range(tree.n_levels):
            nodes = tree.nodes[tree.nodes[:, 3] == level].astype(np.int64)
            key = np.arange(len(nodes)) * 2.0 * span
            worse, of_worse = list_ranges(nodes[:, 0], nodes[:, 1])
            better, of_better = list_ranges(nodes[:, 1], nodes[:, 2])
            place = s[worse] - s.min() + key[of_worse]
            order = np.argsort(place, kind="stable")
            worse, place = worse[order], place[order]
            aim = s[better] - s.min() + key[of_better] - 1.0
            reach = span if width == np.inf else width
            first = np.searchsorted(place, aim - reach)
            last = np.searchsorted(place, aim + reach, side="right")
            if width == np.inf:
                starts = np.concatenate([[0], np.cumsum(nodes[:, 1] - nodes[:, 0])])
                first, last = starts[of_better], starts[of_better + 1]
            yield better, worse, first, last

    def _list_between(self, u: Floats, width: float, most: int) -> tuple[Codes, Codes]:
        """List pairs, evenly thinned if there are too many at one margin."""
        listed: list[tuple[Codes, Codes]] = []
        for better, worse, first, last in self._levels(u, width):
            partner, owner = list_ranges(first, last, most)
            listed.append((better[owner], worse[partner]))
        better = np.concatenate([pair[0] for pair in listed])
        worse = np.concatenate([pair[1] for pair in listed])
        return self.tree.rows[better], self.tree.rows[worse]


class ItemRisk:
    """One slack per item; variables are p weights, then thresholds."""

    def __init__(
        self, A: Any, below: Codes, above: Codes, cost: Floats, n_thresholds: int
    ) -> None:
        self.A, self.below, self.above = A, below, above
        self.cost, self.n_thresholds = cost, n_thresholds
        self.n_variables = A.shape[1] + n_thresholds
        self.n_rows = int(np.sum(below >= 0) + np.sum(above >= 0))

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the risk and a subgradient."""
        under, over = self._short(x)
        value = float(self.cost @ np.maximum(np.maximum(under, over), 0.0))
        return value, self._plane(under, over, True).a

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """List the items closest to a kink."""
        n = len(self.cost)
        if self.n_rows <= max_rows:
            return self._rows(np.arange(n), None)
        under, over = self._short(x)
        ranked = np.sort([under, over, np.zeros(n)], axis=0)
        apart = ranked[2] - ranked[1]
        near = np.sort(np.argpartition(apart, max_rows // 2)[: max_rows // 2])
        far = np.ones(n, dtype=bool)
        far[near] = False
        return self._rows(near, self._plane(under, over, far))

    def _short(self, x: Floats) -> tuple[Floats, Floats]:
        p = self.A.shape[1]
        f, theta = forward_product(self.A, x[:p]), np.append(x[p:], 0.0)
        under = np.where(self.below >= 0, theta[self.below] + 0.5 - f, -np.inf)
        over = np.where(self.above >= 0, f - theta[self.above] + 0.5, -np.inf)
        return under, over

    def _plane(self, under: Floats, over: Floats, chosen: Flags | bool) -> Plane:
        """Give the plane of the chosen items where their slacks are as these."""
        k = self.n_thresholds
        is_under = (under > 0.0) & (under >= over) & chosen
        is_over = (over > 0.0) & (over > under) & chosen
        up, down = self.cost * is_under, self.cost * is_over
        slope = np.concatenate(
            [
                back_product(self.A, down - up),
                np.bincount(self.below[is_under], up[is_under], k)
                - np.bincount(self.above[is_over], down[is_over], k),
            ]
        )
        return Plane(slope, 0.5 * float(up.sum() + down.sum()))

    def _rows(self, items: Codes, rest: Plane | None) -> SlackRows:
        low = np.flatnonzero(self.below[items] >= 0)
        high = np.flatnonzero(self.above[items] >= 0)
        slack = np.append(low, high)
        m, n, p = len(slack), len(self.cost), self.A.shape[1]
        row, sign = np.arange(m), np.repeat([1.0, -1.0], [len(low), len(high)])
        of_items = sp.csr_array((sign, (row, items[slack])), shape=(m, n))
        threshold = np.append(self.below[items[low]], self.above[items[high]])
        of_thresholds = sp.csr_array(
            (-sign, (row, threshold)), shape=(m, self.n_thresholds)
        )
        weights = sp.csr_array(of_items @ self.A) if p else sp.csr_array((m, 0))
        return SlackRows(
            D=sp.csr_array(sp.hstack([weights, of_thresholds])),
            S=sp.csr_array((np.ones(m), (row, slack)), shape=(m, len(items))),
            offset=np.full(m, 0.5),
            cost=self.cost[items],
            rest=rest,
        )


class FixedRows:
    """Every pair as a row, with the slacks of both items."""

    n_rows = 0  # whatever the limit, all of them are there

    def __init__(self, A: Any, better: Codes, worse: Codes, cost: Floats) -> None:
        items, used = ItemDesign(worse, better, len(cost)).matrix(), cost > 0.0
        D, S = sp.csr_array(items @ A), sp.csr_array(abs(items)[:, used])
        self.rows = SlackRows(D, S, np.ones(len(better)), cost[used])
        self.n_variables = A.shape[1]

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the cost of feasible slacks, not the least; and no subgradient."""
        rows = self.rows
        n_slacks = np.diff(sp.csr_array(rows.S).indptr)
        short = np.maximum(rows.offset - rows.D @ x, 0.0) / n_slacks
        slack = np.zeros(len(rows.cost))
        S = sp.coo_array(rows.S)
        np.maximum.at(slack, S.coords[1], short[S.coords[0]])
        return float(rows.cost @ slack), np.zeros(self.n_variables)

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Give all rows."""
        return self.rows
