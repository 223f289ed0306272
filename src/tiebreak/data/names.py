# SPDX-License-Identifier: BSD-3-Clause
"""Items by name or by row number, checked and turned into row numbers."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import as_column, as_names, refuse_missing
from tiebreak.data.distinct import (
    Distinct,
    TextColumn,
    find_distinct,
    loop,
    plain_values,
)
from tiebreak.data.items import ItemTable
from tiebreak.data.messages import list_rows

Describe = Callable[[Any, Any], str]

__all__ = ["check_names", "item_codes", "names_of_sides"]


def check_names(names: Any, items: ItemTable | None) -> NDArray[Any]:
    """Check the names of items: none missing, all different, one per item.

    Parameters
    ----------
    names : array-like of shape (N,)
        The names.
    items : ItemTable or None
        The item table, if there is one.

    Returns
    -------
    ndarray of shape (N,)
    """
    column = as_column(names, "names")
    refuse_missing(column, "names")
    if items is not None and len(column) != items.n_items:
        raise ValueError(
            f"There are {len(column)} names but {items.n_items} rows of items; every "
            "item needs one name."
        )
    found = find_distinct(column)
    if len(found.values) < len(column):
        counts = np.bincount(found.codes)
        repeated = [found.values[code] for code in np.flatnonzero(counts > 1)[:5]]
        raise ValueError(
            f"Names of items must be all different, but {int((counts > 1).sum())} "
            f"occur more than once: {', '.join(map(repr, repeated))}."
        )
    return as_names(found.values)


def item_codes(
    column: NDArray[Any],
    side: str,
    names: NDArray[Any] | None,
    n_items: int,
    describe: Describe = list_rows,
) -> NDArray[np.int64]:
    """Turn row numbers or names of items into checked row numbers.

    Parameters
    ----------
    column : ndarray of shape (n,)
        A column from `as_column`, without missing values.
    side : str
        What the column is called in error messages.
    names : ndarray of shape (n_items,) or None
        Names of the items.
    n_items : int
        How many items there are.
    describe : callable, default=list_rows
        Names the places of a column in error messages.

    Returns
    -------
    ndarray of int64 of shape (n,)
        A copy.
    """
    if len(column) == 0:
        return np.empty(0, dtype=np.int64)
    integers = column.dtype.kind in "iu"
    if names is not None and (not integers or _any_number(names)):
        return _look_up(column, side, names, describe)
    if not integers:
        raise TypeError(
            f"{side} must hold row numbers of the item table (integers), got "
            f"{column.dtype} values, for example {column[:1].tolist()[0]!r} at row 0. "
            "Convert with astype(int), or give `names` if these are names of items."
        )
    wrong = np.flatnonzero((column < 0) | (column >= n_items))
    if len(wrong):
        raise ValueError(
            f"{side} has {len(wrong)} row number(s) outside the item table: "
            f"{describe(wrong, column[wrong[:5]])}. Valid are 0 to {n_items - 1}, "
            f"because there are {n_items} items. If these are names of items, give "
            "`names` too."
        )
    return column.astype(np.int64)


def _any_number(names: NDArray[Any]) -> bool:
    if names.dtype.kind == "O":
        return any(isinstance(name, Real) for name in names)
    return names.dtype.kind in "biuf"


def _look_up(
    column: NDArray[Any], side: str, names: NDArray[Any], describe: Describe
) -> NDArray[np.int64]:
    code_of = {name: code for code, name in enumerate(plain_values(names))}
    found = find_distinct(column)
    known = np.asarray([code_of.get(value, -1) for value in found.values], np.int64)
    codes = known[found.codes]
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        n_distinct = np.count_nonzero(known < 0)
        where = describe(unknown, column[unknown[:5]])
        raise ValueError(
            f"{side} has {len(unknown)} value(s), {n_distinct} distinct, that are "
            f"not among the {len(names)} names: {where}. Known names begin with "
            f"{', '.join(map(repr, list(code_of)[:5]))}."
        )
    return codes


def names_of_sides(
    left: NDArray[Any], right: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Take the values of both sides as names, in order of first appearance.

    Parameters
    ----------
    left, right : ndarray of shape (n,)
        Columns from `as_column`, without missing values.

    Returns
    -------
    left, right : ndarray of int64 of shape (n,)
        The numbers of the names.
    names : ndarray
        The distinct names: the left one before the right one, row by row.
    """
    kinds = {_name_kind(left), _name_kind(right)} - {""}
    if kinds == {"numbers", "text"}:
        raise TypeError(
            f"left holds {_name_kind(left)} and right holds {_name_kind(right)}, so no "
            "item could stand on both sides. Give names of one type."
        )
    found = find_distinct(left), find_distinct(right)
    # Where each distinct value of a side stands when both are read row by row.
    place = np.concatenate([2 * found[0].first, 2 * found[1].first + 1])
    order = np.argsort(place)
    values = found[0].values + found[1].values
    merged = _find_distinct_of([values[index] for index in order.tolist()])
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = merged.codes
    split = len(found[0].values)
    return (
        codes[:split][found[0].codes],
        codes[split:][found[1].codes],
        as_names(merged.values),
    )


def _find_distinct_of(values: list[Any]) -> Distinct:
    """Number values that may be of different types, such as 1 and 1.0."""
    if set(map(type, values)) in ({str}, {int}, {float}):
        return find_distinct(as_column(values, "names"))
    return loop(values)


def _name_kind(column: NDArray[Any]) -> str:
    if len(column) == 0:
        return ""
    if column.dtype.kind in "iuf":
        return "numbers"
    if column.dtype.kind == "U" or isinstance(column, TextColumn):
        return "text"
    text = all(issubclass(kind, str) for kind in set(map(type, column)))
    return "text" if text else "values"
