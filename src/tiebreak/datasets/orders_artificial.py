# SPDX-License-Identifier: BSD-3-Clause
"""Simulated orders of items by a polynomial of their attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Orders
from tiebreak.datasets.order_noise import swap_adjacent, swaps_at_level
from tiebreak.datasets.rejection import check_count, check_items

# Attributes of an item in the survey.
_FEATURES = {"numeric": 5, "binary": 15}

Floats = NDArray[np.float64]


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
        """Evaluate the utility.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Attributes without noise.

        Returns
        -------
        ndarray of shape (n_items,)
        """
        values = check_items(X, len(self.weights), exactly=True)
        return (1.0 + values @ self.weights) ** self.degree


@dataclass(frozen=True, eq=False)
class ArtificialOrders:
    """What `make_orders` returns.

    Attributes
    ----------
    orders : Orders of length n_orders
        What a model learns from: noisy lists of items with noisy attributes.
    exact : Orders of length n_orders
        The same lists in the order of the true utility, with the same attributes.
    attributes : ndarray of shape (n_items, n_features)
        Attributes without noise, by which the lists were ordered.
    utility : PolynomialUtility
        The true utility.
    n_swaps : float
        Mean number of swaps of adjacent items in a list.
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
    empirical survey". Each list holds `length` different items, chosen at random, in
    the order of the utility ::

        r(x) = (1 + Σ_l w_l x_l)^degree,    w_l ~ N(0, 1),

    of the attributes without noise.

    Parameters
    ----------
    n_orders : int, default=300
        Number of lists.
    length : int, default=10
        Items of each list, at least 2.
    n_items : int, default=1000
        Number of items.
    attributes : {"numeric", "binary"}, default="numeric"
        Numeric ones are standard normal. Binary ones are 0 and 1, drawn such that no
        two items are the same.
    degree : int, default=1
        1 for a linear utility; the survey takes 2 or 3 for one that is not.
    n_features : int, optional
        Number of attributes; as in the survey, 5 numeric or 15 binary ones by default.
    order_noise : float, default=0.0
        Probability that Spearman's ρ between a list and its noisy version is smaller
        than between the list and a random one; at most about 0.4. Randomly chosen
        neighbors are swapped, one pair after the other, as often as this level needs.
    attribute_noise : float, default=0.0
        Numeric attributes are multiplied by independent draws of a normal distribution
        with mean 1 and this standard deviation: 0.4 is the survey's 40 %. Binary ones
        are turned over with this probability, after which items may be the same.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. A Generator is used, and advanced, as it is.

    Returns
    -------
    ArtificialOrders
        ``orders``, ``exact``, ``attributes``, ``utility`` and ``n_swaps``.

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
