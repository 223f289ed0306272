# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables of a block program."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.linalg import LinAlgError

from tiebreak.solvers.active_set import ActiveSet


class BlockActiveSet(ActiveSet):
    """The linear systems of a :class:`~tiebreak.solvers.BlockQP`.

    The matrix of the free variables alone is often singular (they share rows, there are
    more of them than it has dimensions) where the system is not, so a multiple of EᵀE
    is added to it, which changes no solution. What is undetermined even then, how two
    blocks share what rows free in both receive, is decided by a small ridge.

    Parameters
    ----------
    rows : MatrixRows
        Rows of the matrix.
    state : DualState
        Point of a block program, to improve in place.
    """

    def _solve(
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        # Blocks without a free variable have no level yet: NaN.
        q = self.state.problem
        block, code = np.unique(q.block[free], return_inverse=True)
        scale = 1e-12 * self.state.imbalance(np.abs(self.state.s))
        if (np.abs(np.delete(wanted, block)) > np.delete(scale, block)).any():
            return None
        E = np.zeros((len(free), len(block)))
        E[np.arange(len(free)), code] = 1.0
        try:
            x = self._solve_for(free, np.column_stack([e, E]))
            schur = E.T @ x[:, 1:]
            level = np.linalg.solve(schur, E.T @ x[:, 0] - wanted[block])
        except LinAlgError:
            return None
        step = x[:, 0] - x[:, 1:] @ level
        if not (np.isfinite(step).all() and np.isfinite(level).all()):
            return None
        levels = np.full(len(wanted), np.nan)
        # The added multiple of EᵀE took its share of the level.
        levels[block] = level + self._weight * wanted[block]
        return step, levels

    def _mended(self, M: np.ndarray, which: np.ndarray, size: float) -> np.ndarray:
        self._weight = size
        starts = np.searchsorted(which, self.state.problem.starts)
        for begin, end in pairwise(starts):
            M[begin:end, begin:end] += M.dtype.type(size)
        return M
