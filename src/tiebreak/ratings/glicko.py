# SPDX-License-Identifier: BSD-3-Clause
"""Glicko ratings, and what Glicko-2 has in common with them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.ratings.games import Games
from tiebreak.ratings.glicko_updates import COLUMNS, Q, update_by_period
from tiebreak.ratings.parameters import (
    finite_number,
    positive_number,
    refuse_parameter,
)
from tiebreak.ratings.sequential import SequentialRating

__all__ = ["DeviatingRating", "Glicko"]


class DeviatingRating(SequentialRating):
    """Ratings with deviations, as in both systems of Glickman."""

    _columns = COLUMNS
    _measures_time = True

    init: float
    deviation: float
    max_deviation: float
    advantage: float

    def _read_settings(self) -> dict[str, Any]:
        self._check_unseen()
        settings = {
            "init": finite_number(self, "init"),
            "deviation": positive_number(self, "deviation"),
            "max_deviation": positive_number(self, "max_deviation"),
            "advantage": finite_number(self, "advantage"),
            "scale": 400.0,
        }
        if settings["deviation"] > settings["max_deviation"]:
            refuse_parameter(
                self,
                "deviation",
                f"at most max_deviation={self.max_deviation!r}, which caps all",
            )
        return settings

    def _new_item(self) -> tuple[float, ...]:
        # Glicko has no volatility; it never reads this one.
        settings = self._settings
        volatility = settings.get("volatility", 0.0)
        first = (settings["init"], settings["deviation"], volatility)
        return *first, 0.0, np.nan, 0.0, 0.0, 0.0

    def _play(
        self,
        games: Games,
        state: NDArray[np.float64],
        before: NDArray[np.float64],
        after: NDArray[np.float64],
    ) -> None:
        settings = self._settings
        rows = games.filled(settings["advantage"])[:5]
        if games.period is None:
            times = np.full(len(games.outcome), np.nan)
        else:
            times = games.period.astype(np.float64)
        growth, tau = settings.get("c", 0.0), settings.get("tau", 0.0)
        rule = np.array([growth, settings["max_deviation"], tau])
        update_by_period(*rows, times, state, before, after, rule)

    @property
    def deviation_(self) -> NDArray[np.float64]:
        """Deviation of every item after its last update."""
        return self._fitted_column("deviation")

    @property
    def before_deviation_(self) -> NDArray[np.float64]:
        """Deviations of left and right at the start of each row of the last call."""
        return self._trace("deviation")

    def _effective_difference(
        self, values: NDArray[np.float64], advantage: float | NDArray[np.float64]
    ) -> NDArray[np.float64]:
        variance = values[:, 0, 1] ** 2 + values[:, 1, 1] ** 2
        discount = 1.0 / np.sqrt(1.0 + 3.0 * (Q / np.pi) ** 2 * variance)
        return discount * super()._effective_difference(values, advantage)


class Glicko(DeviatingRating):
    """Glicko ratings: every rating has a deviation, which games shrink and time grows.

    With q = ln 10 / 400 and g(D) = 1 / √(1 + 3 q² D² / π²), the games of an item in a
    period, against opponents of rating rⱼ and deviation Dⱼ with scores sⱼ, give ::

        Eⱼ = 1 / (1 + 10^(-g(Dⱼ) (r - rⱼ) / 400)),
        1/d² = q² Σ wⱼ g(Dⱼ)² Eⱼ (1 - Eⱼ),
        D'² = 1 / (1/D² + 1/d²),
        r' = r + q D'² Σ wⱼ g(Dⱼ) (sⱼ - Eⱼ),

    all from the ratings and deviations at the start of the period, *summed* over its
    games. The advantage is added to left's rating on both sides of the board.

    When an item plays in a period, D² first grows by c² for every period since the last
    one it played in, at least one, and D is capped at `max_deviation`. Its first game
    finds it with `deviation`. Without periods every row is an update, and no time
    passes.

    Parameters
    ----------
    init : float, default=1500.0
        Rating of an item before its first game.
    deviation : float, default=350.0
        Deviation of an item before its first game.
    c : float, default=15.0
        Growth of the deviation: D² grows by c² per period; 0: it does not grow.
    max_deviation : float, default=350.0
        Largest deviation.
    advantage : float, default=0.0
        Rating points added to left, for home, white or the first position.
    unseen : {"error", "prior"}, default="error"
        What predictions do with names that were in no game: refuse them, or take
        `init` and `deviation` for them.

    Attributes
    ----------
    items_ : ndarray of shape (N,)
        Names of the items, in order of their first game.
    rating_, deviation_ : ndarray of shape (N,)
        Rating and deviation of every item after its last update; ``coef_`` is
        ``rating_``.
    n_games_ : ndarray of shape (N,)
        Number of games of every item, counted by their weights.
    before_, before_deviation_ : ndarray of shape (n, 2)
        Ratings, and deviations after their growth, of left and right at the start of
        the update of each row of the last call, without the advantage. Rows of weight
        0 have them too; an item without any game has `init` and `deviation`.
    history_ : polars.DataFrame
        Columns ``row`` (counted over all calls since ``fit``) or ``period``, ``item``,
        ``rating`` and ``deviation``, after each update of each item. Made when first
        asked for.
    tie_, slope_ : float
        Davidson's ν and the slope of the tie model, see ``predict_proba``. Fitted when
        first asked for.
    threshold_ : float
        Largest difference in rating points, advantage included, for which a tie is
        the most likely outcome between ratings without deviation; 0 if it never is.
        ``predict`` compares it with g(√(D²left + D²right)) times the difference: the
        less certain the ratings, the larger a difference may be.
    classes_ : ndarray
        The outcomes -1, 0, 1.

    See Also
    --------
    Elo : Ratings without deviations.
    Glicko2 : Deviations that grow with the volatility of each item.

    Notes
    -----
    ``expected_score`` is Glickman's prediction, 1 / (1 + 10^(-g d / 400)) with the
    difference d in favor of left and g of both deviations together, as they were after
    the last update. Parameters count when ``fit`` is called; ``partial_fit`` refuses to
    go on under others.

    References
    ----------
    M. E. Glickman, Parameter estimation in large dynamic paired comparison
    experiments, Applied Statistics 48, 1999; and The Glicko system.

    Examples
    --------
    >>> from tiebreak import Glicko, Pairs
    >>> games = Pairs(None, ["Ada", "Bo", "Ada"], ["Bo", "Cy", "Cy"])
    >>> glicko = Glicko().fit(games, [-1, 0, -1], period=[1, 1, 2])
    >>> glicko.rating_.round()
    array([1752., 1376., 1410.])
    >>> glicko.deviation_.round()
    array([251., 253., 251.])
    """

    __module__ = "tiebreak"  # where users find it

    _n_traced = 2

    def __init__(
        self,
        *,
        init: float = 1500.0,
        deviation: float = 350.0,
        c: float = 15.0,
        max_deviation: float = 350.0,
        advantage: float = 0.0,
        unseen: Literal["error", "prior"] = "error",
    ) -> None:
        self.init = init
        self.deviation = deviation
        self.c = c
        self.max_deviation = max_deviation
        self.advantage = advantage
        self.unseen = unseen

    def _read_settings(self) -> dict[str, Any]:
        c = finite_number(self, "c")
        if c < 0:
            refuse_parameter(self, "c", "a finite number that is not negative")
        return super()._read_settings() | {"c": c}
