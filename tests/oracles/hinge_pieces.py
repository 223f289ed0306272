# SPDX-License-Identifier: BSD-3-Clause
"""Slow truth for ½‖x‖² + C R(Ax), R a sum of hinges that are written down.

    R(u) = Σ_p cost_p (offset_p - D_p·u)₊

Its dual is a box program in one variable per hinge, which a general solver maximizes.
Imports nothing of tiebreak.
"""

import numpy as np
from scipy.optimize import minimize


class HingePieces:
    """R, its subgradient, and a bracket around the minimum of ½‖x‖² + C R(Ax)."""

    def __init__(self, D, offset, cost):
        self.D, self.offset, self.cost = D, offset, cost

    def expand(self, u):
        short = self.offset - self.D @ u
        active = self.cost * (short > 0)
        return float(active @ short), -(self.D.T @ active)

    def objective(self, A, C, x):
        return 0.5 * x @ x + C * self.expand(A @ x)[0]

    def bracket(self, A, C):
        """Give a lower and an upper bound of the minimum, each valid by itself."""
        rows = self.D @ A
        solved = minimize(
            lambda s: 0.5 * np.sum((s @ rows) ** 2) - s @ self.offset,
            np.zeros(len(rows)),
            jac=lambda s: rows @ (s @ rows) - self.offset,
            bounds=[(0.0, C * c) for c in self.cost],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 3000},
        )
        s = np.clip(solved.x, 0.0, C * self.cost)
        x = s @ rows
        return s @ self.offset - 0.5 * x @ x, self.objective(A, C, x)


def of_grades(y, weight):
    """All pairs of different grades: hinges of 1 - (u_i - u_j)."""
    better, worse = np.nonzero(y[:, None] > y[None, :])
    eye = np.eye(len(y))
    return HingePieces(
        eye[better] - eye[worse],
        np.ones(len(better)),
        weight[better] * weight[worse],
    )


def of_distances(target):
    """Σ |u_i - target_i|, two hinges each."""
    eye = np.eye(len(target))
    return HingePieces(
        np.vstack([eye, -eye]),
        np.concatenate([target, -target]),
        np.ones(2 * len(target)),
    )
