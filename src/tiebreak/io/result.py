# SPDX-License-Identifier: BSD-3-Clause
"""Options of readers, their results, and their errors.

Every reader takes `ReadOptions` and returns a `ReadResult`. A file that cannot be read
is a `FileError`; one with several meanings a `NeedsAnswer` that names the options.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from numpy.typing import NDArray

from tiebreak.data.kinds import Data
from tiebreak.data.messages import Nouns, first_of, plural, shorten  # noqa: F401
from tiebreak.data.scores import ScoreTable
from tiebreak.options import OUTCOMES, ReadOptions, flag  # noqa: F401

Error = Callable[[str], "FileError"]  # makes the error of a file from its reason


@dataclass(frozen=True, eq=False)
class ReadResult:
    """The data in a file, and how they were understood.

    Attributes
    ----------
    data : Comparisons, Grades or Lists
        With features if there is a table of items; graded rows without features have a
        table of no columns. Unread outcomes are empty, and unread grades NaN.
    sentences : list of str
        What was detected and assumed, with options that say otherwise.
    sided : bool
        Whether sides have a meaning; not in comparisons made of scores.
    skipped : polars.DataFrame or None
        Rows that were left out, with their place and the reason.
    warnings : tuple of str
        Those of the sentences that are warnings, too.
    nouns : mapping of str to str
        What items and comparisons are called, see `--nouns`.
    scores : ScoreTable or None
        The scores of which comparisons were made.
    labels : mapping of str to str
        New names by the old ones.
    """

    data: Data
    sentences: list[str]
    sided: bool = True
    skipped: pl.DataFrame | None = None
    warnings: tuple[str, ...] = ()
    nouns: Nouns = field(default_factory=dict)
    scores: ScoreTable | None = None
    labels: Nouns = field(default_factory=dict)


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
    """Faults of a table, and the rows of each."""

    faults: Sequence[tuple[str, NDArray[Any]]] = ()


class NeedsAnswer(FileError):  # noqa: N818 - it is a question more than an error
    """A file with several meanings; the message names the options that choose."""


class WriteError(FileError):
    """A file that cannot be written."""


def is_finite(text: str) -> bool:
    """Say whether a text spells a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 18 digits; None if it is none."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def printable(text: str) -> str:
    r"""Escape characters that end a line or control a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
