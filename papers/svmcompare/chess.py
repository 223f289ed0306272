# SPDX-License-Identifier: BSD-3-Clause
"""Section 5: chess games of eight years, each predicted from its first four months.

The paper's games cannot be downloaded; these are of another contest of the same kind,
with a thirtieth of the games (65,053 in 100 months). A year is twelve months from the
first one on. Four months hold ten games of hardly anybody here, so ratings and features
are those of the whole record up to each game, and a player is known after ten games of
it before May.

Who has the paper's games, of the contest of 2011, puts its three files into the folder
``chess_fide2011`` of ``$TIEBREAK_DATA``: ``000-chess2011`` then has cells. Ratings and
features of a year then begin with its January, as in the paper.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.experiment import Experiment, Settings
from papers.svmcompare.early import EarlyCompare
from papers.svmcompare.game_features import game_features
from tiebreak import OnItems, Pairs, RankSVM, SVMCompare, ThresholdCompare, tune
from tiebreak.datasets import load_chess
from tiebreak.metrics import comparison_auc, get_scorer

__all__ = ["CHESS", "CHESS_2011", "METHODS"]

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


def contest_files() -> list[Path]:
    """Give the files of the contest of 2011; none if one is missing."""
    folder = Path(os.environ.get("TIEBREAK_DATA", ".")) / "chess_fide2011"
    paths = [folder / f"primary_training_part{part}.csv" for part in (1, 2, 3)]
    return paths if all(path.is_file() for path in paths) else []


def read_contest(year: int) -> tuple[Pairs, np.ndarray, np.ndarray]:
    """Read the paper's games of a year: pairs, outcomes and months from 1."""
    names = ["MonthID", "WhitePlayer", "BlackPlayer", "WhiteScore"]
    own: dict[str, Any] = {
        "columns": names,
        "schema_overrides": {"WhiteScore": pl.Float64},
    }
    table = pl.concat([pl.read_csv(path, **own) for path in contest_files()])
    month = pl.col("MonthID") - 12 * (year - 1)
    table = table.filter(month.is_between(1, 12)).sort("MonthID", maintain_order=True)
    pairs = Pairs(
        None, table["WhitePlayer"].to_numpy(), table["BlackPlayer"].to_numpy()
    )
    y = np.sign(0.5 - table["WhiteScore"].to_numpy()).astype(np.int8)
    return pairs, y, table["MonthID"].to_numpy() - 12 * (year - 1)


@cache
def read_year(year: int, contest: int = 2010) -> Year:
    """Read the games of a year with what was known before each."""
    if contest == 2011:
        pairs, y, month = read_contest(year)
    else:
        games = load_chess()
        pairs, y, month = games.pairs, games.y, games.month - 12 * (year - 1)
    described, n_before = game_features(pairs, y, month)
    past = month <= 4
    played = np.bincount(
        np.concatenate([pairs.left[past], pairs.right[past]]), minlength=pairs.n_items
    )
    known = (played[pairs.left] >= ENOUGH) & (played[pairs.right] >= ENOUGH)
    first = n_before.min(axis=1) == 0
    kept = known & ~first & (month >= 1) & (month <= 12)
    return Year(described[kept].compact(), y[kept], month[kept])


def cells(quick: bool) -> list[Settings]:
    """List years and methods."""
    years = (8,) if quick else YEARS
    methods = ("trivial", "elo", "linear-ratings") if quick else METHODS
    return [{"year": year, "method": method} for year in years for method in methods]


def contest_cells(quick: bool) -> list[Settings]:
    """List the same for the games of 2011, if they are here."""
    return [cell | {"contest": 2011} for cell in cells(quick)] * bool(contest_files())


def cell(year: int, method: str, contest: int = 2010) -> dict[str, Any]:
    """Learn from January to April, predict May to December."""
    pairs, y, month = read_year(year, contest)
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
CHESS_2011 = Experiment(
    "000-chess2011", "the same on the paper's games", contest_cells, cell
)
