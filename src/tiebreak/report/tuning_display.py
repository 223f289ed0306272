# SPDX-License-Identifier: BSD-3-Clause
"""How settings were chosen: the scores of all combinations that were tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from tiebreak.metrics import get_scorer, scorer_names
from tiebreak.report.figures import BLUE, GREY, INK, ORANGE, new_axes
from tiebreak.report.markup import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tiebreak.selection import TuneResult

__all__ = ["TuningDisplay"]

_FIXED = ("score", "spread", "place", "converged")
_WORDS = {
    "error": "wrong outcomes",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ranked_probability_score": "ranked probability score",
    "swapped_pairs": "pairs in the wrong order",
    "auc": "area under the ROC curve",
}
_SHARES = ("error", "swapped_pairs", "disagreement")
_PALE, _FULL = "#f4f4f2", "#7db7de"
_LONGEST = 14


class TuningDisplay:
    """Scores over two settings as a table of cells, or over one as a curve.

    With more than two settings the first two that vary are drawn, each cell with the
    best score over the others. The choice is framed.

    Parameters
    ----------
    result : TuneResult
        What a search on a grid found.

    Attributes
    ----------
    settings : list of str
        The settings that vary, without the names of pipeline steps.
    metric : str
        What the numbers are, in words.
    less_is_better : bool
        Whether the best number is the smallest.
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.
    hovers_ : dict of str to str
        For every cell, by its ``gid`` in the figure, the settings and the number.

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
        names = [
            name
            for name in result.table.columns
            if name not in _FIXED
            and not name.startswith("split_")
            and result.table[name].n_unique() > 1
        ]
        self._columns = names
        self.settings = [name.rpartition("__")[2] for name in names]
        known = result.scoring in scorer_names()
        self.metric = _WORDS.get(result.scoring, result.scoring.replace("_", " "))
        self.less_is_better = known and not getattr(
            get_scorer(result.scoring), "greater_is_better", True
        )
        self.hovers_: dict[str, str] = {}

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
            return f"{100 * value:.1f}%"
        return f"{value:.3f}"

    def choice(self) -> str:
        """Say what was chosen.

        Returns
        -------
        str
            Such as ``"C = 10, gamma = 0.1"``.
        """
        best = self.result.best_params
        return ", ".join(
            f"{name.rpartition('__')[2]} = {_label(value)}"
            for name, value in best.items()
            if name in self._columns or not self._columns
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        TuningDisplay
            Itself.
        """
        draw = self._plot_cells if len(self._columns) >= 2 else self._plot_curve
        axes = draw(ax)
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        return self

    def _plot_cells(self, ax: Axes | None) -> Axes:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Rectangle

        from tiebreak.report.cells import Cell, Cells

        across, down = self._columns[:2]
        xs, ys = _values(self.result.table, across), _values(self.result.table, down)
        scores = np.full((len(ys), len(xs)), -np.inf)
        for a, b, score in self.result.table.select(across, down, "score").iter_rows():
            i, j = ys.index(b), xs.index(a)
            if score is not None and score > scores[i, j]:
                scores[i, j] = score
        axes = new_axes(ax, 1.6 + 0.62 * max(len(xs), 4), 1.1 + 0.4 * max(len(ys), 3))
        finite = scores[np.isfinite(scores)]
        low = finite.min() if len(finite) else 0.0
        span = (finite.max() - low if len(finite) else 0.0) or 1.0
        shade = LinearSegmentedColormap.from_list("score", [_PALE, _FULL])
        cells = []
        for i, j in np.ndindex(scores.shape):
            score = float(scores[i, j])
            level = float((score - low) / span) if np.isfinite(score) else 0.0
            gid, text = f"cell-{i}-{j}", self.number(score)
            # Twenty-one shades: more cannot be told apart.
            color = tuple(shade(round(20 * level) / 20))
            cells.append(Cell(i, j, gid, text, "", color))
            self.hovers_[gid] = (
                f"{self.settings[0]} = {_label(xs[j])}, "
                f"{self.settings[1]} = {_label(ys[i])}: {text}"
            )
        axes.add_artist(Cells(cells, small=True))
        i = _place(ys, self.result.best_params.get(down))
        j = _place(xs, self.result.best_params.get(across))
        frame = Rectangle((j - 0.47, i - 0.47), 0.94, 0.94, fill=False, ec=INK, lw=2.0)
        axes.add_artist(frame)
        axes.set_xlim(-0.5, len(xs) - 0.5)
        axes.set_ylim(len(ys) - 0.5, -0.5)
        axes.set_xticks(np.arange(len(xs)), [_label(v) for v in xs], fontsize=8)
        axes.set_yticks(np.arange(len(ys)), [_label(v) for v in ys], fontsize=8)
        axes.set_xlabel(self.settings[0])
        axes.set_ylabel(self.settings[1])
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return axes

    def _plot_curve(self, ax: Axes | None) -> Axes:
        table = self.result.table
        name = self._columns[0] if self._columns else table.columns[0]
        values = _values(table, name)
        sign = -1.0 if self.less_is_better else 1.0
        score, spread = [], []
        for value in values:
            best = table.filter(pl.col(name).eq_missing(value)).sort(
                "score", descending=True, nulls_last=True
            )
            score.append(sign * (best["score"][0] if len(best) else np.nan))
            spread.append(best["spread"][0])
        places = np.arange(len(values))
        axes = new_axes(ax, 6.4, 3.2)
        error = np.array(spread, dtype=np.float64)
        axes.errorbar(
            places,
            score,
            yerr=error if error.any() else None,
            color=BLUE,
            marker="o",
            capsize=3,
        )
        at = _place(values, self.result.best_params.get(name))
        axes.plot(at, score[at], "o", ms=13, mfc="none", mec=ORANGE, mew=2.0)
        axes.set_xticks(places, [_label(value) for value in values])
        axes.set_xlabel(self.settings[0] if self.settings else name)
        axes.set_ylabel(self.metric)
        axes.grid(color=GREY, alpha=0.3, linewidth=0.6)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        return axes


def _values(table: pl.DataFrame, name: str) -> list[Any]:
    column = table[name].unique(maintain_order=True)
    return (column.sort() if column.dtype.is_numeric() else column).to_list()


def _place(values: list[Any], value: Any) -> int:
    """Find a value; what a table cannot hold is there as text."""
    return values.index(value) if value in values else values.index(str(value))


def _label(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else shorten(value, _LONGEST)
