# SPDX-License-Identifier: BSD-3-Clause
"""Whether predicted probabilities of three outcomes mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.metrics.inputs import (
    outcome_vector,
    positive_integer,
    row_weights,
)
from tiebreak.report.figures import BLUE, GREY, ORANGE, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CalibrationCurve", "CalibrationDisplay"]

_STYLES = {
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


class CalibrationDisplay:
    r"""How often an outcome happened, against how probable it was said to be.

    For each of left, tie and right the rows are put into bins of equal width by the
    predicted probability; a bin is drawn at the weighted mean of its probabilities and
    the weighted share of its rows that had the outcome. Bins without rows are left out,
    and so is an outcome that neither happened nor was ever thought possible.

    Parameters
    ----------
    curves : sequence of CalibrationCurve
        One per outcome.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.

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
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        n_bins: int = 10,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Compute the curves of predicted probabilities.

        Parameters
        ----------
        y : array-like of shape (n,)
            What happened: -1 left, 0 tie, +1 right.
        proba : array-like of shape (n, 3)
            Probabilities of left, tie and right.
        n_bins : int, default=10
            Bins between 0 and 1.
        sample_weight : array-like of shape (n,), optional
            Weights.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        ValueError
            If the probabilities are not n rows of three numbers between 0 and 1.
        """
        positive_integer(n_bins, "n_bins")
        truth = outcome_vector(y, "y")
        weight = row_weights(sample_weight, len(truth))
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
        return cls(
            [
                _curve(name, table[:, column], truth == outcome, weight, n_bins)
                for column, (name, outcome) in enumerate(
                    (("left wins", -1), ("tie", 0), ("right wins", 1))
                )
                if table[:, column].any() or (truth == outcome).any()
            ]
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        CalibrationDisplay
            Itself.
        """
        axes = new_axes(ax, 4.8, 4.6)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="exactly right")
        for curve in self.curves:
            color, marker, line = _STYLES[curve.outcome]
            axes.plot(
                curve.predicted,
                curve.happened,
                color=color,
                marker=marker,
                linestyle=line,
                linewidth=1.4,
                markersize=5,
                label=curve.outcome,
            )
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.set_box_aspect(1)
        axes.set_xlabel("predicted probability")
        axes.set_ylabel("how often it happened")
        axes.legend(loc="best", framealpha=0.0)
        axes.grid(color=GREY, alpha=0.3, linewidth=0.6)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        return self


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
