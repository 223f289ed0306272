# SPDX-License-Identifier: BSD-3-Clause
"""The tuner on graded items and orders: whole queries, and their metric."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    Orders,
    Pairs,
    RankSVM,
    ThresholdCompare,
    tune,
)
from tiebreak.metrics import get_scorer, kendall_tau_b, ndcg, swapped_pairs
from tiebreak.selection import QueryKFold

N_QUERIES = 12
GRID = {"C": [1.0, 1e-4, 0.01], "per_group": ["sum", "mean"]}


def svm(**options):
    """Make a model of little tolerance, whose scores agree to many digits."""
    return RankSVM(loss="squared_hinge", tol=1e-9, **options)


def make_grades(seed=0, n_queries=N_QUERIES):
    """Grade queries of different sizes, each on a level of its own; rows mixed."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 9, n_queries))
    X = rng.normal(size=(len(qid), 4))
    utility = X @ [1.0, -0.5, 0.3, 0.0] + 0.4 * X[:, 3] ** 2
    y = np.round(utility + 0.8 * rng.normal(size=len(qid)) + 5.0) + qid
    rows = rng.permutation(len(qid))
    names = np.array([f"query {k * 7 % n_queries}" for k in qid])
    return X[rows], np.maximum(y, 0)[rows], names[rows]


@pytest.fixture(scope="module")
def data():
    return make_grades()


def plain_loop(model, data, grid, metric, folds=None):
    """What tune promises to equal."""
    X, y, qid = data
    folds = list(QueryKFold(5).split(X, y, qid=qid)) if folds is None else folds
    scores = []
    for params in ParameterGrid(grid):
        row = []
        for train, test in folds:
            fitted = clone(model).set_params(**params)
            fitted.fit(X[train], y[train], qid=qid[train])
            row.append(metric(y[test], fitted.utility(X[test]), qid=qid[test]))
        scores.append(row)
    return np.array(scores)


METRICS = {
    "default": (None, lambda *a, **k: -swapped_pairs(*a, **k)),
    "tau": ("kendall_tau_b", kendall_tau_b),
    "ndcg": ("ndcg", ndcg),
    "ndcg@3": (
        get_scorer("ndcg", k=3, gain="linear"),
        lambda *a, **k: ndcg(*a, k=3, gain="linear", **k),
    ),
}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("scoring", "metric"), METRICS.values(), ids=METRICS)
def test_equals_the_plain_loop(data, kernel, scoring, metric):
    X, y, qid = data
    model = svm(kernel=kernel)
    found = tune(model, X, y, GRID, qid=qid, scoring=scoring)
    scores = plain_loop(model, data, GRID, metric)
    assert found.table.columns[-5:] == [f"split_{k}" for k in range(5)]
    assert_allclose(found.table.select(found.table.columns[-5:]), scores, atol=1e-12)
    assert found.best_params_ == list(ParameterGrid(GRID))[scores.mean(axis=1).argmax()]
    assert found.best_score_ == pytest.approx(scores.mean(axis=1).max())
    assert len(set(np.round(scores.mean(axis=1), 6))) > 3
    best = clone(model).set_params(**found.best_params_).fit(X, y, qid=qid)
    assert_array_equal(found.best_estimator_.utility(X), best.utility(X))
    assert found.best_estimator_.fitted_with_qid_
    assert found.scoring in (scoring or "swapped_pairs", "ndcg")


def own_score(model, X, y, qid=None):
    return model.score(X, y, qid=qid)


def test_a_scorer_of_ones_own_is_told_the_groups(data):
    X, y, qid = data
    found = tune(svm(kernel="linear"), X, y, GRID, qid=qid, scoring=own_score)
    plain = tune(svm(kernel="linear"), X, y, GRID, qid=qid)
    assert_allclose(found.table["score"], 1 + plain.table["score"])
    with pytest.raises(ValueError, match="fitted with qid; score needs qid too"):
        tune(svm(), X, y, GRID, qid=qid, scoring=lambda model, X, y: model.score(X, y))


class Recording(BaseEstimator):
    """Remembers which queries it has seen."""

    seen: list = []  # noqa: RUF012

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y, *, qid=None):
        self.seen.append(set(qid.tolist()))
        self.fitted_with_qid_ = True
        return self

    def utility(self, X):
        return X[:, 0] * self.power


@pytest.mark.parametrize("cv", [None, 4, QueryKFold(3), GroupKFold(4), "list"])
def test_no_query_is_ever_split(data, cv):
    X, y, qid = data
    tested = []

    def scorer(model, X, y, qid):
        tested.append(set(qid.tolist()))
        return 0.0

    if cv == "list":
        cv = list(QueryKFold(2).split(X, y, qid=qid))
    Recording.seen.clear()
    tune(
        Recording(), X, y, {"power": [1.0]}, qid=qid, cv=cv, scoring=scorer, refit=False
    )
    assert len(tested) == len(Recording.seen) > 1
    for train, test in zip(Recording.seen, tested, strict=True):
        assert not train & test
        assert train | test == set(qid.tolist())
    assert set.union(*tested) == set(qid.tolist())


@pytest.mark.parametrize(
    "cv",
    [KFold(4, shuffle=True, random_state=0), [(np.arange(40), np.arange(40, 60))]],
    ids=["KFold", "list"],
)
def test_folds_that_split_a_query_are_refused(data, cv):
    X, y, qid = data
    with pytest.raises(ValueError, match=r"divides qid .*query.*use QueryKFold"):
        tune(svm(), X, y, GRID, qid=qid, cv=cv)
    mixed = qid.astype(object)
    mixed[mixed == "query 3"] = 3
    with pytest.raises(ValueError, match="divides qid"):
        tune(svm(), X, y, GRID, qid=mixed, cv=cv)


def test_a_metric_of_comparisons_is_refused_and_the_other_way_round(data):
    X, y, qid = data
    for scoring in ("error", "auc", get_scorer("auc", close=True)):
        with pytest.raises(TypeError, match=r"scores pairs.*'swapped_pairs'"):
            tune(svm(), X, y, GRID, qid=qid, scoring=scoring)
    pairs, outcome = Pairs(X, np.arange(20), np.arange(20, 40)), np.tile([1, -1], 10)
    for scoring in ("swapped_pairs", "ndcg"):
        with pytest.raises(TypeError, match=r"scores graded items.*'error'"):
            tune(svm(), pairs, outcome, GRID, scoring=scoring)
    assert tune(svm(), pairs, outcome, GRID, cv=2, refit=False).scoring == "error"
    with pytest.raises(ValueError, match=r"qid has 3 values but there are \d+ rows"):
        tune(svm(), X, y, GRID, qid=qid[:3])


def test_a_validation_set_has_its_own_groups(data):
    X, y, qid = data
    X_valid, y_valid, q_valid = valid = make_grades(1, 5)
    model = svm(kernel="linear")
    found = tune(model, X, y, GRID, qid=qid, validation=valid)
    scores = [
        -swapped_pairs(
            y_valid,
            clone(model).set_params(**params).fit(X, y, qid=qid).utility(X_valid),
            q_valid,
        )
        for params in ParameterGrid(GRID)
    ]
    assert_allclose(found.table["score"], scores, atol=1e-12)
    with pytest.raises(ValueError, match=r"validation=\(X, y, qid\)"):
        tune(model, X, y, GRID, qid=qid, validation=valid[:2])
    # Other shapes can judge as well.
    lists = Orders(X_valid, [[0, 1, 2], [5, 4, 3]])
    by_lists = tune(model, X, y, GRID, qid=qid, validation=(lists, None), refit=False)
    assert by_lists.scoring == "swapped_pairs"
    pairs, outcome = Pairs(X_valid, [0, 1, 2], [3, 4, 5]), [1, -1, 1]
    by_pairs = tune(model, X, y, GRID, qid=qid, validation=(pairs, outcome))
    assert by_pairs.scoring == "error"
    assert by_pairs.best_score_ == -1 + by_pairs.best_estimator_.score(pairs, outcome)


def test_orders_are_split_by_lists():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))
    utility = X @ [1.0, 0.5, 0.0] + 0.3 * rng.normal(size=30)
    lists = []
    for _ in range(15):
        rows = rng.permutation(30)[:5]
        lists.append(rows[np.argsort(-utility[rows] + 0.3 * rng.normal(size=5))])
    orders = Orders(X, [row.tolist() for row in lists])
    found = tune(svm(kernel="linear"), orders, None, GRID, cv=3)
    scores = [
        [
            clone(svm(kernel="linear"))
            .set_params(**params)
            .fit(orders[train])
            .score(orders[test])
            - 1
            for train, test in KFold(3).split(np.zeros(15))
        ]
        for params in ParameterGrid(GRID)
    ]
    assert_allclose(
        found.table.select("split_0", "split_1", "split_2"), scores, atol=1e-12
    )
    assert found.best_estimator_.n_pairs_ == 150


def test_a_precomputed_kernel_is_split_by_rows_and_columns(data):
    X, y, qid = data
    K = X @ X.T
    found = tune(svm(kernel="precomputed"), K, y, GRID, qid=qid, cv=3, refit=False)
    plain = tune(svm(kernel="linear"), X, y, GRID, qid=qid, cv=3, refit=False)
    assert_allclose(found.table["score"], plain.table["score"], atol=1e-12)
    lists = [[0, 1, 2], [3, 4, 5], [6, 2, 1], [7, 8, 0]]
    of_lists = [
        tune(svm(kernel=kernel), Orders(table, lists), None, GRID, cv=2, refit=False)
        for kernel, table in (("precomputed", K), ("linear", X))
    ]
    assert_allclose(of_lists[0].table["score"], of_lists[1].table["score"], atol=1e-12)


def test_pipelines_equal_grid_search_with_routing(data):
    X, y, qid = data
    X = X * [1.0, 100.0, 0.01, 1.0]
    pipe = make_pipeline(StandardScaler(), svm(kernel="linear"))
    grid = {"ranksvm__C": [1e-4, 0.01, 1.0]}
    found = tune(pipe, X, y, grid, qid=qid, cv=4)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            pipe, grid, cv=QueryKFold(4), scoring=get_scorer("swapped_pairs")
        ).fit(X, y, qid=qid)
    assert_allclose(found.table["score"], search.cv_results_["mean_test_score"])
    assert found.best_params_ == search.best_params_
    assert found.table["score"].std() > 0.001


def test_progress_is_shown_in_terminals(data, capsys, monkeypatch):
    X, y, qid = data
    options = {"qid": qid, "cv": 2, "refit": False}
    tune(svm(), X, y, GRID, **options)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    tune(svm(), X, y, GRID, **options)
    assert "tuning" in capsys.readouterr().err
    tune(svm(), X, y, GRID, progress=False, **options)
    assert capsys.readouterr().err == ""


def test_what_did_not_converge_is_in_the_table(data):
    X, y, qid = data
    lame = svm(kernel="rbf", max_iter=1)
    for model, name in (
        (lame, "C"),
        (make_pipeline(StandardScaler(), lame), "ranksvm__C"),
        (ThresholdCompare(lame), "ranker__C"),
    ):
        found = tune(model, X, y, {name: [1e3]}, qid=qid, cv=2, refit=False)
        assert found.table["converged"].to_list() == [False]
