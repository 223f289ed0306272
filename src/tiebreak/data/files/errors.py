# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a file that cannot be read: one line, with the file and the place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BrokenRows",
    "FileError",
    "NeedsAnswer",
    "WriteError",
    "first_of",
    "list_places",
    "plural",
    "printable",
    "shorten",
]

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
