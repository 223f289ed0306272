# SPDX-License-Identifier: BSD-3-Clause
"""How the work on groups and nodes is divided among threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.threads import in_threads, n_threads

__all__ = ["parts_around", "plan_stages", "run_tasks"]

# Fewer slots than this are not worth handing to a thread.
_LEAST_TASK = 20_000


def run_tasks(
    work: Callable[[tuple[int, int]], None], tasks: list[tuple[int, int]]
) -> None:
    """Run tasks at the same time; a single one right here, which is cheaper.

    Parameters
    ----------
    work : callable
        Does one task.
    tasks : list of (first, last)
        Ranges of groups or nodes.
    """
    if len(tasks) == 1:
        work(tasks[0])
    else:
        in_threads(work, tasks)


def _even_parts(
    starts: NDArray[np.int64], first: int, last: int
) -> list[tuple[int, int]]:
    """Divide groups `first` to `last` so that every thread gets as many slots."""
    if first >= last:
        return []
    n = int(starts[last] - starts[first])
    parts = min(n_threads(), max(1, n // _LEAST_TASK))
    wanted = starts[first] + np.arange(1, parts) * (n // parts)
    inner = first + np.searchsorted(starts[first : last + 1], wanted)
    edges = np.unique([first, *inner, last])
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def parts_around(
    large: NDArray[np.int64], starts: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Divide all groups but the large ones.

    Parameters
    ----------
    large : ndarray of int
        Groups to leave out, ascending.
    starts : ndarray of shape (G + 1,)
        First slot of each group, and the number of slots.

    Returns
    -------
    list of (first, last)
        Ranges of groups.
    """
    edges = [-1, *large.tolist(), len(starts) - 1]
    return [
        part
        for before, after in pairwise(edges)
        for part in _even_parts(starts, before + 1, after)
    ]


def plan_stages(
    nodes: NDArray[np.int32], roots: NDArray[np.int64], starts: NDArray[np.int64]
) -> list[list[tuple[int, int]]]:
    """Divide the work so that a node comes before those within it, in even parts.

    A node too large for one thread is a task of its own, and its two halves belong to
    the next stage. All others go together with everything below them.

    Parameters
    ----------
    nodes : ndarray of shape (T, 4)
        lo, mid, hi, level, a node before the nodes within it.
    roots : ndarray of shape (G + 1,)
        First node of each group, and T.
    starts : ndarray of shape (G + 1,)
        First slot of each group, and the number of slots.

    Returns
    -------
    list of lists of (first, last)
        Ranges of nodes; those of one stage may run at the same time.
    """
    share = max(_LEAST_TASK, -(-int(starts[-1]) // n_threads()))
    large = np.flatnonzero(np.diff(starts) > share)
    small = [(int(roots[a]), int(roots[b])) for a, b in parts_around(large, starts)]
    stages = [small]
    todo = [(int(roots[g]), int(roots[g + 1]), 0) for g in large]
    while todo:
        first, last, stage = todo.pop()
        if first == last:
            continue
        if len(stages) == stage:
            stages.append([])
        lo, mid, hi = (int(edge) for edge in nodes[first, :3])
        if hi - lo <= share:
            stages[stage].append((first, last))
            continue
        stages[stage].append((first, first + 1))
        second = first + 1 + int(np.sum(nodes[first + 1 : last, 0] < mid))
        todo += [(first + 1, second, stage + 1), (second, last, stage + 1)]
    return [tasks for tasks in stages if tasks]
