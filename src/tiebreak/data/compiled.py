# SPDX-License-Identifier: BSD-3-Clause
"""Compiled loops over long columns and tables.

They are imported when there is much to do: the compiler takes longer to load than a
few thousand rows take without it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.jit import njit

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def fill_codes_directly(keys: Keys, table: Ints, codes: Ints, first: Ints) -> int:
    """Number keys, places of `table` (-1 on entry), in codes, first; give the count."""
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
    keys: Keys, table: Ints, shift: np.uint64, codes: Ints, first: Ints
) -> int:
    """As `fill_codes_directly`, by hashing into 2^(64 - shift) > len(keys) places."""
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


@njit(cache=True, nogil=True)
def mark_codes(codes, used):  # type: ignore[no-untyped-def]
    """Mark the codes that occur, in place; several times as fast as indexing."""
    for i in range(len(codes)):
        used[codes[i]] = True
