# SPDX-License-Identifier: BSD-3-Clause
"""Combine the parts of a dual solver, and certify what they return.

1. Rounds of cheap steps come first (:mod:`tiebreak.solvers.smo`, or
   :mod:`tiebreak.solvers.block_sweeps`), unless the interior-point method is known to
   be cheaper; with small and moderate bounds they are all that is needed.
2. When they have spent their budget of steps, Newton steps on the free variables try to
   settle the active set. Where they cannot and the interior-point method can be used,
   it starts afresh and they try again; else the rounds go on.
3. Where the free variables are few, one or two Newton steps make the result exact.
4. The result counts only after ``f = K c`` was computed afresh in double precision: the
   violation of the optimality conditions and the relative duality gap must both be
   within the tolerance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import MatrixRows, pivoted_cholesky
from tiebreak.solvers.active_set import ActiveSet
from tiebreak.solvers.dual_program import DualProgram, DualSolution, DualState
from tiebreak.solvers.rounds import Rounds

# Systems up to this size are cheap enough to solve after every fit.
_SMALL = 1500
# Violation at which Newton steps are worth a try: the active set is nearly right.
_NEAR = 0.5
# Rounds in a row after which other parts try, however few steps they took.
_MANY_ROUNDS = 500
# Calls of four rounds that may pass without the violation falling by a tenth.
_PATIENCE = 50


class DualRun(ABC):
    """One program on its way to a certified solution.

    A subclass says which parts it is made of: how the active set is settled, which
    rounds there are, and when and how the interior-point method is used.

    Parameters
    ----------
    rows : MatrixRows
        The matrix K.
    problem : DualProgram
        The program.
    tol : float
        Bound on the relative duality gap and on the violation of the optimality
        conditions.
    max_iter : int
        Outer iterations at most.
    """

    rounds: Rounds
    newton: ActiveSet
    barrier_first = False
    # The largest system of free variables that is worth a try.
    max_free = 6000

    def __init__(
        self, rows: MatrixRows, problem: DualProgram, tol: float, max_iter: int
    ) -> None:
        self.rows = rows
        f = np.zeros((problem.n_directions, rows.n_rows))
        self.state = DualState(problem, np.zeros(problem.size), f, rows.diagonal())
        self.tol, self.max_iter = tol, max_iter
        self.extra = 0
        self.used: list[str] = []

    @property
    @abstractmethod
    def has_barrier(self) -> bool:
        """Whether the interior-point method can be used, and is worth its cost."""

    @abstractmethod
    def barrier(self, eps: float) -> int:
        """Start afresh with the interior-point method; returns its steps."""

    @cached_property
    def factor(self) -> np.ndarray:
        """The thin factor of the matrix, or that of all of its few rows."""
        if self.rows.factor is not None:
            return self.rows.factor
        n = self.rows.n_rows
        K = self.rows.block(np.arange(n), np.ones(n), np.float64)
        factor = pivoted_cholesky(
            lambda index: K[index], np.diag(K), max_pivots=n, all_or_nothing=False
        )
        return factor.rows

    @property
    def n_iter(self) -> int:
        """Outer iterations so far."""
        return self.rounds.n_rounds + self.extra

    def _start_from(self, old: DualProgram, last: DualSolution) -> None:
        """Begin at the solution for other bounds.

        First it is assumed that the same variables are at a bound as before and Newton
        steps look for the others. If that fails, the old point is stretched by the
        factor with the largest dual value that the new bounds allow, which keeps every
        block in balance.
        """
        q, state = self.state.problem, self.state
        at_upper, at_lower = last.s >= old.upper, last.s <= old.lower
        kept = np.clip(last.s, q.lower, q.upper)
        state.s[:] = np.where(at_upper, q.upper, np.where(at_lower, q.lower, kept))
        self._refresh()
        if self._settle(0.5 * self.tol):
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(last.s > 0, q.upper / last.s, q.lower / last.s)
        longest = float(np.min(room[last.s != 0], initial=np.inf))
        straight = float(q.linear @ last.s)
        curved = float((last.coef * last.fitted).sum())
        best = straight / curved if curved > 0 else longest
        stretch = min(max(best, 0.0), longest)
        if not np.isfinite(stretch):
            stretch = 0.0
        state.s[:] = np.clip(stretch * last.s, q.lower, q.upper)
        state.f[:] = stretch * last.fitted

    def solve(
        self, last: tuple[DualProgram, DualSolution] | None = None
    ) -> DualSolution:
        """Work until the certificate is good enough or a limit is reached."""
        # The products here are many and small; a BLAS that wakes threads for each of
        # them loses more than it gains, and badly when other processes want the cores.
        with one_blas_thread():
            if last is not None:
                self._start_from(*last)
            return self._search()

    def _search(self) -> DualSolution:
        # Rounds see f with the rounding of the rows, so they aim below the tolerance.
        eps, size = 0.5 * self.tol, self.state.problem.size
        budget, newton_at = self.rounds.patience * size, _NEAR
        best, stalled = np.inf, 0
        if self.barrier_first and not self._is_optimal(eps):
            self._interior(eps)
            if not self._is_optimal(eps):
                self._settle(eps)
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
                    budget = (self.rounds.patience if settled else 20) * size
            solution = self._certified()
            if settled and not solution.converged:
                # Rows in single precision leave an error that one more Newton step,
                # from the gradient in double precision, takes away.
                eps = 0.1 * eps
                self._settle(eps)
                solution = self._certified()
            stalled = stalled + 1 if solution.violation > 0.5 * best else 0
            best = min(best, solution.violation)
            hopeless = stalled > 3 and best <= self.state.rounding()
            if solution.converged or self.n_iter >= self.max_iter or hopeless:
                return solution
            if violation <= self.state.tolerance(eps):
                # Optimal to eps but the gap is not there: it needs a smaller eps.
                eps = max(0.2 * eps, 1e-14)
            self.extra += 1

    def _is_optimal(self, eps: float) -> bool:
        state = self.state
        return bool(state.s.any()) and (
            state.violation(state.gradient) <= state.tolerance(eps)
        )

    def _rounds(self, eps: float, budget: int, newton_at: float) -> float:
        """Working-set rounds until done, or until the budget is spent and it is near.

        ``f`` grows from nothing, so the tolerance that depends on it is looked up
        again after every few rounds.
        """
        spent, before = self.rounds.n_steps, self.rounds.n_rounds
        best, stalled = np.inf, 0
        while True:
            violation = self.rounds.run(
                self.state.tolerance(eps), budget, min(4, self.max_iter)
            )
            if self.rounds.n_rounds > before:
                self._used(self.rounds.name)
            if violation <= self.state.tolerance(eps) or self.n_iter >= self.max_iter:
                return violation
            stalled = stalled + 1 if violation > 0.9 * best else 0
            best = min(best, violation)
            if stalled > _PATIENCE and best <= self.state.rounding():
                return violation
            slow = self.rounds.n_steps - spent >= budget
            slow = slow or self.rounds.n_rounds - before >= _MANY_ROUNDS
            if slow and (self.has_barrier or violation <= newton_at):
                return violation

    def _accelerate(self, eps: float) -> bool:
        if self._settle(eps):
            return True
        if not self.has_barrier:
            return False
        self._interior(eps)
        return self._settle(eps)

    def _interior(self, eps: float) -> None:
        self._used("interior point")
        self.extra += self.barrier(eps)

    def _settle(self, eps: float) -> bool:
        self.extra += 1
        self._used("active set")
        return self.newton.settle(self.state.tolerance(eps), max_free=self.max_free)

    def _polish(self, eps: float) -> None:
        """Make a solution within the tolerance the solution, where that is cheap.

        Then the result does not depend on the start or on the order of the rows.
        """
        exact = 1e-4 * self.state.tolerance(eps)
        self.newton.settle(exact, max_systems=5, max_free=_SMALL)

    def _used(self, part: str) -> None:
        if part not in self.used:
            self.used.append(part)

    def _refresh(self) -> np.ndarray:
        """Compute ``f`` afresh in double precision; returns the coefficients."""
        coef = self.state.problem.collect(self.state.s, self.rows.n_rows)
        for k, c in enumerate(coef):
            self.state.f[k] = self.rows.product(c)
        return coef

    def _certified(self) -> DualSolution:
        state = self.state
        coef = self._refresh()
        violation = state.violation(state.gradient)
        levels, primal, dual, gap = state.certificate()
        return DualSolution(
            s=state.s,
            coef=coef,
            fitted=state.f,
            levels=levels,
            primal=primal,
            dual=dual,
            gap=gap,
            violation=violation,
            n_iter=self.n_iter,
            converged=gap <= self.tol and violation <= state.tolerance(self.tol),
            method=" + ".join(self.used) or self.rounds.name,
        )
