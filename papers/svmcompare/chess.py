# SPDX-License-Identifier: BSD-3-Clause
"""Section 5: chess games of eight years, each predicted from its first four months.

The paper's games cannot be had; these are of another contest of the same kind, with a
thirtieth of the games (65,053 in 100 months). A year is twelve months from the first
one on. Four months hold ten games of hardly anybody here, so ratings and features are
those of the whole record up to each game, and a player is known after ten games of it
before May.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.experiment import Experiment, Settings
from papers.svmcompare.early import EarlyCompare
from papers.svmcompare.game_features import game_features
from tiebreak import OnItems, Pairs, RankSVM, SVMCompare, ThresholdCompare, tune
from tiebreak.datasets import load_chess
from tiebreak.metrics import comparison_auc, get_scorer

__all__ = ["CHESS", "METHODS"]

YEARS = range(1, 9)
ENOUGH = 10
PARTS = (0.50, 0.75, 0.80, 0.85)
COSTS = (10.0 ** np.arange(-20, 1, 2)).tolist()
KERNELS: dict[str, dict[str, list[Any]]] = {
    "linear": {"kernel": ["linear"]},
    "poly": {"kernel": ["poly"], "degree": [1, 2, 3, 4], "coef0": [1.0]},
    "rbf": {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]},
}
METHODS = (
    "trivial",
    "elo",
    "glicko",
    *(f"{kernel}-{which}" for kernel in KERNELS for which in ("all", "ratings")),
    # Not in the paper, with a linear kernel: SVMcompare by libsvm as it comes, and
    # RankSVM with a threshold.
    "early-all",
    "rank-all",
)


class Year(NamedTuple):
    """Games of a year between players who are known well enough."""

    pairs: Pairs
    y: np.ndarray
    month: np.ndarray


@cache
def read_year(year: int) -> Year:
    """Read the games of a year with what was known before each."""
    games = load_chess()
    described, n_before = game_features(games.pairs, games.y, games.month)
    month = games.month - 12 * (year - 1)
    pairs, past = games.pairs, month <= 4
    played = np.bincount(
        np.concatenate([pairs.left[past], pairs.right[past]]), minlength=pairs.n_items
    )
    known = (played[pairs.left] >= ENOUGH) & (played[pairs.right] >= ENOUGH)
    first = n_before.min(axis=1) == 0
    kept = known & ~first & (month >= 1) & (month <= 12)
    return Year(described[kept].compact(), games.y[kept], month[kept])


def cells(quick: bool) -> list[Settings]:
    """List years and methods."""
    years = (8,) if quick else YEARS
    methods = ("trivial", "elo", "linear-ratings") if quick else METHODS
    return [{"year": year, "method": method} for year in years for method in methods]


def cell(year: int, method: str) -> dict[str, Any]:
    """Learn from January to April, predict May to December."""
    pairs, y, month = read_year(year)
    train, test = month <= 4, month > 4
    facts = {
        "n_train": int(train.sum()),
        "n_test": int(test.sum()),
        "draws": float((y == 0).mean()),
    }
    if method == "trivial":
        side = 1.0 if (y[train] > 0).sum() > (y[train] < 0).sum() else -1.0
        return facts | {"auc": comparison_auc(y[test], np.full(test.sum(), side))}
    if method in ("elo", "glicko"):
        rating = pairs.values[:, ("elo", "glicko").index(method)]
        d = rating[pairs.right[test]] - rating[pairs.left[test]]
        return facts | {"auc": comparison_auc(y[test], d)}
    kind, which = method.split("-")
    if which == "ratings":
        pairs = pairs.with_items(pairs.values[:, :2])
    model, chosen = _choose(kind, pairs[month <= 3], y[month <= 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(pairs[train], y[train])
    auc = get_scorer("auc")(model, pairs[test], y[test])
    return facts | {"auc": auc} | chosen


def _choose(kind: str, pairs: Pairs, y: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """Choose by the area on what follows the first half, three quarters and more."""
    comparer = {
        "early": EarlyCompare(kernel="linear"),
        "rank": ThresholdCompare(RankSVM(C=1.0, kernel="linear")),
    }.get(kind, SVMCompare(tie_weight=1))
    model = make_pipeline(OnItems(StandardScaler()), comparer)
    last = model.steps[-1][0] + ("__ranker" if kind == "rank" else "")
    settings = KERNELS.get(kind, {})
    grid = {f"{last}__{name}": values for name, values in settings.items()}
    n = len(y)
    cuts = [round(part * n) for part in PARTS]
    splits = [(np.arange(cut), np.arange(cut, n)) for cut in cuts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = tune(
            model,
            pairs,
            y,
            grid | {f"{last}__C": COSTS},
            cv=splits,
            scoring="auc",
            progress=False,
            refit=False,
        )
    chosen = {name.split("__")[-1]: v for name, v in found.best_params_.items()}
    return model.set_params(**found.best_params_), chosen


CHESS = Experiment(
    "000-chess",
    "area under the curve, year by year",
    cells,
    cell,
    ("chess_kaggle2010",),
)
