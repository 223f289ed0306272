# SPDX-License-Identifier: BSD-3-Clause
"""Data in partitions: overhead, workers, and more data than memory."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.rows import Row
from tiebreak import (
    Orders,
    Pairs,
    PlackettLuce,
    RankingPursuit,
    RankSVM,
    SVMCompare,
    outofcore,
)
from tiebreak.outofcore.objectives import GradedPartition, SummedObjective
from tiebreak.outofcore.partitions import open_partitions

__all__ = ["CASES", "start_cluster", "time_passes"]

_FEATURES = 20
_PER_GROUP = 20


def partitions_overhead() -> Iterator[Row]:
    """Partitions against one table: RankSVM, squared hinge, 20 features."""
    ratios = []
    for n in (20_000, 200_000, 2_000_000):
        X, y, qid = _make(n, seed=0)
        whole, fitted = _time(lambda: _model().fit(X, y, qid=qid))  # noqa: B023
        with _files(n, n_parts=4) as folder:
            times = {"this process": _time(lambda: _fit(folder))}
            with start_cluster(n_workers=2) as client:
                times["two workers"] = _time(lambda: _fit(folder, client))
        for place, (seconds, model) in times.items():
            _compare(model, fitted)
            note = f"{seconds:.2f} s against {whole:.2f} s"
            yield Row(f"{n:,} rows, {place}", f"{seconds / whole:.1f}×", "", None, note)
        ratios.append((n, times["two workers"][0] - whole))
    even = next((n for n, more in ratios if more <= 0), None)
    text = f"{even:,} rows" if even else f"above {ratios[-1][0]:,} rows"
    yield Row("two workers are as fast as one process from", text, "", None)


def partitions_workers() -> Iterator[Row]:
    """From one worker process to two and four: two million rows in eight files."""
    passes, fits, models, busiest = {}, {}, {}, {}
    with _files(2_000_000, n_parts=8) as folder:
        for n_workers in (1, 2, 4):
            with start_cluster(n_workers=n_workers) as client:
                work = partial(_fit, folder, client)
                fits[n_workers], models[n_workers] = _time(work)
                passes[n_workers] = sum(time_passes(folder, client))
                busiest[n_workers] = min(_busiest(client, work) for _ in range(3))
    gain = sum(busiest[1]) / sum(busiest[2])
    one, two = (f"{a:.1f} + {b:.1f} s" for a, b in (busiest[1], busiest[2]))
    yield Row(
        "fit, 2 workers: processor time of the busiest worker and of this process",
        f"{gain:.2f}×",
        "≥ 1.8×",
        gain >= 1.8,
        f"{two} against {one} with one worker",
    )
    for n_workers in (2, 4):
        _compare(models[n_workers], models[1])
        for what, seconds in (("a gradient and a product", passes), ("fit", fits)):
            gain = seconds[1] / seconds[n_workers]
            note = f"{seconds[n_workers]:.2f} s against {seconds[1]:.2f} s with one"
            yield Row(f"{what}, {n_workers} workers", f"{gain:.2f}×", "", None, note)


def _busiest(client: Any, work: Callable[[], Any]) -> tuple[float, float]:
    """Processor seconds of the busiest worker, and of scheduler and solver here.

    They are what a fit takes if every process has a core of its own.
    """
    before, own = client.run(time.process_time), time.process_time()
    work()
    own, after = time.process_time() - own, client.run(time.process_time)
    return max(after[worker] - before[worker] for worker in before), own


def two_threads_against_one() -> Iterator[Row]:
    """Fits of all sizes on two threads and on one, in turn.

    What this thread does is added to half of what the others do, as the clock would if
    the machine had no other work.
    """
    from threadpoolctl import threadpool_limits

    gains = {}
    for name, fit in _fits():
        fit()
        times = {1: [], 2: []}
        end = time.perf_counter() + 8.0
        while len(times[2]) < 5 or (time.perf_counter() < end and len(times[2]) < 99):
            for threads, runs in times.items():
                with threadpool_limits(threads):
                    own, all_threads = time.thread_time(), time.process_time()
                    fit()
                    own = time.thread_time() - own
                    others = time.process_time() - all_threads - own
                    runs.append(own + others / threads)
        gains[name] = min(times[1]) / min(times[2])
    worst, best = min(gains, key=gains.get), max(gains, key=gains.get)
    yield Row(
        "two threads against one, if both have a core: at least, in processor time",
        f"{gains[worst]:.2f}×",
        "≥ 1×",
        gains[worst] >= 0.95,  # runs differ by a tenth
        f"{worst}; median {np.median([*gains.values()]):.2f}× of {len(gains)} fits, "
        f"{gains[best]:.2f}× {best}",
    )


def _fits() -> Iterator[tuple[str, Callable[[], Any]]]:
    for n in (300, 3000, 30_000, 200_000):
        X, y, qid = _make(n, seed=0)
        yield f"RankSVM, {n:,} items in groups", partial(_model().fit, X, y, qid=qid)
        whole = RankSVM(C=1.0 / n, kernel="linear", loss="squared_hinge")
        yield f"RankSVM, {n:,} items in one group", partial(whole.fit, X, y)
    for n in (100, 400, 2000):
        X, y, _ = _make(n, seed=0, p=5)
        yield f"RankingPursuit, {n:,} items", partial(RankingPursuit(10).fit, X, y)
    for n in (100, 400, 1000):
        X, y, _ = _make(n, seed=0, p=5)
        pairs = Pairs(X, np.arange(n) // 2, n - 1 - np.arange(n) // 3)
        outcome = np.sign(y[pairs.right] - y[pairs.left])
        yield (
            f"SVMCompare, {n:,} comparisons",
            partial(SVMCompare().fit, pairs, outcome),
        )
    for n in (100, 10_000):
        lists = np.random.default_rng(0).permuted(
            np.tile(np.arange(20), (n, 1)), axis=1
        )
        orders = Orders(None, lists)
        yield f"PlackettLuce, {n:,} lists", partial(PlackettLuce(0.1).fit, orders)


def time_passes(folder: str, client: Any) -> tuple[float, float]:
    """Median seconds of a value with its gradient, and of a Hessian product."""
    table, roles = outofcore.PartitionedTable(folder), {"y": "grade", "qid": "query"}
    parts = open_partitions(table, GradedPartition, client=client, keep=True, **roles)
    p = parts.each(_n_features)[0]
    objective = SummedObjective(parts, np.ones(p))
    objective.expand(np.zeros(p))
    values, products = [], []
    for step in range(5):
        x = 0.1 * np.random.default_rng(step).standard_normal(p)
        start = time.perf_counter()
        objective.expand(x)
        middle = time.perf_counter()
        objective.hessian_product(x)
        values.append(middle - start)
        products.append(time.perf_counter() - middle)
    return float(np.median(values)), float(np.median(products))


def _n_features(part: GradedPartition) -> int:
    return part.facts.n_features


def partitions_memory() -> Iterator[Row]:
    """Features of four times the memory of the worker, in uncompressed Arrow files."""
    n_parts, rows, p, limit = 76, 50_000, 100, 0.75e9
    with tempfile.TemporaryDirectory() as folder:
        total = 0
        for number in range(n_parts):
            path = Path(folder) / f"part{number:02d}.arrow"
            X, y, qid = _make(rows, seed=number, p=p)
            table = _table(X, y, qid + number * rows)
            table.write_ipc(path, compression="uncompressed")
            total += X.nbytes
        with start_cluster(n_workers=1, memory=limit) as client:
            work = partial(_fit, folder, client, keep=False)
            seconds, model = _time(work, warm=False)
            most = max(client.run(_peak_memory).values())
    note = (
        f"{total / 1e9:.1f} GB of features, a limit of {limit / 1e9:.1f} GB, "
        f"{model.n_iter_} steps, gap {model.gap_:.1e}, peak {most / 1e9:.2f} GB"
    )
    kept = bool(total >= 4 * limit and model.converged_ and most <= limit)
    yield Row(
        f"{n_parts * rows:,} rows of {p} features, one worker",
        f"{seconds:.0f} s",
        "fits",
        kept,
        note,
    )


CASES = (
    partitions_overhead,
    partitions_workers,
    partitions_memory,
    two_threads_against_one,
)


def _model() -> RankSVM:
    return RankSVM(C=1e-3, kernel="linear", loss="squared_hinge")


def _fit(folder: str, client: Any = None, keep: bool = True) -> RankSVM:
    return outofcore.fit(
        _model(), folder, "grade", qid="query", client=client, keep=keep
    )


def _make(
    n: int, seed: int, p: int = _FEATURES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    w = np.linspace(-1.0, 1.0, p)
    y = np.clip(np.round(X @ w / 2.0 + rng.standard_normal(n)), -2.0, 2.0)
    return X, y, np.arange(n) // _PER_GROUP


def _table(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> pl.DataFrame:
    frame = pl.DataFrame(X, schema=[f"f{j:02d}" for j in range(X.shape[1])])
    return frame.with_columns(grade=pl.Series(y), query=pl.Series(qid))


@contextmanager
def _files(n: int, n_parts: int) -> Iterator[str]:
    X, y, qid = _make(n, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(n_parts):
            rows = qid % n_parts == number
            path = Path(folder) / f"part{number}.parquet"
            _table(X[rows], y[rows], qid[rows]).write_parquet(path)
        yield folder


@contextmanager
def start_cluster(n_workers: int, memory: float | str = "4GB") -> Iterator[Any]:
    """Start workers that have compiled loops ready; give the client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=memory,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.run(_warm)
        yield client


def _warm() -> None:
    X, y, qid = _make(200, seed=0)
    _model().fit(X, y, qid=qid)


def _peak_memory() -> float:
    """The largest memory that this process ever had, in bytes."""
    import resource

    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _time(work: Any, warm: bool = True) -> tuple[float, RankSVM]:
    """The better of two runs, and the model."""
    best, model = np.inf, None
    for _ in range(2 if warm else 1):
        start = time.perf_counter()
        model = work()
        best = min(best, time.perf_counter() - start)
    return best, model


def _compare(ours: RankSVM, theirs: RankSVM) -> None:
    if not np.isclose(ours.objective_, theirs.objective_, rtol=2e-3):
        raise AssertionError(
            f"objectives differ: {ours.objective_} and {theirs.objective_}"
        )
