# SPDX-License-Identifier: BSD-3-Clause
"""A second file with the features of the items, joined by name.

One column of it holds the names, each once, and the others become features. Every item
of the first file needs a row. Rows that the first file does not speak of are kept: a
model of features can rate them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import as_names, factorize
from tiebreak.data.files.errors import FileError, first_of, plural, shorten
from tiebreak.data.files.features import Wanted, build_features, choose_features
from tiebreak.data.files.formulas import restore_names
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.sniff import sniff
from tiebreak.data.files.table import Table
from tiebreak.data.files.text_column import Text
from tiebreak.data.files.vocabulary import (
    closest,
    find_column,
    find_columns,
)
from tiebreak.data.items import ItemTable
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs

__all__ = ["NamedItems", "join_items", "read_items"]


@dataclass(frozen=True, eq=False)
class NamedItems:
    """Items with names and features.

    Attributes
    ----------
    names : list of str
        Their names, all different.
    table : ItemTable
        Their features, in the same order.
    sentences : list of str
        What was recognized, in plain words.
    """

    names: list[str]
    table: ItemTable
    sentences: list[str]


def join_items(
    result: Recognized, options: ReadOptions, wanted: Wanted | None = None
) -> Recognized:
    """Give the items of a file the features that another one has.

    Parameters
    ----------
    result : Recognized
        What the first file holds; its items have names and no features.
    options : ReadOptions
        Its ``items`` is the other file.
    wanted : Wanted, optional
        The features that a model was fitted on.

    Returns
    -------
    Recognized
        With all items of the table, in its order, also those that the first file does
        not speak of; in graded rows, one row of features for each.

    Raises
    ------
    FileError
        If the table cannot be read, or lacks an item.
    """
    assert options.items is not None
    path = Path(options.items)
    codes, names = _names_of(result, path)
    items = read_items(path, names, options.item_column, wanted)
    place = {name: row for row, name in enumerate(items.names)}
    _refuse_missing(path, [name for name in names if name not in place], place)
    rows = np.array([place[name] for name in names], dtype=np.int64)
    sentences = [*result.sentences, *items.sentences]
    changed: dict[str, Any] = {}
    if result.kind == "grades":
        changed["items"] = items.table.take(rows[codes])
        return replace(result, sentences=sentences, **changed)
    if result.y is not None or result.orders is not None:
        sentences += _say_unseen(items.names, names)
    labels = as_names(items.names)
    if (pairs := result.pairs) is not None:
        changed["pairs"] = Pairs._of(
            items.table, rows[pairs.left], rows[pairs.right], labels
        )
    if (orders := result.orders) is not None:
        changed["orders"] = Orders._of(
            items.table, rows[orders.flat], orders.position, orders.indptr, labels
        )
    return replace(result, sentences=sentences, **changed)


def _names_of(
    result: Recognized, path: Path
) -> tuple[NDArray[np.int64], Sequence[str]]:
    """Give the distinct names of a file, and their numbers in graded rows."""
    if result.kind == "grades":
        if result.items is not None:
            raise FileError(
                path,
                "a table of items is given, but the graded rows have features "
                "themselves; leave --items out.",
            )
        if result.names is None:
            raise FileError(
                path,
                "a table of items is given, but the graded rows have no names to look "
                "up in it. Name their column with --item.",
            )
        return factorize(result.names)
    holder = result.pairs if result.orders is None else result.orders
    assert holder is not None and holder.names is not None
    return np.empty(0, dtype=np.int64), holder.names.tolist()


def read_items(
    path: Path,
    compared: Sequence[str],
    column: str | None = None,
    wanted: Wanted | None = None,
) -> NamedItems:
    """Read a table of items: names and features.

    Parameters
    ----------
    path : Path
        A CSV, TSV or Parquet file.
    compared : sequence of str
        Names that are looked for. Among several columns that may hold names, the one
        that has most of these is taken.
    column : str, optional
        The column of the names; by default it is recognized.
    wanted : Wanted, optional
        The features that a model was fitted on.

    Returns
    -------
    NamedItems

    Raises
    ------
    FileError
        If the table cannot be read, a name is missing or there twice, or a value is
        missing or no finite number; the message names the lines.
    """
    sniffed = sniff(path)
    if sniffed.format not in ("csv", "tsv", "parquet", "arrow"):
        raise FileError(
            path,
            f"this is a file in the format {sniffed.format}; a table of items must be "
            "CSV, TSV or Parquet.",
        )
    table = Table(path, sniffed)
    item = _find_item_column(table, compared, column)
    sentences: list[str] = []
    others = _without_numbering(table, item, wanted, sentences)
    chosen = choose_features(table, others, wanted, sentences)
    columns = table.read(text=[item, *chosen.words], numbers=chosen.numbers)
    names = columns.text[item]
    if not table.is_parquet:
        names, _ = restore_names(names, names, sentences)
    broken = table.broken()
    broken.add(f"no name in {item}", np.flatnonzero(names.missing))
    again = _repeated(names)
    broken.add(
        f"names in {item} that another row has too",
        again,
        [names.values[code] for code in names.codes[again[:5]]],
    )
    features = build_features(chosen, columns, broken, sentences, whole=True)
    broken.refuse()
    if features is None:
        raise FileError(
            path,
            f"{item} names the items, but no other column can be used as a feature: "
            "expected numbers, or few different words.",
        )
    if table.left_out:
        sentences.append(table.say_left_out())
    sentences.insert(0, _describe(path, item, features))
    return NamedItems(names.array().tolist(), features, sentences)


def _find_item_column(table: Table, compared: Sequence[str], column: str | None) -> str:
    listed = ", ".join(map(shorten, table.columns))
    if column is not None:
        found = find_column(column, table.columns)
        if found is None:
            raise FileError(
                table.path,
                f"--item-column names {column!r}, but there is no such column."
                f"{closest(column, table.columns)} The columns are: {listed}.",
            )
        return found
    likely = find_columns("name", table.columns)
    if not likely:
        raise FileError(
            table.path,
            "no column has a usual name for items, such as item, name, id, model, "
            "team, player or product. Name the column that holds them with "
            f"--item-column. The columns are: {listed}.",
        )
    if len(likely) == 1:
        return likely[0]
    columns = table.read(text=likely)
    asked = set(compared)
    return max(likely, key=lambda c: len(asked.intersection(columns.text[c].values)))


def _without_numbering(
    table: Table, item: str, wanted: Wanted | None, sentences: list[str]
) -> list[str]:
    """Leave out columns that only number the rows: they say nothing of an item."""
    others = [column for column in table.columns if column != item]
    if wanted is not None and wanted.names is not None:
        return others
    likely = {*find_columns("name", others), *(c for c in others if c == "column 1")}
    if not likely:
        return others
    columns = table.read(numbers=sorted(likely))
    numbering = {c for c in likely if _is_numbering(columns.numbers[c])}
    for column in sorted(numbering):
        sentences.append(f"{column} numbers the items and is not used as a feature.")
    return [column for column in others if column not in numbering]


def _is_numbering(values: NDArray[np.float64]) -> bool:
    """Tell whether a column holds whole numbers, another one in each row."""
    whole = bool(np.isfinite(values).all()) and bool((values == np.floor(values)).all())
    return whole and len(np.unique(values)) == len(values) > 2


def _repeated(names: Text) -> NDArray[np.int64]:
    counts = np.bincount(names.codes[~names.missing], minlength=1)
    return np.flatnonzero((counts[names.codes] > 1) & ~names.missing)


def _refuse_missing(path: Path, missing: list[str], place: dict[str, int]) -> None:
    if not missing:
        return
    near = {name.strip().casefold(): name for name in place}
    shown = []
    for name in missing:
        hint = near.get(name.strip().casefold())
        shown.append(
            shorten(name) + (f" (it has {shorten(hint)})" if hint is not None else "")
        )
    raise FileError(
        path,
        f"the table has no row for {plural(len(missing), 'item')}: {first_of(shown)}. "
        "Every item needs one, with exactly the same name.",
    )


def _describe(path: Path, item: str, features: ItemTable) -> str:
    names = features.feature_names or ()
    return (
        f"{path.name} has {plural(features.n_items, 'item')}, named by {item}, with "
        f"{plural(features.n_features, 'feature')}: {first_of(names)}."
    )


def _say_unseen(names: list[str], compared: Sequence[str]) -> list[str]:
    known = set(compared)
    unseen = [name for name in names if name not in known]
    if not unseen:
        return []
    is_ = "is" if len(unseen) == 1 else "are"
    return [
        f"{plural(len(unseen), 'item')} of the table {is_} in no comparison and can be "
        f"rated by features alone: {first_of([*map(shorten, unseen)])}."
    ]
