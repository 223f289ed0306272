# SPDX-License-Identifier: BSD-3-Clause
"""The scale on which strengths are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True)
class RatingScale:
    """Rating = anchor + scale / ln(base) · (θ - θ of the reference).

    Parameters
    ----------
    scale : float, default=400.0
        The difference of ratings at which the odds of winning are `base` to one, ties
        left aside.
    base : float, default=10.0
        The odds at a difference of `scale`. Elo's scale is 400 and 10; strengths
        themselves are ``scale=1, base=math.e``.
    reference : item name, optional
        The item whose rating is `anchor`. None: the mean of all items is.
    anchor : float, default=1500.0
        Rating of the reference.
    """

    scale: float = 400.0
    base: float = 10.0
    reference: Any = None
    anchor: float = 1500.0

    def __post_init__(self) -> None:
        """Refuse scales that turn the order around or are no numbers."""
        for name, good, expected in (
            ("scale", lambda v: v > 0, "positive"),
            ("base", lambda v: v > 1, "larger than 1"),
            ("anchor", lambda v: True, "finite"),
        ):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or not good(value):
                raise ValueError(
                    f"{name} of a leaderboard must be a {expected} number; got "
                    f"{value!r}."
                )

    @property
    def unit(self) -> float:
        """Rating points per unit of strength."""
        return self.scale / math.log(self.base)

    def place(self, items: NDArray[Any]) -> int | None:
        """Give the number of the reference item among `items`, or None."""
        if self.reference is None:
            return None
        found = np.flatnonzero(items == self.reference)
        if len(found) != 1:
            raise ValueError(
                f"The reference {self.reference!r} is not among the items; the model's "
                "items_ lists them."
            )
        return int(found[0])

    def apply(
        self, strength: NDArray[np.float64], place: int | None
    ) -> NDArray[np.float64]:
        """Give ratings of strengths; the last axis is of items."""
        zero = (
            strength.mean(axis=-1, keepdims=True)
            if place is None
            else strength[..., [place]]
        )
        return self.anchor + self.unit * (strength - zero)


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
