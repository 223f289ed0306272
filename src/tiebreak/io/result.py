# SPDX-License-Identifier: BSD-3-Clause
"""What users say about a file, what a reader returns, and how errors are worded.

Every reader takes `ReadOptions` and returns a `ReadResult` with one of its three kinds
filled. A file that cannot be read is a `FileError`; one with several meanings is a
`NeedsAnswer`, whose message names the options that choose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl
from numpy.typing import NDArray

from tiebreak.data.items import ItemTable
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs
from tiebreak.options import CHOICES
from tiebreak.options import OUTCOMES as OUTCOMES
from tiebreak.options import ReadOptions as ReadOptions
from tiebreak.options import flag as flag

Error = Callable[[str], "FileError"]  # makes the error of a file from its reason
Kind = Literal["comparisons", "grades", "orders"]


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


_FLAGS = ("skip_bad_rows", "drop_duplicates", "position", "tune")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: ('[^']*'|[^\s.,;:()]+))?")


def in_python(text: str, columns: Sequence[str] = ()) -> str:
    """Write the options in a message as arguments: ``--left a`` becomes left='a'."""

    def argument(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if name in _FLAGS:
            return f"{name}=True" + (f" {value}" if value else "")
        if value is None:
            return f"{name}="
        if value in columns or value in (*CHOICES.get(name, ()), "none"):
            return f"{name}={value!r}"
        given = value.startswith("'") or is_finite(value)
        return f"{name}={value}" if given else f"{name}= {value}"

    return _OPTION.sub(argument, text)


# What Python says of arguments, and what the command says instead; parameters of models
# have their names in both, as --set takes them.
_IN_COMMAND = tuple(
    (re.compile(said), instead)
    for said, instead in (
        (r"^level must", "--level must"),
        (r"^n_pairs must", "-n must"),
        (r"check_pairs\(X, y\) shows", "tiebreak check shows"),
        (r"advantage=1 in fit\b", "--position"),
        (r"when fit gets the same advantage", "by tiebreak rank"),
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
