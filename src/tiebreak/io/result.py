# SPDX-License-Identifier: BSD-3-Clause
"""What users say about a file, what a reader returns, and how errors are worded.

Every reader takes `ReadOptions` and returns a `ReadResult` with one of its three kinds
filled. A file that cannot be read is a `FileError`; one with several meanings is a
`NeedsAnswer`, whose message names the options that choose.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import polars as pl
from numpy.typing import NDArray

from tiebreak.data.items import ItemTable
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs

Error = Callable[[str], "FileError"]  # makes the error of a file from its reason
Kind = Literal["comparisons", "grades", "orders"]
OUTCOMES = ("left", "tie", "right", "both_bad", "skip")

_CHOICES: dict[str, tuple[str, ...]] = {
    "format": (
        "csv",
        "tsv",
        "json",
        "jsonl",
        "parquet",
        "arrow",
        "sqlite",
        "svmlight",
        "preflib",
        "orders",
    ),
    "kind": ("comparisons", "grades", "orders"),
    "meaning": ("sign", "score"),
    "both_bad": ("tie", "drop", "outcome"),
}
# The options that name no column of the file.
_OTHERS = (
    *_CHOICES, "encoding", "outcome_words", "likert", "skip_bad_rows",
    "items", "item_column", "where", "drop_duplicates", "words", "numbers",
    "fingerprint",
)  # fmt: skip
_FLAGS = ("skip_bad_rows", "drop_duplicates", "position", "tune")


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a file; None is left to the reader.

    Attributes
    ----------
    format : {"csv", "tsv", "json", "jsonl", "parquet", "arrow", "sqlite", "svmlight",\
            "preflib", "orders"}
        How the file is written.
    encoding : str
        The encoding of a text that is neither UTF-8 nor UTF-16, such as ``"cp1252"``.
    kind : {"comparisons", "grades", "orders"}
        Which kind of data to make of it.
    left, right, outcome : str
        Columns of the two items and of who is better.
    winner, loser : str
        Columns of the better and the worse item; `winner` alone is the outcome column.
    left_score, right_score : str
        Columns of the points of both sides; more is better.
    advantage, neutral : str
        Column of how much the left side is favored, or of true where it is not.
    rater, period, weight : str
        Columns of who judged, when, and how much a row counts.
    item, grade, query, person : str
        Columns of graded items, their grades, their groups, and who gave the grades.
    meaning : {"sign", "score"}
        What a number in the outcome column means, see `tiebreak.Outcome.parse`.
    both_bad : {"tie", "drop", "outcome"}
        What to do with votes that call both items bad; ties by default. "outcome": an
        outcome of its own, see `tiebreak.BradleyTerry`.
    outcome_words : str
        What values of the outcome column mean, such as ``"left=1,tie=0.5,right=0"``;
        ``both_bad`` and ``skip`` can be named too.
    likert : str
        The two ends of the scale in the outcome column, such as ``"1..7"``. The first
        one says that left is better, and the middle, if it is a value, is a tie.
    skip_bad_rows : bool
        Leave out rows that cannot be read, instead of refusing the file.
    items, item_column : str or path, str
        Another file, with the features of the items, and its column of their names.
    where : str
        Read only rows for which this SQL expression of the columns is true.
    drop_duplicates : bool
        Leave out rows that repeat an earlier one in every column.
    words, numbers : tuple of str
        Other columns of comparisons to read, as text and as numbers.
    fingerprint : bool
        Whether to number rows so that equal rows of two files have the same number.
    """

    format: str | None = None
    encoding: str | None = None
    kind: str | None = None
    left: str | None = None
    right: str | None = None
    outcome: str | None = None
    winner: str | None = None
    loser: str | None = None
    left_score: str | None = None
    right_score: str | None = None
    advantage: str | None = None
    neutral: str | None = None
    rater: str | None = None
    period: str | None = None
    weight: str | None = None
    item: str | None = None
    grade: str | None = None
    query: str | None = None
    person: str | None = None
    meaning: Literal["sign", "score"] | None = None
    both_bad: Literal["tie", "drop", "outcome"] | None = None
    outcome_words: str | None = None
    likert: str | None = None
    skip_bad_rows: bool = False
    items: str | os.PathLike[str] | None = None
    item_column: str | None = None
    where: str | None = None
    drop_duplicates: bool = False
    words: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    fingerprint: bool = False

    def __post_init__(self) -> None:
        if self.item_column is not None and self.items is None:
            raise ValueError(
                f"--item-column names {self.item_column!r} in a table of items, but "
                "there is none; name its file with --items. A column of FILE itself is "
                "named with --item."
            )
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise ValueError(
                    f"{flag(name)} must be one of {', '.join(allowed)}, got {value!r}."
                )
        declared = [
            name
            for name in ("meaning", "outcome_words", "likert")
            if getattr(self, name) is not None
        ]
        if len(declared) > 1:
            raise ValueError(
                f"{' and '.join(map(flag, declared))} both say what the values of the "
                "outcome column mean; leave one out."
            )
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
                    f"--outcome-words must be like left=1,tie=0.5,right=0, with "
                    f"{', '.join(OUTCOMES)} before the equals signs, got {part!r}."
                )
            if declared.setdefault(value, outcome) != outcome:
                raise ValueError(
                    f"--outcome-words says that {value!r} is {declared[value]} and "
                    f"{outcome}; leave one out."
                )
        return declared

    def scale(self) -> tuple[int, int] | None:
        """Return the ends of the scale that `likert` names, that of left first.

        Returns
        -------
        tuple of int, or None
        """
        if self.likert is None:
            return None
        found = re.fullmatch(r" *(-?\d{1,9}) *\.\. *(-?\d{1,9}) *", self.likert)
        if found is None or found[1] == found[2]:
            raise ValueError(
                "--likert must be the two ends of a scale, such as 1..7, the one that "
                f"says that left is better first, got {self.likert!r}."
            )
        return int(found[1]), int(found[2])

    def columns(self) -> dict[str, str]:
        """Return the columns that the user named, by their roles.

        Returns
        -------
        dict of str to str
        """
        named = {item.name: getattr(self, item.name) for item in fields(self)}
        return {r: c for r, c in named.items() if c is not None and r not in _OTHERS}


@dataclass(frozen=True, eq=False)
class ReadResult:
    """The data in a file, and how they were understood.

    Attributes
    ----------
    kind, format : str
        The kind of data, and how the file is written, see `ReadOptions`.
    sentences, questions : list of str
        What was detected, and what was assumed, with the option that says otherwise.
    pairs, y : Pairs, ndarray of int8 of shape (n,)
        Comparisons, with features if there is a table of items, and their outcomes;
        y is None in a file that was read without them.
    sided : bool
        Whether sides mean something; not where comparisons were made of scores.
    columns : dict of str to ndarray of shape (n,)
        ``"advantage"``, ``"rater"``, ``"period"`` and ``"weight"``, where there are.
    tags : dict of str to ndarray of int8 of shape (n,)
        Other columns of the file that hold only 0 and 1.
    items : ItemTable or None
        Features of the graded rows; None if the rows have none.
    grades : ndarray of float64 of shape (n,)
        Grades of the rows, higher is better; None in a file that was read without.
    query, names : ndarray of shape (n,) or None
        Groups and names of the graded rows.
    orders : Orders
        Lists, best first, with features if there is a table of items.
    skipped : polars.DataFrame or None
        Rows that could not be read and were left out, with their place and the reason.
    others : dict of str to ndarray of shape (n,)
        The columns of `ReadOptions.words` (None where there is none) and ``numbers``.
    exchanged : ndarray of bool of shape (n,) or None
        Rows whose sides were exchanged, in a file that names the winner first.
    rows : ndarray of int64 of shape (n,) or None
        Row of the table that each comparison stands in, from 0.
    both_bad : ndarray of bool of shape (n,) or None
        Which of the ties call both items bad.
    fingerprint : ndarray of uint64 of shape (n,) or None
        A number for all that stands in a row.
    """

    kind: Kind
    format: str
    sentences: list[str]
    questions: list[str] = field(default_factory=list)
    pairs: Pairs | None = None
    y: NDArray[Any] | None = None
    sided: bool = True
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    tags: dict[str, NDArray[Any]] = field(default_factory=dict)
    items: ItemTable | None = None
    grades: NDArray[Any] | None = None
    query: NDArray[Any] | None = None
    names: NDArray[Any] | None = None
    orders: Orders | None = None
    skipped: pl.DataFrame | None = None
    others: dict[str, NDArray[Any]] = field(default_factory=dict)
    exchanged: NDArray[Any] | None = None
    rows: NDArray[Any] | None = None
    both_bad: NDArray[Any] | None = None
    fingerprint: NDArray[Any] | None = None


def flag(role: str, value: str | None = None) -> str:
    """Write an option as the command line has it."""
    name = "--" + role.replace("_", "-")
    return name if value is None else f"{name} {shlex.quote(value)}"


_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: ('[^']*'|[^\s.,;:()]+))?")


def in_python(text: str, columns: Sequence[str] = ()) -> str:
    """Write the options in a message as arguments: ``--left a`` becomes left='a'."""

    def argument(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if name in _FLAGS:
            return f"{name}=True" + (f" {value}" if value else "")
        if value is None:
            return f"{name}="
        if value in columns or value in (*_CHOICES.get(name, ()), "none"):
            return f"{name}={value!r}"
        given = value.startswith("'") or is_finite(value)
        return f"{name}={value}" if given else f"{name}= {value}"

    return _OPTION.sub(argument, text)


# What models say of their parameters, and what the command says instead.
_IN_COMMAND = tuple(
    (re.compile(said), instead)
    for said, instead in (
        (r"\bhalf_life=(['\"]?)([\w.+-]*\w)\1", r"--half-life \2"),
        (r"\bgive half_life\b", "give --half-life"),
        (r"^level must", "--level must"),
        (r"^n_pairs must", "-n must"),
        (r"check_pairs\(X, y\) shows", "tiebreak check shows"),
        (r"advantage=1 in fit\b", "--position"),
        (r"when fit gets the same advantage", "by tiebreak rank"),
        (r" Try a larger max_iter[^.]*\.", ""),
    )
)


def in_command(text: str) -> str:
    """Write the arguments in a message of a model as options: ``--level``."""
    for said, instead in _IN_COMMAND:
        text = said.sub(instead, text)
    return text


class FileError(ValueError):
    """A file that cannot be read or understood.

    Parameters
    ----------
    path : Path
        The file.
    reason : str
        What is wrong, where, and what to try, in one line.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = printable(reason)
        super().__init__(f"{path}: {self.reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason)


class BrokenRows(FileError):  # noqa: N818 - as NeedsAnswer
    """Rows of a table that cannot be read: the faults, and the rows of each."""

    faults: Sequence[tuple[str, NDArray[Any]]] = ()


class NeedsAnswer(FileError):  # noqa: N818 - it is a question more than an error
    """A file with several meanings; the message names the options that choose."""


class WriteError(FileError):
    """A file that cannot be written."""


def first_of(names: Sequence[str], most: int = 10) -> str:
    """List the first names, and count the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def is_finite(text: str) -> bool:
    """Say whether a text spells a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 18 digits; None if it is none."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text: str) -> str:
    r"""Write characters that end a line or steer a terminal as Python escapes them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(value: Any) -> str:
    """Write a value as Python would, on one line and not too long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
