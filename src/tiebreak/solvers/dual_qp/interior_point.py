# SPDX-License-Identifier: BSD-3-Clause
"""Interior-point steps for a matrix with a thin factor, ``K = FᵀF`` of r rows.

With slacks ``p = s - lower`` and ``t = upper - s`` and multipliers ``z, w ≥ 0`` the
conditions are

    e - β_b - w + z = 0,    p z = μ,    t w = μ,    Σ_{block b} s = 0 for every b,

and every Newton step reduces to a symmetric system of q r unknowns (q directions), and
one with an unknown per balance. Predictor and corrector as Mehrotra 1992.

Variables of one block and one sign are a *part*; ``point`` of shape (5, m) holds s, p,
t, z and w.
"""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.threads import chunks, in_threads
from tiebreak.solvers.dual_qp.problem import DualQP, DualState

_BACK_OFF = 0.995
# Columns of the factor that are weighted at a time, so that they stay in the cache.
_COLUMNS = 4096
# Rows of the factor from which half of a symmetric product is worth its overhead.
_MANY = 50


def interior_point(
    factor: Floats, state: DualState, tol: float, *, max_steps: int = 200
) -> int:
    """Solve from scratch to a relative gap and residual of ``tol``; returns the steps.

    The barrier falls to tol²: then a variable is that close to its bound, or its
    multiplier is within tol. ``state`` takes a point of larger dual value.
    """
    q, order, of_block = _parts(state.problem)
    # Unit-free variables: the largest bound is 1 and y is of order 1.
    scale = float(max(q.upper.max(), -q.lower.min()))
    newton = _Newton(factor, q, of_block, scale)
    point = np.ones((5, q.size))
    # A variable that cannot move gets next to no room instead of none.
    point[1] = point[2] = np.maximum(0.5 * (q.upper - q.lower) / scale, 1e-30)
    point[0] = 0.5 * (q.lower + q.upper) / scale
    levels = np.zeros(state.problem.n_blocks)
    kept, best, least, since, steps = point.copy(), np.inf, np.inf, 0, 0
    # The directions are unknowns of their own, zero at first: what the box's middle
    # would make of them can be larger than the solution by the number of variables.
    u = np.zeros((q.n_directions, len(factor)))
    while True:
        _, p, t, z, w = point
        missing = newton.directions(point[0]) - u
        gradient = q.linear - newton.seen(u, levels)
        total = float(p @ z + t @ w)
        residual = float(np.abs(gradient - w + z).max())
        residual += float(np.abs(newton.values(missing)).max(initial=0.0))
        size = abs(float(q.linear @ point[0])) + 1e-3 * tol
        since += 1
        if total < 0.98 * best or residual < 0.98 * least:
            since = 0
        best, least = min(best, total), min(least, residual)
        # Residuals end at what rounding leaves of them, complementarity does not.
        if total <= best and residual <= max(tol, 10.0 * least):
            kept[:] = point
        small = 2 * q.size * max(tol * tol, 1e-16)
        done = total <= min(tol * size, small) and residual <= tol
        exact = total <= 2e-20 * q.size
        if done or exact or since > 5 or steps == max_steps:
            break
        steps += 1
        balance = -np.add.reduceat(point[0], newton.begin)
        try:
            newton.prepare(point)
            # Predictor: straight at the solution.
            step, _, _ = newton.solve(gradient, missing, balance)
            moves = _moves(point, step)
            ahead = point[1:] + _longest(point, moves) * moves[1:]
            left = float(ahead[0] @ ahead[2] + ahead[1] @ ahead[3])
            if not np.isfinite(left):
                break
            center = total / (2 * q.size) * min(max(left / total, 0.0) ** 3, 1.0)
            # Corrector: towards the central path, with the second-order terms.
            up, down = (center - step * moves[3]) / p, (center + step * moves[4]) / t
            right = gradient + up - down
            step, u_step, level_step = newton.solve(right, missing, balance)
        except LinAlgError:
            break
        # One length for all: the directions are on both sides of the conditions.
        moves = _moves(point, step, up, down)
        a = _BACK_OFF * _longest(point, moves)
        if not np.isfinite(moves).all():
            break
        point += a * moves
        u += a * u_step
        levels += a * level_step
    # A point that is not near enough is better off without exact bounds.
    for tolerance in (tol, np.inf):
        s = np.empty(q.size)
        s[order] = _to_bounds(q, scale, kept, tolerance)
        s = state.rebalanced(s)
        coef = state.problem.collect(s, newton.n)
        if state.keep_if_better(s, (coef @ factor.T) @ factor):
            break
    return steps


def _parts(q: DualQP) -> tuple[DualQP, Codes, Codes]:
    """The problem with a block per sign, its order, and blocks of parts."""
    if not q.is_signed:
        return q, np.arange(q.size), np.arange(q.n_blocks)
    key = 2 * q.block + (q.sign < 0)
    order, used = np.argsort(key, kind="stable"), np.unique(key)
    y, lower, upper = q.linear[order], q.lower[order], q.upper[order]
    row = q.row[order]
    loading = (1.0 - 2.0 * (used % 2))[:, None] * q.loading[used // 2]
    block, ones = np.searchsorted(used, key[order]), np.ones(q.size)
    parts = DualQP(y, lower, upper, row, ones, block, loading, q.balanced)
    return parts, order, used // 2


class _Newton:
    """The reduced Newton system of one problem, in unit-free variables."""

    def __init__(
        self, factor: Floats, q: DualQP, of_block: Codes, scale: float
    ) -> None:
        self.q, self.of_block = q, of_block
        # First part, and first variable, of every balance.
        self.first = np.flatnonzero(np.diff(of_block, prepend=-1))
        self.begin = q.starts[self.first]
        self.F, self.root = factor, np.sqrt(scale)
        self.r, self.n = factor.shape
        self._place = q.block * self.n + q.row

    def directions(self, s: Floats) -> Floats:
        """Directions of the variables, shape (q, r)."""
        return self.root * (self.q.collect(s, self.n) @ self.F.T)

    def values(self, u: Floats) -> Floats:
        """Values of the directions u at the rows, per block; shape (B, n)."""
        return self.q.loading @ (self.root * (u @ self.F))

    def seen(self, u: Floats, levels: Floats) -> Floats:
        """What every variable sees of directions and levels, shape (m,)."""
        return (self.values(u) + levels[self.of_block, None]).ravel()[self._place]

    def _sums(self, x: Floats) -> Any:
        """Sums per block and row, shape (B, n)."""
        size = self.q.n_blocks * self.n
        return np.bincount(self._place, x, size).reshape(-1, self.n)

    def prepare(self, point: Floats) -> None:
        """Factor the system for the barrier weights of a point."""
        q, (_, p, t, z, w) = self.q, point
        self.inverse = p * t / (z * t + w * p)
        self.weights = self._sums(self.inverse)
        self.factor = cho_factor(
            self._system(), lower=True, overwrite_a=True, check_finite=False
        )
        if not q.balanced:
            return
        # U[:, b]: what one unit of the level of block b asks of the directions.
        U = np.einsum("bk,br->kbr", q.loading, self.weights @ self.F.T)
        U = self.root * U.transpose(0, 2, 1).reshape(-1, q.n_blocks)
        self.U = np.add.reduceat(U, self.first, axis=1)
        self.V = cho_solve(self.factor, self.U, check_finite=False)
        weight = np.add.reduceat(self.weights.sum(axis=1), self.first)
        # Blocks whose variables are all at a bound have next to no weight left.
        self.unit = 1.0 / np.sqrt(np.maximum(weight, 1e-200))
        scaled = self.unit[:, None] * (np.diag(weight) - self.U.T @ self.V) * self.unit
        scaled[np.diag_indices_from(scaled)] += 1e-14
        self.schur = cho_factor(scaled, lower=True, check_finite=False)

    def _system(self) -> Floats:
        """``I + Σᵢ inverseᵢ vᵢvᵢᵀ`` with vᵢ = loading[bᵢ] ⊗ F[:, rowᵢ], lower part."""
        q, r = self.q, self.r
        A = np.zeros((q.n_directions * r, q.n_directions * r))
        for k in range(q.n_directions):
            for j in range(k + 1):
                weight = (q.loading[:, k] * q.loading[:, j]) @ self.weights
                if weight.any():
                    here = np.s_[k * r : (k + 1) * r, j * r : (j + 1) * r]
                    A[here] = self.root**2 * _weighted_gram(
                        self.F, weight, k == j and r > _MANY
                    )
        A[np.diag_indices_from(A)] += 1.0
        return A

    def solve(
        self, gradient: Floats, missing: Floats, balance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Steps of s, of the directions and of the levels."""
        q, sums = self.q, self._sums(self.inverse * gradient)
        right = missing + self.root * ((q.loading.T @ sums) @ self.F.T)
        u = cho_solve(self.factor, right.ravel(), check_finite=False)
        levels = np.zeros(len(self.first))
        if q.balanced:
            rest = (
                np.add.reduceat(sums.sum(axis=1), self.first) - self.U.T @ u - balance
            )
            levels = self.unit * cho_solve(self.schur, self.unit * rest)
            u = u - self.V @ levels
        u = u.reshape(right.shape)
        return self.inverse * (gradient - self.seen(u, levels)), u, levels


def _moves(point: Floats, step: Floats, up: Any = 0.0, down: Any = 0.0) -> Floats:
    """Steps of s, p, t, z and w; ``up`` and ``down`` aim at the central path."""
    _, p, t, z, w = point
    of_z, of_w = up - z - z / p * step, down - w + w / t * step
    return np.stack([step, step, -step, of_z, of_w])


def _longest(point: Floats, moves: Floats) -> float:
    """Longest step up to 1 that keeps slacks and multipliers positive."""
    return 1.0 / max(1.0, -float((moves[1:] / point[1:]).min()))


def _weighted_gram(F: Floats, weight: Floats, half: bool) -> Floats:
    """``F diag(weight) Fᵀ``, in slices of columns, in threads."""
    # With ``half``, where no weight may be negative, only its lower part.
    root = np.sqrt(weight) if half else weight

    def part(columns: slice) -> Floats:
        if half:
            return dsyrk(1.0, (F[:, columns] * root[columns]).T, trans=1, lower=1)
        return (F[:, columns] * weight[columns]) @ F[:, columns].T

    if F.shape[1] <= _COLUMNS:
        return part(slice(None))
    return np.add.reduce(in_threads(part, chunks(F.shape[1], _COLUMNS)))


def _to_bounds(q: DualQP, scale: float, point: Floats, tol: float) -> Floats:
    """Undo the scaling; snap to a bound where the multiplier exceeds the slack."""
    # Where the multiplier itself is within the tolerance, nothing is gained by it.
    s, p, t, z, w = point
    width = (q.upper - q.lower) / scale
    at_lower = (z > tol) & (p < z * width)
    at_upper = (w > tol) & (t < w * width)
    s = np.clip(s * scale, q.lower, q.upper)
    return np.where(at_lower, q.lower, np.where(at_upper, q.upper, s))
