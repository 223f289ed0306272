# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables: a primal-dual active-set method.

Given a guess of which variables sit at a bound, the optimality conditions of the others
are one linear system,

    M_FF d + Eᵀβ = e_F,    E d = -(what the blocks are out of balance by),

with M the matrix of the program, F the free variables and E summing them up per block.
Those that leave the box go to the bound they crossed, those at a bound that the
gradient pulls inside become free, and the guess is right when nothing changes: usually
after three to five systems once the working-set rounds have come near, where they alone
would need millions of steps. On a matrix with fewer dimensions than free variables the
guess can cycle; then the point is left untouched. How the system is solved depends on
the program: :mod:`tiebreak.solvers.box_active_set` and
:mod:`tiebreak.solvers.block_active_set`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.dual_program import DualState

# Above this many variables the system is factored in the precision of the rows.
_DOUBLE_LIMIT = 1500
_RIDGE: dict[type, float] = {np.float64: 1e-11, np.float32: 3e-7}


class ActiveSet(ABC):
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
        # The last factored system: the same variables need no second one.
        self._factored_for = np.empty(0, dtype=np.int64)
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
        q, rows = self.state.problem, self.rows
        s, f = self.state.s.copy(), self.state.f.copy()
        side = np.where(s >= q.upper, 1, np.where(s <= q.lower, -1, 0)).astype(np.int8)
        fewest, stalled = np.inf, 0
        for _ in range(max_systems):
            free = np.flatnonzero(side == 0)
            if not 0 < len(free) <= max_free:
                return False
            bound = np.where(side > 0, q.upper, q.lower)
            snapped = np.flatnonzero((side != 0) & (s != bound))
            q.add(rows, snapped, bound[snapped] - s[snapped], f)
            s[snapped] = bound[snapped]
            e = q.linear - q.values(f)
            solved = self._solve(free, e[free], -self.state.imbalance(s))
            if solved is None:
                return False
            step, levels = solved
            q.add(rows, free, step, f)
            s[free] += step
            e = q.linear - q.values(f)
            off = e - self._complete(levels, side, e)[q.block]
            changed = side.copy()
            changed[free[s[free] <= q.lower[free]]] = -1
            changed[free[s[free] >= q.upper[free]]] = 1
            changed[(side < 0) & (off > eps)] = 0
            changed[(side > 0) & (off < -eps)] = 0
            n_changes = int((changed != side).sum())
            if n_changes == 0 and self._is_solved(s, off[free], eps):
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
        out, size = self.state.imbalance(s), self.state.imbalance(np.abs(s))
        return bool((np.abs(out) <= 1e-12 * size).all())

    @abstractmethod
    def _solve(
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Newton step of the free variables, with sums ``wanted``, and the levels.

        None when the system cannot be solved.
        """

    def _complete(
        self, levels: np.ndarray, side: np.ndarray, e: np.ndarray
    ) -> np.ndarray:
        """Levels of blocks without a free variable, NaN so far: between the sides."""
        if not np.isnan(levels).any():
            return levels
        first = self.state.problem.starts[:-1]
        above = np.minimum.reduceat(np.where(side > 0, e, np.inf), first)
        below = np.maximum.reduceat(np.where(side < 0, e, -np.inf), first)
        with np.errstate(invalid="ignore"):
            middle = 0.5 * (above + below)
        # One side may be empty; then its variables are all on the other.
        middle = np.where(np.isfinite(above), middle, below)
        middle = np.where(np.isfinite(below), middle, above)
        return np.where(np.isnan(levels), middle, levels)

    def _solve_for(self, which: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Solve the matrix of some variables for several right sides."""
        if self._factor is None or not np.array_equal(which, self._factored_for):
            # The old factor goes first: both together would double the memory.
            self._factor = None
            n = len(which)
            dtype = np.float64 if n <= _DOUBLE_LIMIT else self.rows.dtype
            M = self.state.problem.matrix(self.rows, which, dtype)
            size = float(np.trace(M)) / n
            M = self._mended(M, which, size)
            M[np.diag_indices_from(M)] += _RIDGE[dtype] * size
            self._factor = cho_factor(M.T, overwrite_a=True, check_finite=False)
            self._factored_for = which
        right = right.astype(self._factor[0].dtype)
        return cho_solve(self._factor, right, check_finite=False).astype(np.float64)

    def _mended(self, M: np.ndarray, which: np.ndarray, size: float) -> np.ndarray:
        """The matrix to factor for some variables; a program may have to add to it."""
        return M
