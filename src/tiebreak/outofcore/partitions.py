# SPDX-License-Identifier: BSD-3-Clause
"""Work on partitions: in this process, how it runs, and checks across partitions.

A partition is *read* (a callable that gives its columns), *built* into an object that
can compute, and asked to *work*. Work returns a tuple of numbers and arrays, and only
sums of these are needed of many partitions. Work is a pure function of the partition
and its arguments, so that it may be done again elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, Any]
Build = Callable[[Columns], Any]
Work = Callable[..., Any]

# Partitions are kept while they fill at most this share of the memory there is.
KEPT_SHARE = 0.5


class Partitions(Protocol):
    """Partitions that work, wherever they are.

    ``work`` is called with a partition, the arguments and, of ``own``, its own one.
    """

    labels: Sequence[str]

    def each(
        self, work: Work, *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return what work returns for every partition, in their order."""

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Return the sum of the tuples that work returns, entry by entry."""

    def close(self) -> None:
        """Let go of the partitions."""


def add_results(*results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add tuples of numbers and arrays entry by entry, in their order."""
    total = list(results[0])
    for result in results[1:]:
        total = [a + b for a, b in zip(total, result, strict=True)]
    return tuple(total)


def read_partition(reader: Any) -> Columns:
    """Return the columns of a partition; what Dask holds is computed here."""
    if hasattr(reader, "dask"):
        columns: Columns = reader.compute(scheduler="threads")
        return columns
    return reader() if callable(reader) else reader


class LocalPartitions:
    """Partitions in this process, one after the other.

    ``keep``: whether they stay in memory once built; None: as many as fit.
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
        """Return what work returns for every partition, in their order."""
        return list(self._work(work, arguments, own))

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Return the sum of what work returns, entry by entry."""
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
            partition = self._kept.get(number)
            if partition is None:
                partition = self._build(read_partition(self._readers[number]))
                size = sys.getsizeof(partition)
                if size <= self._room:
                    self._kept[number] = partition
                    self._room -= size
            yield work(partition, *arguments, *last)


def _free_memory() -> float:
    """Return the bytes of free memory; a few gigabytes where that is not known."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 4e9


def n_bytes(*arrays: Any) -> int:
    """Return the bytes of dense and sparse arrays together."""
    total = 0
    for array in arrays:
        if isinstance(array, np.ndarray):
            total += array.nbytes
        elif array is not None:
            total += sum(a.nbytes for a in (array.data, array.indices, array.indptr))
    return total


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """What is known after a step of a solver.

    Attributes
    ----------
    number : int
        Number of steps taken.
    value, gap : float
        Value of the objective, and how far it may be above the minimum, as a share.
    x : ndarray
        The point.
    """

    number: int
    value: float
    gap: float
    x: Floats


@dataclass(frozen=True)
class Running:
    """Settings of a fit on data in partitions, as of `running`."""

    client: Any = None
    keep: bool | None = None
    tell: Callable[[Step], None] | None = None


_current: ContextVar[Running] = ContextVar("tiebreak_running")


def current() -> Running:
    """Return the settings that hold here."""
    return _current.get(Running())


@contextmanager
def running(
    *,
    client: Any = None,
    keep: bool | None = None,
    tell: Callable[[Step], None] | None = None,
) -> Iterator[None]:
    """Say how fits on data in partitions run inside a ``with`` block.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster that does the work. Default: the active client of Dask if there is
        one, else this process, one partition after the other.
    keep : bool, optional
        Whether partitions, once read and checked, stay in memory. Default: as many as
        fit in half of the free memory; on a cluster all of them or none, by the size of
        the first. With False every pass reads the data again.
    tell : callable, optional
        Is called with a :class:`Step` after every step, for progress.

    Yields
    ------
    None
        The settings hold inside the block.

    Examples
    --------
    >>> from tiebreak.outofcore import running
    >>> with running(keep=False):
    ...     pass  # model.fit("queries/*.parquet", "grade", qid="query")
    """
    token = _current.set(Running(client, keep, tell))
    try:
        yield
    finally:
        _current.reset(token)


@dataclass(frozen=True, eq=False)
class PartitionFacts:
    """Size, features and counts of a partition."""

    n_rows: int
    n_features: int = 0
    feature_names: tuple[str, ...] | None = None
    n_pairs: int = 0
    n_groups: int = 0
    n_idle_groups: int = 0  # groups without a pair
    total: float = 0.0  # weight of the pairs
    smallest: float = np.inf  # positive weight of a row
    largest: float = 0.0
    keys: NDArray[np.uint64] | None = None  # of the groups, as `group_keys` gives


def group_keys(names: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each name, the same on every machine; 1 and "1" share one."""
    texts = (str(name).encode() for name in names.tolist())
    digests = (hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def check_consistent(
    facts: Sequence[PartitionFacts], labels: Sequence[str]
) -> PartitionFacts:
    """Refuse partitions with different features; return the first that has rows."""
    filled = [number for number, fact in enumerate(facts) if fact.n_rows]
    if not filled:
        raise ValueError(
            f"There are no rows in {len(labels)} partition(s), the first being "
            f"{labels[0]}."
        )
    first = facts[filled[0]]
    for number in filled[1:]:
        other = facts[number]
        same = other.n_features == first.n_features
        if not same or other.feature_names != first.feature_names:
            raise ValueError(
                f"{labels[number]} has other features than {labels[filled[0]]}: "
                f"{_describe(other)} instead of {_describe(first)}. All partitions "
                "must have the same columns, in the same order."
            )
    return first


def _describe(fact: PartitionFacts) -> str:
    if fact.feature_names is None:
        return f"{fact.n_features} columns"
    return ", ".join(fact.feature_names)


def check_groups(facts: Sequence[PartitionFacts], parts: Partitions) -> None:
    """Refuse groups that lie in more than one partition."""
    held = [np.zeros(0, np.uint64) if f.keys is None else f.keys for f in facts]
    keys = np.concatenate(held)
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0)
    if not len(again):
        return
    # Two names may have one number by chance: ask for the names themselves.
    suspects = np.unique(keys[order[again]])
    seen: dict[str, int] = {}
    straddling: dict[str, tuple[int, int]] = {}
    for number, names in enumerate(parts.each(_names_of, suspects)):
        for name in names:
            if name in seen:
                straddling.setdefault(name, (seen[name], number))
            seen.setdefault(name, number)
    if not straddling:
        return
    name, (one, two) = next(iter(straddling.items()))
    raise ValueError(
        f"{len(straddling)} group(s) lie in more than one partition: group {name!r} is "
        f"in {parts.labels[one]} and in {parts.labels[two]}. Items of a group are "
        "compared with each other, so that a group must lie in one partition, and "
        "without qid all rows are one group. tiebreak.outofcore.repartition(source, "
        "folder, qid=...) brings it there."
    )


def _names_of(part: Any, suspects: NDArray[np.uint64]) -> tuple[Any, ...]:
    names = part.group_names
    return tuple(str(name) for name in names[np.isin(group_keys(names), suspects)])


def watch_steps() -> Callable[[Floats, float, float, int], None] | None:
    """Return what the solver is to call after every step; None if nobody asked."""
    tell = current().tell
    if tell is None:
        return None
    return lambda x, value, gap, number: tell(Step(number, value, gap, x))
