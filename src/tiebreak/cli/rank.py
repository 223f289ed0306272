# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tiebreak.cli.console import Output, Steps, print_json, print_text
from tiebreak.data.atomic import (
    atomic_folder,
    atomic_path,
    check_folder,
    refuse_to_replace,
)
from tiebreak.io import ReadOptions, neutralize_formulas
from tiebreak.io.result import WriteError, first_of
from tiebreak.options import RankOptions
from tiebreak.pipeline.comparisons import ComparisonData, is_partitioned
from tiebreak.pipeline.source import Asked, Source, read_source

if TYPE_CHECKING:
    from tiebreak.outofcore import Step
    from tiebreak.pipeline.models import Choice, Tuned
    from tiebreak.pipeline.rank import RankResult

_FILES = ("report.html", "leaderboard.csv", "model.tiebreak")
_SKIPPED = "skipped.csv"  # rows that could not be read, if there are any
_BY_CATEGORY = "categories.csv"
OWN = (*_FILES, _SKIPPED, _BY_CATEGORY)
FORMS = ("table", "markdown", "latex", "csv")
JSON_VERSION = 1


def run(
    files: list[Path],
    out: Path | None,
    reading: ReadOptions,
    options: RankOptions,
    *,
    form: str | None = None,
    as_json: bool = False,
    plot: Path | None = None,
    force: bool = False,
    dask: str | None = None,
    quiet: bool,
    command: str,
) -> None:
    """Read, rank, print and write."""
    alone = as_json or form is not None
    folder = out or (None if alone else Path("tiebreak-report"))
    written = [] if folder is None else [folder / name for name in OWN]
    refuse_to_replace([*files, reading.items], [*written, plot])
    if folder is not None and not force:
        refuse_other_files(folder)
    output = Output(quiet=quiet or alone)
    steps = Steps(shown=not (quiet or alone))
    file: Any = files[0] if len(files) == 1 else files
    many = dask is not None or (len(files) == 1 and is_partitioned(files[0]))
    names = result_names(options)
    with ExitStack() as stack:
        client = None
        with steps:
            if many:
                from tiebreak.cli.cluster import connected
                from tiebreak.outofcore import running

                _check(folder, names)
                client = stack.enter_context(connected(dask, steps))
                report = partial(_report, steps)
                stack.enter_context(running(client=client, tell=report))
            given: Any = {"partitioned": many, "client": client, "progress": steps}
            source = read_source(file, reading, options, **given)
        output.say(source.detected)
        # What was read is said before all that takes seconds to import.
        from tiebreak.pipeline.rank import rank_source
        from tiebreak.pipeline.report import report_data, show

        _check(folder, names)  # now, and not after minutes of work
        tuner = None
        if isinstance(source.found, Asked) and options.tune:
            tuner = partial(_tune, source.found.data.by_row, steps)
        stack.enter_context(steps)
        answer = rank_source(source, options, tuner=tuner, progress=steps)
        page = report_data(answer, command)
        if plot is not None:
            steps("drawing the leaderboard")
            _draw(answer, plot)
        if folder is not None:
            steps("writing the report")
            write_result(answer, source, page, folder)
    if as_json:
        place = None if folder is None else str(folder)
        typed: dict[str, Any] = {"version": JSON_VERSION}
        typed |= {"file": ", ".join(map(str, files)), "out": place}
        typed |= {"model": answer.choice.name}
        typed["ties"] = getattr(answer.model, "tie_model_", None)
        print_json(typed | page.to_dict())
        return
    if form is not None:
        print_text(_as_text(answer, source, form))
        return
    for part in show(answer, output.width):
        if isinstance(part, str):
            output.say([part])
        else:
            output.print(part)
    assert folder is not None
    output.say([f"Report: {folder / _FILES[0]}"])
    if answer.data.skipped is not None:
        output.say([f"Skipped rows: {folder / _SKIPPED}"])


def _check(folder: Path | None, names: Iterable[str]) -> None:
    if folder is not None:
        check_folder(folder, tuple(names))


def refuse_other_files(folder: Path) -> None:
    """Refuse a folder that holds more than an earlier result."""
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:  # there is none, or it will be said when it is written
        return
    others = sorted(name for name in names if name not in OWN)
    if others:
        raise WriteError(
            folder,
            f"the folder holds other files too: {first_of(others)}. Choose another "
            "--out, or add --force to write beside them.",
        )


def result_names(options: RankOptions) -> tuple[str, ...]:
    """Names of the files that are written for what is asked."""
    return (*_FILES, _BY_CATEGORY) if options.categories else _FILES


def write_result(answer: RankResult, source: Source, page: Any, folder: Path) -> None:
    """Write the report, the leaderboard and the model, or none of them."""
    from tiebreak import save
    from tiebreak.report import write_report

    names = result_names(answer.options)
    skipped = answer.data.skipped
    if skipped is not None:
        names = (*names, _SKIPPED)
    with atomic_folder(folder, names) as temporary:
        if skipped is not None:
            _write_csv([skipped], temporary / _SKIPPED)
        write_report(page, temporary / _FILES[0])
        _write_csv(_tables(answer, source), temporary / _FILES[1])
        save(answer.model, temporary / _FILES[2])
        if _BY_CATEGORY in names:
            assert answer.leaderboard is not None
            table = answer.leaderboard.by_category()
            _write_csv([table], temporary / _BY_CATEGORY)
    if _BY_CATEGORY not in names:
        (folder / _BY_CATEGORY).unlink(missing_ok=True)  # of an earlier question


def _draw(answer: RankResult, path: Path) -> None:
    """Draw the leaderboard as a picture."""
    from tiebreak.report import LeaderboardDisplay

    if answer.leaderboard is None:
        raise ValueError("--plot draws items that are known by name; leave it out.")
    display = LeaderboardDisplay.from_leaderboard(answer.leaderboard)
    with atomic_path(path) as temporary:
        display.figure_.savefig(temporary, bbox_inches="tight", dpi=200)


def _as_text(answer: RankResult, source: Source, form: str) -> str:
    """Write the leaderboard as a table of documents, or as CSV."""
    if form == "csv":
        return "".join(_csv_texts(_tables(answer, source)))
    board = answer.table
    if board is None:
        raise ValueError(
            f"--print {form} shows items that have names, and these have none; "
            "--print csv shows all rows."
        )
    if form == "table":
        from tiebreak.ratings.leaderboard_table import as_text

        return as_text(board, answer.options.level) + "\n"
    heads, rows = _cells(board, answer.options.level)
    if form == "markdown":
        lines = [heads, ["---:", ":---", *["---:"] * (len(heads) - 2)], *rows]
        escaped = [[_MARKDOWN.sub(r"\\\g<0>", cell) for cell in row] for row in rows]
        lines[2:] = escaped
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)
    body = [[_LATEX.sub(_escape_latex, cell) for cell in row] for row in [heads, *rows]]
    lines_of = [" & ".join(row) + r" \\" for row in body]
    inside = [r"\hline", lines_of[0], r"\hline", *lines_of[1:], r"\hline"]
    columns = "rl" + "r" * (len(heads) - 2)
    begin, end = f"\\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, *inside, end]) + "\n"


_MARKDOWN = re.compile(r"[\\`*_\[\]<>&|#~]")
_LATEX = re.compile(r"[\\{}$&#^_~%–]")
_LATEX_WORDS = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "–": "--"}


def _escape_latex(found: re.Match[str]) -> str:
    return _LATEX_WORDS.get(found[0], "\\" + found[0])


def _cells(board: pl.DataFrame, level: float) -> tuple[list[str], list[list[str]]]:
    """Give headings and cells: rank, item, rating, interval, ranks and games."""
    heads = ["rank", "item", "rating"]
    sure = not board["lower"].is_null().all()
    heads += [f"{100 * level:g} % interval", "ranks"] if sure else []
    heads += ["games"]
    rows = []
    for row in board.iter_rows(named=True):
        cells = [str(row["rank"]), str(row["item"]), f"{row['rating']:.0f}"]
        if sure:
            known = row["lower"] is not None
            cells.append(f"{row['lower']:.0f} to {row['upper']:.0f}" if known else "")
            ranked = row["rank_best"] is not None
            cells.append(f"{row['rank_best']}–{row['rank_worst']}" if ranked else "")
        games = [row[name] for name in ("wins", "ties", "losses")]
        cells.append("" if None in games else f"{sum(games):g}")
        rows.append(cells)
    return heads, rows


def _tables(answer: RankResult, source: Source) -> Iterator[pl.DataFrame]:
    """Give what is written as the leaderboard, in pieces."""
    if not isinstance(source.found, Asked):
        yield from source.found.ranks(answer.model)
        return
    table = answer.items if answer.leaderboard is None else answer.leaderboard.table
    assert table is not None
    yield table


def _tune(data: ComparisonData, steps: Steps, choice: Choice) -> Tuned:
    from tiebreak.pipeline.models import tune_model

    with steps.paused():
        return tune_model(choice, data, progress=steps.shown)


def _report(steps: Steps, step: Step) -> None:
    steps(f"fitting, step {step.number}, {step.gap:.0e} from the minimum")


def _write_csv(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of the same columns one below the other."""
    with path.open("w", encoding="utf-8", newline="") as file:
        # Not written by polars, whose errors of a full disk say too little.
        file.writelines(_csv_texts(tables))


def _csv_texts(tables: Iterable[pl.DataFrame]) -> Iterator[str]:
    for number, table in enumerate(tables):
        text = [name for name, kind in table.schema.items() if kind == pl.String]
        safe = table.with_columns([neutralize_formulas(table[t]) for t in text])
        yield safe.write_csv(include_header=number == 0)
