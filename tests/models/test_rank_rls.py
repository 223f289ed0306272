# SPDX-License-Identifier: BSD-3-Clause
"""RankRLS: solutions, paths, and what it refuses."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from tests.models.inputs import refused
from tests.oracles import rank_rls as oracle
from tiebreak import Orders, Pairs, RankRLS
from tiebreak.models.least_squares import normal_equations

KERNELS = {
    "linear": lambda A, B: A @ B.T,
    "rbf": lambda A, B: np.exp(
        -0.5 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2)
    ),
    "poly": lambda A, B: (0.5 * A @ B.T + 1.0) ** 2,
}
SETTINGS = {"gamma": 0.5, "degree": 2, "coef0": 1.0}
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_mean = pytest.mark.parametrize("per_group", ["sum", "mean"])


def make_graded(rng, n=30, p=3, n_groups=5):
    """Items of groups that are not in order, with grades that repeat."""
    X = rng.normal(size=(n, p))
    y = rng.integers(0, 4, n) + np.round(X[:, 0], 1)
    fixed = np.tile(np.arange(n_groups), 3)
    return X, y, np.append(fixed, rng.integers(0, n_groups, n - len(fixed)))


def make_compared(rng, n_items=12, n=40):
    X = rng.normal(size=(n_items, 3))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    outcome = rng.integers(-1, 2, n)
    outcome[:2] = [-1, 1]
    return X, left, right, outcome


@st.composite
def graded(draw):
    n = draw(st.integers(2, 14))
    value = st.integers(-2, 2)
    columns = [
        draw(st.lists(value, min_size=n, max_size=n))
        for _ in range(draw(st.integers(1, 20)))
    ]
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    group = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weight = draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)
    )
    # One pair to learn from.
    y[:2], group[:2], weight[:2] = [0, 1], [0, 0], [1.0, 1.0]
    X = np.array(columns, dtype=float).T
    return X, np.array(y, dtype=float), np.array(group), np.array(weight)


@given(
    graded(),
    st.sampled_from(list(KERNELS)),
    st.sampled_from(["sum", "mean"]),
    st.sampled_from([0.01, 1.0, 30.0]),
    st.sampled_from(["direct", "cg"]),
)
def test_graded_items_equal_the_closed_form(data, kernel, per_group, alpha, solver):
    X, y, group, weight = data
    model = RankRLS(
        alpha, kernel=kernel, per_group=per_group, solver=solver, tol=1e-20, **SETTINGS
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(have one item only|same utility)")
        # Asked for more than rounding allows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, qid=group, sample_weight=weight)
    K = KERNELS[kernel](X, X)
    L = oracle.group_laplacian(group, weight, per_group)
    a = oracle.solve(K, y, L, alpha)
    size = 1.0 + np.abs(K @ a).max()
    assert_allclose(model.utility(X), K @ a, rtol=0, atol=1e-7 * size)
    value = oracle.objective(K, y, L, alpha, a)
    assert_allclose(model.objective_, value, rtol=1e-7, atol=1e-9)
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_
    assert_allclose(K @ dual, K @ a, rtol=0, atol=1e-6 * size)
    if kernel == "linear":
        assert_allclose(model.coef_, X.T @ a, rtol=0, atol=1e-7 * size)
    assert (model.solver_ == "cg") == (solver == "cg")


@every_kernel
@pytest.mark.parametrize("n", [3, 8, 60], ids=["few", "some", "many comparisons"])
@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_comparisons_equal_the_closed_form(rng, kernel, n, solver):
    X, left, right, outcome = make_compared(rng, n=n)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    weight[0] = 1.0
    model = RankRLS(0.3, kernel=kernel, solver=solver, tol=1e-18, **SETTINGS)
    model.fit(Pairs(X, left, right), outcome, sample_weight=weight)
    K = KERNELS[kernel](X, X)
    a = oracle.solve_compared(K, left, right, outcome, weight, 0.3)
    assert_allclose(model.utility(X), K @ a, rtol=0, atol=1e-7)
    difference = (K @ a)[right] - (K @ a)[left]
    value = weight @ (outcome - difference) ** 2 + 0.3 * a @ K @ a
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    # w = Σ dual_coef_t (Φ(right) - Φ(left))
    on_items = np.zeros(len(X))
    np.add.at(on_items, right[model.support_], model.dual_coef_)
    np.add.at(on_items, left[model.support_], -model.dual_coef_)
    assert_allclose(K @ on_items, K @ a, rtol=0, atol=1e-6)
    assert model.n_pairs_ == np.count_nonzero(weight)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_many_lists_of_few_items(rng, kernel):
    # Many rows of few distinct items are solved on the items.
    items = rng.normal(size=(6, 2))
    K = KERNELS["rbf"](items, items)
    table = items if kernel == "rbf" else K
    orders = Orders(table, [rng.permutation(6)[:4].tolist() for _ in range(20)])
    model = RankRLS(0.2, kernel=kernel, gamma=0.5).fit(orders)
    _, y, qid = orders.grades()
    a = oracle.solve(
        K[np.ix_(orders.flat, orders.flat)], y, oracle.group_laplacian(qid), 0.2
    )
    assert_allclose(model.utility(table), K[:, orders.flat] @ a, atol=1e-7)
    left_out = RankRLS(0.2, kernel=kernel, gamma=0.5).leave_group_out(orders)
    expected = oracle.leave_group_out(
        K[np.ix_(orders.flat, orders.flat)], y, qid, np.ones(80), "sum", 0.2
    )
    assert_allclose(left_out, expected, atol=1e-6)


def test_the_solver_is_chosen_by_size(rng, monkeypatch):
    X, y, qid = make_graded(rng, n=40)
    assert RankRLS().fit(X, y, qid=qid).solver_ == "cholesky"
    monkeypatch.setattr(normal_equations, "LARGEST", 39)
    assert RankRLS().fit(X, y, qid=qid).solver_ == "cg"
    assert RankRLS(solver="direct").fit(X, y, qid=qid).solver_ == "cholesky"
    # Three features are a small system, however many items there are.
    assert RankRLS(kernel="linear").fit(X, y, qid=qid).solver_ == "cholesky"
    with pytest.raises(ValueError, match="closed form where the direct solver"):
        RankRLS().leave_group_out(X, y, qid=qid)
    path = list(RankRLS(tol=1e-16).path(X, y, [0.1, 1.0], qid=qid))
    assert [model.solver_ for model in path] == ["cg", "cg"]
    single = RankRLS(0.1, solver="direct").fit(X, y, qid=qid)
    assert_allclose(path[0].utility(X), single.utility(X), atol=1e-6)


def test_gap_bounds_the_distance_from_the_optimum(rng):
    X, y, qid = make_graded(rng, n=60)
    for kernel in ("rbf", "linear"):
        best = RankRLS(0.01, kernel=kernel).fit(X, y, qid=qid)
        assert best.gap_ <= 1e-20
        seen = []
        for tol in (1e-1, 1e-3, 1e-6):
            model = RankRLS(0.01, kernel=kernel, solver="cg", tol=tol)
            model.fit(X, y, qid=qid)
            excess = model.objective_ - best.objective_
            assert -1e-9 <= excess / model.objective_ <= model.gap_ + 1e-12
            assert model.gap_ <= tol
            seen.append(model.n_iter_)
        assert seen == sorted(seen)


def test_conjugate_gradients_that_stop_early_say_so(rng):
    X, y, qid = make_graded(rng, n=60, p=40)
    model = RankRLS(1e-4, kernel="linear", solver="cg", max_iter=2)
    with pytest.warns(ConvergenceWarning, match=r"after 2 iterations .* gap of"):
        model.fit(X, y, qid=qid)
    assert (model.converged_, model.n_iter_) == (False, 2)
    assert np.isfinite(model.coef_).all()


@every_kernel
@every_mean
def test_the_path_equals_separate_fits(rng, kernel, per_group):
    X, y, qid = make_graded(rng, n=40)
    alphas = [10.0, 1e-3, 0.5, 100.0]
    template = RankRLS(kernel=kernel, per_group=per_group, **SETTINGS)
    path = list(template.path(X, y, alphas, qid=qid))
    assert [model.alpha for model in path] == alphas
    for model in path:
        single = RankRLS(model.alpha, kernel=kernel, per_group=per_group, **SETTINGS)
        expected = single.fit(X, y, qid=qid).utility(X)
        assert_allclose(
            model.utility(X), expected, rtol=0, atol=1e-8 * np.abs(expected).max()
        )
        assert model.objective_ == pytest.approx(single.objective_, rel=1e-8)
        assert model.solver_ == "eigen"
    assert not hasattr(template, "dual_coef_")


X = np.array(
    [[0.0, 1.0], [1.0, 0.5], [2.0, 2.0], [2.2, 1.0], [0.5, 0.0], [1.5, 1.5], [3.0, 0.0]]
)
Y = np.array([0.0, 1.0, 2.0, 2.0, 5.0, 6.0, 7.0])
QID = np.array(["b", "b", "b", "b", "a", "a", "a"])
MODELS = {
    "linear": lambda **kw: RankRLS(**({"kernel": "linear"} | kw)),
    "rbf": lambda **kw: RankRLS(**kw),
    "linear cg": lambda **kw: RankRLS(**({"kernel": "linear", "solver": "cg"} | kw)),
    "rbf cg": lambda **kw: RankRLS(**({"solver": "cg"} | kw)),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@every_model
def test_grades_of_any_unit(make):
    utility = make(alpha=0.1).fit(X, Y, qid=QID).utility(X)
    for factor in (1e-100, 1e-9, 1e9, 1e29):
        model = make(alpha=0.1).fit(X, factor * Y, qid=QID)
        assert_allclose(model.utility(X) / factor, utility, rtol=1e-7)
    shifted = make(alpha=0.1).fit(X, Y - 2.0**40, qid=QID)
    assert_allclose(shifted.utility(X), utility, rtol=1e-3)
    words = ["y must be", "at most 1e.30", "row 2"]
    refused(ValueError, words, make().fit, X, 1e31 * Y, qid=QID)


@every_model
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1])
def test_constant_features_give_equal_utilities_and_say_so(make, convert, constant):
    same = convert(np.full((7, 2), constant))
    model = make()
    with pytest.warns(UserWarning, match=r"same utility.*Nothing was learned") as said:
        model.fit(same, Y, qid=QID)
    assert len(said) == 1
    assert model.converged_
    assert np.ptp(model.utility(same)) == 0
    assert np.isfinite(model.utility(X)).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_alpha_lost_in_rounding(kernel):
    # Two equal columns, and two equal rows: the system is singular without alpha.
    items = np.column_stack([X, X])[[0, 1, 2, 3, 3, 4, 5, 6]]
    y, qid = Y[[0, 1, 2, 3, 3, 4, 5, 6]], QID[[0, 1, 2, 3, 3, 4, 5, 6]]
    model = RankRLS(1e-30, kernel=kernel, gamma=0.5)
    with pytest.warns(UserWarning, match=r"alpha=1e-30 is lost in rounding"):
        model.fit(items, y, qid=qid)
    reference = RankRLS(1e-7, kernel=kernel, gamma=0.5).fit(items, y, qid=qid)
    assert_allclose(model.utility(items), reference.utility(items), atol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        (of_path,) = RankRLS(kernel=kernel, gamma=0.5).path(items, y, [1e-30], qid=qid)
    assert_allclose(of_path.utility(items), model.utility(items), atol=1e-9)


@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_a_kernel_that_is_none(solver):
    model = RankRLS(kernel="precomputed", solver=solver)
    words = ["not positive semidefinite"]
    refused(ValueError, words, model.fit, -X @ X.T, Y, qid=QID)
    refused(ValueError, ["must be square", "\\(7, 2\\)"], model.fit, X, Y, qid=QID)
    assert not hasattr(model, "dual_coef_")
    words = ["not positive semidefinite", "coef0 ≥ 0"]
    model = RankRLS(kernel="poly", degree=1, gamma=1.0, coef0=-9.0, solver=solver)
    refused(ValueError, words, model.fit, X, Y, qid=QID)
    words = ["not finite|overflows", "Scale the features"]
    model = RankRLS(kernel="poly", gamma=1.0, degree=9, solver=solver)
    with np.errstate(over="ignore"):
        refused(ValueError, words, model.fit, 1e29 * X, Y, qid=QID)


def make_graph(rng, n, share=0.3):
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return W + W.T


@every_kernel
@pytest.mark.parametrize("share", [0.03, 0.5])  # systems of rows and of columns
@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_graphs_equal_the_closed_form(rng, kernel, share, solver):
    X, y, _ = make_graded(rng)
    weight = rng.integers(0, 3, len(y)).astype(float)
    weight[:2] = 1.0
    W = make_graph(rng, len(y), share)
    W[0, 1] = W[1, 0] = 1.0
    model = RankRLS(0.7, kernel=kernel, solver=solver, tol=1e-20, **SETTINGS)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*one item only")
        model.fit(X, y, sample_weight=weight, graph=sp.coo_array(W))
    pairs = W * np.outer(weight, weight)
    L = np.diag(pairs.sum(axis=1)) - pairs
    K = KERNELS[kernel](X, X)
    a = oracle.solve(K, y, L, 0.7)
    assert np.ptp(K @ a) > 0.1
    assert_allclose(model.utility(X), K @ a, atol=1e-6)
    assert model.objective_ == pytest.approx(oracle.objective(K, y, L, 0.7, a))
    assert model.n_pairs_ == np.count_nonzero(np.triu(pairs))
    of_rows = np.zeros(len(y))
    of_rows[model.support_] = model.dual_coef_
    assert_allclose(of_rows, a, atol=1e-6)


@every_kernel
def test_a_graph_of_groups_is_the_fit_of_the_groups(rng, kernel):
    X, y, group = make_graded(rng)
    weight = rng.integers(0, 3, len(y)).astype(float)
    weight[:10] = 1.0
    W = sp.csr_array(group[:, None] == group[None, :])  # the diagonal plays no part
    alphas, options = (0.1, 10.0), {"kernel": kernel, **SETTINGS}
    by_group = RankRLS(**options).path(X, y, alphas, qid=group, sample_weight=weight)
    by_graph = RankRLS(**options).path(X, y, alphas, graph=W, sample_weight=weight)
    for one, two in zip(by_group, by_graph, strict=True):
        assert_allclose(two.utility(X), one.utility(X), atol=1e-9)
        assert two.objective_ == pytest.approx(one.objective_)
        assert two.n_pairs_ == one.n_pairs_ > 0


def test_compared_features_far_from_zero_are_as_those_around_it(rng):
    items, y = rng.normal(size=(60, 3)), rng.choice([-1, 0, 1], 300)
    left = rng.integers(0, 60, 300)
    right = (left + rng.integers(1, 60, 300)) % 60
    far, near = (
        RankRLS(kernel="linear").fit(Pairs(X, left, right), y)
        for X in (items + np.array([1e9, 0.0, 0.0]), items)
    )
    assert_allclose(far.coef_, near.coef_, atol=1e-6)


def test_graphs_know_no_order_of_rows_and_no_far_offset(rng):
    X, y, _ = make_graded(rng)
    # Two parts that no pair joins, whose grades are far apart.
    part = np.arange(len(y)) % 2
    W = make_graph(rng, len(y)) * (part[:, None] == part)
    model = RankRLS(0.1, gamma=0.5).fit(X, y + 1e9 * part, graph=W)
    near = RankRLS(0.1, gamma=0.5).fit(X, y, graph=W)
    assert_allclose(model.utility(X), near.utility(X), atol=1e-5)
    order = rng.permutation(len(y))
    moved = RankRLS(0.1, gamma=0.5).fit(X[order], y[order], graph=W[order][:, order])
    assert_allclose(moved.utility(X), near.utility(X), atol=1e-10)
    # A weight of 2 is a row twice, each with all its pairs.
    weight = np.ones(len(y))
    weight[3] = 2.0
    twice = np.append(np.arange(len(y)), 3)
    double = RankRLS(0.1, gamma=0.5).fit(X[twice], y[twice], graph=W[twice][:, twice])
    heavy = RankRLS(0.1, gamma=0.5).fit(X, y, graph=W, sample_weight=weight)
    assert_allclose(double.utility(X), heavy.utility(X), atol=1e-10)


@every_kernel
def test_real_margins_equal_the_closed_form(rng, kernel):
    X, left, right, _ = make_compared(rng)
    margin = rng.normal(size=len(left)) * 3.0
    weight = rng.uniform(0.5, 2.0, len(left))
    model = RankRLS(0.7, kernel=kernel, **SETTINGS)
    y = np.sign(margin)
    model.fit(Pairs(X, left, right), y, margin=margin, sample_weight=weight)
    K = KERNELS[kernel](X, X)
    a = oracle.solve_compared(K, left, right, margin, weight, 0.7)
    assert_allclose(model.utility(X), K @ a, atol=1e-8)
    # Outcomes are margins of one.
    outcomes = RankRLS(0.7, kernel=kernel, **SETTINGS).fit(Pairs(X, left, right), y)
    ones = RankRLS(0.7, kernel=kernel, **SETTINGS).fit(Pairs(X, left, right), margin=y)
    assert_allclose(ones.utility(X), outcomes.utility(X), atol=1e-12)


def test_margins_and_graphs_that_cannot_be(rng):
    X, left, right, y = make_compared(rng)
    pairs, m, n = Pairs(X, left, right), len(left), len(X)
    grades, W = np.arange(n), np.ones((n, n))
    fit = RankRLS().fit
    nan, lone = np.where(np.arange(m) == 1, np.nan, 1.0), np.eye(n)
    for words, args, more in [
        ("margin must have the sign of y", (pairs, y), {"margin": -1.0 * y}),
        ("margin", (pairs,), {"margin": nan}),
        ("margin must be finite", (pairs,), {"margin": np.full(m, np.inf)}),
        ("margin must hold numbers", (pairs,), {"margin": ["much"] * m}),
        ("margin is of comparisons", (X, grades), {"margin": grades}),
        ("comparisons are pairs", (pairs, y), {"graph": W}),
        ("graph must have shape (12, 12)", (X, grades), {"graph": W[:5]}),
        ("graph must be symmetric", (X, grades), {"graph": np.triu(W)}),
        ("not negative", (X, grades), {"graph": -W}),
        ("not negative", (X, grades), {"graph": np.full((n, n), np.nan)}),
        ("leave out qid", (X, grades), {"graph": W, "qid": grades}),
        ("none has different grades", (X, grades), {"graph": lone}),
        ("none has different grades", (X, np.ones(n)), {"graph": W}),
        ("Orders are lists", (Orders(X, [[0, 1]]),), {"graph": W}),
    ]:
        refused(ValueError, [re.escape(words)], fit, *args, **more)
    mean = RankRLS(per_group="mean")
    refused(ValueError, ["a graph has none"], mean.fit, X, grades, graph=W)
    with pytest.raises(ValueError, match="Splitters cut rows"):
        GridSearchCV(RankRLS(), {"alpha": [1.0]}, error_score="raise").fit(
            X, grades, graph=sp.csr_array(W)
        )
    # Margins are cut with their rows.
    search = GridSearchCV(RankRLS(), {"alpha": [1.0]}, error_score="raise", cv=2)
    search.fit(pairs, y, margin=2.0 * y)
    assert search.best_estimator_.n_pairs_ == m
