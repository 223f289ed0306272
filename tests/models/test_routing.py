# SPDX-License-Identifier: BSD-3-Clause
"""Metadata routing: weights reach who asked for them, and groups are never mixed.

A search that scores a ranker across groups would give a number that looks right. So it
gets `qid`, or there is no number.
"""

from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.models.inputs import curved_pairs
from tiebreak import OnItems, RankSVM, SVMCompare, ThresholdCompare
from tiebreak.data import check_grades
from tiebreak.data.features import remember_features
from tiebreak.metrics import get_scorer, swapped_pairs
from tiebreak.models.base import UtilityMixin
from tiebreak.selection.splitters import QueryKFold


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted_folds(model, pairs, y, weight):
    return [
        clone(model)
        .fit(pairs[train], y[train], sample_weight=weight[train])
        .score(pairs[test], y[test], sample_weight=weight[test])
        for train, test in KFold(3).split(pairs)
    ]


@pytest.mark.parametrize("kind", ["SVMCompare", "RankSVM", "ThresholdCompare"])
def test_weights_are_routed_to_fit_and_score(routing, kind):
    pairs, y = curved_pairs()
    weight = 1.0 + np.arange(len(y)) % 5
    model = {
        "SVMCompare": SVMCompare(C=10.0, gamma=0.1),
        "RankSVM": RankSVM(C=10.0, gamma=0.1),
        "ThresholdCompare": ThresholdCompare(
            RankSVM(C=10.0, gamma=0.1).set_fit_request(sample_weight=True)
        ),
    }[kind]
    model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scores = cross_val_score(
        model, pairs, y, cv=KFold(3), params={"sample_weight": weight}
    )
    assert_allclose(scores, weighted_folds(model, pairs, y, weight))
    unweighted = weighted_folds(model, pairs, y, np.ones(len(y)))
    assert np.abs(scores - unweighted).max() > 1e-3


def test_weights_that_nobody_asked_for_are_refused(routing):
    pairs, y = curved_pairs()
    weight = np.ones(len(y))
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_val_score(SVMCompare(), pairs, y, params={"sample_weight": weight})
    asking = ThresholdCompare(RankSVM())
    asking.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    with pytest.raises(UnsetMetadataPassedError, match=r"RankSVM\.fit"):
        cross_val_score(
            asking, pairs, y, params={"sample_weight": weight}, error_score="raise"
        )


def test_weights_for_the_threshold_only(routing):
    pairs, y = curved_pairs()
    weight = np.where(y == 0, 5.0, 1.0)
    ranker = RankSVM(C=10.0, gamma=0.1)
    model = ThresholdCompare(clone(ranker).set_fit_request(sample_weight=False))
    model.fit(pairs, y, sample_weight=weight)
    plain = ThresholdCompare(ranker).fit(pairs, y)
    assert_array_equal(model.decision_function(pairs), plain.decision_function(pairs))
    assert model.threshold_ > plain.threshold_


def test_weights_for_a_ranker_that_takes_none_are_refused():
    pairs, y = curved_pairs()

    class Plain(BaseEstimator):
        def fit(self, X, y):
            return self

    with pytest.raises(ValueError, match="Plain takes no sample_weight; leave it out"):
        ThresholdCompare(Plain()).fit(pairs, y, sample_weight=np.ones(len(y)))


def test_weights_reach_the_end_of_a_pipeline_without_routing():
    pairs, y = curved_pairs()
    weight = 1.0 + np.arange(len(y)) % 5
    ranker = make_pipeline(OnItems(StandardScaler()), RankSVM())
    model = ThresholdCompare(ranker).fit(pairs, y, sample_weight=weight)
    ranker.fit(pairs, y, ranksvm__sample_weight=weight)
    assert_array_equal(model.decision_function(pairs), ranker.decision_function(pairs))
    plain = ThresholdCompare(clone(ranker)).fit(pairs, y)
    assert np.abs(model.decision_function(pairs) - plain.decision_function(pairs)).max()


def test_weights_reach_the_end_of_a_pipeline_with_routing(routing):
    pairs, y = curved_pairs()
    weight = 1.0 + np.arange(len(y)) % 5
    ranker = make_pipeline(
        OnItems(StandardScaler()).set_fit_request(sample_weight=False),
        RankSVM().set_fit_request(sample_weight=True),
    )
    model = ThresholdCompare(ranker).fit(pairs, y, sample_weight=weight)
    ranker.fit(pairs, y, sample_weight=weight)
    assert_array_equal(model.decision_function(pairs), ranker.decision_function(pairs))


class Ridge(UtilityMixin, BaseEstimator):
    """The smallest ranker on grades: least squares on deviations within groups."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, *, qid=None):
        grades = check_grades(X, y, qid)
        remember_features(self, grades.items)
        Z = np.column_stack([grades.items.values, grades.y])
        sums = np.zeros((grades.n_groups, Z.shape[1]))
        np.add.at(sums, grades.group, Z)
        Z = Z - (sums / np.bincount(grades.group)[:, None])[grades.group]
        A, b = Z[:, :-1], Z[:, -1]
        self.coef_ = np.linalg.solve(A.T @ A + self.alpha * np.eye(A.shape[1]), A.T @ b)
        self.fitted_with_qid_ = qid is not None
        return self

    def _utility(self, table):
        return table.values @ self.coef_


ALPHAS = {"alpha": [0.01, 30.0, 3000.0]}
N_GROUPS = 9


def make_grades():
    """Grade nine groups, each on a scale of its own; across groups all is wrong."""
    rng = np.random.default_rng(3)
    qid = np.repeat(np.arange(N_GROUPS), 6)
    X = rng.normal(size=(len(qid), 3))
    level = rng.normal(size=N_GROUPS) * 20
    X[:, 2] -= level[qid] / 10
    y = X @ [1.0, 0.5, 0.2] + level[qid] + 0.7 * rng.normal(size=len(qid))
    rows = rng.permutation(len(qid))
    return X[rows], y[rows], np.array([f"group {q}" for q in qid])[rows]


def by_hand(folds, score, alpha=1.0):
    """Fit and score fold by fold, within groups; and how it would be across them."""
    X, y, qid = make_grades()
    inside, across = [], []
    for train, test in folds:
        model = Ridge(alpha).fit(X[train], y[train], qid=qid[train])
        utility = X[test] @ model.coef_
        inside.append(score(swapped_pairs(y[test], utility, qid=qid[test])))
        across.append(score(swapped_pairs(y[test], utility)))
    assert np.abs(np.subtract(inside, across)).min() > 0.01
    return inside


def split_scores(search):
    results = search.cv_results_
    names = [f"split{k}_test_score" for k in range(search.n_splits_)]
    return np.column_stack([results[name] for name in names])


SCORINGS = [
    pytest.param(None, lambda swapped: 1 - swapped, id="score"),
    pytest.param("swapped_pairs", lambda swapped: -swapped, id="swapped_pairs"),
]


def scoring_of(name):
    return None if name is None else get_scorer(name)


@pytest.mark.parametrize(("name", "score"), SCORINGS)
def test_a_search_with_routing_respects_groups(routing, name, score):
    X, y, qid = make_grades()
    search = GridSearchCV(Ridge(), ALPHAS, cv=QueryKFold(3), scoring=scoring_of(name))
    search.fit(X, y, qid=qid)
    for found, alpha in zip(split_scores(search), ALPHAS["alpha"], strict=True):
        folds = QueryKFold(3).split(X, y, qid=qid)
        assert_allclose(found, by_hand(folds, score, alpha))
    assert search.best_estimator_.fitted_with_qid_
    assert_allclose(
        search.score(X, y, qid=qid),
        score(swapped_pairs(y, search.best_estimator_.utility(X), qid=qid)),
    )
    with pytest.raises(ValueError, match="was fitted with qid"):
        search.score(X, y)


@pytest.mark.parametrize(("name", "score"), SCORINGS)
@pytest.mark.parametrize(
    "cv", [QueryKFold(3), KFold(3)], ids=lambda cv: type(cv).__name__
)
def test_cross_validation_with_routing_respects_groups(routing, name, score, cv):
    X, y, qid = make_grades()
    scores = cross_val_score(
        Ridge(), X, y, cv=cv, scoring=scoring_of(name), params={"qid": qid}
    )
    needed = {"qid": qid} if isinstance(cv, QueryKFold) else {}
    assert_allclose(scores, by_hand(cv.split(X, y, **needed), score))


@pytest.mark.parametrize(("name", "score"), SCORINGS)
def test_a_pipeline_with_routing_respects_groups(routing, name, score):
    X, y, qid = make_grades()
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), Ridge())
    scores = cross_val_score(
        pipeline,
        X,
        y,
        cv=QueryKFold(3),
        scoring=scoring_of(name),
        params={"qid": qid},
    )
    assert_allclose(scores, by_hand(QueryKFold(3).split(X, y, qid=qid), score))


def test_the_splitter_misses_qid_with_routing(routing):
    X, y, _ = make_grades()
    with pytest.raises(ValueError, match="QueryKFold needs the column qid"):
        cross_val_score(Ridge(), X, y, cv=QueryKFold(3))


def groups_unseen(cv):
    """QueryKFold says that groups reach only itself; other splitters do not."""
    if isinstance(cv, QueryKFold):
        return pytest.warns(UserWarning, match="neither fit nor score sees them")
    return nullcontext()


WITHOUT_ROUTING = [
    pytest.param(KFold(3), {}, id="KFold"),
    pytest.param(QueryKFold(3), {"groups": True}, id="QueryKFold"),
    pytest.param(GroupKFold(3), {"groups": True}, id="GroupKFold"),
]


@pytest.mark.parametrize(("name", "score"), SCORINGS)
@pytest.mark.parametrize(("cv", "needs"), WITHOUT_ROUTING)
def test_a_search_without_routing_gives_no_number_across_groups(name, score, cv, needs):
    X, y, qid = make_grades()
    groups = {"groups": qid} if needs else {}
    search = GridSearchCV(Ridge(), ALPHAS, cv=cv, scoring=scoring_of(name))
    with pytest.warns(UserWarning) as caught:
        search.fit(X, y, qid=qid, **groups)
    assert np.isnan(split_scores(search)).all()
    assert any("fitted with qid" in str(one.message) for one in caught)
    assert any("enable_metadata_routing" in str(one.message) for one in caught)
    strict = GridSearchCV(
        Ridge(), ALPHAS, cv=cv, scoring=scoring_of(name), error_score="raise"
    )
    with groups_unseen(cv), pytest.raises(ValueError, match="fitted with qid"):
        strict.fit(X, y, qid=qid, **groups)


@pytest.mark.parametrize(("name", "score"), SCORINGS)
@pytest.mark.parametrize(("cv", "needs"), WITHOUT_ROUTING)
def test_cross_validation_without_routing_gives_no_number_across_groups(
    name, score, cv, needs
):
    X, y, qid = make_grades()
    groups = {"groups": qid} if needs else {}
    arguments = {"cv": cv, "scoring": scoring_of(name), "params": {"qid": qid}}
    with groups_unseen(cv), pytest.warns(UserWarning, match="fitted with qid"):
        scores = cross_val_score(Ridge(), X, y, **arguments, **groups)
    assert np.isnan(scores).all()
    with groups_unseen(cv), pytest.warns(UserWarning, match="fitted with qid"):
        results = cross_validate(
            Ridge(), X, y, return_train_score=True, **arguments, **groups
        )
    assert np.isnan(results["test_score"]).all()
    assert np.isnan(results["train_score"]).all()
    with groups_unseen(cv), pytest.raises(ValueError, match="fitted with qid"):
        cross_val_score(Ridge(), X, y, error_score="raise", **arguments, **groups)


def test_groups_that_only_the_splitter_sees_are_warned_about():
    """Neither model nor scorer can know: the splitter is the one that says it."""
    X, y, qid = make_grades()
    with pytest.warns(UserWarning, match="neither fit nor score sees them"):
        GridSearchCV(Ridge(), ALPHAS, cv=QueryKFold(3)).fit(X, y, groups=qid)


def test_without_routing_a_scorer_can_still_be_called_with_groups():
    X, y, qid = make_grades()
    model = Ridge().fit(X, y, qid=qid)
    swapped = swapped_pairs(y, model.utility(X), qid=qid)
    assert_allclose(model.score(X, y, qid=qid), 1 - swapped)
    assert_allclose(get_scorer("swapped_pairs")(model, X, y, qid=qid), -swapped)
    for call in (model.score, lambda X, y: get_scorer("swapped_pairs")(model, X, y)):
        with pytest.raises(ValueError, match="fitted with qid"):
            call(X, y)
