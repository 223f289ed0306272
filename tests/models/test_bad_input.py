# SPDX-License-Identifier: BSD-3-Clause
"""Bad input to every model: the error says what, where, what else and what to try."""

import re

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
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    L1Ranker,
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    Orders,
    Outcome,
    Pairs,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
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


@every_model
def test_outcomes_of_two_dimensions(make):
    refused((ValueError, TypeError), ["y"], make().fit, good_pairs(), Y.reshape(2, 3))


@pytest.mark.extended
@every_model
def test_zeros_and_ones_only_are_refused_with_both_readings(make):
    y = (Y == 1).astype(int)
    with pytest.raises(ValueError, match="only 0 and 1") as caught:
        make().fit(good_pairs(), y)
    for words in ('meaning="sign"', 'meaning="score"'):
        assert words in str(caught.value)


@every_model
def test_outcomes_of_other_types_are_numbers(make):
    model = fitted(make)
    for y in (
        Y.tolist(),
        Y.astype(float),
        Y.astype(np.int8),
        pd.Series(Y, index=RIGHT),
    ):
        again = make().fit(good_pairs(), y)
        assert_array_equal(again.predict(good_pairs()), model.predict(good_pairs()))
    again = make().fit(good_pairs(), [Outcome(value) for value in Y])
    assert_array_equal(again.predict(good_pairs()), model.predict(good_pairs()))


@every_model
def test_score_checks_outcomes_too(make):
    model = fitted(make)
    refused(ValueError, ["requires y to be passed"], model.score, good_pairs())
    refused(ValueError, ["y", "row 0 \\(2\\)"], model.score, good_pairs(), 2 * Y)
    refused(ValueError, ["5", "6"], model.score, good_pairs(), Y[:5])
    # A few rows without a left winner are nothing to warn about here.
    assert 0 <= model.score(good_pairs()[:3], Y[:3]) <= 1


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
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_arrays_and_items_that_are_not_finite(make, value):
    items = with_value(value)
    array = np.stack([items[LEFT], items[RIGHT]], axis=1)
    words = ["finite", "row 2, right item, column 1"]
    refused(ValueError, words, make().fit, array, Y)
    model = fitted(make)
    refused(ValueError, words, model.predict, array)
    refused(ValueError, words, model.difference, array)
    for call in (model.utility, model.predict, model.order):
        refused(ValueError, ["X", "finite", "row 3, column 1"], call, items)


@every_model
@pytest.mark.parametrize(
    "X",
    [
        ITEMS,
        ITEMS[:, 0],
        ITEMS.tolist(),
        pd.DataFrame(ITEMS),
        sp.csr_array(ITEMS),
        ["Ada", "Bo", "Cy", "Di", "Ed", "Flo"],
        Orders(ITEMS, [[0, 1], [2, 3]]),
        "Ada",
        None,
        7,
    ],
    ids=lambda X: type(X).__name__,
)
def test_what_is_no_comparison(make, X):
    words = [
        "Expected comparisons",
        "Pairs\\(items, left, right\\)",
        "\\(n, 2, n_features",
    ]
    takes_items = (
        BoostedUtility,
        L1Ranker,
        RankBoost,
        RankingPursuit,
        RankRLS,
        RankSVM,
        ThresholdCompare,
    )
    if not isinstance(make(), takes_items):
        refused(TypeError, [*words, type(X).__name__], make().fit, X, Y)
    refused(TypeError, words, fitted(make).difference, X)


@pytest.mark.parametrize(
    "make",
    [
        SVMCompare,
        LogisticCompare,
        MaxMarginCompare,
        MajorityCompare,
        BradleyTerry,
        Elo,
        Glicko,
        Glicko2,
    ],
)
def test_the_message_about_lists_and_tables_names_models_that_take_them(make):
    model = make()
    games = Pairs(None, ["a", "b"], ["b", "c"])
    pairs = good_pairs() if make is MaxMarginCompare else games
    fits = [model.fit, *([model.partial_fit] if hasattr(model, "partial_fit") else [])]
    for fit in fits:
        words = [
            "Got Orders",
            "ranked lists.*RankSVM.*PlackettLuce",
            "ThresholdCompare",
        ]
        refused(TypeError, words, fit, Orders(None, [["a", "b", "c"]]))
        words = ["Got ndarray", "shape \\(5, 2\\)", "graded items.*RankSVM"]
        refused(TypeError, words, fit, ITEMS)
        refused(ValueError, ["outcomes", "requires y to be passed"], fit, pairs)


@every_model
@pytest.mark.parametrize("shape", [(6, 3, 2), (6, 1, 2), (6, 2, 0)])
def test_arrays_of_another_shape(make, shape):
    words = ["\\(n, 2, n_features\\)", re.escape(str(shape))]
    refused(ValueError, words, make().fit, np.zeros(shape), Y)


@every_model
def test_comparisons_where_items_are_expected(make):
    model = fitted(make)
    words = ["utility takes items, got comparisons", "difference"]
    refused(TypeError, words, model.utility, good_pairs())
    refused(TypeError, words, model.utility, np.asarray(good_pairs()))
    refused(TypeError, words, model.order, good_pairs())


@every_model
def test_another_number_of_features(make):
    model = fitted(make)
    wide = Pairs(np.eye(5), LEFT, RIGHT)
    words = ["X has 5 features", "expecting 2 features"]
    for call, argument in (
        (model.predict, wide),
        (model.difference, wide),
        (model.utility, np.eye(5)),
        (model.order, np.eye(5)),
    ):
        refused(ValueError, words, call, argument)
    refused(ValueError, words, model.score, wide, Y)


def test_items_out_of_range():
    words = [
        "right has 2 row number",
        "row 1 \\(9\\), row 2 \\(-1\\)",
        "0 to 4",
        "names",
    ]
    refused(ValueError, words, Pairs, ITEMS, [0, 1, 2], [1, 9, -1])
    refused(ValueError, ["left has 1", "row 0 \\(5\\)"], Pairs, ITEMS, [5], [1])


def test_sides_of_different_lengths():
    words = ["left has 3 items", "right has 2", "one of each"]
    refused(ValueError, words, Pairs, ITEMS, [0, 1, 2], [1, 2])


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
def test_nothing_to_compare(make):
    words = ["no comparisons", "minimum of 1"]
    empty = good_pairs()[[]]
    for X in (empty, np.zeros((0, 2, 2))):
        refused(ValueError, words, make().fit, X, [])
        refused(ValueError, words, fitted(make).predict, X)
        refused(ValueError, words, fitted(make).difference, X)
    for call in (fitted(make).utility, fitted(make).order):
        refused(ValueError, ["no rows"], call, np.zeros((0, 2)))


@every_model
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 1, -2, 1, 1, 1], ["not negative", "row 2 \\(-2"]),
        ([1, np.nan, 1, 1, 1, 1], ["finite", "row 1 \\(nan\\)"]),
        ([1, 1, 1, 1, 1, np.inf], ["finite", "row 5 \\(inf\\)"]),
        ([0] * 6, ["Every sample weight is zero", "at least one positive"]),
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
        refused(TypeError, ["needs features", "items=None"], model.fit, pairs, y)
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
