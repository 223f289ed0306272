# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists in tables and in lines of text.

A list is the rows of one race, the ballot of one voter, or the ranks that a judge gave.
Equal places are ties. Who started and has no place (DNF, a blank, ``-``) is below all
who have one, in no order: seen, but not listed.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_names, factorize
from tiebreak.data.kinds import Lists
from tiebreak.data.orders import Orders
from tiebreak.io.columns import (
    COLUMN_WORDS,
    PLACE_WORDS,
    SUMMARIES,
    Reading,
    Roles,
    Rule,
    ask_which,
    find_columns,
    is_lower_better,
    read_roles,
    say_direction,
    spelling,
    split_columns,
    words_of,
)
from tiebreak.io.comparisons import read_metadata
from tiebreak.io.formats import FileFormat, text_lines
from tiebreak.io.result import (
    FileError,
    NeedsAnswer,
    ReadOptions,
    ReadResult,
    is_finite,
    plural,
    shorten,
)
from tiebreak.io.table import Columns, Table
from tiebreak.options import flag

_PLACE = re.compile(r"(?:t|=|#)? *(-?\d+(?:\.\d+)?) *(?:st|nd|rd|th|=|\.|s|sec)?", re.I)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:[.,]\d+)?)")
# What stands for a place of who started, and of who did not; and in ballots for a name.
_UNPLACED, _ABSENT, _NO_VOTE = map(set, map(str.split, (
    "- – — \\n dnf ret retired nc dq dsq exc na n/a nan null none cut mc mdf pu ur bd "
    "f",
    "dns dnq wd dnp",
    "skipped undervote overvote exhausted blank",
)))  # fmt: skip
_FEWEST_RANKS = 4  # numbers 1 to 3 in every row are also usual scores
_MOSTLY = 0.8  # of the numbers in a column of ranks can be ranks
_MOST_TRIED = 40  # columns


def make_lists(
    entries: tuple[Codes, Codes, Floats],
    names: Sequence[str],
    sentences: list[str],
    options: ReadOptions,
    path: Path | None = None,
    *,
    weight: Floats | None = None,
    unordered: bool = False,
) -> ReadResult:
    """Make lists of entries: their numbers, items and places, NaN: seen, not placed.

    What a list leaves out decides the order; for a ``path`` nothing else says what that
    means, and the user is asked.
    """
    group, item, place = entries
    n, unlisted = len(names), options.unlisted or "unknown"
    unlisted = "lower" if np.isnan(place).any() else unlisted
    if options.items is not None:  # learners of features know no unlisted items
        if options.unlisted == "lower":
            absent = np.setdiff1d(np.arange((group.max() + 1) * n), group * n + item)
            group, item = np.append(group, absent // n), np.append(item, absent % n)
            place = np.append(place, np.full(len(absent), np.nan))
        place = np.where(np.isnan(place), np.nanmax(place) + 1.0, place)
    placed, labels = ~np.isnan(place), as_names(names)
    own = group[placed]
    orders = Orders._of_places(own, item[placed], place[placed], labels, unordered)
    among = np.isin(group, own)
    if among.sum() > placed.sum() and options.unlisted != "lower":
        everybody = np.zeros(among.sum())
        seen = Orders._of_places(group[among], item[among], everybody, labels)
        orders = orders._replace(seen=seen)
    weight = None if weight is None else weight[np.unique(own)]
    count = plural(len(orders), "list")
    said = [*sentences, f"{count} of {plural(n, 'item')}."]
    short = np.flatnonzero(orders.lengths < n)
    if len(short) and path is not None and options.unlisted is None:
        listed = " > ".join(map(str, next(iter(orders[short[:1]]))))
        others = plural(n - int(orders.lengths[short[0]]), "other item")
        raise NeedsAnswer(
            path,
            f"{plural(len(short), 'list')} of {len(orders):,} leave items out. Choose "
            f"one by its options: {flag('unlisted', 'lower')} ({listed}: the {others} "
            f"are below); or {flag('unlisted', 'unknown')} (nothing is said of the "
            f"{others}, which were not there).",
        )
    if len(short) and orders.seen is None and not unordered:
        what = "below it" if unlisted == "lower" else "unknown to it"
        said.append(f"Items that a list leaves out are {what} ({flag('unlisted')}).")
    return ReadResult(Lists(orders, weight, unlisted=unlisted), said, sided=False)


def note_repeated(
    columns: Columns, group: Codes, item: Codes, row: Codes, names: list[str]
) -> None:
    """Note rows that hold an item which their list has already."""
    first = np.unique(group * (len(names) + 1) + item, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(item)), first)
    shown = [names[code] for code in item[again[:5]]]
    columns.note("an item that its list has already", row[again], shown)
    if len(again) and (group != row).any():
        columns.advice = (
            f" {flag('query')} names the columns of a list, such as a race."
        )


def find_places(
    rule: Rule, roles: Roles, options: ReadOptions, words: str = "place"
) -> list[Reading]:
    """Find a column of places, the item of each, and the columns that make a list."""
    table, named = roles.table, roles.named
    place = roles.find("grade") if "grade" in named else roles.find(words)
    if place is None or roles.sides():
        return []
    is_place = bool(words_of(place) & PLACE_WORDS) or words == "time"
    told = options.lower_is_better is not None and {"grade", "query"} <= set(named)
    if words == "place" and not (is_place or told):
        return []
    read = [_read_place(str(v)) for v in table.head[place].drop_nulls().unique()]
    if 2 * np.isposinf(read).sum() > len(read):
        return []
    if not set(named) <= {"grade", "query", "person", "item", "weight"}:
        return []
    if "grade" in named and "query" not in named and roles.find("person"):
        return []  # scores that people gave, whatever they are called
    groups = [column for column in roles.groups() if column != place]
    entrants = [named.get("item"), *find_columns("entrant", table.columns)]
    likely = [c for c in entrants if c is not None and c not in (place, *groups)]
    others = [c for c in table.columns if c not in (place, *groups)]
    named_by = [c for c in others if c not in table.numeric] or [
        c for c in others[:1] if table.repeats(c)
    ]
    again = [c for c in likely if table.repeats(c)]  # in other lists
    item = [*again[:1], *likely, *(named_by if len(named_by) == 1 else [None])][0]
    features = [c for c in others if c != item and c not in named_by]
    if words != "place" and not (groups and likely):
        return []
    if words == "rating" and options.items is not None:
        return []
    if features and not is_place:
        return []
    if item is None or (features and not table.repeats(item)):
        return []  # a row of its own for each item: graded by features
    query = {"query": ",".join(groups)} if groups else {}
    return [Reading(rule, {"grade": place, "item": item, **query})]


def read_places(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a table with one place of one item per row."""
    roles = reading.roles
    item, place = roles["item"], roles["grade"]
    groups = split_columns(roles.get("query", ""), table)
    ask_if_places(table, options, reading, groups)
    columns = table.read(text=[item, place, *groups])
    columns.note_missing("value", item, *groups)
    lower = is_lower_better(place, options)
    together = " + ".join(groups)
    sentences = [
        say_direction(place, options, lower),
        f"{place} places {item} in the list of "
        f"{f'each {together}' if groups else 'all rows'}; equal places are ties.",
    ]
    [items] = columns.restore_names(sentences, item)
    group = join_columns(columns, groups)
    text = columns.text[place]
    values = text.per_row(_read_place, np.nan).astype(np.float64)
    wrong = values == np.inf
    if words_of(place) & PLACE_WORDS:
        wrong |= np.isfinite(values) & (values <= 0)
    columns.note(f"values of {place} that are no places", wrong, text)
    kept = values != -np.inf
    if n_absent := int((~kept).sum()):
        sentences.append(f"{plural(n_absent, 'row')} left out that did not start.")
    unplaced = np.isnan(values) & kept
    if n_unplaced := int(unplaced.sum()):
        without = f"{plural(n_unplaced, 'row')} without a place"
        if options.unplaced == "drop":
            kept &= ~unplaced
            sentences.append(f"{without} left out.")
        else:
            words = text.in_rows(np.flatnonzero(unplaced))
            listed = ", ".join({word or "blank": 0 for word in words})
            sentences.append(
                f"{without} ({listed}) are below the others of their list; "
                f"{flag('unplaced', 'drop')} leaves them out."
            )
    rows = np.flatnonzero(kept & ~items.missing & ~wrong)
    group, code = group[rows], items.codes[rows]
    note_repeated(columns, group, code, rows, items.values)
    columns.refuse_broken()
    values = values[rows] if lower else -values[rows]
    if np.isnan(values).all():
        raise table.error(f"{place} places nobody.")
    return make_lists((group, code, values), items.values, sentences, options)


def ask_if_places(
    table: Table, options: ReadOptions, reading: Reading, groups: list[str]
) -> None:
    """Ask where grades place the items of groups, as places or as scores of a list."""
    grade, together = reading.roles["grade"], " + ".join(groups)
    told = options.lower_is_better is not None or is_lower_better(grade, options)
    if told or not groups:
        return
    entrants = find_columns("entrant", table.columns)
    again = [c for c in entrants if table.repeats(c)]
    others = set(table.columns) - {grade, *groups, *again}
    saw = f"{grade} is 1, 2, 3, … in each {together}"
    if not _are_places(table, grade, groups):
        if others or not again or {"item", "query"} & set(reading.roles):
            return
        saw = f"{grade} may place each {again[0]} in a list for each {together}"
    roles = {k: v for k, v in reading.roles.items() if k not in ("query", "person")}
    roles["person" if "person" in reading.roles else "query"] = ",".join(groups)
    ways = [
        replace(
            reading, options=roles | {"lower_is_better": lower}, example=f"{best} best"
        )
        for lower, best in ((True, "lowest"), (False, "highest"))
    ]
    raise ask_which(table, ways, saw)


def _are_places(table: Table, grade: str, groups: list[str]) -> bool:
    """Say whether grades are 1 to k, once each, in most groups."""
    columns = table.read(text=groups, numbers=[grade])
    value = columns.numbers[grade]
    group = join_columns(columns, groups)
    order, size = np.lexsort((value, group)), np.bincount(group)
    place = np.arange(1, len(order) + 1) - np.repeat(np.cumsum(size) - size, size)
    same = np.bincount(group[order], value[order] == place) == size
    return 2 * int((same & (size >= _FEWEST_RANKS)).sum()) > max(len(size), 2)


def _read_place(text: str) -> float:
    """Read a number: NaN without a place, inf where none, -inf of who did not start."""
    word = text.strip().casefold()
    if word in _UNPLACED or word in _ABSENT:
        return np.nan if word in _UNPLACED else -np.inf
    if clock := _CLOCK.fullmatch(word):
        hours, minutes, seconds = (part or "0" for part in clock.groups())
        whole = 60 * (60 * int(hours) + int(minutes))
        return whole + float(seconds.replace(",", "."))
    match = _PLACE.fullmatch(word)
    return float(match[1]) if match else np.inf


def join_columns(columns: Columns, names: Sequence[str]) -> Codes:
    """Number the rows by the values of several columns together, shape (n,)."""
    code = np.zeros(columns.table.n_rows, dtype=np.int64)
    for text in (columns.text[name] for name in names):
        keys = code * (len(text.values) + 1) + text.codes
        code = np.unique(keys, return_inverse=True)[1]
    return code


def find_best_worst(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find the best and the worst of a set: by name, or marked in a row per item."""
    table = roles.table
    if set(roles.named) - {"query", "person", "item", "grade"}:
        return []
    best, worst = roles.find("best"), roles.find("worst")
    groups = roles.groups()
    if best and worst and not _marks(table, best, worst):
        shown = roles.columns_of("item") or find_columns("shown", table.columns)
        shown = shown or [c for c in table.columns if _SHOWN.fullmatch(spelling(c))]
        used = {"item": ",".join(shown), "winner": best, "loser": worst}
        return [Reading(rule, used)] if shown else []
    marks = roles.columns_of("grade") or find_columns("marked", table.columns)[:1]
    marks = [best, worst] if best and worst else marks
    item = roles.named.get("item") or roles.find("entrant")
    if item is None or not groups or not marks or not _marks(table, *marks):
        return []
    used = {"query": ",".join(groups), "item": item, "grade": ",".join(marks)}
    return [Reading(rule, used)]


def _marks(table: Table, *columns: str) -> bool:
    """Say whether one column holds 1, 0 and -1, or two hold 1 and 0."""
    text = (str(v) for c in columns for v in table.head[c].drop_nulls())
    marks = set(map(_read_mark, text))
    return 1 in marks and marks <= {1, 0, -1} and (len(columns) > 1 or -1 in marks)


_MARKS = {
    "best": 1, "most": 1, "true": 1, "yes": 1, "x": 1, "worst": -1, "least": -1,
    "false": 0, "no": 0, "": 0,
}  # fmt: skip


def _read_mark(text: str) -> float:
    """Read what marks the best (1) and the worst (-1) of a set, else NaN."""
    word = text.strip().casefold()
    return _MARKS.get(word, float(word) if is_finite(word) else np.nan)


def read_best_worst(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read the best and the worst item of each set; the others are in between."""
    groups, items, marks, best, worst = (
        split_columns(reading.roles.get(role, ""), table)
        for role in ("query", "item", "grade", "winner", "loser")
    )
    columns = table.read([*groups, *items, *best, *worst, *marks])
    columns.note_missing("value", *groups, *best, *worst, *(items if marks else ()))
    what = f" (1 and -1 in {marks[0]})" if len(marks) == 1 else ""
    sentences = [f"Each set says which item is best and which is worst{what}."]
    row = np.arange(table.n_rows)
    if marks:
        given = [columns.text[c].per_row(_read_mark, 0.0) for c in marks]
        for column, values in zip(marks, given, strict=True):
            fault = f"values of {column} that mark neither best nor worst"
            columns.note(fault, ~np.isin(values, (-1, 0, 1)), columns.text[column])
        [text] = columns.restore_names(sentences, *items)
        group, code, names = join_columns(columns, groups), text.codes, text.values
        two = len(given) > 1  # the second is of the worst, 1 or -1
        place = np.abs(given[1]) - np.abs(given[0]) if two else -given[0]
    else:
        cells = [columns.text[c].per_row(str, "") for c in (*items, *best, *worst)]
        shown = [list(filter(None, some)) for some in zip(*cells[:-2], strict=True)]
        if len(items) == 1:
            shown = [re.split("[|;,/]", some[0]) if some else [] for some in shown]
        group = np.repeat(row, [len(some) for some in shown])
        code, names = factorize([name.strip() for some in shown for name in some])
        ends = [np.char.strip(end.astype(str))[group] for end in cells[-2:]]
        listed = np.array(names)[code]
        place = 1.0 * (listed == ends[1]) - (listed == ends[0])
        row = group
    note_repeated(columns, group, code, row, [*names, ""])
    for sign, what in ((-1, "best"), (1, "worst")):
        count = np.bincount(group, place == sign)[group]
        wrong = np.unique(row[count != 1])
        columns.note(f"a set without one item that is {what}", wrong)
    columns.refuse_broken()
    return make_lists((group, code, place), names, sentences, options, unordered=True)


_RANK_OF = re.compile(
    r"^.*\brank\b.*\[(.*)\]$|^ranks?(?: of)?[ _:]+|(?<![ _:])[ _:]+rank$", re.I
)
_LISTED = {*str.split("ballot list order ordering preferences ranked ranking ranks")}
_SHOWN = re.compile(r"(?:item|opt|option|alternative|alt|attribute)\d+")
_ORDINALS = str.split("first second third fourth fifth sixth seventh eighth")
_WORD = "(?:rank|ranked|choice|place|preference|pref|position|pick|vote|top)?"
_BALLOT = re.compile(rf"{_WORD}(?:(\d+)(st|nd|rd|th)?|({'|'.join(_ORDINALS)})){_WORD}")


def find_ballots(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find columns that are called 1st, 2nd, 3rd, or choice 1, choice 2."""
    listed = roles.columns_of("item") if options.kind == "orders" else []
    if len(listed) > 1:
        return [Reading(rule, {"item": ",".join(listed)})]
    places: dict[int, str] = {}
    certain = True
    for column in roles.table.columns:
        if match := _BALLOT.fullmatch(spelling(column)):
            certain &= match[1] is None or match[2] is not None
            number = int(match[1]) if match[1] else _ORDINALS.index(match[3]) + 1
            places.setdefault(number, column)
    listed = [places[k] for k in range(1, len(places) + 1) if k in places]
    if len(listed) < max(2, len(places)) or set(roles.named) - {"weight", "person"}:
        return []
    if not certain and not roles.table.numeric.isdisjoint(listed):
        return []
    used = {"item": ",".join(listed)}
    if (weight := roles.find("weight")) is not None:
        used["weight"] = weight
    return [Reading(rule, used)]


def read_ballots(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a table with one list per row, and one column per place."""
    roles = dict(reading.roles)
    listed = split_columns(roles.pop("item"), table)
    columns = read_roles(table, roles, text=listed)
    sentences = [f"Every row is a list, best first: {listed[0]} to {listed[-1]}."]
    texts = columns.restore_names(sentences, *listed)
    distinct = dict.fromkeys(name for text in texts for name in text.values)
    names = [name for name in distinct if name.casefold() not in _NO_VOTE]
    if no_vote := [name for name in distinct if name not in names]:
        sentences.append(f"No vote: {', '.join(no_vote)}.")
    number = {name: code for code, name in enumerate(names)}
    codes = np.stack(
        [t.per_row(lambda v: number.get(v, -1), -1) for t in texts], axis=1
    )
    row, place = np.nonzero(codes >= 0)
    columns.note("no item", (codes < 0).all(axis=1))
    item = codes[row, place]
    note_repeated(columns, row, item, row, names)
    weight = read_metadata(columns, roles, {}, sentences).get("weight")
    columns.refuse_broken()
    entries = row, item, place.astype(np.float64)
    return make_lists(entries, names, sentences, options, table.path, weight=weight)


def _rank_columns(values: Floats) -> tuple[Codes, bool]:
    """Find the columns whose numbers rank each other in each row, and if surely so.

    Sure are 1 to k in every row, k at least 4, with ties (1, 2, 2, 4 or 1, 2.5, 2.5, 4)
    in half of the rows at most. Doubtful are smaller k, and half of the rows.
    """
    kept, fits = np.arange(values.shape[1]), np.zeros(1, dtype=bool)
    ranks = np.zeros(values.shape, dtype=bool)
    while len(kept) and not fits.all():
        some = values[:, kept]
        ranks = (some >= 1) & (some <= len(kept)) & (2 * some % 1 == 0) | np.isnan(some)
        fits = ranks.mean(axis=0) >= _MOSTLY
        kept = kept[fits]
    ordered, place = np.sort(values[:, kept], axis=1), np.arange(1, len(kept) + 1)
    same = (ordered == place) | np.isnan(ordered)
    strict, many = same.all(axis=1), len(kept) >= _FEWEST_RANKS
    tied = (same | (np.diff(ordered, axis=1, prepend=0) <= 0)).all(axis=1)
    halves = np.nansum(np.where(same, 0, ordered - place), axis=1) == 0
    every = bool(((tied | halves) & ranks.all(axis=1)).all())
    half = 2 * int(strict.sum()) >= len(values)
    found = len(kept) > 1 and (every or (half and many))
    return kept if found else kept[:0], every and half and many


def _best_columns(values: Floats) -> tuple[Codes, bool]:
    """Find the columns that are ranks, perhaps all but one."""
    kept, sure = _rank_columns(values)
    n = values.shape[1]
    for out in range(n if not sure and _FEWEST_RANKS < n <= _MOST_TRIED else 0):
        rest = np.delete(np.arange(n), out)
        some, certain = _rank_columns(values[:, rest])
        if certain:
            return rest[some], True
    return kept, sure


def find_ranks(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find ranks 1 to k in every row, or in every column, beside a column of names."""
    table, named = roles.table, roles.named
    if set(named) - {"person", "item"} or roles.sides():
        return []
    if options.lower_is_better is False:
        return []
    first = table.columns[0]
    names = named.get("person") or named.get("item")
    people = bool(find_columns("person", [names or first]))
    if names is None and (people or first not in table.numeric):
        names = first
    columns = [c for c in table.columns if c != names and c in table.numeric]
    columns = [c for c in columns if spelling(c) not in SUMMARIES]
    if len(columns) < 2:
        return []
    texts = pl.col(columns).cast(pl.String).str.strip_chars()
    if table.detected.separator == ";":
        texts = texts.str.replace(",", ".", literal=True)
    counted = table.head
    if names is not None:
        sums_up = [spelling(str(name)) in SUMMARIES for name in counted[names]]
        counted = counted.filter(~pl.Series(sums_up))
    values = counted.select(texts.cast(pl.Float64, strict=False)).to_numpy()
    seen = np.flatnonzero(np.isfinite(values).any(axis=1))
    if not len(seen):
        return []
    row = counted.row(int(seen[0]), named=True)
    told = all(words_of(column) & PLACE_WORDS for column in columns)
    told &= not find_columns("entrant", [first])  # whose ranks these are
    if all(words_of(column) & {*COLUMN_WORDS["rating"]} for column in columns):
        return []
    readings, certain = [], True
    chosen: dict[str, Any] = {"lower_is_better": True}
    for side, grid in (("person", values), ("item", values.T)):
        kept, sure = _best_columns(grid)
        if told and side == "person":
            kept, sure = np.arange(len(columns)), True
        elif side == "item" and (told or names is None or len(kept) < len(values)):
            continue
        if len(kept) and side in (named or (side,)):
            listed = [columns[c] for c in kept] if side == "person" else columns
            whose = {side: names} if names else {}
            shown = ", ".join(f"{column} {row[column]}" for column in listed[:3])
            used = {"grade": ",".join(listed)}
            readings.append(
                Reading(rule, used | whose, "", whose | chosen, f"1 is best, {shown}")
            )
            certain &= sure
    if readings and not certain and options.lower_is_better is None:
        best = columns[int(np.nanargmax(values[seen[0]]))]
        chosen = ({"person": names} if names else {}) | {"lower_is_better": False}
        saw = f"the numbers of {', '.join(map(shorten, columns[:3]))} look like ranks"
        scores = Reading(rule, {}, "", chosen, f"{best} is best, {row[best]}")
        raise ask_which(table, [*readings, scores], f"{saw}, and may be scores")
    return readings


def read_ranks(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read ranks, with one row and one column for each judge and item."""
    roles = dict(reading.roles)
    listed = split_columns(roles.pop("grade"), table)
    columns = read_roles(table, roles, numbers=listed)
    columns.note_bad("", *listed)
    values = np.stack([columns.numbers[column] for column in listed], axis=1)
    by_row = "item" not in roles
    who = roles.get("person", "row") if by_row else "column"
    what = f"of {plural(len(listed), 'column')}" if by_row else f"of {roles['item']}"
    kept = np.ones(len(values), dtype=bool)
    if names := [roles[role] for role in ("person", "item") if role in roles]:
        kept = columns.text[names[0]].per_row(
            lambda v: spelling(v) not in SUMMARIES, True
        )
    columns.note("no rank", np.isnan(values).all(axis=1) & kept)
    columns.note("ranks below 1", (values < 1).any(axis=1) & kept)
    columns.refuse_broken()
    values = values[kept]
    sentences = [
        f"Direction: 1 is best: every {who} ranks the items {what} "
        f"({flag('lower_is_better', False)} reads scores).",
    ]
    unused = [c for c in table.columns if c not in {*listed, *roles.values()}]
    if not kept.all():
        unused.append(plural(int((~kept).sum()), "row") + " that sum up others")
    if unused:
        sentences.append(f"Not looked at: {', '.join(unused)}.")
    names = [_RANK_OF.sub(r"\1", column) for column in listed]
    if not by_row:
        [items] = columns.restore_names(sentences, roles["item"])
        items = items.take(np.flatnonzero(kept))
        codes, names = items.codes, items.values
        if len(names) < len(codes):
            raise table.error(f"names in {roles['item']} occur twice.")
        values = values.T[:, np.argsort(codes)]
    group, item = np.nonzero(~np.isnan(values))
    path = table.path if 2 * np.isnan(values).any(axis=1).sum() > len(values) else None
    return make_lists(
        (group, item, values[group, item]), names, sentences, options, path
    )


def find_cells(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find a column of whole lists: ``A > B = C``, or ``A|B|C`` under a usual name."""
    table = roles.table
    if set(roles.named) - {"item", "weight", "person"} or roles.sides():
        return []
    for column in [roles.named.get("item"), *table.columns]:
        if column is None or table.head[column].dtype != pl.String:
            continue
        cells = table.head[column].drop_nulls()
        of_lists = column == roles.named.get("item") or spelling(column) in _LISTED
        marks = "[>≻]" if not of_lists else "[>≻|;,]"
        if cells.str.contains(marks).sum() > _MOSTLY * len(cells):
            used = {"item": column}
            if (weight := roles.find("weight")) is not None:
                used["weight"] = weight
            return [Reading(rule, used)]
    return []


def read_cells(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a table with a whole list in one cell of each row."""
    roles, column = dict(reading.roles), reading.roles["item"]
    columns = read_roles(table, roles)
    text = columns.text[column]
    listed = [_split_list(value, None) for value in text.values]
    bad = np.array([*map(len, listed), 1])[text.codes] == 0
    columns.note(f"values of {column} that are no lists", bad, text)
    sentences = [f"{column} is a list, best first."]
    weight = read_metadata(columns, roles, {}, sentences).get("weight")
    columns.refuse_broken()
    entries, names = number_entries([listed[code] for code in text.codes])
    return make_lists(entries, names, sentences, options, table.path, weight=weight)


def _split_list(line: str, separator: str | None) -> list[list[str]]:
    """Split a list into names that are tied, best first; empty if it is none."""
    if re.search("[>≻]", line):
        blocks = [re.split("[=~∼]", block) for block in re.split("[>≻]", line)]
    elif separator is None:
        blocks = [[field] for field in re.split("[|;,/]", line)]
    else:
        fields = next(csv.reader([line], delimiter=separator))
        blocks = [[field] for field in fields if field.strip()]
    entries = [[name.strip(" \t\"'") for name in block] for block in blocks]
    flat = [name for block in entries for name in block]
    return [] if "" in flat or len(set(flat)) < len(flat) else entries


def number_entries(
    sequences: Sequence[Sequence[Sequence[Any]]], labels: dict[Any, str] | None = None
) -> tuple[tuple[Codes, Codes, Floats], list[str]]:
    """Return the entries of lists of tied blocks, and the labels of all items."""
    if labels is None:  # names are their own
        every = (name for blocks in sequences for block in blocks for name in block)
        labels = {name: name for name in every}
    number = {item: code for code, item in enumerate(labels)}
    entries = [
        (group, number[item], float(place))
        for group, blocks in enumerate(sequences)
        for place, block in enumerate(blocks)
        for item in block
    ]
    group, item, place = map(np.array, zip(*entries, strict=True))
    return (group, item, place), [*labels.values()]


def read_list_lines(
    path: Path, detected: FileFormat, options: ReadOptions
) -> ReadResult:
    """Read lines ``A > B = C > D`` or ``A, B, C``, best first, perhaps ``3: A > B``."""
    sequences: list[list[list[str]]] = []
    weight: list[int] = []
    for number, line in text_lines(path, detected.copy):
        if not line or line.startswith("#"):
            continue
        times = re.match(r"(\d{1,15}) *: *(?=\S)", line)
        line = line[times.end() :] if times else line
        if not (blocks := _split_list(line, detected.separator)):
            raise FileError(
                path,
                f"line {number} is {shorten(line)}; expected different names, best "
                "first, such as A > B = C, or A, B, C.",
            )
        sequences.append(blocks)
        weight.append(int(times[1]) if times else 1)
    said, count = ["Every line is a list, best first."], np.array(weight, dtype=float)
    entries, names = number_entries(sequences)
    return make_lists(entries, names, said, options, path, weight=count)
