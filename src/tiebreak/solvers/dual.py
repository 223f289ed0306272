# SPDX-License-Identifier: BSD-3-Clause
"""Solve box programs: the parts that :mod:`tiebreak.solvers.dual_run` combines.

Working-set rounds always come first. With a thin factor the interior-point method is
next; without one it waits until the rounds have cost as much as it would.
"""

from __future__ import annotations

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.box_active_set import BoxActiveSet
from tiebreak.solvers.box_qp import BoxQP
from tiebreak.solvers.dual_program import DualSolution
from tiebreak.solvers.dual_run import DualRun
from tiebreak.solvers.interior_point import interior_point
from tiebreak.solvers.smo import WorkingSets

# Up to so many rows the interior-point method can do without a thin factor,
_FEW = 3000
# where it costs as much as so many rounds for a thousand rows, squared for more.
_ROUNDS = 30


def solve_box_qp(
    rows: MatrixRows,
    problem: BoxQP,
    *,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    last: tuple[BoxQP, DualSolution] | None = None,
) -> DualSolution:
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
    last : (BoxQP, DualSolution), optional
        The solution of the same program with other bounds, to start from.

    Returns
    -------
    DualSolution
    """
    return _BoxRun(rows, problem, tol, max_iter).solve(last)


class _BoxRun(DualRun):
    """One call of :func:`solve_box_qp`."""

    def __init__(
        self, rows: MatrixRows, problem: BoxQP, tol: float, max_iter: int
    ) -> None:
        super().__init__(rows, problem, tol, max_iter)
        self.rounds = WorkingSets(rows, self.state)
        self.newton = BoxActiveSet(rows, self.state)

    @property
    def has_barrier(self) -> bool:
        """Whether there is a thin factor, or few rows and many rounds behind them."""
        if self.rows.factor is not None:
            return True
        n = self.rows.n_rows
        return n <= _FEW and self.rounds.n_rounds >= _ROUNDS * (n / 1000) ** 2

    def barrier(self, eps: float) -> int:
        return interior_point(self.factor, self.state, 0.1 * eps)
