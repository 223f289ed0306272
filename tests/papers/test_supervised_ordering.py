# SPDX-License-Identifier: BSD-3-Clause
"""The levels of noise in orders, by all orders instead of simulated ones."""

from itertools import permutations

import numpy as np
import pytest

from papers.supervised_ordering.noise import swaps_at_level


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
    with pytest.raises(ValueError, match="order_noise must be from 0 to"):
        swaps_at_level(length, 0.6)
