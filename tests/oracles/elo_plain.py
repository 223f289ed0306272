# SPDX-License-Identifier: BSD-3-Clause
"""Elo ratings from the definition: dictionaries, and one loop over the updates."""

import math


def group(n, period):
    """List the rows of each update: those of a period, or each row by itself."""
    if period is None:
        return [[row] for row in range(n)]
    updates = []
    for row in range(n):
        if row and period[row] == period[row - 1]:
            updates[-1].append(row)
        else:
            updates.append([row])
    return updates


def expected(left, right, advantage, scale):
    return 1 / (1 + 10 ** (-(left + advantage - right) / scale))


def k_of(rule, games, peak):
    if rule not in ("fide", "fide2014"):
        return rule
    new, usual, top = (30, 15, 10) if rule == "fide" else (40, 20, 10)
    if games < 30:
        return new
    return top if peak >= 2400 else usual


def elo(
    left,
    right,
    outcome,
    *,
    k=20.0,
    init=1200.0,
    advantage=0.0,
    scale=400.0,
    weight=None,
    period=None,
):
    """Give the ratings by name, the ratings before each row, and the history.

    `advantage` is a number or one per row. The history has an entry (update, item,
    rating) for each item after each update in which it played.
    """
    n = len(outcome)
    weight = [1.0] * n if weight is None else weight
    points = advantage if hasattr(advantage, "__len__") else [advantage] * n
    rating, games, peak = {}, {}, {}
    before, history = [None] * n, []
    for number, rows in enumerate(group(n, period)):
        changes = {}
        for row in rows:
            a, b = left[row], right[row]
            ra, rb = rating.get(a, init), rating.get(b, init)
            before[row] = (ra, rb)
            if weight[row] == 0:
                continue
            score = {-1: 1.0, 0: 0.5, 1: 0.0}[int(outcome[row])]
            e = expected(ra, rb, points[row], scale)
            for item, sign in ((a, 1), (b, -1)):
                factor = k_of(k, games.get(item, 0), peak.get(item, init))
                change = sign * factor * weight[row] * (score - e)
                changes.setdefault(item, []).append(change)
        for item, parts in changes.items():
            rating[item] = rating.get(item, init) + math.fsum(parts)
            peak[item] = max(peak.get(item, init), rating[item])
            history.append((number, item, rating[item]))
        for row in rows:
            if weight[row] > 0:
                for item in (left[row], right[row]):
                    games[item] = games.get(item, 0) + weight[row]
    return rating, before, history
