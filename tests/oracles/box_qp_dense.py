# SPDX-License-Identifier: BSD-3-Clause
"""Slow truth for the box program: a dense matrix and a general solver."""

import warnings

import numpy as np
from scipy.optimize import LinearConstraint, minimize


def maximize_box(K, y, lower, upper, balanced):
    """Maximize yᵀs - ½ sᵀKs in the box, with Σ s = 0 when balanced."""
    n = len(y)
    constraints = [LinearConstraint(np.ones((1, n)), 0, 0)] if balanced else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SciPy 1.15 leaves the box
        solved = minimize(
            lambda s: 0.5 * s @ K @ s - y @ s,
            np.zeros(n),
            jac=lambda s: K @ s - y,
            bounds=list(zip(lower, upper, strict=True)),
            constraints=constraints,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 2000},
        )
    return solved.x, -solved.fun


def primal(K, y, lower, upper, s, balanced):
    """Primal value at u(s), minimized over β by trying every kink."""
    e = y - K @ s

    def loss(b):
        return (upper * np.maximum(e - b, 0) - lower * np.maximum(b - e, 0)).sum()

    best = min(loss(b) for b in e) if balanced else loss(0.0)
    return 0.5 * s @ K @ s + best
