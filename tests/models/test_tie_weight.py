# SPDX-License-Identifier: BSD-3-Clause
"""The weight of ties in SVMCompare, and the optimum u = 0 of the paper's problem."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles.pair_svm import zero_intercepts
from tiebreak import Pairs, SVMCompare

TIGHT = {"tol": 1e-9}


def noisy(rng, n=40, tie_share=0.3, slope=0.5, spread=1.0):
    """Comparisons of which many contradict each other; ties are as far as `spread`."""
    d = rng.normal(size=(n, 2))
    win = np.sign(slope * d[:, 0] + rng.normal(size=n))
    y = np.where(rng.random(n) < tie_share, 0, win).astype(int)
    y[:3] = [-1, 0, 1]
    d[y == 0] *= spread
    return Pairs(np.vstack([0 * d, d]), np.arange(n), n + np.arange(n)), y, d


def quietly(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(*args, **kwargs)


def objective(u, d, y, weight):
    """Half the squared norm plus the weighted hinges, at the best intercept."""
    tied = y == 0
    score = np.r_[(y * (d @ u))[~tied], d[tied] @ u, -d[tied] @ u]
    label = np.repeat([1.0, -1.0], [(~tied).sum(), 2 * tied.sum()])
    weight = np.r_[weight[~tied], weight[tied], weight[tied]]
    loss = [
        weight @ np.maximum(0, 1 - label * (score + beta)) for beta in label - score
    ]
    return 0.5 * u @ u + min(loss)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("tie_weight", ["balanced", 0.3, 4.0])
def test_a_weight_of_ties_is_a_sample_weight_of_ties(rng, kernel, tie_weight):
    pairs, y, _ = noisy(rng)
    weight = rng.uniform(0.5, 2.0, len(y))
    tied = y == 0
    factor = tie_weight
    if tie_weight == "balanced":
        factor = weight[~tied].sum() / (2 * weight[tied].sum())
    options = {"kernel": kernel, **TIGHT}
    ours = quietly(
        SVMCompare(2.0, tie_weight=tie_weight, **options),
        pairs, y, sample_weight=weight,
    )  # fmt: skip
    paper = quietly(
        SVMCompare(2.0, tie_weight=1, **options),
        pairs, y, sample_weight=np.where(tied, factor * weight, weight),
    )  # fmt: skip
    assert ours.objective_ == pytest.approx(paper.objective_, rel=1e-8)
    assert ours.intercept_ == pytest.approx(paper.intercept_, abs=1e-6)
    assert_allclose(ours.utility(pairs.values), paper.utility(pairs.values), atol=1e-6)


@pytest.mark.parametrize("tie_share", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_with_balanced_ties_zero_is_not_optimal(seed, tie_share):
    """At u = 0 the gradient is -C Σ y d, so a small C gives u = C Σ y d."""
    pairs, y, d = noisy(np.random.default_rng(seed), tie_share=tie_share)
    steepest = y @ d
    assert np.abs(steepest).max() > 1e-3
    factor = np.count_nonzero(y) / (2 * np.count_nonzero(y == 0))
    weight = np.where(y == 0, factor, 1.0)
    for C in (1e-12, 1e-4, 1.0):
        model = SVMCompare(C, kernel="linear", tie_weight="balanced", **TIGHT)
        model.fit(pairs, y)
        reached = objective(model.coef_, d, y, C * weight)
        assert model.objective_ == pytest.approx(reached, rel=1e-8)
        assert np.abs(model.coef_).max() > 1e-6 * C
        if C < 1e-3:
            assert_allclose(model.coef_, C * steepest, rtol=1e-6)
        else:
            assert reached < objective(0 * steepest, d, y, C * weight)


@pytest.mark.parametrize("tie_share", [0.1, 0.3, 0.5, 0.8])
def test_the_paper_s_problem_has_a_zero_optimum_when_linear_programming_says_so(
    tie_share,
):
    found = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        slope, spread = ((0.0, 1.0), (1.0, 1.0), (5.0, 0.1))[seed % 3]
        pairs, y, d = noisy(rng, 30, tie_share, slope, spread)
        zero = zero_intercepts(d, y)
        for C in (0.01, 10.0):
            model = SVMCompare(C, kernel="linear", tie_weight=1, **TIGHT)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(pairs, y)
            said = ["same utility" in str(warning.message) for warning in caught]
            assert any(said) == bool(zero)
            assert (np.abs(model.coef_).max() < 1e-7 * C) == bool(zero)
            if zero:
                assert model.intercept_ == pytest.approx(zero[0])
                assert "tie_weight='balanced'" in str(caught[0].message)
        found.add(tuple(zero))
    assert len(found) > 1  # zero and not zero
    if tie_share in (0.1, 0.8):
        assert ((1,) if tie_share < 0.5 else (-1,)) in found


def test_balanced_ties_never_have_a_zero_optimum_by_linear_programming(rng):
    for tie_share in (0.1, 0.5, 0.8):
        _, y, d = noisy(rng, 30, tie_share)
        factor = np.count_nonzero(y) / (2 * np.count_nonzero(y == 0))
        assert zero_intercepts(d, y, factor) == []


@pytest.mark.parametrize("tie_weight", ["balanced", 0.5, 3.0])
@pytest.mark.parametrize("tie_share", [0.1, 0.5, 0.9])
def test_no_threshold_is_better_on_the_training_rows(rng, tie_weight, tie_share):
    for _ in range(5):
        pairs, y, _ = noisy(rng, tie_share=tie_share)
        weight = rng.uniform(0.2, 3.0, len(y))
        model = SVMCompare(tie_weight=tie_weight)
        quietly(model, pairs, y, sample_weight=weight)
        difference = model.difference(pairs)
        size = np.sort(np.abs(difference))
        tried = np.r_[0.0, size * (1 + 1e-9), (size[1:] + size[:-1]) / 2]
        errors = [
            weight @ (np.where(np.abs(difference) <= t, 0, np.sign(difference)) != y)
            for t in tried
        ]
        reached = weight @ (model.predict(pairs) != y)
        assert reached <= min(errors) + 1e-9


def test_the_threshold_of_the_paper_is_its_intercept(rng):
    pairs, y, _ = noisy(rng, slope=5.0)
    model = quietly(SVMCompare(10.0, tie_weight=1), pairs, y)
    assert model.threshold_ == max(0.0, -model.intercept_)
    with pytest.warns(UserWarning, match="no ties"):
        assert SVMCompare().fit(pairs[y != 0], y[y != 0]).threshold_ == 0


def test_wins_that_cancel_leave_nothing_to_learn_and_it_says_so():
    items = np.array([[0.0], [1.0]])
    pairs = Pairs(items, [0, 0, 0, 0], [1, 1, 1, 1])
    with pytest.warns(UserWarning, match="same utility, for every C"):
        model = SVMCompare(kernel="linear").fit(pairs, [-1, 0, 0, 1])
    assert_allclose(model.coef_, 0, atol=1e-9)
    assert_array_equal(model.predict(pairs), np.zeros(4))
