# SPDX-License-Identifier: BSD-3-Clause
"""Decomposition by working sets, for programs with one balance per block.

As :mod:`tiebreak.solvers.smo`: each round takes the variables that violate optimality
most, together with those of the round before, solves that small program by compiled
pair steps on a block of the matrix that fits the processor's cache, and updates the
values of all rows once. Here a violation is measured against the own block, and of
every block that violates at all the worst variable of either side is taken, so that
nothing waits for a partner. Many variables share a row, so one pass over a few hundred
rows serves several times as many of them.
"""

from __future__ import annotations

import numpy as np

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.block_qp import BlockState
from tiebreak.solvers.block_steps import solve_blocks

__all__ = ["BlockRounds", "add_to_directions", "block_matrix"]

_SIZE = 512
# Programs up to this size are one working set.
_WHOLE = 1024
_STEPS_PER_VARIABLE = 20


def block_matrix(
    rows: MatrixRows, state: BlockState, which: np.ndarray, dtype: type
) -> np.ndarray:
    """The matrix of the program between some of its variables."""
    q = state.problem
    K = rows.block(q.row[which], np.ones(len(which)), dtype)
    mine = q.loading[q.block[which]]
    if q.n_directions > 1 or not (mine == 1.0).all():
        K *= (mine @ mine.T).astype(dtype, copy=False)
    return K


def add_to_directions(
    rows: MatrixRows,
    state: BlockState,
    which: np.ndarray,
    step: np.ndarray,
    f: np.ndarray,
) -> None:
    """Add the effect of a step of some variables to ``f`` in place."""
    q = state.problem
    moved = which[step != 0]
    step = step[step != 0]
    for k in range(q.n_directions):
        part = q.loading[q.block[moved], k]
        used = part != 0
        # Several variables of a row are one coefficient of it.
        row, code = np.unique(q.row[moved[used]], return_inverse=True)
        if len(row):
            rows.add(row, np.bincount(code, part[used] * step[used]), f[k])


class BlockRounds:
    """Rounds of working-set steps on a :class:`BlockState`.

    Parameters
    ----------
    rows : MatrixRows
        Rows of the matrix.
    state : BlockState
        Point to improve in place.

    Attributes
    ----------
    n_steps : int
        Pair steps taken so far.
    n_rounds : int
        Rounds so far.
    """

    name = "working sets"
    # Steps per variable after which other methods are worth a try.
    patience = 2

    def __init__(self, rows: MatrixRows, state: BlockState) -> None:
        self.rows = rows
        self.state = state
        self.n_steps = 0
        self.n_rounds = 0
        size = state.problem.size
        wanted = size if size <= _WHOLE else _SIZE
        # With all rows in the cache any working set fits.
        fits = rows.capacity == rows.n_rows
        self._size = int(wanted if fits else min(wanted, rows.capacity))
        self._last = np.empty(0, dtype=np.int64)
        self._whole: np.ndarray | None = None

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
        chosen = self._select(e, eps)
        local_e, local_s = e[chosen], s[chosen]
        self.n_steps += solve_blocks(
            self._matrix(chosen),
            local_e,
            local_s,
            q.lower[chosen],
            q.upper[chosen],
            np.searchsorted(q.block[chosen], np.arange(q.n_blocks + 1)),
            max(0.5 * eps, 0.1 * violation),
            _STEPS_PER_VARIABLE * self._size,
        )
        step = local_s - s[chosen]
        add_to_directions(self.rows, self.state, chosen, step, self.state.f)
        s[chosen] = local_s
        self._last = chosen
        self.n_rounds += 1

    def _matrix(self, chosen: np.ndarray) -> np.ndarray:
        """Form the matrix of a working set; that of all variables only once."""
        if len(chosen) < self.state.problem.size:
            return block_matrix(self.rows, self.state, chosen, np.float64)
        if self._whole is None:
            self._whole = block_matrix(self.rows, self.state, chosen, np.float64)
        return self._whole

    def _select(self, e: np.ndarray, eps: float) -> np.ndarray:
        """The worst violators of either side, then the last set, free ones first."""
        q, s = self.state.problem, self.state.s
        if self._size == q.size:
            return np.arange(q.size)
        growing, shrinking = self.state.sides(e)
        first = q.starts[:-1]
        top = np.maximum.reduceat(growing, first)
        bottom = np.minimum.reduceat(shrinking, first)
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
        return np.sort(np.concatenate([chosen, rest[:room]]))
