# SPDX-License-Identifier: BSD-3-Clause
"""From what a file holds to comparisons that a model can be fitted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import ItemTable, Pairs, check_grades
from tiebreak.data.files import Recognized
from tiebreak.data.group_pairs import pairs_within_groups

__all__ = ["Knowledge", "Parted", "as_comparisons"]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Comparisons, where they come from, and what stands beside them.

    Attributes
    ----------
    pairs, y : Pairs, ndarray of int8 of shape (n,)
        Comparisons and outcomes.
    columns : dict of str to ndarray of shape (n,)
        ``advantage``, ``rater``, ``period`` and ``sample_weight``, where known.
    notes : list of str
        What was done to get here, in plain words.
    group : ndarray of int64 of shape (n,) or None
        Query of each comparison, if items were graded.
    item_names : ndarray of shape (N,) or None
        Names of the N items of ``pairs``, row by row. They are all different, and the
        names of ``pairs`` too, unless items were graded: then a row is one grade, and
        an item that was graded twice is there twice.
    grades, query : ndarray of shape (N,) or None
        Grade and query of each item of ``pairs``, if items were graded.
    parted : Parted or None
        If alike comparisons of many files were added up: where their rows are.
    sided : bool
        Whether left and right mean something; not if comparisons were made of grades,
        scores or lists.
    """

    pairs: Pairs
    y: NDArray[np.int8]
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    group: NDArray[np.int64] | None = None
    item_names: NDArray[Any] | None = None
    grades: NDArray[np.float64] | None = None
    query: NDArray[Any] | None = None
    parted: Parted | None = None
    sided: bool = True

    @property
    def items(self) -> ItemTable | None:
        """Features of all items, also of those in no comparison; None without."""
        return self.pairs.items

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Which of the N items are in a comparison, shape (N,)."""
        found = np.zeros(self.pairs.n_items, dtype=bool)
        found[self.pairs.touched()] = True
        return found

    @property
    def by_row(self) -> Knowledge:
        """The comparisons row by row, all or enough of them to measure quality."""
        return self if self.parted is None else self.parted.rows

    @property
    def whole(self) -> Knowledge:
        """All comparisons, row by row if they are few enough."""
        return self.by_row if self.parted is None or self.parted.complete else self

    @property
    def by_name(self) -> Pairs | None:
        """The same comparisons without features; None if items have no names."""
        pairs = self.pairs
        if pairs.names is None or not pairs.has_features:
            return None if pairs.names is None else pairs
        return Pairs(None, pairs.left, pairs.right, names=pairs.names).compact()


@dataclass(frozen=True, eq=False)
class Parted:
    """What is known of the rows of many files, of which alike ones were added up.

    Attributes
    ----------
    rows : Knowledge
        Rows of the files, one by one.
    n_rows : int
        How many rows the files have.
    complete : bool
        Whether `rows` are all of them; else they were drawn at random.
    """

    rows: Knowledge
    n_rows: int
    complete: bool


def as_comparisons(read: Recognized) -> Knowledge:
    """Turn what a file holds into comparisons.

    Parameters
    ----------
    read : Recognized
        What was read.

    Returns
    -------
    Knowledge
    """
    if read.kind == "comparisons":
        assert read.pairs is not None and read.y is not None
        columns = dict(read.columns)
        if "weight" in columns:
            columns["sample_weight"] = columns.pop("weight")
        return Knowledge(
            read.pairs,
            read.y,
            columns,
            item_names=read.pairs.names,
            sided=read.sided,
        )
    if read.kind == "orders":
        return _of_orders(read)
    return _of_grades(read)


def _of_orders(read: Recognized) -> Knowledge:
    orders = read.orders
    assert orders is not None
    group = np.repeat(np.arange(len(orders)), orders.lengths)
    found = pairs_within_groups(group, -orders.position.astype(np.float64))
    names = np.arange(orders.n_items) if orders.names is None else orders.names
    left, right = orders.flat[found.left], orders.flat[found.right]
    pairs = Pairs(orders.items, left, right, names=names)
    columns: dict[str, NDArray[Any]] = {"rater": found.group}
    if "weight" in read.columns:
        columns["sample_weight"] = read.columns["weight"][found.group]
    what = f"the {len(orders):,} lists"
    notes = [_written_out(found, what)]
    return Knowledge(
        pairs, found.y, columns, notes, item_names=pairs.names, sided=False
    )


def _of_grades(read: Recognized) -> Knowledge:
    if read.items is None:
        raise ValueError(
            "The file grades items but has no features to learn from. Give the items "
            "names (--item) and the people or queries that graded them (--person, "
            "--query), or a table with features (--items)."
        )
    graded = check_grades(read.items, read.grades, read.query)
    found = pairs_within_groups(graded.group, graded.y)
    if not found.y.any():
        raise ValueError(
            "All grades within a query are equal, so there is nothing to learn."
        )
    pairs = Pairs(graded.items, found.left, found.right)
    what = "the table" if read.query is None else f"the {graded.n_groups:,} queries"
    notes = [_written_out(found, what)]
    query = graded.group_names[graded.group]
    return Knowledge(
        pairs,
        found.y,
        {},
        notes,
        found.group,
        read.names,
        graded.y,
        query,
        sided=False,
    )


def _written_out(found: Any, what: str) -> str:
    """Say how many comparisons were made."""
    if found.n_possible > len(found.y):
        return (
            f"{len(found.y):,} of the {found.n_possible:,} comparisons within {what} "
            "were drawn at random."
        )
    return f"Every two items within {what} were compared: {len(found.y):,} comparisons."
