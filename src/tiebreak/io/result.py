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

from numpy.typing import NDArray

from tiebreak.data.items import ItemTable
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs

Error = Callable[[str], "FileError"]  # makes the error of a file from its reason
Kind = Literal["comparisons", "grades", "orders"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "format": ("csv", "tsv", "parquet", "arrow", "svmlight", "preflib", "orders"),
    "kind": ("comparisons", "grades", "orders"),
    "meaning": ("sign", "score"),
    "both_bad": ("tie", "drop"),
}
# The options that name no column of the file.
_OTHERS = (*_CHOICES, "items", "item_column")


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a file; None is left to the reader.

    Attributes
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "svmlight", "preflib", "orders"}
        How the file is written.
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
    both_bad : {"tie", "drop"}
        What to do with votes that call both items bad; ties by default.
    items, item_column : str or path, str
        Another file, with the features of the items, and its column of their names.
    """

    format: str | None = None
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
    both_bad: Literal["tie", "drop"] | None = None
    items: str | os.PathLike[str] | None = None
    item_column: str | None = None

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


def flag(role: str, value: str | None = None) -> str:
    """Write an option as the command line has it."""
    name = "--" + role.replace("_", "-")
    return name if value is None else f"{name} {shlex.quote(value)}"


_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: ('[^']*'|[^\s.,;:()]+))?")


def in_python(text: str, columns: Sequence[str] = ()) -> str:
    """Write the options in a message as arguments: ``--left a`` becomes left='a'."""

    def argument(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if value is None:
            return f"{name}="
        if value in columns or value in _CHOICES.get(name, ()):
            return f"{name}={value!r}"
        return f"{name}={value}" if value.startswith("'") else f"{name}= {value}"

    return _OPTION.sub(argument, text)


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
