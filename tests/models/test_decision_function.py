# SPDX-License-Identifier: BSD-3-Clause
"""Scores of left, tie and right, and what scikit-learn makes of them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.models.inputs import curved_pairs
from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    HedgeOrder,
    JudgeBradleyTerry,
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    OnItems,
    OrdinalSVM,
    Pairs,
    PlackettLuce,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)
from tiebreak.datasets import make_norms
from tiebreak.metrics import comparison_auc, comparison_log_loss, get_scorer
from tiebreak.metrics.scorers import difference_of, utility_of
from tiebreak.models.base import outcome_scores, to_outcomes

OF_FEATURES = [
    SVMCompare(10.0, gamma=0.1),
    LogisticCompare(0.1),
    LogisticCompare(0.1, link="cumulative"),
    MaxMarginCompare(),
    MajorityCompare(),
    MajorityCompare(tie=True),
    ThresholdCompare(RankSVM(10.0, gamma=0.1)),
    RankSVM(10.0, gamma=0.1),
]
OF_NAMES = [
    BradleyTerry(),
    BradleyTerry("rao-kupper", alpha=1.0),
    JudgeBradleyTerry(),
    PlackettLuce(),
    Elo(),
    Glicko(),
    Glicko2(),
    SVMCompare(kernel="linear"),
    LogisticCompare(),
    MajorityCompare(),
    ThresholdCompare(BradleyTerry()),
]
every_model = pytest.mark.parametrize(
    ("model", "named"),
    [(m, False) for m in OF_FEATURES] + [(m, True) for m in OF_NAMES],
    ids=lambda value: value if isinstance(value, bool) else type(value).__name__,
)


def fit(model, named=False):
    pairs, y = curved_pairs()
    if named:
        names = np.array([f"item {i}" for i in range(25)])
        pairs = Pairs(None, names[pairs.left], names[pairs.right])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # not separable
        return model.fit(pairs, y), pairs, y


def test_scores_of_outcomes_and_their_boundary():
    tiny, step = np.finfo(float).tiny, np.nextafter
    for tau in (0.0, tiny, 5e-324, 0.3, 1.0, 1e300, np.inf):
        at = [0.0, -0.0, 5e-324, tiny, 0.1, 2.5, 1e308]
        at += [tau, step(tau, 0.0), step(tau, np.inf)] if tau < np.inf else []
        d = np.concatenate([at, np.negative(at)])
        with np.errstate(over="ignore"):
            scores = outcome_scores(d, tau)
        outcome = to_outcomes(d, tau)
        assert scores.shape == (len(d), 3)
        assert_array_equal(scores.argmax(axis=1) - 1, outcome)
        assert_array_equal(outcome == 0, np.abs(d) <= tau)
        tie = outcome == 0
        assert (scores[tie, 1] >= tiny).all()
        assert (scores[tie][:, [0, 2]] <= 0).all()
        assert (scores[~tie, 1] < 0).all()
    assert_allclose(outcome_scores(np.array([2.0]), 0.5), [[-2.5, -1.5, 1.5]])


@every_model
def test_columns_are_those_of_the_classes(model, named):
    model, pairs, _ = fit(model, named)
    scores, d = model.decision_function(pairs), model.difference(pairs)
    assert scores.shape == (len(pairs), 3)
    assert d.shape == (len(pairs),)
    assert_array_equal(scores.argmax(axis=1) - 1, model.predict(pairs))
    if type(model) not in (Glicko, Glicko2):  # whose ties go by discounted ratings
        tau = getattr(model, "threshold_", 0.0)
        expected = np.stack([-d - tau, tau - np.abs(d), d - tau], axis=1)
        assert_allclose(scores, expected, atol=1e-300)
    # Exactly at the threshold a comparison is a tie.
    size = 0.5 * (scores[:, 2] - scores[:, 0])
    for row in np.flatnonzero(size)[:3]:
        model.threshold_ = abs(size[row])
        asked = model.decision_function(pairs), model.predict(pairs)
        assert_array_equal(asked[0].argmax(axis=1) - 1, asked[1])


@every_model
def test_of_items_it_is_the_utility(model, named):
    model, pairs, _ = fit(model, named)
    items = pairs.names if named else pairs.values
    assert_array_equal(model.decision_function(items), model.utility(items))


def test_hedge_compares_and_has_no_utility():
    pairs, _ = curved_pairs()
    model = HedgeOrder().fit(pairs.values, pairs.values[:, 0])
    scores = model.decision_function(pairs)
    assert_array_equal(scores.argmax(axis=1) - 1, model.predict(pairs))
    with pytest.raises(TypeError, match="has no utility"):
        model.decision_function(pairs.values)


@pytest.mark.parametrize("model", [BradleyTerry(), Elo(), Glicko()], ids=repr)
def test_what_favors_left_counts(model):
    _, pairs, y = fit(model, named=True)
    home = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    model = model.fit(pairs, y, advantage=home)
    d = model.difference(pairs, advantage=home)
    effect = home * (model.advantage_ if isinstance(model, BradleyTerry) else 1.0)
    assert_allclose(model.difference(pairs, advantage=0 * home) - d, effect)
    scores = model.decision_function(pairs, advantage=home)
    predicted = model.predict(pairs, advantage=home)
    assert_array_equal(scores.argmax(axis=1) - 1, predicted)
    if not isinstance(model, Glicko):
        assert_allclose(0.5 * (scores[:, 2] - scores[:, 0]), d, atol=1e-9)


def test_context_counts():
    model, pairs, y = fit(BradleyTerry(), named=True)
    context = np.random.default_rng(3).normal(size=(len(y), 2))
    model.fit(pairs, y, context=context)
    d = model.difference(pairs, context=context)
    assert_allclose(model.difference(pairs) - d, context @ model.context_coef_)
    scores = model.decision_function(pairs, context=context)
    assert_array_equal(scores, outcome_scores(d, model.threshold_))


def test_calibrated_probabilities_of_a_machine():
    train, test = (
        make_norms(n, norm=2, random_state=k) for n, k in ((600, 0), (1000, 1))
    )
    machine = SVMCompare(10.0, gamma=0.25)
    model = CalibratedClassifierCV(machine, cv=3).fit(train.pairs, train.y)
    proba = model.predict_proba(test.pairs)
    assert_allclose(proba.sum(axis=1), 1)
    shares = np.bincount(train.y + 1) / len(train.y)
    baseline = comparison_log_loss(test.y, np.tile(shares, (len(test.y), 1)))
    assert comparison_log_loss(test.y, proba) < 0.7 * baseline
    alone = machine.fit(train.pairs, train.y).score(test.pairs, test.y)
    accuracy = np.mean(model.predict(test.pairs) == test.y)
    assert accuracy == pytest.approx(alone, abs=0.05)


def test_pipelines_and_searches_know_the_difference():
    pairs, y = curved_pairs()
    pipeline = make_pipeline(OnItems(StandardScaler()), SVMCompare(10.0)).fit(pairs, y)
    d = pipeline[-1].difference(pipeline[:-1].transform(pairs))
    assert_array_equal(difference_of(pipeline, pairs), d)
    assert get_scorer("auc")(pipeline, pairs, y) == comparison_auc(y, d)
    search = GridSearchCV(pipeline, {"svmcompare__C": [10.0]}, cv=3).fit(pairs, y)
    assert_allclose(difference_of(search, pairs), d, atol=1e-6)
    assert_array_equal(
        utility_of(pipeline, pairs.values), pipeline.predict(pairs.values)
    )


class OneColumn(BaseEstimator):
    """A comparer as they were before: its decision function has one column."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 1, 0] - np.asarray(X)[:, 0, 0]


def test_one_column_is_named_difference_now():
    pairs, y = curved_pairs()
    model = SVMCompare(10.0).fit(pairs, y)
    with pytest.raises(ValueError, match=r"shape \(90, 3\).*difference\(pairs\)"):
        comparison_auc(y, model.decision_function(pairs))
    old = OneColumn().fit(pairs, y)
    words = r"OneColumn.*decision_function.*difference\(pairs\)"
    with pytest.raises(TypeError, match=r"needs difference\(pairs\).*OneColumn.*0\.2"):
        get_scorer("auc")(old, pairs, y)
    with pytest.raises(TypeError, match=words):
        ThresholdCompare(OneColumn()).fit(pairs, y)


def graded():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3)) * [1.0, 10.0, 1.0]
    raw = X @ [1.0, 0.1, 0.0] + 0.3 * rng.normal(size=120)
    return X, np.digitize(raw, [-1.0, 0.0, 1.0]) + 1.0


def test_the_prediction_of_an_ordinal_machine_is_a_grade():
    X, y = graded()
    model = OrdinalSVM().fit(X[:80], y[:80])
    grade, utility = model.predict(X[80:]), model.utility(X[80:])
    assert set(grade) <= {1.0, 2.0, 3.0, 4.0}
    number = np.searchsorted(model.thresholds_, utility, side="right")
    assert_array_equal(grade, model.grades_[number])
    with pytest.warns(FutureWarning, match=r"predict_grade.*predict\(X\).*0\.3"):
        assert_array_equal(model.predict_grade(X[80:]), grade)
    with pytest.raises(TypeError, match="takes items"), pytest.warns(FutureWarning):
        model.predict_grade(Pairs(X, [0], [1]))
    pairs = Pairs(X, [0, 1, 2], [3, 4, 2])
    assert_array_equal(model.predict(pairs), np.sign(model.difference(pairs)))
    assert_array_equal(model.decision_function(X), model.utility(X))


def test_swapped_pairs_go_by_the_utility_also_in_a_pipeline():
    X, y = graded()
    model = OrdinalSVM(C=10).fit(X[:80], y[:80])
    utility = model.utility(X[80:])
    scorer = get_scorer("swapped_pairs")
    expected = scorer.from_response(y[80:], utility)
    assert expected != scorer.from_response(y[80:], model.predict(X[80:]))
    assert scorer(model, X[80:], y[80:]) == expected
    assert model.score(X[80:], y[80:]) == 1 + expected
    pipeline = make_pipeline(StandardScaler(), OrdinalSVM(C=10)).fit(X[:80], y[:80])
    scaled = pipeline[:-1].transform(X[80:])
    utility = pipeline[-1].utility(scaled)
    assert_array_equal(pipeline.decision_function(X[80:]), utility)
    assert_array_equal(pipeline.predict(X[80:]), pipeline[-1].predict(scaled))
    assert scorer(pipeline, X[80:], y[80:]) == scorer.from_response(y[80:], utility)
    wrapped = ThresholdCompare(make_pipeline(StandardScaler(), OrdinalSVM(C=10)))
    assert_array_equal(wrapped.fit(X[:80], y[:80]).utility(X[80:]), utility)
    # What scikit-learn measures of grades is right too.
    search = GridSearchCV(
        OrdinalSVM(), {"C": [1.0]}, cv=3, scoring="neg_mean_absolute_error"
    ).fit(X, y)
    assert -0.5 < search.best_score_ < 0
    assert_array_equal(utility_of(Ridge().fit(X, y), X), Ridge().fit(X, y).predict(X))
