# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from tiebreak.datasets import PolynomialUtility, make_orders


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
