# SPDX-License-Identifier: BSD-3-Clause
"""Boosted trees that learn from who was preferred to whom, ties included."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_val_score

import tiebreak
from tiebreak import BoostedUtility, LogisticCompare, Orders, Pairs
from tiebreak.metrics import comparison_log_loss, ndcg
from tiebreak.selection import ItemKFold, QueryKFold

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def hotels():
    """People chose between two hotels: near the beach is good if it is quiet."""
    rng = np.random.default_rng(3)
    near, noise, price = rng.uniform(-1, 1, size=(3, 300))
    worth = -4 * near * noise - price
    left = rng.integers(300, size=2500)
    right = (left + rng.integers(1, 300, size=2500)) % 300
    gap = worth[right] - worth[left] + rng.logistic(0, 0.4, size=2500)
    choices = np.where(np.abs(gap) < 0.5, 0, np.sign(gap)).astype(int)
    table = np.column_stack([near, noise, price])
    return Pairs(table, left, right), choices


def test_trees_find_what_a_linear_utility_cannot(hotels):
    pairs, choices = hotels
    folds = ItemKFold(2, random_state=0)  # test on hotels that were never seen
    loss = {
        type(model).__name__: -cross_val_score(
            model, pairs, choices, cv=folds, scoring="neg_log_loss"
        ).mean()
        for model in (LogisticCompare(), BoostedUtility(60, learning_rate=0.2))
    }
    assert loss["BoostedUtility"] < loss["LogisticCompare"] - 0.15


def test_probabilities_a_ranking_and_a_file(hotels, tmp_path):
    pairs, choices = hotels
    model = BoostedUtility(60, learning_rate=0.2).fit(pairs, choices)
    best, worst = model.order(pairs.values)[[0, -1]]
    left, tie, right = model.predict_proba(Pairs(pairs.values, [worst], [best]))[0]
    assert right > 0.9 > tie > left
    tiebreak.save(model, tmp_path / "hotels.model")
    again = tiebreak.load(tmp_path / "hotels.model")  # needs no LightGBM
    assert comparison_log_loss(choices, again.predict_proba(pairs)) < 0.8


def test_search_results_are_tuned_by_query():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(400, 4))
    y = np.digitize(X[:, 0] * np.sign(X[:, 1]) + 0.3 * rng.normal(size=400), [0, 1])
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            BoostedUtility(25, learning_rate=0.2, early_stopping=False),
            {"max_leaves": [2, 6]},
            cv=QueryKFold(3),
        ).fit(X, y, qid=qid)
    assert search.best_params_ == {"max_leaves": 6}  # two leaves have no interaction
    assert ndcg(y, search.predict(X), qid, k=10) > 0.9


def test_lightgbm_and_shap_read_the_trees(hotels, tmp_path):
    pairs, choices = hotels
    model = BoostedUtility(60, learning_rate=0.2, early_stopping=False)
    model.fit(pairs, choices)
    utility = model.utility(pairs.values)
    assert np.allclose(model.booster_.predict(pairs.values), utility)
    shares = model.booster_.predict(pairs.values, pred_contrib=True)  # TreeSHAP
    assert shares.shape == (300, 4) and np.allclose(shares.sum(axis=1), utility)
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.min() > 0
    again = tiebreak.load(tiebreak.save(model, tmp_path / "hotels.tiebreak"))
    assert np.array_equal(again.feature_importances_, model.feature_importances_)
    assert np.array_equal(again.utility(pairs.values), utility)
    assert not hasattr(again, "booster_")
    shap = pytest.importorskip("shap")
    explained = shap.TreeExplainer(model.booster_)
    parts = explained.shap_values(pairs.values)
    assert np.allclose(parts.sum(axis=1) + explained.expected_value, utility)


def test_shap_explains_a_linear_utility(hotels):
    shap = pytest.importorskip("shap")
    pairs, choices = hotels
    model = LogisticCompare(kernel="linear").fit(pairs, choices)
    explained = shap.LinearExplainer((model.coef_, 0.0), pairs.values)
    parts = explained.shap_values(pairs.values)
    mean = model.utility(pairs.values).mean()
    assert np.allclose(parts.sum(axis=1) + mean, model.utility(pairs.values), atol=0.1)


def frame_of_wines(kind):
    rng = np.random.default_rng(5)
    grape = rng.choice([f"grape {k}" for k in range(9)], 300).tolist()
    year = rng.choice([2019.0, 2020.0, 2021.0, np.nan], 300)
    acid = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    worth = np.array([int(name[-1]) % 3 for name in grape]) + 2 * np.isnan(acid)
    if kind == "polars":
        columns = {"grape": grape, "acid": acid, "year": year}
        frame = pl.DataFrame(columns).with_columns(
            pl.all().exclude("grape").fill_nan(None)
        )
        return frame.with_columns(pl.col("year").cast(pl.String)), worth
    frame = pd.DataFrame({"grape": grape, "acid": acid, "year": pd.Categorical(year)})
    return frame, worth


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_categories_and_missing_values_are_those_of_lightgbm(kind, tmp_path):
    frame, worth = frame_of_wines(kind)
    rng = np.random.default_rng(0)
    left, right = rng.integers(300, size=(2, 2000))
    pairs, y = Pairs(frame, left, right), np.sign(worth[right] - worth[left])
    keep = left != right
    model = BoostedUtility(60, learning_rate=0.2).fit(pairs[keep], y[keep])
    assert model.score(pairs[keep], y[keep]) > 0.95  # not without either
    assert {j: len(names) for j, names in model.categories_.items()} == {0: 9, 2: 3}
    utility = model.utility(frame)
    place = {name: code for code, name in enumerate(model.categories_[0].tolist())}
    codes = np.array([place[name] for name in frame["grape"]], dtype=float)
    years = pd.Series(np.asarray(frame["year"], dtype=float))
    years = years.map({2019.0: 0.0, 2020.0: 1.0, 2021.0: 2.0})
    acid = np.asarray(frame["acid"].to_numpy(), dtype=float)
    coded = np.column_stack([codes, acid, years])
    assert np.allclose(model.booster_.predict(coded), utility)
    assert np.ptp(utility[np.isnan(acid)]) > 0
    again = tiebreak.load(tiebreak.save(model, tmp_path / "wines.tiebreak"))
    assert np.array_equal(again.utility(frame), utility)
    assert np.array_equal(again.predict(pairs), model.predict(pairs))
    new = frame[:2].copy() if kind == "pandas" else frame[:2]
    if kind == "pandas":
        new["grape"] = ["grape 77", None]
    else:
        new = new.with_columns(grape=pl.Series(["grape 77", None]))
    coded[:2, 0] = np.nan  # a category that is new counts as missing
    assert np.allclose(model.utility(new), model.booster_.predict(coded[:2]))
    queries = np.arange(300) // 10
    graded = BoostedUtility(30).fit(frame, worth, qid=queries)
    lists = [
        np.argsort(-worth[rows]) + rows[0] for rows in np.split(np.arange(300), 30)
    ]
    listed = BoostedUtility(30).fit(Orders(frame, lists))
    for one in (graded, listed):
        assert tiebreak.metrics.swapped_pairs(worth, one.utility(frame)) < 0.3
    assert listed.score(Orders(frame, lists)) > 0.5


def test_arrays_may_have_gaps():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    X[rng.random((200, 2)) < 0.3] = np.nan
    pairs = Pairs(X, range(200), rng.permutation(200))
    gone = np.isnan(X[:, 0]).astype(int)
    y = gone[pairs.right] - gone[pairs.left]
    model = BoostedUtility(40, learning_rate=0.3, early_stopping=False).fit(pairs, y)
    assert model.score(pairs, y) > 0.95
    assert np.allclose(model.utility(X), model.booster_.predict(X))
    with pytest.raises(ValueError, match=r"bound|finite"):
        model.utility([[np.inf, 0.0]])
    with pytest.raises(TypeError, match="must hold numbers"):
        model.utility([["red", 0.0]])
