# SPDX-License-Identifier: BSD-3-Clause
"""The soft comparison program with a 1-norm, written down and given to SciPy."""

import numpy as np
from scipy.optimize import linprog


def solve(K, left, right, y, weight, C):
    """Minimize ‖a‖₁ + C Σ w ξ over a on all items, β and one ξ per flipped pair.

    Returns
    -------
    objective, a, β
    """
    rows, labels, costs = [], [], []
    for i, j, outcome, w in zip(left, right, y, weight, strict=True):
        d = K[j] - K[i]
        if outcome == 0:
            rows += [d, -d]
            labels += [-1.0, -1.0]
            costs += [w, w]
        else:
            rows.append(outcome * d)
            labels.append(1.0)
            costs.append(w)
    D, z, cost = np.array(rows), np.array(labels)[:, None], C * np.array(costs)
    n, m = len(K), len(cost)
    free = 0.0 in np.asarray(y)
    A = np.hstack([z * D, -z * D, z, np.eye(m)])
    bounds = [(0, None)] * (2 * n) + [(None, None) if free else (0, 0)]
    found = linprog(
        np.concatenate([np.ones(2 * n), [0.0], cost]),
        A_ub=-A,
        b_ub=-np.ones(m),
        bounds=[*bounds, *[(0, None)] * m],
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return found.fun, found.x[:n] - found.x[n : 2 * n], found.x[2 * n]
