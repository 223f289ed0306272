# SPDX-License-Identifier: BSD-3-Clause
r"""Ranks with their uncertainty, and items that cannot be told apart.

Item j is *significantly better* than i when z_ij = (θ_j - θ_i) / se(θ_j - θ_i)
exceeds a critical value. Then the rank of i (1 is best) lies between

    1 + #{j : j significantly better than i}   and   N - #{j : i better than j}.

For an interval of one item to cover its true rank with the given confidence, all N - 1
comparisons with the others must hold at once; the critical value is therefore the
quantile of max_j |z_ij| for normal errors with the given covariance (Mogstad, Romano,
Shaikh and Wilhelm, 2024), found by simulation. Where items are many it is replaced by
Bonferroni's bound, which is a little larger. ``simultaneous`` asks for the maximum over
all pairs, so that the intervals of all items hold at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.stats import norm

__all__ = ["indistinct_groups", "rank_intervals"]

_N_DRAWS = 4000
_SIMULATED = 300  # items; above, N² maxima of 4000 draws take too long


def rank_intervals(
    strength: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float = 0.95,
    simultaneous: bool = False,
) -> NDArray[np.int64]:
    """Intervals of ranks.

    Parameters
    ----------
    strength : ndarray of shape (N,)
        Strengths; larger is better.
    covariance : ndarray of shape (N, N)
        Their covariance, up to a common shift.
    level : float, default=0.95
        Confidence.
    simultaneous : bool, default=False
        Whether all intervals hold at once, or each by itself.

    Returns
    -------
    ndarray of int64 of shape (N, 2)
        Best and worst rank of each item; 1 is best.
    """
    difference, error = _differences(strength, covariance)
    critical = _critical_values(covariance, error, level, simultaneous)
    # The rank of an item is judged by its own critical value, that of its row.
    limit = critical[:, None] * error
    off_diagonal = ~np.eye(len(strength), dtype=bool)
    best = 1 + ((difference < -limit) & off_diagonal).sum(axis=1)
    worst = len(strength) - ((difference > limit) & off_diagonal).sum(axis=1)
    return np.stack([best, worst], axis=1)


def indistinct_groups(
    strength: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float = 0.95,
) -> list[NDArray[np.int64]]:
    """Largest runs of neighbors, by strength, of which no two differ significantly.

    Parameters
    ----------
    strength : ndarray of shape (N,)
        Strengths.
    covariance : ndarray of shape (N, N)
        Their covariance, up to a common shift.
    level : float, default=0.95
        Confidence with which all statements hold at once.

    Returns
    -------
    list of ndarray of int64
        Item numbers of each group, best first. Groups overlap where an item cannot be
        told apart from two items that can; every item is in at least one.
    """
    order = np.argsort(-strength, kind="stable")
    differs = _differ(strength, covariance, level)[np.ix_(order, order)]
    groups: list[NDArray[np.int64]] = []
    end_before = 0
    start = 0
    for end in range(1, len(order) + 1):
        # The run start..end-1 must have no two items that differ.
        while differs[start:end, end - 1].any():
            if end - 1 > end_before:
                groups.append(order[start : end - 1])
                end_before = end - 1
            start += 1
    groups.append(order[start:])
    return groups


def _differences(
    strength: NDArray[np.float64], covariance: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give θ_i - θ_j and its standard error, shape (N, N) each."""
    variance = np.diag(covariance)
    spread = variance[:, None] + variance[None, :] - 2.0 * covariance
    return strength[:, None] - strength[None, :], np.sqrt(np.maximum(spread, 0.0))


def _differ(
    strength: NDArray[np.float64], covariance: NDArray[np.float64], level: float
) -> NDArray[np.bool_]:
    """Say of every two items whether they differ, all at once with confidence."""
    difference, error = _differences(strength, covariance)
    critical = _critical_values(covariance, error, level, simultaneous=True)
    return np.abs(difference) > critical[:, None] * error


def _critical_values(
    covariance: NDArray[np.float64],
    error: NDArray[np.float64],
    level: float,
    simultaneous: bool,
) -> NDArray[np.float64]:
    n = len(covariance)
    if n < 2:
        return np.zeros(n)
    tests = n * (n - 1) / 2 if simultaneous else n - 1
    bound = norm.ppf(1.0 - (1.0 - level) / (2.0 * tests))
    if n > _SIMULATED:
        return np.full(n, bound)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # A fixed seed: the same data always give the same intervals.
    draws = np.random.default_rng(0).standard_normal((_N_DRAWS, n)) @ root.T
    largest = np.zeros((_N_DRAWS, n))
    _update_largest(draws, error, largest)
    if simultaneous:
        critical = np.full(n, np.quantile(largest.max(axis=1), level))
    else:
        critical = np.quantile(largest, level, axis=0)
    return np.minimum(critical, bound)


@njit(cache=True, nogil=True)
def _update_largest(draws, error, largest):  # type: ignore[no-untyped-def]
    """Update largest[b, i] to max_j |draws[b, i] - draws[b, j]| / error[i, j]."""
    n = draws.shape[1]
    for b in range(len(draws)):
        for i in range(n):
            for j in range(i):
                if error[i, j] > 0.0:
                    z = abs(draws[b, i] - draws[b, j]) / error[i, j]
                    largest[b, i] = max(largest[b, i], z)
                    largest[b, j] = max(largest[b, j], z)
