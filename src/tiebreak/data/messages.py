# SPDX-License-Identifier: BSD-3-Clause
"""How the data layer words its errors and warnings.

Every message says what was wrong, where, and what was expected. Row numbers count from
0, as in NumPy.
"""

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN_ROWS = 5
Nouns = Mapping[str, str]
_MOST_COMPARED = 10_000  # names, within a second
_INTERNAL_PACKAGES = ("tiebreak", "sklearn", "joblib")


class TiebreakWarning(UserWarning):
    """Base of this package's warnings, except those of scikit-learn's categories."""

    __module__ = "tiebreak"  # where users find it


class DataWarning(TiebreakWarning):
    """The data say less than they seem to: no ties, or groups without pairs."""

    __module__ = "tiebreak"


class ReadWarning(DataWarning):
    """What reading did about rows or names: left out, or taken for one item."""


class FitWarning(TiebreakWarning):
    """A fit learned less than requested."""

    __module__ = "tiebreak"


def shorten(value: Any) -> str:
    """Write a value as Python would, on one line and not too long."""
    # NumPy's values would say their type.
    text = repr(value.tolist() if isinstance(value, np.generic | np.ndarray) else value)
    return text if len(text) <= 60 else text[:57] + "..."


_NOUNS: ContextVar[Mapping[str, str]] = ContextVar("_NOUNS", default={})  # noqa: B039
_OURS = re.compile(r"(?<![{.])\b(items?|Items?|comparisons?|votes?|games?)\b")


def make_nouns(item: str, result: str, left: str = "", right: str = "") -> Nouns:
    """Return the words that a result uses instead of item, comparison, left and right.

    ``item`` and ``result`` are singular, such as team and match.
    """
    nouns: dict[str, str] = {}
    for own, words in ((item, ["item"]), (result, ["comparison", "vote", "game"])):
        ending = "es" if re.search(r"(s|x|ch|sh)$", own) else "s"
        many = re.sub(r"(?<=[^aeiou])y$", "ie", own) + ending
        for word in words:
            nouns |= {word: own, f"{word}s": many}
    return nouns | ({"left": left, "right": right} if left else {})


@contextmanager
def speaking_of(nouns: Nouns) -> Iterator[None]:
    """Let the sentences of a block use the nouns of a result."""
    token = _NOUNS.set(nouns)
    try:
        yield
    finally:
        _NOUNS.reset(token)


def noun(word: str) -> str:
    """Return the word for item, comparison, vote, game (or plural), left or right."""
    own = _NOUNS.get().get(word.lower(), word)
    return own[:1].upper() + own[1:] if word[:1].isupper() else own


def in_nouns(sentence: str) -> str:
    """Put the nouns of a result into a sentence of ours, before names are."""
    return _OURS.sub(lambda match: noun(match[0]), sentence)


def plural(count: int, word: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun(word) if count == 1 else noun(f'{word}s')}"


def closest(name: Any, known: Iterable[Any]) -> str:
    """Suggest the known name that may have been meant, as a question."""
    texts = {str(one).casefold(): one for one in islice(known, _MOST_COMPARED)}
    near = get_close_matches(str(name).casefold(), texts, 1)
    if not near or str(name).isdigit():  # a number is close to many others
        return ""
    return f" Did you mean {texts[near[0]]!r}?"


def first_of(names: Sequence[str], most: int = 10, total: int = 0) -> str:
    """List the first names, and count the others, of a total if not all are here."""
    more = (total or len(names)) - len(names[:most])
    return ", ".join(names[:most]) + (f" and {more:,} more" if more else "")


def _name_rows(rows: Sequence[int] | NDArray[Any]) -> list[str]:
    return [f"row {row}" for row in rows]


def list_rows(
    rows: Sequence[int] | NDArray[Any],
    values: Sequence[Any] | NDArray[Any] | None = None,
    name: Callable[[Any], list[str]] = _name_rows,
) -> str:
    """Name the first rows, with their values, and count the others."""
    parts = name(rows[:SHOWN_ROWS])
    if values is not None:
        shown = zip(parts, values, strict=False)
        parts = [f"{part} ({shorten(value)})" for part, value in shown]
    return first_of(parts, total=len(rows))


Describe = Callable[[Any, Any], str]


def refuse_rows(
    rows: Sequence[int] | NDArray[Any],
    values: Any,
    expected: str,
    hint: str = "",
    describe: Describe = list_rows,
) -> None:
    """Raise a ValueError that names rows and their values, if there are any."""
    if len(rows):
        where = describe(rows, [values[row] for row in rows[:SHOWN_ROWS]])
        raise ValueError(f"{expected}, got {len(rows)} other value(s): {where}.{hint}")


def warn_user(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn at the line of the caller's own code."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _INTERNAL_PACKAGES:
            break
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
