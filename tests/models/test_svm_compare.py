# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.oracles.pair_svm import SVCCompare, kernel_function
from tiebreak import Pairs, SVMCompare
from tiebreak.datasets import make_norms

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
}


def noisy_pairs(rng, kind, n=60):
    """Comparisons by a quadratic utility, with noise; some items meet often."""
    if kind == "duplicated items":
        table = rng.integers(0, 3, size=(25, 2)).astype(float)
    else:
        table = rng.normal(size=(2 * n, 2))
    left = rng.integers(0, len(table), n)
    right = (left + 1 + rng.integers(0, len(table) - 1, n)) % len(table)
    r = (table**2).sum(1) + 3 * table[:, 0]
    difference = r[right] - r[left] + 0.5 * rng.normal(size=n)
    # Half ties: with few of them the best utility is zero, which compares nothing.
    size = np.abs(difference)
    y = np.where(size < np.median(size), 0, np.sign(difference)).astype(int)
    return Pairs(table, left, right), y


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("kind", ["distinct items", "duplicated items"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_libsvm_on_the_explicit_pair_kernel(rng, kernel, kind, C):
    pairs, y = noisy_pairs(rng, kind)
    options = KERNELS[kernel]
    k = kernel_function(
        kernel,
        options.get("gamma"),
        options.get("degree", 3),
        options.get("coef0", 0.0),
    )
    L, R = pairs.values[pairs.left], pairs.values[pairs.right]
    theirs = SVCCompare(k, C).fit(L, R, y)
    ours = quiet_fit(SVMCompare(C, tie_weight=1, tol=1e-8, **options), pairs, y)
    assert ours.converged_
    assert 0 <= ours.gap_ <= 1e-8
    # libsvm stops at its own tolerance: its gap is the slack of the comparison.
    slack = max(theirs.objective - theirs.dual, 0.0)
    assert ours.objective_ == pytest.approx(
        theirs.objective, rel=1e-6, abs=2 * slack + 1e-12
    )
    assert ours.objective_ <= theirs.objective * (1 + 1e-6)
    # Not both zero: the linear part of the utility is strong enough for every kernel.
    assert np.abs(ours.difference(pairs)).max() > 1e-3 * min(C, 1.0)
    test, _ = noisy_pairs(rng, "distinct items", 200)
    TL, TR = test.values[test.left], test.values[test.right]
    difference = theirs.difference(TL, TR)
    # Outcomes agree wherever libsvm itself is not on the fence.
    fence = 1e-3 * np.abs(difference).max() + 10 * np.sqrt(slack)
    clear = (np.abs(np.abs(difference) - max(0.0, -theirs.b)) > fence) & (
        np.abs(difference) > fence
    )
    if ours.intercept_ == pytest.approx(theirs.b, abs=1e-3):
        np.testing.assert_array_equal(
            ours.predict(test)[clear], theirs.predict(TL, TR)[clear]
        )
    np.testing.assert_array_equal(
        np.sign(ours.difference(test)[clear]), np.sign(difference[clear])
    )


def quiet_fit(model, *args, **kwargs):
    """Fit; the warnings about predicting no or only ties belong to other tests."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="intercept_ = |Every training")
        return model.fit(*args, **kwargs)


def test_weights_equal_libsvm(rng):
    pairs, y = noisy_pairs(rng, "distinct items")
    weight = rng.uniform(0.2, 3.0, len(y))
    L, R = pairs.values[pairs.left], pairs.values[pairs.right]
    theirs = SVCCompare(kernel_function("rbf", 0.5, 3, 0.0), 2.0).fit(L, R, y, weight)
    ours = quiet_fit(
        SVMCompare(2.0, gamma=0.5, tie_weight=1, tol=1e-8),
        pairs, y, sample_weight=weight,
    )  # fmt: skip
    assert ours.objective_ == pytest.approx(theirs.objective, rel=1e-6)
    np.testing.assert_allclose(
        ours.difference(pairs), theirs.difference(L, R), atol=1e-4
    )
    assert ours.intercept_ == pytest.approx(theirs.b, abs=1e-4)


def test_dual_coefficients_are_the_utility(rng):
    """u = Σ dual_coef_ (Φ(right) - Φ(left)), over the support comparisons."""
    pairs, y = noisy_pairs(rng, "duplicated items")
    model = quiet_fit(SVMCompare(3.0, gamma=0.5, tie_weight=1, tol=1e-8), pairs, y)
    k = kernel_function("rbf", 0.5, 3, 0.0)
    support = pairs[model.support_]
    table = pairs.values
    by_hand = (
        k(table, table[support.right]) - k(table, table[support.left])
    ) @ model.dual_coef_
    np.testing.assert_allclose(model.utility(table), by_hand, atol=1e-10)
    C = np.abs(model.dual_coef_)
    assert (C > 0).all()
    assert (C <= 3.0 + 1e-9).all()


def test_path_equals_separate_fits():
    train = make_norms(150, norm=1, random_state=0)
    Cs = np.geomspace(1e-2, 1e3, 6)
    model = SVMCompare(gamma=0.5, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = list(model.path(train.pairs, train.y, Cs))
        for C, along in zip(Cs, path, strict=True):
            alone = SVMCompare(C, gamma=0.5, tol=1e-6).fit(train.pairs, train.y)
            assert along.C == C
            assert along.objective_ == pytest.approx(alone.objective_, rel=1e-8)
            np.testing.assert_allclose(
                along.difference(train.pairs),
                alone.difference(train.pairs),
                atol=1e-4,
            )
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "dual_coef_")


def test_many_comparisons_of_few_items(rng):
    """The pair kernel has one row per pair of items, however often they meet."""
    table = rng.normal(size=(12, 3))
    left, right = rng.integers(0, 12, 20_000), rng.integers(0, 12, 20_000)
    keep = left != right
    left, right = left[keep], right[keep]
    r = table.sum(1)
    d = r[right] - r[left] + rng.normal(size=len(left))
    y = np.where(np.abs(d) < 1, 0, np.sign(d)).astype(int)
    pairs = Pairs(table, left, right)
    model = quiet_fit(SVMCompare(gamma=0.1), pairs, y)
    assert model.converged_
    assert model.score(pairs, y) > 0.5
    assert len(model.support_) > 1000


@pytest.mark.parametrize("C", [1e-20, 1e-3, 10.0])
def test_ties_as_far_apart_as_wins_leave_a_utility_of_zero_and_it_says_so(C):
    """At u = 0, β = -1 a step u costs |u·d| per tie and gains y u·d per win."""
    rng = np.random.default_rng(0)
    d = rng.normal(size=(60, 2))
    pairs = Pairs(np.vstack([0 * d, d]), np.arange(60), 60 + np.arange(60))
    y = np.where(np.arange(60) < 40, 0, np.sign(d[:, 0])).astype(int)
    # For every direction the ties weigh more: Σ |u·d| over ties, Σ y u·d over wins.
    for angle in np.linspace(0, 2 * np.pi, 50):
        u = np.array([np.cos(angle), np.sin(angle)])
        assert np.abs(d[:40] @ u).sum() > y[40:] @ (d[40:] @ u)
    model = SVMCompare(C, kernel="linear", tie_weight=1)
    with pytest.warns(UserWarning, match="same utility, for every C"):
        model.fit(pairs, y)
    assert_allclose(model.difference(pairs) / C, 0.0, atol=1e-8)
    assert model.intercept_ == pytest.approx(-1.0)
