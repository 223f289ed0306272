# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak.data import Orders, Pairs
from tiebreak.metrics import (
    average_precision,
    comparison_auc,
    comparison_error,
    comparison_log_loss,
    disagreement,
    get_scorer,
    kendall_tau_b,
    ndcg,
    reciprocal_rank,
    spearman_rho,
    swapped_pairs,
    top_k_precision,
)
from tiebreak.selection.splitters import QueryKFold

AUC, ERROR, LOG_LOSS = map(get_scorer, ("auc", "error", "log_loss"))
DISAGREEMENT, NDCG, SWAPS = map(get_scorer, ("disagreement", "ndcg", "swapped_pairs"))


class GroupRidge(RegressorMixin, BaseEstimator):
    """Ridge regression on features and grades centered inside groups."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, qid=None, sample_weight=None):
        self.fitted_with_qid_ = qid is not None
        group = np.zeros(len(y)) if qid is None else np.asarray(qid)
        X, y = np.array(X, dtype=float), np.array(y, dtype=float)
        for q in np.unique(group):
            rows = group == q
            X[rows] -= X[rows].mean(axis=0)
            y[rows] -= y[rows].mean()
        penalty = self.alpha * np.eye(X.shape[1])
        self.coef_ = np.linalg.solve(X.T @ X + penalty, X.T @ y)
        return self

    def predict(self, X):
        return np.asarray(X) @ self.coef_


class FixedCompare(ClassifierMixin, BaseEstimator):
    """A comparer with given weights: nothing is learned but the classes."""

    def __init__(self, threshold=1.0):
        self.threshold = threshold

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([-1, 0, 1])
        return self

    def difference(self, X):
        X = np.asarray(X)
        return (X[:, 1] - X[:, 0]) @ np.arange(1, X.shape[2] + 1)

    def predict(self, X):
        difference = self.difference(X)
        return np.where(np.abs(difference) > self.threshold, np.sign(difference), 0)

    def predict_proba(self, X):
        score = np.exp(self.difference(X))
        rows = np.column_stack([1 / score, np.ones(len(score)), score])
        return rows / rows.sum(axis=1, keepdims=True)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def graded():
    """Items whose grades depend on the group far more than on the features."""
    rng = np.random.default_rng(7)
    qid = rng.permutation(np.arange(90) % 9)
    X = rng.normal(size=(90, 3))
    y = np.round(2 * X[:, 0] - X[:, 1] + rng.normal(size=90)) + 10 + 4 * qid
    return X, y, qid


@pytest.fixture
def compared():
    rng = np.random.default_rng(8)
    items = rng.normal(size=(40, 2))
    left, right = rng.integers(0, 20, 120), rng.integers(20, 40, 120)
    difference = (items[right] - items[left]) @ [1, 2] + rng.normal(size=120)
    outcome = np.where(np.abs(difference) > 1, np.sign(difference), 0).astype(int)
    return Pairs(items, left, right), outcome, rng.uniform(size=120)


def test_pair_scorers_equal_their_metrics(compared):
    pairs, outcome, weight = compared
    model = FixedCompare().fit(pairs, outcome)
    difference = model.difference(pairs)
    for X in (pairs, np.asarray(pairs), np.asarray(pairs).tolist()):
        assert ERROR(model, X, outcome) == -comparison_error(
            outcome, model.predict(pairs)
        )
        area = AUC(model, X, outcome, sample_weight=weight)
        assert area == comparison_auc(outcome, difference, sample_weight=weight)
        assert LOG_LOSS(model, X, outcome) == -comparison_log_loss(
            outcome, model.predict_proba(pairs)
        )
    closed = get_scorer("auc", close=True)
    assert closed(model, pairs, outcome) == comparison_auc(
        outcome, difference, close=True
    )


@pytest.mark.parametrize(
    ("name", "metric", "sign"),
    [
        ("swapped_pairs", swapped_pairs, -1),
        ("disagreement", disagreement, -1),
        ("kendall_tau_b", kendall_tau_b, 1),
        ("spearman_rho", spearman_rho, 1),
        ("ndcg", ndcg, 1),
        ("top_k_precision", top_k_precision, 1),
        ("average_precision", average_precision, 1),
        ("reciprocal_rank", reciprocal_rank, 1),
    ],
)
def test_grade_scorers_equal_their_metrics_inside_groups(graded, name, metric, sign):
    X, y, qid = graded
    model = GroupRidge().fit(X, y, qid)
    y = y % 4  # so that some rows are not relevant
    expected = metric(y, model.predict(X), qid)
    assert get_scorer(name)(model, X, y, qid=qid) == sign * expected
    assert metric(y, model.predict(X)) != pytest.approx(expected)


def test_orders_bring_their_grades_and_groups():
    items = np.array([[1.0], [2.0], [3.0], [4.0]])
    orders = Orders(items, [[3, 2, 0], [0, [1, 2]]])
    X, y, qid = orders.grades()
    model = LinearRegression().fit(items, items[:, 0])
    # The first list is in order; in the second the first item is last of three.
    assert SWAPS(model, orders) == pytest.approx(-2 / 5)
    assert SWAPS(model, orders) == -swapped_pairs(y, model.predict(X), qid)
    with pytest.raises(TypeError, match="Orders carry their own"):
        SWAPS(model, orders, [1, 2])
    with pytest.raises(TypeError, match="Orders carry their own"):
        SWAPS(model, orders, qid=[1, 2])


def test_missing_groups_are_noticed_inside_wrappers(graded, routing):
    X, y, qid = graded
    ranker = GroupRidge()
    wrapped = [
        make_pipeline(StandardScaler(), ranker),
        GridSearchCV(ranker, {"alpha": [1.0]}, cv=QueryKFold(2), scoring=SWAPS),
    ]
    for model in wrapped:
        model.fit(X, y, qid=qid)
        with pytest.raises(ValueError, match="was fitted with qid but no qid came"):
            SWAPS(model, X, y)
        assert SWAPS(model, X, y, qid=qid) > -1


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_on_request_only(compared):
    pairs, outcome, weight = compared
    model = FixedCompare().set_fit_request(sample_weight=True)

    def scores(scorer):
        return cross_val_score(
            model,
            pairs,
            outcome,
            scoring=scorer,
            cv=3,
            params={"sample_weight": weight},
        )

    with pytest.raises(UnsetMetadataPassedError, match=r"get_scorer\('error'\)"):
        scores(get_scorer("error"))
    with_weights = scores(get_scorer("error").set_score_request(sample_weight=True))
    without = scores(get_scorer("error").set_score_request(sample_weight=False))
    assert not np.allclose(with_weights, without)


def test_requests(routing):
    own = get_scorer("swapped_pairs").set_score_request(sample_weight="w")
    for scorer, requests in (
        (NDCG, {"qid": True}),
        (SWAPS, {"qid": True, "sample_weight": None}),
        (AUC, {"sample_weight": None}),
        (own, {"qid": True, "sample_weight": "w"}),
    ):
        assert scorer.get_metadata_routing().score.requests == requests
    with pytest.raises(TypeError, match="'auc' takes no 'qid'"):
        get_scorer("auc").set_score_request(qid=True)


def test_copies_keep_options_and_requests(routing):
    scorer = get_scorer("ndcg", k=3).set_score_request(qid="query")
    search = clone(GridSearchCV(GroupRidge(), {"alpha": [1.0]}, scoring=scorer))
    for other in (
        copy.deepcopy(scorer),
        pickle.loads(pickle.dumps(scorer)),
        search.scoring,
    ):
        assert other is not scorer
        assert repr(other) == "get_scorer('ndcg', k=3)"
        assert other.get_metadata_routing().score.requests == {"qid": "query"}
        y, utility = [3, 2, 1, 0], [0, 1, 2, 3]
        assert other.from_response(y, utility) == ndcg(y, utility, k=3)


def test_steps_that_pass_pairs_through_are_skipped(compared):
    pairs, outcome, _ = compared
    skipping = make_pipeline("passthrough", None, FixedCompare())
    assert AUC(skipping, pairs, outcome) == AUC(FixedCompare(), pairs, outcome)


def test_wrong_shapes_are_told_apart(graded, compared):
    X, y, _ = graded
    pairs, outcome, _ = compared
    with pytest.raises(TypeError, match=r"'auc' scores pairs.*'swapped_p"):
        AUC(FixedCompare(), X, y)
    for wrong in (pairs, np.asarray(pairs)):
        with pytest.raises(TypeError, match=r"'ndcg' scores graded items.*'error'"):
            NDCG(GroupRidge(), wrong, outcome)
    with pytest.raises(TypeError, match="'auc' scores pairs with outcomes y"):
        AUC(FixedCompare(), pairs)
    with pytest.raises(TypeError, match="'ndcg' scores graded items"):
        NDCG(GroupRidge(), X)
    with pytest.raises(TypeError, match=r"needs difference\(pairs\)"):
        AUC(LinearRegression(), pairs, outcome)


def test_metadata_that_a_metric_does_not_take(graded, compared):
    X, y, qid = graded
    pairs, outcome, _ = compared
    model = GroupRidge().fit(X, y, qid)
    with pytest.raises(TypeError, match="'ndcg' takes no 'sample_weight'"):
        NDCG(model, X, y, qid=qid, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="'error' takes no 'qid'"):
        ERROR(FixedCompare(), pairs, outcome, qid=outcome)
    # None is the same as not given.
    assert NDCG(model, X, y, qid=qid, sample_weight=None) > 0
    assert ERROR.from_response([1, 0], [1, 1], qid=None) == -0.5
