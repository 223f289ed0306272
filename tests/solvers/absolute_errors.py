# SPDX-License-Identifier: BSD-3-Clause
"""A function for the bundle of linear programs that has nothing to do with ranking."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from tiebreak.solvers import Plane, SlackRows


class AbsoluteErrors:
    """R(x) = mean |A x - b|; a slack and two rows for every term."""

    def __init__(self, A, b):
        self.A, self.b = A, b
        self.n_variables, self.n_rows = A.shape[1], 2 * len(b)

    def expand(self, x):
        r = self.A @ x - self.b
        return np.abs(r).mean(), self.A.T @ np.sign(r) / len(r)

    def rows_near(self, x, max_rows):
        r = self.A @ x - self.b
        n = len(r)
        near = np.arange(n)
        rest = None
        if self.n_rows > max_rows:
            near = np.argsort(np.abs(r))[: max_rows // 2]
            far = np.delete(np.arange(n), near)
            sign = np.sign(r[far]) / n
            rest = Plane(self.A[far].T @ sign, -float(sign @ self.b[far]))
        eye = sp.eye_array(len(near))
        return SlackRows(
            sp.csr_array(np.vstack([-self.A[near], self.A[near]])),
            sp.csr_array(sp.vstack([eye, eye])),
            np.append(-self.b[near], self.b[near]),
            np.full(len(near), 1.0 / n),
            rest,
        )

    def solve(self, penalty, G=None):
        """Solve the whole program by SciPy."""
        n, q = self.A.shape
        rows = self.rows_near(np.zeros(q), 10**9)
        D, S = rows.D.toarray(), rows.S.toarray()
        A = np.hstack([D, -D, S])
        lower = rows.offset
        if G is not None:
            A = np.vstack([A, np.hstack([G, -G, np.zeros((len(G), n))])])
            lower = np.append(lower, np.zeros(len(G)))
        cost = np.concatenate([penalty, penalty, rows.cost])
        found = linprog(cost, A_ub=-A, b_ub=-lower)
        return found.fun, found.x[:q] - found.x[q : 2 * q]
