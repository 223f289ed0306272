# SPDX-License-Identifier: BSD-3-Clause
r"""Newton's method for smooth convex functions.

Minimizes f over x, given value, gradient and Hessian (or products with it). The
solution proves itself by the Newton decrement

.. math:: λ^2 = ∇f^\top (∇^2 f)^{-1} ∇f,

since λ²/2 is the distance to the minimum of the quadratic model at x, and so, near the
solution, of f itself. A step is halved until f falls by a share of what the gradient
promises; f may be infinite outside its domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from tiebreak.data.threads import one_blas_thread
from tiebreak.solvers.conjugate_gradients import conjugate_gradients

Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]
Watch = Callable[[Vector, float, float, int], None]

_ARMIJO = 1e-4
_MAX_HALVINGS = 60
_ROUNDING = 1e-12
# Above this many variables products with the Hessian are cheaper than its factor.
DENSE_LIMIT = 1500


@runtime_checkable
class SmoothObjective(Protocol):
    """What the solver needs of a function."""

    n_variables: int

    def value(self, x: Vector) -> float:
        """Give f(x); infinite outside the domain."""
        ...

    def expand(self, x: Vector) -> tuple[float, Vector]:
        """Give f and its gradient at x; the Hessian methods then speak of x."""
        ...

    def hessian(self) -> Vector:
        """Give the Hessian at the last expanded point."""
        ...

    def hessian_product(self, v: Vector) -> Vector:
        """Give the Hessian at the last expanded point times v."""
        ...

    def hessian_diagonal(self) -> Vector:
        """Give the diagonal of the Hessian at the last expanded point."""
        ...


@dataclass(frozen=True, eq=False)
class NewtonSolution:
    """Where the solver stopped.

    Attributes
    ----------
    x : ndarray
        The point.
    value : float
        f(x).
    gap : float
        λ²/2 at x, relative to ``max(|f(x)|, tiny)``: how far f may still fall.
    n_iter : int
        Number of Newton steps taken.
    converged : bool
        Whether the gap is at most tol², or as small as rounding allows.
    """

    x: Vector
    value: float
    gap: float
    n_iter: int
    converged: bool


def minimize_newton(
    objective: SmoothObjective,
    start: Vector,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    min_iter: int = 0,
    dense: bool | None = None,
    precondition: Callable[[], Operator] | None = None,
    watch: Watch | None = None,
) -> NewtonSolution:
    """Minimize a smooth convex function.

    Parameters
    ----------
    objective : SmoothObjective
        The function.
    start : ndarray of shape (n_variables,)
        Where to start; f must be finite there.
    tol : float, default=1e-8
        Stop when ``λ²/2 ≤ tol² |f|``. Convergence is quadratic, so a small value costs
        one step more. A gap below 1e-12 that no longer shrinks is accepted too: it is
        rounding.
    max_iter : int, default=100
        Largest number of steps.
    min_iter : int, default=0
        Smallest number of steps. One step finds the direction also where f hardly
        changes, as under a penalty so large that all of x is tiny.
    dense : bool, optional
        Whether to factor the Hessian rather than to use conjugate gradients; by
        default up to 1500 variables.
    precondition : callable, optional
        Gives, at the last expanded point, r to M⁻¹ r for an M near the Hessian, for
        conjugate gradients. Default: the diagonal.
    watch : callable, optional
        Is told x, f(x), the gap and the number of steps after each.

    Returns
    -------
    NewtonSolution
    """
    if dense is None:
        dense = objective.n_variables <= DENSE_LIMIT
    x = np.array(start, dtype=np.float64)
    value, gradient = objective.expand(x)
    n_iter, gap_before = 0, math.inf
    while True:
        if dense:
            with one_blas_thread():  # see data.threads: more only wait
                step = _solve_dense(objective.hessian(), -gradient)
        else:
            near = _by_diagonal(objective) if precondition is None else precondition()
            step = _solve_by_products(objective, -gradient, near, tol)
        slope = float(gradient @ step)
        gap = max(0.0, -0.5 * slope) / max(abs(value), np.finfo(float).tiny)
        # Near the solution a step squares the gap; one that does not even quarter it
        # has met the rounding of the gradient.
        rounded = gap <= _ROUNDING and gap >= 0.25 * gap_before
        solved = gap <= tol**2 or rounded
        if watch is not None:
            watch(x, value, gap, n_iter)
        if not math.isfinite(gap) or n_iter == max_iter:
            break
        if solved and n_iter >= min_iter:
            break
        gap_before = gap
        # Close to the solution the fall drowns in the rounding of f, and a full
        # Newton step is then right.
        allowed = value + 1e-13 * abs(value)
        trial, trial_gradient = objective.expand(x + step)
        if trial <= allowed + _ARMIJO * slope:
            x, value, gradient = x + step, trial, trial_gradient
        else:
            length = _search(objective, x, step, allowed, slope)
            if length == 0.0:
                break
            x = x + length * step
            value, gradient = objective.expand(x)
        n_iter += 1
    return NewtonSolution(x, value, gap, n_iter, bool(solved))


def _search(
    objective: SmoothObjective, x: Vector, step: Vector, allowed: float, slope: float
) -> float:
    """Halve a step that was too long until f falls enough; 0 if it never does."""
    for halvings in range(1, _MAX_HALVINGS):
        length = 0.5**halvings
        if objective.value(x + length * step) <= allowed + _ARMIJO * length * slope:
            return length
    return 0.0


def _solve_dense(hessian: Vector, right_side: Vector) -> Vector:
    """Solve with a Cholesky factor; a shift helps a matrix that is not positive."""
    scale = np.sqrt(np.maximum(np.diag(hessian), np.finfo(float).tiny))
    scaled = hessian / np.outer(scale, scale)
    shift = 0.0
    while True:
        try:
            factor = la.cho_factor(
                scaled + shift * np.eye(len(scaled)) if shift else scaled,
                lower=True,
                check_finite=False,
            )
        except la.LinAlgError:
            shift = max(10.0 * shift, 1e-12)
            if shift > 1.0:
                return right_side / scale**2
            continue
        return la.cho_solve(factor, right_side / scale, check_finite=False) / scale


def _by_diagonal(objective: SmoothObjective) -> Operator:
    inverse = 1.0 / np.maximum(objective.hessian_diagonal(), np.finfo(float).tiny)
    return lambda residual: inverse * residual


def _solve_by_products(
    objective: SmoothObjective, right_side: Vector, near: Operator, tol: float
) -> Vector:
    """Solve by preconditioned conjugate gradients."""
    # Accurate enough that the decrement is known to a few digits and convergence
    # stays fast; the last Newton step then corrects what is left.
    goal = max(1e-6, tol) ** 2 * float(right_side @ near(right_side))
    step, _ = conjugate_gradients(
        objective.hessian_product,
        right_side,
        near,
        lambda residual, z: float(residual @ z) <= goal,
        10 * len(right_side),
    )
    return step
