# SPDX-License-Identifier: BSD-3-Clause
"""Tables of items with features and a grade, in groups or in one."""

from __future__ import annotations

import numpy as np
import polars as pl

from tiebreak.data.files.comparisons import refuse_bad_numbers
from tiebreak.data.files.errors import FileError, NeedsAnswer, plural, shorten
from tiebreak.data.files.panel import read_wide
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.roles import Roles
from tiebreak.data.files.table import Columns, Table
from tiebreak.data.items import ItemTable

__all__ = ["read_graded", "read_unnamed"]

MOST_WORDS = 20
"""A text column with at most so many words becomes columns of 0 and 1."""


def read_unnamed(table: Table, options: ReadOptions) -> Recognized:
    """Read a table whose column names say nothing.

    A column of people makes the others the products that they scored. Else the last
    column is the grade and the others are features.

    Parameters
    ----------
    table : Table
        The table.
    options : ReadOptions
        What the user said.

    Returns
    -------
    Recognized
    """
    roles = Roles(table, options)
    person = roles.given.get("person")
    if person is None and roles.find("person") == table.columns[0]:
        person = table.columns[0]
    numeric = [column for column in table.columns if _is_numeric(table, column)]
    others = [column for column in table.columns if column != person]
    if (
        person is not None
        and len(others) > 1
        and set(others) <= set(numeric)
        and not {"grade", "item", "query"} & set(roles.given)
    ):
        return read_wide(table, options, person)
    if options.kind not in (None, "grades") or "person" in roles.given:
        _refuse(table, options)
    item = roles.find("item")
    if options.grade is None and item is None and "query" not in roles.given:
        _refuse_names_or_people(table, numeric)
    grade = roles.given.get("grade", table.columns[-1])
    if grade not in numeric or not set(numeric) - {grade}:
        _refuse(table, options)
    columns = {"grade": grade}
    if item is not None and item != grade:
        columns["item"] = item
    columns |= {r: c for r, c in roles.given.items() if r == "query"}
    result = read_graded(table, columns)
    if options.grade is None:
        result.questions.append("--grade names another column as the grade.")
        result.sentences.insert(
            0,
            f"No column has a usual name, so the last one, {grade}, is taken as the "
            "grade (--grade names another).",
        )
    return result


def read_graded(table: Table, roles: dict[str, str]) -> Recognized:
    """Read a table of graded items.

    Parameters
    ----------
    table : Table
        The table.
    roles : dict of str to str
        The columns of grade, query and item; all others are features.

    Returns
    -------
    Recognized
    """
    grade, query, item = roles["grade"], roles.get("query"), roles.get("item")
    features = [c for c in table.columns if c not in set(roles.values())]
    numeric = [c for c in features if _is_numeric(table, c)]
    words = [c for c in features if c not in numeric]
    named = [column for column in (query, item) if column is not None]
    columns = table.read(text=[*named, *words], numbers=[grade, *numeric])
    broken = table.broken()
    for column in named:
        missing = np.flatnonzero(columns.text[column].missing)
        broken.add(f"no value in {column}", missing)
    for column in (grade, *numeric):
        what = "grade" if column == grade else "value"
        refuse_bad_numbers(broken, columns, column, columns.numbers[column], what)
    sentences = [_describe(grade, query, item)]
    table_of_items = _features(columns, numeric, words, sentences)
    broken.refuse()
    if table_of_items is None:
        raise FileError(
            table.path,
            f"{grade} is a grade, but no other column can be used as a feature.",
        )
    grades = columns.numbers[grade]
    groups = None if query is None else columns.text[query]
    count = 1 if groups is None else len(groups.values)
    sentences.append(
        f"{plural(len(grades), 'graded row')} in {plural(count, 'group')}, with "
        f"{plural(table_of_items.n_features, 'feature')}."
    )
    return Recognized(
        kind="grades",
        format=table.sniffed.format,
        sentences=sentences,
        items=table_of_items,
        grades=grades,
        query=None if groups is None else groups.array(),
        names=None if item is None else columns.text[item].array(),
    )


def _describe(grade: str, query: str | None, item: str | None) -> str:
    named = "" if item is None else f", {item} names the item"
    if query is None:
        return f"{grade} is the grade of every row, higher is better{named}."
    return (
        f"{grade} is the grade of every row, higher is better{named}; only rows of the "
        f"same {query} are compared."
    )


def _features(
    columns: Columns,
    numeric: list[str],
    words: list[str],
    sentences: list[str],
) -> ItemTable | None:
    """Put the features side by side; few words become columns of 0 and 1."""
    names, parts = list(numeric), [columns.numbers[column] for column in numeric]
    unused = []
    for column in words:
        text = columns.text[column]
        if len(text.values) > MOST_WORDS or text.missing.any():
            unused.append(column)
            continue
        values = sorted(text.values)
        names += [f"{column}={value}" for value in values]
        parts += [
            (text.codes == text.values.index(value)).astype(np.float64)
            for value in values
        ]
        sentences.append(
            f"{column} holds words ({', '.join(values[:4])}{', …' * (len(values) > 4)})"
            f" and became {plural(len(values), 'column')} of 0 and 1."
        )
    if unused:
        sentences.append(
            "Not used as features, for their many words or empty cells: "
            f"{', '.join(unused)}."
        )
    if not parts:
        return None
    return ItemTable(np.stack(parts, axis=1), tuple(names))


def _is_numeric(table: Table, column: str) -> bool:
    """Tell by the first rows whether a column is meant to hold numbers.

    Half of the values suffice, so that a wrong one is reported with its line and does
    not turn the column into words.
    """
    values = table.head[column].drop_nulls()
    if values.dtype != pl.String:
        return values.dtype.is_numeric() or values.dtype == pl.Boolean
    values = values.str.strip_chars()
    values = values.filter(values != "")
    if table.sniffed.separator == ";":
        values = values.str.replace(",", ".", literal=True)
    good = values.cast(pl.Float64, strict=False).is_not_null().sum()
    return 2 * int(good) > len(values)


def _refuse_names_or_people(table: Table, numeric: list[str]) -> None:
    """Refuse a first column of distinct text: people, or names of items."""
    first, rest = table.columns[0], table.columns[1:]
    if first in numeric or not set(rest) <= set(numeric) or len(rest) < 2:
        return
    if table.head[first].n_unique() < table.head.height or table.head.height < 2:
        return
    raise NeedsAnswer(
        table.path,
        f"the table can be read in 2 ways. {first} names people who scored the "
        f"products {rest[0]}, {rest[1]}, …: --person {first}; or {first} names items "
        f"whose features are the other columns: --item {first} --grade {rest[-1]}.",
    )


def _refuse(table: Table, options: ReadOptions) -> None:
    wanted = "" if options.kind is None else f" as {options.kind}"
    raise FileError(
        table.path,
        f"the columns ({', '.join(map(shorten, table.columns[:12]))}"
        f"{', …' * (len(table.columns) > 12)}) cannot be understood{wanted}. Name "
        "them: --left, --right and --outcome for comparisons; --winner and --loser; "
        "--grade (and --query) for graded items with features; --person, --item and "
        "--grade for scores that people gave.",
    )
