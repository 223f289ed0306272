# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons in many files: alike ones are added up where the files are read.

What comes together here is one row for every kind of comparison, with a weight, and the
rows on which quality is measured. These are the very rows that would be drawn from one
file that holds all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import Pairs
from tiebreak.data.columns import factorize, readable_period
from tiebreak.io import FileError, ReadResult
from tiebreak.io.comparisons import count_outcomes
from tiebreak.io.items import join_items
from tiebreak.io.result import plural
from tiebreak.outofcore import Partitions, add_equal, open_partitions, split_rows
from tiebreak.pipeline.comparisons import ComparisonData, Parted, as_comparisons
from tiebreak.pipeline.held_out import draw_numbers
from tiebreak.pipeline.partitions import (
    FileReader,
    ManyFiles,
    PartitionedFiles,
    join_sentences,
)

_BESIDE = ("advantage", "rater", "period")
# Kinds of comparisons that are brought together here; a file of as many rows is read.
_MOST_KINDS = 10_000_000
_RATERS = re.compile(r"(.+) is who judged \([\d,]+ raters?\)\.")
_WHEN = re.compile(r"(.+) is when, from .+ to .+\.")
# What is left out when there are more, one after the other, and what for.
_LEFT_OUT = {
    "period": "the time of the comparisons is not used",
    "rater": "who judged is not used, and intervals take votes as independent",
}


def gather_comparisons(
    parts: ManyFiles, tell: Callable[[str], None] | None = None
) -> tuple[ComparisonData, list[str]]:
    """Bring together the comparisons of many files.

    Parameters
    ----------
    parts : ManyFiles
        The files.
    tell : callable, optional
        Is told each file before it is read, in this process.

    Returns
    -------
    known : ComparisonData
        Kinds of comparisons with their weights.
    recognized : list of str
        What was recognized, in plain words.
    """
    reading = replace(parts.reading, items=None, item_column=None)
    reader = FileReader("", "comparisons", reading, tell=tell)
    opened = open_partitions(PartitionedFiles(parts.files, reader), _ComparedRows)
    try:
        facts: list[_Facts] = [fact for (fact,) in opened.each(_facts_of)]
        beside, notes = _choose_columns(parts.files, facts)
        tables = [table for (table,) in opened.each(_count_alike, tuple(beside))]
        drawn, complete = _draw(opened, [fact.n_rows for fact in facts])
    finally:
        opened.close()
    counted = add_equal(pl.concat(tables, how="vertical_relaxed"))
    n_rows = sum(fact.n_rows for fact in facts)
    sentences = [
        *parts.sentences,
        *join_sentences(
            parts.files, [_of_all(fact.sentences, counted) for fact in facts]
        ),
        *notes,
        _count(counted, facts),
    ]
    questions = list(dict.fromkeys(q for fact in facts for q in fact.questions))
    weighted = any("weight" in fact.kinds for fact in facts)
    read = _recognize(counted, sentences, questions)
    rows = _recognize(drawn if weighted else drawn.drop("weight"))
    if parts.reading.items is not None:
        read = join_items(read, parts.reading)
        rows = join_items(rows, parts.reading)
    known = as_comparisons(read)
    by_row = as_comparisons(rows)
    whole = Parted(by_row, n_rows, complete)
    known = replace(known, parted=whole)
    return known, [*read.sentences, *read.questions, *known.notes]


@dataclass(frozen=True, eq=False)
class _Facts:
    """What a file tells of itself.

    Attributes
    ----------
    outcomes : ndarray of int64 of shape (3,)
        Number of comparisons that left won, that are tied, that right won.
    kinds : dict of str to str
        The kind of values of each column beside the comparisons.
    n_equal : dict of tuple to int
        Kinds of comparisons, told apart by these columns.
    sentences, questions : list of str
        What was recognized.
    """

    outcomes: NDArray[np.int64]
    kinds: dict[str, str]
    n_equal: dict[tuple[str, ...], int]
    sentences: list[str]
    questions: list[str]

    @property
    def n_rows(self) -> int:
        """Number of comparisons."""
        return int(self.outcomes.sum())


class _ComparedRows:
    """The comparisons of one file, row by row.

    Parameters
    ----------
    columns : dict
        ``read``, what the file holds.
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        self.read: ReadResult = columns["read"]

    def frame(self, beside: Sequence[str]) -> pl.DataFrame:
        """Give the comparisons as a table; names of items and raters by number."""
        read = self.read
        assert read.pairs is not None
        table = {"left": read.pairs.left, "right": read.pairs.right, "y": read.y}
        weight = read.columns.get("weight")
        table["weight"] = np.ones(len(read.pairs)) if weight is None else weight
        for role in beside:
            column = read.columns[role]
            table[role] = factorize(column)[0] if role == "rater" else column
        return pl.DataFrame(table)

    def named(self, table: pl.DataFrame) -> pl.DataFrame:
        """Write names of items and raters instead of their numbers."""
        assert self.read.pairs is not None
        names: dict[str, Any] = dict.fromkeys(("left", "right"), self.read.pairs.names)
        if "rater" in table.columns:
            names["rater"] = factorize(self.read.columns["rater"])[1]
        return table.with_columns(
            pl.Series(role, np.asarray(known).tolist(), dtype=pl.String)
            .gather(table[role])
            .alias(role)
            for role, known in names.items()
        )

    def __sizeof__(self) -> int:
        assert self.read.pairs is not None
        return 1000 + 8 * len(self.read.pairs) * (3 + len(self.read.columns))


def _facts_of(part: _ComparedRows) -> tuple[_Facts]:
    read = part.read
    assert read.y is not None
    kinds: dict[str, str] = {
        name: column.dtype.kind for name, column in read.columns.items()
    }
    beside = [role for role in _BESIDE if role in kinds]
    table = add_equal(part.frame(beside))
    n_equal = {tuple(beside): len(table)}
    for role in _LEFT_OUT:
        if role in beside:
            beside.remove(role)
            table = add_equal(table.drop(role))
            n_equal[tuple(beside)] = len(table)
    # The first says how the file is written, the last counts its comparisons.
    said = read.sentences[1:-1]
    outcomes = np.bincount(read.y + 1, minlength=3)
    return (_Facts(outcomes, kinds, n_equal, said, read.questions),)


def _count_alike(part: _ComparedRows, beside: tuple[str, ...]) -> tuple[pl.DataFrame]:
    return (part.named(add_equal(part.frame(beside))),)


def _take_rows(part: _ComparedRows, rows: NDArray[np.int64]) -> tuple[pl.DataFrame]:
    beside = [role for role in _BESIDE if role in part.read.columns]
    return (part.named(part.frame(beside)[rows]),)


def _choose_columns(
    files: Sequence[str], facts: Sequence[_Facts]
) -> tuple[list[str], list[str]]:
    """Choose the columns that tell comparisons apart, and say which are not used."""
    notes = []
    beside = []
    for role in (*_BESIDE, "weight"):
        kinds = [_kind_of(fact.kinds.get(role)) for fact in facts]
        if len(set(kinds)) == 1:
            beside += [role] if kinds[0] is not None and role != "weight" else []
            continue
        other = next(k for k, kind in enumerate(kinds) if kind != kinds[0])
        if role == "weight":
            raise FileError(
                Path(files[other]),
                "the weights of rows can be used in some files only, and here as not "
                f"in {files[0]}; correct that column, or rename it.",
            )
        notes.append(
            f"The {role} is not used: {Path(files[other]).name} has it otherwise than "
            f"{Path(files[0]).name}."
        )
    for role, what in _LEFT_OUT.items():
        if role in beside and _n_kinds(facts, beside) > _MOST_KINDS:
            beside.remove(role)
            notes.append(
                f"More than {_MOST_KINDS:,} comparisons differ by {role}, so {what}."
            )
    return beside, notes


def _kind_of(kind: str | None) -> str | None:
    """Take numbers for numbers, whole or not."""
    return "f" if kind is not None and kind in "iuf" else kind


def _n_kinds(facts: Sequence[_Facts], beside: Sequence[str]) -> int:
    """Give at most how many kinds there are, told apart by some columns."""
    total = 0
    for fact in facts:
        finer = [n for key, n in fact.n_equal.items() if set(key) >= set(beside)]
        total += min(finer, default=fact.n_rows)
    return total


def _of_all(sentences: Sequence[str], table: pl.DataFrame) -> list[str]:
    """Say of all files what was said of one: how many raters, and from when to when."""
    said = []
    for sentence in sentences:
        if "rater" in table.columns and (found := _RATERS.fullmatch(sentence)):
            n_raters = plural(table["rater"].n_unique(), "rater")
            said.append(f"{found[1]} is who judged ({n_raters}).")
        elif "period" in table.columns and (found := _WHEN.fullmatch(sentence)):
            times = table["period"].to_numpy()
            first, last = readable_period(times.min()), readable_period(times.max())
            said.append(f"{found[1]} is when, from {first} to {last}.")
        else:
            said.append(sentence)
    return said


def _draw(opened: Partitions, n_rows: Sequence[int]) -> tuple[pl.DataFrame, bool]:
    """Draw the rows that `draw_rows` would, were all of them in one file."""
    total = sum(n_rows)
    chosen = draw_numbers(total)
    complete = len(chosen) == total
    taken = opened.each(_take_rows, own=split_rows(chosen, n_rows))
    tables = [table for (table,) in taken]
    shared = set.intersection(*(set(table.columns) for table in tables))
    columns = [name for name in tables[0].columns if name in shared]
    return pl.concat(
        [table[columns] for table in tables], how="vertical_relaxed"
    ), complete


def _recognize(
    table: pl.DataFrame,
    sentences: Sequence[str] = (),
    questions: Sequence[str] = (),
) -> ReadResult:
    """Turn a table of comparisons into what a file with these rows would give."""
    others = [c for c in table.columns if c not in ("left", "right", "y")]
    return ReadResult(
        kind="comparisons",
        format="parquet",
        sentences=list(sentences),
        questions=list(questions),
        pairs=Pairs(None, table["left"], table["right"]),
        y=table["y"].to_numpy(),
        columns={name: table[name].to_numpy() for name in others},
    )


def _count(table: pl.DataFrame, facts: Sequence[_Facts]) -> str:
    n_items = len(set(table["left"].unique()) | set(table["right"].unique()))
    left, tie, right = np.sum([fact.outcomes for fact in facts], axis=0).tolist()
    return count_outcomes(n_items, left, tie, right)
