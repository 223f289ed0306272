# SPDX-License-Identifier: BSD-3-Clause
"""Strengths vote by vote, and the fewest votes by trying all sets. Slow and plain."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize


def fit_votes(left, right, outcome, n_items, alpha, *, solver="newton"):
    """Davidson's strengths with the penalty α‖θ‖²; a softmax over three outcomes."""
    left, right, outcome = map(np.asarray, (left, right, outcome))
    n = len(left)
    with_ties = bool(np.any(outcome == 0)) and not np.all(outcome == 0)
    if n == 0 or np.all(outcome == 0):
        return np.zeros(n_items)
    # Logits of the three outcomes of every vote, linear in x = (θ, t).
    rows = np.zeros((n, 3, n_items + with_ties))
    for k in range(n):
        rows[k, 0, left[k]] += 0.5
        rows[k, 0, right[k]] -= 0.5
        rows[k, 2, right[k]] += 0.5
        rows[k, 2, left[k]] -= 0.5
        if with_ties:
            rows[k, 1, -1] = 1.0
    seen = np.arange(n), outcome + 1
    if not with_ties:
        rows, seen = rows[:, ::2], (np.arange(n), (outcome + 1) // 2)
    penalty = np.zeros(rows.shape[2])
    penalty[:n_items] = alpha

    def expand(x):
        logits = rows @ x
        top = logits.max(axis=1, keepdims=True)
        log_p = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
        p = np.exp(log_p)
        mean = np.einsum("kc,kcj->kj", p, rows)
        value = -log_p[seen].sum() + penalty @ x**2
        gradient = (mean - rows[seen]).sum(axis=0) + 2 * penalty * x
        square = np.einsum("kc,kci,kcj->ij", p, rows, rows) - mean.T @ mean
        return value, gradient, square + 2 * np.diag(penalty)

    start = np.zeros(rows.shape[2])
    if solver == "scipy":
        found = minimize(
            lambda x: expand(x)[:2], start, jac=True, method="BFGS", tol=1e-10
        )
        return found.x[:n_items]
    x, (value, gradient, square) = start, expand(start)
    for _ in range(100):
        step = -np.linalg.solve(square + 1e-12 * np.eye(len(x)), gradient)
        size = 1.0
        while expand(x + size * step)[0] > value + 1e-14 * abs(value) and size > 1e-8:
            size *= 0.5
        x = x + size * step
        value, gradient, square = expand(x)
        if np.abs(gradient).max() < 1e-11:
            break
    return x[:n_items]


def fewest_votes(left, right, outcome, n_items, alpha, pairs, most, *, reverse=False):
    """The smallest number of votes, up to `most`, without which a pair is not so."""
    left, right, outcome = map(np.asarray, (left, right, outcome))
    kinds = [
        (min(a, b), max(a, b), y if a < b else -y)
        for a, b, y in zip(left, right, outcome, strict=True)
    ]
    free = [k for k in range(len(left)) if not (reverse and outcome[k] == 0)]
    for number in range(1, most + 1):
        tried = set()
        for chosen in combinations(free, number):
            key = tuple(sorted(kinds[k] for k in chosen))
            if key in tried:
                continue
            tried.add(key)
            y, kept = outcome.copy(), np.ones(len(left), dtype=bool)
            if reverse:
                y[list(chosen)] *= -1
            else:
                kept[list(chosen)] = False
            theta = fit_votes(left[kept], right[kept], y[kept], n_items, alpha)
            if any(theta[a] - theta[b] <= 1e-7 for a, b in pairs):
                return number
    return None
