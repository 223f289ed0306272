# SPDX-License-Identifier: BSD-3-Clause
"""Interior-point steps for a matrix with a thin factor, ``K = FᵀF`` of r rows.

With slacks ``p = s - lower`` and ``t = upper - s`` and multipliers ``z, w ≥ 0`` the
conditions are

    e - β - w + z = 0,    p z = μ,    t w = μ,    Σ s = 0,

and every Newton step reduces to one symmetric system of r + 1 unknowns, formed in
O(n r²): ``(I + F diag(h) Fᵀ) Δu + F h₁ Δβ = …`` with ``h`` the inverse barrier weights
collected per row. The number of steps does not grow with the bounds, which is why this
is used where working-set steps crawl. Predictor and corrector as Mehrotra 1992.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from tiebreak.solvers.dual_program import DualProgram, DualState

_BACK_OFF = 0.995


def interior_point(
    factor: np.ndarray, state: DualState, tol: float, *, max_steps: int = 80
) -> int:
    """Solve the program from scratch and write the solution into ``state``.

    Parameters
    ----------
    factor : ndarray of shape (r, n)
        ``F`` with ``K = FᵀF``.
    state : DualState
        Overwritten, if the new point has a larger dual objective.
    tol : float
        Relative duality gap to reach.
    max_steps : int
        Newton steps at most.

    Returns
    -------
    int
        Newton steps taken.
    """
    q = state.problem
    # Unit-free variables: the largest bound is 1 and y is of order 1.
    scale = max(q.upper.max(), -q.lower.min())
    newton = _Newton(factor * np.sqrt(scale), q)
    lower, upper, y = q.lower / scale, q.upper / scale, q.linear
    live = upper > lower
    s = np.where(live, 0.5 * (lower + upper), lower)
    p, t = np.where(live, s - lower, 1.0), np.where(live, upper - s, 1.0)
    z, w = np.where(live, 1.0, 0.0), np.where(live, 1.0, 0.0)
    level = 0.0
    n_live = 2 * int(live.sum())
    best, since, steps = np.inf, 0, 0
    while steps < max_steps:
        steps += 1
        e = y - q.values(newton.fitted(s))
        stationarity = np.where(live, e - level - w + z, 0.0)
        balance = -s.sum() if q.balanced else 0.0
        mu = (p @ z + t @ w) / n_live
        size = abs(y @ s) + 1e-3 * tol
        residual = np.abs(stationarity).max()
        merit = n_live * mu / size + residual
        # Near the end rounding takes over; then no further step is a better one.
        since = 0 if merit < 0.9 * best else since + 1
        if merit < best:
            best, kept = merit, (s, p, t, z, w)
        if since > 3 or (n_live * mu <= 0.1 * tol * size and residual <= 0.1 * tol):
            break
        try:
            solve = newton.prepare(np.where(live, z / p + w / t, np.inf))
        except LinAlgError:
            break
        # Predictor: straight at the solution.
        ds, dlevel = solve(stationarity - z + w, balance)
        dz, dw = -z - z / p * ds, -w + w / t * ds
        a, b = _longest(p, ds, t, -ds, live), _longest(z, dz, w, dw, live)
        mu_aim = ((p + a * ds) @ (z + b * dz) + (t - a * ds) @ (w + b * dw)) / n_live
        center = mu * min(max(mu_aim / mu, 0.0) ** 3, 1.0)
        # Corrector: towards the central path, with the second-order terms.
        cz, cw = (center - ds * dz) / p - z, (center + ds * dw) / t - w
        ds, dlevel = solve(stationarity + cz - cw, balance)
        dz, dw = cz - z / p * ds, cw + w / t * ds
        a = min(1.0, _BACK_OFF * _longest(p, ds, t, -ds, live))
        b = min(1.0, _BACK_OFF * _longest(z, dz, w, dw, live))
        s = s + a * ds
        p, t = np.where(live, p + a * ds, 1.0), np.where(live, t - a * ds, 1.0)
        z, w = np.where(live, z + b * dz, 0.0), np.where(live, w + b * dw, 0.0)
        level += b * dlevel
    s = state.rebalanced(_to_bounds(q, scale, *kept))
    state.keep_if_better(s, newton.fitted(s / scale))
    return steps


class _Newton:
    """The reduced Newton system of one program."""

    def __init__(self, F: np.ndarray, q: DualProgram) -> None:
        self.F, self.q = F, q

    def fitted(self, s: np.ndarray) -> np.ndarray:
        coef = self.q.collect(s, self.F.shape[1])[0]
        return ((self.F @ coef) @ self.F)[None]

    def prepare(
        self, theta: np.ndarray
    ) -> Callable[[np.ndarray, float], tuple[np.ndarray, float]]:
        """Factor the system for barrier weights θ; returns ``solve(g, balance)``.

        It solves ``(K̂ + diag θ) ds + dβ 1 = g`` and ``Σ ds = balance``.
        """
        F, q = self.F, self.q
        n = F.shape[1]
        inverse = 1.0 / theta
        h = np.bincount(q.row, inverse, n)
        A = dsyrk(1.0, (F * np.sqrt(h)).T, trans=1, lower=1)
        A[np.diag_indices_from(A)] += 1.0
        factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

        def apply(v: np.ndarray) -> np.ndarray:
            """(K̂ + diag θ)⁻¹ v."""
            x = inverse * v
            u = cho_solve(factor, F @ q.collect(x, n)[0], check_finite=False)
            return x - inverse * q.values((u @ F)[None])

        ones = apply(np.ones(q.size)) if q.balanced else np.zeros(q.size)
        total = ones.sum() if q.balanced else 1.0

        def once(g: np.ndarray, balance: float) -> tuple[np.ndarray, float]:
            x = apply(g)
            dlevel = (x.sum() - balance) / total if q.balanced else 0.0
            return x - dlevel * ones, float(dlevel)

        def solve(g: np.ndarray, balance: float) -> tuple[np.ndarray, float]:
            ds, dlevel = once(g, balance)
            # Where θ is small the inverse is a difference of large numbers; one round
            # of iterative refinement gives the digits back.
            fitted = q.values(self.fitted(ds))
            with np.errstate(invalid="ignore"):
                rest = np.where(inverse > 0, g - fitted - theta * ds - dlevel, 0.0)
            more, also = once(rest, balance - ds.sum())
            return ds + more, dlevel + also

        return solve


def _longest(
    p: np.ndarray, dp: np.ndarray, t: np.ndarray, dt: np.ndarray, live: np.ndarray
) -> float:
    """Longest step that keeps both non-negative variables non-negative, up to 1."""
    step = 1.0
    for value, change in ((p, dp), (t, dt)):
        falling = live & (change < 0)
        if falling.any():
            step = min(step, float((-value[falling] / change[falling]).min()))
    return step


def _to_bounds(
    q: DualProgram,
    scale: float,
    s: np.ndarray,
    p: np.ndarray,
    t: np.ndarray,
    z: np.ndarray,
    w: np.ndarray,
) -> np.ndarray:
    """Undo the scaling, exactly at a bound where the multiplier outweighs the slack."""
    width = (q.upper - q.lower) / scale
    at_lower = (p < 1e-2 * width) & (p < z * width)
    at_upper = (t < 1e-2 * width) & (t < w * width)
    s = np.clip(s * scale, q.lower, q.upper)
    return np.where(at_lower, q.lower, np.where(at_upper, q.upper, s))
