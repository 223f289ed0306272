# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for notebooks: a leaderboard, and calibration.

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
from tiebreak.metrics.metric_inputs import outcome_vector, positive_integer
from tiebreak.ratings.leaderboard import Leaderboard
from tiebreak.report.charts import CalibrationCurve, calibration_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito's blue and orange: told apart with every common color blindness.
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#767676"
_GRID: dict[str, Any] = {"color": _GREY, "alpha": 0.3, "linewidth": 0.6}
_LONGEST_NAME = 32


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
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            text.set_parse_math(False)  # dollar signs are what they are
        axes.set(ylim=(len(best) - 0.5, -0.5), xlabel=label, axisbelow=True)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", **_GRID)
        axes.spines[["top", "right", "left"]].set_visible(False)


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
