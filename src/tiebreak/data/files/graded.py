# SPDX-License-Identifier: BSD-3-Clause
"""Tables of items with features and a grade, in groups or in one."""

from __future__ import annotations

import numpy as np

from tiebreak.data.files.doubts import refuse_places, refuse_two_sides
from tiebreak.data.files.errors import FileError, NeedsAnswer, plural, shorten
from tiebreak.data.files.features import (
    FeatureColumns,
    Wanted,
    build_features,
    choose_features,
    is_numeric,
)
from tiebreak.data.files.formulas import restore_names
from tiebreak.data.files.panel import read_wide
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.roles import Roles
from tiebreak.data.files.table import Table

__all__ = ["read_graded", "read_unnamed"]


def read_unnamed(
    table: Table, options: ReadOptions, wanted: Wanted | None = None
) -> Recognized:
    """Read a table whose column names say nothing.

    A column of people makes the others the products that they scored. Else the last
    column is the grade and the others are features.

    Parameters
    ----------
    table : Table
        The table.
    options : ReadOptions
        What the user said.
    wanted : Wanted, optional
        The features that a model was fitted on.

    Returns
    -------
    Recognized
    """
    roles = Roles(table, options)
    person = roles.given.get("person")
    if person is None and roles.find("person") == table.columns[0]:
        person = table.columns[0]
    numeric = [column for column in table.columns if is_numeric(table, column)]
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
        refuse_two_sides(table, numeric)
    grade = roles.given.get("grade", table.columns[-1])
    featureless = options.items is None and not set(numeric) - {grade}
    if grade not in numeric or featureless:
        _refuse(table, options)
    columns = {"grade": grade}
    if item is not None and item != grade:
        columns["item"] = item
    if (query := roles.find("query", columns)) is not None:
        columns["query"] = query
    if options.grade is None:
        refuse_places(table, grade)
    result = read_graded(table, columns, options, wanted)
    if options.grade is None:
        result.questions.append("--grade names another column as the grade.")
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
) -> Recognized:
    """Read a table of graded items.

    Parameters
    ----------
    table : Table
        The table.
    roles : dict of str to str
        The columns of grade, query and item; all others are features, unless the user
        names a table of items, which then has them.
    options : ReadOptions
        What the user said.
    wanted : Wanted, optional
        The features that a model was fitted on.

    Returns
    -------
    Recognized
    """
    grade, query, item = roles["grade"], roles.get("query"), roles.get("item")
    others = [c for c in table.columns if c not in set(roles.values())]
    sentences = [_describe(grade, query, item)]
    chosen = FeatureColumns([], [])
    if options.items is None:
        chosen = choose_features(table, others, wanted, sentences)
    named = [column for column in (query, item) if column is not None]
    columns = table.read(text=[*named, *chosen.words], numbers=[grade, *chosen.numbers])
    broken = table.broken()
    for column in named:
        missing = np.flatnonzero(columns.text[column].missing)
        broken.add(f"no value in {column}", missing)
    columns.note_bad(grade, "grade", broken)
    items = build_features(chosen, columns, broken, sentences)
    broken.refuse()
    if items is None and options.items is None:
        raise FileError(
            table.path,
            f"{grade} is a grade, but no other column can be used as a feature.",
        )
    names = None
    if item is not None:
        names = columns.text[item]
        if not table.is_parquet:
            names, _ = restore_names(names, names, sentences)
    grades = columns.numbers[grade]
    groups = None if query is None else columns.text[query]
    count = 1 if groups is None else len(groups.values)
    features = "" if items is None else f", with {plural(items.n_features, 'feature')}"
    sentences.append(
        f"{plural(len(grades), 'graded row')} in {plural(count, 'group')}{features}."
    )
    return Recognized(
        kind="grades",
        format=table.sniffed.format,
        sentences=sentences,
        items=items,
        grades=grades,
        query=None if groups is None else groups.array(),
        names=None if names is None else names.array(),
    )


def _describe(grade: str, query: str | None, item: str | None) -> str:
    named = "" if item is None else f", {item} names the item"
    if query is None:
        return f"{grade} is the grade of every row, higher is better{named}."
    return (
        f"{grade} is the grade of every row, higher is better{named}; only rows of the "
        f"same {query} are compared."
    )


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
        "them: --left, --right and --outcome for comparisons, or --left-score and "
        "--right-score instead of --outcome; --winner and --loser; "
        "--grade (and --query) for graded items with features; --person, --item and "
        "--grade for scores that people gave.",
    )
