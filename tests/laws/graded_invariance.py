# SPDX-License-Identifier: BSD-3-Clause
"""Laws of invariance for graded items: what may be written differently."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_allclose

import tiebreak
from tests.laws.graded import Graded, item_table, sequences_of
from tests.laws.graded_same import GradedData, assert_same
from tests.laws.same import Make, assert_identical, slack
from tiebreak import Orders

STRANGERS = Graded(
    50.0 + np.arange(12.0).reshape(4, 3),
    np.array([1.0, 7.0, 2.0, 2.0]),
    np.array(["query x"] * 4),
)


def check_weight_one(make: Make, data: GradedData) -> None:
    """Weights of 1 are the same as no weights."""
    weight = np.ones(data.n_weights())
    assert_identical(data.fit(make(), weight=weight), data.fit(make()), data)


def check_weight_two(make: Make, data: GradedData) -> None:
    """A row of weight 2 counts as two rows, and a list of weight 2 as two lists."""
    n = data.n_weights()
    twice = np.arange(0, n, 3)
    weight = np.ones(n)
    weight[twice] = 2
    doubled = data.repeated(np.append(np.arange(n), twice))
    one, two = data.fit(make(), weight=weight), data.fit(make(), doubled)
    assert_same(one, two, data, (data.train, doubled))


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
    assert_same(zero, without, data, (larger, present))


def check_row_order(make: Make, data: GradedData) -> None:
    """The order of the rows, and with it of the groups, does not matter."""
    rows = np.random.default_rng(5).permutation(len(data.train))
    turned = data.train.take(rows)
    one, two = data.fit(make()), data.fit(make(), turned)
    assert_same(one, two, data, (data.train, turned))


def check_group_names(make: Make, data: GradedData) -> None:
    """Groups may have any names of any type, in any order."""
    expected = data.fit(make())
    given = data.shape.given(data.train)
    number = np.unique(data.train.qid, return_inverse=True)[1]
    for qid in (
        (7 - 3 * number).tolist(),
        number - 0.5,
        np.array(["z", "", "Ä", "a b", "10"])[number],
        np.array(["one", 2, True, 4.5, b"five"], dtype=object)[number],
        pd.Series(number, index=number[::-1]),
        pl.Series(number.astype(str)),
    ):
        assert_same(make().fit(**(given | {"qid": qid})), expected, data)


def check_groups_are_sums(make: Make, data: GradedData) -> None:
    """A group told twice counts as rows of weight √2, because a pair then weighs 2."""
    groups = data.train.groups()
    twice = data.train.take_groups([*range(len(groups)), 1, 3])
    weight = np.ones(len(data.train))
    weight[np.concatenate([groups[1], groups[3]])] = np.sqrt(2)
    if data.shape.lists:
        weight = np.where(np.isin(np.arange(len(groups)), [1, 3]), 2.0, 1.0)
    one, two = data.fit(make(), weight=weight), data.fit(make(), twice)
    assert_same(one, two, data, (data.train, twice))


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
        assert_same(data.fit(make(), turned), expected, data)


def check_grades_within_groups(make: Make, data: GradedData) -> None:
    """Adding a constant to the grades of one group changes nothing."""
    y = data.train.y.copy()
    y[data.train.groups()[0]] += 100.0
    y[data.train.groups()[2]] -= 0.25
    moved = replace(data.train, y=y)
    assert_same(data.fit(make(), moved), data.fit(make()), data)


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
    assert_same(model, data.fit(make()), data, (larger, data.train))


def check_same_as_dense(make: Make, data: GradedData) -> None:
    """The shape does not matter: the model is that of a dense table of features."""
    model, train = data.fit(make()), data.train
    dense = data.same_as().fit(train.items, train.y, qid=train.qid)
    bound = slack(model, data) + slack(dense, data)
    assert bound <= 5e-3
    utility = dense.utility(data.asked.items)
    assert_allclose(
        model.difference(data.pairs()),
        utility[data.asked.right] - utility[data.asked.left],
        rtol=0,
        atol=bound,
    )


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


def check_number_types(make: Make, data: GradedData) -> None:
    """Features and grades in float32, or as integers, are those numbers."""
    for dtype in (np.float32, np.int64):
        train = replace(
            data.train,
            items=(3 * data.train.items).astype(dtype),
            y=data.train.y.astype(dtype),
        )
        double = Graded(train.items.astype(float), train.y.astype(float), train.qid)
        assert_identical(data.fit(make(), train), data.fit(make(), double), data)


def check_memory_layout(make: Make, data: GradedData) -> None:
    """Where the numbers of an array stand in memory does not matter."""
    expected, items = data.fit(make()), data.train.items
    wide = np.zeros((2 * len(items), 2 * items.shape[1]))
    wide[::2, ::2] = items
    for same in (np.asfortranarray(items), wide[::2, ::2]):
        model = data.fit(make(), replace(data.train, items=same))
        assert_same(model, expected, data)
    asked = np.asfortranarray(data.items())
    assert_allclose(
        expected.utility(asked), expected.utility(data.items()), rtol=0, atol=1e-12
    )


def check_translation(make: Make, data: GradedData) -> None:
    """Adding a constant to all features of all items changes no order."""
    moved = replace(data.train, items=data.train.items + 10.0)
    here, there = data.fit(make()), data.fit(make(), moved)
    bound = slack(here, data) + slack(there, data) + 1e-9
    assert bound <= 5e-3
    utility = there.utility(data.shape.items(data.asked.items + 10.0, moved))
    assert_allclose(
        utility[data.asked.right] - utility[data.asked.left],
        here.difference(data.pairs()),
        rtol=0,
        atol=bound,
    )
