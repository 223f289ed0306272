# SPDX-License-Identifier: BSD-3-Clause
"""One column of a table (outcomes, names, groups, periods) as a 1-D NumPy array.

NumPy turns a list of ``"a"`` and ``1`` into strings; `as_column` keeps values as they
are. Distinct values are numbered in order of first appearance, and equal when Python
says so (``1``, ``1.0`` and ``True`` are).

Of polars, only operations of a single Series are used, which start no threads: a forked
process would wait for them without end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.arrays import Codes
from tiebreak.data.messages import Describe, list_rows, refuse_rows

# Columns below this length take the dictionary: there is nothing to gain.
SHORT = 1 << 15


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column."""

    codes: Codes  # (n,) the number of each value, from 0 in order of first appearance
    first: Codes  # (k,) the row in which each distinct value appears first, ascending
    values: list[Any]  # value i of the column equals values[codes[i]]


class TextColumn(np.ndarray):
    """An object array of text with its distinct values; slices do not have them."""

    distinct: Distinct | None  # when this is a column as `TextColumn.of` made it

    def __array_finalize__(self, parent: Any) -> None:
        self.distinct = None

    @classmethod
    def of(cls, distinct: Distinct) -> TextColumn:
        """Make the read-only column of these values."""
        values = np.array(distinct.values, dtype=object)
        column = values[distinct.codes].view(cls)
        column.distinct = distinct
        column.flags.writeable = False  # else the two could come to differ
        return column

    @classmethod
    def read(cls, values: Any) -> TextColumn | None:
        """Number text by polars; None if a value is missing or not text."""
        try:
            text = pl.Series("", values, dtype=pl.String)
        except (ImportError, TypeError, UnicodeEncodeError):
            # pandas needs pyarrow here; half of a surrogate pair is a str in Python.
            return None
        if text.null_count():
            return None
        first = text.arg_unique()
        distinct = text.gather(first)
        codes = text.cast(pl.Enum(distinct)).to_physical().to_numpy()
        rows = first.to_numpy().astype(np.int64)
        return cls.of(Distinct(codes.astype(np.int64), rows, distinct.to_list()))


def take_rows(column: NDArray[Any], rows: Any) -> NDArray[Any]:
    """Take some rows of a column; text keeps its distinct values."""
    known = column.distinct if isinstance(column, TextColumn) else None
    if known is None:
        return column[rows]
    part = known.codes[rows]
    codes, first = number_keys(part)
    values = [known.values[code] for code in part[first].tolist()]
    return TextColumn.of(Distinct(codes, first, values))


def find_distinct(column: NDArray[Any]) -> Distinct:
    """Number the distinct values of a column in order of first appearance."""
    if isinstance(column, TextColumn) and column.distinct is not None:
        return column.distinct
    if len(column) >= SHORT and column.dtype.kind == "U":
        text = TextColumn.read(column)
        if text is not None and text.distinct is not None:
            return text.distinct
    if len(column) >= SHORT and column.dtype.kind in "biufmM":
        codes, first = number_keys(column)
        return Distinct(codes, first, plain_values(column[first]))
    return factorize_with_dict(plain_values(column))


def plain_values(column: NDArray[Any]) -> list[Any]:
    """List the values of a column as Python values, dates as NumPy dates."""
    # tolist() turns dates of nanosecond precision into bare integers.
    return list(column) if column.dtype.kind in "mM" else column.tolist()


def factorize_with_dict(values: Iterable[Any]) -> Distinct:
    """Number values with a dictionary, one by one."""
    seen: dict[Any, int] = {}
    numbers = [seen.setdefault(value, len(seen)) for value in values]
    codes = np.asarray(numbers, np.int64)
    # A value is new where its number is higher than all before it.
    highest = np.maximum.accumulate(codes)
    first = np.flatnonzero(np.diff(highest, prepend=-1))
    return Distinct(codes, first.astype(np.int64, copy=False), list(seen))


def row_slices(n: int, size: int = 1 << 16) -> Iterator[slice]:
    """Cut n rows into slices that fit the cache."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def number_keys(keys: NDArray[Any]) -> tuple[Codes, Codes]:
    """Return the number of each key, and the first row of each number."""
    rows, span = np.arange(len(keys)), 0
    if len(keys) and keys.dtype.kind in "iu":
        span = int(keys.max()) - int(keys.min()) + 1
    if 0 < span <= 4 * len(keys):
        place = keys.astype(np.int64) - keys.min().astype(np.int64)
        row_of = np.empty(span, dtype=np.int64)
        row_of[place[::-1]] = rows[::-1]  # the first row of a key is written last
        first = row_of[place]
    else:
        _, firsts, inverse = np.unique(
            keys, return_index=True, return_inverse=True, equal_nan=False
        )
        first = firsts[inverse]
    is_first = first == rows
    return (np.cumsum(is_first) - 1)[first], np.flatnonzero(is_first)


_NESTED = (list, tuple, np.ndarray)
_NOT_COLUMNS = (str, bytes, dict, set, frozenset)
# Columns of text, by the names that polars and pandas have for them.
_TEXT_TYPES = ("String", "Categorical", "Enum", "str", "string")
# Units of dates that polars has; of coarser ones, the next finer of these.
_DATE_UNITS = dict.fromkeys("YMWD", "D") | dict.fromkeys([*"hms", "ms"], "ms")
_DATE_UNITS["ns"] = "ns"


def as_column(values: Any, name: str) -> NDArray[Any]:
    """Turn a list, NumPy array, pandas or polars column into a 1-D array."""
    if isinstance(values, TextColumn):
        return values
    if hasattr(values, "to_numpy"):  # pandas, polars
        kind = str(getattr(values, "dtype", "")).partition("(")[0]
        if kind in _TEXT_TYPES and len(values) >= SHORT:
            text = TextColumn.read(values)
            if text is not None:
                return text
        if kind.startswith("period["):  # of pandas
            values = values.astype("datetime64[us]")
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        column = np.array(values.data, dtype=object)
        column[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        column = np.asarray(values)
    elif isinstance(values, Iterable) and not isinstance(values, _NOT_COLUMNS):
        values = values if isinstance(values, list) else list(values)
        return _from_objects(values, name)
    else:
        raise TypeError(
            f"{name} must be a column, got {type(values).__name__}: {values!r:.60}."
        )
    if column.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {column.shape}.")
    if column.dtype.kind == "M":
        unit = np.datetime_data(column.dtype)[0]
        return column.astype(f"datetime64[{_DATE_UNITS.get(unit, 'us')}]", copy=False)
    if column.dtype.kind not in "OT":
        return column
    return _from_objects(column.astype(object, copy=False), name)


def as_column_of(
    values: Any, name: str, n_rows: int, *, rows: str = "rows"
) -> NDArray[Any]:
    """As `as_column`, with exactly `n_rows` values."""
    column = as_column(values, name)
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} values but there are {n_rows} {rows}."
        )
    return column


def _from_objects(values: list[Any] | NDArray[Any], name: str) -> NDArray[Any]:
    """Give Python values their common NumPy type, if any."""
    kinds = set(map(type, values))
    if len(values) >= SHORT and kinds <= {str, np.str_}:
        text = TextColumn.read(values)
        if text is not None:
            return text
    if any(issubclass(kind, _NESTED) for kind in kinds):
        rows = [row for row, value in enumerate(values) if isinstance(value, _NESTED)]
        refuse_rows(rows, values, f"{name} must have one dimension")
    column = np.empty(len(values), dtype=object)
    column[:] = values
    flags = [issubclass(kind, bool | np.bool_) for kind in kinds]
    if any(flags) or not kinds:
        return column.astype(bool) if kinds and all(flags) else column
    with suppress(OverflowError):  # integers beyond 64 bits stay Python integers
        if all(issubclass(kind, Integral) for kind in kinds):
            return column.astype(np.int64)
        if all(issubclass(kind, Real) for kind in kinds):
            return column.astype(np.float64)
    return column


def missing_rows(column: NDArray[Any]) -> NDArray[np.intp]:
    """Find the rows that hold nothing (None, NaN, NA, NaT), ascending."""
    kind = column.dtype.kind
    if isinstance(column, TextColumn) and column.distinct is not None:
        return np.empty(0, dtype=np.intp)
    if kind == "f":
        return np.flatnonzero(np.isnan(column))
    if kind in "mM":
        return np.flatnonzero(np.isnat(column))
    # Most object columns are text throughout, which one look at the types shows.
    if kind == "O" and not set(map(type, column)) <= {str, int, bool}:
        rows = [row for row, value in enumerate(column) if is_missing(value)]
        return np.asarray(rows, dtype=np.intp)
    return np.empty(0, dtype=np.intp)


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, NA or NaT."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refuse_missing(
    column: NDArray[Any],
    name: str,
    hint: str = "Remove these rows or fill them in.",
    describe: Describe = list_rows,
) -> None:
    """Raise a ValueError that names the rows that hold nothing."""
    if len(rows := missing_rows(column)):
        where = describe(rows, None)
        raise ValueError(
            f"{name} has {len(rows)} missing value(s) (None or NaN): {where}. {hint}"
        )


def factorize(values: NDArray[Any] | Iterable[Hashable]) -> tuple[Codes, list[Any]]:
    """Return the number of each value, and the distinct values."""
    number = find_distinct if isinstance(values, np.ndarray) else factorize_with_dict
    distinct = number(values)  # type: ignore[arg-type]
    return distinct.codes, distinct.values


def as_names(values: Sequence[Any]) -> NDArray[Any]:
    """Make an array of names: NumPy text, else as `as_column`."""
    # What would change a name stays an object: text that ends with the character 0, and
    # integers among floats that no float can hold.
    values = list(values)
    if values and all(issubclass(kind, str) for kind in set(map(type, values))):
        names = np.asarray(values, dtype=np.str_)
        kept = np.strings.str_len(names).sum() == sum(map(len, values))
    else:
        names = as_column(values, "names")
        kept = names.dtype.kind != "f" or names.tolist() == values
    return names if kept else np.asarray(values, dtype=object)


_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad\u200e\u200f"))
_WHOLE = re.compile(r"(\d+)(?:\.0+)?")


def name_key(name: Any, whole: bool = False) -> Any:
    """Return what spellings of one name share.

    Text is composed (NFC), without blanks around it and invisible characters; bytes are
    text; among ``whole`` numbers 7.0 is 7.
    """
    if isinstance(name, bytes):
        name = name.decode("utf-8", "surrogateescape")
    if type(name) not in (str, np.str_):
        return name
    if not name.isascii():
        name = unicodedata.normalize("NFC", name.translate(_INVISIBLE))
    name = name.strip()
    number = _WHOLE.fullmatch(name) if whole else None
    return number[1] if number else name


def are_whole(names: Iterable[Any]) -> bool:
    """Say whether all names spell whole numbers, such as 7 or 7.0."""
    return all(isinstance(n, str) and _WHOLE.fullmatch(n.strip()) for n in names)


def find_spellings(names: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return the distinct names that are spellings of one, by what they share."""
    whole = are_whole(names)
    keys = [name_key(name, whole) for name in names]
    if len(set(keys)) == len(names):
        return {}
    groups: dict[Any, list[Any]] = {}
    for key, name in zip(keys, names, strict=True):
        groups.setdefault(key, []).append(name)
    return {key: group for key, group in groups.items() if len(group) > 1}


@dataclass(frozen=True, eq=False)
class Periods:
    """When rows took place; ``values[place[i]]`` is the period of row i."""

    place: Codes  # (n,) number of the period of each row, 0 for the earliest
    values: list[Any] | NDArray[Any]  # the distinct periods, ascending


def order_periods(period: ArrayLike, n_rows: int) -> Periods:
    """Number the periods of rows in order of time."""
    column = as_column_of(period, "period", n_rows)
    refuse_missing(column, "period")
    if column.dtype.kind in "iufmM":
        times, place = np.unique(column, return_inverse=True)
        return Periods(place, times)
    distinct = find_distinct(column)
    order = sorted(range(len(distinct.values)), key=distinct.values.__getitem__)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Periods(place[distinct.codes], [distinct.values[code] for code in order])


def readable_period(value: Any) -> Any:
    """Format a period: dates as text, without a time at midnight."""
    if isinstance(value, np.datetime64):
        coarser = (value.astype(f"datetime64[{unit}]") for unit in ("D", "m", "s"))
        return str(next((date for date in coarser if date == value), value))
    return value.item() if isinstance(value, np.generic) else value
