# SPDX-License-Identifier: BSD-3-Clause
"""Input that is unusual but not bad: one pair, constants, copies, extreme numbers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.inputs import (
    ITEMS,
    LEFT,
    MODELS,
    RIGHT,
    Y,
    every_machine,
    quietly,
    refused,
)
from tiebreak import (
    MaxMarginCompare,
    Pairs,
)

ONE_PAIR = {
    ("SVMCompare", 1): "no ties among the comparisons",
    ("SVMCompare", 0): "All comparisons are ties",
    ("SVMCompare(linear)", 1): "no ties among the comparisons",
    ("SVMCompare(linear)", 0): "All comparisons are ties",
    ("MaxMarginCompare", 1): "no ties among the comparisons",
    ("MaxMarginCompare", 0): "All comparisons are ties",
    ("MaxMarginCompare(qp)", 1): "no ties among the comparisons",
    ("MaxMarginCompare(qp)", 0): "All comparisons are ties",
    ("RankingPursuit", 1): "stopped after 1 of n_basis=2",
    ("LogisticCompare", 0): "All comparisons are ties",
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("outcome", [1, 0, -1])
def test_one_comparison(name, outcome):
    pairs = Pairs(ITEMS, [0], [1])
    model = MODELS[name]()
    said = ONE_PAIR.get((name, abs(outcome)))
    orders_only = ("RankSVM", "RankRLS", "RankRLS(linear)", "ThresholdCompare")
    boosted = ("BoostedUtility", "RankBoost", "RankBoost(stump)")
    if outcome == 0 and name in (
        *(*orders_only, *boosted, "L1Ranker", "RankingPursuit"),
    ):
        words = ["all 1 comparisons are ties", "needs a winner"]
        refused(ValueError, words, model.fit, pairs, [0])
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(pairs, [outcome])
    assert [said in str(one.message) for one in caught] == [True] * (said is not None)
    # The majority of ties only is said to be left.
    expected = outcome if name != "MajorityCompare" else (outcome or -1)
    assert_array_equal(model.predict(pairs), [expected])


@every_machine
def test_constant_features(make):
    pairs = Pairs(np.full((5, 2), 3.0), LEFT, RIGHT)
    model = quietly(make(), pairs, Y)
    assert_array_equal(
        model.utility(pairs.values), np.zeros(5) + model.utility([[3, 3]])
    )
    assert_array_equal(model.difference(pairs), np.zeros(6))
    assert getattr(model, "converged_", True)


def easy(scale=1.0):
    rng = np.random.default_rng(1)
    items = rng.normal(size=(25, 2))
    left = rng.integers(0, 25, 80)
    right = (left + rng.integers(1, 25, 80)) % 25
    d = (items @ [1.0, 0.5])[right] - (items @ [1.0, 0.5])[left]
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    return Pairs(items * scale, left, right), y


def sign_accuracy(model, pairs, y):
    differ = y != 0
    return np.mean(np.sign(model.difference(pairs))[differ] == y[differ])


@every_machine
@pytest.mark.parametrize("C", [1e-20, 1e-10, 1e10])
def test_extreme_c(make, C):
    pairs, y = easy()
    model = make()
    name = "ranker__C" if "ranker" in model.get_params() else "C"
    quietly(model.set_params(**{name: C}), pairs, y)
    assert np.isfinite(model.utility(pairs.values)).all()
    assert np.ptp(model.utility(pairs.values)) > 0
    assert sign_accuracy(model, pairs, y) > 0.85
    assert getattr(model, "converged_", True)


@pytest.mark.parametrize(
    ("program", "scale"),
    [
        ("lp", 1e6),
        ("lp", 1e-9),
        ("lp", (1e-3, 1e3)),
        ("lp", (1e5, 1e-9)),
        # The quadratic program depends on the sizes of features, but not on the unit.
        ("qp", 1e6),
        ("qp", 1e-9),
    ],
)
def test_the_margin_does_not_depend_on_the_scale(program, scale):
    pairs, y = easy()
    scaled, _ = easy(scale)
    plain = MaxMarginCompare(program).fit(pairs, y)
    model = MaxMarginCompare(program).fit(scaled, y)
    assert model.separable_
    assert_allclose(model.margin_, plain.margin_, rtol=1e-5)
    assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-3)
    assert model.score(scaled, y) == 1
