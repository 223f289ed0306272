# SPDX-License-Identifier: BSD-3-Clause
"""NDCG@10 against boosted trees by nested folds: ``python -m benchmarks.accuracy``.

Two published sets. The queries are divided in five outer folds. In the training queries
of each, every method chooses among twelve settings by NDCG@10 on three inner folds of
queries and is fitted again; then it meets the held-out queries. So every query has, for
every method, the NDCG@10 of a model that has not seen it; with ``--repeats`` other
divisions follow, and a query has the mean. A difference is the mean over queries of the
paired differences, with the standard error of that mean. Queries without a relevant
document are left out.

The trees of every library have the learning rate 0.05; those of the peers three sizes
and four numbers of rounds, ours two sizes, two penalties and three numbers. Rows, one
for each division, are appended to ``benchmarks/accuracy.jsonl``, and what is there is
not measured again; ``--table`` prints them for the docs. Everything runs in one thread:
sets of this size gain nothing from a second one.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import BoostedUtility, NystroemMap, RankBoost, RankRLS, RankSVM
from tiebreak.datasets import load_published
from tiebreak.metrics import ndcg
from tiebreak.models.boosted_trees import sum_trees
from tiebreak.selection.splitters import QueryKFold

RESULTS = Path(__file__).with_name("accuracy.jsonl")
ROUNDS = (20, 50, 100, 200)
BOOST_ROUNDS = (10, 20, 50, 100, 200, 400)
OUR_ROUNDS = (50, 100, 200)
RATE = 0.05
N_OUTER, N_INNER = 5, 3

Key = tuple[str, str, int]  # set, method, division
MEANS = ("ndcg", "seconds")

# What a fit gives: one function of features per number of rounds, or a single one.
Utility = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[dict[str, Any], np.ndarray, np.ndarray, np.ndarray], list[Utility]]


class Method(NamedTuple):
    """A method, whether it is one of ours, and the settings it fits."""

    ours: bool
    fit: Fit
    grid: list[dict[str, Any]]


def fit_rank_svm(setting, X, y, qid) -> list[Utility]:
    """Fit RankSVM with the squared hinge to scaled features."""
    model = RankSVM(kernel="linear", loss="squared_hinge", **setting)
    return [make_pipeline(StandardScaler(), model).fit(X, y, ranksvm__qid=qid).predict]


def fit_landmarks(setting, X, y, qid) -> list[Utility]:
    """Fit RankSVM to landmarks of a Gaussian kernel; gamma is in units of 1/p."""
    gamma = setting["gamma"] / X.shape[1]
    features = NystroemMap(gamma=gamma, n_landmarks=300, random_state=0)
    model = RankSVM(
        setting["C"], kernel="linear", loss="squared_hinge", per_group="mean"
    )
    pipeline = make_pipeline(StandardScaler(), features, model)
    return [pipeline.fit(X, y, ranksvm__qid=qid).predict]


def fit_rls(setting, X, y, qid) -> list[Utility]:
    """Fit linear RankRLS to scaled features."""
    model = RankRLS(kernel="linear", **setting)
    return [make_pipeline(StandardScaler(), model).fit(X, y, rankrls__qid=qid).predict]


def fit_rank_boost(setting, X, y, qid) -> list[Utility]:
    """Fit RankBoost; what it has learned after some rounds stays."""
    model = RankBoost(BOOST_ROUNDS[-1], **setting).fit(X, y, qid=qid)

    def after(X: np.ndarray, n: int) -> np.ndarray:
        n = min(n, model.n_iter_)
        return next(islice(model.staged_utility(X), n - 1, None))

    return [lambda X, n=n: after(X, n) for n in BOOST_ROUNDS]


def fit_boosted(setting, X, y, qid) -> list[Utility]:
    """Fit our loss with trees of one of the libraries."""
    params = {"learning_rate": RATE, "early_stopping": False, **setting}
    model = BoostedUtility(OUR_ROUNDS[-1], **params).fit(X, y, qid=qid)
    return [
        lambda X, n=n: sum_trees(X, model.nodes_, model.roots_[:n]) for n in OUR_ROUNDS
    ]


def fit_lightgbm(setting, X, y, qid) -> list[Utility]:
    """Fit LightGBM's ranker; rows of a query stand together."""
    from lightgbm import LGBMRanker

    params = {"learning_rate": RATE, "random_state": 0, "n_jobs": 1, "verbose": -1}
    model = LGBMRanker(n_estimators=ROUNDS[-1], **params, **setting)
    model.fit(X, y, group=np.unique(qid, return_counts=True)[1])
    return [lambda X, n=n: model.predict(X, num_iteration=n) for n in ROUNDS]


def fit_xgboost(setting, X, y, qid) -> list[Utility]:
    """Fit XGBoost's ranker; rows of a query stand together."""
    from xgboost import XGBRanker

    params = {"learning_rate": RATE, "random_state": 0, "n_jobs": 1}
    model = XGBRanker(
        objective="rank:ndcg", n_estimators=ROUNDS[-1], **params, **setting
    )
    model.fit(X, y, qid=qid)
    return [lambda X, n=n: model.predict(X, iteration_range=(0, n)) for n in ROUNDS]


def fit_catboost(setting, X, y, qid) -> list[Utility]:
    """Fit CatBoost with one of its ranking losses; rows of a query stand together."""
    from catboost import CatBoost, Pool

    params = {
        "iterations": ROUNDS[-1],
        "learning_rate": RATE,
        "random_seed": 0,
        "thread_count": 1,
        "allow_writing_files": False,
        "logging_level": "Silent",
    }
    model = CatBoost(params | setting).fit(Pool(X, y, group_id=qid))
    return [lambda X, n=n: model.predict(X, ntree_end=n) for n in ROUNDS]


SIZES = (4, 8, 16)
METHODS = {
    "XGBoost, rank:ndcg": Method(
        False, fit_xgboost, [{"max_depth": depth} for depth in (2, 3, 4)]
    ),
    "LightGBM, lambdarank": Method(
        False, fit_lightgbm, [{"num_leaves": leaves} for leaves in SIZES]
    ),
    "CatBoost, YetiRank": Method(
        False,
        fit_catboost,
        [{"loss_function": "YetiRank", "depth": depth} for depth in (2, 3, 4)],
    ),
    "CatBoost, PairLogit": Method(
        False,
        fit_catboost,
        [{"loss_function": "PairLogit", "depth": depth} for depth in (2, 3, 4)],
    ),
    "`RankSVM`, linear": Method(
        True,
        fit_rank_svm,
        # C per pair, or per group where every group counts once.
        [
            *({"per_group": "sum", "C": C} for C in np.geomspace(1e-6, 1e-1, 6)),
            *({"per_group": "mean", "C": C} for C in np.geomspace(1e-3, 1e2, 6)),
        ],
    ),
    "`NystroemMap`, `RankSVM`": Method(
        True,
        fit_landmarks,
        [
            {"C": C, "gamma": gamma}
            for gamma, C in product((0.1, 0.3, 1.0), np.geomspace(1e-2, 10, 4))
        ],
    ),
    "`RankRLS`, linear": Method(
        True,
        fit_rls,
        [
            {"per_group": per_group, "alpha": alpha}
            for per_group in ("sum", "mean")
            for alpha in np.geomspace(1e-1, 1e4, 6)
        ],
    ),
    "`RankBoost`": Method(
        True,
        fit_rank_boost,
        [{"weak": "feature"}, {"weak": "stump"}],
    ),
    "`BoostedUtility`": Method(
        True,
        fit_boosted,
        [{"max_leaves": m, "l2": l2} for m, l2 in product((4, 8), (3.0, 10.0))],
    ),
}


def load_sets() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Give features, grades and queries, sorted by query as the peers need them."""
    parts = [load_published(f"lightgbm_rank/rank.{part}") for part in ("train", "test")]
    mq2008 = load_published("mq2008")
    X = np.vstack([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    # Both files number their queries from one.
    qid = np.concatenate([part.qid + 10_000 * k for k, part in enumerate(parts)])
    return {
        "LightGBM's example": _sorted(X, y, qid),
        "MQ2008": _sorted(mq2008.X, mq2008.y, mq2008.qid),
    }


def _sorted(X, y, qid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.argsort(qid, kind="stable")
    return np.asarray(X)[order], np.asarray(y)[order], np.asarray(qid)[order]


def predict_held_out(method: Method, data, seed: int) -> np.ndarray:
    """Give utilities of all rows by models that have not seen their queries."""
    found = np.zeros(len(data[1]))
    for train, test in _folds(data, N_OUTER, seed):
        inner = tuple(a[train] for a in data)
        scores = [
            [_score(utility, inner, rows) for utility in utilities]
            for utilities, rows in _inner_fits(method, inner, seed)
        ]
        # Rows are inner folds, columns all settings.
        best = int(np.argmax(np.mean(np.reshape(scores, (N_INNER, -1)), axis=0)))
        n_stages = np.size(scores) // (N_INNER * len(method.grid))
        setting, stage = divmod(best, n_stages)
        utilities = method.fit(method.grid[setting], *inner)
        found[test] = utilities[stage](data[0][test])
    return found


def _inner_fits(method: Method, data, seed: int) -> Iterator[tuple[list[Utility], Any]]:
    for train, test in _folds(data, N_INNER, seed + 1):
        utilities: list[Utility] = []
        for setting in method.grid:
            utilities += method.fit(setting, *(a[train] for a in data))
        yield utilities, test


def _folds(data, n_folds: int, seed: int) -> Iterator[tuple[Any, Any]]:
    folds = QueryKFold(n_folds, shuffle=True, random_state=seed)
    return folds.split(data[0], qid=data[2])


def _score(utility: Utility, data, rows) -> float:
    X, y, qid = (a[rows] for a in data)
    return ndcg(y, utility(X), qid, k=10)


def of_queries(data, utility: np.ndarray) -> np.ndarray:
    """Give NDCG@10 of every query with a relevant document."""
    _, y, qid = data
    starts = np.flatnonzero(np.diff(qid, prepend=qid[0] - 1))
    rows = np.split(np.arange(len(qid)), starts[1:])
    return np.array([ndcg(y[r], utility[r], k=10) for r in rows if y[r].max() > 0])


def measure(n_repeats: int, chosen: str, done: set[Key]) -> Iterator[dict[str, Any]]:
    """Measure what is missing of the chosen sets, one division after the other."""
    sets = load_sets()
    for repeat, set_name, name in product(range(n_repeats), sets, METHODS):
        if (set_name, name, repeat) in done or chosen not in f"{set_name}: {name}":
            continue
        start = time.process_time()
        found = predict_held_out(METHODS[name], sets[set_name], 100 * repeat)
        yield {
            "set": set_name,
            "method": name,
            "repeat": repeat,
            "ours": METHODS[name].ours,
            "seconds": round(time.process_time() - start, 1),
            "ndcg": of_queries(sets[set_name], found).round(5).tolist(),
        }


def merge(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give one row for each set and method, in this order, with means of divisions."""
    merged = []
    for set_name, method in product(dict.fromkeys(r["set"] for r in rows), METHODS):
        same = [r for r in rows if (r["set"], r["method"]) == (set_name, method)]
        if same:
            means = {key: np.mean([r[key] for r in same], axis=0) for key in MEANS}
            merged.append(same[0] | means)
    return merged


def table(rows: list[dict[str, Any]]) -> str:
    """Give the table of the docs: means, and differences to the best peer."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    columns = [f"{name} | less the best peer | seconds" for name in sets]
    lines = [f"| | {' | '.join(columns)} |", "|---" * (3 * len(sets) + 1) + "|"]
    best = {
        name: max(
            (row for row in rows if row["set"] == name and not row["ours"]),
            key=lambda row: np.mean(row["ndcg"]),
        )
        for name in sets
    }
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for name in sets:
            row = next(r for r in rows if (r["set"], r["method"]) == (name, method))
            gap = np.subtract(row["ndcg"], best[name]["ndcg"])
            error = gap.std(ddof=1) / len(gap) ** 0.5
            against = "the best peer" if row is best[name] else _signed(gap.mean())
            against += "" if row is best[name] else f" ± {_short(error)}"
            cells += [_short(np.mean(row["ndcg"])), against, f"{row['seconds']:.0f}"]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".")


def _signed(value: float) -> str:
    return ("−" if value < 0 else "+") + _short(abs(value))


def main() -> None:
    """Measure and write the rows, or print the table of those that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="only print the table")
    parser.add_argument("--repeats", type=int, default=1, help="divisions of queries")
    parser.add_argument("-k", default="", help="only 'set: method' with this")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of results")
    options = parser.parse_args()
    if not options.table:
        done = {(r["set"], r["method"], r["repeat"]) for r in read(options.out)}
        os.environ["OMP_NUM_THREADS"] = "1"
        with options.out.open("a", encoding="utf-8") as out, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # queries without a pair, loose settings
            for row in measure(options.repeats, options.k, done):
                out.write(json.dumps(row) + "\n")
                out.flush()
    print(table(merge(read(options.out))))


def read(path: Path) -> list[dict[str, Any]]:
    """Read what has been measured."""
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


if __name__ == "__main__":
    main()
