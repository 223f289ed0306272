# SPDX-License-Identifier: BSD-3-Clause
"""Solve block programs: the parts that :mod:`tiebreak.solvers.dual_run` combines.

Where the matrix has a thin factor and the program is large, the interior-point method
comes first: its cost is linear in the number of variables. Otherwise rounds do: sweeps
through the features of a linear kernel, or working sets of any other.
"""

from __future__ import annotations

import numpy as np

from tiebreak.kernels import LinearRows, MatrixRows
from tiebreak.solvers.block_active_set import BlockActiveSet
from tiebreak.solvers.block_interior import block_interior_point
from tiebreak.solvers.block_qp import BlockQP
from tiebreak.solvers.block_sweeps import BlockSweeps
from tiebreak.solvers.dual_program import DualSolution
from tiebreak.solvers.dual_run import DualRun
from tiebreak.solvers.smo import WorkingSets

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
    last: tuple[BlockQP, DualSolution] | None = None,
) -> DualSolution:
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
    last : (BlockQP, DualSolution), optional
        The solution of the same program with other bounds, to start from.

    Returns
    -------
    DualSolution
    """
    return _BlockRun(rows, problem, tol, max_iter).solve(last)


class _BlockRun(DualRun):
    """One call of :func:`solve_block_qp`."""

    def __init__(
        self, rows: MatrixRows, problem: BlockQP, tol: float, max_iter: int
    ) -> None:
        super().__init__(rows, problem, tol, max_iter)
        if isinstance(rows, LinearRows):
            self.rounds = BlockSweeps(rows, self.state)
        else:
            self.rounds = WorkingSets(rows, self.state)
        self.newton = BlockActiveSet(rows, self.state)
        # A few rows are a factor of themselves.
        r = rows.n_rows if rows.factor is None else len(rows.factor)
        self._unknowns = r * problem.n_directions
        cheap = rows.n_rows * self._unknowns**2 <= _CHEAP_SYSTEM
        if rows.factor is not None:
            self.barrier_first = cheap and problem.size > _LARGE
            # On a thin matrix so many free variables are degenerate; others will do.
            self.max_free = 2000

    @property
    def has_barrier(self) -> bool:
        """Whether a system of all rows, or of a thin factor of them, is small."""
        return self._unknowns <= _MAX_SYSTEM

    def barrier(self, eps: float) -> int:
        # The point may be zero yet, and with it the scale of f: that of the bounds.
        q = self.state.problem
        share = np.maximum(q.upper, -q.lower) * self.state.diagonal
        tol = 0.01 * eps * min(1.0, float(share.max()))
        return block_interior_point(self.factor, self.state, tol)
