# SPDX-License-Identifier: BSD-3-Clause
"""How many swaps of neighbors give an order the noise level of the survey.

With D the sum of squared differences of positions, Spearman's ρ = 1 - 6 D / (L³ - L),
so that the level of noise in an order is the probability of D(noisy) > D(random): 0
without noise, and for much noise that of two random orders, ½ (1 - P(equal)).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np

from tiebreak.datasets.simulated import Codes, swap_once

# All orders of so many items are listed, 40320; of more, as many as below are drawn.
_LISTED = 8
_DRAWN = 200_000
# Orders whose noise is simulated to find its level: so many items in all, and orders
# at least.
_WALK_ITEMS, _FEWEST_WALKS = 200_000, 2_000
# The level creeps up to its limit; it is followed up to this share.
_REACHED = 0.9


def swaps_at_level(length: int, level: float) -> float:
    """Mean number of swaps of adjacent items that gives a noise level.

    2.3 stands for two swaps, and a third one with probability 0.3, which has the level
    exactly on average. It grows with the cube of the length.

    >>> swaps_at_level(2, 0.1)  # a swap is worse than a random order half of the time
    0.2000
    """
    limit = noise_limit(length)
    if not 0 <= level <= limit:
        raise ValueError(f"order_noise must be from 0 to {limit:.3f}, got {level}.")
    return _find_swaps(length, float(level))


def noise_limit(length: int) -> float:
    """Largest noise level that can be asked for: 0.9 times that of a random order.

    >>> noise_limit(2)
    0.2250
    """
    _, counts = np.unique(_random_distances(length), return_counts=True)
    equal = float(np.sum((counts / counts.sum()) ** 2))
    return _REACHED * 0.5 * (1.0 - equal)


@lru_cache(maxsize=64)
def _find_swaps(length: int, level: float) -> float:
    rng = np.random.default_rng(0)
    random = _random_distances(length)
    # The probability that a random order has a smaller D, for every D.
    counts = np.bincount(random, minlength=(length**3 - length) // 3 + 1)
    smaller = (np.cumsum(counts) - counts) / len(random)
    # Longer orders differ less from each other, and need more swaps.
    n = max(_FEWEST_WALKS, _WALK_ITEMS // length)
    flat, starts = np.tile(np.arange(length), n), length * np.arange(n)
    distance = np.zeros(n, dtype=np.int64)
    swaps, before, reached = 0, 0.0, 0.0
    while reached < level:
        first, second = swap_once(flat, starts, length, rng)
        # Only two terms of D change: they were (a - j)² + (b - j - 1)².
        distance += 2 * (second - first)
        swaps, before, reached = swaps + 1, reached, float(smaller[distance].mean())
    if not swaps:
        return 0.0
    return swaps - 1 + (level - before) / (reached - before)


@lru_cache(maxsize=16)
def _random_distances(length: int) -> Codes:
    """D of all orders, or of many random ones."""
    original = np.arange(length)
    if length <= _LISTED:
        orders = np.array(list(permutations(range(length))))
    else:
        rng = np.random.default_rng(0)
        n = max(1000, min(_DRAWN, 20_000_000 // length))
        orders = rng.permuted(np.tile(original, (n, 1)), axis=1)
    return ((orders - original) ** 2).sum(axis=1)
