# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a leaderboard: ratings with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from tiebreak.metrics.inputs import positive_integer
from tiebreak.report.figures import BLUE, GREY, new_axes
from tiebreak.report.markup import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tiebreak.ratings import Leaderboard

__all__ = ["LeaderboardDisplay"]

_LONGEST = 32


class LeaderboardDisplay:
    """Ratings of items, best on top, each with its interval.

    Parameters
    ----------
    item : sequence of shape (n,)
        Names, best first.
    rating : array-like of shape (n,)
        Ratings.
    lower, upper : array-like of shape (n,), optional
        Intervals; NaN where there is none.
    level : float, optional
        Confidence of the intervals, for the label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Leaderboard
    >>> from tiebreak.datasets import load_worldcup2022
    >>> from tiebreak.report import LeaderboardDisplay
    >>> cup = load_worldcup2022()
    >>> model = BradleyTerry(alpha=0.1).fit(cup.pairs, cup.y)
    >>> display = LeaderboardDisplay.from_leaderboard(Leaderboard(model), top=5)
    >>> [label.get_text() for label in display.plot().ax_.get_yticklabels()][:2]
    ['France', 'Argentina']
    """

    def __init__(
        self,
        item: Sequence[Any],
        rating: ArrayLike,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        level: float | None = None,
    ) -> None:
        self.item = list(item)
        self.rating = np.asarray(rating, dtype=np.float64)
        self.lower = None if lower is None else np.asarray(lower, dtype=np.float64)
        self.upper = None if upper is None else np.asarray(upper, dtype=np.float64)
        self.level = level

    @classmethod
    def from_leaderboard(cls, board: Leaderboard, *, top: int = 30) -> Self:
        """Take the best items of a leaderboard.

        Parameters
        ----------
        board : Leaderboard
            Where from.
        top : int, default=30
            How many items.

        Returns
        -------
        LeaderboardDisplay
        """
        positive_integer(top, "top")
        best = board.table.head(top)
        ends: dict[str, Any] = {"lower": None, "upper": None}
        if not best["lower"].is_null().all():
            ends = {name: best[name].cast(pl.Float64).to_numpy() for name in ends}
        return cls(
            best["item"].to_list(),
            best["rating"].to_numpy(),
            **ends,
            level=board.level if ends["lower"] is not None else None,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        LeaderboardDisplay
            Itself.
        """
        n = len(self.item)
        axes = new_axes(ax, 6.4, 1.0 + 0.24 * n)
        place = np.arange(n)
        if self.lower is not None and self.upper is not None:
            axes.hlines(place, self.lower, self.upper, color=GREY, linewidth=2.0)
        axes.plot(self.rating, place, "o", color=BLUE, markersize=5)
        axes.set_yticks(place, [shorten(name, _LONGEST) for name in self.item])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(n - 0.5, -0.5)
        sure = "" if self.level is None else f", with {100 * self.level:g} % interval"
        axes.set_xlabel(f"rating{sure}")
        axes.set_axisbelow(True)
        axes.grid(axis="x", color=GREY, alpha=0.3, linewidth=0.6)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        return self
