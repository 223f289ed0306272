# SPDX-License-Identifier: BSD-3-Clause
"""Who beat whom, how often, as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["ResultsMatrix"]


@dataclass(frozen=True, eq=False)
class ResultsMatrix:
    """Results between every two of some items.

    Attributes
    ----------
    items : ndarray of shape (k,)
        Names of the items, in the order of rows and columns.
    wins : ndarray of shape (k, k)
        ``wins[i, j]``: how often i beat j, as summed weights.
    ties : ndarray of shape (k, k)
        How often they tied; symmetric.
    """

    items: NDArray[Any]
    wins: NDArray[np.float64]
    ties: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        model: Any,
        chosen: NDArray[np.int64],
    ) -> ResultsMatrix:
        """Build the matrix of chosen items from counts by pair.

        Parameters
        ----------
        model : BradleyTerry
            Fitted; it keeps counts by pair.
        chosen : ndarray of int64 of shape (k,)
            Numbers of the items to show, in order.

        Returns
        -------
        ResultsMatrix
        """
        names = model.items_
        place = np.full(len(names), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        i, j = place[model.pair_left_], place[model.pair_right_]
        shown = (i >= 0) & (j >= 0)
        i, j, counts = i[shown], j[shown], model.pair_counts_[shown]
        wins, ties = np.zeros((2, len(chosen), len(chosen)))
        np.add.at(wins, (i, j), counts[:, 0])
        np.add.at(wins, (j, i), counts[:, 2])
        np.add.at(ties, (i, j), counts[:, 1])
        np.add.at(ties, (j, i), counts[:, 1])
        return cls(names[chosen], wins, ties)

    @property
    def games(self) -> NDArray[np.float64]:
        """How often each two met; shape (k, k), symmetric."""
        return self.wins + self.wins.T + self.ties

    @property
    def points(self) -> NDArray[np.float64]:
        """Share of points, a tie counting half; NaN for two who never met."""
        games = self.games
        with np.errstate(invalid="ignore"):
            share = (self.wins + 0.5 * self.ties) / games
        return np.where(games > 0, share, np.nan)

    def to_polars(self) -> pl.DataFrame:
        """Give one row per two items that met, each pair in both directions.

        Returns
        -------
        polars.DataFrame
            Columns item, opponent, wins, ties, losses.
        """
        i, j = np.nonzero(self.games)
        return pl.DataFrame(
            {
                "item": self.items[i],
                "opponent": self.items[j],
                "wins": self.wins[i, j],
                "ties": self.ties[i, j],
                "losses": self.wins[j, i],
            }
        )
