# SPDX-License-Identifier: BSD-3-Clause
"""Greedy pursuits by exhaustive search, with every pair of rows written down."""

import itertools

import numpy as np
from scipy.optimize import minimize


def pair_rows(group, weight):
    """One row √(w_i w_j) (e_i - e_j) for every two rows of a group."""
    n, rows = len(group), []
    for i in range(n):
        for j in range(i):
            if group[i] == group[j]:
                row = np.zeros(n)
                row[i], row[j] = 1.0, -1.0
                rows.append(np.sqrt(weight[i] * weight[j]) * row)
    return np.array(rows).reshape(-1, n)


def comparison_rows(left, right, weight, n):
    """One row √w (e_right - e_left) for every comparison."""
    rows = np.zeros((len(left), n))
    for t, (i, j, w) in enumerate(zip(left, right, weight, strict=True)):
        rows[t, j] += np.sqrt(w)
        rows[t, i] -= np.sqrt(w)
    return rows


def greedy(columns, target, steps, *, backfit, prefit=False):
    """Pursue min ‖target - columns a‖², trying every column in every step.

    Returns the column and all coefficients after every step, and the sums of squares.
    """
    m = columns.shape[1]
    a, chosen, path, values = np.zeros(m), [], [], [target @ target]
    for _ in range(steps):
        best = None
        for j in range(m):
            if np.linalg.norm(columns[:, j]) < 1e-9 or (backfit and j in chosen):
                continue
            tried = a.copy()
            if prefit:
                own = [*chosen, j]
                tried[own] = np.linalg.lstsq(columns[:, own], target, rcond=None)[0]
            else:
                left = target - columns @ a
                tried[j] += np.linalg.lstsq(columns[:, [j]], left, rcond=None)[0][0]
            value = np.sum((target - columns @ tried) ** 2)
            if best is None or value < best[0] - 1e-12 * values[0]:
                best = value, j, tried
        chosen.append(best[1])
        a = best[2]
        if backfit:
            own = sorted(set(chosen))
            a = np.zeros(m)
            a[own] = np.linalg.lstsq(columns[:, own], target, rcond=None)[0]
        path.append(a.copy())
        values.append(np.sum((target - columns @ a) ** 2))
    return chosen, np.array(path), np.array(values)


def joint_objective(a, columns, agreeing, residuals, apart, nu):
    """J of the paper after adding a_v times a column to every function.

    Parameters
    ----------
    a : (M,) increments
    columns : M arrays of pair differences of the columns on scored rows
    agreeing : M arrays of pair differences of the columns on unscored rows
    residuals : M arrays of pair differences of the residuals on scored rows
    apart : M arrays of pair differences of the functions on unscored rows
    """
    total = 0.0
    for v in range(len(a)):
        total += np.sum((residuals[v] - a[v] * columns[v]) ** 2)
        for u in range(len(a)):
            one = apart[v] + a[v] * agreeing[v]
            two = apart[u] + a[u] * agreeing[u]
            total += nu * np.sum((one - two) ** 2)
    return total


def best_increments(columns, agreeing, residuals, apart, nu):
    """Minimize J numerically over the increments of one candidate."""
    M = len(columns)
    args = (columns, agreeing, residuals, apart, nu)
    found = minimize(joint_objective, np.zeros(M), args, "BFGS", options={"gtol": 1e-9})
    return found.x, found.fun


def joint_greedy(K, scored, unscored, s, nu, steps, *, averaged, shared):
    """Semi-supervised pursuit of figure 1, every candidate minimized numerically.

    Parameters
    ----------
    K : M arrays of shape (n_rows, m), the columns of each view at all rows
    scored, unscored : arrays of pair rows over all rows, of the scored and unscored
    s : targets of all rows; those of unscored rows do not matter
    averaged : whether all views share the residual of the mean function
    shared : whether all views take the same column
    """
    M, m = len(K), K[0].shape[1]
    f = np.zeros((M, len(s)))
    chosen, increments = [], []
    for _ in range(steps):
        best = None
        tuples = itertools.product(range(m), repeat=M)
        if shared:
            tuples = ((j,) * M for j in range(m))
        for candidate in tuples:
            columns = [scored @ K[v][:, j] for v, j in enumerate(candidate)]
            if min(np.linalg.norm(column) for column in columns) < 1e-9:
                continue
            agreeing = [unscored @ K[v][:, j] for v, j in enumerate(candidate)]
            if averaged:
                residuals = [scored @ (s - f.mean(axis=0))] * M
                apart = [np.zeros(len(unscored))] * M
            else:
                residuals = [scored @ (s - own) for own in f]
                apart = [unscored @ own for own in f]
            a, value = best_increments(columns, agreeing, residuals, apart, nu)
            start = joint_objective(
                np.zeros(M), columns, agreeing, residuals, apart, nu
            )
            if best is None or start - value > best[0] * (1 + 1e-9):
                best = start - value, candidate, a
        chosen.append(best[1])
        increments.append(best[2])
        for v, j in enumerate(best[1]):
            f[v] += best[2][v] * K[v][:, j]
    return np.array(chosen), np.array(increments), f


def graph_rows(W, weight):
    """One row √(W_ij w_i w_j) (e_i - e_j) for every two rows of positive weight W."""
    n, rows = len(W), []
    for i in range(n):
        for j in range(i):
            if W[i, j] > 0:
                row = np.zeros(n)
                row[i], row[j] = 1.0, -1.0
                rows.append(np.sqrt(W[i, j] * weight[i] * weight[j]) * row)
    return np.array(rows).reshape(-1, n)
