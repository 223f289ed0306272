# SPDX-License-Identifier: BSD-3-Clause
"""Slow truth for machines with several thresholds: every constraint is written out.

A sample is one item at one threshold: features, block, sign and cost. The primal

    minimize   ½‖w‖² + Σ cost ξ   with   sign (features·w - b_block) ≥ 1 - ξ,  ξ ≥ 0

goes to HiGHS as it stands, thresholds in no order. Imports nothing of tiebreak.
"""

import highspy
import numpy as np


def samples(X, y, weight=None):
    """Write every item at every threshold: features, block, sign and weight."""
    weight = np.ones(len(y)) if weight is None else weight
    cuts = np.unique(np.asarray(y)[weight > 0])[:-1]
    features, block, sign, cost = [], [], [], []
    for b, cut in enumerate(cuts):
        for x, grade, w in zip(X, y, weight, strict=True):
            if w > 0:
                features.append(x)
                block.append(b)
                sign.append(1.0 if grade > cut else -1.0)
                cost.append(w)
    return np.array(features), np.array(block), np.array(sign), np.array(cost)


def objective(w, b, features, block, sign, cost):
    """The primal value, term by term."""
    total = 0.5 * float(w @ w)
    for x, j, z, c in zip(features, block, sign, cost, strict=True):
        total += c * max(0.0, 1.0 - z * (float(x @ w) - b[j]))
    return total


def solve(features, block, sign, cost):
    """Minimize by HiGHS; returns w, b and the value of the objective there.

    On degenerate programs HiGHS may give up, or end early, in one unit of w and not in
    another. Every point that it finds is an upper bound, so the best one counts.
    """
    p, mean = features.shape[1], float(np.mean(cost))
    found = []
    for unit in (1.0, mean, np.sqrt(mean), 0.1 * mean, 0.01 * mean):
        x = _minimize(unit * features, block, sign, cost / unit**2)
        if x is not None:
            w, b = unit * x[:p], x[p:]
            found.append((objective(w, b, features, block, sign, cost), w, b))
        if len(found) == 3:
            break
    assert found, "HiGHS found no solution"
    best, w, b = min(found, key=lambda one: one[0])
    return w, b, best


def _minimize(features, block, sign, cost):
    m, p = features.shape
    n_blocks = int(block.max()) + 1
    n = p + n_blocks + m
    infinity = highspy.kHighsInf
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_ = np.concatenate([np.zeros(p + n_blocks), cost])
    lp.col_lower_ = np.concatenate([np.full(p + n_blocks, -infinity), np.zeros(m)])
    lp.col_upper_ = np.full(n, infinity)
    lp.row_lower_, lp.row_upper_ = np.ones(m), np.full(m, infinity)
    rows = np.zeros((m, n))
    rows[:, :p] = sign[:, None] * features
    rows[np.arange(m), p + block] = -sign
    rows[np.arange(m), p + n_blocks + np.arange(m)] = 1.0
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(0, m * n + 1, n)
    lp.a_matrix_.index_ = np.tile(np.arange(n), m)
    lp.a_matrix_.value_ = rows.ravel()
    hessian = highspy.HighsHessian()
    hessian.dim_ = n
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.minimum(np.arange(n + 1), p)
    hessian.index_ = np.arange(p)
    hessian.value_ = np.ones(p)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("qp_iteration_limit", 5000)
    if solver.passModel(lp) != highspy.HighsStatus.kOk:
        return None  # coefficients that are too small for it in this unit
    assert solver.passHessian(hessian) == highspy.HighsStatus.kOk
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)[: p + n_blocks]
