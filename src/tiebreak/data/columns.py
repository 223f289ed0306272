# SPDX-License-Identifier: BSD-3-Clause
"""One column of a table (outcomes, names, groups) as a 1-D NumPy array.

NumPy's own conversion has silences that matter here: a list of ``"a"`` and ``1``
becomes two strings, a null among integers turns them into floats. `as_column` keeps
the values as they are, and `missing_rows` knows every spelling of "nothing there".

A long column of text is numbered while it is read (`TextColumn`), so that nothing after
it has to look at every row again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.distinct import (
    SHORT,
    Distinct,
    TextColumn,
    find_distinct,
    loop,
    number_keys,
    plain_values,
)
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
    if isinstance(values, TextColumn):
        return values
    if hasattr(values, "to_numpy"):  # pandas, polars
        text = _read_text(values)
        if text is not None:
            return text
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        column = np.array(values.data, dtype=object)
        column[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        column = np.asarray(values)
    elif isinstance(values, Iterable) and not isinstance(values, _NOT_COLUMNS):
        return _from_objects(list(values), name)
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
    if column.dtype.kind not in "OT":
        return column
    return _from_objects(column.astype(object, copy=False), name)


def _read_text(values: Any) -> TextColumn | None:
    """Read a long text column of a data frame; None for everything else."""
    if len(getattr(values, "shape", ())) != 1 or len(values) < SHORT:
        return None
    if isinstance(values, pl.Series):
        if values.dtype in (pl.Categorical, pl.Enum):
            values = values.cast(pl.String)
        return TextColumn.read(values) if values.dtype == pl.String else None
    if hasattr(values, "cat"):
        return _read_categories(values)
    # pandas calls its own text "str", and nullable text "string".
    if str(getattr(values, "dtype", "")) not in ("str", "string"):
        return None
    try:
        return TextColumn.read(pl.Series("", values, dtype=pl.String))
    except (ImportError, TypeError, UnicodeEncodeError):
        return None  # polars reads pandas by way of pyarrow, if that is there


def _read_categories(values: Any) -> TextColumn | None:
    """Read a categorical column of pandas whose categories are text."""
    categories = values.cat.categories.to_numpy().tolist()
    codes = values.cat.codes.to_numpy()
    if set(map(type, categories)) != {str} or (codes < 0).any():
        return None
    numbers, first = number_keys(codes.astype(np.uint64))
    texts = [categories[code] for code in codes[first]]
    return TextColumn.of(Distinct(numbers, first, texts))


def _from_objects(values: list[Any] | NDArray[Any], name: str) -> NDArray[Any]:
    """Give Python values the NumPy type they have in common, if they have one."""
    kinds = set(map(type, values))
    if kinds == {int} or kinds == {float}:
        with suppress(OverflowError):  # integers beyond 64 bits stay Python integers
            return np.asarray(values, dtype=np.float64 if float in kinds else np.int64)
    if len(values) >= SHORT and kinds <= {str, np.str_}:
        # Half of a surrogate pair is a str in Python, but not in polars.
        with suppress(UnicodeEncodeError):
            text = TextColumn.read(pl.Series("", values, dtype=pl.String))
            if text is not None:
                return text
    if isinstance(values, list):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        values = column
    return _narrow(values, kinds, name)


def _narrow(column: NDArray[Any], kinds: set[type], name: str) -> NDArray[Any]:
    """Give an object column of numbers only its numeric type."""
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
    if isinstance(column, TextColumn) and column.distinct is not None:
        return np.empty(0, dtype=np.intp)
    if kind == "f":
        return np.flatnonzero(np.isnan(column))
    if kind in "mM":
        return np.flatnonzero(np.isnat(column))
    # Most object columns are text throughout, which one look at the types tells.
    if kind == "O" and not set(map(type, column)) <= {str, int, bool}:
        found = [row for row, value in enumerate(column) if _is_missing(value)]
        return np.asarray(found, dtype=np.intp)
    return np.empty(0, dtype=np.intp)


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


def factorize(
    values: NDArray[Any] | Iterable[Hashable],
) -> tuple[NDArray[np.int64], list[Any]]:
    """Give the distinct values numbers in order of first appearance.

    Parameters
    ----------
    values : ndarray of shape (n,) or iterable of hashable
        A column from `as_column`, which is fast, or any n values.

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
    found = find_distinct(values) if isinstance(values, np.ndarray) else loop(values)
    return found.codes, found.values


def as_names(values: Sequence[Any]) -> NDArray[Any]:
    """Make an array of names: text as NumPy text, integers as integers.

    Parameters
    ----------
    values : sequence
        The names.

    Returns
    -------
    ndarray
        Of dtype ``str`` if every name is text, else as `as_column` has it, unless that
        would change a name: text that ends with the character 0, and integers among
        floats that no float can hold, stay objects.
    """
    values = list(values)
    if values and all(issubclass(kind, str) for kind in set(map(type, values))):
        names = np.asarray(values, dtype=np.str_)
        kept = np.strings.str_len(names).sum() == sum(map(len, values))
    else:
        names = as_column(values, "names")
        kept = names.dtype.kind != "f" or names.tolist() == values
    return names if kept else np.asarray(values, dtype=object)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
