# SPDX-License-Identifier: BSD-3-Clause
"""The tie threshold of least 0-1 loss, found exactly by sorting once.

A comparison with difference d is called a tie when ``|d| <= τ`` and otherwise has the
sign of d, so the loss is constant on intervals ``[a_j, a_{j+1})`` between consecutive
``|d|``. Those that differ by less than 1e-9 of the largest are taken as equal: a solver
cannot tell them apart.
"""

import numpy as np

# Relative to the largest size; utilities carry more rounding than this seldom.
_SAME = 1e-9


def best_threshold(
    difference: np.ndarray, outcome: np.ndarray, weight: np.ndarray
) -> tuple[float, float]:
    """Give τ ≥ 0 with the least weight of wrong outcomes, and that weight.

    It is the midpoint of the lowest optimal interval, neighbors of equal loss joined;
    of the last, which has no end, the beginning.
    """
    size, place = np.unique(np.abs(difference), return_inverse=True)
    # Sizes apart by no more than rounding are one size: they move together.
    apart = np.diff(size) > _SAME * size[-1]
    cluster = np.concatenate([[0], np.cumsum(apart)])
    lowest = size[np.concatenate([[True], apart])]
    highest = size[np.concatenate([apart, [True]])]
    tied = outcome == 0
    right_sign = ~tied & (np.sign(difference) == outcome)
    # Loss for τ below every size: all ties are wrong, and all wrong signs.
    start = weight[tied].sum() + weight[~tied & ~right_sign].sum()
    # Passing a size repairs its ties and spoils its right signs.
    change = np.where(right_sign, weight, np.where(tied, -weight, 0.0))
    passed = np.bincount(cluster[place], change, len(lowest))
    loss = np.concatenate([[0.0], np.cumsum(passed)])
    begin = np.concatenate([[0.0], highest])
    end = np.concatenate([lowest, [np.inf]])
    if size[0] == 0.0:
        # A difference of zero is a tie for every τ; there is nothing below it.
        loss, begin, end = loss[1:], begin[1:], end[1:]
    best = loss.min()
    # Sums of weights carry rounding; equal means equal up to it.
    equal = loss <= best + 1e-12 * weight.sum()
    first = int(np.argmax(equal))
    after = np.flatnonzero(~equal[first:])
    if len(after) == 0:
        return float(begin[first]), float(start + best)
    low, high = begin[first], end[first + after[0] - 1]
    return float(low + 0.5 * (high - low)), float(start + best)
