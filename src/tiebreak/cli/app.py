# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tiebreak``: its options and subcommands.

Whatever takes long to import is imported when a command runs.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer import Argument, Option

from tiebreak import __version__
from tiebreak.cli.ask import ask
from tiebreak.cli.errors import guarded

if TYPE_CHECKING:
    from tiebreak.io import ReadOptions
    from tiebreak.pipeline.options import RankOptions

_COLUMNS = "How to read the file"
_ROWS = "Which results count"
_QUESTIONS = "More questions"
_SCALE = "Model and scale"
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
    ),
]


def _choice(help: str, metavar: str | None = None) -> Any:
    return Option(metavar=metavar, help=help, rich_help_panel=_COLUMNS)


def _option(panel: str, help: str, metavar: str | None = None, *names: str) -> Any:
    return Option(*names, metavar=metavar, help=help, rich_help_panel=panel)


_asks, _rows, _scaled = (
    partial(_option, panel) for panel in (_QUESTIONS, _ROWS, _SCALE)
)
Since = Annotated[str | None, _rows("Only results from this date on.", "DATE")]
Until = Annotated[str | None, _rows("Only results up to this date.", "DATE")]
HalfLife = _scaled(
    "For bradley-terry: the age at which a result counts half, 5y, 18m, 26w, 90d or a "
    "number of periods; auto: what predicts best.",
    "TIME",
)
Settings = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the model, such as alpha=0 or C=10; may be given several "
        "times.",
        rich_help_panel=_SCALE,
    ),
]
_column = partial(_choice, metavar="COLUMN")
_READING: dict[str, Any] = {
    "format": _choice(
        "csv, tsv, json, jsonl, parquet, arrow, sqlite, svmlight, preflib or orders; "
        "guessed if not given."
    ),
    "encoding": _choice("Of a text that is not UTF-8, such as cp1252."),
    "kind": _choice("comparisons, grades or orders; guessed from the columns."),
    "meaning": _choice(
        "What a number in the outcome column means: score (of the left side: 1, 0.5, "
        "0) or sign (-1 left is better, 0 tie, 1 right is better)."
    ),
    "outcome_words": _choice(
        "What other values of the outcome column mean; also both_bad=… and skip=….",
        metavar="left=1,tie=0.5,right=0",
    ),
    "likert": _choice(
        "The outcome is a scale from left to right; its middle is a tie.",
        metavar="1..7",
    ),
    "both_bad": _choice(
        "Votes that call both bad: tie, drop, or outcome (of its own). [default: tie]"
    ),
    "skip_bad_rows": _choice(
        "Go on without rows that cannot be read; rank writes them to skipped.csv."
    ),
    "left": _column("The left item."),
    "right": _column("The right item."),
    "outcome": _column("Who is better: left, tie, right, a name, …"),
    "winner": _column("The winner; with --loser, winners only."),
    "loser": _column("The loser."),
    "left_score": _column("Points of the left side."),
    "right_score": _column("Points of the right side."),
    "advantage": _column("How much left is favored, 1, 0 or -1."),
    "neutral": _column("True where nobody is favored."),
    "rater": _column("Who judged; none takes votes as independent."),
    "period": _column("When: a date or a number; none: not used."),
    "weight": _column("How much a row counts; none: not used."),
    "item": _column("The graded item."),
    "grade": _column("Its grade, higher is better."),
    "query": _column("The group within which grades are compared."),
    "person": _column("Who gave the grade."),
    "items": _choice(
        "A table (CSV, TSV or Parquet) with the features of the items.", metavar="FILE"
    ),
    "item_column": _column("The names of the items in that table."),
    "where": _rows(
        "Only rows of which this is true, such as \"turns > 1 AND language = 'en'\".",
        "CONDITION",
    ),
    "drop_duplicates": _rows(
        "Leave out rows that repeat an earlier one in every column.",
        None,
        "--drop-duplicates",
    ),
}
_FLAGS = ("skip_bad_rows", "drop_duplicates")  # options without a value
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


def with_reading(
    command: Callable[..., None], names: Iterable[str] = tuple(_READING)
) -> Callable[..., None]:
    """Return a command with the options of reading instead of its ``reading``.

    ``names`` are the fields of `ReadOptions` that become options.
    """
    types = {
        name: Annotated[bool if name in _FLAGS else str | None, _READING[name]]
        for name in names
    }
    own = signature(command)
    # ReadOptions is imported only when a command runs, and replaced here anyway.
    hints = get_type_hints(command, localns={"ReadOptions": Any}, include_extras=True)
    kept = [
        parameter.replace(annotation=hints[name])
        for name, parameter in own.parameters.items()
        if name != "reading"
    ]
    added = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=False if name in _FLAGS else None,
            annotation=kind,
        )
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
    from tiebreak.lazy import postpone

    postpone("scipy.stats", "pandas")


@app.command(
    epilog="Examples: `tiebreak rank matches.csv` · `tiebreak rank votes.parquet --out "
    "votes-report` · `tiebreak rank chess.csv --meaning score --model glicko` · "
    "`tiebreak rank tastings.csv --items wines.csv` · `tiebreak rank votes/ --dask "
    "local` · `tiebreak rank 'log/2024-*.parquet'`"
)
@guarded
@with_reading
def rank(
    file: Files,
    reading: ReadOptions,
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
        _path(metavar="OUT", help="Draw the leaderboard in a .png, .svg or .pdf file."),
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Write to a folder that holds other files, too.")
    ] = False,
    title: Annotated[
        str | None, Option(help="Of the report; the name of the file if not given.")
    ] = None,
    by: Annotated[
        str,
        _asks(
            "A leaderboard for each value of a column too, such as language; several "
            "separated by commas. A column of 0 and 1 is one category.",
            "COLUMN",
        ),
    ] = "",
    covariates: Annotated[
        str,
        _asks(
            "Take into account what else decides, with the size of its effect and who "
            "moves: len_a:len_b (difference of two columns), log:len_a:len_b (of their "
            "logarithms), or a column that favors left where it is positive.",
            "COLUMNS",
        ),
    ] = "",
    position: Annotated[
        bool,
        _asks("Learn the effect of being shown first (left).", None, "--position"),
    ] = False,
    since: Since = None,
    until: Until = None,
    model: Annotated[
        str,
        _scaled(
            "auto, or the name of an estimator: of names bradley-terry, elo, glicko, "
            "plackett-luce, …; of features logistic-compare, rank-svm, svm-compare, "
            "rank-rls, …; a name that does not fit lists those that do."
        ),
    ] = "auto",
    ties: Annotated[
        str | None,
        _scaled(
            "auto, davidson or rao-kupper (models of ties), half (half a win for "
            "each) or drop (leave them out)."
        ),
    ] = None,
    settings: Settings = None,
    half_life: Annotated[str | None, HalfLife] = None,
    level: Annotated[float, _scaled("Confidence of the intervals.")] = 0.95,
    anchor: Annotated[
        str | None,
        _scaled(
            "The rating of an item, such as gpt-4=1114, or of the mean, which is 1500 "
            "by default.",
            "NAME=N",
        ),
    ] = None,
    tune: Annotated[
        bool,
        _scaled(
            "Choose the settings of the model that predict results best.",
            None,
            "--tune",
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

    options = _rank_options(
        model=model,
        ties=ties,
        settings=_read_settings(settings),
        half_life=half_life,
        level=level,
        tune=tune,
        anchor=anchor,
        by=by,
        covariates=covariates,
        position=position,
        since=since,
        until=until,
        title=title,
    )
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
@with_reading
def versus(
    file: File,
    name: Annotated[str, Argument(metavar="ITEM", help="The item to compare.")],
    reading: ReadOptions,
    others: Annotated[
        list[str] | None,
        Argument(metavar="OTHER", help="Items to compare it with; none: all."),
    ] = None,
    model: Annotated[
        str, Option(help="auto, bradley-terry, glicko or glicko2.")
    ] = "auto",
    settings: Settings = None,
    level: Annotated[float, Option(help="Confidence of the intervals.")] = 0.95,
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
        model=model,
        settings=_read_settings(settings),
        level=level,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    epilog="Examples: `tiebreak diff june.csv july.csv` · `tiebreak diff old.json "
    "new.json` · `tiebreak diff june.csv july.csv --fail-if-worse my-model`"
)
@guarded
@with_reading
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
    ties: Annotated[str | None, Option(help="As in rank.")] = None,
    settings: Settings = None,
    level: Annotated[float, Option(help="Confidence of the intervals.")] = 0.95,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say which ratings and ranks changed from OLD to NEW, and what is only noise."""
    from tiebreak.cli.diff import run
    from tiebreak.pipeline.options import TIES

    if ties is not None and ties not in TIES:
        expected = ", ".join(TIES)
        raise typer.BadParameter(f"--ties must be one of {expected}; got {ties!r}.")

    run(
        old,
        new,
        reading,
        fail_if_worse=fail_if_worse or [],
        reference=reference,
        ties=ties,
        settings=_read_settings(settings),
        level=level,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    epilog="Examples: `tiebreak audit votes.csv` · `tiebreak audit votes.csv --claim "
    "'A > B' --votes votes-that-matter.csv`"
)
@guarded
@with_reading
def audit(
    file: File,
    reading: ReadOptions,
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
    by: Annotated[
        str, _asks("Look at each value of a column alone, too.", "COLUMN")
    ] = "",
    covariates: Annotated[str, _asks("As in rank.", "COLUMNS")] = "",
    position: Annotated[
        bool, _asks("Learn the effect of being shown first.", None, "--position")
    ] = False,
    since: Since = None,
    until: Until = None,
    ties: Annotated[
        str | None, Option(help="auto, davidson, rao-kupper, half or drop; see rank.")
    ] = None,
    settings: Settings = None,
    level: Annotated[
        float, Option(help="Confidence that a claim needs to be more than luck.")
    ] = 0.95,
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

    options = _rank_options(
        by=by,
        covariates=covariates,
        position=position,
        since=since,
        until=until,
        ties=ties,
        settings=_read_settings(settings),
        level=level,
    )
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
@with_reading
def judges(
    file: File,
    reading: ReadOptions,
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
    level: Annotated[float, Option(help="Confidence of the intervals.")] = 0.95,
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
        level=level,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    name="next",
    epilog="Examples: `tiebreak next votes.csv` · `tiebreak next votes.csv -n 50`",
)
@guarded
@with_reading
def next_(
    file: File,
    reading: ReadOptions,
    number: Annotated[int, Option("-n", "--number", help="How many pairs.")] = 20,
    settings: Settings = None,
    level: Annotated[float, Option(help="Confidence of telling two apart.")] = 0.95,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say which pairs of a FILE to compare next, and how many votes are missing."""
    from tiebreak.cli.next import run

    run(
        file,
        reading,
        number=number,
        settings=_read_settings(settings),
        level=level,
        quiet=quiet,
        as_json=json,
    )


@app.command(
    epilog="Examples: `tiebreak check votes.csv` · `tiebreak check votes.csv --json`"
)
@guarded
@with_reading
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
@with_reading
def compare(
    file: File,
    reading: ReadOptions,
    models: Annotated[
        str,
        Option(
            help="Names of models, separated by commas, each with its settings after "
            "blanks: 'elo, rank-svm kernel=linear C=1'; see rank."
        ),
    ] = "",
    half_life: Annotated[str | None, HalfLife] = None,
    tune: Annotated[
        bool, Option("--tune", help="Choose the settings of every model first.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict held-out results of a FILE with several models, on the same rows."""
    from tiebreak.cli.compare import run

    given: Any = {"models": models, "half_life": half_life, "tune": tune}
    run(file, reading, **given, quiet=quiet, as_json=json)


@app.command(
    epilog="Examples: `tiebreak predict tiebreak-report/model.tiebreak fixtures.csv` · "
    "`tiebreak predict model.tiebreak pairs.csv --items wines.csv --out answers.csv`"
)
@guarded
@partial(with_reading, names=_UNLABELED)
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
@with_reading
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
@with_reading
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
    "answers.csv` · `tiebreak ask --simulate 100`"
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


def _rank_options(**given: Any) -> RankOptions:
    from tiebreak.pipeline.options import RankOptions

    try:
        return RankOptions(**given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _read_settings(texts: list[str] | None) -> dict[str, Any]:
    from tiebreak.pipeline.options import read_settings

    try:
        return read_settings(texts or [])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


data = typer.Typer(help="List published data sets, and get them.", no_args_is_help=True)
app.add_typer(data, name="data", rich_help_panel="Commands")


@data.command(
    "list", epilog="Examples: `tiebreak data list` · `tiebreak data list --json`"
)
@guarded
def list_data(json: Json = False) -> None:
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
