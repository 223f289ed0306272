# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
from rich.table import Table

from tiebreak import save
from tiebreak.cli.cluster import connected
from tiebreak.cli.console import Screen, Steps, print_json
from tiebreak.cli.signals import when_interrupted
from tiebreak.cli.sources import read_parts, read_whole
from tiebreak.data.atomic import atomic_folder, check_folder, made_folder
from tiebreak.io import ReadOptions, neutralize_formulas
from tiebreak.outofcore import Step, running
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.models import Choice
from tiebreak.pipeline.partitioned_grades import GradedFiles
from tiebreak.pipeline.partitions import is_in_parts
from tiebreak.pipeline.rank import RankAnswer, rank, rank_grades, report_data, summary
from tiebreak.pipeline.tuning import Tuned, tune_model
from tiebreak.ratings.leaderboard.text import as_table
from tiebreak.report import QualityData, write_report
from tiebreak.selection import TuneResult

_FILES = ("report.html", "leaderboard.csv", "model.tiebreak")
_CHECKPOINT = "tiebreak-tuning.json"
_GOES_ON = "The same command goes on with the fit."
_SHOWN_SETTINGS = 12
_SHOWN_WEIGHTS = 10


def run(
    file: Path,
    out: Path,
    reading: ReadOptions,
    *,
    model: str,
    alpha: float | None,
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
    """Read, rank, print and write.

    Parameters
    ----------
    file, out : Path
        The file to read, or a folder or pattern of files, and the folder to write to.
    reading : ReadOptions
        How to read the file.
    model, alpha, level, bootstrap, reference
        As in :func:`tiebreak.pipeline.rank.rank`.
    tune : bool
        Whether to choose the settings of the model. Scores are kept in the folder until
        all is done, so that the same command goes on after an interruption.
    dask : str, optional
        Where files are read and worked on: ``"local"``, or the address of a scheduler.
    checkpoint : Path, optional
        A file that keeps the steps of a fit on many files until all is done.
    quiet, as_json : bool
        What to print.
    command : str
        How the command was typed.
    """
    screen = Screen(quiet=quiet or as_json)
    steps = Steps(shown=not (quiet or as_json))
    in_parts = dask is not None or checkpoint is not None or is_in_parts(file)
    with ExitStack() as stack:
        with steps:
            if in_parts:
                check_folder(out, _FILES)
                client = stack.enter_context(connected(dask, steps))
                tell = partial(_tell, steps)
                stack.enter_context(
                    running(client=client, checkpoint=checkpoint, tell=tell)
                )
                source, recognized = read_parts(file, reading, steps, client)
            else:
                source, recognized = read_whole(file, reading, steps)
        if checkpoint is not None and isinstance(source, ComparisonData):
            recognized.append(f"{checkpoint} is not needed: counting takes one pass.")
        screen.say(recognized)
        check_folder(out, _FILES)  # now, and not after minutes of work
        ranks = None
        if isinstance(source, GradedFiles):
            _refuse_tuning(tune)
            if checkpoint is not None:
                stack.enter_context(when_interrupted(_GOES_ON))
            stack.enter_context(steps)
            answer, known = rank_grades(source, model, alpha, steps)
            ranks = source.ranks(answer.choice.model)
        else:
            known, tuner = source, None
            if tune:
                stack.enter_context(made_folder(out))
                advice = "The same command goes on with the tuning."
                stack.enter_context(when_interrupted(advice))
                tuner = partial(_tune, known.by_row, out / _CHECKPOINT, steps)
            stack.enter_context(steps)
            answer = rank(
                known,
                model=model,
                alpha=alpha,
                level=level,
                bootstrap=bootstrap,
                reference=reference,
                tuner=tuner,
                progress=steps,
            )
        steps("writing the report")
        now = datetime.datetime.now().astimezone().isoformat(timespec="minutes")
        title = file.name if file.exists() else str(file)
        data = report_data(answer, known, title, command, now, recognized)
        with atomic_folder(out, _FILES) as temporary:
            write_report(data, temporary / _FILES[0])
            _write_csv(
                [_table_of(answer)] if ranks is None else ranks, temporary / _FILES[1]
            )
            save(answer.choice.model, temporary / _FILES[2])
        if tune:
            (out / _CHECKPOINT).unlink(missing_ok=True)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
    if as_json:
        typed = {"file": str(file), "out": str(out), "model": answer.choice.name}
        print_json(typed | replace(data, quality=_summed(data.quality)).to_dict())
        return
    _show(screen, answer)
    screen.say(summary(answer, known))
    screen.say([f"Report: {out / _FILES[0]}"])


def _summed(quality: QualityData | None) -> QualityData | None:
    """Leave out what was foretold row by row, which is long and of use to nobody."""
    if quality is None:
        return None
    return replace(quality, outcome=None, proba=None, difference=None, weight=None)


def _tune(
    known: ComparisonData, checkpoint: Path, steps: Steps, choice: Choice
) -> Tuned:
    with steps.paused():
        return tune_model(
            choice.name,
            choice.model,
            known,
            checkpoint=checkpoint,
            progress=steps.shown,
        )


def _show(screen: Screen, answer: RankAnswer) -> None:
    if answer.checks is not None:
        screen.print(answer.checks)
    screen.say([f"Model: {answer.choice.name}, {answer.choice.reason}"])
    if answer.tuning is not None:
        screen.print(_settings(answer.tuning))
    if answer.board is not None:
        screen.print(answer.board)
    elif answer.leaderboard is not None:
        screen.print(as_table(answer.leaderboard, 0.95, screen.width))
    weights = (answer.weights or [])[:_SHOWN_WEIGHTS]
    screen.say([f"{weight:+8.3f}  {name}" for name, weight in weights])
    if answer.quality is not None:
        screen.print(answer.quality)
    screen.say([f"Warning: {warning}" for warning in answer.warnings])


def _settings(found: TuneResult) -> Table:
    """Show the best settings that were tried, in the order of the grid."""
    metric = found.scoring.replace("_", " ")
    n = len(found.table)
    some = f"The best {_SHOWN_SETTINGS} of {n}" if n > _SHOWN_SETTINGS else f"The {n}"
    table = Table(title=f"{some} settings that were tried")
    for name in (*found.best_params, metric, "spread over splits"):
        table.add_column(name, justify="right")
    best = found.table.filter(found.table["place"] <= _SHOWN_SETTINGS)
    for row in best.head(_SHOWN_SETTINGS).iter_rows(named=True):
        cells = [f"{row[name]:.4g}" for name in found.best_params]
        cells += [f"{-row['score']:.4f}", f"{row['spread']:.4f}"]
        chosen = all(row[name] == value for name, value in found.best_params.items())
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def _tell(steps: Steps, step: Step) -> None:
    steps(f"fitting, step {step.number}, {step.gap:.0e} from the minimum")


def _refuse_tuning(tune: bool) -> None:
    if tune:
        raise ValueError(
            "--tune is not for graded items in parts, whose best settings depend on "
            "how many there are. Leave it out, or put all rows in one file."
        )


def _table_of(answer: RankAnswer) -> pl.DataFrame:
    table = answer.items if answer.board is None else answer.board.table
    assert table is not None
    return table


def _write_csv(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of the same columns one below the other."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, table in enumerate(tables):
            text = [name for name, kind in table.schema.items() if kind == pl.String]
            safe = table.with_columns([neutralize_formulas(table[t]) for t in text])
            # Not written by polars, whose errors of a full disk say too little.
            file.write(safe.write_csv(include_header=number == 0))
