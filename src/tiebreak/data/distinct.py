# SPDX-License-Identifier: BSD-3-Clause
"""The distinct values of a column, numbered in order of first appearance.

The definition is the loop over a dictionary in `loop`: values are the same when
Python says so (``1``, ``1.0`` and ``True`` are), and the first of them stands for all.
Long columns of one type do not need it. Their values become 64-bit keys, the numbers
themselves or hashes of text, and a table numbers the keys in one compiled pass. Text
is then compared with the text that stands for it, so a collision of hashes cannot go
unseen; the loop takes over if there is one.

Of polars, only operations of a single Series are used: those on frames (``over``,
``group_by``, ``join``) wait for threads, which a forked process does not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "SHORT",
    "Distinct",
    "TextColumn",
    "find_distinct",
    "loop",
    "number_keys",
    "plain_values",
]

SHORT = 1 << 15
"""Columns below this length take the loop: there is nothing to gain."""


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column.

    Attributes
    ----------
    codes : ndarray of int64 of shape (n,)
        The number of each value, from 0 in order of first appearance.
    first : ndarray of int64 of shape (k,)
        The row in which each distinct value appears first, ascending.
    values : list of length k
        The distinct values; value i of the column equals ``values[codes[i]]``.
    """

    codes: NDArray[np.int64]
    first: NDArray[np.int64]
    values: list[Any]


class TextColumn(np.ndarray):
    """An object array of text that knows its distinct values.

    What is taken or computed from it is an object array that does not.

    Attributes
    ----------
    distinct : Distinct or None
        The distinct values, when this is a column as `TextColumn.of` made it.
    """

    distinct: Distinct | None

    def __array_finalize__(self, parent: Any) -> None:
        self.distinct = None

    @classmethod
    def of(cls, distinct: Distinct) -> TextColumn:
        """Make the column that has these distinct values.

        Parameters
        ----------
        distinct : Distinct
            Codes, first rows and values, all of them text.

        Returns
        -------
        TextColumn of shape (n,)
            Read-only. Equal texts are one object, so that little memory is used.
        """
        values = np.array(distinct.values, dtype=object)
        column = values[distinct.codes].view(cls)
        column.distinct = distinct
        column.flags.writeable = False  # else the two could come to differ
        return column

    @classmethod
    def read(cls, series: pl.Series) -> TextColumn | None:
        """Make a column from text as polars holds it.

        Parameters
        ----------
        series : polars.Series
            Of type String.

        Returns
        -------
        TextColumn or None
            None if a value is missing or two texts have the same hash.
        """
        if series.null_count():
            return None
        codes, first = number_keys(series.hash().to_numpy())
        kept = series.gather(first)
        if not (kept.gather(codes) == series).all():
            return None
        return cls.of(Distinct(codes, first, kept.to_list()))


def find_distinct(column: NDArray[Any]) -> Distinct:
    """Number the distinct values of a column in order of first appearance.

    Parameters
    ----------
    column : ndarray of shape (n,)
        A column from `as_column`.

    Returns
    -------
    Distinct
        Exactly what a loop over ``plain_values(column)`` with a dictionary gives.
    """
    if isinstance(column, TextColumn) and column.distinct is not None:
        return column.distinct
    found = None
    if len(column) >= SHORT:
        found = _by_words(column) if column.dtype.kind == "U" else _by_value(column)
    return loop(plain_values(column)) if found is None else found


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


def loop(values: Iterable[Any]) -> Distinct:
    """Number values with a dictionary, one by one.

    Parameters
    ----------
    values : iterable of hashable
        The n values.

    Returns
    -------
    Distinct
    """
    seen: dict[Any, int] = {}
    codes = np.asarray(
        [seen.setdefault(value, len(seen)) for value in values], np.int64
    )
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
    width = np.full(words.shape[1], 0x9E3779B97F4A7C15, dtype=np.uint64)
    codes, first = number_keys(np.einsum("ij,j->i", words, np.cumprod(width)))
    kept = words[first]
    if not np.array_equal(kept[codes], words):
        return None
    return Distinct(codes, first, column[first].tolist())


def number_keys(
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number keys in order of first appearance.

    Parameters
    ----------
    keys : ndarray of uint64 of shape (n,)
        Any numbers of 64 bits.

    Returns
    -------
    codes : ndarray of int64 of shape (n,)
        The number of each key.
    first : ndarray of int64 of shape (k,)
        The first row of each of the k distinct keys, ascending.
    """
    n = len(keys)
    codes, first = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    # One layout, and writable as polars' arrays are not, so one compilation.
    keys = np.require(keys, requirements=["C", "W"])
    largest = int(keys.max(initial=0))
    if largest < n:
        # Small numbers, such as the codes of categories, need no hashing.
        table = np.full(largest + 1, -1, dtype=np.int64)
        count = fill_codes_directly(keys, table, codes, first)
    else:
        bits = max(1, (2 * n).bit_length())
        table = np.full(1 << bits, -1, dtype=np.int64)
        count = fill_codes(keys, table, np.uint64(64 - bits), codes, first)
    return codes, first[:count].copy()


@njit(cache=True, nogil=True)
def fill_codes_directly(
    keys: NDArray[np.uint64],
    table: NDArray[np.int64],
    codes: NDArray[np.int64],
    first: NDArray[np.int64],
) -> int:
    """Number keys that are places of `table`, which holds -1 on entry.

    On exit ``codes[row]`` is the number of ``keys[row]``, and ``first[code]`` the row
    that had this number first; the count of distinct keys is returned.
    """
    count = 0
    for row in range(len(keys)):
        place = keys[row]
        if table[place] < 0:
            table[place] = count
            first[count] = row
            count += 1
        codes[row] = table[place]
    return count


@njit(cache=True, nogil=True)
def fill_codes(
    keys: NDArray[np.uint64],
    table: NDArray[np.int64],
    shift: np.uint64,
    codes: NDArray[np.int64],
    first: NDArray[np.int64],
) -> int:
    """Number keys by a hash table with linear probing.

    On entry `table` holds -1 in its 2^(64 - shift) places, more than there are keys.
    On exit ``codes[row]`` is the number of ``keys[row]``, and ``first[code]`` the row
    that had this number first; the count of distinct keys is returned.
    """
    last = len(table) - 1
    count = 0
    for row in range(len(keys)):
        key = keys[row]
        mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        place = np.int64(mixed >> shift)
        while table[place] >= 0 and keys[first[table[place]]] != key:
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = count
            first[count] = row
            count += 1
        codes[row] = table[place]
    return count
