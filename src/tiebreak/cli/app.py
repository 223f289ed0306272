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
from tiebreak.cli.errors import guarded

if TYPE_CHECKING:
    from tiebreak.io import ReadOptions


app = typer.Typer(
    name="tiebreak",
    help="Learn to rank and to compare, ties included: files in, leaderboard out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Exit codes: 0 done, 1 an error of tiebreak itself, 2 the command was not "
    "understood, 3 the file could not be read, 4 the data do not allow it, 5 the "
    "result could not be written, 6 the cluster could not do its part, 130 "
    "interrupted, 143 terminated.",
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
    "votes-report` · `tiebreak rank chess.csv --meaning score --model glicko` · "
    "`tiebreak rank tastings.csv --items wines.csv` · `tiebreak rank votes/ --dask "
    "local` · `tiebreak rank 'log/2024-*.parquet'`"
)
@guarded
@opt.with_reading
def rank(
    file: opt.File,
    reading: ReadOptions,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for report.html, leaderboard.csv and the model.",
            readable=False,
        ),
    ] = Path("tiebreak-report"),
    model: Annotated[
        str,
        typer.Option(
            help="auto; for names bradley-terry, rao-kupper, elo, glicko, glicko2; for "
            "features logistic, svm, linear-svm; for both (--items) logistic-names. In "
            "folders bradley-terry, rao-kupper; for graded items linear-svm, rank-rls."
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
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Choose the settings of the model by what foretells results best.",
        ),
    ] = False,
    dask: opt.Dask = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Keep the steps of a long fit of a folder in this file; the same "
            "command goes on from there.",
            readable=False,
            rich_help_panel=opt.PARTS,
        ),
    ] = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Rank the items of a FILE of results, votes, grades or lists; write a report.

    FILE may also be a folder of Parquet or Arrow files, or a pattern in quotes. They
    are read one after the other, or by the workers of --dask, never all at once.
    """
    if tune and alpha is not None:
        raise typer.BadParameter("--tune chooses alpha; leave one of the two out.")
    from tiebreak.cli.rank import run

    run(
        file, out, reading, model=model, alpha=alpha, level=level, bootstrap=bootstrap,
        reference=reference, tune=tune, dask=dask, checkpoint=checkpoint, quiet=quiet,
        as_json=json, command=_as_typed(),
    )  # fmt: skip


@app.command(
    epilog="Examples: `tiebreak check votes.csv` · `tiebreak check votes.csv --json`"
)
@guarded
@opt.with_reading
def check(
    file: opt.File,
    reading: ReadOptions,
    dask: opt.Dask = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Say what a FILE, or a folder of files, can support, before anything is fitted."""
    from tiebreak.cli.check import run

    run(file, reading, dask=dask, quiet=quiet, as_json=json)


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
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose the settings of every model first.")
    ] = False,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Foretell held-out results of a FILE with several models, on the same rows."""
    from tiebreak.cli.compare import run

    run(file, reading, models=models, tune=tune, quiet=quiet, as_json=json)


@app.command(
    epilog="Examples: `tiebreak predict tiebreak-report/model.tiebreak fixtures.csv` · "
    "`tiebreak predict model.tiebreak pairs.csv --items wines.csv --out answers.csv`"
)
@guarded
@opt.with_asking
def predict(
    model: opt.ModelFile,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Pairs of items without an outcome, or items with features.",
            readable=False,
        ),
    ],
    reading: ReadOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write to a .csv, .tsv or .parquet file.",
            readable=False,
        ),
    ] = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Say what a saved MODEL expects of the pairs or items in a FILE."""
    from tiebreak.cli.predict import run

    run(model, file, reading, out=out, quiet=quiet, as_json=json)


@app.command(
    epilog="Example: `tiebreak evaluate tiebreak-report/model.tiebreak new-results.csv`"
)
@guarded
@opt.with_reading
def evaluate(
    model: opt.ModelFile,
    file: opt.File,
    reading: ReadOptions,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Say how well a saved MODEL foretells the results in a FILE."""
    from tiebreak.cli.evaluate import run

    run(model, file, reading, quiet=quiet, as_json=json)


@app.command(epilog="Example: `tiebreak convert votes.csv comparisons.parquet`")
@guarded
@opt.with_reading
def convert(
    file: opt.File,
    to: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="A .csv, .tsv or .parquet file; for lists .soc, .soi, .toc or .toi.",
            readable=False,
        ),
    ],
    reading: ReadOptions,
    quiet: opt.Quiet = False,
) -> None:
    """Write what a FILE holds as a plain table, or its lists as a PrefLib file."""
    from tiebreak.cli.convert import run

    run(file, to, reading, quiet=quiet)


data = typer.Typer(help="List published data sets, and get them.", no_args_is_help=True)
app.add_typer(data, name="data", rich_help_panel="Commands")


@data.command(
    "list", epilog="Examples: `tiebreak data list` · `tiebreak data list --json`"
)
@guarded
def list_data(json: opt.Json = False) -> None:
    """List the published sets: rows, size, terms, and where each is now."""
    from tiebreak.cli.data import run_list

    run_list(as_json=json)


def _known_sets(names: list[str]) -> list[str]:
    from tiebreak.cli.data import check_names

    return check_names(names)


@data.command(
    epilog="Examples: `tiebreak data get football sushi` · `tiebreak rank $(tiebreak "
    "data get worldcup2022)` · `tiebreak data get -q football/results.csv.gz`"
)
@guarded
def get(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME", help="Sets, or files of sets.", callback=_known_sets
        ),
    ],
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the paths of the files.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Find sets, or download them; print the paths of their files."""
    from tiebreak.cli.data import run_get

    run_get(names, quiet=quiet, as_json=json)


def _as_typed() -> str:
    """Give the command as it was typed."""
    return shlex.join(["tiebreak", *sys.argv[1:]])
