# SPDX-License-Identifier: BSD-3-Clause
"""The one way from a file to knowledge: look, recognize, read, and say what it was.

Files that ask: two items without an outcome, or items without a grade.

Who won, and which grade an item has, may stand in the file and is not looked at. Every
row is kept, also one of an item with itself, so that answers stand beside questions.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from tiebreak.data.pairs import Pairs
from tiebreak.io.columns import Roles, find_columns, find_reading
from tiebreak.io.comparisons import read_advantage, read_comparisons
from tiebreak.io.formats import Sniffed, sniff
from tiebreak.io.grades import read_graded, read_long, read_svmlight, read_unnamed
from tiebreak.io.items import (
    FeatureColumns,
    Wanted,
    build_features,
    choose_features,
    find_wanted,
    fit_numbered,
    join_items,
)
from tiebreak.io.rankings import read_order_lines, read_preflib
from tiebreak.io.result import (
    FileError,
    NeedsAnswer,
    ReadOptions,
    ReadResult,
    plural,
    printable,
    shorten,
)
from tiebreak.io.table import Table, restore_names

_OTHERS = {
    "svmlight": ("grades", read_svmlight),
    "preflib": ("orders", read_preflib),
    "orders": ("orders", read_order_lines),
}


def read_file(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    *,
    wanted: Wanted | None = None,
) -> ReadResult:
    """Read comparisons, grades or orders from a file, and say what was recognized.

    The format is guessed from the content: CSV or TSV (also packed by gzip), Parquet,
    Arrow, svmlight, PrefLib, or lines of item numbers. In tables, columns are
    recognized by their usual names, see `tiebreak.io.columns`.

    Parameters
    ----------
    path : str or path
        The file.
    options : ReadOptions, optional
        What the user says about it; everything else is recognized.
    wanted : Wanted, optional
        The features that a model was fitted on. Features are then brought to these,
        and what is missing is an error.

    Returns
    -------
    ReadResult

    Raises
    ------
    FileError
        If the file or a row of it cannot be read; the message names the file and the
        lines. Nothing is read halfway.
    NeedsAnswer
        If the file has more than one meaning; the message names the options that
        choose.
    """
    options = ReadOptions() if options is None else options
    path = Path(path)
    sniffed = sniff(path, options.format)
    if sniffed.format in _OTHERS:
        result = _read_other(path, sniffed, options, wanted)
    else:
        result = _read_table(path, sniffed, options, wanted)
    if options.items is not None:
        result = join_items(result, options, wanted)
    # Names of columns and items come from the file, and may hold anything.
    result.sentences[:] = map(printable, result.sentences)
    return result


def _read_other(
    path: Path, sniffed: Sniffed, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    """Read a file that is no table."""
    kind, read = _OTHERS[sniffed.format]
    if options.kind not in (None, kind):
        raise FileError(
            path, f"--kind {options.kind} is asked for, but this file holds {kind}."
        )
    refuse_columns(path, sniffed, options)
    result = read(path, sniffed)
    if result.items is None:
        return result
    items = fit_numbered(path, result.items, wanted, result.sentences)
    return replace(result, items=items)


def refuse_columns(path: Path, sniffed: Sniffed, options: ReadOptions) -> None:
    """Refuse options that name columns, of a file that has no names for them."""
    if named := options.columns():
        raise FileError(
            path,
            f"{plural(len(named), 'column')} named ({', '.join(named.values())}), but "
            f"a file in the format {sniffed.format} has no named columns.",
        )


def _read_table(
    path: Path, sniffed: Sniffed, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    table = Table(path, sniffed)
    reading = find_reading(table, options)
    if reading is None:
        result = read_unnamed(table, options, wanted)
    elif reading.shape == "comparisons":
        result = read_comparisons(table, options, reading)
    elif reading.shape == "long":
        result = read_long(table, options, reading.roles)
    else:
        result = read_graded(table, reading.roles, options, wanted)
    result.sentences[:0] = describe_table(table)
    return result


def describe_table(table: Table) -> list[str]:
    """Say how a table is written, how long it is, and what it holds besides cells.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of str
    """
    sniffed = table.sniffed
    packed = " (gzip)" if sniffed.gzipped else ""
    names = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "arrow": "Arrow"}
    name = names[sniffed.format]
    sentences = [f"{name}{packed} with {plural(table.n_rows, 'row')}."]
    if table.left_out:
        sentences.append(table.say_left_out())
    return sentences


_JUDGED = ("outcome", "left_score", "right_score", "points")
_GRADED = ("grade", "rating")


def read_unlabeled(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    wanted: Wanted | None = None,
) -> ReadResult:
    """Read what a model is asked about: pairs of items, or items with features.

    Parameters
    ----------
    path : str or path
        The file: a table, or svmlight.
    options : ReadOptions, optional
        What the user says about it. With ``items``, features come from that table.
    wanted : Wanted, optional
        The features that the model was fitted on. None: it knows items by name, and is
        asked about pairs.

    Returns
    -------
    ReadResult
        Of kind "comparisons" with ``y`` None, or of kind "grades" with ``grades``
        None. There is one comparison, or one item, for each row of the file.

    Raises
    ------
    FileError
        If the file or a row of it cannot be read, or does not hold what the model
        needs.
    NeedsAnswer
        If more than two columns can be the two items.
    """
    options = ReadOptions() if options is None else options
    path = Path(path)
    sniffed = sniff(path, options.format)
    if sniffed.format == "svmlight" and wanted is not None and options.items is None:
        refuse_columns(path, sniffed, options)
        result = read_svmlight(path, sniffed)
        assert result.items is not None
        items = fit_numbered(path, result.items, wanted, result.sentences)
        result.sentences.append("The grades are not looked at.")
        return replace(result, items=items, grades=None)
    if sniffed.format not in ("csv", "tsv", "parquet", "arrow"):
        raise FileError(
            path,
            f"this is a file in the format {sniffed.format}, which this model cannot "
            "be asked about; expected a table with two columns of names, such as left "
            "and right.",
        )
    table = Table(path, sniffed)
    roles = Roles(table, options)
    sides = _find_sides(table, roles)
    features = wanted if options.items is None else None
    if sides is not None and features is None:
        result = _read_sides(table, roles, sides)
    elif wanted is None:
        raise FileError(path, f"{_SIDES_NEEDED} {_list_columns(table)}")
    elif options.items is not None:
        result = _read_items(table, roles, None)
    else:
        if sides is not None:
            _refuse_sides_without_features(table, sides, wanted)
        result = _read_items(table, roles, wanted)
    result.sentences[:0] = describe_table(table)
    if options.items is not None:
        result = join_items(result, options, wanted)
    result.sentences[:] = map(printable, result.sentences)
    return result


_SIDES_NEEDED = (
    "the model knows items by name, so it can be asked about two of them; no two "
    "columns have usual names, such as left and right. Name them with --left and "
    "--right."
)


def _find_sides(table: Table, roles: Roles) -> tuple[str, str, str] | None:
    found = roles.sides()
    if len(found) > 1:
        listed = "; or ".join(
            f"--left {left} --right {right}" for _, left, right in found
        )
        raise NeedsAnswer(
            table.path,
            f"the two items can be read in {len(found)} ways. Choose one by its "
            f"options: {listed}.",
        )
    return found[0] if found else None


def _read_sides(table: Table, roles: Roles, sides: tuple[str, str, str]) -> ReadResult:
    family, *names = sides
    found = {"left": names[0], "right": names[1]}
    for role in ("advantage", "neutral"):
        if (column := roles.find(role, found)) is not None:
            found[role] = column
    columns = table.read(
        text=[*names, *(found[role] for role in ("neutral",) if role in found)],
        numbers=[found[role] for role in ("advantage",) if role in found],
    )
    sentences = [f"{names[0]} and {names[1]} are the two items of each row."]
    left, right = columns.text[names[0]], columns.text[names[1]]
    if not table.is_parquet:
        left, right = restore_names(left, right, sentences)
    broken = table.broken()
    for name, side in zip(names, (left, right), strict=True):
        broken.add(f"no name in {name}", np.flatnonzero(side.missing))
    favored, said = read_advantage(columns, found, family, broken)
    broken.refuse()
    sentences += said
    sentences += _say_ignored(table, found, _JUDGED)
    pairs = Pairs(None, left.array(), right.array())
    sentences.append(
        f"{plural(len(pairs), 'pair')} of {plural(pairs.n_items, 'item')}."
    )
    return ReadResult(
        kind="comparisons",
        format=table.sniffed.format,
        sentences=sentences,
        pairs=pairs,
        columns=favored,
    )


def _read_items(table: Table, roles: Roles, wanted: Wanted | None) -> ReadResult:
    """Read items, with the features that are wanted or with names to be looked up."""
    taken: set[str] = set()
    if wanted is not None and wanted.names is not None:
        taken = {place.column for place in find_wanted(table.columns, wanted.names)}
    found: dict[str, str] = {}
    for role, words in (("query", "query"), ("item", "name")):
        column = roles.given.get(role)
        if column is None:
            likely = find_columns(words, table.columns)
            free = (c for c in likely if c not in {*taken, *found.values()})
            column = next(free, None)
        if column is not None:
            found[role] = column
    if wanted is None and "item" not in found:
        raise FileError(
            table.path,
            "no column has a usual name for items, so that they could be looked up in "
            f"the table of items. Name it with --item. {_list_columns(table)}",
        )
    sentences = [_describe(found)]
    ignored: list[str] = []
    chosen = FeatureColumns([], [])
    if wanted is not None:
        others = [c for c in table.columns if c not in found.values()]
        if wanted.names is None:
            graded = {c for role in _GRADED for c in find_columns(role, others)}
            others = [c for c in others if c not in graded]
            ignored = _say_ignored(table, found, _GRADED)
        chosen = choose_features(table, others, wanted, ignored)
    columns = table.read(text=[*found.values(), *chosen.words], numbers=chosen.numbers)
    broken = table.broken()
    for column in found.values():
        missing = np.flatnonzero(columns.text[column].missing)
        broken.add(f"no value in {column}", missing)
    items = build_features(chosen, columns, broken, sentences, whole=True)
    broken.refuse()
    names = columns.text[found["item"]] if "item" in found else None
    if names is not None and not table.is_parquet:
        names, _ = restore_names(names, names, sentences)
    query = columns.text[found["query"]] if "query" in found else None
    return ReadResult(
        kind="grades",
        format=table.sniffed.format,
        sentences=sentences + ignored,
        items=items,
        query=None if query is None else query.array(),
        names=None if names is None else names.array(),
    )


def _describe(found: dict[str, str]) -> str:
    named = f", named by {found['item']}" if "item" in found else ""
    if "query" in found:
        return f"Every row is an item{named}, ranked within its {found['query']}."
    return f"Every row is an item{named}; all of them are ranked together."


def _say_ignored(
    table: Table, found: dict[str, str], roles: tuple[str, ...]
) -> list[str]:
    listed = [column for role in roles for column in find_columns(role, table.columns)]
    kept = [c for c in dict.fromkeys(listed) if c not in found.values()]
    return [f"Not looked at: {', '.join(kept)}."] if kept else []


def _refuse_sides_without_features(
    table: Table, sides: tuple[str, str, str], wanted: Wanted
) -> None:
    """Refuse pairs of names for a model of features, unless it finds all it needs."""
    if wanted.names is not None:
        places = find_wanted(table.columns, wanted.names)
        if len(places) == len(wanted.names):
            return
    raise FileError(
        table.path,
        f"{sides[1]} and {sides[2]} name two items, but the model was fitted on "
        f"{plural(wanted.count, 'feature')} of items; name the table that has them "
        "with --items.",
    )


def _list_columns(table: Table) -> str:
    return f"The columns are: {', '.join(map(shorten, table.columns))}."
