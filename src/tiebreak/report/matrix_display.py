# SPDX-License-Identifier: BSD-3-Clause
"""A picture of who beats whom, ties included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tiebreak.metrics.inputs import positive_integer
from tiebreak.ratings.pair_facts import count_text
from tiebreak.ratings.results_matrix import ResultsMatrix
from tiebreak.report.figures import GREY, new_axes
from tiebreak.report.markup import isolate, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tiebreak.ratings import Leaderboard

__all__ = ["ResultsMatrixDisplay"]

# Pale enough that dark figures can be read on all of them.
_LOST, _EVEN, _WON = "#eda27c", "#f4f4f2", "#7db7de"
_LONGEST = 24
_WITH_COUNTS = 12  # up to so many items there is room for won-tied-lost in a cell
_LONGEST_COUNTS = 13


class ResultsMatrixDisplay:
    """Share of points of every item (rows) against every other (columns).

    A cell shows the share in percent, a tie counting half; the line at its foot is as
    long as the share of ties. Two who never met have no cell. Up to twelve items,
    cells also say how often row won, tied and lost, if the numbers are short enough. So
    nothing depends on color.

    Parameters
    ----------
    matrix : ResultsMatrix
        Results between some items.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure it belongs to.
    hovers_ : dict of str to str
        For every cell, by its ``gid`` in the figure, the results in words.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Leaderboard
    >>> from tiebreak.datasets import load_worldcup2022
    >>> from tiebreak.report import ResultsMatrixDisplay
    >>> cup = load_worldcup2022()
    >>> board = Leaderboard(BradleyTerry(alpha=0.1).fit(cup.pairs, cup.y))
    >>> display = ResultsMatrixDisplay.from_leaderboard(board, top=8).plot()
    >>> display.hovers_["cell-0-1"]
    'France against Argentina: 0 won, 1 tied, 0 lost'
    """

    def __init__(self, matrix: ResultsMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def from_leaderboard(cls, board: Leaderboard, *, top: int = 30) -> Self:
        """Take the results between the best items of a leaderboard.

        Parameters
        ----------
        board : Leaderboard
            Where from.
        top : int, default=30
            How many items.

        Returns
        -------
        ResultsMatrixDisplay
        """
        positive_integer(top, "top")
        return cls(board.matrix(top))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot.

        Returns
        -------
        ResultsMatrixDisplay
            Itself.
        """
        n = len(self.matrix.items)
        side = max(4.0, min(10.0, 1.8 + (0.62 if n <= _WITH_COUNTS else 0.28) * n))
        axes = new_axes(ax, side, side)
        names = [shorten(name, _LONGEST) for name in self.matrix.items]
        axes.set_xlim(-0.5, n - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.set_xticks(np.arange(n), names, rotation=90, fontsize=8)
        axes.set_yticks(np.arange(n), names, fontsize=8)
        axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        self.ax_: Axes = axes
        self.figure_: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
        self._add_cells(axes)
        return self

    def _add_cells(self, axes: Axes) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        from tiebreak.report.cells import Cell, Cells

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
            self.hovers_[gid] = (
                f"{names[i]} against {names[j]}: {won} won, {tied} tied, {lost} lost"
            )
            share = float(points[i, j])
            cells.append(
                Cell(
                    i,
                    j,
                    gid,
                    f"{100 * share:.0f}",
                    f"{won}-{tied}-{lost}",
                    tuple(shades[round(20 * share)]),
                    float(counts[1] / games[i, j]),
                )
            )
        if max((len(cell.fine) for cell in cells), default=0) > _LONGEST_COUNTS:
            cells = [cell._replace(fine="") for cell in cells]
        axes.add_artist(Cells(cells, small=small))
        axes.plot(np.arange(n), np.arange(n), ".", color=GREY, markersize=3, alpha=0.6)
