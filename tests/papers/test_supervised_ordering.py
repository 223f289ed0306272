# SPDX-License-Identifier: BSD-3-Clause
"""The levels of noise in orders, by all orders instead of simulated ones."""

from itertools import permutations

import numpy as np
import pytest

from papers.supervised_ordering.experiments import LENGTH
from papers.supervised_ordering.methods import add_swaps, cut_short
from papers.supervised_ordering.noise import swaps_at_level
from tiebreak.datasets import make_orders


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


def test_lists_have_the_length_of_the_chances_that_the_survey_prints():
    """An item and a pair to be ordered are in none of nine tenths of 300 lists."""
    n, items = 270, 1000

    def unseen(length):
        item = (1 - length / items) ** n
        pair = (1 - length * (length - 1) / (items * (items - 1))) ** n
        return round(100 * item, 1), round(100 * pair, 1)

    assert unseen(LENGTH) == (25.8, 99.5)
    assert unseen(10) == (6.6, 97.6)


def test_short_lists_get_their_noise_after_they_are_cut():
    rng = np.random.default_rng(0)
    short = cut_short(make_orders(400, 10, n_items=50, random_state=0).orders, 5, rng)
    noisy = add_swaps(short, 0.25, rng)
    assert noisy.lengths.tolist() == [5] * 400
    old, new = short.flat.reshape(-1, 5), noisy.flat.reshape(-1, 5)
    assert np.array_equal(np.sort(old, axis=1), np.sort(new, axis=1))
    moved = (old != new).sum(axis=1)
    assert set(moved.tolist()) == {0, 2}
    # 100 ± 4 standard deviations of 400 draws.
    assert 65 < (moved == 2).sum() < 135
