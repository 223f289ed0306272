# SPDX-License-Identifier: BSD-3-Clause
"""Ratings over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.metrics.inputs import positive_integer
from tiebreak.report.figures import BLUE, GREY, INK, ORANGE, new_axes
from tiebreak.report.markup import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["HistoryDisplay"]

_TIMES = ("time", "period", "row")
_POINTS = 150  # of one line; more cannot be told apart
_FEW = 30  # so many are drawn as points too
_LONGEST = 24
# Eight lines that differ in color or dashes, so that color is never alone.
_STYLES = [
    (color, dashes) for dashes in ("-", (0, (4, 1.5))) for color in (BLUE, ORANGE)
] + [(color, dashes) for dashes in ("-.", (0, (1, 1))) for color in (INK, GREY)]


class HistoryDisplay:
    """Ratings of items over time, one line each, named at its end.

    Parameters
    ----------
    history : polars.DataFrame
        Columns ``time`` (or ``period``, or ``row``), ``item`` and ``rating``: the
        rating of an item after an update; null for a gap in its line. Times are dates,
        numbers, or text in its order of appearance.
    items : list, optional
        What to draw, in order; by default the `top` items of the highest last rating.
    top : int, default=8
        How many items to draw.

    Attributes
    ----------
    items : list
        What is drawn.
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.

    Examples
    --------
    >>> from tiebreak import Elo, Pairs
    >>> from tiebreak.report import HistoryDisplay
    >>> games = Pairs(None, ["Ada", "Bo", "Ada"], ["Bo", "Cy", "Cy"])
    >>> HistoryDisplay(Elo().fit(games, [-1, -1, -1]).history_, top=2).items
    ['Ada', 'Bo']
    """

    def __init__(
        self, history: pl.DataFrame, items: list[Any] | None = None, *, top: int = 8
    ) -> None:
        positive_integer(top, "top")
        time = next((name for name in _TIMES if name in history.columns), None)
        if time is None or not {"item", "rating"} <= set(history.columns):
            raise ValueError(
                f"A history has the columns {history.columns}; expected 'item', "
                "'rating', and one of 'time', 'period' and 'row'."
            )
        self.time_name = time
        self.history = history.select(
            pl.col(time).alias("time"), "item", pl.col("rating").cast(pl.Float64)
        )
        if items is None:
            rated = history.filter(pl.col("rating").is_not_null())
            last = rated.group_by("item", maintain_order=True).last()
            best = last.sort("rating", descending=True, maintain_order=True)
            items = best["item"].to_list()
        self.items = list(items)[:top]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        HistoryDisplay
            Itself.
        """
        axes = new_axes(ax, 7.2, 4.2)
        time, is_date = _numbers(self.history["time"])
        frame = self.history.with_columns(pl.Series("time", time))
        ends = []
        for place, item in enumerate(self.items):
            line = _thin(frame.filter(pl.col("item") == item))
            color, dashes = _STYLES[place % len(_STYLES)]
            x, y = line["time"].to_numpy(), line["rating"].to_numpy()
            # Few points are marked: one between two gaps would not be seen.
            marker = "o" if len(y) <= _FEW else None
            axes.plot(
                x,
                y,
                color=color,
                linestyle=dashes,
                linewidth=1.5,
                marker=marker,
                markersize=4,
            )
            rated = np.flatnonzero(np.isfinite(y))
            if len(rated):
                ends.append((x[rated[-1]], y[rated[-1]], item, color))
        if is_date:
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator(minticks=4, maxticks=9)
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        elif self.history["time"].dtype == pl.String:
            names = self.history["time"].unique(maintain_order=True).to_list()
            shown = np.unique(
                np.linspace(0, len(names) - 1, min(len(names), 7)).round()
            )
            labels = [shorten(names[int(i)], 12) for i in shown]
            for label in axes.set_xticks(shown, labels):
                label.label1.set_parse_math(False)
        else:
            axes.set_xlabel({"row": "number of the result"}.get(self.time_name, "time"))
        axes.set_ylabel("rating")
        axes.grid(color=GREY, alpha=0.3, linewidth=0.6)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        _name_ends(axes, ends)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        return self


def _numbers(time: pl.Series) -> tuple[NDArray[np.float64], bool]:
    """Give times as numbers for an axis, and whether they are dates."""
    if time.dtype.is_temporal() and time.dtype not in (pl.Time, pl.Duration):
        days = time.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]")
        return days.astype(np.int64) / 86_400e6, True  # days since 1970, as matplotlib
    if time.dtype.is_numeric():
        return time.cast(pl.Float64).to_numpy(), False
    places = {name: i for i, name in enumerate(time.unique(maintain_order=True))}
    return np.array([places[name] for name in time], dtype=np.float64), False


def _thin(line: pl.DataFrame) -> pl.DataFrame:
    """Keep the last rating of each of many short spans of time."""
    if len(line) <= _POINTS:
        return line
    time = line["time"].to_numpy()
    span = (time[-1] - time[0]) or 1.0
    cell = np.floor((time - time[0]) / span * (_POINTS - 1)).astype(np.int64)
    kept = np.append(cell[1:] != cell[:-1], True)
    kept[0] = True
    return line.filter(pl.Series(kept))


def _name_ends(axes: Axes, ends: list[tuple[float, float, Any, str]]) -> None:
    """Write names right of the lines, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    gap = (high - low) * 0.065
    ends = sorted(ends, key=lambda end: -end[1])
    place = [rating for _, rating, _, _ in ends]
    for i in range(1, len(place)):
        place[i] = min(place[i], place[i - 1] - gap)
    sink = max(0.0, low - min(place, default=low))
    for (time, rating, item, color), height in zip(ends, place, strict=True):
        axes.annotate(
            shorten(item, _LONGEST),
            xy=(time, rating),
            xytext=(1.03, height + sink),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            color=color,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.7,
                "relpos": (0.0, 0.5),
                "shrinkA": 0.0,
                "shrinkB": 2.0,
            },
            parse_math=False,
            annotation_clip=False,
        )
