# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables of a box program."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from tiebreak.solvers.active_set import ActiveSet


class BoxActiveSet(ActiveSet):
    """The linear systems of a :class:`~tiebreak.solvers.BoxQP`.

    Two free variables of one row, a tie and its mirror, have opposite signs there: only
    their difference moves f, and their sum is free to restore the balance. Optimality
    in the sum says what the level is, so it is no longer an unknown.

    Parameters
    ----------
    rows : MatrixRows
        Rows of the matrix.
    state : DualState
        Point to improve in place.
    """

    def _solve(
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        q = self.state.problem
        _, first, code = np.unique(q.row[free], return_index=True, return_inverse=True)
        second = np.setdiff1d(np.arange(len(free)), first)
        if len(second) and not q.balanced:
            return None
        try:
            right = np.column_stack([e[first], np.ones(len(first))])
            x = self._solve_for(free[first], right)
        except LinAlgError:
            return None
        if not np.isfinite(x).all():
            return None
        step = np.zeros(len(free))
        mirrored = first[code[second]]
        if not q.balanced:
            level = 0.0
        elif len(second) == 0:
            level = (x[:, 0].sum() - wanted[0]) / x[:, 1].sum()
        else:
            level = np.mean(0.5 * (e[mirrored] + e[second]))
        step[first] = x[:, 0] - level * x[:, 1]
        if len(second):
            half = 0.5 * step[mirrored]
            spread = 0.5 * (wanted[0] - (step.sum() - 2.0 * half.sum())) / len(second)
            step[mirrored], step[second] = spread + half, spread - half
        return step, np.array([level])
