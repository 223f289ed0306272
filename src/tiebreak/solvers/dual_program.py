# SPDX-License-Identifier: BSD-3-Clause
"""What dual programs have in common: a point of one, its certificate, its solution.

    maximize    yᵀs - ½ Σₖ cₖᵀ K cₖ
    subject to  lower ≤ s ≤ upper,  and  Σ s = 0 in every block if there is a balance,

where ``c = collect(s)`` adds the variables up per direction and row of K. There are two
such programs, :class:`~tiebreak.solvers.BoxQP` and :class:`~tiebreak.solvers.BlockQP`.
All sums are sums, never means. The primal is

    minimize over u, β   ½ Σₖ ‖uₖ‖² + Σᵢ upperᵢ (eᵢ - β_b)₊ - lowerᵢ (β_b - eᵢ)₊,

where ``fₖ = K cₖ`` are the values of ``uₖ``, ``e = y - values(f)`` is the gradient of
the dual, and β_b is the multiplier of the balance of block b, that of variable i, or 0
if there is no balance. For a given u the best β is found exactly, by sorting, and the
duality gap is a sum of terms that are each non-negative,

    gap = Σᵢ (upperᵢ - sᵢ)(eᵢ - β_b)₊ + (sᵢ - lowerᵢ)(β_b - eᵢ)₊,

so it is computed without cancellation. Adding a constant to y in a balanced block
changes nothing but its β; callers use that to keep ``eᵢ`` of the variables that matter
close to zero, where differences of 1e-20 still count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tiebreak.kernels import MatrixRows

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


class DualProgram(Protocol):
    """What the solvers ask of a program with m variables.

    Arrays have shape (m,) unless another is given. The matrix of the program depends
    on nothing but K, ``row`` and ``loads``.
    """

    @property
    def linear(self) -> np.ndarray:
        """The vector y of the objective."""

    @property
    def lower(self) -> np.ndarray:
        """Bounds from below, not positive."""

    @property
    def upper(self) -> np.ndarray:
        """Bounds from above, not negative."""

    @property
    def row(self) -> np.ndarray:
        """Row of K that each variable uses."""

    @property
    def loads(self) -> np.ndarray:
        """How much each variable takes of each direction, shape (m,) or (m, q)."""

    @property
    def block(self) -> np.ndarray:
        """Block of each variable, ascending."""

    @property
    def starts(self) -> np.ndarray:
        """First variable of every block, and m at the end; shape (B + 1,)."""

    @property
    def size(self) -> int:
        """Number of variables m."""

    @property
    def n_directions(self) -> int:
        """Number of directions q."""

    @property
    def balanced(self) -> bool:
        """Whether the variables of every block must sum to zero."""

    def diagonal(self, of_rows: np.ndarray) -> np.ndarray:
        """Diagonal of the matrix of the program, given that of K; shape (m,)."""

    def collect(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """``c``: the variables added up per direction and row, shape (q, n_rows)."""

    def values(self, f: np.ndarray) -> np.ndarray:
        """What every variable sees of the directions ``f``, shape (m,)."""

    def matrix(self, rows: MatrixRows, which: np.ndarray, dtype: type) -> np.ndarray:
        """The matrix of the program between some of its variables."""

    def add(
        self, rows: MatrixRows, which: np.ndarray, step: np.ndarray, f: np.ndarray
    ) -> None:
        """Add the effect of a step of some variables to ``f`` in place."""


@dataclass(frozen=True)
class DualSolution:
    """What a solver hands back.

    Parameters
    ----------
    s : ndarray of shape (m,)
        Dual variables.
    coef : ndarray of shape (q, n_rows)
        ``c``, the variables collected per direction and row.
    fitted : ndarray of shape (q, n_rows)
        ``f = K c``.
    levels : ndarray of shape (B,)
        β, the exact minimizer of the primal for this ``f``; the midpoint where a
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
    levels: np.ndarray
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
    problem : DualProgram
        The program.
    s : ndarray of shape (m,)
        A feasible point.
    f : ndarray of shape (q, n_rows)
        ``K c`` at that point.
    diagonal : ndarray of shape (n_rows,)
        The diagonal of K.
    """

    def __init__(
        self, problem: DualProgram, s: np.ndarray, f: np.ndarray, diagonal: np.ndarray
    ) -> None:
        self.problem = problem
        self.s = s
        self.f = f
        self.diagonal = problem.diagonal(diagonal)
        self._noise = _ROUNDING * np.abs(problem.linear)

    @property
    def gradient(self) -> np.ndarray:
        """``e``, shape (m,)."""
        return self.problem.linear - self.problem.values(self.f)

    def sides(self, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradient where a variable can grow, and where it can shrink.

        Elsewhere -inf and inf; both of shape (m,).
        """
        q = self.problem
        growing = np.where(self.s < q.upper, e, -np.inf)
        return growing, np.where(self.s > q.lower, e, np.inf)

    def violation(self, e: np.ndarray) -> float:
        """Largest violation of the optimality conditions at gradient ``e``.

        Less what rounding of ``y - f`` may contribute to it: four units in the last
        place of y, and so nothing where y is zero.
        """
        growing, shrinking = self.sides(e)
        growing -= self._noise
        shrinking += self._noise
        if not self.problem.balanced:
            return max(float(growing.max()), -float(shrinking.min()), 0.0)
        first = self.problem.starts[:-1]
        top = np.maximum.reduceat(growing, first)
        bottom = np.minimum.reduceat(shrinking, first)
        return max(float((top - bottom).max()), 0.0)

    def imbalance(self, s: np.ndarray) -> np.ndarray:
        """Sum of ``s`` over every block that must be in balance."""
        if not self.problem.balanced:
            return np.empty(0)
        return np.add.reduceat(s, self.problem.starts[:-1])

    def rebalanced(self, s: np.ndarray) -> np.ndarray:
        """Bring every block of ``s`` into balance, inside the box.

        What is left over is spread over the variables that have room, in proportion.
        """
        q, out = self.problem, s.copy()
        for b in range(len(q.starts) - 1 if q.balanced else 0):
            mine = slice(q.starts[b], q.starts[b + 1])
            lower, upper, s = q.lower[mine], q.upper[mine], out[mine]
            for _ in range(3):
                rest = s.sum()
                inside = (s > lower) & (s < upper)
                room = np.where(inside, s - lower if rest > 0 else upper - s, 0.0)
                if room.sum() < abs(rest):
                    room = s - lower if rest > 0 else upper - s
                if rest == 0 or room.sum() == 0:
                    break
                s = np.clip(s - rest * room / room.sum(), lower, upper)
            out[mine] = s
        return out

    def tolerance(self, tol: float) -> float:
        """``tol`` in units of ``f``: as is, or relative where ``f`` is tiny.

        The scale is the largest share of one variable in what it sees of ``f``. It is
        as small as the bounds are, but unlike ``f`` itself it does not vanish when the
        best ``f`` is zero.
        """
        share = np.abs(self.s) * self.diagonal
        return tol * min(1.0, float(share.max(initial=0.0)))

    def rounding(self) -> float:
        """A violation that may be nothing but rounding, in units of ``f``.

        At huge bounds, ``f`` is a small difference of large sums.
        """
        size = np.sqrt(self.diagonal)
        return 1e-13 * float(np.abs(self.s) @ size) * float(size.max())

    def levels(self, e: np.ndarray) -> np.ndarray:
        """β that minimizes the primal at gradient ``e``, shape (B,).

        In a block the slope of the loss in β is ``-Σ_{e>β} upper - Σ_{e<β} lower``; it
        rises from ``-Σ upper`` to ``-Σ lower``, and the minimizer is where it crosses
        zero: a weighted quantile, or the middle of the interval where it is zero.
        """
        q = self.problem
        out = np.zeros(len(q.starts) - 1)
        if not q.balanced:
            return out
        for b in range(len(out)):
            mine = slice(q.starts[b], q.starts[b + 1])
            order = np.argsort(e[mine], kind="stable")
            ordered, last = e[mine][order], len(order) - 1
            upper, jump = q.upper[mine], (q.upper - q.lower)[mine]
            slope = np.cumsum(jump[order]) - upper.sum()
            # Rounding in the cumulative sums must not hide a slope of exactly zero.
            tiny = 1e-12 * jump.sum()
            begin = min(int(np.searchsorted(slope, -tiny)), last)
            end = min(int(np.searchsorted(slope, tiny, side="right")), last)
            out[b] = 0.5 * (ordered[begin] + ordered[end])
        return out

    def dual(self, s: np.ndarray, f: np.ndarray) -> float:
        """The dual objective of a point."""
        coef = self.problem.collect(s, f.shape[1])
        return float(self.problem.linear @ s - 0.5 * (coef * f).sum())

    def keep_if_better(self, s: np.ndarray, f: np.ndarray) -> bool:
        """Take over a point if its dual objective is larger; says whether it was."""
        better = self.dual(s, f) > self.dual(self.s, self.f)
        if better:
            self.s[:], self.f[:] = s, f
        return better

    def certificate(self) -> tuple[np.ndarray, float, float, float]:
        """``(levels, primal, dual, relative gap)`` at the current point."""
        q = self.problem
        e = self.gradient
        levels = self.levels(e)
        off = e - levels[q.block]
        gap = float(
            ((q.upper - self.s) * np.maximum(off, 0.0)).sum()
            + ((self.s - q.lower) * np.maximum(-off, 0.0)).sum()
        )
        dual = self.dual(self.s, self.f)
        primal = dual + gap
        return levels, primal, dual, gap / primal if primal > 0 else 0.0
