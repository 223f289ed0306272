# SPDX-License-Identifier: BSD-3-Clause
"""Paths of 1-norm ranking, their scores, and the alpha that is chosen by them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from tests.models.inputs import curved_pairs, refused
from tiebreak import L1Ranker, L1RankerCV, Orders, l1_path
from tiebreak.metrics import kendall_tau_b, swapped_pairs
from tiebreak.selection import QueryKFold


def make(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    u = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    return X, np.digitize(u, [-1, 1]).astype(float), rng


def test_a_path_starts_where_everything_is_dropped():
    X, y, _ = make()
    path = l1_path(X, y, n_alphas=6, eps=0.01, cv=None)
    assert path.alpha_max == L1Ranker().alpha_max(X, y)
    assert_allclose(path.alphas[[0, -1]], [path.alpha_max, 0.01 * path.alpha_max], 1e-6)
    assert_allclose(np.diff(np.log(path.alphas)), np.log(0.01) / 5)
    assert path.n_selected[0] == 0
    assert path.n_selected[1] > 0
    assert path.scores is None
    assert (path.gaps <= 1e-6).all()
    for alpha, coef, value in zip(
        path.alphas[1:], path.coefs[1:], path.objectives[1:], strict=True
    ):
        model = L1Ranker(alpha).fit(X, y)
        assert_allclose(coef, model.coef_, atol=1e-5)
        assert_allclose(value, model.objective_, rtol=1e-6)
    assert "6 alphas" in repr(path)
    with pytest.raises(ValueError, match="no scores"):
        path.mean_scores  # noqa: B018 - raises


def test_scores_are_those_of_a_plain_loop():
    X, y, rng = make(80)
    qid = rng.integers(0, 8, 80)
    weight = rng.uniform(0.5, 2.0, 80)
    alphas = [200.0, 20.0, 2.0]
    cv = QueryKFold(3)
    path = l1_path(X, y, alphas[::-1], qid=qid, sample_weight=weight, cv=cv)
    assert_array_equal(path.alphas, alphas)
    expected = np.empty((3, 3))
    for f, (train, test) in enumerate(cv.split(X, y, qid=qid)):
        for a, alpha in enumerate(alphas):
            model = L1Ranker(alpha)
            model.fit(X[train], y[train], qid=qid[train], sample_weight=weight[train])
            expected[a, f] = -swapped_pairs(
                y[test], model.utility(X[test]), qid[test], weight[test]
            )
    assert_allclose(path.scores, expected, atol=1e-9)
    assert path.scoring == "swapped_pairs"
    tau = l1_path(X, y, [1e6, *alphas[1:]], qid=qid, cv=cv, scoring="kendall_tau_b")
    assert np.isnan(tau.scores[0]).all()
    assert tau.best > 0
    train, test = next(iter(cv.split(X, y, qid=qid)))
    model = L1Ranker(20.0).fit(X[train], y[train], qid=qid[train])
    utility = model.utility(X[test])
    assert_allclose(tau.scores[1, 0], kendall_tau_b(y[test], utility, qid=qid[test]))


def test_folds_share_all_grades_whatever_the_order_of_the_rows():
    X, y, _ = make(40)
    rows = np.argsort(y)
    path = l1_path(X[rows], y[rows], [10.0, 1.0], cv=4)
    assert path.scores.shape == (2, 4)
    assert np.isfinite(path.scores).all()


def test_every_shape_has_a_path():
    pairs, outcome = curved_pairs()
    of_pairs = l1_path(pairs, outcome, [5.0, 0.5], cv=3)
    assert of_pairs.scoring == "error"
    assert of_pairs.scores.shape == (2, 3)
    X, y, rng = make()
    sparse = l1_path(sp.csr_array(X), y, [5.0, 0.5], cv=3)
    assert_allclose(sparse.scores, l1_path(X, y, [5.0, 0.5], cv=3).scores)
    orders = Orders(X, [rng.permutation(60)[:6].tolist() for _ in range(9)])
    assert l1_path(orders, alphas=[5.0], cv=3).scores.shape == (1, 3)
    named = l1_path(pd.DataFrame(X, columns=list("abcde")), y, [5.0], cv=None)
    assert named.feature_names == tuple("abcde")
    for slack in ("item", "item-weighted"):
        path = l1_path(X, y, n_alphas=3, slack=slack, cv=None)
        assert path.n_selected[0] == 0 < path.n_selected[-1]


def test_bad_input_is_refused():
    X, y, rng = make(100)
    refused(ValueError, ["at least one value"], l1_path, X, y, [])
    refused(ValueError, ["alpha=-1", "not negative"], l1_path, X, y, [1.0, -1])
    refused(ValueError, ["n_alphas", "2.5"], l1_path, X, y, n_alphas=2.5)
    refused(ValueError, ["eps", "2"], l1_path, X, y, eps=2)
    refused(ValueError, ["1 folds of 100 samples"], l1_path, X, y, [1.0], cv=1)
    many = np.digitize(rng.normal(size=100) + X[:, 0], np.linspace(-2, 2, 12))
    refused(ValueError, ["no path", "slack='item'"], l1_path, X, many, slack="item")
    refused(ValueError, ["cv=None", "L1Ranker"], L1RankerCV(cv=None).fit, X, y)
    refused(TypeError, ["scores pairs"], l1_path, X, y, [1.0], scoring="auc")


def test_the_alpha_with_the_best_score_is_chosen():
    X, y, rng = make(80)
    qid = rng.integers(0, 6, 80)
    model = L1RankerCV(n_alphas=8, cv=3).fit(X, y, qid=qid)
    path = l1_path(X, y, n_alphas=8, cv=3, qid=qid)
    assert_allclose(model.scores_, path.scores)
    assert_array_equal(model.alphas_, path.alphas)
    mean = model.scores_.mean(axis=1)
    assert mean[model.alphas_ == model.alpha_] == mean.max()
    # Of equally good ones the largest.
    assert model.alpha_ == model.alphas_[np.flatnonzero(mean == mean.max())[0]]
    plain = L1Ranker(model.alpha_).fit(X, y, qid=qid)
    assert_array_equal(model.coef_, plain.coef_)
    assert_array_equal(model.utility(X), plain.utility(X))
    assert_allclose(model.score(X, y, qid=qid), plain.score(X, y, qid=qid))
    assert {0, 1} <= set(model.selected_.tolist())
    with pytest.raises(ValueError, match="fitted with qid"):
        model.score(X, y)
    assert clone(model).get_params()["n_alphas"] == 8
