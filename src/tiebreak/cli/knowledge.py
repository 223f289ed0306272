# SPDX-License-Identifier: BSD-3-Clause
"""From what a file holds to comparisons that a model can be fitted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Pairs, check_grades
from tiebreak.data.files import Recognized
from tiebreak.data.group_pairs import pairs_within_groups

__all__ = ["Knowledge", "as_comparisons"]


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
    """

    pairs: Pairs
    y: NDArray[np.int8]
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    group: NDArray[np.int64] | None = None


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
        return Knowledge(read.pairs, read.y, columns)
    if read.kind == "orders":
        return _of_orders(read)
    return _of_grades(read)


def _of_orders(read: Recognized) -> Knowledge:
    orders = read.orders
    assert orders is not None
    group = np.repeat(np.arange(len(orders)), orders.lengths)
    found = pairs_within_groups(group, -orders.position.astype(np.float64))
    names = np.arange(orders.n_items) if orders.names is None else orders.names
    pairs = Pairs(None, orders.flat[found.left], orders.flat[found.right], names=names)
    columns: dict[str, NDArray[Any]] = {"rater": found.group}
    if "weight" in read.columns:
        columns["sample_weight"] = read.columns["weight"][found.group]
    what = f"the {len(orders):,} lists"
    return Knowledge(pairs, found.y, columns, [_written_out(found, what)])


def _of_grades(read: Recognized) -> Knowledge:
    if read.items is None:
        raise ValueError(
            "The file grades items but has no features to learn from. Give the items "
            "names (--item) and the people or queries that graded them (--person, "
            "--query), or a table with features."
        )
    graded = check_grades(read.items, read.grades, read.query)
    found = pairs_within_groups(graded.group, graded.y)
    if not found.y.any():
        raise ValueError(
            "All grades within a query are equal, so there is nothing to learn."
        )
    pairs = Pairs(graded.items, found.left, found.right)
    what = f"the {graded.n_groups:,} quer{'y' if graded.n_groups == 1 else 'ies'}"
    return Knowledge(pairs, found.y, {}, [_written_out(found, what)], found.group)


def _written_out(found: Any, what: str) -> str:
    """Say how many comparisons were made."""
    if found.n_possible > len(found.y):
        return (
            f"{len(found.y):,} of the {found.n_possible:,} comparisons that {what} "
            "imply were drawn at random."
        )
    return f"Every two items within {what} were compared: {len(found.y):,} comparisons."
