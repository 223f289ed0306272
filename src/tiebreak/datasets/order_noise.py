# SPDX-License-Identifier: BSD-3-Clause
"""Noise in orders: swaps of adjacent objects, as many as a stated level needs.

The level is the probability that Spearman's ρ between an order and its noisy version
is smaller than between the order and a random one. With D the sum of squared
differences of positions, ρ = 1 - 6 D / (L³ - L), so that it is the probability of
D(noisy) > D(random): 0 without noise, and for much noise that of two random orders,
½ (1 - P(equal)).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from numbers import Real

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

# All orders of so many objects are listed, 40320; of more, as many as below are drawn.
_LISTED = 8
_DRAWN = 200_000
# Orders whose noise is simulated to find its level: so many objects in all, and orders
# at least.
_WALK_OBJECTS, _FEWEST_WALKS = 200_000, 2_000
# The level creeps up to its limit; it is followed up to this share.
_REACHED = 0.9


def swaps_at_level(length: int, level: float) -> float:
    """Find the mean number of swaps of adjacent objects that gives a noise level.

    The level is simulated with a fixed seed, swap by swap. It is reached by no whole
    number of swaps in general: 2.3 stands for two swaps, and a third one with
    probability 0.3, which has the level exactly on average.

    Parameters
    ----------
    length : int
        Objects of an order, at least 2.
    level : float
        Noise level, from 0 to what `noise_limit` gives.

    Returns
    -------
    float
        About cubic in the length, for a given level.

    Raises
    ------
    ValueError
        If the level is out of its range.

    Examples
    --------
    Of two objects, a swap makes the noisy order worse than a random one in half of the
    cases, namely when the random one is right.

    >>> from tiebreak.datasets.order_noise import swaps_at_level
    >>> swaps_at_level(2, 0.1)
    0.2000
    """
    limit = noise_limit(length)
    if not (isinstance(level, Real) and 0 <= level <= limit):
        raise ValueError(
            f"order_noise must be a number from 0 to {limit:.3f} for orders of "
            f"{length} objects, got {level!r}. It is the probability that a random "
            "order is closer to the original than the noisy one, so that 0.01 is 1 %."
        )
    return _find_swaps(length, float(level))


def noise_limit(length: int) -> float:
    """Largest noise level that can be asked for.

    Parameters
    ----------
    length : int
        Objects of an order.

    Returns
    -------
    float
        0.9 times the level of a random order; below 0.45.

    Examples
    --------
    >>> from tiebreak.datasets.order_noise import noise_limit
    >>> noise_limit(2)
    0.2250
    """
    _, counts = np.unique(_random_distances(length), return_counts=True)
    equal = float(np.sum((counts / counts.sum()) ** 2))
    return _REACHED * 0.5 * (1.0 - equal)


def swap_adjacent(orders: Codes, n_swaps: Codes, rng: np.random.Generator) -> Codes:
    """Swap randomly chosen neighbors in every order, one swap after the other.

    Parameters
    ----------
    orders : ndarray of shape (n, length)
        Orders of the same length.
    n_swaps : ndarray of int of shape (n,)
        How many swaps each of them gets.
    rng : numpy.random.Generator
        Chooses the neighbors.

    Returns
    -------
    ndarray of shape (n, length)
        New orders.
    """
    n, length = orders.shape
    out = orders.copy()
    flat, starts = out.reshape(-1), length * np.arange(n)
    for number in range(int(n_swaps.max(initial=0))):
        _swap_once(flat, starts[n_swaps > number], length, rng)
    return out


def _swap_once(
    flat: Codes, starts: Codes, length: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Swap one pair of neighbors in every order that starts there.

    Returns the object that was first of them, and the second one.
    """
    place = starts + rng.integers(0, length - 1, len(starts))
    first, second = flat[place], flat[place + 1]
    flat[place], flat[place + 1] = second, first
    return first, second


@lru_cache(maxsize=64)
def _find_swaps(length: int, level: float) -> float:
    rng = np.random.default_rng(0)
    random = _random_distances(length)
    # The probability that a random order has a smaller D, for every D.
    counts = np.bincount(random, minlength=(length**3 - length) // 3 + 1)
    smaller = (np.cumsum(counts) - counts) / len(random)
    # Longer orders differ less from each other, and need more swaps.
    n = max(_FEWEST_WALKS, _WALK_OBJECTS // length)
    flat, starts = np.tile(np.arange(length), n), length * np.arange(n)
    distance = np.zeros(n, dtype=np.int64)
    swaps, before, reached = 0, 0.0, 0.0
    while reached < level:
        first, second = _swap_once(flat, starts, length, rng)
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
