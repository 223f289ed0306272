# SPDX-License-Identifier: BSD-3-Clause
"""Metadata routing: weights reach who asked for them, and groups are never mixed.

A search that scores a ranker across groups would give a number that looks right. So it
gets `qid`, or there is no number.
"""

from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.models.inputs import curved_pairs
from tiebreak import RankSVM, SVMCompare, ThresholdCompare
from tiebreak.metrics import get_scorer, swapped_pairs
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


def ranker(C=0.1):
    return RankSVM(C, kernel="linear", loss="squared_hinge", tol=1e-10)


GRID = {"C": [1e-4, 0.01, 10.0]}
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


def by_hand(folds, score, C=0.1):
    """Fit and score fold by fold, within groups; and how it would be across them."""
    X, y, qid = make_grades()
    inside, across = [], []
    for train, test in folds:
        model = ranker(C).fit(X[train], y[train], qid=qid[train])
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
    search = GridSearchCV(ranker(), GRID, cv=QueryKFold(3), scoring=scoring_of(name))
    search.fit(X, y, qid=qid)
    for found, C in zip(split_scores(search), GRID["C"], strict=True):
        folds = QueryKFold(3).split(X, y, qid=qid)
        assert_allclose(found, by_hand(folds, score, C))
    assert search.best_estimator_.fitted_with_qid_
    assert_allclose(
        search.score(X, y, qid=qid),
        score(swapped_pairs(y, search.best_estimator_.utility(X), qid=qid)),
    )
    with pytest.raises(ValueError, match="was fitted with qid"):
        search.score(X, y)


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
    search = GridSearchCV(ranker(), GRID, cv=cv, scoring=scoring_of(name))
    with pytest.warns(UserWarning) as caught:
        search.fit(X, y, qid=qid, **groups)
    assert np.isnan(split_scores(search)).all()
    assert any("fitted with qid" in str(one.message) for one in caught)
    assert any("enable_metadata_routing" in str(one.message) for one in caught)
    strict = GridSearchCV(
        ranker(), GRID, cv=cv, scoring=scoring_of(name), error_score="raise"
    )
    with groups_unseen(cv), pytest.raises(ValueError, match="fitted with qid"):
        strict.fit(X, y, qid=qid, **groups)


@pytest.mark.parametrize("inside", [False, True], ids=["RankSVM", "pipeline"])
def test_groups_reach_the_ranker_inside_a_threshold(routing, inside):
    X, y, qid = make_grades()
    y = np.round(y)
    inner = make_pipeline(StandardScaler(), ranker()) if inside else ranker()
    scores = cross_val_score(
        ThresholdCompare(inner), X, y, cv=QueryKFold(3), params={"qid": qid}
    )
    plain = cross_val_score(inner, X, y, cv=QueryKFold(3), params={"qid": qid})
    assert_allclose(scores, plain)
    model = ThresholdCompare(inner).fit(X, y, qid=qid)
    assert model.n_pairs_ == N_GROUPS * 6 * 5 // 2
    with pytest.raises(ValueError, match="fitted with qid"):
        model.score(X, y)
