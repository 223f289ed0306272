# SPDX-License-Identifier: BSD-3-Clause
"""Laws of invariance: what may be written differently and must not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from tests.laws.comparisons import Comparisons
from tests.laws.same import Data, Make, assert_identical, assert_same, slack
from tiebreak import Pairs


def check_weight_two(make: Make, data: Data) -> None:
    """A comparison of weight 2 counts as two rows."""
    rows = np.arange(0, len(data.train), 3)
    weight = np.ones(len(data.train))
    weight[rows] = 2
    doubled = data.train.take(np.append(np.arange(len(data.train)), rows))
    assert_same(data.fit(make(), weight=weight), data.fit(make(), doubled), data)


def check_weight_zero(make: Make, data: Data) -> None:
    """A comparison of weight 0 counts as absent, and so do items only it has."""
    stranger = 50.0 + np.arange(9.0).reshape(3, 3)
    larger = data.train.with_unused_items(stranger)
    strangers = np.flatnonzero(np.char.startswith(larger.names, "unused"))
    larger = replace(
        larger,
        left=np.append(larger.left, strangers),
        right=np.append(larger.right, larger.left[:3]),
        y=np.append(larger.y, [1, 0, -1]),
    )
    weight = np.ones(len(larger))
    weight[::5] = 0
    weight[-3:] = 0
    present = data.train.take(np.flatnonzero(weight[:-3]))
    zero, absent = data.fit(make(), larger, weight), data.fit(make(), present)
    assert_same(zero, absent, data, (larger, present))


def check_weight_one(make: Make, data: Data) -> None:
    """Weights of 1 are the same as no weights."""
    weight = np.ones(len(data.train))
    assert_identical(data.fit(make(), weight=weight), data.fit(make()), data)


def check_swapped_training(make: Make, data: Data) -> None:
    """Exchanging left and right of some rows, and their outcomes, changes nothing."""
    part = np.arange(len(data.train)) % 2 == 0
    swapped = data.train.swapped()
    mixed = replace(
        data.train,
        left=np.where(part, swapped.left, data.train.left),
        right=np.where(part, swapped.right, data.train.right),
        y=np.where(part, swapped.y, data.train.y),
    )
    model = data.fit(make())
    assert_same(model, data.fit(make(), swapped), data)
    assert_same(model, data.fit(make(), mixed), data)


def check_row_order(make: Make, data: Data) -> None:
    """The order of the training comparisons does not matter."""
    rows = np.random.default_rng(5).permutation(len(data.train))
    assert_same(data.fit(make()), data.fit(make(), data.train.take(rows)), data)


def check_item_order(make: Make, data: Data) -> None:
    """Renumbering the items of the table changes nothing."""
    order = np.random.default_rng(6).permutation(len(data.train.items))
    turned = data.train.renumbered(order)
    one, two = data.fit(make()), data.fit(make(), turned)
    assert_same(one, two, data, (data.train, turned))


def check_unused_items(make: Make, data: Data) -> None:
    """Items that no training comparison touches change nothing."""
    unused = 50.0 + np.arange(15.0).reshape(5, 3)
    larger = data.train.with_unused_items(unused)
    one, two = data.fit(make()), data.fit(make(), larger)
    assert_same(one, two, data, (data.train, larger))


def check_same_as_dense(make: Make, data: Data) -> None:
    """The shape does not matter: the model is that of a dense table of features."""
    model, train = data.fit(make()), data.train
    items = train.items if data.shape.name != "names" else np.eye(len(train.items))
    dense = data.same_as().fit(Pairs(items, train.left, train.right), train.y)
    asked = data.asked
    asked_items = asked.items if data.shape.name != "names" else items
    bound = slack(model, data) + slack(dense, data)
    assert bound <= 2e-3
    assert_allclose(
        model.difference(data.pairs()),
        dense.difference(Pairs(asked_items, asked.left, asked.right)),
        rtol=0,
        atol=bound,
    )
    assert_allclose(
        getattr(model, "threshold_", 0.0),
        getattr(dense, "threshold_", 0.0),
        rtol=0,
        atol=bound,
    )


def check_number_types(make: Make, data: Data) -> None:
    """Features in float32, or as integers, are those numbers and no others."""
    for dtype in (np.float32, np.int64):
        train = replace(data.train, items=(3 * data.train.items).astype(dtype))
        double = replace(train, items=train.items.astype(float))
        assert_identical(data.fit(make(), train), data.fit(make(), double), data)


def check_float32_is_close(make: Make, data: Data) -> None:
    """Rounding the features to float32 hardly changes the predictions."""
    rounded = replace(data.train, items=data.train.items.astype(np.float32))
    model, close = data.fit(make()), data.fit(make(), rounded)
    # 6e-8 in the features may be 1e-4 in the utilities: the solution moves with the
    # root of a change of the program.
    bound = 1e-3 + slack(model, data) + slack(close, data)
    assert_allclose(
        close.difference(data.pairs()),
        model.difference(data.pairs()),
        rtol=0,
        atol=bound,
    )


def check_translation(make: Make, data: Data) -> None:
    """Adding a constant to all features of all items changes no comparison."""

    def moved(c: Comparisons) -> Comparisons:
        return replace(c, items=c.items + 10.0)

    here, there = data.fit(make()), data.fit(make(), moved(data.train))
    bound = slack(here, data) + slack(there, data) + 1e-9
    assert bound <= 2e-3
    assert_allclose(
        there.difference(data.shape.pairs(moved(data.asked), data.train)),
        here.difference(data.pairs()),
        rtol=0,
        atol=bound,
    )
