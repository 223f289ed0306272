# SPDX-License-Identifier: BSD-3-Clause
"""Features of players before each game, by looking through all of their past games."""

import math
from dataclasses import dataclass, field

Q = math.log(10) / 400
MAX_DEVIATION = 350.0


@dataclass
class Player:
    """A player with every game so far, as (score, opponent minus own Elo)."""

    elo: float
    glicko: float
    deviation: float
    elos: list = field(default_factory=list)
    past: list = field(default_factory=list)
    last: float | None = None


def share(count, games):
    return count / len(games) if games else 0.0


def k_of(rule, player):
    if rule not in ("fide", "fide2014"):
        return rule
    new, usual, top = (30, 15, 10) if rule == "fide" else (40, 20, 10)
    if len(player.past) < 30:
        return new
    return top if max(player.elos) >= 2400 else usual


def g(deviation):
    return 1 / math.sqrt(1 + 3 * Q**2 * deviation**2 / math.pi**2)


def glicko(player, other, score):
    """Give rating and deviation after one game, by Glickman's formulas."""
    e = 1 / (1 + 10 ** (-g(other.deviation) * (player.glicko - other.glicko) / 400))
    d2 = 1 / (Q**2 * g(other.deviation) ** 2 * e * (1 - e))
    precision = 1 / player.deviation**2 + 1 / d2
    rating = player.glicko + Q / precision * g(other.deviation) * (score - e)
    return rating, math.sqrt(1 / precision)


def describe(player, first_move, time):
    past = player.past
    scores = [score for score, _ in past]
    idle = 0.0 if time is None or player.last is None else time - player.last
    return [
        player.elo,
        player.glicko,
        player.deviation,
        first_move,
        len(past),
        scores.count(1.0),
        scores.count(0.5),
        scores.count(0.0),
        share(scores.count(1.0), past),
        share(scores.count(0.5), past),
        share(scores.count(0.0), past),
        share(sum(score == 1 and gap > 0 for score, gap in past), past),
        share(sum(score == 0 and gap < 0 for score, gap in past), past),
        share(math.fsum(gap for _, gap in past), past),
        share(sum(scores[-10:]), past[-10:]),
        idle,
    ]


def features(
    left,
    right,
    outcome,
    *,
    period=None,
    k="fide",
    elo_init=1200.0,
    glicko_init=1500.0,
    glicko_deviation=350.0,
    c=15.0,
):
    """List the features of the left and the right player of every game."""
    players, rows = {}, []
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        time = None if period is None else float(period[i])
        for name in (a, b):
            new = Player(elo_init, glicko_init, glicko_deviation, [elo_init])
            player = players.setdefault(name, new)
            if time is not None and player.last is not None and time > player.last:
                passed = max(1.0, time - player.last)
                grown = math.sqrt(player.deviation**2 + passed * c**2)
                player.deviation = min(grown, MAX_DEVIATION)
        one, two = players[a], players[b]
        rows.append((describe(one, 1.0, time), describe(two, 0.0, time)))
        score = {-1: 1.0, 0: 0.5, 1: 0.0}[int(outcome[i])]
        e = 1 / (1 + 10 ** ((two.elo - one.elo) / 400))
        gap = two.elo - one.elo
        changed = (
            (one, one.elo + k_of(k, one) * (score - e), glicko(one, two, score)),
            (two, two.elo - k_of(k, two) * (score - e), glicko(two, one, 1 - score)),
        )
        one.past.append((score, gap))
        two.past.append((1 - score, -gap))
        for player, elo, (rating, deviation) in changed:
            player.elo, player.glicko, player.deviation = elo, rating, deviation
            player.elos.append(elo)
            player.last = time
    return rows
