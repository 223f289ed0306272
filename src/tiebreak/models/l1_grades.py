# SPDX-License-Identifier: BSD-3-Clause
"""Graded items as classes: the rows of one grade in one group.

Identical rows of a class are one row with the sum of their weights, so that a row of
weight 2 is the row twice by construction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import Grades, ItemTable
from tiebreak.data.messages import warn_user
from tiebreak.solvers.hull import hull_vertices

__all__ = ["GradeClasses", "class_pairs", "keep_corners", "list_ranges"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# A linear program for each of more points than this takes too long to be a reduction.
_MOST_POINTS, _EASY_DIMENSIONS = 20_000, 6


@dataclass(frozen=True, eq=False)
class GradeClasses:
    """Distinct rows, sorted by group and ascending grade.

    Attributes
    ----------
    table : ItemTable
        Features of the N distinct rows.
    weight : ndarray of shape (N,)
        Their weights.
    count : ndarray of int of shape (N,)
        How many given rows each of them is.
    group : ndarray of int of shape (N,)
        Group of each row.
    grade : ndarray of shape (N,)
        Grade of each row.
    """

    table: ItemTable
    weight: Floats
    count: Codes
    group: Codes
    grade: Floats

    @classmethod
    def read(cls, grades: Grades, weight: Floats, rows: Codes) -> GradeClasses:
        """Merge rows.

        Parameters
        ----------
        grades : Grades
            Checked items.
        weight : ndarray of shape (n,)
            Weights of all rows.
        rows : ndarray of int
            The rows that are in a pair.

        Returns
        -------
        GradeClasses
        """
        table, code = grades.items.take(rows).unique()
        order = np.lexsort([code, grades.y[rows], grades.group[rows]])
        rows, code = rows[order], code[order]
        y, group = grades.y[rows], grades.group[rows]
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

    @property
    def starts(self) -> Codes:
        """Where classes start, and the number of rows."""
        change = (np.diff(self.grade) != 0) | (np.diff(self.group) != 0)
        inner = np.flatnonzero(change) + 1
        return np.concatenate([[0], inner, [len(self.grade)]]).astype(np.int64)

    def _partners(self, adjacent: bool) -> tuple[Codes, Codes, Codes]:
        """Give the class of each row, and its range of worse rows in its group."""
        starts = self.starts
        number = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        group_of = self.group[starts[:-1]]
        new = np.append(True, np.diff(group_of) != 0)
        group_start = starts[:-1][np.flatnonzero(new)][np.cumsum(new) - 1]
        first = group_start
        if adjacent:
            first = np.where(new, starts[:-1], np.append(0, starts[:-2]))
        return number, first[number], starts[:-1][number]

    def n_pairs(self, adjacent: bool) -> int:
        """Count the pairs of given rows of different, or of neighboring, grades."""
        _, first, last = self._partners(adjacent)
        below = np.concatenate([[0], np.cumsum(self.count)])
        return int(self.count @ (below[last] - below[first]))

    def partner_weight(self, adjacent: bool) -> Floats:
        """Give for each row the weight of the rows that it is compared with."""
        number, first, last = self._partners(adjacent)
        below = np.concatenate([[0.0], np.cumsum(self.weight)])
        starts = self.starts
        of_class, group_of = np.diff(below[starts]), self.group[starts[:-1]]
        same = np.append(np.diff(group_of) == 0, False)  # as the class above
        better = np.where(same, np.append(of_class[1:], 0.0), 0.0)
        if not adjacent:
            ends = np.flatnonzero(~same)  # last class of each group
            end = starts[1:][ends][np.searchsorted(ends, np.arange(len(same)))]
            better = below[end] - below[starts[1:]]
        return below[last] - below[first] + better[number]

    def thresholds(self, adjacent: bool) -> tuple[Codes, Codes, int, Any]:
        """Number the thresholds between neighboring grades of a group.

        Parameters
        ----------
        adjacent : bool
            Whether they may be in any order.

        Returns
        -------
        below, above : ndarray of int of shape (N,)
            The thresholds around the grade of each row, -1 where there is none.
        n_thresholds : int
            Number of thresholds.
        order : csr_array of shape (r, n_thresholds)
            Rows order · θ ≥ 0 that keep them in order.
        """
        starts = self.starts
        group_of = self.group[starts[:-1]]
        same = np.diff(group_of) == 0  # as the class below
        between = np.cumsum(same) - 1
        n = int(same.sum())
        under = np.append(-1, np.where(same, between, -1))
        over = np.append(np.where(same, between, -1), -1)
        number = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        both = np.flatnonzero((under >= 0) & (over >= 0))
        if adjacent:
            both = both[:0]
        row = np.arange(len(both))
        entries = np.repeat([1.0, -1.0], len(both))
        places = np.append(row, row), np.append(over[both], under[both])
        order = sp.csr_array((entries, places), shape=(len(both), n))
        return under[number], over[number], n, order


def class_pairs(classes: GradeClasses, adjacent: bool) -> tuple[Codes, Codes]:
    """List all pairs of rows of different, or of neighboring, grades.

    Parameters
    ----------
    classes : GradeClasses
        Rows.
    adjacent : bool
        Whether grades must be neighbors.

    Returns
    -------
    better, worse : ndarray of int
        Rows of each pair.
    """
    _, first, last = classes._partners(adjacent)
    worse, better = list_ranges(first, last)
    return better, worse


def list_ranges(
    first: Codes, last: Codes, most: int | None = None
) -> tuple[Codes, Codes]:
    """List first[i] to last[i] - 1 for every i.

    Parameters
    ----------
    first, last : ndarray of int of shape (n,)
        Ranges.
    most : int, optional
        Length of the list at most; a longer one is thinned evenly.

    Returns
    -------
    listed, owner : ndarray of int
        The numbers, and the i of each.
    """
    sizes = np.maximum(last - first, 0)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    place = np.arange(total)
    if most is not None and total > most:
        place = np.arange(most) * total // most
    owner = np.searchsorted(ends, place, side="right")
    return first[owner] + place - (ends - sizes)[owner], owner


def keep_corners(classes: GradeClasses) -> GradeClasses:
    """Keep the rows of each class that are corners of its convex hull.

    Parameters
    ----------
    classes : GradeClasses
        Rows.

    Returns
    -------
    GradeClasses
        Those that are left. A warning counts classes that are left whole because
        their hull would take too long.
    """
    values, kept, skipped = classes.table.dense(), [], 0
    for lo, hi in pairwise(classes.starts):
        if hi - lo > _MOST_POINTS and values.shape[1] > _EASY_DIMENSIONS:
            kept.append(np.arange(lo, hi))
            skipped += 1
        else:
            kept.append(lo + hull_vertices(values[lo:hi]))
    if skipped:
        warn_user(
            f"The hull reduction was skipped for {skipped} of {len(kept)} grades: each "
            f"has more than {_MOST_POINTS} rows in {values.shape[1]} dimensions, and "
            "nearly all of them would be corners. reduction='threshold' is exact and "
            "faster."
        )
    rows = np.concatenate(kept)
    return replace(
        classes,
        table=classes.table.take(rows),
        weight=classes.weight[rows],
        count=classes.count[rows],
        group=classes.group[rows],
        grade=classes.grade[rows],
    )
