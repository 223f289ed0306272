# SPDX-License-Identifier: BSD-3-Clause
"""Interior-point steps for a matrix with a thin factor, ``K = FᵀF`` of r rows.

With slacks ``p = s - lower`` and ``t = upper - s`` and multipliers ``z, w ≥ 0`` the
conditions are

    e - β_b - w + z = 0,    p z = μ,    t w = μ,    Σ_{block b} s = 0 for every b,

and every Newton step reduces to a symmetric system of q r unknowns (q directions), and
one with an unknown per balance. The first is formed in O(n r²) for every two directions
that share a block. Predictor and corrector as Mehrotra 1992.

Variables of one block and one sign are a *part*. In the compiled passes ``point`` of
shape (5, m) holds s, p, t, z and w; ``values`` and ``weights`` have shape (parts, n);
``starts`` says where a part begins.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads
from tiebreak.solvers.dual_qp.problem import DualQP, DualState

_BACK_OFF = 0.995
# Columns of the factor that are weighted at a time, so that they stay in the cache.
_COLUMNS = 4096
# Rows of the factor from which half of a symmetric product is worth its overhead.
_MANY = 50


def interior_point(
    factor: np.ndarray, state: DualState, tol: float, *, max_steps: int = 200
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
    gradient, right, first, step = (np.empty(q.size) for _ in range(4))
    terms = np.empty(3)
    kept, best, least, since, steps = point.copy(), np.inf, np.inf, 0, 0
    # The directions are unknowns of their own, zero at first: what the box's middle
    # would make of them can be larger than the solution by the number of variables.
    u = np.zeros((q.n_directions, len(factor)))
    while True:
        missing = newton.directions(point[0]) - u
        values, of_parts = newton.values(u), levels[of_block]
        total, residual = barrier_gradient(
            point, q.linear, values, q.row, q.starts, of_parts, gradient
        )
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
            first[:] = 0.0
            newton.solve(gradient, missing, balance, step)
            a = step_lengths(point, first, step, 0.0, terms)
            if not np.isfinite(terms).all():
                break
            ahead = total + a * (terms[0] + terms[1]) + a * a * terms[2]
            center = total / (2 * q.size) * min(max(ahead / total, 0.0) ** 3, 1.0)
            # Corrector: towards the central path, with the second-order terms.
            first, step = step, first
            corrected_gradient(point, first, center, gradient, right)
            u_step, level_step = newton.solve(right, missing, balance, step)
        except LinAlgError:
            break
        # One length for all: the directions are on both sides of the conditions.
        a = min(1.0, _BACK_OFF * step_lengths(point, first, step, center, terms))
        if not np.isfinite(terms).all():
            break
        advance(point, first, step, center, a)
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


def _parts(q: DualQP) -> tuple[DualQP, np.ndarray, np.ndarray]:
    """The problem with a block per sign, its order, and blocks of parts."""
    if not q.is_signed:
        return q, np.arange(q.size), np.arange(q.n_blocks)
    key = 2 * q.block + (q.sign < 0)
    order, used = np.argsort(key, kind="stable"), np.unique(key)
    y, lower, upper, row = (v[order] for v in (q.linear, q.lower, q.upper, q.row))
    loading = (1.0 - 2.0 * (used % 2))[:, None] * q.loading[used // 2]
    block, ones = np.searchsorted(used, key[order]), np.ones(q.size)
    parts = DualQP(y, lower, upper, row, ones, block, loading, q.balanced)
    return parts, order, used // 2


class _Newton:
    """The reduced Newton system of one problem, in unit-free variables."""

    def __init__(
        self, factor: np.ndarray, q: DualQP, of_block: np.ndarray, scale: float
    ) -> None:
        self.q, self.of_block = q, of_block
        # First part, and first variable, of every balance.
        self.first = np.flatnonzero(np.diff(of_block, prepend=-1))
        self.begin = q.starts[self.first]
        self.F, self.root = factor, np.sqrt(scale)
        self.r, self.n = factor.shape
        self.inverse = np.empty(q.size)
        self.weights = np.empty((q.n_blocks, self.n))
        self._sums = np.empty((q.n_blocks, self.n))

    def directions(self, s: np.ndarray) -> np.ndarray:
        """Directions of the variables, shape (q, r)."""
        return self.root * (self.q.collect(s, self.n) @ self.F.T)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Values of the directions u at the rows, per block; shape (B, n)."""
        return self.q.loading @ (self.root * (u @ self.F))

    def prepare(self, point: np.ndarray) -> None:
        """Factor the system for the barrier weights of a point."""
        q = self.q
        barrier_weights(point, q.row, q.starts, self.inverse, self.weights)
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

    def _system(self) -> np.ndarray:
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
        self,
        gradient: np.ndarray,
        missing: np.ndarray,
        balance: np.ndarray,
        out: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Write the step of s into ``out``; returns directions and levels."""
        q, sums = self.q, self._sums
        collect_weighted(self.inverse, gradient, q.row, q.starts, sums)
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
        values, of_parts = self.values(u), levels[self.of_block]
        newton_step(self.inverse, gradient, values, q.row, q.starts, of_parts, out)
        return u, levels


def _weighted_gram(F: np.ndarray, weight: np.ndarray, half: bool) -> np.ndarray:
    """``F diag(weight) Fᵀ``, in slices of columns, in threads."""
    # With ``half``, where no weight may be negative, only its lower part.
    root = np.sqrt(weight) if half else weight

    def part(columns: slice) -> np.ndarray:
        if half:
            return dsyrk(1.0, (F[:, columns] * root[columns]).T, trans=1, lower=1)
        return (F[:, columns] * weight[columns]) @ F[:, columns].T

    if F.shape[1] <= _COLUMNS:
        return part(slice(None))
    return np.add.reduce(in_threads(part, chunks(F.shape[1], _COLUMNS)))


def _to_bounds(q: DualQP, scale: float, point: np.ndarray, tol: float) -> np.ndarray:
    """Undo the scaling; snap to a bound where the multiplier exceeds the slack."""
    # Where the multiplier itself is within the tolerance, nothing is gained by it.
    s, p, t, z, w = point
    width = (q.upper - q.lower) / scale
    at_lower = (z > tol) & (p < z * width)
    at_upper = (w > tol) & (t < w * width)
    s = np.clip(s * scale, q.lower, q.upper)
    return np.where(at_lower, q.lower, np.where(at_upper, q.upper, s))


@njit(cache=True, nogil=True)
def barrier_gradient(point, y, values, row, starts, levels, out):  # type: ignore[no-untyped-def]
    """Write ``e - β`` into ``out``; returns complementarity and residual."""
    complementarity = 0.0
    residual = 0.0
    for b in range(len(levels)):
        for i in range(starts[b], starts[b + 1]):
            out[i] = y[i] - values[b, row[i]] - levels[b]
            z, w = point[3, i], point[4, i]
            complementarity += point[1, i] * z + point[2, i] * w
            residual = max(residual, abs(out[i] - w + z))
    return complementarity, residual


@njit(cache=True, nogil=True)
def barrier_weights(point, row, starts, inverse, weights):  # type: ignore[no-untyped-def]
    """Write ``1 / (z/p + w/t)`` into ``inverse`` and its sums into ``weights``."""
    weights[:] = 0.0
    for b in range(len(weights)):
        for i in range(starts[b], starts[b + 1]):
            p, t = point[1, i], point[2, i]
            inverse[i] = p * t / (point[3, i] * t + point[4, i] * p)
            weights[b, row[i]] += inverse[i]


@njit(cache=True, nogil=True)
def collect_weighted(inverse, gradient, row, starts, out):  # type: ignore[no-untyped-def]
    """Write the sums of ``inverse * gradient`` per block and row into ``out``."""
    out[:] = 0.0
    for b in range(len(out)):
        for i in range(starts[b], starts[b + 1]):
            out[b, row[i]] += inverse[i] * gradient[i]


@njit(cache=True, nogil=True)
def newton_step(inverse, gradient, values, row, starts, levels, out):  # type: ignore[no-untyped-def]
    """Write the step of s for those of values and levels into ``out``."""
    for b in range(len(levels)):
        for i in range(starts[b], starts[b + 1]):
            rest = gradient[i] - values[b, row[i]] - levels[b]
            out[i] = inverse[i] * rest


@njit(cache=True, nogil=True)
def corrected_gradient(point, first, center, gradient, out):  # type: ignore[no-untyped-def]
    """Write the right side of the corrector after the step ``first``."""
    for i in range(len(first)):
        p, t, z, w = point[1, i], point[2, i], point[3, i], point[4, i]
        ds = first[i]
        dz = -z - z / p * ds
        dw = -w + w / t * ds
        out[i] = gradient[i] + (center - ds * dz) / p - (center + ds * dw) / t


@njit(cache=True, nogil=True)
def step_lengths(point, first, step, center, sums):  # type: ignore[no-untyped-def]
    """Longest step up to 1 that keeps slacks and multipliers positive."""
    # ``first`` is the predictor's step that the corrector knows; zeros for the
    # predictor itself. Into ``sums`` go the three terms by which complementarity then
    # changes.
    longest = 1.0
    sums[:] = 0.0
    for i in range(len(step)):
        p, t, z, w = point[1, i], point[2, i], point[3, i], point[4, i]
        ds, d0 = step[i], first[i]
        dz = (center + d0 * (z + z / p * d0)) / p - z - z / p * ds
        dw = (center + d0 * (-w + w / t * d0)) / t - w + w / t * ds
        if ds < 0.0:
            longest = min(longest, -p / ds)
        elif ds > 0.0:
            longest = min(longest, t / ds)
        if dz < 0.0:
            longest = min(longest, -z / dz)
        if dw < 0.0:
            longest = min(longest, -w / dw)
        sums[0] += ds * (z - w)
        sums[1] += p * dz + t * dw
        sums[2] += ds * (dz - dw)
    return longest


@njit(cache=True, nogil=True)
def advance(point, first, step, center, length):  # type: ignore[no-untyped-def]
    """Move ``point`` in place by the step of s."""
    for i in range(len(step)):
        p, t, z, w = point[1, i], point[2, i], point[3, i], point[4, i]
        ds, d0 = step[i], first[i]
        dz = (center + d0 * (z + z / p * d0)) / p - z - z / p * ds
        dw = (center + d0 * (-w + w / t * d0)) / t - w + w / t * ds
        point[0, i] += length * ds
        point[1, i] = p + length * ds
        point[2, i] = t - length * ds
        point[3, i] = z + length * dz
        point[4, i] = w + length * dw
