# SPDX-License-Identifier: BSD-3-Clause
"""All settings at once are the same as the models of the library, one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge

from papers.ranking_pursuit.beyond import beyond_cell
from papers.ranking_pursuit.experiments import Choice, _along, _fit
from papers.ranking_pursuit.jester import Person
from papers.ranking_pursuit.paths import (
    chosen_ridge_paths,
    co_paths,
    pursuit_paths,
    ridge_paths,
)
from tiebreak import CoRankingPursuit, MatchingPursuit, RankingPursuit, RankRLS
from tiebreak.metrics import disagreement

WIDTHS = np.array([0.5, 2.0, 8.0])
ALPHAS = np.array([0.01, 1.0, 100.0])
N_STEPS = 6


@pytest.fixture
def drawn():
    """Items to learn from, items to judge, scores, and kernels of three widths."""
    rng = np.random.default_rng(3)
    X, Z, y = rng.normal(size=(14, 4)), rng.normal(size=(9, 4)), rng.normal(size=14)
    return X, Z, 5.0 + y, kernels(X, X), kernels(Z, X)


def kernels(X, Z):
    return np.exp(-cdist(X, Z, "sqeuclidean") / (2.0 * WIDTHS[:, None, None] ** 2))


def centered(utility):
    return utility - utility.mean(axis=-1, keepdims=True)


def test_ridge_paths(drawn):
    _, _, y, K, Q = drawn
    plain, ranked = (ridge_paths(K, Q, y, ALPHAS, centered=c) for c in (False, True))
    for w in range(len(WIDTHS)):
        for a, alpha in enumerate(ALPHAS):
            ridge = KernelRidge(alpha=alpha, kernel="precomputed").fit(K[w], y)
            assert_allclose(plain[w, a], ridge.predict(Q[w]), atol=1e-9)
            model = RankRLS(alpha * len(y), kernel="precomputed").fit(K[w], y)
            expected = Q[w] @ model.item_coef_
            assert_allclose(centered(ranked[w, a]), centered(expected), atol=1e-8)


@pytest.mark.parametrize(
    "how", [{"backfit": True}, {"backfit": False}, {"backfit": True, "prefit": True}]
)
@pytest.mark.parametrize("kind", [RankingPursuit, MatchingPursuit])
def test_pursuit_paths(drawn, kind, how):
    _, _, y, K, Q = drawn
    result, _ = pursuit_paths(K, Q, y, N_STEPS, centered=kind is RankingPursuit, **how)
    for w in range(len(WIDTHS)):
        for step in range(1, N_STEPS + 1):
            model = kind(step, alpha=0, kernel="precomputed", **how).fit(K[w], y)
            coef = np.zeros(len(y))
            np.add.at(coef, model.support_, model.dual_coef_)
            expected = Q[w] @ coef
            assert_allclose(
                centered(result[w, step - 1]), centered(expected), atol=1e-7
            )


def test_a_penalty_on_chosen_items(drawn):
    """Of all items RankRLS; of some, the minimum as a general solver finds it."""
    _, _, y, K, Q = drawn
    every = chosen_ridge_paths(K, Q, y, len(y) - 1, ALPHAS)
    chosen = RankingPursuit(5, kernel="precomputed").fit(K[2], y).support_
    some = chosen_ridge_paths(K, Q, y, 5, ALPHAS)[2]
    i, j = np.triu_indices(len(y), 1)
    for a, alpha in enumerate(ALPHAS):

        def objective(coef, alpha=alpha):
            f = K[2][:, chosen] @ coef
            loss = np.sum(((y[i] - y[j]) - (f[i] - f[j])) ** 2)
            own = K[2][np.ix_(chosen, chosen)]
            return loss + alpha * len(y) * coef @ own @ coef

        coef = minimize(objective, np.zeros(5), tol=1e-12).x
        expected = Q[2][:, chosen] @ coef
        assert_allclose(centered(some[a]), centered(expected), atol=1e-3)
    # All but one item span nearly what all do.
    model = RankRLS(ALPHAS[1] * len(y), kernel="precomputed").fit(K[0], y)
    whole = Q[0] @ model.item_coef_
    assert np.corrcoef(every[0, 1], whole)[0, 1] > 0.98


def test_a_pursuit_with_nothing_left_stays_where_it_is():
    K = np.ones((1, 3, 3))
    result, _ = pursuit_paths(K, K, np.array([1.0, 2.0, 4.0]), 2, centered=True)
    assert_allclose(result, 0.0)


def test_tenths_of_steps(drawn):
    """Of one column each takes a tenth of what the former ones left."""
    _, _, y, K, Q = drawn
    one, how = (K[:, :, :1], Q[:, :, :1], y), {"centered": True, "backfit": False}
    slow, _ = pursuit_paths(*one, 5, shrink=0.1, **how)
    taken = 1.0 - 0.9 ** np.arange(1, 6)
    assert_allclose(slow, taken[:, None] * pursuit_paths(*one, 1, **how)[0])


@pytest.mark.parametrize("nu", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("objective", ["increments", "functions"])
def test_co_paths(drawn, nu, objective):
    X, Z, y, *_ = drawn
    n = n_centers = 8
    columns = (slice(0, 2), slice(2, 4))
    result = co_paths(
        tuple(kernels(X[:, c], X[:n_centers, c]) for c in columns),
        tuple(kernels(Z[:, c], X[:n_centers, c]) for c in columns),
        y[:n],
        nu,
        N_STEPS,
        own=objective == "functions",
    )
    given = {"views": list(columns), "nu": nu, "objective": objective}
    known = np.where(np.arange(len(y)) < n, y, np.nan)
    for w, width in enumerate(WIDTHS):
        for step in (1, 3, N_STEPS):
            gamma = 1.0 / (2.0 * width**2)
            model = CoRankingPursuit(step, gamma=gamma, **given)
            expected = model.fit(X, known).utility(Z)
            assert_allclose(
                centered(result[w, step - 1]), centered(expected), atol=1e-8
            )


CHOSEN = ["rls", "rls-centered", "matching", "rankrls", "pursuit", "pursuit-plain"]
CHOSEN += ["co-halves", "co-kernels", "co-halves-alone"]


@pytest.mark.filterwarnings("ignore:.* stopped after:UserWarning")
@pytest.mark.parametrize("method", CHOSEN)
def test_what_is_chosen_is_what_is_judged(drawn, method):
    X, Z, y, *_ = drawn
    rng = np.random.default_rng(0)
    person = Person(4 * X, y, 4 * Z, rng.normal(size=len(Z)), np.zeros((0, 4)))
    person = person.hidden(method.startswith("co-"))
    choices, errors = _along(method, person)
    assert len(choices) == len(errors)
    sensible = [i for i, c in enumerate(choices) if 2.0 <= c.width <= 64.0]
    for place in rng.choice(sensible, 8, replace=False):
        utility, share = _fit(method, person, Choice(*choices[place]))
        assert errors[place] == pytest.approx(disagreement(person.y_test, utility))
        assert 0.0 < share <= 1.0


def test_items_without_a_score_are_the_only_difference():
    """The same scored items and the same test items, whatever their number."""
    few, more = (beyond_cell("simulated", 20, n, 0) for n in (0, 200))
    assert few["nu"] == 0.0 < more["nu"]
    assert few["disagreement"] != more["disagreement"]
    assert max(few["disagreement"], more["disagreement"]) < 0.3
