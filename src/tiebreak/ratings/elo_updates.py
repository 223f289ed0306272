# SPDX-License-Identifier: BSD-3-Clause
"""Elo's formula, game after game.

The state of the items is one array, a row per item and a column per quantity, so that
a game touches two places in memory. `CHANGE` is zero between updates.

The expected score is the logistic function of the difference of ratings. It comes from
a table of its Taylor polynomials of degree 7 around the multiples of 1/16: the
remainder at a distance of at most 1/32 is below 1e-16, and neither an exponential nor a
division is left in the loop, whose rounding then depends on no library.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "COLUMNS",
    "K_RULES",
    "NEW_GAMES",
    "STEPS",
    "TOP_RATING",
    "logistic_table",
    "update_by_period",
    "update_by_row",
]

COLUMNS = ("rating", "games", "peak", "change")
RATING, GAMES, PEAK, CHANGE = range(4)

K_RULES = {"fide": (30.0, 15.0, 10.0), "fide2014": (40.0, 20.0, 10.0)}
"""K of new items, of usual ones, and of those that reached the top rating."""
NEW_GAMES, TOP_RATING = 30.0, 2400.0

STEPS = 16
"""Polynomials per unit of the logistic function's argument."""
REACH = 40
"""Beyond this argument the expected score is taken as here, 4e-18 from 0 or 1."""
TERMS = 8


@cache
def logistic_table() -> NDArray[np.float64]:
    """Tabulate the Taylor polynomials of s(v) = 1 / (1 + exp(-v)).

    Returns
    -------
    ndarray of shape (2 * REACH * STEPS + 1, TERMS)
        Row j holds the coefficients of s((j - REACH * STEPS + h) / STEPS) as a
        polynomial in h.
    """
    v = np.arange(-REACH * STEPS, REACH * STEPS + 1) / STEPS
    c = np.zeros((len(v), TERMS))
    c[:, 0] = 1.0 / (1.0 + np.exp(-v))
    c[:, 1] = c[:, 0] / (1.0 + np.exp(v))
    # s' = s - s², coefficient by coefficient.
    for k in range(1, TERMS - 1):
        square = sum(c[:, j] * c[:, k - j] for j in range(k + 1))
        c[:, k + 1] = (c[:, k] - square) / (k + 1)
    return c * float(STEPS) ** -np.arange(TERMS)


@njit(cache=True, nogil=True)
def expected_score(steps, table):  # type: ignore[no-untyped-def]
    """Evaluate the logistic function at ``steps / STEPS``.

    Parameters
    ----------
    steps : float
        The argument in steps of the table.
    table : ndarray
        From `logistic_table`.

    Returns
    -------
    float
        With an absolute error below 4e-16.
    """
    middle = REACH * STEPS
    if steps < -middle:
        steps = -float(middle)
    elif steps > middle:
        steps = float(middle)
    near = np.int64(steps + (middle + 0.5))
    h = steps - np.float64(near - middle)
    # Unsigned: an index that cannot count from the end needs no test for it.
    c = table[np.uint64(near)]
    hh = h * h
    low = (c[0] + c[1] * h) + (c[2] + c[3] * h) * hh
    high = (c[4] + c[5] * h) + (c[6] + c[7] * h) * hh
    return low + high * (hh * hh)


@njit(cache=True, nogil=True)
def update_by_row(sides, outcome, state, before, rule, table):  # type: ignore[no-untyped-def]
    """Update both ratings after every game, with one K for all, in place.

    Parameters
    ----------
    sides : ndarray of uint32 of shape (n, 2)
        Left and right item of every game.
    outcome : ndarray of int8 of shape (n,)
        -1 left won, 0 tie, +1 right won.
    state : ndarray of float64 of shape (N, 4)
        Columns as in `COLUMNS`; ratings and games are updated.
    before : ndarray of float64 of shape (n, 2, 1)
        Gets the ratings before every game.
    rule : ndarray of float64
        Steps of the table per rating point, advantage of left, K.
    table : ndarray
        From `logistic_table`.
    """
    steps, advantage, k = rule[0], rule[1], rule[2]
    for i in range(len(outcome)):
        a, b = sides[i, 0], sides[i, 1]
        left, right = state[a, RATING], state[b, RATING]
        before[i, 0, 0] = left
        before[i, 1, 0] = right
        score = 0.5 - 0.5 * outcome[i]
        expected = expected_score((left - right + advantage) * steps, table)
        change = k * (score - expected)
        state[a, RATING] = left + change
        state[b, RATING] = right - change
        state[a, GAMES] += 1.0
        state[b, GAMES] += 1.0


@njit(cache=True, nogil=True)
def k_factor(state, item, rule):  # type: ignore[no-untyped-def]
    """Give the K of an item: new, usual, or at the top."""
    if state[item, GAMES] < rule[5]:
        return rule[2]
    return rule[4] if state[item, PEAK] >= rule[6] else rule[3]


@njit(cache=True, nogil=True)
def update_by_period(  # type: ignore[no-untyped-def]
    sides, outcome, weight, advantage, starts, state, before, after, rule, table
):
    """Update ratings once per run of rows, from the ratings before it, in place.

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
    state : ndarray of float64 of shape (N, 4)
        Columns as in `COLUMNS`; all are updated.
    before, after : ndarray of float64 of shape (n, 2, 1)
        Get the ratings before and after the update of every game. `after` may have
        the shape (0, 2, 1): then it gets nothing.
    rule : ndarray of float64
        Steps of the table per rating point; the advantage, which is not used here; K
        of new items, of usual ones, and of those that were at the top; below how many
        games an item is new; which rating is the top.
    table : ndarray
        From `logistic_table`.
    """
    for u in range(len(starts) - 1):
        for i in range(starts[u], starts[u + 1]):
            a, b = sides[i, 0], sides[i, 1]
            left, right = state[a, RATING], state[b, RATING]
            before[i, 0, 0] = left
            before[i, 1, 0] = right
            if weight[i] == 0.0:
                continue
            score = 0.5 - 0.5 * outcome[i]
            steps = (left - right + advantage[i]) * rule[0]
            gained = weight[i] * (score - expected_score(steps, table))
            state[a, CHANGE] += k_factor(state, a, rule) * gained
            state[b, CHANGE] -= k_factor(state, b, rule) * gained
        for i in range(starts[u], starts[u + 1]):
            if weight[i] == 0.0:
                continue
            for side in range(2):
                item = sides[i, side]
                # Items with several games come here again, with no change left.
                state[item, RATING] += state[item, CHANGE]
                state[item, CHANGE] = 0.0
                state[item, GAMES] += weight[i]
                state[item, PEAK] = max(state[item, PEAK], state[item, RATING])
        if len(after):
            for i in range(starts[u], starts[u + 1]):
                after[i, 0, 0] = state[sides[i, 0], RATING]
                after[i, 1, 0] = state[sides[i, 1], RATING]
