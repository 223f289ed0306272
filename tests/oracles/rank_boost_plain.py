# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost by visiting every pair in every round, in plain floating-point numbers.

``W[i, j]`` is the weight of the pair "item i is better than item j", 0 where there is
none. Every function returns one dict per round.
"""

from itertools import pairwise

import numpy as np

EQUAL = 1e-10  # weak rankers whose |r| differ by less are equal: the first is taken


def scaled(X, W):
    """Features from 0 to 1 over the items that are in a pair; constant ones are 0."""
    used = (W.sum(axis=0) + W.sum(axis=1)) > 0
    low, high = X[used].min(axis=0), X[used].max(axis=0)
    h = np.zeros(X.shape)
    for f in range(X.shape[1]):
        if high[f] > low[f]:
            h[:, f] = (X[:, f] - low[f]) / (high[f] - low[f])
    return h


def stumps(X, W):
    """All features above all cuts between neighboring values: (feature, cut, h)."""
    used = (W.sum(axis=0) + W.sum(axis=1)) > 0
    found = []
    for f in range(X.shape[1]):
        levels = np.unique(X[used, f])
        for low, high in pairwise(levels):
            cut = (low + high) / 2
            found.append((f, cut, (X[:, f] > cut).astype(float)))
    return found


def edge(D, h):
    total = 0.0
    for i, j in zip(*np.nonzero(D), strict=True):
        total += D[i, j] * (h[i] - h[j])
    return total


def boost(X, W, n_rounds, weak, smoothing=None):
    """Boost; stops as the library says it does: at |r| = 1 and at r = 0."""
    if weak == "feature":
        h_all = scaled(X, W)
        choices = [(f, np.nan, h_all[:, f]) for f in range(X.shape[1])]
    else:
        choices = stumps(X, W)
    D = W / W.sum()
    H = np.zeros(len(X))
    rounds = []
    for _ in range(n_rounds):
        edges = np.array([edge(D, h) for _, _, h in choices])
        if len(edges) == 0 or np.abs(edges).max() <= 1e-12:
            break
        best = int(np.flatnonzero(np.abs(edges) >= np.abs(edges).max() - EQUAL)[0])
        f, cut, h = choices[best]
        r = edges[best]
        apart = (h[:, None] - h[None, :])[W > 0]
        last = np.all(apart == 1) or np.all(apart == -1)
        if last:
            used = (W.sum(axis=0) + W.sum(axis=1)) > 0
            alpha = np.sign(r) * (1 + H[used].max() - H[used].min())
        elif weak == "feature":
            r_used = np.clip(r, -1 + 1e-10, 1 - 1e-10)
            alpha = 0.5 * np.log((1 + r_used) / (1 - r_used))
        else:
            up = D[h[:, None] > h[None, :]].sum()
            down = D[h[:, None] < h[None, :]].sum()
            alpha = 0.5 * np.log(max(up, smoothing) / max(down, smoothing))
        if alpha == 0:
            break
        H = H + alpha * h
        D = D * np.exp(-alpha * (h[:, None] - h[None, :]))
        Z = D.sum()
        D = D / Z
        loss = (W * np.exp(-(H[:, None] - H[None, :]))).sum() / W.sum()
        rounds.append(
            {
                "feature": f,
                "cut": cut,
                "edge": r,
                "alpha": alpha,
                "Z": Z,
                "loss": loss,
                "H": H,
            }
        )
        if last:
            break
    return rounds


def majority(orders, n_items):
    """Weights max(2 P - 1, 0) of pairs of items over lists of blocks of tied items."""
    above = np.zeros((n_items, n_items))
    both = np.zeros((n_items, n_items))
    for blocks in orders:
        flat = [(item, place) for place, block in enumerate(blocks) for item in block]
        for a, at_a in flat:
            for b, at_b in flat:
                if a != b:
                    both[a, b] += 1
                    above[a, b] += 1.0 if at_a < at_b else 0.5 * (at_a == at_b)
    P = np.divide(above, both, out=np.zeros_like(above), where=both > 0)
    return np.maximum(2 * P - 1, 0)


def best_step_naive(order, step, potential, equal):
    """Do what ``best_step`` does with a sum for every place."""
    found, place, edge = 0, -1, 0.0
    for feature in range(len(order)):
        for k in np.flatnonzero(step[feature]):
            total = float(potential[order[feature, k + 1 :]].sum())
            if place < 0 or abs(total) > abs(edge) + equal:
                found, place, edge = feature, int(k), total
    return found, place, edge
