# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines with a utility, supervised transformers, and tools for two classes."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import pipeline as sklearn_pipeline
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    DetCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    LearningCurveDisplay,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    permutation_test_score,
)
from sklearn.multiclass import OneVsOneClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from tiebreak import (
    LogisticCompare,
    OnItems,
    Orders,
    Pairs,
    WithoutTies,
    load,
    make_pipeline,
    save,
)

mpl.use("Agg")
RNG = np.random.default_rng(0)
ITEMS = pd.DataFrame(RNG.normal(size=(60, 6)), columns=list("abcdef"))
LEFT = RNG.integers(60, size=400)
PAIRS = Pairs(ITEMS, LEFT, (LEFT + RNG.integers(1, 60, size=400)) % 60)
_WORTH = (ITEMS.c - 2 * ITEMS.e).to_numpy()
_NOISY = _WORTH[PAIRS.right] - _WORTH[PAIRS.left] + RNG.normal(0, 0.5, 400)
Y = np.where(np.abs(_NOISY) < 0.7, 0, np.sign(_NOISY)).astype(int)
LINEAR = LogisticCompare(kernel="linear")
DECIDED = np.flatnonzero(Y)


def test_a_pipeline_has_the_item_methods_of_its_last_step(tmp_path):
    model = make_pipeline(OnItems(StandardScaler()), LINEAR).fit(PAIRS, Y)
    scaled = model[0].transform(ITEMS)
    assert_array_equal(model.utility(ITEMS), model[-1].utility(scaled))
    assert_array_equal(model.order(ITEMS), np.argsort(-model.utility(ITEMS)))
    utility = model.utility(ITEMS)
    assert_allclose(model.difference(PAIRS), utility[PAIRS.right] - utility[PAIRS.left])
    save(model, tmp_path / "model.tiebreak")
    again = load(tmp_path / "model.tiebreak")
    assert_array_equal(again.utility(ITEMS), model.utility(ITEMS))
    assert_array_equal(clone(model).fit(PAIRS, Y).utility(ITEMS), model.utility(ITEMS))
    assert not hasattr(make_pipeline(OnItems(StandardScaler())), "utility")


def test_a_transformer_of_tables_before_comparisons_is_named():
    with pytest.raises(TypeError, match=r"wrap it in OnItems, as OnItems\(Standard"):
        make_pipeline(StandardScaler(), LINEAR).fit(PAIRS, Y)
    # Scikit-learn's own pipeline can only say this (docs/errors.md has it).
    with pytest.raises(ValueError, match="dim 3"):
        sklearn_pipeline.make_pipeline(StandardScaler(), LINEAR).fit(PAIRS, Y)


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=2),
        SelectKBest(f_regression, k=2),
        SelectFromModel(LogisticRegression(), max_features=2),
        RFE(LogisticRegression(), n_features_to_select=2),
    ],
    ids=["anova", "regression", "model", "elimination"],
)
def test_a_selector_sees_who_won(selector):
    """The two features that matter, from comparisons; the selector gets majorities."""
    model = make_pipeline(OnItems(selector), LINEAR).fit(PAIRS, Y)
    assert model[0].get_feature_names_out().tolist() == ["c", "e"]
    wins = np.array(
        [
            Y[PAIRS.right == item].sum() - Y[PAIRS.left == item].sum()
            for item in range(60)
        ]
    )
    by_hand = clone(selector).fit(ITEMS, (wins >= 0).astype(int))
    assert_array_equal(model[0].transformer_.get_support(), by_hand.get_support())
    three = OnItems(selector).fit(np.asarray(PAIRS), Y)
    assert three.transformer_.get_support().sum() == 2
    best_first = [
        np.argsort(-_WORTH[rows]) + rows[0] for rows in np.arange(60).reshape(6, 10)
    ]
    of_lists = OnItems(selector).fit(Orders(ITEMS, best_first))
    assert "e" in of_lists.get_feature_names_out()


def test_majorities_count_weights():
    pairs = Pairs([[0.0], [1.0], [2.0]], [0, 0, 1], [1, 1, 2])
    step = OnItems(SelectKBest(k="all"))
    twice = step.fit(pairs, [1, -1, 1], sample_weight=[1.0, 2.0, 1.0]).transformer_
    again = step.fit(pairs[[0, 1, 1, 2]], [1, -1, -1, 1]).transformer_
    assert_array_equal(twice.scores_, again.scores_)


def test_set_output_reaches_the_items():
    model = make_pipeline(OnItems(StandardScaler()), LINEAR).set_output(
        transform="pandas"
    )
    model.fit(PAIRS, Y)
    frame = model[:-1].transform(ITEMS.iloc[5:9])
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == [5, 6, 7, 8]
    assert isinstance(model[:-1].transform(PAIRS), Pairs)
    plain = make_pipeline(OnItems(StandardScaler()), LINEAR).fit(PAIRS, Y)
    assert_allclose(model.utility(ITEMS), plain.utility(ITEMS))


@pytest.mark.parametrize(
    "display",
    [RocCurveDisplay, PrecisionRecallDisplay, DetCurveDisplay, CalibrationDisplay],
)
def test_displays_of_two_classes_take_a_model_without_ties(display):
    pairs, y = PAIRS[DECIDED], Y[DECIDED]
    display.from_estimator(WithoutTies(LINEAR).fit(pairs, y), pairs, y)
    with pytest.raises(ValueError, match="binary classifier"):
        display.from_estimator(clone(LINEAR).fit(PAIRS, Y), PAIRS, Y)


def test_thresholds_are_tuned_without_ties():
    pairs, y = PAIRS[DECIDED], Y[DECIDED]
    tuned = TunedThresholdClassifierCV(WithoutTies(LINEAR), cv=3).fit(pairs, y)
    assert tuned.score(pairs, y) > 0.9
    fixed = FixedThresholdClassifier(WithoutTies(LINEAR), threshold=0.9).fit(pairs, y)
    assert (fixed.predict(pairs) == 1).sum() < (y == 1).sum()


def test_tools_of_three_classes():
    ConfusionMatrixDisplay.from_estimator(clone(LINEAR).fit(PAIRS, Y), PAIRS, Y)
    LearningCurveDisplay.from_estimator(LINEAR, PAIRS, Y, cv=3)
    ValidationCurveDisplay.from_estimator(
        LINEAR, PAIRS, Y, param_name="alpha", param_range=[0.1, 1.0], cv=3
    )
    score, _, p = permutation_test_score(LINEAR, PAIRS, Y, n_permutations=9, cv=3)
    assert score > 0.7
    assert p == 0.1
    boosted = AdaBoostClassifier(LINEAR, n_estimators=3).fit(PAIRS, Y)
    assert boosted.score(PAIRS, Y) > 0.7


@pytest.mark.parametrize(
    "tool", [BaggingClassifier, OneVsOneClassifier, RFE, SelfTrainingClassifier]
)
def test_what_scikit_learn_refuses_by_itself(tool):
    """Listed in docs/scikit-learn.md; a version that takes it changes that table."""
    with pytest.raises(ValueError, match="dim 3"):
        tool(LINEAR).fit(PAIRS, Y)
