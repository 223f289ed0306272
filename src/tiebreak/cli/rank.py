# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank``: what it prints and what it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from tiebreak.cli.command import RANKING, Files, Force, command, path, typed
from tiebreak.cli.console import Screen, print_json, print_text
from tiebreak.options import RankOptions, ReadOptions

if TYPE_CHECKING:
    from tiebreak.pipeline.result import RankResult

Form = Literal["table", "markdown", "latex", "csv"]
JSON_VERSION = 1
# Rows of the leaderboard: at least; in a file; and lines that are no rows.
_FEWEST, _PRINTED, _OTHERS = 10, 20, 24


@command(
    "Examples: `tiebreak rank matches.csv` · `tiebreak rank votes.parquet --out "
    "votes-report` · `tiebreak rank chess.csv --meaning score --model glicko` · "
    "`tiebreak rank tastings.csv --items wines.csv` · `tiebreak rank votes/` · "
    "`tiebreak rank 'log/2024-*.parquet'`",
    ranking=RANKING,
)
def rank(
    file: Files,
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    out: Annotated[
        Path | None,
        path(
            help="Folder for report.html, leaderboard.csv and the model. [default: "
            "tiebreak-report; with --print none]"
        ),
    ] = None,
    form: Annotated[
        Form | None,
        Option(
            "--print",
            metavar="FORM",
            help="Print the leaderboard alone, as table, markdown, latex or csv; "
            "files are written only with --out.",
        ),
    ] = None,
    every: Annotated[
        bool, Option("--all", help="Print all items, not only what fits.")
    ] = False,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Print all checks, notes and settings.")
    ] = False,
    force: Force = False,
) -> None:
    """Rank the items of a FILE of results, votes, grades or lists; write a report."""
    from tiebreak.cli.files import (
        REPORT,
        SKIPPED,
        prepare_folder,
        read_files,
        write_result,
    )
    from tiebreak.data.messages import speaking_of

    if screen.json and form is not None:
        raise typer.BadParameter(
            f"--json and --print {form} exclude each other; leave one of the two out."
        )
    alone = screen.json or form is not None
    people = replace(screen, quiet=screen.quiet or form is not None)
    folder = out or (None if alone else Path("tiebreak-report"))
    prepare_folder(folder, [*file, reading.items], options, force)
    steps, output = people.steps(), people.output()
    with steps:
        source = read_files(file, reading, options, steps)
        steps("loading")
        from tiebreak.pipeline.rank import rank_source

        result = rank_source(source, options, progress=steps)
        result = replace(result, command=typed())
        if folder is not None:
            steps("writing the report")
            write_result(result, folder)
    if screen.json:
        head = {
            "version": JSON_VERSION,
            "file": ", ".join(map(str, file)),
            "out": None if folder is None else str(folder),
            "model": result.choice.name,
            "ties": getattr(result.model, "tie_model_", None),
        }
        print_json(head | result.to_dict())
    elif form is not None:
        with speaking_of(source.nouns):
            print_text(_as_text(result, form))
    else:
        assert folder is not None
        rows = max(output.height - _OTHERS, _FEWEST) if output.is_terminal else _PRINTED
        rows = source.n_items if every else rows
        output.show(result.parts(output.width, rows, verbose=verbose, in_command=True))
        output.show([f"Report: {folder / REPORT}"])
        if source.skipped is not None:
            output.show([f"Skipped rows: {folder / SKIPPED}"])


def _as_text(result: RankResult, form: str) -> str:
    """Write the leaderboard as a table of documents, or as CSV."""
    from tiebreak.cli.files import result_table
    from tiebreak.ratings.leaderboard_table import leaderboard_text
    from tiebreak.report.tables import as_document, csv_text

    if form == "csv":
        return csv_text(result_table(result))
    board, level = result.board, result.options.level
    if board is None:
        raise ValueError(
            f"--print {form} shows items by name, and these have none; try --print csv."
        )
    if form == "table":
        return leaderboard_text(board, level) + "\n"
    return as_document(board, level, form)
