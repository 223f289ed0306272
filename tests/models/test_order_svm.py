# SPDX-License-Identifier: BSD-3-Clause
"""OrderSVM, and the places and cuts of its lists."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from tests.oracles import order_svm
from tests.oracles import order_svm as oracle
from tiebreak import Orders, OrderSVM, OrdinalSVM
from tiebreak.models.svm.order_svm import (
    choose_cuts,
    cut_sides,
    list_places,
    usable_cuts,
)

KERNELS = {
    "linear": lambda A, B: A @ B.T,
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.5),
    "poly": lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.5, coef0=1.0),
}
SETTINGS = {"gamma": 0.5, "degree": 2, "coef0": 1.0}


def ranked(rng, n_items=12, lengths=(5, 3, 6, 2), p=2, noise=0.7, ties=True):
    """Draw items, and lists of different lengths with ties, as blocks of rows."""
    X = rng.normal(size=(n_items, p))
    lists = []
    for length in lengths:
        rows = rng.choice(n_items, length, replace=False)
        utility = X[rows] @ np.arange(1, p + 1) + noise * rng.normal(size=length)
        rows = rows[np.argsort(-utility)].tolist()
        blocks = [[row] for row in rows]
        if ties and length > 3:
            blocks[1:3] = [rows[1:3]]
        lists.append(blocks)
    return X, lists


def features_of(K):
    """Features whose products are K, for a solver that knows no kernels."""
    value, vector = np.linalg.eigh(K)
    used = value > 1e-12 * value.max()
    # HiGHS takes no coefficients below 1e-9.
    features = vector[:, used] * np.sqrt(value[used])
    return np.where(np.abs(features) < 1e-8, 0.0, features)


def quietly(model, *args, **rest):
    """Fit without a word on flat utilities and idle lists: another test's business."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "OrderSVM gives all training items")
        warnings.filterwarnings("ignore", r".* groups have one item only")
        return model.fit(*args, **rest)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("C", "coupling"), [(0.1, 1.0), (5.0, 0.2), (0.02, 30.0)])
def test_equals_a_general_solver(rng, kernel, C, coupling):
    X, lists = ranked(rng)
    model = OrderSVM(C, coupling=coupling, kernel=kernel, tol=1e-9, **SETTINGS)
    model.fit(Orders(X, lists))
    assert model.converged_
    assert model.gap_ <= 1e-9
    assert_array_equal(model.cuts_, [1, 2, 3, 4, 5])
    F = features_of(KERNELS[kernel](X, X))
    w, _, _, best = oracle.solve(F, oracle.samples(lists), C, coupling)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    # By strong convexity: two solutions within 1e-6 of the best value.
    apart = np.sqrt(4e-6 * best) * np.sqrt((F**2).sum(axis=1).max())
    assert_allclose(model.utility(X), F @ w, atol=apart)
    assert model.utility(X).std() > 1e-4


@st.composite
def awkward(draw):
    """Draw up to three lists of up to five items: ties, identical items, weights."""
    feature = st.integers(-1, 1)
    X = np.array(draw(st.lists(st.tuples(feature, feature), min_size=2, max_size=6)))
    X = X.astype(float)
    if draw(st.booleans()):
        X[:, 1] = 1.0
    lists, weights = [], []
    for _ in range(draw(st.integers(1, 3))):
        rows = draw(st.permutations(range(len(X))))
        blocks = []
        while rows and len(blocks) < 4:
            size = draw(st.integers(1, 2))
            blocks.append(list(rows[:size]))
            rows = rows[size:]
        lists.append(blocks)
        weights.append(draw(st.sampled_from([0.5, 1.0, 2.0])))
    return X, lists, np.array(weights)


@given(awkward(), st.sampled_from([1e-3, 0.3, 30.0]), st.sampled_from([0.1, 1.0, 10.0]))
def test_equals_a_general_solver_on_awkward_lists(drawn, C, coupling):
    X, lists, weights = drawn
    weight = [dict.fromkeys(range(len(X)), w) for w in weights]
    wanted = oracle.samples(lists, weight)
    assume(wanted)
    model = OrderSVM(C, coupling=coupling, kernel="linear", tol=1e-8)
    quietly(model, Orders(X, lists), sample_weight=weights)
    assert model.converged_
    best = oracle.solve(X, wanted, C, coupling)[3]
    assert model.objective_ == pytest.approx(best, rel=1e-6, abs=1e-12)
    # What the model says of its machines has that value.
    V = dict(zip(model.cuts_.tolist(), model.cut_coef_, strict=True))
    b = dict(zip(model.cuts_.tolist(), model.thresholds_, strict=True))
    value = oracle.objective(X, wanted, C, coupling, model.coef_, V, b)
    assert model.objective_ == pytest.approx(value, rel=1e-6, abs=1e-12)
    assert_allclose(model.coef_, coupling * model.cut_coef_.sum(axis=0), atol=1e-9)


def test_weights_of_rows_are_costs_of_their_terms(rng):
    """A row's weight multiplies its hinges and leaves the places of others alone."""
    X, lists = ranked(rng, n_items=7, lengths=(7,))
    y = np.empty(7)
    for grade, block in enumerate(lists[0]):
        y[block] = -grade
    weight = rng.uniform(0.2, 3.0, 7)
    model = OrderSVM(0.4, coupling=0.5, kernel="linear", tol=1e-9)
    model.fit(X, y, sample_weight=weight)
    wanted = oracle.samples(lists, [dict(enumerate(weight))])
    w, _, _, best = oracle.solve(X, wanted, 0.4, 0.5)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert_allclose(model.coef_, w, atol=1e-2)
    assert np.linalg.norm(model.coef_) > 0.1


def test_a_second_row_is_no_weight_of_two_but_a_second_list_is(rng):
    X, lists = ranked(rng, ties=False)
    orders = Orders(X, lists)
    twice = Orders(X, [*lists, lists[0], lists[2]])
    tight = {"kernel": "linear", "tol": 1e-9}
    one = OrderSVM(**tight).fit(orders, sample_weight=[2.0, 1.0, 2.0, 1.0])
    two = OrderSVM(**tight).fit(twice)
    assert_allclose(one.coef_, two.coef_, atol=1e-5)
    assert_allclose(one.objective_, two.objective_, rtol=1e-7)
    # In a list of three, a second best item moves the others down.
    X, y = np.array([[2.0], [1.0], [0.0]]), np.array([2.0, 1.0, 0.0])
    weighted = OrderSVM(**tight).fit(X, y, sample_weight=[2.0, 1.0, 1.0])
    doubled = OrderSVM(**tight).fit(X[[0, 0, 1, 2]], y[[0, 0, 1, 2]])
    assert_array_equal(weighted.cuts_, [1, 2])
    # Cut 1 goes through the tie, but still has items below and none above: no cut.
    assert_array_equal(doubled.cuts_, [2, 3])


def test_lists_of_two_are_a_classifier(rng):
    """With one cut, w and v are one direction: C grows by 1 + 1/coupling."""
    X = rng.normal(size=(60, 3))
    better = X[:30] @ [1.0, 2.0, -1.0] > X[30:] @ [1.0, 2.0, -1.0]
    lists = [(i, i + 30) if b else (i + 30, i) for i, b in enumerate(better)]
    C, coupling = 0.3, 0.5
    model = OrderSVM(C, coupling=coupling, kernel="linear", tol=1e-9)
    model.fit(Orders(X, lists))
    label = np.empty(60)
    for first, second in lists:
        label[first], label[second] = 1, -1
    svc = SVC(C=C * (1 + 1 / coupling), kernel="linear", tol=1e-9).fit(X, label)
    # Of the shared direction w + v, w has the share 1 / (1 + 1/coupling).
    share = 1 / (1 + 1 / coupling)
    assert_allclose(model.coef_, share * svc.coef_[0], atol=1e-4)
    assert_allclose(model.coef_ + model.cut_coef_[0], svc.coef_[0], atol=1e-4)
    assert_allclose(model.thresholds_, -svc.intercept_, atol=1e-3)


def test_a_high_price_of_differing_is_ordinal_regression(rng):
    """For one list and one direction, cuts are the thresholds between its grades."""
    X = rng.normal(size=(12, 2))
    y = X @ [1.0, -0.5] + 0.5 * rng.normal(size=12)
    model = OrderSVM(0.2, coupling=1e9, kernel="linear", tol=1e-9).fit(X, y)
    ordinal = OrdinalSVM(0.2, kernel="linear", tol=1e-9).fit(X, y)
    assert_allclose(model.coef_, ordinal.coef_, atol=1e-5)
    # Cut t is the threshold below the t-th best.
    assert_allclose(model.thresholds_[::-1], ordinal.thresholds_, atol=1e-4)
    assert np.abs(model.cut_coef_).max() < 1e-6


def test_chosen_cuts_equal_a_general_solver(rng):
    X, lists = ranked(rng)
    model = OrderSVM(cuts=(4, 1), kernel="linear", tol=1e-9).fit(Orders(X, lists))
    assert_array_equal(model.cuts_, [1, 4])
    best = oracle.solve(X, oracle.samples(lists, cuts=[1, 4]), 0.1, 1.0)[3]
    assert model.objective_ == pytest.approx(best, rel=1e-6)


def test_a_long_list_is_cut_at_fifty_places(rng):
    X = rng.normal(size=(90, 3))
    y = X @ [1.0, 2.0, 3.0]
    with pytest.warns(UserWarning, match=r"OrderSVM: the lists have 89 cuts"):
        model = OrderSVM(kernel="linear").fit(X, y)
    assert len(model.cuts_) == len(model.thresholds_) == 50
    assert model.cut_coef_.shape == (50, 3)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    "lists",
    [[[0], [1], [2]], [[[0, 1, 2]]], [[[0, 1]], [2]]],
    ids=["one item each", "everything tied", "tied or alone"],
)
def test_lists_that_say_nothing_are_refused(lists):
    message = rf"no pair to learn from.*{len(lists)} group"
    with pytest.raises(ValueError, match=message):
        OrderSVM().fit(Orders(np.eye(3), lists))


def cuts_of(lists):
    """Usable cuts of lists of tied blocks."""
    y, group = [], []
    for number, blocks in enumerate(lists):
        for grade, block in enumerate(blocks):
            y += [-float(grade)] * len(block)
            group += [number] * len(block)
    return usable_cuts(*list_places(np.array(y), np.array(group)))


lists_of_blocks = st.lists(
    st.lists(st.integers(1, 4), min_size=1, max_size=5), min_size=1, max_size=4
)


@given(lists_of_blocks, st.randoms(use_true_random=False))
def test_sides_equal_a_loop(sizes, random):
    lists, y, group, n = [], [], [], 0
    for number, of_list in enumerate(sizes):
        blocks = []
        for grade, size in enumerate(of_list):
            blocks.append(list(range(n, n + size)))
            y += [-float(grade)] * size
            group += [number] * size
            n += size
        lists.append(blocks)
    rows = list(range(n))
    random.shuffle(rows)  # rows of a group need not stand together, nor in order
    y, group = np.array(y)[rows], np.array(group)[rows]
    # Groups are numbered by first appearance.
    group = np.unique(group, return_inverse=True)[1]
    places = list_places(y, group)
    drawn = order_svm.samples(lists)
    cuts = sorted({t for _, t, _, _ in drawn})
    assert_array_equal(usable_cuts(*places), cuts)
    expected = np.zeros((len(cuts), n))
    place = {row: number for number, row in enumerate(rows)}
    for row, t, sign, _ in drawn:
        expected[cuts.index(t), place[row]] = sign
    assert_array_equal(cut_sides(np.array(cuts, dtype=int), *places), expected)


def test_all_cuts_up_to_fifty_and_then_even_ones():
    fifty_one = cuts_of([[[row] for row in range(51)]])
    assert_array_equal(choose_cuts(None, fifty_one), np.arange(1, 51))
    longer = cuts_of([[[row] for row in range(150)]])
    with pytest.warns(UserWarning, match=r"149 cuts; 50"):
        cuts = choose_cuts(None, longer)
    assert len(cuts) == 50
    assert (cuts[0], cuts[-1]) == (1, 149)
    assert set(np.diff(cuts)) == {3, 4}  # 148 steps over 49 gaps


def test_cuts_that_ties_cross_are_not_counted():
    # 120 items in two blocks have one cut; a short list adds the first one.
    places = cuts_of([[list(range(60)), list(range(60, 120))], [[120], [121]]])
    assert_array_equal(choose_cuts(None, places), [1, 60])
    assert_array_equal(choose_cuts([60, 1, 1], places), [1, 60])
    for cuts in ([], [3], [1.5], [0], ["all"]):
        with pytest.raises(ValueError, match=r"expected some of \[1, 60\]"):
            choose_cuts(cuts, places)
