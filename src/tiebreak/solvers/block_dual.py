# SPDX-License-Identifier: BSD-3-Clause
"""Choose and combine the solvers of block programs, and certify what they return.

1. Where the matrix has a thin factor and the program is large, the interior-point
   method comes first: its cost is linear in the number of variables.
2. Otherwise rounds do: sweeps through the features of a linear kernel
   (:mod:`tiebreak.solvers.block_sweeps`), or working sets of any other
   (:mod:`tiebreak.solvers.block_rounds`). When they have spent their budget of steps,
   Newton steps on the free variables try to settle the active set. Where they cannot
   and there is a thin factor, or the matrix is small, the interior-point method starts
   afresh and they try again; else the rounds go on.
3. Where the free variables are few, one or two Newton steps make the result exact.
4. The result counts only after ``f = K c`` was computed afresh in double precision: the
   violation of the optimality conditions and the relative duality gap must both be
   within the tolerance.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import LinearRows, MatrixRows, pivoted_cholesky
from tiebreak.solvers.block_active_set import BlockActiveSet
from tiebreak.solvers.block_interior import block_interior_point
from tiebreak.solvers.block_qp import BlockQP, BlockSolution, BlockState
from tiebreak.solvers.block_rounds import BlockRounds
from tiebreak.solvers.block_sweeps import BlockSweeps

__all__ = ["solve_block_qp"]

# Systems up to this size are cheap enough to solve after every fit.
_SMALL = 1500
# Violation at which Newton steps are worth a try: the active set is nearly right.
_NEAR = 0.5
# Calls of four rounds that may pass without the violation falling by a tenth.
_PATIENCE = 50
# A barrier system is formed and factored only up to this size,
_MAX_SYSTEM = 1000
# and goes first if forming it takes at most as many multiplications,
_CHEAP_SYSTEM = 1e9
# in programs of more variables than a working set can be.
_LARGE = 1024


def solve_block_qp(
    rows: MatrixRows,
    problem: BlockQP,
    *,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    last: tuple[BlockQP, BlockSolution] | None = None,
) -> BlockSolution:
    """Maximize the dual program to a certified relative duality gap.

    Parameters
    ----------
    rows : MatrixRows
        The matrix K.
    problem : BlockQP
        The program.
    tol : float
        Bound on the relative duality gap and on the violation of the optimality
        conditions (in units of f, and relative to f where f is tiny).
    max_iter : int
        Outer iterations at most: working-set rounds, and passes of the other parts.
    last : (BlockQP, BlockSolution), optional
        The solution of the same program with other bounds, to start from.

    Returns
    -------
    BlockSolution
    """
    # The products here are many and small; a BLAS that wakes threads for each of them
    # loses more than it gains, and loses badly when other processes want the cores.
    with one_blas_thread():
        s = np.zeros(problem.size)
        f = np.zeros((problem.n_directions, rows.n_rows))
        run = _Run(rows, BlockState(problem, s, f, rows.diagonal()), tol, max_iter)
        if last is not None:
            run.start_from(*last)
        return run.solve()


class _Run:
    """One call of :func:`solve_block_qp`."""

    def __init__(
        self, rows: MatrixRows, state: BlockState, tol: float, max_iter: int
    ) -> None:
        self.rows, self.state = rows, state
        self.tol, self.max_iter = tol, max_iter
        self.rounds: BlockRounds | BlockSweeps
        if isinstance(rows, LinearRows):
            self.rounds = BlockSweeps(rows, state)
        else:
            self.rounds = BlockRounds(rows, state)
        self.newton = BlockActiveSet(rows, state)
        self.extra = 0
        self.used: list[str] = []
        # A few rows are a factor of themselves.
        r = rows.n_rows if rows.factor is None else len(rows.factor)
        unknowns = r * state.problem.n_directions
        self.has_barrier = unknowns <= _MAX_SYSTEM
        cheap = rows.n_rows * unknowns**2 <= _CHEAP_SYSTEM
        large = state.problem.size > _LARGE
        self.barrier_first = rows.factor is not None and cheap and large

    @property
    def n_iter(self) -> int:
        return self.rounds.n_rounds + self.extra

    def start_from(self, old: BlockQP, last: BlockSolution) -> None:
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
        if self._settle(self.state.tolerance(0.5 * self.tol)):
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

    def solve(self) -> BlockSolution:
        # Rounds see f with the rounding of the rows, so they aim below the tolerance.
        eps, budget = 0.5 * self.tol, self.rounds.patience * self.state.problem.size
        newton_at = _NEAR
        best, stalled = np.inf, 0
        if self.barrier_first and not self._is_optimal(eps):
            self._interior(eps)
            if not self._is_optimal(eps):
                self._settle(self.state.tolerance(eps))
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
                    if not settled:
                        budget = 20 * self.state.problem.size
            solution = self._certified()
            if settled and not solution.converged:
                # Rows in single precision leave an error that one more Newton step,
                # from the gradient in double precision, takes away.
                eps = 0.1 * eps
                self._settle(self.state.tolerance(eps))
                solution = self._certified()
            stalled = stalled + 1 if solution.violation > 0.5 * best else 0
            best = min(best, solution.violation)
            hopeless = stalled > 3 and best <= self._rounding()
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

    def _rounding(self) -> float:
        """A violation that may be nothing but rounding, in units of ``f``.

        At huge bounds, ``f`` is a small difference of large sums.
        """
        q, size = self.state.problem, np.sqrt(self.state.diagonal)
        terms = float(np.abs(self.state.s) @ size[q.row])
        return 1e-13 * terms * float(size.max() * q.squared_loading.max())

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
            if stalled > _PATIENCE and best <= self._rounding():
                return violation
            slow = self.rounds.n_steps - spent >= budget
            if slow and (self.has_barrier or violation <= newton_at):
                return violation

    def _accelerate(self, eps: float) -> bool:
        if self._settle(self.state.tolerance(eps)):
            return True
        if not self.has_barrier:
            return False
        self._interior(eps)
        return self._settle(self.state.tolerance(eps))

    def _interior(self, eps: float) -> None:
        self._used("interior point")
        # The point may be zero yet, and with it the scale of f: that of the bounds.
        q = self.state.problem
        bound = np.maximum(q.upper, -q.lower)
        share = bound * self.state.diagonal[q.row] * q.squared_loading[q.block]
        tol = 0.01 * eps * min(1.0, float(share.max()))
        self.extra += block_interior_point(self._factor, self.state, tol)

    @cached_property
    def _factor(self) -> np.ndarray:
        """The thin factor of the matrix, or that of all of its few rows."""
        if self.rows.factor is not None:
            return self.rows.factor
        n = self.rows.n_rows
        K = self.rows.block(np.arange(n), np.ones(n), np.float64)
        factor = pivoted_cholesky(
            lambda index: K[index], np.diag(K), max_pivots=n, all_or_nothing=False
        )
        return factor.rows

    def _settle(self, eps: float) -> bool:
        self.extra += 1
        self._used("active set")
        # On a thin matrix so many free variables are degenerate, and others will do.
        most = 6000 if self.rows.factor is None else 2000
        return self.newton.settle(eps, max_free=most)

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

    def _certified(self) -> BlockSolution:
        state = self.state
        coef = self._refresh()
        violation = state.violation(state.gradient)
        levels, primal, dual, gap = state.certificate()
        return BlockSolution(
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
            method=" + ".join(self.used),
        )
