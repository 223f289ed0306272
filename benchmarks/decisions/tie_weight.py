# SPDX-License-Identifier: BSD-3-Clause
"""How much ties weigh in `SVMCompare`: ``python -m benchmarks.decisions.tie_weight``.

Held-out error of five folds on five real sets, 2000 comparisons of each (8000 if items
have names only), with the cost or the penalty chosen among three by three inner folds.
In brackets: in how many of the five folds the optimum was u = 0, so that nothing was
learned. The second table has the alternative, the squared hinge, which has no such
optimum either.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.svmcompare.game_features import game_features
from tiebreak import (
    LogisticCompare,
    OnItems,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
    tune,
)
from tiebreak.datasets import (
    load_chess,
    load_published,
    load_sushi_pairs,
)
from tiebreak.metrics.scorers import difference_of
from tiebreak.solvers import best_threshold

N_ROWS, N_NAMED = 2000, 8000
COSTS = (0.01, 1.0, 100.0)
GRIDS = {
    "paper": (SVMCompare(tie_weight=1), "C"),
    "balanced": (SVMCompare(tie_weight="balanced"), "C"),
    "rank": (ThresholdCompare(RankSVM()), "ranker__C"),
    "davidson": (LogisticCompare(), "alpha"),
    "cumulative": (LogisticCompare(link="cumulative"), "alpha"),
}


class Compared(NamedTuple):
    """Comparisons, outcomes, and what must not be divided between folds."""

    pairs: Pairs
    y: np.ndarray
    group: np.ndarray


def main() -> None:
    """Print the errors of the models, then those of the squared hinge."""
    warnings.simplefilter("ignore")
    table = Table("set", "ties", "baseline", "kernel", *GRIDS)
    squared = Table("set", "C", "balanced", "squared hinge", "and a learned threshold")
    for name, data in _sets():
        shares = np.bincount(data.y + 1, minlength=3) / len(data.y)
        facts = name, f"{shares[1]:.2f}", f"{1 - shares.max():.3f}"
        kernels = ("linear", "rbf") if data.pairs.items is not None else ("linear",)
        for kernel in kernels:
            errors = [_errors(data, which, kernel) for which in GRIDS]
            table.add_row(*facts, kernel, *errors)
            print(*facts, kernel, *errors, flush=True)
        if "rbf" in kernels:
            for C in COSTS[:2]:
                squared.add_row(name, f"{C:g}", *_squared_errors(data, C))
    console = Console(width=110)
    console.print(table, squared)


def _sets() -> Iterator[tuple[str, Compared]]:
    sushi = load_sushi_pairs(random_state=0)
    yield "sushi", _some(sushi.pairs, sushi.y, sushi.person)
    chess = load_chess()
    pairs, n_before = game_features(chess.pairs, chess.y, chess.month)
    known = n_before.min(axis=1) >= 10
    yield "chess", _some(pairs[known], chess.y[known])
    football = load_published("football1872")
    pairs, n_before = game_features(football.pairs, football.y)
    recent = football.period >= np.datetime64("2000-01-01")
    known = recent & (n_before.min(axis=1) >= 10)
    yield "football", _some(pairs[known], football.y[known])
    arena = load_published("lm_arena_140k")
    yield "arena, names", _some(arena.pairs, arena.y)
    crowd = load_published("llmfao")
    yield "llmfao, names", _some(crowd.pairs, crowd.y, crowd.prompt)


def _some(pairs: Pairs, y: np.ndarray, group: np.ndarray | None = None) -> Compared:
    n = N_NAMED if pairs.items is None else N_ROWS
    rows = np.sort(np.random.default_rng(0).choice(len(y), n, replace=False))
    group = np.arange(len(y)) if group is None else group
    return Compared(pairs[rows].compact(), y[rows], group[rows])


def _folds(data: Compared) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    folds = GroupKFold(5, shuffle=True, random_state=0)
    yield from folds.split(data.y, data.y, data.group)


def _errors(data: Compared, which: str, kernel: str) -> str:
    model, parameter = GRIDS[which]
    if kernel == "rbf" and isinstance(model, LogisticCompare):
        return ""  # as many columns as there are items
    setting = "ranker__kernel" if which == "rank" else "kernel"
    model = model.set_params(**{setting: kernel})
    if data.pairs.items is not None:
        parameter = f"{type(model).__name__.lower()}__{parameter}"
        model = make_pipeline(OnItems(StandardScaler()), model)
    errors, flat = [], 0
    for train, test in _folds(data):
        pairs, y = data.pairs[train], data.y[train]
        found = tune(model, pairs, y, {parameter: COSTS}, cv=3, progress=False)
        best: Any = found.best_estimator_
        errors.append(np.mean(best.predict(data.pairs[test]) != data.y[test]))
        flat += np.abs(difference_of(best, pairs)).max() < 1e-6
    return f"{np.mean(errors):.3f}" + (f" ({flat})" if flat else "")


def _squared_errors(data: Compared, C: float) -> list[str]:
    errors = []
    for train, test in _folds(data):
        scaler = StandardScaler().fit(data.pairs[train].compact().values)
        pairs = data.pairs.with_items(scaler.transform(data.pairs.values))
        d = pairs.values[pairs.right] - pairs.values[pairs.left]
        y = data.y[train]
        model = SVMCompare(C, kernel="linear", tie_weight="balanced")
        utility, intercept = _squared_hinge(d[train], y, C)
        learned, _ = best_threshold(d[train] @ utility, y, np.ones(len(y)))
        predicted = [model.fit(pairs[train], y).predict(pairs[test])]
        for threshold in (max(0.0, -intercept), learned):
            difference = d[test] @ utility
            tied = np.abs(difference) <= threshold
            predicted.append(np.where(tied, 0, np.sign(difference)))
        errors.append([np.mean(p != data.y[test]) for p in predicted])
    return [f"{error:.3f}" for error in np.mean(errors, axis=0)]


def _squared_hinge(d: np.ndarray, y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """Minimize the paper's problem with squared hinges; return u and β."""
    # Wins in the direction of the winner, and ties in both.
    tied = y == 0
    A = np.vstack([d[~tied] * y[~tied, None], d[tied], -d[tied]])
    label = np.repeat([1.0, -1.0], [(~tied).sum(), 2 * tied.sum()])
    A = np.column_stack([A, np.ones(len(A))]) * label[:, None]

    def value_and_gradient(z):
        slack = np.maximum(0, 1 - A @ z)
        weights = np.append(z[:-1], 0.0)
        return weights @ weights / 2 + C * slack @ slack, weights - 2 * C * slack @ A

    z = minimize(value_and_gradient, np.zeros(A.shape[1]), jac=True).x
    return z[:-1], float(z[-1])


if __name__ == "__main__":
    main()
