# SPDX-License-Identifier: BSD-3-Clause
"""Slow truth for pairwise support vector machines.

The flipped data set of Venuto et al. (equation 8) is written out, the pair kernel is
formed in full from four blocks, and libsvm (``sklearn.svm.SVC`` with a precomputed
kernel) or a general solver minimizes. Imports nothing of tiebreak.
"""

import warnings

import numpy as np
from scipy.optimize import LinearConstraint, linprog, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC


def kernel_function(name, gamma, degree, coef0):
    return {
        "linear": lambda A, B: linear_kernel(A, B),
        "poly": lambda A, B: polynomial_kernel(
            A, B, gamma=gamma, degree=degree, coef0=coef0
        ),
        "rbf": lambda A, B: rbf_kernel(A, B, gamma=gamma),
    }[name]


def flipped(L, R, y):
    """Oriented pairs with label +1 for different and -1 for tie."""
    left = np.vstack([L[y == 1], R[y == -1], L[y == 0], R[y == 0]])
    right = np.vstack([R[y == 1], L[y == -1], R[y == 0], L[y == 0]])
    label = np.r_[np.ones((y != 0).sum()), -np.ones(2 * (y == 0).sum())]
    return left, right, label


def flipped_weight(weight, y):
    return np.r_[weight[y == 1], weight[y == -1], weight[y == 0], weight[y == 0]]


def pair_kernel(k, left, right):
    return k(right, right) - k(right, left) - k(left, right) + k(left, left)


def pair_kernel_between(k, left, right, left2, right2):
    return k(right, right2) - k(right, left2) - k(left, right2) + k(left, left2)


def best_intercept_loss(score, label, cost):
    """Minimum over β of Σ cost (1 - label (score + β))₊, by trying every kink."""
    kinks = label - score
    return min(
        float((cost * np.maximum(0, 1 - label * (score + b))).sum()) for b in kinks
    )


class SVCCompare:
    """SVMcompare through libsvm on the explicit pair kernel."""

    def __init__(self, k, C, tol=1e-8):
        self.k, self.C, self.tol = k, C, tol

    def fit(self, L, R, y, weight=None):
        self.left, self.right, label = flipped(L, R, y)
        cost = np.full(len(label), self.C)
        if weight is not None:
            cost = cost * flipped_weight(weight, y)
        K = pair_kernel(self.k, self.left, self.right)
        # libsvm can run for ever at a tolerance near rounding; what it found when it is
        # stopped is judged by its own duality gap.
        svc = SVC(kernel="precomputed", C=1.0, tol=self.tol, max_iter=1_000_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            svc.fit(K, label, sample_weight=cost)
        self.a = np.zeros(len(label))
        self.a[svc.support_] = svc.dual_coef_[0]
        self.b = float(svc.intercept_[0])
        score = K @ self.a
        # The primal value of the utility found, with the best intercept for it.
        self.objective = 0.5 * self.a @ score + best_intercept_loss(score, label, cost)
        self.dual = np.abs(self.a).sum() - 0.5 * self.a @ score
        return self

    def difference(self, L, R):
        return pair_kernel_between(self.k, L, R, self.left, self.right) @ self.a

    def predict(self, L, R):
        d = self.difference(L, R)
        threshold = max(0.0, -self.b)
        return np.where(np.abs(d) <= threshold, 0, np.sign(d)).astype(int)


def hinge_order_primal(D, cost):
    """min ½‖w‖² + Σ cost (1 - D w)₊ by a general solver, for a few features."""
    n, p = D.shape
    start = np.r_[np.zeros(p), np.ones(n)]
    solved = minimize(
        lambda z: 0.5 * z[:p] @ z[:p] + cost @ z[p:],
        start,
        jac=lambda z: np.r_[z[:p], cost],
        hess=lambda z: np.diag(np.r_[np.ones(p), np.zeros(n)]),
        constraints=[LinearConstraint(np.c_[D, np.eye(n)], 1, np.inf)],
        bounds=[(None, None)] * p + [(0, None)] * n,
        method="trust-constr",
        options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 5000},
    )
    w = solved.x[:p]
    return w, 0.5 * w @ w + cost @ np.maximum(0, 1 - D @ w)


def margin_lp(D, y):
    """Program (7) by scipy's linprog: returns w and the margin μ (free sign)."""
    p = D.shape[1]
    rows, right = [], []
    for d, outcome in zip(D, y, strict=True):
        if outcome == 0:
            rows += [np.r_[d, 1.0], np.r_[-d, 1.0]]
            right += [1.0, 1.0]
        else:
            rows.append(np.r_[-outcome * d, 1.0])
            right.append(-1.0)
    solved = linprog(
        np.r_[np.zeros(p), -1.0],
        A_ub=np.array(rows),
        b_ub=np.array(right),
        bounds=[(None, None)] * (p + 1),
    )
    return solved.x[:p], solved.x[p]


def margin_qp(D, y):
    """Program (9) by a general solver: returns u and β."""
    p = D.shape[1]
    rows = []
    for d, outcome in zip(D, y, strict=True):
        if outcome == 0:
            rows += [np.r_[-d, -1.0], np.r_[d, -1.0]]
        else:
            rows.append(np.r_[outcome * d, 1.0])
    w, mu = margin_lp(D, y)
    assert mu > 0, "the oracle needs separable data"
    # Lemma 1 read backwards: the solution of the linear program is feasible here.
    start = np.r_[w, -1.0] / mu
    solved = minimize(
        lambda z: 0.5 * z[:p] @ z[:p],
        start,
        jac=lambda z: np.r_[z[:p], 0.0],
        hess=lambda z: np.diag(np.r_[np.ones(p), 0.0]),
        constraints=[LinearConstraint(np.array(rows), 1.0, np.inf)],
        method="trust-constr",
        options={"gtol": 1e-11, "xtol": 1e-13, "maxiter": 5000, "barrier_tol": 1e-11},
    )
    return solved.x[:p], solved.x[p]


def zero_intercepts(D, y, tie_weight=1.0):
    """Which of β = -1 and β = +1 make u = 0 optimal, by feasibility of multipliers.

    β = +1: Σ c y d = 0, 0 ≤ c ≤ 1, Σ c = 2 n₀ t. β = -1: Σ y d = Σ (a - a') d over
    ties, 0 ≤ a, a' ≤ t, Σ (a + a') = n₁.
    """
    wins, ties = D[y != 0] * y[y != 0, None], D[y == 0]
    found = []
    for beta, rows, limit, goal, total in (
        (-1, np.vstack([ties, -ties]), tie_weight, wins.sum(0), len(wins)),
        (1, wins, 1.0, np.zeros(D.shape[1]), 2 * tie_weight * len(ties)),
    ):
        solved = linprog(
            np.zeros(len(rows)),
            A_eq=np.vstack([rows.T, np.ones(len(rows))]),
            b_eq=np.r_[goal, total],
            bounds=(0, limit),
        )
        if solved.status == 0:
            found.append(beta)
    return found
