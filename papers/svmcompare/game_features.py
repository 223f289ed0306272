# SPDX-License-Identifier: BSD-3-Clause
"""Section 5: sixteen features of both players, from what was known before each game.

One pass over the games in order of time: the features of both players are written
down, then the result updates their records. Ratings change after every game, by FIDE's
rule of K and by Glicko. Shares and means over no games are 0; "higher" and "lower"
compare Elo ratings before the game.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak import Pairs

__all__ = ["game_features"]

Q = math.log(10.0) / 400.0
MAX_DEVIATION = 350.0
GROWTH = 15.0  # c: the square of a deviation grows by c² per month
FORM_GAMES = 10
COLUMNS = (
    *("elo", "glicko", "glicko_deviation", "first_move"),
    *("games", "wins", "draws", "losses", "win_share", "draw_share", "loss_share"),
    *("beat_higher_share", "lost_to_lower_share", "opponent_difference"),
    *("form", "idle_periods"),
)


@dataclass
class Player:
    """Ratings and record of a player so far."""

    elo: float = 1200.0
    peak: float = 1200.0
    glicko: float = 1500.0
    deviation: float = MAX_DEVIATION
    last: float = math.nan  # period of the last game
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])  # won, drawn, lost
    beat_higher: int = 0
    lost_to_lower: int = 0
    difference: float = 0.0  # sum of opponents' Elo ratings minus the own ones
    scores: list[float] = field(default_factory=list)  # of the last games

    def describe(self, first_move: float, period: float) -> list[float]:
        """Give the features before a game, in the order of COLUMNS."""
        n = sum(self.counts)
        per_game = 1.0 / n if n else 0.0
        return [
            self.elo,
            self.glicko,
            self.deviation,
            first_move,
            n,
            *self.counts,
            *(count * per_game for count in self.counts),
            self.beat_higher * per_game,
            self.lost_to_lower * per_game,
            self.difference * per_game,
            sum(self.scores) / len(self.scores) if n else 0.0,
            period - self.last if period > self.last else 0.0,
        ]

    def wait(self, period: float) -> None:
        """Let the deviation grow since the last game."""
        if period > self.last:  # False for NaN
            grown = self.deviation**2 + max(1.0, period - self.last) * GROWTH**2
            self.deviation = min(math.sqrt(grown), MAX_DEVIATION)

    def play(self, other: Player, score: float) -> dict[str, float]:
        """Give ratings after a game, by FIDE's rule of K and by Glickman's formulas."""
        top = 10.0 if self.peak >= 2400.0 else 15.0
        k = 30.0 if sum(self.counts) < 30 else top
        expected = 1.0 / (1.0 + 10.0 ** ((other.elo - self.elo) / 400.0))
        g = 1.0 / math.sqrt(1.0 + 3.0 * (Q * other.deviation / math.pi) ** 2)
        e = 1.0 / (1.0 + math.exp(-Q * g * (self.glicko - other.glicko)))
        variance = 1.0 / (self.deviation**-2 + (Q * g) ** 2 * e * (1.0 - e))
        return {
            "elo": self.elo + k * (score - expected),
            "glicko": self.glicko + Q * variance * g * (score - e),
            "deviation": math.sqrt(variance),
        }

    def count(self, score: float, ahead: float) -> None:
        """Count a score against a player who was `ahead` in Elo rating."""
        self.counts[round(2.0 * (1.0 - score))] += 1
        self.beat_higher += score == 1.0 and ahead > 0.0
        self.lost_to_lower += score == 0.0 and ahead < 0.0
        self.difference += ahead
        self.scores = [*self.scores, score][-FORM_GAMES:]


def game_features(pairs: Pairs, y: Any, period: Any = None) -> tuple[Pairs, np.ndarray]:
    """Give comparisons of described players, and their numbers of earlier games (n, 2).

    Rows are games in order of time, left moves first; `period` is when each took place.
    Row 2 i of the items is the left player before game i, row 2 i + 1 the right one.
    """
    times = np.full(len(pairs), math.nan) if period is None else np.asarray(period)
    players = [Player() for _ in range(pairs.n_items)]
    rows = []
    games = zip(pairs.left, pairs.right, y, times.tolist(), strict=True)
    for left, right, outcome, time in games:
        one, two = players[left], players[right]
        for player, first_move in ((one, 1.0), (two, 0.0)):
            player.wait(time)
            rows.append(player.describe(first_move, time))
        score, ahead = 0.5 - 0.5 * int(outcome), two.elo - one.elo
        after = one.play(two, score), two.play(one, 1.0 - score)
        one.count(score, ahead)
        two.count(1.0 - score, -ahead)
        for player, ratings in zip((one, two), after, strict=True):
            vars(player).update(ratings, last=time)
            player.peak = max(player.peak, player.elo)
    values = np.array(rows, dtype=np.float64)
    place = np.arange(0, len(rows), 2)
    before = values[:, COLUMNS.index("games")].reshape(-1, 2).astype(np.int64)
    return Pairs(values, place, place + 1), before
