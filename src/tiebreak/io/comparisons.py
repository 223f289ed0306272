# SPDX-License-Identifier: BSD-3-Clause
"""Tables with one comparison per row (votes, matches, games), read and written.

Outcomes follow the rules of `Outcome.parse`, with one that is stricter: a number is the
name of an item only in a column declared to hold the winner, because ``1`` is also a
usual score. Rater, period and weight must be complete; a column that was found by its
name only, and is mostly empty, is not used.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.arrays import Codes, Flags
from tiebreak.data.columns import (
    are_whole,
    as_column_of,
    factorize,
    name_key,
    readable_period,
    take_rows,
)
from tiebreak.data.kinds import Comparisons
from tiebreak.data.messages import noun, speaking_of
from tiebreak.data.outcome import (
    BOTH_BAD_WORDS,
    as_number,
    check_outcomes,
    contradiction,
    infer_meaning,
    letters_of_sides,
    normalize,
    read_value,
)
from tiebreak.data.pairs import Pairs, exchange_sides
from tiebreak.io.columns import (
    SIDES,
    Reading,
    find_nouns,
    is_lower_better,
    named_column,
    read_roles,
    say_direction,
    spelling,
    split_columns,
    words_of,
)
from tiebreak.io.result import ReadOptions, ReadResult, flag, plural, shorten
from tiebreak.io.table import Columns, Table, Text, write_table

# The codes of outcomes, also of those that are no -1, 0 or 1, or not yet.
_BOTH_BAD, _SKIPPED, _BY_NAME, _AMBIGUOUS, _UNDECLARED, _NO_NUMBER, _UNKNOWN = range(
    2, 9
)
_CODES = {
    "left": -1, "tie": 0, "right": 1, "both_bad": _BOTH_BAD, "skip": _SKIPPED,
    "skipped": _SKIPPED, "undeclared": _UNDECLARED, "number": _NO_NUMBER,
    "unknown": _UNKNOWN,
}  # fmt: skip
# Columns that may count equal rows, and also something else.
_COUNTS = {
    "comparisons", "games", "matches", "num", "number", "times", "total", "trials",
    "wins",
}  # fmt: skip
# Columns that say who did not win.
_LOST = {"loser", "loserid", "losername", "rejected", "worse"}
_TRUE = ("true", "t", "yes", "y", "1", "1.0")
_FALSE = ("false", "f", "no", "n", "0", "0.0")


class OutcomeParser:
    """Parses single values of the outcome column."""

    def __init__(
        self, sides: dict[str, Text], options: ReadOptions, names_winner: bool
    ) -> None:
        self.meaning, self.scale = options.meaning, options.scale()
        self.names_winner = names_winner and self.meaning is None
        self.letters: dict[str, str] = {}
        self.words = options.declared_words()
        self.numbers: dict[float | None, str] = {
            number: outcome
            for word, outcome in self.words.items()
            if (number := as_number(word)) is not None
        }
        self.declared = (
            flag("likert", options.likert) if self.scale
            else flag("outcome_words") if self.numbers
            else flag("meaning", self.meaning)
        )  # fmt: skip
        names = [name for text in sides.values() for name in text.values]
        self.whole = are_whole(names)
        items = dict.fromkeys(map(self.key, names))
        self.ids = {name: number for number, name in enumerate(items)}
        self.taken = {normalize(name) for name in self.ids}
        left, right = map(spelling, sides)
        self.headers = {left: -1, right: 1}
        # Columns that were named the other way round turn their words too.
        self.turned = any(
            (right, left) == (spelling(sides.left), spelling(sides.right))
            for sides in SIDES
        )

    def key(self, name: str) -> str:
        """Return what the spellings of a name share."""
        return name_key(name, self.whole)

    def code(self, value: str) -> int:
        """Return the code of a value."""
        number, word = as_number(value), normalize(value)
        if declared := self.numbers.get(number) or self.words.get(word):
            return _CODES[declared]
        if number is not None and self.scale is not None:
            return self._on_scale(number)
        if self.key(value) in self.ids and (number is None or self.names_winner):
            return _BY_NAME
        outcome: int | str
        if number is not None:
            outcome = "number" if self.numbers else read_value(value, self.meaning)
        elif (header := spelling(value)) in self.headers:
            outcome = self.headers[header]
        else:
            outcome = read_value(self.letters.get(word, value))
            fixed = not self.turned or word in ("left", "right", "first", "second")
            outcome = outcome if fixed or isinstance(outcome, str) else -outcome
        if number is None and outcome != "unknown" and word in self.taken:
            return _AMBIGUOUS
        if outcome == 0 and word.strip("[] ") in BOTH_BAD_WORDS:
            return _BOTH_BAD
        return _CODES[outcome] if isinstance(outcome, str) else outcome

    def _on_scale(self, number: float) -> int:
        assert self.scale is not None
        low, high = sorted(self.scale)
        if number != int(number) or not low <= number <= high:
            return _NO_NUMBER
        side = np.sign(2 * number - low - high)
        return int(side if self.scale[0] < self.scale[1] else -side)


def _read_outcomes(
    columns: Columns,
    sides: dict[str, Text],
    column: str,
    options: ReadOptions,
    sentences: list[str],
) -> NDArray[Any]:
    """Return the codes of the outcomes in a column; faults are noted."""
    outcome = columns.text[column]
    names_winner = "winner" in spelling(column) or options.winner is not None
    parser = OutcomeParser(sides, options, names_winner)
    parser.letters = letters_of_sides(outcome.values)
    codes = outcome.per_row(parser.code, missing=0)
    if (codes == _UNDECLARED).any() and infer_meaning(outcome.values):
        parser = OutcomeParser(sides, replace(options, meaning="score"), names_winner)
        codes = outcome.per_row(parser.code, missing=0)
        side = next(iter(sides))
        sentences.append(f"{column} is the score of {side}: 1, 0.5 or 0.")
    if len(named := np.flatnonzero(codes == _BY_NAME)):
        codes[named] = _read_names([outcome, *sides.values()], parser, named)
    undeclared = np.flatnonzero(codes == _UNDECLARED)
    if 2 * len(undeclared) > len(codes):
        raise _ask_meaning(columns, sides, column, undeclared)
    codes[undeclared] = _UNKNOWN
    faults = {
        _NO_NUMBER: f"outcomes that are not numbers of {parser.declared}",
        _AMBIGUOUS: "outcomes that are a word and the name of an item of other rows",
        _UNKNOWN: "unknown outcomes",
    }
    for code, fault in faults.items():
        columns.note(fault, codes == code, outcome)
    if (codes == _UNKNOWN).any():
        columns.advice = (
            " An outcome is the name of one of the two, or a word such as left, tie, "
            f"right or draw; {flag('outcome_words')} says what others mean."
        )
        if {*map(normalize, outcome.values)} <= {"h", "d", "a"}:
            words = flag("outcome_words", "left=H,tie=D,right=A")
            columns.advice = f" If these are home, draw and away, say {words}."
    return codes


def _read_flags(columns: Columns, column: str) -> Flags:
    """Return which rows of a column are true; other values are noted."""
    text = columns.text[column]
    true = text.per_row(lambda value: value.strip().casefold() in _TRUE, False)
    false = text.per_row(lambda value: value.strip().casefold() in _FALSE, False)
    what = f"values in {column} that are neither true nor false"
    columns.note(what, ~(true | false), text)
    return true


def _read_one_hot(columns: Columns, listed: list[str]) -> NDArray[Any]:
    """Return the codes of columns of 0 and 1 (left, right, tie, both bad)."""
    table = np.stack([_read_flags(columns, column) for column in listed], axis=1)
    broken = table.sum(axis=1) != 1
    columns.note(f"not exactly one of {', '.join(listed)} is 1", broken)
    return table @ np.array([-1, 1, 0, _BOTH_BAD][: len(listed)])


def _read_names(texts: list[Text], parser: OutcomeParser, rows: Codes) -> NDArray[Any]:
    """Read outcomes that name an item of their row."""
    winner, left, right = (
        text.per_row(lambda value: parser.ids.get(parser.key(value), -1), -1)[rows]
        for text in texts
    )
    # A winner that stands on both sides is a row of an item against itself, which is
    # reported and left out later.
    result = np.select([winner == left, winner == right], [-1, 1], _UNKNOWN)
    is_word = texts[0].per_row(lambda v: isinstance(read_value(v), int), False)
    result[(result == _UNKNOWN) & is_word[rows]] = _AMBIGUOUS
    return result


def _ask_meaning(
    columns: Columns, sides: dict[str, Text], column: str, rows: Codes
) -> Exception:
    """Ask what numbers mean, with the options that answer it."""
    left, right = sides
    table, outcome = columns.table, columns.text[column]
    values = {outcome.values[code] for code in np.unique(outcome.codes[rows])}
    numbers = {float(as_number(value) or 0) for value in values}
    low, high = f"{min(numbers):g}", f"{max(numbers):g}"
    if 2 in numbers and numbers <= {0, 1, 2}:
        words = "left=1,right=2" + ",tie=0" * (0 in numbers)
        ways = [f"{flag('outcome_words', words)} if 1 is a win of {left}"]
    elif numbers <= {-1, 0, 0.5, 1}:
        ways = [
            f"{flag('meaning', 'score')} if 1 is a win of {left} and 0 of {right}",
            f"{flag('meaning', 'sign')} if -1 is a win of {left} and +1 of {right}",
            f"{flag('meaning', 'left')} if +1 is a win of {left} and -1 of {right}",
        ]
        ways = ways[-1 in numbers :]
    else:
        ways = [
            f"{flag('likert', f'{low}..{high}')} if {low} says that {left} is better",
            f"{flag('likert', f'{high}..{low}')} if {high} says so",
        ]
    if values <= {name for text in sides.values() for name in text.values}:
        ways.append(f"{flag('winner', column)} if it names the winner")
    return table.question(
        f"{column} holds numbers in {len(rows):,} rows, and files differ in what they "
        f"mean ({table.list_places(rows, outcome.in_rows(rows))}). Say "
        f"{', or '.join(ways)}."
    )


def read_advantage(
    columns: Columns, roles: dict[str, str], family: str, sentences: list[str]
) -> dict[str, NDArray[Any]]:
    """Return ``advantage``: 1 at home, 0 on neutral ground, or its own column."""
    if "advantage" in roles:
        column = roles["advantage"]
        sentences.append(f"{column} is the advantage of the left side.")
        return {"advantage": columns.numbers[column]}
    if family not in ("home", "white") and "neutral" not in roles:
        return {}
    side = roles["left"]
    if "neutral" not in roles:
        why = "moves first" if family == "white" else "plays at home"
        sentences.append(f"The side in {side} {why}, which is counted as an advantage.")
        return {"advantage": np.ones(len(columns.text[side].codes))}
    neutral = _read_flags(columns, roles["neutral"])
    sentences.append(
        f"The side in {side} plays at home, which is counted as an advantage, except "
        f"in {plural(int(neutral.sum()), 'row')} where {roles['neutral']} is true."
    )
    return {"advantage": 1.0 - neutral}


def read_metadata(
    columns: Columns, roles: dict[str, str], named: dict[str, str], sentences: list[str]
) -> dict[str, NDArray[Any]]:
    """Return rater, unit, period and weight, (n,) each, where usable."""
    table = columns.table
    metadata: dict[str, NDArray[Any]] = {}
    readers = {"rater": _rater, "unit": _unit, "period": _period, "weight": _weight}
    for role, read in readers.items():
        if role not in roles:
            continue
        column = roles[role]
        values, why, rows = read(columns, column)
        if values is not None:
            metadata[role] = values
            sentences.append(f"{column} is {why}.")
        elif role not in named and (
            2 * (np.isnan(columns.numbers[column]).sum() - len(columns.bad[column]))
            > table.n_rows  # mostly empty
            if role == "weight"
            else not len(rows) or 2 * len(rows) > table.n_rows
        ):
            where = f" in {table.list_places(rows)}" if len(rows) else ""
            sentences.append(f"{column} is not used as the {role}: {why}{where}.")
        elif len(rows):
            columns.note(f"{why} in {column}", rows, column)
            if role not in named:
                without = f"{flag(role, 'none')} reads the file without {column}"
                columns.advice += f" {without}."
        else:
            without = f"{flag(role, 'none')} reads the file without it"
            raise table.error(f"{column} is no {role}: {why}; {without}.")
    return metadata


# The values and what they are; or None, a fault, and the rows that have it.
_Read = tuple["NDArray[Any] | None", str, NDArray[Any]]
_NO_ROWS = np.empty(0, dtype=np.int64)


def _rater(columns: Columns, column: str) -> _Read:
    text = columns.text[column]
    if len(missing := np.flatnonzero(text.missing)):
        return None, "no value", missing
    return text.array(), f"who judged ({plural(len(text.values), 'rater')})", _NO_ROWS


def _unit(columns: Columns, column: str) -> _Read:
    values, fault, rows = _rater(columns, column)
    return values, fault if values is None else "which rows are one observation", rows


def _weight(columns: Columns, column: str) -> _Read:
    values = columns.numbers[column]
    # Missing values are NaN, which is not at least zero either.
    wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
    if len(wrong):
        return None, "a weight that is not a number of at least 0", wrong
    if not values.any():
        return None, "all weights are zero", _NO_ROWS
    return values, "how much a row counts", _NO_ROWS


def _period(columns: Columns, column: str) -> _Read:
    series = columns.raw[column]
    if len(missing := np.flatnonzero(series.is_null().to_numpy())):
        return None, "no value", missing
    for readings in _as_times(series, column):
        fits = readings[0].is_not_null() | readings[-1].is_not_null()
        if 2 * fits.sum() < len(series):
            continue
        if not fits.all():
            wrong = np.flatnonzero(~fits.to_numpy())
            return None, "neither a number nor a date as in the other rows", wrong
        whole = [times for times in readings if not times.null_count()]
        if len(whole) == 1:
            times, unit = _from_epoch(whole[0].to_numpy())
            first, last = readable_period(times.min()), readable_period(times.max())
            unit = ", in UTC" if series.str.contains(_OFFSET).any() else unit
            return times, f"when, from {first} to {last}{unit}", _NO_ROWS
    why = (
        "its values are neither numbers nor dates such as 2024-05-31, for example "
        f"{shorten(series[0])}, so their order in time is not known"
    )
    return None, why, _NO_ROWS


_COMPACT = r"^(1[6-9]|20|21)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
_OFFSET = r":\d\d(?:\.\d+)? ?[+-]\d\d:?(?:[0-5]\d)?$"
_TIMES = ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f")
_ISO = ("%Y-%m-%d", *_TIMES, *(f"{form}%#z" for form in _TIMES))  # also an offset


def _as_times(series: pl.Series, column: str) -> Iterator[list[pl.Series]]:
    """Read all values as numbers, and as dates in several ways; null what does not fit.

    In 31.05.2024 the day comes first; with slashes both orders are tried.
    """
    text = series.str.strip_chars()
    if "date" in column.casefold() and text.str.contains(_COMPACT).all():
        text = text.str.replace(r"^(\d{4})(\d\d)(\d\d)$", "$1-$2-$3")
    numbers = text.cast(pl.Float64, strict=False)
    numbers = numbers.set(~numbers.is_finite(), None)
    if (numbers.abs() < 2**53).all() and (numbers == numbers.floor()).all():
        numbers = numbers.cast(pl.Int64)
    yield [numbers]
    text = text.str.replace(r"( ?UTC|Z)$", "")
    iso = text.str.replace(r"^(\d{4})[./](\d{1,2})[./](\d{1,2})", "$1-$2-$3")
    iso = iso.str.replace(r"^(\d{4}-\d\d)$", "$1-01").str.replace("T", " ")
    for texts, formats in (
        (iso, [_ISO]),
        (text, [("%d.%m.%Y",)]),
        (text, [("%d/%m/%Y",), ("%m/%d/%Y",)]),
    ):
        # A year has four digits, which polars does not ask for.
        dated = texts.set(~texts.str.contains(r"^\d{4}\D|\D\d{4}$"), None)
        yield [_parse_dates(dated, listed) for listed in formats]


def _parse_dates(texts: pl.Series, formats: Sequence[str]) -> pl.Series:
    parsed = (texts.str.to_datetime(f, strict=False, time_zone="UTC") for f in formats)
    times = pl.select(pl.coalesce(parsed)).to_series().dt.replace_time_zone(None)
    return times.cast(pl.Date) if (texts.str.len_chars() <= 10).all() else times


# Numbers that are seconds since 1970 lie between these, which are 1980 and 2100.
_EPOCH = 315_532_800, 4_102_444_800
_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6}


def _from_epoch(periods: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Turn seconds or their fractions since 1970 into dates."""
    if periods.dtype.kind not in "if":
        return periods, ""
    lowest, highest = periods.min(), periods.max()
    for unit, times in _UNITS.items():
        if _EPOCH[0] * times <= lowest and highest < _EPOCH[1] * times:
            scaled = np.round(periods * (10**6 / times)).astype(np.int64)
            return scaled.view("datetime64[us]"), f", in {unit} since 1970"
    return periods, ""


def read_comparisons(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any = None
) -> ReadResult:
    """Read a table of comparisons by a chosen reading."""
    roles, named = dict(reading.roles), options.roles()
    winner_first = "loser" in roles
    if winner_first and {"advantage", "neutral"} & set(named):
        raise table.error(
            f"{flag('advantage')} and {flag('neutral')} speak of the left side; name "
            f"two sides with {flag('left')} and {flag('right')}."
        )
    if options.lower_is_better is not None and "left_score" not in roles:
        raise table.error(f"{flag('lower_is_better')} is for numbers; leave it out.")
    if "wins" in words_of(roles.get("left_score", "")):
        raise table.error(
            f"{roles['left_score']} counts wins of many matches, and "
            f"{flag('left_score')} is the score of one; leave out both scores."
        )
    names = [roles[side] for side in list(roles)[:2]]
    one_hot = split_columns(roles.get("outcome", ""), table)
    one_hot = one_hot if len(one_hot) > 1 else []
    sentences = [_describe_outcome(names, roles, one_hot, options)]
    if one_hot:
        del roles["outcome"]
    words = {name: named_column(table, name, flag("by")) for name in options.words}
    numbers = {
        name: named_column(table, name, flag("covariates")) for name in options.numbers
    }
    columns = read_roles(
        table, roles, text=[*one_hot, *words.values()], numbers=[*numbers.values()]
    )
    columns.note_bad("number", *numbers.values())
    sides = [split_columns(name, table) for name in names]
    # Of teams, members are compared and not what their rows say.
    said = [] if options.members else sentences
    texts = columns.restore_names(said, *sides[0], *sides[1])
    sign = options.members or "\x1f" * (len(texts) > 2)  # between members of a team
    left, right = (
        _join_members(texts[: len(sides[0])], sign),
        _join_members(texts[len(sides[0]) :], sign),
    )
    if winner_first:
        codes = np.full(table.n_rows, -1)
        if "is_tie" in roles:
            codes[_read_flags(columns, roles["is_tie"])] = 0
    elif one_hot:
        codes = _read_one_hot(columns, one_hot)
    elif "outcome" in roles:
        both = dict(zip(names, (left, right), strict=True))
        codes = _read_outcomes(columns, both, roles["outcome"], options, sentences)
        if spelling(roles["outcome"]) in _LOST:
            codes = np.where(np.abs(codes) == 1, -codes, codes)
        head = np.where(np.abs(codes) <= 1, codes, 0)[: table.head.height]
        if not sign and (doubt := contradiction(head, table.head, *names)):
            sentences.append(doubt)
            table.warnings.append(doubt)
    else:
        points = [columns.numbers[roles[f"{side}_score"]] for side in ("left", "right")]
        lower = is_lower_better(roles["left_score"], options)
        codes = np.sign(points[0] - points[1] if lower else points[1] - points[0])
        sentences.append(say_direction(roles["left_score"], options, lower))
    metadata = read_metadata(columns, roles, named, sentences)
    metadata |= read_advantage(columns, roles, reading.family, sentences)
    if sign:
        sentences.append("Sides are teams, and ratings are those of their members.")
        _note_teams(columns, sign, left, right)
    columns.refuse_broken()
    others = {name: columns.text[c].per_row(str, None) for name, c in words.items()}
    others |= {name: columns.numbers[column] for name, column in numbers.items()}
    marks: dict[str, NDArray[Any]] = {"both_bad": codes == _BOTH_BAD}
    if options.fingerprint:
        marks["fingerprint"] = table.fingerprint()

    keep = _choose_rows(table, options, left, right, codes, sentences)
    y = np.where(codes == _BOTH_BAD, 0, codes).astype(np.int8)
    if "weight" not in metadata and "weight" not in named:
        used = [*roles.values(), *one_hot, *words.values(), *numbers.values()]
        _ask_if_counts(table, used, left, right, y)
    if not keep.all():
        left, right, y = left.take(keep), right.take(keep), y[keep]
        metadata, others, marks = (
            {name: take_rows(column, keep) for name, column in listed.items()}
            for listed in (metadata, others, marks)
        )
    if sign:
        pairs = Pairs.from_teams(
            _split_members(left, sign), _split_members(right, sign)
        )
    else:
        pairs = Pairs(None, left.array(), right.array())
        listed = left.values + right.values
        if plus := [s for s in "+&/;|" if all(s in name for name in listed)]:
            sentences.append(f"{flag('members', plus[0])} rates the members of teams.")
    if winner_first:
        pairs, y, marks["exchanged"] = exchange_sides(pairs, y)
        sentences.append(
            "The winner always comes first, so the two sides were exchanged at random "
            f"in {plural(int(marks['exchanged'].sum()), 'row')} (always the same ones)."
        )
    if n_bad := int(marks["both_bad"].sum()):
        bad = f"{plural(n_bad, 'row')} with both items called bad"
        sentences.append(f"{bad} counted as ties.")
    left_won, ties, right_won = (int((y == o).sum()) for o in (-1, 0, 1))
    nouns = find_nouns("" if sign else reading.family, options)
    with speaking_of(nouns):
        sentences.append(
            f"{plural(len(y), 'comparison')} of {plural(pairs.n_items, 'item')}: "
            f"{noun('left')} is better in {left_won:,}, {noun('right')} in "
            f"{right_won:,}, neither in {ties:,}."
        )
    if n_bad:
        sentences.append(
            f"{flag('both_bad', 'drop')} leaves out the votes that call both bad."
        )
    weight = metadata.pop("weight", None)
    rows = table.numbers(np.flatnonzero(keep))
    data = Comparisons(pairs, y, weight, metadata, rows, others, marks)
    return ReadResult(data, sentences, nouns=nouns)


def _ask_if_counts(
    table: Table, used: list[str], left: Text, right: Text, y: NDArray[Any]
) -> None:
    """Ask whether a column counts results, where no result occurs twice."""
    names = {name for one in used for name in split_columns(one, table)}
    others = [column for column in table.columns if column not in names]
    likely = [c for c in others if len(others) == 1 or spelling(c) in _COUNTS]
    for column in likely:
        count = table.head[column].cast(pl.String).cast(pl.Float64, strict=False)
        steps = set(count.diff().drop_nulls())
        if count.null_count() or not ((count >= 0) & (count % 1 == 0)).all():
            continue
        if count.max() == 1 or steps == {1.0}:  # flags, or numbers of rows
            continue
        number = {name: code for code, name in enumerate(left.values + right.values)}
        ends = [side.per_row(number.__getitem__, -1) for side in (left, right)]
        low, high = np.sort(ends, axis=0)
        won = np.where(ends[0] == low, y, -y)
        results = np.unique([low, high, won], axis=1).shape[1]
        if np.unique([low, high], axis=1).shape[1] < results == len(y):
            raise table.question(
                f"no result occurs twice, so {column} may count equal ones. Choose one "
                f"by its options: {flag('weight', column)} (it counts results); or "
                f"{flag('weight', 'none')} (it says something else)."
            )


def _join_members(texts: list[Text], sign: str) -> Text:
    """Join the columns of one side, where it has several."""
    if len(texts) == 1:
        return texts[0]
    rows = zip(*(text.per_row(str, "") for text in texts), strict=True)
    codes, values = factorize([sign.join(filter(None, row)) for row in rows])
    return Text(codes, [str(value) for value in values])


def _split_members(side: Text, sign: str) -> list[list[str]]:
    """List the members of a side in each row."""
    teams = [[name.strip() for name in team.split(sign)] for team in side.values]
    return [teams[code] for code in side.codes]


def _note_teams(columns: Columns, sign: str, *sides: Text) -> None:
    """Note rows in which a side has a member twice, or one without a name."""
    for side in sides:
        teams = _split_members(replace(side, codes=np.arange(len(side.values))), sign)
        broken = [len(set(team)) < len(team) or "" in team for team in teams]
        rows = np.array([*broken, False])[side.codes]
        columns.note("a member twice, or without a name", rows, side)


def _describe_outcome(
    names: list[str], roles: dict[str, str], one_hot: list[str], options: ReadOptions
) -> str:
    if "loser" in roles:
        but = f", but tied if {roles['is_tie']}" if "is_tie" in roles else ""
        return f"In every row {names[0]} is better than {names[1]}{but}."
    start = f"{names[0]} and {names[1]} are compared; "
    if one_hot:
        return start + f"the one of {', '.join(one_hot)} that is 1 says who won."
    if "outcome" not in roles:
        scores = f"{roles['left_score']} and {roles['right_score']}"
        return f"{start}the better of {scores} wins, equal ones are a tie."
    outcome = roles["outcome"]
    if (scale := options.scale()) is None:
        words = [f"{word!r} is {o}" for word, o in options.declared_words().items()]
        won = "lost" if spelling(outcome) in _LOST else "won"
        return (
            start + f"{outcome} says who {won}{': ' * bool(words)}{', '.join(words)}."
        )
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
    codes: NDArray[Any],
    sentences: list[str],
) -> Flags:
    """Choose the rows to keep, and say which are not, and why."""
    number = {name: code for code, name in enumerate(left.values)}
    same = np.array([number.get(name, -1) for name in right.values])
    reasons = {
        "with the same item on both sides": same[right.codes] == left.codes,
        "in which nobody voted": codes == _SKIPPED,
    }
    if options.both_bad == "drop":
        reasons["with both items called bad"] = codes == _BOTH_BAD
    keep = np.ones(len(left.codes), dtype=bool)
    for reason, left_out in reasons.items():
        if len(rows := np.flatnonzero(left_out & keep)):
            keep &= ~left_out
            where = table.list_places(rows)
            sentences.append(f"{plural(len(rows), 'row')} {reason} left out: {where}.")
            if reason != "with both items called bad":  # which is asked for
                table.warnings.append(sentences[-1])
    if not keep.any():
        raise table.error(f"no comparison is left. {' '.join(sentences[1:])}")
    return keep


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
        As in `write_table`.
    ValueError
        If the columns do not match.
    """
    n = len(pairs)
    names = range(pairs.n_items) if pairs.names is None else pairs.names.tolist()
    items = pl.Series([str(name) for name in names], dtype=pl.String)
    words = pl.Series(_choose_words(items.to_list()), dtype=pl.String)
    outcome = check_outcomes(y, n, some=True)
    series = [
        items.gather(pairs.left).alias("left"),
        items.gather(pairs.right).alias("right"),
        words.gather(outcome.astype(np.int64) + 1).alias("outcome"),
    ]
    for name, values in (columns or {}).items():
        column = as_column_of(values, name, n)
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
