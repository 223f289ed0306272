# SPDX-License-Identifier: BSD-3-Clause
"""Periods of rows, of any type that can be sorted, as numbers in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, refuse_missing
from tiebreak.data.distinct import find_distinct, plain_values

__all__ = ["Periods", "order_periods", "readable_period"]

_LISTED = 100_000


@dataclass(frozen=True, eq=False)
class Periods:
    """When rows took place.

    Attributes
    ----------
    place : ndarray of int64 of shape (n,)
        Number of the period of each row, 0 for the earliest.
    values : list, or ndarray if there are many
        The distinct periods, ascending; ``values[place[i]]`` is that of row i.
    """

    place: NDArray[np.int64]
    values: list[Any] | NDArray[Any]


def order_periods(period: ArrayLike, n_rows: int) -> Periods:
    """Number the periods of rows in order of time.

    Parameters
    ----------
    period : array-like of shape (n_rows,)
        Dates, numbers or text, in any order.
    n_rows : int
        How many rows there are.

    Returns
    -------
    Periods

    Raises
    ------
    ValueError
        If there are more or fewer periods than rows, or one is missing.
    TypeError
        If they cannot be sorted.

    Examples
    --------
    >>> order_periods(["May", "June", "May"], 3)
    Periods(place=array([1, 0, 1]), values=['June', 'May'])
    """
    column = as_column(period, "period")
    if len(column) != n_rows:
        raise ValueError(
            f"period has {len(column)} values but there are {n_rows} rows; they must "
            "be as many."
        )
    refuse_missing(column, "period")
    if column.dtype.kind in "iufmM":
        times, place = np.unique(column, return_inverse=True)
        # As a list, unless they are so many that it would be large.
        few = len(times) <= _LISTED
        return Periods(place, plain_values(times) if few else times)
    found = find_distinct(column)
    try:
        order = sorted(range(len(found.values)), key=found.values.__getitem__)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in found.values})
        raise TypeError(
            "period must hold values that can be sorted, got values of types "
            f"{', '.join(kinds)}. Give dates, numbers or text, of one type."
        ) from error
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Periods(place[found.codes], [found.values[code] for code in order])


def readable_period(value: Any) -> Any:
    """Give a period as it is best shown: dates as text, without a time at midnight.

    Parameters
    ----------
    value : object
        One of the values of `Periods`.

    Returns
    -------
    object

    Examples
    --------
    >>> readable_period(np.datetime64("2024-05-01T00:00:00.000"))
    '2024-05-01'
    """
    if isinstance(value, np.datetime64):
        day = value.astype("datetime64[D]")
        return str(day if day == value else value)
    return value
