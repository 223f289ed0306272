# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.text import Text

from tiebreak import save
from tiebreak.cli.knowledge import as_comparisons
from tiebreak.cli.rank_job import RankAnswer, rank, report_data, summary
from tiebreak.data.atomic import atomic_path
from tiebreak.data.files import ReadOptions, neutralize_formulas, read_file
from tiebreak.report import write_report

__all__ = ["run"]


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
    quiet, as_json : bool
        What to print.
    command : str
        How the command was typed.
    """
    console = Console(quiet=quiet or as_json, soft_wrap=False, highlight=False)
    read = read_file(file, reading)
    known = as_comparisons(read)
    for sentence in [*read.sentences, *read.questions, *known.notes]:
        console.print(Text(sentence))
    status = Console(stderr=True, quiet=quiet or as_json)
    with status.status("reading") as shown:
        answer = rank(
            known,
            model=model,
            alpha=alpha,
            level=level,
            bootstrap=bootstrap,
            reference=reference,
            progress=shown.update,
        )
        shown.update("writing the report")
        now = datetime.datetime.now().astimezone().isoformat(timespec="minutes")
        data = report_data(answer, known, file.name, command, now)
        out.mkdir(parents=True, exist_ok=True)
        write_report(data, out / "report.html")
        _write_csv(answer, out / "leaderboard.csv")
        save(answer.choice.model, out / "model.tiebreak")
    if as_json:
        typed = {"file": str(file), "out": str(out), "model": answer.choice.name}
        console = Console(soft_wrap=True, highlight=False)
        console.print_json(json.dumps(typed | data.to_dict(), ensure_ascii=False))
        return
    _show(console, answer)
    for sentence in summary(answer, known):
        console.print(Text(sentence))
    console.print(Text(f"Report: {out / 'report.html'}"))


def _show(console: Console, answer: RankAnswer) -> None:
    if answer.checks is not None:
        console.print(answer.checks)
    console.print(Text(f"Model: {answer.choice.name}, {answer.choice.reason}"))
    if answer.board is not None:
        console.print(answer.board)
    for name, weight in (answer.weights or [])[:10]:
        console.print(Text(f"{weight:+8.3f}  {name}"))
    if answer.quality is not None:
        console.print(answer.quality)
    for warning in answer.warnings:
        console.print(Text(f"Warning: {warning}"))


def _write_csv(answer: RankAnswer, path: Path) -> None:
    if answer.board is not None:
        table = answer.board.table
    else:
        rows = answer.weights or []
        table = pl.DataFrame(
            {"feature": [name for name, _ in rows], "weight": [w for _, w in rows]}
        )
    text = [name for name, kind in table.schema.items() if kind == pl.String]
    table = table.with_columns([neutralize_formulas(table[name]) for name in text])
    with atomic_path(path) as temporary:
        table.write_csv(temporary)
