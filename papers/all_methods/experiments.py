# SPDX-License-Identifier: BSD-3-Clause
"""Swapped pairs and seconds of every method on every set, with the same splits.

The sets, sizes and splits are those of the paper on swapped pairs; the first five of
its splits are used. Every method chooses among about a dozen settings by three folds of
the training items; the seconds are of that choice and the fit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from papers.experiment import Experiment, Settings, generator
from papers.swapped_pairs.experiments import SIZES, BinnedOrdinal
from tiebreak import (
    ExpectedRankRegression,
    L1Ranker,
    MatchingPursuit,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SwapSVM,
    tune,
)
from tiebreak.datasets import load_uci
from tiebreak.metrics import swapped_pairs

__all__ = ["EXPERIMENTS", "METHODS"]

N_SPLITS = 5
COSTS = (10.0 ** np.arange(-3, 2)).tolist()
GAMMAS = [0.01, 0.1]


class Method(NamedTuple):
    """How to make a method, and what it may choose from."""

    make: Callable[[], Any]
    grid: dict[str, list[Any]]


METHODS = {
    "RankSVM, linear": Method(lambda: RankSVM(kernel="linear"), {"C": COSTS}),
    "RankSVM, Gaussian": Method(RankSVM, {"C": COSTS, "gamma": GAMMAS}),
    "RankSVM, squared hinge": Method(
        lambda: RankSVM(loss="squared_hinge"), {"C": COSTS, "gamma": GAMMAS}
    ),
    "SwapSVM, Gaussian": Method(SwapSVM, {"C": COSTS, "gamma": GAMMAS}),
    "OrdinalSVM, five bins": Method(BinnedOrdinal, {"C": COSTS, "gamma": GAMMAS}),
    "L1Ranker": Method(L1Ranker, {"alpha": [1.0, 10.0, 100.0, 1000.0]}),
    "RankRLS, linear": Method(
        lambda: RankRLS(kernel="linear"), {"alpha": [1.0, 10.0, 100.0, 1000.0]}
    ),
    "RankRLS, Gaussian": Method(
        RankRLS, {"alpha": [0.1, 1.0, 10.0, 100.0], "gamma": GAMMAS}
    ),
    "ranking pursuit": Method(
        lambda: RankingPursuit(alpha=0.0),
        {"n_basis": [5, 10, 20, 40], "gamma": GAMMAS},
    ),
    "matching pursuit": Method(
        MatchingPursuit, {"n_basis": [5, 10, 20, 40], "gamma": GAMMAS}
    ),
    "RankBoost, stumps": Method(
        lambda: RankBoost(weak="stump"), {"n_rounds": [30, 100, 300]}
    ),
    "expected ranks, degree two": Method(
        lambda: ExpectedRankRegression(
            make_pipeline(PolynomialFeatures(2), RidgeCV(10.0 ** np.arange(-3, 4)))
        ),
        {},
    ),
}


def cells(quick: bool) -> list[Settings]:
    """List data, splits and methods."""
    data = ("diabetes",) if quick else tuple(SIZES)
    return [
        {"data": name, "split": split, "method": method}
        for name in data
        for split in range(1 if quick else N_SPLITS)
        for method in METHODS
    ]


def cell(data: str, split: int, method: str) -> dict[str, Any]:
    """Choose on the training items; swapped pairs of the test items."""
    table = load_uci(data)
    order = generator("001", data, split).permutation(len(table.y))
    train, test = np.split(order, [SIZES[data]])
    made = METHODS[method]
    model = make_pipeline(StandardScaler(), made.make())
    last = model.steps[-1][0]
    grid = {f"{last}__{name}": values for name, values in made.grid.items()}
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if grid:
            found = tune(
                model, table.X[train], table.y[train], grid, cv=3, progress=False
            )
            model = found.best_estimator_
        else:
            model.fit(table.X[train], table.y[train])
    utility = model[-1].utility(model[:-1].transform(table.X[test]))
    return {
        "swapped": swapped_pairs(table.y[test], utility),
        "seconds": time.process_time() - start,
    }


EXPERIMENTS = [
    Experiment("all-methods", "every method on every set", cells, cell, ("uci",))
]
