# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of utilities against grades inside groups, and rank correlations.

Boundary conventions: values are tied if and only if they compare equal. Only rows of
one group and of different grades form a pair. A tied pair counts as swapped in
:func:`swapped_pairs` and as half in :func:`disagreement`. With
``average=False`` each metric gives one value per group, in the order in which groups
first occur in ``qid``, and NaN where it does not exist.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from tiebreak.data import check_weights
from tiebreak.data.jit import njit
from tiebreak.data.messages import refuse_rows, warn_user
from tiebreak.data.parameters import NUMBER, one_of
from tiebreak.metrics.metric_inputs import (
    check_argument,
    group_codes,
    numeric_vector,
    positive_integer,
)
from tiebreak.metrics.pair_counts import (
    Groups,
    count_pairs,
    group_ranks,
    group_starts,
    pair_counts,
    run_bounds,
    sort_into_runs,
    sums_by,
)

Floats = NDArray[np.float64]


def swapped_pairs(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    average: bool = True,
) -> Any:
    """Fraction of pairs that the utilities put in the wrong order or tie.

    With utilities u and row weights w it is ::

        Σ_{yᵢ>yⱼ} wᵢ wⱼ [uᵢ ≤ uⱼ] / Σ_{yᵢ>yⱼ} wᵢ wⱼ,

    summed over pairs of rows inside groups, pooled over groups. Equal utilities
    count as swapped.

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades; any numbers, higher is better.
    utility : array-like of shape (n,)
        Predicted utilities, higher is better.
    qid : array-like of shape (n,), default=None
        Group of each row, of any type and in any order. None: one group.
    sample_weight : array-like of shape (n,), default=None
        Row weights w; a pair weighs wᵢ wⱼ.
    average : bool, default=True
        False: one value per group, in the order of their first rows; NaN where a group
        has none.

    Returns
    -------
    fraction : float, or ndarray of shape (n_groups,)
        Between 0 (every pair in order) and 1.

    Examples
    --------
    >>> from tiebreak.metrics import swapped_pairs
    >>> swapped_pairs([3, 2, 1], [0.9, 0.1, 0.5])
    0.3333
    >>> swapped_pairs([1, 0, 1, 0], [2, 2, 5, 4], qid=["a", "a", "b", "b"])
    0.5
    """
    pairs = _count_weights(y, utility, qid, sample_weight)
    return _fraction(pairs[:, 1] + pairs[:, 2], pairs.sum(axis=1), average)


def disagreement(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    ties: str = "ignore",
    average: bool = True,
) -> Any:
    """Fraction of discordant pairs, with half a count for tied utilities.

    With utilities u and row weights w it is ::

        Σ_{yᵢ>yⱼ} wᵢ wⱼ ([uᵢ < uⱼ] + ½ [uᵢ = uⱼ]) / Σ_{yᵢ>yⱼ} wᵢ wⱼ,

    summed over pairs of rows inside groups, pooled over groups. A constant utility
    scores ½; for two grades in one group it is one minus the area under the ROC curve.

    Parameters
    ----------
    y, utility, qid, sample_weight : array-like of shape (n,)
        As in :func:`swapped_pairs`.
    ties : {"ignore", "count"}, default="ignore"
        ``"count"``: also pairs of equal grades, of which those of different utilities
        cost ½, as in the paper on ranking pursuit; all pairs are in the divisor.
    average : bool, default=True
        As in :func:`swapped_pairs`.

    Returns
    -------
    fraction : float, or ndarray of shape (n_groups,)
        Between 0 (every pair in order) and 1 (every pair reversed).

    Examples
    --------
    >>> from tiebreak.metrics import disagreement
    >>> disagreement([3, 2, 1, 1], [0.9, 0.5, 0.5, 0.1])
    0.1
    """
    check_argument(ties, "ties", one_of("ignore", "count"))
    pairs = _count_weights(y, utility, qid, sample_weight)
    cost, every = 0.5 * pairs[:, 1] + pairs[:, 2], pairs.sum(axis=1)
    if ties == "count":
        # Where the sides are exchanged, ties are those of the grades.
        cost += 0.5 * _count_weights(utility, y, qid, sample_weight)[:, 1]
        rows = np.arange(len(numeric_vector(y, "y")))
        every = _count_weights(rows, 0 * rows, qid, sample_weight)[:, 1]
    return _fraction(cost, every, average)


def _count_weights(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Return concordant, tied and discordant pair weight of each group."""
    grades, utilities, group = _check_rows(y, utility, qid)
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, len(grades))
    return pair_counts(grades, utilities, group, weight)


def _fraction(part: Floats, whole: Floats, average: bool) -> Any:
    """Return the share of the pair weight, pooled or of each group."""
    if whole.sum() == 0:
        raise ValueError(
            "no pair to compare: no two rows of a group differ in y and have weight."
        )
    return float(part.sum() / whole.sum()) if average else _divide(part, whole)


def _divide(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def _check_rows(
    y: ArrayLike, utility: ArrayLike, qid: ArrayLike | None
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return grades, utilities and group codes."""
    grades = numeric_vector(y, "y")
    utilities = numeric_vector(utility, "utility", len(grades))
    return grades, utilities, group_codes(qid, len(grades))


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
    average: bool = True,
) -> Any:
    """Average the normalized discounted cumulative gain over groups.

    In each group, with gains g, ::

        DCG = Σ_{p=1…k} g(y₍ₚ₎) / log₂(p + 1),    NDCG = DCG / DCG of the best order,

    with y₍ₚ₎ the grade at position p by falling utility. Rows of equal utility share
    the mean of their gains.

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades, not negative (and up to 1000 with ``gain="exp"``), higher is better.
    utility, qid : array-like of shape (n,)
        As in :func:`swapped_pairs`.
    k : int, default=None
        Number of positions that count; None: all.
    gain : {"exp", "linear"}, default="exp"
        g(y) = 2ʸ - 1 or g(y) = y.
    empty : {"skip", "zero", "one"}, default="skip"
        Value of a group without a positive gain (0/0): left out of the mean, 0 or 1.
    average : bool, default=True
        As in :func:`swapped_pairs`.

    Returns
    -------
    value : float, or ndarray of shape (n_groups,)
        Between 0 and 1; a mean over groups.

    Examples
    --------
    >>> from tiebreak.metrics import ndcg
    >>> ndcg([3, 2, 0, 1], [4.0, 3.0, 2.0, 1.0])
    0.9926
    """
    grades, utilities, group = _check_rows(y, utility, qid)
    depth = len(grades) if k is None else positive_integer(k, "k")
    check_argument(gain, "gain", one_of("exp", "linear"))
    gains = _gains(grades, gain)

    groups = Groups(group)
    discount = 1.0 / np.log2(np.arange(2.0, groups.sizes.max() + 2.0))
    discount[depth:] = 0.0
    best = groups.weigh(gains[groups.sort(-gains)], discount)
    reached = groups.weigh(_shared_gains(groups, utilities, gains), discount)
    reason = "a positive gain, so NDCG is 0/0"
    return _average(reached, best, empty, average, reason)


def _average(
    reached: Floats, best: Floats, empty: str, average: bool, reason: str
) -> Any:
    """Return reached / best of the groups or their mean; ``empty`` where best is 0."""
    check_argument(empty, "empty", one_of("skip", "zero", "one"))
    # No order beats the best one, so what exceeds 1 is rounding.
    value = np.minimum(_divide(reached, best), 1.0)
    if empty != "skip":
        value[best == 0] = float(empty == "one")
    if not average:
        return value
    if np.isnan(value).all():
        raise ValueError(
            f'none of the {len(best)} group(s) has {reason}. Try empty="zero" or "one".'
        )
    return float(np.nanmean(value))


def _gains(grades: NDArray[Any], gain: str) -> Floats:
    """Return the gain of each row."""
    largest = LARGEST_EXPONENT if gain == "exp" else np.inf
    bad = np.flatnonzero((grades < 0) | (grades > largest))
    expected = f"NDCG with gain={gain!r} needs grades from 0 to {largest}"
    refuse_rows(bad, grades, expected, " swapped_pairs takes any numbers.")
    exponents = grades.astype(np.float64)
    return exponents if gain == "linear" else np.exp2(exponents) - 1.0


def _shared_gains(groups: Groups, utility: NDArray[Any], gains: Floats) -> Floats:
    """Order gains by falling utility, equal utilities sharing theirs."""
    falling = -utility
    order = groups.sort(falling)
    gains, begins = gains[order], groups.new_runs(falling[order])
    if begins.all():
        return gains
    starts = np.flatnonzero(begins)
    size = np.diff(starts, append=len(order))
    return np.repeat(np.add.reduceat(gains, starts) / size, size)


def average_precision(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    empty: str = "skip",
    average: bool = True,
) -> Any:
    """Mean average precision (MAP): precision where relevant rows stand, averaged.

    A row is relevant if its grade is above the threshold. In a group with R relevant
    rows, of which Hₚ stand at the first p positions by falling utility, ::

        AP = Σ_{p=1…k, row p relevant} (Hₚ / p) / min(R, k),

    so that the best order scores 1 for every k. Rows of equal utility: the expectation
    over their random order.

    Parameters
    ----------
    y, utility, qid : array-like of shape (n,)
        As in :func:`swapped_pairs`.
    k : int, default=None
        Number of positions that count; None: all.
    threshold : float, default=0.0
        Rows with ``y > threshold`` are relevant.
    empty : {"skip", "zero", "one"}, default="skip"
        Value of a group without a relevant row: left out of the mean, 0 or 1.
    average : bool, default=True
        As in :func:`swapped_pairs`.

    Returns
    -------
    value : float, or ndarray of shape (n_groups,)
        Between 0 and 1; a mean over groups.

    Examples
    --------
    >>> from tiebreak.metrics import average_precision
    >>> average_precision([1, 0, 1, 0], [4, 3, 2, 1])    # (1 + 2/3) / 2
    0.8333
    >>> average_precision([1, 0], [0, 0])    # 1 or ½, by the order of the two
    0.75
    """
    relevant, utilities, group, depth = _check_search(y, utility, qid, k, threshold)
    order, run = sort_into_runs(group, -utilities)
    start = group_starts(group)[group[order]]
    size, hits = np.bincount(run), sums_by(run, relevant[order])
    before = np.cumsum(hits) - hits  # relevant rows in earlier runs, of all groups
    first = np.cumsum(size) - size
    before -= before[run[start[first]]]
    # At the j-th place of a run, counted from 0, a row is relevant with chance
    # hits / size, and of the j rows above it (hits - 1) / (size - 1) are then expected.
    above = (np.arange(len(order)) - first[run]) * (hits - 1)[run]
    above = before[run] + above / np.maximum(size - 1, 1)[run]
    position = np.arange(len(order)) - start + 1
    term = (hits / size)[run] * (1 + above) / position
    reached = sums_by(group[order], np.where(position <= depth, term, 0.0))
    best = np.minimum(sums_by(group, relevant), depth)
    reason = "a relevant row, so average precision is 0/0"
    return _average(reached, best, empty, average, reason)


def reciprocal_rank(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    empty: str = "skip",
    average: bool = True,
) -> Any:
    """Mean reciprocal rank (MRR): one over the position of the first relevant row.

    In each group ::

        RR = 1 / p,    p the first position by falling utility with y₍ₚ₎ > threshold,

    and 0 if p is larger than k. Rows of equal utility: the expectation over their
    random order.

    Parameters
    ----------
    y, utility, qid : array-like of shape (n,)
        As in :func:`swapped_pairs`.
    k, threshold, empty, average
        As in :func:`average_precision`.

    Returns
    -------
    value : float, or ndarray of shape (n_groups,)
        Between 0 and 1; a mean over groups.

    Examples
    --------
    >>> from tiebreak.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 1, 1, 0], [4, 3, 2, 1])
    0.5
    """
    relevant, utilities, group, depth = _check_search(y, utility, qid, k, threshold)
    order, run = sort_into_runs(group, -utilities)
    run_starts, first_runs = run_bounds(group, run)
    hits = sums_by(run, relevant[order])
    value = np.zeros(len(first_runs) - 1)
    add_reciprocal_ranks(value, hits, run_starts, first_runs, depth)
    best = np.minimum(sums_by(group, relevant), 1.0)
    reason = "a relevant row, so there is no first one"
    return _average(value, best, empty, average, reason)


def _check_search(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None,
    k: int | None,
    threshold: float,
) -> tuple[Floats, NDArray[Any], NDArray[np.int64], int]:
    """Return relevance 0 or 1, utilities, group codes and the depth."""
    grades, utilities, group = _check_rows(y, utility, qid)
    check_argument(threshold, "threshold", NUMBER)
    depth = len(grades) if k is None else positive_integer(k, "k")
    return (grades > threshold).astype(np.float64), utilities, group, depth


@njit(cache=True, nogil=True)
def add_reciprocal_ranks(
    value: Floats,
    hits: Floats,
    run_starts: NDArray[np.int64],
    first_runs: NDArray[np.int64],
    depth: int,
) -> None:
    """Add each group's E 1/p to ``value``, up to the depth."""
    for group in range(len(value)):
        begin, run = run_starts[first_runs[group]], first_runs[group]
        while run < first_runs[group + 1] and hits[run] == 0.0:
            run += 1
        if run == first_runs[group + 1]:
            continue
        missed = 1.0  # chance that all rows of the run above this place are irrelevant
        for row in range(run_starts[run], min(run_starts[run + 1], begin + depth)):
            chance = hits[run] / (run_starts[run + 1] - row)
            value[group] += missed * chance / (row - begin + 1)
            missed *= 1.0 - chance
            if missed == 0.0:
                break


def top_k_precision(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    k: int = 3,
    *,
    average: bool = True,
) -> Any:
    """Share of the true top k found among the predicted top k.

    In a group of m rows, with κ = min(k, m), the predicted top is the κ rows of highest
    utility, a true top any κ rows without a higher grade outside. The value is ::

        E max_T |T ∩ P| / κ,

    the expectation over random tie-breaking among equal utilities in the predicted top
    P, the maximum over the true tops T.

    Parameters
    ----------
    y, utility, qid : array-like of shape (n,)
        As in :func:`swapped_pairs`.
    k : int, default=3
        Size of the top.
    average : bool, default=True
        As in :func:`swapped_pairs`.

    Returns
    -------
    precision : float, or ndarray of shape (n_groups,)
        Between 0 and 1; a mean over groups.

    Examples
    --------
    >>> from tiebreak.metrics import top_k_precision
    >>> top_k_precision([5, 4, 3, 2, 1], [9, 1, 8, 2, 3], k=2)
    0.5
    >>> top_k_precision([5, 4, 3, 2, 1], [0, 0, 0, 0, 0], k=2)
    0.4
    """
    grades, utilities, group = _check_rows(y, utility, qid)
    depth = np.minimum(positive_integer(k, "k"), np.bincount(group))

    true_above, true_border = _top(group, grades, depth)
    sure, drawn_from = _top(group, utilities, depth)
    room = depth - _count(group, true_above)
    n_draws = depth - _count(group, sure)
    n_block = _count(group, drawn_from)
    share = n_draws / n_block

    chosen = _count(group, true_above & drawn_from)
    above = _count(group, true_above & sure) + share * chosen
    fixed = _count(group, true_border & sure)
    marked = _count(group, true_border & drawn_from)
    at_border = _expected_capped_draws(fixed, marked, n_block, n_draws, room)
    value = (above + at_border) / depth
    return float(value.mean()) if average else value


def _count(group: NDArray[np.int64], marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the marked rows of each group."""
    return np.bincount(group[marked], minlength=int(group.max()) + 1)


def _top(
    group: NDArray[np.int64], score: NDArray[Any], depth: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the rows above and at the score of each group's depth-th row."""
    falling = -score
    order, _ = sort_into_runs(group, falling)
    border = falling[order[group_starts(group)[:-1] + depth - 1]]
    return falling < border[group], falling == border[group]


def _expected_capped_draws(
    fixed: NDArray[np.int64],
    n_marked: NDArray[np.int64],
    n_block: NDArray[np.int64],
    n_draws: NDArray[np.int64],
    cap: NDArray[np.int64],
) -> Floats:
    """Return E min(fixed + H, cap), H the marked rows of ``n_draws`` in ``n_block``."""
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


def kendall_tau_b(
    a: ArrayLike,
    b: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    average: bool = True,
) -> Any:
    """Kendall's rank correlation τ-b, corrected for ties on both sides.

    For two scores a and b ::

        τ_b = (P - Q) / √((P + Q + Tₐ) (P + Q + T_b))

    with P concordant and Q discordant pairs, Tₐ pairs tied only in a and
    T_b pairs tied only in b. With ``qid`` the unweighted mean over groups, without
    those in which a or b is constant.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Two scores of the same rows.
    qid : array-like of shape (n,), default=None
        Group of each row; None: one group.
    average : bool, default=True
        As in :func:`swapped_pairs`.

    Returns
    -------
    tau : float, or ndarray of shape (n_groups,)
        Between −1 and 1.

    Examples
    --------
    >>> from tiebreak.metrics import kendall_tau_b
    >>> kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 4])
    0.6667
    """
    first, second = _two_vectors(a, b, qid)
    groups = Groups(group_codes(qid, len(first)))
    counts = count_pairs(first, second, groups).astype(np.float64)
    spread = counts[:, :3].sum(axis=1) * counts[:, 3]
    agreement = counts[:, 0] - counts[:, 2]
    return _mean_over_groups(agreement, spread, "Kendall's tau-b", average)


def spearman_rho(
    a: ArrayLike,
    b: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    average: bool = True,
) -> Any:
    """Spearman's rank correlation ρ, the correlation of average ranks.

    For two scores a and b ::

        ρ = Σᵢ (Rᵢ - R̄)(Sᵢ - S̄) / √(Σᵢ (Rᵢ - R̄)² Σᵢ (Sᵢ - S̄)²)

    with R and S the ranks of a and b, tied values sharing their mean rank. Groups as in
    :func:`kendall_tau_b`.

    Parameters
    ----------
    a, b, qid, average
        As in :func:`kendall_tau_b`.

    Returns
    -------
    rho : float, or ndarray of shape (n_groups,)
        Between −1 and 1.

    Examples
    --------
    >>> from tiebreak.metrics import spearman_rho
    >>> spearman_rho([1, 2, 3, 4], [1, 3, 2, 4])
    0.8000
    """
    first, second = _two_vectors(a, b, qid)
    group = group_codes(qid, len(first))
    middle = (np.bincount(group) + 1) / 2
    r = group_ranks(group, first, "average") - middle[group]
    s = group_ranks(group, second, "average") - middle[group]
    spread = sums_by(group, r * r) * sums_by(group, s * s)
    return _mean_over_groups(sums_by(group, r * s), spread, "Spearman's rho", average)


def _two_vectors(
    a: ArrayLike, b: ArrayLike, qid: ArrayLike | None
) -> tuple[Floats, Floats]:
    """Check two vectors of the same length, not constant if there is one group."""
    first = numeric_vector(a, "a")
    second = numeric_vector(b, "b", len(first))
    for name, vector in (("a", first), ("b", second)):
        if qid is None and (vector == vector[0]).all():
            raise ValueError(
                f"rank correlation needs two distinct values; {name} is {vector[0]}."
            )
    return first, second


def _mean_over_groups(
    agreement: Floats, spread: Floats, name: str, average: bool
) -> Any:
    """Return agreement / √spread of the groups, or its mean where spread > 0."""
    value = _divide(agreement, np.sqrt(spread))
    if not average:
        return value
    n, n_without = len(value), int(np.isnan(value).sum())
    if n_without == n:
        raise ValueError(f"{name} does not exist in any of the {n} group(s).")
    if n_without:
        warn_user(f"{name} does not exist in {n_without} of {n} groups.")
    return float(np.nanmean(value))
