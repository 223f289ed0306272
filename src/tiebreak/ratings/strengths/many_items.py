# SPDX-License-Identifier: BSD-3-Clause
r"""Variances of many strengths, without the inverse of their Hessian.

With the penalty α‖θ‖² the Hessian of N strengths is A = L + 2α·Id, L the Laplacian of
the comparison graph with the curvatures w of its comparisons. Other coefficients (tie
parameter, effects) border it by B and C:

.. math:: H = \begin{pmatrix} A & B \\ B^\top & C \end{pmatrix}, \qquad
          (H^{-1})_{θθ} = A^{-1} + U S^{-1} U^\top, \quad U = A^{-1} B, \quad
          S = C - B^\top U.

The diagonal of A⁻¹ is found by K draws y = A⁻¹ b of covariance A⁻¹, by conjugate
gradients, b = Dᵀ√w z₁ + √(2α) z₂ with z standard normal.
Given all the others, y_i has the variance 1/A_ii and the mean y_i - b_i / A_ii, so that

.. math:: (A^{-1})_{ii} = 1 / A_{ii} + E\,(y_i - b_i / A_{ii})^2,

of which only the second part is random (Papandreou and Yuille, 2010).

No entry of A⁻¹ is negative, so Var(θ_i - θ_j) is at most the sum of both variances.

What votes or raters add to the posterior is one factor ρ = tr A⁻¹(M - L) / tr A⁻¹L for
all directions, if it is positive, times A⁻¹ L A⁻¹, whose diagonal is at most v - 2α v².
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import in_threads
from tiebreak.losses import ComparisonObjective, ItemDesign, JointDesign

MANY_ITEMS = 3000  # strengths; above, the dense inverse takes longer than draws
_N_DRAWS = 192  # the standard deviation of a standard error is at most 5 % of it
_N_PROBES = 16  # for traces, whose error falls with √N too
_BLOCK = 16  # right-hand sides that are solved for at once
_RESIDUAL = 1e-4  # relative to the right-hand side, in the metric of the diagonal
_MOST_PRODUCTS = 2000


class SparseHessian:
    """The Hessian at the last expanded point."""

    def __init__(self, objective: ComparisonObjective) -> None:
        design = objective.design
        items = design.parts[0] if isinstance(design, JointDesign) else design
        assert isinstance(items, ItemDesign)
        self.items, self.objective = items, objective
        self.n, self.curvature = items.n_coef, objective.local.curvature
        self.penalty = 2.0 * float(objective.alpha[0])
        self.matrix = items.laplacian(self.curvature)
        self.matrix.setdiag(self.matrix.diagonal() + self.penalty)
        self.diagonal = self.matrix.diagonal()

    def solve(self, right: Floats) -> Floats:
        """Give A⁻¹ times the columns of `right`, shape (N, k)."""
        out = np.empty_like(right)

        def fill(start: int) -> None:
            columns = slice(start, start + _BLOCK)
            out[:, columns] = self._solve_block(right[:, columns])

        in_threads(fill, range(0, right.shape[1], _BLOCK))
        return out

    def _solve_block(self, right: Floats) -> Floats:
        """Solve for a few columns by conjugate gradients side by side."""
        scale = 1.0 / self.diagonal[:, None]
        x, residual = np.zeros_like(right), right.copy()
        direction = z = scale * residual
        size = _inner(residual, z)
        enough = _RESIDUAL**2 * size
        for _ in range(_MOST_PRODUCTS):
            if (size <= enough).all():
                break
            image = self.matrix @ direction
            curvature = _inner(direction, image)
            step = np.divide(size, curvature, out=np.zeros_like(size), where=size > 0)
            x += step * direction
            residual -= step * image
            z = scale * residual
            size, before = _inner(residual, z), size
            ratio = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
            direction = z + ratio * direction
        return x

    @cached_property
    def border(self) -> tuple[Floats, Floats]:
        """U, shape (N, k), and S⁻¹, for k other coefficients."""
        objective, n = self.objective, self.n
        k = objective.n_variables - n
        if not k:
            return np.empty((n, 0)), np.empty((0, 0))
        columns = []
        for number in range(n, n + k):
            unit = np.zeros(n + k)
            unit[number] = 1.0
            columns.append(objective.hessian_product(unit))
        H = np.stack(columns, axis=1)
        U = self.solve(H[:n])
        return U, la.inv(H[n:] - H[:n].T @ U)

    def draws(self, n_draws: int) -> Iterator[tuple[Floats, Floats]]:
        """Give y and b of the module's docstring, (N, k) each, some at a time."""
        # A fixed seed: the same data always give the same intervals.
        rng = np.random.default_rng(0)
        root = np.sqrt(self.curvature)[:, None]
        m, at_once = len(root), 2 * _BLOCK
        back = self.items.matrix().T.tocsr()
        for start in range(0, n_draws, at_once):
            k = min(at_once, n_draws - start)
            b = back @ (root * rng.standard_normal((m, k)))
            b += math.sqrt(self.penalty) * rng.standard_normal((self.n, k))
            yield self.solve(b), b

    def variances(self) -> Floats:
        """Diagonal of H⁻¹ of all coefficients, shape (n_variables,)."""
        total = np.zeros(self.n)
        for y, b in self.draws(_N_DRAWS):
            y -= b / self.diagonal[:, None]
            total += np.einsum("ij,ij->i", y, y)
        # No result makes a strength less certain than the prior alone.
        own = np.minimum(1.0 / self.diagonal + total / _N_DRAWS, 1.0 / self.penalty)
        U, inner = self.border
        own += np.einsum("ij,jk,ik->i", U, inner, U)
        return np.concatenate([own, np.diag(inner)])

    def evidence_slope(self, x: Floats) -> float:
        """Slope in ln τ of the log evidence (`prior.py`) without ε, at the minimum.

        ‖θ‖²/τ² + tr A⁻¹/τ² - N, and what follows from w, which moves with all
        coefficients.
        """
        objective, theta = self.objective, x[: self.n]
        pull = 2.0 * self.penalty * theta  # how fast the penalty's force falls
        U, inner = self.border
        back = inner @ (U.T @ pull)
        moved = np.append(self.solve(pull[:, None])[:, 0] + U @ back, -back)
        step, w = 1e-3, []
        for sign in (1.0, -1.0):
            beta, t = objective.split(x + sign * step * moved)
            d = objective.design.apply(beta)
            w.append(objective.link.expand(d, t, objective.counts).curvature)
        change = (w[0] - w[1]) / (2.0 * step)
        trace = follow = 0.0
        for y, b in self.draws(_N_PROBES):
            trace += float(np.vdot(y, b - self.penalty * y))
            gap = y[self.items.right] - y[self.items.left]
            follow += float(change @ np.einsum("ij,ij->i", gap, gap))
        # tr A⁻¹L = E yᵀ L y, and tr 2α A⁻¹ = N - tr A⁻¹L.
        return 0.5 * float(pull @ theta) - (trace + 0.5 * follow) / _N_PROBES

    def excess_ratio(self, in_d: Floats, by_rater: sp.csr_array | None) -> float:
        """ρ of the module's docstring, from slopes of the outcomes in d, (m, 3)."""
        squares = (self.objective.counts * in_d**2).sum(axis=1)
        seen = expected = 0.0
        for y, _ in self.draws(_N_PROBES):
            gap = y[self.items.right] - y[self.items.left]
            expected += float(self.curvature @ np.einsum("ij,ij->i", gap, gap))
            if by_rater is None:
                seen += float(squares @ np.einsum("ij,ij->i", gap, gap))
                continue
            score = by_rater @ (in_d[:, :, None] * gap[:, None, :]).reshape(
                -1, y.shape[1]
            )
            raters = by_rater.shape[0]
            seen += float(np.vdot(score, score)) * raters / (raters - 1.0)
        return max(seen / expected - 1.0, 0.0)


def _inner(a: Floats, b: Floats) -> Floats:
    return np.einsum("ij,ij->j", a, b)
