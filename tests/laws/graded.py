# SPDX-License-Identifier: BSD-3-Clause
"""Graded items as plain arrays, and the shapes in which models can take them.

As for comparisons, the laws transform the plain arrays (repeat rows, permute them,
rename groups) and a shape then turns them into what a user would pass: an array, a
sparse matrix or a DataFrame with grades and groups, a precomputed kernel, or `Orders`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

from tests.laws.comparisons import FEATURES, gaussian
from tiebreak import Orders


@dataclass(frozen=True, eq=False)
class Graded:
    """Items, their grades, and the groups within which they are compared."""

    items: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray) -> Graded:
        """Keep some rows, in the order given, repeated if repeated."""
        return Graded(self.items[rows], self.y[rows], self.qid[rows])

    def groups(self) -> list[np.ndarray]:
        """List the rows of every group, groups by first appearance."""
        names = dict.fromkeys(self.qid.tolist())
        return [np.flatnonzero(self.qid == name) for name in names]

    def take_groups(self, numbers: list[int]) -> Graded:
        """Keep some groups; one that is repeated becomes another group."""
        parts, groups = [], self.groups()
        for place, number in enumerate(numbers):
            part = self.take(groups[number])
            if number in numbers[:place]:
                part = replace(part, qid=np.full(len(part), f"group {number} again"))
            parts.append(part)
        return sum(parts[1:], parts[0])

    def __add__(self, other: Graded) -> Graded:
        return Graded(
            np.concatenate([self.items, other.items]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.qid, other.qid]),
        )

    def n_pairs(self) -> int:
        """Count the pairs of different grades within groups, one by one."""
        return sum(
            int(np.sum(self.y[rows][:, None] > self.y[rows][None, :]))
            for rows in self.groups()
        )


def make_graded(
    seed: int,
    *,
    sizes: tuple[int, ...] = (8, 3, 7, 4, 6),
    n_features: int = 3,
) -> Graded:
    """Draw graded items in groups, rows mixed, groups named in no order.

    A third of the features are zero, so that a sparse table is one. The best and the
    worst item of the first group are identical, which nothing can explain, and one
    item occurs in every group.
    """
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    items = np.clip(rng.normal(size=(len(qid), n_features)), -2, 2)
    items *= rng.random(items.shape) < 0.7
    starts = np.cumsum(sizes) - sizes
    items[starts] = items[0]
    utility = items @ (1.0 / np.arange(1, n_features + 1)) + 0.3 * items[:, 0] ** 2
    y = np.round(1.5 * utility + 0.4 * rng.normal(size=len(qid))) + 3.0 * qid
    # Every group has at least two grades.
    y[starts + 1] = y[starts] + 1.0
    first = np.flatnonzero(qid == 0)
    best, worst = first[np.argmax(y[first])], first[np.argmin(y[first])]
    items[best] = items[worst]
    names = np.array([f"query {name}" for name in "dbeac"[: len(sizes)]])
    rows = rng.permutation(len(qid))
    return Graded(items[rows], y[rows], names[qid[rows]])


@dataclass(frozen=True)
class Shape:
    """How graded items are written down.

    Attributes
    ----------
    name : str
        Appears in the ids of the tests.
    given : callable
        ``given(train)`` gives the arguments X, y and qid of ``fit`` and ``score``.
    items : callable
        ``items(table, train)`` gives what ``utility`` takes. The training rows matter
        to precomputed kernels only.
    features : bool
        Whether items are described by features of their own.
    named : bool
        Whether features have names.
    lists : bool
        Whether it is Orders, where weights are those of lists.
    """

    name: str
    arguments: Callable[[Graded], dict[str, Any]]
    items: Callable[[np.ndarray, Graded], Any]
    features: bool = True
    named: bool = False
    lists: bool = False


def _rows(convert: Callable[[np.ndarray], Any]) -> Callable[[Graded], dict[str, Any]]:
    return lambda g: {"X": convert(g.items), "y": g.y, "qid": g.qid}


def _of_table(name: str, convert: Callable[[np.ndarray], Any], **kind: bool) -> Shape:
    return Shape(name, _rows(convert), lambda table, train: convert(table), **kind)


def item_table(train: Graded) -> tuple[np.ndarray, np.ndarray]:
    """List every item once, though it is in several groups; and the item of each row.

    Within a group all rows stay different items. An item that is in no list comes
    first, and the others in an order that is not that of the rows.
    """
    keys, place = [], {}
    for rows in train.groups():
        seen: dict[tuple[float, ...], int] = {}
        for row in rows:
            features = tuple(train.items[row].tolist())
            seen[features] = seen.get(features, 0) + 1
            keys.append((int(row), (*features, seen[features])))
    distinct = sorted({key for _, key in keys})
    place = {key: number + 1 for number, key in enumerate(distinct)}
    unused = np.full(train.items.shape[1], 9.0)
    table = np.array([unused, *(key[:-1] for key in distinct)])
    code = np.empty(len(train), dtype=int)
    for row, key in keys:
        code[row] = place[key]
    return table, code


def sequences_of(train: Graded, code: np.ndarray) -> list[list[Any]]:
    """Write every group as a list, best first, equal grades as a nested list."""
    lists = []
    for rows in train.groups():
        blocks = [
            code[rows[train.y[rows] == grade]].tolist()
            for grade in sorted(set(train.y[rows].tolist()), reverse=True)
        ]
        lists.append([block if len(block) > 1 else block[0] for block in blocks])
    return lists


def _lists(convert: Callable[[np.ndarray], Any]) -> Callable[[Graded], dict[str, Any]]:
    def arguments(train: Graded) -> dict[str, Any]:
        table, code = item_table(train)
        return {"X": Orders(convert(table), sequences_of(train, code)), "y": None}

    return arguments


def _pandas(table: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(table, columns=FEATURES[: table.shape[1]])


def _polars(table: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(table, schema=FEATURES[: table.shape[1]])


def _same(table: np.ndarray) -> np.ndarray:
    return table


DENSE = _of_table("dense", _same)
SPARSE = _of_table("sparse", sp.csr_array)
PANDAS = _of_table("pandas", _pandas, named=True)
POLARS = _of_table("polars", _polars, named=True)
GRAPH = Shape(
    "graph",
    lambda g: {"X": g.items, "y": g.y, "graph": g.qid[:, None] == g.qid},
    lambda table, train: table,
)
GRAM = Shape(
    "gram",
    lambda g: {"X": gaussian(g.items, g.items), "y": g.y, "qid": g.qid},
    lambda table, train: gaussian(table, train.items),
    features=False,
)
ORDERS = Shape("orders", _lists(_same), lambda table, train: table, lists=True)
SPARSE_ORDERS = Shape(
    "sparse orders",
    _lists(sp.csr_array),
    lambda table, train: sp.csr_array(table),
    lists=True,
)
NAMED_ORDERS = Shape(
    "named orders",
    _lists(_pandas),
    lambda table, train: _pandas(table),
    named=True,
    lists=True,
)
GRAM_ORDERS = Shape(
    "gram orders",
    _lists(lambda table: gaussian(table, table)),
    lambda table, train: gaussian(table, item_table(train)[0]),
    features=False,
    lists=True,
)

TABLES = (DENSE, SPARSE, PANDAS, POLARS)
LISTS = (ORDERS, SPARSE_ORDERS, NAMED_ORDERS)
