# SPDX-License-Identifier: BSD-3-Clause
"""Simulated orders: the protocol, and the noise in orders."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from tiebreak.datasets import PolynomialUtility, make_orders
from tiebreak.datasets.simulated_orders import (
    noise_limit,
    swap_adjacent,
    swaps_at_level,
)


def rows_of(orders, length):
    return orders.flat.reshape(-1, length)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize(("attributes", "k"), [("numeric", 5), ("binary", 15)])
def test_lists_follow_the_utility(degree, attributes, k):
    data = make_orders(
        40, 7, n_items=100, attributes=attributes, degree=degree, random_state=3
    )
    assert data.attributes.shape == (100, k)
    assert len(data.orders) == 40
    assert_array_equal(data.orders.lengths, 7)
    base = 1.0 + data.attributes @ data.utility.weights
    assert_allclose(data.utility(data.attributes), base**degree)
    utility = base**degree
    for rows in rows_of(data.orders, 7):
        assert len(set(rows.tolist())) == 7
        assert (np.diff(utility[rows]) < 0).all()
    # Without noise nothing differs.
    assert_array_equal(data.orders.flat, data.exact.flat)
    assert_array_equal(data.orders.values, data.attributes)
    assert data.n_swaps == 0.0
    assert_array_equal(data.orders.position, np.tile(np.arange(7), 40))


def test_utility_by_hand():
    utility = PolynomialUtility(np.array([1.0, -2.0]), 3)
    assert_allclose(utility([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [1.0, 8.0, -1.0])


def test_numeric_attributes_are_standard_normal():
    X = make_orders(1, 2, n_items=20_000, random_state=0).attributes
    n = X.size
    assert abs(X.mean()) < 5 / np.sqrt(n)
    assert abs(X.var() - 1.0) < 5 * np.sqrt(2 / n)
    assert abs((X**4).mean() - 3.0) < 5 * np.sqrt(96 / n)
    weights = [make_orders(1, 2, random_state=s).utility.weights for s in range(400)]
    assert abs(np.var(weights) - 1.0) < 5 * np.sqrt(2 / 2000)


def test_binary_items_are_all_different():
    data = make_orders(5, 4, n_items=1000, attributes="binary", random_state=1)
    assert set(np.unique(data.attributes)) == {0.0, 1.0}
    assert len(np.unique(data.attributes, axis=0)) == 1000
    # Half are ones; a draw without repetition varies less than 15,000 coins.
    assert abs(data.attributes.mean() - 0.5) < 5 * 0.5 / np.sqrt(15_000)
    every = make_orders(
        1, 2, n_items=16, n_features=4, attributes="binary", random_state=1
    )
    assert_array_equal(every.attributes.sum(axis=0), 8.0)


def test_every_item_is_equally_likely_in_lists():
    data = make_orders(6000, 4, n_items=12, random_state=2)
    counts = np.bincount(data.orders.flat, minlength=12)
    # Each of 6000 lists holds it with probability 1/3.
    assert_allclose(counts, 2000, atol=5 * np.sqrt(6000 * 2 / 9))


@pytest.mark.parametrize(
    ("length", "level"), [(2, 0.1), (3, 0.2), (5, 0.05), (10, 0.01), (10, 0.1)]
)
def test_order_noise_has_the_stated_level(length, level):
    """Against random orders of its own, by Spearman's definition."""
    n = 10_000
    data = make_orders(
        n, length, n_items=30, order_noise=level, random_state=np.random.default_rng(7)
    )
    exact, noisy = rows_of(data.exact, length), rows_of(data.orders, length)
    # Place of every item of the noisy list in the exact one.
    where = (noisy[:, :, None] == exact[:, None, :]).argmax(axis=2)
    random = np.random.default_rng(8).random((n, length))
    places = np.arange(1, length + 1)

    def rho(ranks):
        D = ((ranks - places) ** 2).sum(axis=1)
        return 1 - 6 * D / (length**3 - length)

    smaller = (rho(where + 1) < rho(rankdata(random, axis=1))).mean()
    # The number of swaps is found by a simulation too, hence the tenth of a percent.
    assert abs(smaller - level) < 4 * np.sqrt(level * (1 - level) / n) + 0.001
    assert (noisy == exact).all(axis=1).mean() < 1 - level
    assert_array_equal(np.sort(noisy), np.sort(exact))


def test_numeric_noise_is_a_normal_factor():
    data = make_orders(3, 4, n_items=4000, attribute_noise=0.4, random_state=4)
    factor = data.orders.values / data.attributes
    n = factor.size
    assert abs(factor.mean() - 1.0) < 5 * 0.4 / np.sqrt(n)
    assert abs(factor.var() - 0.16) < 5 * 0.16 * np.sqrt(2 / n)
    assert_array_equal(data.exact.values, data.orders.values)
    # Lists follow the attributes without noise.
    utility = data.utility(data.attributes)
    assert (np.diff(utility[rows_of(data.orders, 4)], axis=1) < 0).all()


def test_binary_noise_turns_bits_over():
    data = make_orders(
        3, 4, n_items=4000, attributes="binary", attribute_noise=0.03, random_state=4
    )
    assert set(np.unique(data.orders.values)) == {0.0, 1.0}
    turned = (data.orders.values != data.attributes).mean()
    n = data.attributes.size
    assert abs(turned - 0.03) < 5 * np.sqrt(0.03 * 0.97 / n)
    every = make_orders(1, 2, attributes="binary", attribute_noise=1.0, random_state=0)
    assert_array_equal(every.orders.values, 1.0 - every.attributes)


def test_the_seed_decides():
    def make(seed):
        return make_orders(
            5, 4, order_noise=0.1, attribute_noise=0.1, random_state=seed
        )

    one, two, other = make(5), make(np.random.default_rng(5)), make(6)
    assert_array_equal(one.orders.flat, two.orders.flat)
    assert_array_equal(one.orders.values, two.orders.values)
    assert (one.orders.values != other.orders.values).any()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_orders": 0}, ValueError, "n_orders must be at least 1, got 0"),
        ({"n_orders": 2.5}, TypeError, "n_orders must be an integer"),
        ({"length": 1}, ValueError, "length must be from 2 to n_items=20.*got 1"),
        ({"length": 21}, ValueError, "length must be from 2 to n_items=20.*got 21"),
        ({"attributes": "words"}, ValueError, "'numeric' or 'binary', got 'words'"),
        ({"degree": 0}, ValueError, "degree must be at least 1"),
        ({"degree": 1.5}, TypeError, "degree must be an integer"),
        ({"order_noise": 0.6}, ValueError, "order_noise must be a number from 0 to"),
        ({"attribute_noise": -1}, ValueError, "attribute_noise.*at least 0; got -1"),
        ({"attribute_noise": np.inf}, ValueError, "attribute_noise.*got inf"),
        (
            {"attributes": "binary", "attribute_noise": 1.5},
            ValueError,
            "attribute_noise.*from 0 to 1; got 1.5",
        ),
        (
            {"attributes": "binary", "n_features": 4},
            ValueError,
            "n_features=4 binary attributes cannot make n_items=20",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        make_orders(**{"n_orders": 5, "length": 4, "n_items": 20} | arguments)


def test_levels_by_hand():
    # Of two objects: swapped, and the random order is right, in half of the cases.
    assert swaps_at_level(2, 0.2) == pytest.approx(0.4)
    # Of three: one swap gives D = 2, and only one of the six orders has a smaller D.
    assert swaps_at_level(3, 1 / 12) == pytest.approx(0.5)
    assert swaps_at_level(3, 1 / 6) == pytest.approx(1.0)
    # Two swaps of the same place in half of the cases give the order back, else D = 6,
    # and three of six have a smaller one: a level of 1/4.
    assert swaps_at_level(3, 0.25) == pytest.approx(2.0, abs=0.05)
    assert swaps_at_level(7, 0.0) == 0.0


@pytest.mark.parametrize("length", [4, 5])
def test_levels_by_the_chain_of_all_orders(length):
    """Follow the probabilities of all orders instead of some orders."""
    orders = list(permutations(range(length)))
    number = {order: i for i, order in enumerate(orders)}
    step = np.zeros((len(orders), len(orders)))
    for order in orders:
        for j in range(length - 1):
            other = list(order)
            other[j], other[j + 1] = other[j + 1], other[j]
            step[number[order], number[tuple(other)]] += 1 / (length - 1)
    D = np.array([sum((a - j) ** 2 for j, a in enumerate(o)) for o in orders])
    worse = np.array([(d > D).mean() for d in D])
    p = np.zeros(len(orders))
    p[number[tuple(range(length))]] = 1.0
    levels = [0.0]
    for _ in range(4):
        p = p @ step
        levels.append(float(p @ worse))
    for swaps, level in enumerate(levels):
        # The simulation is as good as its 40,000 orders: slopes here are about 0.05.
        assert swaps_at_level(length, level) == pytest.approx(swaps, abs=0.08)
    middle = 0.5 * (levels[1] + levels[2])
    assert swaps_at_level(length, middle) == pytest.approx(1.5, abs=0.08)


def test_limits_by_hand():
    # Two random orders: equal with probability 1/2, and with (1 + 4 + 4 + 1) / 36.
    assert noise_limit(2) == pytest.approx(0.9 * 0.25)
    assert noise_limit(3) == pytest.approx(0.9 * 0.5 * 26 / 36)
    assert 0.4 < noise_limit(10) < 0.45


@pytest.mark.parametrize("level", [-0.01, 0.46, 10, np.nan, "1%", None])
def test_levels_out_of_range_are_refused(level):
    with pytest.raises(ValueError, match=r"order_noise must be a number from 0 to 0.4"):
        swaps_at_level(10, level)


def test_a_swap_exchanges_two_random_neighbors(rng):
    n, length = 6000, 5
    orders = np.tile(np.arange(length) + 10, (n, 1))
    n_swaps = np.arange(n) % 2
    before = orders.copy()
    noisy = swap_adjacent(orders, n_swaps, rng)
    assert_array_equal(orders, before)
    changed = noisy != orders
    assert_array_equal(changed.sum(axis=1), 2 * n_swaps)
    place = np.argmax(changed[1::2], axis=1)
    rows = np.arange(1, n, 2)
    assert_array_equal(noisy[rows, place], orders[rows, place + 1])
    assert_array_equal(noisy[rows, place + 1], orders[rows, place])
    # Four places, 3000 swaps: 750 each, with a deviation of 24.
    assert_allclose(np.bincount(place, minlength=4), 750, atol=5 * 24)


def test_swaps_follow_each_other(rng):
    # Two swaps of three objects: half of them return, the others are the 3-cycles.
    noisy = swap_adjacent(np.tile([0, 1, 2], (4000, 1)), np.full(4000, 2), rng)
    found, counts = np.unique(noisy, axis=0, return_counts=True)
    assert_array_equal(found, [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    assert_allclose(counts, [2000, 1000, 1000], atol=5 * 32)
