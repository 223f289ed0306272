# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as plain arrays, and the shapes in which models can take them.

The laws transform the plain arrays (swap sides, renumber items, repeat rows) and a
shape then turns them into what a user would pass: `Pairs` of an array, of a sparse
matrix or of a DataFrame, an array of three dimensions, names without features, or a
precomputed kernel. So the transformations owe nothing to the library under test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

from tiebreak import Pairs

FEATURES = ["price", "size", "age"]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Items, who was compared with whom, and what came out."""

    items: np.ndarray
    names: np.ndarray
    left: np.ndarray
    right: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray) -> Comparisons:
        """Keep some comparisons, in the order given, repeated if repeated."""
        return replace(
            self, left=self.left[rows], right=self.right[rows], y=self.y[rows]
        )

    def swapped(self) -> Comparisons:
        """Tell the same results with the sides exchanged."""
        return replace(self, left=self.right, right=self.left, y=-self.y)

    def renumbered(self, order: np.ndarray) -> Comparisons:
        """List the items in another order; row i of the table was row order[i]."""
        place = np.argsort(order)
        return replace(
            self,
            items=self.items[order],
            names=self.names[order],
            left=place[self.left],
            right=place[self.right],
        )

    def with_unused_items(self, items: np.ndarray) -> Comparisons:
        """Put items that nobody compares before, between and after the others."""
        n, half = len(self.items), len(self.items) // 2
        extra = np.array([f"unused {i}" for i in range(len(items))])
        first, second, third = np.array_split(np.arange(len(items)) + n, 3)
        order = np.concatenate([first, np.arange(half), second, np.arange(half, n)])
        order = np.concatenate([order, third])
        larger = replace(
            self,
            items=np.concatenate([self.items, items]),
            names=np.concatenate([self.names, extra]),
        )
        return larger.renumbered(order)


def make_comparisons(
    seed: int,
    *,
    n_items: int = 12,
    n_rows: int = 40,
    n_features: int = 3,
    separable: bool = False,
) -> Comparisons:
    """Draw comparisons by a linear utility with ties: awkward ones unless separable.

    A third of the features are zero, so that a sparse table is one. Two items are
    identical, and some pairs are compared repeatedly, in both directions and with
    different outcomes: what a solver may merge must be merged rightly.
    """
    rng = np.random.default_rng(seed)
    items = np.clip(rng.normal(size=(n_items, n_features)), -2, 2)
    items *= rng.random(items.shape) < 0.7
    items[-1] = items[0]
    utility = items @ (1.0 / np.arange(1, n_features + 1)) + 0.3 * items[:, 0] ** 2
    if separable:
        utility = items @ (1.0 / np.arange(1, n_features + 1))
    left, right = np.triu_indices(n_items, 1)
    difference = utility[right] - utility[left]
    if separable:
        apart = (np.abs(difference) < 0.6) | (np.abs(difference) > 1.0)
        left, right, difference = left[apart], right[apart], difference[apart]
    rows = rng.permutation(len(left))[: n_rows if separable else n_rows - 8]
    noise = 0.0 if separable else 0.5
    y = difference[rows] + noise * rng.normal(size=len(rows))
    y = np.where(np.abs(y) <= 0.8, 0, np.sign(y)).astype(int)
    left, right = left[rows], right[rows]
    if not separable:
        left, right = np.append(left, right[:8]), np.append(right, left[:8])
        y = np.append(y, [1, -1, 0, 0, 1, 1, -1, 0])
    turned = rng.random(len(y)) < 0.5
    left, right = np.where(turned, right, left), np.where(turned, left, right)
    names = np.array([f"item {i}" for i in range(n_items)])
    return Comparisons(items, names, left, right, np.where(turned, -y, y))


def comparisons_of(items: np.ndarray, names: np.ndarray) -> Comparisons:
    """Compare every item with every other one, both ways, to ask about them."""
    left, right = np.nonzero(~np.eye(len(items), dtype=bool))
    return Comparisons(items, names, left, right, np.zeros(len(left), dtype=int))


@dataclass(frozen=True)
class Shape:
    """How comparisons and items are written down.

    Attributes
    ----------
    name : str
        Appears in the ids of the tests.
    items : callable
        ``items(table, names, training)`` gives what ``utility`` takes.
    pairs : callable
        ``pairs(comparisons, training)`` gives what ``fit`` and ``predict`` take. The
        training comparisons matter to precomputed kernels only.
    features : bool
        Whether items are described by features of their own.
    table : bool
        Whether items are rows of a table, so that they have numbers.
    named : bool
        Whether features have names.
    """

    name: str
    items: Callable[[np.ndarray, np.ndarray, Comparisons], Any]
    pairs: Callable[[Comparisons, Comparisons], Any]
    features: bool = True
    table: bool = True
    named: bool = False


def _of_table(name: str, convert: Callable[[np.ndarray], Any], **kind: bool) -> Shape:
    return Shape(
        name,
        lambda table, names, training: convert(table),
        lambda c, training: Pairs(convert(c.items), c.left, c.right),
        **kind,
    )


GAUSSIAN = 0.4


def gaussian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Kernel values exp(-0.4 ‖a - b‖²), the plain way."""
    return np.exp(-GAUSSIAN * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def _array(c: Comparisons, training: Comparisons) -> np.ndarray:
    return np.stack([c.items[c.left], c.items[c.right]], axis=1)


DENSE = _of_table("dense", lambda table: table)
SPARSE = _of_table("sparse", sp.csr_array)
PANDAS = _of_table(
    "pandas", lambda t: pd.DataFrame(t, columns=FEATURES[: t.shape[1]]), named=True
)
POLARS = _of_table(
    "polars", lambda t: pl.DataFrame(t, schema=FEATURES[: t.shape[1]]), named=True
)
ARRAY = Shape("array", lambda table, names, training: table, _array, table=False)
NAMES = Shape(
    "names",
    lambda table, names, training: names,
    lambda c, training: Pairs(None, c.left, c.right, names=c.names),
    features=False,
)
GRAM = Shape(
    "gram",
    lambda table, names, training: gaussian(table, training.items),
    lambda c, training: Pairs(gaussian(c.items, training.items), c.left, c.right),
    features=False,
)

OF_FEATURES = (DENSE, ARRAY, SPARSE, PANDAS, POLARS)
