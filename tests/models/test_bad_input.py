# SPDX-License-Identifier: BSD-3-Clause
"""Bad input to every model: the error says what, where, what else and what to try."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
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
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    Pairs,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SVMCompare,
)


@every_model
@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 0, -1, 2, 0, -3], ["row 3 \\(2\\)", "row 5 \\(-3\\)", "-1 .left", "tie"]),
        ([1, 0.5, 0, 1, 0, 0.5], ["row 1 \\(0.5\\)", 'meaning="score"']),
        (["left", "tie"] * 3, ["row 0 \\('left'\\)", "Outcome.parse"]),
        ([True, False] * 3, ["row 0", "True and False", "astype"]),
        ([1, np.nan, 0, 1, 0, 1], ["row 1", "missing|NaN"]),
        ([1, None, 0, 1, 0, 1], ["row 1", "missing"]),
        ([1, np.inf, 0, 1, 0, 1], ["row 1 \\(inf\\)"]),
        (None, ["outcomes", "requires y to be passed", "-1 .left"]),
        ([1, 0, -1], ["3 outcomes", "6 comparisons", "as many"]),
        ([1] * 7, ["7 outcomes", "6 comparisons"]),
    ],
    ids=[
        "other",
        "score",
        "words",
        "bools",
        "nan",
        "none",
        "inf",
        "no y",
        "few",
        "many",
    ],
)
def test_unknown_outcomes(make, y, words):
    refused(ValueError, words, make().fit, good_pairs(), y)


@pytest.mark.extended
@every_model
def test_zeros_and_ones_only_are_refused_with_both_readings(make):
    y = (Y == 1).astype(int)
    with pytest.raises(ValueError, match="only 0 and 1") as caught:
        make().fit(good_pairs(), y)
    for words in ('meaning="sign"', 'meaning="score"'):
        assert words in str(caught.value)


def with_value(value):
    items = ITEMS.copy()
    items[3, 1] = value
    return items


FRAMES = {
    "array": lambda t: t,
    "sparse": sp.csr_array,
    "pandas": lambda t: pd.DataFrame(t, columns=["price", "size"]),
    "polars": lambda t: pl.DataFrame(t, schema=["price", "size"]),
}


@pytest.mark.parametrize("convert", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    ("value", "shown"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")]
)
def test_features_that_are_not_finite(convert, value, shown):
    words = ["finite", f"{shown} at row 3, column 1", "SimpleImputer"]
    if hasattr(convert(ITEMS), "columns"):
        words.append("'size'")
    pairs = Pairs(convert(with_value(value)), LEFT, RIGHT)
    for model in (SVMCompare(), LogisticCompare(), RankSVM(), RankRLS()):
        refused(ValueError, words, model.fit, pairs, Y)
    model = SVMCompare().fit(Pairs(convert(ITEMS), LEFT, RIGHT), Y)
    refused(ValueError, words, model.predict, pairs)


@every_model
def test_comparisons_where_items_are_expected(make):
    model = fitted(make)
    words = ["utility takes items, got comparisons", "difference"]
    refused(TypeError, words, model.utility, good_pairs())
    refused(TypeError, words, model.utility, np.asarray(good_pairs()))
    refused(TypeError, words, model.order, good_pairs())


@every_model
def test_an_item_that_beats_itself(make):
    pairs = Pairs(ITEMS, [0, 3, 2], [1, 3, 4])
    words = ["better than itself", "row 1 \\(3\\)", "can only tie", "correct or remove"]
    refused(ValueError, words, make().fit, pairs, [1, -1, 0])


@every_model
def test_an_item_that_ties_with_itself_is_taken_with_a_warning(make):
    pairs = Pairs(ITEMS, np.append(LEFT, 3), np.append(RIGHT, 3))
    with pytest.warns(UserWarning, match=r"an item with itself \(row 6\)"):
        model = make().fit(pairs, np.append(Y, 0))
    if not isinstance(model, MajorityCompare):
        assert model.predict(pairs)[6] == 0
        assert model.difference(pairs)[6] == 0


@every_model
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 1, -2, 1, 1, 1], ["not negative", "row 2 \\(-2"]),
        ([1, np.nan, 1, 1, 1, 1], ["finite", "row 1 \\(nan\\)"]),
        ([1, 1, 1, 1, 1, np.inf], ["finite", "row 5 \\(inf\\)"]),
        ([0] * 6, ["Every sample weight is zero"]),
        ([1, 2, 3], ["3 weights", "6 rows"]),
        (["much"] * 6, ["sample_weight must hold numbers", "row 0 \\('much'\\)"]),
    ],
    ids=["negative", "nan", "inf", "zero", "few", "words"],
)
def test_weights(make, weight, words):
    refused(ValueError, words, make().fit, good_pairs(), Y, sample_weight=weight)
    model = fitted(make)
    refused(ValueError, words, model.score, good_pairs(), Y, sample_weight=weight)


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
    words = ["without features", "list of their names", "\\(5, 2\\)"]
    refused(ValueError, words, model.utility, ITEMS)


@every_model
def test_a_model_of_features_knows_no_names(make):
    model = fitted(make)
    if isinstance(model, MajorityCompare):
        return
    words = ["fitted on items with features", "items=None"]
    refused(TypeError, words, model.predict, Pairs(None, ["a"], ["b"]))
