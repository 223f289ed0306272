# SPDX-License-Identifier: BSD-3-Clause
"""The concave quadratic problem that support vector machines have as their dual.

    maximize    yᵀs - ½ Σₖ cₖᵀ K cₖ
    subject to  lower ≤ s ≤ upper,  and  Σ s = 0 in every block if there is a balance,

with ``cₖ[j] = Σ {signᵢ loading[blockᵢ, k] sᵢ : rowᵢ = j}``. So the matrix of the
problem is ``signᵢ signₗ F[blockᵢ, blockₗ] K[rowᵢ, rowₗ]`` with F = loading loadingᵀ.
A column of ones is a direction that all blocks share; a multiple of
the identity gives every block a direction of its own. A box has one block and one
direction, and signs let variables share a row. The primal is

    minimize over u, β   ½ Σₖ ‖uₖ‖² + Σᵢ upperᵢ (eᵢ - β_b)₊ - lowerᵢ (β_b - eᵢ)₊,

where ``fₖ = K cₖ`` are the values of ``uₖ``, the gradient of the dual is ``eᵢ = yᵢ -
signᵢ Σₖ loading[b, k] fₖ[rowᵢ]``, and β_b is the multiplier of the balance of the block
b of variable i, or 0 without a balance. The best β for a given u is found exactly, by
sorting, and the duality gap is a sum of non-negative terms,

    gap = Σᵢ (upperᵢ - sᵢ)(eᵢ - β_b)₊ + (sᵢ - lowerᵢ)(β_b - eᵢ)₊,

computed without cancellation. Adding a constant to y in a balanced block changes only
its β; callers use this to keep ``eᵢ`` close to zero, where 1e-20 counts.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.data.arrays import Codes, Floats
from tiebreak.kernels import MatrixRows
from tiebreak.solvers.certificate import relative_gap

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class DualQP:
    """Data of the problem; arrays have shape (m,) by default."""

    linear: Floats  # the vector y of the objective
    lower: Floats  # finite bounds, lower ≤ 0 ≤ upper
    upper: Floats
    row: Codes  # row of K that each variable uses, shared or not
    sign: Floats  # +1 or -1
    block: Codes  # ascending, from 0 to B-1 without a gap
    loading: Floats  # (B, q) how much blocks take of each of the q directions
    balanced: bool  # whether the variables of every block must sum to zero

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
    def is_signed(self) -> bool:
        """Whether any variable has the sign -1."""
        return bool((self.sign < 0).any())

    @property
    def is_box(self) -> bool:
        """Whether there is one block, with signs or without a balance."""
        return self.n_blocks == 1 and (self.is_signed or not self.balanced)

    @cached_property
    def starts(self) -> Codes:
        """First variable of every block, then m; shape (B + 1,)."""
        return np.searchsorted(self.block, np.arange(self.n_blocks + 1))

    @cached_property
    def squared_loading(self) -> Floats:
        """``F[b, b]`` of every block, shape (B,)."""
        return np.einsum("bk,bk->b", self.loading, self.loading)

    @cached_property
    def loads(self) -> Floats:
        """Loading of each variable on each direction, shape (m, q)."""
        return self.sign[:, None] * self.loading[self.block]

    def diagonal(self, of_rows: Floats) -> Floats:
        """Diagonal of the matrix, given that of K; shape (m,)."""
        return of_rows[self.row] * self.squared_loading[self.block]

    def collect(self, s: Floats, n_rows: int) -> Floats:
        """``c``: sums of variables per direction and row, shape (q, n_rows)."""
        signed = self.sign * s if self.is_signed else s
        place = self.block * n_rows + self.row
        per_block = np.bincount(place, signed, self.n_blocks * n_rows)
        return self.loading.T @ per_block.reshape(-1, n_rows)

    def values(self, f: Floats) -> Floats:
        """Values of the directions ``f`` at every variable, shape (m,)."""
        seen = (self.loading @ f)[self.block, self.row]
        return self.sign * seen if self.is_signed else seen

    def matrix(self, rows: MatrixRows, which: Codes, dtype: type) -> Floats:
        """The matrix of the problem between some variables."""
        K = rows.block(self.row[which], self.sign[which], dtype)
        mine = self.loading[self.block[which]]
        if self.n_directions > 1 or not (mine == 1.0).all():
            K *= (mine @ mine.T).astype(dtype, copy=False)
        return K

    def add(self, rows: MatrixRows, which: Codes, step: Floats, f: Floats) -> None:
        """Add a step of some variables to ``f`` in place."""
        if self.n_blocks == 1 == self.n_directions:
            if len(which):
                rows.add(self.row[which], self.loads[which, 0] * step, f[0])
            return
        moved = which[step != 0]
        step = step[step != 0]
        for k in range(self.n_directions):
            part = self.loads[moved, k]
            used = part != 0
            # Several variables of a row are one coefficient of it.
            row, code = np.unique(self.row[moved[used]], return_inverse=True)
            if len(row):
                size: Floats = np.bincount(code, part[used] * step[used]).astype(float)
                rows.add(row, size, f[k])


@dataclass(frozen=True)
class DualSolution:
    """What a solver hands back."""

    s: Floats  # (m,): Dual variables
    # (q, n_rows): ``c``, the variables collected per direction and row.
    coef: Floats
    fitted: Floats  # (q, n_rows): ``f = K c``
    # (B,): β, the exact minimizer of the primal for this ``f``; the midpoint where a
    # whole interval is optimal.
    levels: Floats
    primal: float
    dual: float
    gap: float  # ``(primal - dual) / primal``
    violation: float  # Largest one of the optimality conditions, in units of ``f``
    n_iter: int  # Outer iterations
    converged: bool  # Whether gap and violation are within the tolerance
    method: str  # The solver's parts that were used, for reports


class DualState:
    """A feasible point with its gradient, updated in place."""

    def __init__(self, problem: DualQP, s: Floats, f: Floats, diagonal: Floats) -> None:
        self.problem, self.s, self.f = problem, s, f
        self.diagonal = problem.diagonal(diagonal)
        self._noise = _ROUNDING * np.abs(problem.linear)

    @property
    def gradient(self) -> Floats:
        """``e``, shape (m,)."""
        return self.problem.linear - self.problem.values(self.f)

    def sides(self, e: Floats) -> tuple[Floats, Floats]:
        """The gradient of variables that can grow, and that can shrink."""
        # Elsewhere -inf and inf; both of shape (m,).
        q = self.problem
        growing = np.where(self.s < q.upper, e, -np.inf)
        return growing, np.where(self.s > q.lower, e, np.inf)

    def violation(self, e: Floats) -> float:
        """Largest violation of the optimality conditions at gradient ``e``."""
        # Less what rounding of ``y - f`` may contribute to it: four units in the last
        # place of y, and so nothing where y is zero.
        growing, shrinking = self.sides(e)
        growing -= self._noise
        shrinking += self._noise
        if not self.problem.balanced:
            return max(float(growing.max()), -float(shrinking.min()), 0.0)
        first = self.problem.starts[:-1]
        top = np.maximum.reduceat(growing, first)
        bottom = np.minimum.reduceat(shrinking, first)
        return max(float((top - bottom).max()), 0.0)

    def imbalance(self, s: Floats) -> Floats:
        """Sum of ``s`` over every balanced block."""
        if not self.problem.balanced:
            return np.empty(0)
        return np.add.reduceat(s, self.problem.starts[:-1])

    def rebalanced(self, s: Floats) -> Floats:
        """Balance every block of ``s`` inside the box."""
        # What is left over is spread over the variables that have room, in proportion.
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
                # Rounding of the sum must not move a variable off its bound.
                if abs(rest) <= 1e-14 * np.abs(s).sum() or room.sum() == 0:
                    break
                s = np.clip(s - rest * room / room.sum(), lower, upper)
            out[mine] = s
        return out

    def tolerance(self, tol: float) -> float:
        """``tol`` in units of ``f``, relative where ``f`` is tiny."""
        # The scale is the largest share of one variable in what it sees of ``f``. It is
        # as small as the bounds are, but unlike ``f`` itself it does not vanish when
        # the best ``f`` is zero.
        share = np.abs(self.s) * self.diagonal
        return tol * min(1.0, float(share.max(initial=0.0)))

    def rounding(self) -> float:
        """A violation that may be rounding, in units of ``f``."""
        # At huge bounds, ``f`` is a small difference of large sums.
        size = np.sqrt(self.diagonal)
        return 1e-13 * float(np.abs(self.s) @ size) * float(size.max())

    def levels(self, e: Floats) -> Floats:
        """β that minimizes the primal at gradient ``e``, shape (B,)."""
        # In a block the slope of the loss in β is ``-Σ_{e>β} upper - Σ_{e<β} lower``;
        # it rises, and the minimizer is where it crosses zero: a weighted quantile, or
        # the middle of the interval where it is zero.
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

    def dual(self, s: Floats, f: Floats) -> float:
        """The dual objective of a point."""
        coef = self.problem.collect(s, f.shape[1])
        return float(self.problem.linear @ s - 0.5 * (coef * f).sum())

    def keep_if_better(self, s: Floats, f: Floats) -> bool:
        """Take over a point of larger dual objective; return whether."""
        better = self.dual(s, f) > self.dual(self.s, self.f)
        if better:
            self.s[:], self.f[:] = s, f
        return better

    def certificate(self) -> tuple[Floats, float, float, float]:
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
        return levels, primal, dual, relative_gap(gap, primal)
