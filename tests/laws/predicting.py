# SPDX-License-Identifier: BSD-3-Clause
"""Laws of prediction: outcomes, differences, thresholds and orders."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from tests.laws.same import Data, Make
from tiebreak import Pairs


def check_outcomes(make: Make, data: Data) -> None:
    """Predictions of comparisons are -1, 0 or +1, one per row, as integers."""
    outcome = data.fit(make()).predict(data.pairs())
    assert outcome.shape == (len(data.asked),)
    assert outcome.dtype == np.int8
    assert set(outcome.tolist()) <= {-1, 0, 1}


def check_both_signs(make: Make, data: Data) -> None:
    """Some comparisons are predicted to be won by the left side, some by the right."""
    outcome = data.fit(make()).predict(data.pairs())
    assert {-1, 1} <= set(outcome.tolist())


def check_difference(make: Make, data: Data) -> None:
    """The difference is the utility of right minus the utility of left."""
    model = data.fit(make())
    utility = model.utility(data.items())
    assert utility.shape == (len(data.asked.items),)
    assert utility.std() > 0.05
    difference = utility[data.asked.right] - utility[data.asked.left]
    # Two ways to sum the same products in double precision.
    assert_allclose(model.difference(data.pairs()), difference, rtol=0, atol=1e-11)


def check_prediction_of_items(make: Make, data: Data) -> None:
    """The prediction of items is their utility, or the grade it has."""
    model = data.fit(make())
    predicted, utility = model.predict(data.items()), model.utility(data.items())
    assert utility.dtype == np.float64
    if not hasattr(model, "grades_"):
        assert_array_equal(predicted, utility)
        return
    assert set(predicted.tolist()) <= set(model.grades_.tolist())
    assert (np.diff(predicted[np.argsort(utility)]) >= 0).all()


def check_prediction_by_row(make: Make, data: Data) -> None:
    """What is predicted of a comparison does not depend on the rows beside it."""
    model, pairs = data.fit(make()), data.pairs()
    difference = model.difference(pairs)
    for row in (0, 7, len(data.asked) - 1):
        alone = model.difference(pairs[[row]])
        assert_allclose(alone, difference[[row]], rtol=0, atol=1e-11)


def check_signs_and_threshold(make: Make, data: Data) -> None:
    """The outcome is the sign of a difference beyond the threshold, and else 0."""
    model, pairs = data.fit(make()), data.pairs()
    difference = model.difference(pairs)
    beyond = np.abs(difference) > getattr(model, "threshold_", 0.0)
    assert_array_equal(model.predict(pairs), np.sign(difference) * beyond)


def check_scores(make: Make, data: Data) -> None:
    """Scores have a column per outcome, the largest predicted, and items a utility."""
    model, pairs = data.fit(make()), data.pairs()
    if not is_classifier(model):
        assert not hasattr(model, "decision_function")
        return
    scores = model.decision_function(pairs)
    assert scores.shape == (len(data.asked), 3)
    assert_array_equal(scores.argmax(axis=1) - 1, model.predict(pairs))
    items = data.items()
    assert_array_equal(model.decision_function(items), model.utility(items))


def check_identical_items(make: Make, data: Data) -> None:
    """Items with the same features have the same utility, bit for bit, and tie."""
    model, n = data.fit(make()), len(data.asked.items)
    items = data.items(rows=np.tile(np.arange(n), 7))
    utility = model.utility(items).reshape(7, n)
    assert_array_equal(utility, np.broadcast_to(utility[0], utility.shape))
    same = Pairs(items, np.arange(n), np.arange(n) + 3 * n)
    assert_array_equal(model.predict(same), np.zeros(n))


def check_order(make: Make, data: Data) -> None:
    """The order lists every row once, best first, and equal utilities by row number."""
    model, n = data.fit(make()), len(data.asked.items)
    items = data.items(rows=np.random.default_rng(7).integers(0, n, 4 * n))
    utility, order = model.utility(items), model.order(items)
    expected = sorted(range(4 * n), key=lambda row: (-utility[row], row))
    assert_array_equal(order, expected)


def check_order_of_groups(make: Make, data: Data) -> None:
    """With qid every group is ordered by itself, groups by first appearance."""
    model, n = data.fit(make()), len(data.asked.items)
    qid = np.array(["b", "c", "a"])[np.arange(n) % 3]
    qid[:2] = "b"
    orders = model.order(data.items(), qid=qid)
    utility = model.utility(data.items())
    assert [set(qid[order].tolist()) for order in orders] == [{"b"}, {"a"}, {"c"}]
    for order in orders:
        members = np.flatnonzero(qid == qid[order[0]])
        expected = sorted(members, key=lambda row: (-utility[row], row))
        assert_array_equal(order, expected)


def check_ranker(make: Make, data: Data) -> None:
    """A ranker is no classifier and has neither classes nor a threshold."""
    model = data.fit(make())
    assert not is_classifier(model)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "threshold_")
