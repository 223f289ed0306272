# SPDX-License-Identifier: BSD-3-Clause
"""Glickman's two systems from his descriptions, each on its own scale.

Glicko as in "The Glicko system", in rating points with q = ln 10 / 400; Glicko-2 as in
"Example of the Glicko-2 system", with μ and φ, by his steps 2 to 8 and his Illinois
algorithm.
"""

import math
from dataclasses import dataclass, replace

from tests.oracles.elo_plain import group

Q = math.log(10) / 400
SCALE = 400 / math.log(10)


@dataclass(frozen=True)
class Player:
    rating: float
    deviation: float
    volatility: float = 0.0
    games: float = 0.0
    last: float | None = None


def g(deviation):
    return 1 / math.sqrt(1 + 3 * Q**2 * deviation**2 / math.pi**2)


def expected(rating, other, deviation):
    return 1 / (1 + 10 ** (-g(deviation) * (rating - other) / 400))


def glicko_update(player, games):
    """Steps 1 and 2 after the growth; games are (rating, deviation, score, weight)."""
    information = total = 0.0
    for rating, deviation, score, weight in games:
        e = expected(player.rating, rating, deviation)
        information += weight * g(deviation) ** 2 * e * (1 - e)
        total += weight * g(deviation) * (score - e)
    d2 = 1 / (Q**2 * information)
    precision = 1 / player.deviation**2 + 1 / d2
    return replace(
        player,
        rating=player.rating + Q / precision * total,
        deviation=math.sqrt(1 / precision),
    )


def glicko2_update(player, games, tau):
    """Steps 2 to 8 for a player who competes."""
    mu, phi, sigma = player.rating / SCALE, player.deviation / SCALE, player.volatility

    def gg(phi):
        return 1 / math.sqrt(1 + 3 * phi**2 / math.pi**2)

    inverse = total = 0.0
    for rating, deviation, score, weight in games:
        mu_j, phi_j = rating / SCALE, deviation / SCALE
        e = 1 / (1 + math.exp(-gg(phi_j) * (mu - mu_j)))
        inverse += weight * gg(phi_j) ** 2 * e * (1 - e)
        total += weight * gg(phi_j) * (score - e)
    v = 1 / inverse
    delta = v * total
    a = math.log(sigma**2)

    def f(x):
        z = math.exp(x)
        top = z * (delta**2 - phi**2 - v - z)
        return top / (2 * (phi**2 + v + z) ** 2) - (x - a) / tau**2

    A = a
    if delta**2 > phi**2 + v:
        B = math.log(delta**2 - phi**2 - v)
    else:
        k = 1
        while f(a - k * tau) < 0:
            k += 1
        B = a - k * tau
    f_a, f_b = f(A), f(B)
    while abs(B - A) > 1e-13 and f_a != f_b:
        C = A + (A - B) * f_a / (f_b - f_a)
        f_c = f(C)
        if f_c * f_b <= 0:
            A, f_a = B, f_b
        else:
            f_a /= 2
        B, f_b = C, f_c
    sigma = math.exp(A / 2)
    phi_star = math.sqrt(phi**2 + sigma**2)
    phi = 1 / math.sqrt(1 / phi_star**2 + 1 / v)
    mu += phi**2 * total
    return replace(player, rating=SCALE * mu, deviation=SCALE * phi, volatility=sigma)


def onset(player, time, c, tau, max_deviation):
    """Let the deviation of a player grow by what passed since the last game."""
    if time is None or player.last is None or not time > player.last:
        return player
    passed = max(1.0, time - player.last)
    if tau is None:
        growth = passed * c**2
    else:
        growth = (passed - 1) * (SCALE * player.volatility) ** 2
    grown = math.sqrt(player.deviation**2 + growth)
    return replace(player, deviation=min(grown, max_deviation))


def idle(player, players, c, max_deviation):
    """Give the deviation of a player after the last period, played in or not."""
    end = max((p.last for p in players if p.last is not None), default=None)
    if end is None or end == player.last:
        return player.deviation
    step = SCALE * player.volatility if c is None else c
    passed = max(1.0, end - player.last)
    return min(math.sqrt(player.deviation**2 + passed * step**2), max_deviation)


def rate(
    left,
    right,
    outcome,
    *,
    new,
    c=None,
    tau=None,
    max_deviation=350.0,
    advantage=0.0,
    weight=None,
    period=None,
):
    """Give the players by name, (player, player) before each row, and the history.

    `new` is a player before the first game; `c` makes it Glicko, `tau` Glicko-2. The
    players of `before` have the deviations of the start of the update.
    """
    n = len(outcome)
    weight = [1.0] * n if weight is None else weight
    points = advantage if hasattr(advantage, "__len__") else [advantage] * n
    players, before, history = {}, [None] * n, []
    for number, rows in enumerate(group(n, period)):
        time = None if period is None else float(period[rows[0]])
        starting = {
            name: onset(players.get(name, new), time, c, tau, max_deviation)
            for row in rows
            for name in (left[row], right[row])
        }
        games = {}
        for row in rows:
            a, b = starting[left[row]], starting[right[row]]
            before[row] = (a, b)
            if weight[row] == 0:
                continue
            score = {-1: 1.0, 0: 0.5, 1: 0.0}[int(outcome[row])]
            # From either side the advantage is a difference of ratings.
            games.setdefault(left[row], []).append(
                (b.rating - points[row], b.deviation, score, weight[row])
            )
            games.setdefault(right[row], []).append(
                (a.rating + points[row], a.deviation, 1 - score, weight[row])
            )
        updated = {}
        for name, of_player in games.items():
            player = starting[name]
            if tau is None:
                player = glicko_update(player, of_player)
            else:
                player = glicko2_update(player, of_player, tau)
            updated[name] = replace(
                player,
                deviation=min(player.deviation, max_deviation),
                games=player.games + sum(weight for *_, weight in of_player),
                last=time,
            )
            history.append((number, name, updated[name]))
        players |= updated
    return players, before, history
