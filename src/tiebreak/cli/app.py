# SPDX-License-Identifier: BSD-3-Clause
"""The commands. Whatever takes long to import is imported when a command runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tiebreak import __version__
from tiebreak.cli import options as opt
from tiebreak.cli.failures import guarded

if TYPE_CHECKING:
    from tiebreak.data.files import ReadOptions

__all__ = ["app"]

app = typer.Typer(
    name="tiebreak",
    help="Learn to rank and to compare, ties included: files in, leaderboard out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Exit codes: 0 done, 2 the command was not understood, 3 the file could not "
    "be read, 4 the data do not allow it, 5 the result could not be written, "
    "130 interrupted.",
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tiebreak {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Version."
        ),
    ] = False,
) -> None:
    pass


@app.command(
    epilog="Examples: `tiebreak rank matches.csv` · `tiebreak rank votes.parquet --out "
    "votes-report` · `tiebreak rank chess.csv --meaning score --model glicko`"
)
@guarded
@opt.with_reading
def rank(
    file: opt.File,
    reading: ReadOptions,
    out: Annotated[
        Path,
        typer.Option(help="Folder for report.html, leaderboard.csv and the model."),
    ] = Path("tiebreak-report"),
    model: Annotated[
        str,
        typer.Option(
            help="auto; for names bradley-terry, rao-kupper, elo, glicko, glicko2; for "
            "features logistic, svm, linear-svm."
        ),
    ] = "auto",
    alpha: Annotated[
        float | None, typer.Option(help="Penalty, for models that have one.")
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    bootstrap: Annotated[
        int, typer.Option(help="Take intervals from so many bootstrap resamples.")
    ] = 0,
    reference: Annotated[
        str | None, typer.Option(help="The item that ratings are measured from.")
    ] = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Rank the items of a FILE of results, votes, grades or lists; write a report."""
    from tiebreak.cli.rank_command import run

    run(
        file, out, reading, model=model, alpha=alpha, level=level, bootstrap=bootstrap,
        reference=reference, quiet=quiet, as_json=json, command=_as_typed(),
    )  # fmt: skip


@app.command(
    epilog="Examples: `tiebreak check votes.csv` · `tiebreak check votes.csv --json`"
)
@guarded
@opt.with_reading
def check(
    file: opt.File,
    reading: ReadOptions,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Say what a FILE can support, before anything is fitted."""
    from tiebreak.cli.check_command import run

    run(file, reading, quiet=quiet, as_json=json)


@app.command(
    epilog="Example: `tiebreak compare matches.csv --models bradley-terry,elo,glicko`"
)
@guarded
@opt.with_reading
def compare(
    file: opt.File,
    reading: ReadOptions,
    models: Annotated[
        str, typer.Option(help="Names of models, separated by commas; see rank.")
    ] = "",
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Foretell held-out results of a FILE with several models, on the same rows."""
    from tiebreak.cli.compare_command import run

    run(file, reading, models=models, quiet=quiet, as_json=json)


@app.command(
    epilog="Example: `tiebreak evaluate tiebreak-report/model.tiebreak new-results.csv`"
)
@guarded
@opt.with_reading
def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    file: opt.File,
    reading: ReadOptions,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Say how well a saved MODEL foretells the results in a FILE."""
    from tiebreak.cli.evaluate_command import run

    run(model, file, reading, quiet=quiet, as_json=json)


@app.command(epilog="Example: `tiebreak convert votes.csv comparisons.parquet`")
@guarded
@opt.with_reading
def convert(
    file: opt.File,
    to: Annotated[
        Path, typer.Argument(metavar="OUT", help="A .csv, .tsv or .parquet file.")
    ],
    reading: ReadOptions,
    quiet: opt.Quiet = False,
) -> None:
    """Write the comparisons that a FILE holds as a plain table."""
    from tiebreak.cli.convert_command import run

    run(file, to, reading, quiet=quiet)


def _as_typed() -> str:
    """Give the command as it was typed."""
    return shlex.join(["tiebreak", *sys.argv[1:]])
