# SPDX-License-Identifier: BSD-3-Clause
"""MaxMarginCompare: hard margins, and with C the soft linear program with kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from tests.oracles import soft_lp
from tests.oracles.pair_svm import margin_lp, margin_qp
from tiebreak import MaxMarginCompare, Pairs
from tiebreak.data.messages import FitWarning
from tiebreak.datasets import make_separable
from tiebreak.models.base import ThresholdWarning


def parts(data):
    D = data.pairs.values[data.pairs.right] - data.pairs.values[data.pairs.left]
    return data.pairs, data.y, D


@pytest.mark.parametrize("scale", [None, (1.0, 30.0)])
@pytest.mark.parametrize("seed", range(4))
def test_margins_equal_general_solvers(seed, scale):
    pairs, y, D = parts(make_separable(30, scale=scale, random_state=seed))
    lp = MaxMarginCompare("lp").fit(pairs, y)
    _, mu = margin_lp(D, y)
    assert lp.separable_
    assert lp.margin_ == pytest.approx(mu, rel=1e-7)
    assert lp.gap_ < 1e-9
    qp = MaxMarginCompare("qp", tol=1e-9).fit(pairs, y)
    u, beta = margin_qp(D, y)
    assert qp.margin_ == pytest.approx(-1 / beta, rel=1e-4)
    assert qp.objective_ == pytest.approx(0.5 * u @ u, rel=1e-4)
    # Lemma 1: the quadratic solution is feasible for the linear program.
    assert qp.margin_ <= lp.margin_ * (1 + 1e-6)
    for model in (lp, qp):
        difference = D @ model.coef_
        slack = 1e-6
        assert (np.abs(difference[y == 0]) <= 1 - model.margin_ + slack).all()
        assert (y * difference >= 1 + model.margin_ - slack)[y != 0].all()
        assert model.score(pairs, y) == 1
        assert model.threshold_ == 1


@pytest.mark.parametrize("program", ["lp", "qp"])
def test_not_separable_is_a_result(program):
    # A tie further apart than a difference, in one dimension.
    pairs = Pairs([[0.0], [1.0], [5.0]], left=[0, 0, 1], right=[2, 1, 0])
    with pytest.warns(UserWarning, match=r"3 comparisons are not linearly separable"):
        model = MaxMarginCompare(program).fit(pairs, [0, 1, -1])
    assert not model.separable_
    assert model.margin_ <= 0
    assert model.margin_ == pytest.approx(
        margin_lp(np.array([[5.0], [1.0], [-1.0]]), [0, 1, -1])[1]
    )


@pytest.mark.parametrize("program", ["lp", "qp"])
def test_no_ties_is_a_hard_margin_order(program):
    pairs = Pairs([[0.0, 1.0], [2.0, 1.0], [3.0, 4.0]], left=[0, 2], right=[1, 1])
    with pytest.warns(UserWarning, match="no ties among the comparisons"):
        model = MaxMarginCompare(program, tol=1e-9).fit(pairs, [1, -1])
    # min ‖w‖ with w·(2, 0) ≥ 1 and w·(1, 3) ≥ 1: w = (½, ⅙).
    np.testing.assert_allclose(model.coef_, [0.5, 1 / 6], rtol=1e-5)
    assert model.margin_ == pytest.approx(1 / np.hypot(0.5, 1 / 6), rel=1e-5)
    assert model.threshold_ == 0


@pytest.mark.parametrize("program", ["lp", "qp"])
def test_only_ties(program):
    pairs = Pairs([[0.0], [1.0]], left=[0], right=[1])
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        model = MaxMarginCompare(program).fit(pairs, [0])
    assert model.margin_ == pytest.approx(1.0)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-9)


KERNELS = {
    "linear": lambda X: X @ X.T,
    "poly": lambda X: polynomial_kernel(X, degree=2, gamma=0.5, coef0=1.0),
    "rbf": lambda X: rbf_kernel(X, gamma=0.5),
}
SETTINGS = {"gamma": 0.5, "degree": 2, "coef0": 1.0}


def noisy(rng, n=40, n_items=15):
    X = np.round(rng.normal(size=(n_items, 3)), 1)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d = X[right, 0] - X[left, 0] + 0.4 * rng.normal(size=n)
    return Pairs(X, left, right), np.where(np.abs(d) < 0.7, 0, np.sign(d)).astype(int)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.filterwarnings("ignore::tiebreak.TiebreakWarning")
def test_it_is_the_program_as_written_down(rng, kernel, C):
    pairs, y = noisy(rng)
    weight = rng.integers(1, 4, len(y)).astype(float)
    K = KERNELS[kernel](pairs.items.values)
    best, _, _ = soft_lp.solve(K, pairs.left, pairs.right, y, weight, C)
    model = MaxMarginCompare(C=C, kernel=kernel, **SETTINGS)
    model.fit(pairs, y, sample_weight=weight)
    assert_allclose(model.objective_, best, rtol=1e-7)
    assert model.gap_ <= 1e-7
    # The objective is that of the model that predicts.
    d, beta = model.difference(pairs), model.intercept_
    tie = np.maximum(1 + beta + d, 0) + np.maximum(1 + beta - d, 0)
    slack = np.where(y == 0, tie, np.maximum(1 - beta - y * d, 0))
    size = model.objective_ - C * weight @ slack
    if kernel != "linear":
        assert_allclose(np.abs(model.item_coef_).sum(), size, atol=1e-6 * best)
        assert (model.item_coef_ != 0).all()
        assert len(model.item_coef_) < len(K)
    assert size >= -1e-6 * best


def test_without_ties_there_is_only_an_order(rng):
    pairs, y = noisy(rng)
    pairs, y = pairs[y != 0], y[y != 0]
    model = MaxMarginCompare(C=1.0, kernel="rbf", gamma=0.5)
    with pytest.warns(UserWarning, match="no ties among the comparisons"):
        model.fit(pairs, y)
    # The basis is of the items that are compared, and some were only in ties.
    used, sides = np.unique([pairs.left, pairs.right], return_inverse=True)
    K = KERNELS["rbf"](pairs.items.values[used])
    best, _, _ = soft_lp.solve(K, *sides.reshape(2, -1), y, np.ones(len(y)), 1.0)
    assert_allclose(model.objective_, best, rtol=1e-7)
    assert (model.intercept_, model.threshold_) == (0.0, 0.0)
    assert (model.predict(pairs) != 0).all()


def test_nothing_but_ties(rng):
    pairs, y = noisy(rng)
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        model = MaxMarginCompare(C=1.0, kernel="rbf").fit(pairs, 0 * y)
    assert (model.threshold_, model.objective_) == (1.0, 0.0)
    assert_array_equal(model.predict(pairs), 0)
    assert_array_equal(model.utility(pairs.items.values), 0.0)


def test_a_tiny_cost_learns_nothing_and_says_so(rng):
    pairs, y = noisy(rng)
    with pytest.warns(FitWarning, match=r"same utility: C=1e-06"):
        model = MaxMarginCompare(C=1e-6, kernel="rbf").fit(pairs, y)
    assert_array_equal(model.item_coef_, np.empty(0))


def test_ties_that_are_never_predicted():
    # u costs little. The win asks for u + β ≥ 1, and the tie is three times as far
    # apart: its two slacks fall with β until 3u = 1 + β, and rise from there.
    pairs = Pairs([[0.0], [1.0], [3.0]], [1, 0], [0, 2])
    model = MaxMarginCompare(C=100.0)
    with pytest.warns(ThresholdWarning, match=r"intercept_ = 0.5 is not negative"):
        model.fit(pairs, [-1, 0], sample_weight=[10, 1])
    assert_allclose(model.coef_, [0.5])
    assert model.threshold_ == 0.0
    assert_array_equal(model.predict(pairs), [-1, 1])
    assert not model.separable_
    assert_allclose(model.margin_, -1.5)


def test_a_precomputed_kernel_is_the_kernel(rng):
    pairs, y = noisy(rng)
    K = KERNELS["rbf"](pairs.items.values)
    model = MaxMarginCompare(C=3.0, kernel="rbf", gamma=0.5).fit(pairs, y)
    given = MaxMarginCompare(C=3.0, kernel="precomputed")
    given.fit(Pairs(K, pairs.left, pairs.right), y)
    assert_allclose(given.objective_, model.objective_, rtol=1e-8)
    assert len(given.item_coef_) == len(K)


def test_small_features_are_not_taken_for_zero(rng):
    pairs, y = noisy(rng)
    plain = MaxMarginCompare(C=1.0).fit(pairs, y)
    small = Pairs(1e-6 * pairs.items.values, pairs.left, pairs.right)
    # The kernel is 1e-12 times as large, and so is the price of a utility.
    scaled = MaxMarginCompare(C=1e12).fit(small, y)
    assert_allclose(scaled.objective_, 1e12 * plain.objective_, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "rbf"}, r"kernel='rbf'.*needs C.*Try C=1.0"),
        ({"program": "qp", "C": 1.0}, r"SVMCompare"),
        ({"C": 0.0}, r"C=0.0.*positive"),
        ({"C": float("nan")}, r"C=nan.*positive"),
        ({"C": 1.0, "kernel": "cosine"}, r"cosine"),
    ],
)
def test_settings_that_make_no_sense(rng, settings, words):
    with pytest.raises(ValueError, match=words):
        MaxMarginCompare(**settings).fit(*noisy(rng))
