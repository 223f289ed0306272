# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table as features of items: numbers, yes and no, and few words.

Columns of numbers are taken as they are, true and false become 1 and 0, and a column
with few words becomes one column of 0 and 1 for each of them. A model that was fitted
asks for the very same features again, whatever else the table has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.files.errors import (
    BrokenRows,
    FileError,
    first_of,
    plural,
    shorten,
)
from tiebreak.data.files.table import Columns, Table
from tiebreak.data.files.text_column import Text
from tiebreak.data.items import ItemTable, as_items

__all__ = [
    "FeatureColumns",
    "Wanted",
    "build_features",
    "choose_features",
    "find_wanted",
    "fit_numbered",
    "is_numeric",
]

MOST_WORDS = 20
"""A text column with at most so many words becomes columns of 0 and 1."""

_TRUE, _FALSE = ("true", "yes"), ("false", "no")
_NUMBERED = re.compile(r"feature \d+")


@dataclass(frozen=True)
class Wanted:
    """The features that a model was fitted on.

    Attributes
    ----------
    count : int
        How many there are.
    names : tuple of str or None
        What they are called, in their order; None if they have no names.
    """

    count: int
    names: tuple[str, ...] | None = None


class Place(NamedTuple):
    """Where a wanted feature comes from: a column, or one word of a column."""

    feature: str
    column: str
    word: str | None


@dataclass(frozen=True)
class FeatureColumns:
    """The columns that become features, to be read before they are built.

    Attributes
    ----------
    numbers, words : list of str
        Columns to be read as numbers, and as text.
    places : list of Place or None
        Where each wanted feature comes from; None: every column is welcome.
    count : int or None
        How many features there must be, if it is known.
    """

    numbers: list[str]
    words: list[str]
    places: list[Place] | None = None
    count: int | None = None


def find_wanted(columns: list[str], names: tuple[str, ...]) -> list[Place]:
    """Find the columns that wanted features come from.

    Parameters
    ----------
    columns : list of str
        Columns of the table.
    names : tuple of str
        Names of the wanted features.

    Returns
    -------
    list of Place
        Of the features that were found, in their order.

    Examples
    --------
    >>> find_wanted(["age", "color"], ("age", "color=red", "size"))
    [Place(feature='age', column='age', word=None),
     Place(feature='color=red', column='color', word='red')]
    """
    known = set(columns)
    found = []
    for name in names:
        if name in known:
            found.append(Place(name, name, None))
            continue
        # The name of a column, or a word, may hold the sign too: longest names first.
        cuts = [place for place, sign in enumerate(name) if sign == "="]
        for cut in reversed(cuts):
            if name[:cut] in known:
                found.append(Place(name, name[:cut], name[cut + 1 :]))
                break
    return found


def choose_features(
    table: Table,
    columns: list[str],
    wanted: Wanted | None,
    sentences: list[str],
) -> FeatureColumns:
    """Choose the columns that become features.

    Parameters
    ----------
    table : Table
        The table.
    columns : list of str
        Its columns that have no other role.
    wanted : Wanted or None
        The features that a model was fitted on; None: all that can be used.
    sentences : list of str
        Where it is said which columns a model has no use for.

    Returns
    -------
    FeatureColumns

    Raises
    ------
    FileError
        If a wanted feature is not there.
    """
    if wanted is None or wanted.names is None:
        numbers = [column for column in columns if is_numeric(table, column)]
        words = [column for column in columns if column not in set(numbers)]
        count = None if wanted is None else wanted.count
        return FeatureColumns(numbers, words, count=count)
    places = find_wanted(columns, wanted.names)
    found = {place.feature for place in places}
    _refuse_missing(
        table.path, [n for n in wanted.names if n not in found], wanted, table.columns
    )
    plain = dict.fromkeys(place.column for place in places if place.word is None)
    numbers = [column for column in plain if is_numeric(table, column)]
    used = dict.fromkeys(place.column for place in places)
    unused = [column for column in columns if column not in used]
    if unused:
        sentences.append(
            f"Not used, because the model was not fitted on them: {first_of(unused)}."
        )
    words = [column for column in used if column not in set(numbers)]
    # A column may be wanted for itself and for one of its words.
    words += [p.column for p in places if p.word is not None and p.column in numbers]
    return FeatureColumns(numbers, list(dict.fromkeys(words)), places)


def _refuse_missing(
    path: Path, missing: list[str], wanted: Wanted, columns: list[str]
) -> None:
    if not missing:
        return
    raise FileError(
        path,
        f"{len(missing):,} of the {plural(wanted.count, 'feature')} that the model was "
        f"fitted on cannot be found: {first_of([*map(shorten, missing)])}. The columns "
        f"are: {first_of([*map(shorten, columns)])}.",
    )


def build_features(
    chosen: FeatureColumns,
    columns: Columns,
    broken: BrokenRows,
    sentences: list[str],
    *,
    whole: bool = False,
) -> ItemTable | None:
    """Put the features side by side.

    Parameters
    ----------
    chosen : FeatureColumns
        Which columns become features.
    columns : Columns
        These columns, read.
    broken : BrokenRows
        Where rows are noted that cannot be used. The caller refuses them.
    sentences : list of str
        Where it is said what became of columns of words.
    whole : bool, default=False
        Whether an empty cell in a column of few words is a fault; else such a column
        is left out.

    Returns
    -------
    ItemTable or None
        None if no column can be used.
    """
    for column in chosen.numbers:
        columns.note_bad(column, "value", broken)
    if chosen.places is not None:
        return _build_wanted(chosen, chosen.places, columns, broken)
    names = list(chosen.numbers)
    parts = [columns.numbers[column] for column in chosen.numbers]
    unused = []
    for column in chosen.words:
        text, flags = columns.text[column], _flags(columns.text[column])
        few = flags is not None or _few_words(text)
        if not few or (text.missing.any() and not whole):
            unused.append(column)
            continue
        broken.add(f"no value in {column}", np.flatnonzero(text.missing))
        if flags is not None:
            names.append(column)
            parts.append(flags)
            sentences.append(f"In {column}, {_spelled(text)} became 1 and 0.")
            continue
        values = sorted(text.values)
        names += [f"{column}={value}" for value in values]
        parts += [_indicator(text, value) for value in values]
        sentences.append(
            f"{column} holds words ({', '.join(values[:4])}{', …' * (len(values) > 4)})"
            f" and became {plural(len(values), 'column')} of 0 and 1."
        )
    if unused:
        sentences.append(
            "Not used as features, because of many different words or empty cells: "
            f"{', '.join(unused)}."
        )
    if chosen.count not in (None, len(parts)):
        raise FileError(
            broken.path,
            f"the model was fitted on {plural(chosen.count or 0, 'feature')} without "
            f"names, but here are {len(parts):,}: {first_of(names)}.",
        )
    if not parts:
        return None
    return ItemTable(np.stack(parts, axis=1), tuple(names))


def _build_wanted(
    chosen: FeatureColumns, places: list[Place], columns: Columns, broken: BrokenRows
) -> ItemTable:
    """Put exactly the wanted features side by side; other words are faults."""
    words: dict[str, set[str]] = {}
    for place in places:
        if place.word is not None:
            words.setdefault(place.column, set()).add(place.word)
    for column, known in words.items():
        text = columns.text[column]
        broken.add(f"no value in {column}", np.flatnonzero(text.missing))
        new = np.array([value not in known for value in text.values] + [False])
        rows = np.flatnonzero(new[text.codes])
        values = [text.values[code] for code in text.codes[rows[:5]]]
        broken.add(f"words in {column} that the model was not fitted on", rows, values)
    parts: list[NDArray[np.float64]] = []
    for place in places:
        if place.word is not None:
            parts.append(_indicator(columns.text[place.column], place.word))
        elif place.column in chosen.numbers:
            parts.append(columns.numbers[place.column])
        else:
            parts.append(_flags_or_faults(columns, place.column, broken))
    return ItemTable(np.stack(parts, axis=1), tuple(p.feature for p in places))


def _flags_or_faults(
    columns: Columns, column: str, broken: BrokenRows
) -> NDArray[np.float64]:
    text = columns.text[column]
    flags = _flags(text)
    broken.add(f"no value in {column}", np.flatnonzero(text.missing))
    if flags is not None:
        return flags
    rows = np.flatnonzero(~text.missing)
    values = [text.values[code] for code in text.codes[rows[:5]]]
    broken.add(f"values of {column} that are not finite numbers", rows, values)
    return np.zeros(len(text.codes))


def _few_words(text: Text) -> bool:
    """Tell whether words can be shared by rows: few, and not another one in each."""
    n_rows, n_words = len(text.codes), len(text.values)
    return 0 < n_words <= MOST_WORDS and (n_words < n_rows or n_rows <= 2)


def _flags(text: Text) -> NDArray[np.float64] | None:
    """Give 1 for true and 0 for false, if the column holds nothing else."""
    words = [value.strip().casefold() for value in text.values]
    if not words or not set(words) <= {*_TRUE, *_FALSE}:
        return None
    # One more, because a missing value has the number -1.
    return np.array([word in _TRUE for word in words] + [False])[text.codes] * 1.0


def _spelled(text: Text) -> str:
    """Write the two words of a column of flags, as they stand in it."""
    words = {value.strip().casefold(): value.strip() for value in text.values[::-1]}
    true = next((words[word] for word in _TRUE if word in words), "true")
    false = next((words[word] for word in _FALSE if word in words), "false")
    return f"{true} and {false}"


def _indicator(text: Text, value: str) -> NDArray[np.float64]:
    code = text.values.index(value) if value in text.values else -2
    return (text.codes == code).astype(np.float64)


def fit_numbered(
    path: Path, items: ItemTable, wanted: Wanted | None, sentences: list[str]
) -> ItemTable:
    """Bring the features of an svmlight file to those that a model was fitted on.

    Parameters
    ----------
    path : Path
        The file.
    items : ItemTable
        Its features. One that no line of the file has is 0 everywhere.
    wanted : Wanted or None
        The features of the model; None: any.
    sentences : list of str
        Where it is said what is not used.

    Returns
    -------
    ItemTable
    """
    if wanted is None:
        return items
    names, p = wanted.names, items.n_features
    if names is None or items.feature_names is None:
        if p > wanted.count:
            raise FileError(
                path,
                f"the file has {plural(p, 'feature')}, but the model was fitted on "
                f"{wanted.count:,}.",
            )
        column_of = np.arange(p)
    else:
        own = {name: number for number, name in enumerate(items.feature_names)}
        missing = [n for n in names if n not in own and not _NUMBERED.fullmatch(n)]
        _refuse_missing(path, missing, wanted, list(own))
        unused = sum(name not in set(names) for name in own)
        if unused:
            sentences.append(
                f"{plural(unused, 'feature')} not used, because the model was not "
                "fitted on them."
            )
        column_of = np.array([own.get(name, p) for name in names])
    padded = np.append(column_of, np.full(wanted.count - len(column_of), p))
    zero = sp.csr_array((items.n_items, 1))
    if items.is_sparse:
        wide = sp.hstack([items.values, zero], format="csc")[:, padded]
        return ItemTable(as_items(wide).values, names)
    wide = np.hstack([items.values, zero.toarray()])[:, padded]
    return ItemTable(np.ascontiguousarray(wide), names)


def is_numeric(table: Table, column: str) -> bool:
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
