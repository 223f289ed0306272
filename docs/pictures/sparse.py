# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the models of few features or few kernel functions."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tiebreak import CoRankingPursuit, MatchingPursuit, RankingPursuit, l1_path
from tiebreak.metrics import swapped_pairs

from .style import BLUE, GREY, INK, ORANGE, panels

__all__ = ["co_ranking_pursuit", "l1_ranker", "matching_pursuit", "ranking_pursuit"]


def l1_ranker(quick: bool) -> Figure:
    """Weights along the path of alpha, and the score on folds held out."""
    rng = np.random.default_rng(0)
    size = 60 if quick else 150
    X = rng.normal(size=(size, 8))
    y = np.digitize(X[:, :3] @ [2, 1, -1] + 0.8 * rng.normal(size=size), [-2, 0, 2])
    path = l1_path(X, y, n_alphas=8 if quick else 25, cv=3 if quick else 5)
    weights, errors = panels(2, 3.0)
    weights.semilogx(path.alphas, path.coefs[:, 3:], color=GREY, linewidth=0.8)
    weights.semilogx(path.alphas, path.coefs[:, :3], color=BLUE)
    weights.set(xlabel="alpha", ylabel="weight")
    weights.set_title("features that matter come first")
    errors.semilogx(path.alphas, -path.mean_scores, color=BLUE)
    best = np.nanargmax(path.mean_scores)
    errors.plot(path.alphas[best], -path.mean_scores[best], "o", color=ORANGE)
    errors.set(xlabel="alpha", ylabel="pairs in the wrong order")
    errors.set_title("folds held out choose alpha")
    return weights.figure


def ranking_pursuit(quick: bool) -> Figure:
    """Error against the number of functions, and the function of the best number."""
    rng = np.random.default_rng(0)
    size = 80 if quick else 150

    def graded(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = rng.uniform(0, 6, (count, 1))
        truth = np.sin(1.5 * x[:, 0]) + 0.3 * x[:, 0]
        return x, truth + 0.4 * rng.normal(size=count), truth

    X, y, _ = graded(size)
    new, _, truth = graded(4 * size)
    model = RankingPursuit(n_basis=12 if quick else 20, alpha=0.0, gamma=2.0)
    model.fit(X, y, validation=(new, truth))
    steps = 1 + np.arange(len(model.validation_path_))
    error, curve = panels(2, 2.9)
    error.plot(
        steps, model.validation_path_, color=BLUE, label="new items, swapped pairs"
    )
    share = model.objective_path_[1:] / model.objective_path_[0]
    error.plot(steps, share, color=GREY, label="training, share of the squares left")
    error.plot(
        model.n_basis_, model.validation_path_[model.n_basis_ - 1], "o", color=BLUE
    )
    error.set(xlabel="basis functions", ylabel="error", ylim=(0, None))
    error.set_title(f"new items choose {model.n_basis_} functions")
    error.legend(loc="upper right")

    line = np.linspace(0, 6, 121)[:, None]
    curve.plot(X[:, 0], y - y.mean(), ".", color=GREY, markersize=3)
    utility = model.utility(line)
    shift = np.mean(model.utility(X))
    curve.plot(line[:, 0], utility - shift, color=BLUE)
    centers = model.support_items_[:, 0]
    curve.plot(centers, np.full(len(centers), -1.9), "^", color=ORANGE)
    curve.annotate("centers", (0.02, 0.02), xycoords="axes fraction", color=ORANGE)
    curve.set(xlabel="feature", ylabel="grade and utility, centered", ylim=(-2.4, None))
    curve.set_title(f"a utility of {len(centers)} bumps")
    return error.figure


def matching_pursuit(quick: bool) -> Figure:
    """It fits the grades themselves, which groups with a level of their own spoil."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 6, 60)[:, None]
    y = np.sin(1.5 * X[:, 0]) + 0.15 * rng.normal(size=60)
    fit, levels = panels(2, 2.9)
    fit.plot(X[:, 0], y, ".", color=GREY, markersize=4)
    for count, color in ((1, INK), (3, ORANGE), (6, BLUE)):
        model = MatchingPursuit(n_basis=count, gamma=1.0).fit(X, y)
        fit.plot(X[:, 0], model.utility(X), color=color, label=str(count))
    fit.set(xlabel="feature", ylabel="grade and utility", ylim=(-1.6, 2.3))
    fit.set_title("1, 3 and 6 functions")
    fit.legend(loc="upper right", ncols=3, columnspacing=1.0, handlelength=1.2)

    spreads = [0, 1, 4] if quick else [0, 0.5, 1, 2, 3, 4, 6]
    groups, size = (6, 10) if quick else (20, 10)
    qid = np.repeat(np.arange(groups), size)
    kinds = ((MatchingPursuit, ORANGE), (RankingPursuit, BLUE))
    lost: dict[str, list[float]] = {kind.__name__: [] for kind, _ in kinds}
    seeds = range(2 if quick else 8)
    for level in spreads:
        error = dict.fromkeys(lost, 0.0)
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X = rng.uniform(-2, 2, (groups * size, 2))
            truth = np.sin(1.5 * X[:, 0]) + X[:, 1]
            grades = truth + level * rng.normal(size=groups)[qid]
            new = rng.uniform(-2, 2, (300, 2))
            target = np.sin(1.5 * new[:, 0]) + new[:, 1]
            for kind, _ in kinds:
                model = kind(n_basis=10, gamma=0.5).fit(X, grades, qid=qid)
                error[kind.__name__] += swapped_pairs(target, model.utility(new))
        for name, total in error.items():
            lost[name].append(total / len(seeds))
    for kind, color in kinds:
        levels.plot(
            spreads,
            lost[kind.__name__],
            "o-",
            color=color,
            markersize=3,
            label=kind.__name__,
        )
    levels.legend(loc="upper left")
    levels.set(xlabel="how far apart the levels of groups are")
    levels.set(ylabel="swapped pairs of new items", ylim=(0, None))
    levels.set_title("grades of groups with levels of their own")
    return fit.figure


def co_ranking_pursuit(quick: bool) -> Figure:
    """Two noisy views, few grades: what items without a grade add, for every ν."""
    prices = np.logspace(-4, 0, 3 if quick else 9)
    seeds = range(2 if quick else 20)
    error, agreement = panels(2, 2.9)
    for graded, color in ((15, ORANGE), (60, BLUE)):
        results = np.array(
            [
                [_co_pursuit(seed, graded, nu, quick) for seed in seeds]
                for nu in (0.0, *prices)
            ]
        ).mean(axis=1)
        for axis, column in ((error, 0), (agreement, 1)):
            axis.axhline(results[0, column], color=color, linestyle=":", linewidth=1.0)
            values = results[1:, column]
            axis.semilogx(prices, values, "o-", color=color, markersize=3)
        error.plot([], [], color=color, label=f"{graded} graded items")
    error.plot([], [], ":", color=GREY, label="ν = 0")
    error.set(xlabel="ν", ylabel="swapped pairs of the others")
    error.set_title(f"two views of 400 items, mean of {len(seeds)} draws")
    error.legend(loc="upper center", fontsize=7.5)
    agreement.set(xlabel="ν", ylabel="agreement_ of the two views")
    agreement.set_title("agreement grows; quality need not")
    return error.figure


def _co_pursuit(seed: int, graded: int, nu: float, quick: bool) -> tuple[float, float]:
    # Two noisy copies of three hidden features; the grade depends on two of them.
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(150 if quick else 400, 3))
    X = np.hstack([hidden + 0.8 * rng.normal(size=hidden.shape) for _ in range(2)])
    truth = hidden[:, 0] + np.sin(2 * hidden[:, 1])
    unseen = np.arange(len(X)) >= graded
    model = CoRankingPursuit(10, views=[[0, 1, 2], [3, 4, 5]], nu=nu, gamma=0.3)
    model.fit(X, np.where(unseen, np.nan, truth))
    utility = model.utility(X[unseen])
    return swapped_pairs(truth[unseen], utility), model.agreement_[0, 1]
