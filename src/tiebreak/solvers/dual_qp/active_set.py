# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables: a primal-dual active-set method.

Given a guess of which variables are at a bound, the optimality conditions of the others
are one linear system,

    M_FF d + Eᵀβ = e_F,    E d = -(the imbalance of the blocks),

with M the matrix of the problem, F the free variables and E their sums per block.
Variables that leave the box go to the bound they crossed, those at a bound that the
gradient pulls inside become free, until nothing changes. On a matrix with fewer
dimensions than free variables it can cycle; then the point is left untouched.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tiebreak.data.arrays import Codes, Floats
from tiebreak.kernels import MatrixRows
from tiebreak.solvers.dual_qp.problem import DualState

# Above this many variables the system is factored in the precision of the rows.
_DOUBLE_LIMIT = 1500
_RIDGE: dict[type, float] = {np.float64: 1e-11, np.float32: 3e-7}


class ActiveSet:
    """Newton steps on the free variables of a :class:`DualState`."""

    def __init__(self, rows: MatrixRows, state: DualState) -> None:
        self.rows = rows
        self.state = state
        # The last factored system: the same variables need no second one.
        self._factored_for = np.empty(0, dtype=np.int64)
        self._factor: tuple[Floats, bool] | None = None

    def settle(
        self, eps: float, *, max_systems: int = 12, max_free: int = 6000
    ) -> bool:
        """Find the optimal active set from a near-optimal point, in place."""
        # A variable at a bound becomes free when its gradient violates by more than
        # eps. Says whether a consistent active set was found; if not, nothing has
        # changed.
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

    def _is_solved(self, s: Floats, rest: Floats, eps: float) -> bool:
        """Whether the last system left neither gradient nor imbalance."""
        if np.abs(rest).max() > 0.5 * eps:
            return False
        out, size = self.state.imbalance(s), self.state.imbalance(np.abs(s))
        return bool((np.abs(out) <= 1e-12 * size).all())

    def _solve(
        self, free: Codes, e: Floats, wanted: Floats
    ) -> tuple[Floats, Floats] | None:
        """Newton step of the free variables to sums ``wanted``, and the levels."""
        # None when the system cannot be solved; NaN for blocks without a free variable.
        q = self.state.problem
        try:
            if q.is_box or not q.balanced:
                found = self._solve_box(free, e, wanted)
            else:
                found = self._solve_blocks(free, e, wanted)
        except LinAlgError:
            return None
        return found if found and np.isfinite(found[0]).all() else None

    def _solve_box(
        self, free: Codes, e: Floats, wanted: Floats
    ) -> tuple[Floats, Floats] | None:
        """Solve one block, with an unknown per row."""
        # Two free variables of one row, a tie and its mirror, have opposite signs
        # there: only their difference moves f, and their sum is free to restore the
        # balance. Optimality in the sum says what the level is, so it is no longer an
        # unknown.
        q = self.state.problem
        _, first, code = np.unique(q.row[free], return_index=True, return_inverse=True)
        others = np.ones(len(free), dtype=bool)
        others[first] = False
        second = np.flatnonzero(others)
        if len(second) and not q.balanced:
            return None
        right = np.column_stack([e[first], np.ones(len(first))])
        x = self._solve_for(free[first], right)
        step = np.zeros(len(free))
        mirrored = first[code[second]]
        if not q.balanced:
            level = 0.0
        elif len(second) == 0:
            level = (x[:, 0].sum() - wanted[0]) / x[:, 1].sum()
        else:
            level = float(np.mean(0.5 * (e[mirrored] + e[second])))
        step[first] = x[:, 0] - level * x[:, 1]
        if len(second):
            half = 0.5 * step[mirrored]
            spread = 0.5 * (wanted[0] - (step.sum() - 2.0 * half.sum())) / len(second)
            step[mirrored], step[second] = spread + half, spread - half
        return step, np.full(q.n_blocks, level)

    def _solve_blocks(
        self, free: Codes, e: Floats, wanted: Floats
    ) -> tuple[Floats, Floats] | None:
        """Solve with an unknown per free variable and per block."""
        # M_FF alone is often singular (variables share rows, there are more of them
        # than it has dimensions) where the system is not: `_solve_for` adds a multiple
        # of EᵀE, which changes no solution. A small ridge decides what is left
        # undetermined.
        q = self.state.problem
        block, code = np.unique(q.block[free], return_inverse=True)
        scale = 1e-12 * self.state.imbalance(np.abs(self.state.s))
        if (np.abs(np.delete(wanted, block)) > np.delete(scale, block)).any():
            return None
        E = np.zeros((len(free), len(block)))
        E[np.arange(len(free)), code] = 1.0
        x = self._solve_for(free, np.column_stack([e, E]), mend=True)
        level = np.linalg.solve(E.T @ x[:, 1:], E.T @ x[:, 0] - wanted[block])
        levels = np.full(len(wanted), np.nan)
        # The added multiple of EᵀE took its share of the level.
        levels[block] = level + self._added * wanted[block]
        return x[:, 0] - x[:, 1:] @ level, levels

    def _complete(self, levels: Floats, side: NDArray[np.int8], e: Floats) -> Floats:
        """Set NaN levels, of blocks without a free variable, between the sides."""
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

    def _solve_for(self, which: Codes, right: Codes, *, mend: bool = False) -> Floats:
        """Solve the matrix of some variables for several right sides."""
        if self._factor is None or not np.array_equal(which, self._factored_for):
            # The old factor goes first: both together would double the memory.
            self._factor = None
            n = len(which)
            dtype = np.float64 if n <= _DOUBLE_LIMIT else self.rows.dtype
            q = self.state.problem
            M = q.matrix(self.rows, which, dtype)
            self._added = size = float(np.trace(M)) / n
            for begin, end in pairwise(
                np.searchsorted(which, q.starts) if mend else ()
            ):
                M[begin:end, begin:end] += M.dtype.type(size)
            M[np.diag_indices_from(M)] += _RIDGE[dtype] * size
            self._factor = cho_factor(M.T, overwrite_a=True, check_finite=False)
            self._factored_for = which
        right = right.astype(self._factor[0].dtype)
        return cho_solve(self._factor, right, check_finite=False).astype(np.float64)
