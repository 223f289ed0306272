# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import polars as pl
from rich.table import Table

from tiebreak import save
from tiebreak.cli.cluster import connected
from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.cli.signals import when_interrupted
from tiebreak.data.atomic import (
    atomic_folder,
    check_folder,
    made_folder,
    refuse_to_replace,
)
from tiebreak.io import ReadOptions, neutralize_formulas
from tiebreak.outofcore import Step, running
from tiebreak.pipeline.comparisons import ComparisonData, read_comparisons
from tiebreak.pipeline.models import Choice, Tuned, tune_model
from tiebreak.pipeline.partitions import GradedFiles, is_partitioned, read_partitions
from tiebreak.pipeline.rank import RankAnswer, rank, rank_grades
from tiebreak.pipeline.report import report_data, summary
from tiebreak.ratings.leaderboard import as_table
from tiebreak.report import write_report
from tiebreak.selection import TuneResult

_FILES = ("report.html", "leaderboard.csv", "model.tiebreak")
_SKIPPED = "skipped.csv"  # rows that could not be read, if there are any
_CHECKPOINT = "tiebreak-tuning.json"
_CONTINUES = "The same command goes on with the {}."
_SHOWN_SETTINGS = 12
_SHOWN_WEIGHTS = 10


def run(
    file: Path,
    out: Path,
    reading: ReadOptions,
    *,
    model: str,
    alpha: float | str | None,
    half_life: str | None = None,
    level: float,
    bootstrap: int,
    reference: str | None,
    tune: bool,
    dask: str | None = None,
    checkpoint: Path | None = None,
    quiet: bool,
    as_json: bool,
    command: str,
) -> None:
    """Read, rank, print and write."""
    written = [out / name for name in (*_FILES, _SKIPPED, _CHECKPOINT)]
    refuse_to_replace([file, reading.items], [*written, checkpoint])
    output = Output(quiet=quiet or as_json)
    steps = Steps(shown=not (quiet or as_json))
    partitioned = dask is not None or checkpoint is not None or is_partitioned(file)
    with ExitStack() as stack:
        source: ComparisonData | GradedFiles
        with steps:
            if partitioned:
                check_folder(out, _FILES)
                client = stack.enter_context(connected(dask, steps))
                report = partial(_report, steps)
                stack.enter_context(
                    running(client=client, checkpoint=checkpoint, tell=report)
                )
                source, detected = read_partitions(file, reading, steps, client)
            else:
                steps(f"reading {file.name}")
                source, detected = read_comparisons(file, reading)
        if checkpoint is not None and isinstance(source, ComparisonData):
            detected.append(f"{checkpoint} is not needed: counting takes one pass.")
        output.say(detected)
        check_folder(out, _FILES)  # now, and not after minutes of work
        ranks = None
        if isinstance(source, GradedFiles):
            if half_life is not None:
                raise ValueError(
                    "--half-life is for comparisons with dates, and not for graded "
                    "items; leave it out."
                )
            if tune:
                raise ValueError(
                    "--tune is not for graded items in partitions, whose best settings "
                    "depend on how many there are. Leave it out, or put all rows in "
                    "one file."
                )
            if checkpoint is not None:
                stack.enter_context(when_interrupted(_CONTINUES.format("fit")))
            stack.enter_context(steps)
            answer, data = rank_grades(source, model, alpha, steps)
            ranks = source.ranks(answer.choice.model)
        else:
            data, tuner = source, None
            if tune:
                stack.enter_context(made_folder(out))
                stack.enter_context(when_interrupted(_CONTINUES.format("tuning")))
                tuner = partial(_tune, data.by_row, out / _CHECKPOINT, steps)
            stack.enter_context(steps)
            answer = rank(
                data,
                model=model,
                alpha=alpha,
                half_life=half_life,
                level=level,
                bootstrap=bootstrap,
                reference=reference,
                tuner=tuner,
                progress=steps,
            )
        steps("writing the report")
        now = datetime.datetime.now().astimezone().isoformat(timespec="minutes")
        title = file.name if file.exists() else str(file)
        page = report_data(answer, data, title, command, now, detected)
        if ranks is None:
            table = answer.items if answer.board is None else answer.board.table
            assert table is not None
            ranks = iter([table])
        skipped = data.skipped
        files = _FILES if skipped is None else (*_FILES, _SKIPPED)
        with atomic_folder(out, files) as temporary:
            if skipped is not None:
                _write_csv([skipped], temporary / _SKIPPED)
            write_report(page, temporary / _FILES[0])
            _write_csv(ranks, temporary / _FILES[1])
            save(answer.choice.model, temporary / _FILES[2])
        if tune:
            (out / _CHECKPOINT).unlink(missing_ok=True)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
    if as_json:
        typed = {"file": str(file), "out": str(out), "model": answer.choice.name}
        # Predictions row by row are long and of use to nobody.
        rows: Any = dict.fromkeys(("outcome", "proba", "difference", "weight"))
        quality = page.quality and replace(page.quality, **rows)
        print_json(typed | replace(page, quality=quality).to_dict())
        return
    _show(output, answer)
    output.say(summary(answer, data))
    output.say([f"Report: {out / _FILES[0]}"])
    if skipped is not None:
        output.say([f"Skipped rows: {out / _SKIPPED}"])


def _tune(
    data: ComparisonData, checkpoint: Path, steps: Steps, choice: Choice
) -> Tuned:
    with steps.paused():
        return tune_model(
            choice.name, choice.model, data, checkpoint=checkpoint, progress=steps.shown
        )


def _show(output: Output, answer: RankAnswer) -> None:
    if answer.checks is not None:
        output.print(answer.checks)
    output.say([f"Model: {answer.choice.name}, {answer.choice.reason}"])
    if answer.tuning is not None:
        output.print(_settings(answer.tuning))
    if answer.board is not None:
        output.print(answer.board)
        output.say(answer.notes)
    elif answer.leaderboard is not None:
        output.print(as_table(answer.leaderboard, 0.95, output.width))
    weights = (answer.weights or [])[:_SHOWN_WEIGHTS]
    output.say([f"{weight:+8.3f}  {name}" for name, weight in weights])
    if answer.quality is not None:
        output.print(answer.quality)
    output.say([f"Warning: {warning}" for warning in answer.warnings])


def _settings(found: TuneResult) -> Table:
    """Return a table of the best settings that were tried, in the order of the grid."""
    metric = found.scoring.replace("_", " ")
    n = len(found.table)
    some = f"The best {_SHOWN_SETTINGS} of {n}" if n > _SHOWN_SETTINGS else f"The {n}"
    expected = None
    if isfinite(found.corrected_score):
        expected = f"Expect {-found.corrected_score:.4f} of the choice on new results."
    table = Table(title=f"{some} settings that were tried", caption=expected)
    for name in (*found.best_params_, metric, "spread over splits"):
        table.add_column(name, justify="right")
    best = found.table.filter(found.table["place"] <= _SHOWN_SETTINGS)
    for row in best.head(_SHOWN_SETTINGS).iter_rows(named=True):
        cells = [f"{row[name]:.4g}" for name in found.best_params_]
        cells += [f"{-row['score']:.4f}", f"{row['spread']:.4f}"]
        chosen = all(row[name] == value for name, value in found.best_params_.items())
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def _report(steps: Steps, step: Step) -> None:
    steps(f"fitting, step {step.number}, {step.gap:.0e} from the minimum")


def _write_csv(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of the same columns one below the other."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, table in enumerate(tables):
            text = [name for name, kind in table.schema.items() if kind == pl.String]
            safe = table.with_columns([neutralize_formulas(table[t]) for t in text])
            # Not written by polars, whose errors of a full disk say too little.
            file.write(safe.write_csv(include_header=number == 0))
