# SPDX-License-Identifier: BSD-3-Clause
"""Bad input to every model: the error says what, where, what else and what to try."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.models.inputs import (
    ITEMS,
    LEFT,
    RIGHT,
    Y,
    every_model,
    fitted,
    good_pairs,
    quietly,
    refused,
)
from tiebreak import (
    BoostedUtility,
    L1Ranker,
    MajorityCompare,
    MaxMarginCompare,
    Pairs,
    RankBoost,
    RankingPursuit,
)


def with_value(value):
    items = ITEMS.copy()
    items[3, 1] = value
    return items


@every_model
@pytest.mark.parametrize(
    ("pairs", "y", "weight", "words"),
    [
        (good_pairs(), [1, 0, -1, 2, 0, -3], None, ["row 3 \\(2\\)", "-1 .left"]),
        (good_pairs(), None, None, ["outcomes", "requires y to be passed"]),
        (good_pairs(), [1, 0, -1], None, ["3 values", "6 rows"]),
        (good_pairs(), (Y == 1).astype(int), None, ["only 0 and 1"]),
        (good_pairs(), Y, [1, 1, -2, 1, 1, 1], ["not negative", "row 2 \\(-2"]),
        (good_pairs(), Y, [0] * 6, ["Every sample weight is zero"]),
        (Pairs(with_value(np.nan), LEFT, RIGHT), Y, None, ["NaN at row 3, column 1"]),
    ],
    ids=["outcome", "no y", "few", "0 and 1", "weight", "zero", "nan"],
)
def test_what_the_data_refuse(make, pairs, y, weight, words):
    if isinstance(make(), MajorityCompare | BoostedUtility) and "NaN" in words[0]:
        return  # they read no features, and missing ones
    refused(ValueError, words, make().fit, pairs, y, sample_weight=weight)


@every_model
def test_comparisons_where_items_are_expected(make):
    model = fitted(make)
    words = ["utility takes items, got comparisons", "difference"]
    refused(TypeError, words, model.utility, good_pairs())
    refused(TypeError, words, model.utility, np.asarray(good_pairs()))
    refused(TypeError, words, model.order, good_pairs())


@every_model
def test_items_without_features(make):
    pairs = Pairs(None, ["a", "b", "c", "a"], ["b", "c", "a", "c"])
    y = [1, 0, -1, 1]
    model = make()
    featured = BoostedUtility | L1Ranker | MaxMarginCompare | RankBoost
    if isinstance(model, featured | RankingPursuit):
        refused(TypeError, ["features"], model.fit, pairs, y)
        return
    if "rbf" in model.get_params().values() or "ranker__kernel" in model.get_params():
        words = ["kernel='rbf' compares features", "items=None", "kernel='linear'"]
        refused(ValueError, words, model.fit, pairs, y)
        return
    quietly(model, pairs, y)
    if isinstance(model, MajorityCompare):
        assert_array_equal(model.utility(["a", "z"]), [0, 0])
        return
    words = ["2 item\\(s\\)", "not in the training", "'z', 'y'", "items_", "features"]
    refused(ValueError, words, model.utility, ["z", "a", "y", "z"])
    refused(ValueError, words, model.predict, Pairs(None, ["z"], ["y"]))
    refused(ValueError, words, model.order, ["a", "z", "y"])
    words = ["without features", "known by name", "no names"]
    refused(ValueError, words, model.predict, good_pairs())
    words = ["utility takes items, got comparisons"]  # two columns are pairs of names
    refused(TypeError, words, model.utility, ITEMS)


@every_model
def test_a_model_of_features_knows_no_names(make):
    model = fitted(make)
    if isinstance(model, MajorityCompare):
        return
    words = ["fitted on items with features", "items=None"]
    refused(TypeError, words, model.predict, Pairs(None, ["a"], ["b"]))
