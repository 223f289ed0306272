# SPDX-License-Identifier: BSD-3-Clause
"""Graded answers to queries, for learning to rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.datasets.obtaining import obtain
from tiebreak.io import FileError, ReadOptions, ReadResult, read_file

_MQ2008_DESCRIPTION = """\
Web pages graded 0, 1 or 2 for how well they answer a query, with 46 features of page
and query between 0 and 1: the test part of fold 1 of MQ2008.

Data: LETOR 4.0, Microsoft Research Asia, https://www.microsoft.com/en-us/research/\
project/letor-learning-rank-information-retrieval/. No license comes with the copy; use
it for research. Please cite Qin and Liu (2013), "Introducing LETOR 4.0 datasets"."""

_LIGHTGBM_DESCRIPTION = """\
Rows graded 0 to 4 within queries, with 300 features, most of them 0: the example of
learning to rank that comes with LightGBM. Where the data come from is not documented.

Data: LightGBM, Microsoft, https://github.com/microsoft/LightGBM, examples/lambdarank.
MIT license."""


@dataclass(frozen=True, eq=False)
class GradedQueries:
    """What `load_mq2008` and `load_lightgbm_rank` return.

    Attributes
    ----------
    X : ndarray of float64, shape (n, n_features)
        Features of each row.
    y : ndarray of float64, shape (n,)
        Grades, higher is better.
    qid : ndarray of int64, shape (n,)
        Query of each row; only rows of the same query are to be compared.
    description : str
        What the data are, whose they are, and on what terms.
    """

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    qid: np.ndarray = field(repr=False)
    description: str = field(repr=False)


def load_mq2008(*, download: bool = True) -> GradedQueries:
    """Load a part of MQ2008: 2874 web pages graded for 156 queries, 46 features.

    Parameters
    ----------
    download : bool, default=True
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    GradedQueries
        ``X``, ``y``, ``qid`` and ``description``. Queries keep the publisher's numbers.

    Raises
    ------
    FileNotFoundError
        If the file ``mq2008/fold1_test.txt.gz`` is not in ``$TIEBREAK_DATA`` or in the
        cache, and is not or cannot be downloaded.
    ValueError
        If the file is no such table; the message names the line.
    """
    path = obtain("mq2008/fold1_test.txt.gz", download=download)
    read, X, y = _read(path, n_features=46, n_grades=3)
    if read.query is None:
        raise FileError(path, "no line has a qid, expected one in every line.")
    if X.min() < 0 or X.max() > 1:
        raise FileError(
            path,
            f"features lie between {X.min():g} and {X.max():g}, expected 0 to 1.",
        )
    return GradedQueries(X, y, read.query.astype(np.int64), _MQ2008_DESCRIPTION)


def load_lightgbm_rank(
    part: Literal["train", "test"] = "train", *, download: bool = True
) -> GradedQueries:
    """Load LightGBM's example of learning to rank, 300 features.

    Parameters
    ----------
    part : {"train", "test"}, default="train"
        3005 rows of 201 queries to learn from, or 768 rows of 50 queries to test with.
    download : bool, default=True
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    GradedQueries
        ``X``, ``y``, ``qid`` and ``description``. Queries are numbered from 0; those of
        the two parts have nothing to do with each other.

    Raises
    ------
    FileNotFoundError
        If the files ``lightgbm_rank/rank.<part>.gz`` and
        ``lightgbm_rank/rank.<part>.query`` are not in ``$TIEBREAK_DATA`` or in the
        cache, and is not or cannot be downloaded.
    ValueError
        If the files are no such tables; the message names the line.
    """
    if part not in ("train", "test"):
        raise ValueError(f"part must be 'train' or 'test', got {part!r}.")
    path = obtain(f"lightgbm_rank/rank.{part}.gz", download=download)
    sizes_path = obtain(f"lightgbm_rank/rank.{part}.query", download=download)
    _, X, y = _read(path, n_features=300, n_grades=5)
    sizes = _read_sizes(sizes_path)
    if sizes.sum() != len(y):
        raise FileError(
            sizes_path,
            f"the queries have {sizes.sum():,} rows together, but {path} has "
            f"{len(y):,}. Are both files complete?",
        )
    return GradedQueries(
        X, y, np.repeat(np.arange(len(sizes)), sizes), _LIGHTGBM_DESCRIPTION
    )


def _read(
    path: Path, *, n_features: int, n_grades: int
) -> tuple[ReadResult, NDArray[np.float64], NDArray[np.float64]]:
    read = read_file(path, ReadOptions(format="svmlight"))
    assert read.items is not None and read.grades is not None
    X = np.asarray(read.items.values, dtype=np.float64)
    if X.shape[1] != n_features:
        raise FileError(
            path, f"there are {X.shape[1]} features, expected {n_features}."
        )
    wrong = np.flatnonzero(~np.isin(read.grades, np.arange(n_grades)))
    if len(wrong):
        raise FileError(
            path,
            f"row {wrong[0]} has the grade {read.grades[wrong[0]]:g}, expected 0 to "
            f"{n_grades - 1}.",
        )
    return read, X, np.asarray(read.grades, dtype=np.float64)


def _read_sizes(path: Path) -> NDArray[np.int64]:
    """Read the number of consecutive rows of each query, one per line."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if not line.strip().isdigit() or int(line) < 1:
            raise FileError(
                path, f"line {number} is {line[:60]!r}, expected a number of rows."
            )
    return np.array([int(line) for line in lines], dtype=np.int64)
