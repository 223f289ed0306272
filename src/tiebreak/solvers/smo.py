# SPDX-License-Identifier: BSD-3-Clause
"""Decomposition by working sets: sequential minimal optimization, many at a time.

Each round takes the variables that violate optimality most (half of them from either
side) together with the ones of the round before, solves that subproblem by compiled
pair steps on a part of the matrix that fits the processor's cache, and then updates
the values of all rows once. The O(n) work is one pass over a few hundred rows
per round instead of one pass per step, and variables at rest cost nothing but the
selection, which is what shrinking is for. A violation is measured against the own
block, and of every block that violates at all the worst variable of either side is
taken, so that nothing waits for a partner.
"""

from __future__ import annotations

import numpy as np

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.dual_program import DualState
from tiebreak.solvers.rounds import Rounds
from tiebreak.solvers.working_set import compile_kernels, solve_blocks, solve_box

_SIZE = 512
# Programs up to this size are one working set.
_WHOLE = 1024
_STEPS_PER_VARIABLE = 20


class WorkingSets(Rounds):
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
        Steps of pairs, or of single variables without a balance, taken so far.
    n_rounds : int
        Rounds so far.
    """

    name = "working sets"

    def __init__(self, rows: MatrixRows, state: DualState) -> None:
        super().__init__(state)
        compile_kernels(rows.dtype)
        self.rows = rows
        size = state.problem.size
        wanted = size if size <= _WHOLE else _SIZE
        # A working set may use every slot of the cache, and not one more. Variables
        # share rows, so with all rows in the cache any working set fits.
        fits = rows.capacity == rows.n_rows
        self._size = int(wanted if fits else min(wanted, rows.capacity))
        self._last = np.empty(0, dtype=np.int64)

    def _round(self, e: np.ndarray, eps: float, violation: float) -> int:
        q, s = self.state.problem, self.state.s
        chosen = self._select(e, eps)
        local_e, local_s = e[chosen], s[chosen]
        local = self._matrix(chosen), local_e, local_s, q.lower[chosen], q.upper[chosen]
        limits = max(0.5 * eps, 0.1 * violation), _STEPS_PER_VARIABLE * self._size
        if q.balanced:
            n_steps = solve_blocks(*local, np.searchsorted(chosen, q.starts), *limits)
        else:
            n_steps = solve_box(*local, *limits)
        q.add(self.rows, chosen, local_s - s[chosen], self.state.f)
        s[chosen] = local_s
        return n_steps

    def _matrix(self, chosen: np.ndarray) -> np.ndarray:
        """Form the matrix of a working set; that of all variables only once."""
        q = self.state.problem
        if len(chosen) < q.size:
            return q.matrix(self.rows, chosen, np.float64)
        kept = self.rows.whole_block
        if (
            kept is None
            or not np.array_equal(kept[0], q.row)
            or not np.array_equal(kept[1], q.loads)
        ):
            kept = (q.row, q.loads, q.matrix(self.rows, chosen, np.float64))
            self.rows.whole_block = kept
        return kept[2]

    def _select(self, e: np.ndarray, eps: float) -> np.ndarray:
        """The worst violators of either side, then the last set, free ones first."""
        q, s = self.state.problem, self.state.s
        if self._size == q.size:
            return np.arange(q.size)
        growing, shrinking = self.state.sides(e)
        first = q.starts[:-1]
        top = np.maximum.reduceat(growing, first)
        bottom = np.minimum.reduceat(shrinking, first)
        if not q.balanced:
            top = bottom = np.zeros(1)
        above, below = growing - bottom[q.block], top[q.block] - shrinking
        quarter = max(self._size // 4, 1)
        up = np.argpartition(-above, quarter - 1)[:quarter]
        down = np.argpartition(-below, quarter - 1)[:quarter]
        worst = np.concatenate([up[above[up] > 0], down[below[down] > 0]])
        for b in np.flatnonzero(top - bottom > eps):
            mine = slice(q.starts[b], q.starts[b + 1])
            pair = [growing[mine].argmax(), shrinking[mine].argmin()]
            worst = np.append(worst, q.starts[b] + np.array(pair))
        chosen = np.unique(worst)
        rest = self._last[~np.isin(self._last, chosen)]
        free = (s[rest] > q.lower[rest]) & (s[rest] < q.upper[rest])
        rest = rest[np.argsort(~free, kind="stable")]
        room = max(self._size - len(chosen), 0)
        # The latest violators come first in the next round too.
        self._last = np.concatenate([chosen, rest[:room]])
        return np.sort(self._last)
