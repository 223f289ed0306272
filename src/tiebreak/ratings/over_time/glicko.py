# SPDX-License-Identifier: BSD-3-Clause
"""Glicko and Glicko-2 ratings: Glickman's updates of a period, and the models.

In the notation of `Glicko` the games of an item in a period give the *information* I =
Σ w g(Dj)² E (1 - E) and the *evidence* e = Σ w g(Dj) (s - E): 1/d² is q² I, and 1/v of
Glicko-2 is I. Both are zero between updates, as `PLAYED` is. `LAST` is the period last
played in, NaN before the first and without periods.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tiebreak.data.arrays import Floats
from tiebreak.data.jit import njit
from tiebreak.data.parameters import (
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    one_of,
    refuse_parameter,
)
from tiebreak.ratings.named_results import as_times, read_duration
from tiebreak.ratings.over_time.games import Games
from tiebreak.ratings.over_time.sequential_rating import SequentialRating, Settings

COLUMNS = (
    *("rating", "deviation", "volatility", "games"),
    *("last", "information", "evidence", "played"),
)
RATING, DEVIATION, VOLATILITY, GAMES, LAST, INFORMATION, EVIDENCE, PLAYED = range(8)

Q = math.log(10.0) / 400.0
_TOLERANCE = 1e-12  # of ln σ²
_MAX_ITER = 200


@njit(cache=True, nogil=True)
def discount(deviation):  # type: ignore[no-untyped-def]
    """g(D), by how much an uncertain rating counts less."""
    return 1.0 / math.sqrt(1.0 + 3.0 * (Q * deviation / math.pi) ** 2)


@njit(cache=True, nogil=True)
def grown_deviation(state, item, time, rule):  # type: ignore[no-untyped-def]
    """Deviation at the start of an update; rule: (c, max_deviation, τ or 0)."""
    deviation = state[item, DEVIATION]
    # False also for NaN: nothing passes before the first game, or without periods.
    if not time > state[item, LAST]:
        return deviation
    passed = max(1.0, time - state[item, LAST])
    per_period = rule[0]
    if rule[2] > 0.0:
        passed -= 1.0
        per_period = state[item, VOLATILITY] / Q
    return min(math.sqrt(deviation**2 + passed * per_period**2), rule[1])


@njit(cache=True, nogil=True)
def new_volatility(sigma, phi, information, evidence, tau):  # type: ignore[no-untyped-def]
    """Solve Glickman's equation for the volatility of Glicko-2."""
    v, delta = 1.0 / information, evidence / information
    a = 2.0 * math.log(sigma)
    low, high, x, step = a - 0.5 * tau**2, a, a, math.inf
    for iteration in range(_MAX_ITER):
        z = math.exp(x)
        s = phi**2 + v + z
        p, d = z / s, delta**2 / s
        h = 0.5 * p * (d - 1.0) - (x - a) / tau**2
        slope = 0.5 * p * ((1.0 - 2.0 * p) * d - (1.0 - p)) - 1.0 / tau**2
        if h > 0.0:
            low = x
            if iteration == 0:
                high = math.log(delta**2 - phi**2 - v)
        else:
            high = x
        following = 0.5 * (low + high)
        if slope < 0.0 and abs(h / slope) <= 0.5 * step:
            newton = x - h / slope
            if low <= newton <= high:
                following = newton
        step = abs(following - x)
        x = following
        if step <= _TOLERANCE:
            break
    return math.exp(0.5 * x)


@njit(cache=True, nogil=True)
def update_item(state, item, time, rule):  # type: ignore[no-untyped-def]
    """Turn what an item's games say into its new state, in place."""
    information, evidence = state[item, INFORMATION], state[item, EVIDENCE]
    phi = Q * grown_deviation(state, item, time, rule)
    if rule[2] > 0.0:
        # Games whose result was certain say nothing about the volatility.
        if information > 1e-100:
            sigma = state[item, VOLATILITY]
            sigma = new_volatility(sigma, phi, information, evidence, rule[2])
            state[item, VOLATILITY] = sigma
        phi = math.sqrt(phi**2 + state[item, VOLATILITY] ** 2)
    variance = 1.0 / (1.0 / phi**2 + information)
    state[item, RATING] += variance * evidence / Q
    state[item, DEVIATION] = min(math.sqrt(variance) / Q, rule[1])
    state[item, GAMES] += state[item, PLAYED]
    state[item, LAST] = time
    state[item, INFORMATION] = 0.0
    state[item, EVIDENCE] = 0.0
    state[item, PLAYED] = 0.0


@njit(cache=True, nogil=True)
def add_game(state, item, difference, deviation, score, weight):  # type: ignore[no-untyped-def]
    """Add what a game says about one side, in place."""
    g = discount(deviation)
    # Of the two exponentials take the one below 1, so that E (1 - E) keeps its digits.
    e = math.exp(-Q * g * abs(difference))
    expected = 1.0 / (1.0 + e) if difference >= 0.0 else e / (1.0 + e)
    state[item, INFORMATION] += weight * g * g * e / (1.0 + e) ** 2
    state[item, EVIDENCE] += weight * g * (score - expected)
    state[item, PLAYED] += weight


@njit(cache=True, nogil=True)
def update_glicko(  # type: ignore[no-untyped-def]
    sides, outcome, weight, advantage, starts, times, state, before, after, rule
):
    """Update all state once per run of rows, in place."""
    for u in range(len(starts) - 1):
        for i in range(starts[u], starts[u + 1]):
            for side in range(2):
                item = sides[i, side]
                for column in range(before.shape[2]):
                    before[i, side, column] = state[item, column]
                before[i, side, 1] = grown_deviation(state, item, times[u], rule)
            if weight[i] > 0.0:
                score = 0.5 - 0.5 * outcome[i]
                ahead = before[i, 0, 0] - before[i, 1, 0] + advantage[i]
                left, right, w = sides[i, 0], sides[i, 1], weight[i]
                add_game(state, left, ahead, before[i, 1, 1], score, w)
                add_game(state, right, -ahead, before[i, 0, 1], 1.0 - score, w)
        for i in range(starts[u], starts[u + 1]):
            for side in range(2):
                # Items with several games come here again, already updated.
                if state[sides[i, side], PLAYED] > 0.0:
                    update_item(state, sides[i, side], times[u], rule)
        if len(after):
            for i in range(starts[u], starts[u + 1]):
                for side in range(2):
                    item = sides[i, side]
                    for column in range(after.shape[2]):
                        after[i, side, column] = state[item, column]


@dataclass(eq=False, repr=False)
class DeviatingRating(SequentialRating):
    """What Glicko and Glicko-2 share."""

    _: KW_ONLY
    init: float | Mapping[Any, float] = 1500.0
    deviation: float | Mapping[Any, float] = 350.0
    max_deviation: float = 350.0
    period_length: float | str | None = None
    advantage: float | Literal["auto"] = 0.0
    unseen: Literal["error", "prior"] = "error"

    _columns = COLUMNS
    _fitted_arrays: ClassVar = {"_state": "n 8: any"}
    _measures_time = True
    _parameters: ClassVar = {
        "init": replace(NUMBER, by_item=True),
        "deviation": replace(POSITIVE, by_item=True),
        "max_deviation": POSITIVE,
        "advantage": NUMBER | "auto",
        "unseen": one_of("error", "prior"),
    }

    def _read_settings(self) -> Settings:
        settings = super()._read_settings()
        given = settings["starts"].get("deviation", {}).values()
        if max([settings["deviation"], *given]) > self.max_deviation:
            limit = f"at most max_deviation={self.max_deviation!r}, which caps all"
            refuse_parameter(self, "deviation", limit)
        return settings | {"scale": 400.0}

    def _read_clock(self, settings: Settings, games: Games) -> None:
        length, in_days = 1.0, False
        if self.period_length is not None:
            length, in_days = read_duration(self.period_length, "period_length")
        if games.period is not None and games.period.dtype.kind == "M":
            gaps = np.diff(as_times(games.period))
            if self.period_length is None and len(gaps := gaps[gaps > 0]):
                length = float(np.median(gaps))
        elif in_days and games.period is not None:
            refuse_parameter(self, "period_length", "a number, as period holds numbers")
        settings["period_length"] = length

    def _now(self) -> Floats:
        state, growth = self._state.copy(), self._settings.get("c")
        if growth is None:
            growth = state[:, VOLATILITY] / Q
        passed = np.fmax.reduce(state[:, LAST], initial=np.nan) - state[:, LAST]
        passed = np.where(passed > 0.0, np.maximum(passed, 1.0), 0.0)
        grown = np.sqrt(state[:, DEVIATION] ** 2 + passed * growth**2)
        state[:, DEVIATION] = np.minimum(grown, self._settings["max_deviation"])
        return state

    @staticmethod
    def _new_item(settings: Settings) -> tuple[float, ...]:
        # Glicko has no volatility; it never reads this one.
        first = settings["init"], settings["deviation"], settings.get("volatility", 0.0)
        return *first, 0.0, np.nan, 0.0, 0.0, 0.0

    @staticmethod
    def _play(
        settings: Settings, games: Games, state: Floats, before: Floats, after: Floats
    ) -> None:
        rows = games.filled(settings["points"])[:5]
        times = np.full(len(games.outcome), np.nan)
        if games.period is not None:
            times = as_times(games.period) / settings["period_length"]
        growth, tau = settings.get("c", 0.0), settings.get("tau", 0.0)
        rule = np.array([growth, settings["max_deviation"], tau])
        update_glicko(*rows, times, state, before, after, rule)

    @property
    def deviation_(self) -> Floats:
        """Deviation of every item."""
        return self._fitted_column("deviation")

    @property
    def before_deviation_(self) -> Floats:
        """Deviations of left and right before each row."""
        return self._trace("deviation")

    @staticmethod
    def _effective_difference(values: Floats, advantage: float | Floats) -> Floats:
        variance = values[:, 0, 1] ** 2 + values[:, 1, 1] ** 2
        discount = 1.0 / np.sqrt(1.0 + 3.0 * (Q / np.pi) ** 2 * variance)
        return discount * SequentialRating._effective_difference(values, advantage)


@dataclass(eq=False, repr=False)
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
    one it played in, at least one, capped at `max_deviation`. That of an idle item has
    grown until the last period. Without periods no time passes.

    Parameters
    ----------
    init, deviation : float or mapping of names to floats, default=1500.0 and 350.0
        Before the first game; items that a mapping leaves out have the default.
    max_deviation : float, default=350.0
        Largest deviation.
    period_length : float or str, optional
        Of one period: a number, or a time such as "30d" where periods are dates. None:
        1, or the median time between different dates.
    advantage, unseen : float or "auto", and {"error", "prior"}
        As in `Elo`.
    c : float, default=15.0
        Growth of the deviation; 0: none.

    Attributes
    ----------
    items_, rating_, deviation_, n_games_ : ndarray of shape (N,)
        As in `Elo`, with the deviation of every item.
    before_, before_deviation_ : ndarray of shape (n, 2)
        As in `Elo`; deviations after their growth.
    history_ : polars.DataFrame
        As in `Elo`, with a column ``deviation``.
    advantage_, tie_, slope_, classes_
        As in `Elo`.
    threshold_ : float
        As in `Elo`, of g times the difference.

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

    _: KW_ONLY
    c: float = 15.0

    _n_traced = 2
    _parameters: ClassVar = {**DeviatingRating._parameters, "c": NOT_NEGATIVE}


@dataclass(eq=False, repr=False)
class Glicko2(DeviatingRating):
    """Glicko-2 ratings: deviations grow with the volatility of each item.

    On Glickman's scale, φ = q D with q = ln 10 / 400, the games of an item in a period
    give, with w, g and E as in `Glicko`, ::

        1/v = Σ wⱼ g(φⱼ)² Eⱼ (1 - Eⱼ),      Δ = v Σ wⱼ g(φⱼ) (sⱼ - Eⱼ).

    The volatility σ becomes the σ' with x = ln σ'² that solves ::

        ½ eˣ (Δ² - φ² - v - eˣ) / (φ² + v + eˣ)² = (x - ln σ²) / τ²,

    and then φ'² = 1 / (1/(φ² + σ'²) + 1/v) and r' = r + φ'² Σ wⱼ g(φⱼ)(sⱼ - Eⱼ) / q.

    When an item plays again, φ² first grows by σ² for every period in between.

    Parameters
    ----------
    init, deviation, max_deviation, period_length, advantage, unseen
        As in `Glicko`.
    volatility : float or mapping of names to floats, default=0.06
        σ before the first game.
    tau : float, default=0.5
        How much volatilities may change; Glickman recommends 0.3 to 1.2.

    Attributes
    ----------
    volatility_ : ndarray of shape (N,)
        Volatility of every item after its last update.
    items_, rating_, deviation_, n_games_, before_, before_deviation_, history_
        As in `Glicko`; the history has a column ``volatility``.
    advantage_, tie_, slope_, threshold_, classes_ : float and ndarray
        As in `Glicko`.

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

    _: KW_ONLY
    volatility: float | Mapping[Any, float] = 0.06
    tau: float = 0.5

    _n_traced = 3
    _parameters: ClassVar = {
        **DeviatingRating._parameters,
        "volatility": replace(POSITIVE, by_item=True),
        "tau": POSITIVE,
    }

    @property
    def volatility_(self) -> Floats:
        """Volatility of every item."""
        return self._fitted_column("volatility")
