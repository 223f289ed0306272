# SPDX-License-Identifier: BSD-3-Clause
"""Minimize ½‖x‖² + C L(A x), a sum and not a mean, with the solver that fits the loss.

A twice differentiable loss of utilities goes to the truncated Newton method, the hinge
of grades to the bundle method. Both give a relative duality gap.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import GradeHinge, LinearObjective, UtilityLoss
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.models.base import warn_flat, warn_gap
from tiebreak.solvers import (
    BundleSolution,
    NewtonSolution,
    StronglyConvex,
    minimize_bundle,
    minimize_truncated,
)

PrimalSolution = NewtonSolution | BundleSolution


def solve_primal(
    model: Any,
    A: Any,
    loss: UtilityLoss | GradeHinge,
    C: float,
    last: PrimalSolution | None = None,
) -> tuple[PrimalSolution, Floats]:
    """Solve from ``last``, for another C; warn when ``model.tol`` was not reached.

    Also gives a, shape (n,), with x = Aᵀa within the tolerance.
    """
    # Overflows end in a gap that is not finite, which is refused. Large products are
    # divided among our own threads; in small ones those of BLAS would only wait.
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
        if isinstance(loss, GradeHinge):
            solution, coef = _solve_nonsmooth(model, A, loss, C, last)
        else:
            objective = LinearObjective(A, loss, C)
            start = np.zeros(A.shape[1]) if last is None else last.x
            solution = minimize_smooth(model, objective, start)
            coef = -C * objective.in_utility
    learned = bool(forward_product(A, solution.x).any())
    check_solution(model, solution, learned)
    return solution, coef


def check_solution(model: Any, solution: PrimalSolution, learned: bool) -> None:
    """Warn of a gap above the tolerance, or of equal utilities."""
    if not learned:
        warn_flat(
            model,
            "items of different grades have the same features, or features and C are "
            "too small for floating-point numbers",
        )
    if not solution.converged:
        warn_gap(model, solution.n_iter, solution.gap)


def minimize_smooth(
    model: Any, objective: StronglyConvex, start: Floats
) -> NewtonSolution:
    """Minimize with at least one step, for the ``tol`` and ``max_iter`` of a model."""
    solution = minimize_truncated(
        objective, start, tol=model.tol, max_iter=model.max_iter
    )
    if solution.converged and not solution.x.any():
        # For a small C zero is within the tolerance, but it puts nothing in order.
        solution = minimize_truncated(objective, start, tol=0.0, max_iter=1)
    return replace(solution, converged=solution.gap <= model.tol)


def _solve_nonsmooth(
    model: Any, A: Any, loss: GradeHinge, C: float, last: PrimalSolution | None
) -> tuple[PrimalSolution, Floats]:
    value, slope = loss.expand(np.zeros(A.shape[0]))
    x = -C * back_product(A, slope)
    utility = forward_product(A, x)
    if 2.0 * loss.slope * np.abs(utility).max(initial=0.0) < 1.0:
        # No pair reaches its margin, so that the slope is the same here: solved.
        value = 0.5 * float(x @ x) + C * loss.expand(utility)[0]
        return NewtonSolution(x, value, 0.0, 1, True), -C * slope
    warm = last if isinstance(last, BundleSolution) else None
    best = minimize_bundle(
        A, loss, C, tol=model.tol, max_iter=model.max_iter, last=warm
    )
    return best, -best.weights
