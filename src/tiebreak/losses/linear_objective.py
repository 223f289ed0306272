# SPDX-License-Identifier: BSD-3-Clause
r"""A loss of utilities with a penalty on the weights that make them.

.. math:: f(x) = \tfrac12 ‖x‖^2 + C\, L(A x),

with A of shape (n, q): features of items, or a factor of their kernel matrix. Strongly
convex with constant 1.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import chunks, in_threads

# Up to this many columns the Hessian is sketched from a sample of the rows, of this
# share but not fewer and not more than these. A better sketch saves products with all.
_SKETCH_COLUMNS = 400
_SKETCH_SHARE, _FEWEST_ROWS, _MOST_ROWS = 0.04, 1000, 8000
# Up to this many columns it may be formed, where diagonal preconditioning needs more
# products per step than this.
_DENSE_COLUMNS = 5000
_PATIENCE = 50
# A product with fewer entries than this is not worth dividing among threads.
_LEAST_ENTRIES = 2_000_000


class UtilityLoss(Protocol):
    """A smooth convex loss of the utilities of n rows."""

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the loss and its gradient; the Hessian then speaks of u."""

    def hessian_product(self, v: Floats) -> Floats:
        """H v at the last expanded point."""

    def hessian_diagonal(self) -> Floats:
        """Diagonal of H at the last expanded point."""

    def sketch(self, A: Any, n_rows: int) -> Floats:
        """Estimate AᵀHA from about `n_rows` rows."""


class LinearObjective:
    """½‖x‖² + C L(A x): value, gradient and products with the Hessian."""

    convexity = 1.0

    def __init__(self, A: Any, loss: UtilityLoss, C: float) -> None:
        self.A, self.loss, self.C = A, loss, C
        self.n_variables = A.shape[1]
        self._kept: Callable[[Floats], Floats] | None = None
        self.max_products = 20 + 2 * self.n_variables
        if _SKETCH_COLUMNS < self.n_variables <= _DENSE_COLUMNS:
            self.max_products = _PATIENCE

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient; the Hessian then speaks of x."""
        value, self.in_utility = self.loss.expand(forward_product(self.A, x))
        gradient = x + self.C * back_product(self.A, self.in_utility)
        return 0.5 * float(x @ x) + self.C * value, gradient

    def hessian_product(self, v: Floats) -> Floats:
        """H v at the last expanded point."""
        curved = self.loss.hessian_product(forward_product(self.A, v))
        return v + self.C * back_product(self.A, curved)

    def preconditioner(self, n_products: int) -> Callable[[Floats], Floats]:
        """Give r to M⁻¹ r for an M near the Hessian."""
        if self.n_variables <= _SKETCH_COLUMNS:
            share = int(_SKETCH_SHARE * self.A.shape[0])
            n_rows = min(max(share, _FEWEST_ROWS), _MOST_ROWS)
            return self._solver(max(n_rows, 8 * self.n_variables))
        if n_products >= _PATIENCE and self.n_variables <= _DENSE_COLUMNS:
            self._kept = self._solver(self.A.shape[0])
            self.max_products = 2 * _PATIENCE
        if self._kept is not None:
            return self._kept
        squares = weigh_squares(self.A, self.loss.hessian_diagonal())
        diagonal = 1.0 + self.C * squares
        return lambda r: r / diagonal

    def _solver(self, n_rows: int) -> Callable[[Floats], Floats]:
        """Solve with the Hessian of about so many rows."""
        M = self.C * self.loss.sketch(self.A, n_rows)
        M.flat[:: len(M) + 1] += 1.0
        return solve_near(M, 1.0)


def solve_near(M: Floats, least: float) -> Callable[[Floats], Floats]:
    """Give r to M⁻¹ r; by the diagonal, at least `least`, if indefinite."""
    # Rounding does that to entries of very different sizes, or M is of few rows.
    diagonal = np.maximum(M.diagonal(), least)
    try:
        factor = la.cho_factor(M, lower=True, check_finite=False, overwrite_a=True)
    except la.LinAlgError:
        return lambda r: r / diagonal
    return lambda r: np.asarray(la.cho_solve(factor, r, check_finite=False))


def weigh_squares(A: Any, weight: Floats) -> Floats:
    """Weighted sum of squares of every column, shape (q,)."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).T @ weight)
    return np.einsum("ij,ij,i->j", A, A, weight)


def forward_product(A: Any, x: Floats) -> Floats:
    """Give A x, dense rows divided among threads."""
    if sp.issparse(A) or A.size < _LEAST_ENTRIES:
        return np.asarray(A @ x)
    out = np.empty(A.shape[0])

    def fill(rows: slice) -> None:
        np.dot(A[rows], x, out=out[rows])

    in_threads(fill, chunks(A.shape[0], A.shape[0]))
    return out


def back_product(A: Any, g: Floats) -> Floats:
    """Give Aᵀ g, dense rows divided among threads."""
    if sp.issparse(A) or A.size < _LEAST_ENTRIES:
        return np.asarray(A.T @ g)
    parts = in_threads(lambda rows: g[rows] @ A[rows], chunks(A.shape[0], A.shape[0]))
    return np.sum(parts, axis=0)


def inner_products(A: Floats, B: Floats) -> Floats:
    """Give Aᵀ B of two tall matrices, columns divided among threads."""
    if A.shape[1] <= _SKETCH_COLUMNS:
        return np.asarray(A.T @ B)
    out = np.empty((A.shape[1], B.shape[1]))

    def fill(columns: slice) -> None:
        out[:, columns] = A.T @ B[:, columns]

    in_threads(fill, chunks(B.shape[1], B.shape[1]))
    return out
