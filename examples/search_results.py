# SPDX-License-Identifier: BSD-3-Clause
"""Order the results of searches: graded documents, one group per query, NDCG.

Uses a part of Microsoft's MQ2008 where it is present, see
``tiebreak.datasets.load_published``; else invented queries. Run it with
``python examples/search_results.py [FOLDER]``; the picture goes to FOLDER, by default
the current one.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import RankRLS, RankSVM
from tiebreak.datasets import load_published
from tiebreak.metrics import disagreement, ndcg
from tiebreak.selection import QueryKFold

DEPTHS = range(1, 11)


def load_queries() -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """Give a name, the documents, their grades, and the query of each."""
    try:
        data = load_published("mq2008", download=False)
    except FileNotFoundError:
        return simulate_queries()
    return "documents of MQ2008", data.X, data.y, data.qid


def simulate_queries(n_queries: int = 120, n_features: int = 20) -> tuple:
    """Draw queries of 5 to 30 documents; some have better documents than others."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), rng.integers(5, 31, size=n_queries))
    level = rng.normal(size=(n_queries, n_features))[qid]
    X = level + rng.normal(size=(len(qid), n_features))
    weights = np.r_[1.0, -0.7, 0.5, 0.3, np.zeros(n_features - 4)]
    # A query's own level moves its features, but not what its readers call relevant.
    relevance = (X - level) @ weights + rng.normal(scale=0.8, size=len(qid))
    return "simulated documents", X, np.digitize(relevance, [1.0, 2.2]), qid


def main(folder: Path) -> None:
    """Cross-validate over queries, and print and draw NDCG."""
    what, X, y, qid = load_queries()
    print(
        f"{len(y):,} {what}, {len(np.unique(qid))} queries, grades 0 to {y.max():.0f}"
    )
    # Where all documents have the same grade, no order is better than another.
    worst, best = (np.full(qid.max() + 1, end) for end in (np.inf, -np.inf))
    np.minimum.at(worst, qid, y)
    np.maximum.at(best, qid, y)
    useful = (worst < best)[qid]
    X, y, qid = X[useful], y[useful], qid[useful]
    print(f"{len(np.unique(qid))} queries have documents of different grades")
    models = {
        "RankSVM": RankSVM(kernel="linear", loss="squared_hinge", C=0.01),
        "RankRLS": RankRLS(alpha=1.0, kernel="linear", per_group="mean"),
    }
    # Documents of a query stay together: a fold is made of queries never seen.
    utility = {name: np.zeros(len(y)) for name in models}
    for train, test in QueryKFold(5).split(X, y, qid=qid):
        for name, model in models.items():
            pipeline = make_pipeline(StandardScaler(), model)
            pipeline.fit(X[train], y[train], **{f"{name.lower()}__qid": qid[train]})
            utility[name][test] = pipeline.predict(X[test])
    # The best single feature, chosen with hindsight: a baseline that cheats.
    each = [ndcg(y, column, qid, k=10) for column in X.T]
    utility["best feature"] = X[:, np.argmax(each)]
    # Equal utilities share their gains, so this is the mean over all orders.
    utility["any order"] = np.zeros(len(y))

    curves = {
        name: [ndcg(y, values, qid, k=depth) for depth in DEPTHS]
        for name, values in utility.items()
    }
    for name, curve in curves.items():
        error = disagreement(y, utility[name], qid=qid)
        print(f"  {name:13s} NDCG@10 {curve[-1]:.3f}   pairs turned over {error:.3f}")

    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for (name, curve), style in zip(
        curves.items(), ("-", "--", "-.", ":"), strict=True
    ):
        axes.plot(DEPTHS, curve, style, label=name)
    axes.set(xlabel="positions that count, k", ylabel="NDCG@k", xticks=DEPTHS)
    axes.legend(frameon=False)
    figure.savefig(folder / "search_results.png")
    print(f"\nPicture: {folder / 'search_results.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
