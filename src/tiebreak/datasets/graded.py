# SPDX-License-Identifier: BSD-3-Clause
"""Items with grades, ratings or numbers: learning to rank, regression tables, jokes."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.datasets.fetching import obtain
from tiebreak.datasets.recipes import NOT_RATED
from tiebreak.datasets.registry import REGISTRY
from tiebreak.datasets.tables import read_results
from tiebreak.io import FileError, ReadOptions, ReadResult, read_file


@dataclass(frozen=True, eq=False)
class GradedQueries:
    """What `load_mq2008` and `load_lightgbm_rank` return.

    Attributes
    ----------
    X, y : ndarray of float64, shape (n, n_features) and (n,)
        Features and grades of each row; higher grades are better.
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
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    GradedQueries
        Queries keep the publisher's numbers.

    Raises
    ------
    FileNotFoundError, ValueError
        If ``mq2008/fold1_test.txt.gz`` cannot be downloaded, or is no such table.
    """
    path = obtain("mq2008/fold1_test.txt.gz", download=download)
    read, X, y = _read_grades(path, n_features=46, n_grades=3)
    if read.query is None:
        raise FileError(path, "no line has a qid, expected one in every line.")
    if X.min() < 0 or X.max() > 1:
        raise FileError(
            path, f"features lie between {X.min():g} and {X.max():g}, expected 0 to 1."
        )
    return GradedQueries(
        X, y, read.query.astype(np.int64), REGISTRY["mq2008"].description
    )


def load_lightgbm_rank(
    part: Literal["train", "test"] = "train", *, download: bool = True
) -> GradedQueries:
    """Load LightGBM's example of learning to rank, 300 features.

    Parameters
    ----------
    part : {"train", "test"}, default="train"
        3005 rows of 201 queries to learn from, or 768 rows of 50 queries to test with.
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    GradedQueries
        Queries are numbered from 0, in each part anew.

    Raises
    ------
    FileNotFoundError
        If ``rank.<part>.gz`` or ``rank.<part>.query`` of ``lightgbm_rank/`` is neither
        here nor can be downloaded.
    ValueError
        If the files are no such tables; the message names the line.
    """
    if part not in ("train", "test"):
        raise ValueError(f"part must be 'train' or 'test', got {part!r}.")
    path = obtain(f"lightgbm_rank/rank.{part}.gz", download=download)
    sizes_path = obtain(f"lightgbm_rank/rank.{part}.query", download=download)
    _, X, y = _read_grades(path, n_features=300, n_grades=5)
    sizes = _read_sizes(sizes_path)
    if sizes.sum() != len(y):
        raise FileError(
            sizes_path,
            f"the queries have {sizes.sum():,} rows together, but {path} has "
            f"{len(y):,}. Are both files complete?",
        )
    return GradedQueries(
        X,
        y,
        np.repeat(np.arange(len(sizes)), sizes),
        REGISTRY["lightgbm_rank"].description,
    )


def _read_grades(
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


@dataclass(frozen=True)
class _Table:
    """What a table holds: its size, its nominal inputs, and whose it is."""

    n_rows: int
    n_inputs: int
    what: str
    nominal: Sequence[str] = ()
    packed: bool = False


_TABLES = {name: _Table(**entry) for name, entry in REGISTRY["uci"].tables.items()}

# The nominal inputs whose values are letters; those of the others are numbers.
_LETTERS = ("Sex", "motor", "screw")

UCI_TABLES = tuple(_TABLES)
"""Names of the tables that `load_uci` reads."""


@dataclass(frozen=True, eq=False)
class RegressionTable:
    """What `load_uci` returns.

    Attributes
    ----------
    X, y : ndarray of float64, shape (n, n_features) and (n,)
        Inputs, not scaled, and the target, the last column of the file.
    feature_names : tuple of str
        Names of the columns of `X`; ``"Sex=F"`` is 1 where `Sex` is F and 0 elsewhere.
    target_name, description : str
        Name of the target; what the table holds and whose it is.
    """

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    target_name: str
    description: str = field(repr=False)


def load_uci(
    name: str, *, one_hot: bool = True, download: bool = True
) -> RegressionTable:
    """Load one of thirteen regression tables, used as benchmarks of ranking.

    Parameters
    ----------
    name : str
        One of `UCI_TABLES`, such as ``"abalone"``.
    one_hot : bool, default=True
        Whether nominal inputs (`Sex` of abalone, `cylinders`, `model` and `origin` of
        auto_mpg, `CHAS` of boston_housing, all of servo) become one column of 0 and 1
        for each value. Else they stay one column: numbers as they are, and letters as
        numbers from 0 in the order of the alphabet.
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    RegressionTable

    Raises
    ------
    FileNotFoundError
        If ``uci/<name>.csv`` (or ``.csv.gz``) is neither here nor can be downloaded.
    ValueError
        If there is no such table, or the file is another one.
    """
    if name not in _TABLES:
        raise ValueError(
            f"There is no table {name!r}. Expected one of {', '.join(_TABLES)}."
        )
    kind = _TABLES[name]
    path = obtain(f"uci/{name}.csv{'.gz' if kind.packed else ''}", download=download)
    table = _read_table(path, kind)
    columns: dict[str, np.ndarray] = {}
    *inputs, target = table.columns
    for column in inputs:
        values = table[column]
        if column not in kind.nominal:
            columns[column] = values.to_numpy()
        elif one_hot:
            for value in values.unique().sort().to_list():
                columns[f"{column}={value}"] = (values == value).to_numpy()
        elif values.dtype == pl.String:
            codes = values.unique().sort()
            columns[column] = codes.search_sorted(values).to_numpy()
        else:
            columns[column] = values.to_numpy()
    return RegressionTable(
        X=np.column_stack(list(columns.values())).astype(np.float64),
        y=table[target].to_numpy(writable=True),
        feature_names=tuple(columns),
        target_name=target,
        description=f"{kind.what}.",
    )


def _read_table(path: Path, kind: _Table) -> pl.DataFrame:
    """Read a table: whole numbers or words for nominal inputs, else numbers."""
    try:
        header = pl.read_csv(path, n_rows=0, infer_schema=False).columns
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(path, f"it cannot be read as a table ({error}).") from error
    if len(header) != kind.n_inputs + 1:
        raise FileError(
            path,
            f"there are {len(header)} columns, expected {kind.n_inputs + 1}. Is it "
            "the right file?",
        )
    kinds: dict[str, type[pl.DataType]] = {}
    for column in header:
        if column not in kind.nominal:
            kinds[column] = pl.Float64
        else:
            kinds[column] = pl.String if column in _LETTERS else pl.Int64
    table = read_results(path, kinds).select(header)
    if table.height != kind.n_rows:
        raise FileError(
            path,
            f"there are {table.height:,} rows, expected {kind.n_rows:,}. Is the file "
            "complete?",
        )
    return table


N_JOKES = 100


@dataclass(frozen=True, eq=False)
class JesterRatings:
    """What `load_jester` returns.

    Attributes
    ----------
    ratings : ndarray of float64, shape (n_people, 100)
        Rating of each joke by each person, from -10 to 10, higher is funnier; NaN for
        jokes that the person did not rate.
    part : ndarray of uint8, shape (n_people,)
        Number of the publisher's file, 1, 2 or 3, that the person comes from.
    description : str
        What the data are, whose they are, and on what terms.
    """

    ratings: np.ndarray = field(repr=False)
    part: np.ndarray = field(repr=False)
    description: str = field(repr=False, default=REGISTRY["jester"].description)


def load_jester(*, download: bool = True) -> JesterRatings:
    """Load the ratings of jokes, 4,136,360 of them, with NaN where there is none.

    Parameters
    ----------
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    JesterRatings

    Raises
    ------
    FileNotFoundError
        If ``jester/jester1_ratings.npz`` is neither here nor can be downloaded. It
        holds ``ratings``, int16 of shape (n, 100), in hundredths and -32768 where there
        is none, and ``part``, uint8 of shape (n,).
    ValueError
        If it holds something else.
    """
    path = obtain("jester/jester1_ratings.npz", download=download)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            hundredths, part = arrays["ratings"], arrays["part"]
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(path, f"the arrays cannot be read ({error}).") from error
    if hundredths.dtype != np.int16 or hundredths.shape != (len(part), N_JOKES):
        raise FileError(
            path,
            f"ratings are {hundredths.dtype} of shape {hundredths.shape}, expected "
            f"int16 of shape ({len(part)}, {N_JOKES}).",
        )
    if part.shape != (len(part),) or not np.isin(part, (1, 2, 3)).all():
        raise FileError(path, "part is not 1, 2 or 3 for each person.")
    rated = hundredths != NOT_RATED
    wrong = np.argwhere(rated & (np.abs(hundredths) > 1000))
    if len(wrong):
        row, joke = (int(place) for place in wrong[0])
        raise FileError(
            path,
            f"row {row}, joke {joke} has {hundredths[row, joke]} hundredths, expected "
            f"-1000 to 1000, or {NOT_RATED} for no rating.",
        )
    empty = np.flatnonzero(~rated.any(axis=1))
    if len(empty):
        raise FileError(path, f"row {empty[0]} holds no rating at all.")
    return JesterRatings(np.where(rated, hundredths / 100, np.nan), part)
