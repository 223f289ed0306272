# SPDX-License-Identifier: BSD-3-Clause
"""Tables with one comparison per row (votes, matches, games), read and written.

Outcomes follow the rules of `Outcome.parse`: a declared number, the name of an item of
the row, a word of the table, in this order. Only names have to be looked at row by row.
One rule is stricter: a number is the name of an item only in a column that is said to
hold the winner, because ``1`` is also a usual score.

Besides, the header of the winning column, a declared scale, declared words, and one
column of 0 and 1 per outcome say who won.

Metadata columns say who judged, when, and how much a row counts. Such a column must be
whole. One that was only detected by its name, and in which most values say nothing, is
not used, and a sentence says so.
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
from tiebreak.data.kinds import Comparisons
from tiebreak.data.messages import list_rows
from tiebreak.data.outcome import (
    BOTH_BAD_WORDS,
    SKIP_WORDS,
    Outcome,
    as_number,
    normalize,
    read_word,
)
from tiebreak.data.pairs import Pairs, exchange_sides
from tiebreak.io.columns import SIDES, Reading, Roles, spelling, split_outcome
from tiebreak.io.result import (
    ReadOptions,
    ReadResult,
    first_of,
    flag,
    is_finite,
    plural,
    shorten,
)
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

_BY_NAME, _UNDECLARED, _OTHER_NUMBER, _UNKNOWN, _AMBIGUOUS, _SKIPPED = range(10, 16)
_FAULTS = {
    _OTHER_NUMBER: "outcomes that are not among the numbers of {declared}",
    _AMBIGUOUS: "outcomes that are a word and also the name of an item of other rows",
    _UNKNOWN: "unknown outcomes",
}
_CODES = {"left": -1, "tie": 0, "both_bad": 0, "right": 1, "skip": _SKIPPED}
_TRUE = ("true", "t", "yes", "y", "1", "1.0")
_FALSE = ("false", "f", "no", "n", "0", "0.0")


@dataclass(frozen=True, eq=False)
class Sided:
    """The columns of a comparison, by the names that they have in the file."""

    names: tuple[str, str, str]  # column names of left, right and outcome
    left: Text  # the columns
    right: Text
    outcome: Text


@dataclass(frozen=True, eq=False)
class Judged:
    """What n rows say."""

    y: Outcomes  # 0 in rows noted as faults
    both_bad: Flags  # rows that call both bad
    skipped: Flags  # rows of somebody who did not vote

    @classmethod
    def plain(cls, y: Outcomes) -> Judged:
        """Make it of outcomes alone."""
        none = np.zeros(len(y), dtype=bool)
        return cls(y, none, none)


def read_outcomes(
    columns: Columns, sided: Sided, options: ReadOptions, names_winner: bool
) -> Judged:
    """Return what a column of outcomes says; faults are noted."""
    outcome = sided.outcome
    judge = _Judge(sided, options, names_winner)
    codes = outcome.per_row(judge.code, missing=0)
    named = np.flatnonzero(codes == _BY_NAME)
    if len(named):
        codes[named] = _judge_names(sided, judge.ids, named)
    _ask_meaning(columns.table, sided, np.flatnonzero(codes == _UNDECLARED))
    columns.note_missing("outcome", sided.names[2])
    for fault, text in _FAULTS.items():
        rows = _show_different(np.flatnonzero(codes == fault), outcome.codes)
        declared = text.format(declared=judge.declared)
        columns.note(declared, rows, outcome.in_rows(rows))
        if fault == _UNKNOWN and len(rows):
            unknown = list(dict.fromkeys(map(str, outcome.in_rows(rows))))
            columns.advice = _advise({*map(normalize, outcome.values)}, unknown)
    is_bad = outcome.per_row(judge.is_both_bad, False) & (codes == 0)
    return Judged(
        np.where(np.abs(codes) <= 1, codes, 0).astype(np.int8),
        is_bad,
        codes == _SKIPPED,
    )


def _advise(words: set[str], unknown: list[str]) -> str:
    """Say what can be done about unknown outcomes."""
    if words <= {"h", "d", "a"}:
        return (
            " A also stands for model A; if these are home, draw and away, say "
            f"{flag('outcome_words', 'left=H,tie=D,right=A')}."
        )
    meant = ("left", "right", "tie")
    if len(unknown) > 3 or any(set(word) & set("',=") for word in unknown):
        unknown = ["won", "lost"]
    said = ",".join(f"{one}={word}" for one, word in zip(meant, unknown, strict=False))
    return (
        " An outcome is the name of one of the two, or a word such as left, tie, right "
        "or draw; what others mean can be said, such as "
        f"{flag('outcome_words', said)}."
    )


class _Judge:
    """Says what a value of the outcome column means wherever it stands."""

    def __init__(self, sided: Sided, options: ReadOptions, names_winner: bool) -> None:
        self.meaning, self.scale = options.meaning, options.scale()
        self.words = options.declared_words()
        self.numbers = {
            number: outcome
            for word, outcome in self.words.items()
            if (number := as_number(word)) is not None
        }
        self.declared = (
            flag("likert", options.likert) if self.scale
            else flag("outcome_words") if self.numbers
            else flag("meaning", self.meaning)
        )  # fmt: skip
        self.names_winner = names_winner
        self.ids: dict[str, int] = {}
        for name in (*sided.left.values, *sided.right.values):
            self.ids.setdefault(name.strip(), len(self.ids))
        self.taken = {normalize(name) for name in self.ids}
        left, right = map(spelling, sided.names[:2])
        self.headers = {left: -1, right: 1}
        # Columns that were named the other way round turn their words too.
        self.turned = any(
            (right, left) == (spelling(sides.left), spelling(sides.right))
            for sides in SIDES
        )

    def code(self, value: str) -> int:
        """Return the outcome, or the kind of fault."""
        if (outcome := self._declared(value)) is not None:
            return _CODES[outcome]
        number = as_number(value)
        if number is not None and self.scale is not None:
            return self._on_scale(number)
        if number is not None and self.meaning is not None:
            try:
                return int(Outcome.parse([value], meaning=self.meaning)[0])
            except ValueError:
                return _OTHER_NUMBER
        if value.strip() in self.ids and (self.names_winner or number is None):
            return _BY_NAME
        if number is not None:
            return _OTHER_NUMBER if self.numbers else _UNDECLARED
        word = normalize(value)
        found: int | None = self.headers.get(spelling(value))
        if found is None:
            if word in SKIP_WORDS:
                return _AMBIGUOUS if word in self.taken else _SKIPPED
            if (read := read_word(value)) is None:
                return _UNKNOWN
            fixed = not self.turned or word in ("left", "right", "first", "second")
            found = read if fixed else -read
        return _AMBIGUOUS if word in self.taken else found

    def _declared(self, value: str) -> str | None:
        number = as_number(value)
        found = None if number is None else self.numbers.get(number)
        return found or self.words.get(normalize(value))

    def _on_scale(self, number: float) -> int:
        assert self.scale is not None
        low, high = sorted(self.scale)
        if number != int(number) or not low <= number <= high:
            return _OTHER_NUMBER
        side = np.sign(2 * number - low - high)
        return int(side if self.scale[0] < self.scale[1] else -side)

    def is_both_bad(self, value: str) -> bool:
        """Say whether a value calls both items bad."""
        declared = self._declared(value)
        word = normalize(value).strip("[] ")
        return (
            declared or ("both_bad" if word in BOTH_BAD_WORDS else "")
        ) == "both_bad"


def _read_one_hot(columns: Columns, listed: list[str]) -> Judged:
    """Return what columns of 0 and 1 say, for left, right, a tie and both bad."""
    marks = []
    for column in listed:
        columns.note_missing("value", column)
        text = columns.text[column]
        mark = text.per_row(lambda value: value.strip().casefold() in _TRUE, False)
        known = text.per_row(lambda value: value.strip().casefold() in _FALSE, True)
        wrong = np.flatnonzero(~(known | mark))
        what = f"values in {column} that are neither 0 nor 1"
        columns.note(what, wrong, text.in_rows(wrong))
        marks.append(mark)
    table = np.stack(marks, axis=1)
    broken = np.flatnonzero(table.sum(axis=1) != 1)
    columns.note(f"not exactly one of {', '.join(listed)} is 1", broken)
    y = table[:, 1].astype(np.int8) - table[:, 0]
    both_bad = table[:, 3] if len(listed) > 3 else np.zeros(len(y), dtype=bool)
    return Judged(y, both_bad, np.zeros(len(y), dtype=bool))


def _show_different(rows: Rows, codes: Rows) -> Rows:
    """Bring rows of different values among the first five, which are shown."""
    _, first = np.unique(codes[rows], return_index=True)
    others = np.setdiff1d(np.arange(len(rows)), first)
    order = np.concatenate([np.sort(first), others])
    return rows[np.concatenate([np.sort(order[:SHOWN]), order[SHOWN:]])]


def _judge_names(sided: Sided, ids: dict[str, int], rows: Rows) -> NDArray[Any]:
    """Read outcomes that are the name of an item, by the two items of their row."""

    def ids_of(column: Text) -> Rows:
        return column.per_row(lambda value: ids.get(value.strip(), -1), -1)[rows]

    winner, left, right = map(ids_of, (sided.outcome, sided.left, sided.right))
    # A winner that stands on both sides is a row of an item against itself, which is
    # reported and left out later.
    result = np.select([winner == left, winner == right], [-1, 1], _UNKNOWN)
    is_word = sided.outcome.per_row(lambda v: read_word(v) is not None, False)
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
        winner = f", or {flag('winner', outcome)} if it names the winner"
    numbers = {value.strip() for value in values}
    if "2" in numbers and numbers <= {"0", "1", "2"}:
        words = "left=1,right=2" + ",tie=0" * ("0" in numbers)
        raise table.question(
            f"{outcome} holds the numbers {', '.join(sorted(numbers))} ({examples}). "
            f"If 1 says that {left} won and 2 that {right} did, say "
            f"{flag('outcome_words', words)}{winner}."
        )
    start = (
        f"{outcome} holds numbers in {len(rows):,} rows, and files differ in what they "
        f"mean ({examples}). Say"
    )
    known = [number for value in values if (number := as_number(value)) is not None]
    if not {*known} <= {-1, 0, 0.5, 1}:
        low, high = f"{min(known):g}", f"{max(known):g}"
        raise table.question(
            f"{start} {flag('likert', f'{low}..{high}')} if it is a scale on which "
            f"{low} says that {left} is better, or {flag('likert', f'{high}..{low}')} "
            f"if {high} says so, with the ends of the scale{winner}."
        )
    raise table.question(
        f"{start} {flag('meaning', 'score')} if it is the points of {left} (1 won, "
        f"0.5 tie, 0 lost), or {flag('meaning', 'sign')} if -1 says that {left} is "
        f"better, 0 a tie and +1 that {right} is better{winner}."
    )


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
        elif role not in given and (not len(rows) or 2 * len(rows) > table.n_rows):
            where = f" in {table.list_places(rows)}" if len(rows) else ""
            sentences.append(f"{column} is not used as the {role}: {why}{where}.")
        elif len(rows):
            columns.note(f"{why} in {column}", rows, table.values(column, rows))
            if role not in given:
                columns.advice += (
                    f" {flag(role, 'none')} reads the file without {column}."
                )
        else:
            raise table.error(f"{flag(role, column)} cannot be used: {why}.")
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
    text = None
    if (periods := _in_pieces(series, column)) is None:
        text = number_text(series)
        periods = _as_periods(text, column)
    if periods is None:
        assert text is not None
        if len(wrong := _other_periods(text, column)):
            return wrong, "neither a number nor a date as in the other rows", None, ""
        why = (
            "its values are neither numbers nor dates such as 2024-05-31, for example "
            f"{shorten(series[0])}, so their order in time is not known"
        )
        return _NO_ROWS, why, None, ""
    times, unit = _from_epoch(periods)
    first, last = readable_period(times.min()), readable_period(times.max())
    return _NO_ROWS, "", times, f"{column} is when, from {first} to {last}{unit}."


# Numbers that are seconds since 1970 lie between these, which are 1980 and 2100.
_EPOCH = 315_532_800, 4_102_444_800
_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6}


def _from_epoch(periods: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Turn seconds or their fractions since 1970 into dates, and say so."""
    if periods.dtype.kind not in "if":
        return periods, ""
    lowest, highest = periods.min(), periods.max()
    for unit, times in _UNITS.items():
        if _EPOCH[0] * times <= lowest and highest < _EPOCH[1] * times:
            scaled = np.round(periods * (10**6 / times)).astype(np.int64)
            return scaled.view("datetime64[us]"), f", in {unit} since 1970"
    return periods, ""


def _other_periods(text: Text, column: str) -> Rows:
    """Find the rows that are not of the kind most rows are; none if no kind is."""
    values = [value.strip() for value in text.values]
    counts = np.bincount(text.codes, minlength=len(values))
    for fits in (is_finite, _ISO.match, _YEAR_FIRST.fullmatch, _YEAR_LAST.fullmatch):
        good = np.array([bool(fits(_UTC.sub("", value))) for value in values])
        if 2 * counts[good].sum() < counts.sum():
            continue
        # Among those that look right there are dates that no calendar has. With a
        # slash, one alone may not say whether the day or the month comes first.
        for code in np.flatnonzero(good):
            alone = Text(np.zeros(1, dtype=np.int64), [values[code]])
            good[code] = "/" in values[code] or _as_periods(alone, column) is not None
        return np.flatnonzero(~good[text.codes])
    return _NO_ROWS


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
            f"{flag('advantage')} and {flag('neutral')} speak of the left side, but "
            "here the columns are the winner and the loser; name two sides with "
            f"{flag('left')} and {flag('right')}."
        )
    for role in optional:
        if (column := found.find(role, roles)) is not None:
            roles[role] = column
    one_hot = split_outcome(roles.get("outcome", ""), table)
    likely = _likely_tags(table, [*roles.values(), *one_hot])

    def columns_of(*wanted: str) -> list[str]:
        return [roles[role] for role in wanted if role in roles]

    words = found.others(options.words, flag("by"))
    numbers = found.others(options.numbers, flag("covariates"))
    scores = columns_of("left_score", "right_score", "weight", "advantage")
    columns = table.read(
        text=names
        + (one_hot or columns_of("outcome"))
        + columns_of("rater", "neutral")
        + words,
        numbers=[*scores, *likely, *numbers],
        raw=columns_of("period"),
    )
    columns.note_bad("number", *numbers)
    sentences = [_describe_outcome(names, roles, one_hot, options)]
    left, right = read_sides(columns, names, sentences)
    if winner_first:
        judged = Judged.plain(np.full(len(left.codes), -1, dtype=np.int8))
    elif one_hot:
        judged = _read_one_hot(columns, one_hot)
    elif "outcome" in roles:
        outcome = roles["outcome"]
        named = "winner" in spelling(outcome) or options.winner is not None
        sided = Sided((names[0], names[1], outcome), left, right, columns.text[outcome])
        judged = read_outcomes(columns, sided, options, named)
    else:
        judged = Judged.plain(_read_scores(columns, roles))
    y = judged.y
    metadata = _read_metadata(columns, roles, found.given, sentences)
    metadata |= read_advantage(columns, roles, reading.family, sentences)
    columns.refuse_broken()
    questions = []

    texts = (columns.text[column].values_of_rows() for column in words)
    others = dict(zip(options.words, texts, strict=True))
    values = (columns.numbers[column] for column in numbers)
    others |= zip(options.numbers, values, strict=True)
    keep = _choose_rows(table, options, left, right, judged, names, sentences)
    if not keep.all():
        left, right, y = left.take(keep), right.take(keep), y[keep]
        metadata = {name: column[keep] for name, column in metadata.items()}
    pairs = Pairs(None, left.array(), right.array())
    turned = None
    if winner_first:
        pairs, y, turned = exchange_sides(pairs, y)
        sentences.append(
            "The winner always comes first, so the two sides were exchanged at random "
            f"in {plural(int(turned.sum()), 'row')} (always the same ones)."
        )
    tags = [
        tag
        for tag in likely
        if set(np.unique(columns.numbers[tag]).tolist()) == {0.0, 1.0}
    ]
    if tags:
        sentences.append(
            f"{plural(len(tags), 'column')} of 0 and 1 can be used as categories: "
            f"{first_of(tags)}."
        )
    counts = (int((y == outcome).sum()) for outcome in (-1, 0, 1))
    sentences.append(count_outcomes(pairs.n_items, *counts))
    if judged.both_bad.any() and options.both_bad in (None, "tie"):
        questions.append(
            f"{flag('both_bad', 'drop')} leaves out the votes that call both bad."
        )
    weight = metadata.pop("weight", None)
    marks: dict[str, NDArray[Any]] = {"both_bad": judged.both_bad[keep]}
    if turned is not None:
        marks["exchanged"] = turned
    if options.fingerprint:
        marks["fingerprint"] = table.fingerprint()[keep]
    rows = table.numbers(np.flatnonzero(keep))
    others = {name: column[keep] for name, column in others.items()}
    data = Comparisons(pairs, y, weight, metadata, rows, others, marks)
    return ReadResult(data, table.detected.format, sentences, questions)


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


def _describe_outcome(
    names: list[str], roles: dict[str, str], one_hot: list[str], options: ReadOptions
) -> str:
    if "loser" in roles:
        return f"In every row {names[0]} is better than {names[1]}."
    start = f"{names[0]} and {names[1]} are compared; "
    if one_hot:
        return start + f"the one of {', '.join(one_hot)} that is 1 says who won."
    if "outcome" not in roles:
        return start + (
            f"the higher of {roles['left_score']} and {roles['right_score']} wins, "
            "equal ones are a tie."
        )
    outcome = roles["outcome"]
    if (scale := options.scale()) is None:
        words = [f"{word!r} is {o}" for word, o in options.declared_words().items()]
        return start + f"{outcome} says who won{': ' * bool(words)}{', '.join(words)}."
    middle = sum(scale)
    tie = "no value is a tie" if middle % 2 else f"{middle // 2} is a tie"
    return start + (
        f"{outcome} is a scale from {scale[0]}, where {names[0]} is better, to "
        f"{scale[1]}, where {names[1]} is, and {tie}."
    )


def _choose_rows(
    table: Table,
    options: ReadOptions,
    left: Text,
    right: Text,
    judged: Judged,
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
    if len(rows := np.flatnonzero(judged.skipped & keep)):
        keep &= ~judged.skipped
        sentences.append(
            f"{plural(len(rows), 'row')} in which nobody voted left out: "
            f"{table.list_places(rows)}."
        )
    both_bad = judged.both_bad
    if (count := int((both_bad & keep).sum())) and options.both_bad == "drop":
        keep &= ~both_bad
        sentences.append(f"{plural(count, 'row')} with both items called bad left out.")
    elif count:
        bad = f"{plural(count, 'row')} with both items called bad"
        sentences.append(f"{bad} counted as ties.")
    if not keep.any():
        raise table.error(f"no comparison is left. {' '.join(sentences[1:])}")
    return keep


def _likely_tags(table: Table, taken: list[str]) -> list[str]:
    """List the columns without a role that begin with zeros and ones."""

    def is_likely(column: pl.Series) -> bool:
        if column.dtype == pl.Boolean:
            return column.null_count() == 0
        return set(map(str, column.to_list())) <= {"0", "1"}

    used = set(taken)
    free = [c for c in table.columns if c not in used]
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
