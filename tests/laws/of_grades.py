# SPDX-License-Identifier: BSD-3-Clause
"""Laws of models that learn from graded items or lists."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_allclose

import tiebreak
from tests.laws.comparisons import make_comparisons
from tests.laws.graded import Graded, item_table, sequences_of
from tests.laws.same import GradedData, Make, assert_identical, slack
from tests.oracles import metrics_bruteforce as plain
from tiebreak import Orders, Pairs, load, save

STRANGERS = Graded(
    50.0 + np.arange(12.0).reshape(4, 3),
    np.array([1.0, 7.0, 2.0, 2.0]),
    np.array(["query x"] * 4),
)


def check_weight_zero(make: Make, data: GradedData) -> None:
    """A row or list of weight 0 counts as absent, and no warning speaks of it."""
    larger = data.train + STRANGERS
    weight = np.ones(data.n_weights(larger))
    # Groups keep their first rows, and with them their numbers.
    last = [rows[-1] for rows in data.train.groups() if len(rows) > 3]
    weight[[1] if data.shape.lists else last] = 0
    weight[data.n_weights() :] = 0
    present = data.repeated(np.flatnonzero(weight))
    zero, without = data.fit(make(), larger, weight), data.fit(make(), present)
    data.assert_same(zero, without, (larger, present))


def check_group_names(make: Make, data: GradedData) -> None:
    """Groups may have any names of any type, in any order."""
    expected = data.fit(make())
    arguments = data.arguments()
    number = np.unique(data.train.qid, return_inverse=True)[1]
    for qid in (
        (7 - 3 * number).tolist(),
        number - 0.5,
        np.array(["z", "", "Ä", "a b", "10"])[number],
        np.array(["one", 2, True, 4.5, b"five"], dtype=object)[number],
        pd.Series(number, index=number[::-1]),
        pl.Series(number.astype(str)),
    ):
        data.assert_same(make().fit(**(arguments | {"qid": qid})), expected)


def check_groups_are_sums(make: Make, data: GradedData) -> None:
    """A group told twice counts as rows of weight √2, because a pair then weighs 2."""
    groups = data.train.groups()
    twice = data.train.take_groups([*range(len(groups)), 1, 3])
    weight = np.ones(len(data.train))
    weight[np.concatenate([groups[1], groups[3]])] = np.sqrt(2)
    if data.shape.lists:
        weight = np.where(np.isin(np.arange(len(groups)), [1, 3]), 2.0, 1.0)
    one, two = data.fit(make(), weight=weight), data.fit(make(), twice)
    data.assert_same(one, two, (data.train, twice))


def check_groups_matter(make: Make, data: GradedData) -> None:
    """Rows of different groups are not compared: as one group they are other data."""
    one = replace(data.train, qid=np.full(len(data.train), "one"))
    apart, together = data.fit(make()), data.fit(make(), one)
    bound = slack(apart, data) + slack(together, data)
    first, second = data.pairs(), data.pairs(one)
    difference = apart.difference(first) - together.difference(second)
    assert np.abs(difference).max() > 10 * bound


def check_increasing_grades(make: Make, data: GradedData) -> None:
    """A strictly increasing transformation of the grades changes nothing."""
    expected = data.fit(make())
    for change in (np.exp, lambda y: 1e-6 * y**3, lambda y: y - 1e3):
        turned = replace(data.train, y=change(data.train.y))
        data.assert_same(data.fit(make(), turned), expected)


def check_grades_within_groups(make: Make, data: GradedData) -> None:
    """Adding a constant to the grades of one group changes nothing."""
    y = data.train.y.copy()
    y[data.train.groups()[0]] += 100.0
    y[data.train.groups()[2]] -= 0.25
    moved = replace(data.train, y=y)
    data.assert_same(data.fit(make(), moved), data.fit(make()))


def check_idle_groups(make: Make, data: GradedData) -> None:
    """Groups without a pair change nothing, and one warning counts them."""
    alone = replace(STRANGERS.take(np.array([0])), qid=np.array(["query alone"]))
    equal = replace(STRANGERS, y=np.full(4, 3.0))
    larger = equal + data.train + alone
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = data.fit(make(), larger)
    assert len(caught) == 1
    assert "2 of 7 groups" in str(caught[0].message)
    assert not caught[0].filename.startswith(tiebreak.__path__[0])
    data.assert_same(model, data.fit(make()), (larger, data.train))


def check_grades_of_orders(make: Make, data: GradedData) -> None:
    """Orders are learned from like the graded rows that they can be written as."""
    table, code = item_table(data.train)
    orders = Orders(table, sequences_of(data.train, code))
    X, y, qid = orders.grades()
    model, graded = make().fit(orders), make().fit(X, y, qid=qid)
    bound = slack(model, data) + slack(graded, data)
    assert bound <= 5e-3
    items = data.asked.items
    differences = [
        np.subtract.outer(one.utility(items), one.utility(items))
        for one in (model, graded)
    ]
    assert_allclose(*differences, rtol=0, atol=bound)
    assert model.fitted_with_qid_


def check_memory_layout(make: Make, data: GradedData) -> None:
    """Where the numbers of an array stand in memory does not matter."""
    expected, items = data.fit(make()), data.train.items
    wide = np.zeros((2 * len(items), 2 * items.shape[1]))
    wide[::2, ::2] = items
    for same in (np.asfortranarray(items), wide[::2, ::2]):
        model = data.fit(make(), replace(data.train, items=same))
        data.assert_same(model, expected)
    asked = np.asfortranarray(data.items())
    assert_allclose(
        expected.utility(asked), expected.utility(data.items()), rtol=0, atol=1e-12
    )


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
    assert_allclose(model.score(**data.shape.arguments(train)), expected)
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
    arguments = data.arguments()
    del arguments["qid"]
    alone = make().fit(**arguments)
    expected = 1 - swapped_pairs(y, alone.utility(X))
    assert_allclose(alone.score(X, y), expected)
    inside = 1 - swapped_pairs(y, alone.utility(X), qid)
    assert_allclose(alone.score(X, y, qid=qid), inside)


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


def check_refit_after_pairs(make: Make, data: GradedData) -> None:
    """A model fitted on comparisons before is like one that never was fitted."""
    expected = data.fit(make())
    other = make_comparisons(2, n_items=9, n_rows=30, n_features=2)
    table = other.items @ other.items.T if not data.shape.features else other.items
    model = make().fit(Pairs(table, other.left, other.right), other.y)
    assert_identical(data.fit(model), expected, data)


def check_model_file(make: Make, data: GradedData) -> None:
    """A model that was saved and loaded again predicts identically."""
    model = data.fit(make())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tiebreak"
        save(model, file)
        assert_identical(load(file), model, data)
