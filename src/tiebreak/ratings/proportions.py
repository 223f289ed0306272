# SPDX-License-Identifier: BSD-3-Clause
"""Intervals and tests for a share of wins.

Counts may be sums of weights, so they need not be whole numbers: the tails of the
binomial distribution are written as incomplete beta functions, which agree with it
for whole numbers and lie between them otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, ndtri

__all__ = ["binomial_at_most", "binomial_two_sided", "wilson_interval"]


def wilson_interval(
    wins: float, total: float, level: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval for a share.

    With z the normal quantile of the level, the shares p that the score test does not
    reject, ``|k/n - p| ≤ z √(p (1 - p) / n)``.

    Parameters
    ----------
    wins : float
        k, the number of wins, 0 to `total`.
    total : float
        n, positive.
    level : float, default=0.95
        Confidence.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> wilson_interval(8, 10)
    (0.4902, 0.9433)
    """
    z = float(ndtri((1 + level) / 2))
    share, shrink = wins / total, 1 + z**2 / total
    center = (share + z**2 / (2 * total)) / shrink
    half = z / shrink * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    return max(0.0, float(center - half)), min(1.0, float(center + half))


def binomial_at_most(wins: ArrayLike, total: ArrayLike) -> Any:
    """Probability of at most so many wins when each is won with probability 1/2.

    Parameters
    ----------
    wins, total : array-like
        Numbers of wins and of comparisons; broadcast.

    Returns
    -------
    float or ndarray
        For whole numbers the binomial distribution function.

    Examples
    --------
    >>> float(binomial_at_most(1, 3))
    0.5
    """
    return betainc(np.subtract(total, wins), np.add(wins, 1.0), 0.5)


def binomial_two_sided(wins: float, total: float) -> float:
    """Two-sided p-value of the hypothesis that each is won with probability 1/2.

    Twice the smaller tail, at most 1.

    Parameters
    ----------
    wins, total : float
        Numbers of wins and of comparisons.

    Returns
    -------
    float

    Examples
    --------
    >>> binomial_two_sided(0, 3)
    0.25
    """
    return min(1.0, 2 * float(binomial_at_most(min(wins, total - wins), total)))
