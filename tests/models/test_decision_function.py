# SPDX-License-Identifier: BSD-3-Clause
"""Scores of left, tie and right, and what scikit-learn makes of them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.models.inputs import curved_pairs
from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko,
    OrdinalSVM,
    Pairs,
    ThresholdCompare,
)
from tiebreak.metrics import get_scorer
from tiebreak.metrics.scorers import utility_of
from tiebreak.models.base import outcome_scores, to_outcomes


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


def graded():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3)) * [1.0, 10.0, 1.0]
    raw = X @ [1.0, 0.1, 0.0] + 0.3 * rng.normal(size=120)
    return X, np.digitize(raw, [-1.0, 0.0, 1.0]) + 1.0


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
