# SPDX-License-Identifier: BSD-3-Clause
"""What a feature is worth: permuted among items, or varied with the others held."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.inspection import partial_dependence
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tiebreak import LogisticCompare, OnItems, Orders, Pairs, RankRLS, SVMCompare
from tiebreak.metrics import get_scorer
from tiebreak.selection import permutation_importance

RNG = np.random.default_rng(0)
ITEMS = RNG.normal(size=(30, 3))
LEFT = RNG.integers(20, size=100)  # items 20 to 29 are not compared
RIGHT = (LEFT + RNG.integers(1, 20, size=100)) % 20
PAIRS = Pairs(ITEMS, LEFT, RIGHT)
_D = (ITEMS[RIGHT] - ITEMS[LEFT]) @ [2.0, -1.0, 0.0]
Y = np.where(np.abs(_D) < 0.5, 0, np.sign(_D)).astype(int)
MODEL = LogisticCompare(kernel="linear").fit(PAIRS, Y)


def test_a_feature_is_permuted_among_the_items_that_are_compared():
    """The score minus that of a plain loop over features and permutations."""
    found = permutation_importance(MODEL, PAIRS, Y, n_repeats=3, random_state=7)
    assert found.importances.shape == (3, 3)
    random, expected = np.random.RandomState(7), np.empty((3, 3))
    orders = [random.permutation(20) for _ in range(3)]
    for j in range(3):
        for k, order in enumerate(orders):
            items = ITEMS.copy()
            items[:20, j] = ITEMS[order, j]
            expected[j, k] = MODEL.score(PAIRS, Y) - MODEL.score(
                Pairs(items, LEFT, RIGHT), Y
            )
    assert_allclose(found.importances, expected)
    assert_allclose(found.importances_mean, expected.mean(axis=1))
    assert_allclose(found.importances_std, expected.std(axis=1))
    assert found.importances_mean.argmax() == 0
    assert abs(found.importances_mean[2]) < 0.05


def test_other_scores_and_weights():
    """Any scorer, with weights of the rows; several processes give the same."""
    options = {"scoring": "log_loss", "random_state": 0, "n_repeats": 2}
    weight = np.arange(100.0)
    found = permutation_importance(MODEL, PAIRS, Y, sample_weight=weight, **options)
    present = permutation_importance(
        MODEL, PAIRS[1:], Y[1:], sample_weight=weight[1:], **options
    )
    assert_allclose(found.importances, present.importances)
    with pytest.raises(TypeError, match="takes no qid"):
        permutation_importance(MODEL, PAIRS, Y, qid=LEFT)


def test_comparisons_in_arrays_and_sparse_tables():
    """Equal features are one item, however they are written."""
    compared = PAIRS.compact()
    options = {"random_state": 0, "n_repeats": 2}
    dense = permutation_importance(MODEL, compared, Y, **options)
    sparse = compared.with_items(sp.csr_array(compared.values))
    found = permutation_importance(MODEL, sparse, Y, **options)
    assert_allclose(found.importances, dense.importances)
    sides = np.asarray(compared)
    array = permutation_importance(MODEL, sides, Y, **options)
    # The items in the order in which the array shows them.
    names = np.stack([LEFT, RIGHT], axis=1).ravel()
    shown = list(dict.fromkeys(names.tolist()))
    number = {name: place for place, name in enumerate(shown)}
    left, right = ([number[name] for name in side] for side in (LEFT, RIGHT))
    as_shown = Pairs(ITEMS[shown], left, right)
    expected = permutation_importance(MODEL, as_shown, Y, **options)
    assert_allclose(array.importances, expected.importances)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_are_permuted_before_the_pipeline(frame):
    """A column of strings is one feature, whatever the encoder makes of it."""
    color = np.array(["red", "white", "rosé"])[RNG.integers(3, size=30)]
    wines = frame({"color": color, "alcohol": ITEMS[:, 0], "label": ITEMS[:, 2]})
    value = ITEMS[:, 0] + 3 * (color == "red")
    y = np.sign(value[RIGHT] - value[LEFT]).astype(int)
    prepare = make_column_transformer(
        (OneHotEncoder(), ["color"]), remainder="passthrough"
    )
    pairs = Pairs(wines, LEFT, RIGHT)
    model = make_pipeline(OnItems(prepare), LogisticCompare(kernel="linear")).fit(
        pairs, y
    )
    before = frame(wines)
    found = permutation_importance(model, pairs, y, random_state=0)
    assert found.importances_mean[:2].min() > 0.1
    assert abs(found.importances_mean[2]) < 0.05
    assert wines.equals(before)


def test_texts_are_one_feature():
    """Exchanged texts leave nothing to go by."""
    texts = [f"{'good ' * i}wine" for i in range(8)]
    pairs = Pairs(texts, range(7), range(1, 8))
    y = np.ones(7, dtype=int)
    model = make_pipeline(OnItems(CountVectorizer()), SVMCompare(kernel="linear"))
    with pytest.warns(UserWarning, match="no ties"):
        model.fit(pairs, y)
    found = permutation_importance(model, pairs, y, random_state=0)
    assert found.importances.shape == (1, 5)
    assert found.importances_mean[0] > 0.2


def test_graded_items_within_their_groups():
    """The score sees qid; any regressor will do."""
    grade = np.digitize(ITEMS @ [2.0, -1.0, 0.0], [-1, 1])
    qid = np.repeat([0, 1, 2], 10)
    for model in (RankRLS(kernel="linear"), RandomForestRegressor(20, random_state=0)):
        model.fit(ITEMS, grade)
        found = permutation_importance(
            model, ITEMS, grade, qid=qid, scoring="ndcg", random_state=3
        )
        order = np.random.RandomState(3).permutation(30)
        items = ITEMS.copy()
        items[:, 1] = ITEMS[order, 1]
        score = get_scorer("ndcg")
        one = score(model, ITEMS, grade, qid=qid) - score(model, items, grade, qid=qid)
        assert found.importances[1, 0] == pytest.approx(one)
        assert found.importances_mean.argmax() == 0


def test_lists():
    """A feature is exchanged among the items that are listed."""
    orders = Orders(ITEMS, [np.argsort(-ITEMS[:20, 0])[k::4] for k in range(4)])
    model = RankRLS(kernel="linear").fit(orders)
    found = permutation_importance(model, orders, random_state=0)
    assert found.importances_mean[0] > 0.3
    assert_array_equal(found.importances_mean.round(1)[1:], [0, 0])


def test_partial_dependence_of_the_utility():
    """Scikit-learn's own function on the table of items: a line for a linear model."""
    ranker = RankRLS(kernel="linear").fit(PAIRS, Y)
    for model, options in (
        (ranker, {}),
        (MODEL, {"response_method": "decision_function"}),
    ):
        found = partial_dependence(model, ITEMS, [0], grid_resolution=5, **options)
        slope = np.diff(found["average"][0]) / np.diff(found["grid_values"][0])
        assert_allclose(slope, model.coef_[0])
