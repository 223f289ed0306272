# SPDX-License-Identifier: BSD-3-Clause
"""Which rows of a table of numbers are equal, in one pass over it.

Every row gets a hash of 64 bits, and a table numbers the hashes. Rows are then compared
with the row that stands for them, so that a collision of hashes cannot go unseen; a
dictionary of whole rows takes over if there is one.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tiebreak.data.distinct import loop, number_keys

__all__ = ["number_rows"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def number_rows(values: Floats) -> tuple[Rows, Rows]:
    """Number the distinct rows of a table in order of first appearance.

    Parameters
    ----------
    values : ndarray of float64 of shape (n, p)
        Finite numbers, C-contiguous. 0.0 and -0.0 are equal.

    Returns
    -------
    codes : ndarray of int64 of shape (n,)
        The number of each row.
    first : ndarray of int64 of shape (k,)
        The first row of each of the k numbers, ascending.
    """
    keys = np.empty(len(values), dtype=np.uint64)
    hash_rows(values.view(np.uint64), keys)
    codes, first = number_keys(keys)
    if all_equal(values, codes, first):
        return codes, first
    # Adding zero turns -0.0 into 0.0, whose bytes differ.
    rows = np.ascontiguousarray(values + 0.0)
    found = loop(rows.view(np.dtype((np.void, rows.strides[0]))).ravel().tolist())
    return found.codes, found.first


@njit(cache=True, nogil=True)
def hash_rows(bits: NDArray[np.uint64], keys: NDArray[np.uint64]) -> None:
    """Write a hash of the bits of every row to ``keys``; both zeros count alike."""
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
def all_equal(values: Floats, codes: Rows, first: Rows) -> bool:
    """Whether every row equals the first one of its number."""
    for i in range(len(values)):
        other = first[codes[i]]
        for j in range(values.shape[1]):
            if values[i, j] != values[other, j]:
                return False
    return True
