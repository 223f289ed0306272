# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the models that learn from ranked lists of items with features."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from tiebreak import ExpectedRankRegression, HedgeOrder, Orders, OrderSVM, RankBoost
from tiebreak.metrics import swapped_pairs

from .style import BLUE, COLORS, GREY, INK, ORANGE, panels, spread

__all__ = ["expected_rank_regression", "hedge_order", "order_svm", "rank_boost"]


def rank_boost(quick: bool) -> Figure:
    """The loss falls round by round; the error of new lists decides when to stop."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(200, 4))
    truth = np.sin(2 * items[:, 0]) + 0.5 * items[:, 1]
    orders = _sorted_lists(rng, items, truth, 20 if quick else 60, 6, 0.6)
    fresh = _sorted_lists(rng, items, truth, 20 if quick else 100, 6, 0.0)
    X, y, qid = fresh.grades()
    rounds = 20 if quick else 150
    curves, shape = panels(2, 2.9)
    for weak, color in (("feature", GREY), ("stump", BLUE)):
        model = RankBoost(rounds, weak=weak).fit(orders)
        swapped = [
            swapped_pairs(y, utility, qid) for utility in model.staged_utility(X)
        ]
        steps = 1 + np.arange(len(model.loss_curve_))
        curves.plot(steps, model.loss_curve_, ":", color=color)
        curves.plot(steps, swapped, color=color, label=f'weak="{weak}"')
        best = int(np.argmin(swapped))
        curves.plot(best + 1, swapped[best], "o", color=color)
    curves.set(xlabel="rounds", ylim=(0, 1), ylabel="loss, swapped pairs")
    curves.set_title("dotted: loss; solid: swapped pairs of new lists")
    curves.legend(loc="center right", bbox_to_anchor=(1, 0.68))

    line = np.zeros((121, 4))
    line[:, 0] = np.linspace(-2.5, 2.5, 121)
    utility = model.utility(line)
    shape.plot(
        line[:, 0], utility - utility.mean(), color=BLUE, label="learned from stumps"
    )
    scale = np.ptp(utility) / 2
    shape.plot(
        line[:, 0],
        scale * np.sin(2 * line[:, 0]),
        "--",
        color=INK,
        label="truth, scaled",
    )
    shape.set(xlabel="feature 1", ylabel="part of the utility")
    shape.set_title("a sum of steps can follow a curve")
    shape.set_ylim(-1.2 * scale, 1.7 * scale)
    shape.legend(loc="upper left", ncols=2, fontsize=7.5)
    return curves.figure


def hedge_order(quick: bool) -> Figure:
    """Weight moves to the best attribute; new lists like a mixture better."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(200, 5))
    truth = items @ [1.0, 0.8, 0.6, -0.4, 0.0]
    orders = _sorted_lists(rng, items, truth, 20 if quick else 100, 6, 0.2)
    fresh = _sorted_lists(rng, items, truth, 20 if quick else 60, 6, 0.0)
    counts = [1, 10, 100] if quick else [1, 3, 10, 20, 30, 60, 100, 200, 400, 800]
    weights, scores = [], []
    for count in counts:
        model = HedgeOrder(n_rounds=count).fit(orders)
        weights.append(model.weights_[0] - model.weights_[1])
        scores.append(model.score(fresh))
    vote, score = panels(2, 2.9)
    for attribute, color in zip(range(5), COLORS, strict=False):
        name = f"attribute {attribute + 1}"
        heights = [row[attribute] for row in weights]
        vote.semilogx(counts, heights, "o-", color=color, markersize=3, label=name)
    vote.set(xlabel="n_rounds", ylabel="weight − that of the negation")
    vote.set_title("in the end one attribute votes alone")
    vote.legend(fontsize=7.5)
    score.semilogx(counts, scores, "o-", color=BLUE, markersize=3)
    score.axvline(30, color=INK, linestyle=":", linewidth=1.0)
    score.annotate("default", (30, min(scores)), (4, 0), textcoords="offset points")
    score.set(xlabel="n_rounds", ylabel="pairs of new lists in order")
    score.set_title("a mixture orders better")
    return vote.figure


def expected_rank_regression(quick: bool) -> Figure:
    """Positions in the lists against a feature, and curves through them."""
    rng = np.random.default_rng(0)
    items = rng.uniform(-2, 2, (120, 1))
    truth = -((items[:, 0] - 0.5) ** 2)
    orders = _sorted_lists(rng, items, truth, 15 if quick else 40, 7, 0.5)
    place = np.tile(np.arange(1, 8) / 8, len(orders))
    degree_two = make_pipeline(PolynomialFeatures(2), LinearRegression())
    line = np.linspace(-2, 2, 81)[:, None]
    (axis,) = panels(1, 3.0, 5.6)
    axis.plot(items[orders.flat, 0], place, ".", color=GREY, markersize=4)
    for regressor, name, color in (
        (None, "LinearRegression()", ORANGE),
        (degree_two, "squares", BLUE),
    ):
        model = ExpectedRankRegression(regressor).fit(orders)
        axis.plot(line[:, 0], -model.utility(line), color=color, label=name)
    axis.set(xlabel="feature", ylabel="k / (n + 1), best at the top", ylim=(1.0, 0.0))
    axis.set_title("every item of every list, 7 items a list")
    axis.legend(loc="lower center")
    return axis.figure


def order_svm(quick: bool) -> Figure:
    """One machine for every cut, and the line that they share."""
    rng = np.random.default_rng(1)
    items = rng.uniform(0, 10, (60, 1))
    orders = _sorted_lists(
        rng, items, items[:, 0] ** 2 / 10, 12 if quick else 30, 4, 1.5
    )
    model = OrderSVM(C=1.0, coupling=0.3, kernel="linear").fit(orders)
    places, machines = panels(2, 2.9)
    x = items[orders.flat, 0]
    position = np.tile(np.arange(1, 5), len(orders))
    heights = spread(rng, len(x), 0) * 0.6 + position
    places.plot(x, heights, ".", color=GREY, markersize=4)
    for cut, color in zip(model.cuts_, COLORS, strict=False):
        places.axhline(cut + 0.5, color=color, linewidth=1.2)
        places.annotate(f"cut {cut}", (0, cut + 0.45), color=color, va="bottom")
    places.set(xlabel="feature", ylabel="place in the list", ylim=(4.6, 0.4))
    places.set_yticks([1, 2, 3, 4])
    places.set_title('"in the top t?" for every t')

    line = np.array([0.0, 10.0])
    for cut, color in zip(range(len(model.cuts_)), COLORS, strict=False):
        slope = model.coef_[0] + model.cut_coef_[cut, 0]
        height = slope * line - model.thresholds_[cut]
        machines.plot(line, height, color=color, label=f"cut {model.cuts_[cut]}")
    shared = model.coef_[0] * (line - 5)
    machines.plot(line, shared, "--", color=INK, label="shared: the utility")
    machines.axhline(0, color=GREY, linewidth=0.8)
    machines.set(xlabel="feature", ylabel="value of the machine")
    machines.set_title("above 0: in the top t")
    machines.legend(loc="upper left", fontsize=7.5)
    return places.figure


def _sorted_lists(
    rng: np.random.Generator,
    items: np.ndarray,
    truth: np.ndarray,
    count: int,
    length: int,
    noise: float,
) -> Orders:
    # Lists of random items, sorted by a utility with noise.
    rows = [rng.choice(len(items), length, replace=False) for _ in range(count)]
    seen = [truth[row] + noise * rng.normal(size=length) for row in rows]
    return Orders(
        items, [row[np.argsort(-u)] for row, u in zip(rows, seen, strict=True)]
    )
