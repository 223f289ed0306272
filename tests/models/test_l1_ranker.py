# SPDX-License-Identifier: BSD-3-Clause
"""1-norm ranking against linear programs in which every pair is a row."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from tests.models.inputs import refused
from tests.oracles import l1_ranking as plain
from tiebreak import L1Ranker, Pairs
from tiebreak.losses import GradeTree
from tiebreak.metrics import kendall_tau_b
from tiebreak.models.l1 import problem as l1_problem
from tiebreak.models.l1.risks import GradedPairRisk, ListedPairRisk

SLACKS = ["pair", "item", "item-weighted"]
# Pairs of all grades have a slack each, so that "adjacent" is for the others.
FORMS = [(slack, False) for slack in SLACKS] + [(slack, True) for slack in SLACKS[1:]]
TIGHT = {"tol": 1e-9}


def make(n=24, p=3, n_grades=4, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    u = X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=n)
    cuts = np.quantile(u, np.arange(1, n_grades) / n_grades)
    return X, np.digitize(u, cuts).astype(float), rng


def fit(model, *data, **rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(*data, **rows)


@pytest.mark.parametrize(("slack", "adjacent"), FORMS)
@pytest.mark.parametrize("reduction", ["threshold", None])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_program_with_every_pair_a_row(
    slack, adjacent, reduction, grouped, weighted
):
    X, y, rng = make()
    qid = rng.integers(0, 2, len(y)) if grouped else None
    weight = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    for alpha in (0.0, 0.5, 4.0):
        model = L1Ranker(alpha, slack, reduction, adjacent, **TIGHT)
        fit(model, X, y, qid=qid, sample_weight=weight)
        expected, w, bound = plain.solve_graded(
            X, y, alpha, slack, qid, weight, adjacent
        )
        assert_allclose(model.objective_, expected, rtol=1e-8)
        assert_allclose(model.dual_objective_, bound, rtol=1e-7)
        assert model.converged_
        if alpha == 0.5:
            assert np.abs(w).max() > 0.1
            assert_allclose(model.coef_, w, atol=1e-7)
            assert_array_equal(model.coef_ == 0, np.abs(w) < 1e-9)


@pytest.mark.parametrize("slack", ["pair", "item-weighted"])
def test_many_terms_are_solved_in_parts_to_the_same_optimum(slack, monkeypatch):
    monkeypatch.setattr(l1_problem, "_WHOLE_ROWS", 10)
    monkeypatch.setattr(l1_problem, "_ROWS_AT_A_TIME", 20)
    X, y, rng = make(60, 4)
    weight = rng.uniform(0.5, 2.0, len(y))
    for alpha in (0.5, 5.0):
        model = L1Ranker(alpha, slack, **TIGHT).fit(X, y, sample_weight=weight)
        expected, w, _ = plain.solve_graded(X, y, alpha, slack, weight=weight)
        assert model.n_iter_ > 1
        assert_allclose(model.objective_, expected, rtol=1e-8)
        assert_allclose(model.coef_, w, atol=1e-5)
        assert_array_equal(model.coef_ == 0, np.abs(w) < 1e-9)


@pytest.mark.parametrize("width", [0.5, 0.01])
@pytest.mark.parametrize("listed", [False, True])
def test_a_rounded_risk_has_its_derivatives_and_a_plane_below(listed, width):
    X, y, rng = make(40, 3)
    better, worse = np.array(plain.list_pairs(y)).T
    if listed:
        risk = ListedPairRisk(X, better, worse, np.ones(len(better)) / 7)
    else:
        tree = GradeTree(y, np.zeros(len(y), dtype=int), np.ones(len(y)))
        tree.total = 7.0
        risk = GradedPairRisk(X, tree)
    smooth, x = risk.smoothed(width), rng.normal(size=3)
    short = 1 - (X[better] - X[worse]) @ x
    assert_allclose(risk.expand(x)[0], np.maximum(short, 0).sum() / 7)
    value, slope = smooth.expand(x)
    # The mean of the hinge over shifts of its margin by up to half the width.
    shifts = (np.arange(2000) + 0.5) / 2000 * width - width / 2
    shifted = np.maximum(short[:, None] + shifts, 0).mean(axis=1)
    assert_allclose(value, shifted.sum() / 7, rtol=1e-5)
    H, plane = smooth.hessian(np.arange(3)), smooth.plane()
    step = 1e-5 * width
    for j, direction in enumerate(step * np.eye(3)):
        (up, above), (down, below) = (smooth.expand(x + s * direction) for s in (1, -1))
        assert_allclose((up - down) / (2 * step), slope[j], rtol=1e-5, atol=1e-5)
        assert_allclose((above - below) / (2 * step), H[j], rtol=1e-4, atol=1e-3)
    assert_allclose(plane.a, slope)
    assert plane.a @ x + plane.b <= risk.expand(x)[0] + 1e-12
    for point in rng.normal(scale=3, size=(50, 3)):
        assert plane.a @ point + plane.b <= risk.expand(point)[0] + 1e-9


@pytest.mark.parametrize("pairs", [False, True])
def test_many_features_and_a_small_penalty_take_few_steps(pairs):
    X, y, rng = make(250, 30)
    y = X @ rng.normal(size=30) + 10 * rng.normal(size=250)
    if pairs:
        left = rng.integers(0, 250, 4000)
        right = (left + rng.integers(1, 250, 4000)) % 250
        X, y = Pairs(X, left, right), np.sign(y[right] - y[left])
    largest = L1Ranker().alpha_max(X, y)
    model = L1Ranker(largest / 1000).fit(X, y)
    assert model.converged_ and model.gap_ <= 1e-6
    assert model.n_iter_ < 100
    assert np.abs(model.dual_gradient_).max() <= model.alpha * (1 + 1e-9)


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("parts", [False, True])
def test_comparisons_are_rows_as_listed(slack, parts, monkeypatch):
    if parts:
        monkeypatch.setattr(l1_problem, "_WHOLE_ROWS", 5)
        monkeypatch.setattr(l1_problem, "_ROWS_AT_A_TIME", 10)
    X, _, rng = make(15)
    left, right = rng.integers(0, 15, (2, 50))
    keep = left != right
    left, right = left[keep], right[keep]
    difference = X[right, 0] - X[left, 0] + 0.5 * rng.normal(size=len(left))
    outcome = np.where(np.abs(difference) < 0.3, 0, np.sign(difference)).astype(int)
    weight = rng.integers(1, 4, len(left)).astype(float)
    model = L1Ranker(0.7, slack, **TIGHT)
    fit(model, Pairs(X, left, right), outcome, sample_weight=weight)
    decided = np.flatnonzero(outcome)
    listed = [
        (right[k], left[k]) if outcome[k] > 0 else (left[k], right[k]) for k in decided
    ]
    if slack == "pair":
        rows, cost = np.eye(len(listed)), weight[decided]
    else:
        rows, cost = np.zeros((len(listed), 15)), np.zeros(15)
        for k, pair in enumerate(listed):
            rows[k, list(pair)] = 1.0
            cost[list(pair)] += weight[decided[k]]
        if slack == "item":
            cost = np.minimum(cost, 1.0)
    expected, w, _ = plain.solve(X, listed, 0.7, rows, cost)
    assert_allclose(model.objective_, expected, rtol=1e-8)
    assert_allclose(model.coef_, w, atol=1e-7)
    assert model.n_pairs_ == len(decided) < len(outcome)
    assert model.n_rows_[0] == len(decided)


@pytest.mark.parametrize(("slack", "adjacent"), FORMS)
def test_alpha_max_is_exact_from_both_sides(slack, adjacent):
    X, y, rng = make(30, n_grades=3)
    X = X * [1.0, 7.0, 0.3]
    weight = rng.uniform(0.5, 2.0, len(y))
    model = L1Ranker(1.0, slack, adjacent=adjacent, **TIGHT)
    largest = model.alpha_max(X, y, sample_weight=weight)
    pairs = plain.list_pairs(y, adjacent=adjacent)
    parts = plain.slack_matrix(pairs, weight, slack)
    assert_allclose(largest, plain.largest_alpha(X, pairs, *parts), rtol=1e-6)
    above = fit(
        model.set_params(alpha=largest * (1 + 1e-5)), X, y, sample_weight=weight
    )
    assert not above.coef_.any()
    below = fit(
        model.set_params(alpha=largest * (1 - 1e-5)), X, y, sample_weight=weight
    )
    assert below.coef_.any()


def test_the_certificate_is_a_certificate():
    X, y, _ = make(40, 4)
    for slack in SLACKS:
        alpha = 0.2 * L1Ranker(slack=slack).alpha_max(X, y)
        model = L1Ranker(alpha, slack, **TIGHT).fit(X, y)
        assert np.abs(model.dual_gradient_).max() <= alpha * (1 + 1e-9)
        used = model.coef_ != 0
        assert used.sum() > 0
        signs = alpha * np.sign(model.coef_[used])
        assert_allclose(model.dual_gradient_[used], signs, rtol=1e-7)
        best = plain.solve_graded(X, y, alpha, slack)[0]
        assert model.dual_objective_ <= best * (1 + 1e-12)
        gap = (model.objective_ - model.dual_objective_) / model.objective_
        assert_allclose(model.gap_, max(gap, 0.0), atol=1e-15)


@pytest.mark.parametrize("slack", ["pair", "item"])
def test_noise_is_dropped_exactly_and_two_groups_are_told_apart(slack):
    # The artificial data of Nan et al.: 2000 points in two groups of the same size,
    # three features with little overlap that together tell them apart, three of noise.
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 1000)
    signal = rng.uniform(0, 1, (2000, 3)) + 0.7 * y[:, None]
    total = signal.sum(axis=1)
    signal[(y == 0) & (total > 2.5)] -= 0.3
    signal[(y == 1) & (total < 2.7)] += 0.3
    X = np.hstack([signal, rng.uniform(0, 1, (2000, 3))])
    alpha = 0.05 * L1Ranker(slack=slack).alpha_max(X, y)
    model = L1Ranker(alpha, slack).fit(X, y)
    assert model.selected_.tolist() == [0, 1, 2]
    assert (model.coef_[3:] == 0.0).all()
    utility = model.utility(X)
    grade = utility > np.median(utility)
    assert_allclose(kendall_tau_b(y, grade), 1.0)


@pytest.mark.parametrize("slack", SLACKS)
def test_a_path_is_separate_fits(slack):
    X, y, rng = make(80, 5, noise=1.0)
    qid = rng.integers(0, 2, len(y))
    model = L1Ranker(slack=slack, **TIGHT)
    alphas = model.alpha_max(X, y, qid=qid) * np.array([1.0, 0.5, 0.1, 0.02, 0.3])
    for alpha, one in zip(alphas, model.path(X, y, alphas, qid=qid), strict=True):
        alone = fit(L1Ranker(alpha, slack, **TIGHT), X, y, qid=qid)
        assert one.alpha == alpha
        assert_allclose(one.objective_, alone.objective_, rtol=1e-9)
        assert_allclose(one.coef_, alone.coef_, atol=1e-6)
        assert_array_equal(one.coef_ == 0, alone.coef_ == 0)
    assert not hasattr(model, "coef_")


def test_the_hull_keeps_corners_and_their_pairs():
    X, y, _ = make(60, 2, n_grades=2, noise=0.0)
    corners = np.concatenate(
        [
            rows[[plain.is_corner(X[rows], k) for k in range(len(rows))]]
            for rows in (np.flatnonzero(y == 0), np.flatnonzero(y == 1))
        ]
    )
    for slack in SLACKS:
        hull = L1Ranker(0.5, slack, "hull", **TIGHT).fit(X, y)
        alone = L1Ranker(0.5, slack, None, **TIGHT).fit(X[corners], y[corners])
        assert_allclose(hull.objective_, alone.objective_, rtol=1e-9)
        assert_allclose(hull.coef_, alone.coef_, atol=1e-8)
        n = np.bincount(y[corners].astype(int))
        assert hull.n_rows_ == (30 * 30, n[0] * n[1])
        assert n.sum() < 40
    # Separable, so that slacks are zero at a small alpha and corners are enough.
    whole = L1Ranker(1e-6, "item", **TIGHT).fit(X, y)
    hull = L1Ranker(1e-6, "item", "hull", **TIGHT).fit(X, y)
    assert_allclose(hull.objective_, whole.objective_, rtol=1e-6)


def test_rows_are_counted_before_and_after():
    X, y, _ = make(24, 3, n_grades=4)
    n_pairs = len(plain.list_pairs(y))
    neighbors = len(plain.list_pairs(y, adjacent=True))
    for slack in ("item", "item-weighted"):
        # 6 + 12 + 12 + 6 sides of thresholds, and two rows that keep three in order.
        assert fit(L1Ranker(0.1, slack), X, y).n_rows_ == (n_pairs, 38)
        model = fit(L1Ranker(0.1, slack, adjacent=True), X, y)
        assert model.n_rows_ == (neighbors, 36)
        assert fit(L1Ranker(0.1, slack, None), X, y).n_rows_ == (n_pairs, n_pairs)
    assert L1Ranker(0.1).fit(X, y).n_pairs_ == n_pairs


@given(st.data())
def test_small_data_of_every_kind(data):
    row = st.tuples(
        st.integers(-1, 2),
        st.integers(-1, 2),
        st.integers(0, 3),
        st.integers(0, 1),
        st.integers(0, 2),
    )
    rows = np.array(data.draw(st.lists(row, min_size=2, max_size=9)), dtype=float)
    X, y, qid, weight = rows[:, :2], rows[:, 2], rows[:, 3], rows[:, 4]
    present = weight > 0
    assume(len(plain.list_pairs(y[present], qid[present])))
    slack = data.draw(st.sampled_from(SLACKS))
    adjacent = slack != "pair" and data.draw(st.booleans())
    reduction = data.draw(st.sampled_from(["threshold", None]))
    alpha = data.draw(st.sampled_from([0.0, 1e-3, 0.5, 3.0, 100.0]))
    model = L1Ranker(alpha, slack, reduction, adjacent, **TIGHT)
    fit(model, X, y, qid=qid, sample_weight=weight)
    expected = plain.solve_graded(X, y, alpha, slack, qid, weight, adjacent)[0]
    assert model.converged_
    assert_allclose(model.objective_, expected, rtol=1e-8, atol=1e-8)
    doubled = np.repeat(np.arange(len(y)), weight.astype(int))
    twice = L1Ranker(alpha, slack, reduction, adjacent, **TIGHT)
    fit(twice, X[doubled], y[doubled], qid=qid[doubled])
    assert_allclose(twice.objective_, model.objective_, rtol=1e-8, atol=1e-8)
    if alpha == 100.0:
        assert not model.coef_.any()


def test_slacks_per_item_can_pay_for_everything_and_then_say_so():
    X, _, rng = make(60)
    u = X[:, 0] + rng.normal(size=60)
    y = np.digitize(u, np.quantile(u, np.arange(1, 10) / 10))
    for slack in ("item", "item-weighted"):
        model = L1Ranker(1e-3, slack)
        if model.alpha_max(X, y) > 0:
            continue
        with pytest.warns(UserWarning, match="no alpha gives weights"):
            model.fit(X, y)
        assert not model.coef_.any()
        assert_allclose(model.objective_, plain.solve_graded(X, y, 1e-3, slack)[0])
    assert L1Ranker(slack="item").alpha_max(X, y) == 0.0
    assert L1Ranker(1e-3).fit(X, y).coef_.any()


def test_an_alpha_that_drops_everything_says_how_large_it_is():
    X, y, _ = make()
    largest = L1Ranker().alpha_max(X, y)
    with pytest.warns(UserWarning, match=rf"not below alpha_max={largest:.6g}"):
        model = L1Ranker(2 * largest).fit(X, y)
    assert model.selected_.size == 0
    assert_array_equal(model.utility(X), 0.0)


def test_constant_features_get_no_weight():
    X, y, _ = make()
    wide = np.column_stack([np.full(len(y), 3.7), X, np.zeros(len(y))])
    for convert in (np.asarray, sp.csr_array):
        for slack in SLACKS:
            model = L1Ranker(0.5, slack, **TIGHT).fit(convert(wide), y)
            assert model.coef_[0] == model.coef_[-1] == 0.0
            alone = L1Ranker(0.5, slack, **TIGHT).fit(X, y)
            assert_allclose(model.coef_[1:-1], alone.coef_, atol=1e-8)
    for slack in SLACKS:
        with pytest.warns(UserWarning, match="features are constant"):
            model = L1Ranker(0.5, slack).fit(np.ones((len(y), 2)), y)
        assert not model.coef_.any()


def test_a_time_limit_keeps_the_best_weights_and_their_gap():
    X, y, _ = make(400, 8, noise=2.0)
    for slack in SLACKS:
        model = L1Ranker(0.1, slack, time_limit=1e-9)
        with pytest.warns(ConvergenceWarning, match="gap of"):
            model.fit(X, y)
        assert not model.converged_
        assert 0 < model.gap_ <= 1
        best = L1Ranker(0.1, slack).fit(X, y)
        assert model.dual_objective_ <= best.objective_ * (1 + 1e-9)
        assert model.objective_ >= best.objective_ * (1 - 1e-9)


def test_iterations_run_out():
    X, y, _ = make(200, 6)
    with pytest.warns(ConvergenceWarning, match=r"2 iterations.*max_iter"):
        model = L1Ranker(1.0, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2


def test_bad_data_is_refused():
    X, y, _ = make()
    refused(ValueError, ["no pair to learn from"], L1Ranker().fit, X, np.ones(len(y)))
    pairs = Pairs(X, [0], [1])
    refused(
        ValueError, ["qid groups graded items"], L1Ranker().fit, pairs, [1], qid=[0]
    )
    hull = L1Ranker(reduction="hull")
    refused(ValueError, ["need grades"], hull.fit, pairs, [1])
    near = L1Ranker(slack="item", adjacent=True)
    refused(ValueError, ["need grades"], near.fit, pairs, [1])
    refused(ValueError, ["at least one value"], L1Ranker().path, X, y, [])


def test_too_many_listed_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(l1_problem, "_MOST_ROWS", 100)
    X, y, _ = make()
    model = L1Ranker(slack="item", reduction=None)
    refused(ValueError, ["216 pairs", "reduction='threshold'"], model.fit, X, y)
