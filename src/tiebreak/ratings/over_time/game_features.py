# SPDX-License-Identifier: BSD-3-Clause
"""What was known of both players before each game, as features to learn from.

One pass over the games in order of time: the features of both players are written
down, then their states are updated by the result. Shares and means over no games are 0;
"higher" and "lower" compare the Elo ratings of both players before the game, and equal
ratings are neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import ItemTable, Pairs, check_outcomes
from tiebreak.data.jit import njit
from tiebreak.ratings.inputs import named_pairs
from tiebreak.ratings.over_time.elo import (
    K_RULES,
    NEW_GAMES,
    STEPS,
    TOP_RATING,
    expected_score,
    logistic_table,
)
from tiebreak.ratings.over_time.games import (
    check_period,
    number_sides,
    refuse_unmeasured,
)
from tiebreak.ratings.over_time.glicko import Q, discount

# The 16 features, in order; `game_features` says what they are.
FEATURE_NAMES = (
    *("elo", "glicko", "glicko_deviation", "first_move"),
    *("games", "wins", "draws", "losses", "win_share", "draw_share", "loss_share"),
    *("beat_higher_share", "lost_to_lower_share", "opponent_difference"),
    *("form", "idle_periods"),
)

_MAX_DEVIATION = 350.0
FORM_GAMES = 10  # how many of the last games ``form`` is about

# Columns of the state of the players; the last results are kept from RESULTS on.
ELO, PEAK, GLICKO, DEVIATION, LAST = range(5)
GAMES, WINS, DRAWS, LOSSES, HIGHER, LOWER, DIFFERENCE, POINTS = range(5, 13)
RESULTS = 13
N_COLUMNS = RESULTS + FORM_GAMES
# Entries of `rule`.
STEPS_PER_POINT, NEW_K, USUAL_K, TOP_K, GROWTH = range(5)


@dataclass(frozen=True, eq=False)
class GameFeatures:
    """What `game_features` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per game, in the order given. Row 2 i of the item table is the
        left player before game i, row 2 i + 1 the right one.
    n_before : ndarray of int64, shape (n, 2)
        How many games the left and the right player had played before each game.
    """

    pairs: Pairs
    n_before: NDArray[np.int64] = field(repr=False)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return FEATURE_NAMES


def game_features(
    pairs: Pairs,
    y: ArrayLike,
    *,
    period: ArrayLike | None = None,
    k: float | Literal["fide", "fide2014"] = "fide",
    elo_init: float = 1200.0,
    glicko_init: float = 1500.0,
    glicko_deviation: float = 350.0,
    c: float = 15.0,
) -> GameFeatures:
    """Describe both players of every game by what was known before it.

    These are the features of chess players of Venuto et al., "Support vector comparison
    machines", section 5. Row order is time; a game depends on earlier rows only.

    Parameters
    ----------
    pairs, y : Pairs, array-like of shape (n,)
        Games of named players, left moves first: -1 left won, 0 draw, +1 right won.
    period : array-like of numbers of shape (n,), optional
        When each game took place, not decreasing. None: no time passes.
    k : float, "fide" or "fide2014", default="fide"
        K of the Elo rating, see `Elo`.
    elo_init, glicko_init, glicko_deviation : float, default=1200.0, 1500.0 and 350.0
        Ratings and deviation of a player before the first game.
    c : float, default=15.0
        With `period`, the square of the Glicko deviation grows by c² per period.

    Returns
    -------
    GameFeatures
        ``pairs`` with 16 features of 2 n items, to be used as in
        ``SVMCompare().fit(features.pairs[rows], y[rows])``, and ``n_before``.

    Notes
    -----
    The features of a player before a game, in this order:

    * ``elo``, ``glicko``: ratings, updated after every game, whatever the period.
    * ``glicko_deviation``: D. At a player's first game in a new period D² has grown by
      c² for every period since the last one played (at least one), up to D = 350.
    * ``first_move``: 1 for left, 0 for right.
    * ``games``, ``wins``, ``draws``, ``losses``: numbers of earlier games.
    * ``win_share``, ``draw_share``, ``loss_share``: the same, per game.
    * ``beat_higher_share``, ``lost_to_lower_share``: wins against players of a higher
      Elo rating, and losses to players of a lower one, per game.
    * ``opponent_difference``: mean of the opponents' Elo rating minus the player's own.
    * ``form``: mean score (1, ½ or 0) of the last ten games, or of all if fewer.
    * ``idle_periods``: period of this game minus that of the last one; 0 without
      periods or before the first game.

    All shares and means are 0 before the first game, which does not mean that the
    player lost: leave out games with ``n_before.min(axis=1) == 0``, as the paper does.
    Standardize the features before using a kernel or a penalty, for example with
    ``OnItems(StandardScaler())``; counts grow for ever.

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> from tiebreak.ratings import game_features
    >>> games = Pairs(None, ["Ada", "Bo", "Bo"], ["Bo", "Cy", "Ada"])
    >>> features = game_features(games, [-1, 0, 1])
    >>> features.pairs
    Pairs(3 comparisons of 6 items, 16 features)
    >>> features.n_before
    array([[0, 0],
           [1, 0],
           [2, 1]])
    """
    pairs = named_pairs(pairs, "game_features")
    n = len(pairs)
    outcome = check_outcomes(y, n)
    sides, names, _ = number_sides(pairs, None)
    time = np.full(n, np.nan)
    if period is not None:
        column = check_period(period, n)
        refuse_unmeasured(column, "game_features", "it measures the time between them")
        time = column.astype(np.float64)
    new = np.zeros(N_COLUMNS)
    new[[ELO, PEAK]] = _number("elo_init", elo_init)
    new[GLICKO] = _number("glicko_init", glicko_init)
    limits = {"above": 0.0, "most": _MAX_DEVIATION}
    new[DEVIATION] = _number("glicko_deviation", glicko_deviation, **limits)
    new[LAST] = np.nan
    steps = STEPS * math.log(10.0) / 400.0
    rule = np.array([steps, *_factors(k), _number("c", c, least=0.0)])
    values = np.empty((2 * n, len(FEATURE_NAMES)))
    state = np.tile(new, (len(names), 1))
    write_features(sides, outcome, time, rule, logistic_table(), state, values)
    rows = np.arange(2 * n, dtype=np.int64)
    items = ItemTable(values, FEATURE_NAMES)
    played = values[:, FEATURE_NAMES.index("games")].reshape(n, 2).astype(np.int64)
    found = Pairs._of(items, rows[0::2].copy(), rows[1::2].copy(), None)
    return GameFeatures(found, played)


def _factors(k: Any) -> tuple[float, float, float]:
    """Give the K of new players, of usual ones, and of those at the top."""
    if isinstance(k, str) and k in K_RULES:
        return K_RULES[k]
    if isinstance(k, str):
        raise ValueError(
            f"game_features got k={k!r}; expected a positive finite number, 'fide' or "
            "'fide2014'."
        )
    number = _number("k", k, above=0.0)
    return number, number, number


def _number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> float:
    fine = isinstance(value, Real) and not isinstance(value, bool)
    if fine and math.isfinite(value) and value > above and least <= value <= most:
        return float(value)
    limits = [
        f"{word} {limit:g}"
        for word, limit in (("above", above), ("at least", least), ("at most", most))
        if math.isfinite(limit)
    ]
    raise ValueError(
        f"game_features got {name}={value!r}; expected a finite number"
        f"{' ' * bool(limits)}{' and '.join(limits)}."
    )


@njit(cache=True, nogil=True)
def write_features(sides, outcome, time, rule, table, state, values):  # type: ignore[no-untyped-def]
    """Write the features of both players of every game, and update the players."""
    for i in range(len(outcome)):
        a, b = state[sides[i, 0]], state[sides[i, 1]]
        grow_deviation(a, time[i], rule)
        grow_deviation(b, time[i], rule)
        write_player(a, time[i], 1.0, values[2 * i])
        write_player(b, time[i], 0.0, values[2 * i + 1])
        score = 0.5 - 0.5 * outcome[i]
        ahead = a[ELO] - b[ELO]
        gained = score - expected_score(ahead * rule[STEPS_PER_POINT], table)
        change_a, change_b = k_factor(a, rule) * gained, k_factor(b, rule) * gained
        count_result(a, score, -ahead)
        count_result(b, 1.0 - score, ahead)
        a[ELO] += change_a
        b[ELO] -= change_b
        a[PEAK] = max(a[PEAK], a[ELO])
        b[PEAK] = max(b[PEAK], b[ELO])
        glicko_ahead, deviation_a = a[GLICKO] - b[GLICKO], a[DEVIATION]
        update_glicko(a, glicko_ahead, b[DEVIATION], score)
        update_glicko(b, -glicko_ahead, deviation_a, 1.0 - score)
        a[LAST] = time[i]
        b[LAST] = time[i]


@njit(cache=True, nogil=True)
def grow_deviation(player, time, rule):  # type: ignore[no-untyped-def]
    """Let the deviation grow over the periods since the last game, in place."""
    # False also for NaN: nothing passes before the first game, or without periods.
    if time > player[LAST]:
        passed = max(1.0, time - player[LAST])
        grown = math.sqrt(player[DEVIATION] ** 2 + passed * rule[GROWTH] ** 2)
        player[DEVIATION] = min(grown, _MAX_DEVIATION)


@njit(cache=True, nogil=True)
def write_player(player, time, first_move, out):  # type: ignore[no-untyped-def]
    """Write the features of a player, in the order of `FEATURE_NAMES`."""
    games = player[GAMES]
    per_game = 1.0 / games if games > 0.0 else 0.0
    out[0] = player[ELO]
    out[1] = player[GLICKO]
    out[2] = player[DEVIATION]
    out[3] = first_move
    out[4] = games
    for j in range(3):
        out[5 + j] = player[WINS + j]
        out[8 + j] = player[WINS + j] * per_game
    out[11] = player[HIGHER] * per_game
    out[12] = player[LOWER] * per_game
    out[13] = player[DIFFERENCE] * per_game
    out[14] = player[POINTS] / min(games, FORM_GAMES) if games > 0.0 else 0.0
    out[15] = time - player[LAST] if time > player[LAST] else 0.0


@njit(cache=True, nogil=True)
def k_factor(player, rule):  # type: ignore[no-untyped-def]
    """Give the K of a player: new, usual, or at the top."""
    if player[GAMES] < NEW_GAMES:
        return rule[NEW_K]
    return rule[TOP_K] if player[PEAK] >= TOP_RATING else rule[USUAL_K]


@njit(cache=True, nogil=True)
def count_result(player, score, difference):  # type: ignore[no-untyped-def]
    """Count a score; `difference` is the opponent's Elo rating minus the player's."""
    result = RESULTS + np.int64(player[GAMES]) % FORM_GAMES
    # Halves add up exactly, so the sum of the last scores never drifts.
    player[POINTS] += score - player[result]
    player[result] = score
    player[GAMES] += 1.0
    player[DIFFERENCE] += difference
    if score == 1.0:
        player[WINS] += 1.0
        player[HIGHER] += difference > 0.0
    elif score == 0.0:
        player[LOSSES] += 1.0
        player[LOWER] += difference < 0.0
    else:
        player[DRAWS] += 1.0


@njit(cache=True, nogil=True)
def update_glicko(player, ahead, deviation, score):  # type: ignore[no-untyped-def]
    """Update Glicko rating and deviation by one game, in place."""
    g = discount(deviation)
    # Of the two exponentials take the one below 1, so that E (1 - E) keeps its digits.
    e = math.exp(-Q * g * abs(ahead))
    expected = 1.0 / (1.0 + e) if ahead >= 0.0 else e / (1.0 + e)
    information = (Q * g) ** 2 * e / (1.0 + e) ** 2
    variance = 1.0 / (1.0 / player[DEVIATION] ** 2 + information)
    player[GLICKO] += Q * variance * g * (score - expected)
    player[DEVIATION] = math.sqrt(variance)
