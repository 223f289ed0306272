# SPDX-License-Identifier: BSD-3-Clause
"""When trees pay: ``python -m benchmarks.decisions.boosted_utility``.

Comparisons of the items of published sets. Half of at most 800 items are for training
and half for testing, with 1500 comparisons of random items in each half; a difference
of the target below a quarter of its standard deviation is a tie. Log loss on the test
half, means of five divisions with the standard error of the mean, and the paired
difference to the better `LogisticCompare`. The penalty of `LogisticCompare` is chosen
by three folds of unseen items; `BoostedUtility` has its defaults.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import BoostedUtility, LogisticCompare, OnItems, Pairs, tune
from tiebreak.datasets import load_uci
from tiebreak.metrics import comparison_log_loss
from tiebreak.selection import ItemKFold

SETS = ("concrete", "abalone", "auto_mpg", "boston_housing", "stock", "bank32nh")
N_ITEMS, N_PAIRS, TIE = 800, 1500, 0.25
MODELS = ("linear", "Gaussian", "boosted, Davidson", "boosted, cumulative")


def draw(name: str, seed: int) -> tuple[tuple[Pairs, np.ndarray], ...]:
    """Give training and test comparisons of disjoint items."""
    rng = np.random.default_rng(seed)
    data = load_uci(name)
    rows = rng.permutation(len(data.y))[:N_ITEMS]
    halves = []
    for half in np.array_split(rows, 2):
        left, right = rng.choice(half, (2, N_PAIRS))
        left, right = left[left != right], right[left != right]
        gap = (data.y[right] - data.y[left]) / data.y.std()
        y = np.where(np.abs(gap) < TIE, 0, np.sign(gap)).astype(int)
        halves.append((Pairs(data.X, left, right).compact(), y))
    return tuple(halves)


def fit(model: str, pairs: Pairs, y: np.ndarray) -> Any:
    """Fit one of the models."""
    if model.startswith("boosted"):
        link: Any = "cumulative" if "cumulative" in model else "davidson"
        return BoostedUtility(link=link).fit(pairs, y)
    kernel = "linear" if model == "linear" else "rbf"
    logistic = LogisticCompare(kernel=kernel, link="cumulative")
    pipeline = make_pipeline(OnItems(StandardScaler()), logistic)
    grid = {"logisticcompare__alpha": [0.01, 0.1, 1.0, 10.0]}
    folds = ItemKFold(3, random_state=0)
    found = tune(pipeline, pairs, y, grid, cv=folds, scoring="log_loss", progress=False)
    return found.best_estimator_


def main() -> None:
    """Print one line for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| set |", " | ".join(MODELS), "| last less the better of the first two |")
    print("|---" * (len(MODELS) + 2) + "|")
    for name in options.sets:
        found = np.zeros((options.splits, len(MODELS)))
        for split in range(options.splits):
            train, test = draw(name, split)
            for k, model in enumerate(MODELS):
                probabilities = fit(model, *train).predict_proba(test[0])
                found[split, k] = comparison_log_loss(test[1], probabilities)
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1)
        cells = [
            f"{m:.3f} ± {e / options.splits**0.5:.3f}"
            for m, e in zip(mean, error, strict=True)
        ]
        gap = found[:, 3] - found[:, int(np.argmin(mean[:2]))]
        spread = gap.std(ddof=1) / options.splits**0.5
        print(
            f"| {name} | {' | '.join(cells)} | {gap.mean():+.3f} ± {spread:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
