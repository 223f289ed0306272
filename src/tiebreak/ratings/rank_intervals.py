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

__all__ = ["indistinct_groups", "rank_intervals", "ranks_and_groups"]

_N_DRAWS = 4000
_BLOCK = 256  # rows of the matrix of differences at a time
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
    covariance : ndarray of shape (N, N) or (N,)
        Their covariance, up to a common shift; or variances of independent errors.
    level : float, default=0.95
        Confidence.
    simultaneous : bool, default=False
        Whether all intervals hold at once, or each by itself.

    Returns
    -------
    ndarray of int64 of shape (N, 2)
        Best and worst rank of each item; 1 is best.
    """
    each, together = _critical_values(covariance, level)
    return _intervals(strength, covariance, together if simultaneous else each)


def ranks_and_groups(
    strength: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float = 0.95,
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Intervals of ranks, each by itself, and groups, from one simulation.

    Parameters
    ----------
    strength : ndarray of shape (N,)
        Strengths; larger is better.
    covariance : ndarray of shape (N, N) or (N,)
        Their covariance, up to a common shift; or variances of independent errors.
    level : float, default=0.95
        Confidence.

    Returns
    -------
    ranks, groups
        As `rank_intervals` and `indistinct_groups` give them.
    """
    each, together = _critical_values(covariance, level)
    ranks = _intervals(strength, covariance, each)
    return ranks, _groups(strength, covariance, together)


def _intervals(
    strength: NDArray[np.float64],
    covariance: NDArray[np.float64],
    critical: NDArray[np.float64],
) -> NDArray[np.int64]:
    n = len(strength)
    out = np.empty((n, 2), dtype=np.int64)
    # In blocks: matrices of all differences would be many times the covariance.
    for rows in np.array_split(np.arange(n), -(-n // _BLOCK)):
        difference = strength[rows, None] - strength[None, :]
        # The rank of an item is judged by its own critical value, that of its row.
        limit = critical[rows, None] * _errors(covariance, rows, np.arange(n))
        limit[np.arange(len(rows)), rows] = np.inf
        out[rows, 0] = 1 + (difference < -limit).sum(axis=1)
        out[rows, 1] = n - (difference > limit).sum(axis=1)
    return out


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
    covariance : ndarray of shape (N, N) or (N,)
        Their covariance, up to a common shift; or variances of independent errors.
    level : float, default=0.95
        Confidence with which all statements hold at once.

    Returns
    -------
    list of ndarray of int64
        Item numbers of each group, best first. Groups overlap where an item cannot be
        told apart from two items that can; every item is in at least one.
    """
    _, together = _critical_values(covariance, level)
    return _groups(strength, covariance, together)


def _groups(
    strength: NDArray[np.float64],
    covariance: NDArray[np.float64],
    critical: NDArray[np.float64],
) -> list[NDArray[np.int64]]:
    order = np.argsort(-strength, kind="stable")
    groups: list[NDArray[np.int64]] = []
    start = covered = 0
    for end in range(1, len(order) + 1):
        item, run = order[end - 1], order[start : end - 1]
        limit = critical[item] * _errors(covariance, run, order[end - 1 : end])[:, 0]
        apart = np.flatnonzero(strength[run] - strength[item] > limit)
        if len(apart) == 0:
            continue
        # The run ends before this item, and the next begins behind the last from whom
        # it differs.
        if end - 1 > covered:
            groups.append(order[start : end - 1])
            covered = end - 1
        start += int(apart[-1]) + 1
    groups.append(order[start:])
    return groups


def _errors(
    covariance: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Give standard errors of θ_i - θ_j for i in rows and j in columns."""
    if covariance.ndim == 1:
        spread = covariance[rows, None] + covariance[None, columns]
    else:
        variance = np.diag(covariance)
        spread = variance[rows, None] + variance[None, columns]
        spread = spread - 2.0 * covariance[np.ix_(rows, columns)]
    return np.sqrt(np.maximum(spread, 0.0))


def _critical_values(
    covariance: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give critical values for each item by itself, and for all of them at once."""
    n = len(covariance)
    if n < 2:
        return np.zeros(n), np.zeros(n)
    bounds = [
        norm.ppf(1.0 - (1.0 - level) / (2.0 * tests))
        for tests in (n - 1, n * (n - 1) / 2)
    ]
    if n > _SIMULATED:
        return np.full(n, bounds[0]), np.full(n, bounds[1])
    matrix = np.diag(covariance) if covariance.ndim == 1 else covariance
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # A fixed seed: the same data always give the same intervals.
    draws = np.random.default_rng(0).standard_normal((_N_DRAWS, n)) @ root.T
    largest = np.zeros((_N_DRAWS, n))
    everyone = np.arange(n)
    error = _errors(covariance, everyone, everyone)
    precision = np.divide(1.0, error, out=np.zeros((n, n)), where=error > 0.0)
    _update_largest(draws, precision, largest)
    each = np.quantile(largest, level, axis=0)
    together = np.full(n, np.quantile(largest.max(axis=1), level))
    return np.minimum(each, bounds[0]), np.minimum(together, bounds[1])


@njit(cache=True, nogil=True)
def _update_largest(draws, precision, largest):  # type: ignore[no-untyped-def]
    """Update largest[b, j] to max_i |draws[b, i] - draws[b, j]| precision[i, j]."""
    n = draws.shape[1]
    for b in range(len(draws)):
        for i in range(n):
            # Over all j, though z is symmetric: without jumps the compiler takes
            # several at a time.
            for j in range(n):
                z = abs(draws[b, i] - draws[b, j]) * precision[i, j]
                largest[b, j] = z if z > largest[b, j] else largest[b, j]
