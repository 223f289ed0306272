# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

import datetime
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
from rich.table import Table

from tiebreak import save
from tiebreak.cli.choose import Choice
from tiebreak.cli.endings import when_interrupted
from tiebreak.cli.knowledge import Knowledge, as_comparisons
from tiebreak.cli.rank_job import RankAnswer, rank, report_data, summary
from tiebreak.cli.screen import Screen, Steps, print_json
from tiebreak.cli.tuning import Tuned, tune_model
from tiebreak.data.atomic import atomic_folder, check_folder, made_folder
from tiebreak.data.files import ReadOptions, neutralize_formulas, read_file
from tiebreak.ratings.leaderboard_text import as_table
from tiebreak.report import QualityData, write_report
from tiebreak.selection import TuneResult

__all__ = ["run"]

_FILES = ("report.html", "leaderboard.csv", "model.tiebreak")
_CHECKPOINT = "tiebreak-tuning.json"
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
    quiet: bool,
    as_json: bool,
    command: str,
) -> None:
    """Read, rank, print and write.

    Parameters
    ----------
    file, out : Path
        The file to read and the folder to write to.
    reading : ReadOptions
        How to read the file.
    model, alpha, level, bootstrap, reference
        As in :func:`tiebreak.cli.rank_job.rank`.
    tune : bool
        Whether to choose the settings of the model. Scores are kept in the folder until
        all is done, so that the same command goes on after an interruption.
    quiet, as_json : bool
        What to print.
    command : str
        How the command was typed.
    """
    screen = Screen(quiet=quiet or as_json)
    steps = Steps(shown=not (quiet or as_json))
    with steps:
        steps(f"reading {file.name}")
        read = read_file(file, reading)
        known = as_comparisons(read)
    recognized = [*read.sentences, *read.questions, *known.notes]
    screen.say(recognized)
    check_folder(out, _FILES)  # now, and not after minutes of work
    with ExitStack() as stack:
        tuner = None
        if tune:
            stack.enter_context(made_folder(out))
            advice = "The same command goes on with the tuning."
            stack.enter_context(when_interrupted(advice))
            tuner = partial(_tune, known, out / _CHECKPOINT, steps)
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
        data = report_data(answer, known, file.name, command, now, recognized)
        with atomic_folder(out, _FILES) as temporary:
            write_report(data, temporary / _FILES[0])
            _write_csv(answer, temporary / _FILES[1])
            save(answer.choice.model, temporary / _FILES[2])
        if tune:
            (out / _CHECKPOINT).unlink(missing_ok=True)
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


def _tune(known: Knowledge, checkpoint: Path, steps: Steps, choice: Choice) -> Tuned:
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
    table = Table(title=f"The best settings of {len(found.table)}")
    for name in (*found.best_params, metric, "spread over splits"):
        table.add_column(name, justify="right")
    best = found.table.filter(found.table["place"] <= _SHOWN_SETTINGS)
    for row in best.head(_SHOWN_SETTINGS).iter_rows(named=True):
        cells = [f"{row[name]:.4g}" for name in found.best_params]
        cells += [f"{-row['score']:.4f}", f"{row['spread']:.4f}"]
        chosen = all(row[name] == value for name, value in found.best_params.items())
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def _write_csv(answer: RankAnswer, path: Path) -> None:
    table = answer.items if answer.board is None else answer.board.table
    assert table is not None
    text = [name for name, kind in table.schema.items() if kind == pl.String]
    table = table.with_columns([neutralize_formulas(table[name]) for name in text])
    # Not written by polars, whose errors of a full disk say too little.
    path.write_text(table.write_csv(), encoding="utf-8", newline="")
