# SPDX-License-Identifier: BSD-3-Clause
"""Compute the cells that are missing, in several processes, one core each."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import traceback
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from papers.experiment import Experiment, Settings
from papers.results import Results

__all__ = ["run_experiments"]


def run_experiments(
    experiments: list[Experiment],
    *,
    quick: bool,
    jobs: int | None = None,
    folder: Path | None = None,
    console: Console | None = None,
) -> int:
    """Compute what is missing of some experiments.

    Every cell is kept as soon as it is finished, so that a run that was interrupted or
    killed goes on where it was.

    Parameters
    ----------
    experiments : list of Experiment
        What to compute.
    quick : bool
        Whether to compute the small run.
    jobs : int, optional
        Processes; by default one for each core.
    folder : Path, optional
        Where results are kept; by default in the project.
    console : Console, optional
        Where progress is shown.

    Returns
    -------
    int
        How many cells failed.
    """
    console = console or Console(stderr=True)
    todo: list[tuple[Results, Settings]] = []
    for experiment in experiments:
        results = Results(experiment, quick, folder)
        missing = results.missing()
        have = len(experiment.cells(quick)) - len(missing)
        console.print(
            f"{experiment.name}: {have} cells are there, {len(missing)} to do"
        )
        todo += [(results, settings) for settings in missing]
    if not todo:
        return 0
    _get_data({name for results, _ in todo for name in results.experiment.data})
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    jobs = jobs or len(cores) or os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    for number in range(jobs):
        queue.put(cores[number % len(cores)] if cores else None)
    failed = 0
    with (
        ProcessPoolExecutor(jobs, context, _settle, (queue,)) as pool,
        _progress(console) as bar,
    ):
        task = bar.add_task("cells", total=len(todo))
        futures: dict[Future[Any], tuple[Results, Settings]] = {
            pool.submit(_compute, results.experiment, settings): (results, settings)
            for results, settings in todo
        }
        try:
            for future in as_completed(futures):
                results, settings = futures.pop(future)
                result, reason = future.result()
                bar.update(task, advance=1, description=results.experiment.name)
                if result is None:
                    failed += 1
                    bar.console.print(f"[red]failed[/red] {settings}\n{reason}")
                else:
                    results.add(settings, result)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return failed


def _get_data(names: set[str]) -> None:
    """Download what is not here, once and not in every worker."""
    from tiebreak.datasets import REGISTRY, fetch

    for name in sorted(names):
        for file in REGISTRY[name].files:
            if file.url:
                fetch(file.name)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _settle(queue: Any) -> None:
    """Give a worker one core of its own, so that its threads do not crowd others.

    And let it not outlive the runner.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        """End with the parent, even if it was killed before this worker was ready."""
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    core = queue.get()
    if core is not None:
        os.sched_setaffinity(0, {core})


def _compute(
    experiment: Experiment, settings: Settings
) -> tuple[dict[str, Any] | None, str]:
    start = time.process_time()
    try:
        result = experiment.compute(**settings)
    except Exception:
        return None, traceback.format_exc()
    return result | {"cpu_seconds": round(time.process_time() - start, 3)}, ""
