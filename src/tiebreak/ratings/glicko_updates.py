# SPDX-License-Identifier: BSD-3-Clause
"""Glickman's formulas, period after period, for Glicko and for Glicko-2.

With q = ln 10 / 400, g(D) = 1 / sqrt(1 + 3 q² D² / π²) and the expected score of item
i against j, E = 1 / (1 + exp(-q g(Dj) (ri - rj))), the games of i in a period give

    information  I = Σ w g(Dj)² E (1 - E),        evidence  e = Σ w g(Dj) (s - E),

the same in both systems: 1 / d² of the one is q² I, 1 / v of the other is I. They
differ in when deviations grow, and in the volatility, see `grown_deviation` and
`settle`. Deviations are in rating points in the state, also for Glicko-2, whose own
scale φ = q D is used for the volatility σ only.

`INFORMATION`, `EVIDENCE` and `PLAYED` are zero between updates. `LAST` is the period
last played in, NaN before the first; without periods it stays NaN.
"""

from __future__ import annotations

import math

from numba import njit

__all__ = ["COLUMNS", "Q", "update_by_period"]

COLUMNS = (
    "rating",
    "deviation",
    "volatility",
    "games",
    "last",
    "information",
    "evidence",
    "played",
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
    """Give the deviation of an item at the start of an update.

    Glicko: D² grows by c² for every period since the last one played, at least one.
    Glicko-2: by (σ / q)² for every period in between, in which the item did not play;
    what the period itself adds is part of `settle`.
    """
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
    """Solve Glickman's equation for the volatility of Glicko-2.

    With a = ln σ², v = 1 / I and Δ = e / I, x = ln σ'² is the root of ::

        h(x) = ½ p (D - 1) - (x - a) / τ²,   z = exp(x), s = φ² + v + z,
                                             p = z / s,  D = Δ² / s.

    It lies between a and ln(Δ² - φ² - v), where D = 1, if h(a) > 0, and else between
    a - τ²/2, where h > 0 because p < 1, and a. Newton's method finds it in two or
    three steps; where its steps do not become half as long each time, the interval is
    halved instead.
    """
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
def settle(state, item, time, rule):  # type: ignore[no-untyped-def]
    """Turn what an item's games of an update say into its new state, in place."""
    information, evidence = state[item, INFORMATION], state[item, EVIDENCE]
    phi = Q * grown_deviation(state, item, time, rule)
    if rule[2] > 0.0:
        # Games whose result was certain say nothing about the volatility.
        if information > 1e-100:
            sigma = new_volatility(
                state[item, VOLATILITY], phi, information, evidence, rule[2]
            )
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
    """Add what a game says about one side, in place.

    Parameters
    ----------
    state : ndarray of shape (N, 8)
        Information, evidence and weight played of the item are increased.
    item : int
        The item.
    difference : float
        Its rating minus the opponent's, advantage included.
    deviation : float
        The opponent's deviation at the start.
    score : float
        Its score.
    weight : float
        Weight of the game.
    """
    g = discount(deviation)
    # Of the two exponentials take the one below 1, so that E (1 - E) keeps its digits.
    e = math.exp(-Q * g * abs(difference))
    expected = 1.0 / (1.0 + e) if difference >= 0.0 else e / (1.0 + e)
    state[item, INFORMATION] += weight * g * g * e / (1.0 + e) ** 2
    state[item, EVIDENCE] += weight * g * (score - expected)
    state[item, PLAYED] += weight


@njit(cache=True, nogil=True)
def update_by_period(  # type: ignore[no-untyped-def]
    sides, outcome, weight, advantage, starts, times, state, before, after, rule
):
    """Update ratings, deviations and volatilities once per run of rows, in place.

    Parameters
    ----------
    sides : ndarray of uint32 of shape (n, 2)
        Left and right item of every game.
    outcome : ndarray of int8 of shape (n,)
        -1 left won, 0 tie, +1 right won.
    weight : ndarray of float64 of shape (n,)
        Weights; a row of weight 0 changes nothing.
    advantage : ndarray of float64 of shape (n,)
        Rating points added to left.
    starts : ndarray of int64 of shape (n_updates + 1,)
        First row of every update, and n.
    times : ndarray of float64 of shape (n_updates,)
        Period of every update; NaN without periods.
    state : ndarray of float64 of shape (N, 8)
        Columns as in `COLUMNS`.
    before, after : ndarray of float64 of shape (n, 2, 2) or (n, 2, 3)
        Get rating, deviation and, if there is room, volatility of both sides of every
        game at the start of its update, deviations grown, and after it. `after` may
        have no rows: then it gets nothing.
    rule : ndarray of float64 of shape (3,)
        c, the largest deviation, and τ; τ = 0 for Glicko.
    """
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
                # Items with several games come here again, already settled.
                if state[sides[i, side], PLAYED] > 0.0:
                    settle(state, sides[i, side], times[u], rule)
        if len(after):
            for i in range(starts[u], starts[u + 1]):
                for side in range(2):
                    item = sides[i, side]
                    for column in range(after.shape[2]):
                        after[i, side, column] = state[item, column]
