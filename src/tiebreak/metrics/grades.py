# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of utilities against grades, over the pairs inside groups.

Boundary conventions: only rows of one group and of different grades form a pair;
two utilities are tied if and only if they compare equal. A tied pair counts as
swapped in :func:`swapped_pairs` and as half in :func:`disagreement`. Both pool the
pairs of all groups, so a group counts in proportion to its pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.metrics.inputs import group_codes, numeric_vector, row_weights
from tiebreak.metrics.pair_counts import pair_counts


def swapped_pairs(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of pairs that the utilities put in the wrong order or tie.

    With utilities u and row weights w it is ::

        Σ_{yᵢ>yⱼ} wᵢ wⱼ [uᵢ ≤ uⱼ] / Σ_{yᵢ>yⱼ} wᵢ wⱼ,

    summed over pairs of rows inside groups, pooled over groups. Equal utilities
    count as swapped. With two grades and no equal utilities this is one minus the
    area under the ROC curve. O(n log n).

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

    Returns
    -------
    fraction : float
        Between 0 (every pair in order) and 1.

    Raises
    ------
    ValueError
        If no group has two rows of different grades and positive weight.

    Examples
    --------
    >>> from tiebreak.metrics import swapped_pairs
    >>> swapped_pairs([3, 2, 1], [0.9, 0.1, 0.5])
    0.3333
    >>> swapped_pairs([1, 0, 1, 0], [2, 2, 5, 4], qid=["a", "a", "b", "b"])
    0.5
    """
    concordant, tied, discordant = _pooled_pairs(y, utility, qid, sample_weight)
    return float((tied + discordant) / (concordant + tied + discordant))


def disagreement(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of discordant pairs, with half a count for tied utilities.

    With utilities u and row weights w it is ::

        Σ_{yᵢ>yⱼ} wᵢ wⱼ ([uᵢ < uⱼ] + ½ [uᵢ = uⱼ]) / Σ_{yᵢ>yⱼ} wᵢ wⱼ,

    summed over pairs of rows inside groups, pooled over groups. Pairs of equal
    grades do not count. A constant utility scores ½, and reversing all utilities
    gives one minus the value. O(n log n).

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

    Returns
    -------
    fraction : float
        Between 0 (every pair in order) and 1 (every pair reversed).

    Raises
    ------
    ValueError
        If no group has two rows of different grades and positive weight.

    Examples
    --------
    >>> from tiebreak.metrics import disagreement
    >>> disagreement([3, 2, 1, 1], [0.9, 0.5, 0.5, 0.1])
    0.1
    """
    concordant, tied, discordant = _pooled_pairs(y, utility, qid, sample_weight)
    return float((0.5 * tied + discordant) / (concordant + tied + discordant))


def _pooled_pairs(
    y: ArrayLike,
    utility: ArrayLike,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> NDArray[np.float64]:
    """Return concordant, tied and discordant pair weight over all groups."""
    grades = numeric_vector(y, "y")
    utilities = numeric_vector(utility, "utility", len(grades))
    group = group_codes(qid, len(grades))
    weight = row_weights(sample_weight, len(grades))
    pooled = pair_counts(grades, utilities, group, weight).sum(axis=0)
    if pooled.sum() == 0:
        raise ValueError(
            f"no pair to compare: none of the {group.max() + 1} group(s) has two "
            "rows of different y and positive weight. Check that qid is the group "
            "and not the row number, or use a larger test set."
        )
    return pooled
