# SPDX-License-Identifier: BSD-3-Clause
"""Laws of prediction: outcomes, differences, thresholds, orders and scores."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from tests.laws.comparisons import Comparisons
from tests.laws.same import Data, Make
from tiebreak import Pairs


def check_swapped_prediction(make: Make, data: Data) -> None:
    """Exchanging the sides of a comparison turns its prediction around."""
    model = data.fit(make())
    pairs = data.pairs()
    turned = data.shape.pairs(data.asked.swapped(), data.train)
    difference, outcome = model.difference(pairs), model.predict(pairs)
    if isinstance(pairs, Pairs):
        assert_array_equal(model.difference(turned), -difference)
        assert_array_equal(model.predict(turned), -outcome)
        assert_array_equal(model.predict(pairs.swap()), -outcome)
        return
    # The items of an array come in another order then, and sums of products may be
    # taken in another order too.
    assert_allclose(model.difference(turned), -difference, rtol=0, atol=1e-12)
    clear = np.abs(np.abs(difference) - getattr(model, "threshold_", 0.0)) > 1e-12
    assert clear.mean() > 0.8
    assert_array_equal(model.predict(turned)[clear], -outcome[clear])


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
    assert utility.std() > 0.1
    difference = utility[data.asked.right] - utility[data.asked.left]
    # Two ways to sum the same products in double precision.
    assert_allclose(model.difference(data.pairs()), difference, rtol=0, atol=1e-11)


def check_prediction_of_items(make: Make, data: Data) -> None:
    """The prediction of items is their utility."""
    model = data.fit(make())
    assert_array_equal(model.predict(data.items()), model.utility(data.items()))


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


def check_exactly_at_the_threshold(make: Make, data: Data) -> None:
    """A difference exactly at the threshold is a tie, and a larger one is not."""
    model, pairs = data.fit(make()), data.pairs()
    difference = model.difference(pairs)
    for row in np.flatnonzero(difference)[:4]:
        size = abs(difference[row])
        model.threshold_ = size
        assert model.predict(pairs)[row] == 0
        model.threshold_ = np.nextafter(size, 0.0)
        assert model.predict(pairs)[row] == np.sign(difference[row])


def check_scores(make: Make, data: Data) -> None:
    """Scores have a column per outcome, the largest predicted, and items a utility."""
    model, pairs = data.fit(make()), data.pairs()
    scores = model.decision_function(pairs)
    assert scores.shape == (len(data.asked), 3)
    assert_array_equal(scores.argmax(axis=1) - 1, model.predict(pairs))
    items = data.items()
    assert_array_equal(model.decision_function(items), model.utility(items))


def check_identical_items(make: Make, data: Data) -> None:
    """Items with the same features have the same utility, bit for bit, and tie."""
    model, n = data.fit(make()), len(data.asked.items)
    twice = np.tile(np.arange(n), 7)
    items = data.shape.items(data.asked.items[twice], twice, data.train)
    utility = model.utility(items).reshape(7, n)
    assert_array_equal(utility, np.broadcast_to(utility[0], utility.shape))
    both = Comparisons(
        data.asked.items[twice],
        twice,
        np.arange(n),
        np.arange(n) + 3 * n,
        np.zeros(n, dtype=int),
    )
    outcome = model.predict(data.shape.pairs(both, data.train))
    assert_array_equal(outcome, np.zeros(n))


def check_order(make: Make, data: Data) -> None:
    """The order lists every row once, best first, and equal utilities by row number."""
    model, n = data.fit(make()), len(data.asked.items)
    rows = np.random.default_rng(7).integers(0, n, 4 * n)
    items = data.shape.items(data.asked.items[rows], data.asked.names[rows], data.train)
    utility, order = model.utility(items), model.order(items)
    assert_array_equal(np.sort(order), np.arange(len(rows)))
    expected = sorted(range(len(rows)), key=lambda row: (-utility[row], row))
    assert_array_equal(order, expected)
    # The same item again comes after it, and only items alike may stand between.
    same = [order.tolist().index(row) for row in np.flatnonzero(rows == rows[0])]
    assert same == sorted(same)


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


def check_classes(make: Make, data: Data) -> None:
    """A comparer is a classifier of the outcomes -1, 0 and +1."""
    model = data.fit(make())
    assert is_classifier(model)
    assert_array_equal(model.classes_, [-1, 0, 1])
    model.classes_[:] = 9
    assert_array_equal(data.fit(make()).classes_, [-1, 0, 1])


def check_ranker(make: Make, data: Data) -> None:
    """A ranker is no classifier and has neither classes nor a threshold."""
    model = data.fit(make())
    assert not is_classifier(model)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "threshold_")


def check_score(make: Make, data: Data) -> None:
    """The score of comparisons is the weighted share of right predictions."""
    model, pairs = data.fit(make()), data.pairs()
    y = np.random.default_rng(8).integers(-1, 2, len(data.asked))
    right = model.predict(pairs) == y
    assert_allclose(model.score(pairs, y), right.mean())
    weight = 1.0 + right * (np.arange(len(y)) % 4.0)
    expected = np.average(right, weights=weight)
    assert_allclose(model.score(pairs, y, sample_weight=weight), expected)
    assert abs(expected - right.mean()) > 1e-3


def check_learns(make: Make, data: Data) -> None:
    """Most of the training comparisons are predicted rightly, and signs above all."""
    model, train = data.fit(make()), data.train
    pairs = data.shape.pairs(train, train)
    differ = train.y != 0
    sign = np.sign(model.difference(pairs))
    assert (sign[differ] == train.y[differ]).mean() > 0.7
