# SPDX-License-Identifier: BSD-3-Clause
"""Cuts of ranked lists: which items are in the top t, and which below.

A group of graded items is a list, best first, in which equal grades are a tied block
that fills as many places as it has items. A list of L places has the cuts t = 1 … L-1;
the items that end at place t or before are above the cut, those that begin after it
below. A tied block with places on both sides takes no part in that cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import as_column
from tiebreak.data.messages import list_rows, warn_user

__all__ = ["MAX_CUTS", "Places", "choose_cuts"]

# Every cut is a machine of its own for all items.
MAX_CUTS = 50

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Places:
    """Where rows stand in their lists; all arrays of shape (n,).

    Attributes
    ----------
    begin : ndarray of int
        Places before the tied block of a row, from 0.
    end : ndarray of int
        Places up to the end of that block: ``begin + 1`` for a row without a tie.
    length : ndarray of int
        Places of the list.
    n_lists : int
        Number of lists.
    n_idle : int
        Those of one block: one item, or everything tied.
    """

    begin: Codes
    end: Codes
    length: Codes
    n_lists: int
    n_idle: int

    @classmethod
    def of_grades(cls, y: NDArray[np.float64], group: Codes) -> Places:
        """Put every group in order, higher grades first.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Grades.
        group : ndarray of int of shape (n,)
            Group of each row.

        Returns
        -------
        Places

        Examples
        --------
        >>> import numpy as np
        >>> places = Places.of_grades(np.array([1.0, 5, 1, 7]), np.zeros(4, dtype=int))
        >>> places.begin, places.end
        (array([2, 1, 2, 0]), array([4, 2, 4, 1]))
        """
        order = np.lexsort((-y, group))
        new_list = np.diff(group[order], prepend=-1) != 0
        new_block = new_list.copy()
        new_block[1:] |= y[order][1:] != y[order][:-1]
        starts, blocks = np.flatnonzero(new_list), np.flatnonzero(new_block)
        of_list, of_block = np.cumsum(new_list) - 1, np.cumsum(new_block) - 1
        list_ends = np.append(starts[1:], len(y))
        block_ends = np.append(blocks[1:], len(y))
        begin, end, length = (np.empty(len(y), dtype=np.int64) for _ in range(3))
        begin[order] = (blocks[of_block]) - starts[of_list]
        end[order] = block_ends[of_block] - starts[of_list]
        length[order] = (list_ends - starts)[of_list]
        n_blocks = np.bincount(of_list[blocks], minlength=len(starts))
        return cls(begin, end, length, len(starts), int((n_blocks == 1).sum()))

    def usable_cuts(self) -> Codes:
        """Find the cuts with an item above and an item below, ascending.

        Returns
        -------
        ndarray of int
        """
        longest = int(self.length.max(initial=0))
        changes = np.zeros((2, longest + 2), dtype=np.int64)
        # A row is above the cuts from its end to the last, and below those from the
        # first to its begin.
        np.add.at(changes[0], self.end, 1)
        np.add.at(changes[0], self.length, -1)
        np.add.at(changes[1], np.ones_like(self.begin), 1)
        np.add.at(changes[1], self.begin + 1, -1)
        above, below = np.cumsum(changes, axis=1)
        # No row is above cut 0, and none below a cut as long as its list.
        return np.flatnonzero((above > 0) & (below > 0))

    def sides(self, cuts: Codes) -> NDArray[np.int8]:
        """Say on which side of every cut every row is.

        Parameters
        ----------
        cuts : ndarray of int of shape (B,)
            The cuts t.

        Returns
        -------
        ndarray of int8 of shape (B, n)
            +1 above, -1 below, 0 if the row takes no part: its list is not longer than
            t, or its tied block crosses t.
        """
        t = cuts[:, None]
        above = (self.end <= t) & (self.length > t)
        return above.astype(np.int8) - (self.begin >= t).astype(np.int8)


def choose_cuts(name: str, asked: Any, places: Places) -> Codes:
    """Choose the cuts of lists.

    Parameters
    ----------
    name : str
        Name of the model, for messages.
    asked : None or array-like of int
        The user's choice; None for all cuts that say something.
    places : Places
        The lists.

    Returns
    -------
    ndarray of int
        At least one cut, ascending.

    Raises
    ------
    ValueError
        If there is nothing to learn from, or a cut makes no sense.
    """
    usable = places.usable_cuts()
    if asked is None:
        if len(usable) > MAX_CUTS:
            chosen = np.linspace(0, len(usable) - 1, MAX_CUTS).round().astype(int)
            warn_user(
                f"{name}: the lists have {len(usable)} cuts, from the top {usable[0]} "
                f"to the top {usable[-1]}; {MAX_CUTS} of them are used, evenly spaced, "
                "because each is a machine of its own. Pass cuts, such as "
                "cuts=[1, 2, 3, 5, 10, 20], to choose them."
            )
            usable = usable[chosen]
        cuts = usable
    else:
        cuts = _check_cuts(name, asked, places)
        idle = cuts[~np.isin(cuts, usable)]
        cuts = cuts[np.isin(cuts, usable)]
        if len(idle) and len(cuts):
            warn_user(
                f"{name}: cuts {idle.tolist()} have no item above or none below, "
                "because tied items cross them, and are left out."
            )
    if not len(cuts):
        raise ValueError(_nothing(name, asked, places))
    return cuts


def _nothing(name: str, asked: Any, places: Places) -> str:
    n, groups = len(places.begin), places.n_lists
    if asked is not None and places.n_idle < groups:
        return (
            f"{name} got cuts={asked!r}, and tied items cross all of them; expected a "
            "cut with items above and items below. Try cuts=None, which takes all "
            "cuts that say something."
        )
    return (
        f"There is nothing to learn from: {n} sample(s) in {groups} group(s), and no "
        "group has two items of different grades and positive weight that a cut "
        "parts. Check that qid is the group and not the row number."
    )


def _check_cuts(name: str, asked: Any, places: Places) -> Codes:
    expected = "expected None or whole numbers t >= 1, each for 'in the top t'"
    if isinstance(asked, Integral | str) or not hasattr(asked, "__len__"):
        raise ValueError(f"{name} got cuts={asked!r}; {expected}, as in [1, 2, 5].")
    column = as_column(asked, "cuts")
    if not len(column):
        raise ValueError(f"{name} got no cuts; {expected}.")
    whole = [
        isinstance(value, int) and not isinstance(value, bool) and value >= 1
        for value in column.tolist()
    ]
    wrong = np.flatnonzero(~np.array(whole))
    if len(wrong):
        raise ValueError(
            f"{name}: cuts has {list_rows(wrong, column[wrong[:5]])}; {expected}."
        )
    cuts = np.unique(column.astype(np.int64))
    if len(cuts) > MAX_CUTS:
        raise ValueError(
            f"{name} got {len(cuts)} different cuts; expected at most {MAX_CUTS}, "
            "because each is a machine of its own."
        )
    longest = int(places.length.max(initial=0))
    beyond = cuts[cuts >= longest]
    if len(beyond):
        raise ValueError(
            f"{name} got cuts {beyond.tolist()}, but the longest list has {longest} "
            f"items, and 'in the top t' parts lists longer than t only; expected cuts "
            f"below {longest}."
        )
    return cuts
