# SPDX-License-Identifier: BSD-3-Clause
"""Python threads over blocks, with the BLAS library kept to one thread each.

NumPy releases the interpreter lock inside products and exponentials, so Python threads
use all cores; a BLAS that starts its own threads inside each of them only makes them
wait for each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["in_threads", "one_blas_thread"]

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
def _n_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), 8)
    return min(os.cpu_count() or 1, 8)


def in_threads(
    function: Callable[[Task], Result], tasks: Iterable[Task]
) -> list[Result]:
    """Map a function over tasks in as many threads as the process has cores."""
    tasks = list(tasks)
    workers = min(_n_threads(), len(tasks))
    with one_blas_thread():
        if workers < 2:
            return list(map(function, tasks))
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(function, tasks))
