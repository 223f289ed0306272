# SPDX-License-Identifier: BSD-3-Clause
"""Pivoted Cholesky factorization of a kernel matrix that is never formed.

``K ≈ Fᵀ F`` with ``F`` of shape ``(r, n)``: after each block of pivots the diagonal
of ``K - FᵀF`` is known exactly, so the largest entry of the error is known too
(the error is positive semidefinite, so no entry exceeds the largest diagonal one).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

__all__ = ["pivoted_cholesky"]

_BLOCK = 32


def pivoted_cholesky(
    rows: Callable[[np.ndarray], np.ndarray],
    diagonal: np.ndarray,
    *,
    max_pivots: int,
    tol: float = 1e-10,
) -> np.ndarray | None:
    """Factor a positive semidefinite matrix from a few of its rows.

    Parameters
    ----------
    rows : callable
        ``rows(index)`` returns the rows ``K[index]``, shape ``(len(index), n)``.
    diagonal : ndarray of shape (n,)
        The diagonal of ``K``.
    max_pivots : int
        Give up when this many pivots do not suffice, or as soon as the decay of the
        error shows that they will not.
    tol : float
        Wanted largest entry of ``K - FᵀF``, relative to the largest diagonal entry.

    Returns
    -------
    ndarray of shape (r, n), or None
        ``F`` with ``K = FᵀF`` up to ``tol``; None when the matrix needs more pivots.
    """
    n = len(diagonal)
    left = np.array(diagonal, dtype=np.float64)
    start = left.sum()
    target = tol * left.max(initial=0.0)
    if target <= 0:
        return np.zeros((0, n))
    F = np.empty((min(max_pivots, n), n))
    r = 0
    while left.max() > target:
        if r >= len(F) or _hopeless(start, left.sum(), n * target, r, len(F)):
            return None
        width = min(_BLOCK, len(F) - r)
        pivots = np.argpartition(-left, width - 1)[:width]
        pivots = pivots[left[pivots] > target]
        G = rows(pivots)
        G -= F[:r, pivots].T @ F[:r]
        lower, order, found, _ = dpstrf(G[:, pivots], lower=1, tol=target)
        if found == 0:
            break
        keep = order[:found] - 1
        F[r : r + found] = solve_triangular(
            np.tril(lower[:found, :found]), G[keep], lower=True, check_finite=False
        )
        left -= np.einsum("ij,ij->j", F[r : r + found], F[r : r + found])
        # A pivot's own error is zero; rounding leaves a trace of either sign.
        left[pivots[keep]] = 0.0
        np.maximum(left, 0.0, out=left)
        r += found
    return F[:r].copy() if r < 0.8 * len(F) else F[:r]


def _hopeless(start: float, now: float, target: float, used: int, budget: int) -> bool:
    """Whether the trace of the error falls too slowly for the pivots that remain.

    Kernel spectra fall faster than any straight line on a log scale, so three times
    the linear extrapolation is allowed before giving up.
    """
    if used < 2 * _BLOCK or now <= target:
        return False
    rate = np.log(start / now) / used
    return np.log(now / target) > 3.0 * rate * (budget - used)
