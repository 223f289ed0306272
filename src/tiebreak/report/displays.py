# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of ratings (board, history, matrix) and of predictions (ROC, calibration).

A display takes plain numbers. ``plot`` draws on given axes, or on a new figure made
without pyplot; ``ax_`` and ``figure_`` are what was drawn on. Class methods compute the
numbers of a model (``from_estimator``) or of what it predicted (``from_predictions``)
and draw them, as in scikit-learn. The report has plots of its own, which need no
matplotlib; see :mod:`tiebreak.report.plots`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import check_weights
from tiebreak.data.markup import isolate, shorten
from tiebreak.metrics import comparison_auc, comparison_roc_curve
from tiebreak.metrics.inputs import outcome_vector, positive_integer
from tiebreak.metrics.scorers import difference_of
from tiebreak.ratings.checks.report import count_text
from tiebreak.ratings.leaderboard import Leaderboard, ResultsMatrix
from tiebreak.report.figures import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Display,
    fitted_model,
    new_axes,
    tidy_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LONGEST_BOARD_NAME = 32


class LeaderboardDisplay(Display):
    """Ratings of items, best on top, each with its interval.

    It draws what a fit learned, so there is no ``from_predictions``.

    Parameters
    ----------
    item, rating : sequence and array-like of shape (n,)
        Names, best first, and ratings.
    lower, upper : array-like of shape (n,), optional
        Intervals; NaN where there is none.
    level : float, optional
        Confidence of the intervals, for the label of the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Leaderboard
    >>> from tiebreak.datasets import load_worldcup2022
    >>> from tiebreak.report import LeaderboardDisplay
    >>> cup = load_worldcup2022()
    >>> model = BradleyTerry(alpha=0.1).fit(cup.pairs, cup.y)
    >>> display = LeaderboardDisplay.from_leaderboard(Leaderboard(model), top=5)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][:2]
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
    def from_estimator(
        cls, estimator: Any, *, top: int = 30, ax: Axes | None = None
    ) -> Self:
        """Draw the leaderboard of a model of items by name.

        Parameters
        ----------
        estimator : BradleyTerry, PlackettLuce, Elo, Glicko or another with ``items_``
            Fitted; for other scales and levels make a `Leaderboard`.
        top, ax : int, default=30, and matplotlib Axes, optional
            How many items, and where to draw.

        Returns
        -------
        LeaderboardDisplay
        """
        return cls.from_leaderboard(Leaderboard(estimator), top=top, ax=ax)

    @classmethod
    def from_leaderboard(
        cls, board: Leaderboard, *, top: int = 30, ax: Axes | None = None
    ) -> Self:
        """Draw the best items of a leaderboard.

        Parameters
        ----------
        board : Leaderboard
            Where from.
        top, ax : int, default=30, and matplotlib Axes, optional
            How many items, and where to draw.

        Returns
        -------
        LeaderboardDisplay
        """
        positive_integer(top, "top")
        best = board.table.head(top)
        ends: dict[str, Any] = {"lower": None, "upper": None}
        if not best["lower"].is_null().all():
            ends = {name: best[name].cast(pl.Float64).to_numpy() for name in ends}
        names, rating = best["item"].to_list(), best["rating"].to_numpy()
        level = None if ends["lower"] is None else board.level
        return cls(names, rating, **ends, level=level).plot(ax)

    def _draw(self, ax: Any) -> Axes:
        n = len(self.item)
        axes = new_axes(ax, 6.4, 1.0 + 0.24 * n)
        place = np.arange(n)
        if self.lower is not None and self.upper is not None:
            axes.hlines(place, self.lower, self.upper, color=GREY, linewidth=2.0)
        axes.plot(self.rating, place, "o", color=BLUE, markersize=5)
        names = [shorten(name, _LONGEST_BOARD_NAME) for name in self.item]
        axes.set_yticks(place, names)
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(n - 0.5, -0.5)
        sure = "" if self.level is None else f", with {100 * self.level:g} % interval"
        axes.set_xlabel(f"rating{sure}")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        return tidy_axes(axes, "top", "right", "left", grid="x")


_TIMES = ("time", "period", "row")
_POINTS = 150  # of one line; more cannot be told apart
_FEW = 30  # so many are drawn as points too
_LONGEST_HISTORY_NAME = 24
# Eight lines that differ in color or dashes, so that color is never alone.
_LINE_STYLES = [
    (color, dashes) for dashes in ("-", (0, (4, 1.5))) for color in (BLUE, ORANGE)
] + [(color, dashes) for dashes in ("-.", (0, (1, 1))) for color in (INK, GREY)]


class HistoryDisplay(Display):
    """Ratings of items over time, one line each, named at its end.

    It draws what a fit learned, so there is no ``from_predictions``.

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
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak import Elo, Pairs
    >>> from tiebreak.report import HistoryDisplay
    >>> games = Pairs(None, ["Ada", "Bo", "Ada"], ["Bo", "Cy", "Cy"])
    >>> model = Elo().fit(games, [-1, -1, -1])
    >>> HistoryDisplay.from_estimator(model, top=2).items
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        items: list[Any] | None = None,
        *,
        top: int = 8,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the history of a model of ratings over time.

        Parameters
        ----------
        estimator : Elo, Glicko, Glicko2 or another with ``history_``
            Fitted.
        items, top, ax : list, int, default=8, and matplotlib Axes, optional
            What to draw, at most how many, and where.

        Returns
        -------
        HistoryDisplay
        """
        model = fitted_model(estimator, "history_", "Elo, Glicko and Glicko2")
        return cls(model.history_, items, top=top).plot(ax)

    def _draw(self, ax: Any) -> Axes:
        axes = new_axes(ax, 7.2, 4.2)
        time, is_date = _numbers(self.history["time"])
        frame = self.history.with_columns(pl.Series("time", time))
        ends = []
        for place, item in enumerate(self.items):
            line = _thin(frame.filter(pl.col("item") == item))
            color, dashes = _LINE_STYLES[place % len(_LINE_STYLES)]
            x, y = line["time"].to_numpy(), line["rating"].to_numpy()
            # Few points are marked: one between two gaps would not be seen.
            style: dict[str, Any] = {"marker": "o" if len(y) <= _FEW else None}
            style |= {"linestyle": dashes, "linewidth": 1.5, "markersize": 4}
            axes.plot(x, y, color=color, **style)
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
            places = np.linspace(0, len(names) - 1, min(len(names), 7))
            shown = np.unique(places.round())
            labels = [shorten(names[int(i)], 12) for i in shown]
            for label in axes.set_xticks(shown, labels):
                label.label1.set_parse_math(False)
        else:
            axes.set_xlabel({"row": "number of the result"}.get(self.time_name, "time"))
        axes.set_ylabel("rating")
        _name_ends(axes, ends)
        return tidy_axes(axes, "top", "right")


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
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.7}
        line |= {"relpos": (0.0, 0.5), "shrinkA": 0.0, "shrinkB": 2.0}
        axes.annotate(
            shorten(item, _LONGEST_HISTORY_NAME),
            xy=(time, rating),
            xytext=(1.03, height + sink),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            color=color,
            arrowprops=line,
            parse_math=False,
            annotation_clip=False,
        )


# Pale enough that dark figures can be read on all of them.
_LOST, _EVEN, _WON = "#eda27c", "#f4f4f2", "#7db7de"
_LONGEST_MATRIX_NAME = 24
_WITH_COUNTS = 12  # up to so many items there is room for won-tied-lost in a cell
_LONGEST_COUNTS = 13


class ResultsMatrixDisplay(Display):
    """Share of points of every item (rows) against every other (columns).

    A cell shows the share in percent, a tie counting half; the line at its foot is as
    long as the share of ties. Two who never met have no cell. Up to twelve items,
    cells also say how often row won, tied and lost, if the numbers are short enough.
    It draws what happened, so there is no ``from_predictions``.

    Parameters
    ----------
    matrix : ResultsMatrix
        Results between some items.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    hovers_ : dict of str to str
        For every cell, by its ``gid`` in the figure, the results in words.

    Examples
    --------
    >>> from tiebreak import BradleyTerry
    >>> from tiebreak.datasets import load_worldcup2022
    >>> from tiebreak.report import ResultsMatrixDisplay
    >>> cup = load_worldcup2022()
    >>> model = BradleyTerry(alpha=0.1).fit(cup.pairs, cup.y)
    >>> display = ResultsMatrixDisplay.from_estimator(model, top=8)
    >>> display.hovers_["cell-0-1"]
    'France against Argentina: 0 won, 1 tied, 0 lost'
    """

    def __init__(self, matrix: ResultsMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, top: int = 30, ax: Axes | None = None
    ) -> Self:
        """Draw the results between the strongest items of a model.

        Parameters
        ----------
        estimator, top, ax
            As in :meth:`LeaderboardDisplay.from_estimator`; the model counts
            comparisons (BradleyTerry).

        Returns
        -------
        ResultsMatrixDisplay
        """
        return cls.from_leaderboard(Leaderboard(estimator), top=top, ax=ax)

    @classmethod
    def from_leaderboard(
        cls, board: Leaderboard, *, top: int = 30, ax: Axes | None = None
    ) -> Self:
        """Draw the results between the best items of a leaderboard.

        Parameters
        ----------
        board, top, ax
            As in :meth:`LeaderboardDisplay.from_leaderboard`.

        Returns
        -------
        ResultsMatrixDisplay
        """
        positive_integer(top, "top")
        return cls(board.matrix(top)).plot(ax)

    def _draw(self, ax: Any) -> Axes:
        n = len(self.matrix.items)
        side = max(4.0, min(10.0, 1.8 + (0.62 if n <= _WITH_COUNTS else 0.28) * n))
        axes = new_axes(ax, side, side)
        names = [shorten(name, _LONGEST_MATRIX_NAME) for name in self.matrix.items]
        axes.set_xlim(-0.5, n - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.set_xticks(np.arange(n), names, rotation=90, fontsize=8)
        axes.set_yticks(np.arange(n), names, fontsize=8)
        axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)
        self._add_cells(axes)
        return tidy_axes(axes, *axes.spines, grid=None)

    def _add_cells(self, axes: Axes) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        from tiebreak.report.artists import Cell, Cells

        matrix, n = self.matrix, len(self.matrix.items)
        # Twenty-one shades: more cannot be told apart, and compress less well.
        shade = LinearSegmentedColormap.from_list("points", [_LOST, _EVEN, _WON])
        shades = shade(np.linspace(0.0, 1.0, 21))
        small = n > _WITH_COUNTS
        names = [isolate(name) for name in matrix.items]
        self.hovers_: dict[str, str] = {}
        cells = []
        games, points = matrix.games, matrix.points
        for i, j in zip(*(axis.tolist() for axis in np.nonzero(games)), strict=True):
            counts = (matrix.wins[i, j], matrix.ties[i, j], matrix.wins[j, i])
            won, tied, lost = map(count_text, counts)
            gid = f"cell-{i}-{j}"
            names_of = f"{names[i]} against {names[j]}"
            self.hovers_[gid] = f"{names_of}: {won} won, {tied} tied, {lost} lost"
            share, ties = float(points[i, j]), float(counts[1] / games[i, j])
            text, fine = f"{100 * share:.0f}", f"{won}-{tied}-{lost}"
            color = tuple(shades[round(20 * share)])
            cells.append(Cell(i, j, gid, text, fine, color, ties))
        if max((len(cell.fine) for cell in cells), default=0) > _LONGEST_COUNTS:
            cells = [cell._replace(fine="") for cell in cells]
        axes.add_artist(Cells(cells, small=small))
        axes.plot(np.arange(n), np.arange(n), ".", color=GREY, markersize=3, alpha=0.6)


_STEPS = 500  # points closer than 1 / 500 cannot be told apart in the picture


class ComparisonROCDisplay(Display):
    """How many differences are seen, against how many ties are called different.

    Parameters
    ----------
    fpr, tpr : array-like of shape (m,)
        As :func:`tiebreak.metrics.comparison_roc_curve` gives them.
    auc, name : float and str, optional
        Area under the curve, and what the curve is of, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak.report import ComparisonROCDisplay
    >>> display = ComparisonROCDisplay.from_predictions([1, 0, -1, 0], [3, 1, -2, 0])
    >>> display.auc
    1.0
    """

    def __init__(
        self,
        fpr: ArrayLike,
        tpr: ArrayLike,
        *,
        auc: float | None = None,
        name: str | None = None,
    ) -> None:
        self.fpr = np.asarray(fpr, dtype=np.float64)
        self.tpr = np.asarray(tpr, dtype=np.float64)
        self.auc = auc
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **columns: Any,
    ) -> Self:
        """Draw the curve of a comparer on comparisons with outcomes.

        Parameters
        ----------
        estimator : model with ``difference``, or a search or Pipeline that ends with it
            Fitted.
        X, y : Pairs or array-like of shape (n, 2, n_features), array-like of shape (n,)
            Comparisons, best such that the model was not fitted on, and what happened.
        sample_weight, name, ax : optional
            Weights, what the curve is of (by default the class), and where to draw.
        **columns
            What else ``difference`` takes, such as ``advantage``.

        Returns
        -------
        ComparisonROCDisplay
        """
        difference = difference_of(estimator, X, **columns)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(
            y, difference, sample_weight=sample_weight, name=name, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        difference: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of predicted differences.

        Parameters
        ----------
        y : array-like of shape (n,)
            What happened: -1 left, 0 tie, +1 right.
        difference : array-like of shape (n,)
            utility(right) - utility(left), or what grows with it and is 0 for equals.
        sample_weight, name, ax : optional
            Weights, what the curve is of, and where to draw.

        Returns
        -------
        ComparisonROCDisplay
        """
        fpr, tpr, _ = comparison_roc_curve(y, difference, sample_weight)
        auc = comparison_auc(y, difference, close=True, sample_weight=sample_weight)
        return cls(fpr, tpr, auc=auc, name=name).plot(ax)

    def _draw(self, ax: Any) -> Axes:
        axes = new_axes(ax, 4.8, 4.6)
        parts = [] if self.name is None else [shorten(self.name, 32)]
        if self.auc is not None:
            parts.append(f"area {self.auc:.2f}")
        shown = _distinct(self.fpr, self.tpr)
        axes.plot([0, 1], [0, 0.5], color=GREY, linestyle="--", label="coin tosses")
        points, label = (self.fpr[shown], self.tpr[shown]), ", ".join(parts) or "model"
        axes.plot(*points, color=BLUE, linewidth=2.0, label=label)
        if self.fpr[-1] < 1.0:
            ends = [self.fpr[-1], 1.0], [self.tpr[-1], self.tpr[-1]]
            axes.plot(*ends, color=BLUE, linewidth=1.0, linestyle=":")
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_box_aspect(1)
        axes.set_xlabel("ties that are called different")
        axes.set_ylabel("winners that are called right")
        for text in axes.legend(loc="lower right", framealpha=0.0).get_texts():
            text.set_parse_math(False)
        return tidy_axes(axes)


def _distinct(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Choose points of a monotone curve that can be told apart, its ends included."""
    cell = np.round(x * _STEPS) * (_STEPS + 1) + np.round(y * _STEPS)
    new = np.append(True, cell[1:] != cell[:-1])
    new[-1] = True
    return np.flatnonzero(new)


_OUTCOME_STYLES = {
    "left wins": (BLUE, "o", "-"),
    "tie": (GREY, "s", "--"),
    "right wins": (ORANGE, "^", "-."),
}


class CalibrationCurve(NamedTuple):
    """One outcome: what was predicted, in bins, and how often it happened."""

    outcome: str
    predicted: NDArray[np.float64]  # weighted mean probability of each bin
    happened: NDArray[np.float64]  # weighted share of rows with the outcome
    share: NDArray[np.float64]  # of all rows, weighted


class CalibrationDisplay(Display):
    r"""How often an outcome happened, against how probable it was said to be.

    For each of left, tie and right the rows are put into bins of equal width by the
    predicted probability; a bin is drawn at the weighted mean of its probabilities and
    the weighted share of its rows that had the outcome. Bins without rows are left out.

    Parameters
    ----------
    curves : sequence of CalibrationCurve
        One per outcome.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak.report import CalibrationDisplay
    >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]
    >>> display = CalibrationDisplay.from_predictions([-1, 1], proba)
    >>> display.curves[0].happened
    array([0., 1.])
    """

    def __init__(self, curves: Sequence[CalibrationCurve]) -> None:
        self.curves = list(curves)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        n_bins: int = 10,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **columns: Any,
    ) -> Self:
        """Draw the curves of a comparer on comparisons with outcomes.

        Parameters
        ----------
        estimator : model with ``predict_proba``
            Fitted.
        X, y : Pairs or array-like of shape (n, 2, n_features), array-like of shape (n,)
            Comparisons, best such that the model was not fitted on, and what happened.
        n_bins, sample_weight, ax
            As in `from_predictions`.
        **columns
            What else ``predict_proba`` takes, such as ``advantage``.

        Returns
        -------
        CalibrationDisplay
        """
        proba = estimator.predict_proba(X, **columns)
        return cls.from_predictions(
            y, proba, n_bins=n_bins, sample_weight=sample_weight, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        n_bins: int = 10,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of predicted probabilities.

        Parameters
        ----------
        y, proba : array-like of shape (n,) and (n, 3)
            What happened: -1 left, 0 tie, +1 right; and their probabilities.
        n_bins, sample_weight : int, default=10, and array-like of shape (n,), optional
            Bins between 0 and 1, and weights.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        CalibrationDisplay
        """
        positive_integer(n_bins, "n_bins")
        truth = outcome_vector(y, "y")
        weight = check_weights(sample_weight, len(truth))
        table = np.asarray(proba, dtype=np.float64)
        if table.shape != (len(truth), 3):
            raise ValueError(
                f"proba has the shape {table.shape}; expected ({len(truth)}, 3): "
                "probabilities of left, tie and right for every row."
            )
        bad = np.flatnonzero(~((table >= 0) & (table <= 1)).all(axis=1))
        if len(bad):
            raise ValueError(
                f"proba is {table[bad[0]].tolist()} in row {bad[0]}; expected numbers "
                "between 0 and 1."
            )
        outcomes = (("left wins", -1), ("tie", 0), ("right wins", 1))
        curves = [
            _curve(name, table[:, column], truth == outcome, weight, n_bins)
            for column, (name, outcome) in enumerate(outcomes)
            if table[:, column].any() or (truth == outcome).any()
        ]
        return cls(curves).plot(ax)

    def _draw(self, ax: Any) -> Axes:
        axes = new_axes(ax, 4.8, 4.6)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="exactly right")
        for curve in self.curves:
            color, marker, line = _OUTCOME_STYLES[curve.outcome]
            style: dict[str, Any] = {"color": color, "marker": marker}
            style |= {"linestyle": line, "linewidth": 1.4, "markersize": 5}
            axes.plot(curve.predicted, curve.happened, label=curve.outcome, **style)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.set_box_aspect(1)
        axes.set_xlabel("predicted probability")
        axes.set_ylabel("how often it happened")
        axes.legend(loc="best", framealpha=0.0)
        return tidy_axes(axes)


def _curve(
    name: str,
    probability: NDArray[np.float64],
    happened: NDArray[np.bool_],
    weight: NDArray[np.float64],
    n_bins: int,
) -> CalibrationCurve:
    # A probability on an edge belongs to the bin above it, 1 to the last.
    place = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(place, weight, n_bins)
    used = count > 0
    return CalibrationCurve(
        name,
        np.bincount(place, weight * probability, n_bins)[used] / count[used],
        np.bincount(place, weight * happened, n_bins)[used] / count[used],
        count[used] / weight.sum(),
    )
