# SPDX-License-Identifier: BSD-3-Clause
"""Laws of invariance: what may be written differently and must not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from tests.laws.same import Data, Make, assert_identical, slack
from tiebreak import Pairs


def check_weight_one(make: Make, data: Data) -> None:
    """Weights of 1 are the same as no weights."""
    weight = np.ones(data.n_weights())
    assert_identical(data.fit(make(), weight=weight), data.fit(make()), data)


def check_weight_two(make: Make, data: Data) -> None:
    """A row or list of weight 2 counts as two of them."""
    n = data.n_weights()
    twice = np.arange(0, n, 3)
    weight = np.ones(n)
    weight[twice] = 2
    doubled = data.repeated(np.append(np.arange(n), twice))
    one, two = data.fit(make(), weight=weight), data.fit(make(), doubled)
    data.assert_same(one, two, (data.train, doubled))


def check_row_order(make: Make, data: Data) -> None:
    """The order of the training rows, and with it of groups, does not matter."""
    rows = np.random.default_rng(5).permutation(len(data.train))
    turned = data.train.take(rows)
    one, two = data.fit(make()), data.fit(make(), turned)
    data.assert_same(one, two, (data.train, turned))


def check_same_as_dense(make: Make, data: Data) -> None:
    """The shape does not matter: the model is that of a dense table of features."""
    (arguments, items), model = data.dense(), data.fit(make())
    dense = data.same_as().fit(**arguments)
    bound = slack(model, data) + slack(dense, data)
    assert bound <= data.limit
    difference = dense.difference(Pairs(items, data.asked.left, data.asked.right))
    assert_allclose(model.difference(data.pairs()), difference, rtol=0, atol=bound)
    thresholds = [getattr(one, "threshold_", 0.0) for one in (model, dense)]
    assert_allclose(*thresholds, rtol=0, atol=bound)


def check_number_types(make: Make, data: Data) -> None:
    """Numbers in float32, or integers, are those numbers and no others."""
    for dtype in (np.float32, np.int64):
        train = replace(
            data.train,
            items=(3 * data.train.items).astype(dtype),
            y=data.train.y.astype(dtype),
        )
        double = replace(train, items=train.items.astype(float))
        assert_identical(data.fit(make(), train), data.fit(make(), double), data)


def check_translation(make: Make, data: Data) -> None:
    """Adding a constant to all features of all items changes no comparison."""
    train = replace(data.train, items=data.train.items + 10.0)
    moved = replace(data, asked=replace(data.asked, items=data.asked.items + 10.0))
    here, there = data.fit(make()), data.fit(make(), train)
    bound = slack(here, data) + slack(there, data) + 1e-9
    assert bound <= data.limit
    difference = there.difference(moved.pairs(train))
    assert_allclose(difference, here.difference(data.pairs()), rtol=0, atol=bound)
