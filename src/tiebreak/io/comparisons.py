# SPDX-License-Identifier: BSD-3-Clause
"""Tables with one comparison per row: votes, matches, games.

A column of outcomes read by its distinct values, with the lines of what is wrong.

The rules are those of `Outcome.parse`: a declared number, the name of an item of the
row, a word of the table, in this order. Only the names have to be looked at row by
row. One rule is stricter: a number is the name of an item only in a column that is
said to hold the winner, because ``1`` is also a usual score.

Columns beside a comparison: who judged, when, and how much it counts.

A column that the user named must be whole. One that was only recognized by its name is
left unused when it is not, and a sentence says so.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.columns import as_column, find_distinct, readable_period
from tiebreak.data.outcome import (
    BOTH_BAD_WORDS,
    OUTCOME_WORDS,
    Meaning,
    Outcome,
    normalize,
)
from tiebreak.data.pairs import Pairs
from tiebreak.io.columns import Reading, Roles, spelling
from tiebreak.io.result import (
    SHOWN,
    BrokenRows,
    FileError,
    NeedsAnswer,
    ReadOptions,
    ReadResult,
    flag,
    list_places,
    plural,
    shorten,
)
from tiebreak.io.table import Columns, Table, Text, number_text, restore_names

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


_TRUE = ("true", "t", "yes", "y", "1", "1.0")
_FALSE = ("false", "f", "no", "n", "0", "0.0")


def read_advantage(
    columns: Columns, roles: dict[str, str], family: str, broken: BrokenRows
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Read by how much the left side is favored; 1 at home, 0 on neutral ground.

    Parameters
    ----------
    columns : Columns
        The columns of left, advantage and neutral.
    roles : dict of str to str
        The column of each role.
    family : str
        Of the two sides, see `SIDES`.
    broken : BrokenRows
        Where rows that cannot be read are noted.

    Returns
    -------
    columns : dict of str to ndarray of shape (n,)
        ``"advantage"``, if a side is favored.
    sentences : list of str
        What is said of it.
    """
    if "advantage" in roles:
        column = roles["advantage"]
        columns.note_bad(column, "advantage", broken)
        return {"advantage": columns.numbers[column]}, [
            f"{column} is the advantage of the left side."
        ]
    if family not in ("home", "white") and "neutral" not in roles:
        return {}, []
    side = roles["left"]
    if "neutral" not in roles:
        why = "moves first" if family == "white" else "plays at home"
        favored = np.ones(len(columns.text[side].codes))
        return {"advantage": favored}, [
            f"The side in {side} {why}, which is counted as an advantage."
        ]
    column = roles["neutral"]
    text = columns.text[column]
    words = [value.strip().casefold() for value in text.values]
    known = np.array([word in _TRUE + _FALSE for word in words] + [False])
    wrong = np.flatnonzero(~known[text.codes])
    broken.add(
        f"values in {column} that are neither true nor false",
        wrong,
        [None if c < 0 else text.values[c] for c in text.codes[wrong[:5]]],
    )
    neutral = np.array([word in _TRUE for word in words] + [False])[text.codes]
    return {"advantage": 1.0 - neutral}, [
        f"The side in {side} plays at home, which is counted as an advantage, except "
        f"in {plural(int(neutral.sum()), 'row')} where {column} is true."
    ]


_ISO = re.compile(
    r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?)?"
)
_COMPACT = re.compile(r"(?:1[6-9]|20|21)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_YEAR_FIRST = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([./])(\d{1,2})[./](\d{4})")
_PART = 1 << 16
_UTC = re.compile(r"(?: ?UTC|Z|[+-]00:?00)$")


@dataclass
class Metadata:
    """Columns beside a comparison, and what is said of them."""

    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


def read_metadata(
    table: Table,
    columns: Columns,
    roles: dict[str, str],
    given: dict[str, str],
    broken: BrokenRows,
) -> Metadata:
    """Read rater, period and weight, where there are such columns.

    Parameters
    ----------
    table : Table
        Where the columns come from.
    columns : Columns
        The columns.
    roles, given : dict of str to str
        The column of each role, and those among them that the user named.
    broken : BrokenRows
        Where unreadable rows of columns that the user named are noted.

    Returns
    -------
    Metadata
    """
    result = Metadata()
    for role, read in (("rater", _rater), ("period", _period), ("weight", _weight)):
        if role not in roles:
            continue
        column = roles[role]
        rows, why, values, sentence = read(columns, column)
        if len(rows):
            if role in given:
                broken.add(f"{why} in {column}", rows, table.values(column, rows))
                continue
            result.sentences.append(
                f"{column} is not used as the {role}: {why} in "
                f"{list_places(table.places, rows)}."
            )
        elif values is None:
            if role in given:
                raise FileError(
                    table.path, f"{flag(role)} {column} cannot be used: {why}."
                )
            result.sentences.append(f"{column} is not used as the {role}: {why}.")
        else:
            result.columns[role] = values
            result.sentences.append(sentence)
    return result


_Read = tuple[NDArray[Any], str, "NDArray[Any] | None", str]
_NO_ROWS = np.empty(0, dtype=np.int64)


def _rater(columns: Columns, column: str) -> _Read:
    text = columns.text[column]
    missing = np.flatnonzero(text.missing)
    if len(missing):
        return missing, "no value", None, ""
    count = len(text.values)
    return _NO_ROWS, "", text.array(), f"{column} is who judged ({count:,} raters)."


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
    periods = _in_parts(series, column)
    if periods is None:
        periods = as_periods(number_text(series), column)
    if periods is None:
        why = (
            "its values are neither numbers nor dates such as 2024-05-31, for example "
            f"{shorten(series[0])}, so their order in time is not known"
        )
        return _NO_ROWS, why, None, ""
    first, last = readable_period(periods.min()), readable_period(periods.max())
    return _NO_ROWS, "", periods, f"{column} is when, from {first} to {last}."


def _in_parts(series: pl.Series, column: str) -> NDArray[Any] | None:
    """Read times that nearly all differ, so that few of them are in memory at once.

    None if they are few, or if parts are read differently, as dates and as numbers:
    what they are has then to be told from all of them together.
    """
    if len(series) <= _PART or 2 * series.head(_PART).n_unique() < _PART:
        return None
    found: list[NDArray[Any]] = []
    for start in range(0, len(series), _PART):
        # Not as categories, of which polars keeps all that it has ever seen.
        values = find_distinct(as_column(series.slice(start, _PART), column))
        part = as_periods(Text(values.codes, values.values), column)
        if part is None:
            return None
        found.append(part)
    dates = sum(part.dtype.kind == "M" for part in found)
    return np.concatenate(found) if dates in (0, len(found)) else None


def as_periods(text: Text, column: str) -> NDArray[Any] | None:
    """Turn text into dates or numbers, whose order is that of time.

    Parameters
    ----------
    text : Text
        The column, without missing values.
    column : str
        Its name; numbers of eight digits are dates in a column that is called so.

    Returns
    -------
    ndarray of datetime64, int64 or float64 of shape (n,), or None
        None if the values are neither.

    Examples
    --------
    >>> as_periods(Text(np.array([0, 1, 0]), ["20240531", "20240601"]), "Date")
    array(['2024-05-31', '2024-06-01', '2024-05-31'], dtype='datetime64[D]')
    """
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
    if all(found := [*map(_YEAR_FIRST.fullmatch, values)]):
        return [_iso(year, month, day) for year, month, day in _groups(found)]
    if not all(found := [*map(_YEAR_LAST.fullmatch, values)]):
        return [value.replace("/", "-") for value in values]
    parts = _groups(found)
    first, second = (max(int(part[place]) for part in parts) for place in (0, 2))
    dotted = all(part[1] == "." for part in parts)
    if dotted or (first > 12 >= second):
        return [_iso(year, month, day) for day, _, month, year in parts]
    if second > 12 >= first:
        return [_iso(year, month, day) for month, _, day, year in parts]
    return values


def _groups(found: list[re.Match[str] | None]) -> list[tuple[str, ...]]:
    return [match.groups() for match in found if match is not None]


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"


SWAP_SEED = 20_240_229
"""Seed of the exchange of sides in files that always name the winner first."""


def read_comparisons(
    table: Table, options: ReadOptions, reading: Reading
) -> ReadResult:
    """Read a table of comparisons.

    Parameters
    ----------
    table : Table
        The table.
    options : ReadOptions
        What the user said.
    reading : Reading
        Which columns are compared, and which say who is better.

    Returns
    -------
    ReadResult
    """
    roles = dict(reading.roles)
    winner_first = "loser" in roles
    names = [roles["winner"], roles["loser"]] if winner_first else [
        roles["left"], roles["right"]
    ]  # fmt: skip
    found = Roles(table, options)
    beside = ["rater", "period", "weight"]
    if not winner_first:
        beside += ["advantage", "neutral"]
    elif {"advantage", "neutral"} & set(found.given):
        raise FileError(
            table.path,
            "--advantage and --neutral speak of the left side, but here the columns "
            "are the winner and the loser; name two sides with --left and --right.",
        )
    for role in beside:
        if (column := found.find(role, roles)) is not None:
            roles[role] = column
    likely = _likely_tags(table, roles)
    text_roles = ("outcome", "rater", "neutral")
    columns = table.read(
        text=names + [roles[role] for role in text_roles if role in roles],
        numbers=[
            *(
                roles[role]
                for role in ("left_score", "right_score", "weight", "advantage")
                if role in roles
            ),
            *likely,
        ],
        raw=[roles["period"]] if "period" in roles else [],
    )
    sentences: list[str] = []
    questions: list[str] = []
    left, right = columns.text[names[0]], columns.text[names[1]]
    if not table.is_parquet:
        left, right = restore_names(left, right, sentences)
    broken = table.broken()
    for name, side in zip(names, (left, right), strict=True):
        broken.add(f"no name in {name}", np.flatnonzero(side.missing))
    both_bad = np.zeros(len(left.codes), dtype=bool)
    if winner_first:
        y = np.full(len(left.codes), -1, dtype=np.int8)
    elif "outcome" in roles:
        outcome = roles["outcome"]
        named = "winner" in spelling(outcome) or options.winner is not None
        sided = Sided((names[0], names[1], outcome), left, right, columns.text[outcome])
        y, both_bad = read_outcomes(table, sided, options.meaning, named, broken)
    else:
        y = _read_scores(columns, roles, broken)
    aside = read_metadata(table, columns, roles, found.given, broken)
    favored = read_advantage(columns, roles, reading.family, broken)
    broken.refuse()
    sentences.insert(0, _describe_outcome(names, roles))
    sentences += aside.sentences + favored[1]

    keep = _leave_out(table, options, left, right, both_bad, names, sentences)
    if both_bad.any() and options.both_bad != "drop":
        questions.append("--both-bad drop leaves out the votes that call both bad.")
    pairs, y = _make_pairs(left, right, y, keep)
    extra = {**aside.columns, **favored[0]}
    if not keep.all():
        extra = {name: column[keep] for name, column in extra.items()}
    if winner_first:
        pairs, y = _exchange(pairs, y, sentences)
    tags = {t: columns.numbers[t] for t in likely if _is_tag(columns, t)}
    if tags:
        sentences.append(
            f"{plural(len(tags), 'column')} of 0 and 1 can be used as categories: "
            f"{', '.join(tags)}."
        )
    sentences.append(_count(pairs, y))
    return ReadResult(
        kind="comparisons",
        format=table.sniffed.format,
        sentences=sentences,
        questions=questions,
        pairs=pairs,
        y=y,
        columns=extra,
        tags={name: values[keep].astype(np.int8) for name, values in tags.items()},
    )


def _read_scores(
    columns: Columns, roles: dict[str, str], broken: BrokenRows
) -> NDArray[np.int8]:
    sides = [columns.numbers[roles[role]] for role in ("left_score", "right_score")]
    for role in ("left_score", "right_score"):
        columns.note_bad(roles[role], "score", broken)
    difference = sides[1] - sides[0]
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


def _leave_out(
    table: Table,
    options: ReadOptions,
    left: Text,
    right: Text,
    both_bad: NDArray[np.bool_],
    names: list[str],
    sentences: list[str],
) -> NDArray[np.bool_]:
    """Choose the rows that are kept, and say which are not, and why."""
    number = {name: code for code, name in enumerate(left.values)}
    same = np.array([number.get(name, -1) for name in right.values])
    alone = same[right.codes] == left.codes
    keep = ~alone
    if alone.any():
        rows = np.flatnonzero(alone)
        sentences.append(
            f"{plural(len(rows), 'row')} with the same item in {names[0]} and "
            f"{names[1]} left out: {list_places(table.places, rows)}."
        )
    if (count := int((both_bad & keep).sum())) and options.both_bad == "drop":
        keep &= ~both_bad
        sentences.append(f"{plural(count, 'row')} with both items called bad left out.")
    elif count:
        sentences.append(
            f"{plural(count, 'row')} with both items called bad counted as ties."
        )
    if not keep.any():
        raise FileError(table.path, f"no comparison is left. {' '.join(sentences[1:])}")
    return keep


def _make_pairs(
    left: Text, right: Text, y: NDArray[np.int8], keep: NDArray[np.bool_]
) -> tuple[Pairs, NDArray[np.int8]]:
    if not keep.all():
        left, right, y = left.take(keep), right.take(keep), y[keep]
    return Pairs(None, left.array(), right.array()), y


def _exchange(
    pairs: Pairs, y: NDArray[np.int8], sentences: list[str]
) -> tuple[Pairs, NDArray[np.int8]]:
    """Exchange sides at random: else the outcome would be known from the side."""
    turned = np.random.default_rng(SWAP_SEED).random(len(y)) < 0.5
    left = np.where(turned, pairs.right, pairs.left)
    right = np.where(turned, pairs.left, pairs.right)
    sentences.append(
        "The winner always comes first, so the two sides were exchanged at random in "
        f"{plural(int(turned.sum()), 'row')} (always the same ones)."
    )
    exchanged = Pairs(None, left, right, names=pairs.names)
    return exchanged, np.where(turned, -y, y).astype(np.int8)


def _likely_tags(table: Table, roles: dict[str, str]) -> list[str]:
    """List the columns without a role that begin with zeros and ones."""
    free = [c for c in table.columns if c not in set(roles.values())]
    return [c for c in free if _looks_like_tag(table.head[c])]


def _looks_like_tag(column: pl.Series) -> bool:
    if column.dtype == pl.Boolean:
        return column.null_count() == 0
    return set(map(str, column.unique())) <= {"0", "1"}


def _is_tag(columns: Columns, column: str) -> bool:
    values = columns.numbers[column]
    return set(np.unique(values).tolist()) == {0.0, 1.0}


def _count(pairs: Pairs, y: NDArray[np.int8]) -> str:
    left, tie, right = (int((y == outcome).sum()) for outcome in (-1, 0, 1))
    return count_outcomes(pairs.n_items, left, tie, right)


def count_outcomes(n_items: int, left: int, tie: int, right: int) -> str:
    """Say how many comparisons of how many items there are, and how they ended."""
    n = left + tie + right
    return (
        f"{plural(n, 'comparison')} of {plural(n_items, 'item')}: left is better in "
        f"{left:,}, right in {right:,}, neither in {tie:,}."
    )
