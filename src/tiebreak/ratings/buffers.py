# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["append"]


def append(buffer: NDArray[Any], count: int, new: NDArray[Any]) -> NDArray[Any]:
    """Write behind the first rows of a buffer, in a larger one when it is full.

    Parameters
    ----------
    buffer : ndarray of shape (capacity, ...)
        Overwritten from row `count` on.
    count : int
        How many rows of it are in use.
    new : ndarray of shape (n, ...)
        What to write.

    Returns
    -------
    ndarray
        The buffer, or a new one of at least twice its length, so that a row is copied
        about once on average.
    """
    needed = count + len(new)
    kind = np.result_type(buffer, new)
    if needed > len(buffer) or kind != buffer.dtype:
        capacity = max(needed, 2 * len(buffer))
        larger = np.empty((capacity, *buffer.shape[1:]), dtype=kind)
        larger[:count] = buffer[:count]
        buffer = larger
    buffer[count:needed] = new
    return buffer
