# SPDX-License-Identifier: BSD-3-Clause
"""Reading outcomes value by value: words, names of items, declared numbers.

The order is: a number with a declared meaning, the name of one of the two items of the
row, a word of the table. Whatever is none of these is an error that names its rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, missing_rows
from tiebreak.data.messages import list_rows

__all__ = [
    "MEANINGS_HELP",
    "Meaning",
    "OutcomeReader",
    "check_name_columns",
    "normalize",
    "refuse_missing_outcomes",
]

Meaning = Literal["sign", "score"]

_SCORES = {1.0: -1, 0.5: 0, 0.0: 1}
_SIGNS = {-1.0: -1, 0.0: 0, 1.0: 1}
_WRITTEN_NUMBERS = {"½": 0.5, "1/2": 0.5}
MEANINGS_HELP = (
    'Say what the numbers mean: meaning="sign" if -1 is left better, 0 a tie and +1 '
    'right better; meaning="score" if they are the points of the left side, 1 for a '
    "win, 0.5 for a tie and 0 for a loss."
)


class OutcomeReader:
    """Reads values one by one, and collects what it could not read.

    Parameters
    ----------
    words : mapping of str to int
        The table of words, in the form of `normalize`.
    meaning : {"sign", "score"}, optional
        What numbers mean.
    names : tuple of two lists, optional
        The names of the left and of the right item of every row.
    """

    def __init__(
        self,
        words: Mapping[str, int],
        meaning: Meaning | None = None,
        names: tuple[list[Any], list[Any]] | None = None,
    ) -> None:
        self.words = words
        self.meaning = meaning
        self.numbers = {"sign": _SIGNS, "score": _SCORES}.get(meaning or "")
        self.names = names
        self.known: dict[Any, int | str] = {}
        self.item_words: set[str] = set()
        if names is not None:
            self.item_words = {
                normalize(name)
                for side in names
                for name in set(side)
                if isinstance(name, str)
            }

    def read(self, column: NDArray[Any]) -> NDArray[np.int8]:
        """Read a whole column.

        Parameters
        ----------
        column : ndarray of shape (n,)
            Values without missing ones, as `as_column` gives them.

        Returns
        -------
        ndarray of int8 of shape (n,)
        """
        values = column.tolist()
        result = np.zeros(len(values), dtype=np.int8)
        trouble: dict[str, list[int]] = {}
        for row, value in enumerate(values):
            outcome = self._own_name(row, value)
            if outcome is None:
                outcome = self._meaning_of(value)
            if isinstance(outcome, str):
                trouble.setdefault(outcome, []).append(row)
            else:
                result[row] = outcome
        for kind in ("undeclared", "number", "self", "ambiguous", "unknown"):
            if kind in trouble:
                self._refuse(kind, trouble[kind], values)
        return result

    def _own_name(self, row: int, value: Any) -> int | str | None:
        if self.names is None or self._declared_number(value):
            return None
        is_left = _same_name(value, self.names[0][row])
        is_right = _same_name(value, self.names[1][row])
        if is_left and is_right:
            return "self"
        if is_left or is_right:
            return -1 if is_left else 1
        return None

    def _declared_number(self, value: Any) -> bool:
        return self.numbers is not None and _as_number(value) is not None

    def _meaning_of(self, value: Any) -> int | str:
        """Give the outcome of a value by itself, or the kind of trouble it is."""
        key = (type(value), value)  # True is not 1 here
        if key not in self.known:
            self.known[key] = self._look_up(value)
        return self.known[key]

    def _look_up(self, value: Any) -> int | str:
        number = _as_number(value)
        if number is not None:
            if self.numbers is None:
                return "undeclared"
            return self.numbers.get(number, "number")
        if not isinstance(value, str):
            return "unknown"
        word = normalize(value)
        if word not in self.words:
            return "unknown"
        return "ambiguous" if word in self.item_words else int(self.words[word])

    def _refuse(self, kind: str, rows: list[int], values: list[Any]) -> None:
        where = list_rows(rows, [values[row] for row in rows[:5]])
        count = f"{len(rows)} outcome(s)"
        if kind == "undeclared":
            raise ValueError(_undeclared_message(values, rows, where))
        if kind == "number":
            expected = "-1, 0 and +1" if self.meaning == "sign" else "1, 0.5 and 0"
            raise ValueError(
                f'{count} are not among {expected}, as meaning="{self.meaning}" '
                f"expects: {where}."
            )
        if kind == "self":
            raise ValueError(
                f"{count} name an item that stands on both sides: {where}. Write "
                "'tie', or remove these rows."
            )
        if kind == "ambiguous":
            raise ValueError(
                f"{count} are a word for an outcome and also the name of an item that "
                f"is not compared in that row: {where}. Rename the item, or write "
                "'left', 'tie' or 'right'."
            )
        raise ValueError(
            f"{count} are unknown: {where}. {self._hint(rows, values)} Known words: "
            f"{', '.join(self.words)}."
        )

    def _hint(self, rows: list[int], values: list[Any]) -> str:
        words = {normalize(str(values[row])) for row in rows}
        if words & {"h", "d"}:
            return (
                "The letters H, D and A are not read, because A also stands for model "
                "A; replace them by home, draw and away."
            )
        if self.names is not None:
            return "They do not name one of the two items of their row either."
        return "If they name items, give the two columns of names as left and right."


def check_name_columns(
    left: ArrayLike | None, right: ArrayLike | None, n_rows: int
) -> tuple[list[Any], list[Any]] | None:
    """Check the columns that name the two items of every row.

    Parameters
    ----------
    left, right : array-like of shape (n_rows,) or None
        Both or neither.
    n_rows : int
        How many outcomes there are.

    Returns
    -------
    tuple of two lists, or None
        The names of the left and of the right items.
    """
    if left is None and right is None:
        return None
    if left is None or right is None:
        given, absent = ("left", "right") if right is None else ("right", "left")
        raise ValueError(
            f"{given} names are given without {absent} names; give both or neither."
        )
    columns = []
    for name, side in (("left", left), ("right", right)):
        column = as_column(side, name)
        if len(column) != n_rows:
            raise ValueError(
                f"{name} has {len(column)} names but there are {n_rows} outcomes; "
                "they must be as many."
            )
        columns.append(column.tolist())
    return columns[0], columns[1]


def refuse_missing_outcomes(column: NDArray[Any]) -> None:
    """Raise a ValueError that names the rows without an outcome.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Outcomes, as `as_column` gives them.
    """
    rows = missing_rows(column)
    if len(rows):
        raise ValueError(
            f"{len(rows)} outcome(s) are missing (None or NaN): {list_rows(rows)}. A "
            "missing outcome is not a tie; remove these comparisons."
        )


def normalize(word: str) -> str:
    """Bring a word to lower case, without blanks around, with one kind of dash.

    Parameters
    ----------
    word : str
        A word as written in a table.

    Returns
    -------
    str
    """
    for dash in "\u2010\u2011\u2012\u2013\u2014\u2212":
        word = word.replace(dash, "-")
    return word.strip().casefold()


def _same_name(value: Any, name: Any) -> bool:
    if isinstance(value, str) and isinstance(name, str):
        return value.strip() == name.strip()
    numbers = _as_number(value) is not None and _as_number(name) is not None
    return (numbers or type(value) is type(name)) and bool(value == name)


def _as_number(value: Any) -> float | None:
    """Give the finite number that a value is or spells; None for words."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, str):
        word = normalize(value)
        value = _WRITTEN_NUMBERS.get(word, word)
    elif not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _undeclared_message(values: list[Any], rows: list[int], where: str) -> str:
    distinct = {_as_number(values[row]) for row in rows}
    opposite = ""
    if distinct <= {0.0, 1.0}:
        opposite = (
            " Only 0 and 1 occur, and files exist where 1 means that left won and "
            "others where it means that right won."
        )
    return (
        f"{len(rows)} outcome(s) are numbers without a declared meaning: {where}."
        f"{opposite} {MEANINGS_HELP}"
    )
