# SPDX-License-Identifier: BSD-3-Clause
"""Items with grades, ratings or numbers: learning to rank, regression tables, jokes."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.datasets.fetching import obtain
from tiebreak.datasets.recipes import NOT_RATED
from tiebreak.datasets.tables import read_results
from tiebreak.io import FileError, ReadOptions, ReadResult, read_file

_MQ2008 = """\
Web pages graded 0, 1 or 2 for how well they answer a query, with 46 features of page
and query between 0 and 1: the test part of fold 1 of MQ2008.

Data: LETOR 4.0, Microsoft Research Asia, https://www.microsoft.com/en-us/research/\
project/letor-learning-rank-information-retrieval/. No license comes with the copy; use
it for research. Please cite Qin and Liu (2013), "Introducing LETOR 4.0 datasets"."""

_LIGHTGBM = """\
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
        Whether a missing file is downloaded; a warning says from where and on what
        terms.

    Returns
    -------
    GradedQueries
        ``X``, ``y``, ``qid`` and ``description``. Queries keep the publisher's numbers.

    Raises
    ------
    FileNotFoundError
        If the file ``mq2008/fold1_test.txt.gz`` is not on this machine and cannot be
        downloaded.
    ValueError
        If the file is no such table; the message names the line.
    """
    path = obtain("mq2008/fold1_test.txt.gz", download=download)
    read, X, y = _read_grades(path, n_features=46, n_grades=3)
    if read.query is None:
        raise FileError(path, "no line has a qid, expected one in every line.")
    if X.min() < 0 or X.max() > 1:
        raise FileError(
            path,
            f"features lie between {X.min():g} and {X.max():g}, expected 0 to 1.",
        )
    return GradedQueries(X, y, read.query.astype(np.int64), _MQ2008)


def load_lightgbm_rank(
    part: Literal["train", "test"] = "train", *, download: bool = True
) -> GradedQueries:
    """Load LightGBM's example of learning to rank, 300 features.

    Parameters
    ----------
    part : {"train", "test"}, default="train"
        3005 rows of 201 queries to learn from, or 768 rows of 50 queries to test with.
    download : bool, default=True
        Whether a missing file is downloaded; a warning says from where and on what
        terms.

    Returns
    -------
    GradedQueries
        ``X``, ``y``, ``qid`` and ``description``. Queries are numbered from 0; those of
        the two parts have nothing to do with each other.

    Raises
    ------
    FileNotFoundError
        If the files ``lightgbm_rank/rank.<part>.gz`` and
        ``lightgbm_rank/rank.<part>.query`` are not on this machine and cannot be
        downloaded.
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
    return GradedQueries(X, y, np.repeat(np.arange(len(sizes)), sizes), _LIGHTGBM)


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
    nominal: tuple[str, ...] = ()
    packed: bool = False


_BANK = "How many customers leave a simulated bank's queues; DELVE, made by a simulator"

_TABLES = {
    "abalone": _Table(
        4177, 8, "Age of abalones, in rings of the shell; UCI", nominal=("Sex",)
    ),
    "auto_mpg": _Table(
        392,
        7,
        "Fuel consumption of cars, in miles per gallon; UCI. 6 of 398 rows with "
        "unknown horsepower are left out",
        nominal=("cylinders", "model", "origin"),
    ),
    "bank32nh": _Table(8192, 32, _BANK, packed=True),
    "bank8FM": _Table(8192, 8, _BANK, packed=True),
    "boston_housing": _Table(
        506,
        13,
        "Median value of homes in Boston, in 1000 dollars; UCI and StatLib. Column B "
        "is disputed, because it is made of the share of black people",
        nominal=("CHAS",),
    ),
    "concrete": _Table(1030, 8, "Strength of concrete, in MPa; I-Cheng Yeh, UCI"),
    "diabetes": _Table(
        43, 2, "Logarithm of C-peptide of children with diabetes; Torgo's collection"
    ),
    "machine_cpu": _Table(209, 6, "Performance of computers (PRP); UCI"),
    "pyrimidines": _Table(74, 27, "Activity of drugs; King et al., Torgo's collection"),
    "servo": _Table(
        167,
        4,
        "Rise time of a servomechanism; UCI",
        nominal=("motor", "screw", "pgain", "vgain"),
    ),
    "stock": _Table(
        950,
        9,
        "Price of a share, of those of nine other aerospace firms on the same day, in "
        "order of time; StatLib",
    ),
    "triazines": _Table(186, 60, "Activity of drugs; King et al., Torgo's collection"),
    "wpbc": _Table(
        194,
        32,
        "Months until breast cancer recurs, or without recurrence so far, which are "
        "not told apart; UCI. 4 of 198 rows with unknown lymph status are left out",
    ),
}

# The nominal inputs whose values are letters; those of the others are numbers.
_LETTERS = ("Sex", "motor", "screw")

UCI_TABLES = tuple(_TABLES)
"""Names of the tables that `load_uci` reads."""


@dataclass(frozen=True, eq=False)
class RegressionTable:
    """What `load_uci` returns.

    Attributes
    ----------
    X : ndarray of float64, shape (n, n_features)
        Inputs, not scaled.
    y : ndarray of float64, shape (n,)
        The target, the last column of the file.
    feature_names : tuple of str
        Names of the columns of `X`; ``"Sex=F"`` is 1 where `Sex` is F and 0 elsewhere.
    target_name : str
        Name of the target.
    description : str
        What the table holds and whose it is.
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
        ``"abalone"``, ``"auto_mpg"``, ``"bank32nh"``, ``"bank8FM"``,
        ``"boston_housing"``, ``"concrete"``, ``"diabetes"``, ``"machine_cpu"``,
        ``"pyrimidines"``, ``"servo"``, ``"stock"``, ``"triazines"`` or ``"wpbc"``.
    one_hot : bool, default=True
        Whether nominal inputs become one column of 0 and 1 for each of their values.
        Nominal are those that the source declares so: `Sex` of abalone, `cylinders`,
        `model` and `origin` of auto_mpg, `CHAS` of boston_housing, and all four of
        servo. If False, they stay one column: numbers as they are, and letters as
        numbers from 0 in the order of the alphabet.
    download : bool, default=True
        Whether a missing file is downloaded; a warning says from where and on what
        terms.

    Returns
    -------
    RegressionTable
        ``X``, ``y``, ``feature_names``, ``target_name`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``uci/<name>.csv`` (for the two of bank ``.csv.gz``) is not on this
        machine and cannot be downloaded.
    ValueError
        If there is no such table, or the file is another one; the message names the
        lines.
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

_JESTER = """\
Ratings of 100 jokes, from -10 (not funny) to 10, that visitors of a web site gave
between April 1999 and May 2003. Nobody had to rate all of them. People are in the order
of the publisher's three files: part 1 and 2 gave 36 ratings or more, part 3 from 15 to
35.

Data: Jester data set 1, Ken Goldberg's group, UC Berkeley,
https://eigentaste.berkeley.edu/dataset/. Free for research when Goldberg, Roeder,
Gupta and Perkins (2001), "Eigentaste", Information Retrieval 4(2), is cited."""


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
    description: str = field(repr=False, default=_JESTER)


def load_jester(*, download: bool = True) -> JesterRatings:
    """Load the ratings of jokes, 4,136,360 of them, with NaN where there is none.

    Parameters
    ----------
    download : bool, default=True
        Whether a missing file is downloaded; a warning says from where and on what
        terms.

    Returns
    -------
    JesterRatings
        ``ratings``, ``part`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``jester/jester1_ratings.npz`` is not on this machine and cannot be
        downloaded. It holds ``ratings``, int16 of shape (n, 100), in hundredths and
        -32768 where there is none, and ``part``, uint8 of shape (n,).
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
