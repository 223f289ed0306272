# SPDX-License-Identifier: BSD-3-Clause
"""CoRankingPursuit against numerical minimization of the paper's J, pair by pair."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from tests.models.inputs import refused
from tests.oracles import metrics_bruteforce
from tests.oracles import pursuit as plain
from tiebreak import CoRankingPursuit, Pairs, RankingPursuit
from tiebreak.data.messages import FitWarning
from tiebreak.metrics import swapped_pairs

N_SCORED = 6
VIEWS = [
    {"columns": [0, 1], "kernel": "rbf", "gamma": 0.5},
    {"columns": slice(2, None), "kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0},
]
CHOICES = list(itertools.product(["increments", "functions"], ["free", "shared"]))
every_choice = pytest.mark.parametrize(("objective", "indices"), CHOICES)


def make(rng, n=14):
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + X[:, 2] ** 2
    y[N_SCORED:] = np.nan
    return X, y, np.arange(n) % 2, rng.integers(1, 4, n).astype(float)


def columns(X, C, M):
    """Columns of the views at all rows."""
    distance = ((X[:, None, :2] - C[None, :, :2]) ** 2).sum(axis=2)
    every = [np.exp(-0.5 * distance), X[:, 2:] @ C[:, 2:].T, (0.3 * X @ C.T + 1) ** 2]
    return every[:M]


def pair_rows(qid, weight):
    """Pairs of scored rows, and pairs of the others."""
    rows = plain.pair_rows(qid, weight)
    scored = np.abs(rows[:, :N_SCORED]).sum(axis=1) > 0
    others = np.abs(rows[:, N_SCORED:]).sum(axis=1) > 0
    return rows[~others], rows[~scored]


@pytest.mark.extended
@every_choice
@pytest.mark.parametrize("nu", [0.0, 0.7])
def test_two_views_equal_a_numerical_minimizer(rng, objective, indices, nu):
    X, y, qid, weight = make(rng)
    scored, others = pair_rows(qid, weight)
    K = columns(X, X[:N_SCORED], 2)
    averaged, shared = objective == "increments", indices == "shared"
    target = np.where(np.isnan(y), 0.0, y)
    chosen, increments, f = plain.joint_greedy(
        K, scored, others, target, nu, 3, averaged=averaged, shared=shared
    )
    model = CoRankingPursuit(
        3, views=VIEWS[:2], nu=nu, objective=objective, indices=indices
    ).fit(X, y, qid=qid, sample_weight=weight)
    assert_array_equal(model.support_, chosen)
    assert_allclose(model.dual_coef_, increments, atol=1e-5)
    assert_allclose(model.view_utilities(X), f.T, atol=1e-5)
    assert_allclose(model.utility(X), model.view_utilities(X).mean(axis=1))
    J = sum(np.sum((scored @ (target - own)) ** 2) for own in f)
    J += nu * sum(np.sum((others @ (one - two)) ** 2) for one in f for two in f)
    assert_allclose(model.objective_path_[-1], J, rtol=1e-4)


@every_choice
@pytest.mark.parametrize("nu", [0.0, 3.0])
def test_one_view_is_ranking_pursuit_without_backfitting(rng, objective, indices, nu):
    X, y, qid, weight = make(rng, 40)
    y[:25] = X[:25, 0] - X[:25, 1] ** 2
    model = CoRankingPursuit(
        8, views=["rbf"], nu=nu, gamma=0.3, objective=objective, indices=indices
    ).fit(X, y, qid=qid, sample_weight=weight)
    one = RankingPursuit(8, gamma=0.3, backfit=False)
    one.fit(X[:25], y[:25], qid=qid[:25], sample_weight=weight[:25])
    assert_allclose(model.utility(X), one.utility(X), atol=1e-10)
    assert set(model.support_.ravel().tolist()) == set(one.support_.tolist())
    assert_allclose(model.objective_path_, one.objective_path_, rtol=1e-9)


def test_without_nu_functions_are_pursued_view_by_view(rng):
    X, y, qid, weight = make(rng, 40)
    y[:25] = X[:25, 0] - X[:25, 2] ** 2
    model = CoRankingPursuit(7, views=VIEWS, nu=0.0, objective="functions")
    model.fit(X, y, qid=qid, sample_weight=weight)
    alone = [
        RankingPursuit(7, kernel="rbf", gamma=0.5, backfit=False),
        RankingPursuit(7, kernel="linear", backfit=False),
        RankingPursuit(7, **VIEWS[2], backfit=False),
    ]
    seen = [X[:, :2], X[:, 2:], X]
    for v, (own, table) in enumerate(zip(alone, seen, strict=True)):
        with warnings.catch_warnings():
            # Two linear features can be fitted exactly before the seventh step.
            warnings.simplefilter("ignore", UserWarning)
            own.fit(table[:25], y[:25], qid=qid[:25], sample_weight=weight[:25])
        assert_allclose(model.view_utilities(X)[:, v], own.utility(table), atol=1e-8)


def test_a_large_nu_makes_views_agree(rng):
    X = rng.normal(size=(120, 4))
    y = np.where(np.arange(120) < 30, X[:, 0] + X[:, 2], np.nan)
    apart = []
    for nu in (0.0, 0.01, 1.0, 100.0):
        model = CoRankingPursuit(
            10, views=VIEWS[:2], nu=nu, objective="functions", indices="free"
        ).fit(X, y)
        views = model.view_utilities(X[30:])
        apart.append(np.std(views[:, 0] - views[:, 1]))
    assert (np.diff(apart) < 0).all()


def drawn_views(seed, n):
    """Two noisy copies of three features, and what is to be learned."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    copies = [hidden + 0.8 * rng.normal(size=hidden.shape) for _ in range(2)]
    return np.hstack(copies), hidden[:, 0] + np.sin(2 * hidden[:, 1])


def test_rows_without_a_grade_cannot_drown_those_that_have_one():
    X, truth = drawn_views(0, 330)
    y = np.where(np.arange(330) < 30, truth, np.nan)
    options = {"views": [[0, 1, 2], [3, 4, 5]], "gamma": 0.3}
    # The same rows with any weight, or many times, say the same with "auto".
    model = CoRankingPursuit(8, **options).fit(X, y)
    assert model.nu_ == pytest.approx(30 * 29 / (300 * 299))
    for weight in (0.1, 100.0):
        heavy = np.where(np.isnan(y), weight, 1.0)
        other = CoRankingPursuit(8, **options).fit(X, y, sample_weight=heavy)
        assert_allclose(other.utility(X), model.utility(X), rtol=1e-6, atol=1e-9)
    rows = np.concatenate([np.arange(30), np.tile(np.arange(30, 330), 10)])
    many = CoRankingPursuit(8, **options).fit(X[rows], y[rows])
    assert_allclose(many.utility(X), model.utility(X), rtol=0.02, atol=0.02)
    fixed = CoRankingPursuit(8, nu=1.0, **options).fit(X[rows], y[rows])
    assert fixed.nu_ == 1.0
    # As a whole the utility of ν = 1 hardly moves any more: it is drowned.
    assert np.ptp(fixed.utility(X)) < 0.8 * np.ptp(many.utility(X))
    # With all rows graded it is the formula of the paper.
    assert CoRankingPursuit(2, **options).fit(X, truth).nu_ == 1.0


def test_agreement_is_counted_pair_by_pair(rng):
    X, y, qid, weight = make(rng, 20)
    model = CoRankingPursuit(4, views=VIEWS).fit(X, y, qid=qid, sample_weight=weight)
    views, rows = model.view_utilities(X), slice(N_SCORED, None)
    for v, u in itertools.product(range(3), repeat=2):
        swapped = metrics_bruteforce.swapped_pairs(
            views[rows, v], views[rows, u], qid[rows], weight[rows]
        )
        assert_allclose(model.agreement_[v, u], 1 - swapped)
    graded = CoRankingPursuit(4, views=VIEWS).fit(X[:6], y[:6])
    swapped = swapped_pairs(*graded.view_utilities(X[:6])[:, :2].T)
    assert_allclose(graded.agreement_[0, 1], 1 - swapped)


def test_views_are_named_in_many_ways(rng):
    X, y, qid, _ = make(rng, 20)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    options = {"gamma": 0.4, "nu": 0.3}
    expected = CoRankingPursuit(4, views=[[0, 1], [2, 3]], **options).fit(X, y, qid=qid)
    for views in (
        [slice(0, 2), slice(2, 4)],
        (np.array([0, 1]), {"columns": (2, 3)}),
        [[True, True, False, False], {"columns": [2, 3], "kernel": "rbf"}],
    ):
        model = CoRankingPursuit(4, views=views, **options).fit(X, y, qid=qid)
        assert_allclose(model.utility(X), expected.utility(X), atol=1e-12)
    named = CoRankingPursuit(4, views=[["a", "b"], ["c", "d"]], **options)
    named.fit(frame, y, qid=qid)
    assert_allclose(named.utility(frame), expected.utility(X), atol=1e-12)


def test_validation_chooses_the_number(rng):
    X, y, qid, _ = make(rng, 40)
    fresh = rng.normal(size=(60, 4))
    grades, groups = fresh[:, 0] + fresh[:, 2] ** 2, np.arange(60) % 3
    model = CoRankingPursuit(9, views=VIEWS[:2])
    model.fit(X, y, qid=qid, validation=(fresh, grades, groups))
    errors = []
    for n in range(1, 10):
        own = CoRankingPursuit(n, views=VIEWS[:2]).fit(X, y, qid=qid)
        errors.append(swapped_pairs(grades, own.utility(fresh), groups))
    assert_allclose(model.validation_path_, errors, atol=1e-12)
    assert model.n_basis_ == len(model.support_) == int(np.argmin(errors)) + 1
    assert model.path_.shape == model.path_support_.shape == (9, 2)


X = np.array([[0.0, 1], [1, 0.5], [2, 2], [2.2, 1], [0.5, 0], [1.5, 1.5]])
Y = np.array([0.0, 1, 2, 2, np.nan, np.nan])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nu": -0.1}, ["nu=-0.1", "not negative"]),
        ({"nu": np.nan}, ["nu=nan"]),
        ({"nu": "1"}, ["nu='1'", "'auto'"]),
        ({"objective": "J"}, ["objective='J'", "increments", "functions"]),
        ({"indices": "both"}, ["indices='both'", "free", "shared"]),
        ({"per_group": "max"}, ["per_group='max'"]),
        ({"n_basis": 0}, ["n_basis=0", "at least 1"]),
        ({"n_basis": "cv"}, ["n_basis='cv'"]),
        ({"cache_size": -1}, ["cache_size=-1"]),
        ({"views": []}, ["views=\\[\\]", "at least one view"]),
        ({"views": "rbf"}, ["views='rbf'", "list"]),
        ({"views": [[0], []]}, ["view 1", "at least one"]),
        ({"views": [slice(5, 9)]}, ["view 0", "at least one"]),
        ({"views": [[0, 2]]}, ["view 0", "0 to 1"]),
        ({"views": [[1, 1]]}, ["view 0", "each once"]),
        ({"views": [["a"]]}, ["'a'", "names of features"]),
        ({"views": ["gauss"]}, ["kernel='gauss'"]),
        ({"views": ["precomputed"]}, ["view 0", "precomputed"]),
    ],
    ids=str,
)
def test_bad_parameters(options, words):
    refused(ValueError, words, CoRankingPursuit(**options).fit, X, Y)
    unknown = CoRankingPursuit(views=[{"column": [0]}])
    refused(TypeError, ["'column'"], unknown.fit, X, Y)


def test_fallbacks_with_a_warning():
    qid = np.array(list("aaabcc"))
    with pytest.warns(UserWarning, match="1 of 2 groups have one item"):
        model = CoRankingPursuit(2).fit(X, Y, qid=qid)
    assert np.isfinite(model.view_utilities(X)).all()
    # A view that sees nothing but a constant.
    flat = np.column_stack([X, np.ones(6)])
    with pytest.warns(UserWarning, match="same utility"):
        model = CoRankingPursuit(2, views=[[0, 1], [2]]).fit(flat, Y)
    assert_array_equal(model.view_utilities(flat), np.zeros((6, 2)))
    # Data that are explained exactly.
    with pytest.warns(UserWarning, match="stopped after 1 of n_basis=9"):
        CoRankingPursuit(9, views=["linear"]).fit(X[:2], Y[:2])


def test_a_graph_has_pairs_of_graded_rows_and_of_others(rng):
    X, y, qid, weight = make(rng)
    W = np.triu(rng.integers(0, 3, (len(y), len(y))), 1)
    W += W.T
    rows = plain.graph_rows(W, weight)
    scored = rows[~rows[:, N_SCORED:].any(axis=1)]
    others = rows[~rows[:, :N_SCORED].any(axis=1)]
    target = np.where(np.isnan(y), 0.0, y)
    K = columns(X, X[:N_SCORED], 2)
    chosen, increments, _ = plain.joint_greedy(
        K, scored, others, target, 0.3, 2, averaged=True, shared=True
    )
    model = CoRankingPursuit(2, views=VIEWS[:2], nu=0.3, indices="shared")
    model.fit(X, y, sample_weight=weight, graph=sp.csr_array(W))
    assert_array_equal(model.support_, chosen)
    assert_allclose(model.dual_coef_, increments, atol=1e-5)
    apart = others @ model.view_utilities(X)
    same = np.sign(apart[:, 0]) == np.sign(apart[:, 1])
    own = (others**2).max(axis=1)
    assert_allclose(model.agreement_[0, 1], own @ same / own.sum())
    # W = 1 inside groups is the fit of the groups, ν = tr L / tr L̄ and all.
    options = {"views": VIEWS[:2], "n_basis": 3}
    grouped = CoRankingPursuit(**options).fit(X, y, qid=qid, sample_weight=weight)
    joined = CoRankingPursuit(**options).fit(
        X, y, sample_weight=weight, graph=qid[:, None] == qid
    )
    assert_allclose(joined.utility(X), grouped.utility(X), rtol=1e-9)
    assert_allclose(joined.agreement_, grouped.agreement_)
    assert joined.nu_ == pytest.approx(grouped.nu_)


def test_views_are_added_with_weights(rng):
    X = rng.normal(size=(240, 6))
    truth = X[:, 0] + X[:, 1]
    y = np.where(np.arange(240) < 40, truth, np.nan)
    held = (X[60:120], truth[60:120])
    options = {"views": [[0, 1], [2, 3], [4, 5]], "n_basis": 8, "nu": 0.0}
    fitted = {
        kind: CoRankingPursuit(**options, aggregate=kind).fit(X, y, validation=held)
        for kind in ("mean", "stack")
    }
    views = fitted["stack"].view_utilities(held[0])
    # The best weights of the differences of all pairs, one by one.
    pairs = plain.pair_rows(np.zeros(60), np.ones(60))
    weight = fitted["stack"].view_weight_
    slope = (pairs @ views).T @ (pairs @ (held[1] - views @ weight))
    size = np.abs((pairs @ views).T @ (pairs @ held[1])).max()
    assert_allclose(slope[weight > 0], 0.0, atol=1e-9 * size)
    assert (slope[weight == 0] <= 1e-9 * size).all()
    assert weight[0] > 2.0 * weight[1:].max()  # the other two see noise
    rest = X[120:], truth[120:]
    assert fitted["stack"].score(*rest) > fitted["mean"].score(*rest) + 0.02
    assert_allclose(fitted["mean"].view_weight_, 1 / 3)
    # Comparisons are explained as they are.
    left, right = np.arange(0, 60, 2), np.arange(1, 60, 2)
    outcome = np.sign(held[1][right] - held[1][left])
    compared = CoRankingPursuit(**options, aggregate="stack").fit(
        X, y, validation=(Pairs(held[0], left, right), outcome)
    )
    assert compared.view_weight_[0] > compared.view_weight_[1:].max()
    given = CoRankingPursuit(**options, aggregate=[2.0, 0.0, 1.0]).fit(X, y)
    assert_allclose(given.utility(X), given.view_utilities(X) @ [2.0, 0.0, 1.0])


def test_weights_that_cannot_be(rng):
    X, y, *_ = make(rng)
    model = CoRankingPursuit(1, views=VIEWS[:2])
    for wrong, words in [
        ("stack", "needs fit(..., validation=...)"),
        ("max", "expected 'mean', 'stack' or 2 weights"),
        ([1.0], "2 weights, not negative and not all 0"),
        ([1.0, -1.0], "aggregate=[1.0, -1.0]"),
        ([0.0, 0.0], "not all 0"),
    ]:
        changed = clone(model).set_params(aggregate=wrong)
        refused(ValueError, [re.escape(words)], changed.fit, X, y)
    opposite = (X[:N_SCORED], -y[:N_SCORED])
    with pytest.warns(FitWarning, match="their mean is used"):
        model.set_params(aggregate="stack").fit(X, y, validation=opposite)
    assert_allclose(model.view_weight_, 0.5)
