# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from tiebreak.data import OnItems, Orders, Pairs, as_pairs

RNG = np.random.default_rng(0)
ITEMS = RNG.normal(size=(6, 2)) + 3
TOUCHED = [0, 1, 3]


@pytest.fixture
def pairs():
    """Item 0 is compared three times; items 2, 4 and 5 never."""
    return Pairs(ITEMS, left=[0, 0, 3], right=[1, 3, 0], names=list("abcdef"))


def test_fits_on_each_touched_item_once_and_transforms_all(pairs):
    scaler = StandardScaler().fit(ITEMS[TOUCHED])
    result = OnItems(StandardScaler()).fit_transform(pairs)
    assert isinstance(result, Pairs)
    np.testing.assert_allclose(result.values, scaler.transform(ITEMS))
    np.testing.assert_array_equal(result.left, pairs.left)
    np.testing.assert_array_equal(result.names, pairs.names)


def test_orders():
    orders = Orders(ITEMS, [[3, [0, 1]], [0, 3]])
    result = OnItems(StandardScaler()).fit_transform(orders)
    assert isinstance(result, Orders)
    scaler = StandardScaler().fit(ITEMS[TOUCHED])
    np.testing.assert_allclose(result.values, scaler.transform(ITEMS))
    assert list(result) == list(orders)


def test_arrays_of_three_dimensions(pairs):
    cube = np.asarray(pairs)
    result = OnItems(PolynomialFeatures(include_bias=False)).fit_transform(cube)
    assert result.shape == (3, 2, 5)
    scaled = OnItems(StandardScaler()).fit(cube)
    expected = StandardScaler().fit(cube.reshape(6, 2)).transform(ITEMS)
    np.testing.assert_allclose(scaled.transform(ITEMS), expected)
    np.testing.assert_allclose(
        scaled.transform(cube), np.asarray(scaled.transform(as_pairs(cube)))
    )


def test_tables_go_to_the_transformer_with_y():
    y = np.arange(6)
    direct = SelectKBest(f_regression, k=1).fit(ITEMS, y)
    on_items = OnItems(SelectKBest(f_regression, k=1)).fit(ITEMS, y)
    np.testing.assert_array_equal(on_items.transform(ITEMS), direct.transform(ITEMS))


def test_the_transformer_gets_majorities(pairs):
    class Spy(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.y_ = y
            return self

        def transform(self, X):
            return X

    y = np.array([1, -1, 1])
    lead = np.bincount(pairs.right, y, 6) - np.bincount(pairs.left, y, 6)
    target = OnItems(Spy()).fit(pairs, y).transformer_.y_
    np.testing.assert_array_equal(target, (lead >= 0)[pairs.touched()])
    assert OnItems(Spy()).fit(pairs).transformer_.y_ is None


def test_sparse_items_stay_sparse(pairs):
    sparse = pairs.with_items(sp.csr_array(ITEMS))
    result = OnItems(MaxAbsScaler()).fit_transform(sparse)
    assert result.items.is_sparse
    dense = OnItems(MaxAbsScaler()).fit_transform(pairs)
    np.testing.assert_allclose(np.asarray(result), np.asarray(dense))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_feature_names_survive(pairs, frame):
    table = frame({"u": ITEMS[:, 0], "v": ITEMS[:, 1]})
    on_items = OnItems(PolynomialFeatures(include_bias=False))
    result = on_items.fit_transform(pairs.with_items(table))
    names = ("u", "v", "u^2", "u v", "v^2")
    assert result.feature_names == names
    assert tuple(on_items.get_feature_names_out()) == names
    assert list(on_items.feature_names_in_) == ["u", "v"]
    # Items in a frame, for `utility`, come back in a frame of the same library.
    items = on_items.transform(table)
    assert isinstance(items, frame)
    assert list(items.columns) == list(names)
    np.testing.assert_allclose(items.to_numpy(), result.values)


def test_the_index_of_a_pandas_frame_survives():
    table = pd.DataFrame({"u": [1.0, 2.0]}, index=["x", "y"])
    result = OnItems(StandardScaler()).fit_transform(table)
    assert list(result.index) == ["x", "y"]


def test_names_are_forgotten_when_fitted_again(pairs):
    on_items = OnItems(StandardScaler()).fit(pd.DataFrame({"u": [1.0, 2.0]}))
    on_items.fit(pairs)
    assert not hasattr(on_items, "feature_names_in_")
    assert list(on_items.get_feature_names_out()) == ["x0", "x1"]
    assert list(on_items.get_feature_names_out(["p", "q"])) == ["p", "q"]


def test_transformers_without_names_out(pairs):
    named = pairs.with_items(pd.DataFrame(ITEMS, columns=["u", "v"]))
    exp = FunctionTransformer(lambda X: np.exp(np.asarray(X)))
    result = OnItems(exp).fit_transform(named)
    assert result.feature_names is None
    np.testing.assert_allclose(result.values, np.exp(ITEMS))


def test_rows_of_weight_zero_are_absent(pairs):
    weighted = OnItems(StandardScaler()).fit(pairs, sample_weight=[1, 0, 0])
    absent = OnItems(StandardScaler()).fit(pairs[[0]])
    np.testing.assert_allclose(weighted.transformer_.mean_, absent.transformer_.mean_)
    doubled = OnItems(StandardScaler()).fit(pairs, sample_weight=[2, 1, 1])
    once = OnItems(StandardScaler()).fit(pairs)
    np.testing.assert_allclose(doubled.transformer_.mean_, once.transformer_.mean_)
    cube = OnItems(StandardScaler()).fit(np.asarray(pairs), sample_weight=[0, 1, 0])
    np.testing.assert_allclose(cube.transformer_.mean_, ITEMS[[0, 3]].mean(axis=0))


def test_weights_of_items():
    weight = np.array([1, 2, 0, 1, 1, 1])
    taken = OnItems(StandardScaler()).fit(ITEMS, sample_weight=weight)
    mean = np.average(ITEMS, axis=0, weights=weight)
    np.testing.assert_allclose(taken.transformer_.mean_, mean)
    not_taken = OnItems(PCA(1)).fit(ITEMS, np.arange(6), sample_weight=weight)
    np.testing.assert_allclose(
        not_taken.transformer_.mean_, ITEMS[weight > 0].mean(axis=0)
    )


def test_refused_input(pairs):
    on_items = OnItems(StandardScaler()).fit(pairs)
    with pytest.raises(
        ValueError, match="X has 1 features, but OnItems is expecting 2"
    ):
        on_items.transform(ITEMS[:, :1])
    named = OnItems(StandardScaler()).fit(pd.DataFrame(ITEMS, columns=["u", "v"]))
    swapped = pairs.with_items(pd.DataFrame(ITEMS, columns=["v", "u"]))
    with pytest.raises(ValueError, match=r"got \['v', 'u'\], expected \['u', 'v'\]"):
        named.transform(swapped)
    with pytest.raises(
        ValueError, match="input_features is not equal to feature_names"
    ):
        named.get_feature_names_out(["v", "u"])
    with pytest.raises(TypeError, match="have no features"):
        on_items.fit(Pairs(None, ["a"], ["b"]))
    dropping = OnItems(FunctionTransformer(lambda X: X[:2])).fit(pairs)
    with pytest.raises(ValueError, match="new item table has 2 rows"):
        dropping.transform(pairs)
    spoiling = OnItems(FunctionTransformer(lambda X: X * np.nan)).fit(pairs)
    with pytest.raises(ValueError, match="items must be finite numbers, without NaN"):
        np.asarray(spoiling.transform(pairs))


@parametrize_with_checks([OnItems(StandardScaler())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
