# SPDX-License-Identifier: BSD-3-Clause
"""How things are measured: interleaved times, peak memory of a child, growth."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tiebreak.data.threads import one_blas_thread, single_thread


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


def processor_ratio(
    ours: Callable[[], Any], peer: Callable[[], Any], repeat: int
) -> tuple[float, float, float]:
    """As `interleaved`, in seconds of processor time, on one thread of ours.

    Processor time counts the work of all threads, and other work on the machine hardly
    touches it.
    """
    times = []
    with single_thread(), one_blas_thread():
        for _ in range(repeat):
            start = time.process_time()
            ours()
            middle = time.process_time()
            peer()
            times.append((middle - start, time.process_time() - middle))
    a, b = np.array(times).T
    return float(np.median(a)), float(np.median(b)), float(np.median(b / a))


def processor_seconds(call: Callable[[], Any], repeat: int = 3) -> float:
    """Least processor time of a call, on one thread."""
    return min(processor_ratio(call, _nothing, 1)[0] for _ in range(repeat))


def _nothing() -> None:
    pass


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Exponent of growth: the slope of log seconds over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def resident_mb() -> float:
    """Resident memory of this process now, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


class PeakMemory:
    """Peak resident memory of a block above what was there before, in MB.

    A thread samples every two milliseconds: the system's own peak cannot be set back
    everywhere, and would count what the preparation of the data once needed.
    """

    def __enter__(self) -> PeakMemory:
        """Start to sample."""
        self.before = self.peak = resident_mb()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and take a last sample."""
        self._stop.set()
        self._thread.join()
        self.peak = max(self.peak, resident_mb())

    def _watch(self) -> None:
        while not self._stop.wait(0.002):
            self.peak = max(self.peak, resident_mb())

    @property
    def used(self) -> float:
        """Peak minus start."""
        return self.peak - self.before


class Run(NamedTuple):
    """A process that has ended: wall and processor seconds, peak memory in MB."""

    seconds: float
    processor: float
    peak: float


def run_command(*words: object) -> Run:
    """Run the command ``tiebreak`` in a process of its own."""
    return run_module("tiebreak", *words)


def run_module(module: str, *words: object) -> Run:
    """Run a module as a program in a process of its own."""
    return _run("-m", module, *map(str, words))


def run_python(code: str) -> Run:
    """Run some Python in a process of its own."""
    return _run("-c", code)


def _run(*words: str) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    # The system's own peak of this one child, in kB.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"python {words} ended with {process.returncode}")
    processor = usage.ru_utime + usage.ru_stime
    return Run(seconds, processor, usage.ru_maxrss * 1024 / 1e6)


def in_child(task: str, **options: Any) -> dict[str, Any]:
    """Run a task of :mod:`benchmarks.child` in a fresh process; returns its report.

    ``threads=1`` holds it to one of the processors of this one.
    """
    environment = os.environ | options.pop("environment", {})
    processors = sorted(os.sched_getaffinity(0))[: options.pop("threads", None)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", task, json.dumps(options)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        # Before anything is imported: libraries count processors when they are loaded.
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    if done.returncode:
        raise RuntimeError(f"{task} {options} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
