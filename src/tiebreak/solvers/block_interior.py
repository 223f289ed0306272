# SPDX-License-Identifier: BSD-3-Clause
"""Interior-point steps for block programs on a matrix with a thin factor.

``K = FᵀF`` with F of r rows. With slacks ``p = s - lower`` and ``t = upper - s`` and
multipliers ``z, w ≥ 0`` the conditions are

    e - β_b - w + z = 0,    p z = μ,    t w = μ,    Σ_{block b} s = 0 for every b,

and every Newton step reduces to a symmetric system of q r unknowns (q directions), and
one with an unknown per block. The first is formed in O(n r²) for every two directions
that share a block, from the inverse barrier weights collected per row and block: it
does not grow with the number of variables, of which nothing but plain passes is asked.
Fifteen to twenty steps are usual, at any bounds; some hundred where huge bounds meet
blocks that can almost be separated. Predictor and corrector as Mehrotra 1992.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tiebreak.data.threads import chunks, in_threads
from tiebreak.solvers.block_barrier import (
    advance,
    barrier_gradient,
    barrier_weights,
    collect_weighted,
    corrected_gradient,
    newton_step,
    step_lengths,
)
from tiebreak.solvers.block_qp import BlockQP
from tiebreak.solvers.dual_program import DualState

_BACK_OFF = 0.995
# Columns of the factor that are weighted at a time, so that they stay in the cache.
_COLUMNS = 4096


def block_interior_point(
    factor: np.ndarray, state: DualState, tol: float, *, max_steps: int = 200
) -> int:
    """Solve the program from scratch and write the solution into ``state``.

    Parameters
    ----------
    factor : ndarray of shape (r, n)
        ``F`` with ``K = FᵀF``.
    state : DualState
        Of a block program. Overwritten, if the new point has a larger dual objective.
    tol : float
        Relative duality gap, and residual of the optimality conditions, to reach. The
        barrier goes down to its square: then a variable is either closer to its bound
        than that, or its multiplier is within the tolerance.
    max_steps : int
        Newton steps at most.

    Returns
    -------
    int
        Newton steps taken.
    """
    q = state.problem
    assert isinstance(q, BlockQP)
    # Unit-free variables: the largest bound is 1 and y is of order 1.
    scale = float(max(q.upper.max(), -q.lower.min()))
    newton = _Newton(factor, q, scale)
    point = np.ones((5, q.size))
    # A variable that cannot move gets next to no room instead of none.
    point[1] = point[2] = np.maximum(0.5 * (q.upper - q.lower) / scale, 1e-30)
    point[0] = 0.5 * (q.lower + q.upper) / scale
    levels = np.zeros(q.n_blocks)
    gradient, right, first, step = (np.empty(q.size) for _ in range(4))
    terms = np.empty(3)
    kept, best, least, since, steps = point.copy(), np.inf, np.inf, 0, 0
    # The directions are unknowns of their own, zero at first: what the box's middle
    # would make of them can be larger than the solution by the number of variables.
    u = np.zeros((q.n_directions, len(factor)))
    while True:
        missing = newton.directions(point[0]) - u
        total, residual = barrier_gradient(
            point, q.linear, newton.values(u), q.row, q.starts, levels, gradient
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
        balance = -state.imbalance(point[0])
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
        s = state.rebalanced(_to_bounds(q, scale, kept, tolerance))
        if state.keep_if_better(s, (q.collect(s, newton.n) @ factor.T) @ factor):
            break
    return steps


class _Newton:
    """The reduced Newton system of one program, in unit-free variables."""

    def __init__(self, factor: np.ndarray, q: BlockQP, scale: float) -> None:
        self.q = q
        self.F, self.root = factor, np.sqrt(scale)
        self.r, self.n = factor.shape
        self.inverse = np.empty(q.size)
        self.weights = np.empty((q.n_blocks, self.n))
        self._sums = np.empty((q.n_blocks, self.n))

    def directions(self, s: np.ndarray) -> np.ndarray:
        """What the variables make of the directions, shape (q, r)."""
        return self.root * (self.q.collect(s, self.n) @ self.F.T)

    def values(self, u: np.ndarray) -> np.ndarray:
        """What the rows see of the directions u, per block; shape (B, n)."""
        return self.q.loading @ (self.root * (u @ self.F))

    def prepare(self, point: np.ndarray) -> None:
        """Factor the system for the barrier weights of a point."""
        q = self.q
        barrier_weights(point, q.row, q.starts, self.inverse, self.weights)
        self.factor = cho_factor(
            self._system(), lower=True, overwrite_a=True, check_finite=False
        )
        # U[:, b]: what one unit of the level of block b asks of the directions.
        U = np.einsum("bk,br->kbr", q.loading, self.weights @ self.F.T)
        U = self.root * U.transpose(0, 2, 1).reshape(-1, q.n_blocks)
        self.U, self.V = U, cho_solve(self.factor, U, check_finite=False)
        weight = self.weights.sum(axis=1)
        # Blocks whose variables are all at a bound have next to no weight left.
        self.unit = 1.0 / np.sqrt(np.maximum(weight, 1e-200))
        scaled = self.unit[:, None] * (np.diag(weight) - U.T @ self.V) * self.unit
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
                    A[here] = self.root**2 * _weighted_gram(self.F, weight)
        A[np.diag_indices_from(A)] += 1.0
        return A

    def solve(
        self,
        gradient: np.ndarray,
        missing: np.ndarray,
        balance: np.ndarray,
        out: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Write the step of s into ``out``; returns those of directions and levels."""
        q, sums = self.q, self._sums
        collect_weighted(self.inverse, gradient, q.row, q.starts, sums)
        right = missing + self.root * ((q.loading.T @ sums) @ self.F.T)
        u = cho_solve(self.factor, right.ravel(), check_finite=False)
        rest = sums.sum(axis=1) - self.U.T @ u - balance
        levels = self.unit * cho_solve(self.schur, self.unit * rest)
        u = (u - self.V @ levels).reshape(right.shape)
        values = self.values(u)
        newton_step(self.inverse, gradient, values, q.row, q.starts, levels, out)
        return u, levels


def _weighted_gram(F: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """``F diag(weight) Fᵀ``, a slice of columns at a time, in threads."""

    def part(columns: slice) -> np.ndarray:
        return (F[:, columns] * weight[columns]) @ F[:, columns].T

    return np.add.reduce(in_threads(part, chunks(F.shape[1], _COLUMNS)))


def _to_bounds(q: BlockQP, scale: float, point: np.ndarray, tol: float) -> np.ndarray:
    """Undo the scaling, exactly at a bound where the multiplier outweighs the slack.

    Where the multiplier itself is within the tolerance, nothing is gained by it.
    """
    s, p, t, z, w = point
    width = (q.upper - q.lower) / scale
    at_lower = (z > tol) & (p < z * width)
    at_upper = (w > tol) & (t < w * width)
    s = np.clip(s * scale, q.lower, q.upper)
    return np.where(at_lower, q.lower, np.where(at_upper, q.upper, s))
