# SPDX-License-Identifier: BSD-3-Clause
"""Elo ratings."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.ratings.elo_updates import (
    COLUMNS,
    K_RULES,
    NEW_GAMES,
    STEPS,
    TOP_RATING,
    logistic_table,
    update_by_period,
    update_by_row,
)
from tiebreak.ratings.games import Games
from tiebreak.ratings.parameters import finite_number, positive_number
from tiebreak.ratings.sequential import SequentialRating

__all__ = ["Elo"]

_NAMED_RULES = ", 'fide' or 'fide2014'"


class Elo(SequentialRating):
    """Elo ratings, updated after every game or once per period.

    A game changes the ratings of both sides by the difference between the score s of
    left (1, ½ or 0) and the score that was expected, ::

        E = 1 / (1 + 10^(-(r_left + advantage - r_right) / scale)),
        r_left ← r_left + K w (s - E),      r_right ← r_right - K w (s - E),

    where w is the weight of the row. With periods, all games of a period use the
    ratings before it, and each item changes by the *sum* over its games.

    Parameters
    ----------
    k : float, "fide" or "fide2014", default=20.0
        K, the same for all, or FIDE's rule: 30 for an item with fewer than 30 games
        before this one (or before its period); else 10 for ever if it reached a rating
        of 2400, and 15 if not. Since 2014: 40, 10 and 20 in the same places.
    init : float, default=1200.0
        Rating of an item before its first game.
    advantage : float, default=0.0
        Rating points added to left, for home, white or the first position.
    scale : float, default=400.0
        Difference of ratings that makes the odds ten to one.
    unseen : {"error", "prior"}, default="error"
        What predictions do with names that were in no game: refuse them, or take
        `init` as their rating.

    Attributes
    ----------
    items_ : ndarray of shape (N,)
        Names of the items, in order of their first game.
    rating_ : ndarray of shape (N,)
        Rating of every item; ``coef_`` is the same.
    n_games_ : ndarray of shape (N,)
        Number of games of every item, counted by their weights.
    before_ : ndarray of shape (n, 2)
        Ratings of left and right before each row of the last call of ``fit`` or
        ``partial_fit``, without the advantage. Rows of weight 0 have them too; an item
        without any game has `init`.
    history_ : polars.DataFrame
        Columns ``row`` (counted over all calls since ``fit``) or ``period``, ``item``
        and ``rating``: the rating of each item after each of its updates. Made when
        first asked for.
    tie_, slope_ : float
        Davidson's ν and the slope of the tie model, see ``predict_proba``. Fitted when
        first asked for.
    threshold_ : float
        Largest difference in rating points, advantage included, for which a tie is
        the most likely outcome; 0 if it never is.
    classes_ : ndarray
        The outcomes -1, 0, 1.

    See Also
    --------
    Glicko : Ratings that know how certain they are.

    Notes
    -----
    Parameters count when ``fit`` is called; ``partial_fit`` refuses to go on under
    others.

    References
    ----------
    A. E. Elo, The Rating of Chessplayers, Past and Present, 1978.

    Examples
    --------
    >>> from tiebreak import Elo, Pairs
    >>> games = Pairs(None, ["Ada", "Bo", "Cy"], ["Bo", "Cy", "Ada"])
    >>> elo = Elo(k=20).fit(games, [-1, 0, 1])
    >>> elo.items_
    array(['Ada', 'Bo', 'Cy'], dtype='<U3')
    >>> elo.rating_.round(1)
    array([1219.7, 1190.3, 1190. ])
    >>> elo.expected_score(Pairs(None, ["Ada"], ["Bo"])).round(2)
    array([0.54])
    """

    __module__ = "tiebreak"  # where users find it

    _columns = COLUMNS
    _n_traced = 1

    def __init__(
        self,
        k: float | Literal["fide", "fide2014"] = 20.0,
        *,
        init: float = 1200.0,
        advantage: float = 0.0,
        scale: float = 400.0,
        unseen: Literal["error", "prior"] = "error",
    ) -> None:
        self.k = k
        self.init = init
        self.advantage = advantage
        self.scale = scale
        self.unseen = unseen

    def _read_settings(self) -> dict[str, Any]:
        self._check_unseen()
        named = isinstance(self.k, str) and self.k in K_RULES
        return {
            "k": self.k if named else positive_number(self, "k", _NAMED_RULES),
            "init": finite_number(self, "init"),
            "advantage": finite_number(self, "advantage"),
            "scale": positive_number(self, "scale"),
        }

    def _new_item(self) -> tuple[float, ...]:
        init = self._settings["init"]
        return init, 0.0, init, 0.0

    def _play(
        self,
        games: Games,
        state: NDArray[np.float64],
        before: NDArray[np.float64],
        after: NDArray[np.float64],
    ) -> None:
        k, advantage = self._settings["k"], self._settings["advantage"]
        factors = K_RULES.get(k) or (k, k, k)
        steps = STEPS * self._per_point
        rule = np.array([steps, advantage, *factors, NEW_GAMES, TOP_RATING])
        table = logistic_table()
        plain = k not in K_RULES and not len(after)
        if plain and all(part is None for part in games[2:]):
            update_by_row(games.sides, games.outcome, state, before, rule, table)
            return
        rows = games.filled(advantage)[:5]
        update_by_period(*rows, state, before, after, rule, table)
