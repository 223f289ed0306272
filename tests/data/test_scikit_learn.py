# SPDX-License-Identifier: BSD-3-Clause
"""Pairs and Orders pass through scikit-learn's splitters, searches and pipelines."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, resample, shuffle
from sklearn.utils.validation import _num_samples, indexable

from tiebreak.data import OnItems, Orders, Pairs, check_comparisons


class FirstFeature(ClassifierMixin, BaseEstimator):
    """Compares by the first feature; differences up to `threshold` are ties."""

    def __init__(self, threshold=0.0):
        self.threshold = threshold

    def fit(self, X, y, sample_weight=None):
        pairs, y, _ = check_comparisons(X, y, sample_weight)
        self.classes_ = np.array([-1, 0, 1])
        self.n_seen_ = len(pairs)
        self.type_ = type(X)
        return self

    def predict(self, X):
        values = np.asarray(X)[:, :, 0]
        difference = values[:, 1] - values[:, 0]
        return np.sign(difference) * (np.abs(difference) > self.threshold)


class ByName(FirstFeature):
    """Compares by the name of the item, for Pairs without features."""

    def predict(self, X):
        return np.sign(X.right - X.left)


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


def test_cross_val_score_equals_the_array(data):
    pairs, y = data
    model = FirstFeature(threshold=2)
    for cv in (4, KFold(3), StratifiedKFold(4, shuffle=True, random_state=1)):
        scores = cross_val_score(model, pairs, y, cv=cv)
        as_array = cross_val_score(model, np.asarray(pairs), y, cv=cv)
        np.testing.assert_array_equal(scores, as_array)
        assert 0 < scores.mean() < 1
    predicted = cross_val_predict(FirstFeature(1), pairs, y, cv=4)
    np.testing.assert_array_equal(predicted, y)


def test_grid_search_finds_the_threshold(data):
    pairs, y = data
    search = GridSearchCV(FirstFeature(), {"threshold": [0, 1, 2]}, cv=3)
    search.fit(pairs, y)
    assert search.best_params_ == {"threshold": 1}
    assert search.best_score_ == 1
    assert search.best_estimator_.type_ is Pairs
    np.testing.assert_array_equal(search.predict(pairs), y)


def test_pairs_without_features():
    pairs, _ = make_pairs()
    named = Pairs(None, pairs.left, pairs.right)
    y = np.sign(named.right - named.left)
    assert cross_val_score(ByName(), named, y, cv=4).tolist() == [1, 1, 1, 1]


def test_sample_weight_is_split_along(data):
    pairs, y = data
    scores = cross_val_score(
        FirstFeature(1), pairs, y, cv=4, params={"sample_weight": np.arange(1.0, 41)}
    )
    assert scores.tolist() == [1, 1, 1, 1]


def test_shuffle_and_resample(data):
    pairs, y = data
    shuffled, y_shuffled = shuffle(pairs, y, random_state=0)
    np.testing.assert_array_equal(FirstFeature(1).predict(shuffled), y_shuffled)
    drawn, y_drawn = resample(pairs, y, random_state=0)
    np.testing.assert_array_equal(FirstFeature(1).predict(drawn), y_drawn)


def test_pipeline_with_a_scaler_on_items():
    pairs, y = make_pairs()
    pipeline = Pipeline(
        [("scale", OnItems(StandardScaler())), ("compare", FirstFeature())]
    )
    grid = {
        "scale__transformer__with_std": [True, False],
        "compare__threshold": [0.0, 1.75],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(pairs, y)
    assert search.best_params_ == {
        "scale__transformer__with_std": False,
        "compare__threshold": 1.75,
    }
    assert search.best_score_ == 1


def test_orders_are_split_by_lists():
    sequences = [[0, 1], [1, [0, 2]], [2, 0], [1, 2]]
    orders = Orders(np.eye(3), sequences)
    assert _num_samples(orders) == 4
    train, test = train_test_split(orders, test_size=1, shuffle=False)
    assert (list(train), list(test)) == (sequences[:3], sequences[3:])
    for rows, _ in KFold(2).split(orders):
        assert list(_safe_indexing(orders, rows)) == [sequences[row] for row in rows]
