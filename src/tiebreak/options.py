# SPDX-License-Identifier: BSD-3-Clause
"""Every option of reading and of ranking, once.

A field has its type, its default and, as metadata, its help, what stands for a value,
and the panel of the help page. The command and `tiebreak.rank` take options from here.
Nothing slow is imported, so that ``--help`` is quick.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from textwrap import wrap
from typing import Any, Literal, TypeVar

T = TypeVar("T")

COLUMNS = "How to read the file"
ROWS = "Which results count"
QUESTIONS = "More questions"
SCALE = "Model and scale"

MEAN = 1500.0  # the rating of the mean item
OUTCOMES = ("left", "tie", "right", "both_bad", "skip")
TIES = ("auto", "davidson", "rao-kupper", "half", "drop")
_TIES_OF: dict[str, tuple[str, ...]] = {  # of others drop
    "auto": TIES,
    "bradley-terry": TIES,
    "judge-bradley-terry": ("davidson", "rao-kupper", "drop"),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "format": (
        *("csv", "tsv", "json", "jsonl", "parquet", "arrow", "excel", "sqlite", "pgn"),
        *("svmlight", "preflib", "orders", "lists"),
    ),
    "kind": ("comparisons", "grades", "orders", "scores"),
    "meaning": ("sign", "score", "left"),
    "both_bad": ("tie", "drop"),
    "unplaced": ("last", "drop"),
    "unlisted": ("unknown", "lower"),
}


def option(
    help: str,
    default: Any = None,
    *,
    panel: str = COLUMNS,
    metavar: str | None = None,
    flag: str | None = None,
    kind: Any = None,
    common: bool = False,
    role: bool = False,
) -> Any:
    """Describe an option; without a ``panel`` it is for Python only.

    ``common`` ones are shown by ``--help``, all by ``--help-all``. ``kind`` is the type
    on the command line, by default that of the default. A ``role`` is that of a column.
    """
    if kind is None:
        kind = str | None if default is None else type(default)
    about: dict[str, Any] = {"help": help, "panel": panel, "metavar": metavar}
    about |= {"flag": flag, "type": kind, "common": common, "role": role}
    if callable(default):
        return field(default_factory=default, metadata=about)
    return field(default=default, metadata=about)


def column(help: str, *, common: bool = False) -> Any:
    """Describe an option that names a column."""
    return option(help, metavar="COLUMN", common=common, role=True)


def default_of(one: Field[Any]) -> Any:
    """Return the default of an option."""
    return one.default if one.default is not MISSING else None


def describe_options(cls: type) -> str:
    """Write names, types and help of options as a docstring has them."""
    lines = []
    for one in fields(cls):
        kind = str(one.type).replace("Literal", "").replace("| None", "").strip()
        kind = kind.replace("[", "{", 1).replace("]", "}") if '"' in kind else kind
        default = default_of(one)
        kind += "" if default in (None, (), "") else f", default={default!r}"
        lines += [f"{one.name} : {kind}"]
        text = re.sub(r" \[default: \w+\]", "", one.metadata["help"])
        lines += [f"    {line}" for line in wrap(text, 80, break_on_hyphens=False)]
    return "\n".join(lines)


def documented(cls: type[T]) -> type[T]:
    """Write the help of all options into the docstring of their class."""
    head = f"{cls.__doc__}\n\nAttributes\n----------\n"
    cls.__doc__ = f"{head}{describe_options(cls)}\n"
    return cls


_IN_PYTHON: ContextVar[bool] = ContextVar("_IN_PYTHON", default=False)


@contextmanager
def in_python(is_python: bool = True) -> Iterator[None]:
    """Let messages of a block name options as arguments, if Python asks."""
    token = _IN_PYTHON.set(is_python or _IN_PYTHON.get())
    try:
        yield
    finally:
        _IN_PYTHON.reset(token)


_SWITCHES = {  # which are true where they stand
    *("skip_bad_rows", "drop_duplicates", "position", "tune", "no_header", "keep_na"),
}


def flag(name: str, value: Any = None) -> str:
    """Write an option as who asks does: ``--left a``, or in Python ``left='a'``."""
    if _IN_PYTHON.get():
        if name in _SWITCHES:
            return f"{name}=True"
        return f"{name}=" if value is None else f"{name}={value!r}"
    if name == "lower_is_better" and value is False:
        return "--higher-is-better"
    option = "--" + ("set" if name == "settings" else name.replace("_", "-"))
    if value is None or value is True:
        return option
    text = str(value)
    if not re.fullmatch(r"[\w-]+", text):
        text = shlex.quote(text) if set(text) & set("$`\\") else repr(text)
    return f"{option} {text}"


@documented
@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a file; None is left to the reader."""

    format: str | None = option(
        "csv, tsv, json, jsonl, parquet, arrow, excel, sqlite, pgn, svmlight, preflib, "
        "orders or lists (lines A > B = C, or A, B, C); guessed if not given."
    )
    encoding: str | None = option("Of a text that is not UTF-8, such as cp1252.")
    sheet: str | None = option("Of an Excel workbook; the first if not given.")
    no_header: bool = option(
        "The first line is a row; three columns are left, right and outcome.", False
    )
    columns: str | None = option(
        "Names of the columns of a file without a header.", metavar="a,b,c"
    )
    keep_na: bool = option(
        "NA, null, None and nan are names of items, not missing ones.", False
    )
    kind: str | None = option(
        "comparisons, grades, orders or scores; guessed from the columns."
    )
    left: str | None = column("The left item.", common=True)
    right: str | None = column("The right item.", common=True)
    outcome: str | None = column(
        "Who is better: left, tie, right, a name, …", common=True
    )
    winner: str | None = column("The winner; with --loser, winners only.")
    loser: str | None = column("The loser.")
    left_score: str | None = column("Points of the left side.")
    right_score: str | None = column("Points of the right side.")
    advantage: str | None = column("How much left is favored, 1, 0 or -1.")
    neutral: str | None = column("True where nobody is favored.")
    rater: str | None = column("Who judged; none: votes are independent.", common=True)
    unit: str | None = column("Rows that are one observation: a task, prompt or match.")
    period: str | None = column("When: a date or a number; none: not used.")
    weight: str | None = column("How much a row counts; none: not used.")
    item: str | None = column("The graded item.")
    grade: str | None = column("Its grade, place or score.")
    task: str | None = column("The task or data set of a table of scores.")
    tie_within: str | float | None = option(
        "Scores of one task that differ by no more are tied: a number, or 1% of the "
        "larger one.",
        metavar="SIZE",
    )
    query: str | None = column(
        "Whose rows are compared, or make a list: race, or season,round."
    )
    person: str | None = column("Who gave the grade.")
    lower_is_better: bool | None = option(
        "Which numbers are best; by default the lowest in columns called rank, place, "
        "loss, error, time, …, else the highest.",
        flag="--lower-is-better/--higher-is-better",
        kind=bool,
        common=True,
    )
    unplaced: Literal["last", "drop"] | None = option(
        "Who started and has no place (DNF, a blank, -): last or drop. [default: last]"
    )
    unlisted: Literal["unknown", "lower"] | None = option(
        "Items that a ranked list leaves out: unknown, or lower than all that it has. "
        "[default: unknown]"
    )
    tie_matrix: str | os.PathLike[str] | None = option(  # noqa: RUF009 - a field
        "For a win matrix: a second table like it with the number of ties.",
        metavar="FILE",
    )
    members: str | None = option(
        "What stands between the members of a side, such as +: a team is worth the sum "
        "of its members. Or name a column per member, --left a1,a2 --right b1,b2.",
        metavar="SIGN",
    )
    meaning: Literal["sign", "score", "left"] | None = option(
        "What a number in the outcome column means: score (of the left side: 1, 0.5, "
        "0), sign (-1 left is better, 0 tie, 1 right is better) or left (1 left is "
        "better, 0 tie, -1 right is better).",
        common=True,
    )
    both_bad: Literal["tie", "drop"] | None = option(
        "Votes that call both bad: tie or drop. [default: tie]"
    )
    outcome_words: str | None = option(
        "What other values of the outcome column mean; also both_bad=… and skip=….",
        metavar="left=1,tie=0.5,right=0",
    )
    likert: str | None = option(
        "The outcome is a scale from left to right; its middle is a tie.",
        metavar="1..7",
    )
    skip_bad_rows: bool = option(
        "Go on without rows that cannot be read; rank writes them to skipped.csv.",
        False,
    )
    items: str | os.PathLike[str] | None = option(  # noqa: RUF009 - a field
        "A table (CSV, TSV or Parquet) with the features of the items.",
        metavar="FILE",
        common=True,
    )
    item_column: str | None = option(
        "The names of the items in that table.", metavar="COLUMN"
    )
    labels: str | os.PathLike[str] | None = option(  # noqa: RUF009 - a field
        "A table of the items and the names to show instead, or a folder of their "
        "pictures, called as they are.",
        metavar="FILE",
    )
    nouns: str | None = option(
        "What items and results are called, such as team,match; by default after the "
        "columns.",
        metavar="ITEM,RESULT",
    )
    where: str | None = option(
        "Only rows of which this is true, such as \"turns > 1 AND language = 'en'\".",
        panel=ROWS,
        metavar="CONDITION",
        common=True,
    )
    drop_duplicates: bool = option(
        "Leave out rows that repeat an earlier one in every column.",
        False,
        panel=ROWS,
    )
    words: tuple[str, ...] = option(
        "Other columns of comparisons to read, as text.", (), panel=""
    )
    numbers: tuple[str, ...] = option(
        "Other columns of comparisons to read, as numbers.", (), panel=""
    )
    fingerprint: bool = option(
        "Whether to number rows so that equal rows of two files have the same number.",
        False,
        panel="",
    )

    def __post_init__(self) -> None:
        if self.item_column is not None and self.items is None:
            raise ValueError(
                f"{flag('item_column')}: also name its file with {flag('items')}."
            )
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise ValueError(
                    f"{flag(name)} must be one of {', '.join(allowed)}, got {value!r}."
                )
        names = ("meaning", "outcome_words", "likert")
        declared = [name for name in names if getattr(self, name) is not None]
        if len(declared) > 1:
            raise ValueError(f"Leave out one of {' and '.join(map(flag, declared))}.")
        if self.nouns is not None and len(_listed(self.nouns)) != 2:
            raise ValueError(f"{flag('nouns')} must be like team,match.")
        self.declared_words()
        self.scale()

    def declared_words(self) -> dict[str, str]:
        """Return the outcome of each value in `outcome_words`, such as "left".

        Returns
        -------
        dict of str to str
        """
        declared: dict[str, str] = {}
        for part in (self.outcome_words or "").split(",") if self.outcome_words else ():
            outcome, sign, value = part.partition("=")
            outcome, value = outcome.strip(), value.strip().casefold()
            if not sign or outcome not in OUTCOMES or not value:
                raise ValueError(
                    f"{flag('outcome_words')} must be like left=1,tie=0.5,right=0, "
                    f"of {', '.join(OUTCOMES)}; got {part!r}."
                )
            if declared.setdefault(value, outcome) != outcome:
                both = f"{declared[value]} and {outcome}"
                raise ValueError(f"{flag('outcome_words')}: {value!r} is {both}.")
        return declared

    def scale(self) -> tuple[int, int] | None:
        """Return the ends of the scale that `likert` names, that of left first.

        Returns
        -------
        tuple of int, or None
        """
        if self.likert is None:
            return None
        ends = re.fullmatch(r" *(-?\d{1,9}) *\.\. *(-?\d{1,9}) *", self.likert)
        if ends is None or ends[1] == ends[2]:
            raise ValueError(
                f"{flag('likert')} must be a scale such as 1..7; got {self.likert!r}."
            )
        return int(ends[1]), int(ends[2])

    def headless(self) -> tuple[str, ...] | None:
        """Return the names of columns without a header, () if usual; None with one.

        Returns
        -------
        tuple of str, or None
        """
        names = _listed(self.columns or "")
        return names if names or self.no_header else None

    def roles(self) -> dict[str, str]:
        """Return the columns that the user named, by their roles.

        Returns
        -------
        dict of str to str
        """
        roles = [one.name for one in fields(self) if one.metadata["role"]]
        return {r: c for r in roles if (c := getattr(self, r)) is not None}


@dataclass(frozen=True)
class Covariate:
    """A number for each comparison, in favor of left: of one column or of two."""

    columns: tuple[str, ...]
    log: bool = False

    @classmethod
    def parse(cls, text: str) -> Covariate:
        """Read ``a``, ``a:b``, ``log:a`` or ``log:a:b``."""
        log, parts = False, [part.strip() for part in text.split(":")]
        if parts[0] == "log" and len(parts) > 1:
            log, parts = True, parts[1:]
        if not all(parts) or len(parts) > 2:
            raise ValueError(
                f"{flag('covariates')} must be a, a:b, log:a or log:a:b; got {text!r}."
            )
        return cls(tuple(parts), log)

    @property
    def label(self) -> str:
        """The covariate in words."""
        written = [f"log {name}" if self.log else name for name in self.columns]
        return " - ".join(written)


@documented
@dataclass(frozen=True)
class RankOptions:
    """What is asked of a ranking."""

    model: str = option(
        "auto, or the name of an estimator: of names bradley-terry, elo, glicko, "
        "plackett-luce, …; of features logistic-compare, rank-svm, svm-compare, "
        "rank-rls, …; a name that does not fit lists those that do.",
        "auto",
        panel=SCALE,
        common=True,
    )
    settings: Mapping[str, Any] = option(
        "A parameter of the model, such as alpha=0 or C=10; more than once for more.",
        dict,
        panel=SCALE,
        metavar="NAME=VALUE",
        flag="--set",
        kind=list[str],
        common=True,
    )
    ties: str | None = option(
        "auto, davidson or rao-kupper (models of ties), half (half a win for each) or "
        "drop (leave them out).",
        panel=SCALE,
        common=True,
    )
    half_life: str | float | None = option(
        "For bradley-terry: the age at which a result counts half, 5y, 18m, 26w, 90d "
        "or a number (of days, if dates are known); auto: what predicts best.",
        panel=SCALE,
        metavar="TIME",
    )
    prior_by: str | Mapping[Any, Any] | None = option(
        "For bradley-terry: a column of --items; ratings of few results are pulled to "
        "the mean of its value, such as that of newcomers, and not of all items. In "
        "Python also a dictionary from items to classes.",
        panel=SCALE,
        metavar="COLUMN",
        kind=str | None,
    )
    level: float = option("Confidence of the intervals.", 0.95, panel=SCALE)
    tune: bool = option(
        "Choose the settings of the model that predict results best.",
        False,
        panel=SCALE,
        common=True,
    )
    anchor: float | str | Mapping[Any, float] | None = option(
        "The rating of an item, such as gpt-4=1114, or of the mean, which is 1500 by "
        "default.",
        panel=SCALE,
        metavar="NAME=N",
    )
    place_from: int | None = option(
        "Rank items with at least so many results, and list the others apart; by "
        "default all, or of more than 100 items those with 30.",
        panel=SCALE,
        metavar="N",
    )
    by: str | Sequence[str] = option(
        "Also a leaderboard for each value of a column, such as language, or of "
        "several, separated by commas. A column of 0 and 1 is one category.",
        "",
        panel=QUESTIONS,
        metavar="COLUMN",
        common=True,
    )
    covariates: str | Sequence[str] = option(
        "What else decides, such as lengths of answers: len_a:len_b (difference of "
        "two columns), log:len_a:len_b (of their logarithms), or a column that favors "
        "left where it is positive.",
        "",
        panel=QUESTIONS,
        metavar="COLUMNS",
        common=True,
    )
    position: bool = option(
        "Learn the effect of being shown first (left).",
        False,
        panel=QUESTIONS,
    )
    since: str | float | None = option(
        "Only results from this date on.", panel=ROWS, metavar="DATE"
    )
    until: str | float | None = option(
        "Only results up to this date.", panel=ROWS, metavar="DATE"
    )
    title: str | None = option(
        "Of the report; the name of the file if not given.", panel=SCALE
    )

    def __post_init__(self) -> None:
        if not isinstance(self.settings, Mapping):
            object.__setattr__(self, "settings", read_settings(self.settings or ()))
        allowed = _TIES_OF.get(self.model, ("drop",))
        if self.ties not in (None, *allowed):
            raise ValueError(
                f"{flag('ties')} must be one of {', '.join(allowed)} for {self.model}; "
                f"got {self.ties!r}."
            )
        if "ties" in self.settings and self.ties not in (None, "drop"):
            raise ValueError(
                f"Leave out {flag('ties', self.ties)} or the setting ties."
            )
        for name in ("anchor", "covariates", "position"):
            is_set = getattr(self, name) not in (None, (), "", False)
            if is_set and self.model in ("elo", "glicko", "glicko2"):
                raise ValueError(
                    f"{flag(name)} is not for {flag('model', self.model)}."
                )
        self.parsed_covariates()
        self.zero()
        if not 0 < self.level < 1:
            raise ValueError(f"{flag('level')} must be in (0, 1); got {self.level!r}.")

    @property
    def model_settings(self) -> dict[str, Any]:
        """The parameters of the model: `settings`, `ties` and `half_life`."""
        settings = dict(self.settings)
        if self.ties not in (None, "drop"):
            settings["ties"] = self.ties
        if self.half_life is not None:
            settings["half_life"] = _read_value(str(self.half_life))
        return settings

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns that --by names."""
        return _listed(self.by)

    def parsed_covariates(self) -> tuple[Covariate, ...]:
        """Return the covariates that were asked for."""
        covariates = tuple(map(Covariate.parse, _listed(self.covariates)))
        if len({covariate.label for covariate in covariates}) < len(covariates):
            raise ValueError(f"{flag('covariates')} names the same one twice.")
        return covariates

    def zero(self) -> tuple[str | None, float]:
        """Return an item, or None for the mean of all, and its rating."""
        return (None, MEAN) if self.anchor is None else _read_anchor(self.anchor)

    def with_columns(self, reading: ReadOptions) -> ReadOptions:
        """Return options of reading that fetch categories and covariates, too."""
        numbers = [name for one in self.parsed_covariates() for name in one.columns]
        return replace(
            reading, words=self.categories, numbers=tuple(dict.fromkeys(numbers))
        )


def _listed(values: str | Sequence[str]) -> tuple[str, ...]:
    parts = values.split(",") if isinstance(values, str) else list(values)
    return tuple(part.strip() for part in parts if part.strip())


def _read_anchor(anchor: Any) -> tuple[str | None, float]:
    """Read ``1000``, ``"NAME=1114"`` or ``{name: 1114}``."""
    name, value = None, anchor
    if isinstance(anchor, Mapping) and len(anchor) == 1:
        ((name, value),) = anchor.items()
    elif isinstance(anchor, str) and "=" in anchor:
        name, _, value = anchor.rpartition("=")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or name == "":
        raise ValueError(
            f"{flag('anchor')} must be like NAME=1114, or 1000; got {anchor!r}."
        )
    return name, number


def read_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Read parameters of an estimator, each like ``C=10`` or ``kernel=linear``."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name.isidentifier() or not value:
            raise ValueError(
                f"{flag('settings')} must be like C=10 or kernel=linear; got {text!r}."
            )
        if name in settings:
            raise ValueError(f"{flag('settings')} names {name} twice; leave one out.")
        settings[name] = _read_value(value)
    return settings


def _read_value(text: str) -> Any:
    """Read a number, true, false, none, or a word."""
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
