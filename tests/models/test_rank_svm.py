# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM on comparisons, graded items and orders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from tests.oracles import grade_losses as oracle
from tests.oracles import pair_svm
from tests.oracles.pair_svm import hinge_order_primal
from tiebreak import Pairs, RankSVM, ThresholdCompare
from tiebreak.datasets import make_norms


@pytest.fixture
def comparisons(rng):
    table = rng.normal(size=(30, 3))
    left = rng.integers(0, 30, 24)
    right = (left + 1 + rng.integers(0, 29, 24)) % 30
    d = (table[right] - table[left]) @ [1.0, -2.0, 0.5] + rng.normal(size=24)
    y = np.where(np.abs(d) < 0.7, 0, np.sign(d)).astype(int)
    y[:3] = [-1, 0, 1]
    return Pairs(table, left, right), y


@pytest.mark.parametrize("ties", ["ignore", "both"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_equals_a_general_solver(comparisons, ties, C):
    pairs, y = comparisons
    D = pairs.values[pairs.right] - pairs.values[pairs.left]
    rows = D[y != 0] * y[y != 0, None]
    if ties == "both":
        rows = np.vstack([rows, rows, D[y == 0], -D[y == 0]])
    w, objective = hinge_order_primal(rows, np.full(len(rows), C))
    model = RankSVM(C, kernel="linear", ties=ties, tol=1e-9).fit(pairs, y)
    assert model.gap_ <= 1e-9
    assert model.objective_ == pytest.approx(objective, rel=1e-5)
    assert model.objective_ <= objective * (1 + 1e-9)
    np.testing.assert_allclose(model.coef_, w, atol=2e-2 * np.abs(w).max())
    assert np.abs(w).max() > 1e-3


def test_ties_teach(rng):
    """rank2 beats rank on the simulation with many ties, as in the paper."""
    train = make_norms(200, norm=1, tie_share=0.8, random_state=0)
    test = make_norms(2000, norm=1, tie_share=0.8, random_state=1)
    score = {}
    for ties in ("ignore", "both"):
        model = ThresholdCompare(RankSVM(10.0, gamma=0.5, ties=ties))
        score[ties] = model.fit(train.pairs, train.y).score(test.pairs, test.y)
    assert score["both"] > score["ignore"]


def test_nothing_but_ties(comparisons):
    pairs, y = comparisons
    with pytest.raises(ValueError, match=r"all 24 comparisons are ties.*winner"):
        RankSVM().fit(pairs, np.zeros_like(y))
    both = RankSVM(ties="both").fit(pairs, np.zeros_like(y))
    np.testing.assert_allclose(both.utility(pairs.values), 0, atol=1e-2)


def test_contradictions_at_a_large_cost_are_no_reason_to_crawl():
    """Working sets alone take thousands of rounds here."""
    data = make_norms(200, norm=np.inf, random_state=0)
    model = RankSVM(C=1e5, gamma=3.0, ties="both").fit(data.pairs, data.y)
    assert model.converged_ and model.gap_ < 1e-3
    assert "interior point" in model.solver_
    assert model.n_iter_ < 100


TIGHT = {"tol": 1e-10, "loss": "squared_hinge"}


@pytest.fixture
def graded(rng):
    X = rng.normal(size=(60, 3))
    y = np.round(X @ [1.0, -1.0, 0.5] + rng.normal(size=60))
    qid = rng.choice(["b", "a", "c"], 60)
    return X, y, qid


def all_pairs(y, qid):
    """Worse and better row of every pair."""
    return np.nonzero((y[:, None] < y[None]) & (qid[:, None] == qid[None]))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_all_pairs_need_not_be_written_down(graded, kernel):
    X, y, qid = graded
    worse, better = all_pairs(y, qid)
    implied = RankSVM(kernel=kernel, coef0=1.0, gamma=0.3, **TIGHT).fit(X, y, qid=qid)
    written = RankSVM(kernel=kernel, coef0=1.0, gamma=0.3, **TIGHT).fit(
        Pairs(X, worse, better), np.ones(len(worse))
    )
    assert implied.n_pairs_ == len(worse)
    assert implied.objective_ == pytest.approx(written.objective_, rel=1e-9)
    assert_allclose(implied.utility(X), written.utility(X), atol=1e-5)
    assert implied.gap_ <= 1e-10 and implied.converged_
    assert implied.solver_ == written.solver_ == "newton"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_hinge_is_that_of_all_pairs_written_down(graded, kernel):
    X, y, qid = graded
    worse, better = all_pairs(y, qid)
    implied = RankSVM(kernel=kernel, gamma=0.3, tol=1e-9).fit(X, y, qid=qid)
    written = RankSVM(kernel=kernel, gamma=0.3, tol=1e-9).fit(
        Pairs(X, worse, better), np.ones(len(worse))
    )
    assert implied.solver_ == "bundle"
    assert implied.objective_ == pytest.approx(written.objective_, rel=1e-8)
    assert_allclose(implied.utility(X), written.utility(X), atol=1e-3)
    # The coefficients of the rows are those of the pairs, summed up.
    u = rbf_kernel(X, gamma=0.3) if kernel == "rbf" else X @ X.T
    of_rows = u[:, implied.support_] @ implied.dual_coef_
    assert_allclose(of_rows, implied.utility(X), atol=1e-3)


def test_the_hinge_is_that_of_a_general_solver(rng):
    X = rng.normal(size=(8, 2))
    y = np.round(X[:, 0] + rng.normal(size=8))
    worse, better = all_pairs(y, np.zeros(8))
    d = X[better] - X[worse]
    for C in (0.05, 2.0):
        model = RankSVM(C, kernel="linear", tol=1e-10).fit(X, y)
        w, value = pair_svm.hinge_order_primal(d, np.full(len(d), C))
        # The general solver stops a little above the minimum.
        assert model.objective_ <= value * (1 + 1e-9)
        assert model.objective_ == pytest.approx(value, rel=1e-3)
        assert_allclose(model.coef_, w, atol=0.02)


def test_the_squared_hinge_is_that_of_scikit_learn(graded):
    X, y, qid = graded
    worse, better = all_pairs(y, qid)
    difference = X[better] - X[worse]
    machine = LinearSVC(fit_intercept=False, C=1.0, tol=1e-12, dual=False)
    machine.fit(
        np.vstack([difference, -difference]), np.repeat([1, -1], len(difference))
    )
    # Every difference is there twice, so C counts twice.
    ours = RankSVM(kernel="linear", C=2.0, **TIGHT).fit(X, y, qid=qid)
    assert_allclose(ours.coef_, machine.coef_[0], rtol=1e-5)


def test_the_objective_is_the_sum(graded):
    X, y, qid = graded
    group = np.unique(qid, return_inverse=True)[1]
    weight = np.linspace(0.5, 2, 60)
    for per_group in ("sum", "mean"):
        model = RankSVM(C=3.0, kernel="linear", per_group=per_group, **TIGHT)
        model.fit(X, y, qid=qid, sample_weight=weight)
        W = oracle.pair_weights(y, group, weight, per_group)
        u = X @ model.coef_
        expected = 0.5 * model.coef_ @ model.coef_
        expected += 3.0 * oracle.loss("squared_hinge", u, W)[0]
        assert model.objective_ == pytest.approx(expected, rel=1e-10)
        # At the minimum the gradient vanishes.
        slope = model.coef_ + 3.0 * X.T @ oracle.loss("squared_hinge", u, W)[1]
        assert np.linalg.norm(slope) < 1e-4
        # And w is the sum of its support vectors.
        assert_allclose(X[model.support_].T @ model.dual_coef_, model.coef_, atol=1e-4)


def test_a_path_is_what_separate_fits_find(graded):
    X, y, qid = graded
    Cs = [0.01, 1.0, 100.0]
    for options in (TIGHT, {"tol": 1e-9}):
        template = RankSVM(kernel="linear", **options)
        for C, model in zip(Cs, template.path(X, y, Cs, qid=qid), strict=True):
            alone = clone(template).set_params(C=C).fit(X, y, qid=qid)
            assert model.C == C
            assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
        assert not hasattr(template, "coef_")


def test_herbrich_pairs(graded):
    X, y, qid = graded
    model = RankSVM(kernel="linear", pairs_per_item=4, random_state=0)
    model.fit(X, y, qid=qid)
    assert model.n_pairs_ <= 4 * 60
    again = RankSVM(kernel="linear", pairs_per_item=4, random_state=0)
    assert_array_equal(again.fit(X, y, qid=qid).coef_, model.coef_)
    other = RankSVM(kernel="linear", pairs_per_item=4, random_state=1)
    assert (other.fit(X, y, qid=qid).coef_ != model.coef_).any()
    # With more than there are, every pair is drawn from either side: twice.
    every = RankSVM(2.0, kernel="linear", **TIGHT).fit(X, y, qid=qid)
    drawn = RankSVM(1.0, kernel="linear", pairs_per_item=60, **TIGHT)
    drawn.fit(X, y, qid=qid)
    assert drawn.n_pairs_ == 2 * every.n_pairs_
    assert_allclose(drawn.coef_, every.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="fitted with qid"):
        model.score(X, y)


def test_ties_count_in_both_directions(rng):
    # rank2: a tie twice, once in each direction; all else twice.
    items = rng.normal(size=(10, 2))
    left, right = rng.integers(0, 10, (2, 40))
    right = np.where(left == right, (left + 1) % 10, right)
    y = rng.integers(-1, 2, 40)
    model = RankSVM(kernel="linear", ties="both", **TIGHT)
    model.fit(Pairs(items, left, right), y)
    rows = np.concatenate(
        [np.flatnonzero(y), np.flatnonzero(y), *[np.flatnonzero(y == 0)] * 2]
    )
    outcome = np.concatenate(
        [np.tile(y[y != 0], 2), np.repeat([1, -1], (y == 0).sum())]
    )
    written = RankSVM(kernel="linear", **TIGHT)
    written.fit(Pairs(items, left[rows], right[rows]), outcome)
    assert_allclose(model.coef_, written.coef_, atol=1e-7)
    d = items[right] - items[left]
    assert_allclose(d[model.support_].T @ model.dual_coef_, model.coef_, atol=1e-4)


def test_a_kernel_with_many_columns_forms_the_hessian(rng):
    X = rng.normal(size=(450, 4))
    y = np.round(2 * np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=450))
    model = RankSVM(100.0, gamma=2.0, loss="squared_hinge", tol=1e-6).fit(X, y)
    assert model.converged_
    assert len(model.support_items_) > 400
    assert model.score(X, y) > 0.95
