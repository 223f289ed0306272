# SPDX-License-Identifier: BSD-3-Clause
"""A column of outcomes read by its distinct values, with the lines of what is wrong.

The rules are those of `Outcome.parse`: a declared number, the name of an item of the
row, a word of the table, in this order. Only the names have to be looked at row by
row. One rule is stricter: a number is the name of an item only in a column that is
said to hold the winner, because ``1`` is also a usual score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.files.errors import SHOWN, BrokenRows, NeedsAnswer, shorten
from tiebreak.data.files.table import Table
from tiebreak.data.files.text_column import Text
from tiebreak.data.outcome import BOTH_BAD_WORDS, OUTCOME_WORDS, Outcome
from tiebreak.data.reading import Meaning, normalize

__all__ = ["Sided", "read_outcomes"]

_BY_NAME, _UNDECLARED, _OTHER_NUMBER, _UNKNOWN, _AMBIGUOUS = 10, 11, 12, 13, 14
_FAULTS = {
    _OTHER_NUMBER: "outcomes that are not among the numbers of --meaning {meaning}",
    _AMBIGUOUS: "outcomes that are a word and also the name of an item of other rows",
    _UNKNOWN: "unknown outcomes",
}


@dataclass(frozen=True, eq=False)
class Sided:
    """The columns of a comparison, by the names that they have in the file.

    Attributes
    ----------
    names : tuple of three str
        Column names of left, right and outcome.
    left, right, outcome : Text
        The columns.
    """

    names: tuple[str, str, str]
    left: Text
    right: Text
    outcome: Text


def read_outcomes(
    table: Table,
    columns: Sided,
    meaning: Meaning | None,
    names_winner: bool,
    broken: BrokenRows,
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Read the outcomes of comparisons.

    Parameters
    ----------
    table : Table
        Where the columns come from.
    columns : Sided
        The columns.
    meaning : {"sign", "score"} or None
        What numbers mean.
    names_winner : bool
        Whether numbers may be names of items.
    broken : BrokenRows
        Where unreadable rows are noted.

    Returns
    -------
    y : ndarray of int8 of shape (n,)
        -1, 0 or +1; 0 in rows that were noted.
    both_bad : ndarray of bool of shape (n,)
        Rows that call both items bad; they are ties in y.

    Raises
    ------
    NeedsAnswer
        If there are numbers and no declared meaning.
    """
    outcome = columns.outcome
    ids = _number_names(columns.left.values, columns.right.values)
    words = {normalize(name) for name in ids}
    by_value = np.array(
        [_judge(value, meaning, names_winner, ids, words) for value in outcome.values]
        or [_UNKNOWN]
    )
    codes = by_value[outcome.codes]
    missing = outcome.missing
    codes[missing] = 0
    named = np.flatnonzero((codes == _BY_NAME) & ~missing)
    if len(named):
        codes[named] = _judge_names(columns, ids, named)
    _ask_meaning(table, columns, np.flatnonzero(codes == _UNDECLARED))
    broken.add(f"no outcome in {columns.names[2]}", np.flatnonzero(missing))
    for fault, text in _FAULTS.items():
        rows = _show_different(np.flatnonzero(codes == fault), outcome.codes)
        values = [outcome.values[outcome.codes[row]] for row in rows[:SHOWN]]
        broken.add(text.format(meaning=meaning), rows, values)
        if fault == _UNKNOWN and len(rows):
            broken.advice = (
                " An outcome is the name of one of the two, or a word such as left, "
                "tie, right or draw; write one of these instead."
            )
    bad_words = [normalize(value) in BOTH_BAD_WORDS for value in outcome.values]
    is_bad = np.array(bad_words or [False])[outcome.codes] & ~missing & (codes == 0)
    return np.where(np.abs(codes) <= 1, codes, 0).astype(np.int8), is_bad


def _show_different(
    rows: NDArray[np.int64], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Bring rows of different values among the first five, which are shown.

    A slip of the pen stands out only beside the words that it differs from.
    """
    _, first = np.unique(codes[rows], return_index=True)
    others = np.setdiff1d(np.arange(len(rows)), first)
    order = np.concatenate([np.sort(first), others])
    return rows[np.concatenate([np.sort(order[:SHOWN]), order[SHOWN:]])]


def _number_names(left: list[str], right: list[str]) -> dict[str, int]:
    ids: dict[str, int] = {}
    for name in (*left, *right):
        ids.setdefault(name.strip(), len(ids))
    return ids


def _judge(
    value: str,
    meaning: Meaning | None,
    names_winner: bool,
    ids: dict[str, int],
    words: set[str],
) -> int:
    """Give the outcome that a value is wherever it stands, or the kind of fault."""
    number = _is_number(value)
    if number and meaning is not None:
        try:
            return int(Outcome.parse([value], meaning=meaning)[0])
        except ValueError:
            return _OTHER_NUMBER
    if value.strip() in ids and (names_winner or not number):
        return _BY_NAME
    if number:
        return _UNDECLARED
    word = normalize(value)
    if word not in OUTCOME_WORDS:
        return _UNKNOWN
    return _AMBIGUOUS if word in words else int(OUTCOME_WORDS[word])


def _judge_names(
    columns: Sided, ids: dict[str, int], rows: NDArray[np.int64]
) -> NDArray[Any]:
    """Read outcomes that are the name of an item, by the two items of their row."""

    def ids_of(column: Text) -> NDArray[np.int64]:
        known = np.array([ids.get(value.strip(), -1) for value in column.values] + [-1])
        return known[column.codes[rows]]

    winner, left, right = map(ids_of, (columns.outcome, columns.left, columns.right))
    # A winner that stands on both sides is a row of an item against itself, which is
    # reported and left out later.
    result = np.select([winner == left, winner == right], [-1, 1], _UNKNOWN)
    other = result == _UNKNOWN
    if other.any():
        texts = columns.outcome.values
        is_word = np.array([normalize(text) in OUTCOME_WORDS for text in texts])
        result[other & is_word[columns.outcome.codes[rows]]] = _AMBIGUOUS
    return result


def _ask_meaning(table: Table, columns: Sided, rows: NDArray[np.int64]) -> None:
    if not len(rows):
        return
    # The first row of each of three different numbers tells more than three rows.
    _, first = np.unique(columns.outcome.codes[rows], return_index=True)
    shown = rows[np.sort(first)[:3]]
    places = table.places(shown)
    texts = columns.left, columns.right, columns.outcome
    examples = "; ".join(
        f"{place}: "
        + ", ".join(
            f"{name} {_cell(text, row)}"
            for name, text in zip(columns.names, texts, strict=True)
        )
        for place, row in zip(places, shown.tolist(), strict=True)
    )
    left, right, outcome = columns.names
    names = {*columns.left.values, *columns.right.values}
    winner = ""
    found = np.unique(columns.outcome.codes[rows]).tolist()
    if all(columns.outcome.values[code] in names for code in found):
        winner = f", or --winner {outcome} if it names the winner"
    values = {columns.outcome.values[code].strip() for code in found}
    if "2" in values and values <= {"0", "1", "2"}:
        raise NeedsAnswer(
            table.path,
            f"{outcome} holds the numbers {', '.join(sorted(values))} ({examples}). If "
            f"1 says that {left} won and 2 that {right} did, write left and right "
            f"instead{winner}.",
        )
    raise NeedsAnswer(
        table.path,
        f"{outcome} holds numbers in {len(rows):,} rows, and files differ in what they "
        f"mean ({examples}). Say --meaning score if it is the points of {left} (1 won, "
        f"0.5 tie, 0 lost), or --meaning sign if -1 says that {left} is better, 0 a "
        f"tie and +1 that {right} is better{winner}.",
    )


def _cell(text: Text, row: int) -> str:
    code = text.codes[row]
    return "(none)" if code < 0 else shorten(text.values[code])


def _is_number(value: str) -> bool:
    word = normalize(value)
    if word in ("½", "1/2"):
        return True
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
