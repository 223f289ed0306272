# SPDX-License-Identifier: BSD-3-Clause
"""How things are measured: interleaved times, peak memory of a child, growth."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def interleaved(
    ours: Callable[[], Any], peer: Callable[[], Any], repeat: int
) -> tuple[float, float, float]:
    """Run both in turn; returns the median of each and the median of the ratios.

    Taking turns in one process gives both the same machine, also when it is shared.
    """
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        ours()
        middle = time.perf_counter()
        peer()
        times.append((middle - start, time.perf_counter() - middle))
    a, b = np.array(times).T
    return float(np.median(a)), float(np.median(b)), float(np.median(b / a))


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Exponent of growth: the slope of log seconds over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def peak_rss_mb() -> float:
    """Peak resident memory of this process in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def in_child(task: str, **options: Any) -> dict[str, Any]:
    """Run a task of :mod:`benchmarks.child` in a fresh process; returns its report."""
    environment = os.environ | options.pop("environment", {})
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", task, json.dumps(options)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{task} {options} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
