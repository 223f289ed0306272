# SPDX-License-Identifier: BSD-3-Clause
"""One column of a table (outcomes, names, groups) as a 1-D NumPy array.

NumPy's own conversion has silences that matter here: a list of ``"a"`` and ``1``
becomes two strings, a null among integers turns them into floats. `as_column` keeps
the values as they are, and `missing_rows` knows every spelling of "nothing there".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.messages import list_rows

__all__ = [
    "as_column",
    "as_names",
    "factorize",
    "missing_rows",
    "plain_values",
    "refuse_missing",
]

_NESTED = (list, tuple, np.ndarray)
_NOT_COLUMNS = (str, bytes, dict, set, frozenset)


def as_column(values: Any, name: str) -> NDArray[Any]:
    """Turn a list, NumPy array, pandas or polars column into a 1-D array.

    Parameters
    ----------
    values : array-like of shape (n,)
        The column.
    name : str
        What the column is called in error messages.

    Returns
    -------
    ndarray of shape (n,)
        Integers, floats and booleans have their NumPy types; text may be of type
        ``str`` or object; anything mixed is an object array of the values.

    Raises
    ------
    TypeError
        If `values` is not a column (a scalar, a string, a dictionary).
    ValueError
        If it has more or fewer than one dimension.

    Examples
    --------
    >>> as_column([1, 2], "left")
    array([1, 2])
    >>> as_column(["a", 1], "left")
    array(['a', 1], dtype=object)
    """
    if hasattr(values, "to_numpy"):  # pandas, polars
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        column = np.array(values.data, dtype=object)
        column[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        column = np.asarray(values)
    elif isinstance(values, Iterable) and not isinstance(values, _NOT_COLUMNS):
        entries = list(values)
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
    else:
        raise TypeError(
            f"{name} must be a column (a list, a 1-D array, a pandas or polars "
            f"Series), got {type(values).__name__}: {_shorten(values)}."
        )
    if column.ndim != 1:
        raise ValueError(
            f"{name} must have one dimension, got shape {column.shape}. "
            f"Try `{name}.ravel()` if it holds one value per row."
        )
    return _narrow(column, name) if column.dtype.kind in "OT" else column


def _narrow(column: NDArray[Any], name: str) -> NDArray[Any]:
    """Give an object column of numbers only its numeric type."""
    column = column.astype(object)
    kinds = set(map(type, column))
    if any(issubclass(kind, _NESTED) for kind in kinds):
        rows = [row for row, value in enumerate(column) if isinstance(value, _NESTED)]
        raise ValueError(
            f"{name} must have one dimension, got nested values: "
            f"{list_rows(rows, [column[row] for row in rows[:5]])}."
        )
    if not kinds:
        return column
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return column.astype(bool)
    if any(issubclass(kind, bool | np.bool_) for kind in kinds):
        return column
    try:
        if all(issubclass(kind, Integral) for kind in kinds):
            return column.astype(np.int64)
        if all(issubclass(kind, Real) for kind in kinds):
            return column.astype(np.float64)
    except OverflowError:
        pass  # integers beyond 64 bits stay Python integers
    return column


def missing_rows(column: NDArray[Any]) -> NDArray[np.intp]:
    """Find the rows of a column that hold nothing (None, NaN, NA, NaT).

    Parameters
    ----------
    column : ndarray of shape (n,)
        A column from `as_column`.

    Returns
    -------
    ndarray of int
        Row numbers, ascending.
    """
    kind = column.dtype.kind
    if kind == "f":
        return np.flatnonzero(np.isnan(column))
    if kind in "mM":
        return np.flatnonzero(np.isnat(column))
    # Most object columns are text throughout, which one look at the types tells.
    if kind == "O" and not set(map(type, column)) <= {str, int, bool}:
        found = [row for row, value in enumerate(column) if _is_missing(value)]
        return np.asarray(found, dtype=np.intp)
    return np.empty(0, dtype=np.intp)


def plain_values(column: NDArray[Any]) -> list[Any]:
    """List the values of a column as Python values, dates as NumPy dates.

    Parameters
    ----------
    column : ndarray of shape (n,)
        A column from `as_column`.

    Returns
    -------
    list
    """
    # tolist() turns dates of nanosecond precision into bare integers.
    return list(column) if column.dtype.kind in "mM" else column.tolist()


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def refuse_missing(column: NDArray[Any], name: str) -> None:
    """Raise a ValueError that names the rows of a column that hold nothing.

    Parameters
    ----------
    column : ndarray of shape (n,)
        A column from `as_column`.
    name : str
        What the column is called in the message.
    """
    rows = missing_rows(column)
    if len(rows):
        raise ValueError(
            f"{name} has {len(rows)} missing value(s) (None or NaN): "
            f"{list_rows(rows)}. Every row needs a value; remove these rows or fill "
            "them in."
        )


def factorize(values: Iterable[Hashable]) -> tuple[NDArray[np.int64], list[Any]]:
    """Give the distinct values numbers in order of first appearance.

    Parameters
    ----------
    values : iterable of hashable
        The n values.

    Returns
    -------
    codes : ndarray of int64 of shape (n,)
        The number of each value.
    distinct : list
        The distinct values; ``distinct[codes[i]]`` is value i.

    Examples
    --------
    >>> factorize(["b", "a", "b"])
    (array([0, 1, 0]), ['b', 'a'])
    """
    seen: dict[Any, int] = {}
    codes = [seen.setdefault(value, len(seen)) for value in values]
    return np.asarray(codes, dtype=np.int64), list(seen)


def as_names(values: Sequence[Any]) -> NDArray[Any]:
    """Make an array of names: text as NumPy text, integers as integers.

    Parameters
    ----------
    values : sequence
        The names.

    Returns
    -------
    ndarray
        Of dtype ``str`` if every name is text, else as `as_column` has it.
    """
    if values and all(isinstance(value, str) for value in values):
        return np.asarray(values, dtype=np.str_)
    return as_column(list(values), "names")


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
