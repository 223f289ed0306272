# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from tiebreak import BradleyTerry, LogisticCompare, MajorityCompare, Pairs
from tiebreak.metrics import comparison_log_loss
from tiebreak.selection import ItemKFold, evaluate_folds


@pytest.fixture
def votes(rng):
    theta = rng.normal(size=8)
    left = rng.integers(0, 8, 400)
    right = (left + rng.integers(1, 8, 400)) % 8
    d = theta[right] - theta[left] + rng.logistic(size=400)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    return Pairs(None, left, right), y


def test_every_row_is_foretold_once_from_other_folds(votes):
    pairs, y = votes
    result = evaluate_folds(BradleyTerry(alpha=0.1), pairs, y, random_state=3)
    assert_array_equal(np.sort(result.row), np.arange(400))
    proba = np.empty((400, 3))
    for train, test in KFold(5, shuffle=True, random_state=3).split(y):
        model = BradleyTerry(alpha=0.1).fit(pairs[train], y[train])
        proba[test] = model.predict_proba(pairs[test])
    assert_allclose(result.proba["BradleyTerry"], proba[result.row])
    row = result.table.row(0, named=True)
    assert row["log_loss"] == pytest.approx(comparison_log_loss(y, proba))
    assert "each foretold from the other folds of 5." in str(result)
    better = result.difference("BradleyTerry", "shares")
    assert better.mean < 0 and better.n_periods == 400


def test_raters_are_taken_together(votes, rng):
    pairs, y = votes
    rater = rng.integers(0, 11, 400)
    result = evaluate_folds(BradleyTerry(alpha=0.1), pairs, y, rater=rater)
    assert result.difference("BradleyTerry", "shares").n_periods == 11


def test_items_of_one_row_are_left_out_and_counted(votes):
    pairs, y = votes
    more = Pairs(
        None, np.append(pairs.left, 8), np.append(pairs.right, 0), names=np.arange(9)
    )
    result = evaluate_folds(BradleyTerry(alpha=0.1), more, np.append(y, -1))
    assert result.table["n_unseen"][0] == 1
    assert result.table["n_test"][0] == 400
    assert 400 not in result.row


def test_groups_and_items_are_held_out_whole(rng):
    items = rng.normal(size=(40, 3))
    left = rng.integers(0, 40, 500)
    right = (left + rng.integers(1, 40, 500)) % 40
    y = np.sign((items[right] - items[left]).sum(axis=1)).astype(int)
    pairs, query = Pairs(items, left, right), rng.integers(0, 9, 500)
    result = evaluate_folds(LogisticCompare(), pairs, y, groups=query)
    folds = [set(query[result.row[result.split == k]].tolist()) for k in range(5)]
    assert sum(map(len, folds)) == 9
    by_item = evaluate_folds(LogisticCompare(), pairs, y, cv=ItemKFold(4))
    assert 0 < len(by_item.row) < 500
    assert by_item.table["accuracy"][0] > 0.9
    with pytest.raises(ValueError, match="2 groups, fewer than the 5 folds"):
        evaluate_folds(LogisticCompare(), pairs, y, groups=query > 4)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="3 comparisons, fewer than the 5 folds"):
        evaluate_folds(
            MajorityCompare(), Pairs(None, list("abc"), list("bca")), [-1, 0, 1]
        )
