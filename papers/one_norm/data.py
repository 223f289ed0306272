# SPDX-License-Identifier: BSD-3-Clause
"""The three data sets of the paper, and one that it could not have done."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from papers.experiment import generator
from tiebreak.datasets import load_uci
from tiebreak.solvers.hull import hull_vertices

__all__ = ["DATA", "Graded", "corners", "folds", "read"]

DATA = ("artificial", "concrete", "abalone")
N_FOLDS = 5


class Graded(NamedTuple):
    """Items with standardized features, and their grades."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


@cache
def read(data: str) -> Graded:
    """Read a data set and grade it as the paper does."""
    if data == "artificial":
        return _artificial()
    table = load_uci(data)
    if data == "abalone":
        # < 6, 6 to 15 and > 15 rings.
        y = np.digitize(table.y, [6, 16])
    else:
        y = np.digitize(table.y, np.quantile(table.y, [0.2, 0.4, 0.6, 0.8]))
    X = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    return Graded(X, y, table.feature_names)


def _artificial() -> Graded:
    """Two groups, three features that overlap a little, and three of noise."""
    rng = generator("003", "artificial")
    y = np.repeat([0, 1], 1000)
    signal = (
        rng.uniform(-1.0, 1.0, size=(2000, 3)) + np.where(y == 1, 0.9, -0.9)[:, None]
    )
    noise = rng.uniform(-1.0, 1.0, size=(2000, 3))
    names = tuple(f"{kind} {i}" for kind in ("signal", "noise") for i in (1, 2, 3))
    return Graded(np.hstack([signal, noise]), y, names)


def folds(data: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Give five folds with their share of every grade."""
    items = read(data)
    split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    return list(split.split(items.X, items.y))


def corners(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """List the rows that are corners of the convex hull of their grade.

    Equation (5) on these rows alone is the paper's reduced program: other rows are in
    no pair of it, so that their slacks are zero.
    """
    kept = []
    for grade in np.unique(y):
        own = np.flatnonzero(y == grade)
        points, place = np.unique(X[own], axis=0, return_inverse=True)
        kept.append(own[np.isin(place.ravel(), hull_vertices(points))])
    return np.concatenate(kept)
