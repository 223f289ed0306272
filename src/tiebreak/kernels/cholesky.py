# SPDX-License-Identifier: BSD-3-Clause
"""Pivoted Cholesky factorization of a kernel matrix that is never formed.

``K ≈ Fᵀ F`` with ``F`` of shape ``(r, n)``. The diagonal of the error ``K - FᵀF`` is
known exactly after each block of pivots, and bounds all of its entries, because it is
positive semidefinite.

Pivots are drawn at random, in proportion to what is left of the diagonal; the largest
entries would be outliers. They are drawn in blocks, and a later one is taken with the
probability (left now) / (left when it was drawn), as if it had been drawn only then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from tiebreak.data.arrays import Codes, Floats

_BLOCK = 32
# Rounding leaves traces of this size, relative to the largest entry of the diagonal; a
# diagonal that falls further below zero is that of no kernel.
_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class PivotedFactor:
    """K ≈ FᵀF, from the rows of the pivots."""

    rows: Floats  # F, shape (r, n)
    pivots: NDArray[np.intp]  # rows of K in the order they were taken, (r,)
    left: Floats  # diagonal of K - FᵀF, (n,)
    complete: bool  # whether the error is within the tolerance everywhere
    indefinite: bool  # whether K is no kernel: a diagonal fell below zero

    @property
    def triangle(self) -> Floats:
        """The lower triangular T with K[pivots, pivots] = T Tᵀ, shape (r, r)."""
        return np.tril(self.rows[:, self.pivots].T)


def pivoted_cholesky(
    rows: Callable[[Codes], Floats],
    diagonal: Floats,
    *,
    max_pivots: int,
    tol: float = 1e-10,
    all_or_nothing: bool = True,
    rng: np.random.Generator | None = None,
) -> PivotedFactor:
    """Factor a positive semidefinite matrix from a few of its rows."""
    rng = np.random.default_rng(0) if rng is None else rng
    n = len(diagonal)
    left = np.array(diagonal, dtype=np.float64)
    largest, start = left.max(initial=0.0), left.sum()
    target = tol * largest
    F = np.empty((min(max_pivots, n), n))
    pivots = np.empty(len(F), dtype=np.intp)
    r = 0
    indefinite = bool(left.min(initial=0.0) < -_ROUNDING * largest)
    while not indefinite and r < len(F) and left.max() > target:
        if all_or_nothing and _hopeless(start, left.sum(), n * target, r, len(F)):
            break
        drawn = _draw(left, target, min(_BLOCK, len(F) - r), rng)
        G = rows(drawn)
        G -= F[:r, drawn].T @ F[:r]
        taken, triangle = _take(G[:, drawn], target, rng)
        if len(taken) == 0:  # rounding had left too much in the books
            left[drawn] = np.maximum(G[:, drawn].diagonal(), 0.0)
            continue
        new = F[r : r + len(taken)]
        new[:] = solve_triangular(triangle, G[taken], lower=True, check_finite=False)
        left -= np.einsum("ij,ij->j", new, new)
        # A pivot's own error is zero; rounding leaves a trace of either sign.
        left[drawn[taken]] = 0.0
        indefinite = bool(left.min() < -_ROUNDING * largest)
        np.maximum(left, 0.0, out=left)
        pivots[r : r + len(taken)] = drawn[taken]
        r += len(taken)
    F = F[:r].copy() if r < 0.8 * len(F) else F[:r]
    complete = bool(left.max(initial=0.0) <= target) and not indefinite
    return PivotedFactor(F, pivots[:r], left, complete, indefinite)


def factor_kernel(
    rows: Callable[[Codes], Floats], diagonal: Floats, **options: Any
) -> PivotedFactor:
    """Factor the kernel between training items; refuse one that is none."""
    if not np.isfinite(diagonal).all():
        refuse_infinite()
    factor = pivoted_cholesky(rows, diagonal, **options)
    if factor.indefinite:
        refuse_indefinite(f"{len(factor.pivots)} pivots leave a negative diagonal")
    return factor


def refuse_indefinite(why: str) -> NoReturn:
    """Raise an error: the kernel is not positive semidefinite."""
    raise ValueError(
        f"the kernel between the training items is not positive semidefinite: {why}. "
        "Try another kernel, or for a polynomial one coef0 ≥ 0."
    ) from None


def refuse_infinite() -> NoReturn:
    """Raise an error: the kernel has values that are not finite."""
    raise ValueError(
        "the kernel between the training items is not finite. Scale the features "
        "first, for example with StandardScaler, or try another kernel."
    )


def _draw(
    left: Floats, target: float, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw distinct candidates in proportion to what is left."""
    weight = np.where(left > target, left, 0.0)
    drawn = rng.choice(len(left), size, p=weight / weight.sum())
    return rng.permutation(np.unique(drawn))


def _take(
    block: Floats, target: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Floats]:
    """Take candidates one after another, given what is left of K between them."""
    left = block.diagonal().copy()
    drawn = rng.random(len(left)) * left
    L = np.zeros(block.shape)
    taken: list[int] = []
    for i in range(len(left)):
        if left[i] <= max(target, drawn[i]):
            continue
        k = len(taken)
        L[:, k] = (block[:, i] - L[:, :k] @ L[i, :k]) / np.sqrt(left[i])
        left -= L[:, k] ** 2
        taken.append(i)
    positions = np.array(taken, dtype=np.intp)
    return positions, np.tril(L[positions, : len(taken)])


def _hopeless(start: float, now: float, target: float, used: int, budget: int) -> bool:
    """Whether the trace of the error falls too slowly."""
    if used < 2 * _BLOCK or now <= target:
        return False
    rate = np.log(start / now) / used
    return np.log(now / target) > 3.0 * rate * (budget - used)
