# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import MajorityCompare, OnItems, Pairs, RankSVM, ThresholdCompare
from tiebreak.datasets import load_worldcup2022, make_norms


class FirstFeature(BaseEstimator):
    """A ranker that only predicts on items, and learns nothing."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_threshold_is_the_best_on_the_training_comparisons():
    data = make_norms(300, norm=2, random_state=0)
    model = ThresholdCompare(RankSVM(10, gamma=0.25)).fit(data.pairs, data.y)
    difference = np.abs(model.ranker_.decision_function(data.pairs))
    assert model.training_error_ == pytest.approx(1 - model.score(data.pairs, data.y))
    for tau in np.unique(np.r_[0.0, difference, difference * 1.0001]):
        said = np.where(
            difference <= tau,
            0,
            np.sign(model.ranker_.decision_function(data.pairs)),
        )
        assert (said != data.y).mean() >= model.training_error_ - 1e-12


def test_any_ranker_that_predicts_on_items():
    pairs = Pairs([[0.0], [1.0], [5.0]], left=[0, 2, 1], right=[1, 0, 2])
    model = ThresholdCompare(FirstFeature()).fit(pairs, [0, -1, 1])
    assert model.threshold_ == 2.5
    np.testing.assert_array_equal(model.predict(pairs), [0, -1, 1])
    np.testing.assert_array_equal(model.utility([[3.0]]), [3.0])
    with pytest.raises(ValueError, match="FirstFeature takes no sample_weight"):
        ThresholdCompare(FirstFeature()).fit(pairs, [0, -1, 1], sample_weight=[1, 2, 1])


def test_pipeline_inside_and_outside_agree():
    data = make_norms(200, norm=2, random_state=0)
    weight = np.linspace(0.5, 2, 200)
    inside = ThresholdCompare(
        make_pipeline(OnItems(StandardScaler()), RankSVM(10, gamma=0.5))
    ).fit(data.pairs, data.y, sample_weight=weight)
    outside = make_pipeline(
        OnItems(StandardScaler()), ThresholdCompare(RankSVM(10, gamma=0.5))
    ).fit(data.pairs, data.y, thresholdcompare__sample_weight=weight)
    assert inside.threshold_ == pytest.approx(outside[-1].threshold_)
    np.testing.assert_array_equal(
        inside.predict(data.pairs), outside.predict(data.pairs)
    )


def test_without_features():
    cup = load_worldcup2022()
    model = ThresholdCompare(RankSVM(kernel="linear", ties="both")).fit(
        cup.pairs, cup.y
    )
    assert model.score(cup.pairs, cup.y) > 0.6
    assert (model.predict(cup.pairs) == 0).any()
    best = cup.pairs.names[model.order(cup.pairs.names)[:6]]
    assert "Argentina" in best


def test_majority():
    pairs = Pairs(None, ["a", "b", "a", "c"], ["b", "c", "c", "b"])
    model = MajorityCompare().fit(pairs, [1, -1, 0, 0])
    assert (model.predict(pairs) == -1).all()  # equally common: left, as in the paper
    np.testing.assert_array_equal(model.shares_, [0.25, 0.5, 0.25])
    heavy = MajorityCompare().fit(pairs, [1, -1, 0, 0], sample_weight=[2, 1, 9, 9])
    assert (heavy.predict(pairs) == 1).all()
    with_ties = MajorityCompare(tie=True).fit(pairs, [1, -1, 0, 0])
    assert (with_ties.predict(pairs) == 0).all()
    np.testing.assert_array_equal(model.decision_function(pairs), -np.ones(4))
    np.testing.assert_array_equal(model.utility(["a", "zed"]), [0, 0])
