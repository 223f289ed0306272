# SPDX-License-Identifier: BSD-3-Clause
"""Rank least squares with a Laplacian that is written down, solved by its definition.

Everything is dense and slow: Laplacians are added up pair by pair, and what is left out
is left out by solving again.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "group_laplacian",
    "leave_group_out",
    "objective",
    "pair_laplacian",
    "solve",
    "solve_compared",
]


def group_laplacian(group, weight=None, per_group="sum"):
    """Add up w_i w_j (e_i - e_j)(e_i - e_j)ᵀ over the pairs of each group."""
    n = len(group)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            if group[i] == group[j]:
                pair = weight[i] * weight[j]
                if per_group == "mean" and pair > 0:
                    pair /= sum(
                        w for w, g in zip(weight, group, strict=True) if g == group[i]
                    )
                _add_pair(L, i, j, pair)
    return L


def _add_pair(L, i, j, weight):
    """Add weight (e_i - e_j)(e_i - e_j)ᵀ."""
    L[i, i] += weight
    L[j, j] += weight
    L[i, j] -= weight
    L[j, i] -= weight


def pair_laplacian(left, right, weight, n_items):
    """Add up w (e_right - e_left)(e_right - e_left)ᵀ over listed pairs."""
    L = np.zeros((n_items, n_items))
    for i, j, w in zip(left, right, weight, strict=True):
        _add_pair(L, i, j, w)
    return L


def solve(K, y, L, alpha):
    """Coefficients a of min (y - Ka)ᵀL(y - Ka) + α aᵀKa: (LK + αI) a = L y."""
    return np.linalg.solve(L @ K + alpha * np.eye(len(K)), L @ y)


def objective(K, y, L, alpha, a):
    """Value of (y - Ka)ᵀL(y - Ka) + α aᵀKa."""
    rest = y - K @ a
    return rest @ L @ rest + alpha * a @ K @ a


def solve_compared(K, left, right, outcome, weight, alpha):
    """Coefficients of min Σ w (outcome - (f_right - f_left))² + α aᵀKa."""
    L = pair_laplacian(left, right, weight, len(K))
    side = np.zeros(len(K))
    for i, j, o, w in zip(left, right, outcome, weight, strict=True):
        side[j] += w * o
        side[i] -= w * o
    return np.linalg.solve(L @ K + alpha * np.eye(len(K)), side)


def _predict_without(K, y, group, weight, per_group, alpha, out):
    """Utilities of the rows `out` from the solution of all other rows."""
    rest = np.setdiff1d(np.arange(len(y)), out)
    L = group_laplacian(group[rest], weight[rest], per_group)
    a = solve(K[np.ix_(rest, rest)], y[rest], L, alpha)
    return K[np.ix_(out, rest)] @ a


def leave_group_out(K, y, group, weight, per_group, alpha):
    """Solve once for each group, without it."""
    utility = np.empty(len(y))
    for g in np.unique(group):
        rows = np.flatnonzero(group == g)
        utility[rows] = _predict_without(K, y, group, weight, per_group, alpha, rows)
    return utility
