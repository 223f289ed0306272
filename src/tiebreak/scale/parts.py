# SPDX-License-Identifier: BSD-3-Clause
"""Partitions in this process, one after the other.

A partition is *read* (a callable that gives its columns), *built* into a part that
knows how to compute, and asked to *work*. What work gives is a tuple of numbers and
arrays, and sums of these are all that is wanted of many partitions. Work is a pure
function of the partition and its arguments, so that it may be done again elsewhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = ["LocalParts", "Parts", "Work", "add_results", "read_part"]

# A part has these; what is read is its own business.
Columns = dict[str, Any]
Build = Callable[[Columns], Any]
Work = Callable[..., tuple[Any, ...]]

# Partitions are kept while they fill at most this share of the memory there is.
KEPT_SHARE = 0.5


class Parts(Protocol):
    """Partitions that work, wherever they are."""

    labels: Sequence[str]

    def each(
        self, work: Work, *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        """Give what work gives for every partition, in their order.

        Parameters
        ----------
        work : callable
            Is called with a part and the arguments.
        *arguments
            The same for all partitions.
        own : sequence, optional
            A last argument for each partition.

        Returns
        -------
        list
        """
        ...

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Give the sum of what work gives over all partitions, entry by entry."""
        ...

    def close(self) -> None:
        """Let go of the partitions."""
        ...


def add_results(*results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add tuples of numbers and arrays entry by entry, in their order.

    Parameters
    ----------
    *results : tuple
        At least one; all of one length.

    Returns
    -------
    tuple
    """
    total = list(results[0])
    for result in results[1:]:
        total = [a + b for a, b in zip(total, result, strict=True)]
    return tuple(total)


def read_part(reader: Any) -> Columns:
    """Give the columns of a partition; what Dask holds is computed here.

    Parameters
    ----------
    reader : callable or Delayed
        A file, or a task of Dask that gives the columns.

    Returns
    -------
    dict
    """
    if hasattr(reader, "dask"):
        columns: Columns = reader.compute(scheduler="threads")
        return columns
    return reader() if callable(reader) else reader


class LocalParts:
    """Partitions in this process, one after the other.

    Parameters
    ----------
    readers : sequence of callables
        Each gives the columns of a partition.
    labels : sequence of str
        What the partitions are called in messages.
    build : callable
        Makes a part of columns.
    keep : bool or None
        Whether parts stay in memory; None: as many as fit.
    """

    def __init__(
        self,
        readers: Sequence[Any],
        labels: Sequence[str],
        build: Build,
        keep: bool | None = None,
    ) -> None:
        self.labels = labels
        self._readers, self._build = readers, build
        self._kept: dict[int, Any] = {}
        room = {True: float("inf"), False: 0.0, None: KEPT_SHARE * _free_memory()}
        self._room = room[keep]

    def each(
        self, work: Work, *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        """Give what work gives for every partition, in their order."""
        return list(self._work(work, arguments, own))

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Give the sum of what work gives over all partitions, entry by entry."""
        total: tuple[Any, ...] = ()
        for result in self._work(work, arguments):
            total = add_results(total, result) if total else result
        return total

    def close(self) -> None:
        """Let go of the partitions."""
        self._room += sum(map(sys.getsizeof, self._kept.values()))
        self._kept.clear()

    def _work(
        self, work: Work, arguments: tuple[Any, ...], own: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        for number in range(len(self._readers)):
            last = () if own is None else (own[number],)
            yield work(self._part(number), *arguments, *last)

    def _part(self, number: int) -> Any:
        if number in self._kept:
            return self._kept[number]
        part = self._build(read_part(self._readers[number]))
        size = sys.getsizeof(part)
        if size <= self._room:
            self._kept[number] = part
            self._room -= size
        return part


def _free_memory() -> float:
    """Bytes of memory that are free, where the system tells; else a few gigabytes."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 4e9


def n_bytes(*arrays: Any) -> int:
    """Bytes of dense and sparse arrays together.

    Parameters
    ----------
    *arrays : ndarray, sparse array or None

    Returns
    -------
    int
    """
    total = 0
    for array in arrays:
        if isinstance(array, np.ndarray):
            total += array.nbytes
        elif array is not None:
            total += sum(a.nbytes for a in (array.data, array.indices, array.indptr))
    return total
