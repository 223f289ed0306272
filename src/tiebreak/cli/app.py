# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tiebreak``: its options and subcommands.

Whatever takes long to import is imported when a command runs.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer import Argument, Option

from tiebreak import __version__
from tiebreak.cli.ask import ask
from tiebreak.cli.errors import guarded
from tiebreak.options import RankOptions, ReadOptions, default_of

_PARTITIONS = "Many files, and clusters"
# Whether a file can be read is for the reader to say, in its own words.
_place = partial(Argument, readable=False)
_path = partial(Option, readable=False)


File = Annotated[
    Path,
    _place(
        help="CSV, TSV, JSON, JSON Lines, Parquet, Arrow, svmlight with qid, PrefLib "
        "or lists, also packed (.gz, .bz2, .xz, .zst); - is standard input.",
        metavar="FILE",
        show_default=False,
    ),
]
Files = Annotated[
    list[Path],
    _place(
        help="CSV, TSV, JSON, JSON Lines, Parquet, Arrow, svmlight with qid, PrefLib "
        "or lists, also packed (.gz, .bz2, .xz, .zst); - is standard input. Several "
        "tables of the same columns are read as one.",
        metavar="FILE",
        show_default=False,
    ),
]
ModelFile = Annotated[Path, _place(metavar="MODEL", help="A model file.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Say only what went wrong.")]
Json = Annotated[bool, Option("--json", help="Print the result as JSON.")]

Dask = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Let workers read the files: local starts one per core of this machine, "
        "tcp://host:port asks a Dask scheduler that runs already.",
        rich_help_panel=_PARTITIONS,
        hidden=True,
    ),
]


# The options of reading a file that has no outcomes.
_UNLABELED = (
    "format",
    "encoding",
    "left",
    "right",
    "advantage",
    "neutral",
    "item",
    "query",
    "items",
    "item_column",
)
_READING = tuple(one.name for one in fields(ReadOptions) if one.metadata["panel"])
_RANKING = tuple(one.name for one in fields(RankOptions))


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked:
        for parameter in context.command.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help())
        raise typer.Exit


_HELP_ALL = Annotated[
    bool,
    Option("--help-all", is_eager=True, callback=_show_all, help="Show all options."),
]


def _parameter(one: Field[Any]) -> Parameter:
    """Return a field of options as the parameter of a command."""
    about, default = one.metadata, default_of(one)
    names = [] if about["flag"] is None else [about["flag"]]
    kind: Any = about["type"] if default is not None else about["type"] | None
    described = Option(
        *names,
        metavar=about["metavar"],
        help=about["help"],
        rich_help_panel=about["panel"],
        hidden=not about["common"],
    )
    annotation: Any = Annotated[kind, described]
    return Parameter(
        one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def with_options(
    reading: Iterable[str] = _READING, ranking: Iterable[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of its ``reading`` and ``options`` instead of these.

    Both are fields of `ReadOptions` and `RankOptions`, by name.
    """
    wanted = {ReadOptions: tuple(reading), RankOptions: tuple(ranking)}
    added = [
        _parameter(one)
        for kind, names in wanted.items()
        for one in fields(kind)
        if one.name in names
    ]
    all_of_it = Parameter(
        "help_all", Parameter.KEYWORD_ONLY, default=False, annotation=_HELP_ALL
    )

    def expand(command: Callable[..., None]) -> Callable[..., None]:
        own = signature(command)
        hints = get_type_hints(command, include_extras=True)
        kept = [
            parameter.replace(annotation=hints[name])
            for name, parameter in own.parameters.items()
            if name not in ("reading", "options")
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            del given["help_all"]
            asked = {
                kind: {name: given.pop(name) for name in names}
                for kind, names in wanted.items()
            }
            given["reading"] = ReadOptions(**asked[ReadOptions])
            if asked[RankOptions]:
                try:
                    given["options"] = RankOptions(**asked[RankOptions])
                except ValueError as error:
                    raise typer.BadParameter(str(error)) from None
            command(**given)

        parameters = [*kept, *added, all_of_it]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return expand


app = typer.Typer(
    name="tiebreak",
    help="Learn to rank and to compare, ties included: files in, leaderboard out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Exit codes: 0 done, 1 an error of tiebreak itself, 2 the command was not "
    "understood, 3 the file could not be read, 4 the data do not allow it, 5 the "
    "result could not be written, 6 the cluster could not do its work, 7 an "
    "item became worse (diff --fail-if-worse), 130 "
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
        Option("--version", callback=_show_version, is_eager=True, help="Version."),
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
@with_options(ranking=_RANKING)
def rank(
    file: Files,
    reading: ReadOptions,
    options: RankOptions,
    out: Annotated[
        Path | None,
        _path(
            help="Folder for report.html, leaderboard.csv and the model. [default: "
            "tiebreak-report; with --print none]"
        ),
    ] = None,
    print_: Annotated[
        str | None,
        Option(
            "--print",
            metavar="FORM",
            help="Print the leaderboard alone, as table, markdown, latex or csv; "
            "files are written only with --out.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        _path(
            metavar="OUT",
            help="Draw the leaderboard in a .png, .svg or .pdf file.",
            hidden=True,
        ),
    ] = None,
    force: Annotated[
        bool,
        Option(
            "--force",
            help="Write to a folder that holds other files, too.",
            hidden=True,
        ),
    ] = False,
    dask: Dask = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rank the items of a FILE of results, votes, grades or lists; write a report.

    FILE may also be a folder of Parquet or Arrow files, or a pattern in quotes. They
    are read one after the other, or by the workers of --dask, never all at once.
    """
    from tiebreak.cli.rank import run

    run(
        file,
        out,
        reading,
        options,
        form=_read_form(print_, json),
        as_json=json,
        plot=_read_plot(plot),
        force=force,
        dask=dask,
        quiet=quiet,
        command=shlex.join(["tiebreak", *sys.argv[1:]]),
    )


@app.command(
    epilog="Examples: `tiebreak versus votes.csv A B` · `tiebreak versus votes.csv A`"
)
@guarded
@with_options(ranking=("model", "settings", "level"))
def versus(
    file: File,
    name: Annotated[str, Argument(metavar="ITEM", help="The item to compare.")],
    reading: ReadOptions,
    options: RankOptions,
    others: Annotated[
        list[str] | None,
        Argument(metavar="OTHER", help="Items to compare it with; none: all."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say of an ITEM of a FILE whether it is better than OTHER items, and how sure."""
    from tiebreak.cli.versus import run

    run(
        file,
        name,
        others or [],
        reading,
        options=options,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    epilog="Examples: `tiebreak diff june.csv july.csv` · `tiebreak diff old.json "
    "new.json` · `tiebreak diff june.csv july.csv --fail-if-worse my-model`"
)
@guarded
@with_options(ranking=("ties", "settings", "level"))
def diff(
    old: Annotated[
        Path,
        _place(
            metavar="OLD",
            help="Results, the JSON of tiebreak rank --json, a model file, or the "
            "folder of a report.",
        ),
    ],
    new: Annotated[Path, _place(metavar="NEW", help="The same, later.")],
    reading: ReadOptions,
    options: RankOptions,
    fail_if_worse: Annotated[
        list[str] | None,
        Option(
            metavar="ITEM",
            help="End with code 7 if this item became worse by more than noise; may "
            "be given several times.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        Option(help="The item that changes are measured from; else the mean."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say which ratings and ranks changed from OLD to NEW, and what is only noise."""
    from tiebreak.cli.diff import run

    run(
        old,
        new,
        reading,
        fail_if_worse=fail_if_worse or [],
        options=options,
        reference=reference,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    epilog="Examples: `tiebreak audit votes.csv` · `tiebreak audit votes.csv --claim "
    "'A > B' --votes votes-that-matter.csv`"
)
@guarded
@with_options(
    ranking=(
        "by",
        "covariates",
        "position",
        "since",
        "until",
        "ties",
        "settings",
        "level",
    )
)
def audit(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    claim: Annotated[
        list[str] | None,
        Option(
            metavar="TEXT",
            help="'A > B', 'A = B' (cannot be told apart), 'A first' or 'A, B, C "
            "first'; more than once for more claims. [default: who is first, who is "
            "above the next, and the first few]",
        ),
    ] = None,
    top: Annotated[int, Option(help="How many the first few are.")] = 5,
    neighbors: Annotated[
        int,
        Option(help="Of how many items to ask whether they are above the next."),
    ] = 10,
    votes: Annotated[
        Path | None,
        _path(metavar="OUT", help="Write the votes that claims hang on, as CSV."),
    ] = None,
    out: Annotated[
        Path | None,
        _path(
            metavar="FOLDER",
            help="Write the report of rank there, with what the audit found.",
        ),
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Write beside other files in the folder of --out.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say which claims of a FILE's leaderboard survive, and what overturns them."""
    from tiebreak.cli.audit import run

    run(
        file,
        reading,
        options,
        claims=claim,
        top=top,
        neighbors=neighbors,
        votes=votes,
        out=out,
        force=force,
        quiet=quiet,
        as_json=json,
        command=shlex.join(["tiebreak", *sys.argv[1:]]),
    )


@app.command(
    epilog="Examples: `tiebreak judges votes.csv` · `tiebreak judges votes.csv --rater "
    "annotator --people ann --people bo`"
)
@guarded
@with_options(ranking=("level",))
def judges(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    people: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Compare all other judges with these; more than once for more people.",
        ),
    ] = None,
    question: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="What was asked, such as the prompt; without it, votes on the same "
            "two items answer the same question.",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say how well the judges of a FILE agree, and whom to drop or weigh less."""
    from tiebreak.cli.judges import run

    run(
        file,
        reading,
        people=people or [],
        question=question,
        options=options,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    name="next",
    epilog="Examples: `tiebreak next votes.csv` · `tiebreak next votes.csv -n 50`",
)
@guarded
@with_options(ranking=("settings", "level"))
def next_(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    number: Annotated[int, Option("-n", "--number", help="How many pairs.")] = 20,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say which pairs of a FILE to compare next, and how many votes are missing."""
    from tiebreak.cli.next import run

    run(
        file,
        reading,
        number=number,
        options=options,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    epilog="Examples: `tiebreak check votes.csv` · `tiebreak check votes.csv --json`"
)
@guarded
@with_options()
def check(
    file: Files,
    reading: ReadOptions,
    dask: Dask = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say what a FILE, or a folder of files, can support, before anything is fitted."""
    from tiebreak.cli.check import run

    run(file, reading, dask=dask, quiet=quiet, as_json=json)


@app.command(
    epilog="Example: `tiebreak compare matches.csv --models bradley-terry,elo,glicko`"
)
@guarded
@with_options(ranking=("half_life", "tune"))
def compare(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    models: Annotated[
        str,
        Option(
            help="Names of models, separated by commas, each with its settings after "
            "blanks: 'elo, rank-svm kernel=linear C=1'; see rank."
        ),
    ] = "",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict held-out results of a FILE with several models, on the same rows."""
    from tiebreak.cli.compare import run

    run(file, reading, models=models, options=options, quiet=quiet, as_json=json)


@app.command(
    epilog="Examples: `tiebreak predict tiebreak-report/model.tiebreak fixtures.csv` · "
    "`tiebreak predict model.tiebreak pairs.csv --items wines.csv --out answers.csv`"
)
@guarded
@with_options(_UNLABELED)
def predict(
    model: ModelFile,
    file: Annotated[
        Path,
        _place(
            metavar="FILE",
            help="Pairs of items without an outcome, or items with features.",
        ),
    ],
    reading: ReadOptions,
    out: Annotated[
        Path | None,
        _path(metavar="OUT", help="Write to a .csv, .tsv or .parquet file."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the pairs or items in a FILE with a saved MODEL."""
    from tiebreak.cli import predict

    predict.predict(model, file, reading, out=out, quiet=quiet, as_json=json)


@app.command(
    epilog="Example: `tiebreak evaluate tiebreak-report/model.tiebreak new-results.csv`"
)
@guarded
@with_options()
def evaluate(
    model: ModelFile,
    file: File,
    reading: ReadOptions,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say how well a saved MODEL predicts the results in a FILE."""
    from tiebreak.cli import predict

    predict.evaluate(model, file, reading, quiet=quiet, as_json=json)


@app.command(epilog="Example: `tiebreak convert votes.csv comparisons.parquet`")
@guarded
@with_options()
def convert(
    file: File,
    to: Annotated[
        Path,
        _place(
            metavar="OUT",
            help="A .csv, .tsv or .parquet file; for lists .soc, .soi, .toc or .toi.",
        ),
    ],
    reading: ReadOptions,
    quiet: Quiet = False,
) -> None:
    """Write what a FILE holds as a plain table, or its lists as a PrefLib file."""
    from tiebreak.cli.convert import run

    run(file, to, reading, quiet=quiet)


app.command(
    epilog="Examples: `tiebreak ask photos/` · `tiebreak ask items.csv --goal top:5` · "
    "`tiebreak ask texts.txt --raters Ada,Bo` · `tiebreak ask photos/ --export "
    "answers.csv`"
)(ask)


def _read_form(form: str | None, json: bool) -> str | None:
    from tiebreak.cli.rank import FORMS

    if form is not None and form not in FORMS:
        expected = ", ".join(FORMS)
        raise typer.BadParameter(f"--print must be one of {expected}; got {form!r}.")
    if json and form is not None:
        raise typer.BadParameter(
            f"--json and --print {form} exclude each other; leave one of the two out."
        )
    return form


def _read_plot(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise typer.BadParameter(
            f"--plot draws .png, .svg or .pdf files; got {path.name!r}."
        )
    return path


data = typer.Typer(help="List published data sets, and get them.", no_args_is_help=True)
app.add_typer(data, name="data", rich_help_panel="Commands")


@data.command(
    "list", epilog="Examples: `tiebreak data list` · `tiebreak data list --json`"
)
@guarded
def list_data(json: Json = False) -> None:
    """List the published sets: rows, terms, and whether each is here."""
    from tiebreak.cli.data import run_list

    run_list(as_json=json)


def _known_sets(names: list[str]) -> list[str]:
    from tiebreak.cli.data import check_names

    return check_names(names)


@data.command(
    epilog="Examples: `tiebreak data get football sushi` · `tiebreak rank $(tiebreak "
    "data get worldcup2022)` · `tiebreak data get -q football/results.csv`"
)
@guarded
def get(
    names: Annotated[
        list[str],
        Argument(metavar="NAME", help="Sets, or files of sets.", callback=_known_sets),
    ],
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print only the paths of the files.")
    ] = False,
    json: Json = False,
) -> None:
    """Find sets, or download them; print the paths of their files."""
    from tiebreak.cli.data import run_get

    run_get(names, quiet=quiet, as_json=json)
