# SPDX-License-Identifier: BSD-3-Clause
"""Laws of prediction after graded items: utilities, orders, comparisons and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from tests.laws.graded_same import GradedData
from tests.laws.same import Make
from tests.oracles import metrics_bruteforce as plain
from tiebreak import Pairs


def swapped_pairs(
    y: np.ndarray,
    utility: np.ndarray,
    qid: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> float:
    """Count swapped pairs one by one."""
    qid = np.zeros(len(y)) if qid is None else qid
    weight = np.ones(len(y)) if weight is None else weight
    return plain.swapped_pairs(y, utility, qid, weight)


def check_prediction_of_items(make: Make, data: GradedData) -> None:
    """The prediction of items is their utility, or the grade it has."""
    model = data.fit(make())
    utility = model.utility(data.items())
    assert utility.shape == (len(data.asked.items),)
    assert utility.dtype == np.float64
    assert utility.std() > 0.05
    assert_array_equal(model.decision_function(data.items()), utility)
    predicted = model.predict(data.items())
    if not hasattr(model, "grades_"):
        assert_array_equal(predicted, utility)
        return
    assert set(predicted.tolist()) <= set(model.grades_.tolist())
    assert (np.diff(predicted[np.argsort(utility)]) >= 0).all()


def check_comparison_of_items(make: Make, data: GradedData) -> None:
    """Comparisons of items are predicted by the difference of their utilities."""
    model = data.fit(make())
    utility, pairs = model.utility(data.items()), data.pairs()
    difference = utility[data.asked.right] - utility[data.asked.left]
    # Two ways to sum the same products in double precision.
    assert_allclose(model.difference(pairs), difference, rtol=0, atol=1e-11)
    outcome = model.predict(pairs)
    assert outcome.dtype == np.int8
    assert_array_equal(outcome, np.sign(model.difference(pairs)))
    assert {-1, 1} <= set(outcome.tolist())
    assert_array_equal(model.decision_function(pairs).argmax(axis=1) - 1, outcome)
    assert_allclose(model.score(pairs, outcome), 1.0)


def check_prediction_by_row(make: Make, data: GradedData) -> None:
    """The utility of an item does not depend on the rows beside it."""
    model, items = data.fit(make()), data.items()
    utility = model.utility(items)
    for row in (0, 3, len(utility) - 1):
        alone = items.iloc[[row]] if hasattr(items, "iloc") else items[[row]]
        assert_allclose(model.utility(alone), utility[[row]], rtol=0, atol=1e-11)


def check_identical_items(make: Make, data: GradedData) -> None:
    """Items with the same features have the same utility, bit for bit, and tie."""
    model, n = data.fit(make()), len(data.asked.items)
    items = data.shape.items(np.tile(data.asked.items, (7, 1)), data.train)
    utility = model.utility(items).reshape(7, n)
    assert_array_equal(utility, np.broadcast_to(utility[0], utility.shape))
    same = Pairs(items, np.arange(n), np.arange(n) + 3 * n)
    assert_array_equal(model.predict(same), np.zeros(n))


def check_order(make: Make, data: GradedData) -> None:
    """The order lists every row once, best first, and equal utilities by row number."""
    model, n = data.fit(make()), len(data.asked.items)
    rows = np.random.default_rng(7).integers(0, n, 4 * n)
    items = data.shape.items(data.asked.items[rows], data.train)
    utility, order = model.utility(items), model.order(items)
    expected = sorted(range(len(rows)), key=lambda row: (-utility[row], row))
    assert_array_equal(order, expected)


def check_order_of_groups(make: Make, data: GradedData) -> None:
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


def _test_rows(data: GradedData) -> tuple[Any, np.ndarray, np.ndarray]:
    """Grade the asked items in two groups, not as any model would."""
    n = len(data.asked.items)
    y = np.random.default_rng(8).integers(0, 4, n).astype(float)
    return data.items(), y, np.array(["v", "u"])[np.arange(n) % 2]


def check_score(make: Make, data: GradedData) -> None:
    """The score is one minus the swapped pairs, within groups and weighted."""
    model = data.fit(make())
    X, y, qid = _test_rows(data)
    utility, weight = model.utility(X), 1.0 + np.arange(len(y)) % 4
    expected = 1 - swapped_pairs(y, utility, qid)
    assert 0.1 < expected < 0.9
    assert_allclose(model.score(X, y, qid=qid), expected)
    weighted = 1 - swapped_pairs(y, utility, qid, weight)
    assert_allclose(model.score(X, y, qid=qid, sample_weight=weight), weighted)
    assert abs(weighted - expected) > 1e-3
    assert abs(1 - swapped_pairs(y, utility) - expected) > 1e-3


def check_score_of_training(make: Make, data: GradedData) -> None:
    """Training data of any shape can be scored as they were given, and are learned."""
    model, train = data.fit(make()), data.train
    utility = model.utility(data.shape.items(train.items, train))
    expected = 1 - swapped_pairs(train.y, utility, train.qid)
    assert_allclose(model.score(**data.shape.given(train)), expected)
    assert expected > 0.7


def check_score_needs_groups(make: Make, data: GradedData) -> None:
    """A model fitted with groups is not scored across them; one without may be."""
    model = data.fit(make())
    X, y, qid = _test_rows(data)
    try:
        model.score(X, y)
    except ValueError as error:
        assert "fitted with qid" in str(error)
    else:
        raise AssertionError("score compared rows of different groups")
    if data.shape.lists:
        return
    given = data.shape.given(data.train)
    del given["qid"]
    alone = make().fit(**given)
    expected = 1 - swapped_pairs(y, alone.utility(X))
    assert_allclose(alone.score(X, y), expected)
    inside = 1 - swapped_pairs(y, alone.utility(X), qid)
    assert_allclose(alone.score(X, y, qid=qid), inside)


def check_ranker(make: Make, data: GradedData) -> None:
    """A ranker is no classifier and has neither classes nor a threshold for ties."""
    model = data.fit(make())
    assert not is_classifier(model)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "threshold_")


def check_certificate(make: Make, data: GradedData) -> None:
    """A fit says that it reached its tolerance, and what it is worth."""
    model = data.fit(make())
    assert model.converged_
    assert 0 <= model.gap_ <= model.tol
    assert model.objective_ > 0
    assert model.n_iter_ >= 1


def check_number_of_pairs(make: Make, data: GradedData) -> None:
    """The number of pairs that were learned from is that of all pairs."""
    assert data.fit(make()).n_pairs_ == data.train.n_pairs()
