# SPDX-License-Identifier: BSD-3-Clause
"""Tables with one comparison per row (votes, matches, games), read and written.

Outcomes follow the rules of `Outcome.parse`: a declared number, the name of an item of
the row, a word of the table, in this order. Only names have to be looked at row by row.
One rule is stricter: a number is the name of an item only in a column that is said to
hold the winner, because ``1`` is also a usual score.

Metadata columns say who judged, when, and how much a row counts. A column that the user
named must be whole. One that was only detected by its name is not used when it is not
whole, and a sentence says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import (
    as_column,
    as_column_of,
    find_distinct,
    readable_period,
)
from tiebreak.data.messages import list_rows
from tiebreak.data.outcome import (
    BOTH_BAD_WORDS,
    OUTCOME_WORDS,
    Meaning,
    Outcome,
    normalize,
)
from tiebreak.data.pairs import Pairs, exchange_sides
from tiebreak.io.columns import Reading, Roles, spelling
from tiebreak.io.result import ReadOptions, ReadResult, flag, is_finite, plural, shorten
from tiebreak.io.table import (
    SHOWN,
    Columns,
    Table,
    Text,
    check_ending,
    number_text,
    write_table,
)

Rows = NDArray[np.int64]
Outcomes = NDArray[np.int8]
Flags = NDArray[np.bool_]

_BY_NAME, _UNDECLARED, _OTHER_NUMBER, _UNKNOWN, _AMBIGUOUS = 10, 11, 12, 13, 14
_FAULTS = {
    _OTHER_NUMBER: "outcomes that are not among the numbers of --meaning {meaning}",
    _AMBIGUOUS: "outcomes that are a word and also the name of an item of other rows",
    _UNKNOWN: "unknown outcomes",
}


@dataclass(frozen=True, eq=False)
class Sided:
    """The columns of a comparison, by the names that they have in the file."""

    names: tuple[str, str, str]  # column names of left, right and outcome
    left: Text  # the columns
    right: Text
    outcome: Text


def read_outcomes(
    columns: Columns, sided: Sided, meaning: Meaning | None, names_winner: bool
) -> tuple[Outcomes, Flags]:
    """Return outcomes, 0 in rows noted as faults, and who calls both bad; (n,) each."""
    outcome = sided.outcome
    ids: dict[str, int] = {}
    for name in (*sided.left.values, *sided.right.values):
        ids.setdefault(name.strip(), len(ids))
    words = {normalize(name) for name in ids}
    codes = outcome.per_row(
        lambda value: _judge(value, meaning, names_winner, ids, words), missing=0
    )
    named = np.flatnonzero(codes == _BY_NAME)
    if len(named):
        codes[named] = _judge_names(sided, ids, named)
    _ask_meaning(columns.table, sided, np.flatnonzero(codes == _UNDECLARED))
    columns.note_missing("outcome", sided.names[2])
    for fault, text in _FAULTS.items():
        rows = _show_different(np.flatnonzero(codes == fault), outcome.codes)
        columns.note(text.format(meaning=meaning), rows, outcome.in_rows(rows))
        if fault == _UNKNOWN and len(rows):
            columns.advice = (
                " An outcome is the name of one of the two, or a word such as left, "
                "tie, right or draw; write one of these instead."
            )
    is_bad = outcome.per_row(lambda value: normalize(value) in BOTH_BAD_WORDS, False)
    is_bad &= codes == 0
    return np.where(np.abs(codes) <= 1, codes, 0).astype(np.int8), is_bad


def _show_different(rows: Rows, codes: Rows) -> Rows:
    """Bring rows of different values among the first five, which are shown."""
    _, first = np.unique(codes[rows], return_index=True)
    others = np.setdiff1d(np.arange(len(rows)), first)
    order = np.concatenate([np.sort(first), others])
    return rows[np.concatenate([np.sort(order[:SHOWN]), order[SHOWN:]])]


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


def _judge_names(sided: Sided, ids: dict[str, int], rows: Rows) -> NDArray[Any]:
    """Read outcomes that are the name of an item, by the two items of their row."""

    def ids_of(column: Text) -> Rows:
        return column.per_row(lambda value: ids.get(value.strip(), -1), -1)[rows]

    winner, left, right = map(ids_of, (sided.outcome, sided.left, sided.right))
    # A winner that stands on both sides is a row of an item against itself, which is
    # reported and left out later.
    result = np.select([winner == left, winner == right], [-1, 1], _UNKNOWN)
    is_word = sided.outcome.per_row(lambda v: normalize(v) in OUTCOME_WORDS, False)
    result[(result == _UNKNOWN) & is_word[rows]] = _AMBIGUOUS
    return result


def _ask_meaning(table: Table, sided: Sided, rows: Rows) -> None:
    if not len(rows):
        return
    # The first row of each of three different numbers says more than three rows.
    found, first = np.unique(sided.outcome.codes[rows], return_index=True)
    shown = rows[np.sort(first)[:3]]
    texts = sided.left, sided.right, sided.outcome
    cells = [
        [f"{name} {'(none)' if v is None else shorten(v)}" for v in text.in_rows(shown)]
        for name, text in zip(sided.names, texts, strict=True)
    ]
    examples = "; ".join(
        f"{place}: {', '.join(row)}"
        for place, *row in zip(table.places(shown), *cells, strict=True)
    )
    left, right, outcome = sided.names
    values = [sided.outcome.values[code] for code in found]
    winner = ""
    if {*values} <= {*sided.left.values, *sided.right.values}:
        winner = f", or --winner {outcome} if it names the winner"
    numbers = {value.strip() for value in values}
    if "2" in numbers and numbers <= {"0", "1", "2"}:
        raise table.question(
            f"{outcome} holds the numbers {', '.join(sorted(numbers))} ({examples}). "
            f"If 1 says that {left} won and 2 that {right} did, write left and right "
            f"instead{winner}."
        )
    raise table.question(
        f"{outcome} holds numbers in {len(rows):,} rows, and files differ in what they "
        f"mean ({examples}). Say --meaning score if it is the points of {left} (1 won, "
        f"0.5 tie, 0 lost), or --meaning sign if -1 says that {left} is better, 0 a "
        f"tie and +1 that {right} is better{winner}."
    )


def _is_number(value: str) -> bool:
    word = normalize(value)
    return word in ("½", "1/2") or is_finite(word)


_TRUE = ("true", "t", "yes", "y", "1", "1.0")
_FALSE = ("false", "f", "no", "n", "0", "0.0")


def read_advantage(
    columns: Columns, roles: dict[str, str], family: str, sentences: list[str]
) -> dict[str, NDArray[Any]]:
    """Return ``advantage``: 1 at home, 0 on neutral ground, or its own column."""
    if "advantage" in roles:
        column = roles["advantage"]
        columns.note_bad("advantage", column)
        sentences.append(f"{column} is the advantage of the left side.")
        return {"advantage": columns.numbers[column]}
    if family not in ("home", "white") and "neutral" not in roles:
        return {}
    side = roles["left"]
    if "neutral" not in roles:
        why = "moves first" if family == "white" else "plays at home"
        sentences.append(f"The side in {side} {why}, which is counted as an advantage.")
        return {"advantage": np.ones(len(columns.text[side].codes))}
    column = roles["neutral"]
    text = columns.text[column]
    neutral = text.per_row(lambda value: value.strip().casefold() in _TRUE, False)
    known = text.per_row(lambda value: value.strip().casefold() in _FALSE, False)
    wrong = np.flatnonzero(~(known | neutral))
    what = f"values in {column} that are neither true nor false"
    columns.note(what, wrong, text.in_rows(wrong))
    sentences.append(
        f"The side in {side} plays at home, which is counted as an advantage, except "
        f"in {plural(int(neutral.sum()), 'row')} where {column} is true."
    )
    return {"advantage": 1.0 - neutral}


_ISO = re.compile(
    r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?)?"
)
_COMPACT = re.compile(r"(?:1[6-9]|20|21)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_YEAR_FIRST = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([./])(\d{1,2})[./](\d{4})")
_PIECE = 1 << 16
_UTC = re.compile(r"(?: ?UTC|Z|[+-]00:?00)$")


def _read_metadata(
    columns: Columns, roles: dict[str, str], given: dict[str, str], sentences: list[str]
) -> dict[str, NDArray[Any]]:
    """Return rater, period and weight, (n,) each, where they can be used."""
    table = columns.table
    metadata: dict[str, NDArray[Any]] = {}
    for role, read in (("rater", _rater), ("period", _period), ("weight", _weight)):
        if role not in roles:
            continue
        column = roles[role]
        rows, why, values, sentence = read(columns, column)
        if values is not None:
            metadata[role] = values
            sentences.append(sentence)
        elif role not in given:
            where = f" in {table.list_places(rows)}" if len(rows) else ""
            sentences.append(f"{column} is not used as the {role}: {why}{where}.")
        elif len(rows):
            columns.note(f"{why} in {column}", rows, table.values(column, rows))
        else:
            raise table.error(f"{flag(role)} {column} cannot be used: {why}.")
    return metadata


# Rows with a fault, the fault, else the values, and the sentence about them.
_Read = tuple[NDArray[Any], str, "NDArray[Any] | None", str]
_NO_ROWS = np.empty(0, dtype=np.int64)


def _rater(columns: Columns, column: str) -> _Read:
    text = columns.text[column]
    missing = np.flatnonzero(text.missing)
    if len(missing):
        return missing, "no value", None, ""
    count = plural(len(text.values), "rater")
    return _NO_ROWS, "", text.array(), f"{column} is who judged ({count})."


def _weight(columns: Columns, column: str) -> _Read:
    values = columns.numbers[column]
    # Missing values are NaN, which is not at least zero either.
    wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
    if len(wrong):
        return wrong, "a weight that is not a number of at least 0", None, ""
    if not values.any():
        return _NO_ROWS, "all weights are zero", None, ""
    return _NO_ROWS, "", values, f"{column} is how much a row counts."


def _period(columns: Columns, column: str) -> _Read:
    series = columns.raw[column]
    missing = np.flatnonzero(series.is_null().to_numpy())
    if len(missing):
        return missing, "no value", None, ""
    periods = _in_pieces(series, column)
    if periods is None:
        periods = _as_periods(number_text(series), column)
    if periods is None:
        why = (
            "its values are neither numbers nor dates such as 2024-05-31, for example "
            f"{shorten(series[0])}, so their order in time is not known"
        )
        return _NO_ROWS, why, None, ""
    first, last = readable_period(periods.min()), readable_period(periods.max())
    return _NO_ROWS, "", periods, f"{column} is when, from {first} to {last}."


def _in_pieces(series: pl.Series, column: str) -> NDArray[Any] | None:
    """Read times that nearly all differ in pieces; None if few, or of several kinds."""
    if len(series) <= _PIECE or 2 * series.head(_PIECE).n_unique() < _PIECE:
        return None
    found: list[NDArray[Any]] = []
    for start in range(0, len(series), _PIECE):
        # Not as categories, of which polars keeps all that it has ever seen.
        values = find_distinct(as_column(series.slice(start, _PIECE), column))
        part = _as_periods(Text(values.codes, values.values), column)
        if part is None:
            return None
        found.append(part)
    dates = sum(part.dtype.kind == "M" for part in found)
    return np.concatenate(found) if dates in (0, len(found)) else None


def _as_periods(text: Text, column: str) -> NDArray[Any] | None:
    """Return dates or numbers, whose order is that of time; None if it is neither."""
    values = [value.strip() for value in text.values]
    found: NDArray[Any]
    if "date" in column.casefold() and all(map(_COMPACT.fullmatch, values)):
        values = [f"{value[:4]}-{value[4:6]}-{value[6:]}" for value in values]
    plain = [_UTC.sub("", value) for value in _year_first(values)]
    try:
        if all(map(_ISO.fullmatch, plain)):
            days = all(len(value) <= len("2024-05-31") for value in plain)
            found = np.array(plain, dtype="datetime64[D]" if days else "datetime64[us]")
        else:
            found = np.array(values, dtype=np.float64)
            if not np.isfinite(found).all():
                return None
            whole = found.astype(np.int64) if np.abs(found).max() < 2**53 else found
            found = whole if (whole == found).all() else found
    except ValueError:
        return None
    return found[text.codes]


def _year_first(values: list[str]) -> list[str]:
    """Write dates as 2024-05-31 that are written otherwise, where only one way fits.

    In 31.05.2024 the day comes first. In 31/05/2024 and 05/31/2024 it does not say, but
    a number above 12 in one of the dates does, for all of them.
    """
    if parts := _all_groups(_YEAR_FIRST, values):
        return [_iso(year, month, day) for year, month, day in parts]
    if not (parts := _all_groups(_YEAR_LAST, values)):
        return [value.replace("/", "-") for value in values]
    first, second = (max(int(part[place]) for part in parts) for place in (0, 2))
    dotted = all(part[1] == "." for part in parts)
    if dotted or (first > 12 >= second):
        return [_iso(year, month, day) for day, _, month, year in parts]
    if second > 12 >= first:
        return [_iso(year, month, day) for month, _, day, year in parts]
    return values


def _all_groups(pattern: re.Pattern[str], values: list[str]) -> list[tuple[str, ...]]:
    """Return the groups of every value; an empty list if one does not match."""
    found = [match for value in values if (match := pattern.fullmatch(value))]
    return [match.groups() for match in found] if len(found) == len(values) else []


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"


def read_comparisons(
    table: Table, options: ReadOptions, reading: Reading
) -> ReadResult:
    """Read a table of comparisons, of which a reading has been chosen."""
    roles = dict(reading.roles)
    winner_first = "loser" in roles
    sides = ("winner", "loser") if winner_first else ("left", "right")
    names = [roles[side] for side in sides]
    found = Roles(table, options)
    optional = ["rater", "period", "weight"]
    if not winner_first:
        optional += ["advantage", "neutral"]
    elif {"advantage", "neutral"} & set(found.given):
        raise table.error(
            "--advantage and --neutral speak of the left side, but here the columns "
            "are the winner and the loser; name two sides with --left and --right."
        )
    for role in optional:
        if (column := found.find(role, roles)) is not None:
            roles[role] = column
    likely = _likely_tags(table, roles)

    def columns_of(*wanted: str) -> list[str]:
        return [roles[role] for role in wanted if role in roles]

    columns = table.read(
        text=names + columns_of("outcome", "rater", "neutral"),
        numbers=columns_of("left_score", "right_score", "weight", "advantage") + likely,
        raw=columns_of("period"),
    )
    sentences = [_describe_outcome(names, roles)]
    left, right = read_sides(columns, names, sentences)
    both_bad = np.zeros(len(left.codes), dtype=bool)
    if winner_first:
        y = np.full(len(left.codes), -1, dtype=np.int8)
    elif "outcome" in roles:
        outcome = roles["outcome"]
        named = "winner" in spelling(outcome) or options.winner is not None
        sided = Sided((names[0], names[1], outcome), left, right, columns.text[outcome])
        y, both_bad = read_outcomes(columns, sided, options.meaning, named)
    else:
        y = _read_scores(columns, roles)
    metadata = _read_metadata(columns, roles, found.given, sentences)
    metadata |= read_advantage(columns, roles, reading.family, sentences)
    columns.refuse_broken()

    keep = _choose_rows(table, options, left, right, both_bad, names, sentences)
    if not keep.all():
        left, right, y = left.take(keep), right.take(keep), y[keep]
        metadata = {name: column[keep] for name, column in metadata.items()}
    pairs = Pairs(None, left.array(), right.array())
    if winner_first:
        pairs, y, turned = exchange_sides(pairs, y)
        sentences.append(
            "The winner always comes first, so the two sides were exchanged at random "
            f"in {plural(int(turned.sum()), 'row')} (always the same ones)."
        )
    tags = {
        tag: columns.numbers[tag][keep].astype(np.int8)
        for tag in likely
        if set(np.unique(columns.numbers[tag]).tolist()) == {0.0, 1.0}
    }
    if tags:
        sentences.append(
            f"{plural(len(tags), 'column')} of 0 and 1 can be used as categories: "
            f"{', '.join(tags)}."
        )
    counts = (int((y == outcome).sum()) for outcome in (-1, 0, 1))
    sentences.append(count_outcomes(pairs.n_items, *counts))
    drops = both_bad.any() and options.both_bad != "drop"
    advice = "--both-bad drop leaves out the votes that call both bad."
    data: dict[str, Any] = {"pairs": pairs, "y": y, "columns": metadata, "tags": tags}
    asked = [advice] if drops else []
    return ReadResult("comparisons", table.detected.format, sentences, asked, **data)


def read_sides(columns: Columns, names: list[str], sentences: list[str]) -> list[Text]:
    """Return the two columns of names, restored; missing names are noted."""
    columns.note_missing("name", *names)
    return columns.restore_names(sentences, *names)


def _read_scores(columns: Columns, roles: dict[str, str]) -> Outcomes:
    sides = [roles["left_score"], roles["right_score"]]
    columns.note_bad("score", *sides)
    difference = columns.numbers[sides[1]] - columns.numbers[sides[0]]
    difference[np.isnan(difference)] = 0  # these rows were noted, and are refused
    return np.sign(difference).astype(np.int8)


def _describe_outcome(names: list[str], roles: dict[str, str]) -> str:
    if "loser" in roles:
        return f"In every row {names[0]} is better than {names[1]}."
    start = f"{names[0]} and {names[1]} are compared; "
    if "outcome" in roles:
        return start + f"{roles['outcome']} says who won."
    return start + (
        f"the higher of {roles['left_score']} and {roles['right_score']} wins, equal "
        "ones are a tie."
    )


def _choose_rows(
    table: Table,
    options: ReadOptions,
    left: Text,
    right: Text,
    both_bad: Flags,
    names: list[str],
    sentences: list[str],
) -> Flags:
    """Choose the rows that are kept, and say which are not, and why."""
    number = {name: code for code, name in enumerate(left.values)}
    same = np.array([number.get(name, -1) for name in right.values])
    alone = same[right.codes] == left.codes
    keep = ~alone
    if alone.any():
        rows = np.flatnonzero(alone)
        sentences.append(
            f"{plural(len(rows), 'row')} with the same item in {names[0]} and "
            f"{names[1]} left out: {table.list_places(rows)}."
        )
    if (count := int((both_bad & keep).sum())) and options.both_bad == "drop":
        keep &= ~both_bad
        sentences.append(f"{plural(count, 'row')} with both items called bad left out.")
    elif count:
        bad = f"{plural(count, 'row')} with both items called bad"
        sentences.append(f"{bad} counted as ties.")
    if not keep.any():
        raise table.error(f"no comparison is left. {' '.join(sentences[1:])}")
    return keep


def _likely_tags(table: Table, roles: dict[str, str]) -> list[str]:
    """List the columns without a role that begin with zeros and ones."""

    def is_likely(column: pl.Series) -> bool:
        if column.dtype == pl.Boolean:
            return column.null_count() == 0
        return set(map(str, column.unique())) <= {"0", "1"}

    free = [c for c in table.columns if c not in set(roles.values())]
    return [c for c in free if is_likely(table.head[c])]


def count_outcomes(n_items: int, left: int, tie: int, right: int) -> str:
    """Say how many comparisons of how many items there are, and how they ended."""
    n = left + tie + right
    return (
        f"{plural(n, 'comparison')} of {plural(n_items, 'item')}: left is better in "
        f"{left:,}, right in {right:,}, neither in {tie:,}."
    )


# Words for left, tie and right; the first ones that are no names of items are written.
_WORDS = "left tie right", "first tied second", "home draw away"


def write_comparisons(
    path: str | os.PathLike[str],
    pairs: Pairs,
    y: ArrayLike,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Write comparisons as a table with the columns left, right and outcome.

    Parameters
    ----------
    path : str or path
        A ``.csv``, ``.tsv`` or ``.parquet`` file, written whole or not at all.
    pairs : Pairs
        The comparisons; items without names are written by their row numbers.
    y : array-like of shape (n,)
        Outcomes -1, 0 and +1, written as words that are not names of items.
    columns : mapping of str to array-like of shape (n,), optional
        More columns, such as rater and period.

    Raises
    ------
    WriteError
        If the file cannot be written, or its name has another ending.
    ValueError
        If the columns do not match.

    Notes
    -----
    Text is guarded against formulas as by `write_table`.
    """
    path = check_ending(path)
    n = len(pairs)
    names = range(pairs.n_items) if pairs.names is None else pairs.names.tolist()
    items = pl.Series([str(name) for name in names], dtype=pl.String)
    words = pl.Series(_choose_words(items.to_list()), dtype=pl.String)
    outcome = as_column(y, "y")
    if len(outcome) != n:
        raise ValueError(f"y has {len(outcome)} outcomes for {n} comparisons.")
    # Without the warning of models: zeros and ones alone are fine here.
    if len(wrong := np.flatnonzero(~np.isin(outcome, (-1, 0, 1)))):
        raise ValueError(
            f"y must hold -1, 0 and +1, got {list_rows(wrong, outcome[wrong[:5]])}."
        )
    series = [
        items.gather(pairs.left).alias("left"),
        items.gather(pairs.right).alias("right"),
        words.gather(outcome.astype(np.int64) + 1).alias("outcome"),
    ]
    for name, values in (columns or {}).items():
        if name in ("left", "right", "outcome"):
            raise ValueError(
                f"A column may not be called {name!r}; it is there already."
            )
        column = as_column_of(values, name, n, rows="comparisons")
        listed = column.tolist() if column.dtype.kind in "OU" else column
        series.append(pl.Series(name, listed))
    write_table(path, pl.DataFrame(series))


def _choose_words(names: list[str]) -> list[str]:
    """Choose words for left, tie and right that are not names of items."""
    taken = {normalize(name) for name in names}
    for words in map(str.split, _WORDS):
        if not taken & set(words):
            return words
    raise ValueError(
        "Items are called 'left' or 'tie' or 'right', and also like the other words "
        "for outcomes; rename them."
    )
