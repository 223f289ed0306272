# SPDX-License-Identifier: BSD-3-Clause
"""Computing on partitions, in this process or on the workers of a Dask cluster.

A partition is *read* into columns, *built* into an object, and asked to *work*. Work is
a pure function, so that another worker can repeat it where one is lost. It returns a
tuple of numbers and arrays, which are summed over all partitions.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

from tiebreak.data.threads import single_thread

Columns = dict[str, Any]
Build = Callable[[Columns], Any]
Work = Callable[..., Any]

# So many results are added here; of more, workers add so many at a time.
_FAN_IN = 32


def add_results(*results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add tuples of numbers and arrays entry by entry, in their order."""
    return tuple(reduce(add, entries) for entries in zip(*results, strict=True))


def build_partition(build: Build, reader: Any) -> Any:
    """Read and build a partition; an error names it."""
    if hasattr(reader, "dask"):
        columns: Columns = reader.compute(scheduler="threads")
    else:
        columns = reader() if callable(reader) else reader
    label = columns.pop("label")
    try:
        return build(columns)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{label}: {error}") from error


class LocalPartitions:
    """Partitions in this process, one after the other; each may use all threads."""

    def __init__(
        self, readers: Sequence[Any], labels: Sequence[str], build: Build, keep: bool
    ) -> None:
        self.labels = labels
        self._readers, self._build, self._keep = readers, build, keep
        self._kept: dict[int, Any] = {}

    def each(self, work: Work, *arguments: Any) -> list[Any]:
        """Return the results of ``work(partition, *arguments)``, in their order."""
        return [work(partition, *arguments) for partition in self._partitions()]

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Return the sum of the tuples, entry by entry."""
        results = (work(partition, *arguments) for partition in self._partitions())
        return reduce(add_results, results)

    def _partitions(self) -> Iterator[Any]:
        for number, reader in enumerate(self._readers):
            partition = self._kept.get(number)
            if partition is None:
                partition = build_partition(self._build, reader)
            if self._keep:
                self._kept[number] = partition
            yield partition


class DaskPartitions:
    """Partitions held by the workers of a cluster; ``build`` must be picklable."""

    def __init__(
        self,
        client: Any,
        readers: Sequence[Any],
        labels: Sequence[str],
        build: Build,
        keep: bool,
    ) -> None:
        self.labels = labels
        self._client, self._keep = client, keep
        # A build may hold a table of items, which then goes to a worker once.
        [shared] = self._start([_delay(_same, build)])
        self._tasks = [
            _delay(_alone, build_partition, shared, reader) for reader in readers
        ]
        if keep:
            self._tasks = self._start(self._tasks)

    def each(self, work: Work, *arguments: Any) -> list[Any]:
        """Return the results of ``work(partition, *arguments)``, in their order."""
        return self._gather(self._work(work, arguments))

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Return the sum of the tuples, entry by entry."""
        tasks = self._work(work, arguments)
        while len(tasks) > _FAN_IN:
            tasks = [
                _delay(add_results, *tasks[first : first + _FAN_IN])
                for first in range(0, len(tasks), _FAN_IN)
            ]
        return add_results(*self._gather(tasks))

    def _work(self, work: Work, arguments: tuple[Any, ...]) -> list[Any]:
        # An argument is a task of its own: it goes to a worker once, and is there
        # again if that worker is lost.
        shared = [_delay(_same, argument) for argument in arguments]
        return [_delay(_alone, work, task, *shared) for task in self._tasks]

    def _start(self, tasks: list[Any]) -> list[Any]:
        # All in one message: one for each would take ten times as long.
        started: list[Any] = self._client.compute(tasks, optimize_graph=False)
        return started

    def _gather(self, tasks: list[Any]) -> list[Any]:
        results: list[Any] = self._client.gather(self._start(tasks))
        return results


Partitions = LocalPartitions | DaskPartitions


def open_partitions(
    data: Any, build: Build, *, client: Any = None, keep: bool = False, **roles: Any
) -> Partitions:
    """Open the partitions of a table on a cluster, or in this process."""
    readers, labels = data.readers(**roles)
    if client is None:
        return LocalPartitions(readers, labels, build, keep)
    return DaskPartitions(client, readers, labels, build, keep)


def _delay(function: Callable[..., Any], *arguments: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False, traverse=False)(*arguments)


def _same(value: Any) -> Any:
    return value


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    with single_thread():  # the threads of a worker are tasks already
        return function(*arguments)
