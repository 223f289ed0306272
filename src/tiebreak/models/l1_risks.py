# SPDX-License-Identifier: BSD-3-Clause
"""The slacks of 1-norm ranking as functions of weights, and as rows of a program.

Three sums, each divided by a constant so that programs have numbers near one:

* :class:`GradedPairRisk`: Σ c_i c_j (1 - w·(x_i - x_j))₊ over all pairs of different
  grades, by a tree and never as a list;
* :class:`ListedPairRisk`: the same over pairs that are listed;
* :class:`ItemRisk`: Σ c_i max(0, θ_below + ½ - w·x_i, w·x_i - θ_above + ½), one slack
  per item and thresholds θ between its grade and the next ones.

A pair exactly at its margin of one, or an item exactly half a margin from its
threshold, costs nothing and has the subgradient 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.losses import GradeHinge, GradeTree
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.models.l1_grades import list_ranges
from tiebreak.solvers.slack_rows import Plane, SlackRows

__all__ = [
    "FixedRows",
    "GradedPairRisk",
    "ItemRisk",
    "ListedPairRisk",
    "pair_incidence",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# A pair whose margin is this close to the edge of what is listed is left out, so that
# rounding cannot count it twice.
_SLIVER = 1e-9


def pair_incidence(better: Codes, worse: Codes, n_items: int) -> Any:
    """Give the matrix that takes utilities of items to differences of pairs.

    Parameters
    ----------
    better, worse : ndarray of int of shape (m,)
        Items of each pair.
    n_items : int
        n.

    Returns
    -------
    csr_array of shape (m, n)
    """
    m = len(better)
    ones, pair = np.ones(m), np.arange(m)
    entries = np.append(ones, -ones)
    place = np.append(pair, pair), np.append(better, worse)
    return sp.csr_array((entries, place), shape=(m, n_items))


class ListedPairRisk:
    """Hinges of listed pairs, divided by `total`.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, p)
        Features of the items, at most 1 in size.
    better, worse : ndarray of int of shape (m,)
        Items of each pair.
    weight : ndarray of shape (m,)
        Weights, above 0.
    total : float
        Divisor.
    """

    def __init__(
        self, A: Any, better: Codes, worse: Codes, weight: Floats, total: float
    ) -> None:
        self.A, self.better, self.worse = A, better, worse
        self.weight = weight / total
        self.n_variables, self.n_rows = A.shape[1], len(better)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the risk and a subgradient."""
        short = self._short(x)
        value = float(self.weight @ np.maximum(short, 0.0))
        return value, back_product(self.A, self._slope(short > 0.0))

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Write down the pairs that are closest to their margin."""
        short, m = self._short(x), self.n_rows
        if m <= max_rows:
            near, rest = np.arange(m), None
        else:
            near = np.sort(np.argpartition(np.abs(short), max_rows)[:max_rows])
            far = short > 0.0
            far[near] = False
            slope = self._slope(far)
            rest = Plane(back_product(self.A, slope), float(self.weight @ far))
        items = pair_incidence(self.better[near], self.worse[near], self.A.shape[0])
        return SlackRows(
            D=sp.csr_array(items @ self.A),
            S=sp.eye_array(len(near), format="csr"),
            offset=np.ones(len(near)),
            cost=self.weight[near],
            rest=rest,
        )

    def _short(self, x: Floats) -> Floats:
        u = forward_product(self.A, x)
        return 1.0 - (u[self.better] - u[self.worse])

    def _slope(self, active: NDArray[np.bool_]) -> Floats:
        n, pushed = self.A.shape[0], self.weight * active
        slope: Floats = np.bincount(self.worse, pushed, n).astype(np.float64)
        slope -= np.bincount(self.better, pushed, n)
        return slope


class GradedPairRisk:
    """Hinges of all pairs of different grades in groups, divided by `total`.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, p)
        Features of the rows, at most 1 in size.
    tree : GradeTree
        The pairs.
    total : float
        Divisor.
    """

    def __init__(self, A: Any, tree: GradeTree, total: float) -> None:
        self.A, self.tree, self.total = A, tree, total
        self.hinge = GradeHinge(tree)
        self.n_variables, self.n_rows = A.shape[1], tree.n_pairs

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the risk and a subgradient."""
        value, slope = self.hinge.expand(forward_product(self.A, x))
        return value / self.total, back_product(self.A, slope) / self.total

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Write down the pairs that are closest to their margin."""
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
        items = pair_incidence(better, worse, len(u))
        return SlackRows(
            D=sp.csr_array(items @ self.A),
            S=sp.eye_array(len(better), format="csr"),
            offset=np.ones(len(better)),
            cost=row_weight[better] * row_weight[worse] / self.total,
            rest=rest,
        )

    def _width(self, u: Floats, wanted: int) -> float:
        """Find the width around the margin that has about so many pairs."""
        low, high, width = 0.0, 0.9, 0.1
        for _ in range(12):
            count = self._count_between(u, width)
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

    def _count_between(self, u: Floats, width: float) -> int:
        return sum(
            int(np.sum(last - first)) for _, _, first, last in self._levels(u, width)
        )

    def _list_between(self, u: Floats, width: float, most: int) -> tuple[Codes, Codes]:
        """List pairs, evenly spread ones where there are too many at one margin."""
        found: list[tuple[Codes, Codes]] = []
        for better, worse, first, last in self._levels(u, width):
            partner, owner = list_ranges(first, last, most)
            found.append((better[owner], worse[partner]))
        better = np.concatenate([pair[0] for pair in found])
        worse = np.concatenate([pair[1] for pair in found])
        return self.tree.rows[better], self.tree.rows[worse]


class ItemRisk:
    """One slack per item, against thresholds, divided by `total`.

    The variables are the p weights, then the thresholds.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, p)
        Features of the rows, at most 1 in size.
    below, above : ndarray of int of shape (n,)
        Threshold under and over the grade of each row; -1 where there is none.
    cost : ndarray of shape (n,)
        Costs of the slacks, above 0.
    n_thresholds : int
        Number of thresholds.
    total : float
        Divisor.
    """

    def __init__(
        self,
        A: Any,
        below: Codes,
        above: Codes,
        cost: Floats,
        n_thresholds: int,
        total: float,
    ) -> None:
        self.A, self.below, self.above = A, below, above
        self.cost, self.n_thresholds = cost / total, n_thresholds
        self.n_variables = A.shape[1] + n_thresholds
        self.n_rows = int(np.sum(below >= 0) + np.sum(above >= 0))

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give the risk and a subgradient."""
        under, over = self._short(x)
        value = float(self.cost @ np.maximum(np.maximum(under, over), 0.0))
        return value, self._plane(under, over, True).a

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Write down the items that are closest to a kink."""
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

    def _plane(
        self, under: Floats, over: Floats, chosen: NDArray[np.bool_] | bool
    ) -> Plane:
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
    """A program that is written down in full, such as every pair with two slacks.

    Parameters
    ----------
    rows : SlackRows
        The program, without a rest.
    n_variables : int
        Number of variables.
    """

    n_rows = 0  # whatever the limit, all of them are there

    def __init__(self, rows: SlackRows, n_variables: int) -> None:
        self.rows, self.n_variables = rows, n_variables

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give what slacks cost that serve, if not the best; and no subgradient."""
        rows = self.rows
        n_slacks = np.diff(sp.csr_array(rows.S).indptr)
        short = np.maximum(rows.offset - rows.D @ x, 0.0) / n_slacks
        slack = np.zeros(len(rows.cost))
        S = sp.coo_array(rows.S)
        np.maximum.at(slack, S.coords[1], short[S.coords[0]])
        return float(rows.cost @ slack), np.zeros(self.n_variables)

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Give the program."""
        return self.rows
