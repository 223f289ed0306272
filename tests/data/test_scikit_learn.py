# SPDX-License-Identifier: BSD-3-Clause
"""Pairs and Orders pass through scikit-learn's splitters, searches and pipelines."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import (
    KFold,
    train_test_split,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, indexable

from tiebreak.data import Orders, Pairs


def make_pairs(n=40, sparse=False):
    rng = np.random.default_rng(0)
    items = rng.integers(0, 5, size=(12, 2)).astype(float)
    left, right = rng.integers(0, 12, size=(2, n))
    right = np.where(left == right, (right + 1) % 12, right)
    pairs = Pairs(sp.csr_array(items) if sparse else items, left, right)
    difference = items[right, 0] - items[left, 0]
    return pairs, np.sign(difference) * (np.abs(difference) > 1)


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def data(request):
    return make_pairs(sparse=request.param)


def test_indexing_as_scikit_learn_does_it(data):
    pairs, _ = data
    assert _num_samples(pairs) == 40
    assert indexable(pairs)[0] is pairs
    mask = np.zeros(40, dtype=bool)
    mask[[3, 5]] = True
    for rows in ([3, 5], np.array([3, 5]), (3, 5), mask, list(mask), slice(3, 6, 2)):
        taken = _safe_indexing(pairs, rows)
        assert isinstance(taken, Pairs)
        np.testing.assert_array_equal(taken.left, pairs.left[[3, 5]])
    np.testing.assert_array_equal(_safe_indexing(pairs, 3).left, pairs.left[[3]])


def test_train_test_split(data):
    pairs, y = data
    train, test, y_train, y_test = train_test_split(
        pairs, y, test_size=0.25, stratify=y, random_state=0
    )
    assert isinstance(train, Pairs)
    assert (len(train), len(test)) == (30, 10)
    rows, _ = train_test_split(
        np.arange(40), test_size=0.25, stratify=y, random_state=0
    )
    np.testing.assert_array_equal(train.left, pairs.left[rows])
    np.testing.assert_array_equal(y_train, y[rows])
    assert len(y_test) == 10


def test_orders_are_split_by_lists():
    sequences = [[0, 1], [1, [0, 2]], [2, 0], [1, 2]]
    orders = Orders(np.eye(3), sequences)
    assert _num_samples(orders) == 4
    train, test = train_test_split(orders, test_size=1, shuffle=False)
    assert (list(train), list(test)) == (sequences[:3], sequences[3:])
    for rows, _ in KFold(2).split(orders):
        assert list(_safe_indexing(orders, rows)) == [sequences[row] for row in rows]
