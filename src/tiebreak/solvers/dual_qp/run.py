# SPDX-License-Identifier: BSD-3-Clause
"""Combine the parts of the dual solver, and certify what they return.

1. Rounds of cheap steps come first (:mod:`tiebreak.solvers.dual_qp.rounds`), unless the
   interior-point method is cheaper, as for many variables in blocks on a thin matrix.
2. After their budget of steps, Newton steps on the free variables look for the active
   set. Where they fail, the interior-point method starts afresh if it can be used, and
   they try again; else the rounds go on.
3. Where the free variables are few, one or two Newton steps make the result exact.
4. The violation of the optimality conditions and the relative duality gap, with ``f =
   K c`` computed afresh in double precision, must both be within the tolerance.
"""

from functools import cached_property

import numpy as np

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import LinearRows, MatrixRows, pivoted_cholesky
from tiebreak.solvers.dual_qp.active_set import ActiveSet
from tiebreak.solvers.dual_qp.interior_point import interior_point
from tiebreak.solvers.dual_qp.problem import DualQP, DualSolution, DualState
from tiebreak.solvers.dual_qp.rounds import Descent, Rounds, WorkingSets

# Systems up to this size are cheap enough to solve after every fit.
_SMALL = 1500
# Violation at which Newton steps are worth a try: the active set is nearly right.
_NEAR = 0.5
# Rounds in a row after which other parts try, however few steps they took.
_MANY_ROUNDS = 500
# Calls of four rounds that may pass without the violation falling by a tenth.
_PATIENCE = 50
# In a box, up to so many rows the interior-point method can do without a thin factor,
_FEW = 3000
# where it costs as much as so many rounds for a thousand rows, squared for more.
_ROUNDS = 30
# In blocks, a barrier system is formed and factored only up to this size,
_MAX_SYSTEM = 1000
# and goes first if forming it takes at most as many multiplications,
_CHEAP_SYSTEM = 1e9
# in problems of more variables than a working set can be.
_LARGE = 1024


def solve_dual_qp(
    rows: MatrixRows,
    problem: DualQP,
    *,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    last: DualSolution | None = None,
) -> DualSolution:
    """Maximize the dual problem to a certified relative duality gap of at most `tol`.

    `tol` also bounds the violation of the optimality conditions, in units of f; on a
    linear kernel of many rows and features 20 times `tol` does. `last` is the solution
    for other bounds, to start from.
    """
    return _Run(rows, problem, tol, max_iter).solve(last)


class _Run:
    """One problem on its way to a certified solution."""

    def __init__(
        self, rows: MatrixRows, problem: DualQP, tol: float, max_iter: int
    ) -> None:
        self.rows = rows
        f = np.zeros((problem.n_directions, rows.n_rows))
        self.state = DualState(problem, np.zeros(problem.size), f, rows.diagonal())
        self.tol, self.max_iter = tol, max_iter
        self.extra = 0
        self.used: list[str] = []
        self.newton = ActiveSet(rows, self.state)
        self.rounds: Rounds
        if isinstance(rows, LinearRows):
            self.rounds = Descent(rows, self.state)
        else:
            self.rounds = WorkingSets(rows, self.state)
        # Bound on the violation.
        self.bound = self.rounds.slack * tol
        # A few rows are a factor of themselves.
        r = rows.n_rows if rows.factor is None else len(rows.factor)
        self._unknowns = r * problem.n_directions
        # The largest system of free variables that is worth a try.
        self.barrier_first, self.max_free = False, 6000
        if isinstance(rows, LinearRows):
            self.max_free = 2000  # the memory of a larger system is not that of X
        if rows.factor is not None and not problem.is_box:
            cheap = rows.n_rows * self._unknowns**2 <= _CHEAP_SYSTEM
            self.barrier_first = cheap and problem.size > _LARGE
            # On a thin matrix so many free variables are degenerate; others will do.
            self.max_free = 2000

    @property
    def has_barrier(self) -> bool:
        """Whether the interior-point method is possible and worth its cost."""
        # In a box: with a thin factor, or with few rows after many rounds. In blocks:
        # if a system of all rows, or of a thin factor of them, is small.
        if not self.state.problem.is_box:
            return self._unknowns <= _MAX_SYSTEM
        n = self.rows.n_rows
        many = self.rounds.n_rounds >= _ROUNDS * (n / 1000) ** 2
        return self.rows.factor is not None or (n <= _FEW and many)

    @cached_property
    def factor(self) -> Floats:
        """The thin factor of the matrix, or of its few rows."""
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

    def _start_from(self, last: DualSolution) -> None:
        """Begin at the solution for other bounds."""
        # It is stretched by the factor with the largest dual value that the new bounds
        # allow, and so stays in balance.
        q, state = self.state.problem, self.state
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

    def solve(self, last: DualSolution | None) -> DualSolution:
        """Work until the certificate suffices or a limit is reached."""
        # The products here are many and small; a BLAS that wakes threads for each of
        # them loses more than it gains, and badly when other processes want the cores.
        with one_blas_thread():
            if last is not None:
                self._start_from(last)
            return self._search()

    def _search(self) -> DualSolution:
        # Rounds see f with the rounding of the rows, so they aim below the tolerance.
        eps, size = 0.5 * self.bound, self.state.problem.size
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
                    # The result does not depend on the start or on the order of the
                    # rows if the solution is made exact, where that is cheap.
                    exact = 1e-4 * self.state.tolerance(eps)
                    if violation > exact:
                        self.newton.settle(exact, max_systems=5, max_free=_SMALL)
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

        The tolerance depends on ``f``, which grows from 0, so it is updated every few
        rounds.
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
        # The point may be zero yet, and with it the scale of f: that of the bounds.
        q = self.state.problem
        share = np.maximum(q.upper, -q.lower) * self.state.diagonal
        tol = 0.01 * eps * min(1.0, float(share.max()))
        self.extra += interior_point(self.factor, self.state, tol)

    def _settle(self, eps: float) -> bool:
        self.extra += 1
        self._used("active set")
        return self.newton.settle(self.state.tolerance(eps), max_free=self.max_free)

    def _used(self, part: str) -> None:
        if part not in self.used:
            self.used.append(part)

    def _refresh(self) -> Floats:
        """Compute ``f`` afresh in double precision; returns the coefficients."""
        coef = self.state.problem.collect(self.state.s, self.rows.n_rows)
        for k, c in enumerate(coef):
            self.state.f[k] = self.rows.product(c)
        return coef

    def _certified(self) -> DualSolution:
        """Measure violation and gap, with ``f`` in double precision."""
        coef, state = self._refresh(), self.state
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
            converged=gap <= self.tol and violation <= state.tolerance(self.bound),
            method=" + ".join(self.used) or self.rounds.name,
        )
