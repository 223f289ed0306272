# SPDX-License-Identifier: BSD-3-Clause
"""Laws of models that learn from comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from tests.laws.same import Data, Make, slack
from tiebreak import Pairs


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
    data.assert_same(zero, absent, (larger, present))


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
    data.assert_same(model, data.fit(make(), swapped))
    data.assert_same(model, data.fit(make(), mixed))


def check_item_order(make: Make, data: Data) -> None:
    """Renumbering the items of the table changes nothing."""
    order = np.random.default_rng(6).permutation(len(data.train.items))
    turned = data.train.renumbered(order)
    one, two = data.fit(make()), data.fit(make(), turned)
    data.assert_same(one, two, (data.train, turned))


def check_unused_items(make: Make, data: Data) -> None:
    """Items that no training comparison touches change nothing."""
    unused = 50.0 + np.arange(15.0).reshape(5, 3)
    larger = data.train.with_unused_items(unused)
    one, two = data.fit(make()), data.fit(make(), larger)
    data.assert_same(one, two, (data.train, larger))


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


def check_classes(make: Make, data: Data) -> None:
    """A comparer is a classifier of the outcomes -1, 0 and +1."""
    model = data.fit(make())
    assert is_classifier(model)
    assert_array_equal(model.classes_, [-1, 0, 1])
    model.classes_[:] = 9
    assert_array_equal(data.fit(make()).classes_, [-1, 0, 1])


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
