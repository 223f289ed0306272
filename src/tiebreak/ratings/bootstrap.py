# SPDX-License-Identifier: BSD-3-Clause
r"""The bootstrap, on counts.

Every comparison gets a random weight, independent and exponential with mean 1, and the
objective is minimized again: Rubin's (1981) Bayesian bootstrap, which agrees with the
resampling of rows where there are many, and under which the weights of the n alike
comparisons of a cell sum to one draw of a Gamma(n) variable. So a resample costs as
much as there are cells, not rows; weights may be fractional; and no comparison is ever
lost, so that strengths that exist in the data exist in every resample. With raters the
weights are drawn per rater instead of per comparison.

Resamples are close to the data, so most are solved by repeating x ← x - H⁻¹∇f*(x) with
the inverse Hessian H⁻¹ of the data, kept; the others by Newton's method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.threads import in_threads
from tiebreak.losses import ComparisonObjective
from tiebreak.solvers import minimize_newton
from tiebreak.solvers.newton import DENSE_LIMIT

__all__ = ["bootstrap_coefficients"]

Vector = NDArray[np.float64]

_CHUNK = 25  # resamples per random generator, whatever the number of threads
# What may be left to the solution, in standard errors; resamples scatter by about one.
_ACCURACY = 1e-3
_MAX_CHORD_STEPS = 30


@dataclass(frozen=True)
class _Resampler:
    """Draws counts of resamples."""

    counts: Vector
    by_rater: sp.csr_array | None

    def draw(self, rng: np.random.Generator) -> Vector:
        """Draw counts of the same shape."""
        if self.by_rater is None:
            return rng.standard_gamma(self.counts)
        weight = rng.standard_exponential(self.by_rater.shape[0])
        return (self.by_rater.T @ weight).reshape(self.counts.shape)


def bootstrap_coefficients(
    objective_of: Callable[[Vector], ComparisonObjective],
    x: Vector,
    counts: Vector,
    n_resamples: int,
    seed: np.random.SeedSequence,
    by_rater: sp.csr_array | None = None,
) -> Vector:
    """Solve the same problem for randomly weighted comparisons.

    Parameters
    ----------
    objective_of : callable
        Gives the objective for given counts.
    x : ndarray of shape (n_variables,)
        The minimum for the data themselves.
    counts : ndarray of shape (m, 3)
        Counts of the data.
    n_resamples : int
        How many resamples to draw.
    seed : SeedSequence
        Where the random weights come from; the result does not depend on the number
        of threads.
    by_rater : csr_array of shape (n_raters, 3 m), optional
        Counts of every rater, to draw weights per rater.

    Returns
    -------
    ndarray of shape (n_resamples, n_variables)
    """
    resampler = _Resampler(counts, by_rater)
    inverse = _inverse_hessian(objective_of(counts), x)
    out = np.empty((n_resamples, len(x)))
    starts = range(0, n_resamples, _CHUNK)

    def solve(task: tuple[int, np.random.SeedSequence]) -> None:
        start, child = task
        rng = np.random.default_rng(child)
        for row in range(start, min(start + _CHUNK, n_resamples)):
            objective = objective_of(resampler.draw(rng))
            out[row] = _solve_near(objective, x, inverse)

    in_threads(solve, zip(starts, seed.spawn(len(starts)), strict=True))
    return out


def _inverse_hessian(objective: ComparisonObjective, x: Vector) -> Vector | None:
    if len(x) > DENSE_LIMIT:
        return None
    objective.expand(x)
    factor = la.cho_factor(objective.hessian(), lower=True, check_finite=False)
    return la.cho_solve(factor, np.eye(len(x)), check_finite=False)


def _solve_near(
    objective: ComparisonObjective, x: Vector, inverse: Vector | None
) -> Vector:
    """Minimize from a point that is close, with a Hessian that nearly fits."""
    if inverse is not None:
        current, before = x, np.inf
        for _ in range(_MAX_CHORD_STEPS):
            gradient = objective.gradient(current)
            step = inverse @ gradient
            length = math.sqrt(gradient @ step)
            if not length < before:  # it does not converge, or is no number
                break
            current = current - step
            # Steps shrink by a steady factor, so those to come sum to a geometric row.
            if before < np.inf and length * length <= _ACCURACY * (before - length):
                return current
            before = length
    return minimize_newton(objective, x, tol=1e-6).x
