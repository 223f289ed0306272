# SPDX-License-Identifier: BSD-3-Clause
"""Graded items: tables with features, scores that people gave, svmlight files.

A table whose column names say nothing is read as graded items with the grade last,
unless its content looks like something else; then the reader asks.

People use scales differently, so scores are compared within a person only: every two
products that one person scored are a comparison, and equal scores are a tie.

scikit-learn reads svmlight files; where it fails, or overlooks a fault, the lines are
read again to name the wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from tiebreak.data.columns import as_names, number_keys
from tiebreak.data.items import ItemTable, as_items
from tiebreak.data.kinds import Comparisons, Grades, Lists
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs
from tiebreak.io.columns import Roles, read_roles, spelling
from tiebreak.io.formats import FileFormat, open_bytes, text_lines
from tiebreak.io.items import (
    Wanted,
    is_numeric,
    read_features,
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

_PLACES = (
    "finish", "place", "placement", "placing", "pos", "position", "rank", "ranking",
    "standing",
)  # fmt: skip
_FEWEST_NAMES = 3
_MOST_SIDES = 40  # so many columns of words are looked at, since every two of them are


def _refuse_two_sides(table: Table, numeric: list[str]) -> None:
    """Refuse to guess where two columns hold the same names."""
    known = set(numeric)
    words = [column for column in table.columns if column not in known][:_MOST_SIDES]
    for first, second in combinations(words, 2):
        left, right = (table.head[c].cast(pl.String) for c in (first, second))
        sides = [set(side.drop_nulls().unique()) for side in (left, right)]
        both = len(sides[0] & sides[1])
        if both < _FEWEST_NAMES or 2 * both < min(map(len, sides)):
            continue
        if not (left == right).any():
            raise table.question(
                f"{first} and {second} hold the same names, as two sides do. Say "
                f"{flag('left', first)} {flag('right', second)} and {flag('outcome')}, "
                f"or {flag('grade')} for graded items."
            )


def no_features(n_rows: int) -> ItemTable:
    """Return the table of items that have no features."""
    return ItemTable(np.empty((n_rows, 0)))


# More comparisons than this are not written out; orders say the same in less.
_MOST_COMPARISONS = 50_000_000


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores that people gave, in the order of the file."""

    person: Text
    item: NDArray[np.int64]  # (n,) number of the item
    names: list[str]  # names of the items
    score: NDArray[np.float64]  # (n,) higher is better
    row: NDArray[np.int64]  # (n,) row of the table


def read_long(table: Table, options: ReadOptions, roles: dict[str, str]) -> ReadResult:
    """Read a table with one score per row."""
    person, item, grade = (roles[role] for role in ("person", "item", "grade"))
    columns = read_roles(table, roles)
    columns.refuse_broken()
    sentences = [f"{grade} is the score that {person} gave to {item}."]
    [items] = columns.restore_names(sentences, item)
    score = columns.numbers[grade]
    rows = np.arange(len(score), dtype=np.int64)
    scores = Scores(columns.text[person], items.codes, items.values, score, rows)
    return _make_result(table, options, scores, sentences)


def _read_wide(table: Table, options: ReadOptions, person: str) -> ReadResult:
    """Read a table of one row per person and one column per product."""
    products = [column for column in table.columns if column != person]
    columns = read_roles(table, {"person": person}, numbers=products)
    columns.note_bad("", *products)
    columns.refuse_broken()
    score = np.stack([columns.numbers[product] for product in products], axis=1)
    row, item = np.nonzero(~np.isnan(score))
    if not len(row):
        raise table.error("there are no scores in the table.")
    people, item = columns.text[person].take(row), item.astype(np.int64)
    scores = Scores(people, item, products, score[row, item], row)
    start = (
        f"Every row is one {person}, and the other {plural(len(products), 'column')} "
        "are the products that were scored."
    )
    return _make_result(table, options, scores, [start])


def _make_result(
    table: Table, options: ReadOptions, scores: Scores, sentences: list[str]
) -> ReadResult:
    kind = options.kind
    names = as_names(scores.names)
    if kind == "grades":
        sentences.append("Items have no features; scores are graded within a person.")
        query, named = scores.person.array(), names[scores.item]
        grades = Grades.of(no_features(len(named)), scores.score, query, named)
        return ReadResult(grades, sentences)
    if kind == "orders":
        orders = _make_orders(table, scores)
        sentences.append(
            f"{plural(len(orders), 'list')}, one of each person, best first; equal "
            "scores are tied."
        )
        return ReadResult(Lists(orders), sentences)
    left, right = _within_people(table, scores)
    y = np.sign(scores.score[right] - scores.score[left]).astype(np.int8)
    pairs = Pairs(None, scores.item[left], scores.item[right], names=names).compact()
    rater = Text(scores.person.codes[left], scores.person.values)
    sentences += [
        "Every two products that one person scored are compared; equal scores are a "
        "tie, and scores of different people are never compared.",
        f"{plural(len(y), 'comparison')} of {plural(pairs.n_items, 'item')} by "
        f"{plural(len(scores.person.values), 'person').replace('persons', 'people')}, "
        f"{int((y == 0).sum()):,} of them ties.",
    ]
    if len(again := _repeated(scores)):
        sentences.insert(
            -1,
            f"{plural(len(again), 'score')} of a product that the person had scored "
            f"before ({table.list_places(scores.row[again])}); each one is compared "
            "with the other products.",
        )
    sentences.append(
        f"{flag('kind', 'orders')} reads the scores of a person as one ranked list."
    )
    rated: dict[str, NDArray[Any]] = {"rater": rater.take(np.arange(len(y))).array()}
    compared = Comparisons(pairs, y, columns=rated)
    return ReadResult(compared, sentences, sided=False)


def _within_people(
    table: Table, scores: Scores
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List every two scores of one person for different items."""
    order = np.argsort(scores.person.codes, kind="stable")
    sizes = np.bincount(scores.person.codes)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > _MOST_COMPARISONS:
        raise table.error(
            f"the scores give {total:,} comparisons; try {flag('kind', 'orders')}."
        )
    left, right = [], []
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        first, second = np.triu_indices(len(rows), 1)
        left.append(rows[first])
        right.append(rows[second])
    all_left, all_right = np.concatenate(left), np.concatenate(right)
    differ = scores.item[all_left] != scores.item[all_right]
    if not differ.any():
        raise table.error("no person scored two products.")
    return all_left[differ], all_right[differ]


def _repeated(scores: Scores) -> NDArray[np.int64]:
    """Find repeated scores of an item by the same person."""
    _, first = number_keys(scores.person.codes * len(scores.names) + scores.item)
    return np.setdiff1d(np.arange(len(scores.item)), first)


def _make_orders(table: Table, scores: Scores) -> Orders:
    if len(again := _repeated(scores)):
        raise table.error(
            "a list holds an item once, but a person scored one again: "
            f"{table.list_places(scores.row[again])}."
        )
    sequences: list[list[list[int]]] = []
    order = np.lexsort((-scores.score, scores.person.codes))
    sizes = np.bincount(scores.person.codes)
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        cuts = np.flatnonzero(np.diff(scores.score[rows])) + 1
        sequences.append([scores.item[b].tolist() for b in np.split(rows, cuts)])
    return Orders(None, sequences, names=as_names(scores.names))


def read_unnamed(
    table: Table, options: ReadOptions, wanted: Wanted | None = None
) -> ReadResult:
    """Read scores of a column of people, or grades in the last column."""
    roles = Roles(table, options)
    person = roles.named.get("person")
    if person is None and roles.find("person") == table.columns[0]:
        person = table.columns[0]
    numeric = [column for column in table.columns if is_numeric(table, column)]
    others = [column for column in table.columns if column != person]
    if (
        person is not None
        and len(others) > 1
        and set(others) <= set(numeric)
        and not {"grade", "item", "query"} & set(roles.named)
    ):
        return _read_wide(table, options, person)
    if options.kind not in (None, "grades") or "person" in roles.named:
        _refuse(table, options)
    item = roles.find("item")
    if options.grade is None and item is None and "query" not in roles.named:
        _refuse_names_or_people(table, numeric)
        _refuse_two_sides(table, numeric)
    grade = roles.named.get("grade", table.columns[-1])
    featureless = options.items is None and not set(numeric) - {grade}
    if grade not in numeric or featureless:
        _refuse(table, options)
    columns = {"grade": grade}
    if item is not None and item != grade:
        columns["item"] = item
    if (query := roles.find("query", columns)) is not None:
        columns["query"] = query
    if options.grade is None and spelling(grade) in _PLACES:
        raise table.question(
            f"{grade} looks like a place, of which 1 is best. Say "
            f"{flag('grade', grade)} if higher is better, or name another column."
        )
    result = read_graded(table, columns, options, wanted)
    if options.grade is None:
        result.sentences.append(f"{flag('grade')} names another column as the grade.")
        result.sentences.insert(
            0,
            f"No column is called like a grade, so the last one, {grade}, is taken as "
            "the grade.",
        )
    return result


def read_graded(
    table: Table,
    roles: dict[str, str],
    options: ReadOptions,
    wanted: Wanted | None = None,
) -> ReadResult:
    """Read a table of graded items."""
    grade, query, item = roles["grade"], roles.get("query"), roles.get("item")
    named = "" if item is None else f", {item} names the item"
    within = "" if query is None else f"; only rows of the same {query} are compared"
    sentences = [f"{grade} is the grade of every row, higher is better{named}{within}."]
    others = [] if options.items else table.columns
    wanted = None if options.items else wanted
    data = build_grades(table, roles, others, wanted, sentences)
    p = data.items.n_features
    if not p and not options.items:
        raise table.error(
            f"{grade} is a grade, but no other column can be used as a feature."
        )
    features = f", with {plural(p, 'feature')}" if p else ""
    groups = plural(data.n_groups, "group")
    sentences.append(f"{plural(len(data), 'graded row')} in {groups}{features}.")
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
    free = [column for column in others if column not in set(roles.values())]
    columns, items = read_features(table, roles, free, wanted, sentences, whole=whole)
    columns.refuse_broken()
    names = groups = None
    if "item" in roles:
        names = columns.restore_names(sentences, roles["item"])[0].array()
    if "query" in roles:
        groups = columns.text[roles["query"]].array()
    y = columns.numbers.get(roles.get("grade", ""), np.full(table.n_rows, np.nan))
    items = no_features(len(y)) if items is None else items
    return Grades.of(items, y, groups, names)


def _refuse_names_or_people(table: Table, numeric: list[str]) -> None:
    """Refuse a first column of distinct text: people, or items."""
    first, rest = table.columns[0], table.columns[1:]
    if first in numeric or not set(rest) <= set(numeric) or len(rest) < 2:
        return
    if table.head[first].n_unique() < table.head.height or table.head.height < 2:
        return
    raise table.question(
        f"the table can be read in 2 ways. {first} names people who scored products: "
        f"{flag('person', first)}; or it names items that have features: "
        f"{flag('item', first)} {flag('grade', rest[-1])}."
    )


def _refuse(table: Table, options: ReadOptions) -> None:
    wanted = "" if options.kind is None else f" as {options.kind}"
    raise table.error(
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


def read_svmlight(path: Path, detected: FileFormat) -> ReadResult:
    """Read a file of lines ``grade qid:7 1:0.5 3:2``."""
    with open_bytes(path, detected.copy) as stream:
        try:
            X, grades, query = load_svmlight_file(
                stream, query_id=True, zero_based=True
            )
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
        raise _svmlight_error(path, detected, "it has no rows")
    n, first = len(grades), int(not (X.indices == 0).any())
    X = X[:, first:] if X.shape[1] > 1 else X
    p = X.shape[1]
    items = as_items(X.toarray() if n * p <= _DENSE_CELLS else X)
    if p <= _NAMED_FEATURES:
        names = tuple(f"feature {j + first}" for j in range(p))
        items = ItemTable(items.values, names)
    within = "; only rows of the same qid are compared."
    if not len(query):
        within = (
            " without any qid: all rows are one group, and every row is compared with "
            "every other."
        )
    sentences = [
        f"svmlight file{within}",
        f"{plural(n, 'graded row')} in {plural(len(np.unique(query)) or 1, 'group')}, "
        f"with {plural(p, 'feature')}; grades from {grades.min():g} to "
        f"{grades.max():g}.",
    ]
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
