# SPDX-License-Identifier: BSD-3-Clause
"""Beyond: few scored items, and up to fifty thousand without a score.

The paper has about twenty jokes without a score for a person. Its program is linear in
their number, so that there may be many. Two real tables whose columns are dealt out to
two views, and a simulated set that is as such methods hope: a hidden utility that two
groups of features measure with noise of their own.
"""

from __future__ import annotations

import time
import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from papers.experiment import Experiment, Settings, generator
from tiebreak import CoRankingPursuit, RankingPursuit
from tiebreak.datasets import load_uci
from tiebreak.metrics import disagreement

__all__ = ["BEYOND", "SCORED", "UNSCORED"]

Floats = NDArray[np.float64]

SCORED = (20, 50, 100)
UNSCORED = {
    "simulated": (0, 100, 1000, 10_000, 50_000),
    "bank32nh": (0, 100, 1000, 6000),
    "abalone": (0, 100, 1000, 3000),
}
SEEDS = 20
N_VALID, N_TEST, MOST_BASIS = 100, 900, 30
# The cost of disagreement is a sum over pairs: multiples of what makes the sum over the
# pairs without a score count as much as that over the pairs with one.
SHARES = (0.001, 0.01, 0.1, 1.0)


def beyond_cells(quick: bool) -> list[Settings]:
    """List data, numbers of items with and without a score, and draws."""
    if quick:
        small = {"data": "simulated", "n": 20, "seed": 0}
        return [small | {"unscored": n} for n in (0, 100)]
    return [
        {"data": data, "n": n, "unscored": unscored, "seed": seed}
        for data, numbers in UNSCORED.items()
        for n in SCORED
        for unscored in numbers
        for seed in range(SEEDS)
    ]


def beyond_cell(data: str, n: int, unscored: int, seed: int) -> dict[str, Any]:
    """Fit with and without items that have no score; steps and ν by validation items.

    Items with a score, for validation and for the test are the same for every number of
    items without.
    """
    X, y, views = _draw(data, seed)
    train, valid, test, rest = np.split(
        np.arange(len(y)), np.cumsum([n, N_VALID, N_TEST])
    )
    rest = rest[:unscored]
    validation = (X[valid], y[valid])
    known = np.concatenate([train, rest])
    grades = np.concatenate([y[train], np.full(len(rest), np.nan)])
    nus = [share * (n / unscored) ** 2 for share in SHARES] if unscored else [0.0]
    best, seconds = None, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of paths that end before thirty steps
        for nu in nus:
            start = time.process_time()
            model = CoRankingPursuit(MOST_BASIS, views=views, nu=nu)
            model.fit(X[known], grades, validation=validation)
            seconds.append(time.process_time() - start)
            error = model.validation_path_.min()
            if best is None or error < best[0]:
                best = error, nu, model
        assert best is not None
        result = {
            "disagreement": disagreement(y[test], best[2].utility(X[test])),
            "nu": best[1],
            "n_basis": best[2].n_basis_,
            "agreement": best[2].agreement_[0, 1],
            "seconds": float(np.mean(seconds)),
        }
        if not unscored:
            single = RankingPursuit(MOST_BASIS, alpha=0.0)
            single.fit(X[train], y[train], validation=validation)
            result["single"] = disagreement(y[test], single.utility(X[test]))
    return result


def _draw(data: str, seed: int) -> tuple[Floats, Floats, list[list[int]]]:
    """Give items in random order, their grades, and the columns of two views."""
    rng = generator("002-beyond", data, seed)
    if data == "simulated":
        n = N_VALID + N_TEST + max(SCORED) + max(UNSCORED[data])
        y = rng.normal(size=n)
        parts = [_measure(y, rng) for _ in range(2)]
        half = parts[0].shape[1]
        return np.hstack(parts), y, [list(range(half)), list(range(half, 2 * half))]
    X, y = _table(data)
    order, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    views = [sorted(part.tolist()) for part in np.array_split(columns, 2)]
    return X[order], y[order], views


def _measure(y: Floats, rng: np.random.Generator) -> Floats:
    """Three bent and noisy measurements of a utility, and three columns of noise."""
    noise = rng.normal(size=(len(y), 6))
    bent = np.column_stack([np.tanh(y), y * np.abs(y) / 2.0, np.sin(2.0 * y) + y])
    return np.hstack([bent + noise[:, :3], noise[:, 3:]])


@cache
def _table(data: str) -> tuple[Floats, Floats]:
    table = load_uci(data)
    return StandardScaler().fit_transform(table.X), table.y


BEYOND = Experiment(
    "002-beyond",
    "a learning curve in items without a score",
    beyond_cells,
    beyond_cell,
    ("uci",),
)
