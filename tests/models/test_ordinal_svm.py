# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from tests.oracles import ordinal
from tiebreak import OrdinalSVM

KERNELS = {
    "linear": lambda A, B: A @ B.T,
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.5),
    "poly": lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.5, coef0=1.0),
}
SETTINGS = {"gamma": 0.5, "degree": 2, "coef0": 1.0}


def graded(rng, n=30, p=3, n_grades=4, noise=0.5):
    X = rng.normal(size=(n, p))
    u = X @ np.arange(1, p + 1) / p + 0.3 * X[:, 0] ** 2 + noise * rng.normal(size=n)
    cuts = np.quantile(u, np.arange(1, n_grades) / n_grades)
    return X, np.searchsorted(cuts, u).astype(float)


def features_of(K):
    """Features whose products are K, for a solver that knows no kernels."""
    value, vector = np.linalg.eigh(K)
    used = value > 1e-12 * value.max()
    # HiGHS takes no coefficients below 1e-9.
    features = vector[:, used] * np.sqrt(value[used])
    return np.where(np.abs(features) < 1e-8, 0.0, features)


def primal(model, X, y, weight=None):
    """Recompute the objective from what the model says, threshold by threshold."""
    weight = np.ones(len(y)) if weight is None else weight
    utility = model.utility(X)
    total = 0.5 * model.dual_coef_ @ utility[model.support_]
    for j, b in enumerate(model.thresholds_):
        z = np.where(y > model.grades_[j], 1.0, -1.0)
        total += model.C * weight @ np.maximum(0.0, 1.0 - z * (utility - b))
    return total


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_equals_a_general_solver(rng, kernel, C):
    X, y = graded(rng, n=20)
    weight = rng.integers(0, 4, 20) / 2.0
    model = OrdinalSVM(C, kernel=kernel, tol=1e-9, **SETTINGS)
    model.fit(X, y, sample_weight=weight)
    assert model.converged_
    assert model.gap_ <= 1e-9
    F = features_of(KERNELS[kernel](X, X))
    features, block, sign, cost = ordinal.samples(F, y, weight)
    w, _, best = ordinal.solve(features, block, sign, C * cost)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.objective_ == pytest.approx(primal(model, X, y, weight), rel=1e-6)
    # By strong convexity: two solutions within 1e-6 of the best value.
    apart = np.sqrt(4e-6 * best) * np.sqrt((F**2).sum(axis=1).max())
    assert_allclose(model.utility(X), F @ w, atol=apart)
    assert model.utility(X).std() > 1e-3


@st.composite
def awkward(draw):
    """Draw up to ten items of two features: many ties, duplicates, weights of zero."""
    feature = st.integers(-1, 1)
    row = st.tuples(feature, feature, st.integers(0, 3), st.integers(0, 2))
    rows = draw(st.lists(row, min_size=2, max_size=10))
    X = np.array([row[:2] for row in rows], dtype=float)
    if draw(st.booleans()):
        X[:, 1] = 1.0
    y = np.array([row[2] for row in rows], dtype=float)
    weight = np.array([row[3] for row in rows], dtype=float)
    assume(len(np.unique(y[weight > 0])) > 1)
    return X, y, weight


def quietly(model, X, y, **rest):
    """Fit without a word on items that are all alike: another test's business."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "OrdinalSVM gives all training items")
        return model.fit(X, y, **rest)


@given(
    awkward(), st.sampled_from([1e-3, 0.3, 30.0]), st.sampled_from(["linear", "rbf"])
)
def test_equals_a_general_solver_on_awkward_items(drawn, C, kernel):
    X, y, weight = drawn
    model = OrdinalSVM(C, kernel=kernel, tol=1e-8, **SETTINGS)
    quietly(model, X, y, sample_weight=weight)
    assert model.converged_
    assert (np.diff(model.thresholds_) >= 0).all()
    assert model.objective_ == pytest.approx(primal(model, X, y, weight), rel=1e-6)
    F = X if kernel == "linear" else features_of(KERNELS["rbf"](X, X))
    features, block, sign, cost = ordinal.samples(F, y, weight)
    best = ordinal.solve(features, block, sign, C * cost)[2]
    assert model.objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_two_grades_are_a_classifier(rng, kernel, C):
    X, y = graded(rng, n=80, n_grades=2)
    svc = SVC(C=C, kernel=kernel, gamma=0.5, tol=1e-9).fit(X, y)
    model = OrdinalSVM(C, kernel=kernel, gamma=0.5, tol=1e-9).fit(X, y)
    theirs = np.zeros(80)
    theirs[svc.support_] = svc.dual_coef_[0]
    score = KERNELS[kernel](X, X) @ theirs
    # libsvm's own accuracy is some 1e-5, whatever the tolerance.
    assert_allclose(model.utility(X), score, atol=3e-4)
    loss = np.maximum(0, 1 - (2 * y - 1) * svc.decision_function(X)).sum()
    value = 0.5 * theirs @ score + C * loss
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    free = (np.abs(theirs) > 0) & (np.abs(theirs) < C)
    if free.any():  # else every intercept of an interval is as good
        assert_allclose(model.thresholds_, -svc.intercept_, atol=3e-4)
        clear = np.abs(svc.decision_function(X)) > 1e-3
        assert_array_equal(model.predict(X)[clear], svc.predict(X)[clear])


@pytest.mark.parametrize("n_grades", [3, 9])
@pytest.mark.parametrize("C", [1e-20, 1e-4, 1.0, 50.0])
def test_thresholds_are_the_best_ones_and_in_order(rng, n_grades, C):
    X, y = graded(rng, n=60, n_grades=n_grades)
    model = OrdinalSVM(C, kernel="linear").fit(X, y)
    utility = model.utility(X)
    assert len(model.thresholds_) == n_grades - 1
    assert (np.diff(model.thresholds_) >= 0).all()
    for j, b in enumerate(model.thresholds_):
        z = np.where(y > model.grades_[j], 1.0, -1.0)

        def loss(b, z=z):
            return np.maximum(0.0, 1.0 - z * (utility - b)).sum()

        # The loss is convex with kinks where an item is at its margin.
        kinks = utility - z
        least = min(map(loss, kinks))
        best = [k for k in kinks if loss(k) <= least + 1e-9]
        assert b == pytest.approx(0.5 * (min(best) + max(best)), abs=1e-9)


def test_the_class_of_grades_is_between_the_thresholds():
    X = np.arange(6.0)[:, None]
    y = np.array([-1.5, -1.5, 7.0, 7.0, 100.0, 100.0])
    model = OrdinalSVM(100.0, kernel="linear", tol=1e-9).fit(X, y)
    # Margins meet at 1.5 and 3.5: the margin of one is half the distance of items.
    assert_allclose(model.coef_, [2.0], rtol=1e-6)
    assert_allclose(model.thresholds_, [3.0, 7.0], rtol=1e-6)
    assert_array_equal(model.grades_, [-1.5, 7.0, 100.0])
    assert_array_equal(model.predict(X), y)
    assert_array_equal(model.predict([[-50.0], [50.0]]), [-1.5, 100.0])
    model.coef_, model.thresholds_ = np.array([1.0]), np.array([1.0, 2.0])
    below, above = np.nextafter(1.0, 0.0), np.nextafter(2.0, 0.0)
    grades = model.predict([[below], [1.0], [above], [2.0]])
    assert_array_equal(grades, [-1.5, 7.0, 7.0, 100.0])


def test_support_and_coefficients_are_one_expansion(rng):
    X, y = graded(rng, n=40)
    X[20:25] = X[:5]  # identical items, some of different grades
    weight = rng.integers(0, 3, 40).astype(float)
    asked = rng.normal(size=(10, 3))
    for kernel in KERNELS:
        model = OrdinalSVM(kernel=kernel, tol=1e-7, **SETTINGS)
        model.fit(X, y, sample_weight=weight)
        assert (weight[model.support_] > 0).all()
        expanded = KERNELS[kernel](asked, X[model.support_]) @ model.dual_coef_
        assert_allclose(model.utility(asked), expanded, atol=1e-9)
        # Every threshold is in balance, and so are they together.
        assert abs(model.dual_coef_.sum()) < 1e-9 * np.abs(model.dual_coef_).sum()


@pytest.mark.extended
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("p", [10, 1300])
def test_many_items_and_many_features(rng, convert, p):
    """Few features go through the barrier; many sparse ones never meet in a matrix."""
    n = 1200
    X = np.zeros((n, p))
    for _ in range(10):
        X[np.arange(n), rng.integers(0, p, n)] = rng.normal(size=n)
    u = X @ rng.normal(size=p) + rng.normal(size=n)
    y = np.searchsorted([-1.0, 0.0, 1.5], u)
    model = OrdinalSVM(0.05, kernel="linear")
    model.fit(convert(X), y)
    assert model.converged_
    assert model.gap_ <= 1e-3
    assert model.objective_ == pytest.approx(primal(model, convert(X), y), rel=1e-6)
    assert model.solver_.startswith("interior" if p == 10 else "coordinate")
    assert model.score(convert(X), y) > 0.75


def test_a_path_is_the_single_fits(rng):
    X, y = graded(rng, n=60)
    weight = rng.uniform(0.5, 2.0, 60)
    Cs = [0.01, 0.3, 10.0, 0.1]
    for kernel in ("linear", "rbf"):
        machine = OrdinalSVM(kernel=kernel, tol=1e-8)
        path = list(machine.path(X, y, Cs, sample_weight=weight))
        assert not hasattr(machine, "thresholds_")
        for C, model in zip(Cs, path, strict=True):
            single = OrdinalSVM(C, kernel=kernel, tol=1e-8)
            single.fit(X, y, sample_weight=weight)
            assert model.get_params() == single.get_params()
            assert model.converged_
            assert_allclose(model.objective_, single.objective_, rtol=1e-7)
            assert_allclose(model.utility(X), single.utility(X), atol=1e-3)
            assert_allclose(model.thresholds_, single.thresholds_, atol=1e-3)
    with pytest.raises(ValueError, match="at least one value of C"):
        OrdinalSVM().path(X, y, [])
    with pytest.raises(ValueError, match=r"C=-1"):
        list(OrdinalSVM().path(X, y, [1.0, -1]))
    with pytest.raises(ValueError, match="requires y"):
        OrdinalSVM().path(X, None, [1.0])


REFUSED = {
    "many": (np.linspace(0, 1, 60), "60 different grades.*at most 50"),
    "one": (np.full(60, 2.5), r"all items \(60 sample\(s\)\) have the grade 2.5"),
}


@pytest.mark.parametrize(("y", "message"), REFUSED.values(), ids=REFUSED)
def test_grades_that_cannot_be_learned_are_refused(y, message):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match=message):
        OrdinalSVM().fit(X, y)


def test_fifty_grades_are_accepted_and_binning_helps_beyond(rng):
    X = rng.normal(size=(120, 2))
    y = np.arange(120) % 50
    X[:, 0] += y
    model = OrdinalSVM(kernel="linear").fit(X, y)
    assert len(model.thresholds_) == 49
    assert (np.diff(model.thresholds_) >= 0).all()
    assert model.score(X, y) > 0.95
    raw = X[:, 0]
    binned = np.searchsorted(np.quantile(raw, [0.2, 0.4, 0.6, 0.8]), raw, side="right")
    assert OrdinalSVM(kernel="linear").fit(X, binned).score(X, raw) > 0.95


def test_only_rows_that_count_must_have_grades_and_one_group(rng):
    X, y = graded(rng, n=30, n_grades=3)
    weight = (y == 1).astype(float)
    with pytest.raises(ValueError, match="have the grade 1"):
        OrdinalSVM().fit(X, y, sample_weight=weight)
    # Sixty grades, of which three count.
    many = np.concatenate([y, np.arange(60) + 10.0])
    table = np.concatenate([X, rng.normal(size=(60, 3))])
    qid = np.repeat(["a", "b"], [30, 60])
    weight = np.repeat([1.0, 0.0], [30, 60])
    gamma = {"gamma": 0.5, "tol": 1e-8}
    model = OrdinalSVM(**gamma).fit(table, many, qid=qid, sample_weight=weight)
    assert_allclose(
        model.utility(X), OrdinalSVM(**gamma).fit(X, y).utility(X), atol=1e-5
    )


def test_grades_of_several_groups_are_not_on_one_scale(rng):
    X, y = graded(rng)
    qid = np.arange(30) % 3
    with pytest.raises(ValueError, match=r"qid has 3 groups.*RankSVM") as caught:
        OrdinalSVM().fit(X, y, qid=qid)
    assert "leave qid out" in str(caught.value)
    one = OrdinalSVM(kernel="linear").fit(X, y, qid=["only"] * 30)
    assert one.fitted_with_qid_
    assert_array_equal(one.coef_, OrdinalSVM(kernel="linear").fit(X, y).coef_)
    with pytest.raises(ValueError, match="was fitted with qid"):
        one.score(X, y)


def test_grades_that_no_feature_explains_are_put_in_no_order():
    """For few good items and a small C the best w is zero: the bad ones outweigh them.

    Balance needs as much weight below the threshold as above, and 20 items below can
    be weighed so that their mean is that of the two above.
    """
    x = np.concatenate([[0.5, 0.6], np.linspace(-1.0, 1.0, 20)])
    y = np.repeat([1, 0], [2, 20])
    with pytest.warns(UserWarning, match=r"same utility: with C=0.1.*larger C"):
        model = OrdinalSVM(0.1, kernel="linear").fit(x[:, None], y)
    assert_allclose(model.coef_, [0.0], atol=1e-12)
    assert_allclose(model.thresholds_, [1.0])
    assert model.objective_ == pytest.approx(0.1 * 2 * 2.0)
