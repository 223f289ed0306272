# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables: a primal-dual active-set method.

Given a guess of which variables sit at a bound, the optimality conditions of the others
are one linear system,

    K̂_FF d + β 1 = e_F,    1ᵀ d = -Σ s  (when balanced),

with F the free variables. Those that leave the box go to the bound they crossed, those
at a bound that the gradient pulls inside become free, and the guess is right when
nothing changes: usually after three to five systems once the working-set rounds have
come near, where they alone would need millions of steps. On a matrix with fewer
dimensions than free variables the guess can cycle; then the point is left untouched.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.box_qp import DualState

__all__ = ["ActiveSetSolver"]

# Above this many free variables the system is factored in the precision of the rows.
_DOUBLE_LIMIT = 1500
_RIDGE: dict[type, float] = {np.float64: 1e-11, np.float32: 3e-7}


class ActiveSetSolver:
    """Newton steps on the free variables of a :class:`DualState`.

    Parameters
    ----------
    rows : MatrixRows
        Rows of the matrix.
    state : DualState
        Point to improve in place.
    """

    def __init__(self, rows: MatrixRows, state: DualState) -> None:
        self.rows = rows
        self.state = state
        # The last factored system: the same free variables need no second one.
        self._lead = np.empty(0, dtype=np.int64)
        self._factor: tuple[np.ndarray, bool] | None = None

    def settle(
        self, eps: float, *, max_systems: int = 12, max_free: int = 6000
    ) -> bool:
        """Find the optimal active set from a near-optimal point, in place.

        Parameters
        ----------
        eps : float
            A variable at a bound becomes free when its gradient violates by more.
        max_systems : int
            Linear systems to try.
        max_free : int
            Largest system to factor.

        Returns
        -------
        bool
            Whether a consistent active set was found; if not, nothing has changed.
        """
        q = self.state.problem
        s, f = self.state.s.copy(), self.state.f.copy()
        side = np.where(s >= q.upper, 1, np.where(s <= q.lower, -1, 0)).astype(np.int8)
        fewest = np.inf
        stalled = 0
        for _ in range(max_systems):
            free = np.flatnonzero(side == 0)
            if not 0 < len(free) <= max_free:
                return False
            bound = np.where(side > 0, q.upper, q.lower)
            snapped = np.flatnonzero((side != 0) & (s != bound))
            self._move(f, snapped, bound[snapped] - s[snapped])
            s[snapped] = bound[snapped]
            e = q.linear - q.sign * f[q.row]
            solved = self._solve_free(free, e[free], -s.sum())
            if solved is None:
                return False
            step, level = solved
            self._move(f, free, step)
            s[free] += step
            e = q.linear - q.sign * f[q.row] - level
            changed = side.copy()
            changed[free[s[free] <= q.lower[free]]] = -1
            changed[free[s[free] >= q.upper[free]]] = 1
            changed[(side < 0) & (e > eps)] = 0
            changed[(side > 0) & (e < -eps)] = 0
            n_changes = int((changed != side).sum())
            if n_changes == 0 and self._is_solved(s, e[free], eps):
                self.state.s[:], self.state.f[:] = s, f
                return True
            stalled = stalled + 1 if n_changes >= fewest else 0
            fewest = min(fewest, n_changes)
            if stalled >= 3 or n_changes > len(free) // 2 + 16:
                return False
            side = changed
        return False

    def _is_solved(self, s: np.ndarray, rest: np.ndarray, eps: float) -> bool:
        """Whether the last system left neither gradient nor imbalance."""
        if np.abs(rest).max() > 0.5 * eps:
            return False
        balanced = self.state.problem.balanced
        return not balanced or abs(s.sum()) <= 1e-12 * np.abs(s).sum()

    def _move(self, f: np.ndarray, which: np.ndarray, step: np.ndarray) -> None:
        """Add the effect of a step of some variables to ``f``."""
        q = self.state.problem
        if len(which):
            self.rows.add(q.row[which], q.sign[which] * step, f)

    def _solve_free(
        self, free: np.ndarray, e: np.ndarray, imbalance: float
    ) -> tuple[np.ndarray, float] | None:
        """Newton step of the free variables and the level β; None when not solvable.

        Two free variables of one row, a tie and its mirror, have opposite signs there:
        only their difference moves f, and their sum is free to restore the balance.
        Optimality in the sum says what the level is, so it is no longer an unknown.
        """
        q = self.state.problem
        _, first, code = np.unique(q.row[free], return_index=True, return_inverse=True)
        second = np.setdiff1d(np.arange(len(free)), first)
        if len(second) and not q.balanced:
            return None
        right = np.ones((len(first), 2))
        right[:, 0] = e[first]
        x = self._solve(free[first], right)
        if x is None:
            return None
        step = np.zeros(len(free))
        if not q.balanced:
            step[first] = x[:, 0]
            return step, 0.0
        if len(second) == 0:
            level = (x[:, 0].sum() - imbalance) / x[:, 1].sum()
            step[first] = x[:, 0] - level * x[:, 1]
            return step, float(level)
        mirrored = first[code[second]]
        level = float(np.mean(0.5 * (e[mirrored] + e[second])))
        step[first] = x[:, 0] - level * x[:, 1]
        half = 0.5 * step[mirrored]
        spread = 0.5 * (imbalance - (step.sum() - 2.0 * half.sum())) / len(second)
        step[mirrored], step[second] = spread + half, spread - half
        return step, level

    def _solve(self, lead: np.ndarray, right: np.ndarray) -> np.ndarray | None:
        """Solve the block of the matrix that belongs to some variables."""
        try:
            if self._factor is None or not np.array_equal(lead, self._lead):
                # The old factor goes first: both together would double the memory.
                self._factor = None
                self._factor = self._factored(lead)
                self._lead = lead
            right = right.astype(self._factor[0].dtype)
            x = cho_solve(self._factor, right, check_finite=False).astype(np.float64)
        except LinAlgError:
            return None
        return x if np.isfinite(x).all() else None

    def _factored(self, lead: np.ndarray) -> tuple[np.ndarray, bool]:
        q, n = self.state.problem, len(lead)
        dtype = np.float64 if n <= _DOUBLE_LIMIT else self.rows.dtype
        block = self.rows.block(q.row[lead], q.sign[lead], dtype)
        block[np.diag_indices_from(block)] += _RIDGE[dtype] * np.trace(block) / n
        return cho_factor(block.T, overwrite_a=True, check_finite=False)
