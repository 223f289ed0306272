# SPDX-License-Identifier: BSD-3-Clause

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from tests.extended import few
from tests.models.inputs import ITEMS, LEFT, RIGHT, Y, good_pairs, refused
from tests.oracles import outcome_models as oracle
from tiebreak import Pairs
from tiebreak.losses import LINKS
from tiebreak.models.logistic import problem
from tiebreak.models.logistic.logistic_compare import LogisticCompare

every_link = pytest.mark.parametrize("link", LINKS)


def draw(rng, link="davidson", n=150, n_items=25, p=3, t=0.6, w=(1.0, -0.5, 0.0)):
    """Draw comparisons from the model itself, some pairs again and again."""
    items = rng.normal(size=(n_items, p))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    utility = items @ np.asarray(w)
    y = outcomes(rng, link, utility[right] - utility[left], t)
    return Pairs(items, left, right), y


def outcomes(rng, link, d, t):
    p = oracle.probabilities(link, d, t)
    return (rng.random(len(d))[:, None] > p.cumsum(axis=1)[:, :2]).sum(axis=1) - 1


def delta(pairs):
    return np.asarray(pairs)[:, 1] - np.asarray(pairs)[:, 0]


def parameter(link, model):
    """The tie parameter as the oracle has it."""
    return LINKS[link].from_parameter(model.tie_)


@every_link
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_the_optimum_is_that_of_a_general_solver(rng, link, alpha):
    pairs, y = draw(rng, link)
    weight = rng.uniform(0.1, 3.0, len(y))
    model = LogisticCompare(alpha, link=link).fit(pairs, y, sample_weight=weight)
    counts, penalty = oracle.count_rows(y, weight), np.full(3, alpha)
    x, value = oracle.solve(link, delta(pairs), counts, penalty)
    assert_allclose(model.coef_, x[:-1], atol=1e-6)
    assert_allclose(parameter(link, model), x[-1], atol=1e-6)
    assert_allclose(model.objective_, value, rtol=1e-10)
    # And the gradient of the written-out objective is zero there.
    f = oracle.objective(link, delta(pairs), counts, penalty)
    mine = np.append(model.coef_, parameter(link, model))
    assert_allclose(f(mine), model.objective_, rtol=1e-12)
    gradient = oracle.derivative(f, mine)
    steps = np.linalg.solve(oracle.second_derivative(f, mine), gradient)
    assert 0.5 * gradient @ steps <= 1e-12 * value
    assert model.converged_
    assert 0 <= model.gap_ <= 1e-16
    assert 1 <= model.n_iter_ <= 20


def test_without_ties_it_is_logistic_regression(rng):
    pairs, y = draw(rng, t=-np.inf)
    model = LogisticCompare(0.25).fit(pairs, y)
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10)
    theirs.fit(delta(pairs), y)
    assert_allclose(model.coef_, theirs.coef_[0], atol=1e-5)
    p = theirs.predict_proba(delta(pairs))
    assert_allclose(model.predict_proba(pairs)[:, [0, 2]], p, atol=1e-5)


@every_link
def test_nothing_but_ties(rng, link):
    pairs, y = draw(rng, link)
    model = LogisticCompare(link=link)
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        model.fit(pairs, 0 * y)
    assert_array_equal(model.utility(pairs.values), np.zeros(25))
    assert model.tie_ == model.threshold_ == np.inf
    assert model.objective_ == model.gap_ == model.n_iter_ == 0
    assert model.converged_
    assert_array_equal(model.predict(pairs), np.zeros(len(y)))
    assert_array_equal(model.predict_proba(pairs[:2]), [[0, 1, 0]] * 2)
    assert_array_equal(model.predict_log_proba(pairs[:1]), [[-np.inf, 0, -np.inf]])


@every_link
def test_the_prediction_is_the_most_probable_outcome(rng, link):
    pairs, y = draw(rng, link, 400, t=1.2, w=(3.0, -2.0, 0.0))
    model = LogisticCompare(link=link).fit(pairs, y)
    assert model.threshold_ > 0
    p = model.predict_proba(pairs)
    assert_array_equal(model.predict(pairs), p.argmax(axis=1) - 1)
    assert set(model.predict(pairs).tolist()) == {-1, 0, 1}
    assert_allclose(model.predict_log_proba(pairs), np.log(p), rtol=1e-9, atol=1e-15)
    d = model.difference(pairs)
    assert_allclose(p, oracle.probabilities(link, d, parameter(link, model)))
    assert_allclose(model.predict_proba(pairs.swap()), p[:, ::-1], rtol=1e-12)


def test_equal_utilities_tie_though_a_win_is_more_probable(rng):
    pairs, y = draw(rng, t=-3.0)
    model = LogisticCompare().fit(pairs, y)
    same = Pairs(pairs.values[[0, 0]], [0], [1])
    left, tie, right = model.predict_proba(same)[0]
    assert left == right > tie
    assert model.predict(same) == 0


KERNELS = {
    "rbf": ({"gamma": 0.3}, lambda A, B: rbf_kernel(A, B, gamma=0.3)),
    "poly": (
        {"gamma": 0.5, "degree": 2, "coef0": 1.0},
        lambda A, B: polynomial_kernel(A, B, gamma=0.5, degree=2, coef0=1.0),
    ),
}


@every_link
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_is_linear_in_its_own_features(rng, link, kernel):
    """Features of K = F Fᵀ by eigenvalues: another factor than the model's own."""
    pairs, y = draw(rng, link)
    options, k = KERNELS[kernel]
    model = LogisticCompare(0.2, kernel=kernel, link=link, **options).fit(pairs, y)
    values, vectors = np.linalg.eigh(k(pairs.values, pairs.values))
    F = vectors * np.sqrt(np.maximum(values, 0))
    linear = LogisticCompare(0.2, link=link).fit(pairs.with_items(F), y)
    assert_allclose(model.utility(pairs.values), linear.utility(F), atol=1e-6)
    assert_allclose(model.objective_, linear.objective_, rtol=1e-8)
    assert_allclose(model.tie_, linear.tie_, rtol=1e-6)
    assert np.ptp(model.utility(pairs.values)) > 0.1
    # The expansion on the support items, also for new ones.
    new = rng.normal(size=(6, 3))
    expected = k(new, pairs.values[model.support_]) @ model.dual_coef_
    assert_allclose(model.utility(new), expected, atol=1e-8)
    assert_array_equal(model.support_items_, pairs.values[model.support_])
    assert len(np.unique(model.support_)) == len(model.support_) <= 25
    assert not hasattr(model, "coef_")
    # ‖w‖² = aᵀ K a is what was penalized.
    a, S = model.dual_coef_, model.support_items_
    d = model.difference(pairs)
    loss = oracle.loss(link, d, parameter(link, model), oracle.count_rows(y))
    assert_allclose(model.objective_, loss + 0.2 * a @ k(S, S) @ a, rtol=1e-7)


@every_link
@pytest.mark.parametrize("seed", few([2, 11, 26, 30]))
def test_a_singular_kernel_is_solved_by_products(seed, monkeypatch, link):
    """Rounding decided the sign of its squares, and so where the search ended."""
    draws = np.random.default_rng(seed)
    test_many_items_are_solved_by_products(draws, monkeypatch, link, 1e-4, 50)


@every_link
@pytest.mark.parametrize("alpha", [1.0, 1e-4])
@pytest.mark.parametrize("n", [50, 300])
def test_many_items_are_solved_by_products(rng, monkeypatch, link, alpha, n):
    """Fewer comparisons than items, and more; a callable kernel is factored."""
    monkeypatch.setattr(problem, "_FEW_ITEMS", 10)
    pairs, y = draw(rng, link, n=n, n_items=80, p=6, w=np.ones(6))
    given = {"context": rng.normal(size=(n, 1))}
    options = {"alpha": alpha, "link": link}
    sizes, prepare = [], problem.KernelObjective.prepare
    monkeypatch.setattr(
        problem.KernelObjective, "prepare", lambda f: sizes.append(f.n) or prepare(f)
    )
    model = LogisticCompare(kernel="rbf", gamma=0.3, **options).fit(pairs, y, **given)
    factored = LogisticCompare(
        kernel=lambda A, B: rbf_kernel(A, B, gamma=0.3), **options
    ).fit(pairs, y, **given)
    assert sizes == [min(n, len(pairs.touched()))]
    new = rng.normal(size=(7, 6))
    assert model.converged_
    assert model.gap_ <= 1e-11
    assert model.objective_ == pytest.approx(factored.objective_, rel=1e-10)
    assert_allclose(model.utility(new), factored.utility(new), atol=1e-5)
    assert_allclose(model.context_coef_, factored.context_coef_, atol=1e-5)
    assert_allclose(model.tie_, factored.tie_, rtol=1e-5)
    with pytest.raises(ValueError, match="no standard errors: its kernel is not"):
        model.standard_errors(new)


def test_products_reach_the_optimum_of_a_weak_penalty(rng, monkeypatch):
    monkeypatch.setattr(problem, "_FEW_ITEMS", 10)
    pairs, y = draw(rng, n=150, n_items=300, p=6, w=np.ones(6))
    options = {"alpha": 1e-5, "kernel": "rbf", "gamma": 0.3}
    model = LogisticCompare(**options).fit(pairs, y)
    monkeypatch.setattr(problem, "_FEW_ITEMS", 1000)
    factored = LogisticCompare(**options).fit(pairs, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(factored.objective_, rel=1e-10)


def test_the_gap_covers_what_a_thin_factor_leaves_out(rng, monkeypatch):
    monkeypatch.setattr(problem, "_FEW_ITEMS", 10)
    pairs, y = draw(rng, n=300, n_items=200, p=1, w=[1.0])
    options = {"alpha": 0.01, "kernel": "rbf", "gamma": 0.05}
    exact = LogisticCompare(**options).fit(pairs, y)
    monkeypatch.setattr(problem, "_TIGHTEST", 1e-5)
    thin = LogisticCompare(**options).fit(pairs, y)
    assert len(thin.dual_coef_) < len(exact.dual_coef_) < 40
    assert 0 < 1 - exact.objective_ / thin.objective_ <= thin.gap_ < 0.1


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n", [10, 150])
def test_more_features_than_a_dense_hessian_can_have(rng, kind, n):
    """Conjugate gradients: the same optimum as in the space of the items."""
    # Of 10 comparisons of 25 items the differences are the smaller table.
    pairs, y = draw(rng, n=n)
    wide = rng.normal(size=(25, 2000)) / 40
    context = rng.normal(size=(n, 1)) * (n > 10)  # with so few it has no finite effect
    given = {"context": context} if n > 10 else {}
    model = LogisticCompare(0.1).fit(pairs.with_items(kind(wide)), y, **given)
    small = LogisticCompare(0.1, kernel="precomputed")
    small.fit(pairs.with_items(wide @ wide.T), y, **given)
    assert model.converged_
    assert model.gap_ <= 1e-16
    expected = small.utility(wide @ wide.T)
    assert_allclose(model.utility(wide), expected, atol=1e-6)
    assert model.objective_ == pytest.approx(small.objective_, rel=1e-12)
    assert np.ptp(expected) > 0.1


def test_identical_items_only_inform_about_ties():
    pairs = Pairs([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], [0, 0, 1], [1, 2, 2])
    y = [0, -1, 0]
    model = LogisticCompare(0.5).fit(pairs, y)
    x, value = oracle.solve(
        "davidson", delta(pairs), oracle.count_rows(y), np.full(2, 0.5)
    )
    assert_allclose(model.coef_, x[:-1], atol=1e-6)
    assert_allclose(model.objective_, value, rtol=1e-10)
    alone = Pairs([[1.0], [1.0]], [0, 0, 1], [1, 1, 1])
    with pytest.warns(UserWarning, match="item with itself"):
        alone = LogisticCompare().fit(alone, [-1, 1, 0])
    assert_allclose(alone.coef_, 0, atol=1e-12)
    assert_allclose(alone.predict_proba([[[1.0], [1.0]]]), [[0.5, 0.0, 0.5]])


# Item identity and features together.


def identity_data(rng, n=6000, n_items=40):
    items = rng.normal(size=(n_items, 2))
    effect = 0.8 * rng.normal(size=n_items)
    names = np.array([f"item {i}" for i in range(n_items)])
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    utility = items @ [1.0, -1.0] + effect
    y = outcomes(rng, "davidson", utility[right] - utility[left], 0.3)
    return Pairs(items, left, right, names=names), y, utility, effect


def test_identity_is_a_table_of_features_and_items(rng):
    pairs, y, _, _ = identity_data(rng, 300, 10)
    model = LogisticCompare(0.4, identity=0.9).fit(pairs, y)
    one_hot = np.eye(10)[pairs.right] - np.eye(10)[pairs.left]
    x, value = oracle.solve(
        "davidson",
        np.hstack([delta(pairs), one_hot]),
        oracle.count_rows(y),
        np.repeat([0.4, 0.9], [2, 10]),
    )
    assert_allclose(model.coef_, x[:2], atol=1e-6)
    assert_allclose(model.item_effect_, x[2:-1], atol=1e-6)
    assert_array_equal(model.effect_names_, pairs.names)
    assert_allclose(model.objective_, value, rtol=1e-10)


def test_deviations_belong_to_names(rng):
    pairs, y, _, _ = identity_data(rng, 300, 10)
    model = LogisticCompare(identity=0.5).fit(pairs, y)
    plain = model.utility(pairs.values)
    assert_allclose(plain, pairs.values @ model.coef_)
    named = model.utility(pairs.values, names=pairs.names)
    assert_allclose(named - plain, model.item_effect_)
    d = model.difference(pairs)
    assert_allclose(d, named[pairs.right] - named[pairs.left])
    # In another order, with a stranger, and without names.
    turned = Pairs(pairs.values[::-1], [0, 1], [1, 9], names=[*pairs.names[:0:-1], "x"])
    expected = named[[8, 0]] - named[[9, 8]]
    expected[1] = plain[0] - named[8]
    assert_allclose(model.difference(turned), expected)
    nameless = Pairs(pairs.values, pairs.left, pairs.right)
    difference = plain[pairs.right] - plain[pairs.left]
    assert_allclose(model.difference(nameless), difference)
    assert_allclose(model.difference(np.asarray(pairs)), difference)
    assert_allclose(model.predict_proba(turned).sum(axis=1), 1)


def test_identity_keeps_twins_apart():
    # Two items of the same features, of which one always wins.
    pairs = Pairs([[1.0], [1.0], [0.0]], [0, 0, 1], [1, 2, 2], names=["a", "b", "c"])
    model = LogisticCompare(identity=0.1).fit(pairs, [-1, -1, -1])
    a, b, c = model.item_effect_
    assert a > b > c
    with_kernel = LogisticCompare(identity=0.1, kernel="rbf", gamma=1.0)
    with_kernel.fit(pairs, [-1, -1, -1])
    assert with_kernel.item_effect_[0] > with_kernel.item_effect_[1]
    K = np.array(
        [[1.0, 1.0, np.exp(-1)], [1.0, 1.0, np.exp(-1)], [np.exp(-1)] * 2 + [1]]
    )
    stored = LogisticCompare(identity=0.1, kernel="precomputed")
    stored.fit(pairs.with_items(K), [-1, -1, -1])
    assert_allclose(stored.item_effect_, with_kernel.item_effect_, atol=1e-7)


# Bad input and bad parameters.


def test_identity_needs_names_and_features():
    model = LogisticCompare(identity=1.0)
    words = ["identity=1.0", "names=names"]
    refused(ValueError, words, model.fit, good_pairs(), Y)
    refused(ValueError, words, model.fit, np.asarray(good_pairs()), Y)
    refused(ValueError, words, model.fit, Pairs(None, LEFT, RIGHT), Y)


def test_names_where_there_are_no_deviations():
    model = LogisticCompare().fit(good_pairs(), Y)
    words = ["fitted without identity"]
    refused(ValueError, words, model.utility, ITEMS, names=["a"] * 5)
    named = Pairs(ITEMS, LEFT, RIGHT, names=list("abcde"))
    model = LogisticCompare(identity=1.0).fit(named, Y)
    refused(ValueError, ["names has 4 values"], model.utility, ITEMS, names=["a"] * 4)


def test_no_convergence_warns_with_the_gap_and_keeps_the_result(rng):
    pairs, y = draw(rng)
    model = LogisticCompare(1e-3, max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(pairs, y)
    said = str(caught[0].message)
    assert f"relative duality gap of {model.gap_:.2g}" in said
    assert "after 1 iterations" in said
    assert "larger max_iter" in said
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.n_iter_ == 1
    assert np.ptp(model.difference(pairs)) > 0
    better = LogisticCompare(1e-3).fit(pairs, y)
    # The certificate is one: the minimum is no further below than it says.
    assert better.objective_ < model.objective_
    assert better.objective_ > model.objective_ * (1 - 2 * model.gap_)


# Inside scikit-learn.


@pytest.mark.parametrize("link", ["davidson", "cumulative"])
def test_the_learned_penalty_has_the_largest_evidence(rng, link):
    # One weight and ties that never happen: an integral in one variable.
    pairs, y = draw(rng, link, p=1, w=[1.5])
    pairs, y = pairs[np.flatnonzero(y)], y[y != 0]
    x = delta(pairs)[:, 0]
    unit = np.sqrt(2.0 / np.mean(x**2))  # of τ
    w = np.linspace(-8.0, 8.0, 4001)
    loss = np.logaddexp(0.0, -np.outer(w, x) * y).sum(axis=1)
    s = np.linspace(-3.0, 3.0, 601)
    prior = np.exp(-0.5 * (w / (unit * np.exp(s[:, None]))) ** 2)
    evidence = np.log((np.exp(loss.min() - loss) * prior).sum(axis=1))
    # Density of the normal prior, then half-Cauchy τ on the scale of s = ln τ.
    evidence += -s - np.log1p(np.exp(2 * s)) + s
    best = 0.5 / (unit * np.exp(s[evidence.argmax()])) ** 2
    model = LogisticCompare(link=link).fit(pairs, y)
    assert_allclose(model.alpha_, best, rtol=0.05)
    fixed = LogisticCompare(model.alpha_, link=link).fit(pairs, y)
    assert_allclose(model.coef_, fixed.coef_, rtol=1e-6)
    assert_allclose(model.objective_, fixed.objective_)


def test_a_learned_penalty_does_not_depend_on_the_unit_of_features(rng):
    pairs, y = draw(rng)
    model = LogisticCompare().fit(pairs, y)
    scaled = Pairs(1e4 * pairs.items.values, pairs.left, pairs.right)
    other = LogisticCompare().fit(scaled, y)
    assert_allclose(other.alpha_, 1e8 * model.alpha_, rtol=1e-5)
    assert_allclose(other.difference(scaled), model.difference(pairs), rtol=1e-5)


def test_names_are_columns_of_features(rng):
    pairs, y = draw(rng, n_items=6)
    by_name = LogisticCompare().fit(Pairs(None, pairs.left, pairs.right), y)
    table = Pairs(np.eye(6), pairs.left, pairs.right)
    assert_allclose(LogisticCompare().fit(table, y).alpha_, by_name.alpha_, rtol=1e-6)


def test_other_kernels_and_streams_have_a_penalty_of_one(rng):
    pairs, y = draw(rng, n=40)
    for model in (LogisticCompare(kernel="rbf"), LogisticCompare()):
        given = LogisticCompare(1.0, kernel=model.kernel)
        learn = "fit" if model.kernel == "rbf" else "partial_fit"
        ours, theirs = (getattr(one, learn)(pairs, y) for one in (model, given))
        assert_array_equal(ours.difference(pairs), theirs.difference(pairs))


def test_intervals_of_features_between_0_and_1_hold(rng):
    # .65 with the penalty 1.
    inside = []
    for _ in range(60):
        items, w = rng.random((30, 5)), rng.normal(scale=2.0, size=5)
        left = rng.integers(0, 30, 200)
        right = (left + rng.integers(1, 30, 200)) % 30
        y = outcomes(rng, "davidson", (items[right] - items[left]) @ w, 0.0)
        model = LogisticCompare().fit(Pairs(items, left, right), y)
        inside.append(np.abs(model.coef_ - w) < 1.96 * model.standard_errors())
    assert 0.9 < np.mean(inside) < 0.98


def test_a_stream_has_no_probit(rng):
    pairs, y = draw(rng, "probit")
    model = LogisticCompare(link="probit").fit(pairs, y)
    refused(ValueError, ["no steps for link='probit'"], model.partial_fit, pairs, y)


def test_features_far_from_zero_are_as_those_around_it(rng):
    X = rng.integers(-2000, 2000, (40, 3)) / 1024
    left, right = (rng.permutation(np.repeat(np.arange(40), 5)) for _ in range(2))
    left, right = left[left != right], right[left != right]
    y = np.sign(np.round(X[right, 1] - X[left, 1] + rng.normal(size=len(left))))
    far = X + np.array([2.0**30, 0.0, -(2.0**20)])  # without rounding
    for alpha in ("auto", 0.5):
        near, model = (
            LogisticCompare(alpha).fit(Pairs(Z, left, right), y) for Z in (X, far)
        )
        assert_allclose(model.coef_, near.coef_, rtol=1e-6, atol=1e-9)


def test_many_items_are_held_twice_and_no_more(rng):
    items = rng.normal(size=(10_000, 256)).astype(np.float32)
    left = rng.integers(10_000, size=20_000)
    right = (left + rng.integers(1, 10_000, size=20_000)) % 10_000
    pairs, y = Pairs(items, left, right), np.sign(items[right, 0] - items[left, 0])
    model = LogisticCompare(alpha=1.0)
    some = left[:900] % 300, 300 + right[:900] % 300
    model.fit(Pairs(items[:600], *some), y[:900])  # what has to be compiled is now
    tracemalloc.start()
    try:
        model.fit(pairs, y.astype(int))
        size, most = pairs.values.nbytes, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The table of the items that occur, and what comparisons need; L X would be more.
    assert most / size < 1.9
