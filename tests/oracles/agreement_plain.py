# SPDX-License-Identifier: BSD-3-Clause
"""Krippendorff's alpha by the coincidence matrix, cell by cell."""

import numpy as np


def krippendorff_alpha(ratings, ordinal):
    """Alpha of rows (unit, rater, value); several answers of a rater share one vote."""
    values = sorted({value for _, _, value in ratings})
    coincidence = np.zeros((len(values), len(values)))
    for unit in sorted({unit for unit, _, _ in ratings}):
        here = [(rater, value) for u, rater, value in ratings if u == unit]
        times = {rater: sum(r == rater for r, _ in here) for rater, _ in here}
        if len(times) < 2:
            continue
        for rater, value in here:
            for other, answer in here:
                if rater != other:
                    share = 1 / (times[rater] * times[other] * (len(times) - 1))
                    coincidence[values.index(value), values.index(answer)] += share
    margins = coincidence.sum(axis=1)
    n = margins.sum()
    observed = expected = 0.0
    for c in range(len(values)):
        for d in range(len(values)):
            distance = 0.0 if c == d else 1.0
            if ordinal and c != d:
                low, high = min(c, d), max(c, d)
                between = sum(margins[low : high + 1])
                distance = (between - (margins[c] + margins[d]) / 2) ** 2
            observed += coincidence[c, d] * distance
            expected += margins[c] * margins[d] * distance
    return 1 - (n - 1) * observed / expected if expected else np.nan
