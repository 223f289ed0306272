# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists of sushi by 5000 people, from Kamishima's SUSHI preference data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from tiebreak.data import Orders
from tiebreak.datasets.obtaining import obtain
from tiebreak.datasets.sushi import (
    KIND_FEATURES,
    N_PEOPLE,
    N_RATED,
    N_SUSHI,
    read_sushi_table,
)
from tiebreak.io import FileError, ReadOptions, read_file

# Item set A, in the order of its own numbers, which are not those of item set B.
_SET_A = (
    "ebi", "anago", "maguro", "ika", "uni", "ikura", "tamago", "toro", "tekka_maki",
    "kappa_maki",
)  # fmt: skip

_DESCRIPTION = """\
Orders of ten kinds of sushi, best first and without ties, one by each of 5000 people.
Item set A is the same ten kinds for everyone; of item set B, which has 100 kinds,
everyone saw ten. Kinds have names and seven features: style (0 a roll, 1 other), major
group (0 seafood, 1 other), minor group (a number from 0 to 11 without an order), how
oily it is (0 heavy to 4), how often it is eaten (0 to 3), price, and how often it is
sold (0 to 1).

Data: SUSHI Preference Data Set, release sushi3-2016, Toshihiro Kamishima,
https://www.kamishima.net/sushi/. For research; not to be redistributed. Please cite
Kamishima (2003), "Nantonac collaborative filtering", KDD."""


@dataclass(frozen=True, eq=False)
class SushiOrders:
    """What `load_sushi_orders` returns.

    Attributes
    ----------
    orders : Orders of length 5000
        Lists of ten kinds, best first; list i is that of person i, the row of the file
        of users. The 10 or 100 items have names and seven features.
    description : str
        What the data are, whose they are, and on what terms.
    """

    orders: Orders
    description: str = field(repr=False, default=_DESCRIPTION)


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
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    SushiOrders
        ``orders`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the files ``sushi3.idata`` and ``sushi3a.5000.10.order`` or
        ``sushi3b.5000.10.order`` are not below ``sushi/`` in ``$TIEBREAK_DATA`` or in
        the cache, and is not or cannot be downloaded.
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
    kinds = read_sushi_table(kinds_path, N_SUSHI, 9, text=1)
    names = _names(kinds_path)
    rows = np.arange(N_SUSHI)
    if which == "a":
        absent = [name for name in _SET_A if name not in names]
        if absent:
            raise FileError(kinds_path, f"there is no sushi called {absent[0]!r}.")
        rows = np.array([names.index(name) for name in _SET_A])
    items = pl.DataFrame(kinds[rows, 1:], schema=list(KIND_FEATURES))
    lists = orders.flat.reshape(N_PEOPLE, N_RATED)
    return SushiOrders(Orders(items, lists, names=[names[row] for row in rows]))


def _names(path: Path) -> list[str]:
    table = pl.read_csv(path, has_header=False, separator="\t", infer_schema=False)
    return table.to_series(1).to_list()
