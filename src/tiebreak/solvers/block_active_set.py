# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables, for programs with one balance per block.

Given a guess of which variables sit at a bound, the optimality conditions of the others
are one linear system,

    M_FF d + Eᵀβ = e_F,    E d = -(what the blocks are out of balance by),

with M the matrix of the program, F the free variables and E summing them up per block.
M_FF alone is often singular (free variables that share a row, more of them than the
matrix has dimensions) where the system is not, so a multiple of EᵀE is added to it,
which changes no solution. What is undetermined even then, how two blocks share what
rows free in both receive, is decided by a small ridge. Variables that leave the box go
to the bound they crossed, those at a bound that the gradient pulls inside become free,
and the guess is right when nothing changes. If it never is, the point stays as it was.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tiebreak.kernels import MatrixRows
from tiebreak.solvers.block_qp import BlockState
from tiebreak.solvers.block_rounds import add_to_directions, block_matrix

__all__ = ["BlockActiveSet"]

# Above this many free variables the system is factored in the precision of the rows.
_DOUBLE_LIMIT = 1500
_RIDGE: dict[type, float] = {np.float64: 1e-11, np.float32: 3e-7}


class BlockActiveSet:
    """Newton steps on the free variables of a :class:`BlockState`.

    Parameters
    ----------
    rows : MatrixRows
        Rows of the matrix.
    state : BlockState
        Point to improve in place.
    """

    def __init__(self, rows: MatrixRows, state: BlockState) -> None:
        self.rows = rows
        self.state = state
        # The last factored system: the same free variables need no second one.
        self._free = np.empty(0, dtype=np.int64)
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
        fewest, stalled = np.inf, 0
        for _ in range(max_systems):
            free = np.flatnonzero(side == 0)
            if not 0 < len(free) <= max_free:
                return False
            bound = np.where(side > 0, q.upper, q.lower)
            snapped = np.flatnonzero((side != 0) & (s != bound))
            self._move(snapped, bound[snapped] - s[snapped], f)
            s[snapped] = bound[snapped]
            e = q.linear - q.values(f)
            solved = self._solve(free, e[free], -q.totals(s))
            if solved is None:
                return False
            step, levels = solved
            self._move(free, step, f)
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
        q = self.state.problem
        if np.abs(rest).max() > 0.5 * eps:
            return False
        return bool((np.abs(q.totals(s)) <= 1e-12 * q.totals(np.abs(s))).all())

    def _move(self, which: np.ndarray, step: np.ndarray, f: np.ndarray) -> None:
        add_to_directions(self.rows, self.state, which, step, f)

    def _complete(
        self, levels: np.ndarray, side: np.ndarray, e: np.ndarray
    ) -> np.ndarray:
        """Levels of blocks without a free variable: between the two sides."""
        first = self.state.problem.starts[:-1]
        above = np.minimum.reduceat(np.where(side > 0, e, np.inf), first)
        below = np.maximum.reduceat(np.where(side < 0, e, -np.inf), first)
        with np.errstate(invalid="ignore"):
            middle = 0.5 * (above + below)
        # One side may be empty; then its variables are all on the other.
        middle = np.where(np.isfinite(above), middle, below)
        middle = np.where(np.isfinite(below), middle, above)
        return np.where(np.isnan(levels), middle, levels)

    def _solve(
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Newton step of the free variables and the levels of their blocks.

        Levels of other blocks are NaN; None when the system cannot be solved.
        """
        q = self.state.problem
        block, code = np.unique(q.block[free], return_inverse=True)
        scale = 1e-12 * q.totals(np.abs(self.state.s))
        if (np.abs(np.delete(wanted, block)) > np.delete(scale, block)).any():
            return None
        E = np.zeros((len(free), len(block)))
        E[np.arange(len(free)), code] = 1.0
        try:
            if self._factor is None or not np.array_equal(free, self._free):
                # The old factor goes first: both together would double the memory.
                self._factor = None
                self._factor, self._weight = self._factored(free, E)
                self._free = free
            # The added multiple of EᵀE needs its share on the right side.
            right = e + self._weight * (E @ wanted[block])
            both = np.column_stack([right, E]).astype(self._factor[0].dtype)
            x = cho_solve(self._factor, both, check_finite=False).astype(np.float64)
            schur = E.T @ x[:, 1:]
            level = np.linalg.solve(schur, E.T @ x[:, 0] - wanted[block])
        except (LinAlgError, np.linalg.LinAlgError):
            return None
        step = x[:, 0] - x[:, 1:] @ level
        levels = np.full(q.n_blocks, np.nan)
        levels[block] = level
        if not (np.isfinite(step).all() and np.isfinite(level).all()):
            return None
        return step, levels

    def _factored(
        self, free: np.ndarray, E: np.ndarray
    ) -> tuple[tuple[np.ndarray, bool], float]:
        n = len(free)
        dtype = np.float64 if n <= _DOUBLE_LIMIT else self.rows.dtype
        M = block_matrix(self.rows, self.state, free, dtype)
        weight = float(np.trace(M)) / n
        for block in E.T:
            mine = np.flatnonzero(block)
            M[np.ix_(mine, mine)] += dtype(weight)
        M[np.diag_indices_from(M)] += _RIDGE[dtype] * weight
        return cho_factor(M.T, overwrite_a=True, check_finite=False), weight
