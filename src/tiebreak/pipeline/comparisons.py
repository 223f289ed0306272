# SPDX-License-Identifier: BSD-3-Clause
"""Read a file: from what it holds to comparisons, or to ranked lists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import ItemTable, Orders, Pairs, check_grades
from tiebreak.data.validation import pairs_within_groups
from tiebreak.io import ReadOptions, ReadResult, read_file

_MOST_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """n comparisons of N items, with metadata columns and where they come from.

    Names of items are all different, unless items were graded: then a row of N is one
    grade, and an item that was graded twice is there twice.
    """

    pairs: Pairs
    y: NDArray[np.int8]
    # advantage, rater, period and sample_weight of the n comparisons, where known
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # how comparisons were made
    group: NDArray[np.int64] | None = None  # query or list of each comparison
    item_names: NDArray[Any] | None = None  # of the N items
    grades: NDArray[np.float64] | None = None  # of the N items, if graded
    query: NDArray[Any] | None = None  # of the N items, if graded
    partitioned: PartitionedRows | None = None  # if those of many files were added up
    sided: bool = True  # False if made of grades, scores or lists
    skipped: pl.DataFrame | None = None  # rows that could not be read
    rows: NDArray[np.int64] | None = None  # of the table, from 0, if it has comparisons
    both_bad: NDArray[np.bool_] | None = None  # ties that call both items bad

    @property
    def items(self) -> ItemTable | None:
        """Features of all items, also of those in no comparison; None without."""
        return self.pairs.items

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Which of the N items are in a comparison, shape (N,)."""
        found = np.zeros(self.pairs.n_items, dtype=bool)
        found[self.pairs.touched()] = True
        return found

    @property
    def listed(self) -> bool:
        """Whether the comparisons are those of ranked lists."""
        return self.group is not None and self.grades is None

    @property
    def by_row(self) -> ComparisonData:
        """The comparisons row by row, all or enough of them to measure quality."""
        return self if self.partitioned is None else self.partitioned.rows

    @property
    def whole(self) -> ComparisonData:
        """All comparisons, row by row if they are few enough."""
        complete = self.partitioned is None or self.partitioned.complete
        return self.by_row if complete else self

    @property
    def by_name(self) -> Pairs | None:
        """The same comparisons without features; None if items have no names."""
        pairs = self.pairs
        if pairs.names is None or not pairs.has_features:
            return None if pairs.names is None else pairs
        return Pairs(None, pairs.left, pairs.right, names=pairs.names).compact()


@dataclass(frozen=True, eq=False)
class PartitionedRows:
    """The rows of many files, of which equal comparisons were added up."""

    rows: ComparisonData
    n_rows: int  # of all files
    complete: bool  # whether `rows` are all of them; else they were drawn at random


def take_rows(data: ComparisonData, rows: NDArray[np.int64]) -> ComparisonData:
    """Return some comparisons with their metadata columns."""
    return replace(
        data,
        pairs=data.pairs[rows],
        y=data.y[rows],
        columns={name: column[rows] for name, column in data.columns.items()},
        group=None if data.group is None else data.group[rows],
        rows=None if data.rows is None else data.rows[rows],
        both_bad=None if data.both_bad is None else data.both_bad[rows],
    )


def is_partitioned(path: Path) -> bool:
    """Return whether a path is a folder, or a pattern and no file."""
    try:
        return path.is_dir() or (
            bool(set("*?[") & set(str(path))) and not path.exists()
        )
    except OSError:  # for the reader of files to say
        return False


def read_comparisons(
    source: Any, reading: ReadOptions
) -> tuple[ComparisonData, list[str]]:
    """Return the comparisons of a source of `read_file`, and what was detected."""
    read = in_time(read_file(source, reading))
    data = replace(as_comparisons(read), skipped=read.skipped)
    return data, [*read.sentences, *read.questions, *data.notes]


def in_time(read: ReadResult) -> ReadResult:
    """Return comparisons in order of time, where it is known; rows of a time stay."""
    period, pairs = read.columns.get("period"), read.pairs
    if pairs is None or period is None or bool((period[1:] >= period[:-1]).all()):
        return read
    order = np.argsort(period, kind="stable")
    names = ("y", "exchanged", "rows", "both_bad", "fingerprint")
    rows: Any = {name: getattr(read, name) for name in names}
    rows = {name: column[order] for name, column in rows.items() if column is not None}
    for name in ("columns", "tags", "others"):
        rows[name] = {key: col[order] for key, col in getattr(read, name).items()}
    said = [*read.sentences, "The rows, which are not in order of time, were sorted."]
    return replace(read, pairs=pairs[order], sentences=said, **rows)


def as_comparisons(read: ReadResult) -> ComparisonData:
    """Return what a file holds as comparisons."""
    if read.kind == "comparisons":
        assert read.pairs is not None and read.y is not None
        columns = dict(read.columns)
        if "weight" in columns:
            columns["sample_weight"] = columns.pop("weight")
        named: Any = {"item_names": read.pairs.names, "sided": read.sided}
        named |= {"rows": read.rows, "both_bad": read.both_bad}
        return ComparisonData(read.pairs, read.y, columns, **named)
    return _of_orders(read) if read.kind == "orders" else _of_grades(read)


def _of_orders(read: ReadResult) -> ComparisonData:
    orders = read.orders
    assert orders is not None
    group = np.repeat(np.arange(len(orders)), orders.lengths)
    found = _compare_within(group, -orders.position.astype(np.float64))
    names = np.arange(orders.n_items) if orders.names is None else orders.names
    left, right = orders.flat[found.left], orders.flat[found.right]
    pairs = Pairs(orders.items, left, right, names=names)
    columns: dict[str, NDArray[Any]] = {"rater": found.group}
    if "weight" in read.columns:
        columns["sample_weight"] = read.columns["weight"][found.group]
    notes = [_count_made(found, f"the {len(orders):,} lists")]
    about: Any = {"item_names": pairs.names, "sided": False}
    return ComparisonData(pairs, found.y, columns, notes, found.group, **about)


def _compare_within(group: NDArray[np.int64], grade: NDArray[np.float64]) -> Any:
    """Compare every two rows of a group, or if that is too much 20 pairs for each."""
    sizes = np.bincount(group)
    limit = _MOST_PAIRS
    if int((sizes * (sizes - 1) // 2).sum()) > limit:
        limit = int(np.clip(20 * len(group), limit // 10, limit))
    return pairs_within_groups(group, grade, limit=limit)


def _of_grades(read: ReadResult) -> ComparisonData:
    if read.items is None:
        raise ValueError(
            "The file grades items but has no features to learn from. Give the items "
            "names (--item) and the people or queries that graded them (--person, "
            "--query), or a table with features (--items)."
        )
    graded = check_grades(read.items, read.grades, read.query)
    found = _compare_within(graded.group, graded.y)
    if not found.y.any():
        raise ValueError(
            "All grades within a query are equal, so there is nothing to learn."
        )
    pairs = Pairs(graded.items, found.left, found.right)
    what = "the table" if read.query is None else f"the {graded.n_groups:,} queries"
    notes = [_count_made(found, what)]
    query = graded.group_names[graded.group]
    return ComparisonData(
        pairs, found.y, {}, notes, found.group, read.names, graded.y, query, sided=False
    )


def _count_made(found: Any, what: str) -> str:
    """Say how many comparisons were made."""
    if found.n_possible > len(found.y):
        return (
            f"{len(found.y):,} of the {found.n_possible:,} comparisons within {what} "
            "were drawn at random."
        )
    return f"Every two items within {what} were compared: {len(found.y):,} comparisons."


def as_lists(read: ReadResult) -> tuple[Orders, NDArray[np.float64] | None, list[str]]:
    """Return lists of named items, their weights where known, and notes."""
    # Each group of graded items is a list, and each comparison a list of two items.
    if read.kind == "orders":
        assert read.orders is not None
        return read.orders, read.columns.get("weight"), _not_written(read)
    if read.kind != "comparisons":
        return _lists_of_grades(read)
    pairs, y = read.pairs, read.y
    assert pairs is not None and y is not None
    # The better one first: y is the sign of r(right) - r(left).
    first = np.where(y > 0, pairs.right, pairs.left).tolist()
    second = np.where(y > 0, pairs.left, pairs.right).tolist()
    tied = (y == 0).tolist()
    sequences: list[list[Any]] = [
        [[a, b]] if equal else [a, b]
        for a, b, equal in zip(first, second, tied, strict=True)
    ]
    names = np.arange(pairs.n_items) if pairs.names is None else pairs.names
    # Row numbers would be taken for names where names are numbers.
    orders = Orders(None, sequences, names=np.array([str(name) for name in names]))
    notes = ["Every comparison is written as a list of two items.", *_not_written(read)]
    return orders, read.columns.get("weight"), notes


def _lists_of_grades(read: ReadResult) -> tuple[Orders, None, list[str]]:
    if read.names is None:
        raise ValueError(
            "The graded rows have no names, and ranked lists are of named items. Name "
            "the column that holds them with --item."
        )
    graded = check_grades(np.zeros((len(read.names), 1)), read.grades, read.query)
    rows = np.lexsort((-graded.y, graded.group))
    sequences: list[list[list[str]]] = [[] for _ in range(graded.n_groups)]
    last: tuple[int, float] | None = None
    for row in rows.tolist():
        place = int(graded.group[row]), float(graded.y[row])
        if place != last:
            sequences[place[0]].append([])
        sequences[place[0]][-1].append(str(read.names[row]))
        last = place
    notes = [
        "Every group of graded items is written as a list, best first; equal grades "
        "are ties.",
        *_not_written(read),
    ]
    return Orders(None, sequences), None, notes


def _not_written(read: ReadResult) -> list[str]:
    """Say what a file of lists has no place for."""
    named = [name for name in read.columns if name != "weight"]
    compared = [one for one in (read.pairs, read.orders) if one is not None]
    if read.items is not None or any(one.has_features for one in compared):
        named.append("features of the items")
    said = f"Not written, because the format has no place for it: {', '.join(named)}."
    return [said] if named else []
