# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for notebooks: a leaderboard, calibration, and the scores of a search.

As in scikit-learn, class methods draw the numbers of a model (``from_estimator``) or of
predictions (``from_predictions``). matplotlib is imported when something is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from tiebreak.data import check_weights
from tiebreak.data.markup import shorten
from tiebreak.metrics import get_scorer, scorer_names
from tiebreak.metrics.metric_inputs import outcome_vector, positive_integer
from tiebreak.metrics.scorers import metric_words
from tiebreak.ratings.leaderboard import Leaderboard
from tiebreak.report.charts import CalibrationCurve, calibration_curves
from tiebreak.selection.results import TuneResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito's blue and orange: told apart with every common color blindness.
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#767676"
_GRID: dict[str, Any] = {"color": _GREY, "alpha": 0.3, "linewidth": 0.6}
_LONGEST_NAME, _LONGEST_SETTING = 32, 14


class Display:
    """A picture of a few numbers, which ``plot`` draws."""

    ax_: Axes
    figure_: Figure
    _is_new = False
    _size: Callable[[], tuple[float, float]]  # of a new figure, in inches
    _draw: Callable[[Any], None]

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot, which notebooks
            show.

        Returns
        -------
        Self
        """
        self._is_new = ax is None
        if ax is None:
            try:
                from matplotlib.figure import Figure
            except ImportError as error:
                raise ImportError(
                    f"{type(self).__name__} draws with matplotlib, which cannot be "
                    f'imported ({error}). Install it: pip install "tiebreak[plot]"'
                ) from error
            ax = Figure(figsize=self._size(), layout="constrained").add_subplot()
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        self._draw(ax)
        return self

    def _repr_png_(self) -> bytes | None:
        """Show a figure of our own in a notebook."""
        if not self._is_new:
            return None
        file = io.BytesIO()
        self.figure_.savefig(file, format="png")
        return file.getvalue()


class LeaderboardDisplay(Display):
    """Ratings of items, best on top, each with its interval.

    Parameters
    ----------
    board : Leaderboard
        The leaderboard.
    top : int, default=30
        How many items to draw.

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
    >>> display = LeaderboardDisplay(Leaderboard(model), top=5).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][:2]
    ['France', 'Argentina']
    """

    def __init__(self, board: Leaderboard, *, top: int = 30) -> None:
        self.board = board
        self.top = positive_integer(top, "top")

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
        return cls(Leaderboard(estimator), top=top).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 1.0 + 0.24 * min(self.top, len(self.board.table))

    def _draw(self, axes: Any) -> None:
        best = self.board.table.head(self.top)
        place = np.arange(len(best))
        label = "rating"
        if not best["lower"].is_null().all():
            ends = best.select(pl.col("lower", "upper").cast(pl.Float64)).to_numpy()
            axes.hlines(place, *ends.T, color=_GREY, linewidth=2.0)
            label = f"rating, with {100 * self.board.level:g} % interval"
        axes.plot(best["rating"].to_numpy(), place, "o", color=_BLUE, markersize=5)
        axes.set_yticks(place, [shorten(name, _LONGEST_NAME) for name in best["item"]])
        _plain_labels(axes)
        axes.set(ylim=(len(best) - 0.5, -0.5), xlabel=label, axisbelow=True)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", **_GRID)
        axes.spines[["top", "right", "left"]].set_visible(False)


def _plain_labels(axes: Any) -> None:
    """Take dollar signs in names as what they are."""
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)


_OUTCOMES = {
    "left": {"label": "left wins", "color": _BLUE, "marker": "o", "ls": "-"},
    "tie": {"label": "tie", "color": _GREY, "marker": "s", "ls": "--"},
    "right": {"label": "right wins", "color": _ORANGE, "marker": "^", "ls": "-."},
}


class CalibrationDisplay(Display):
    """How often an outcome happened, against its predicted probability.

    For each of left, tie and right, rows are put into bins of equal width by predicted
    probability; a bin is drawn at the weighted mean of its probabilities and the
    weighted share of its rows that had the outcome. Empty bins are left out.

    Parameters
    ----------
    curves : sequence of CalibrationCurve
        One per outcome, with arrays ``predicted`` and ``happened``.

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
            Comparisons, best held-out ones, and their outcomes.
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
        return cls(calibration_curves(truth, table, weight, n_bins, 0.0)).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 4.8, 4.6

    def _draw(self, axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=_GREY, linestyle=":", label="exactly right")
        for curve in self.curves:
            style: dict[str, Any] = {"lw": 1.4, "ms": 5} | _OUTCOMES[curve.outcome]
            axes.plot(curve.predicted, curve.happened, **style)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1)
        axes.set(xlabel="predicted probability", ylabel="how often it happened")
        axes.legend(loc="best", framealpha=0.0)
        axes.grid(**_GRID)


_PALE, _FULL = "#f4f4f2", "#7db7de"


class TuningDisplay(Display):
    """Scores over two settings as a table of cells, or over one as a curve.

    With more than two settings the first two that vary are drawn, each cell with the
    best score over the others. The choice is marked.

    Parameters
    ----------
    result : TuneResult
        The scores of a search on a grid.

    Attributes
    ----------
    settings : list of str
        The settings that vary, without the names of pipeline steps.
    metric, less_is_better : str, bool
        Name of the score in words, and whether the best is the smallest.
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak import SVMCompare, tune
    >>> from tiebreak.datasets import make_norms
    >>> from tiebreak.report import TuningDisplay
    >>> data = make_norms(60, random_state=0)
    >>> result = tune(SVMCompare(), data.pairs, data.y, {"C": [1.0, 10.0]}, cv=2)
    >>> display = TuningDisplay(result)
    >>> display.settings, display.metric
    (['C'], 'error')
    """

    def __init__(self, result: TuneResult) -> None:
        self.result = result
        table, scoring = result.table, result.scoring
        names = table.columns[: table.columns.index("score")]
        self._columns = [name for name in names if table[name].n_unique() > 1]
        self.settings = [name.rpartition("__")[2] for name in self._columns]
        self.metric = metric_words(scoring)
        scorer: Any = get_scorer(scoring) if scoring in scorer_names() else None
        self.less_is_better = not getattr(scorer, "greater_is_better", True)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw what a search of scikit-learn, or `tune`, found.

        Parameters
        ----------
        estimator : fitted GridSearchCV, RandomizedSearchCV, … or TuneResult
            The search, of a single score.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        TuningDisplay
        """
        if not isinstance(estimator, TuneResult):
            estimator = _read_search(estimator)
        return cls(estimator).plot(ax)

    def _number(self, score: float) -> str:
        """Write a score as people know it, losses positive."""
        value = -score if self.less_is_better else score
        if not np.isfinite(value):
            return "–"
        return f"{value:z.3f}"

    def _size(self) -> tuple[float, float]:
        if len(self._columns) < 2:
            return 6.4, 3.2
        across, down = (len(self._values(name)) for name in self._columns[:2])
        return 1.6 + 0.62 * max(across, 4), 1.1 + 0.4 * max(down, 3)

    def _values(self, name: str) -> list[Any]:
        """The values of a setting, sorted if they are numbers."""
        column = self.result.table[name].unique(maintain_order=True)
        return (column.sort() if column.dtype.is_numeric() else column).to_list()

    def _chosen(self, name: str) -> int:
        """The place of the chosen value, perhaps as text."""
        values, value = self._values(name), self.result.best_params_.get(name)
        return values.index(value if value in values else str(value))

    def _draw(self, axes: Any) -> None:
        if len(self._columns) >= 2:
            self._draw_cells(axes, *self._columns[:2])
            axes.set(xlabel=self.settings[0], ylabel=self.settings[1])
        else:
            name = [*self._columns, self.result.table.columns[0]][0]
            self._draw_curve(axes, name)
            axes.set(xlabel=name.rpartition("__")[2], ylabel=self.metric)
        _plain_labels(axes)

    def _draw_cells(self, axes: Any, across: str, down: str) -> None:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Rectangle

        xs, ys = self._values(across), self._values(down)
        scores = np.full((len(ys), len(xs)), -np.inf)
        for a, b, score in self.result.table.select(across, down, "score").iter_rows():
            if score is not None and score > scores[ys.index(b), xs.index(a)]:
                scores[ys.index(b), xs.index(a)] = score
        worst = scores[np.isfinite(scores)].min(initial=np.inf)
        shade = LinearSegmentedColormap.from_list("score", [_PALE, _FULL])
        axes.imshow(np.maximum(scores, worst), aspect="auto", cmap=shade)
        for i, j in np.ndindex(scores.shape):
            text = self._number(float(scores[i, j]))
            axes.text(j, i, text, ha="center", va="center", fontsize=7)
        corner = self._chosen(across) - 0.47, self._chosen(down) - 0.47
        axes.add_artist(Rectangle(corner, 0.94, 0.94, fill=False, ec="black", lw=2.0))
        axes.set(xlim=(-0.5, len(xs) - 0.5), ylim=(len(ys) - 0.5, -0.5))
        axes.set_xticks(np.arange(len(xs)), [*map(_label, xs)], fontsize=8)
        axes.set_yticks(np.arange(len(ys)), [*map(_label, ys)], fontsize=8)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)

    def _draw_curve(self, axes: Any, name: str) -> None:
        values, sign = self._values(name), -1.0 if self.less_is_better else 1.0
        best = self.result.table.sort("score", descending=True, nulls_last=True)
        rows = [best.filter(pl.col(name).eq_missing(value)) for value in values]
        score = [sign * row["score"][0] for row in rows]
        spread = np.array([row["spread"][0] for row in rows], dtype=np.float64)
        places, at = np.arange(len(values)), self._chosen(name)
        bars = spread if spread.any() else None
        axes.errorbar(places, score, yerr=bars, color=_BLUE, marker="o", capsize=3)
        axes.plot(at, score[at], "o", ms=13, mfc="none", mec=_ORANGE, mew=2.0)
        axes.set_xticks(places, [*map(_label, values)])
        axes.grid(**_GRID)
        axes.spines[["top", "right"]].set_visible(False)


def _read_search(search: Any) -> TuneResult:
    """Convert a search of scikit-learn to a `TuneResult`."""
    results = getattr(search, "cv_results_", {})
    if "mean_test_score" not in results:
        raise TypeError(
            f"Expected a TuneResult or a fitted search of a single score: {search!r}."
        )
    splits = [f"split{k}_test_score" for k in range(search.n_splits_)]
    scores = np.stack([results[name] for name in splits], axis=1)
    scoring = search.scoring
    return TuneResult.make(
        list(results["params"]),
        scores,
        np.ones(scores.shape, dtype=bool),
        int(search.best_index_),
        getattr(search, "best_estimator_", None),
        getattr(scoring, "name", scoring if isinstance(scoring, str) else "score"),
    )


def _label(value: Any) -> str:
    is_float = isinstance(value, float)
    return f"{value:.3g}" if is_float else shorten(value, _LONGEST_SETTING)
