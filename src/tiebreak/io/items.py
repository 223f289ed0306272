# SPDX-License-Identifier: BSD-3-Clause
"""Features of items: columns of a table, and a second file that is joined by name.

Numbers are taken as they are, true and false become 1 and 0, and a column of few words
becomes one column of 0 and 1 for each. A fitted model asks for the same features again
(`Wanted`). Every item of the first file needs a row in the second one, each once; items
of the second one alone are kept, to be rated.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_names, factorize
from tiebreak.data.items import ItemTable, as_items
from tiebreak.data.kinds import Data, Grades, Lists
from tiebreak.data.messages import closest
from tiebreak.io.columns import find_columns, named_column, read_roles
from tiebreak.io.formats import detect_format
from tiebreak.io.frames import find_repeated
from tiebreak.io.result import (
    FileError,
    ReadOptions,
    ReadResult,
    first_of,
    plural,
    shorten,
)
from tiebreak.io.table import Columns, Table, TableFile, Text
from tiebreak.options import flag

# A text column with at most so many words becomes columns of 0 and 1.
MOST_WORDS = 20
_TRUE, _FALSE = ("true", "yes"), ("false", "no")
_LABELS = {"label": ("label", "name", "full_name", "title")}
_NUMBERED = re.compile(r"feature \d+")


@dataclass(frozen=True)
class Wanted:
    """The features that a model was fitted on.

    Attributes
    ----------
    count, names : int, tuple of str or None
        Their number, and their names in order, if any.
    """

    count: int
    names: tuple[str, ...] | None = None


class Place(NamedTuple):
    """Where a wanted feature comes from: a column, or a word of one."""

    feature: str
    column: str
    word: str | None


def find_wanted(columns: list[str], names: tuple[str, ...]) -> list[Place]:
    """Find where wanted features come from; absent ones are left out."""
    known = set(columns)
    places = []
    for name in names:
        if name in known:
            places.append(Place(name, name, None))
            continue
        # The name of a column, or a word, may hold the sign too: longest names first.
        cuts = [place for place, sign in enumerate(name) if sign == "="]
        for cut in reversed(cuts):
            if name[:cut] in known:
                places.append(Place(name, name[:cut], name[cut + 1 :]))
                break
    return places


def read_features(
    table: Table,
    roles: Mapping[str, str],
    columns: list[str],
    wanted: Wanted | None,
    sentences: list[str],
    *,
    whole: bool = False,
) -> tuple[Columns, ItemTable | None]:
    """Read the columns of roles, and as features wanted columns, else all usable ones.

    The table of features is None if no column can be used. Faults are noted, and the
    caller refuses them. With `whole`, an empty cell in a column of few words is a
    fault; otherwise the column is not used.
    """
    places: list[Place] = []
    names = None if wanted is None else wanted.names
    if wanted is not None and names is not None:
        places = find_wanted(columns, names)
        present = {place.feature for place in places}
        missing = [name for name in names if name not in present]
        _refuse_missing(table.path, missing, wanted)
        used = dict.fromkeys(place.column for place in places)
        if unused := [column for column in columns if column not in used]:
            sentences.append(
                "Not used, because the model was not fitted on them: "
                f"{first_of(unused)}."
            )
        columns = list(used)
    by_word = {place.column for place in places if place.word is not None}
    numbers = [c for c in columns if c not in by_word and c in table.numeric]
    plain = set(numbers)
    words = [column for column in columns if column not in plain]
    read = read_roles(table, roles, text=words, numbers=numbers)
    read.note_bad("value", *numbers)
    if names is not None:
        _note_other_words(places, read)
    else:
        places = [Place(column, column, None) for column in numbers]
        places += _place_words(words, read, sentences, whole)
        if wanted is not None and wanted.count != len(places):
            raise table.error(
                f"the model was fitted on {plural(wanted.count, 'feature')} without "
                f"names, but here are {len(places):,}: "
                f"{first_of([place.feature for place in places])}."
            )
    if not places:
        return read, None
    parts = [_build_feature(place, read) for place in places]
    return read, ItemTable(np.stack(parts, axis=1), tuple(p.feature for p in places))


def _refuse_missing(path: Path, missing: list[str], wanted: Wanted) -> None:
    if missing:
        raise FileError(
            path,
            f"{len(missing):,} of the {plural(wanted.count, 'feature')} that the model "
            f"was fitted on cannot be found: {first_of([*map(shorten, missing)])}.",
        )


def _place_words(
    listed: list[str], columns: Columns, sentences: list[str], whole: bool
) -> list[Place]:
    """Make features of text columns of true and false, or of few words."""
    places, unused = [], []
    for column in listed:
        text = columns.text[column]
        n_rows, n_words = len(text.codes), len(text.values)
        few = 0 < n_words <= MOST_WORDS and (n_words < n_rows or n_rows <= 2)
        is_flag = _flags(text) is not None
        if not (few or is_flag) or (text.missing.any() and not whole):
            unused.append(column)
        elif is_flag:
            places.append(Place(column, column, None))
            sentences.append(f"In {column}, true and false became 1 and 0.")
        else:
            columns.note_missing("value", column)
            values = sorted(text.values)
            places += [Place(f"{column}={value}", column, value) for value in values]
            sentences.append(
                f"{column} holds words ({first_of(values, 4)}) and became "
                f"{plural(len(values), 'column')} of 0 and 1."
            )
    if unused:
        sentences.append(
            "Not used as features, because of many different words or empty cells: "
            f"{', '.join(unused)}."
        )
    return places


def _note_other_words(places: list[Place], columns: Columns) -> None:
    """Note words unknown to the model, and empty cells."""
    words: dict[str, set[str]] = {}
    for place in places:
        if place.word is not None:
            words.setdefault(place.column, set()).add(place.word)
    for column, known in words.items():
        text = columns.text[column]
        columns.note_missing("value", column)
        what = f"words in {column} that the model was not fitted on"
        columns.note(what, ~text.per_row(known.__contains__, missing=True), text)


def _build_feature(place: Place, columns: Columns) -> Floats:
    """Return a column of numbers, or of 0 and 1; faults are noted."""
    if place.word is None and place.column in columns.numbers:
        return columns.numbers[place.column]
    text = columns.text[place.column]
    if place.word is not None:
        code = text.values.index(place.word) if place.word in text.values else -2
        return (text.codes == code).astype(np.float64)
    columns.note_missing("value", place.column)
    if (flags := _flags(text)) is not None:
        return flags
    what = f"values of {place.column} that are not finite numbers"
    columns.note(what, ~text.missing, text)
    return np.zeros(len(text.codes))


def _flags(text: Text) -> Floats | None:
    """Give 1 for true and 0 for false, if there is nothing else."""
    words = {value.strip().casefold() for value in text.values}
    if not words or not words <= {*_TRUE, *_FALSE}:
        return None
    return text.per_row(lambda value: value.strip().casefold() in _TRUE, False) * 1.0


def fit_numbered(
    path: Path, items: ItemTable, wanted: Wanted | None, sentences: list[str]
) -> ItemTable:
    """Match the features of an svmlight file to a model's; absent ones are 0."""
    if wanted is None:
        return items
    names, p = wanted.names, items.n_features
    if names is None or items.feature_names is None:
        if p > wanted.count:
            has = f"the file has {plural(p, 'feature')}"
            raise FileError(path, f"{has}, but the model was fitted on {wanted.count}.")
        column_of = np.arange(p)
    else:
        own = {name: number for number, name in enumerate(items.feature_names)}
        missing = [n for n in names if n not in own and not _NUMBERED.fullmatch(n)]
        _refuse_missing(path, missing, wanted)
        if unused := sum(name not in set(names) for name in own):
            sentences.append(
                f"{plural(unused, 'feature')} not used, because the model was not "
                "fitted on them."
            )
        column_of = np.array([own.get(name, p) for name in names])
    padded = np.append(column_of, np.full(wanted.count - len(column_of), p))
    if items.is_sparse:
        zero = sp.csr_array((items.n_items, 1))
        wide = sp.hstack([items.values, zero], format="csc")[:, padded]
    else:
        wide = np.pad(items.values, ((0, 0), (0, 1)))[:, padded]
    return ItemTable(as_items(wide).values, names)


def join_items(
    result: ReadResult, options: ReadOptions, wanted: Wanted | None = None
) -> ReadResult:
    """Give the items of a file the features of `options.items`."""
    data, sentences = result.data, result.sentences
    joined: Data
    if isinstance(data, Grades):
        codes, names = factorize(_names_of_grades(data, options))
        _, table, rows = find_items(options, names, sentences, wanted)
        joined = replace(data, items=table.take(rows[codes]))
        return replace(result, data=joined)
    assert data.names is not None
    names = data.names.tolist()
    listed, table, rows = find_items(options, names, sentences, wanted)
    labels = as_names(listed)
    if isinstance(data, Lists):
        flat = rows[data.orders.flat]
        orders = data.orders._replace(_items=table, flat=flat, names=labels, seen=None)
        joined = replace(data, orders=orders)
    else:
        joined = replace(data, pairs=data.pairs._relabel(rows, table, labels))
    known = set(names)
    unseen = [shorten(name) for name in listed if name not in known]
    if unseen and (isinstance(data, Lists) or len(data.y)):
        is_ = "is" if len(unseen) == 1 else "are"
        sentences.append(
            f"{plural(len(unseen), 'item')} of the table {is_} in no comparison and "
            f"can be rated by features alone: {first_of(unseen)}."
        )
    return replace(result, data=joined)


def label_items(result: ReadResult, options: ReadOptions) -> ReadResult:
    """Return the data with the names that `options.labels` has for items."""
    data = result.data
    if data.names is None:
        raise ValueError(f"{flag('labels')}: the items of this file have no names.")
    codes, names = factorize(data.names)
    labels = _read_labels(Path(options.labels or ""), names, options.keep_na)
    result.sentences.append(f"Names are those of {Path(options.labels or '').name}.")
    new = as_names(labels)
    if isinstance(data, Grades):
        data = replace(data, names=new[codes])
    elif isinstance(data, Lists):
        data = replace(data, orders=_rename(data.orders, new))
    else:
        data = replace(data, pairs=_rename(data.pairs, new))
    return replace(result, data=data, labels=dict(zip(names, labels, strict=True)))


def _rename(rows: Any, names: NDArray[Any]) -> Any:
    """Return pairs or lists of the same items with other names."""
    renamed = copy(rows)
    renamed.names = names
    if getattr(rows, "seen", None) is not None:
        renamed.seen = _rename(rows.seen, names)
    return renamed


def _read_labels(path: Path, names: Sequence[Any], keep_na: bool) -> list[str]:
    """Return the label of each name, by the column that has most of the names."""
    table = Table([TableFile(path, detect_format(path))])
    item = _find_names(table, names, table.columns)
    others = [column for column in table.columns if column != item]
    likely = [*find_columns("label", others, _LABELS), *others]
    table.keep_na = keep_na
    columns = table.read(text=[item, likely[0]])
    columns.note_missing("name", item, likely[0])
    columns.refuse_broken()
    ids, labels = (columns.text[c].per_row(str, "").tolist() for c in (item, likely[0]))
    label_of = dict(zip(ids, labels, strict=True))
    missing = [shorten(name) for name in names if str(name) not in label_of]
    used = [label_of.get(str(name), "") for name in names]
    for what, listed in (
        (f"{item} has no row for", missing),
        (f"{item} has two rows for", [*map(shorten, find_repeated(ids))]),
        (f"{likely[0]} has two items called", [*map(shorten, find_repeated(used))]),
    ):
        if listed:
            raise table.error(f"{what} {first_of(listed)}; expected one.")
    return used


def _names_of_grades(grades: Grades, options: ReadOptions) -> NDArray[Any]:
    path = Path(options.items or "")
    start = "a table of items is given, but the graded rows have"
    if grades.items.n_features:
        raise FileError(path, f"{start} features; leave {flag('items')} out.")
    if grades.names is None:
        raise FileError(path, f"{start} no names; name them with {flag('item')}.")
    return grades.names


def find_items(
    options: ReadOptions,
    names: Sequence[str],
    sentences: list[str],
    wanted: Wanted | None = None,
) -> tuple[list[str], ItemTable, Codes]:
    """Return names and features of a table of items, and rows of some names."""
    assert options.items is not None
    path = Path(options.items)
    detected = detect_format(path)
    if not detected.is_table:
        what = f"expected a table of items, not {detected.format}."
        raise FileError(path, what)
    table = Table([TableFile(path, detected)])
    table.keep_na = options.keep_na
    if options.item_column is not None:
        item = named_column(table, options.item_column, flag("item_column"))
    else:
        likely = find_columns("name", table.columns) or table.columns
        item = _find_names(table, names, likely)
    others = [column for column in table.columns if column != item]
    details: list[str] = []
    if wanted is None or wanted.names is None:
        for column in _find_numbering(table, others):
            others.remove(column)
            details.append(f"{column} numbers the items and is not used as a feature.")
    roles = {"item": item}
    columns, features = read_features(table, roles, others, wanted, details, whole=True)
    [listed] = columns.restore_names(details, item)
    counts = np.bincount(listed.codes[~listed.missing], minlength=1)
    again = (counts[listed.codes] > 1) & ~listed.missing
    columns.note(f"names in {item} that another row has too", again, listed)
    columns.refuse_broken()
    if features is None:
        raise table.error(
            f"{item} names the items, but no other column can be used as a feature."
        )
    sentences.append(
        f"{path.name} has {plural(features.n_items, 'item')}, named by {item}, with "
        f"{plural(features.n_features, 'feature')}: "
        f"{first_of(features.feature_names or ())}."
    )
    sentences += details + table.describe_skipped()
    place = {name: row for row, name in enumerate(listed.values)}
    if missing := [name for name in names if name not in place]:
        raise table.error(
            f"the table has no row for {plural(len(missing), 'item')}: "
            f"{first_of([*map(shorten, missing)])}. Every item needs one."
            f"{closest(missing[0], place)}"
        )
    rows = np.array([place[name] for name in names], dtype=np.int64)
    return listed.values, features, rows


def _find_names(table: Table, names: Sequence[Any], columns: list[str]) -> str:
    """Return the column that holds most of some names."""
    read, wanted = table.read(text=columns), {str(name) for name in names}
    return max(columns, key=lambda c: len(wanted.intersection(read.text[c].values)))


def _find_numbering(table: Table, columns: list[str]) -> list[str]:
    """Find columns that only number the rows, by integers that are all different."""
    likely = {*find_columns("name", columns), *(c for c in columns if c == "column 1")}
    found = []
    for column in sorted(likely):
        values = table.head[column].cast(pl.String).cast(pl.Float64, strict=False)
        whole = bool((values % 1 == 0).all()) and not values.null_count()
        if whole and len(values) > 2 and values.is_unique().all():
            found.append(column)
    return found
