# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons and orders: their distribution, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ks_2samp

from tests.oracles.norms_simulation import simulate, squared_norm
from tiebreak.datasets import make_norms, make_orders, make_separable

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
    data = make_norms(
        300, norm=norm, noise=0, n_features=5, informative=3, random_state=5
    )
    for (x, z), y in zip(np.asarray(data.pairs), data.y, strict=True):
        difference = squared_norm(z[:3], norm) - squared_norm(x[:3], norm)
        expected = 0 if abs(difference) <= 1 else np.sign(difference)
        assert y == expected


def misleading(rows, y, utility):
    """Share of pairs whose label the noise has turned."""
    gain = utility(rows[:, 2:4]) - utility(rows[:, :2])
    return np.mean(np.where(np.abs(gain) <= 1, 0, np.sign(gain)) != y)


@pytest.mark.parametrize(
    ("norm", "ends"), [(1, None), (2, None), (np.inf, None), (2, (-1.0, 0.5))]
)
def test_distribution_equals_one_pair_at_a_time(norm, ends):
    """Both classes, feature by feature and in the difference, by Kolmogorov-Smirnov."""
    n = 4000
    data = make_norms(2 * n, norm=norm, offset=ends or 0.5, random_state=1)
    ties, others = simulate(norm, 0.25, n, seed=2, ends=ends)
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
    ("make", "arguments", "message"),
    [
        (make_norms, {"norm": 3}, "norm must be 1, 2 or numpy.inf, got 3"),
        (make_norms, {"tie_share": 1.5}, "tie_share must be a share from 0 to 1"),
        (make_norms, {"noise": 1e9}, "5 ties .* too rare.* noise"),
        (make_orders, {"length": 1}, "length must be from 2 to n_items=1000, got 1"),
        (make_orders, {"attributes": "words"}, "'numeric' or 'binary', got 'words'"),
    ],
)
def test_what_cannot_be_made_is_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(10, random_state=0, **arguments)


def differences(data):
    left, right = np.moveaxis(np.asarray(data.pairs), 1, 0)
    return right - left


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
    assert_array_equal(data.orders.position, np.tile(np.arange(7), 40))


def test_swaps_are_of_neighbors_and_as_many_as_stated():
    data = make_orders(2000, 5, n_items=30, n_swaps=1.3, random_state=7)
    exact, noisy = rows_of(data.exact, 5), rows_of(data.orders, 5)
    assert_array_equal(np.sort(noisy), np.sort(exact))
    # Place of every item of the noisy list in the exact one; one swap moves two items.
    where = (noisy[:, :, None] == exact[:, None, :]).argmax(axis=2)
    distance = ((where - np.arange(5)) ** 2).sum(axis=1)
    assert set(distance.tolist()) == {0, 2, 4, 6}
    once = 0.7 * 2000
    # Of two swaps a quarter undoes the first, and the others keep D above 2.
    assert abs((distance == 2).sum() - once) < 5 * np.sqrt(once * 0.3)


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
