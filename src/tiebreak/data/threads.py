# SPDX-License-Identifier: BSD-3-Clause
"""Python threads over blocks, with the BLAS library kept to one thread each.

NumPy releases the interpreter lock inside products and exponentials; a BLAS with its
own threads inside each would make them wait for each other.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes milliseconds, so it is done once.
    return ThreadpoolController()


_lock = threading.RLock()
_own: list[int] = []  # what `n_threads` was before each limit of our own


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread inside a ``with`` block."""
    with _lock:
        _own.append(n_threads())
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        with _lock:
            _own.pop()


def n_threads() -> int:
    """Give the number of threads to use: that of the cores of this process, at most 8.

    ``OMP_NUM_THREADS``, ``NUMBA_NUM_THREADS`` and limits of threadpoolctl lower it.
    """
    with _lock:
        if _own:
            return _own[-1]
        set_for_others = [
            int(first)
            for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
            if (first := os.environ.get(name, "").partition(",")[0].strip()).isdecimal()
        ]
        blas = [
            library.get_num_threads() or 1
            for library in _controller().lib_controllers
            if library.user_api == "blas"
        ]
    return max(1, min(_n_cores(), *set_for_others, *blas, 8))


@cache
def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(
    function: Callable[[Task], Result], tasks: Iterable[Task]
) -> list[Result]:
    """Map a function over tasks in `n_threads` threads; nested calls use one."""
    tasks = list(tasks)
    workers = 1 if getattr(_alone, "now", False) else min(n_threads(), len(tasks))
    with one_blas_thread():
        if workers < 2:
            return list(map(function, tasks))
        return list(_pool(n_threads()).map(function, tasks))


@cache
def _pool(n_workers: int) -> ThreadPoolExecutor:
    # Threads that stay keep their scratch arrays; new ones would fault in every page.
    def start() -> None:
        _alone.now = True  # else tasks could wait for each other without end

    return ThreadPoolExecutor(
        n_workers, thread_name_prefix="tiebreak", initializer=start
    )


if hasattr(os, "register_at_fork"):

    def _after_fork() -> None:
        # A forked child has the pools' memory but not their threads.
        global _lock
        _lock = threading.RLock()
        _pool.cache_clear()

    os.register_at_fork(after_in_child=_after_fork)


_scratch = threading.local()
_alone = threading.local()


@contextmanager
def single_thread() -> Iterator[None]:
    """Use no other threads inside a ``with`` block."""
    before = getattr(_alone, "now", False)
    _alone.now = True
    try:
        yield
    finally:
        _alone.now = before


def scratch(name: str, shape: tuple[int, int], dtype: type) -> np.ndarray:
    """An uninitialized array of this thread, until the next call with its name."""
    size = shape[0] * shape[1]
    kept = vars(_scratch).get(name)
    if kept is None or kept.size < size or kept.dtype != dtype:
        kept = vars(_scratch)[name] = np.empty(size, dtype=dtype)
    return kept[:size].reshape(shape)


# Handing a task to a thread takes 50 µs, in which a product passes over 10⁵ numbers.
_LEAST_ENTRIES = 100_000


def chunks(n: int, size: int, width: int | None = None) -> list[slice]:
    """Cut n rows into slices of at most ``size``, equally many per thread.

    With the ``width`` of a row, small tables are one slice.
    """
    if width is not None and 0 < n * width < 2 * _LEAST_ENTRIES:
        return [slice(0, n)]
    workers = n_threads()
    n_slices = workers * max(1, -(-n // (workers * size)))
    size = max(1, -(-n // n_slices))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
