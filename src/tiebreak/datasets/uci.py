# SPDX-License-Identifier: BSD-3-Clause
"""Thirteen small regression tables of UCI, DELVE, StatLib and Luis Torgo."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak.datasets.obtaining import obtain
from tiebreak.datasets.tables import read_results
from tiebreak.io import FileError


@dataclass(frozen=True)
class _Kind:
    """What a table holds: its size, its nominal inputs, and whose it is."""

    n_rows: int
    n_inputs: int
    what: str
    nominal: tuple[str, ...] = ()
    packed: bool = False


_BANK = "How many customers leave a simulated bank's queues; DELVE, made by a simulator"

_TABLES = {
    "abalone": _Kind(
        4177, 8, "Age of abalones, in rings of the shell; UCI", nominal=("Sex",)
    ),
    "auto_mpg": _Kind(
        392,
        7,
        "Fuel consumption of cars, in miles per gallon; UCI. 6 of 398 rows with "
        "unknown horsepower are left out",
        nominal=("cylinders", "model", "origin"),
    ),
    "bank32nh": _Kind(8192, 32, _BANK, packed=True),
    "bank8FM": _Kind(8192, 8, _BANK, packed=True),
    "boston_housing": _Kind(
        506,
        13,
        "Median value of homes in Boston, in 1000 dollars; UCI and StatLib. Column B "
        "is disputed, because it is made of the share of black people",
        nominal=("CHAS",),
    ),
    "concrete": _Kind(1030, 8, "Strength of concrete, in MPa; I-Cheng Yeh, UCI"),
    "diabetes": _Kind(
        43, 2, "Logarithm of C-peptide of children with diabetes; Torgo's collection"
    ),
    "machine_cpu": _Kind(209, 6, "Performance of computers (PRP); UCI"),
    "pyrimidines": _Kind(74, 27, "Activity of drugs; King et al., Torgo's collection"),
    "servo": _Kind(
        167,
        4,
        "Rise time of a servomechanism; UCI",
        nominal=("motor", "screw", "pgain", "vgain"),
    ),
    "stock": _Kind(
        950,
        9,
        "Price of a share, of those of nine other aerospace firms on the same day, in "
        "order of time; StatLib",
    ),
    "triazines": _Kind(186, 60, "Activity of drugs; King et al., Torgo's collection"),
    "wpbc": _Kind(
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
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    RegressionTable
        ``X``, ``y``, ``feature_names``, ``target_name`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``uci/<name>.csv`` (for the two of bank ``.csv.gz``) is not in
        ``$TIEBREAK_DATA`` or in the cache, and is not or cannot be downloaded.
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
    table = _read(path, kind)
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


def _read(path: Path, kind: _Kind) -> pl.DataFrame:
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
