# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the free variables: a primal-dual active-set method.

Given a guess of which variables are at a bound, the optimality conditions of the others
are one linear system,

    M_FF d + Eᵀβ = e_F,    E d = -(the imbalance of the blocks),

with M the matrix of the problem, F the free variables and E their sums per block.
Variables that leave the box go to the bound they crossed, those at a bound that the
gradient pulls inside become free, until nothing changes. On a matrix with fewer
dimensions than free variables it can cycle; then the point is left untouched.

A guess is also found by following a solution for other bounds, change after change.
"""

from itertools import pairwise

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tiebreak.data.jit import njit
from tiebreak.kernels import MatrixRows
from tiebreak.kernels.rows import add_rows, full_matrix
from tiebreak.solvers.dual_qp.problem import DualQP, DualSolution, DualState

# Above this many variables the system is factored in the precision of the rows.
_DOUBLE_LIMIT = 1500
_RIDGE: dict[type, float] = {np.float64: 1e-11, np.float32: 3e-7}
# On the way to other bounds a larger one keeps the inverse of the system accurate; it
# moves no gradient by more than this, nor by more than this share of it.
_PATH_RIDGE = 1e-4
# It is followed if free variables, their rows and all variables multiply to no more.
_MAX_WORK, _MAX_ROWS = 4e8, 2000


class ActiveSet:
    """Newton steps on the free variables of a :class:`DualState`."""

    def __init__(self, rows: MatrixRows, state: DualState) -> None:
        self.rows = rows
        self.state = state
        # The last factored system: the same variables need no second one.
        self._factored_for = np.empty(0, dtype=np.int64)
        self._factor: tuple[np.ndarray, bool] | None = None

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

    def keep(self, old: DualQP, last: DualSolution) -> np.ndarray:
        """Start from the active set of other bounds."""
        q = self.state.problem
        s = np.clip(last.s, q.lower, q.upper)
        s = np.where(last.s <= old.lower, q.lower, s)
        return np.where(last.s >= old.upper, q.upper, s)

    def follow(self, old: DualQP, last: DualSolution) -> np.ndarray | None:
        """Follow the solution from other bounds, if that is cheap."""
        # While the bounds move the solution is piecewise linear in them.
        q, n = self.state.problem, self.rows.n_rows
        upper, lower = last.s >= old.upper, last.s <= old.lower
        side = upper.astype(np.int8) - lower
        free = np.flatnonzero(side == 0)
        k, row, sign = len(free), q.row[free], q.sign[free]
        largest = self.state.diagonal.max()
        cheap = k * (n + k) * q.size <= _MAX_WORK and n <= _MAX_ROWS
        if not (q.is_box and k and largest and cheap):
            return None
        K = full_matrix(self.rows)
        bounds = np.stack([old.lower, old.upper])
        rates = np.stack([q.lower, q.upper]) - bounds
        rate = np.where(upper, rates[1], np.where(lower, rates[0], 0.0))
        share = 1.0 / (largest * np.abs(bounds).max())
        ridge = _PATH_RIDGE * largest * min(max(share, 1e-8), 1.0)
        M = np.eye(k + 1) * ridge
        M[0], M[:, 0], M[0, 0] = q.balanced, q.balanced, not q.balanced
        M[1:, 1:] += sign[:, None] * K[np.ix_(row, row)] * sign
        Q = np.zeros((min(q.size, 2 * k + 500) + 2,) * 2)
        Q[: k + 1, : k + 1] = np.linalg.inv(M)
        Q[0, 0] *= q.balanced
        # How fast the level, the free variables and the values of the rows move.
        f, x = K @ q.collect(rate, n)[0], np.zeros(len(Q))
        x[: k + 1] = Q[: k + 1, : k + 1] @ np.append(-rate.sum(), -sign * f[row])
        f += (sign * x[1 : k + 1]) @ K[row]
        e = q.linear - q.values(last.fitted)
        off = e - (e[free].mean() if q.balanced else 0.0)
        off[off * side <= 0] = 0.0
        s, free = last.s.copy(), np.append(free, np.zeros(len(Q) - k, dtype=np.int64))
        system, way, pace = (Q, free, k, ridge), (bounds, rates), (x, f, rate)
        if not follow_bounds(K, (q.row, q.sign), system, way, (side, s, off), pace):
            return None
        s = np.where(side > 0, q.upper, np.where(side < 0, q.lower, s))
        return np.clip(s, q.lower, q.upper)

    def _is_solved(self, s: np.ndarray, rest: np.ndarray, eps: float) -> bool:
        """Whether the last system left neither gradient nor imbalance."""
        if np.abs(rest).max() > 0.5 * eps:
            return False
        out, size = self.state.imbalance(s), self.state.imbalance(np.abs(s))
        return bool((np.abs(out) <= 1e-12 * size).all())

    def _solve(
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
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
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
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
            level = np.mean(0.5 * (e[mirrored] + e[second]))
        step[first] = x[:, 0] - level * x[:, 1]
        if len(second):
            half = 0.5 * step[mirrored]
            spread = 0.5 * (wanted[0] - (step.sum() - 2.0 * half.sum())) / len(second)
            step[mirrored], step[second] = spread + half, spread - half
        return step, np.full(q.n_blocks, level)

    def _solve_blocks(
        self, free: np.ndarray, e: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
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

    def _complete(
        self, levels: np.ndarray, side: np.ndarray, e: np.ndarray
    ) -> np.ndarray:
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

    def _solve_for(
        self, which: np.ndarray, right: np.ndarray, *, mend: bool = False
    ) -> np.ndarray:
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


@njit(cache=True, nogil=True)
def follow_bounds(K, variables, system, way, point, pace):  # type: ignore[no-untyped-def]
    """Follow the solution while the bounds move by ``rates``; True at the end."""
    # ``Q`` is the inverse of the system of the level and of k free variables, ``x`` and
    # ``f`` how fast these and the values of the rows move, ``off`` how far gradients at
    # a bound are from the level. Where a variable arrives at a bound or leaves it, they
    # change by multiples of one vector u.
    (row, sign), (Q, free, k, ridge), (bounds, rates) = variables, system, way
    (side, s, off), (x, f, rate) = point, pace
    u, weight, speed = np.empty(len(Q)), np.empty(len(Q)), np.empty(len(s))
    place, at = np.empty(len(Q), dtype=np.int64), 0.0
    for _ in range(4 * len(s)):
        t = 1.0 - at
        who, to, p = -1, 0, 0
        for a in range(k):
            i = free[a]
            for b in range(2):
                fast = x[a + 1] - rates[b, i]
                room = bounds[b, i] + at * rates[b, i] - s[i]
                if (fast > 0.0) == (b == 1) and abs(room) < t * abs(fast):
                    t, who, to, p = room / fast, i, 2 * b - 1, a + 1
        for i in range(len(s)):
            speed[i] = -sign[i] * f[row[i]] - x[0] - ridge * rate[i]
            if side[i] * (off[i] + t * speed[i]) < 0.0:
                t, who, to, p = -off[i] / speed[i], i, 0, 0
        t = max(t, 0.0)
        at += t
        for i in range(len(s)):
            off[i] += t * speed[i]
        for a in range(k):
            s[free[a]] += t * x[a + 1]
            off[free[a]] = 0.0
        if who < 0:
            return True
        for b in range(k + 1):
            u[b] = Q[p, b]  # p = 0, the level, for one that becomes free
        d = -u[p]
        if to == 0:
            for a in range(k):
                place[a], i = a + 1, free[a]
                weight[a] = sign[i] * sign[who] * K[row[who], row[i]]
            add_rows(Q, place[:k], weight[:k], u[: k + 1])
            d = K[row[who], row[who]] + ridge - u[0]
            for a in range(k):
                d -= u[a + 1] * weight[a]
            k += 1
            if d <= 0.1 * ridge or k == len(Q):
                return False
            for b in range(k + 1):
                Q[k, b] = Q[b, k] = 0.0
            b = (side[who] + 1) // 2
            s[who] = bounds[b, who] + at * rates[b, who]
            x[k], u[k], free[k - 1] = rate[who], -1.0, who
            change, rate[who] = -speed[who] / d, 0.0
        elif d < 0.0:
            rate[who] = rates[(to + 1) // 2, who]
            change = (x[p] - rate[who]) / d
        else:
            return False
        side[who] = to
        for a in range(k + 1):
            x[a] += change * u[a]
            c = u[a] / d
            for b in range(k + 1):
                Q[a, b] += c * u[b]
        for a in range(k):
            place[a] = row[free[a]]
            weight[a] = change * sign[free[a]] * u[a + 1]
        add_rows(K, place[:k], weight[:k], f)
        if to != 0:
            x[p], free[p - 1] = x[k], free[k - 1]
            for b in range(k + 1):
                Q[p, b] = Q[b, p] = Q[k, b]
            Q[p, p] = Q[k, k]
            k -= 1
    return False
