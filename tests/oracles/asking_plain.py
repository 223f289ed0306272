# SPDX-License-Identifier: BSD-3-Clause
"""Beliefs about utilities by integration over grids and by a general minimizer."""

import numpy as np
from scipy.optimize import minimize


def probability(d, t, y):
    """Davidson's probability of y = -1 (left), 0 (tie), 1 (right)."""
    odds = {-1: np.exp(-d / 2), 0: np.exp(t) + 0 * d, 1: np.exp(d / 2)}
    return odds[y] / (odds[-1] + odds[0] + odds[1])


def moments_after(mean, cov, left, right, y, t):
    """Mean and covariance of three utilities after an answer, by a fine grid."""
    axis = [np.linspace(m - 7 * s, m + 7 * s, 81)
            for m, s in zip(mean, np.sqrt(np.diag(cov)), strict=True)]  # fmt: skip
    theta = np.stack(np.meshgrid(*axis, indexing="ij"), axis=-1).reshape(-1, 3)
    off = theta - mean
    weight = np.exp(-0.5 * np.einsum("ki,ij,kj->k", off, np.linalg.inv(cov), off))
    weight *= probability(theta[:, right] - theta[:, left], t, y)
    weight /= weight.sum()
    new = weight @ theta
    return new, (theta - new).T @ ((theta - new) * weight[:, None])


def information(mu, s, t):
    """Mutual information of an answer and d ~ N(mu, s²), by the trapezoid rule."""
    d = np.linspace(mu - 10 * s, mu + 10 * s, 20001)
    weight = np.exp(-0.5 * ((d - mu) / s) ** 2)
    weight /= weight.sum()
    total = 0.0
    for y in (-1, 0, 1):
        p = probability(d, t, y)
        total += weight @ (p * np.log(p)) - (weight @ p) * np.log(weight @ p)
    return total


def objective(x, left, right, y, precision):
    """Negative logarithm of the posterior of utilities and t, one row at a time."""
    theta, t = x[:-1], x[-1]
    value = 0.5 * theta @ precision @ theta
    for i, j, outcome in zip(left, right, y, strict=True):
        value -= np.log(probability(theta[j] - theta[i], t, outcome))
    for outcome in (-1, 0, 1):  # the imagined answers
        value -= np.log(probability(0.0, t, outcome))
    return value


def posterior(left, right, y, precision):
    """Maximum of the posterior, and the covariance there by differences."""
    n = len(precision) + 1
    found = minimize(
        objective, np.zeros(n), (left, right, y, precision), tol=1e-12,
        options={"gtol": 1e-9},
    ).x  # fmt: skip
    step, hessian, eye = 1e-3, np.empty((n, n)), np.eye(n)
    for a in range(n):
        for b in range(n):
            value = 0.0
            for u in (-1, 1):
                for v in (-1, 1):
                    x = found + step * (u * eye[a] + v * eye[b])
                    value += u * v * objective(x, left, right, y, precision)
            hessian[a, b] = value / (4 * step**2)
    return found[:-1], found[-1], np.linalg.inv(hessian)[:-1, :-1]
