# SPDX-License-Identifier: BSD-3-Clause
"""Potentials are sums over all pairs, however large the utilities are."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.oracles.compiled_kernels import add_shares_naive, largest_power_naive
from tests.oracles.grade_losses import pair_weights
from tiebreak.losses import GradePotentials, GradeTree, ListedPotentials
from tiebreak.losses.pair_potentials import (
    add_shares,
    largest_power,
)


@st.composite
def graded(draw):
    """Rows of few items, with ties in grades, zero weights and far utilities."""
    n = draw(st.integers(2, 16))
    column = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)))  # noqa: E731
    y = column(st.integers(0, draw(st.integers(1, 6)))).astype(float)
    group = column(st.integers(0, draw(st.integers(0, 3))))
    weight = column(st.sampled_from([0.0, 1.0, 1.0, 2.5, 1e-3]))
    item = column(st.integers(0, n - 1))
    u = (
        column(st.integers(-12, 12))
        / 4
        * draw(st.sampled_from([1.0, 1.0, 30.0, 400.0]))
    )
    W = pair_weights(y, group, weight)
    assume(W.any())
    return y, np.unique(group, return_inverse=True)[1], weight, item, u, W


def shares_of_pairs(W, u):
    """D of every pair of rows, and the logarithm of the sum, in 80-bit numbers."""
    wide = W.astype(np.longdouble) * np.exp(
        -(u[:, None].astype(np.longdouble) - u[None, :])
    )
    total = wide.sum()
    return (wide / total).astype(float), float(np.log(total))


def listed(W, item, n_items):
    b, c = np.nonzero(W)
    return ListedPotentials(item[b], item[c], W[b, c], n_items)


@given(graded())
def test_potentials_are_sums_over_pairs(data):
    y, group, weight, item, u, W = data
    n = len(y)
    D, log_loss = shares_of_pairs(W, u[item])
    better = np.bincount(item, D.sum(axis=1), n)
    worse = np.bincount(item, D.sum(axis=0), n)
    grades = GradePotentials(GradeTree(y, group, weight), item, n)
    for pairs in (grades, listed(W, item, n)):
        found, potential = pairs.expand(u)
        assert found == pytest.approx(log_loss, rel=1e-12, abs=1e-12)
        assert_allclose(potential, better - worse, rtol=0, atol=1e-12)
    found, as_better, as_worse = grades.shares(u)
    assert found == pytest.approx(log_loss, rel=1e-12, abs=1e-12)
    assert_allclose(as_better, better, rtol=0, atol=1e-12)
    assert_allclose(as_worse, worse, rtol=0, atol=1e-12)


@given(graded(), st.integers(0, 2**16 - 1))
def test_split_weighs_pairs_in_order_and_reversed(data, bits):
    y, group, weight, item, u, W = data
    n = len(y)
    h = np.array([(bits >> i) & 1 for i in range(n)], dtype=float)
    D, _ = shares_of_pairs(W, u[item])
    rows = h[item]
    expected = (
        D[rows[:, None] > rows[None, :]].sum(),
        D[rows[:, None] < rows[None, :]].sum(),
    )
    grades = GradePotentials(GradeTree(y, group, weight), item, n)
    for pairs in (grades, listed(W, item, n)):
        _, potential = pairs.expand(u)
        assert_allclose(pairs.split(h), expected, rtol=1e-9, atol=1e-300)
        assert potential @ h == pytest.approx(expected[0] - expected[1], abs=1e-12)


@given(graded())
def test_kernels_do_what_visiting_all_pairs_does(data):
    y, group, weight, item, u, W = data
    pairs = GradePotentials(GradeTree(y, group, weight), item, len(y))
    s = u[pairs._item]
    up, down = np.exp(s / 500), np.exp(-s / 700)
    found, expected = np.zeros((2, 2, len(y)))
    total = add_shares(*found, up, down, pairs._item, pairs._step)
    again = add_shares_naive(*expected, up, down, pairs._item, pairs._step)
    assert total == pytest.approx(again, rel=1e-12)
    assert_allclose(found, expected, rtol=1e-12)
    arguments = (s, pairs._log_weight, pairs._runs, pairs._first_run)
    expected = largest_power_naive(*arguments)
    assert largest_power(*arguments) == pytest.approx(expected, abs=1e-12)
    D, log_loss = shares_of_pairs(W, u[item])
    assert np.exp(expected - log_loss) == pytest.approx(D.max(), rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_utilities_of_any_size(scale, rng):
    n = 40
    y, group = rng.integers(0, 5, n).astype(float), rng.integers(0, 3, n)
    W = pair_weights(y, group, np.ones(n))
    u = scale * rng.normal(size=n)
    item = np.arange(n)
    grades = GradePotentials(GradeTree(y, group, np.ones(n)), item, n)
    one, two = grades.expand(u), listed(W, item, n).expand(u)
    assert np.isfinite(one[0])
    assert one[0] == pytest.approx(two[0], rel=1e-12)
    assert_allclose(one[1], two[1], rtol=0, atol=1e-12 * scale)
    assert np.abs(one[1]).max() > 0.01


@given(graded(), st.integers(0, 2**16 - 1))
def test_what_separates_all_pairs(data, bits):
    y, group, weight, item, _, W = data
    n = len(y)
    grades = GradePotentials(GradeTree(y, group, weight), item, n)
    two_grades = 1.0 * np.isin(np.arange(n), item[np.nonzero(W)[0]])
    random = np.array([(bits >> i) & 1 for i in range(n)], dtype=float)
    for h in (two_grades, 1 - two_grades, random, 0.5 * two_grades):
        apart = (h[item][:, None] - h[item][None, :])[W > 0]
        expected = np.all(apart == 1) or np.all(apart == -1)
        assert grades.separates(h) == listed(W, item, n).separates(h) == expected
