# SPDX-License-Identifier: BSD-3-Clause
"""Metrics that look at the top of each group: precision at k and NDCG.

Boundary conventions: rows of equal utility are in random order, and the value is
the expectation over it, computed exactly. Each metric is a mean over groups, every
group counting once whatever its size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from tiebreak.metrics.inputs import (
    group_codes,
    numeric_vector,
    one_of,
    positive_integer,
)
from tiebreak.metrics.runs import dense_ranks, group_starts, sort_into_runs, sums_by

# 2**1000 leaves room to add up 2**23 gains before a float overflows.
LARGEST_EXPONENT = 1000


def ndcg(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: str = "exp",
    *,
    empty: str = "skip",
) -> float:
    """Average the normalized discounted cumulative gain over groups.

    In each group, with gains g, ::

        DCG = Σ_{p=1…k} g(y₍ₚ₎) / log₂(p + 1),    NDCG = DCG / DCG of the best order,

    with y₍ₚ₎ the grade at position p by falling utility. Rows of equal
    utility share the mean of their gains, which is the expected DCG under random
    tie-breaking, as in ``sklearn.metrics.ndcg_score``. A group of one row scores
    1 if its gain is positive. O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades, not negative, higher is better.
    utility : array-like of shape (n,)
        Predicted utilities, higher is better.
    qid : array-like of shape (n,), default=None
        Group of each row, of any type and in any order. None: one group.
    k : int, default=None
        Count only the first k positions. None: all.
    gain : {"exp", "linear"}, default="exp"
        g(y) = 2ʸ - 1 or g(y) = y.
    empty : {"skip", "zero", "one"}, default="skip"
        What a group without a positive gain is worth, where NDCG is 0/0: left out
        of the mean, 0 or 1.

    Returns
    -------
    value : float
        Between 0 and 1; a mean over groups.

    Raises
    ------
    ValueError
        If a grade is negative, or above 1000 with ``gain="exp"``, or if
        ``empty="skip"`` leaves no group.

    Examples
    --------
    >>> from tiebreak.metrics import ndcg
    >>> ndcg([3, 2, 0, 1], [4.0, 3.0, 2.0, 1.0])
    0.9926
    >>> ndcg([1, 0, 0, 0], [2, 1, 1, 2], qid=["a", "a", "b", "b"], empty="zero")
    0.5
    """
    grades = numeric_vector(y, "y")
    utilities = numeric_vector(utility, "utility", len(grades))
    group = group_codes(qid, len(grades))
    depth = len(grades) if k is None else positive_integer(k, "k")
    one_of(gain, "gain", ("exp", "linear"))
    one_of(empty, "empty", ("skip", "zero", "one"))
    gains = _gains(grades, gain)

    reached = _discounted_gain(group, utilities, gains, depth)
    best = _discounted_gain(group, gains, gains, depth)
    has_gain = best > 0
    # No order beats the best one, so what exceeds 1 is rounding.
    value = np.minimum(reached[has_gain] / best[has_gain], 1.0)
    if empty != "skip":
        worth = 1.0 if empty == "one" else 0.0
        value = np.append(value, np.full(np.count_nonzero(~has_gain), worth))
    if len(value) == 0:
        raise ValueError(
            f"none of the {len(best)} group(s) has a positive gain, so NDCG is 0/0. "
            'Check the grades, or decide with empty="zero" or empty="one".'
        )
    return float(value.mean())


def _gains(grades: NDArray[Any], gain: str) -> NDArray[np.float64]:
    """Return the gain of each row."""
    bad = np.flatnonzero(grades < 0)
    if len(bad):
        raise ValueError(
            f"NDCG needs grades that are not negative; got {grades[bad[0]]} in row "
            f"{bad[0]} ({len(bad)} such rows). Try y - y.min(), or swapped_pairs, "
            "which takes any numbers."
        )
    exponents = grades.astype(np.float64)
    if gain == "linear":
        return exponents
    bad = np.flatnonzero(exponents > LARGEST_EXPONENT)
    if len(bad):
        raise ValueError(
            f'gain="exp" needs grades up to {LARGEST_EXPONENT}, because 2**y must be '
            f"finite; got {grades[bad[0]]} in row {bad[0]} ({len(bad)} such rows). "
            'Try gain="linear".'
        )
    return np.exp2(exponents) - 1.0


def _discounted_gain(
    group: NDArray[np.int64],
    score: NDArray[Any],
    gains: NDArray[np.float64],
    depth: int,
) -> NDArray[np.float64]:
    """Return each group's DCG by falling score, equal scores sharing gains."""
    order, run = sort_into_runs(group, -dense_ranks(group, score))
    position = np.arange(len(order)) - group_starts(group)[group[order]]
    discount = np.where(position < depth, 1.0 / np.log2(position + 2.0), 0.0)
    shared = sums_by(run, gains[order]) / np.bincount(run)
    return sums_by(group[order], shared[run] * discount)


def top_k_precision(
    y: ArrayLike, utility: ArrayLike, qid: ArrayLike | None = None, k: int = 3
) -> float:
    """Share of the true top k found among the predicted top k.

    In a group of m rows, with κ = min(k, m), the predicted top is
    the κ rows of highest utility and a true top is any set of κ rows such that no
    row outside it has a higher grade. The value of the group is ::

        E max_T |T ∩ P| / κ,

    the expectation over random tie-breaking among equal utilities in the
    predicted top P, the maximum over the true tops T. So when several grades tie
    at the border of the true top, finding any of them counts, but only as many as
    have room there: rows above the border are never replaced by rows at it.
    Utilities equal to the grades score 1. A group of k rows or fewer always scores
    1. The result is the mean over groups. O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades; any numbers, higher is better.
    utility : array-like of shape (n,)
        Predicted utilities, higher is better.
    qid : array-like of shape (n,), default=None
        Group of each row, of any type and in any order. None: one group.
    k : int, default=3
        Size of the top; groups with fewer rows use their size.

    Returns
    -------
    precision : float
        Between 0 and 1; a mean over groups.

    Examples
    --------
    >>> from tiebreak.metrics import top_k_precision
    >>> top_k_precision([5, 4, 3, 2, 1], [9, 1, 8, 2, 3], k=2)
    0.5
    >>> top_k_precision([5, 4, 3, 2, 1], [0, 0, 0, 0, 0], k=2)
    0.4
    """
    grades = numeric_vector(y, "y")
    utilities = numeric_vector(utility, "utility", len(grades))
    group = group_codes(qid, len(grades))
    depth = np.minimum(positive_integer(k, "k"), np.bincount(group))

    true_above, true_border = _top(group, grades, depth)
    sure, drawn_from = _top(group, utilities, depth)
    room = depth - _count(group, true_above)
    n_draws = depth - _count(group, sure)
    n_block = _count(group, drawn_from)
    share = n_draws / n_block

    above = _count(group, true_above & sure) + share * _count(
        group, true_above & drawn_from
    )
    at_border = _expected_capped_draws(
        fixed=_count(group, true_border & sure),
        n_marked=_count(group, true_border & drawn_from),
        n_block=n_block,
        n_draws=n_draws,
        cap=room,
    )
    return float(np.mean((above + at_border) / depth))


def _count(group: NDArray[np.int64], marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the marked rows of each group."""
    return np.bincount(group[marked], minlength=int(group.max()) + 1)


def _top(
    group: NDArray[np.int64], score: NDArray[Any], depth: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the rows above and the rows at the score of each group's depth-th row."""
    falling = -dense_ranks(group, score)
    order, _ = sort_into_runs(group, falling)
    border = falling[order[group_starts(group)[:-1] + depth - 1]]
    return falling < border[group], falling == border[group]


def _expected_capped_draws(
    fixed: NDArray[np.int64],
    n_marked: NDArray[np.int64],
    n_block: NDArray[np.int64],
    n_draws: NDArray[np.int64],
    cap: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return E min(fixed + H, cap) for hypergeometric H, element by element.

    H is the number of marked rows among ``n_draws`` drawn without replacement from
    a block of ``n_block`` rows of which ``n_marked`` are marked.
    """
    expected = fixed + n_draws * n_marked / n_block
    most = np.minimum(n_marked, n_draws)
    over = np.flatnonzero(fixed + most > cap)
    if len(over) == 0:
        return expected
    # One entry per group and possible number of hits: at most 2 n in all.
    n_values = most[over] + 1
    entry = np.repeat(over, n_values)
    hits = np.arange(len(entry)) - np.repeat(np.cumsum(n_values) - n_values, n_values)
    chance = stats.hypergeom.pmf(hits, n_block[entry], n_marked[entry], n_draws[entry])
    excess = np.maximum(fixed[entry] + hits - cap[entry], 0)
    return expected - np.bincount(entry, chance * excess, minlength=len(expected))
