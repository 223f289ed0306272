# SPDX-License-Identifier: BSD-3-Clause
r"""The penalized likelihood of comparisons with three outcomes.

.. math::

    f(β, t) = -\sum_k \sum_{c} n_{kc} \ln p_c(d_k, t)
              + \sum_j α_j β_j^2 + \frac{κ}{2}\,(\mathbf 1_S^\top β)^2,
    \qquad d = D β

a sum over comparisons. The last term exists only where the likelihood does not change
when the coefficients of a set S (the strengths of items) all move by the same amount
and nothing else decides: it is zero at the solution, whose strengths sum to zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiebreak.losses.designs import Design
from tiebreak.losses.outcome_links import Expansion, OutcomeLink

__all__ = ["ComparisonObjective"]

Vector = NDArray[np.float64]


class ComparisonObjective:
    """Value, gradient and Hessian of f at a point x = (β, t), or x = β.

    Parameters
    ----------
    design : Design
        The matrix D of shape (m, q).
    link : OutcomeLink
        Gives probabilities from d and t.
    counts : ndarray of shape (m, 3)
        n, weights of left, tie and right.
    alpha : ndarray of shape (q,)
        Penalty of each coefficient.
    tie : float or None
        A fixed t; None: t is the last entry of x.
    free : slice or None
        The set S whose level the likelihood does not determine.
    """

    def __init__(
        self,
        design: Design,
        link: OutcomeLink,
        counts: Vector,
        alpha: Vector,
        *,
        tie: float | None = None,
        free: slice | None = None,
    ) -> None:
        self.design, self.link, self.counts = design, link, counts
        self.alpha, self.tie, self.free = alpha, tie, free
        self.n_coef = design.n_coef
        self.n_variables = design.n_coef + (tie is None)
        # Of the order of the curvature of one strength, so that it is well scaled.
        self.level = float(counts.sum()) / max(design.n_coef, 1) ** 2

    def split(self, x: Vector) -> tuple[Vector, float]:
        """Give β and t."""
        if self.tie is None:
            return x[:-1], float(x[-1])
        return x, self.tie

    def value(self, x: Vector) -> float:
        """Give f(x); infinite outside its domain."""
        beta, t = self.split(x)
        loss = self.link.value(self.design.apply(beta), t, self.counts)
        return loss + self._penalty(beta)

    def expand(self, x: Vector) -> tuple[float, Vector]:
        """Give f and its gradient at x, and keep x for the Hessian."""
        beta, t = self.split(x)
        self.local: Expansion = self.link.expand(
            self.design.apply(beta), t, self.counts
        )
        gradient = self._gradient(beta, self.local.gradient, self.local.tie_gradient)
        return self.local.value + self._penalty(beta), gradient

    def gradient(self, x: Vector) -> Vector:
        """Give the gradient at x only, which is cheaper; the Hessian stays."""
        beta, t = self.split(x)
        loss = self.link.gradient(self.design.apply(beta), t, self.counts)
        return self._gradient(beta, *loss)

    def _gradient(self, beta: Vector, in_d: Vector, in_t: float) -> Vector:
        gradient = self.design.back(in_d) + 2.0 * self.alpha * beta
        if self.free is not None:
            gradient[self.free] += self.level * beta[self.free].sum()
        return gradient if self.tie is not None else np.append(gradient, in_t)

    def hessian(self) -> Vector:
        """Give the Hessian at the last expanded point, as a dense matrix."""
        q, local = self.n_coef, self.local
        out = np.zeros((self.n_variables, self.n_variables))
        out[:q, :q] = self.design.gram(local.curvature)
        out.flat[: q * self.n_variables : self.n_variables + 1] += 2.0 * self.alpha
        if self.free is not None:
            out[self.free, self.free] += self.level
        if self.tie is None:
            out[:q, q] = out[q, :q] = self.design.back(local.cross)
            out[q, q] = local.tie_curvature
        return out

    def hessian_product(self, v: Vector) -> Vector:
        """Give the Hessian at the last expanded point times v."""
        beta, t = (v[:-1], float(v[-1])) if self.tie is None else (v, 0.0)
        local = self.local
        change = self.design.apply(beta)
        out = self.design.back(local.curvature * change + t * local.cross)
        out += 2.0 * self.alpha * beta
        if self.free is not None:
            out[self.free] += self.level * beta[self.free].sum()
        if self.tie is None:
            out = np.append(out, local.cross @ change + local.tie_curvature * t)
        return out

    def hessian_diagonal(self) -> Vector:
        """Give the diagonal of the Hessian at the last expanded point."""
        out = self.design.diagonal(self.local.curvature) + 2.0 * self.alpha
        if self.free is not None:
            out[self.free] += self.level
        return out if self.tie is not None else np.append(out, self.local.tie_curvature)

    def _penalty(self, beta: Vector) -> float:
        penalty = float(self.alpha @ beta**2)
        if self.free is not None:
            penalty += 0.5 * self.level * float(beta[self.free].sum()) ** 2
        return penalty
