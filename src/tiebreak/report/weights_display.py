# SPDX-License-Identifier: BSD-3-Clause
"""What matters: weights of features as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tiebreak.metrics.inputs import positive_integer
from tiebreak.report.figures import BLUE, GREY, INK, ORANGE, new_axes
from tiebreak.report.markup import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["WeightsDisplay"]

_LONGEST = 32


class WeightsDisplay:
    """Weights of features, the largest on top: right of zero they raise a utility.

    Parameters
    ----------
    weights : sequence of (str, float)
        Features and their weights.
    top : int, default=20
        How many to draw, by absolute value.

    Attributes
    ----------
    weights : list of (str, float)
        What is drawn, largest absolute value first.
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.

    Examples
    --------
    >>> from tiebreak.report import WeightsDisplay
    >>> WeightsDisplay([("size", 0.5), ("price", -2.0)]).weights
    [('price', -2.0), ('size', 0.5)]
    """

    def __init__(self, weights: Sequence[tuple[Any, float]], *, top: int = 20) -> None:
        positive_integer(top, "top")
        largest = sorted(weights, key=lambda pair: -abs(pair[1]))
        self.weights = [(name, float(weight)) for name, weight in largest][:top]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        WeightsDisplay
            Itself.
        """
        n = len(self.weights)
        axes = new_axes(ax, 5.4, 0.8 + 0.26 * n)
        place, size = np.arange(n), np.array([weight for _, weight in self.weights])
        colors = [BLUE if weight >= 0 else ORANGE for weight in size]
        axes.barh(place, size, color=colors, height=0.66)
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_yticks(place, [shorten(name, _LONGEST) for name, _ in self.weights])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_xlabel("weight")
        axes.set_axisbelow(True)
        axes.grid(axis="x", color=GREY, alpha=0.3, linewidth=0.6)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        return self
