# SPDX-License-Identifier: BSD-3-Clause
"""What the answers say about the utilities θ: a normal distribution N(m, V).

An answer about d = θ_right - θ_left has Davidson's probabilities, P(left), P(tie),
P(right) ∝ exp(-d/2), exp(t), exp(d/2), and θ ~ N(0, τ² K) before any answer: K is the
identity, or half of it comes from features of the items. `Beliefs.learn` adds one
answer in O(N²): with c = e_right - e_left, and the mean μ' and variance s'² of d given
the answer by quadrature,

    m += V c (μ' - μ) / s²,    V -= V c cᵀ V (s² - s'²) / s⁴.

`Beliefs.refit` uses all answers: m and t maximize the posterior, V is the inverse of
its Hessian, and τ² takes an EM step. The prior of t is one imagined answer of each kind
between two equal items, that of τ² two imagined items with τ = 1.

Above `MOST_DENSE` items only the diagonal of V is kept, the inverse of that of the
Hessian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.losses import (
    ComparisonObjective,
    Davidson,
    Design,
    FeatureDesign,
    ItemDesign,
)
from tiebreak.losses.comparison_covariance import inverse_hessian
from tiebreak.solvers import minimize_newton

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_DENSE = 2000
_LINK = Davidson()
_IMAGINED = np.ones((1, 3))  # one answer of each kind, for t
_IMAGINED_ITEMS = 2.0  # of variance 1, for τ²
_TOL = 1e-6


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights of the standard normal distribution."""
    x, w = np.polynomial.hermite_e.hermegauss(40)
    return x, w / w.sum()


def expected_information(mean: Floats, deviation: Floats, t: float) -> Floats:
    """Mutual information, in nats, of an answer and d."""
    x, w = _nodes()
    d = mean[..., None] + deviation[..., None] * x
    log_p = _LINK.log_probabilities(d.ravel(), t).reshape(*d.shape, 3)
    p = np.exp(log_p)
    inner = ((p * log_p).sum(axis=-1) * w).sum(axis=-1)
    overall = (p * w[:, None]).sum(axis=-2)
    return np.maximum(inner - (overall * np.log(overall)).sum(axis=-1), 0.0)


@dataclass(eq=False)
class Beliefs:
    """The distribution of the utilities; `learn` changes it, `refit` makes a new one.

    ``cov`` has shape (N, N), or (N,). ``root`` is Cholesky's factor of K, or None for
    the identity; ``width`` is τ².
    """

    mean: Floats
    cov: Floats
    tie: float = 0.0
    width: float = 1.0
    root: Floats | None = None

    @classmethod
    def prior(cls, n_items: int, features: Floats | None = None) -> Beliefs:
        """Before any answer; `features` have shape (N, p)."""
        if n_items > MOST_DENSE:
            return cls(np.zeros(n_items), np.ones(n_items))
        if features is None:
            return cls(np.zeros(n_items), np.eye(n_items))
        spread = features.std(axis=0)
        known = spread > 0
        z = (features[:, known] - features[:, known].mean(axis=0)) / spread[known]
        cov = 0.5 * np.eye(n_items) + 0.5 * z @ z.T / max(1, z.shape[1])
        return cls(np.zeros(n_items), cov, root=sl.cholesky(cov, lower=True))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.mean)

    @property
    def is_dense(self) -> bool:
        """Whether covariances are kept."""
        return self.cov.ndim == 2

    @property
    def variance(self) -> Floats:
        """Variances of the utilities."""
        return np.diagonal(self.cov) if self.is_dense else self.cov

    def learn(self, left: int, right: int, y: int) -> tuple[Floats, float]:
        """Add an answer; return a and k, if V became less by k a aᵀ."""
        column = np.empty(0)
        if self.is_dense:
            column = self.cov[:, right] - self.cov[:, left]
            s2 = column[right] - column[left]
        else:
            s2 = self.cov[left] + self.cov[right]
        mu = self.mean[right] - self.mean[left]
        x, w = _nodes()
        d = mu + math.sqrt(s2) * x
        w = w * np.exp(_LINK.log_probabilities(d, self.tie)[:, y + 1])
        w /= w.sum()
        new = float(d @ w)
        step, less = (new - mu) / s2, (s2 - float((d - new) ** 2 @ w)) / s2**2
        if self.is_dense:
            self.mean += column * step
            self.cov = sl.blas.dger(
                -less, column, column, a=self.cov.T, overwrite_a=1
            ).T
        else:
            self.mean[[left, right]] += (
                np.array([-1.0, 1.0]) * self.cov[[left, right]] * step
            )
            self.cov[[left, right]] -= self.cov[[left, right]] ** 2 * less
        return column, less

    def refit(self, answers: Ints) -> Beliefs:
        """Beliefs from all answers, by Newton steps from here.

        Answers (n, 3) are rows of left, right and y.
        """
        n, (left, right, y) = self.n_items, answers.T
        cells = count_comparisons(left, right, y, np.ones(len(y)), n)
        # The imagined answers are about an item and itself, so they say something of t.
        ends = np.append(cells.left, 0), np.append(cells.right, 0)
        counts = np.vstack([cells.counts, _IMAGINED])
        design: Design = ItemDesign(*ends, n)
        z = self.mean
        if self.root is not None:
            design = FeatureDesign(self.root, *ends)
            z = sl.solve_triangular(self.root, z, lower=True)
        penalty = np.full(n, 0.5 / self.width)
        objective = ComparisonObjective(design, _LINK, counts, penalty)
        x = minimize_newton(
            objective, np.append(z, self.tie), tol=_TOL, dense=self.is_dense
        ).x
        z, tie = objective.split(x)
        if self.is_dense:
            cov = inverse_hessian(objective, x)[:-1, :-1]
            total = z @ z + np.trace(cov)
        else:
            objective.expand(x)
            cov = 1.0 / objective.hessian_diagonal()[:-1]
            total = z @ z + cov.sum()
        mean = z
        if self.root is not None:
            mean, cov = self.root @ z, self.root @ cov @ self.root.T
        width = float((total + _IMAGINED_ITEMS) / (n + _IMAGINED_ITEMS))
        return replace(
            self, mean=mean, cov=np.ascontiguousarray(cov), tie=tie, width=width
        )
