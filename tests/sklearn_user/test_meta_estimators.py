# SPDX-License-Identifier: BSD-3-Clause
"""Comparers and rankers inside the meta-estimators of scikit-learn."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    LogisticCompare,
    MajorityCompare,
    OnItems,
    Outcome,
    Pairs,
    RankBoost,
    RankRLS,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
    WithoutTies,
    tune,
)
from tiebreak.metrics import get_scorer, swapped_pairs
from tiebreak.selection import QueryKFold

RNG = np.random.default_rng(0)
ITEMS = RNG.normal(size=(25, 2))
LEFT = RNG.integers(25, size=120)
PAIRS = Pairs(ITEMS, LEFT, (LEFT + RNG.integers(1, 25, size=120)) % 25)
_SIDES = np.asarray(PAIRS) @ [1.0, -0.5]
_NOISY = _SIDES[:, 1] - _SIDES[:, 0] + RNG.normal(0, 0.4, 120)
# Plain integers, as users have them: -1 left is better, 0 tie, 1 right is better.
Y = np.where(np.abs(_NOISY) < 0.6, 0, np.sign(_NOISY)).astype(int)
DECIDED = np.flatnonzero(Y)  # the comparisons without ties

LOGISTIC = LogisticCompare(kernel="linear")
SMOOTH = LogisticCompare(alpha=30.0, kernel="linear")
MACHINE = SVMCompare(kernel="linear")
FOLDS = StratifiedKFold(3)


# Predictions of held-out rows


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize(
    "model",
    [LOGISTIC, make_pipeline(OnItems(StandardScaler()), clone(LOGISTIC))],
    ids=["model", "pipeline"],
)
def test_cross_val_predict_gives_probabilities_and_scores(model, method):
    """The columns are left, tie and right, as those of a loop over the folds."""
    held_out = cross_val_predict(model, PAIRS, Y, cv=FOLDS, method=method)
    for train, test in FOLDS.split(PAIRS, Y):
        fitted = clone(model).fit(PAIRS[train], Y[train])
        assert_allclose(held_out[test], getattr(fitted, method)(PAIRS[test]))


# Voting


def test_soft_voting_averages_probabilities():
    """The average of two models, column by column."""
    vote = VotingClassifier([("one", LOGISTIC), ("two", SMOOTH)], voting="soft")
    vote.fit(PAIRS, Y)
    one, two = (clone(m).fit(PAIRS, Y).predict_proba(PAIRS) for m in (LOGISTIC, SMOOTH))
    assert_allclose(vote.predict_proba(PAIRS), (one + two) / 2)
    assert vote.classes_.tolist() == [-1, 0, 1]
    assert_array_equal(vote.predict(PAIRS), np.argmax(one + two, axis=1) - 1)
    assert vote.score(PAIRS, Y) > 0.7


# Stacking


def test_stacking_learns_from_held_out_probabilities():
    """The last model sees the held-out columns of each, and all fit on everything."""
    last = LogisticRegression()
    stack = StackingClassifier([("one", LOGISTIC), ("two", MACHINE)], last, cv=FOLDS)
    stack.fit(PAIRS, Y)
    columns = [
        cross_val_predict(LOGISTIC, PAIRS, Y, cv=FOLDS, method="predict_proba"),
        cross_val_predict(MACHINE, PAIRS, Y, cv=FOLDS, method="decision_function"),
    ]
    by_hand = clone(last).fit(np.hstack(columns), Y)
    assert_allclose(stack.final_estimator_.coef_, by_hand.coef_)
    fitted = [
        clone(LOGISTIC).fit(PAIRS, Y).predict_proba(PAIRS),
        clone(MACHINE).fit(PAIRS, Y).decision_function(PAIRS),
    ]
    asked = np.hstack(fitted)
    assert_array_equal(stack.predict(PAIRS), by_hand.predict(asked))
    assert_allclose(stack.predict_proba(PAIRS), by_hand.predict_proba(asked))


# Calibration


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_gives_an_svm_probabilities(method, ensemble):
    """Held-out probabilities better than the frequencies of the three outcomes."""
    machine = CalibratedClassifierCV(MACHINE, method=method, ensemble=ensemble, cv=3)
    train, test = np.arange(80), np.arange(80, 120)
    machine.fit(PAIRS[train], Y[train])
    assert machine.classes_.tolist() == [-1, 0, 1]
    result = machine.predict_proba(PAIRS[test])
    assert_array_equal(machine.predict(PAIRS[test]), result.argmax(axis=1) - 1)
    baseline = np.tile(np.bincount(Y[train] + 1) / 80, (40, 1))
    assert log_loss(Y[test], result) < 0.8 * log_loss(Y[test], baseline)


def test_temperature_wants_outcomes_from_zero():
    """Scikit-learn's temperature reads y as column numbers: give it y + 1."""
    machine = CalibratedClassifierCV(MACHINE, method="temperature", cv=3)
    with pytest.warns(UserWarning, match="y holds 0, 1 and 2 and no -1"):
        machine.fit(PAIRS, Y + 1)
    assert machine.classes_.tolist() == [0, 1, 2]
    assert log_loss(Y, machine.predict_proba(PAIRS)) < 0.8


# Outcomes that were renumbered


def test_the_inner_model_keeps_the_numbers_it_was_given():
    """Inside, classes are 0, 1, 2; scores and scorers read y as the model does."""
    vote = VotingClassifier([("one", LOGISTIC)], voting="soft").fit(PAIRS, Y)
    (inner,) = vote.estimators_
    assert inner.classes_.tolist() == [0, 1, 2]
    assert_array_equal(inner.predict(PAIRS), vote.predict(PAIRS) + 1)
    assert inner.score(PAIRS, Y + 1) == vote.score(PAIRS, Y)
    for name in ("error", "auc", "log_loss"):
        scorer = get_scorer(name)
        outside = clone(LOGISTIC).fit(PAIRS, Y)
        assert scorer(inner, PAIRS, Y + 1) == pytest.approx(scorer(outside, PAIRS, Y))
    with pytest.raises(ValueError, match=r"classes_ are 0 \(left\).*Give y \+ 1"):
        inner.score(PAIRS, Y)


@pytest.mark.parametrize("scoring", [None, "error", "auc"])
def test_a_search_inside_an_ensemble(scoring):
    """GridSearchCV finds in a VotingClassifier what it finds outside."""
    scorer = None if scoring is None else get_scorer(scoring)
    search = GridSearchCV(MACHINE, {"C": [0.01, 1.0]}, scoring=scorer, cv=FOLDS)
    vote = VotingClassifier([("machine", search)]).fit(PAIRS, Y)
    inside, outside = vote.estimators_[0], clone(search).fit(PAIRS, Y)
    assert_allclose(
        inside.cv_results_["mean_test_score"], outside.cv_results_["mean_test_score"]
    )
    assert_array_equal(vote.predict(PAIRS), outside.predict(PAIRS))


def test_zero_one_two_by_hand_is_taken_with_a_warning():
    """In some files 1 is right and 2 a tie, so the reading is said."""
    with pytest.warns(UserWarning, match="read as left, tie and right"):
        model = clone(LOGISTIC).fit(PAIRS, Y + 1)
    assert_allclose(model.utility(ITEMS), clone(LOGISTIC).fit(PAIRS, Y).utility(ITEMS))
    assert_array_equal(
        model.predict(PAIRS), clone(LOGISTIC).fit(PAIRS, Y).predict(PAIRS) + 1
    )
    with pytest.raises(ValueError, match=r"y must hold -1 .*\(2\)"):
        clone(LOGISTIC).fit(PAIRS, (Y + 1).tolist())


def test_every_comparer_takes_renumbered_outcomes():
    """The same predictions, one higher."""
    named = Pairs(left=PAIRS.left, right=PAIRS.right)
    for model, pairs in (
        (MACHINE, PAIRS),
        (MajorityCompare(), PAIRS),
        (ThresholdCompare(RankSVM(kernel="linear")), PAIRS),
        (BradleyTerry(alpha=1.0), named),
    ):
        plain = clone(model).fit(pairs, Y)
        (renumbered,) = VotingClassifier([("m", model)]).fit(pairs, Y).estimators_
        assert_array_equal(renumbered.predict(pairs), plain.predict(pairs) + 1)
        assert renumbered.score(pairs, Y + 1) == plain.score(pairs, Y)


# Comparisons without ties


@pytest.mark.parametrize(
    "program",
    [
        lambda pairs, y: VotingClassifier([("one", LOGISTIC)]).fit(pairs, y),
        lambda pairs, y: StackingClassifier([("one", LOGISTIC)]).fit(pairs, y),
        lambda pairs, y: cross_val_predict(LOGISTIC, pairs, y, method="predict_proba"),
    ],
    ids=["voting", "stacking", "cross_val_predict"],
)
def test_two_outcomes_renumbered_to_zero_and_one_are_refused(program):
    """0 and 1 would be tie and right, or left and right: the error names both."""
    with pytest.raises(ValueError, match=r"0 is a tie.*WithoutTies\(model\)"):
        program(PAIRS[DECIDED], Y[DECIDED])


def test_without_ties_a_model_is_a_binary_classifier():
    """Voting, stacking, calibration, held-out probabilities and ROC AUC."""
    pairs, y = PAIRS[DECIDED], Y[DECIDED]
    model = WithoutTies(LOGISTIC)
    assert is_classifier(model)
    sides = clone(LOGISTIC).fit(pairs, y).predict_proba(pairs)[:, [0, 2]]
    sides /= sides.sum(axis=1, keepdims=True)
    vote = VotingClassifier([("one", model), ("two", model)], voting="soft")
    assert_allclose(vote.fit(pairs, y).predict_proba(pairs), sides)
    assert_array_equal(vote.predict(pairs), np.where(sides[:, 1] > 0.5, 1, -1))
    stack = StackingClassifier([("one", model), ("two", WithoutTies(MACHINE))])
    assert stack.fit(pairs, y).score(pairs, y) > 0.8
    held_out = cross_val_predict(model, pairs, y, method="predict_proba", cv=FOLDS)
    for train, test in FOLDS.split(pairs, y):
        fitted = clone(model).fit(pairs[train], y[train])
        assert_allclose(held_out[test], fitted.predict_proba(pairs[test]))
    for ensemble in (True, False):
        machine = CalibratedClassifierCV(WithoutTies(MACHINE), ensemble=ensemble)
        assert log_loss(y, machine.fit(pairs, y).predict_proba(pairs)) < 0.4
    assert cross_val_score(model, pairs, y, scoring="roc_auc").mean() > 0.9


def test_a_binary_classifier_decides_by_the_difference():
    """Rankers and pipelines too; probabilities only where the model has them."""
    pairs, y = PAIRS[DECIDED], Y[DECIDED]
    ranker = make_pipeline(OnItems(StandardScaler()), RankSVM(kernel="linear"))
    model = WithoutTies(ranker).fit(pairs, y, sample_weight=np.ones(len(y)))
    last = model.model_[-1].difference(model.model_[0].transform(pairs))
    assert_array_equal(model.decision_function(pairs), last)
    assert_array_equal(model.predict(pairs), np.where(last > 0, 1, -1))
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match=r"without ties.*got -1, 0, 1\."):
        WithoutTies(LOGISTIC).fit(PAIRS, Y)
    with pytest.raises(ValueError, match=r"without ties.*got -1\."):
        WithoutTies(LOGISTIC).fit(PAIRS, np.full(len(Y), -1))


def test_zero_and_one_can_be_declared():
    """Ties and wins of the right side only, with no doubt about it."""
    rows = np.flatnonzero(Y >= 0)
    with pytest.raises(ValueError, match="y holds only 0 and 1, which can be read"):
        clone(LOGISTIC).fit(PAIRS[rows], Y[rows])
    declared = Outcome.parse(Y[rows], meaning="sign")
    with pytest.warns(UserWarning, match="0 is read as a tie"):
        model = clone(LOGISTIC).fit(PAIRS[rows], declared)
    swapped = clone(LOGISTIC).fit(PAIRS[rows].swap(), -Y[rows])
    assert_allclose(model.utility(ITEMS), swapped.utility(ITEMS), atol=1e-6)


# Rankers are regressors


def graded(n_groups=6, size=10):
    """Grades 0, 1, 2 of items in groups."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_groups * size, 3))
    y = np.digitize(X[:, 0] - X[:, 1] + rng.normal(0, 0.5, len(X)), [-0.7, 0.7])
    return X, y, np.repeat([f"q{i}" for i in range(n_groups)], size)


RLS, TREES = RankRLS(kernel="linear"), RankBoost(10)


def test_stacking_regressor_of_rankers():
    """A ranker of held-out utilities; qid is routed to all, also to the last one."""
    X, y, qid = graded()
    folds = list(QueryKFold(3).split(X, y, qid=qid))
    with sklearn.config_context(enable_metadata_routing=True):
        last = RankRLS(kernel="linear")
        models = [("rls", RLS), ("trees", TREES)]
        stack = StackingRegressor(models, last, cv=folds).fit(X, y, qid=qid)
        columns = [
            cross_val_predict(model, X, y, cv=folds, params={"qid": qid})
            for _, model in models
        ]
        by_hand = clone(last).fit(np.column_stack(columns), y, qid=qid)
    assert_allclose(stack.final_estimator_.coef_, by_hand.coef_)
    assert stack.estimators_[0].fitted_with_qid_
    assert swapped_pairs(y, stack.predict(X), qid=qid) < 0.25


# Searches


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=5),
        make_pipeline(StandardScaler(), Ridge()),
        VotingRegressor([("ridge", Ridge()), ("rls", RLS)]),
    ],
    ids=["boosting", "pipeline", "voting"],
)
def test_tune_takes_any_regressor(model):
    """Folds and scores keep groups together, also where fit knows no qid."""
    X, y, qid = graded()
    name = next(
        name
        for name in ("min_samples_leaf", "ridge__alpha")
        if name in model.get_params()
    )
    result = tune(model, X, y, {name: [1, 30]}, qid=qid, cv=3, scoring="ndcg")
    for train, test in QueryKFold(3).split(X, y, qid=qid):
        by_hand = clone(model).set_params(**{name: 1}).fit(X[train], y[train])
        score = get_scorer("ndcg")(by_hand, X[test], y[test], qid=qid[test])
        assert score in result.table.row(0)
    assert result.best_estimator_.predict(X).shape == y.shape
