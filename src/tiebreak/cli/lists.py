# SPDX-License-Identifier: BSD-3-Clause
"""From what a file holds to ranked lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Orders, check_grades
from tiebreak.data.files import Recognized

__all__ = ["as_lists"]


def as_lists(
    read: Recognized,
) -> tuple[Orders, NDArray[np.float64] | None, list[str]]:
    """Turn what a file holds into ranked lists.

    Parameters
    ----------
    read : Recognized
        What was read.

    Returns
    -------
    orders : Orders
        Lists of named items: those of the file, one for each group of graded items, or
        one of two items for each comparison.
    weight : ndarray of shape (n,) or None
        Weights of the lists, where known.
    notes : list of str
        What was done to get here and what was left out, in plain words.
    """
    if read.kind == "orders":
        assert read.orders is not None
        return read.orders, read.columns.get("weight"), _left_out(read)
    if read.kind == "comparisons":
        return _of_comparisons(read)
    return _of_grades(read)


def _of_comparisons(
    read: Recognized,
) -> tuple[Orders, NDArray[np.float64] | None, list[str]]:
    pairs, y = read.pairs, read.y
    assert pairs is not None and y is not None
    # The better one first: y is the sign of r(right) - r(left).
    first = np.where(y > 0, pairs.right, pairs.left).tolist()
    second = np.where(y > 0, pairs.left, pairs.right).tolist()
    tied = (y == 0).tolist()
    sequences: list[list[Any]] = [
        [[a, b]] if equal else [a, b]
        for a, b, equal in zip(first, second, tied, strict=True)
    ]
    names = np.arange(pairs.n_items) if pairs.names is None else pairs.names
    # Row numbers would be taken for names where names are numbers.
    orders = Orders(None, sequences, names=np.array([str(name) for name in names]))
    notes = ["Every comparison is written as a list of two items.", *_left_out(read)]
    return orders, read.columns.get("weight"), notes


def _of_grades(read: Recognized) -> tuple[Orders, None, list[str]]:
    if read.names is None:
        raise ValueError(
            "The graded rows have no names, and ranked lists are of named items. Name "
            "the column that holds them with --item."
        )
    column = np.zeros((len(read.names), 1))
    graded = check_grades(column, read.grades, read.query)
    rows = np.lexsort((-graded.y, graded.group))
    sequences: list[list[list[str]]] = [[] for _ in range(graded.n_groups)]
    last: tuple[int, float] | None = None
    for row in rows.tolist():
        place = int(graded.group[row]), float(graded.y[row])
        if place != last:
            sequences[place[0]].append([])
        sequences[place[0]][-1].append(str(read.names[row]))
        last = place
    notes = [
        "Every group of graded items is written as a list, best first; equal grades "
        "are ties.",
        *_left_out(read),
    ]
    return Orders(None, sequences), None, notes


def _left_out(read: Recognized) -> list[str]:
    """Say what a file of lists has no place for."""
    named = [name for name in read.columns if name != "weight"]
    of_items = (read.pairs, read.orders)
    has_features = read.items is not None or any(
        one is not None and one.has_features for one in of_items
    )
    if has_features:
        named.append("features of the items")
    if not named:
        return []
    return [f"Not written, because the format has no place for it: {', '.join(named)}."]
