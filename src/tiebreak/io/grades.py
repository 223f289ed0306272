# SPDX-License-Identifier: BSD-3-Clause
"""Graded items: tables with features, scores that people gave, svmlight files.

People use scales differently, so scores are compared within a person only, and equal
ones are a tie.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_names, number_keys
from tiebreak.data.items import ItemTable, as_items
from tiebreak.data.kinds import Comparisons, Grades
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import pairs_within_groups
from tiebreak.io.columns import (
    PLACE_WORDS,
    Reading,
    Roles,
    Rule,
    find_columns,
    is_lower_better,
    read_roles,
    say_direction,
    split_columns,
    words_of,
)
from tiebreak.io.formats import FileFormat, open_bytes, text_lines
from tiebreak.io.items import (
    Wanted,
    read_features,
)
from tiebreak.io.lists import (
    ask_if_places,
    find_ranks,
    join_columns,
    make_lists,
)
from tiebreak.io.result import (
    FileError,
    ReadOptions,
    ReadResult,
    first_of,
    is_finite,
    plural,
    shorten,
    whole_number,
)
from tiebreak.io.table import Table, Text
from tiebreak.options import flag

_FEWEST_NAMES = 3
# So many columns of words are looked at, since every two of them are, or of numbers.
_MOST_SIDES, _MOST_NUMBERS = 40, 12


def refuse_two_sides(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Refuse to guess where columns hold the same names, as two sides do."""
    table = roles.table
    if {"grade", "item", "query", "person"} & set(roles.named) or roles.sides():
        return []
    head = table.head.select(pl.all().cast(pl.String).str.strip_chars())
    percent = r"^[\d.,]+ *(%|st|nd|rd|th)$"
    words = [c for c in head.columns if c not in table.numeric]
    words = [c for c in words if not head[c].str.contains(percent).any()][:_MOST_SIDES]
    # A few numbers may name items, too.
    looked = head.columns if head.width <= _MOST_NUMBERS else words
    names = {c: set(head[c].drop_nulls()) for c in looked}

    def alike(one: str, other: str) -> bool:
        both = len(names[one] & names[other])
        enough = max(_FEWEST_NAMES, min(len(names[one]), len(names[other])) / 2)
        return both >= enough and not (head[one] == head[other]).any()

    for first, second in combinations(names, 2):
        if not alike(first, second):
            continue
        one_of = (pl.all() == pl.col(first)) | (pl.all() == pl.col(second))
        # A tie may be blank; columns that are mostly blank name nobody.
        enough = one_of.all() & (2 * one_of.sum() > pl.len())
        wins = head.select(enough).row(0, named=True)
        winner = [c for c in names if wins[c] and c not in (first, second)]
        if not winner and not {first, second} <= set(words):
            continue
        sides = [first, second]
        if not winner:
            sides += [c for c in words if c not in sides and alike(first, c)]
        if not {first, second} <= set(words) and find_ranks(rule, roles, options):
            return []  # the numbers are ranks
        half = len(sides) // 2
        sides = [*map(",".join, (sides[:half], sides[half:]))] if half > 1 else sides
        won = flag("winner", winner[0]) if winner else flag("outcome")
        raise table.question(
            f"{' and '.join(sides[:2])} hold the same names, as two sides do. Say "
            f"{flag('left', sides[0])} {flag('right', sides[1])} and {won}; or "
            f"{flag('winner')} and {flag('loser')}; or {flag('grade')} of graded items."
        )
    return []


# More comparisons than this are not written out; orders say the same in less.
_MOST_COMPARISONS = 50_000_000


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores that people gave, in the order of the file."""

    person: Text
    item: Codes  # (n,) number of the item
    names: list[str]  # names of the items
    score: Floats  # (n,) higher is better
    row: Codes  # (n,) row of the table


def read_long(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a table with one score per row."""
    person, item, grade = (reading.roles[role] for role in ("person", "item", "grade"))
    columns = read_roles(table, reading.roles)
    columns.refuse_broken()
    ask_if_places(table, options, reading, [person])
    lower = is_lower_better(grade, options)
    sentences = [
        say_direction(grade, options, lower),
        f"{grade} is the score that {person} gave to {item}.",
    ]
    [items] = columns.restore_names(sentences, item)
    score = -columns.numbers[grade] if lower else columns.numbers[grade]
    rows = np.arange(len(score), dtype=np.int64)
    scores = Scores(columns.text[person], items.codes, items.values, score, rows)
    kind = "orders" if words_of(grade) & PLACE_WORDS else None
    return _make_result(table, options, scores, sentences, kind)


def find_people(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find a first column of people beside columns of scores; of other names, ask."""
    table, named, first = roles.table, roles.named, roles.table.columns[0]
    person = named.get("person")
    person = first if person is None and roles.find("person") == first else person
    others = [column for column in table.columns if column != (person or first)]
    numbers = table.numeric.issuperset(others)
    if {"grade", "item", "query"} & set(named) or len(others) < 2 or not numbers:
        return []
    if person is not None:
        return [Reading(rule, {"person": person})]
    numbered = first in table.numeric and first != "column 1"  # which has no header
    stems = {column.rstrip("0123456789") for column in others}
    if (
        (roles.find("item") is not None and len(stems) > 1)
        or numbered
        or table.repeats(first)
        or table.head.height < 2
    ):
        return []
    raise table.question(
        f"the table can be read in 3 ways. {first} names people or tasks, and columns "
        f"are the items with their scores: {flag('person', first)}; or it names items, "
        f"and columns are tasks: {flag('item', first)} {flag('kind', 'scores')}; or "
        f"items that have features: {flag('item', first)} {flag('grade', others[-1])}."
    )


def read_people(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a table of one row per person and one column per product."""
    person = reading.roles["person"]
    products = [column for column in table.columns if column != person]
    columns = read_roles(table, {"person": person}, numbers=products)
    columns.note_bad("", *products)
    columns.refuse_broken()
    lower = bool(options.lower_is_better)
    score = np.stack([columns.numbers[product] for product in products], axis=1)
    score = -score if lower else score
    row, item = np.nonzero(~np.isnan(score))
    people, item = columns.text[person].take(row), item.astype(np.int64)
    scores = Scores(people, item, products, score[row, item], row)
    direction = say_direction("the scores of each row", options, lower)
    start = (
        f"Every row is one {person}, and the other {plural(len(products), 'column')} "
        "are the products that were scored."
    )
    return _make_result(table, options, scores, [direction, start])


def _make_result(
    table: Table,
    options: ReadOptions,
    scores: Scores,
    sentences: list[str],
    kind: str | None = None,
) -> ReadResult:
    kind = options.kind or kind
    person, names = scores.person, as_names(scores.names)
    first = number_keys(person.codes * len(names) + scores.item)[1]
    again = np.delete(scores.row, first)
    if kind == "grades":
        sentences.append("Items have no features; scores are graded within a person.")
        query, named = person.array(), names[scores.item]
        items = ItemTable(np.empty((len(named), 0)))
        grades = Grades.of(items, scores.score, query, named)
        return ReadResult(grades, sentences)
    if kind == "orders":
        if len(again):
            raise table.error(
                "a list holds an item once, but a person scored one again: "
                f"{table.list_places(again)}."
            )
        sentences.append("Each person is a list, best first; equal scores are tied.")
        entries = person.codes, scores.item, -scores.score
        return make_lists(entries, scores.names, sentences, options)
    sizes = np.bincount(person.codes)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > _MOST_COMPARISONS:
        raise table.error(
            f"the scores give {total:,} comparisons; try {flag('kind', 'orders')}."
        )
    compared = pairs_within_groups(person.codes, scores.score, limit=total)
    differ = scores.item[compared.left] != scores.item[compared.right]
    if not differ.any():
        raise table.error("no person scored two products.")
    left, right, y = (part[differ] for part in compared[:3])
    pairs = Pairs(None, scores.item[left], scores.item[right], names=names).compact()
    sentences.append(
        "Every two products that one person scored are compared; equal scores are a "
        "tie, and scores of different people are never compared."
    )
    if len(again):
        sentences.append(
            f"{plural(len(again), 'score')} of a product that the person had scored "
            f"before ({table.list_places(again)}); each one is compared with the "
            "other products."
        )
    sentences += [
        f"{plural(len(y), 'comparison')} of {plural(pairs.n_items, 'item')} by "
        f"{plural(len(person.values), 'person').replace('persons', 'people')}, "
        f"{int((y == 0).sum()):,} of them ties.",
        f"{flag('kind', 'orders')} reads the scores of a person as one ranked list.",
    ]
    rater = person.take(left).array()
    return ReadResult(Comparisons(pairs, y, columns={"rater": rater}), sentences, False)


def find_last_grade(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find features of items with the grade last, or named."""
    table, named, item = roles.table, roles.named, roles.find("item")
    grade = named.get("grade", table.columns[-1])
    featureless = options.items is None and table.numeric <= {grade}
    if grade not in table.numeric or featureless or "person" in named:
        return []
    columns = {"grade": grade}
    if item is not None and item != grade:
        columns["item"] = item
    if (query := roles.find("query", columns)) is not None:
        columns["query"] = query
    note = ""
    if options.grade is None:
        note = (
            f"No column is called like a grade, so the last one, {grade}, is taken as "
            f"the grade; {flag('grade')} names another."
        )
    return [Reading(rule, columns, note=note)]


def read_graded(
    table: Table, options: ReadOptions, reading: Reading, wanted: Wanted | None
) -> ReadResult:
    """Read a table of graded items."""
    roles = reading.roles
    grade, query, item = roles["grade"], roles.get("query"), roles.get("item")
    groups = split_columns(query or "", table) or find_columns("list", table.columns)
    ask_if_places(table, options, reading, [g for g in groups if g != grade])
    named = "" if item is None else f", {item} names the item"
    within = "" if query is None else f"; only rows of the same {query} are compared"
    lower = is_lower_better(grade, options)
    sentences = [
        say_direction(grade, options, lower),
        f"{grade} is the grade of every row{named}{within}.",
    ]
    others = [] if options.items else table.columns
    wanted = None if options.items else wanted
    data = build_grades(table, roles, others, wanted, sentences)
    data = replace(data, y=-data.y) if lower else data
    p = data.items.n_features
    if not p and not options.items:
        raise table.error(
            f"{grade} is a grade, but no other column can be used as a feature."
        )
    features = f", with {plural(p, 'feature')}" if p else ""
    said = plural(data.n_groups, "group")
    sentences.append(f"{plural(len(data), 'graded row')} in {said}{features}.")
    return ReadResult(data, sentences)


def build_grades(
    table: Table,
    roles: dict[str, str],
    others: list[str],
    wanted: Wanted | None,
    sentences: list[str],
    *,
    whole: bool = False,
) -> Grades:
    """Read the rows of items, with features of the other columns that can be used."""
    used = {c for names in roles.values() for c in split_columns(names, table)}
    free = [column for column in others if column not in used]
    columns, items = read_features(table, roles, free, wanted, sentences, whole=whole)
    columns.refuse_broken()
    names = groups = None
    if "item" in roles:
        names = columns.restore_names(sentences, roles["item"])[0].array()
    if "query" in roles:
        listed = split_columns(roles["query"], table)
        groups = join_columns(columns, listed)
        groups = columns.text[listed[0]].array() if len(listed) == 1 else groups
    y = columns.numbers.get(roles.get("grade", ""), np.full(table.n_rows, np.nan))
    items = ItemTable(np.empty((len(y), 0))) if items is None else items
    return Grades.of(items, y, groups, names)


def refusal(table: Table, options: ReadOptions) -> FileError:
    """Return the error of a table that has no known shape."""
    wanted = "" if options.kind is None else f" as {options.kind}"
    return table.error(
        f"the columns ({first_of([*map(shorten, table.columns)])}) cannot be "
        f"understood{wanted}. Name {flag('left')}, {flag('right')} and "
        f"{flag('outcome')}; or {flag('winner')} and {flag('loser')}; or "
        f"{flag('grade')}, perhaps with {flag('query')}, {flag('person')}, "
        f"{flag('item')}."
    )


# A feature number above this is taken for a mistake.
_MOST_FEATURES = 10_000_000
_DENSE_CELLS = 20_000_000
_NAMED_FEATURES = 100_000


def read_svmlight(path: Path, detected: FileFormat, options: ReadOptions) -> ReadResult:
    """Read a file of lines ``grade qid:7 1:0.5 3:2``."""
    within = "; only rows of the same qid are compared."
    with open_bytes(path, detected.copy) as stream:
        try:
            X, grades, query = load_svmlight_file(
                stream, query_id=True, zero_based=True
            )
            sizes = Path(f"{path}".removesuffix(".gz") + ".query")  # as of LightGBM
            if not len(query) and sizes.exists():
                rows = np.loadtxt(sizes, dtype=int, ndmin=1)
                query = np.repeat(np.arange(len(rows)), rows)
                within = f"; {sizes.name} has the sizes of its groups."
        except (ValueError, OverflowError) as error:
            reason = str(error).partition("\n")[0]
            raise _svmlight_error(path, detected, reason) from None
    # Of these the reader says nothing.
    if (
        len(grades) == 0
        or X.shape[1] > _MOST_FEATURES + 1
        or len(query) not in (0, len(grades))
        or not (np.isfinite(grades).all() and np.isfinite(X.data).all())
    ):
        reason = "it has no rows, or not those of its .query file"
        raise _svmlight_error(path, detected, reason)
    n, first = len(grades), int(not (X.indices == 0).any())
    X = X[:, first:] if X.shape[1] > 1 else X
    p = X.shape[1]
    items = as_items(X.toarray() if n * p <= _DENSE_CELLS else X)
    if p <= _NAMED_FEATURES:
        names = tuple(f"feature {j + first}" for j in range(p))
        items = ItemTable(items.values, names)
    lower = bool(options.lower_is_better)
    if not len(query):
        within = (
            " without any qid: all rows are one group, and every row is compared with "
            "every other."
        )
    sentences = [
        f"svmlight file{within}",
        say_direction("the first number of a line", options, lower),
        f"{plural(n, 'graded row')} in {plural(len(np.unique(query)) or 1, 'group')}, "
        f"with {plural(p, 'feature')}; grades from {grades.min():g} to "
        f"{grades.max():g}.",
    ]
    grades = -grades if lower else grades
    data = Grades.of(items, grades, query if len(query) else None)
    return ReadResult(data, sentences)


def _svmlight_error(path: Path, detected: FileFormat, reason: str) -> FileError:
    """Return the error that names the invalid line."""
    n_rows, without_qid = 0, []
    for number, line in text_lines(path, detected.copy):
        if not (fields := line.partition("#")[0].split()):
            continue
        if fault := _find_fault(fields):
            return FileError(path, f"line {number} has {fault}.")
        n_rows += 1
        if not (len(fields) > 1 and fields[1].startswith("qid:")):
            without_qid.append(f"line {number}")
    if 0 < len(without_qid) < n_rows:
        return FileError(
            path,
            f"{plural(len(without_qid), 'line')} without a qid, while others have one: "
            f"{first_of(without_qid, 5)}. Give every line a qid, or none.",
        )
    return FileError(path, f"the svmlight file cannot be read ({reason}).")


def _find_fault(fields: list[str]) -> str:
    if not is_finite(fields[0]):
        return f"{shorten(fields[0])}; expected a grade, which is a finite number"
    last = -1
    for place, field in enumerate(fields[1:]):
        name, _, value = field.partition(":")
        if name == "qid" and place == 0:
            if not value.lstrip("-").isdecimal():
                return f"{shorten(field)}; expected qid: and a whole number"
            continue
        number = whole_number(name)
        if number is None or not is_finite(value):
            expected = "the number of a feature, a colon and a finite value"
            return f"{shorten(field)}; expected {expected}"
        if number <= last:
            return f"feature {name} after feature {last}; numbers must ascend"
        if number > _MOST_FEATURES:
            return f"feature number {name}; at most {_MOST_FEATURES:,} are read"
        last = number
    return ""
