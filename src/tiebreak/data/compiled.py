# SPDX-License-Identifier: BSD-3-Clause
"""Compiled loops over columns and tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.jit import njit

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def fill_codes(
    keys: Keys,
    row: int,
    start: int,
    known: Keys,
    first: Ints,
    table: NDArray[np.int32],
    shift: np.uint64,
    codes: Ints,
) -> tuple[int, int]:
    """Number keys from a row on; gives the row where ``known`` is full, and the count.

    Row 0 is row ``start`` of ``codes``. ``first[0]`` is the count on entry, and then
    ``known[i]`` and ``first[i + 1]`` are the key and the first row of number i.
    """
    last, count = len(table) - 1, first[0]
    while row < len(keys):
        key = keys[row]
        place = _place(key, shift)
        while table[place] >= 0 and known[table[place]] != key:
            place = (place + 1) & last
        if table[place] < 0:
            if count == len(known):
                break
            table[place] = count
            known[count] = key
            count += 1
            first[count] = start + row
        codes[start + row] = table[place]
        row += 1
    first[0] = count
    return row, count


@njit(cache=True, nogil=True)
def fill_table(known: Keys, table: NDArray[np.int32], shift: np.uint64) -> None:
    """Enter keys, all different, into an empty table (-1 everywhere)."""
    for number in range(len(known)):
        place = _place(known[number], shift)
        while table[place] >= 0:
            place = (place + 1) & (len(table) - 1)
        table[place] = number


@njit(cache=True, nogil=True)
def _place(key: np.uint64, shift: np.uint64) -> np.int64:
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> shift)


@njit(cache=True, nogil=True)
def hash_rows(bits: NDArray[np.uint64], keys: NDArray[np.uint64]) -> None:
    """Write a hash of the bits of every row to ``keys``; both zeros count as equal."""
    minus_zero = np.uint64(1) << np.uint64(63)
    factor, shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
    for i in range(len(bits)):
        key = np.uint64(0)
        for j in range(bits.shape[1]):
            word = bits[i, j]
            if word == minus_zero:
                word = np.uint64(0)
            key = (key ^ word) * factor
            key ^= key >> shift
        keys[i] = key


@njit(cache=True, nogil=True)
def all_equal(values: NDArray[np.float64], codes: Ints, first: Ints) -> bool:
    """Whether every row equals the first one of its number."""
    for i in range(len(values)):
        other = first[codes[i]]
        for j in range(values.shape[1]):
            if values[i, j] != values[other, j]:
                return False
    return True
