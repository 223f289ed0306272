# SPDX-License-Identifier: BSD-3-Clause
"""Boosted trees on comparisons and grades, with every pair and every cut visited.

A leaf with Σ g = G and Σ h = H has the value -G / (H + l2). The leaf whose best cut
gains most, in G² / (H + l2) of the halves less that of the whole, is cut next, until
there are `max_leaves`. All sums are in double precision.
"""

import numpy as np
from scipy.optimize import minimize_scalar


def grow(X, g, h, max_leaves, min_child_weight, l2):
    """Give the value of the leaf of every row."""

    def worth(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + l2)

    def best_cut(rows):
        found = (0.0, None, None)
        for feature in range(X.shape[1]):
            values = np.unique(X[rows, feature])
            for cut in 0.5 * (values[1:] + values[:-1]):
                below = X[rows, feature] <= cut
                low, high = rows[below], rows[~below]
                if min(h[low].sum(), h[high].sum()) < min_child_weight:
                    continue
                gain = worth(low) + worth(high) - worth(rows)
                if gain > found[0]:
                    found = (gain, low, high)
        return found

    leaves = [np.arange(len(X))]
    while len(leaves) < max_leaves:
        cuts = [best_cut(rows) for rows in leaves]
        chosen = int(np.argmax([gain for gain, *_ in cuts]))
        if cuts[chosen][0] <= 0.0:
            break
        leaves[chosen : chosen + 1] = cuts[chosen][1:]
    value = np.zeros(len(X))
    for rows in leaves:
        value[rows] = -g[rows].sum() / (h[rows].sum() + l2)
    return value


def boost(X, derivatives, n_rounds, rate, max_leaves, min_child_weight, l2):
    """Give the utilities after every round; curvatures are in units of their mean."""
    u, stages = np.zeros(len(X)), []
    for _ in range(n_rounds):
        g, h = derivatives(u)
        unit = h[h > 0].mean()
        h = np.maximum(h / unit, 1e-6)
        u = u + rate * grow(X, g / unit, h, max_leaves, min_child_weight, l2)
        stages.append(u)
    return stages


def loss_of_comparisons(link, left, right, y, weight):
    """Give -Σ w ln P as a function of utilities, at its best tie parameter."""

    def loss(u, t):
        p = link.probabilities(u[right] - u[left], t)
        return -float(weight @ np.log(p[np.arange(len(y)), np.asarray(y) + 1]))

    def best(u):
        low = 1e-9 if link.name == "cumulative" else -20.0
        tol = {"xatol": 1e-10}
        found = minimize_scalar(
            lambda t: loss(u, t), bounds=(low, 20.0), method="bounded", options=tol
        )
        return found.x

    return loss, best


def derivatives_of_comparisons(link, left, right, y, weight):
    """Give gradient and diagonal of the Hessian, by differences."""
    loss, best = loss_of_comparisons(link, left, right, y, weight)

    def derivatives(u):
        t = best(u)
        return differences(lambda v: loss(v, t), u)

    return derivatives


def loss_of_grades(y, group, weight, per_group):
    """Give the squared hinge over all pairs of different grades."""

    def loss(u):
        total = 0.0
        for g in np.unique(group):
            pairs = [
                (weight[i] * weight[j], max(0.0, 1.0 - (u[i] - u[j])) ** 2)
                for i in np.flatnonzero(group == g)
                for j in np.flatnonzero(group == g)
                if y[i] > y[j]
            ]
            heavy = sum(w for w, _ in pairs)
            scale = heavy if per_group == "mean" else 1.0
            total += sum(w * one for w, one in pairs) / scale if heavy else 0.0
        return total

    return loss


def differences(loss, u, step=1e-4):
    """Give the gradient and the diagonal of the Hessian by central differences."""
    g, h = np.empty((2, len(u)))
    here = loss(u)
    for i in range(len(u)):
        e = np.zeros(len(u))
        e[i] = step
        up, down = loss(u + e), loss(u - e)
        g[i] = (up - down) / (2 * step)
        h[i] = (up - 2 * here + down) / step**2
    return g, h
