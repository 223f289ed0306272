# SPDX-License-Identifier: BSD-3-Clause
"""Losses over graded items, by visiting every pair of rows."""

import numpy as np


def pair_weights(y, group, weight, per_group="sum"):
    """Weight of the pair (i better, j worse) in row i, column j; 0 where none."""
    better = (y[:, None] > y[None, :]) & (group[:, None] == group[None, :])
    W = better * weight[:, None] * weight[None, :]
    if per_group == "mean":
        for g in np.unique(group):
            own = np.ix_(group == g, group == g)
            total = W[own].sum()
            if total > 0:
                W[own] = W[own] / total
    return W


def loss(name, u, W):
    """Value, gradient and Hessian of Σ W_ij ℓ(1 - (u_i - u_j))."""
    n = len(u)
    value, gradient, hessian = 0.0, np.zeros(n), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if W[i, j] == 0:
                continue
            d = u[i] - u[j]
            if not u[i] < u[j] + 1:
                continue
            elif name == "hinge":
                v, first, second = 1 - d, -1.0, 0.0
            else:
                v, first, second = (1 - d) ** 2, -2 * (1 - d), 2.0
            value += W[i, j] * v
            gradient[i] += W[i, j] * first
            gradient[j] -= W[i, j] * first
            hessian[i, i] += W[i, j] * second
            hessian[j, j] += W[i, j] * second
            hessian[i, j] -= W[i, j] * second
            hessian[j, i] -= W[i, j] * second
    return value, gradient, hessian
