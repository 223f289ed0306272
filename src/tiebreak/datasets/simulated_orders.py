# SPDX-License-Identifier: BSD-3-Clause
"""Simulated orders of items by a polynomial of their attributes, with noise.

The level of noise in an order is the probability that Spearman's ρ between the order
and its noisy version is smaller than between the order and a random one. With D the sum
of squared differences of positions, ρ = 1 - 6 D / (L³ - L), so that it is the
probability of D(noisy) > D(random): 0 without noise, and for much noise that of two
random orders, ½ (1 - P(equal)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Orders
from tiebreak.datasets.simulated_pairs import check_count, check_items

# Attributes of an item in the survey.
_FEATURES = {"numeric": 5, "binary": 15}

# All orders of so many items are listed, 40320; of more, as many as below are drawn.
_LISTED = 8
_DRAWN = 200_000
# Orders whose noise is simulated to find its level: so many items in all, and orders
# at least.
_WALK_ITEMS, _FEWEST_WALKS = 200_000, 2_000
# The level creeps up to its limit; it is followed up to this share.
_REACHED = 0.9

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PolynomialUtility:
    """The utility r(x) = (1 + w·x)^degree.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        The weights w.
    degree : int
        Degree, at least 1: 1 is linear, 2 and 3 are not; 2 is not even monotone.
    """

    weights: Floats
    degree: int

    def __call__(self, X: ArrayLike) -> Floats:
        """Utilities (n_items,) of attributes X (n_items, n_features) without noise."""
        values = check_items(X, len(self.weights), exactly=True)
        return (1.0 + values @ self.weights) ** self.degree


@dataclass(frozen=True, eq=False)
class ArtificialOrders:
    """What `make_orders` returns.

    Attributes
    ----------
    orders, exact : Orders of length n_orders
        Noisy lists of items with noisy attributes, from which a model learns, and the
        same lists in the order of the true utility.
    attributes : ndarray of shape (n_items, n_features)
        Attributes without noise, by which the lists were ordered.
    utility, n_swaps : PolynomialUtility, float
        The true utility, and the mean number of swaps of adjacent items in a list.
    """

    orders: Orders
    exact: Orders
    attributes: Floats = field(repr=False)
    utility: PolynomialUtility = field(repr=False)
    n_swaps: float = 0.0


def make_orders(
    n_orders: int = 300,
    length: int = 10,
    *,
    n_items: int = 1000,
    attributes: str = "numeric",
    degree: int = 1,
    n_features: int | None = None,
    order_noise: float = 0.0,
    attribute_noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> ArtificialOrders:
    """Simulate orders by the utility (1 + w·x)^degree, with two kinds of noise.

    The artificial data of Kamishima, Kazawa and Akaho, "Supervised ordering: an
    empirical survey". Each list holds `length` different items, chosen at random, by
    r(x) = (1 + Σ_l w_l x_l)^degree, w_l ~ N(0, 1), of the attributes without noise.

    Parameters
    ----------
    n_orders, length, n_items : int, default=300, 10, 1000
        Number of lists, of items in each of them (at least 2), and of all items.
    attributes : {"numeric", "binary"}, default="numeric"
        Standard normal, or 0 and 1 such that no two items are the same.
    degree, n_features : int, default=1, optional
        1 for a linear utility, 2 or 3 in the survey for others; number of attributes,
        by default 5 numeric or 15 binary ones as in the survey.
    order_noise : float, default=0.0
        Probability that Spearman's ρ between a list and its noisy version is smaller
        than between the list and a random one; at most about 0.4. Random neighbors are
        swapped, one pair after the other, as often as this level needs.
    attribute_noise : float, default=0.0
        Standard deviation of the normal factors, with mean 1, of numeric attributes:
        0.4 is the survey's 40 %. Probability that a binary one is turned over.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. A Generator is used, and advanced, as it is.

    Returns
    -------
    ArtificialOrders

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from tiebreak.datasets import make_orders
    >>> data = make_orders(50, 6, n_items=40, order_noise=0.01, random_state=0)
    >>> data.orders
    Orders(50 lists of 40 items, 5 features)
    >>> best = data.exact.flat[data.exact.indptr[:-1]]
    >>> worst = data.exact.flat[data.exact.indptr[1:] - 1]
    >>> utility = data.utility(data.attributes)
    >>> bool((utility[best] > utility[worst]).all())
    True
    """
    n_orders = check_count(n_orders, "n_orders")
    n_items = check_count(n_items, "n_items")
    length = check_count(length, "length")
    degree = check_count(degree, "degree")
    if not (isinstance(attributes, str) and attributes in _FEATURES):
        raise ValueError(
            f"attributes must be 'numeric' or 'binary', got {attributes!r}."
        )
    if n_features is None:
        n_features = _FEATURES[attributes]
    n_features = check_count(n_features, "n_features")
    if not 2 <= length <= n_items:
        raise ValueError(
            f"length must be from 2 to n_items={n_items}, because a list holds "
            f"different items, got {length}."
        )
    is_binary = attributes == "binary"
    _check_attribute_noise(attribute_noise, is_binary)
    n_swaps = swaps_at_level(length, order_noise)
    rng = np.random.default_rng(random_state)
    X = _draw_attributes(n_items, n_features, is_binary, rng)
    utility = PolynomialUtility(rng.normal(size=n_features), degree)
    listed = np.array([rng.permutation(n_items)[:length] for _ in range(n_orders)])
    best_first = np.argsort(-utility(X)[listed], axis=1, kind="stable")
    exact = np.take_along_axis(listed, best_first, axis=1)
    # The whole swaps, and one more with the probability of the rest.
    more = rng.random(n_orders) < n_swaps - math.floor(n_swaps)
    noisy = swap_adjacent(exact, math.floor(n_swaps) + more.astype(np.int64), rng)
    seen = _disturb(X, attribute_noise, is_binary, rng)
    return ArtificialOrders(
        Orders(seen, noisy), Orders(seen, exact), X, utility, n_swaps
    )


def _draw_attributes(
    n_items: int, n_features: int, is_binary: bool, rng: np.random.Generator
) -> Floats:
    if not is_binary:
        return rng.normal(size=(n_items, n_features))
    if n_features > 62 or n_items > 2**n_features:
        raise ValueError(
            f"n_features={n_features} binary attributes cannot make n_items={n_items} "
            "different items here; expected at most 62 attributes, and items at most "
            "2 to the power of their number."
        )
    number = rng.choice(2**n_features, n_items, replace=False)
    return (number[:, None] >> np.arange(n_features) & 1).astype(np.float64)


def _check_attribute_noise(noise: float, is_binary: bool) -> None:
    largest = 1.0 if is_binary else math.inf
    if not (isinstance(noise, Real) and 0 <= noise <= largest and math.isfinite(noise)):
        meaning = (
            "the probability that a bit is turned over, from 0 to 1"
            if is_binary
            else "the standard deviation of a factor, a finite number of at least 0"
        )
        raise ValueError(f"attribute_noise must be {meaning}; got {noise!r}.")


def _disturb(
    X: Floats, noise: float, is_binary: bool, rng: np.random.Generator
) -> Floats:
    if is_binary:
        return np.abs(X - (rng.random(X.shape) < noise))
    return X * rng.normal(1.0, noise, X.shape)


def swaps_at_level(length: int, level: float) -> float:
    """Mean number of swaps of adjacent items that gives a noise level.

    2.3 stands for two swaps, and a third one with probability 0.3, which has the level
    exactly on average. It grows with the cube of the length.

    >>> swaps_at_level(2, 0.1)  # a swap is worse than a random order half of the time
    0.2000
    """
    limit = noise_limit(length)
    if not (isinstance(level, Real) and 0 <= level <= limit):
        raise ValueError(
            f"order_noise must be a number from 0 to {limit:.3f} for orders of "
            f"{length} items, got {level!r}. It is the probability that a random "
            "order is closer to the original than the noisy one, so that 0.01 is 1 %."
        )
    return _find_swaps(length, float(level))


def noise_limit(length: int) -> float:
    """Largest noise level that can be asked for: 0.9 times that of a random order.

    >>> noise_limit(2)
    0.2250
    """
    _, counts = np.unique(_random_distances(length), return_counts=True)
    equal = float(np.sum((counts / counts.sum()) ** 2))
    return _REACHED * 0.5 * (1.0 - equal)


def swap_adjacent(orders: Codes, n_swaps: Codes, rng: np.random.Generator) -> Codes:
    """Swap random neighbors in orders (n, length), `n_swaps` (n,) times; a copy."""
    n, length = orders.shape
    out = orders.copy()
    flat, starts = out.reshape(-1), length * np.arange(n)
    for number in range(int(n_swaps.max(initial=0))):
        _swap_once(flat, starts[n_swaps > number], length, rng)
    return out


def _swap_once(
    flat: Codes, starts: Codes, length: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Swap one pair of neighbors in every order at `starts`; return both items."""
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
    n = max(_FEWEST_WALKS, _WALK_ITEMS // length)
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
