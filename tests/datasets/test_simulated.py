# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons and orders: their distribution, and what is refused."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.stats import ks_2samp, rankdata

from tests.oracles.norms_simulation import simulate, squared_norm
from tiebreak.datasets import make_norms, make_orders, make_separable
from tiebreak.datasets.simulated import swap_adjacent, swaps_at_level

NORMS = (1, 2, np.inf)


def sides(data):
    return np.moveaxis(np.asarray(data.pairs), 1, 0)


@given(
    n_pairs=st.integers(1, 60),
    norm=st.sampled_from(NORMS),
    tie_share=st.floats(0, 1),
    noise=st.sampled_from([0.0, 0.25, 2.0]),
    n_features=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_counts_are_exact(n_pairs, norm, tie_share, noise, n_features, seed):
    data = make_norms(
        n_pairs,
        norm=norm,
        tie_share=tie_share,
        noise=noise,
        n_features=n_features,
        random_state=seed,
    )
    assert data.pairs.shape == (n_pairs, 2, n_features)
    assert data.pairs.n_items == 2 * n_pairs
    assert np.array_equal(data.pairs.touched(), np.arange(2 * n_pairs))
    assert data.y.shape == (n_pairs,)
    assert data.y.dtype == np.int8
    assert set(data.y.tolist()) <= {-1, 0, 1}
    assert int(np.sum(data.y == 0)) == round(tie_share * n_pairs)
    left, _ = sides(data)
    assert np.all(np.abs(left) <= 2)


@pytest.mark.parametrize("norm", NORMS)
def test_without_noise_the_labels_follow_the_utility(norm):
    data = make_norms(300, norm=norm, noise=0, n_features=3, random_state=5)
    for (x, z), y in zip(np.asarray(data.pairs), data.y, strict=True):
        difference = squared_norm(z, norm) - squared_norm(x, norm)
        expected = 0 if abs(difference) <= 1 else np.sign(difference)
        assert y == expected


@pytest.mark.parametrize("norm", NORMS)
def test_utility_is_the_squared_norm(norm):
    X = np.random.default_rng(0).normal(size=(50, 3))
    utility = make_norms(1, norm=norm, n_features=3, random_state=0).utility
    assert utility(X) == pytest.approx([squared_norm(x, norm) for x in X])
    assert utility(X) == pytest.approx(np.linalg.norm(X, norm, axis=1) ** 2)


def misleading(rows, y, utility):
    """Share of pairs whose label the noise has turned."""
    gain = utility(rows[:, 2:4]) - utility(rows[:, :2])
    return np.mean(np.where(np.abs(gain) <= 1, 0, np.sign(gain)) != y)


@pytest.mark.parametrize("norm", NORMS)
def test_distribution_equals_one_pair_at_a_time(norm):
    """Both classes, feature by feature and in the difference, by Kolmogorov-Smirnov."""
    n = 4000
    data = make_norms(2 * n, norm=norm, random_state=1)
    ties, others = simulate(norm, 0.25, n, seed=2)
    rows = np.column_stack([*sides(data), data.y])
    for ours, naive in ((rows[data.y == 0], ties), (rows[data.y != 0], others)):
        naive = np.array(naive)
        columns = [(ours[:, j], naive[:, j]) for j in range(5)]
        steps = [(r[:, 2] - r[:, 0]) for r in (ours, naive)]
        gains = [
            data.utility(r[:, 2:4]) - data.utility(r[:, :2]) for r in (ours, naive)
        ]
        for a, b in [*columns, steps, gains]:
            assert ks_2samp(a, b).pvalue > 1e-3
        turned = [misleading(r, r[:, 4], data.utility) for r in (ours, naive)]
        # Shares of about 7 %; the standard error of their difference is 0.6 %.
        assert turned[0] == pytest.approx(turned[1], abs=0.02)
        assert turned[1] > 0.03


def test_only_the_informative_coordinates_decide():
    data = make_norms(500, norm=1, n_features=5, informative=2, noise=0, random_state=3)
    left, right = sides(data)
    size = np.abs(np.stack([left, right]))[:, :, :2].sum(axis=2)
    difference = size[1] ** 2 - size[0] ** 2
    expected = np.where(np.abs(difference) <= 1, 0, np.sign(difference))
    assert np.array_equal(data.y, expected)
    assert_allclose(data.utility(left), size[0] ** 2)
    # The others move as well, with the same offsets.
    assert np.std(right[:, 4] - left[:, 4]) == pytest.approx(0.5, rel=0.15)
    assert np.std(left[:, 4]) == pytest.approx(4 / np.sqrt(12), rel=0.15)


def test_seeds():
    def content(random_state):
        data = make_norms(30, random_state=random_state)
        return np.asarray(data.pairs).tolist(), data.y.tolist()

    assert content(7) == content(7)
    assert content(7) == content(np.random.default_rng(7))
    assert content(7) != content(8)
    generator = np.random.default_rng(7)
    assert content(generator) != content(generator)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"norm": 3}, "norm must be 1, 2 or numpy.inf, got 3"),
        ({"tie_share": 1.5}, "tie_share must be a share from 0 to 1, got 1.5"),
        ({"tie_share": float("nan")}, "tie_share must be"),
        ({"noise": 1e9}, "5 ties .* too rare.* less noise"),
    ],
)
def test_impossible_norms(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_norms(**{"n_pairs": 10, "random_state": 0} | arguments)


def differences(data):
    left, right = np.moveaxis(np.asarray(data.pairs), 1, 0)
    return right - left


def constraints(data):
    """Rows a, b of all constraints a.w <= 1 - m (ties) and b.w >= 1 + m (others)."""
    D = differences(data)
    ties = D[data.y == 0]
    others = D[data.y != 0] * data.y[data.y != 0, None]
    return np.vstack([ties, -ties]), others


def largest_margin(data):
    """Margin of the max-margin linear program."""
    ties, others = constraints(data)
    p = ties.shape[1]
    A = np.vstack(
        [
            np.column_stack([ties, np.ones(len(ties))]),
            np.column_stack([-others, np.ones(len(others))]),
        ]
    )
    b = np.concatenate([np.ones(len(ties)), -np.ones(len(others))])
    bounds = [(None, None)] * p + [(0, None)]
    result = linprog(np.append(np.zeros(p), -1.0), A_ub=A, b_ub=b, bounds=bounds)
    assert result.status == 0
    return result.x[-1]


@given(
    n_pairs=st.integers(1, 50),
    n_features=st.integers(1, 5),
    exponent=st.integers(-6, 6),
    seed=st.integers(0, 2**32),
)
def test_pairs_keep_the_margin(n_pairs, n_features, exponent, seed):
    scale = 10.0 ** (exponent * np.arange(n_features) / n_features)
    data = make_separable(
        n_pairs, n_features=n_features, scale=scale, random_state=seed
    )
    gain = differences(data) @ data.w
    ties = data.y == 0
    assert data.pairs.shape == (n_pairs, 2, n_features)
    assert int(ties.sum()) == round(0.5 * n_pairs)
    # The items are stored rounded, so the difference moves in the last digits.
    assert np.all(np.abs(gain[ties]) <= 0.8 + 1e-12)
    assert np.all(np.abs(gain[~ties]) >= 1.2 - 1e-12)
    assert np.array_equal(data.y[~ties], np.sign(gain[~ties]))


def test_scale_multiplies_the_features_and_nothing_else():
    plain = make_separable(30, random_state=4)
    scaled = make_separable(30, scale=(0.1, 50), random_state=4)
    assert np.array_equal(plain.y, scaled.y)
    assert np.allclose(
        np.asarray(scaled.pairs), np.asarray(plain.pairs) * (0.1, 50), rtol=1e-14
    )
    assert np.allclose(scaled.w * (0.1, 50), plain.w, rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_linear_program_reaches_the_margin(seed):
    data = make_separable(60, n_features=3, random_state=seed)
    assert data.margin - 1e-9 <= largest_margin(data) < 1


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
    base = 1.0 + data.attributes @ data.utility.keywords["weights"]
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
    ("arguments", "message"),
    [
        ({"length": 1}, "length must be from 2 to n_items=20, got 1"),
        ({"length": 21}, "length must be from 2 to n_items=20, got 21"),
        ({"attributes": "words"}, "'numeric' or 'binary', got 'words'"),
        ({"order_noise": 0.6}, "order_noise must be a share from 0 to"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
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
