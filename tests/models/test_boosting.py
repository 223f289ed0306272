# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost and its weak rankers: the rounds, the best feature and the best cut."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.inputs import refused
from tests.oracles import rank_boost_plain as plain
from tests.oracles.grade_losses import pair_weights
from tests.oracles.rank_boost_plain import best_step_naive
from tiebreak import Orders, Pairs, RankBoost
from tiebreak.data import as_items
from tiebreak.models.boosting import FeatureRankers, StumpRankers, best_step

SMOOTHING = 1e-4
both_kinds = pytest.mark.parametrize("weak", ["feature", "stump"])


def quietly(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(*args, **kwargs)


def assert_rounds(model, X, rounds):
    """Assert that a model went the way of the oracle, round by round."""
    assert model.n_iter_ == len(rounds)
    assert_array_equal(model.features_, [r["feature"] for r in rounds])
    if model.weak == "stump":
        assert_allclose(model.cuts_, [r["cut"] for r in rounds])
    for name, key in (
        ("edges_", "edge"),
        ("alphas_", "alpha"),
        ("normalizers_", "Z"),
        ("loss_curve_", "loss"),
    ):
        expected = [r[key] for r in rounds]
        assert_allclose(getattr(model, name), expected, rtol=1e-7, atol=1e-9)
    for utility, r in zip(model.staged_utility(X), rounds, strict=True):
        assert_allclose(np.ptp(utility - r["H"]), 0, atol=1e-8)
    if rounds:
        utility = model.utility(X)
        assert_allclose(np.ptp(utility - rounds[-1]["H"]), 0, atol=1e-8)
        assert np.prod(model.normalizers_) == pytest.approx(rounds[-1]["loss"])


@st.composite
def graded_items(draw):
    """Few grades, ties, constant features, identical items, weights of zero."""
    n = draw(st.integers(2, 9))
    column = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)))  # noqa: E731
    # Values without many coincidences: which of two equal edges is the larger one is
    # a matter of rounding.
    value = st.sampled_from([-1.0, 0.0, 0.13, 0.71, 1.59, 2.83])
    X = np.column_stack([column(value) for _ in range(draw(st.integers(1, 3)))])
    y, group = column(st.integers(0, 3)).astype(float), column(st.integers(0, 2))
    weight = column(st.sampled_from([0.0, 1.0, 1.3, 2.7]))
    W = pair_weights(y, group, weight)
    assume(W.any())
    return X, y, group, weight, W


@pytest.mark.extended
@both_kinds
@given(data=graded_items())
def test_every_round_is_that_of_all_pairs(weak, data):
    X, y, group, weight, W = data
    rounds = plain.boost(X, W, 6, weak, SMOOTHING)
    model = RankBoost(6, weak=weak)
    quietly(model, X, y, qid=group, sample_weight=weight)
    assert model.n_pairs_ == np.count_nonzero(W)
    assert_rounds(model, X, rounds)
    better, worse = np.nonzero(W)
    listed = RankBoost(6, weak=weak)
    pairs = Pairs(X, worse, better)
    quietly(listed, pairs, np.ones(len(better)), sample_weight=W[better, worse])
    assert_rounds(listed, X, rounds)


@both_kinds
@pytest.mark.parametrize("n_rounds", [1, 40])
def test_many_rounds_of_many_items(weak, n_rounds, rng):
    n = 40
    X = rng.normal(size=(n, 4))
    y = np.round(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n))
    group, weight = rng.integers(0, 3, n), rng.choice([0.0, 1.0, 2.0, 0.3], n)
    rounds = plain.boost(X, pair_weights(y, group, weight), n_rounds, weak, SMOOTHING)
    for table in (X, sp.csr_array(X)):
        model = RankBoost(n_rounds, weak=weak)
        model.fit(table, y, qid=group, sample_weight=weight)
        assert_rounds(model, table, rounds)
    assert len(rounds) == n_rounds
    assert rounds[-1]["loss"] < 1


@both_kinds
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_perfect_weak_ranker_has_the_last_word(weak, sign):
    X = np.array([[0.3, sign], [0.6, sign], [0.2, -sign], [0.9, -sign]])
    y = [1.0, 1.0, 0.0, 0.0]
    model = RankBoost(20, weak=weak).fit(X, y)
    assert model.n_iter_ == 1
    assert_array_equal(model.features_, [1])
    assert_allclose(model.edges_, [sign])
    assert_allclose(model.alphas_, [sign])
    assert_allclose(model.loss_curve_, [np.exp(-1)])
    assert model.score(X, y) == 1.0


@both_kinds
def test_a_ranker_that_fails_on_a_light_pair_is_not_perfect(weak):
    # Feature 0 is right but for a pair whose share is 10⁻¹⁴, which feature 1 explains.
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    y, qid = [1, 0, 1, 0], [0, 0, 1, 1]
    weight = [1e7, 1e7, 1.0, 1.0]
    model = RankBoost(300, weak=weak).fit(X, y, qid=qid, sample_weight=weight)
    assert model.features_[0] == 0
    assert model.n_iter_ > 1
    assert np.all(model.normalizers_ < 1)
    assert model.score(X, y, qid=qid) == 1.0


def test_a_stump_that_reverses_no_pair_has_a_finite_weight():
    # The cut at 0.5 orders some pairs and reverses none: W₋ = 0.
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 2, 1]
    for smoothing in (1e-2, 1e-4):
        model = RankBoost(1, weak="stump", smoothing=smoothing).fit(X, y)
        # The cut at 1.5 orders 3 of 5 pairs, the cut at 0.5 orders 3, reverses none.
        assert_allclose(model.cuts_, [0.5])
        assert_allclose(model.alphas_, [0.5 * np.log(0.6 / smoothing)])


@pytest.mark.parametrize("table", [np.ones((5, 2)), sp.csr_array((5, 2))])
@both_kinds
def test_attributes_without_variance_teach_nothing_and_it_says_so(weak, table):
    model = RankBoost(weak=weak)
    with pytest.warns(UserWarning, match="same utility"):
        model.fit(table, [1, 2, 3, 4, 5])
    assert model.n_iter_ == 0
    assert_array_equal(model.utility(table), np.zeros(5))
    assert list(model.staged_utility(table)) == []


BLOCKS = [
    [[0], [1], [2]],
    [[1], [0], [2]],
    [[0], [1]],
    [[2], [3, 4]],
    [[4], [3], [2]],
    [[3], [4]],
]


@both_kinds
def test_majority_counts_each_two_items_once(weak, rng):
    X = rng.normal(size=(5, 3))
    W = plain.majority(BLOCKS, 5)
    # 0 over 1 in two of three lists, 3 and 4 as often: 2·⅔ - 1, and nothing.
    assert W[0, 1] == pytest.approx(1 / 3)
    assert W[3, 4] == W[4, 3] == 0
    rounds = plain.boost(X, W, 8, weak, SMOOTHING)
    lists = Orders(X, BLOCKS)
    model = RankBoost(8, weak=weak, feedback="majority").fit(lists)
    assert_rounds(model, X, rounds)
    assert model.n_pairs_ == np.count_nonzero(W)
    assert RankBoost(8).fit(lists).n_pairs_ == 3 + 3 + 1 + 2 + 3 + 1
    left, right, y = [], [], []
    for blocks in BLOCKS:
        flat = [(i, k) for k, block in enumerate(blocks) for i in block]
        for a, at_a in flat:
            for b, at_b in flat:
                if a < b:
                    left, right, y = [*left, a], [*right, b], [*y, np.sign(at_a - at_b)]
    pairs = Pairs(X, left, right)
    compared = RankBoost(8, weak=weak, feedback="majority").fit(pairs, y)
    assert_rounds(compared, X, rounds)


def test_majority_without_a_majority():
    model = RankBoost(feedback="majority")
    words = ["no two items have a majority", "feedback='lists'"]
    refused(ValueError, words, model.fit, Orders([[0.0], [1.0]], [[0, 1], [1, 0]]))


def test_majority_does_not_write_down_too_much(monkeypatch, rng):
    monkeypatch.setattr("tiebreak.models.boosting.MOST_PAIRS", 40)
    X, y = rng.normal(size=(10, 2)), np.arange(10)
    words = ["writes down pairs, and here are 45", "feedback='lists'"]
    refused(ValueError, words, RankBoost(feedback="majority").fit, X, y)


def test_input_that_says_nothing():
    X = np.arange(6.0).reshape(3, 2)
    for make in (RankBoost, lambda: RankBoost(weak="stump", feedback="majority")):
        fit = make().fit
        refused(ValueError, ["no pair to learn from", "1 sample"], fit, X[:1], [1])
        refused(ValueError, ["no pair to learn from"], fit, Orders(X, [[[0, 1, 2]]]))
        refused(TypeError, ["no features"], fit, Orders(None, [["a", "b"]]))


@st.composite
def tables(draw):
    n, p = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(-2, 2), min_size=n * p, max_size=n * p)
    X = np.array(draw(cells), dtype=float).reshape(n, p)
    potential = np.array(draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)))
    potential = potential - potential.mean()
    return X, potential / max(1.0, np.abs(potential).sum())


@given(tables())
def test_the_kernel_tries_every_cut(drawn):
    X, potential = drawn
    rankers = StumpRankers(as_items(X))
    found = best_step(rankers._order, rankers._step, potential, 1e-10)
    expected = best_step_naive(rankers._order, rankers._step, potential, 1e-10)
    assert found[:2] == expected[:2]
    assert found[2] == pytest.approx(expected[2], abs=1e-12)


def test_a_cut_lies_between_neighboring_floating_point_numbers():
    low = 1.0
    high = np.nextafter(low, 2)
    rankers = StumpRankers(as_items([[low], [high]]))
    ranker = rankers.choose(np.array([-0.5, 0.5]))
    assert_array_equal(rankers.values(ranker), [0, 1])


@pytest.mark.parametrize("size", [1e30, 1e-300])
def test_features_of_any_unit_are_scaled(size):
    table = as_items(size * np.array([[-1.0], [0.0], [1.0]]))
    rankers = FeatureRankers(table)
    chosen = rankers.choose(np.array([-0.5, 0.0, 0.5]))
    assert_allclose(rankers.values(chosen), [0.0, 0.5, 1.0])
