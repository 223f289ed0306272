# SPDX-License-Identifier: BSD-3-Clause
"""Do the defaults serve? ``python -m benchmarks.decisions.defaults``.

Models as they are, and with one or two other settings, none of them tuned, on scaled
features. Graded items: percent of swapped pairs on the twelve sets of the papers, three
divisions each with their training sizes, mean over the sets; and NDCG@10 on MQ2008 and
LightGBM's example, mean of three folds of queries. Comparisons of the twelve sets, each
training half with as many comparisons as three times its items and a quarter of the
standard deviation as tie: percent of wrong outcomes of unseen items, and log loss.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.accuracy import load_sets
from papers.swapped_pairs.experiments import SIZES
from tiebreak import (
    BoostedUtility,
    LogisticCompare,
    OnItems,
    Pairs,
    RankBoost,
    RankRLS,
    RankSVM,
    SVMCompare,
    SwapSVM,
    ThresholdCompare,
)
from tiebreak.datasets import load_uci
from tiebreak.metrics import comparison_log_loss, ndcg, swapped_pairs
from tiebreak.selection.splitters import QueryKFold

N_SPLITS, TIE = 3, 0.25


def smooth(C: float, **settings: Any) -> RankSVM:
    """Give the linear model with the squared hinge that the command takes."""
    return RankSVM(C, kernel="linear", loss="squared_hinge", **settings)


GRADED: dict[str, Callable[[], Any]] = {
    "RankSVM()": RankSVM,
    "RankSVM(1)": lambda: RankSVM(1.0),
    "RankSVM(0.01)": lambda: RankSVM(0.01),
    'RankSVM(loss="squared_hinge")': lambda: RankSVM(loss="squared_hinge"),
    'RankSVM(kernel="linear")': lambda: RankSVM(kernel="linear"),
    'RankSVM(1, kernel="linear")': lambda: RankSVM(1.0, kernel="linear"),
    'RankSVM(0.001, kernel="linear")': lambda: RankSVM(0.001, kernel="linear"),
    "smooth linear RankSVM": lambda: smooth(1.0),
    "smooth linear RankSVM, 0.01": lambda: smooth(0.01),
    "smooth linear RankSVM, 0.0001": lambda: smooth(0.0001),
    "smooth linear RankSVM, mean": lambda: smooth(1.0, per_group="mean"),
    "SwapSVM()": SwapSVM,
    'SwapSVM(kernel="linear")': lambda: SwapSVM(kernel="linear"),
    "RankRLS()": RankRLS,
    "RankRLS(1)": lambda: RankRLS(1.0),
    "RankRLS(100)": lambda: RankRLS(100.0),
    'RankRLS(kernel="linear")': lambda: RankRLS(kernel="linear"),
    'RankRLS(1, kernel="linear")': lambda: RankRLS(1.0, kernel="linear"),
    'RankRLS(100, kernel="linear")': lambda: RankRLS(100.0, kernel="linear"),
    "RankBoost()": RankBoost,
    'RankBoost(weak="stump")': lambda: RankBoost(weak="stump"),
    'RankBoost(300, weak="stump")': lambda: RankBoost(300, weak="stump"),
    "BoostedUtility()": BoostedUtility,
    'BoostedUtility(per_group="sum")': lambda: BoostedUtility(per_group="sum"),
}
COMPARED: dict[str, Callable[[], Any]] = {
    "ThresholdCompare(RankSVM())": lambda: ThresholdCompare(RankSVM()),
    "ThresholdCompare(RankSVM(1))": lambda: ThresholdCompare(RankSVM(1.0)),
    "ThresholdCompare(RankRLS())": lambda: ThresholdCompare(RankRLS()),
    "ThresholdCompare(RankRLS(1))": lambda: ThresholdCompare(RankRLS(1.0)),
    "SVMCompare()": SVMCompare,
    'SVMCompare(kernel="linear")': lambda: SVMCompare(kernel="linear"),
    "SVMCompare(C=10)": lambda: SVMCompare(10.0),
    "LogisticCompare()": LogisticCompare,
    'LogisticCompare(link="cumulative")': lambda: LogisticCompare(link="cumulative"),
    "LogisticCompare(0.1)": lambda: LogisticCompare(0.1),
    'LogisticCompare(kernel="rbf")': lambda: LogisticCompare(kernel="rbf"),
    'LogisticCompare(0.1, kernel="rbf")': lambda: LogisticCompare(0.1, kernel="rbf"),
    "BoostedUtility()": BoostedUtility,
    'BoostedUtility(link="cumulative")': lambda: BoostedUtility(link="cumulative"),
}


def divisions() -> Iterator[tuple[str, Any, np.ndarray, np.ndarray]]:
    """Give training and test rows of the twelve sets, at most 1000 of these."""
    for name, size in SIZES.items():
        data = load_uci(name)
        for split in range(N_SPLITS):
            order = np.random.default_rng(split).permutation(len(data.y))
            yield name, data, order[:size], order[size : size + 1000]


def swapped(make: Callable[[], Any]) -> float:
    """Percent of swapped pairs, a mean over the twelve sets."""
    found = []
    for _, data, train, test in divisions():
        model = make_pipeline(StandardScaler(), make())
        model.fit(data.X[train], data.y[train])
        found.append(swapped_pairs(data.y[test], model.predict(data.X[test])))
    return 100 * float(np.mean(found))


def search(make: Callable[[], Any], data: tuple[np.ndarray, ...]) -> float:
    """NDCG@10 of held-out queries, a mean of three folds."""
    X, y, qid = data
    found = []
    for train, test in QueryKFold(3, shuffle=True, random_state=0).split(X, qid=qid):
        scaler, model = StandardScaler().fit(X[train]), make()
        model.fit(scaler.transform(X[train]), y[train], qid=qid[train])
        utility = model.predict(scaler.transform(X[test]))
        found.append(ndcg(y[test], utility, qid[test], k=10))
    return float(np.mean(found))


def compared(make: Callable[[], Any]) -> tuple[float, float]:
    """Percent of wrong outcomes and log loss of comparisons of unseen items."""
    wrong, losses = [], []
    for _, data, *halves in divisions():
        rng, drawn = np.random.default_rng(0), []
        for rows in halves:
            left, right = rng.choice(rows, (2, 3 * len(rows)))
            left, right = left[left != right], right[left != right]
            gap = (data.y[right] - data.y[left]) / data.y.std()
            y = np.where(np.abs(gap) < TIE, 0, np.sign(gap)).astype(int)
            drawn.append((Pairs(data.X, left, right).compact(), y))
        model = make_pipeline(OnItems(StandardScaler()), make()).fit(*drawn[0])
        pairs, y = drawn[1]
        wrong.append(np.mean(model.predict(pairs) != y))
        if hasattr(model, "predict_proba"):
            losses.append(comparison_log_loss(y, model.predict_proba(pairs)))
    return 100 * float(np.mean(wrong)), float(np.mean(losses or [np.nan]))


def main() -> None:
    """Print both tables, a line when it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="", help="only models whose name has this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = load_sets()
    print("| model | swapped, twelve sets |", " | ".join(sets), "| seconds |")
    print("|---|---|---|---|---|")
    for name, make in GRADED.items():
        if options.k in name:
            start = time.process_time()
            cells = [f"{swapped(make):.1f} %"]
            cells += [f"{search(make, data):.3f}" for data in sets.values()]
            seconds = time.process_time() - start
            print(f"| `{name}` | {' | '.join(cells)} | {seconds:.0f} |", flush=True)
    print("\n| model | wrong, twelve sets | log loss | seconds |\n|---|---|---|---|")
    for name, make in COMPARED.items():
        if options.k in name:
            start = time.process_time()
            wrong, loss = compared(make)
            seconds = time.process_time() - start
            print(
                f"| `{name}` | {wrong:.1f} % | {loss:.3f} | {seconds:.0f} |", flush=True
            )


if __name__ == "__main__":
    main()
