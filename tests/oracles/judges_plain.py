# SPDX-License-Identifier: BSD-3-Clause
"""The judge model in the obvious way: loops, differences, SciPy's minimizers."""

import numpy as np
from scipy.optimize import minimize


def judge_loss(e, votes, theta, side, tie, spread, link):
    """Give minus the log of likelihood and prior (without constant) of one judge."""
    full = np.zeros(3)
    free = spread > 0
    full[free] = e
    left, right, outcome = np.array(votes).T
    d = (1 + full[0]) * (theta[right] - theta[left]) - side - full[2]
    if link == "davidson":
        odds = np.exp(np.stack([-d / 2, np.full(len(d), tie + full[1]), d / 2]))
        share = odds / odds.sum(axis=0)
    else:
        width = np.exp(tie + full[1])
        left, right = 1 / (1 + np.exp(d + width)), 1 / (1 + np.exp(width - d))
        share = np.stack([left, 1 - left - right, right])
    loss = -np.log(share[outcome + 1, np.arange(len(d))]).sum()
    return float(loss + 0.5 * ((e / spread[free]) ** 2).sum())


def numerical_hessian(f, x, h=1e-3):
    """Give second derivatives by central differences, of the fourth order."""
    n = len(x)
    out = np.empty((n, n))
    steps, weights = (-2, -1, 1, 2), (1 / 12, -2 / 3, 2 / 3, -1 / 12)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for a, wa in zip(steps, weights, strict=True):
                for b, wb in zip(steps, weights, strict=True):
                    moved = np.array(x, dtype=float)
                    moved[i] += a * h
                    moved[j] += b * h
                    total += wa * wb * f(moved)
            out[i, j] = total / h**2
    return out


def marginal_loss(theta, side, tie, spread, votes_of, alpha, stiffness, link):
    """Give the objective: Laplace's approximation of every judge, and penalties."""
    free, total, first = spread > 0, alpha * float(theta @ theta) + 0.005 * side**2, []
    for votes in votes_of:
        given = (votes, theta, side, tie, spread, link)
        if not free.any():
            total += judge_loss(np.zeros(0), *given)
            first.append(0.0)
            continue
        found = minimize(judge_loss, np.zeros(free.sum()), given, "BFGS").x
        options = {"xatol": 1e-9, "fatol": 1e-13}
        found = minimize(judge_loss, found, given, "Nelder-Mead", options=options)
        hessian = numerical_hessian(lambda e, g=given: judge_loss(e, *g), found.x)
        total += found.fun + 0.5 * np.linalg.slogdet(hessian)[1]
        total += np.log(spread[free]).sum()
        first.append(found.x[0] if free[0] else 0.0)
    return total + 0.5 * stiffness * np.mean(first) ** 2


def fit_given_spread(votes_of, n_items, spread, alpha, stiffness, link, start):
    """Minimize over strengths, side and tie by SciPy, derivatives by differences."""

    def loss(x):
        return marginal_loss(
            x[:n_items], x[-2], x[-1], spread, votes_of, alpha, stiffness, link
        )

    options = {"gtol": 1e-4, "eps": 1e-4}
    return minimize(loss, start, method="BFGS", options=options).x
