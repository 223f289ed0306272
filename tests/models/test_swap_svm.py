# SPDX-License-Identifier: BSD-3-Clause
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, minimize

from tiebreak import Pairs, RankSVM, SwapSVM
from tiebreak.losses import GradeHinge, GradeTree

TIGHT = {"tol": 1e-9}


@pytest.fixture
def graded(rng):
    X = rng.normal(size=(50, 3))
    y = np.round(X @ [1.0, -1.0, 0.5] + rng.normal(size=50))
    return X, y, rng.integers(0, 3, 50)


def all_pairs(y, qid):
    """Better and worse row of every pair."""
    return np.nonzero((y[:, None] > y[None]) & (qid[:, None] == qid[None]))


def labelings(d):
    """Every labeling of the pairs: its number of swaps, and Σ of swapped differences.

    A labeling z in {1, -1} per pair has the score Σ z u·d, so the right one is ahead
    of it by 2 Σ over swapped pairs of u·d.
    """
    swaps = np.array(list(product([0, 1], repeat=len(d))), dtype=float)
    return swaps.sum(axis=1), swaps @ d


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_loss_is_the_most_violated_of_all_labelings(rng, n):
    y, group = rng.permutation(n).astype(float), np.zeros(n, dtype=int)
    better, worse = all_pairs(y, group)
    assert len(better) <= 10
    loss = GradeHinge(GradeTree(y, group, np.ones(n)), slope=2.0)
    for _ in range(10):
        u = rng.normal(size=n)
        count, difference = labelings(np.eye(n)[better] - np.eye(n)[worse])
        violation = count - 2 * difference @ u
        value, gradient = loss.expand(u)
        assert value == pytest.approx(violation.max())
        # The plane through u is the constraint of that labeling.
        most = violation.argmax()
        assert_allclose(gradient, -2 * difference[most])
        assert value - gradient @ u == pytest.approx(count[most])


def test_it_solves_the_structural_program(rng):
    X, y = rng.normal(size=(4, 2)), np.array([0.0, 1, 2, 2])
    better, worse = all_pairs(y, np.zeros(4))
    count, difference = labelings(X[better] - X[worse])
    for C in (0.1, 2.0):
        found = minimize(
            lambda z, C=C: 0.5 * z[:2] @ z[:2] + C * z[2],
            np.array([0.0, 0.0, len(better)]),
            jac=lambda z, C=C: np.array([z[0], z[1], C]),
            hess=lambda z: np.diag([1.0, 1.0, 0.0]),
            constraints=[
                LinearConstraint(
                    np.c_[2 * difference, np.ones(len(count))], count, np.inf
                )
            ],
            method="trust-constr",
            options={"gtol": 1e-9, "xtol": 1e-10, "maxiter": 2000},
        )
        model = SwapSVM(C, kernel="linear", **TIGHT).fit(X, y)
        # The general solver stops a little above the minimum.
        assert model.objective_ <= found.fun * (1 + 1e-9)
        assert model.objective_ == pytest.approx(found.fun, rel=1e-3)
        assert_allclose(model.coef_, found.x[:2], atol=0.02)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_half_of_rank_svm_at_four_times_c(graded, kernel):
    X, y, qid = graded
    better, worse = all_pairs(y, qid)
    swap = SwapSVM(0.3, kernel=kernel, gamma=0.4, **TIGHT).fit(X, y, qid=qid)
    rank = RankSVM(1.2, kernel=kernel, gamma=0.4, **TIGHT).fit(
        Pairs(X, worse, better), np.ones(len(better))
    )
    assert swap.n_pairs_ == len(better)
    assert swap.objective_ == pytest.approx(rank.objective_ / 4, rel=1e-7)
    assert_allclose(swap.utility(X), rank.utility(X) / 2, atol=1e-3)
    assert swap.gap_ <= 1e-9
