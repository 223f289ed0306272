# SPDX-License-Identifier: BSD-3-Clause
"""Bradley-Terry models row by row, from the textbook formulas, with a general solver.

Parameters are one vector: strengths of all items but the last, which has strength 0,
then coefficients of covariates (in favor of left), then the logarithm of ν, of κ - 1 or
of c. Strengths of Rao and Kupper's model are multiplied by 1 + p₀, p₀ = (κ - 1) /
(κ + 1), and those of Glenn and David's by 2φ(c) / Φ(-c).
"""

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.stats import norm


def probabilities(kind, gain_left, gain_right, tie):
    """P(left), P(tie), P(right) of one comparison of strengths in π."""
    if kind == "davidson":
        total = gain_left + gain_right + tie * np.sqrt(gain_left * gain_right)
        left, right = gain_left / total, gain_right / total
        return left, tie * np.sqrt(gain_left * gain_right) / total, right
    if kind == "glenn-david":
        d = np.log(gain_right) - np.log(gain_left)
        left, right = norm.cdf(-d - tie), norm.cdf(d - tie)
        return left, 1 - left - right, right
    left = gain_left / (gain_left + tie * gain_right)
    right = gain_right / (gain_right + tie * gain_left)
    middle = (tie**2 - 1) * gain_left * gain_right
    middle /= (gain_left + tie * gain_right) * (gain_right + tie * gain_left)
    return left, middle, right


def unpack(x, n_items, n_covariates, kind):
    theta = np.append(x[: n_items - 1], 0.0)
    gamma = x[n_items - 1 : n_items - 1 + n_covariates]
    rest = x[n_items - 1 + n_covariates :]
    if len(rest) == 0:
        return theta, gamma, 1.0 if kind == "rao-kupper" else 0.0
    return theta, gamma, np.exp(rest[0]) + (kind == "rao-kupper")


def scale_of(kind, tie):
    """What strengths are multiplied with, so that decided log odds rise by d at 0."""
    if kind == "glenn-david":
        return 2 * norm.pdf(tie) / norm.cdf(-tie)
    return 1.0 if kind == "davidson" else 1.0 + (tie - 1.0) / (tie + 1.0)


def row_losses(x, kind, left, right, y, n_items, covariates):
    """-ln P(outcome) of every row."""
    theta, gamma, tie = unpack(x, n_items, covariates.shape[1], kind)
    scale = scale_of(kind, tie)
    out = np.empty(len(y))
    for i in range(len(y)):
        gain_left = np.exp((theta[left[i]] + covariates[i] @ gamma) / scale)
        p = probabilities(kind, gain_left, np.exp(theta[right[i]] / scale), tie)
        out[i] = -np.log(max(p[y[i] + 1], 1e-300))  # a solver may look far away
    return out


def fit(kind, left, right, y, weight, n_items, covariates, alpha):
    """Minimize the penalized loss; strengths are returned with mean 0."""
    q = covariates.shape[1]

    def objective(x):
        theta = unpack(x, n_items, q, kind)[0]
        losses = row_losses(x, kind, left, right, y, n_items, covariates)
        return weight @ losses + alpha * ((theta - theta.mean()) ** 2).sum()

    start = np.zeros(n_items - 1 + q + int((y == 0).any()))
    found = minimize(objective, start, method="BFGS", options={"gtol": 1e-9})
    theta, gamma, tie = unpack(found.x, n_items, q, kind)
    return theta - theta.mean(), gamma, tie, found.x, objective


def numerical_hessian(function, x, h=1e-4):
    n = len(x)
    out = np.empty((n, n))
    unit = h * np.eye(n)
    for i in range(n):
        for j in range(n):
            out[i, j] = (
                function(x + unit[i] + unit[j])
                - function(x + unit[i] - unit[j])
                - function(x - unit[i] + unit[j])
                + function(x - unit[i] - unit[j])
            ) / (4 * h * h)
    return out


def row_scores(x, kind, left, right, y, n_items, covariates, h=1e-6):
    """Derivatives of the rows' losses, shape (n, len(x))."""
    unit = h * np.eye(len(x))
    args = (kind, left, right, y, n_items, covariates)
    columns = [
        (row_losses(x + e, *args) - row_losses(x - e, *args)) / (2 * h) for e in unit
    ]
    return np.stack(columns, axis=1)


def runs_away(left, right, y, n_items):
    """Say whether some direction (δθ, δt) is opposed by no row: a linear program.

    A decided row asks for δ_winner - δ_loser ≥ 2 δt, a tie for |δ_left - δ_right| ≤
    2 δt; without ties δt plays no part.
    """
    rows = []
    for i, j, outcome in zip(left, right, y, strict=True):
        d = np.zeros(n_items + 1)
        d[j], d[i] = 1.0, -1.0
        t = np.zeros(n_items + 1)
        t[-1] = 2.0 * (y == 0).any()
        rows += [outcome * d - t] if outcome else [t - d, t + d]
    A = np.array(rows)
    bounds = [(-1, 1)] * (n_items + 1)
    bounds[0] = (0, 0)
    # Minimize and maximize every coordinate: all zero means that nothing can move.
    for k in range(1, n_items + bool((y == 0).any())):
        for sign in (-1, 1):
            c = np.zeros(n_items + 1)
            c[k] = sign
            found = linprog(c, A_ub=-A, b_ub=np.zeros(len(A)), bounds=bounds)
            if found.fun < -1e-7:
                return True
    return False
