# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tiebreak`` and its subcommands."""

from typing import Annotated, Any

import typer
from typer import Option

from tiebreak import __version__
from tiebreak.cli.ask import ask
from tiebreak.cli.audit import audit
from tiebreak.cli.check import check
from tiebreak.cli.compare import compare
from tiebreak.cli.convert import convert
from tiebreak.cli.data import data
from tiebreak.cli.judges import judges
from tiebreak.cli.next import next_
from tiebreak.cli.predict import evaluate, predict
from tiebreak.cli.rank import rank
from tiebreak.cli.versus import diff, versus

app = typer.Typer(
    name="tiebreak",
    help="Learn to rank and to compare, ties included: files in, leaderboard out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Begin with `tiebreak rank football`. Exit codes: 0 done, 1 an error of "
    "tiebreak itself, 2 the command was not understood, 3 the file could not be read, "
    "4 the data do not allow it, 5 the result could not be written, 7 an item became "
    "worse (diff --fail-if-worse), 130 interrupted, 143 terminated.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tiebreak {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        Option("--version", callback=_show_version, is_eager=True, help="Show it."),
    ] = False,
) -> None:
    pass


_COMMANDS: tuple[Any, ...] = (
    *(rank, versus, diff, audit, judges, next_, check, compare, predict, evaluate),
    convert,
)
for _command in _COMMANDS:
    app.command(_command.__name__.rstrip("_"), epilog=_command.examples)(_command)
app.command(
    epilog="Examples: `tiebreak ask photos/` · `tiebreak ask items.csv --goal top:5` · "
    "`tiebreak ask texts.txt --raters Ada,Bo` · `tiebreak ask photos/ --export "
    "answers.csv`"
)(ask)
app.add_typer(data, name="data", rich_help_panel="Commands")
