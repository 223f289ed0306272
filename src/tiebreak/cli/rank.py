# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.cli.signals import when_interrupted
from tiebreak.data.atomic import (
    atomic_folder,
    check_folder,
    made_folder,
    refuse_to_replace,
)
from tiebreak.io import ReadOptions, neutralize_formulas
from tiebreak.pipeline.comparisons import ComparisonData, is_partitioned
from tiebreak.pipeline.options import Asked, RankOptions, Source, read_source

if TYPE_CHECKING:
    from tiebreak.outofcore import Step
    from tiebreak.pipeline.models import Choice, Tuned
    from tiebreak.pipeline.rank import RankResult

_FILES = ("report.html", "leaderboard.csv", "model.tiebreak")
_SKIPPED = "skipped.csv"  # rows that could not be read, if there are any
_BY_CATEGORY = "categories.csv"
_CHECKPOINT = "tiebreak-tuning.json"
_CONTINUES = "The same command goes on with the {}."


def run(
    file: Path,
    out: Path,
    reading: ReadOptions,
    options: RankOptions,
    *,
    dask: str | None = None,
    checkpoint: Path | None = None,
    quiet: bool,
    as_json: bool,
    command: str,
) -> None:
    """Read, rank, print and write."""
    written = [out / name for name in (*_FILES, _BY_CATEGORY, _SKIPPED, _CHECKPOINT)]
    refuse_to_replace([file, reading.items], [*written, checkpoint])
    output = Output(quiet=quiet or as_json)
    steps = Steps(shown=not (quiet or as_json))
    many = dask is not None or checkpoint is not None or is_partitioned(file)
    files = (*_FILES, _BY_CATEGORY) if options.categories else _FILES
    with ExitStack() as stack:
        client = None
        with steps:
            if many:
                from tiebreak.cli.cluster import connected
                from tiebreak.outofcore import running

                check_folder(out, files)
                client = stack.enter_context(connected(dask, steps))
                report = partial(_report, steps)
                stack.enter_context(
                    running(client=client, checkpoint=checkpoint, tell=report)
                )
            given: Any = {"partitioned": many, "client": client, "progress": steps}
            source = read_source(file, reading, options, **given)
        compared = isinstance(source.found, Asked)
        if checkpoint is not None and compared:
            unneeded = f"{checkpoint} is not needed: counting takes one pass."
            source.detected.append(unneeded)
        output.say(source.detected)
        check_folder(out, files)  # now, and not after minutes of work
        tuner = None
        if isinstance(source.found, Asked) and options.tune:
            stack.enter_context(made_folder(out))
            stack.enter_context(when_interrupted(_CONTINUES.format("tuning")))
            data = source.found.data.by_row
            tuner = partial(_tune, data, out / _CHECKPOINT, steps)
        elif not compared and checkpoint is not None:
            stack.enter_context(when_interrupted(_CONTINUES.format("fit")))
        stack.enter_context(steps)
        steps("starting")
        # Now that all is read and said: models take a while to import.
        from tiebreak import save
        from tiebreak.pipeline.rank import rank_source
        from tiebreak.pipeline.report import report_data, show
        from tiebreak.report import write_report

        answer = rank_source(source, options, tuner=tuner, progress=steps)
        steps("writing the report")
        page = report_data(answer, command)
        skipped = answer.data.skipped
        if skipped is not None:
            files = (*files, _SKIPPED)
        with atomic_folder(out, files) as temporary:
            if skipped is not None:
                _write_csv([skipped], temporary / _SKIPPED)
            write_report(page, temporary / _FILES[0])
            _write_csv(_tables(answer, source), temporary / _FILES[1])
            save(answer.model, temporary / _FILES[2])
            if options.categories:
                assert answer.leaderboard is not None
                table = answer.leaderboard.by_category()
                _write_csv([table], temporary / _BY_CATEGORY)
        if not options.categories:
            (out / _BY_CATEGORY).unlink(missing_ok=True)  # of an earlier question
        if options.tune:
            (out / _CHECKPOINT).unlink(missing_ok=True)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
    if as_json:
        typed: dict[str, Any] = {
            "file": str(file),
            "out": str(out),
            "model": answer.choice.name,
        }
        typed["ties"] = getattr(answer.model, "tie_model_", None)
        # Predictions row by row are long and of use to nobody.
        rows: Any = dict.fromkeys(("outcome", "proba", "difference", "weight"))
        quality = page.quality and replace(page.quality, **rows)
        print_json(typed | replace(page, quality=quality).to_dict())
        return
    for part in show(answer, output.width):
        if isinstance(part, str):
            output.say([part])
        else:
            output.print(part)
    output.say([f"Report: {out / _FILES[0]}"])
    if skipped is not None:
        output.say([f"Skipped rows: {out / _SKIPPED}"])


def _tables(answer: RankResult, source: Source) -> Iterator[pl.DataFrame]:
    """Give what is written as the leaderboard, in pieces."""
    if not isinstance(source.found, Asked):
        yield from source.found.ranks(answer.model)
        return
    table = answer.items if answer.leaderboard is None else answer.leaderboard.table
    assert table is not None
    yield table


def _tune(
    data: ComparisonData, checkpoint: Path, steps: Steps, choice: Choice
) -> Tuned:
    from tiebreak.pipeline.models import tune_model

    with steps.paused():
        return tune_model(
            choice.name, choice.model, data, checkpoint=checkpoint, progress=steps.shown
        )


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
