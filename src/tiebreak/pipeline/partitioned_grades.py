# SPDX-License-Identifier: BSD-3-Clause
"""Graded items in many files: a linear model is fitted where the files are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import OnItems
from tiebreak.data import ItemTable, as_items
from tiebreak.data.validation import remember_features
from tiebreak.io import FileError, ReadResult, Wanted
from tiebreak.io.items import MOST_WORDS
from tiebreak.io.result import first_of, plural, shorten
from tiebreak.outofcore import open_partitions
from tiebreak.pipeline.comparisons import ComparisonData, as_comparisons
from tiebreak.pipeline.items import item_utilities, table_rows
from tiebreak.pipeline.partitions import (
    FileReader,
    ManyFiles,
    PartitionedFiles,
    join_sentences,
)

_SAMPLE_ROWS = 50_000  # in whole queries, to measure quality on
_AT_ONCE = 8  # files of which the ranks are in memory here

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GradedFiles:
    """Graded items in files, of which the features are known.

    Attributes
    ----------
    files : tuple of str
        The files.
    reader : FileReader
        How to read one of them.
    n_rows : tuple of int
        Rows of each file.
    n_groups : int
        Number of queries.
    grouped : bool
        Whether there are queries at all.
    scaler : OnItems
        Brings features to mean 0 and variance 1; fitted.
    recognized : list of str
        What was recognized, in plain words.
    """

    files: tuple[str, ...]
    reader: FileReader
    n_rows: tuple[int, ...]
    n_groups: int
    grouped: bool
    scaler: OnItems
    recognized: list[str]

    def fit(self, model: Any) -> Any:
        """Fit a linear model on scaled features, where the files are.

        Parameters
        ----------
        model : estimator
            A linear model of graded items.

        Returns
        -------
        Pipeline
            The scaler and the fitted model.
        """
        reader = replace(self.reader, transform=self.scaler.transform)
        # The reader knows the columns, so that any names will do.
        query = "query" if self.grouped else None
        model.fit(PartitionedFiles(self.files, reader), "grade", qid=query)
        return make_pipeline(self.scaler, model)

    def sample(self) -> ComparisonData:
        """Bring some queries together here, whole; all if they are few.

        Returns
        -------
        ComparisonData
        """
        share = min(1.0, _SAMPLE_ROWS / sum(self.n_rows))
        parts = open_partitions(PartitionedFiles(self.files, self.reader), _GradedRows)
        try:
            taken = [read for (read,) in parts.each(_take_queries, share)]
        finally:
            parts.close()
        kept = [read for read in taken if read is not None]
        tables = [read.items for read in kept]
        values = np.concatenate([table.dense() for table in tables])
        names = tables[0].feature_names
        query = None
        if self.grouped:
            query = np.concatenate([np.asarray(read.query) for read in kept])
        items = None
        if all(read.names is not None for read in kept):
            items = np.concatenate([np.asarray(read.names) for read in kept])
        joined = replace(
            kept[0],
            items=ItemTable(as_items(values).values, names),
            grades=np.concatenate([read.grades for read in kept]),
            query=query,
            names=items,
        )
        return as_comparisons(joined)

    def ranks(self, model: Any) -> Iterator[pl.DataFrame]:
        """Rank all rows within their queries, some files at a time.

        Parameters
        ----------
        model : estimator
            Fitted.

        Yields
        ------
        polars.DataFrame
            As of :func:`~tiebreak.pipeline.items.rank_rows`, of one file after the
            other; rows are numbered through all files.
        """
        starts = np.cumsum([0, *self.n_rows])
        for first in range(0, len(self.files), _AT_ONCE):
            files = self.files[first : first + _AT_ONCE]
            parts = open_partitions(PartitionedFiles(files, self.reader), _GradedRows)
            try:
                tables = parts.each(_rank_rows, model)
            finally:
                parts.close()
            for number, (table,) in enumerate(tables, first):
                yield table.with_columns(pl.col("row") + int(starts[number]))


@dataclass(frozen=True, eq=False)
class _Look:
    """What a file of graded rows tells of itself.

    Attributes
    ----------
    n_rows, n_groups : int
        Its size.
    grouped : bool
        Whether rows have a query.
    features : tuple of str or None
        Names of the features.
    mean, spread : ndarray of shape (p,)
        Means of the features, and sums of squared deviations from them.
    sentences, questions : list of str
        What was recognized.
    """

    n_rows: int
    n_groups: int
    grouped: bool
    features: tuple[str, ...] | None
    mean: Floats
    spread: Floats
    sentences: list[str]
    questions: list[str]


class _GradedRows:
    """The graded rows of one file.

    Parameters
    ----------
    columns : dict
        ``read``, what the file holds.
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        self.read: ReadResult = columns["read"]

    def __sizeof__(self) -> int:
        items, grades = self.read.items, self.read.grades
        width = 1 if items is None else items.n_features
        return 1000 + 8 * (width + 3) * (0 if grades is None else len(grades))


def look_at_grades(
    parts: ManyFiles, tell: Callable[[str], None] | None = None
) -> GradedFiles:
    """Look at graded rows in many files: their features, means and variances.

    Parameters
    ----------
    parts : ManyFiles
        The files.
    tell : callable, optional
        Is told each file before it is read, in this process.

    Returns
    -------
    GradedFiles

    Raises
    ------
    FileError
        If the features of the files differ, or groups cannot be told apart.
    """
    reader = FileReader("", "grades", parts.reading, tell=tell)
    looks = _look(parts.files, reader)
    features = looks[0].features
    if any(look.features != features for look in looks):
        features = _shared_features(parts.files, looks)
        reader = replace(reader, wanted=Wanted(len(features), features))
        told = [(look.sentences, look.questions) for look in looks]
        looks = _look(parts.files, reader)
        looks = [
            replace(look, sentences=sentences, questions=questions)
            for look, (sentences, questions) in zip(looks, told, strict=True)
        ]
    if len(parts.files) > 1 and not looks[0].grouped:
        raise FileError(
            Path(parts.files[0]),
            "no column says which rows are compared with each other, so all of them "
            "are one group, and a group must lie in one file. Name the column with "
            "--query, or put all rows in one file.",
        )
    n_rows = sum(look.n_rows for look in looks)
    n_groups = sum(look.n_groups for look in looks)
    recognized = [
        *parts.sentences,
        *join_sentences(parts.files, [look.sentences for look in looks]),
        f"{plural(n_rows, 'graded row')} in {plural(n_groups, 'group')}, with "
        f"{plural(len(looks[0].mean), 'feature')}.",
        *dict.fromkeys(question for look in looks for question in look.questions),
    ]
    return GradedFiles(
        parts.files,
        reader,
        tuple(look.n_rows for look in looks),
        n_groups,
        looks[0].grouped,
        _make_scaler(looks, features),
        recognized,
    )


def _look(files: Sequence[str], reader: FileReader) -> list[_Look]:
    opened = open_partitions(PartitionedFiles(files, reader), _GradedRows)
    try:
        return [look for (look,) in opened.each(_look_at)]
    finally:
        opened.close()


def _look_at(part: _GradedRows) -> tuple[_Look]:
    read = part.read
    assert read.grades is not None
    if read.items is None:
        raise ValueError("The files grade items but have no features to learn from.")
    X = read.items.dense()
    mean = X.mean(axis=0)
    spread = ((X - mean) ** 2).sum(axis=0)
    n_groups = 1 if read.query is None else len(np.unique(np.asarray(read.query)))
    # The first says how the file is written, and the one that counts its rows comes
    # before what a table of items adds.
    said = [
        sentence
        for sentence in read.sentences[1:]
        if not sentence.startswith(f"{plural(len(X), 'graded row')} in ")
    ]
    return (
        _Look(
            len(X),
            n_groups,
            read.query is not None,
            read.items.feature_names,
            mean,
            spread,
            said,
            read.questions,
        ),
    )


def _shared_features(files: Sequence[str], looks: Sequence[_Look]) -> tuple[str, ...]:
    """Give the features of all files: numbers as they are, and all words of any."""
    found = [look.features for look in looks]
    if any(names is None for names in found):
        sizes = [len(look.mean) for look in looks]
        other = next(k for k, size in enumerate(sizes) if size != sizes[0])
        raise FileError(
            Path(files[other]),
            f"{sizes[other]:,} features, but {sizes[0]:,} in {files[0]}.",
        )
    columns = [_by_column(names or ()) for names in found]
    every = dict.fromkeys(column for one in columns for column in one)
    shared: list[str] = []
    for column in every:
        lacking = [k for k, one in enumerate(columns) if column not in one]
        if lacking:
            raise FileError(
                Path(files[lacking[0]]),
                f"{shorten(column)} cannot be used as a feature here, but in other "
                "files: a column must hold numbers, true and false, or few words, in "
                "all of them.",
            )
        plain = {None in one[column] for one in columns}
        words = sorted({w for one in columns for w in one[column] if w is not None})
        if len(plain) > 1 or len(words) > MOST_WORDS:
            why = "numbers in some files and words in others"
            if len(plain) == 1:
                why = f"more than {MOST_WORDS} different words: {first_of(words, 3)}"
            raise FileError(
                Path(files[0]),
                f"{shorten(column)} holds {why}, over all files; leave the column out.",
            )
        shared += [f"{column}={word}" for word in words] or [column]
    return tuple(shared)


def _by_column(names: Sequence[str]) -> dict[str, set[str | None]]:
    """Tell features of words by their column; None stands for the column itself."""
    columns: dict[str, set[str | None]] = {}
    for name in names:
        column, sign, word = name.rpartition("=")
        key, value = (column, word) if sign else (name, None)
        columns.setdefault(key, set()).add(value)
    return columns


def _make_scaler(looks: Sequence[_Look], features: tuple[str, ...] | None) -> OnItems:
    """Make the scaler that a fit on all rows would give."""
    n, mean, spread = 0, np.zeros(len(looks[0].mean)), np.zeros(len(looks[0].mean))
    for look in looks:
        both, apart = n + look.n_rows, look.mean - mean
        spread = spread + look.spread + apart**2 * (n * look.n_rows / both)
        mean = mean + apart * (look.n_rows / both)
        n = both
    variance = spread / n
    # A feature that is constant but for rounding is not blown up.
    eps = np.finfo(np.float64).eps
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    inner = StandardScaler()
    inner.mean_, inner.var_ = mean, variance
    inner.scale_ = np.where(constant, 1.0, np.sqrt(variance))
    inner.n_samples_seen_, inner.n_features_in_ = n, len(mean)
    scaler = OnItems(StandardScaler())
    scaler.transformer_ = inner
    remember_features(scaler, ItemTable(mean[None, :], features))
    return scaler


def _take_queries(part: _GradedRows, share: float) -> tuple[ReadResult | None]:
    """Give about a share of the rows, in whole queries."""
    read = part.read
    assert read.grades is not None and read.items is not None
    if share >= 1.0:
        return (read,)
    n = len(read.grades)
    code = np.zeros(n, dtype=np.int64)
    if read.query is not None:
        code = np.unique(np.asarray(read.query), return_inverse=True)[1]
    sizes = np.bincount(code)
    order = np.random.default_rng(0).permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), share * n)) + 1
    rows = np.flatnonzero(np.isin(code, order[:enough]))
    return (
        replace(
            read,
            items=read.items.take(rows),
            grades=read.grades[rows],
            query=None if read.query is None else np.asarray(read.query)[rows],
            names=None if read.names is None else np.asarray(read.names)[rows],
        ),
    )


def _rank_rows(part: _GradedRows, model: Any) -> tuple[pl.DataFrame]:
    read = part.read
    assert read.items is not None
    utility = item_utilities(model, read.items)
    return (table_rows(utility, read.names, read.query, read.grades),)
