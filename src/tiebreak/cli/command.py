# SPDX-License-Identifier: BSD-3-Clause
"""Declares commands: a function, with the options of reading and ranking.

It imports its pipeline when it runs, so that ``--help`` is quick.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer import Argument, Option

from tiebreak.cli.console import Screen
from tiebreak.cli.errors import guarded
from tiebreak.options import RankOptions, ReadOptions, default_of

# Whether a file can be read is for the reader to say, in its own words.
place = partial(Argument, readable=False)
path = partial(Option, readable=False)

_FORMATS = (
    "CSV, TSV, JSON, Parquet, Arrow, Excel, SQLite, PGN, svmlight, PrefLib or lists, "
    "also packed (.gz, .bz2, .xz, .zst); - is standard input. A folder of Parquet or "
    "Arrow files, or a pattern in quotes, is read as one table. football, llmfao and "
    "worldcup2022 are in the package."
)
_SEVERAL = " Several tables of the same columns are read as one."
File = Annotated[Path, place(help=_FORMATS, metavar="FILE", show_default=False)]
Files = Annotated[
    list[Path], place(help=_FORMATS + _SEVERAL, metavar="FILE", show_default=False)
]
Force = Annotated[
    bool,
    Option("--force", help="Write beside other files in the folder.", hidden=True),
]

READING = tuple(one.name for one in fields(ReadOptions) if one.metadata["panel"])
RANKING = tuple(one.name for one in fields(RankOptions))


def typed() -> str:
    """Return what was typed, for the report; of paths from the root, only the name."""
    import shlex

    words = (Path(word).name if Path(word).anchor else word for word in sys.argv[1:])
    return shlex.join(["tiebreak", *words])


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for parameter in context.command.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help())
        raise typer.Exit


def _flag(name: str, help: str, *flags: str, **options: Any) -> Parameter:
    """Return a parameter that is False unless its flag is there."""
    annotation: Any = Annotated[bool, Option(*flags, help=help, **options)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=annotation)


_QUIET = _flag("quiet", "Say only what went wrong.", "--quiet", "-q")
_JSON = _flag("json", "Print the result as JSON.", "--json")
_HELP_ALL = _flag(
    "help_all", "Show all options.", "--help-all", is_eager=True, callback=_show_all
)


def _parameter(one: Field[Any]) -> Parameter:
    """Return a field of options as the parameter of a command."""
    about, default = one.metadata, default_of(one)
    name = about["flag"] or f"--{one.name.replace('_', '-')}"
    described = Option(
        name,
        metavar=about["metavar"],
        help=about["help"],
        rich_help_panel=about["panel"],
        hidden=not about["common"],
    )
    kind: Any = about["type"] if default is not None else about["type"] | None
    annotation: Any = Annotated[kind, described]
    return Parameter(
        one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def command(
    examples: str,
    *,
    reading: Iterable[str] = READING,
    ranking: Iterable[str] = (),
    json: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function.

    Its ``reading``, ``options`` and ``screen`` become options of the command.
    """
    wanted: dict[Any, tuple[str, ...]] = {
        ReadOptions: tuple(reading),
        RankOptions: tuple(ranking),
    }
    screen = [_QUIET, _JSON] if json else [_QUIET]
    options = [
        _parameter(one)
        for kind, names in wanted.items()
        for one in fields(kind)
        if one.name in names
    ]

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name])
            for name, parameter in signature(function).parameters.items()
            if name not in ("reading", "options", "screen")
        ]

        @wraps(function)
        def run(**values: Any) -> None:
            del values["help_all"]
            show = Screen(**{one.name: values.pop(one.name) for one in screen})
            read, rank = (
                {name: values.pop(name) for name in names} for names in wanted.values()
            )
            values |= {"reading": ReadOptions(**read), "screen": show}
            if rank:
                try:
                    values["options"] = RankOptions(**rank)
                except ValueError as error:
                    raise typer.BadParameter(str(error)) from None
            function(**values)

        parameters = [*own, *screen, *options, _HELP_ALL]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__signature__ = signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
        declared = guarded(run)
        declared.examples = examples  # type: ignore[attr-defined]
        return declared

    return declare
