# SPDX-License-Identifier: BSD-3-Clause
"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

_COLUMNS = "How to read the file"
PARTS = "Many files, and clusters"


def _column(help: str) -> Any:
    return typer.Option(metavar="COLUMN", help=help, rich_help_panel=_COLUMNS)


File = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet, Arrow, svmlight with qid, PrefLib or lists; gzip is "
        "fine.",
        metavar="FILE",
        show_default=False,
        readable=False,  # which is for the reader to say, in its own words
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file.", readable=False)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let workers read the files: local starts one per core of this machine, "
        "tcp://host:port asks a Dask scheduler that runs already.",
        rich_help_panel=PARTS,
    ),
]


def _choice(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel=_COLUMNS)


_READING: dict[str, Any] = {
    "format": _choice(
        "csv, tsv, parquet, arrow, svmlight, preflib or orders; guessed if not given."
    ),
    "kind": _choice("comparisons, grades or orders; guessed from the columns."),
    "meaning": _choice(
        "What a number in the outcome column means: score (of the left side: 1, 0.5, "
        "0) or sign (-1 left is better, 0 tie, 1 right is better)."
    ),
    "both_bad": _choice("Votes that call both bad: tie or drop. [default: tie]"),
    "left": _column("The left item."),
    "right": _column("The right item."),
    "outcome": _column("Who is better: left, tie, right, a name, …"),
    "winner": _column("The winner; with --loser, winners only."),
    "loser": _column("The loser."),
    "left_score": _column("Points of the left side."),
    "right_score": _column("Points of the right side."),
    "advantage": _column("How much left is favored, 1, 0 or -1."),
    "neutral": _column("True where nobody is favored."),
    "rater": _column("Who judged."),
    "period": _column("When: a date or a number."),
    "weight": _column("How much a row counts."),
    "item": _column("The graded item."),
    "grade": _column("Its grade, higher is better."),
    "query": _column("The group within which grades are compared."),
    "person": _column("Who gave the grade."),
    "items": typer.Option(
        metavar="FILE",
        help="A table (CSV, TSV or Parquet) with the features of the items.",
        rich_help_panel=_COLUMNS,
    ),
    "item_column": _column("The names of the items in that table."),
}
_ASKING = ("format", "left", "right", "advantage", "neutral", "item", "query", "items",
          "item_column")  # fmt: skip
"""The options of reading a file that has no outcomes."""


def with_asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a file that has no outcomes."""
    return with_reading(command, _ASKING)


def with_reading(
    command: Callable[..., None], names: Iterable[str] = tuple(_READING)
) -> Callable[..., None]:
    """Give a command the options of reading, gathered in its argument ``reading``.

    Parameters
    ----------
    command : callable
        Takes ``reading``, a `ReadOptions`.
    names : iterable of str, optional
        Which fields of it become options; all by default.

    Returns
    -------
    callable
        Takes one option per field instead.
    """
    types = {name: Annotated[str | None, _READING[name]] for name in names}
    own = signature(command)
    # ReadOptions is imported only when a command runs, and replaced here anyway.
    hints = get_type_hints(command, localns={"ReadOptions": Any}, include_extras=True)
    kept = [
        parameter.replace(annotation=hints[name])
        for name, parameter in own.parameters.items()
        if name != "reading"
    ]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in types.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        from tiebreak.io import ReadOptions

        asked = {name: given.pop(name) for name in types}
        command(reading=ReadOptions(**asked), **given)

    run.__annotations__ = {p.name: p.annotation for p in [*kept, *added]}
    run.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    return run
