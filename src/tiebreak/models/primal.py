# SPDX-License-Identifier: BSD-3-Clause
"""Minimize ½‖x‖² + C L(A x) with the solver that fits the loss."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data.messages import warn_user
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import GradeHinge, LinearObjective, UtilityLoss
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.models.base import check_positive
from tiebreak.solvers import (
    BundleSolution,
    NewtonSolution,
    StronglyConvex,
    minimize_bundle,
    minimize_truncated,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrimalSolution:
    """The solution of a program over utilities.

    Attributes
    ----------
    x : ndarray of shape (q,)
        Coefficients of the design.
    value : float
        Value of the objective.
    gap : float
        Relative duality gap.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the gap is within the tolerance.
    row_coef : ndarray of shape (n,)
        Coefficients of the rows: x = Aᵀ row_coef, within the tolerance.
    method : str
        Name of the solver.
    bundle : BundleSolution or None
        What the bundle method learned, to go on from.
    """

    x: Floats
    value: float
    gap: float
    n_iter: int
    converged: bool
    row_coef: Floats
    method: str
    bundle: BundleSolution | None = None

    def fitted(self) -> dict[str, Any]:
        """Return what every convex model says of its solution."""
        return {
            "objective_": self.value,
            "gap_": self.gap,
            "n_iter_": self.n_iter,
            "converged_": self.converged,
            "solver_": self.method,
        }


class Problem(Protocol):
    """What there is to learn from, as :class:`GradedProblem` has it."""

    @property
    def A(self) -> Any:  # noqa: N802 - a matrix
        """The design, of shape (n, q)."""
        ...

    def unpack(self, model: Any, x: Floats) -> None:
        """Set the attributes from which the model computes utilities."""
        ...

    def keep_support(self, model: Any, solution: PrimalSolution) -> None:
        """Set ``support_`` and ``dual_coef_``."""
        ...


def fit_problem(
    model: Any,
    problem: Problem,
    loss: UtilityLoss | GradeHinge,
    last: PrimalSolution | None = None,
) -> PrimalSolution:
    """Fit a model to a program that it has read.

    Parameters
    ----------
    model : estimator
        Its ``C``, ``tol`` and ``max_iter`` are used, and its attributes set.
    program : Program
        What to learn from.
    loss : loss of utilities
        L.
    last : PrimalSolution, optional
        The solution for another C, to start from.

    Returns
    -------
    PrimalSolution
    """
    solution = solve_primal(model, problem.A, loss, model.C, last)
    problem.unpack(model, solution.x)
    problem.keep_support(model, solution)
    vars(model).update(solution.fitted())
    return solution


def fit_along(
    template: Any, problem: Problem, loss: UtilityLoss | GradeHinge, Cs: Iterable[float]
) -> Iterator[Any]:
    """Fit copies of a model for one C after the other, each from the one before.

    Parameters
    ----------
    template : estimator
        Has read the program; its other parameters are used.
    program : Program
        What to learn from.
    loss : loss of utilities
        L.
    Cs : iterable of float
        Values of C.

    Yields
    ------
    estimator
        A fitted copy.
    """
    last: PrimalSolution | None = None
    for C in Cs:
        model = copy.copy(template)
        model.C = C
        check_positive(model, "C")
        last = fit_problem(model, problem, loss, last)
        yield model


def solve_primal(
    model: Any,
    A: Any,
    loss: UtilityLoss | GradeHinge,
    C: float,
    last: PrimalSolution | None = None,
) -> PrimalSolution:
    """Solve, and warn when the tolerance was not reached.

    Parameters
    ----------
    model : estimator
        Its ``tol`` and ``max_iter`` are used; named in the warning.
    A : ndarray or csr_array of shape (n, q)
        The design.
    loss : loss of utilities
        L.
    C : float
        Its factor.
    last : PrimalSolution, optional
        The solution for another C, to start from.

    Returns
    -------
    PrimalSolution
    """
    # Overflows end in a gap that is not finite, which is refused. Large products are
    # divided among our own threads; in small ones those of BLAS would only wait.
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
        if isinstance(loss, GradeHinge):
            solution = _solve_kinked(model, A, loss, C, last)
        else:
            solution = _solve_smooth(model, A, loss, C, last)
    learned = bool(forward_product(A, solution.x).any())
    judge_solution(model, solution, C, learned, lambda: float(np.abs(A).max()))
    return solution


def judge_solution(
    model: Any,
    solution: PrimalSolution,
    C: float,
    learned: bool,
    largest: Callable[[], float],
) -> None:
    """Refuse a solution that is none, and warn of one that is not good enough.

    Parameters
    ----------
    model : estimator
        Named in messages, with its ``tol``.
    solution : PrimalSolution
        The solution.
    C : float
        Factor of the loss.
    learned : bool
        Whether any two training items have different utilities.
    largest : callable
        Gives the largest entry of the design.
    """
    if not np.isfinite(solution.gap):
        raise ValueError(
            f"{type(model).__name__}: the objective overflows, so there is no solution "
            f"in floating-point numbers. The largest feature or kernel factor is "
            f"{largest():.3g} and C={C:g}. Scale the features first, for example "
            "with StandardScaler, or try a smaller C or smaller weights."
        )
    if not learned:
        warn_user(
            f"{type(model).__name__} gives all training items the same utility: items "
            "of different grades have the same features, or features and C are too "
            "small for floating-point numbers. Nothing was learned."
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
    """Minimize, with at least one step.

    Parameters
    ----------
    model : estimator
        Its ``tol`` and ``max_iter`` are used.
    objective : StronglyConvex
        What to minimize.
    start : ndarray of shape (q,)
        Where to start.
    watch : callable, optional
        Is told every step.

    Returns
    -------
    NewtonSolution
    """
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
    return PrimalSolution(
        found.x,
        found.value,
        found.gap,
        found.n_iter,
        found.gap <= model.tol,
        -C * objective.in_utility,
        "newton",
    )


def _solve_kinked(
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
    found = minimize_bundle(
        A,
        loss,
        C,
        tol=model.tol,
        max_iter=model.max_iter,
        last=None if last is None else last.bundle,
    )
    return PrimalSolution(
        found.x,
        found.value,
        found.gap,
        found.n_iter,
        found.converged,
        -found.weights,
        "bundle",
        found,
    )
