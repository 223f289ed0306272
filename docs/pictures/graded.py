# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the models that learn from graded items."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tiebreak import NystroemMap, OrdinalSVM, RankRLS, RankSVM, SwapSVM
from tiebreak.metrics import swapped_pairs

from .style import BLUE, COLORS, GREEN, GREY, INK, ORANGE, panels, spread

__all__ = ["nystroem_map", "ordinal_svm", "rank_rls", "rank_svm", "swap_svm"]


def rank_svm(quick: bool) -> Figure:
    """What a pair costs, and how C and the kernel decide about new items."""
    cost, error = panels(2, 2.9)
    margin = np.linspace(-1, 3, 81)
    hinge = np.maximum(0, 1 - margin)
    cost.plot(margin, hinge, color=BLUE, label='loss="hinge"')
    cost.plot(margin, hinge**2, color=ORANGE, label='loss="squared_hinge"')
    cost.plot([-1, 0, 0, 3], [1, 1, 0, 0], ":", color=INK, label="a swapped pair")
    cost.set(xlabel="r(better) − r(worse)", ylabel="cost of one pair", ylim=(-0.1, 4))
    cost.set_title("a pair should be one apart")
    cost.legend(loc="upper right")

    rng = np.random.default_rng(0)
    size = 60
    X = rng.normal(size=(300 if quick else 600, 2))
    utility = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1]
    y = np.digitize(utility + 0.7 * rng.normal(size=len(X)), [-0.7, 0, 0.7])
    prices = np.logspace(-5, 1, 7 if quick else 13)
    for kernel, color in (("linear", GREY), ("rbf", BLUE)):
        model = RankSVM(kernel=kernel, loss="squared_hinge")
        fits = model.path(X[:size], y[:size], prices)
        lost = [1 - fit.score(X[size:], y[size:]) for fit in fits]
        error.semilogx(prices, lost, color=color, label=f'kernel="{kernel}"')
    error.set(xlabel="C", ylabel="swapped pairs of new items", ylim=(0, None))
    error.set_title(f"{size} items, a curved utility")
    error.legend(loc="lower left")
    return cost.figure


def swap_svm(quick: bool) -> Figure:
    """Two orders of the same items: where lines cross, a pair is swapped."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(9, 2))
    y = X @ [1.0, 0.8] + 0.4 * rng.normal(size=9)
    axes = panels(2, 3.1)
    models = (
        ("by the first feature alone", X[:, 0]),
        ("by SwapSVM", SwapSVM(C=1.0, kernel="linear").fit(X, y).utility(X)),
    )
    for axis, (name, utility) in zip(axes, models, strict=True):
        place = np.argsort(np.argsort(y)), np.argsort(np.argsort(utility))
        for item in range(9):
            ends = place[0][item], place[1][item]
            moved = ends[0] != ends[1]
            axis.plot([0, 1], ends, "o-", color=ORANGE if moved else BLUE)
        count = round(swapped_pairs(y, utility) * 36)
        axis.set_title(f"{name}:\n{count} of 36 pairs swapped")
        axis.set_xticks([0, 1], ["by grade", "by utility"])
        axis.set(xlim=(-0.3, 1.3), yticks=[0, 8])
        axis.set_yticklabels(["worst", "best"])
    return axes[0].figure


def ordinal_svm(quick: bool) -> Figure:
    """Utilities of all items on one line, cut into grades by thresholds."""
    rng = np.random.default_rng(0)
    size = 80 if quick else 200
    X = rng.normal(size=(size, 3))
    y = np.digitize(X @ [2, 1, -1] + 0.5 * rng.normal(size=size), [-2.5, 0, 2.5]) + 1
    model = OrdinalSVM(kernel="linear").fit(X, y)
    (axis,) = panels(1, 2.9)
    utility = model.utility(X)
    for grade, color in zip(model.grades_, COLORS, strict=False):
        rows = y == grade
        heights = spread(rng, int(rows.sum()), grade)
        axis.plot(utility[rows], heights, ".", color=color, markersize=5)
    for number, threshold in enumerate(model.thresholds_, start=1):
        axis.axvline(threshold, color=INK, linewidth=1.0)
        axis.axvspan(threshold - 1, threshold + 1, color=GREY, alpha=0.15, linewidth=0)
        axis.annotate(
            f"b{'₀₁₂₃₄'[number]} = {threshold:.1f}".replace("-", "−"),
            (threshold, 4.5),
            ha="center",
            va="bottom",
        )
    axis.set_yticks(model.grades_, [f"grade {g:g}" for g in model.grades_])
    axis.set(xlabel="utility", ylim=(0.5, 4.5))
    axis.set_title("shaded: the margins, one to either side of a threshold", pad=18)
    return axis.figure


def rank_rls(quick: bool) -> Figure:
    """Swapped pairs of groups that were left out, for all alphas, in closed form."""
    rng = np.random.default_rng(0)
    groups, size = (8, 8) if quick else (30, 10)
    qid = np.repeat(np.arange(groups), size)
    X = rng.normal(size=(groups * size, 5))
    mood = 3 * rng.normal(size=groups)[qid]
    truth = np.sin(2 * X[:, 0]) + X[:, 1]
    y = truth + mood + 0.7 * rng.normal(size=len(X))
    alphas = np.logspace(-2, 5, 8 if quick else 22)
    trained = [
        swapped_pairs(y, model.utility(X), qid=qid)
        for model in RankRLS(gamma=0.2).path(X, y, alphas, qid=qid)
    ]
    left_out = [
        swapped_pairs(y, RankRLS(a, gamma=0.2).leave_group_out(X, y, qid=qid), qid=qid)
        for a in alphas
    ]
    curve, fit = panels(2, 2.9)
    curve.semilogx(alphas, trained, color=GREY, label="groups it was fitted on")
    curve.semilogx(alphas, left_out, color=BLUE, label="leave_group_out")
    best = int(np.argmin(left_out))
    curve.plot(alphas[best], left_out[best], "o", color=BLUE)
    curve.set(xlabel="alpha", ylabel="swapped pairs", ylim=(0, None))
    curve.set_title("the penalty that is best for new groups")
    curve.legend(loc="lower right")

    model = RankRLS(alphas[best], gamma=0.2).fit(X, y, qid=qid)
    utility = model.utility(X)
    for group, color in zip(range(3), (BLUE, ORANGE, GREEN), strict=True):
        rows = qid == group
        fit.plot(utility[rows], y[rows], "o", color=color, markersize=4)
        level = np.mean(y[rows] - utility[rows])
        ends = np.array([utility[rows].min(), utility[rows].max()])
        fit.plot(ends, ends + level, color=color, linewidth=1.0)
    fit.set(xlabel="utility", ylabel="grade")
    fit.set_title("three groups: only differences are fitted")
    return curve.figure


def nystroem_map(quick: bool) -> Figure:
    """What landmarks leave of the kernel, and what that does to a ranking."""
    rng = np.random.default_rng(0)
    numbers = [5, 20, 80] if quick else [5, 10, 20, 40, 80, 160, 320]
    error, swapped = panels(2, 2.9)
    for features, color in ((2, BLUE), (5, ORANGE), (20, GREEN)):
        X = rng.normal(size=(300 if quick else 2000, features))
        left = [
            NystroemMap(n_landmarks=m, tol=1e-12, random_state=0).fit(X).mean_error_
            for m in numbers
        ]
        error.loglog(numbers, left, "o-", color=color, markersize=3)
        named = {2: 1, 5: -2, 20: -2}[features]
        error.annotate(
            f"p = {features}",
            (numbers[named], left[named]),
            (-2, -12) if features < 20 else (-2, 6),
            textcoords="offset points",
            color=color,
            ha="right",
        )
    error.set(xlabel="landmarks", ylabel="mean_error_", ylim=(1e-6, 3))
    error.set_title("what is left of the kernel, p features")

    X = rng.normal(size=(600 if quick else 3000, 2))
    utility = np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1])
    y = np.digitize(utility + 0.3 * rng.normal(size=len(X)), [-1, 0, 1])
    half = len(X) // 2
    ranker = RankSVM(C=1e-3, kernel="linear", loss="squared_hinge")
    lost = []
    for m in numbers:
        features = NystroemMap(n_landmarks=m, random_state=0).fit(X[:half])
        model = ranker.fit(features.transform(X[:half]), y[:half])
        lost.append(1 - model.score(features.transform(X[half:]), y[half:]))
    swapped.semilogx(numbers, lost, "o-", color=BLUE, markersize=3, label="on the map")
    plain = 1 - ranker.fit(X[:half], y[:half]).score(X[half:], y[half:])
    swapped.axhline(plain, color=GREY, linestyle=":", label="on the features")
    swapped.set(xlabel="landmarks", ylabel="swapped pairs of new items", ylim=(0, None))
    swapped.set_title("RankSVM on the map, p = 2")
    swapped.legend()
    return error.figure
