# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from tiebreak.losses import GradeSquaredHinge, GradeTree, LinearObjective
from tiebreak.solvers import minimize_truncated
from tiebreak.solvers.conjugate_gradients import conjugate_gradients
from tiebreak.solvers.truncated_newton import StronglyConvex


class Bowl:
    """½‖x‖² + Σ cosh(a·x), steep far from the origin."""

    convexity = 1.0
    max_products = 100

    def __init__(self, A):
        self.A, self.n_variables = A, A.shape[1]

    def expand(self, x):
        self.u = self.A @ x
        value = 0.5 * x @ x + np.cosh(self.u).sum() + self.A.sum(0) @ x
        return value, x + self.A.T @ np.sinh(self.u) + self.A.sum(0)

    def hessian_product(self, v):
        return v + self.A.T @ (np.cosh(self.u) * (self.A @ v))

    def preconditioner(self, n_products):
        return lambda r: r


def graded(rng, n=200, p=6, C=0.1, scale=1.0):
    A = rng.normal(size=(n, p)) * np.geomspace(1, scale, p)
    u = A @ rng.normal(size=p)
    y = np.digitize(u / u.std() + rng.normal(size=n), [-1.0, 0, 1])
    tree = GradeTree(y.astype(float), rng.integers(0, 3, n), np.ones(n))
    return LinearObjective(A, GradeSquaredHinge(tree), C)


@pytest.mark.parametrize("C", [1e-6, 0.1, 1e4])
def test_it_finds_the_minimum_and_the_gap_bounds_the_distance(rng, C):
    objective = graded(rng, C=C)
    assert isinstance(objective, StronglyConvex)
    truth = minimize(
        objective.expand, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-12}
    )
    for tol in (1e-1, 1e-3, 1e-9):
        found = minimize_truncated(objective, np.zeros(6), tol=tol)
        assert found.converged
        assert found.gap <= tol
        excess = (found.value - truth.fun) / truth.fun
        assert -1e-9 <= excess <= found.gap + 1e-12
    assert_allclose(objective.A @ found.x, objective.A @ truth.x, atol=1e-4)


def test_the_gap_is_the_duality_gap(rng):
    # Primal minus dual at α = 2C (1 - margin)₊, whose w is Σ α d.
    objective = graded(rng, n=40, C=0.5)
    x = rng.normal(size=6) / 5
    value, gradient = objective.expand(x)
    tree, u = objective.loss.tree, objective.A @ x
    y = np.empty(40)
    y[tree.rows] = np.searchsorted(np.sort(tree.cuts), np.arange(40), side="right")
    group = np.empty(40, dtype=int)
    group[tree.rows] = np.searchsorted(tree.starts, np.arange(40), side="right")
    i, j = np.nonzero((y[:, None] > y[None]) & (group[:, None] == group[None]))
    short = np.maximum(0, 1 - (u[i] - u[j]))
    alpha = 2 * 0.5 * short
    w = objective.A.T @ (np.bincount(i, alpha, 40) - np.bincount(j, alpha, 40))
    dual = alpha.sum() - (alpha**2).sum() / (4 * 0.5) - 0.5 * w @ w
    assert value - dual == pytest.approx(0.5 * gradient @ gradient, rel=1e-8)


def test_few_products_however_features_are_scaled(rng):
    for scale in (1.0, 1e3):
        found = minimize_truncated(graded(rng, n=3000, scale=scale), np.zeros(6))
        assert found.converged
        assert found.n_iter <= 12
        assert found.n_products <= 4 * found.n_iter


def test_a_warm_start_needs_no_step(rng):
    objective = graded(rng)
    found = minimize_truncated(objective, np.zeros(6), tol=1e-6)
    again = minimize_truncated(objective, found.x, tol=1e-6)
    assert (again.n_iter, again.n_products) == (0, 0)
    assert again.value == found.value


def test_steps_that_are_too_long_are_shortened(rng):
    bowl = Bowl(5 * rng.normal(size=(30, 4)))
    # Where cosh is an exponential a Newton step goes no further than one.
    found = minimize_truncated(bowl, np.full(4, 3.0), tol=1e-10, max_iter=1000)
    assert found.converged
    truth = minimize(bowl.expand, np.zeros(4), jac=True, method="BFGS")
    assert found.value <= truth.fun + 1e-8 * abs(truth.fun)


def test_running_out_of_iterations_is_told(rng):
    objective = graded(rng)
    found = minimize_truncated(objective, np.zeros(6), tol=1e-12, max_iter=1)
    assert not found.converged
    assert found.n_iter == 1
    assert found.gap > 1e-12


def test_an_impossible_tolerance_ends(rng):
    found = minimize_truncated(graded(rng, C=1e8), np.zeros(6), tol=1e-300)
    assert not found.converged
    assert found.gap < 1e-8


def test_conjugate_gradients_solve(rng):
    B = rng.normal(size=(8, 8))
    H, b = B @ B.T + np.eye(8), rng.normal(size=8)
    for M in (np.eye(8), np.diag(np.diag(H)), H):
        x, used = conjugate_gradients(
            lambda v: H @ v,
            b,
            lambda r, M=M: np.linalg.solve(M, r),
            lambda r, z: bool(np.linalg.norm(r) < 1e-10),
            100,
        )
        assert_allclose(H @ x, b, atol=1e-9)
    assert used == 1
    x, used = conjugate_gradients(
        lambda v: H @ v, b, lambda r: r, lambda r, z: False, 2
    )
    assert used == 2
    assert 0.5 * x @ H @ x - b @ x < 0
