# SPDX-License-Identifier: BSD-3-Clause
"""Glicko-2 ratings."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.ratings.glicko import DeviatingRating
from tiebreak.ratings.parameters import positive_number

__all__ = ["Glicko2"]


class Glicko2(DeviatingRating):
    """Glicko-2 ratings: deviations grow with the volatility of each item.

    On Glickman's scale, φ = q D with q = ln 10 / 400, the games of an item in a period
    give, *summed* over its games, with weights w, g and E as in `Glicko`, ::

        1/v = Σ wⱼ g(φⱼ)² Eⱼ (1 - Eⱼ),      Δ = v Σ wⱼ g(φⱼ) (sⱼ - Eⱼ).

    The volatility σ becomes the σ' with x = ln σ'² that solves ::

        ½ eˣ (Δ² - φ² - v - eˣ) / (φ² + v + eˣ)² = (x - ln σ²) / τ²,

    and then φ'² = 1 / (1/(φ² + σ'²) + 1/v) and r' = r + φ'² Σ wⱼ g(φⱼ)(sⱼ - Eⱼ) / q.

    So every update grows φ² by σ'² before games shrink it. A period in which an item
    that has played before does not play adds σ² to its φ², when it plays again. After
    these, and after an update, D is capped at `max_deviation`. Without periods every
    row is an update, and there are no periods without play.

    Parameters
    ----------
    init : float, default=1500.0
        Rating of an item before its first game.
    deviation : float, default=350.0
        Deviation of an item before its first game, in rating points.
    volatility : float, default=0.06
        Volatility σ of an item before its first game.
    tau : float, default=0.5
        How much volatilities may change; Glickman recommends 0.3 to 1.2.
    max_deviation : float, default=350.0
        Largest deviation, in rating points.
    advantage : float, default=0.0
        Rating points added to left, for home, white or the first position.
    unseen : {"error", "prior"}, default="error"
        What predictions do with names that were in no game: refuse them, or take
        `init` and `deviation` for them.

    Attributes
    ----------
    items_ : ndarray of shape (N,)
        Names of the items, in order of their first game.
    rating_, deviation_, volatility_ : ndarray of shape (N,)
        Rating, deviation and volatility of every item after its last update; the first
        two in rating points. ``coef_`` is ``rating_``.
    n_games_ : ndarray of shape (N,)
        Number of games of every item, counted by their weights.
    before_, before_deviation_ : ndarray of shape (n, 2)
        Ratings, and deviations after periods without play, of left and right at the
        start of the update of each row of the last call, without the advantage. Rows
        of weight 0 have them too; an item without any game has `init` and `deviation`.
    history_ : polars.DataFrame
        Columns ``row`` (counted over all calls since ``fit``) or ``period``, ``item``,
        ``rating``, ``deviation`` and ``volatility``, after each update of each item.
        Made when first asked for.
    tie_, slope_ : float
        Davidson's ν and the slope of the tie model, see ``predict_proba``. Fitted when
        first asked for.
    threshold_ : float
        Largest difference in rating points, advantage included, for which a tie is
        the most likely outcome between ratings without deviation, as in `Glicko`.
    classes_ : ndarray
        The outcomes -1, 0, 1.

    See Also
    --------
    Glicko : Deviations that grow by the same amount for all.

    Notes
    -----
    Parameters count when ``fit`` is called; ``partial_fit`` refuses to go on under
    others.

    References
    ----------
    M. E. Glickman, Dynamic paired comparison models with stochastic variances, Journal
    of Applied Statistics 28, 2001; and Example of the Glicko-2 system.

    Examples
    --------
    >>> from tiebreak import Glicko2, Pairs
    >>> games = Pairs(None, ["Ada", "Bo", "Ada"], ["Bo", "Cy", "Cy"])
    >>> glicko2 = Glicko2().fit(games, [-1, 0, -1], period=[1, 1, 2])
    >>> glicko2.rating_.round()
    array([1752., 1376., 1411.])
    >>> glicko2.volatility_.round(3)
    array([0.06, 0.06, 0.06])
    """

    __module__ = "tiebreak"  # where users find it

    _n_traced = 3

    def __init__(
        self,
        *,
        init: float = 1500.0,
        deviation: float = 350.0,
        volatility: float = 0.06,
        tau: float = 0.5,
        max_deviation: float = 350.0,
        advantage: float = 0.0,
        unseen: Literal["error", "prior"] = "error",
    ) -> None:
        self.init = init
        self.deviation = deviation
        self.volatility = volatility
        self.tau = tau
        self.max_deviation = max_deviation
        self.advantage = advantage
        self.unseen = unseen

    def _read_settings(self) -> dict[str, Any]:
        return super()._read_settings() | {
            "volatility": positive_number(self, "volatility"),
            "tau": positive_number(self, "tau"),
        }

    @property
    def volatility_(self) -> NDArray[np.float64]:
        """Volatility of every item after its last update."""
        return self._fitted_column("volatility")
