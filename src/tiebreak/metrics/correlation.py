# SPDX-License-Identifier: BSD-3-Clause
"""Rank correlation of two vectors, whole or inside groups.

Boundary conventions: tied values are tied if and only if they compare equal.
Kendall's τ-b corrects for ties on both sides; Spearman's ρ gives tied values their
mean rank. Neither exists for a constant vector, which is an error, never a NaN.
With groups the value is the mean over the groups where it exists; how many do not
is said in a warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from tiebreak.data.messages import warn_user
from tiebreak.metrics.inputs import group_codes, numeric_vector
from tiebreak.metrics.pair_counts import pair_counts
from tiebreak.metrics.runs import average_ranks, sort_into_runs, sums_by


def kendall_tau_b(a: ArrayLike, b: ArrayLike, qid: ArrayLike | None = None) -> float:
    """Kendall's rank correlation τ-b, corrected for ties on both sides.

    For two scores a and b ::

        τ_b = (P - Q) / √((P + Q + Tₐ) (P + Q + T_b))

    with P concordant and Q discordant pairs, Tₐ pairs tied only in a and
    T_b pairs tied only in b. With ``qid`` the mean over groups of the
    value inside each group, every group counting once. O(n log n).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Two scores of the same rows; the value is symmetric in them.
    qid : array-like of shape (n,), default=None
        Group of each row, of any type and in any order. None: one vector.

    Returns
    -------
    tau : float
        Between −1 and 1.

    Raises
    ------
    ValueError
        If ``a`` or ``b`` is constant, or with ``qid`` in every group.

    Warns
    -----
    UserWarning
        If some groups have a constant ``a`` or ``b`` (a group of one row has
        both); they are left out of the mean, and counted in the message.

    Examples
    --------
    >>> from tiebreak.metrics import kendall_tau_b
    >>> kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 4])
    0.6667
    >>> kendall_tau_b([1, 2, 3, 4], [5, 6, 8, 7], qid=[0, 0, 1, 1])
    0.0
    """
    first, second = _two_vectors(a, b)
    if qid is None:
        _check_not_constant(first, second)
        return float(stats.kendalltau(first, second).statistic)
    group = group_codes(qid, len(first))
    counts = pair_counts(first, second, group, np.ones(len(first)))
    spread = counts.sum(axis=1) * _pairs_apart(group, second)
    agreement = counts[:, 0] - counts[:, 2]
    return _mean_over_groups(agreement, spread, "Kendall's tau-b")


def spearman_rho(a: ArrayLike, b: ArrayLike, qid: ArrayLike | None = None) -> float:
    """Spearman's rank correlation ρ, the correlation of average ranks.

    For two scores a and b ::

        ρ = Σᵢ (Rᵢ - R̄)(Sᵢ - S̄) / √(Σᵢ (Rᵢ - R̄)² Σᵢ (Sᵢ - S̄)²)

    with R and S the ranks of a and b, tied values sharing their mean rank. With
    ``qid`` the mean over groups of the value inside each group, every group
    counting once. O(n log n).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Two scores of the same rows; the value is symmetric in them.
    qid : array-like of shape (n,), default=None
        Group of each row, of any type and in any order. None: one vector.

    Returns
    -------
    rho : float
        Between −1 and 1.

    Raises
    ------
    ValueError
        If ``a`` or ``b`` is constant, or with ``qid`` in every group.

    Warns
    -----
    UserWarning
        If some groups have a constant ``a`` or ``b`` (a group of one row has
        both); they are left out of the mean, and counted in the message.

    Examples
    --------
    >>> from tiebreak.metrics import spearman_rho
    >>> spearman_rho([1, 2, 3, 4], [1, 3, 2, 4])
    0.8000
    """
    first, second = _two_vectors(a, b)
    if qid is None:
        _check_not_constant(first, second)
        return float(stats.spearmanr(first, second).statistic)
    group = group_codes(qid, len(first))
    middle = (np.bincount(group) - 1) / 2
    r = average_ranks(group, first) - middle[group]
    s = average_ranks(group, second) - middle[group]
    spread = sums_by(group, r * r) * sums_by(group, s * s)
    return _mean_over_groups(sums_by(group, r * s), spread, "Spearman's rho")


def _two_vectors(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Check two vectors of the same length."""
    first = numeric_vector(a, "a")
    return first, numeric_vector(b, "b", len(first))


def _check_not_constant(a: NDArray[Any], b: NDArray[Any]) -> None:
    """Raise if either vector has fewer than two distinct values."""
    for name, vector in (("a", a), ("b", b)):
        if (vector == vector[0]).all():
            raise ValueError(
                f"rank correlation needs two distinct values in {name}; got "
                f"{len(vector)} value(s), all equal to {vector[0]}. A constant has "
                "no order: check the model, or use disagreement, which scores it ½."
            )


def _pairs_apart(group: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
    """Count the pairs of different values in each group."""
    order, run = sort_into_runs(group, values)
    size = np.bincount(run).astype(np.float64)
    n_rows = np.bincount(group).astype(np.float64)
    run_group = group[order][np.cumsum(size).astype(np.int64) - 1]
    return (n_rows**2 - sums_by(run_group, size**2)) / 2


def _mean_over_groups(
    agreement: NDArray[np.float64], spread: NDArray[np.float64], name: str
) -> float:
    """Average agreement / √spread over the groups whose spread is positive."""
    exists = spread > 0
    n_without = int(np.count_nonzero(~exists))
    if n_without == len(exists):
        raise ValueError(
            f"{name} does not exist in any of the {len(exists)} group(s): in each, "
            "a or b is constant. Check that qid is the group and not the row number."
        )
    if n_without:
        warn_user(
            f"{name} does not exist in {n_without} of {len(exists)} groups, where a "
            "or b is constant; the mean is over the others."
        )
    return float(np.mean(agreement[exists] / np.sqrt(spread[exists])))
