# SPDX-License-Identifier: BSD-3-Clause
"""Decomposition by working sets: sequential minimal optimization, many at a time.

Each round takes the variables that violate optimality most (half of them from either
side) together with the ones of the round before, solves that subproblem by compiled
pair steps on a block of the matrix that fits the processor's cache, and then updates
the gradient of all variables once. The O(n) work is one pass over a few hundred rows
per round instead of one pass per step, and variables at rest cost nothing but the
selection, which is what shrinking is for.
"""

from __future__ import annotations

import numpy as np

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.box_qp import DualState
from tiebreak.solvers.working_set import compile_kernels, solve_balanced, solve_box

__all__ = ["WorkingSetSolver"]

_SIZE = 512
# Programs up to this size are one working set.
_WHOLE = 1024
_STEPS_PER_VARIABLE = 20


class WorkingSetSolver:
    """Rounds of working-set steps on a :class:`DualState`.

    Parameters
    ----------
    rows : MatrixRows
        Rows of the matrix.
    state : DualState
        Point to improve in place.

    Attributes
    ----------
    n_steps : int
        Pair steps taken so far.
    n_rounds : int
        Rounds so far.
    """

    def __init__(self, rows: MatrixRows, state: DualState) -> None:
        compile_kernels(rows.dtype)
        self.rows = rows
        self.state = state
        self.n_steps = 0
        self.n_rounds = 0
        size = state.problem.size
        wanted = size if size <= _WHOLE else _SIZE
        # A working set may use every slot of the cache, and not one more. Variables
        # share rows, so with all rows in the cache any working set fits.
        fits = rows.capacity == rows.n_rows
        self._size = int(wanted if fits else min(wanted, rows.capacity))
        self._last = np.empty(0, dtype=np.int64)

    def run(self, eps: float, max_steps: int, max_rounds: int) -> float:
        """Work until the violation is at most ``eps`` or a budget is spent.

        Parameters
        ----------
        eps : float
            Wanted violation of the optimality conditions.
        max_steps, max_rounds : int
            Budgets of this call.

        Returns
        -------
        float
            The violation reached.
        """
        stop_steps = self.n_steps + max_steps
        stop_rounds = self.n_rounds + max_rounds
        while True:
            e = self.state.gradient
            violation = self.state.violation(e)
            if (
                violation <= eps
                or self.n_steps >= stop_steps
                or self.n_rounds >= stop_rounds
            ):
                return violation
            self._round(e, eps, violation)

    def _round(self, e: np.ndarray, eps: float, violation: float) -> None:
        q, s = self.state.problem, self.state.s
        chosen = self._select(e)
        row, sign = q.row[chosen], q.sign[chosen]
        block = self._block(row, sign)
        local_e, local_s = e[chosen], s[chosen]
        solve = solve_balanced if q.balanced else solve_box
        self.n_steps += solve(
            block,
            local_e,
            local_s,
            q.lower[chosen],
            q.upper[chosen],
            max(0.5 * eps, 0.1 * violation),
            _STEPS_PER_VARIABLE * self._size,
        )
        moved = sign * (local_s - s[chosen])
        self.rows.add(row, moved, self.state.f)
        s[chosen] = local_s
        self._last = chosen
        self.n_rounds += 1

    def _block(self, row: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Form the block of a working set; that of all variables only once."""
        if len(row) < self.state.problem.size:
            return self.rows.block(row, sign, np.float64)
        kept = self.rows.whole_block
        if (
            kept is None
            or not np.array_equal(kept[0], row)
            or not np.array_equal(kept[1], sign)
        ):
            kept = (row, sign, self.rows.block(row, sign, np.float64))
            self.rows.whole_block = kept
        return kept[2]

    def _select(self, e: np.ndarray) -> np.ndarray:
        """The worst violators of either side, then the last set, free ones first."""
        q, s = self.state.problem, self.state.s
        if self._size == q.size:
            return np.arange(q.size)
        highest = np.where(s < q.upper, e, -np.inf)
        lowest = np.where(s > q.lower, e, np.inf)
        top, bottom = highest.max(), lowest.min()
        if not q.balanced:
            top, bottom = 0.0, 0.0
        quarter = max(self._size // 4, 1)
        up = np.argpartition(-highest, quarter - 1)[:quarter]
        down = np.argpartition(lowest, quarter - 1)[:quarter]
        chosen = np.union1d(up[highest[up] > bottom], down[lowest[down] < top])
        rest = self._last[~np.isin(self._last, chosen)]
        free = (s[rest] > q.lower[rest]) & (s[rest] < q.upper[rest])
        rest = rest[np.argsort(~free, kind="stable")]
        return np.concatenate([chosen, rest[: self._size - len(chosen)]])
