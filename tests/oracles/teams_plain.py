# SPDX-License-Identifier: BSD-3-Clause
"""Teams: maximum likelihood of sums of strengths, by a general solver.

A game is (left, right, outcome, weight), the sides lists of numbers of members.
"""

import numpy as np
from scipy.optimize import minimize


def cost(x, games, n, alpha):
    """Davidson's -ln P, summed, with θ = x[:n] and ln ν = x[n], and the penalty."""
    theta, nu = x[:n], np.exp(x[n])
    total = alpha * theta @ theta
    for left, right, outcome, weight in games:
        d = sum(theta[i] for i in right) - sum(theta[i] for i in left)
        shares = np.exp(-d / 2), nu, np.exp(d / 2)
        total -= weight * np.log(shares[outcome + 1] / sum(shares))
    return total


def fit(games, n, alpha):
    """Strengths, ν and the least cost."""

    free = alpha == 0 and all(len(left) == len(right) for left, right, *_ in games)

    def held(x):  # the mean is free without a penalty, if sides are of equal size
        return cost(x, games, n, alpha) + free * x[:n].sum() ** 2

    found = minimize(held, np.zeros(n + 1), tol=1e-11)
    return found.x[:n], np.exp(found.x[n]), cost(found.x, games, n, alpha)
