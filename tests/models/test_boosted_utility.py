# SPDX-License-Identifier: BSD-3-Clause
"""Boosted trees as a utility: losses, trees, folds of unseen items, and files."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.inputs import refused
from tests.oracles import boosted_plain as plain
from tiebreak import BoostedUtility, FitWarning, Orders, Pairs, load, save
from tiebreak.data import read_comparisons, read_grades
from tiebreak.losses import LINKS
from tiebreak.models import boosted_utility as rooms
from tiebreak.models.boosted_trees import NODE, read_trees, start_boosters, sum_trees
from tiebreak.models.problem import build_grade_tree

pytest.importorskip("lightgbm")
both_links = pytest.mark.parametrize("link", ["davidson", "cumulative"])
TREES = {"max_leaves": 4, "min_child_weight": 2.0, "l2": 0.7}
WHOLE = {"subsample": 1.0, "early_stopping": False}  # no part of it is drawn


def draw_pairs(rng, n_items=24, n_rows=150, noise=0.3):
    """Compare items by an interaction of two features; about a third are ties."""
    X = rng.uniform(-1, 1, size=(n_items, 3))
    left = rng.integers(n_items, size=n_rows)
    right = (left + rng.integers(1, n_items, size=n_rows)) % n_items
    value = 2 * X[:, 0] * X[:, 1]
    gap = value[right] - value[left] + noise * rng.normal(size=n_rows)
    return Pairs(X, left, right), np.where(np.abs(gap) < 0.25, 0, np.sign(gap))


def draw_grades(rng, n=30, n_groups=3):
    X = rng.uniform(-1, 1, size=(n, 3))
    y = 2 * X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.round(2 * y), np.arange(n) % n_groups


# Losses


@both_links
def test_derivatives_of_comparisons_are_those_of_their_loss(link, rng):
    pairs, y = draw_pairs(rng, 8, 60)
    weight = rng.uniform(0.5, 2, len(y))
    model = BoostedUtility(link=link)
    loss, table = model._comparison_loss(read_comparisons(pairs, y, weight))
    place = {tuple(row): i for i, row in enumerate(table.values)}
    code = np.array([place[tuple(row)] for row in pairs.values])
    left, right, known = code[pairs.left], code[pairs.right], LINKS[link]
    of_ties, best = plain.loss_of_comparisons(known, left, right, y.astype(int), weight)
    u = rng.normal(size=table.n_items)
    before = of_ties(u, loss.tie)
    value, g, h = loss.expand(u)
    assert value == pytest.approx(before)
    # The tie parameter has been moved close to the best one.
    assert loss.tie == pytest.approx(best(u), abs=1e-2)
    slow = plain.differences(lambda v: of_ties(v, loss.tie), u)
    assert_allclose(g, slow[0], atol=1e-5)
    assert_allclose(h, slow[1], atol=1e-4)
    assert loss.value(u) == pytest.approx(of_ties(u, loss.tie))
    assert (h > 0).all()


@pytest.mark.parametrize("per_group", ["mean", "sum"])
def test_derivatives_of_grades_are_those_of_all_pairs(per_group, rng):
    X, y, group = draw_grades(rng, 14)
    y[:6], group[:6] = [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]  # none is left out
    weight = rng.choice([0.5, 1.0, 2.0], len(y))
    model, data = BoostedUtility(per_group=per_group), read_grades(X, y, group, weight)
    loss, table = model._graded_loss(data, build_grade_tree(data, per_group))
    u = rng.normal(size=table.n_items)
    place = {tuple(row): i for i, row in enumerate(table.values)}
    code = np.array([place.get(tuple(row), -1) for row in X])
    slow = plain.loss_of_grades(y, group, weight, per_group)
    g, h = plain.differences(lambda v: slow(v[code]), u, step=1e-5)
    assert_allclose(loss.expand(u)[1], g, atol=1e-4)
    # Pairs exactly at the margin have no second derivative; there are none here.
    assert_allclose(loss.expand(u)[2], h, atol=1e-2)
    assert loss.value(u) == pytest.approx(slow(u[code]))


@both_links
def test_a_small_step_of_the_tie_corrects_the_gradient(link, rng):
    """Derivatives at the old tie parameter give the gradient at the new one."""
    pairs, y = draw_pairs(rng, 8, 60)
    loss, _ = BoostedUtility(link=link)._comparison_loss(
        read_comparisons(pairs, y, None)
    )
    u = 0.3 * rng.normal(size=loss.design.n_coef)
    d = loss.design.apply(u)
    best = rooms.best_tie(loss.link, d, loss.counts, loss.tie, tol=1e-12)
    loss.tie = best - 0.02
    _, g, _ = loss.expand(u)
    assert abs(loss.tie - best) < 5e-3
    exact = loss.design.back(loss.link.expand(d, loss.tie, loss.counts).gradient)
    stale = loss.design.back(loss.link.expand(d, best - 0.02, loss.counts).gradient)
    assert np.abs(g - exact).max() < 0.05 * np.abs(stale - exact).max()


@both_links
@pytest.mark.parametrize("start", [0.02, 0.5, 6.0])
def test_the_tie_parameter_is_the_best_one(link, start, rng):
    d, outcome = rng.normal(size=80), rng.integers(-1, 2, 80)
    counts = np.eye(3)[outcome + 1]
    t = rooms.best_tie(LINKS[link], d, counts, start, tol=1e-12)
    assert LINKS[link].gradient(d, t, counts)[1] == pytest.approx(0, abs=1e-8)


# Rounds


@both_links
def test_rounds_of_comparisons_are_those_of_the_plain_twin(link, rng):
    pairs, y = draw_pairs(rng)
    weight = rng.choice([0.5, 1.0, 2.0], len(y))
    given = pairs.left, pairs.right, y.astype(int), weight
    slow = plain.derivatives_of_comparisons(LINKS[link], *given)
    stages = plain.boost(pairs.values, slow, 4, 0.5, **TREES)
    for n_rounds in (1, 4):
        model = BoostedUtility(
            n_rounds, learning_rate=0.5, link=link, **WHOLE, **TREES
        ).fit(pairs, y, sample_weight=weight)
        assert model.n_iter_ == n_rounds
        # LightGBM's sums are of gradients in single precision.
        assert_allclose(model.utility(pairs.values), stages[n_rounds - 1], atol=2e-3)


def test_rounds_of_grades_are_those_of_the_plain_twin(rng):
    X, y, group = draw_grades(rng)
    slow = plain.loss_of_grades(y, group, np.ones(len(y)), "mean")
    stages = plain.boost(X, lambda u: plain.differences(slow, u, 1e-5), 3, 0.3, **TREES)
    model = BoostedUtility(3, learning_rate=0.3, **WHOLE, **TREES)
    model.fit(X, y, qid=group)
    assert_allclose(model.utility(X), stages[-1], atol=1e-3)
    assert model.loss_curve_[-1] == pytest.approx(slow(model.utility(X)))


# Trees of LightGBM


def test_trees_are_read_as_the_library_means_them(rng):
    library = pytest.importorskip("lightgbm")
    # Values that are different only in double precision, and many that are equal.
    X = np.round(rng.normal(size=(200, 4)), 1)
    X[:, 1] = 1.0 + 1e-9 * rng.integers(0, 4, 200)
    g, h = rng.normal(size=200), rng.uniform(0.5, 1.5, 200)
    shape = {"num_leaves": 8, "lambda_l2": 1.0, "min_sum_hessian_in_leaf": 1.0}
    booster = start_boosters(X, {"learning_rate": 1.0, **shape}, None, [])()
    booster.update(fobj=lambda *_: (g, h))
    (nodes,) = read_trees(booster)
    assert (nodes["feature"] >= 0).sum() >= 7
    ours = sum_trees(X, nodes, np.zeros(1, dtype=np.int64))
    params = {"objective": "none", "learning_rate": 1.0, "verbosity": -1, **shape}
    params |= {"min_data_in_leaf": 0, "min_data_in_bin": 1}
    theirs = library.Booster(params, library.Dataset(X, label=g, params=params))
    theirs.update(fobj=lambda *_: (g, h))
    assert_allclose(ours, theirs.predict(X), atol=1e-6)
    assert_allclose(sum_trees(sp.csr_array(X), nodes, np.zeros(1, np.int64)), ours)


def test_trees_learn_an_interaction(rng):
    pairs, y = draw_pairs(rng, 150, 900, noise=0.1)
    new, truth = draw_pairs(rng, 150, 900, noise=0.0)
    model = BoostedUtility(60, learning_rate=0.2, early_stopping=False)
    first = model.fit(pairs, y).utility(new.values)
    assert model.score(new, truth) > 0.75
    assert_array_equal(model.fit(pairs, y).utility(new.values), first)
    assert_allclose(model.predict_proba(new).sum(axis=1), 1)
    sparse = Pairs(sp.csr_array(pairs.values), pairs.left, pairs.right)
    assert_allclose(model.fit(sparse, y).utility(new.values), first, atol=1e-9)


# Early stopping


@pytest.mark.filterwarnings("ignore:BoostedUtility gives all items")
@pytest.mark.parametrize("shape", ["pairs", "components", "queries", "one", "lists"])
def test_held_out_items_are_unseen_in_their_fold(shape, rng, monkeypatch):
    seen, validate = [], BoostedUtility._validate

    def watch(model, folds):
        seen.extend((growth.objective, tested) for growth, tested in folds)
        return validate(model, folds)

    monkeypatch.setattr(BoostedUtility, "_validate", watch)
    model = BoostedUtility(3, n_folds=3, min_child_weight=1.0)
    X, y, qid = draw_grades(rng, 40, 10)
    n, y[:10] = 40, 9.0  # every group has different grades
    if shape == "pairs":
        model.fit(*draw_pairs(rng, n, 200))
    elif shape == "components":
        pairs = Pairs(X, np.arange(0, n, 2), np.arange(1, n, 2))
        model.fit(pairs, rng.choice([-1, 0, 1], n // 2))
    elif shape == "lists":
        model.fit(Orders(X, [rng.permutation(n)[:8].tolist() for _ in range(20)]))
    else:
        model.fit(X, y, qid=qid if shape == "queries" else None)
    assert len(seen) == 3
    for learned, tested in seen:
        touched = [np.flatnonzero(p.expand(np.zeros(n))[2]) for p in (learned, tested)]
        assert len(touched[0]) and len(touched[1])
        assert not set(touched[0]) & set(touched[1])
        if shape == "queries":
            groups = [set(qid[part.tree.rows]) for part in (learned, tested)]
            assert not groups[0] & groups[1]
    if shape == "components":  # nothing is lost between folds
        assert sum(tested.counts.sum() for _, tested in seen) == n // 2


def test_rounds_are_those_with_the_least_held_out_loss(rng):
    pairs, y = draw_pairs(rng, 60, 500)
    model = BoostedUtility(200, learning_rate=0.3, n_iter_no_change=5).fit(pairs, y)
    curve = model.validation_curve_
    assert model.n_iter_ == np.argmin(curve) == len(curve) - 1 - 5
    fixed = BoostedUtility(model.n_iter_, learning_rate=0.3, early_stopping=False)
    fixed.fit(pairs, y)
    assert_array_equal(fixed.utility(pairs.values), model.utility(pairs.values))


def test_noise_grows_no_tree_and_says_so(rng):
    pairs, _ = draw_pairs(rng, 60, 200)
    pairs = pairs[np.repeat(np.arange(200), 3)]  # each is won, lost and tied
    with pytest.warns(UserWarning, match="no tree predicts held-out items"):
        model = BoostedUtility().fit(pairs, np.tile([-1, 0, 1], 200))
    assert model.n_iter_ == 0
    assert_array_equal(model.predict(pairs), 0)


def test_two_items_cannot_be_held_out():
    pairs = Pairs([[0.0], [1.0]], [0] * 9, [1] * 9)
    with pytest.warns(UserWarning, match="no fold of 5"):
        model = BoostedUtility(5, min_child_weight=1.0, subsample=1.0)
        model.fit(pairs, [1] * 8 + [-1])
    assert model.n_iter_ == 5
    assert_array_equal(model.predict(pairs), 1)


@pytest.mark.filterwarnings("ignore:BoostedUtility gives all items")
def test_folds_without_a_training_tie_still_have_a_loss(rng):
    pairs, y = draw_pairs(rng, 40, 200, noise=0.0)
    y[y == 0] = 1
    y[3] = 0
    curve = BoostedUtility(20).fit(pairs, y).validation_curve_
    assert np.isfinite(curve).all()


# Interface


def test_grades_have_no_probabilities(rng):
    X, y, qid = draw_grades(rng, 60, 12)
    model = BoostedUtility(10, early_stopping=False).fit(X, y, qid=qid)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "classes_")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(Pairs(X, [0], [1]))


def test_a_file_that_was_tampered_with_reads_nothing_outside(rng, tmp_path):
    pairs, y = draw_pairs(rng)
    model = BoostedUtility(5, early_stopping=False).fit(pairs, y)
    again = load(save(model, tmp_path / "model"))
    assert again.nodes_.dtype == NODE
    assert_array_equal(again.utility(pairs.values), model.utility(pairs.values))
    for field, value in (("feature", 3), ("left", 0), ("right", 10**6)):
        broken = load(tmp_path / "model")
        broken.nodes_[field][0] = value
        refused(ValueError, ["damaged", "nodes_"], broken.utility, pairs.values)
    broken.nodes_ = np.zeros((3, 2))
    refused(ValueError, ["damaged"], broken.utility, pairs.values)
    again.roots_ = again.roots_ + 10**6
    refused(ValueError, ["damaged"], again.utility, pairs.values)


def test_a_missing_library_names_the_extra(monkeypatch, rng):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    words = ["needs lightgbm", r'pip install "tiebreak\[boost\]"']
    refused(ImportError, words, BoostedUtility().fit, *draw_pairs(rng))


def test_constant_features_have_no_split(rng):
    pairs, y = draw_pairs(rng)
    for value, options in ((0.0, WHOLE), (3.0, {"early_stopping": False})):
        same = pairs.with_items(np.full_like(pairs.values, value))
        with pytest.warns(FitWarning, match="same utility"):
            model = BoostedUtility(3, **options).fit(same, y)
        assert_array_equal(model.difference(same), 0.0)
