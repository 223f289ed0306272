# SPDX-License-Identifier: BSD-3-Clause
"""The concave box program that every dual solver here maximizes.

    maximize    yᵀs - ½ sᵀ K̂ s
    subject to  lower ≤ s ≤ upper,  and  Σ s = 0  when the problem is balanced,

with ``K̂[i, j] = sign[i] sign[j] K[row[i], row[j]]``, so that several variables may
share one row of ``K``. All sums are sums, never means. Its primal is

    minimize over u, β   ½ ‖u‖² + Σᵢ upperᵢ (eᵢ - β)₊ - lowerᵢ (β - eᵢ)₊,

where ``u`` has the representation ``Σ sᵢ signᵢ Φ(rowᵢ)``, ``f = K c`` with
``c = Σᵢ signᵢ sᵢ`` collected per row, and ``eᵢ = yᵢ - signᵢ f[rowᵢ]`` is the gradient
of the dual. β is the multiplier of the balance, and 0 when there is no balance.

The duality gap is a sum of terms that are each non-negative,

    gap = Σᵢ (upperᵢ - sᵢ)(eᵢ - β)₊ + (sᵢ - lowerᵢ)(β - eᵢ)₊,

so it is computed without cancellation. Adding a constant to all of ``y`` changes
nothing but β in a balanced problem; callers use that to keep ``eᵢ`` of the variables
that matter close to zero, where differences of 1e-20 still count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)

__all__ = ["BoxQP", "BoxSolution", "DualState"]


@dataclass(frozen=True)
class BoxQP:
    """Data of the program, all arrays of shape (m,).

    Parameters
    ----------
    linear : ndarray
        The vector y of the objective.
    lower, upper : ndarray
        Finite bounds with ``lower ≤ 0 ≤ upper``.
    row : ndarray of int
        Row of ``K`` that each variable uses.
    sign : ndarray
        +1 or -1 per variable.
    balanced : bool
        Whether ``Σ s = 0`` is a constraint.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row: np.ndarray
    sign: np.ndarray
    balanced: bool

    def __post_init__(self) -> None:
        """Refuse bounds that exclude the starting point s = 0."""
        if (self.lower > 0).any() or (self.upper < 0).any():
            raise ValueError("a box program needs lower <= 0 <= upper")

    @property
    def size(self) -> int:
        """Number of variables m."""
        return len(self.linear)

    def collect(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """``c``: the signed variables added up per row."""
        return np.bincount(self.row, self.sign * s, n_rows)


@dataclass(frozen=True)
class BoxSolution:
    """What a solver hands back.

    Parameters
    ----------
    s : ndarray of shape (m,)
        Dual variables.
    coef : ndarray of shape (n_rows,)
        ``c``, the variables collected per row.
    fitted : ndarray of shape (n_rows,)
        ``f = K c``.
    level : float
        β, the exact minimizer of the primal for this ``f``; the midpoint when a
        whole interval is optimal.
    primal, dual : float
        The two objectives.
    gap : float
        ``(primal - dual) / primal``.
    violation : float
        Largest violation of the optimality conditions, in units of ``f``.
    n_iter : int
        Outer iterations.
    converged : bool
        Whether gap and violation are within the tolerance.
    method : str
        The solver's parts that were used, for reports.
    """

    s: np.ndarray
    coef: np.ndarray
    fitted: np.ndarray
    level: float
    primal: float
    dual: float
    gap: float
    violation: float
    n_iter: int
    converged: bool
    method: str


class DualState:
    """A feasible point with its gradient, updated in place by the solvers.

    Parameters
    ----------
    problem : BoxQP
    s : ndarray of shape (m,)
        A feasible point.
    f : ndarray of shape (n_rows,)
        ``K c`` at that point.
    diagonal : ndarray of shape (n_rows,)
        The diagonal of K.
    """

    def __init__(
        self, problem: BoxQP, s: np.ndarray, f: np.ndarray, diagonal: np.ndarray
    ) -> None:
        self.problem = problem
        self.s = s
        self.f = f
        self.diagonal = diagonal

    @property
    def gradient(self) -> np.ndarray:
        """``e``, shape (m,)."""
        q = self.problem
        return q.linear - q.sign * self.f[q.row]

    def violation(self, e: np.ndarray) -> float:
        """Largest violation of the optimality conditions at gradient ``e``.

        Less what rounding of ``y - f`` may contribute to it: four units in the last
        place of y, and so nothing where y is zero.
        """
        q = self.problem
        up = np.where(self.s < q.upper, e, -np.inf)
        down = np.where(self.s > q.lower, e, np.inf)
        i, j = int(up.argmax()), int(down.argmin())
        above, below = float(up[i]), float(down[j])
        noise_up, noise_down = _ROUNDING * np.abs(q.linear[[i, j]])
        if q.balanced:
            return max(above - below - float(noise_up + noise_down), 0.0)
        return max(above - float(noise_up), -below - float(noise_down), 0.0)

    def tolerance(self, tol: float) -> float:
        """``tol`` in units of ``f``: as is, or relative where ``f`` is tiny.

        The scale is the largest share of one variable in the ``f`` of its row. It is
        as small as the bounds are, but unlike ``f`` itself it does not vanish when the
        best ``f`` is zero.
        """
        share = np.abs(self.s) * self.diagonal[self.problem.row]
        return tol * min(1.0, float(share.max(initial=0.0)))

    def level(self, e: np.ndarray) -> float:
        """β that minimizes the primal at gradient ``e``: a weighted quantile.

        The slope of the loss in β is ``-Σ_{e>β} upper - Σ_{e<β} lower``; it rises
        from ``-Σ upper`` to ``-Σ lower`` and the minimizer is where it crosses zero.
        """
        q = self.problem
        if not q.balanced:
            return 0.0
        order = np.argsort(e, kind="stable")
        ordered = e[order]
        jump = q.upper[order] - q.lower[order]
        slope = np.cumsum(jump) - q.upper.sum()
        # Rounding in the cumulative sum must not hide a slope of exactly zero.
        tiny = 1e-12 * max(q.upper.sum(), -q.lower.sum())
        first = int(np.searchsorted(slope, -tiny))
        if first >= len(e) - 1:
            return float(ordered[-1])
        if abs(slope[first]) <= tiny:
            ahead = int(np.searchsorted(slope, tiny, side="right"))
            ahead = min(ahead, len(e) - 1)
            return float(0.5 * (ordered[first] + ordered[ahead]))
        return float(ordered[first])

    def certificate(self) -> tuple[float, float, float, float]:
        """``(level, primal, dual, relative gap)`` at the current point."""
        q = self.problem
        e = self.gradient
        level = self.level(e)
        above = np.maximum(e - level, 0.0)
        below = np.maximum(level - e, 0.0)
        gap = ((q.upper - self.s) * above + (self.s - q.lower) * below).sum()
        coef = q.collect(self.s, len(self.f))
        dual = float(q.linear @ self.s - 0.5 * coef @ self.f)
        primal = float(dual + gap)
        relative = gap / primal if primal > 0 else 0.0
        return level, primal, dual, float(relative)
