# SPDX-License-Identifier: BSD-3-Clause
"""Figures 1 to 3: what a difference is, the two programs, and level curves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.figures import COLORS, add_legend, drawing
from papers.svmcompare.level_curves import draw_level_curves
from papers.svmcompare.methods import METHODS, choose, draw, judge
from tiebreak import MaxMarginCompare, OnItems
from tiebreak.data.atomic import atomic_path
from tiebreak.datasets import make_norms, make_separable

__all__ = ["agreements", "draw_differences", "draw_levels", "draw_programs", "margins"]

SEED = 2
KINDS = {0: ("tie", COLORS[6], "s"), 1: ("right is better", COLORS[0], "^")}
KINDS[-1] = ("left is better", COLORS[1], "v")


def draw_differences(path: Path) -> None:
    """Figure 1: pairs of points, their differences, and the differences of squares.

    Points are ranked by ‖x‖²: a line in the squares separates what no line separates in
    the points themselves.
    """
    data = make_norms(40, noise=0.0, random_state=2)
    values, pairs = data.pairs.values, data.pairs
    with drawing(path, 3) as (points, differences, squares):
        for kind, (name, color, mark) in KINDS.items():
            rows = data.y == kind
            left, right = values[pairs.left[rows]], values[pairs.right[rows]]
            points.plot(*np.stack([left, right]).T.swapaxes(1, 2), color=color, lw=0.9)
            points.plot(*right.T, mark, color=color, ms=3, label=name)
            differences.plot(*(right - left).T, mark, color=color, ms=4)
            squares.plot(*(right**2 - left**2).T, mark, color=color, ms=4)
        ends = np.array([-6.0, 6.0])
        for level in (-1.0, 1.0):
            squares.plot(ends, level - ends, color="#777777", lw=1)
        squares.set(xlim=(-5, 5), ylim=(-5, 5), title="differences of squares")
        points.set_title("pairs")
        differences.set_title("differences")
        add_legend(points)


def margins() -> list[dict[str, Any]]:
    """Give the margins of both programs, before and after scaling."""
    data = make_separable(40, scale=(1.0, 10.0), random_state=SEED)
    found = []
    for scaled in (False, True):
        for program in ("lp", "qp"):
            model = MaxMarginCompare(program)
            if scaled:
                model = make_pipeline(OnItems(StandardScaler()), model)
            model.fit(data.pairs, data.y)
            last = model[-1] if scaled else model
            found.append(
                {
                    "program": program,
                    "scaled": scaled,
                    "margin": last.margin_,
                    "coef": last.coef_,
                }
            )
    return found


def agreements(n_features: int, n_draws: int) -> tuple[int, float]:
    """Compare both programs on scaled data, draw after draw.

    Parameters
    ----------
    n_features : int
        Number of features.
    n_draws : int
        Number of data sets.

    Returns
    -------
    int
        How often the margins are equal, to four digits.
    float
        The largest margin of the quadratic program in units of the linear one's.
    """
    ratios = []
    for seed in range(n_draws):
        data = make_separable(40, n_features=n_features, random_state=seed)
        margin = {}
        for program in ("lp", "qp"):
            model = make_pipeline(OnItems(StandardScaler()), MaxMarginCompare(program))
            margin[program] = model.fit(data.pairs, data.y)[-1].margin_
        ratios.append(margin["qp"] / margin["lp"])
    return sum(abs(ratio - 1.0) < 1e-4 for ratio in ratios), max(ratios)


def draw_programs(path: Path) -> None:
    """Figure 2: both programs in the plane of differences, raw and scaled."""
    data = make_separable(40, scale=(1.0, 10.0), random_state=SEED)
    found = margins()
    scaler = StandardScaler().fit(data.pairs.values)
    with drawing(path, 3) as (*both, legend):
        for axes, scaled in zip(both, (False, True), strict=True):
            values = data.pairs.values
            values = scaler.transform(values) if scaled else values
            d = values[data.pairs.right] - values[data.pairs.left]
            for kind, (name, color, mark) in KINDS.items():
                axes.plot(*d[data.y == kind].T, mark, color=color, ms=4, label=name)
            reach = 1.1 * np.abs(d).max(axis=0)
            for fit, style in zip(found[2 * scaled :], ("-", "--"), strict=False):
                _draw_borders(axes, fit["coef"], reach[0], style, fit["program"])
            axes.set(xlim=(-reach[0], reach[0]), ylim=(-reach[1], reach[1]))
            axes.set_title("scaled" if scaled else "not scaled")
        legend.set_axis_off()
        legend.legend(*both[0].get_legend_handles_labels(), loc="center left")


def _draw_borders(
    axes: Any, w: np.ndarray, reach: float, style: str, name: str
) -> None:
    ends = np.array([-reach, reach])
    for level in (-1.0, 1.0):
        label = f"{name.upper()}: border of a tie" if level > 0 else None
        color = "#777777" if style == "-" else COLORS[3]
        axes.plot(ends, (level - w[0] * ends) / w[1], style, color=color, label=label)


class _Learned(NamedTuple):
    """A fitted pipeline, as the picture of level curves takes it."""

    utility: Callable[[np.ndarray], np.ndarray]
    threshold_: float


def draw_levels(path: Path, quick: bool) -> dict[str, float]:
    """Figure 3: training pairs and the level curves that three methods learn.

    Returns
    -------
    dict of str to float
        Test error of every method.
    """
    train, valid, test = draw("l1", 100, 0.5, 0)
    models, errors = {}, {}
    for method in METHODS:
        model, _ = choose(method, train, valid, "error", 3 if quick else 10)
        models[method] = _Learned(model.predict, model[-1].threshold_)
        errors[method] = judge(model, test)["error"]
    true = make_norms(1, norm=1, random_state=0).utility
    with rc_context({"svg.hashsalt": path.name}):
        figure = draw_level_curves(models, *train, utility=true, resolution=41)
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})
    return errors
