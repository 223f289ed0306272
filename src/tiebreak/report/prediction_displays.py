# SPDX-License-Identifier: BSD-3-Clause
"""The ROC curve of comparisons with ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.metrics import comparison_auc, comparison_roc_curve
from tiebreak.metrics.inputs import (
    outcome_vector,
    positive_integer,
    row_weights,
)
from tiebreak.report.figures import BLUE, GREY, ORANGE, new_axes
from tiebreak.report.markup import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_STEPS = 500  # points closer than 1 / 500 cannot be told apart in the picture


class ComparisonROCDisplay:
    """How many differences are seen, against how many ties are called different.

    Parameters
    ----------
    fpr, tpr : array-like of shape (m,)
        As :func:`tiebreak.metrics.comparison_roc_curve` gives them.
    auc : float, optional
        Area under the curve, continued to the right, for the legend.
    name : str, optional
        What the curve is of, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.

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
    def from_predictions(
        cls,
        y: ArrayLike,
        difference: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
    ) -> Self:
        """Compute the curve of predicted differences.

        Parameters
        ----------
        y : array-like of shape (n,)
            What happened: -1 left, 0 tie, +1 right.
        difference : array-like of shape (n,)
            utility(right) - utility(left), or any number that grows with it and is 0
            for equals.
        sample_weight : array-like of shape (n,), optional
            Weights.
        name : str, optional
            What the curve is of.

        Returns
        -------
        ComparisonROCDisplay
        """
        fpr, tpr, _ = comparison_roc_curve(y, difference, sample_weight)
        auc = comparison_auc(y, difference, close=True, sample_weight=sample_weight)
        return cls(fpr, tpr, auc=auc, name=name)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        ComparisonROCDisplay
            Itself.
        """
        axes = new_axes(ax, 4.8, 4.6)
        parts = [] if self.name is None else [shorten(self.name, 32)]
        if self.auc is not None:
            parts.append(f"area {self.auc:.2f}")
        shown = _distinct(self.fpr, self.tpr)
        axes.plot([0, 1], [0, 0.5], color=GREY, linestyle="--", label="coin tosses")
        axes.plot(
            self.fpr[shown],
            self.tpr[shown],
            color=BLUE,
            linewidth=2.0,
            label=", ".join(parts) or "model",
        )
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
        axes.grid(color=GREY, alpha=0.3, linewidth=0.6)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        return self


def _distinct(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Choose points of a monotone curve that can be told apart, its ends included."""
    cell = np.round(x * _STEPS) * (_STEPS + 1) + np.round(y * _STEPS)
    new = np.append(True, cell[1:] != cell[:-1])
    new[-1] = True
    return np.flatnonzero(new)


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
