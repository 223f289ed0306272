# SPDX-License-Identifier: BSD-3-Clause
"""RankingPursuit and MatchingPursuit against exhaustive search, pair by pair."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.inputs import curved_pairs, refused
from tests.oracles import pursuit as plain
from tiebreak import MatchingPursuit, Orders, Pairs, RankingPursuit, RankRLS
from tiebreak.metrics import comparison_error, swapped_pairs

GAMMA = 0.4
MODES = {
    "plain": {"backfit": False},
    "backfit": {"backfit": True},
    "prefit": {"backfit": True, "prefit": True},
}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
BOTH = pytest.mark.parametrize("kind", [RankingPursuit, MatchingPursuit])


def gaussian(A, B):
    return np.exp(-GAMMA * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def make(rng, n=30, groups=4):
    """Draw graded items, their groups and weights from 0 to 3, of pairs positive."""
    X = rng.normal(size=(n, 3))
    qid = rng.permutation(np.arange(n) % groups)
    y = X[:, 0] + X[:, 1] ** 2 + 5.0 * qid + 0.1 * rng.normal(size=n)
    weight = rng.integers(0, 4, n).astype(float)
    for group in range(groups):
        weight[np.flatnonzero(qid == group)[:2]] = 1.0
    return X, y, qid, weight


def spread(model, n):
    """Coefficients of all n items after every step."""
    path = np.zeros((len(model.path_), n))
    path[:, model.path_support_] = model.path_
    return path


@every_mode
def test_groups_equal_exhaustive_search(rng, mode):
    X, y, qid, weight = make(rng)
    rows = plain.pair_rows(qid, weight)
    K = gaussian(X, X)
    K[:, weight == 0] = 0.0  # absent rows are no centers
    _, path, values = plain.greedy(rows @ K, rows @ y, 8, **mode)
    model = RankingPursuit(8, alpha=0, gamma=GAMMA, **mode)
    model.fit(X, y, qid=qid, sample_weight=weight)
    assert_allclose(spread(model, len(y)), path, atol=1e-8)
    assert_allclose(model.objective_path_, values, rtol=1e-8)
    assert_allclose(model.utility(X), gaussian(X, X) @ path[-1], atol=1e-8)
    assert model.n_basis_ == 8


@every_mode
def test_mean_of_groups_equals_exhaustive_search(rng, mode):
    X, y, qid, weight = make(rng)
    rows = plain.pair_rows(qid, weight)
    size = np.bincount(qid, weight)
    rows /= np.sqrt(size[qid[np.abs(rows).argmax(axis=1)]])[:, None]
    K = gaussian(X, X)
    K[:, weight == 0] = 0.0
    _, path, _ = plain.greedy(rows @ K, rows @ y, 5, **mode)
    model = RankingPursuit(5, alpha=0, gamma=GAMMA, per_group="mean", **mode)
    model.fit(X, y, qid=qid, sample_weight=weight)
    assert_allclose(spread(model, len(y)), path, atol=1e-8)


@every_mode
def test_comparisons_equal_exhaustive_search(rng, mode):
    items = rng.normal(size=(14, 3))
    left = rng.integers(0, 13, 40)
    right = (left + rng.integers(1, 13, 40)) % 13  # item 13 is in no comparison
    y = np.sign(items[right, 0] - items[left, 0]) * (rng.random(40) < 0.8)
    weight = rng.integers(0, 3, 40).astype(float)
    rows = plain.comparison_rows(left, right, weight, 14)
    K = gaussian(items, items)
    touched = np.unique([left[weight > 0], right[weight > 0]])
    K[:, np.setdiff1d(np.arange(14), touched)] = 0.0
    _, path, values = plain.greedy(rows @ K, np.sqrt(weight) * y, 6, **mode)
    model = RankingPursuit(6, alpha=0, gamma=GAMMA, **mode)
    model.fit(Pairs(items, left, right), y, sample_weight=weight)
    assert_allclose(spread(model, 14), path, atol=1e-8)
    assert_allclose(model.objective_path_, values, rtol=1e-8)
    as_array = RankingPursuit(6, alpha=0, gamma=GAMMA, **mode)
    as_array.fit(np.asarray(Pairs(items, left, right)), y, sample_weight=weight)
    assert_allclose(as_array.utility(items), model.utility(items), atol=1e-8)


@every_mode
def test_graphs_and_margins_equal_exhaustive_search(rng, mode):
    X, y, _, weight = make(rng)
    W = np.triu(rng.random((len(y), len(y))) * (rng.random((len(y), len(y))) < 0.3), 1)
    W += W.T
    rows, K = plain.graph_rows(W, weight), gaussian(X, X)
    K[:, weight == 0] = 0.0
    _, path, values = plain.greedy(rows @ K, rows @ y, 5, **mode)
    model = RankingPursuit(5, alpha=0, gamma=GAMMA, **mode)
    model.fit(X, y, sample_weight=weight, graph=sp.csr_array(W))
    assert_allclose(spread(model, len(y)), path, atol=1e-8)
    assert_allclose(model.objective_path_, values, rtol=1e-8)
    # Its pairs with real margins are the same problem, whatever the unit.
    left, right = np.nonzero(np.triu(W * np.outer(weight, weight)))
    margin, own = y[right] - y[left], (W * np.outer(weight, weight))[left, right]
    for unit in (1.0, 1e-8):
        model.fit(Pairs(X, left, right), margin=unit * margin, sample_weight=own)
        assert_allclose(spread(model, len(y)), unit * path, atol=unit * 1e-8)
        assert_allclose(model.objective_path_, unit**2 * values, rtol=1e-8)


@every_mode
def test_matching_pursuit_equals_exhaustive_search(rng, mode):
    X, y, qid, weight = make(rng)
    root, K = np.diag(np.sqrt(weight)), gaussian(X, X)
    K[:, weight == 0] = 0.0
    _, path, values = plain.greedy(root @ K, root @ y, 8, **mode)
    model = MatchingPursuit(8, gamma=GAMMA, **mode)
    model.fit(X, y, qid=qid, sample_weight=weight)
    assert_allclose(spread(model, len(y)), path, atol=1e-8)
    assert_allclose(model.objective_path_, values, rtol=1e-8)


@BOTH
def test_prediction_touches_only_the_support(rng, kind):
    X, y, qid, _ = make(rng)
    asked = []

    def kernel(A, B):
        asked.append((len(A), len(B)))
        return gaussian(A, B)

    model = kind(4, kernel=kernel).fit(X, y, qid=qid)
    asked.clear()
    model.utility(rng.normal(size=(9, 3)))
    assert asked == [(9, 4)]
    gram = gaussian(X, X)
    model = kind(4, kernel="precomputed").fit(gram, y, qid=qid)
    other = np.full((5, len(y)), 1e9)
    other[:, model.support_] = gram[:5, model.support_]
    assert_allclose(model.utility(other), model.utility(gram[:5]), rtol=1e-12)


@BOTH
def test_validation_chooses_the_number(rng, kind):
    X, y, qid, _ = make(rng, 60)
    fresh, grades, groups, _ = make(rng, 80)
    given = (fresh, grades, groups)
    model = kind(20, gamma=GAMMA).fit(X, y, qid=qid, validation=given)
    errors = [
        swapped_pairs(
            grades, kind(n, gamma=GAMMA).fit(X, y, qid=qid).utility(fresh), groups
        )
        for n in range(1, 21)
    ]
    assert_allclose(model.validation_path_, errors, atol=1e-12)
    assert model.n_basis_ == int(np.argmin(errors)) + 1 == len(model.support_)
    assert len(model.path_) == 20
    single = kind(model.n_basis_, gamma=GAMMA).fit(X, y, qid=qid)
    assert_allclose(model.utility(X), single.utility(X), atol=1e-12)


def test_validation_of_comparisons_and_orders():
    pairs, y = curved_pairs()
    train, test = np.arange(60), np.arange(60, 90)
    model = RankingPursuit(12).fit(
        pairs[train], y[train], validation=(pairs[test], y[test])
    )
    for step in (0, 5, 11):
        own = RankingPursuit(step + 1).fit(pairs[train], y[train])
        error = comparison_error(y[test], own.predict(pairs[test]))
        assert_allclose(model.validation_path_[step], error)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    lists = [
        sorted(rng.choice(40, 6, replace=False).tolist(), key=lambda i: -X[i, 0])
        for _ in range(20)
    ]
    orders = Orders(X, lists)
    chosen = RankingPursuit(8).fit(orders[:15], validation=(orders[15:], None))
    table, grades, qid = orders[15:].grades()
    swapped = swapped_pairs(grades, chosen.utility(table), qid)
    assert_allclose(chosen.validation_path_.min(), swapped)


def penalized(rows, target, K, G, alpha):
    """Minimize ‖target - rows K a‖² + α aᵀGa, as one least-squares problem."""
    root = np.sqrt(alpha) * np.linalg.cholesky(G + 1e-14 * np.eye(len(G))).T
    table = np.vstack([rows @ K, root])
    whole = np.concatenate([target, np.zeros(len(G))])
    a = np.linalg.lstsq(table, whole, rcond=None)[0]
    return a, float(np.sum((whole - table @ a) ** 2))


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_the_penalty_is_that_of_a_general_solver_after_every_step(rng, alpha):
    X, y, qid, weight = make(rng)
    model = RankingPursuit(6, alpha=alpha, gamma=GAMMA)
    model.fit(X, y, qid=qid, sample_weight=weight)
    free = RankingPursuit(6, alpha=0, gamma=GAMMA)
    free.fit(X, y, qid=qid, sample_weight=weight)
    assert_array_equal(model.support_, free.support_)  # chosen without the penalty
    rows, K = plain.pair_rows(qid, weight), gaussian(X, X)
    for step in range(1, 7):
        own = model.path_support_[:step]
        a, value = penalized(rows, rows @ y, K[:, own], K[np.ix_(own, own)], alpha)
        assert_allclose(model.path_[step - 1, :step], a, atol=1e-6)
        assert model.objective_path_[step] == pytest.approx(value, rel=1e-8)
    assert (np.diff(model.objective_path_) <= 0).all()


def test_a_penalty_on_all_weights_is_rank_rls(rng):
    X, y, qid, weight = make(rng)
    given = {"qid": qid, "sample_weight": weight}
    # Three independent columns span all weights of three features.
    model = RankingPursuit(3, alpha=5.0, kernel="linear").fit(X, y, **given)
    exact = RankRLS(5.0, kernel="linear").fit(X, y, **given)
    assert_allclose(model.coef_, exact.coef_, rtol=1e-6)
    other = RankingPursuit(5, gamma=GAMMA).fit(X, y, **given)
    assert other.alpha == 1.0
    for kernel in ("precomputed", gaussian):
        table = gaussian(X, X) if kernel == "precomputed" else X
        same = RankingPursuit(5, kernel=kernel).fit(table, y, **given)
        assert_allclose(same.dual_coef_, other.dual_coef_, atol=1e-9)


def test_there_is_no_penalty_without_back_fitting(rng):
    X, y, qid, _ = make(rng)
    one, two = (
        RankingPursuit(5, alpha=alpha, gamma=GAMMA, backfit=False).fit(X, y, qid=qid)
        for alpha in (0.0, 100.0)
    )
    assert_array_equal(one.dual_coef_, two.dual_coef_)


class TestBadInput:
    """What is refused, and what falls back with a warning."""

    X = np.array([[0.0, 1], [1, 0.5], [2, 2], [2.2, 1], [0.5, 0], [1.5, 1.5]])
    Y = np.array([0.0, 1, 2, 2, 5, 6])
    QID = np.array(list("bbbbaa"))

    def fit(self, model, **options):
        return model.fit(self.X, self.Y, qid=self.QID, **options)

    @BOTH
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"n_basis": 0}, ["n_basis=0", "at least 1"]),
            ({"alpha": -1.0}, ["alpha=-1.0", "not negative"]),
            ({"alpha": "1"}, ["alpha='1'"]),
            ({"n_basis": 2.5}, ["n_basis=2.5", "whole number"]),
            ({"backfit": "yes"}, ["backfit='yes'", "True or False"]),
            ({"backfit": False, "prefit": True}, ["prefit=True", "backfit=True"]),
            ({"cache_size": 0}, ["cache_size=0", "positive"]),
            ({"kernel": "gauss"}, ["kernel='gauss'", "rbf"]),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else None,
    )
    def test_parameters(self, kind, options, words):
        refused(ValueError, words, self.fit, kind(**options))

    @BOTH
    def test_validation(self, kind):
        model = kind(2)
        for parts in ((self.X,), self.X, (self.X, self.Y, self.QID, 1)):
            words = ["validation must be"]
            refused(ValueError, words, self.fit, model, validation=parts)
        refused(
            ValueError,
            ["have groups", "X, y, qid"],
            self.fit,
            model,
            validation=(self.X, self.Y),
        )
        narrow = (self.X[:, :1], self.Y, self.QID)
        refused(ValueError, ["1 features"], self.fit, model, validation=narrow)

    def test_columns_that_are_constant_inside_every_group(self):
        flat = (self.QID == "a")[:, None].astype(float)
        for X in (np.ones((6, 2)), flat):
            with pytest.warns(UserWarning, match="same utility"):
                model = RankingPursuit(2).fit(X, self.Y, qid=self.QID)
            assert_array_equal(model.utility(X), np.zeros(6))
            assert model.n_basis_ == 0
            assert model.support_.shape == (0,)
        # Means of equal numbers are not always equal to them, to the last bit.
        rng = np.random.default_rng(0)
        qid = np.arange(70) % 7
        X, weight = rng.normal(size=7)[qid][:, None], rng.random(70)
        with pytest.warns(UserWarning, match="same utility"):
            RankingPursuit(2).fit(X, rng.normal(size=70), qid=qid, sample_weight=weight)
        # One good feature beside them is found.
        X = np.column_stack([flat, self.X])
        model = RankingPursuit(2, kernel="linear").fit(X, self.Y, qid=self.QID)
        assert model.score(X, self.Y, qid=self.QID) > 0.6

    @BOTH
    def test_more_steps_than_independent_columns(self, kind):
        with pytest.warns(UserWarning, match="stopped after 2 of n_basis=50"):
            model = kind(50, kernel="linear").fit(self.X, self.Y, qid=self.QID)
        assert_allclose(
            model.utility(self.X),
            kind(2, kernel="linear").fit(self.X, self.Y, qid=self.QID).utility(self.X),
        )

    def test_grades_of_any_size(self):
        model = self.fit(RankingPursuit(2, gamma=GAMMA))
        for factor in (1e-100, 1e-9, 1e9, 1e29):
            other = RankingPursuit(2, gamma=GAMMA)
            other.fit(self.X, factor * self.Y, qid=self.QID)
            assert_allclose(
                other.utility(self.X) / factor, model.utility(self.X), rtol=1e-9
            )
        far = RankingPursuit(2, gamma=GAMMA).fit(self.X, self.Y + 1e9, qid=self.QID)
        assert_allclose(far.utility(self.X), model.utility(self.X), rtol=1e-6)


@pytest.mark.parametrize("gamma", [1e-9, 1e-7, 1e-5])
def test_wide_kernels_keep_their_digits(gamma):
    # Columns vary by gamma around 1, and are linear functions but for that.
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(80, 3)), np.arange(80) % 4
    y = X @ [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = RankingPursuit(8, alpha=0, gamma=gamma).fit(X, y, qid=qid)
        linear = RankingPursuit(3, alpha=0, kernel="linear").fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) >= linear.score(X, y, qid=qid) - 0.01
    assert_allclose(np.ptp(model.utility(X)), np.ptp(linear.utility(X)), rtol=0.05)
