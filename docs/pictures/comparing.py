# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the models that learn from comparisons."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tiebreak import (
    BoostedUtility,
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)
from tiebreak.datasets import make_norms, make_separable
from tiebreak.metrics import comparison_auc, comparison_roc_curve

from .style import BLUE, GREY, INK, ORANGE, panels, spread

__all__ = [
    "boosted_utility",
    "logistic_compare",
    "majority_compare",
    "max_margin_compare",
    "svm_compare",
    "threshold_compare",
]


def svm_compare(quick: bool) -> Figure:
    """Level curves one threshold apart, and the band in which pairs tie."""
    data = make_norms(60 if quick else 100, norm=1, random_state=3)
    model = SVMCompare(C=10, gamma=0.5, tie_weight=1).fit(data.pairs, data.y)
    plane, line = panels(2, 3.1, ratios=(2, 3))

    ends = np.asarray(data.pairs)
    side = np.linspace(-2.6, 2.6, 30 if quick else 40)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    height = model.utility(grid).reshape(len(side), len(side))
    levels = np.arange(height.min(), height.max(), model.threshold_)
    plane.contour(
        side, side, height, levels, colors=GREY, linestyles="-", linewidths=0.7
    )
    gap = np.full((len(ends), 1, 2), np.nan)  # so that one line draws all pairs
    lines = np.concatenate([ends, gap], axis=1)
    for tied, color in ((True, ORANGE), (False, BLUE)):
        drawn = lines[(data.y == 0) == tied].reshape(-1, 2)
        plane.plot(*drawn.T, color=color, linewidth=1.0)
    plane.set(aspect="equal", xlim=(-2.6, 2.6), ylim=(-2.6, 2.6))
    plane.set_title("pairs, and level curves of the utility\none threshold apart")

    rng = np.random.default_rng(0)
    toward_winner = np.where(data.y < 0, -1, 1) * model.difference(data.pairs)
    _band(line, model.threshold_)
    for place, outcome, color in ((1, 1, BLUE), (0, 0, ORANGE)):
        rows = (data.y != 0) == outcome
        heights = spread(rng, int(rows.sum()), place)
        line.plot(toward_winner[rows], heights, ".", color=color, markersize=4)
    for edge in (1 - model.intercept_, -1 - model.intercept_, 1 + model.intercept_):
        line.axvline(edge, color=GREY, linestyle=":", linewidth=1.0)
    line.set_yticks([0, 1], ["ties", "wins,\ntoward\nthe winner"])
    line.set_xlabel("difference of utilities")
    line.set_title("shaded: predicted to tie; dotted: margins")
    return plane.figure


def boosted_utility(quick: bool) -> Figure:
    """Held-out items say how many trees to grow; trees learn an interaction."""
    rng = np.random.default_rng(0)
    n, rows = (60, 300) if quick else (300, 2000)
    items = rng.uniform(-1, 1, size=(n, 3))
    left = rng.integers(n, size=rows)
    right = (left + rng.integers(1, n, size=rows)) % n
    value = 4 * items[:, 0] * items[:, 1]
    gap = value[right] - value[left] + rng.logistic(0, 0.5, size=rows)
    y = np.where(np.abs(gap) < 0.5, 0, np.sign(gap))
    model = BoostedUtility(
        20 if quick else 250, learning_rate=0.1, n_iter_no_change=60, n_folds=3
    ).fit(Pairs(items, left, right), y)
    curves, shape = panels(2, 2.9)
    held_out = model.validation_curve_
    curves.plot(held_out / held_out[0], color=BLUE, label="held-out items")
    steps = 1 + np.arange(model.n_iter_)
    learned = model.loss_curve_ / model.loss_curve_[0]
    curves.plot(steps, learned, ":", color=GREY, label="training comparisons")
    best = model.n_iter_
    curves.plot(best, held_out[best] / held_out[0], "o", color=BLUE)
    curves.set(xlabel="trees", ylabel="loss, relative to its start")
    curves.set_title("the loss of held-out items decides")
    curves.legend(loc="upper right")

    line = np.zeros((121, 3))
    line[:, 0] = np.linspace(-1, 1, 121)
    for other, color in ((0.8, BLUE), (-0.8, ORANGE)):
        line[:, 1] = other
        learned = model.utility(line)
        label = f"feature 2 is {other}".replace("-", "−")
        shape.plot(line[:, 0], learned - learned.mean(), color=color, label=label)
        slope = np.ptp(learned) / 2
        shape.plot(line[:, 0], np.sign(other) * slope * line[:, 0], ":", color=color)
    shape.set(xlabel="feature 1", ylabel="utility, mean 0")
    shape.set_title("an interaction; dotted: its true shape")
    shape.legend(loc="upper center", fontsize=7.5)
    return curves.figure


def max_margin_compare(quick: bool) -> Figure:
    """The widest gap between ties and wins, and what scales do to it."""
    data = make_separable(30 if quick else 40, scale=(1, 4), random_state=5)
    left, right = np.moveaxis(np.asarray(data.pairs), 1, 0)
    away = np.where(data.y < 0, -1, 1)[:, None] * (right - left)
    axes = panels(2, 3.2)
    for axis, program in zip(axes, ("lp", "qp"), strict=True):
        model = MaxMarginCompare(program).fit(data.pairs, data.y)
        for outcome, color, marker in ((0, ORANGE, "o"), (1, BLUE, "x")):
            rows = (data.y != 0) == outcome
            axis.plot(*away[rows].T, marker, color=color, markersize=4)
        reach = 1.1 * np.abs(away).max(axis=0)
        x = np.array([-reach[0], reach[0]])
        for value, style in (
            (1, "-"),
            (1 + model.margin_, ":"),
            (1 - model.margin_, ":"),
        ):
            for sign in (1, -1) if value <= 1 else (1,):
                y = (sign * value - model.coef_[0] * x) / model.coef_[1]
                axis.plot(x, y, color=INK, linestyle=style, linewidth=1.0)
        axis.set(xlim=x, ylim=(-reach[1], reach[1]), xlabel="difference, feature 1")
        axis.set_title(f'program="{program}": margin μ = {model.margin_:.3f}')
    axes[0].set_ylabel("difference, feature 2")
    axes[0].plot([], [], "x", color=BLUE, markersize=4, label="wins, turned")
    axes[0].plot([], [], "o", color=ORANGE, markersize=4, label="ties")
    axes[0].legend(loc="upper right", frameon=True, framealpha=1.0)
    return axes[0].figure


def logistic_compare(quick: bool) -> Figure:
    """Probabilities of the three outcomes against the difference of utilities."""
    data = make_norms(100 if quick else 400, norm=2, noise=1.0, random_state=0)
    squares = np.asarray(data.pairs) ** 2
    axes = panels(2, 2.9)
    for axis, link in zip(axes, ("davidson", "cumulative"), strict=True):
        model = LogisticCompare(0.1, link=link).fit(squares, data.y)
        scale = 1 / np.linalg.norm(model.coef_)
        d = np.linspace(-6, 6, 81)
        ends = np.zeros((len(d), 2, 2))
        ends[:, 1] = d[:, None] * scale * model.coef_ / np.linalg.norm(model.coef_)
        shares = model.predict_proba(ends)
        for column, (name, color) in enumerate(
            (("left", BLUE), ("tie", ORANGE), ("right", INK))
        ):
            axis.plot(d, shares[:, column], color=color, label=name)
        _band(axis, model.threshold_)
        axis.set(ylim=(0, 1), xlabel="d = r(right) − r(left)")
        symbol = "ν" if link == "davidson" else "θ"
        axis.set_title(f'link="{link}", {symbol} = {model.tie_:.1f}')
    axes[0].set_ylabel("probability")
    axes[1].legend(loc="center right")
    return axes[0].figure


def threshold_compare(quick: bool) -> Figure:
    """Training errors for every threshold; all steps are known from one sort."""
    data = make_norms(80 if quick else 120, norm=2, random_state=1)
    model = ThresholdCompare(RankSVM(C=10, gamma=0.25)).fit(data.pairs, data.y)
    difference = model.difference(data.pairs)
    right_sign = np.sign(difference) == data.y
    steps = np.concatenate([[0.0], np.sort(np.abs(difference))])
    error = [
        np.mean(np.where(np.abs(difference) <= tau, data.y != 0, ~right_sign))
        for tau in steps
    ]
    curve, line = panels(2, 2.9)
    curve.step(steps, error, where="post", color=BLUE)
    curve.axvline(model.threshold_, color=INK, linestyle=":", linewidth=1.0)
    curve.annotate(
        f"τ = {model.threshold_:.2f}",
        (model.threshold_, max(error)),
        (5, -4),
        textcoords="offset points",
        va="top",
    )
    curve.set(xlabel="threshold τ", ylabel="training error", ylim=(0, None))
    curve.set_title("errors change only where τ passes a pair")

    rng = np.random.default_rng(0)
    _band(line, model.threshold_)
    for place, outcome, color in ((2, -1, BLUE), (1, 0, ORANGE), (0, 1, INK)):
        rows = data.y == outcome
        heights = spread(rng, int(rows.sum()), place)
        line.plot(difference[rows], heights, ".", color=color, markersize=4)
    line.set_yticks([2, 1, 0], ["left", "tie", "right"])
    line.set_xlabel("difference of utilities")
    line.set_title("shaded: predicted to tie")
    return curve.figure


def majority_compare(quick: bool) -> Figure:
    """The baseline is a straight line; a model has to be above it."""
    size = 100 if quick else 300
    train, test = (make_norms(size, norm=2, random_state=seed) for seed in (0, 1))
    rank = RankSVM(C=10, gamma=0.25).fit(train.pairs, train.y)
    base = MajorityCompare().fit(train.pairs, train.y)
    shares, curve = panels(2, 2.9)
    shares.bar(["left", "tie", "right"], base.shares_, color=[BLUE, ORANGE, INK])
    shares.set_ylabel("share of training comparisons")
    side = {-1: "left", 1: "right"}[base.outcome_]
    shares.set_title(f"it always says {side}")
    for model, color in ((rank, BLUE), (base, GREY)):
        difference = model.difference(test.pairs)
        fpr, tpr, _ = comparison_roc_curve(test.y, difference)
        area = comparison_auc(test.y, difference)
        name = f"{type(model).__name__}, area {area:.2f}"
        curve.plot(fpr, tpr, color=color, label=name)
    curve.set(xlabel="ties called different", ylabel="others, right sign")
    curve.set(xlim=(0, 1), ylim=(0, 1))
    curve.set_title("ROC curve for three outcomes, test pairs")
    curve.legend(loc="lower right")
    return shares.figure


def _band(axis: Axes, threshold: float) -> None:
    # What is predicted to tie.
    axis.axvspan(-threshold, threshold, color=ORANGE, alpha=0.15, linewidth=0)
