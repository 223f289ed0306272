# SPDX-License-Identifier: BSD-3-Clause
"""Few ties, many ties, no ties, nothing but ties: what a comparer makes of them.

The learned threshold is max(0, -β). With few ties, or with small C when ties are the
smaller part, β is not negative: no tie is predicted, but the order must not turn
around. With small C and many ties everything is a tie. Both are said in a warning, and
`ThresholdCompare` repairs them.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak import (
    MajorityCompare,
    Outcome,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)

KERNELS = ["linear", "poly", "rbf"]
NO_TIE = "so no comparison is predicted to be a tie"
ALL_TIES = "Every training comparison is predicted to be a tie"


def easy(n_rows=120, tie_share=None, seed=0):
    """Compare by the sum of two features; smaller differences are the ties."""
    rng = np.random.default_rng(seed)
    items = rng.uniform(-1, 1, size=(30, 2))
    left, right = np.triu_indices(30, 1)
    rows = rng.permutation(len(left))[:n_rows]
    turned = rng.random(n_rows) < 0.5
    left, right = left[rows], right[rows]
    left, right = np.where(turned, right, left), np.where(turned, left, right)
    difference = items.sum(axis=1)[right] - items.sum(axis=1)[left]
    limit = 0.4 if tie_share is None else np.quantile(np.abs(difference), tie_share)
    y = np.where(np.abs(difference) <= limit, 0, np.sign(difference)).astype(int)
    return Pairs(items, left, right), y


def sign_accuracy(model, pairs, y):
    differ = y != 0
    sign = np.sign(model.difference(pairs[differ]))
    return (sign == y[differ]).mean()


def quietly(model, pairs, y):
    """Fit without a word: what is said is another test's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(pairs, y)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("C", "tie_share"),
    [(1e-3, 0.2), (1e-6, 0.2), (1e-12, 0.2), (1e-20, 0.2), (1e-3, 0.02)],
)
def test_few_ties_and_small_c_keep_the_order_the_right_way_round(kernel, C, tie_share):
    pairs, y = easy(tie_share=tie_share)
    model = SVMCompare(C, kernel=kernel, tie_weight=1)
    with pytest.warns(UserWarning, match=NO_TIE) as caught:
        model.fit(pairs, y)
    assert "ThresholdCompare(SVMCompare(...))" in str(caught[0].message)
    assert f"{model.intercept_:.3g}" in str(caught[0].message)
    assert model.intercept_ >= 0
    assert model.threshold_ == 0
    assert 0 not in model.predict(pairs)
    assert sign_accuracy(model, pairs, y) > 0.9


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [1e-3, 1e-12])
@pytest.mark.parametrize("tie_share", [0.2, 0.8])
def test_a_learned_threshold_repairs_the_ties(kernel, C, tie_share):
    pairs, y = easy(tie_share=tie_share)
    paper = SVMCompare(C, kernel=kernel, tie_weight=1)
    plain = quietly(paper, pairs, y)
    repaired = quietly(ThresholdCompare(paper), pairs, y)
    assert repaired.threshold_ > 0
    assert_array_equal(repaired.difference(pairs), plain.difference(pairs))
    assert repaired.score(pairs, y) > plain.score(pairs, y) + 0.03
    assert set(repaired.predict(pairs).tolist()) == {-1, 0, 1}
    assert_allclose(repaired.training_error_, 1 - repaired.score(pairs, y))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [1e-4, 1e-12, 1e-20])
def test_with_many_ties_and_small_c_everything_is_a_tie(kernel, C):
    pairs, y = easy(tie_share=0.8)
    model = SVMCompare(C, kernel=kernel, tie_weight=1)
    with pytest.warns(UserWarning, match=ALL_TIES) as caught:
        model.fit(pairs, y)
    assert "ThresholdCompare(SVMCompare(...))" in str(caught[0].message)
    assert_allclose(model.intercept_, -1, atol=1e-2)
    assert_array_equal(model.predict(pairs), np.zeros(len(y)))
    assert sign_accuracy(model, pairs, y) > 0.9


@pytest.mark.parametrize("kernel", KERNELS)
def test_enough_ties_and_a_good_c_need_no_warning(kernel):
    pairs, y = easy()
    model = SVMCompare(100.0, kernel=kernel, coef0=1.0, tie_weight=1).fit(pairs, y)
    assert model.intercept_ < 0
    assert model.threshold_ == -model.intercept_
    assert model.score(pairs, y) > 0.9


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_ties_the_comparer_is_the_ranker(kernel):
    pairs, y = easy()
    pairs, y = pairs[y != 0], y[y != 0]
    model = SVMCompare(kernel=kernel)
    with pytest.warns(UserWarning, match="no ties among the comparisons") as caught:
        model.fit(pairs, y)
    assert "threshold_ = 0" in str(caught[0].message)
    ranker = RankSVM(1.0, kernel=kernel).fit(pairs, y)
    assert model.threshold_ == model.intercept_ == 0
    assert_array_equal(model.difference(pairs), ranker.difference(pairs))
    assert_array_equal(model.predict(pairs), ranker.predict(pairs))
    assert model.objective_ == ranker.objective_


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_but_ties_is_a_utility_of_zero(kernel):
    pairs, y = easy()
    model = SVMCompare(kernel=kernel)
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        model.fit(pairs, 0 * y)
    assert model.threshold_ > 0
    assert_array_equal(model.utility(pairs.values), np.zeros(30))
    assert_array_equal(model.predict(pairs), np.zeros(len(y)))
    assert model.converged_


def test_rows_of_weight_zero_do_not_count_as_ties():
    pairs, y = easy()
    weight = (y != 0).astype(float)
    with pytest.warns(UserWarning, match="no ties among the comparisons"):
        SVMCompare().fit(pairs, y, sample_weight=weight)
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        SVMCompare().fit(pairs, y, sample_weight=1 - weight)
    with pytest.raises(ValueError, match="comparisons are ties"):
        RankSVM().fit(pairs, y, sample_weight=1 - weight)


@pytest.mark.parametrize(
    ("outcomes", "plain", "with_ties"),
    [
        ([1, 1, -1, 0, 0, 0], 1, 0),
        ([-1, -1, 1, 0], -1, -1),
        ([1, -1], -1, -1),
        ([1, 1, 0, 0], 1, 0),
        ([1, 1, 1, 0], 1, 1),
    ],
)
def test_the_majority_says_left_when_both_sides_are_as_common(
    outcomes, plain, with_ties
):
    n = len(outcomes)
    pairs = Pairs(None, ["a"] * n, ["b"] * n)
    outcomes = Outcome.parse(outcomes, meaning="sign")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zeros and ones only
        assert MajorityCompare().fit(pairs, outcomes).outcome_ == plain
        assert MajorityCompare(tie=True).fit(pairs, outcomes).outcome_ == with_ties
