# SPDX-License-Identifier: BSD-3-Clause
"""Elo ratings: the update of one game or period, and the model.

`CHANGE` is zero between updates.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tiebreak.data.arrays import Floats
from tiebreak.data.jit import njit
from tiebreak.data.parameters import NUMBER, POSITIVE, one_of
from tiebreak.ratings.over_time.games import Games
from tiebreak.ratings.over_time.sequential_rating import SequentialRating, Settings

COLUMNS = ("rating", "games", "peak", "change")
RATING, GAMES, PEAK, CHANGE = range(4)

# K of new items, of usual ones, and of those that reached the top rating.
K_RULES = {"fide": (30.0, 15.0, 10.0), "fide2014": (40.0, 20.0, 10.0)}
NEW_GAMES, TOP_RATING = 30.0, 2400.0


@njit(cache=True, nogil=True)
def update_elo_by_row(sides, outcome, state, before, advantage, rule):  # type: ignore[no-untyped-def]
    """Update both ratings after every game, one K for all, in place."""
    for i in range(len(outcome)):
        a, b = sides[i, 0], sides[i, 1]
        left, right = state[a, RATING], state[b, RATING]
        before[i, 0, 0] = left
        before[i, 1, 0] = right
        score = 0.5 - 0.5 * outcome[i]
        expected = 1.0 / (1.0 + math.exp((right - left - advantage) * rule[0]))
        change = rule[1] * (score - expected)
        state[a, RATING] = left + change
        state[b, RATING] = right - change
        state[a, GAMES] += 1.0
        state[b, GAMES] += 1.0


@njit(cache=True, nogil=True)
def k_factor(state, item, rule):  # type: ignore[no-untyped-def]
    """Give the K of an item: new, usual, or at the top."""
    # rule: scale of logits, K of new, usual and top items, NEW_GAMES, TOP_RATING.
    if state[item, GAMES] < rule[4]:
        return rule[1]
    return rule[3] if state[item, PEAK] >= rule[5] else rule[2]


@njit(cache=True, nogil=True)
def update_elo(  # type: ignore[no-untyped-def]
    sides, outcome, weight, advantage, starts, state, before, after, rule
):
    """Update ratings once per run of rows, from the ratings before it, in place."""
    for u in range(len(starts) - 1):
        for i in range(starts[u], starts[u + 1]):
            a, b = sides[i, 0], sides[i, 1]
            left, right = state[a, RATING], state[b, RATING]
            before[i, 0, 0] = left
            before[i, 1, 0] = right
            if weight[i] == 0.0:
                continue
            score = 0.5 - 0.5 * outcome[i]
            expected = 1.0 / (1.0 + math.exp((right - left - advantage[i]) * rule[0]))
            gained = weight[i] * (score - expected)
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


@dataclass(eq=False, repr=False)
class Elo(SequentialRating):
    """Elo ratings, updated after every game or once per period.

    With s the score of left (1, ½ or 0) and w the weight of the row, ::

        E = 1 / (1 + 10^(-(r_left + advantage - r_right) / scale)),
        r_left ← r_left + K w (s - E),      r_right ← r_right - K w (s - E),

    With periods, all games of a period use the ratings before it, and each item changes
    by the *sum* over its games.

    Parameters
    ----------
    k : float, "fide" or "fide2014", default=20.0
        K, the same for all, or FIDE's rule: 30 for an item with fewer than 30 games,
        then 10 for ever once it reached a rating of 2400, else 15. "fide2014": 40, 10
        and 20.
    init : float or mapping of names to floats, default=1200.0
        Rating before the first game; items that a mapping leaves out have the default.
    advantage : float or "auto", default=0.0
        Points added to left (home, white or first). "auto": `fit` learns those with the
        least log loss of E, forward in time, a tie being ½.
    scale : float, default=400.0
        The difference that makes the odds ten to one.
    unseen : {"error", "prior"}, default="error"
        Whether predictions refuse names that were in no game, or rate them `init`.

    Attributes
    ----------
    items_ : ndarray of shape (N,)
        Names of the items, in the order of `Pairs.names`.
    rating_, n_games_ : ndarray of shape (N,)
        Rating of every item (also ``coef_``), and its games, summed by weight.
    advantage_ : float
        The parameter, or learned.
    before_ : ndarray of shape (n, 2)
        Ratings of left and right before each row of the last call.
    history_ : polars.DataFrame
        Columns ``row`` (counted since ``fit``) or ``period``, ``item`` and ``rating``:
        after each update.
    tie_, slope_, classes_ : float, float, ndarray
        Parameters of the ties, see ``predict_proba``; -1, 0, 1.
    threshold_ : float
        Largest difference, advantage included, at which a tie is most likely, or 0.

    References
    ----------
    A. E. Elo, The Rating of Chessplayers, Past and Present, 1978.

    Examples
    --------
    >>> from tiebreak import Elo, Pairs
    >>> games = Pairs(None, ["Ada", "Bo", "Cy"], ["Bo", "Cy", "Ada"])
    >>> elo = Elo(k=20).fit(games, [-1, 0, 1])
    >>> elo.rating_.round(1)
    array([1219.7, 1190.3, 1190. ])
    >>> elo.expected_score(Pairs(None, ["Ada"], ["Bo"])).round(2)
    array([0.54])
    """

    __module__ = "tiebreak"  # where users find it

    k: float | Literal["fide", "fide2014"] = 20.0
    _: KW_ONLY
    init: float | Mapping[Any, float] = 1200.0
    advantage: float | Literal["auto"] = 0.0
    scale: float = 400.0
    unseen: Literal["error", "prior"] = "error"

    _columns = COLUMNS
    _fitted_arrays: ClassVar = {"_state": "n 4"}
    _n_traced = 1
    _parameters: ClassVar = {
        "k": POSITIVE | "fide" | "fide2014",
        "init": replace(NUMBER, by_item=True),
        "advantage": NUMBER | "auto",
        "scale": POSITIVE,
        "unseen": one_of("error", "prior"),
    }

    @staticmethod
    def _new_item(settings: Settings) -> tuple[float, ...]:
        return settings["init"], 0.0, settings["init"], 0.0

    @staticmethod
    def _play(
        settings: Settings, games: Games, state: Floats, before: Floats, after: Floats
    ) -> None:
        k, points = settings["k"], settings["points"]
        factors = K_RULES.get(k) or (k, k, k)
        per_point = math.log(10.0) / settings["scale"]
        rule = np.array([per_point, *factors, NEW_GAMES, TOP_RATING])
        plain = k not in K_RULES and not len(after)
        if plain and all(part is None for part in games[2:]):
            update_elo_by_row(games.sides, games.outcome, state, before, points, rule)
        else:
            update_elo(*games.filled(points)[:5], state, before, after, rule)
