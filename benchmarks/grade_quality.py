# SPDX-License-Identifier: BSD-3-Clause
"""NDCG@10 and time on two published sets, against gradient-boosted trees.

Every contender has twelve settings. The one with the best mean NDCG@10 over folds of
the training queries is fitted again to all of them and then meets the test queries, so
that nobody has seen these. Boosted trees are at home in data of this kind. They get one
thread: sets of this size gain nothing from a second one, and on a machine that is
shared it makes them many times slower.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.rows import Row
from tiebreak import NystroemMap, RankSVM
from tiebreak.datasets import load_lightgbm_rank, load_mq2008
from tiebreak.metrics import ndcg
from tiebreak.selection.splitters import QueryKFold

Setting = dict[str, Any]
Fit = Callable[[Setting, np.ndarray, np.ndarray, np.ndarray], Any]

# C per pair, or per group where every group counts once.
RANK_SVM = [
    *({"per_group": "sum", "C": C} for C in np.geomspace(1e-6, 1e-1, 6)),
    *({"per_group": "mean", "C": C} for C in np.geomspace(1e-3, 1e2, 6)),
]
LANDMARKS = [
    {"C": C, "gamma": gamma}
    for gamma, C in product((0.1, 0.3, 1.0), np.geomspace(1e-5, 1e-2, 4))
]
LIGHTGBM = [
    {"num_leaves": leaves, "n_estimators": trees}
    for leaves, trees in product((7, 15, 31), (50, 100, 200, 400))
]
XGBOOST = [
    {"max_depth": depth, "n_estimators": trees}
    for depth, trees in product((2, 4, 6), (50, 100, 200, 400))
]


def fit_squared_hinge(setting: Setting, X, y, qid) -> Any:
    """Fit RankSVM with the squared hinge to scaled features."""
    model = RankSVM(kernel="linear", loss="squared_hinge", **setting)
    return make_pipeline(StandardScaler(), model).fit(X, y, ranksvm__qid=qid)


def fit_hinge(setting: Setting, X, y, qid) -> Any:
    """Fit RankSVM with the hinge to scaled features."""
    model = RankSVM(kernel="linear", loss="hinge", **setting)
    return make_pipeline(StandardScaler(), model).fit(X, y, ranksvm__qid=qid)


def fit_landmarks(setting: Setting, X, y, qid) -> Any:
    """Fit RankSVM to landmarks of a Gaussian kernel; gamma is in units of 1/p."""
    gamma = setting["gamma"] / X.shape[1]
    features = NystroemMap(gamma=gamma, n_landmarks=300, random_state=0)
    model = RankSVM(setting["C"], kernel="linear", loss="squared_hinge")
    pipeline = make_pipeline(StandardScaler(), features, model)
    return pipeline.fit(X, y, ranksvm__qid=qid)


def fit_lightgbm(setting: Setting, X, y, qid) -> Any:
    """Fit LightGBM's ranker; rows of a query stand together."""
    from lightgbm import LGBMRanker

    model = LGBMRanker(
        learning_rate=0.05, random_state=0, n_jobs=1, verbose=-1, **setting
    )
    return model.fit(X, y, group=_sizes(qid))


def fit_xgboost(setting: Setting, X, y, qid) -> Any:
    """Fit XGBoost's ranker; rows of a query stand together."""
    from xgboost import XGBRanker

    model = XGBRanker(
        objective="rank:ndcg", learning_rate=0.05, random_state=0, n_jobs=1, **setting
    )
    return model.fit(X, y, group=_sizes(qid))


CONTENDERS: dict[str, tuple[Fit, list[Setting]]] = {
    "RankSVM, squared hinge": (fit_squared_hinge, RANK_SVM),
    "RankSVM, hinge": (fit_hinge, RANK_SVM),
    "RankSVM on 300 RBF landmarks": (fit_landmarks, LANDMARKS),
    "LightGBM": (fit_lightgbm, LIGHTGBM),
    "XGBoost": (fit_xgboost, XGBOOST),
}


def graded_mq2008() -> Iterator[Row]:
    """NDCG@10 on 156 queries of MQ2008, five folds of queries."""
    data = _load(load_mq2008)
    if data is None:
        yield Row("MQ2008", "–", "", None, "the data set is not here")
        return
    queries = QueryKFold(5, shuffle=True, random_state=0)
    folds = list(queries.split(data[0], qid=data[2]))
    for name, (fit, grid) in CONTENDERS.items():
        results = [
            evaluate(fit, grid, [a[train] for a in data], [a[test] for a in data], 3)
            for train, test in folds
        ]
        yield _row(f"MQ2008: {name}", *np.transpose(results))


def graded_lightgbm_rank() -> Iterator[Row]:
    """NDCG@10 on the 50 test queries of LightGBM's own example."""
    train = _load(lambda: load_lightgbm_rank("train"))
    test = _load(lambda: load_lightgbm_rank("test"))
    if train is None or test is None:
        yield Row("LightGBM's example", "–", "", None, "the data set is not here")
        return
    for name, (fit, grid) in CONTENDERS.items():
        result = evaluate(fit, grid, train, test, 5)
        yield _row(f"LightGBM's example: {name}", *np.transpose([result]))


def evaluate(
    fit: Fit, grid: list[Setting], train, test, n_folds: int
) -> tuple[float, float, float]:
    """Choose, fit and test; returns NDCG@10, the seconds of all and of the last fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # queries without a pair, loose settings
        start = time.perf_counter()
        folds = QueryKFold(n_folds, shuffle=True, random_state=1)
        parts = list(folds.split(train[0], qid=train[2]))
        scores = [
            np.mean(
                [
                    _score(fit(setting, *(a[inner] for a in train)), train, held_out)
                    for inner, held_out in parts
                ]
            )
            for setting in grid
        ]
        middle = time.perf_counter()
        model = fit(grid[int(np.argmax(scores))], *train)
        end = time.perf_counter()
        found = _score(model, test, slice(None))
    return found, end - start, end - middle


def _score(model, data, rows) -> float:
    X, y, qid = (a[rows] for a in data)
    return ndcg(y, model.predict(X), qid, k=10)


def _row(name: str, found, whole, last) -> Row:
    spread = f" ± {found.std(ddof=1) / len(found) ** 0.5:.3f}" if len(found) > 1 else ""
    return Row(
        f"{name}, NDCG@10",
        f"{found.mean():.3f}{spread}",
        "",
        None,
        f"{np.mean(last):.2f} s a fit, {whole.sum():.0f} s with the choice of settings",
    )


def _load(load: Callable[[], Any]):
    """Give features, grades and queries, sorted by query as the peers need them."""
    try:
        data = load()
    except FileNotFoundError:
        return None
    order = np.argsort(data.qid, kind="stable")
    return data.X[order], data.y[order], data.qid[order]


def _sizes(qid: np.ndarray) -> np.ndarray:
    return np.unique(qid, return_counts=True)[1]


CASES = (graded_mq2008, graded_lightgbm_rank)
