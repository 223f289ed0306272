# SPDX-License-Identifier: BSD-3-Clause
"""1-norm ranking pair by pair: every constraint a row of `scipy.optimize.linprog`."""

import numpy as np
from scipy.optimize import linprog

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def list_pairs(y, qid=None, adjacent=False):
    """List (better, worse) for all rows of different grades in a group."""
    qid = np.zeros(len(y)) if qid is None else np.asarray(qid)
    pairs = []
    for i in range(len(y)):
        for j in range(len(y)):
            if qid[i] != qid[j] or y[i] <= y[j]:
                continue
            inside = [
                k for k in range(len(y)) if qid[k] == qid[i] and y[j] < y[k] < y[i]
            ]
            if not (adjacent and inside):
                pairs.append((i, j))
    return pairs


def slack_matrix(pairs, weight, slack):
    """Give rows over slacks, and what each slack costs."""
    n, m = len(weight), len(pairs)
    if slack == "pair":
        return np.eye(m), np.array([weight[i] * weight[j] for i, j in pairs])
    rows, count = np.zeros((m, n)), np.zeros(n)
    for k, (i, j) in enumerate(pairs):
        rows[k, i] = rows[k, j] = 1.0
        count[i] += weight[j]
        count[j] += weight[i]
    return rows, weight * count if slack == "item-weighted" else weight * (count > 0)


def solve(X, pairs, alpha, rows, cost):
    """Minimize alpha ‖w‖₁ + cost·η with X_s w - X_t w + rows η ≥ 1.

    Returns
    -------
    objective : float
    w : ndarray
    bound : float
        The same optimum from the multipliers.
    """
    p = X.shape[1]
    d = np.array([X[i] - X[j] for i, j in pairs])
    A = np.hstack([d, -d, rows])
    c = np.concatenate([np.full(2 * p, float(alpha)), cost])
    found = linprog(c, A_ub=-A, b_ub=-np.ones(len(pairs)), options=OPTIONS)
    assert found.status == 0
    return found.fun, found.x[:p] - found.x[p : 2 * p], -found.ineqlin.marginals.sum()


def solve_graded(X, y, alpha, slack, qid=None, weight=None, adjacent=False):
    """Solve for graded items; rows of weight 0 are taken out first."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    keep = weight > 0
    X, y, weight = X[keep], np.asarray(y)[keep], weight[keep]
    qid = None if qid is None else np.asarray(qid)[keep]
    pairs = list_pairs(y, qid, adjacent)
    return solve(X, pairs, alpha, *slack_matrix(pairs, weight, slack))


def largest_alpha(X, pairs, rows, cost):
    """Minimize ‖Σ λ (x_s - x_t)‖_∞ over optimal multipliers of the problem at w = 0."""
    m, p = len(pairs), X.shape[1]
    ones = np.ones(m)
    without = linprog(cost, A_ub=-rows, b_ub=-ones, options=OPTIONS).fun
    d = np.array([X[i] - X[j] for i, j in pairs])
    edge = np.ones((p, 1))
    A = np.vstack(
        [
            np.hstack([d.T, -edge]),
            np.hstack([-d.T, -edge]),
            np.hstack([rows.T, np.zeros((rows.shape[1], 1))]),
            np.append(-ones, 0.0)[None, :],
        ]
    )
    b = np.concatenate([np.zeros(2 * p), cost, [-without]])
    return linprog(np.append(0.0 * ones, 1.0), A_ub=A, b_ub=b, options=OPTIONS).fun


def is_corner(points, i):
    """Say whether a point is no mixture of the others."""
    others = np.delete(points, i, axis=0)
    A = np.vstack([others.T, np.ones(len(others))])
    found = linprog(np.zeros(len(others)), A_eq=A, b_eq=np.append(points[i], 1.0))
    return found.status == 2
