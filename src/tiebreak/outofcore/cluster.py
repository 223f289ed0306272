# SPDX-License-Identifier: BSD-3-Clause
"""Partitions that workers of a Dask cluster hold.

Every pass is a task per partition and, of many, a tree of additions; the point goes
out once and vectors of its size come back. A partition that a lost worker held is read
and built again by another one, from the same file or Dask collection, and since work is
a pure function the result is the same.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tiebreak.data.threads import single_thread
from tiebreak.outofcore.partitions import (
    KEPT_SHARE,
    Build,
    LocalPartitions,
    Partitions,
    Work,
    add_results,
    current,
    read_partition,
)
from tiebreak.outofcore.sources import PartitionedPairs, PartitionedTable

# So many results are added here; of more, workers add so many at a time.
_FAN_IN = 32
# How often workers are looked at while they work, and how long they may be stuck.
_LOOK, _PATIENCE = 5.0, 30.0
_PAUSE = 0.3  # seconds between two counts of what the workers have read
_READING = ("_build_partition-", "_read_and_work-")  # tasks that begin with reading

_MORE_MEMORY = (
    "Give the workers more memory or fewer threads each, cut the data into more and "
    "smaller partitions, or say running(keep=False), which holds only the partitions "
    "at work."
)


class ClusterError(RuntimeError):
    """The cluster could not do its work."""


def active_client() -> Any:
    """Return the active client of Dask, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


class DaskPartitions:
    """Partitions held by the workers of a cluster; ``build`` must be picklable.

    ``keep``: whether they stay in the memory of the workers; None: while they fit.
    """

    def __init__(
        self,
        client: Any,
        readers: Sequence[Any],
        labels: Sequence[str],
        build: Build,
        keep: bool | None = None,
    ) -> None:
        self.labels = labels
        self._client, self._readers = client, readers
        # It may hold a table of items, which then goes to a worker once.
        [self._build] = self._start([_delay(_same, build)])
        self._built: list[Any] | None = None
        if self._fits() if keep is None else keep:
            tasks = [_delay(_build_partition, self._build, one) for one in readers]
            self._built = self._start(tasks)

    def each(
        self, work: Work, *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return what work returns for every partition, in their order."""
        return self._wait(self._tasks(work, arguments, own))

    def sum(self, work: Work, *arguments: Any) -> tuple[Any, ...]:
        """Return the sum of what work returns, entry by entry."""
        tasks = self._tasks(work, arguments)
        while len(tasks) > _FAN_IN:
            tasks = [
                _delay(add_results, *tasks[first : first + _FAN_IN])
                for first in range(0, len(tasks), _FAN_IN)
            ]
        return add_results(*self._wait(tasks))

    def close(self) -> None:
        """Let go of the partitions."""
        self._built = None

    def _tasks(
        self, work: Work, arguments: tuple[Any, ...], own: Sequence[Any] | None = None
    ) -> list[Any]:
        # An argument is a task of its own: it goes to a worker once, and is there
        # again if that worker is lost.
        shared = [_delay(_same, argument) for argument in arguments]
        last = [()] * len(self._readers) if own is None else [(x,) for x in own]
        begin: tuple[Any, ...] = (_read_and_work, work, self._build)
        if self._built is not None:
            begin = (_work_on, work)
        sources = self._readers if self._built is None else self._built
        both = zip(sources, last, strict=True)
        return [_delay(*begin, source, *shared, *mine) for source, mine in both]

    def _start(self, tasks: list[Any]) -> list[Any]:
        # All in one message: one for each would take ten times as long.
        compute = functools.partial(self._client.compute, optimize_graph=False)
        started: list[Any] = _guarded(self._client, compute, tasks)
        return started

    def _wait(self, tasks: list[Any]) -> list[Any]:
        try:
            started = self._start(tasks)
            _guarded(self._client, self._watch, started)
            results: list[Any] = _guarded(self._client, self._client.gather, started)
        except BaseException:
            self._built = None  # what is left of the tasks ends with their names
            raise
        return results

    def _watch(self, started: list[Any]) -> None:
        """Wait for tasks, but not for workers that have stopped for good."""
        # A worker whose memory is nearly full takes no more tasks until it has less to
        # hold; where all are like that, nothing happens any more.
        from distributed import wait

        full_since: float | None = None
        while True:
            try:
                # Which asks the active client, and that may be another one.
                with self._client.as_current():
                    wait(started, timeout=_LOOK)
            except TimeoutError:
                workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
                full = workers and all(w["status"] == "paused" for w in workers)
                if not full:
                    full_since = None
                elif full_since is None:
                    full_since = time.monotonic()
                elif time.monotonic() - full_since > _PATIENCE:
                    raise ClusterError(
                        f"The memory of all {len(workers)} worker(s) is nearly full, "
                        f"and has been for {_PATIENCE:g} seconds, so that they take no "
                        f"more work. {_MORE_MEMORY}"
                    ) from None
            else:
                return

    def _fits(self) -> bool:
        """Return whether all partitions fit, judging by the first one."""
        [size] = self._wait([_delay(_size_of, self._build, self._readers[0])])
        size *= len(self._readers)
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        room = sum(worker["memory_limit"] or float("inf") for worker in workers)
        return bool(size <= KEPT_SHARE * room)


def _delay(function: Callable[..., Any], *arguments: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False, traverse=False)(*arguments)


def _build_partition(build: Build, reader: Any) -> Any:
    with single_thread():
        return build(read_partition(reader))


def _size_of(build: Build, reader: Any) -> int:
    return sys.getsizeof(_build_partition(build, reader))


def _work_on(work: Work, part: Any, *arguments: Any) -> Any:
    # The threads of a worker are tasks already.
    with single_thread():
        return work(part, *arguments)


def _read_and_work(work: Work, build: Build, reader: Any, *arguments: Any) -> Any:
    return _work_on(work, _build_partition(build, reader), *arguments)


def _same(value: Any) -> Any:
    return value


def _guarded(client: Any, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call, and turn the errors of a cluster into a `ClusterError`."""
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        return call(*arguments)
    except KilledWorker as error:
        raise ClusterError(
            f"Workers died again and again over the same partition ({error.task}), as "
            f"they do when they run out of memory. {_MORE_MEMORY}"
        ) from error
    except MemoryError as error:
        raise ClusterError(
            f"A partition is too large for a worker: {error} {_MORE_MEMORY}"
        ) from error
    except ModuleNotFoundError as error:
        raise ClusterError(
            f"A worker cannot import {error.name!r}. Install the same version of "
            "tiebreak on the workers as here."
        ) from error
    except ClusterError:
        raise
    except Exception as error:
        lost = isinstance(error, FutureCancelledError | CommClosedError)
        if not lost and client.status == "running":
            raise  # what a worker says of its partition
        raise ClusterError(
            "The scheduler of the cluster went away in the middle of the work. Start "
            "it again and repeat the call."
        ) from error


def open_partitions(
    data: PartitionedTable | PartitionedPairs, build: Build, **roles: Any
) -> Partitions:
    """Open partitions on the cluster that is there, else in this process."""
    readers, labels = data.readers(**roles)
    settings = current()
    client = settings.client if settings.client is not None else active_client()
    given = readers, labels, _Labeled(build), settings.keep
    return LocalPartitions(*given) if client is None else DaskPartitions(client, *given)


@dataclass(frozen=True)
class _Labeled:
    """Builds a partition, and names it in errors."""

    build: Build

    def __call__(self, columns: dict[str, Any]) -> Any:
        label = columns.pop("label")
        try:
            return self.build(columns)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: {error}") from error


@contextmanager
def watched(
    client: Any, n_files: int, progress: Callable[[str], None]
) -> Iterator[None]:
    """Report how many files the workers have read, while a block waits for them."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_PAUSE):
            n_read = min(_count_read(client), n_files)
            progress(f"the workers have read {n_read:,} of {n_files:,} files")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _count_read(client: Any) -> int:
    """Return the number of finished tasks that began with reading a file."""
    with suppress(RuntimeError):  # the tasks may change while they are counted
        return sum(
            state.status == "finished"
            for key, state in list(client.futures.items())
            if any(word in str(key) for word in _READING)
        )
    return 0
