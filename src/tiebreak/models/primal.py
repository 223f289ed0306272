# SPDX-License-Identifier: BSD-3-Clause
"""Minimize ½‖x‖² + C L(A x), a sum and not a mean, with the solver that fits the loss.

A twice differentiable loss of utilities goes to the truncated Newton method, the hinge
of grades to the bundle method, or, where a kernel has many dimensions, to Newton steps
on ever less rounded hinges. All give a relative duality gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import GradeHinge, LinearObjective, SmoothedHinge, UtilityLoss
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.solvers import (
    BundleSolution,
    NewtonSolution,
    StronglyConvex,
    minimize_bundle,
    minimize_truncated,
)
from tiebreak.solvers.certificate import relative_gap

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrimalSolution:
    """A solution x, shape (q,), with its objective and relative duality gap."""

    x: Floats
    value: float
    gap: float
    n_iter: int
    converged: bool
    row_coef: Floats  # (n,): x = Aᵀ row_coef within the tolerance
    method: str
    bundle: BundleSolution | None = None  # what the bundle method goes on from

    def fitted(self) -> dict[str, Any]:
        """Return the attributes that every convex model has."""
        return {
            "objective_": self.value,
            "gap_": self.gap,
            "n_iter_": self.n_iter,
            "converged_": self.converged,
            "solver_": self.method,
        }


def solve_primal(
    model: Any,
    A: Any,
    loss: UtilityLoss | GradeHinge,
    C: float,
    last: PrimalSolution | None = None,
) -> PrimalSolution:
    """Solve from ``last``, for another C; warn when ``model.tol`` was not reached."""
    # Overflows end in a gap that is not finite, which is refused. Large products are
    # divided among our own threads; in small ones those of BLAS would only wait.
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
        if isinstance(loss, GradeHinge):
            solution = _solve_nonsmooth(model, A, loss, C, last)
        else:
            solution = _solve_smooth(model, A, loss, C, last)
    learned = bool(forward_product(A, solution.x).any())
    check_solution(model, solution, learned)
    return solution


def check_solution(model: Any, solution: PrimalSolution, learned: bool) -> None:
    """Warn of a solution that is not good enough, or gives all items one utility."""
    if not learned:
        warn_user(
            f"{type(model).__name__} gives all training items the same utility: items "
            "of different grades have the same features, or features and C are too "
            "small for floating-point numbers. Nothing was learned.",
            FitWarning,
        )
    if not solution.converged:
        warn_user(
            f"{type(model).__name__} stopped after {solution.n_iter} iterations with a "
            f"relative duality gap of {solution.gap:.2g}; asked for tol={model.tol:g}. "
            "The result is kept. Try a larger max_iter, scaled features or a smaller "
            "C.",
            ConvergenceWarning,
        )


def minimize_smooth(
    model: Any,
    objective: StronglyConvex,
    start: Floats,
    watch: Callable[[Floats, float, float, int], None] | None = None,
) -> NewtonSolution:
    """Minimize with at least one step, for the ``tol`` and ``max_iter`` of a model."""
    found = minimize_truncated(
        objective, start, tol=model.tol, max_iter=model.max_iter, watch=watch
    )
    if found.converged and not found.x.any():
        # For a small C zero is within the tolerance, but it puts nothing in order.
        found = minimize_truncated(objective, start, tol=0.0, max_iter=1)
    return found


def _solve_smooth(
    model: Any, A: Any, loss: UtilityLoss, C: float, last: PrimalSolution | None
) -> PrimalSolution:
    objective = LinearObjective(A, loss, C)
    start = np.zeros(A.shape[1]) if last is None else last.x
    found = minimize_smooth(model, objective, start)
    row_coef, converged = -C * objective.in_utility, found.gap <= model.tol
    return PrimalSolution(
        found.x, found.value, found.gap, found.n_iter, converged, row_coef, "newton"
    )


def _solve_nonsmooth(
    model: Any, A: Any, loss: GradeHinge, C: float, last: PrimalSolution | None
) -> PrimalSolution:
    value, slope = loss.expand(np.zeros(A.shape[0]))
    x = -C * back_product(A, slope)
    utility = forward_product(A, x)
    if not np.isfinite(x @ x):
        return PrimalSolution(0.0 * x, C * value, np.inf, 0, False, slope, "bundle")
    if 2.0 * loss.slope * np.abs(utility).max(initial=0.0) < 1.0:
        # No pair reaches its margin, so that the slope is the same here: solved.
        value = 0.5 * float(x @ x) + C * loss.expand(utility)[0]
        return PrimalSolution(x, value, 0.0, 1, True, -C * slope, "bundle")
    warm = None if last is None else last.bundle
    limit = model.max_iter
    if _has_many_dimensions(A) and model.tol >= _FINEST:
        # A round costs one product, and a Newton step one for each dimension.
        limit = min(limit, max(_FEW_ROUNDS, A.shape[1] // _DIMENSIONS_PER_ROUND))
    found = minimize_bundle(A, loss, C, tol=model.tol, max_iter=limit, last=warm)
    if not found.converged and limit < model.max_iter:
        smoothed = _solve_smoothed(model, A, loss, C, found)
        if smoothed is not None:
            return smoothed
        rest = model.max_iter - limit
        found = minimize_bundle(A, loss, C, tol=model.tol, max_iter=rest, last=found)
    gap, n_iter, converged = found.gap, found.n_iter, found.converged
    return PrimalSolution(
        found.x, found.value, gap, n_iter, converged, -found.weights, "bundle", found
    )


# Of 800 items with Gaussian kernels the bundle method takes 20 to 570 rounds; where it
# takes hundreds, Newton steps take a third of the time or less, and where it takes few,
# it is the faster one. Finer tolerances need so narrow bands that it wins again.
_MANY_ROWS, _FEW_ROUNDS, _DIMENSIONS_PER_ROUND, _FINEST = 200, 40, 20, 1e-4
_WIDEST, _MOST_WIDTHS, _FASTEST = 0.5, 10, 0.25
# Gaps fall about with this power of the width, measured on the same kernels.
_POWER = 0.6


def _has_many_dimensions(A: Any) -> bool:
    return isinstance(A, np.ndarray) and A.shape[0] >= _MANY_ROWS <= 2 * A.shape[1]


def _solve_smoothed(
    model: Any, A: Floats, loss: GradeHinge, C: float, begun: BundleSolution
) -> PrimalSolution | None:
    """Solve with ever narrower bands in which the hinge is rounded; None if in vain.

    x depends on the width almost linearly, so the line through the last two leads to a
    point that is better than both.
    """
    x, value, n_iter = begun.x, begun.value, begun.n_iter
    best, bound, row_coef = x, -np.inf, -begun.weights
    width, shrink, aim, before = _WIDEST, 1.0, 0.03 * _WIDEST, None
    for _ in range(_MOST_WIDTHS):
        smooth = SmoothedHinge(loss, width)
        objective = LinearObjective(A, smooth, C)
        left = model.max_iter - n_iter
        found = minimize_truncated(objective, x, tol=aim, max_iter=left)
        x, n_iter = found.x, n_iter + found.n_iter
        # The slopes are feasible dual variables, and w is what they make of the items.
        coef = -C * objective.in_utility
        w = back_product(A, coef)
        dual = C * smooth.dual_sum - 0.5 * float(w @ w)
        if dual > bound:
            bound, row_coef = dual, coef
        points = (
            [x] if before is None else [x, x + (x - before) * shrink / (1 - shrink)]
        )
        for point in points:
            reached = 0.5 * float(point @ point)
            reached += C * loss.expand(forward_product(A, point))[0]
            if reached < value:
                best, value = point, reached
        gap = relative_gap(value - bound, value)
        if gap <= model.tol or n_iter >= model.max_iter:
            converged = gap <= model.tol
            return PrimalSolution(
                best, value, gap, n_iter, converged, row_coef, "newton"
            )
        if not np.isfinite(gap):
            return None
        shrink = max(_FASTEST, min(0.5, (0.5 * model.tol / gap) ** _POWER))
        aim = max(0.1 * model.tol, 0.03 * gap * shrink)
        before, width = x, width * shrink
    return None
