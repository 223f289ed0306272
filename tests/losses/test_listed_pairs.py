# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tests.oracles import grade_losses as oracle
from tiebreak.losses import LinearObjective, ListedSquaredHinge


@pytest.fixture
def listed(rng):
    better, worse = rng.integers(0, 12, (2, 60))
    weight = rng.uniform(0.5, 2, size=60)
    W = np.zeros((12, 12))
    np.add.at(W, (better, worse), weight)
    np.fill_diagonal(W, 0)
    keep = better != worse
    return ListedSquaredHinge(better[keep], worse[keep], weight[keep], 12), W


def test_it_is_the_sum_over_the_list(rng, listed):
    loss, W = listed
    u, v = rng.normal(size=(2, 12))
    value, gradient, hessian = oracle.loss("squared_hinge", u, W)
    found, slope = loss.expand(u)
    assert found == pytest.approx(value)
    assert_allclose(slope, gradient, atol=1e-11)
    assert_allclose(loss.hessian_product(v), hessian @ v, atol=1e-11)
    A = rng.normal(size=(12, 4))
    for design in (A, sp.csr_array(A)):
        assert_allclose(loss.sketch(design, 100), A.T @ hessian @ A, atol=1e-10)


def test_the_objective_adds_the_penalty(rng, listed):
    loss, W = listed
    A, x, v = rng.normal(size=(12, 4)), rng.normal(size=4), rng.normal(size=4)
    value, gradient, hessian = oracle.loss("squared_hinge", A @ x, W)
    for design in (A, sp.csr_array(A)):
        objective = LinearObjective(design, loss, 0.7)
        found, slope = objective.expand(x)
        assert found == pytest.approx(0.5 * x @ x + 0.7 * value)
        assert_allclose(slope, x + 0.7 * A.T @ gradient, atol=1e-11)
        exact = np.eye(4) + 0.7 * A.T @ hessian @ A
        assert_allclose(objective.hessian_product(v), exact @ v, atol=1e-11)
        # All pairs are in the sample, so the preconditioner is the inverse.
        assert_allclose(objective.preconditioner(0)(exact @ v), v, atol=1e-9)


def test_large_products_are_divided_among_threads(rng):
    from tiebreak.losses.linear_objective import back_product, forward_product

    A = rng.normal(size=(30_000, 10))
    x, g = rng.normal(size=10), rng.normal(size=30_000)
    assert_allclose(forward_product(A, x), A @ x)
    assert_allclose(back_product(A, g), A.T @ g, rtol=1e-10)
