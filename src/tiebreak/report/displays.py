# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for notebooks: a leaderboard, calibration, and the scores of a search.

A display takes plain numbers. ``plot`` draws on given axes, or on a new figure made
without pyplot; ``ax_`` and ``figure_`` are what was drawn on. Class methods compute the
numbers of a model (``from_estimator``) or of what it predicted (``from_predictions``)
and draw them, as in scikit-learn. The report has plots of its own, which need no
matplotlib; see :mod:`tiebreak.report.plots`.

Nothing here imports matplotlib before something is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import check_weights
from tiebreak.data.markup import shorten
from tiebreak.metrics import get_scorer, scorer_names
from tiebreak.metrics.inputs import outcome_vector, positive_integer
from tiebreak.ratings.leaderboard import Leaderboard
from tiebreak.selection.results import (
    TuneResult,
    draw_grid,
    grid_values,
    varying_parameters,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito's blue and orange: told apart with every common color blindness.
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#767676"
_GRID: dict[str, Any] = {"color": _GREY, "alpha": 0.3, "linewidth": 0.6}


def _new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Give the axes to draw on: those of the caller, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


class Display:
    """A picture of a few numbers, which ``plot`` draws.

    The class methods ``from_estimator``, ``from_predictions`` and others compute the
    numbers and draw them.
    """

    ax_: Axes
    figure_: Figure

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
        self.ax_ = self._draw(ax)
        self.figure_ = self.ax_.get_figure(root=True)  # type: ignore[assignment]
        self._is_new = ax is None
        return self

    def _draw(self, ax: Any) -> Axes:
        """Draw on axes, or on new ones, and return them."""
        raise NotImplementedError

    def _repr_png_(self) -> bytes | None:
        """Show a figure of our own in a notebook; others belong to who made them."""
        if not getattr(self, "_is_new", False):
            return None
        file = io.BytesIO()
        self.figure_.savefig(file, format="png")
        return file.getvalue()


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
        axes = _new_axes(ax, 6.4, 1.0 + 0.24 * n)
        place = np.arange(n)
        if self.lower is not None and self.upper is not None:
            axes.hlines(place, self.lower, self.upper, color=_GREY, linewidth=2.0)
        axes.plot(self.rating, place, "o", color=_BLUE, markersize=5)
        names = [shorten(name, _LONGEST_BOARD_NAME) for name in self.item]
        axes.set_yticks(place, names)
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(n - 0.5, -0.5)
        sure = "" if self.level is None else f", with {100 * self.level:g} % interval"
        axes.set_xlabel(f"rating{sure}")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", **_GRID)
        axes.spines[["top", "right", "left"]].set_visible(False)
        return axes


_OUTCOME_STYLES = {
    "left wins": (_BLUE, "o", "-"),
    "tie": (_GREY, "s", "--"),
    "right wins": (_ORANGE, "^", "-."),
}


class CalibrationCurve(NamedTuple):
    """One outcome: what was predicted, in bins, and how often it happened."""

    outcome: str
    predicted: NDArray[np.float64]  # weighted mean probability of each bin
    happened: NDArray[np.float64]  # weighted share of rows with the outcome


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
        axes = _new_axes(ax, 4.8, 4.6)
        axes.plot([0, 1], [0, 1], color=_GREY, linestyle=":", label="exactly right")
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
        axes.grid(**_GRID)
        return axes


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
    )


_TUNING_WORDS = {
    "error": "wrong outcomes",
    "accuracy": "right outcomes",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ranked_probability_score": "ranked probability score",
    "swapped_pairs": "pairs in the wrong order",
    "auc": "area under the ROC curve",
}
_SHARES = ("accuracy", "error", "swapped_pairs", "disagreement")
_PALE, _FULL = "#f4f4f2", "#7db7de"
_LONGEST_SETTING = 14


class TuningDisplay(Display):
    """Scores over two settings as a table of cells, or over one as a curve.

    With more than two settings the first two that vary are drawn, each cell with the
    best score over the others. The choice is framed. It draws scores, so there is no
    ``from_predictions``.

    Parameters
    ----------
    result : TuneResult
        What a search on a grid found.

    Attributes
    ----------
    settings : list of str
        The settings that vary, without the names of pipeline steps.
    metric, less_is_better : str, bool
        What the numbers are, in words, and whether the best is the smallest.
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak import SVMCompare, tune
    >>> from tiebreak.datasets import make_norms
    >>> from tiebreak.report import TuningDisplay
    >>> data = make_norms(60, random_state=0)
    >>> found = tune(SVMCompare(), data.pairs, data.y, {"C": [1.0, 10.0]}, cv=2)
    >>> display = TuningDisplay(found)
    >>> display.settings, display.metric
    (['C'], 'wrong outcomes')
    """

    def __init__(self, result: TuneResult) -> None:
        self.result = result
        self._columns = varying_parameters(result.table)
        self.settings = [name.rpartition("__")[2] for name in self._columns]
        scoring = result.scoring
        self.metric = _TUNING_WORDS.get(scoring, scoring.replace("_", " "))
        self.less_is_better = _is_loss(scoring)

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

    def number(self, score: float) -> str:
        """Write a score as the number that people know it by.

        Parameters
        ----------
        score : float
            As the tuner has it, greater is better.

        Returns
        -------
        str
        """
        value = -score if self.less_is_better else score
        if not np.isfinite(value):
            return "–"
        value += 0.0  # no minus zero
        if self.result.scoring in _SHARES:
            return f"{100 * value:.1f}\u00a0%"
        return f"{value:.3f}"

    def choice(self) -> str:
        """Say what was chosen.

        Returns
        -------
        str
            Such as ``"C = 10, gamma = 0.1"``.
        """
        best = self.result.best_params_
        return ", ".join(
            f"{name.rpartition('__')[2]} = {_label(value)}"
            for name, value in best.items()
            if name in self._columns or not self._columns
        )

    def _draw(self, ax: Any) -> Axes:
        size = 6.4, 3.2
        if len(self._columns) >= 2:
            across, down = (
                len(grid_values(self.result.table, name)) for name in self._columns[:2]
            )
            size = 1.6 + 0.62 * max(across, 4), 1.1 + 0.4 * max(down, 3)
        axes = _new_axes(ax, *size)
        draw_grid(
            axes,
            self.result,
            names=self.settings,
            metric=self.metric,
            sign=-1.0 if self.less_is_better else 1.0,
            label=_label,
            paint=self._paint,
        )
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)
        return axes

    def _paint(self, axes: Axes, scores: NDArray[np.float64]) -> None:
        """Fill the cells with shades and numbers."""
        from matplotlib.colors import LinearSegmentedColormap

        finite = scores[np.isfinite(scores)]
        worst = finite.min() if len(finite) else 0.0
        shade = LinearSegmentedColormap.from_list("score", [_PALE, _FULL])
        axes.imshow(np.maximum(scores, worst), aspect="auto", cmap=shade)
        for i, j in np.ndindex(scores.shape):
            text = self.number(float(scores[i, j]))
            axes.text(j, i, text, ha="center", va="center", fontsize=7)


def _read_search(search: Any) -> TuneResult:
    """Give what a search of scikit-learn found as if `tune` had found it."""
    found = getattr(search, "cv_results_", None)
    if found is None or "mean_test_score" not in found:
        raise TypeError(
            "This picture needs a TuneResult or a fitted search of a single score, "
            f"such as GridSearchCV; got {search!r}."
        )
    splits = [f"split{k}_test_score" for k in range(search.n_splits_)]
    scores = np.stack([found[name] for name in splits], axis=1)
    scoring = search.scoring
    name = getattr(scoring, "name", scoring if isinstance(scoring, str) else "score")
    done = np.ones(scores.shape, dtype=bool)
    parts = list(found["params"]), scores, done, int(search.best_index_)
    return TuneResult.make(*parts, getattr(search, "best_estimator_", None), name)


def _is_loss(scoring: str | None) -> bool:
    """Whether less is better of a known score."""
    if scoring not in scorer_names():
        return False
    return not getattr(get_scorer(str(scoring)), "greater_is_better", True)


def _label(value: Any) -> str:
    is_float = isinstance(value, float)
    return f"{value:.3g}" if is_float else shorten(value, _LONGEST_SETTING)
