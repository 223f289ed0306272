# SPDX-License-Identifier: BSD-3-Clause
"""The concave program of several machines that share directions.

Every variable belongs to one block, and every block has a balance of its own:

    maximize    yᵀs - ½ Σₖ cₖᵀ K cₖ
    subject to  lower ≤ s ≤ upper  and  Σ_{i in block b} sᵢ = 0 for every b,

with ``cₖ[j] = Σ {loading[blockᵢ, k] sᵢ : rowᵢ = j}``. So between two variables the
matrix of the program is ``F[blockᵢ, blockₗ] K[rowᵢ, rowₗ]`` with F = loading loadingᵀ:
any positive semidefinite factor per pair of blocks. One column of ones is one shared
direction; more columns, a multiple of the identity, give every block a direction of its
own besides. All sums are sums, never means. Its primal is

    minimize over u, β   ½ Σₖ ‖uₖ‖² + Σᵢ upperᵢ (eᵢ - β_b)₊ - lowerᵢ (β_b - eᵢ)₊,

where ``fₖ = K cₖ`` are the values of ``uₖ``, ``eᵢ = yᵢ - Σₖ loading[b, k] fₖ[rowᵢ]`` is
the gradient of the dual, and β_b, the multiplier of the balance of block b = blockᵢ, is
minus the threshold of that block. For a given u the best β is found exactly, by
sorting, and the duality gap is a sum of terms that are each non-negative,

    gap = Σᵢ (upperᵢ - sᵢ)(eᵢ - β_b)₊ + (sᵢ - lowerᵢ)(β_b - eᵢ)₊.

Adding a constant to y in a block changes nothing but its β; callers use that to keep
``eᵢ`` of the variables that matter close to zero, where differences of 1e-20 count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["BlockQP", "BlockSolution", "BlockState"]

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class BlockQP:
    """Data of the program; arrays of shape (m,) unless another is given.

    Parameters
    ----------
    linear : ndarray
        The vector y of the objective.
    lower, upper : ndarray
        Finite bounds with ``lower ≤ 0 ≤ upper``.
    row : ndarray of int
        Row of ``K`` that each variable uses; variables may share rows.
    block : ndarray of int
        Block of each variable, ascending, from 0 to B-1 without a gap.
    loading : ndarray of shape (B, q)
        How much each block takes of each of the q directions.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row: np.ndarray
    block: np.ndarray
    loading: np.ndarray

    def __post_init__(self) -> None:
        """Refuse bounds that exclude s = 0, and blocks that are not in order."""
        if (self.lower > 0).any() or (self.upper < 0).any():
            raise ValueError("a block program needs lower <= 0 <= upper")
        n_blocks = len(self.loading)
        steps = np.diff(self.block, prepend=-1, append=n_blocks)
        if not np.isin(steps[:-1], (0, 1)).all() or steps[0] != 1 or steps[-1] != 1:
            raise ValueError(
                f"the blocks of the variables must ascend from 0 to {n_blocks - 1}, "
                "without a gap"
            )

    @property
    def size(self) -> int:
        """Number of variables m."""
        return len(self.linear)

    @property
    def n_blocks(self) -> int:
        """Number of blocks B."""
        return len(self.loading)

    @property
    def n_directions(self) -> int:
        """Number of directions q."""
        return self.loading.shape[1]

    @cached_property
    def starts(self) -> np.ndarray:
        """First variable of every block, and m at the end; shape (B + 1,)."""
        return np.searchsorted(self.block, np.arange(self.n_blocks + 1))

    @cached_property
    def squared_loading(self) -> np.ndarray:
        """``F[b, b]`` of every block, shape (B,)."""
        return np.einsum("bk,bk->b", self.loading, self.loading)

    def totals(self, s: np.ndarray) -> np.ndarray:
        """Sum of ``s`` over every block, shape (B,)."""
        return np.add.reduceat(s, self.starts[:-1])

    def per_row(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """Sum of ``s`` over every block and row, shape (B, n_rows)."""
        place = self.block * n_rows + self.row
        return np.bincount(place, s, self.n_blocks * n_rows).reshape(-1, n_rows)

    def collect(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """``c``: the variables added up per direction and row, shape (q, n_rows)."""
        return self.loading.T @ self.per_row(s, n_rows)

    def values(self, f: np.ndarray) -> np.ndarray:
        """What every variable sees of the directions ``f``, shape (m,)."""
        return (self.loading @ f)[self.block, self.row]


@dataclass(frozen=True)
class BlockSolution:
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


class BlockState:
    """A feasible point with its gradient, updated in place by the solvers.

    Parameters
    ----------
    problem : BlockQP
    s : ndarray of shape (m,)
        A feasible point.
    f : ndarray of shape (q, n_rows)
        ``K c`` at that point.
    diagonal : ndarray of shape (n_rows,)
        The diagonal of K.
    """

    def __init__(
        self, problem: BlockQP, s: np.ndarray, f: np.ndarray, diagonal: np.ndarray
    ) -> None:
        self.problem = problem
        self.s = s
        self.f = f
        self.diagonal = diagonal

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
        """Largest violation of the optimality conditions of a block.

        Less what rounding of ``y - f`` may contribute to it: four units in the last
        place of y, and so nothing where y is zero.
        """
        q = self.problem
        growing, shrinking = self.sides(e)
        noise = _ROUNDING * np.abs(q.linear)
        first = q.starts[:-1]
        top = np.maximum.reduceat(growing - noise, first)
        bottom = np.minimum.reduceat(shrinking + noise, first)
        return max(float((top - bottom).max()), 0.0)

    def tolerance(self, tol: float) -> float:
        """``tol`` in units of ``f``: as is, or relative where ``f`` is tiny.

        The scale is the largest share of one variable in the values of its row. It is
        as small as the bounds are, but unlike ``f`` itself it does not vanish when the
        best ``f`` is zero.
        """
        q = self.problem
        share = np.abs(self.s) * self.diagonal[q.row] * q.squared_loading[q.block]
        return tol * min(1.0, float(share.max(initial=0.0)))

    def levels(self, e: np.ndarray) -> np.ndarray:
        """β that minimizes the primal at gradient ``e``, shape (B,).

        In a block the slope of the loss in β is ``-Σ_{e>β} upper - Σ_{e<β} lower``; it
        rises from ``-Σ upper`` to ``-Σ lower``, and the minimizer is where it crosses
        zero: a weighted quantile, or the middle of the interval where it is zero.
        """
        q = self.problem
        out = np.empty(q.n_blocks)
        # Rounding in the cumulative sums must not hide a slope of exactly zero.
        tiny = 1e-12 * q.totals(q.upper - q.lower)
        for b in range(q.n_blocks):
            mine = slice(q.starts[b], q.starts[b + 1])
            order = np.argsort(e[mine], kind="stable")
            ordered, last = e[mine][order], len(order) - 1
            upper, lower = q.upper[mine], q.lower[mine]
            slope = np.cumsum((upper - lower)[order]) - upper.sum()
            begin = min(int(np.searchsorted(slope, -tiny[b])), last)
            end = min(int(np.searchsorted(slope, tiny[b], side="right")), last)
            out[b] = 0.5 * (ordered[begin] + ordered[end])
        return out

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
        coef = q.collect(self.s, self.f.shape[1])
        dual = float(q.linear @ self.s - 0.5 * (coef * self.f).sum())
        primal = dual + gap
        return levels, primal, dual, gap / primal if primal > 0 else 0.0
