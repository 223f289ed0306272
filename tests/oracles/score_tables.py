# SPDX-License-Identifier: BSD-3-Clause
"""Score tables by loops over tasks and pairs."""

from itertools import combinations
from statistics import fmean

from scipy import stats


def difference(a, b, lower, relative):
    """By how much b is better than a."""
    ahead = a - b if lower else b - a
    largest = max(abs(a), abs(b))
    return ahead / largest if relative and largest else ahead


def comparisons(scores, lower, within, relative):
    """Set of (task, one, two, outcome), outcome 1 if two is better."""
    found = set()
    for t, row in enumerate(scores):
        for i, j in combinations(range(len(row)), 2):
            if row[i] is not None and row[j] is not None:
                ahead = difference(row[i], row[j], lower[t], relative)
                tied = abs(ahead) <= within + 1e-12
                found.add((t, i, j, 0 if tied else 1 if ahead > 0 else -1))
    return found


def mean_interval(scores, lower, unit, pair, relative, level, n_pairs):
    """Mean over units of the mean over tasks, and its interval by Student's t."""
    i, j = pair
    units = {}
    for row, low, u in zip(scores, lower, unit, strict=True):
        if row[i] is not None and row[j] is not None:
            units.setdefault(u, []).append(difference(row[j], row[i], low, relative))
    means = [fmean(values) for values in units.values()]
    share = 1 - (1 - level) / n_pairs
    low, high = stats.t.interval(share, len(means) - 1, fmean(means), stats.sem(means))
    return fmean(means), low, high
