# SPDX-License-Identifier: BSD-3-Clause
"""Python threads over blocks, with the BLAS library kept to one thread each.

NumPy releases the interpreter lock inside products and exponentials, so Python threads
use all cores; a BLAS that starts its own threads inside each of them only makes them
wait for each other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
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


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread inside a ``with`` block."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def n_threads() -> int:
    """Give the number of cores that this process may use, at most 8."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), 8)
    return min(os.cpu_count() or 1, 8)


def in_threads(
    function: Callable[[Task], Result], tasks: Iterable[Task]
) -> list[Result]:
    """Map a function over tasks in as many threads as the process has cores."""
    tasks = list(tasks)
    workers = 1 if getattr(_alone, "now", False) else min(n_threads(), len(tasks))
    with one_blas_thread():
        if workers < 2:
            return list(map(function, tasks))
        return list(_pool().map(function, tasks))


@cache
def _pool() -> ThreadPoolExecutor:
    # Threads that stay keep their scratch arrays; new ones would fault in every page.
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="tiebreak")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool's memory but not its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)


_scratch = threading.local()
_alone = threading.local()


@contextmanager
def single_thread() -> Iterator[None]:
    """Let this thread do inside a ``with`` block what others would help it with."""
    before = getattr(_alone, "now", False)
    _alone.now = True
    try:
        yield
    finally:
        _alone.now = before


def scratch(name: str, shape: tuple[int, int], dtype: type) -> np.ndarray:
    """An uninitialized array of this thread, until the name is asked for again."""
    size = shape[0] * shape[1]
    kept = vars(_scratch).get(name)
    if kept is None or kept.size < size or kept.dtype != dtype:
        kept = vars(_scratch)[name] = np.empty(size, dtype=dtype)
    return kept[:size].reshape(shape)


def chunks(n: int, size: int) -> list[slice]:
    """Cut n rows into slices of at most ``size``, equally many for every thread."""
    workers = n_threads()
    n_slices = workers * max(1, -(-n // (workers * size)))
    size = max(1, -(-n // n_slices))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
