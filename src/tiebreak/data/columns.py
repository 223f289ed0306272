# SPDX-License-Identifier: BSD-3-Clause
"""One column of a table (outcomes, names, groups, periods) as a 1-D NumPy array.

NumPy turns a list of ``"a"`` and ``1`` into strings, and integers next to a null into
floats; `as_column` keeps values as they are. Distinct values are numbered in order of
first appearance; they are equal when Python says so (``1``, ``1.0`` and ``True`` are).
Values of long columns become 64-bit keys, the numbers themselves or hashes of text,
which a table numbers in one compiled pass. Text is hashed and then compared with the
text that stands for it block by block, so that ten million names need no more memory
than their numbers; the loop over a dictionary takes over if hashes collide.

Of polars, only operations of a single Series are used: those on frames (``over``,
``group_by``, ``join``) wait for threads, which a forked process does not have.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.compiled import fill_codes, fill_table
from tiebreak.data.messages import list_rows

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

# Columns below this length take the loop: there is nothing to gain.
SHORT = 1 << 15
_LISTED = 100_000  # more distinct periods than this are not kept as a list


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column."""

    codes: Ints  # (n,) the number of each value, from 0 in order of first appearance
    first: Ints  # (k,) the row in which each distinct value appears first, ascending
    values: list[Any]  # value i of the column equals values[codes[i]]


class TextColumn(np.ndarray):
    """An object array of text that knows its distinct values; parts of it do not."""

    distinct: Distinct | None  # when this is a column as `TextColumn.of` made it

    def __array_finalize__(self, parent: Any) -> None:
        self.distinct = None

    @classmethod
    def of(cls, distinct: Distinct) -> TextColumn:
        """Make the read-only column of these values; equal texts are one object."""
        values = np.array(distinct.values, dtype=object)
        column = values[distinct.codes].view(cls)
        column.distinct = distinct
        column.flags.writeable = False  # else the two could come to differ
        return column

    @classmethod
    def read(cls, text: pl.Series | list[str] | NDArray[Any]) -> TextColumn | None:
        """Make a column from text, block by block; None if two texts have one hash."""
        numbering, values = Numbering(len(text)), pl.Series("", [], dtype=pl.String)
        for rows in blocks(len(text)):
            block = text[rows]
            if not isinstance(block, pl.Series):
                block = pl.Series("", list(block), dtype=pl.String)
            if block.null_count():
                return None
            known, first = len(values), numbering.add(block.hash().to_numpy())
            values = values.append(block.gather(first[known:] - rows.start))
            if not (values.gather(numbering.codes[rows]) == block).all():
                return None
        return cls.of(Distinct(numbering.codes, numbering.first, values.to_list()))


def find_distinct(column: NDArray[Any]) -> Distinct:
    """Number the distinct values of a column in order of first appearance."""
    if isinstance(column, TextColumn) and column.distinct is not None:
        return column.distinct
    found = None
    if len(column) >= SHORT:
        found = _by_words(column) if column.dtype.kind == "U" else _by_value(column)
    return loop(plain_values(column)) if found is None else found


def plain_values(column: NDArray[Any]) -> list[Any]:
    """List the values of a column as Python values, dates as NumPy dates."""
    # tolist() turns dates of nanosecond precision into bare integers.
    return list(column) if column.dtype.kind in "mM" else column.tolist()


def loop(values: Iterable[Any]) -> Distinct:
    """Number values with a dictionary, one by one."""
    seen: dict[Any, int] = {}
    numbers = [seen.setdefault(value, len(seen)) for value in values]
    codes = np.asarray(numbers, np.int64)
    # A value is new where its number is higher than all before it.
    highest = np.maximum.accumulate(codes)
    first = np.flatnonzero(np.diff(highest, prepend=-1))
    return Distinct(codes, first.astype(np.int64, copy=False), list(seen))


def _by_value(column: NDArray[Any]) -> Distinct | None:
    """Number values of 64 bits or fewer that are the same when their bits are."""
    kind = column.dtype.kind
    keys: NDArray[Any]
    if kind in "bu":
        keys = column.astype(np.uint64)
    elif kind == "i":
        keys = column.astype(np.int64)
    elif kind == "f" and column.dtype.itemsize <= 8 and not np.isnan(column).any():
        keys = column.astype(np.float64) + 0.0  # -0.0 becomes 0.0, which it equals
    elif kind in "mM" and not np.isnat(column).any():
        keys = column.astype(np.int64)
    else:
        return None
    codes, first = number_keys(keys.view(np.uint64))
    return Distinct(codes, first, plain_values(column[first]))


def _by_words(column: NDArray[Any]) -> Distinct | None:
    """Number text of fixed width; None if two texts have the same hash."""
    native = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("="))
    words = native.view(np.uint32).reshape(len(column), -1)
    # Odd multipliers of the words, from the powers of one odd constant.
    width = np.cumprod(np.full(words.shape[1], 0x9E3779B97F4A7C15, dtype=np.uint64))
    numbering = Numbering(len(column))
    for rows in blocks(len(column)):
        first = numbering.add(np.einsum("ij,j->i", words[rows], width))
        if not (native[first][numbering.codes[rows]] == native[rows]).all():
            return None
    return Distinct(numbering.codes, numbering.first, column[numbering.first].tolist())


def blocks(n: int, size: int = 1 << 16) -> Iterator[slice]:
    """Cut n rows into slices, so that what a step makes of one stays in the cache."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def number_keys(keys: Keys) -> tuple[Ints, Ints]:
    """Return the number of each key, and the first row of each number, ascending."""
    numbering = Numbering(len(keys))
    return numbering.codes, numbering.add(keys)


class Numbering:
    """Numbers of keys that come block by block, in order of first appearance.

    The table has two to eight places for each different key, however many rows there
    are, so that it stays in the cache where names are few.
    """

    def __init__(self, n: int) -> None:
        self.codes = np.empty(n, dtype=np.int64)  # (n,) the numbers of all keys
        self.first = np.empty(0, dtype=np.int64)  # the first row of each number
        self._done, self._bits = 0, 10

    def add(self, keys: Keys) -> Ints:
        """Number the next keys; returns the first row of each number until now."""
        start, self._done = self._done, self._done + len(keys)
        if not start:
            self._known, self._first = np.empty(0, np.uint64), np.zeros(1, np.int64)
            self._grow()
        # One layout, and writable as polars' arrays are not, so one compilation.
        keys = np.require(keys, requirements=["C", "W"])
        table = self._known, self._first, self._table, np.uint64(64 - self._bits)
        row, count = fill_codes(keys, 0, start, *table, self.codes)
        while row < len(keys):
            self._grow()
            table = self._known, self._first, self._table, np.uint64(64 - self._bits)
            row, count = fill_codes(keys, row, start, *table, self.codes)
        self.first = self._first[1 : count + 1].copy()
        return self.first

    def _grow(self) -> None:
        """Make room for four times as many keys."""
        self._bits += 2
        known, size = self._known, 1 << self._bits
        self._table = np.full(size, -1, dtype=np.int32)
        fill_table(known, self._table, np.uint64(64 - self._bits))
        self._known = np.resize(known, size // 2)
        self._first = np.resize(self._first, size // 2 + 1)


_NESTED = (list, tuple, np.ndarray)
_NOT_COLUMNS = (str, bytes, dict, set, frozenset)


def as_column(values: Any, name: str) -> NDArray[Any]:
    """Turn a list, NumPy array, pandas or polars column into a 1-D array."""
    if isinstance(values, TextColumn):
        return values
    if hasattr(values, "to_numpy"):  # pandas, polars
        if (text := _read_text(values)) is not None:
            return text
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
            f"{name} must be a column (a list, a 1-D array, a pandas or polars "
            f"Series), got {type(values).__name__}: {repr(values)[:60]}."
        )
    if column.ndim != 1:
        raise ValueError(
            f"{name} must have one dimension, got shape {column.shape}. "
            f"Try `{name}.ravel()` if it holds one value per row."
        )
    if column.dtype.kind not in "OT":
        return column
    return _from_objects(column.astype(object, copy=False), name)


def as_column_of(
    values: Any, name: str, n_rows: int, *, what: str = "values", rows: str = "rows"
) -> NDArray[Any]:
    """As `as_column`, for a column that must have `n_rows` values."""
    column = as_column(values, name)
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} {what} but there are {n_rows} {rows}; they must "
            "be as many."
        )
    return column


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
            text = TextColumn.read(values)
            if text is not None:
                return text
    column = np.empty(len(values), dtype=object) if isinstance(values, list) else values
    if column is not values:
        column[:] = values
    if any(issubclass(kind, _NESTED) for kind in kinds):
        rows = [row for row, value in enumerate(column) if isinstance(value, _NESTED)]
        raise ValueError(
            f"{name} must have one dimension, got nested values: "
            f"{list_rows(rows, [column[row] for row in rows[:5]])}."
        )
    flags = [issubclass(kind, bool | np.bool_) for kind in kinds]
    if any(flags) or not kinds:
        return column.astype(bool) if kinds and all(flags) else column
    try:
        if all(issubclass(kind, Integral) for kind in kinds):
            return column.astype(np.int64)
        if all(issubclass(kind, Real) for kind in kinds):
            return column.astype(np.float64)
    except OverflowError:
        pass  # integers beyond 64 bits stay Python integers
    return column


def missing_rows(column: NDArray[Any]) -> NDArray[np.intp]:
    """Find the rows of a column that hold nothing (None, NaN, NA, NaT), ascending."""
    kind = column.dtype.kind
    if isinstance(column, TextColumn) and column.distinct is not None:
        return np.empty(0, dtype=np.intp)
    if kind == "f":
        return np.flatnonzero(np.isnan(column))
    if kind in "mM":
        return np.flatnonzero(np.isnat(column))
    # Most object columns are text throughout, which one look at the types shows.
    if kind == "O" and not set(map(type, column)) <= {str, int, bool}:
        found = [row for row, value in enumerate(column) if _is_missing(value)]
        return np.asarray(found, dtype=np.intp)
    return np.empty(0, dtype=np.intp)


def _is_missing(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refuse_missing(column: NDArray[Any], name: str) -> None:
    """Raise a ValueError that names the rows of a column that hold nothing."""
    if len(rows := missing_rows(column)):
        raise ValueError(
            f"{name} has {len(rows)} missing value(s) (None or NaN): "
            f"{list_rows(rows)}. Every row needs a value; remove these rows or fill "
            "them in."
        )


def factorize(values: NDArray[Any] | Iterable[Hashable]) -> tuple[Ints, list[Any]]:
    """Return the number of each value, and the distinct values, as first seen."""
    found = find_distinct(values) if isinstance(values, np.ndarray) else loop(values)
    return found.codes, found.values


def as_names(values: Sequence[Any]) -> NDArray[Any]:
    """Make an array of names: text as NumPy text, else as `as_column` has it."""
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


@dataclass(frozen=True, eq=False)
class Periods:
    """When rows took place; ``values[place[i]]`` is the period of row i."""

    place: Ints  # (n,) number of the period of each row, 0 for the earliest
    values: list[Any] | NDArray[Any]  # the distinct periods, ascending


def order_periods(period: ArrayLike, n_rows: int) -> Periods:
    """Number the periods of rows in order of time."""
    column = as_column_of(period, "period", n_rows)
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
    """Give a period as it is best shown: dates as text, without a time at midnight."""
    if isinstance(value, np.datetime64):
        coarser = (value.astype(f"datetime64[{unit}]") for unit in ("D", "m", "s"))
        return str(next((found for found in coarser if found == value), value))
    return value
