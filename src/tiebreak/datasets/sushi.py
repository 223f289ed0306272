# SPDX-License-Identifier: BSD-3-Clause
"""Sushi: what 5000 people prefer, from Kamishima's SUSHI preference data set.

The set may be used for research but not be redistributed, so the files are read from
the user's own copy: see `tiebreak.datasets.fetch`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from tiebreak.data import Orders, Pairs
from tiebreak.datasets.fetching import obtain
from tiebreak.datasets.registry import REGISTRY
from tiebreak.io import FileError, ReadOptions, read_file

N_PEOPLE, N_SUSHI, N_RATED = 5000, 100, 10

_KIND_FEATURES = (
    "style", "major_group", "minor_group", "oiliness", "eaten", "price", "sold",
)  # fmt: skip
_FEATURES = (
    *_KIND_FEATURES, "gender", "age", "time", "latitude_childhood",
    "longitude_childhood", "latitude_now", "longitude_now",
)  # fmt: skip

# Latitude and longitude of the prefectural capitals, by prefecture number.
_PREFECTURES: dict[str, list[float]] = REGISTRY["sushi"].tables["prefectures"]
# Number 47 stands for "foreign countries"; nobody in the published release has it.
_ABROAD = 47


@dataclass(frozen=True, eq=False)
class SushiPairs:
    """What `load_sushi_pairs` returns.

    Attributes
    ----------
    pairs : Pairs of length 25000
        Over 50,000 items with 14 features; item ``10 * person + k`` is the person's
        k-th rated sushi by sushi number.
    y : ndarray of int8, shape (25000,)
        -1 the left sushi got the higher score, 0 equal scores, +1 the right one.
    person : ndarray of int, shape (25000,)
        Who compared, for splits by people; pairs 5i to 5i + 4 are those of person i.
    sushi : ndarray of int, shape (25000, 2)
        Sushi numbers (0 to 99) of the left and the right side.
    description : str
        What the data are, whose they are, and on what terms.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    person: np.ndarray = field(repr=False)
    sushi: np.ndarray = field(repr=False)
    description: str = field(
        repr=False, default=REGISTRY["sushi"].tables["pairs"]["description"]
    )


def load_sushi_pairs(
    random_state: int | np.random.Generator | None = None,
    swap: bool = True,
    *,
    download: bool = True,
) -> SushiPairs:
    """Load the sushi comparisons of Venuto et al., 17,832 ties and 7,168 non-ties.

    The protocol of "Support vector comparison machines": each person's ten scores are
    sorted in ascending order (a stable sort, so equal scores stay in the order of the
    sushi numbers) and paired off 1-2, 3-4, ..., 9-10. All non-ties then point to the
    right, so the sides of each pair are swapped with probability 1/2.

    Features are raw: standardize them before using a kernel or a penalty.

    Parameters
    ----------
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the swaps.
    swap : bool, default=True
        Whether to swap. Without it no outcome is -1, which a model can exploit.
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    SushiPairs

    Raises
    ------
    FileNotFoundError
        If ``sushi3.idata``, ``sushi3.udata`` or ``sushi3b.5000.10.score`` is neither
        here nor can be downloaded.
    ValueError
        If a file does not look like the 2016 release.
    """
    scores = _read_scores(obtain("sushi/sushi3b.5000.10.score", download=download))
    # Column 0 is the sushi's number and column 1, left out, its name.
    kinds_path = obtain("sushi/sushi3.idata", download=download)
    kinds = _read_table(kinds_path, N_SUSHI, 9, text=1)[:, 1:]
    people = _person_features(obtain("sushi/sushi3.udata", download=download))

    rated = np.nonzero(scores >= 0)[1].reshape(N_PEOPLE, N_RATED)
    given = np.take_along_axis(scores, rated, axis=1)
    ranks = np.argsort(given, axis=1, kind="stable")
    rows = (N_RATED * np.arange(N_PEOPLE)[:, None] + ranks).reshape(-1, 2)
    y = np.sign(np.diff(given.ravel()[rows], axis=1)).ravel().astype(np.int8)
    if swap:
        rng = np.random.default_rng(random_state)
        swapped = rng.integers(0, 2, len(rows), dtype=np.int8).astype(bool)
        rows[swapped] = rows[swapped, ::-1]
        y[swapped] *= -1
    items = np.hstack([kinds[rated.ravel()], np.repeat(people, N_RATED, axis=0)])
    return SushiPairs(
        pairs=Pairs(pl.DataFrame(items, schema=_FEATURES), rows[:, 0], rows[:, 1]),
        y=y,
        person=np.repeat(np.arange(N_PEOPLE), N_RATED // 2),
        sushi=rated.ravel()[rows],
    )


def _read_table(
    path: Path, n_rows: int, n_columns: int, *, separator: str = "\t", text: int = -1
) -> np.ndarray:
    """Numbers of a headerless table of known size, without the column `text`."""
    try:
        table = pl.read_csv(
            path, has_header=False, separator=separator, infer_schema=False
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    if table.shape != (n_rows, n_columns):
        raise ValueError(
            f"{path} has {table.height} rows and {table.width} columns, expected "
            f"{n_rows} and {n_columns} as in the release sushi3-2016. Is the file "
            "complete?"
        )
    columns = [column for column in range(n_columns) if column != text]
    words = table[:, columns]
    numbers = words.select(pl.all().cast(pl.Float64, strict=False)).to_numpy()
    bad = np.argwhere(~np.isfinite(numbers))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise ValueError(
            f"{path}: row {row + 1}, column {columns[column] + 1} is "
            f"{words[row, column]!r}, expected a number."
        )
    return numbers


def _read_scores(path: Path) -> np.ndarray:
    scores = _read_table(path, N_PEOPLE, N_SUSHI, separator=" ")
    bad = np.argwhere(~np.isin(scores, np.arange(-1, 5)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"{path}: row {row + 1}, column {column + 1} is {scores[row, column]:g}, "
            "expected a score of 0 to 4, or -1 for not rated."
        )
    counts = np.sum(scores >= 0, axis=1)
    wrong = np.flatnonzero(counts != N_RATED)
    if len(wrong):
        raise ValueError(
            f"{path}: row {wrong[0] + 1} has {counts[wrong[0]]} scores, expected "
            f"{N_RATED}."
        )
    if scores[scores >= 0].mean() < 2.0:
        raise ValueError(
            f"{path}: the mean score is below 2, so the scale is upside down (0 most "
            "preferred), as in downloads made before 29 December 2015. Download the "
            "release sushi3-2016 from https://www.kamishima.net/sushi/."
        )
    return scores.astype(np.int64)


def _person_features(path: Path) -> np.ndarray:
    """Gender, age group, time, and coordinates of the two prefectures."""
    table = _read_table(path, N_PEOPLE, 11)
    coordinates = np.array(list(_PREFECTURES.values()))
    places = []
    # Column 4 is the prefecture lived in until the age of 15, column 7 today's.
    for column in (4, 7):
        number = table[:, column]
        bad = np.flatnonzero(~np.isin(number, np.arange(len(_PREFECTURES))))
        if len(bad):
            got = number[bad[0]]
            meaning = " (foreign countries)" if got == _ABROAD else ""
            raise ValueError(
                f"{path}: row {bad[0] + 1}, column {column + 1} is prefecture "
                f"{got:g}{meaning}, which has no coordinates; expected 0 to "
                f"{len(_PREFECTURES) - 1}."
            )
        places.append(coordinates[number.astype(np.intp)])
    return np.hstack([table[:, 1:4], *places])


# Item set A, in the order of its own numbers, which are not those of item set B.
_SET_A = (
    "ebi", "anago", "maguro", "ika", "uni", "ikura", "tamago", "toro", "tekka_maki",
    "kappa_maki",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SushiOrders:
    """What `load_sushi_orders` returns.

    Attributes
    ----------
    orders : Orders of length 5000
        Lists of ten kinds, best first, one of each person. The 10 or 100 items have
        names and seven features.
    description : str
        What the data are, whose they are, and on what terms.
    """

    orders: Orders
    description: str = field(
        repr=False, default=REGISTRY["sushi"].tables["orders"]["description"]
    )


def load_sushi_orders(
    which: Literal["a", "b"] = "b", *, download: bool = True
) -> SushiOrders:
    """Load 5000 people's orders of ten kinds of sushi.

    Features are raw: scale the numbers, and write the minor group as indicators,
    before using a kernel or a penalty.

    Parameters
    ----------
    which : {"a", "b"}, default="b"
        Item set A, the same ten kinds for everyone, or B, ten of 100 kinds.
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    SushiOrders

    Raises
    ------
    FileNotFoundError
        If ``sushi3.idata`` or the orders are neither here nor can be downloaded.
    ValueError
        If a file does not look like the 2016 release.
    """
    if which not in ("a", "b"):
        raise ValueError(f"which must be 'a' or 'b', got {which!r}.")
    path = obtain(f"sushi/sushi3{which}.5000.10.order", download=download)
    kinds_path = obtain("sushi/sushi3.idata", download=download)
    orders = read_file(path, ReadOptions(format="orders")).orders
    assert orders is not None  # the only shape that this format has
    n_items = len(_SET_A) if which == "a" else N_SUSHI
    if orders.n_items != n_items or len(orders) != N_PEOPLE:
        raise FileError(
            path,
            f"{len(orders):,} lists of {orders.n_items:,} items, expected {N_PEOPLE:,} "
            f"of {n_items} as in the release sushi3-2016. Is the file complete?",
        )
    wrong = np.flatnonzero(orders.lengths != N_RATED)
    if len(wrong):
        raise FileError(
            path,
            f"line {wrong[0] + 2} lists {orders.lengths[wrong[0]]} items, expected "
            f"{N_RATED}.",
        )
    kinds = _read_table(kinds_path, N_SUSHI, 9, text=1)
    names = _names(kinds_path)
    rows = np.arange(N_SUSHI)
    if which == "a":
        absent = [name for name in _SET_A if name not in names]
        if absent:
            raise FileError(kinds_path, f"there is no sushi called {absent[0]!r}.")
        rows = np.array([names.index(name) for name in _SET_A])
    items = pl.DataFrame(kinds[rows, 1:], schema=list(_KIND_FEATURES))
    lists = orders.flat.reshape(N_PEOPLE, N_RATED)
    return SushiOrders(Orders(items, lists, names=[names[row] for row in rows]))


def _names(path: Path) -> list[str]:
    table = pl.read_csv(path, has_header=False, separator="\t", infer_schema=False)
    return table.to_series(1).to_list()
