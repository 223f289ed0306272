# SPDX-License-Identifier: BSD-3-Clause
r"""What the answers say about the utilities θ: a normal distribution N(m, V).

An answer about d = θ_right - θ_left has Davidson's probabilities, P(left), P(tie),
P(right) ∝ exp(-d/2), exp(t), exp(d/2), and θ ~ N(0, τ² K) before any answer: K is the
identity, or half of it comes from features of the items. `Beliefs.learn` adds one
answer in O(N²): the mean and the variance of d given the answer, by quadrature, and
with c = e_right - e_left

    m += V c (μ' - μ) / s²,    V -= V c cᵀ V (s² - s'²) / s⁴.

`Beliefs.refit` uses all answers at once: m is the maximum of the posterior by Newton's
method together with t, V the inverse of its Hessian, and τ² is updated by an EM step.
The prior of t is one imagined answer of each kind between two equal items, that of τ²
two imagined items with τ = 1.

Above `MOST_DENSE` items only the diagonal of V is kept, as if the errors of the items
were independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as ssl
from numpy.typing import NDArray

from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.losses import Davidson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_DENSE = 2000
_LINK = Davidson()
_IMAGINED = np.ones((1, 3))  # one answer of each kind, for t
_IMAGINED_ITEMS = 2.0  # of variance 1, for τ²


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights of the standard normal distribution."""
    x, w = np.polynomial.hermite_e.hermegauss(40)
    return x, w / w.sum()


def expected_information(mean: Floats, deviation: Floats, t: float) -> Floats:
    """Mutual information, in nats, of an answer and d ~ N(mean, deviation²)."""
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

    ``cov`` has shape (N, N), or (N,) above `MOST_DENSE` items. ``precision`` is K⁻¹, or
    None for the identity; ``width`` is τ².
    """

    mean: Floats
    cov: Floats
    tie: float = 0.0
    width: float = 1.0
    precision: Floats | None = None

    @classmethod
    def prior(cls, n_items: int, features: Floats | None = None) -> Beliefs:
        """Beliefs before any answer; `features` have shape (N, p)."""
        if n_items > MOST_DENSE:
            return cls(np.zeros(n_items), np.ones(n_items))
        if features is None:
            return cls(np.zeros(n_items), np.eye(n_items))
        spread = features.std(axis=0)
        known = spread > 0
        z = (features[:, known] - features[:, known].mean(axis=0)) / spread[known]
        cov = 0.5 * np.eye(n_items) + 0.5 * z @ z.T / max(1, z.shape[1])
        return cls(np.zeros(n_items), cov, precision=np.linalg.inv(cov))

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

    @property
    def threshold(self) -> float:
        """Differences up to this are ties."""
        return _LINK.threshold(self.tie)

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
        """Beliefs from all answers, the Newton steps starting here.

        Answers (n, 3) are rows of left, right and y: -1 (left is better), 0 or 1.
        """
        left, right, y = answers.T
        cells = count_comparisons(left, right, y, np.ones(len(y)), self.n_items)
        fit = self._fitted(
            cells.left, cells.right, np.vstack([cells.counts, _IMAGINED])
        )
        if self.precision is None:
            total = fit.mean @ fit.mean + fit.variance.sum()
        else:
            total = fit.mean @ self.precision @ fit.mean
            total += np.vdot(self.precision, fit.cov)
        fit.width = float((total + _IMAGINED_ITEMS) / (self.n_items + _IMAGINED_ITEMS))
        return fit

    def _fitted(self, left: Ints, right: Ints, counts: Floats) -> Beliefs:
        """Maximize the posterior at a given width; V is the inverse Hessian."""
        theta, t = self.mean, self.tie
        value = self._value(theta, t, left, right, counts)
        for _ in range(50):
            d = np.append(theta[right] - theta[left], 0.0)
            at = _LINK.expand(d, t, counts)
            grad = self._penalized(theta) + self._per_item(left, right, at.gradient)
            cross = self._per_item(left, right, at.cross)
            solve = self._solver(left, right, at.curvature[:-1])
            a, b = solve(grad), solve(cross)
            # t by the Schur complement; its curvature there is that of a convex sum.
            curvature = max(float(at.tie_curvature - cross @ b), 1e-12)
            step_t = float(at.tie_gradient - cross @ a) / curvature
            step = a - b * step_t
            slope = grad @ step + at.tie_gradient * step_t
            size = 1.0
            while size > 1e-6:
                tried = theta - size * step, t - size * step_t
                new = self._value(*tried, left, right, counts)
                if new <= value - 1e-4 * size * slope + 1e-12 * abs(value):
                    break
                size /= 2
            theta, t, value = *tried, new
            if slope < 1e-6:  # the step was a thousandth of a standard error
                break
        # t is uncertain as well, which adds b bᵀ / curvature.
        if self.is_dense:
            cov = sl.lapack.dpotri(solve.factor, lower=1)[0]
            cov = np.tril(cov) + np.tril(cov, -1).T
            cov = sl.blas.dger(1.0 / curvature, b, b, a=cov.T, overwrite_a=1).T
        else:
            cov = 1.0 / solve.diagonal + b**2 / curvature
        return replace(self, mean=theta, cov=np.ascontiguousarray(cov), tie=float(t))

    def _per_item(self, left: Ints, right: Ints, slope: Floats) -> Floats:
        """Sum slopes in d over the comparisons of each item."""
        n, slope = self.n_items, slope[:-1]  # the last is the imagined one
        gained = np.bincount(right, slope, n) - np.bincount(left, slope, n)
        return gained.astype(np.float64)

    def _penalized(self, theta: Floats) -> Floats:
        """Gradient of the prior."""
        inner = theta if self.precision is None else self.precision @ theta
        return inner / self.width

    def _value(
        self, theta: Floats, t: float, left: Ints, right: Ints, counts: Floats
    ) -> float:
        d = np.append(theta[right] - theta[left], 0.0)
        return _LINK.value(d, t, counts) + 0.5 * float(theta @ self._penalized(theta))

    def _solver(self, left: Ints, right: Ints, h: Floats) -> _Solver:
        n = self.n_items
        degree = np.bincount(left, h, n) + np.bincount(right, h, n)
        if not self.is_dense:
            rows, columns = np.r_[left, right], np.r_[right, left]
            between = sp.csr_array((-np.r_[h, h], (rows, columns)), shape=(n, n))
            return _Solver(between + sp.diags_array(degree + 1.0 / self.width))
        prior = np.eye(n) if self.precision is None else self.precision
        hessian = prior / self.width
        hessian[left, right] -= h  # every pair is there once
        hessian[right, left] -= h
        hessian[np.diag_indices(n)] += degree
        return _Solver(hessian)


class _Solver:
    """Solve H x = b: by Cholesky's factor, or by conjugate gradients."""

    def __init__(self, hessian: Floats | sp.csr_array) -> None:
        self.sparse = sp.issparse(hessian)
        if self.sparse:
            self.hessian, self.diagonal = hessian, hessian.diagonal()
        else:
            self.factor = sl.cholesky(hessian, lower=True, overwrite_a=True)

    def __call__(self, b: Floats) -> Floats:
        if not self.sparse:
            return sl.cho_solve((self.factor, True), b)
        precondition = sp.diags_array(1.0 / self.diagonal)
        return ssl.cg(self.hessian, b, rtol=1e-8, maxiter=500, M=precondition)[0]
