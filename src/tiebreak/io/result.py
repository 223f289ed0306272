# SPDX-License-Identifier: BSD-3-Clause
"""What the reader of files is told, and what it gives back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.items import ItemTable
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs

Kind = Literal["comparisons", "grades", "orders"]

FORMATS = ("csv", "tsv", "parquet", "arrow", "svmlight", "preflib", "orders")
KINDS = ("comparisons", "grades", "orders")
_CHOICES: dict[str, tuple[str, ...]] = {
    "format": FORMATS,
    "kind": KINDS,
    "meaning": ("sign", "score"),
    "both_bad": ("tie", "drop"),
}
# These say something of the table of items, not of a column of the file.
_OF_ITEMS = ("items", "item_column")


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a file; None is left to the reader.

    Attributes
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "svmlight", "preflib", "orders"}
        How the file is written.
    kind : {"comparisons", "grades", "orders"}
        Which shape of knowledge to make of it.
    left, right, outcome : str
        Columns of the two items and of who is better.
    winner, loser : str
        Columns of the better and the worse item. `winner` without `loser` is the
        outcome column, and may hold the name of the winner.
    left_score, right_score : str
        Columns of the points of both sides; more is better.
    advantage, neutral : str
        Column of numbers that say how much the left side is favored, or of true and
        false where true says that it is not.
    rater, period, weight : str
        Columns of who judged, when, and how much a row counts.
    item, grade, query, person : str
        Columns of graded items, of their grades, of the groups within which grades
        are compared, and of the people who gave them.
    meaning : {"sign", "score"}
        What a number in the outcome column means, see `tiebreak.Outcome.parse`.
    both_bad : {"tie", "drop"}
        What to do with votes that call both items bad; ties by default.
    items : str or path
        Another file, a table with the features of the items.
    item_column : str
        The column of that table that holds the names of the items.
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
        """Give the columns that the user named, by their roles.

        Returns
        -------
        dict of str to str
        """
        named = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            role: column
            for role, column in named.items()
            if column is not None and role not in (*_CHOICES, *_OF_ITEMS)
        }


@dataclass(frozen=True, eq=False)
class ReadResult:
    """The knowledge in a file, and how it was understood.

    Attributes
    ----------
    kind : {"comparisons", "grades", "orders"}
        The shape of the knowledge.
    format : str
        How the file is written, one of the formats of `ReadOptions`.
    sentences : list of str
        What was recognized, in plain words.
    questions : list of str
        What was assumed, with the option that says otherwise.
    pairs, y : Pairs, ndarray of int8 of shape (n,)
        Comparisons, with features if the user named a table of items, and their
        outcomes; y is None in a file that was read without them.
    sided : bool
        Whether the file says which item of a comparison is on the left. False where
        comparisons were made of scores: their sides mean nothing.
    columns : dict of str to ndarray of shape (n,)
        ``"advantage"``, ``"rater"``, ``"period"`` and ``"weight"`` of every
        comparison, or ``"weight"`` of every list, where the file has them.
    tags : dict of str to ndarray of int8 of shape (n,)
        Other columns of the file that hold only 0 and 1.
    items : ItemTable or None
        Features of the graded rows; None if the rows have none.
    grades : ndarray of float64 of shape (n,)
        Grades of the rows, higher is better; None in a file that was read without.
    query, names : ndarray of shape (n,) or None
        Groups and names of the graded rows.
    orders : Orders
        Lists, best first, with features if the user named a table of items.
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


def flag(role: str) -> str:
    """Write the name of an option as the command line has it.

    Examples
    --------
    >>> flag("left_score")
    '--left-score'
    """
    return "--" + role.replace("_", "-")


SHOWN = 5
_LONGEST = 60

Places = Callable[[NDArray[np.int64]], list[str]]
Values = Callable[[str, NDArray[np.int64]], list[Any]]


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
    """A file with more than one meaning, of which the user must choose one.

    The message names the options that answer the question.
    """


class WriteError(FileError):
    """A file that cannot be written."""


class BrokenRows:
    """Collects every row that cannot be read, so that all are reported at once.

    Parameters
    ----------
    path : Path
        The file.
    places : callable
        Gives the places of rows in the file, such as ``"line 3"``.
    values : callable
        Gives the first values of a column in some rows, as they stand in the file.
    """

    def __init__(self, path: Path, places: Places, values: Values) -> None:
        self.path = path
        self.places = places
        self.values = values
        self.rows: list[NDArray[np.int64]] = []
        self.parts: list[str] = []
        self.advice = ""

    def add(
        self,
        what: str,
        rows: Sequence[int] | NDArray[Any],
        values: Sequence[Any] | None = None,
    ) -> None:
        """Note rows that share one kind of fault.

        Parameters
        ----------
        what : str
            The fault.
        rows : sequence of int
            Row numbers of the table, from 0; may be empty.
        values : sequence, optional
            The value found in each of the first rows.
        """
        if len(rows) == 0:
            return
        self.rows.append(np.asarray(rows, dtype=np.int64))
        self.parts.append(f"{what}: {list_places(self.places, rows, values)}")

    def refuse(self) -> None:
        """Raise a `FileError` that counts all noted rows and shows the first ones."""
        if self.parts:
            count = len(np.unique(np.concatenate(self.rows)))
            raise FileError(
                self.path,
                f"{plural(count, 'row')} cannot be read, so nothing was "
                f"read. {'; '.join(self.parts)}.{self.advice}",
            )


def list_places(
    places: Places,
    rows: Sequence[int] | NDArray[Any],
    values: Sequence[Any] | None = None,
) -> str:
    """Name the places of the first five rows, and count the others.

    Parameters
    ----------
    places : callable
        Gives the places of rows in the file.
    rows : sequence of int
        Row numbers of the table, at least one.
    values : sequence, optional
        The value found in each of the first rows.

    Returns
    -------
    str

    Examples
    --------
    >>> list_places(lambda rows: [f"line {row + 2}" for row in rows], range(7))
    'line 2, line 3, line 4, line 5, line 6 and 2 more'
    """
    parts = places(np.asarray(rows[:SHOWN], dtype=np.int64))
    if values is not None:
        parts = [
            f"{part} ({shorten(value)})"
            for part, value in zip(parts, values, strict=False)
        ]
    more = len(rows) - len(parts)
    return ", ".join(parts) + (f" and {more:,} more" if more else "")


def first_of(names: Sequence[str], most: int = 10) -> str:
    """List the first names, and count the others.

    Examples
    --------
    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(20_000, "row")
    ('1 row', '20,000 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text: str) -> str:
    r"""Write characters that end a line or steer a terminal as Python escapes them.

    Examples
    --------
    >>> print(printable("two\nlines"))
    two\nlines
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(value: Any) -> str:
    """Write a value as Python would, on one line and not too long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
