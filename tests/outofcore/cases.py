# SPDX-License-Identifier: BSD-3-Clause
"""Small data, whole and cut into files."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak import Pairs

P = 4


class Rows:
    """Rows that can be cut into files."""

    def frame(self, rows: np.ndarray) -> pl.DataFrame:
        raise NotImplementedError

    def write(self, folder: Path, owner: np.ndarray) -> str:
        """Write one file for each number of `owner`, which is given by row."""
        folder.mkdir(exist_ok=True)
        for number in range(int(owner.max()) + 1):
            rows = np.flatnonzero(owner == number)
            self.frame(rows).write_parquet(folder / f"part{number:03d}.parquet")
        return str(folder)


@dataclass
class Graded(Rows):
    """Graded items with groups, weights and ties."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    weight: np.ndarray

    @property
    def columns(self) -> list[str]:
        return [f"f{j}" for j in range(self.X.shape[1])]

    def frame(self, rows) -> pl.DataFrame:
        features = {name: self.X[rows, j] for j, name in enumerate(self.columns)}
        others = {"grade": self.y[rows], "query": self.qid[rows]}
        return pl.DataFrame({**features, **others, "w": self.weight[rows]})


def make_graded(rng, n_groups=24, p=P) -> Graded:
    size = rng.integers(1, 9, n_groups)
    qid = np.repeat(rng.permutation(n_groups) + 100, size)
    X = rng.normal(size=(len(qid), p))
    y = np.round(X @ rng.normal(size=p) + rng.normal(size=len(qid)))
    order = rng.permutation(len(qid))  # groups in pieces
    weight = rng.integers(0, 3, len(qid)) + 0.5 * rng.integers(0, 2, len(qid))
    return Graded(X[order], y[order], qid[order], weight[order])


@dataclass
class Compared(Rows):
    """Comparisons of items with names and features."""

    items: np.ndarray
    names: np.ndarray
    left: np.ndarray
    right: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    @property
    def pairs(self) -> Pairs:
        return Pairs(self.items, self.left, self.right, names=self.names)

    def frame(self, rows) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "a": self.names[self.left[rows]],
                "b": self.names[self.right[rows]],
                "winner": self.y[rows],
                "w": self.weight[rows],
            }
        )


def make_compared(rng, n=150, n_items=12, p=P) -> Compared:
    items = rng.normal(size=(n_items, p))
    utility = items @ rng.normal(size=p)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    y = np.sign(np.round(utility[right] - utility[left] + rng.normal(size=n)))
    weight = rng.integers(0, 3, n) + 0.5
    names = np.array([f"item {k}" for k in range(n_items)])
    return Compared(items, names, left, right, y.astype(np.int8), weight)


def cut_groups(rng, qid, n_parts) -> np.ndarray:
    """Give every row its partition, groups whole."""
    _, group = np.unique(qid, return_inverse=True)
    return rng.integers(0, n_parts, group.max() + 1)[group]
