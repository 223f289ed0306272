# SPDX-License-Identifier: BSD-3-Clause
"""Cohen's method pair by pair: votes, Hedge, naive Bayes, greedy and best orders.

An order is a list of blocks of tied items, best first.
"""

from itertools import permutations

import numpy as np


def pairs_of(orders):
    """List (order, better, worse) for every pair at different positions."""
    return [
        (number, a, b)
        for number, blocks in enumerate(orders)
        for place, block in enumerate(blocks)
        for a in block
        for later in blocks[place + 1 :]
        for b in later
    ]


def vote(a, b):
    """R of one attribute: 1, ½ or 0."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def losses(X, orders, weights=None):
    """Mean loss of every attribute and of every negation, shape (2, p)."""
    weights = np.ones(len(orders)) if weights is None else weights
    total, found = 0.0, np.zeros((2, X.shape[1]))
    for number, a, b in pairs_of(orders):
        w = weights[number]
        total += w
        for f in range(X.shape[1]):
            found[0, f] += w * (1 - vote(X[a, f], X[b, f]))
            found[1, f] += w * (1 - vote(-X[a, f], -X[b, f]))
    return found / total


def batch(X, orders, beta, n_rounds, weights=None):
    """Hedge with all orders as the feedback of every round."""
    w = np.full((2, X.shape[1]), 1.0)
    loss = losses(X, orders, weights)
    for _ in range(n_rounds):
        w = w * beta**loss
        w = w / w.sum()
    return w


def preferences(X, w):
    """PREF(a, b) for all a and b."""
    n, p = X.shape
    found = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            for f in range(p):
                found[a, b] += w[0, f] * vote(X[a, f], X[b, f])
                found[a, b] += w[1, f] * vote(-X[a, f], -X[b, f])
    return found


def naive_bayes(X, orders, asked):
    """PREF(a, b) of asked items: normal attributes of better and of worse items."""
    pairs = pairs_of(orders)
    sides = [X[[a for _, a, _ in pairs]], X[[b for _, _, b in pairs]]]
    n = len(pairs)
    middle = np.concatenate(sides)
    densities = []
    for side in sides:
        variance = (n * side.var(axis=0) + middle.var(axis=0)) / (n + 1)
        used = middle.var(axis=0) > 0
        z = (asked[:, used] - side.mean(axis=0)[used]) ** 2 / variance[used]
        log = -0.5 * (np.log(2 * np.pi * variance[used]) + z)
        densities.append(log.sum(axis=1))
    up, down = densities
    a_above_b = up[:, None] + down[None, :]
    b_above_a = down[:, None] + up[None, :]
    return 1 / (1 + np.exp(b_above_a - a_above_b))


def greedy(P):
    """Always take the item with the largest Σ P(a, b) - P(b, a) over what is left."""
    left, order = list(range(len(P))), []
    while left:
        claims = [sum(P[a, b] - P[b, a] for b in left) for a in left]
        first = next(
            a for a, c in zip(left, claims, strict=True) if c >= max(claims) - 1e-9
        )
        order.append(first)
        left.remove(first)
    return order


def agreement(order, P):
    """Σ P(a, b) over a before b."""
    return sum(P[a, b] for i, a in enumerate(order) for b in order[i + 1 :])


def best_agreement(P):
    """The largest agreement of all orders."""
    return max(agreement(order, P) for order in permutations(range(len(P))))
