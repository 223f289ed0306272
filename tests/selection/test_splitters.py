# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV, cross_val_score

from tiebreak.data import Pairs
from tiebreak.selection.splitters import ItemKFold, QueryKFold, RaterKFold


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers which groups it was fitted on, and scores by whether they recur."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y, qid=None):
        self.seen_ = set(qid)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y, qid=None):
        return float(self.seen_.isdisjoint(qid))


@pytest.mark.parametrize("splitter", [QueryKFold, RaterKFold])
@pytest.mark.parametrize("shuffle", [False, True])
@given(data=st.data())
def test_groups_are_never_split(splitter, shuffle, data):
    groups = data.draw(st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=30))
    n_splits = data.draw(st.integers(2, 4))
    assume(len(set(groups)) >= n_splits)
    cv = splitter(n_splits, shuffle=shuffle)
    column = np.array(groups)
    folds = list(cv.split(np.zeros((len(groups), 1)), **{splitter._column: groups}))
    assert len(folds) == cv.get_n_splits() == n_splits
    for train, test in folds:
        assert set(column[train]).isdisjoint(column[test])
        assert sorted([*train, *test]) == list(range(len(groups)))
        assert len(test) > 0
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == list(range(len(groups)))
    sizes = [len(test) for _, test in folds]
    largest = max(groups.count(group) for group in groups)
    assert max(sizes) - min(sizes) <= largest


def test_largest_first_balances():
    qid = np.repeat(np.arange(6), [6, 5, 4, 3, 2, 2])
    sizes = [len(test) for _, test in QueryKFold(2).split(qid, qid=qid)]
    assert sizes == [11, 11]


def test_shuffling_is_seeded_and_moves_groups_of_different_sizes():
    qid = np.repeat(np.arange(8), np.arange(1, 9))

    def folds(seed):
        cv = QueryKFold(3, shuffle=True, random_state=seed)
        return [test.tolist() for _, test in cv.split(qid, qid=qid)]

    assert folds(0) == folds(0)
    assert len({str(folds(seed)) for seed in range(5)}) > 1


def test_groups_of_any_type_and_groups_as_qid():
    X = np.zeros((4, 1))
    expected = [test.tolist() for _, test in QueryKFold(2).split(X, qid=[0, 1, 0, 1])]
    assert expected == [[0, 2], [1, 3]]
    as_list = QueryKFold(2).split(X.tolist(), qid=[0, 1, 0, 1])
    assert [test.tolist() for _, test in as_list] == expected
    for qid in (["x", "y", "x", "y"], pd.Series([5, 3, 5, 3], index=[9, 8, 7, 6])):
        assert [t.tolist() for _, t in QueryKFold(2).split(X, qid=qid)] == expected
        folds = list(QueryKFold(2).split(X, None, qid))
        assert [t.tolist() for _, t in folds] == expected


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({}, {}, "QueryKFold needs the column qid"),
        ({}, {"qid": [1, 2, 3, 3]}, "cannot make 5 folds of 3 distinct"),
        ({"n_splits": 2}, {"qid": [1, 2]}, "qid has 2 values but there are 4 rows"),
        ({"n_splits": 2}, {"qid": [1, None, 2, 2]}, r"qid has 1 missing.*row 1"),
        (
            {"n_splits": 2},
            {"qid": [1, 2, 1, 2], "groups": [1, 2, 1, 2]},
            "got both qid and groups",
        ),
        ({"n_splits": 1}, {"qid": [1, 2, 3, 4]}, "at least 2, got 1"),
        ({"n_splits": 2.0}, {"qid": [1, 2, 3, 4]}, r"at least 2, got 2\.0"),
        ({"random_state": 0}, {"qid": [1, 2, 3, 4]}, "no effect without shuffle"),
    ],
)
def test_refused(parameters, arguments, message):
    with pytest.raises(ValueError, match=message):
        list(QueryKFold(**parameters).split(np.zeros((4, 1)), **arguments))


def test_rater_has_its_own_column():
    with pytest.raises(ValueError, match="RaterKFold needs the column rater"):
        list(RaterKFold(2).split(np.zeros((4, 1))))


def test_routing_reaches_the_splitter():
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(20, 1)), rng.normal(size=20), np.arange(20) % 6
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            Recorder(), X, y, cv=QueryKFold(3), params={"qid": qid}
        )
        assert scores.tolist() == [1, 1, 1]
        # A splitter that knows no queries does split them.
        assert cross_val_score(Recorder(), X, y, cv=3, params={"qid": qid}).max() == 0
        search = GridSearchCV(Recorder(), {"depth": [1, 2]}, cv=QueryKFold(3))
        search.fit(X, y, qid=qid)
        assert search.best_score_ == 1
        with pytest.raises(ValueError, match="QueryKFold needs the column qid"):
            cross_val_score(Recorder(), X, y, cv=QueryKFold(3))


def all_pairs(n_items, features=False):
    left, right = np.triu_indices(n_items, 1)
    items = np.arange(float(n_items))[:, None] if features else None
    return Pairs(items, left, right)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 3, 4])
def test_test_items_are_unseen(features, shuffle, n_splits):
    pairs = all_pairs(13, features)
    cv = ItemKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None)
    folds = list(cv.split(pairs))
    assert len(folds) == cv.get_n_splits(pairs) == n_splits
    held_out = []
    for train, test in folds:
        seen = set(pairs[train].touched())
        unseen = set(pairs[test].touched())
        assert seen.isdisjoint(unseen)
        held_out.extend(unseen)
        # With all pairs of items, the sizes follow from the size of the part.
        part = len(unseen)
        assert len(test) == part * (part - 1) // 2
        assert len(train) == (13 - part) * (12 - part) // 2
    assert sorted(held_out) == list(range(13))


def test_items_with_the_same_features_are_one_item():
    pairs = all_pairs(8, features=True)
    cv = ItemKFold(2, random_state=3)
    for (a, b), (c, d) in zip(
        cv.split(pairs), cv.split(np.asarray(pairs)), strict=True
    ):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


@pytest.mark.parametrize(
    ("pairs", "n_splits", "message"),
    [
        (all_pairs(5), 3, "3 parts, of at least two items"),
        (
            Pairs(None, ["a", "c"], ["b", "b"], names=list("abcd"))[[0, 0]],
            2,
            r"2 parts, .* of 2 item\(s\)",
        ),
        (
            Pairs(None, ["a", "b"], ["c", "d"], names=list("abcd")),
            2,
            "Fold 0 would have an empty test set",
        ),
        (
            Pairs(None, ["a", "a", "a"], ["b", "c", "d"], names=list("abcd")),
            2,
            "Fold 0 would have an empty training set",
        ),
        (all_pairs(8), 1, "n_splits must be an integer of at least 2"),
    ],
)
def test_item_folds_refused(pairs, n_splits, message):
    with pytest.raises(ValueError, match=message):
        list(ItemKFold(n_splits, shuffle=False).split(pairs))
