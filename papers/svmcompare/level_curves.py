# SPDX-License-Identifier: BSD-3-Clause
"""Level curves of learned utilities in the plane, next to the pairs they learned from.

When curves are drawn one threshold apart, a model calls a pair a tie when its two ends
are no further apart than two neighboring curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from tiebreak.data import Pairs, as_pairs, check_outcomes

# Orange and blue of Okabe and Ito, told apart with every common color blindness and in
# grey; ties and non-ties also differ in shape.
_TIE, _BETTER = "#D55E00", "#0072B2"
# One hue, pale to dark: higher utility is darker, in color and in grey.
_FILL = LinearSegmentedColormap.from_list("utility", ["#FFFFFF", "#9FC3DE", "#4A83B0"])
_LINE, _TRUE_LINE, _FAINT = "#1F3B57", "#A6A6A6", "#5A5A5A"

_PANELS_PER_ROW, _MOST_CURVES = 4, 24
_BLOCK = 4096  # grid points evaluated at once, which bounds a model's kernel block

Utility = Callable[[np.ndarray], np.ndarray]


def draw_level_curves(
    models: Mapping[str, Any],
    pairs: Any,
    y: ArrayLike,
    *,
    utility: Utility | None = None,
    threshold: float = 1.0,
    resolution: int = 121,
) -> Figure:
    """Draw training pairs and the level curves that models learned from them.

    The first panel shows the pairs: a tie is a segment, any other pair an arrow to the
    better item, over grey level curves of the true utility where it is known. A panel
    with the level curves of each model follows. Where a threshold is known
    (`threshold`, or a positive ``threshold_`` of a model) neighboring curves are k
    thresholds apart, with the smallest integer k that needs at most 24 curves, written
    above the panel. Otherwise 24 evenly spaced curves are drawn.

    Parameters
    ----------
    models : mapping of str to model
        Panel titles, and objects with ``utility(X)`` for items of shape (n, 2).
    pairs : Pairs or array-like of shape (n_pairs, 2, 2)
        The training pairs, of items with exactly two features.
    y : array-like of shape (n_pairs,)
        Outcomes: -1 left better, 0 tie, +1 right better.
    utility : callable, optional
        The true utility of items of shape (n, 2).
    threshold : float, default=1.0
        The tie threshold of `utility`.
    resolution : int, default=121
        Points of the grid in each direction.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without pyplot, which needs no closing.
    """
    compared = as_pairs(pairs)
    items = _plane(compared)
    outcomes = check_outcomes(y, len(compared))
    grid = _grid(items, resolution)

    labels = compared.feature_names or ("feature 1", "feature 2")
    figure, axes = _panels(1 + len(models), grid, labels)
    note = ""
    if utility is not None:
        where, note = _levels(_evaluate(utility, items), threshold)
        _draw_curves(axes[0], grid, utility, where, _TRUE_LINE)
        note = f"grey, true utility: {note}"
    _draw_pairs(axes[0], np.asarray(compared), outcomes)
    _title(axes[0], "training pairs", note)
    for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
        learned, threshold_ = _with_names(model), getattr(model, "threshold_", None)
        where, note = _levels(_evaluate(learned, items), threshold_)
        _draw_curves(axis, grid, learned, where, _LINE, fill=True)
        _title(axis, name, note)
    _legend(figure, filled=bool(models))
    return figure


def _plane(pairs: Pairs) -> np.ndarray:
    """Give the items that are compared, as an array of shape (N, 2)."""
    if len(pairs) == 0 or pairs.items is None or pairs.items.n_features != 2:
        raise ValueError(f"Curves need items with exactly 2 features, got {pairs!r}.")
    return pairs.compact().table.dense()


def _with_names(model: Any) -> Utility:
    """Give the utility of points, with feature names if the model has them."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return model.utility
    return lambda points: model.utility(pl.DataFrame(points, schema=list(names)))


def _grid(items: np.ndarray, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """Grid coordinates along both axes, a little beyond the drawn items."""
    low, high = items.min(axis=0), items.max(axis=0)
    extent = high - low
    if extent.max() == 0:
        extent = np.ones(2)
    elif extent.min() > extent.max() / 3:
        # Features on one scale get a square, so that shapes are not distorted.
        extent = np.full(2, extent.max())
    extent = np.where(extent > 0, extent, extent.max())
    center, reach = (low + high) / 2, 0.54 * extent
    ends = zip(center - reach, center + reach, strict=True)
    x, y = (np.linspace(start, end, resolution) for start, end in ends)
    return x, y


def _evaluate(function: Utility, points: np.ndarray) -> np.ndarray:
    """Utilities of the points, evaluated in blocks."""
    starts = range(0, len(points), _BLOCK)
    return np.concatenate([function(points[at : at + _BLOCK]) for at in starts])


def _levels(values: np.ndarray, threshold: float | None) -> tuple[np.ndarray, str]:
    """Choose the levels of the curves, and describe their distance."""
    low, high = float(values.min()), float(values.max())
    span = high - low
    # A span within rounding of a constant would draw noise as if it were a shape.
    if span <= 1e-12 * max(abs(low), abs(high)):
        return np.empty(0), "equal for all items"
    if threshold is None or not (0 < threshold < math.inf):
        inner = np.linspace(low, high, _MOST_CURVES + 2)[1:-1]
        return inner, "evenly spaced curves"
    factor = max(1, math.ceil(span / (threshold * (_MOST_CURVES + 1))))
    if span <= threshold:
        return np.empty(0), "no two items differ by a threshold"
    steps = np.arange(1, math.ceil(span / (factor * threshold)))
    words = "one threshold" if factor == 1 else f"{factor} thresholds"
    return low + factor * threshold * steps, f"curves {words} apart"


def _panels(
    count: int, grid: tuple[np.ndarray, np.ndarray], labels: tuple[str, ...]
) -> tuple[Figure, list[Axes]]:
    columns = min(count, _PANELS_PER_ROW)
    rows = math.ceil(count / columns)
    size = 2.8 * columns + 0.3, 3.5 * rows + 0.4
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.remove()
    for i, axis in enumerate(axes[:count]):
        axis.set_box_aspect(1)
        axis.set_xlim(grid[0][0], grid[0][-1])
        axis.set_ylim(grid[1][0], grid[1][-1])
        axis.set_xlabel(labels[0], fontsize=9)
        axis.set_ylabel(labels[1] if i % columns == 0 else "", fontsize=9)
        axis.tick_params(labelsize=8, labelleft=i % columns == 0)
    return figure, axes[:count]


def _title(axis: Axes, name: str, note: str) -> None:
    axis.set_title(name, fontsize=11, pad=18)
    place: dict[str, Any] = {"transform": axis.transAxes, "ha": "center"}
    axis.text(0.5, 1.025, note, **place, fontsize=7.5, color=_FAINT)


def _draw_pairs(axis: Axes, ends: np.ndarray, outcomes: np.ndarray) -> None:
    ties = ends[outcomes == 0]
    axis.add_collection(
        LineCollection(list(ties), colors=_TIE, linewidths=1.3, capstyle="round"),
        autolim=False,
    )
    others = ends[outcomes != 0]
    right_better = outcomes[outcomes != 0, None] > 0
    worse = np.where(right_better, others[:, 0], others[:, 1])
    better = np.where(right_better, others[:, 1], others[:, 0])
    if len(others):
        shape: dict[str, Any] = {"headwidth": 4.6, "headlength": 5.4, "zorder": 3}
        shape |= {"headaxislength": 4.8, "scale": 1, "width": 0.012}
        shape |= {"angles": "xy", "scale_units": "xy", "units": "inches"}
        axis.quiver(*worse.T, *(better - worse).T, color=_BETTER, **shape)


def _draw_curves(
    axis: Axes,
    grid: tuple[np.ndarray, np.ndarray],
    function: Utility,
    where: np.ndarray,
    color: str,
    *,
    fill: bool = False,
) -> None:
    points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)
    values = _evaluate(function, points).reshape(len(grid[1]), len(grid[0]))
    # Matplotlib warns about levels beyond the values; there is nothing to draw there.
    inside = where[(where > values.min()) & (where < values.max())]
    if not len(inside):
        return
    if fill:
        bounds = [values.min(), *inside, values.max()]
        shades = _FILL(np.linspace(0.0, 1.0, len(bounds) - 1))
        axis.contourf(*grid, values, levels=bounds, colors=shades)
    axis.contour(
        *grid, values, levels=inside, colors=color, linewidths=0.7, linestyles="solid"
    )


def _legend(figure: Figure, *, filled: bool) -> None:
    arrow: dict[str, Any] = {"marker": ">", "markersize": 5, "markevery": [1]}
    handles: list[Artist] = [
        Line2D([], [], color=_TIE, linewidth=1.3, label="tie"),
        Line2D([], [], color=_BETTER, label="arrow to the better item", **arrow),
    ]
    if filled:
        dark = Patch(facecolor=_FILL(1.0), edgecolor=_LINE)
        dark.set_label("darker: higher utility")
        handles.append(dark)
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(handles)}
    figure.legend(handles=handles, **place, frameon=False, fontsize=8)
