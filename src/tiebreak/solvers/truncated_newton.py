# SPDX-License-Identifier: BSD-3-Clause
r"""Truncated Newton for large smooth functions that are strongly convex.

Minimizes f over x, where f - ½μ‖x‖² is convex for a known μ > 0. Newton's equation is
solved by preconditioned conjugate gradients, only as far as the step deserves it. The
solution proves itself: by strong convexity

.. math:: f(x) - \min f ≤ \frac{‖∇f(x)‖^2}{2 μ},

which is also the duality gap of a support vector machine with a squared hinge at the
dual point that belongs to x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tiebreak.solvers.conjugate_gradients import conjugate_gradients

Vector = NDArray[np.float64]
Watch = Callable[[Vector, float, float, int], None]

_ARMIJO = 1e-4
_MAX_HALVINGS = 40
# The residual of Newton's equation, relative to the gradient, is at most this.
_LOOSEST = 0.1
# A step aims this far below the gradient that would end the search.
_AIM = 0.3


@runtime_checkable
class StronglyConvex(Protocol):
    """What the solver needs of a function."""

    n_variables: int
    convexity: float
    max_products: int

    def expand(self, x: Vector) -> tuple[float, Vector]:
        """Give f and its gradient at x; the Hessian methods then speak of x."""
        ...

    def hessian_product(self, v: Vector) -> Vector:
        """Give the Hessian at the last expanded point times v."""
        ...

    def preconditioner(self, n_products: int) -> Callable[[Vector], Vector]:
        """Give r to M⁻¹ r for an M near the Hessian at the last expanded point.

        It is told how many products the step before needed, of `max_products`.
        """
        ...


@dataclass(frozen=True, eq=False)
class TruncatedSolution:
    """Where the solver stopped.

    Attributes
    ----------
    x : ndarray
        The point.
    value : float
        f(x).
    gap : float
        Bound on f(x) - min f, relative to ``max(|f(x)|, tiny)``.
    n_iter : int
        Number of Newton steps taken.
    n_products : int
        Number of products with the Hessian.
    converged : bool
        Whether the gap is at most tol.
    """

    x: Vector
    value: float
    gap: float
    n_iter: int
    n_products: int
    converged: bool


def minimize_truncated(
    objective: StronglyConvex,
    start: Vector,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> TruncatedSolution:
    """Minimize a smooth, strongly convex function.

    Parameters
    ----------
    objective : StronglyConvex
        The function.
    start : ndarray of shape (n_variables,)
        Where to start.
    tol : float, default=1e-3
        Bound on the relative gap.
    max_iter : int, default=100
        Largest number of Newton steps.
    watch : callable, optional
        Is told x, f(x), the gap and the number of steps after each.

    Returns
    -------
    TruncatedSolution
        The point that the objective expanded last.
    """
    x = np.array(start, dtype=np.float64)
    value, gradient = objective.expand(x)
    first = length = float(np.linalg.norm(gradient))
    n_iter = n_products = used = 0
    while True:
        size = max(abs(value), np.finfo(float).tiny)
        gap = length**2 / (2.0 * objective.convexity * size)
        if watch is not None:
            watch(x, value, gap, n_iter)
        if gap <= tol or n_iter == max_iter:
            break
        enough = _AIM * math.sqrt(2.0 * objective.convexity * size * tol)
        goal = max(enough, min(_LOOSEST, math.sqrt(length / first)) * length)
        step, used = _newton_step(objective, gradient, goal, used)
        n_products += used
        slope = float(gradient @ step)
        # Near the solution the fall drowns in the rounding of f.
        allowed = value + 1e-13 * size
        share = 1.0
        for _ in range(_MAX_HALVINGS):
            trial = x + share * step
            trial_value, trial_gradient = objective.expand(trial)
            if trial_value <= allowed + _ARMIJO * share * slope:
                break
            share *= 0.5
        else:
            objective.expand(x)
            break
        trial_length = float(np.linalg.norm(trial_gradient))
        stuck = trial_value >= value and trial_length >= length
        if stuck:  # rounding allows no more
            objective.expand(x)
            break
        x, value, gradient, length = trial, trial_value, trial_gradient, trial_length
        n_iter += 1
    return TruncatedSolution(x, value, gap, n_iter, n_products, gap <= tol)


def _newton_step(
    objective: StronglyConvex, gradient: Vector, goal: float, n_products: int
) -> tuple[Vector, int]:
    """Solve H step = -gradient until the residual is no longer than `goal`."""

    def is_solved(residual: Vector, z: Vector) -> bool:
        return float(np.linalg.norm(residual)) <= goal

    return conjugate_gradients(
        objective.hessian_product,
        -gradient,
        objective.preconditioner(n_products),
        is_solved,
        objective.max_products,
    )
