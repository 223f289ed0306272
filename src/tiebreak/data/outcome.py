# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of comparisons, and the one table of words for them.

Convention: an outcome is the sign of r(right) - r(left): -1 left is better, 0 tie, +1
right is better. What cannot be read is an error that names its rows.

Values are read in this order: a number with a declared meaning, the name of one of the
two items of the row, a word of the table.
"""

import enum
import math
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from numbers import Real
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.arrays import Codes, Flags
from tiebreak.data.columns import as_column, as_column_of, find_distinct, refuse_missing
from tiebreak.data.messages import list_rows, refuse_rows, warn_user

Meaning = Literal["sign", "score", "left"]

_NUMBERS: dict[Meaning, dict[float, int]] = {
    "sign": {-1.0: -1, 0.0: 0, 1.0: 1},
    "score": {1.0: -1, 0.5: 0, 0.0: 1},
    "left": {1.0: -1, 0.0: 0, -1.0: 1},
}
_WRITTEN_NUMBERS = {"½": 0.5, "1/2": 0.5}
_DECIMAL_COMMA = re.compile(r"^([-+]?\d*),(\d+)$")
_NO_TIE = "That is not a tie."
# What is wrong with values that could not be read, and what to do about it.
_FAULTS = {
    "undeclared": (
        "are numbers without a declared meaning",
        'Give meaning="sign" if -1 is left better, 0 a tie and +1 right better; '
        'meaning="score" if they are the points of the left side, 1, 0.5 or 0; '
        'meaning="left" if +1 is left better and -1 right better.',
    ),
    "number": (
        'are not among -1, 0 and +1 (meaning="sign", "left") or 1, 0.5, 0 ("score")',
        "",
    ),
    "self": (
        "name an item that stands on both sides",
        "Write 'tie', or remove these rows.",
    ),
    "ambiguous": (
        "are a word for an outcome and also the name of an item that is not compared "
        "in that row",
        "Rename the item.",
    ),
    "skipped": ("say that nobody voted", "That is no tie; remove them."),
    "unknown": (
        "are unknown",
        "Expected words such as left, tie and right, or names of the two items (give "
        "left and right).",
    ),
}


class Outcome(enum.IntEnum):
    """What a comparison of two items says: the sign of r(right) - r(left).

    Examples
    --------
    >>> from tiebreak import Outcome
    >>> Outcome.LEFT, Outcome(0).word
    (<Outcome.LEFT: -1>, 'tie')
    >>> Outcome.parse(["left", "Draw", "0-1"])
    array([-1,  0,  1], dtype=int8)
    """

    __module__ = "tiebreak"  # where users find it

    LEFT = -1
    TIE = 0
    RIGHT = 1

    @property
    def word(self) -> str:
        """The outcome in lower case: ``"left"``, ``"tie"`` or ``"right"``."""
        return self.name.lower()

    @classmethod
    def parse(
        cls,
        values: ArrayLike,
        *,
        meaning: Meaning | None = None,
        left: ArrayLike | None = None,
        right: ArrayLike | None = None,
    ) -> NDArray[np.int8]:
        """Read a column of a table as outcomes.

        Rows that call both items bad (`is_both_bad`) count as ties, with a warning.

        Parameters
        ----------
        values : array-like of shape (n,)
            Words of `OUTCOME_WORDS` in any case (H, D and A together are home, draw
            and away), names of the winning items, or numbers, also ``"0,5"``.
        meaning : {"sign", "score", "left"}, optional
            What numbers mean: -1, 0 and +1 as here, left's points 1, ½ and 0 (also if
            None, where ½ occurs), or +1, 0 and -1 (+1: left is better).
        left, right : array-like of shape (n,), optional
            The names of the two items of every row, which come before words. A word
            that is the name of an item of *other* rows is ambiguous.

        Returns
        -------
        ndarray of int8 of shape (n,)

        Raises
        ------
        ValueError
            If a value is missing, unknown or ambiguous, or a number undeclared.

        Examples
        --------
        >>> from tiebreak import Outcome
        >>> Outcome.parse([1, 0.5, 0], meaning="score")
        array([-1,  0,  1], dtype=int8)
        >>> Outcome.parse(["Ada", "tie"], left=["Ada", "Bo"], right=["Bo", "Ada"])
        array([-1,  0], dtype=int8)
        """
        if meaning not in (None, *_NUMBERS):
            raise ValueError(
                f'meaning must be "sign", "score", "left" or None, got {meaning!r}.'
            )
        if isinstance(values, list | tuple) and all(isinstance(v, cls) for v in values):
            return np.asarray(values, dtype=np.int8)
        column = as_column(values, "outcomes")
        names = _check_names(left, right, len(column))
        if len(column) == 0:
            return np.empty(0, dtype=np.int8)
        refuse_missing(column, "outcomes", _NO_TIE)
        meaning = meaning or infer_meaning(find_distinct(column).values)
        result = _read_values(column.tolist(), meaning, names)
        if n_bad := int(cls.is_both_bad(column).sum()):
            warn_both_bad(n_bad, len(column))
        return result

    @classmethod
    def is_both_bad(cls, values: ArrayLike) -> Flags:
        """Say which rows call both items bad (`BOTH_BAD_WORDS`).

        Parameters
        ----------
        values : array-like of shape (n,)
            A column of outcomes in words.

        Returns
        -------
        ndarray of bool of shape (n,)

        Examples
        --------
        >>> from tiebreak import Outcome
        >>> Outcome.is_both_bad(["tie", "tie (bothbad)"])
        array([False,  True])
        """
        column = as_column(values, "outcomes")
        distinct = find_distinct(column)
        bad = [
            isinstance(value, str) and normalize(value) in BOTH_BAD_WORDS
            for value in distinct.values
        ]
        return np.asarray(bad, dtype=bool)[distinct.codes]


_LEFT_WORDS = (
    "left", "first", "a", "model_a", "model a", "response_a", "option_a", "player_a",
    "team_a", "home", "white", "1-0",
)  # fmt: skip
_RIGHT_WORDS = (
    "right", "second", "b", "model_b", "model b", "response_b", "option_b", "player_b",
    "team_b", "away", "black", "0-1",
)  # fmt: skip
_TIE_WORDS = (
    "tie", "tied", "draw", "drawn", "equal", "same", "no preference", "both_good",
    "both good", "both are good", "tie (bothgood)", "1/2-1/2", "½-½", "0.5-0.5",
)  # fmt: skip

# Words that say that neither item is any good; they count as ties, and are reported.
BOTH_BAD_WORDS = frozenset((
    "both_bad", "bothbad", "both bad", "both are bad", "tie (bothbad)",
    "tie (both bad)", "tie (both_bad)",
))  # fmt: skip

# Words of somebody who did not vote: no outcome, and no tie either.
SKIP_WORDS = frozenset(("skip", "skipped", "abstain", "abstained", "no vote"))

#: Every word that `Outcome.parse` knows, in lower case, with its outcome. "h" and "d"
#: are left out: H, D and A are home, draw and away only together (`letters_of_sides`).
OUTCOME_WORDS: dict[str, Outcome] = {
    **dict.fromkeys(_LEFT_WORDS, Outcome.LEFT),
    **dict.fromkeys(_TIE_WORDS, Outcome.TIE),
    **dict.fromkeys(sorted(BOTH_BAD_WORDS), Outcome.TIE),
    **dict.fromkeys(_RIGHT_WORDS, Outcome.RIGHT),
}


_ENDINGS = re.compile(r" (?:wins?|won|is better)$")
_SIGNS_BETWEEN = re.compile(r"([^<>=~≈]+?) ?(>{1,3}|<{1,3}|={1,2}|~|≈) ?(.+)")
_POINTS = re.compile(r"(\d{1,3}(?:\.5)?) ?[-:] ?(\d{1,3}(?:\.5)?)")


def _read_word(value: str) -> int | None:
    """Return the outcome that a word is; None if unknown.

    Besides `OUTCOME_WORDS`: ``A>B``, ``A>>B``, ``left wins``, ``2-1``.
    """
    word = normalize(value).strip("[] ")
    if word in OUTCOME_WORDS:
        return int(OUTCOME_WORDS[word])
    if match := _POINTS.fullmatch(word):
        left, right = float(match[1]), float(match[2])
        return (right > left) - (right < left)
    if match := _SIGNS_BETWEEN.fullmatch(word):
        first, second = (OUTCOME_WORDS.get(match[place]) for place in (1, 3))
        if None in (first, second) or first == second or 0 in (first, second):
            return None
        sign = match[2][0]
        if sign not in "<>":
            return 0
        better = first if sign == ">" else second
        assert better is not None
        return int(better)
    outcome = OUTCOME_WORDS.get(_ENDINGS.sub("", word))
    return None if not outcome else int(outcome)


OUTCOMES = np.array([-1, 0, 1])
OUTCOMES_HELP = "-1 (left is better), 0 (tie) or +1 (right is better)"
# What scikit-learn calls ``fit`` by, when it has renumbered the classes of y.
_RENUMBERING = {"_fit_single_estimator", "_fit_and_predict"}


def decode_outcomes(y: Any) -> tuple[Any, Codes]:
    """Return outcomes, and the classes of y: -1, 0, 1, or renumbered from 0.

    Meta-estimators of scikit-learn renumber classes: integers 0, 1 and 2 are left, tie
    and right if 2 occurs.
    """
    integers = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iu"
    if not integers or len(y) == 0 or y.min() < 0 or y.max() != 2:
        return y, OUTCOMES.copy()
    frame: Any = sys._getframe()
    while frame is not None and frame.f_code.co_name not in _RENUMBERING:
        frame = frame.f_back
    if frame is None:
        warn_user(
            "y holds 0, 1 and 2 and no -1: they are read as left, tie and right, and "
            "so are predictions. Give y - 1 if that is meant."
        )
    return (y.astype(np.int64) - 1).astype(np.int8), OUTCOMES + 1


def check_outcomes(
    y: ArrayLike | None, n_rows: int, *, some: bool = False
) -> NDArray[np.int8]:
    """Check outcomes -1, 0 and +1 of `n_rows` comparisons, or of `some` rows of more.

    0 and 1 alone are refused, unless declared: `Outcome.parse` gives int8.
    """
    if y is None:
        raise ValueError(
            "Comparisons need outcomes -1, 0 or +1: this method requires y to be "
            "passed, but the target y is None."
        )
    if isinstance(y, list | tuple) and all(isinstance(v, Outcome) for v in y):
        y = np.asarray(y, dtype=np.int8)
    column = as_column_of(y, "y", n_rows)
    if n_rows == 0:
        return np.empty(0, dtype=np.int8)
    refuse_missing(column, "y", _NO_TIE)
    if column.dtype.kind not in "iuf":
        _refuse_others(column)
    lowest, highest = column.min(), column.max()
    if lowest < -1 or highest > 1:
        _refuse_others(column)
    result = column.astype(np.int8)
    # Whole numbers between -1 and 1 need no second look; fractions do.
    if column.dtype.kind == "f" and (result != column).any():
        _refuse_others(column)
    if lowest == 0 and highest == 1 and not some:
        if column.dtype != np.int8:
            _refuse_zero_and_one()
        warn_no_left()
    return result


def _refuse_zero_and_one() -> NoReturn:
    raise ValueError(
        "y holds only 0 and 1, which can be read in two ways. If 0 is a tie, give "
        'Outcome.parse(y, meaning="sign"); "score" if left won where 1, 2 * y - 1 if '
        "right. If scikit-learn renumbered two outcomes, give it WithoutTies(model)."
    )


def warn_no_left() -> None:
    """Warn that outcomes are only 0 and 1, often another encoding."""
    warn_user(
        "y holds only 0 and 1: 0 is read as a tie, and left wins nothing. If they say "
        'who won: Outcome.parse(y, meaning="score") if left, 2 * y - 1 if right.'
    )


def warn_both_bad(n_bad: int, n_rows: int) -> None:
    """Say how many outcomes call both items bad."""
    warn_user(
        f"{n_bad} of {n_rows} outcomes say that both items are bad, and are ties."
    )


def _refuse_others(column: NDArray[Any]) -> None:
    """Raise a ValueError that names rows other than -1, 0 and +1."""
    values = column.tolist()
    rows = [
        row
        for row, value in enumerate(values)
        if isinstance(value, bool) or value not in (-1, 0, 1)
    ]
    hint = (
        " Outcome.parse(y) reads words such as 'left', 'draw', '0-1', and with "
        'meaning="score" points of the left side (y.astype(int) of True and False).'
    )
    refuse_rows(rows, values, f"y must hold {OUTCOMES_HELP}", hint)


def infer_meaning(values: Iterable[Any]) -> Meaning | None:
    """Return "score" for numbers 0, ½ and 1: ½ excludes other meanings."""
    numbers = {n for value in values if (n := as_number(value)) is not None}
    return "score" if {0.5} <= numbers <= {0.0, 0.5, 1.0} else None


def read_value(value: Any, meaning: Meaning | None = None) -> int | str:
    """Return the outcome of a value, or the kind of its fault."""
    number = as_number(value)
    if number is not None:
        return _NUMBERS[meaning].get(number, "number") if meaning else "undeclared"
    if not isinstance(value, str):
        return "unknown"
    if (outcome := _read_word(value)) is not None:
        return outcome
    return "skipped" if normalize(value) in SKIP_WORDS else "unknown"


def letters_of_sides(values: Iterable[Any]) -> dict[str, str]:
    """Return the words for H, D and A, if both H and A occur and nothing else."""
    letters = {normalize(value) if isinstance(value, str) else "" for value in values}
    words = {"h": "home", "d": "draw", "a": "away"}
    return words if {"h", "a"} <= letters <= {*words} else {}


_SCORE = re.compile(r"goals?|score|points|runs|^ft[ha]g$")
_OPPOSITE = [("home", "away"), ("left", "right"), ("white", "black"), ("h", "a")]
_OPPOSITE += [("_a", "_b"), ("_1", "_2"), ("1", "2")]


def contradiction(y: NDArray[Any], table: Any, left: str, right: str) -> str:
    """Say where a winner, or goals or scores of both sides, contradict outcomes."""
    columns, won = {normalize(str(name)): name for name in table.columns}, 0 * y
    with suppress(ValueError, TypeError):
        if (by := columns.get("winner")) is not None:
            a, b, c = (
                np.asarray(table[name], dtype=object) for name in (left, right, by)
            )
            won = (c == b).astype(int) - (c == a)
        scores = [name for name in columns if _SCORE.search(name)]
        tried = [(a, x, z) for a in scores for x, z in _OPPOSITE if x in a]
        for one, word, other in tried:
            two = one.replace(word, other)
            if by is None and two in scores:
                by = columns[one]
                a, b = (np.asarray(table[columns[c]], dtype=float) for c in (one, two))
                turned = other in normalize(left) and word not in normalize(left)
                won = np.sign(a - b if turned else b - a)
    against = int((won * y < 0).sum())
    if against <= int((won * y > 0).sum()):
        return ""
    return (
        f"In {against} of {len(y)} rows the outcome is the opposite of column {by!r}. "
        "meaning='sign' is -1 where left is better, meaning='left' +1."
    )


def _read_values(
    values: list[Any], meaning: Meaning | None, names: list[list[Any]] | None
) -> NDArray[np.int8]:
    """Read values one by one; refuse all that could not be read."""
    words = {name for side in names or () for name in side if isinstance(name, str)}
    item_words = set(map(normalize, words))
    known: dict[Any, int | str] = {}
    result = np.zeros(len(values), dtype=np.int8)
    letters = letters_of_sides(set(values))
    faults: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        outcome: int | str | None = None
        if names is not None and (meaning is None or as_number(value) is None):
            outcome = _own_name(value, names[0][row], names[1][row])
        if outcome is None:
            key = (type(value), value)  # True is not 1 here
            if key not in known:
                word = letters.get(normalize(value)) if letters else None
                known[key] = read_value(word or value, meaning)
                is_name = isinstance(value, str) and normalize(value) in item_words
                if is_name and isinstance(known[key], int) and as_number(value) is None:
                    known[key] = "ambiguous"
            outcome = known[key]
        if isinstance(outcome, str):
            faults.setdefault(outcome, []).append(row)
        else:
            result[row] = outcome
    for kind, (fault, advice) in _FAULTS.items():
        if rows := faults.get(kind):
            where = list_rows(rows, [values[row] for row in rows[:5]])
            raise ValueError(f"{len(rows)} outcome(s) {fault}: {where}. {advice}")
    return result


def _own_name(value: Any, left: Any, right: Any) -> int | str | None:
    """Return the outcome that names an item of the row, or None."""
    is_left, is_right = _same_name(value, left), _same_name(value, right)
    if is_left and is_right:
        return "self"
    return -1 if is_left else 1 if is_right else None


def _check_names(
    left: ArrayLike | None, right: ArrayLike | None, n_rows: int
) -> list[list[Any]] | None:
    """Check the columns that name the two items of every row."""
    if left is None and right is None:
        return None
    if left is None or right is None:
        raise ValueError("Give left and right names, or neither.")
    return [
        as_column_of(side, name, n_rows).tolist()
        for name, side in (("left", left), ("right", right))
    ]


def normalize(word: str) -> str:
    """Normalize a word: lower case, stripped, one kind of dash."""
    for dash in "\u2010\u2011\u2012\u2013\u2014\u2212":
        word = word.replace(dash, "-")
    return word.strip().casefold()


def _same_name(value: Any, name: Any) -> bool:
    if isinstance(value, str) and isinstance(name, str):
        return value.strip() == name.strip()
    numbers = as_number(value) is not None and as_number(name) is not None
    return (numbers or type(value) is type(name)) and bool(value == name)


def as_number(value: Any) -> float | None:
    """Give the finite number that a value is or spells, or None."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, str):
        word = normalize(value)
        value = _WRITTEN_NUMBERS.get(word) or _DECIMAL_COMMA.sub(r"\1.\2", word)
    elif not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
