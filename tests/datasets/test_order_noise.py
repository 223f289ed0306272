# SPDX-License-Identifier: BSD-3-Clause
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak.datasets.order_noise import (
    noise_limit,
    swap_adjacent,
    swaps_at_level,
)


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
