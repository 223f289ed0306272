# SPDX-License-Identifier: BSD-3-Clause
"""Choose and combine the dual solvers, and certify what they return.

1. Working-set rounds (:mod:`tiebreak.solvers.smo`) always come first; with small and
   moderate bounds they are all that is needed.
2. When they have spent their budget of steps, Newton steps on the free variables try to
   settle the active set. Where they cannot and the matrix has a thin factor, the
   interior-point method starts afresh and they try again; else the rounds go on.
3. Where the free variables are few, one or two Newton steps make the result exact.
4. The result counts only after ``f = K c`` was computed afresh in double precision: the
   violation of the optimality conditions and the relative duality gap must both be
   within the tolerance.
"""

from __future__ import annotations

import numpy as np

from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import MatrixRows
from tiebreak.solvers.active_set import ActiveSetSolver
from tiebreak.solvers.box_qp import BoxQP, BoxSolution, DualState
from tiebreak.solvers.interior_point import interior_point
from tiebreak.solvers.smo import WorkingSetSolver

__all__ = ["solve_box_qp"]

# Systems up to this size are cheap enough to solve after every fit.
_SMALL = 1500
# Violation at which Newton steps are worth a try: the active set is nearly right.
_NEAR = 0.5


def solve_box_qp(
    rows: MatrixRows,
    problem: BoxQP,
    *,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    last: tuple[BoxQP, BoxSolution] | None = None,
) -> BoxSolution:
    """Maximize the dual program to a certified relative duality gap.

    Parameters
    ----------
    rows : MatrixRows
        The matrix K.
    problem : BoxQP
        The program.
    tol : float
        Bound on the relative duality gap and on the violation of the optimality
        conditions (in units of f, and relative to f where f is tiny).
    max_iter : int
        Outer iterations at most: working-set rounds, and passes of the other parts.
    last : (BoxQP, BoxSolution), optional
        The solution of the same program with other bounds, to start from.

    Returns
    -------
    BoxSolution
    """
    # The products here are many and small; a BLAS that wakes threads for each of them
    # loses more than it gains, and loses badly when other processes want the cores.
    with one_blas_thread():
        nothing = np.zeros(problem.size), np.zeros(rows.n_rows)
        run = _Run(rows, DualState(problem, *nothing, rows.diagonal()), tol, max_iter)
        if last is not None:
            run.start_from(*last)
        return run.solve()


class _Run:
    """One call of :func:`solve_box_qp`."""

    def __init__(
        self, rows: MatrixRows, state: DualState, tol: float, max_iter: int
    ) -> None:
        self.rows, self.state = rows, state
        self.tol, self.max_iter = tol, max_iter
        self.smo = WorkingSetSolver(rows, state)
        self.newton = ActiveSetSolver(rows, state)
        self.extra = 0
        self.used = ["working sets"]

    @property
    def n_iter(self) -> int:
        return self.smo.n_rounds + self.extra

    def start_from(self, old: BoxQP, last: BoxSolution) -> None:
        """Begin at the solution for other bounds.

        First it is assumed that the same variables are at a bound as before and Newton
        steps look for the others. If that fails, the old point is stretched by the
        factor with the largest dual value that the new bounds allow.
        """
        q, state = self.state.problem, self.state
        at_upper, at_lower = last.s >= old.upper, last.s <= old.lower
        kept = np.clip(last.s, q.lower, q.upper)
        state.s[:] = np.where(at_upper, q.upper, np.where(at_lower, q.lower, kept))
        state.f[:] = self.rows.product(q.collect(state.s, self.rows.n_rows))
        if self._settle(0.5 * self.tol):
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(last.s > 0, q.upper / last.s, q.lower / last.s)
        longest = float(np.min(room[last.s != 0], initial=np.inf))
        straight = float(q.linear @ last.s)
        curved = float(last.coef @ last.fitted)
        best = straight / curved if curved > 0 else longest
        stretch = min(max(best, 0.0), longest)
        if not np.isfinite(stretch):
            stretch = 0.0
        state.s[:] = np.clip(stretch * last.s, q.lower, q.upper)
        state.f[:] = stretch * last.fitted

    def solve(self) -> BoxSolution:
        # Rounds see f with the rounding of the rows, so they aim below the tolerance.
        eps, budget = 0.5 * self.tol, 2 * self.state.problem.size
        newton_at = _NEAR
        while True:
            violation = self._rounds(eps, budget, newton_at)
            settled = False
            if self.n_iter < self.max_iter:
                if violation <= self.state.tolerance(eps):
                    self._polish(eps)
                else:
                    settled = self._accelerate(eps)
                    # Where Newton steps fail the point was not near: come closer.
                    newton_at = _NEAR if settled else 0.3 * newton_at
                    budget = (2 if settled else 20) * self.state.problem.size
            solution = self._certified()
            if settled and not solution.converged:
                # Rows in single precision leave an error that one more Newton step,
                # from the gradient in double precision, takes away.
                eps = 0.1 * eps
                self._settle(eps)
                solution = self._certified()
            if solution.converged or self.n_iter >= self.max_iter:
                return solution
            if violation <= self.state.tolerance(eps):
                # Optimal to eps but the gap is not there: it needs a smaller eps.
                eps = max(0.2 * eps, 1e-14)
            self.extra += 1

    def _rounds(self, eps: float, budget: int, newton_at: float) -> float:
        """Working-set rounds until done, or until the budget is spent and it is near.

        ``f`` grows from nothing, so the tolerance that depends on it is looked up
        again after every few rounds.
        """
        spent = self.smo.n_steps
        while True:
            violation = self.smo.run(
                self.state.tolerance(eps), budget, min(4, self.max_iter)
            )
            if violation <= self.state.tolerance(eps) or self.n_iter >= self.max_iter:
                return violation
            slow = self.smo.n_steps - spent >= budget
            if slow and (self.rows.factor is not None or violation <= newton_at):
                return violation

    def _accelerate(self, eps: float) -> bool:
        if self._settle(eps):
            return True
        if self.rows.factor is None:
            return False
        self.used.append("interior point")
        self.extra += interior_point(self.rows.factor, self.state, 0.1 * eps)
        return self._settle(eps)

    def _settle(self, eps: float) -> bool:
        self.extra += 1
        self.used.append("active set")
        return self.newton.settle(self.state.tolerance(eps))

    def _polish(self, eps: float) -> None:
        """Make a solution within the tolerance the solution, where that is cheap.

        Then the result does not depend on the start or on the order of the rows.
        """
        exact = 1e-4 * self.state.tolerance(eps)
        self.newton.settle(exact, max_systems=5, max_free=_SMALL)

    def _certified(self) -> BoxSolution:
        state, q = self.state, self.state.problem
        coef = q.collect(state.s, self.rows.n_rows)
        state.f[:] = self.rows.product(coef)
        violation = state.violation(state.gradient)
        level, primal, dual, gap = state.certificate()
        return BoxSolution(
            s=state.s,
            coef=coef,
            fitted=state.f,
            level=level,
            primal=primal,
            dual=dual,
            gap=gap,
            violation=violation,
            n_iter=self.n_iter,
            converged=gap <= self.tol and violation <= state.tolerance(self.tol),
            method=" + ".join(dict.fromkeys(self.used)),
        )
