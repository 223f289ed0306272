# SPDX-License-Identifier: BSD-3-Clause
"""Frames with categories, strings and missing values, and texts, as items."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tiebreak import (
    LogisticCompare,
    OnItems,
    Orders,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)
from tiebreak.data import ItemTable, as_items
from tiebreak.metrics import get_scorer
from tiebreak.selection import ItemKFold

WINES = {
    "grape": ["Riesling", "Gamay", "Malbec", "Riesling", "Gamay", "Malbec"],
    "alcohol": [11.5, None, 13.5, 12.0, 12.5, 14.0],
    "organic": [True, False, False, True, True, False],
}
# The better wine has more alcohol, and a tie is of one grape.
LEFT, RIGHT = [0, 1, 2, 3, 4, 5, 0, 1, 3], [1, 2, 3, 4, 5, 0, 3, 4, 5]
Y = np.array([1, 1, -1, 1, 1, -1, 0, 0, 1])
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])

PREPARE = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["grape"]),
    (make_pipeline(SimpleImputer(), StandardScaler()), ["alcohol"]),
    remainder="passthrough",
)
COMPARE = LogisticCompare(kernel="linear")
TEXTS = [
    "short and clear", "short, clear and right", "long and wrong", "wrong", "right",
]  # fmt: skip


# A frame


@FRAMES
def test_a_frame_is_kept_as_it_is(frame):
    """Comparisons of rows of a frame, which stays the frame that it was."""
    wines = frame(WINES)
    pairs = Pairs(wines, LEFT, RIGHT)
    assert repr(pairs) == "Pairs(9 comparisons of 6 items, 3 features)"
    assert pairs.raw is wines
    assert pairs.feature_names == ("grape", "alcohol", "organic")
    assert pairs.shape == (9, 2, 3)
    some = pairs[[0, 6]].compact()
    assert isinstance(some.raw, frame)
    assert some.raw["grape"].to_list() == ["Riesling", "Gamay", "Riesling"]


@FRAMES
def test_columns_become_numbers_inside_the_pipeline(frame):
    """A ColumnTransformer on the items, as if the table had been prepared by hand."""
    wines = frame(WINES)
    model = make_pipeline(OnItems(PREPARE), COMPARE)
    model.fit(Pairs(wines, LEFT, RIGHT), Y)
    table = np.asarray(clone(PREPARE).fit_transform(wines), dtype=float)
    by_hand = clone(COMPARE).fit(Pairs(table, LEFT, RIGHT), Y)
    assert_allclose(model.predict(wines), by_hand.utility(table))
    names = model[:-1].get_feature_names_out().tolist()
    assert names[0] == "onehotencoder__grape_Gamay"
    assert model[-1].feature_names_in_.tolist() == names


@FRAMES
def test_a_numeric_frame_keeps_its_types(frame):
    """Columns are chosen by name and type, though models would take them as numbers."""
    wines = frame({"alcohol": [11.5, 12.0, 13.0], "stars": [1, 2, 1]})
    pairs = Pairs(wines, [0, 1], [1, 2])
    assert pairs.items.values.tolist() == [[11.5, 1], [12, 2], [13, 1]]
    stars = make_column_transformer((OneHotEncoder(), ["stars"]))
    prepared = OnItems(stars).fit_transform(pairs)
    assert prepared.feature_names == (
        "onehotencoder__stars_1",
        "onehotencoder__stars_2",
    )
    if frame is pd.DataFrame:
        whole = make_column_selector(dtype_include=np.integer)
        chosen = OnItems(make_column_transformer(("passthrough", whole)))
        assert chosen.fit_transform(pairs).values.tolist() == [[1], [2], [1]]


@FRAMES
def test_lists_of_the_rows_of_a_frame(frame):
    """Orders keep a frame too, and metrics of lists read it."""
    orders = Orders(frame(WINES), [[5, 2, 1], [[0, 3], 1], [5, 3, 0]])
    model = make_pipeline(OnItems(PREPARE), RankSVM(kernel="linear")).fit(orders)
    utility = model.predict(frame(WINES))
    assert utility[5] > utility[0]
    assert get_scorer("swapped_pairs")(model, orders) == model.score(orders) - 1


# What a model says of what is no number


@FRAMES
def test_a_model_says_what_to_put_before_it(frame):
    """Strings and missing values are named, with what makes numbers of them."""
    wines = frame(WINES)
    message = r"Column 'grape' of items has dtype .*OnItems\(OneHotEncoder"
    with pytest.raises(TypeError, match=message):
        SVMCompare().fit(Pairs(wines, LEFT, RIGHT), Y)
    missing = Pairs(wines[["alcohol", "organic"]], LEFT, RIGHT)
    message = r"NaN at row 1, column 0 \('alcohol'\).*OnItems\(SimpleImputer\(\)\)"
    for call in (SVMCompare().fit, RankSVM().fit):
        with pytest.raises(ValueError, match=message):
            call(missing, Y)
    # Row numbers are those of the table, whatever rows are compared.
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        SVMCompare().fit(missing[[1, 2, 4]], [1, -1, 0])
    with pytest.raises(TypeError, match="Column 'grape' of X has dtype"):
        RankSVM().fit(wines, np.arange(6))


def test_a_model_says_that_texts_are_texts():
    """Texts need a vectorizer; names are given otherwise."""
    pairs = Pairs(TEXTS, [0, 1], [1, 2])
    assert repr(pairs) == "Pairs(2 comparisons of 5 items, texts)"
    message = r"got texts.*OnItems\(TfidfVectorizer\(\)\).*Pairs\(left="
    with pytest.raises(TypeError, match=message):
        SVMCompare().fit(pairs, [1, -1])
    with pytest.raises(TypeError, match="left must hold row numbers"):
        Pairs(TEXTS, ["short"], ["long"])


def test_arrays_may_have_gaps_too():
    """Lists, arrays, sparse matrices and arrays of three dimensions."""
    rows = [[1.0, np.nan], [2.0, 5.0], [3.0, 4.0]]
    filled = np.array([[1.0, 4.5], [2.0, 5.0], [3.0, 4.0]])
    model = make_pipeline(OnItems(SimpleImputer()), clone(COMPARE))
    for items in (rows, np.array(rows), np.ma.masked_invalid(rows), sp.csr_array(rows)):
        pairs = Pairs(items, [0, 1, 2], [1, 2, 0])
        prepared = model.fit(pairs, [1, 1, -1])[0].transform(pairs)
        assert_allclose(prepared.items.dense(), filled)
    sides = np.array(rows)[[[0, 1], [1, 2], [2, 0]]]
    model.fit(sides, [1, 1, -1])
    assert_allclose(np.asarray(model[0].transform(sides))[0], filled[:2])
    with pytest.raises(ValueError, match=r"NaN at row 0, left item.*SimpleImputer"):
        clone(COMPARE).fit(sides, [1, 1, -1])


def test_strings_beside_numbers_in_a_list():
    """Numbers stay numbers, so that encoders can tell them."""
    pairs = Pairs([["red", 1], ["white", 2], ["red", 3]], [0, 1], [1, 2])
    assert pairs.raw.tolist() == [["red", 1], ["white", 2], ["red", 3]]
    with pytest.raises(TypeError, match="got 'red' at \\[0, 0\\]"):
        as_items(pairs.raw)
    onehot = OnItems(
        make_column_transformer((OneHotEncoder(), [0]), remainder="passthrough")
    )
    assert onehot.fit_transform(pairs).values.tolist() == [
        [1, 0, 1],
        [0, 1, 2],
        [1, 0, 3],
    ]


# Texts


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_comparisons_of_texts(make):
    """A vectorizer sees the texts of the training rows; new texts get utilities."""
    pairs = Pairs(make(TEXTS), [0, 1, 4, 2], [2, 2, 3, 3])
    model = make_pipeline(OnItems(TfidfVectorizer()), clone(COMPARE))
    model.fit(pairs[:3], [-1, -1, -1])
    words = set(model[0].get_feature_names_out())
    assert words == {"short", "and", "clear", "right", "long", "wrong"}
    right, wrong = model.predict(["right and clear", "wrong, and long"])
    assert right > wrong
    assert model.predict(Pairs(["clear", "wrong"], [0], [1])).tolist() == [-1]


# What else is done with items


@FRAMES
def test_a_transformer_gets_what_it_was_fitted_on(frame):
    """Fitted on arrays it gets numbers, and fitted on a frame a frame."""
    wines = frame({"alcohol": [11.5, 12.0, 13.0], "stars": [1, 2, 1]})
    table = np.array([[11.5, 1], [12, 2], [13, 1]])
    scaled = StandardScaler().fit_transform(table)
    on_arrays = OnItems(StandardScaler()).fit(Pairs(table, [0, 1], [1, 2]))
    with pytest.warns(UserWarning, match="X has feature names, but OnItems") as caught:
        assert_allclose(on_arrays.transform(Pairs(wines, [0], [1])).values, scaled)
    assert len(caught) == 1
    on_frames = OnItems(StandardScaler()).fit(Pairs(wines, [0, 1], [1, 2]))
    read = Pairs(ItemTable(table, ("alcohol", "stars")), [0], [1])
    assert_allclose(on_frames.transform(read).values, scaled)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        on_frames.transform(Pairs(table, [0], [1]))


@FRAMES
def test_equal_rows_are_one_item(frame):
    """Folds of unseen items put equal rows, gaps included, on one side."""
    twice = {name: column + column for name, column in WINES.items()}
    pairs = Pairs(frame(twice), [*LEFT, *RIGHT], [r + 6 for r in [*RIGHT, *LEFT]])
    for train, test in ItemKFold(2, random_state=0).split(pairs):
        one, other = (
            set((pairs[rows].touched() % 6).tolist()) for rows in (train, test)
        )
        assert not one & other


@FRAMES
def test_a_regressor_that_knows_gaps_compares_rows_of_a_frame(frame):
    """The ranker gets the frame; only what it cannot read is an error."""
    wines = frame(WINES)[["alcohol", "organic"]]
    ranker = HistGradientBoostingRegressor(min_samples_leaf=1, max_iter=5)
    model = ThresholdCompare(ranker).fit(wines, [1, 1, 2, 1, 1, 3])
    result = model.predict(Pairs(wines, LEFT, RIGHT))
    assert_array_equal(result[:2], [0, 1])
