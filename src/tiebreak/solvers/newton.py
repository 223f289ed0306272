# SPDX-License-Identifier: BSD-3-Clause
r"""Newton's method for smooth convex functions, by factors or by conjugate gradients.

A step is halved until f falls by a share of what the gradient promises; f may be
infinite outside its domain. By factors it also finds minima of functions that are
convex only near them. There are two certificates:

* the Newton decrement :math:`λ^2 = ∇f^\top (∇^2 f)^{-1} ∇f` of :func:`minimize_newton`:
  near the solution f is λ²/2 above its minimum;
* strong convexity in :func:`minimize_truncated`: if f - ½μ‖x‖² is convex for a known
  μ > 0, then :math:`f(x) - \min f ≤ ‖∇f(x)‖^2 / (2 μ)`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import one_blas_thread
from tiebreak.solvers.certificate import relative_gap

Operator = Callable[[Floats], Floats]

_ARMIJO = 1e-4
_MAX_HALVINGS = 60
_MAX_CHORD_STEPS = 30
_ROUNDING = 1e-12
# Above this many variables products with the Hessian are cheaper than its factor.
DENSE_LIMIT = 1500
# In `minimize_newton` the residual of Newton's equation, relative to the gradient, is
# at most this in the first steps, and at most this where the decrement ends the search.
_LOOSEST_STEP, _SURE = 0.3, 1e-2
# The diagonal is that of an earlier step as long as the last one took so few products.
_STALE = 5
# In a truncated step the residual of Newton's equation, relative to the gradient, is
# at most this,
_LOOSEST = 0.1
# and the step aims this far below the gradient that would end the search.
_AIM = 0.3


@runtime_checkable
class SmoothObjective(Protocol):
    """What :func:`minimize_newton` needs of a function."""

    n_variables: int

    def value(self, x: Floats) -> float:
        """Give f(x); infinite outside the domain."""

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient at x, the point of the Hessian methods."""

    def hessian(self) -> Floats:
        """Give the Hessian at the last expanded point."""

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point."""


@runtime_checkable
class StronglyConvex(Protocol):
    """What :func:`minimize_truncated` needs of a function."""

    n_variables: int
    convexity: float
    max_products: int

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient at x, the point of the Hessian methods."""

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""

    def preconditioner(self, n_products: int) -> Operator:
        """Give r to M⁻¹ r for an M near the Hessian at the last expanded point.

        `n_products` is what the step before needed.
        """


@dataclass(frozen=True, eq=False)
class NewtonSolution:
    """Where the solver stopped."""

    x: Floats
    value: float  # f(x)
    gap: float  # how far it may still fall, relative to max(|f(x)|, tiny)
    n_iter: int  # Newton steps
    converged: bool  # whether the gap is small enough, or rounding allows no less
    n_products: int = 0  # products with the Hessian


@one_blas_thread()  # see data.threads: more only wait
def minimize_newton(
    objective: SmoothObjective,
    start: Floats,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    min_iter: int = 0,
    dense: bool | None = None,
    precondition: Callable[[], Operator] | None = None,
) -> NewtonSolution:
    """Minimize a smooth convex function.

    Parameters
    ----------
    objective : SmoothObjective
        The function.
    start : ndarray of shape (n_variables,)
        Where to start; f must be finite there.
    tol : float, default=1e-8
        Stop when ``λ²/2 ≤ tol² |f|``, or at a gap below 1e-12 that no longer shrinks.
    max_iter, min_iter : int, default=100 and 0
        Largest and smallest number of steps; one step finds the direction even where f
        hardly changes.
    dense : bool, optional
        Whether to factor the Hessian instead; by default up to 1500 variables.
    precondition : callable, optional
        r to M⁻¹ r, as `StronglyConvex.preconditioner`. Default: the diagonal.

    Returns
    -------
    NewtonSolution
    """
    if dense is None:
        dense = objective.n_variables <= DENSE_LIMIT
    x = np.array(start, dtype=np.float64)
    value, gradient = objective.expand(x)
    n_iter = n_products = used = 0
    gap_before, first = math.inf, 0.0
    solve: Operator | None = None
    near: Operator | None = None
    while True:
        limit = tol**2 * abs(value)
        if dense:
            # A step that shrinks the gap a hundredfold has changed the Hessian by
            # a tenth at most, so its factor tells whether the search is over.
            if solve is not None and n_iter >= min_iter:
                gap = _gap(gradient, -solve(gradient), value)
                if gap <= min(0.01 * gap_before, 0.5 * tol**2):
                    solved = True
                    break
            solve = _factor_dense(objective.hessian())
            step = -solve(gradient)
        else:
            if precondition is not None:
                near = precondition()
            elif near is None or used > _STALE:
                near = _by_diagonal(objective)
            size = float(gradient @ near(gradient))
            first = first or size
            step, used = _truncated_step(objective, gradient, near, size, first, limit)
        n_products += used
        slope = float(gradient @ step)
        gap = _gap(gradient, step, value)
        # Near the solution a step squares the gap; one that does not even quarter it
        # has met the rounding of the gradient.
        rounded = gap <= _ROUNDING and gap >= 0.25 * gap_before
        solved = gap <= tol**2 or rounded
        if not math.isfinite(gap) or n_iter == max_iter:
            break
        last = solved and n_iter >= min_iter
        if last and dense:
            break
        gap_before = gap
        found = _search(objective, x, value, step, slope, objective.value)
        if found is None:
            break
        x, value, gradient = found
        n_iter += 1
        if last:  # products are dear, and the step was there
            break
    return NewtonSolution(x, value, gap, n_iter, bool(solved), n_products)


def _truncated_step(
    objective: SmoothObjective,
    gradient: Floats,
    near: Operator,
    size: float,
    first: float,
    limit: float,
) -> tuple[Floats, int]:
    """Solve Newton's equation as accurately as the step deserves, from λ²/2 ≤ limit on.

    ``size`` and ``first`` are squared gradients in the metric of ``near``, of this and
    the first step. Also gives the number of products.
    """
    # Far from the solution accuracy is wasted; near it the error of x shrinks to the
    # power of 7/5. A decrement that ends the search is worth knowing to a few digits.
    share = min(_LOOSEST_STEP, (max(size, 0.0) / first) ** 0.2) if first else 0.0
    step, residual, n_products = np.zeros_like(gradient), -gradient, 0
    while True:
        goal = share**2 * size
        more, used = conjugate_gradients(
            objective.hessian_product,
            residual,
            near,
            lambda residual, z, goal=goal: float(residual @ z) <= goal,  # type: ignore[misc]
            10 * len(gradient),
        )
        step, n_products = step + more, n_products + used
        if share <= _SURE or -0.5 * float(gradient @ step) > limit:
            return step, n_products
        share, residual = _SURE, -gradient - objective.hessian_product(step)
        n_products += 1


def minimize_truncated(
    objective: StronglyConvex, start: Floats, *, tol: float = 1e-3, max_iter: int = 100
) -> NewtonSolution:
    """Minimize a smooth, strongly convex function of many variables.

    Parameters
    ----------
    objective : StronglyConvex
        The function.
    start : ndarray of shape (n_variables,)
        Where to start.
    tol, max_iter : float, default=1e-3, and int, default=100
        Bound on the relative gap, and largest number of Newton steps.

    Returns
    -------
    NewtonSolution
        The point that the objective expanded last.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.solvers import minimize_truncated
    >>> class Quadratic:  # ½‖x‖² + ½ (x₁ - 2)²
    ...     n_variables, convexity, max_products = 2, 1.0, 10
    ...     curvature = np.array([2.0, 1.0])
    ...     def expand(self, x):
    ...         value = 0.5 * x @ x + 0.5 * (x[0] - 2) ** 2
    ...         return value, x + np.array([x[0] - 2, 0.0])
    ...     def hessian_product(self, v):
    ...         return self.curvature * v
    ...     def preconditioner(self, n_products):
    ...         return lambda r: r / self.curvature
    >>> found = minimize_truncated(Quadratic(), np.ones(2))
    >>> found.x, found.converged
    (array([1., 0.]), True)
    """
    x = np.array(start, dtype=np.float64)
    value, gradient = objective.expand(x)
    first = length = float(np.linalg.norm(gradient))
    n_iter = n_products = used = 0
    while True:
        size = max(abs(value), np.finfo(float).tiny)
        gap = relative_gap(length**2 / (2.0 * objective.convexity), size)
        if gap <= tol or n_iter == max_iter or not math.isfinite(gap):
            break
        enough = _AIM * math.sqrt(2.0 * objective.convexity * size * tol)
        goal = max(enough, min(_LOOSEST, math.sqrt(length / first)) * length)
        step, used = conjugate_gradients(
            objective.hessian_product,
            -gradient,
            objective.preconditioner(used),
            lambda residual, z, goal=goal: float(np.linalg.norm(residual)) <= goal,  # type: ignore[misc]
            objective.max_products,
        )
        n_products += used
        found = _search(objective, x, value, step, float(gradient @ step))
        trial_length = math.inf if found is None else float(np.linalg.norm(found[2]))
        if found is None or (found[1] >= value and trial_length >= length):
            objective.expand(x)  # rounding allows no more
            break
        x, value, gradient = found
        length = trial_length
        n_iter += 1
    return NewtonSolution(x, value, gap, n_iter, bool(gap <= tol), n_products)


def conjugate_gradients(
    product: Operator,
    right_side: Floats,
    precondition: Operator,
    is_solved: Callable[[Floats, Floats], bool],
    max_iter: int,
) -> tuple[Floats, int]:
    """Solve H x = b from x = 0, for a symmetric positive definite H known by products.

    Every iterate is a descent direction of ½ xᵀHx - bᵀx, so stopping early is safe. It
    also stops where rounding leaves H no curvature.

    Parameters
    ----------
    product : callable
        v to H v.
    right_side : ndarray of shape (q,)
        b.
    precondition, is_solved : callable
        r to M⁻¹ r, with M near H; and r = b - H x and M⁻¹ r to whether that is enough.
    max_iter : int
        Largest number of products.

    Returns
    -------
    x : ndarray of shape (q,)
    n_products : int
    """
    x = np.zeros_like(right_side)
    residual = right_side.copy()
    direction = z = precondition(residual)
    size = float(residual @ z)
    n_products = 0
    while n_products < max_iter and size > 0.0 and not is_solved(residual, z):
        image = product(direction)
        n_products += 1
        curvature = float(direction @ image)
        if curvature <= 0.0:
            break
        x += (size / curvature) * direction
        residual -= (size / curvature) * image
        z = precondition(residual)
        size, before = float(residual @ z), size
        direction = z + (size / before) * direction
    return x, n_products


def chord_steps(
    gradient: Operator, start: Floats, solve: Operator, accuracy: float
) -> Floats | None:
    """Minimize from a close point, with one H⁻¹ that nearly fits.

    None where steps do not shrink; `accuracy` bounds the steps that remain.
    """
    x, before = start, math.inf
    for _ in range(_MAX_CHORD_STEPS):
        slope = gradient(x)
        step = solve(slope)
        square = float(slope @ step)
        if square == 0.0:
            return x
        length = math.sqrt(square) if square > 0.0 else math.inf
        if not length < before:  # it does not converge, or is no number
            return None
        x = x - step
        # Steps shrink by a steady factor, so those to come sum to a geometric row.
        if before < math.inf and length * length <= accuracy * (before - length):
            return x
        before = length
    return None


def _search(
    objective: SmoothObjective | StronglyConvex,
    x: Floats,
    value: float,
    step: Floats,
    slope: float,
    value_at: Callable[[Floats], float] | None = None,
) -> tuple[Floats, float, Floats] | None:
    """Halve a step until f falls enough; gives x, f and gradient, or None."""
    # With ``value_at`` a halved step is judged without its gradient. Close to the
    # solution the fall drowns in the rounding of f, and a full Newton step is right.
    allowed = value + 1e-13 * max(abs(value), np.finfo(float).tiny)
    for halvings in range(_MAX_HALVINGS):
        share = 0.5**halvings
        trial, limit = x + share * step, allowed + _ARMIJO * share * slope
        if halvings and value_at is not None:
            if value_at(trial) <= limit:
                return trial, *objective.expand(trial)
            continue
        trial_value, gradient = objective.expand(trial)
        if trial_value <= limit:
            return trial, trial_value, gradient
    return None


def _gap(gradient: Floats, step: Floats, value: float) -> float:
    decrement = -0.5 * float(gradient @ step)
    return relative_gap(decrement, max(abs(value), np.finfo(float).tiny))


def _factor_dense(hessian: Floats) -> Operator:
    """Give r to H⁻¹ r by Cholesky, shifted where H is not positive."""
    if not len(hessian):
        return lambda right_side: right_side
    scale = np.sqrt(np.maximum(np.abs(np.diag(hessian)), np.finfo(float).tiny))
    shift = 0.0
    while True:
        matrix = np.outer(scale, scale)
        np.divide(hessian, matrix, out=matrix)
        matrix.flat[:: len(matrix) + 1] += shift
        factor, failed = dpotrf(matrix.T, lower=True, overwrite_a=True, clean=False)
        if not failed:
            return lambda r: dpotrs(factor, r / scale, lower=True)[0] / scale
        shift = max(10.0 * shift, 1e-12)
        if shift > 10.0:
            return lambda right_side: right_side / scale**2


def _by_diagonal(objective: SmoothObjective) -> Operator:
    inverse = 1.0 / np.maximum(objective.hessian_diagonal(), np.finfo(float).tiny)
    return lambda residual: inverse * residual
