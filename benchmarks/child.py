# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that need a process of their own: peak memory, first compilation, threads."""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import Any

from benchmarks.measure import PeakMemory


def fit(who: str, n: int, p: int, C: float) -> dict[str, float]:
    """Peak memory of one fit above imports and data, in MB, and its time."""
    from benchmarks.problems import Libsvm, fit_logistic, fit_ours, make_problem

    fits = {"ours": fit_ours, "logistic": fit_logistic}
    small, y_small = make_problem(200, p, seed=1)
    fits.get(who, fit_ours)(small, y_small, C)  # compiled code is loaded, not counted
    pairs, y = make_problem(n, p)
    gc.collect()
    report: dict[str, float] = {}
    start, processor = time.perf_counter(), time.process_time()
    with PeakMemory() as memory:
        if who in fits:
            model = fits[who](pairs, y, C)
            report = {"gap": model.gap_, "converged": model.converged_}
        else:
            Libsvm().fit(pairs, y, C)
    seconds = time.perf_counter() - start
    processor = time.process_time() - processor
    return report | {"peak": memory.used, "seconds": seconds, "processor": processor}


def compile_first() -> dict[str, float]:
    """Seconds until the compiled loops are ready, from an empty or a filled cache."""
    import numpy as np

    from tiebreak.solvers import compile_kernels

    start = time.perf_counter()
    for dtype in (np.float64, np.float32):
        compile_kernels(dtype)
    return {"seconds": time.perf_counter() - start}


def write_votes(path: str, n: int, **options: Any) -> dict[str, float]:
    """Write a file of votes, so that the memory this takes is not that of others."""
    from pathlib import Path

    from benchmarks.command_cases import write_votes

    return {"bytes": write_votes(Path(path), n, **options).stat().st_size}


def fit_pursuit(n: int, steps: int, cache_size: float) -> dict[str, object]:
    """Peak memory of a pursuit above imports and data, its time and its choice."""
    from benchmarks.pursuit_cases import make_items
    from tiebreak import RankingPursuit

    X, y, _ = make_items(n)
    RankingPursuit(2).fit(X[:500], y[:500])  # compiled code is loaded, not counted
    gc.collect()
    model = RankingPursuit(steps, gamma=0.1, cache_size=cache_size)
    start = time.perf_counter()
    with PeakMemory() as memory:
        model.fit(X, y)
    seconds = time.perf_counter() - start
    return {"peak": memory.used, "seconds": seconds, "support": model.support_.tolist()}


if __name__ == "__main__":
    tasks = {
        "write_votes": write_votes,
        "fit": fit,
        "compile_first": compile_first,
        "fit_pursuit": fit_pursuit,
    }
    if sys.argv[1] not in tasks:  # the others import what these must not
        from benchmarks import grade_child

        tasks = grade_child.TASKS
    report = tasks[sys.argv[1]](**json.loads(sys.argv[2]))
    sys.stdout.write(json.dumps(report) + "\n")
