# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    FeatureDesign,
    GradeSquaredHinge,
    GradeTree,
    LinearObjective,
)
from tiebreak.solvers import (
    StronglyConvex,
    conjugate_gradients,
    minimize_newton,
    minimize_truncated,
)
from tiebreak.solvers.newton import DENSE_LIMIT, SmoothObjective


class Quadratic:
    """½ xᵀ A x - bᵀ x + c."""

    def __init__(self, A, b, c=1.0):
        self.A, self.b, self.c = A, b, c
        self.n_variables = len(b)

    def value(self, x):
        return 0.5 * x @ self.A @ x - self.b @ x + self.c

    def expand(self, x):
        return self.value(x), self.A @ x - self.b

    def hessian(self):
        return self.A

    def hessian_product(self, v):
        return self.A @ v

    def hessian_diagonal(self):
        return np.diag(self.A)


class Logarithm(Quadratic):
    """a x - ln x summed over coordinates, infinite where x ≤ 0."""

    def __init__(self, a):
        self.a, self.n_variables = a, len(a)

    def value(self, x):
        return math.inf if (x <= 0).any() else float(self.a @ x - np.log(x).sum())

    def expand(self, x):
        self.A = np.diag(1 / x**2)
        return self.value(x), self.a - 1 / x


class Counted:
    """Count what is asked of an objective."""

    def __init__(self, objective):
        self.objective, self.asked = objective, []

    def __getattr__(self, name):
        found = getattr(self.objective, name)
        if callable(found):
            self.asked.append(name)
        return found


def spd(rng, n, condition=1e3):
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return Q @ np.diag(np.geomspace(1, condition, n)) @ Q.T


def logistic(rng, link="davidson", n=200, p=6, alpha=0.1, scale=1.0):
    items = scale * rng.normal(size=(30, p))
    left = rng.integers(0, 30, n)
    right = (left + rng.integers(1, 30, n)) % 30
    d = (items[right] - items[left])[:, 0] / scale + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.8, 0, np.sign(d)).astype(int)
    counts = np.eye(3)[y + 1]
    design = FeatureDesign(items, left, right)
    return ComparisonObjective(design, LINKS[link], counts, np.full(p, alpha))


@pytest.mark.parametrize("dense", [True, False])
def test_a_quadratic_takes_one_step(rng, dense):
    A, b = spd(rng, 12), rng.normal(size=12)
    solution = minimize_newton(Quadratic(A, b), rng.normal(size=12), dense=dense)
    # Products solve Newton's equation only as far as the step deserves it.
    assert solution.n_iter == 1 if dense else solution.n_iter <= 20
    assert solution.converged
    assert_allclose(solution.x, np.linalg.solve(A, b), rtol=1e-6, atol=1e-8)
    expected = 1 - 0.5 * b @ np.linalg.solve(A, b)
    assert_allclose(solution.value, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("link", ["davidson", "cumulative"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_equals_a_general_solver(rng, link, scale, dense):
    f = logistic(rng, link, scale=scale)
    start = np.append(np.zeros(6), 0.5)
    ours = minimize_newton(f, start, dense=dense)
    assert ours.converged
    assert 0 <= ours.gap <= 1e-16
    assert 1 <= ours.n_iter <= 20
    value, gradient = f.expand(ours.x)
    assert value == ours.value
    assert np.abs(gradient).max() <= 1e-5 * max(scale, 1.0)

    def hessian(x):
        f.expand(x)
        return f.hessian()

    theirs = minimize(
        f.value,
        start,
        jac=lambda x: f.expand(x)[1],
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-6},
    )
    assert_allclose(ours.value, theirs.fun, rtol=1e-10)
    assert_allclose(ours.x, theirs.x, atol=1e-3 / scale)


@pytest.mark.parametrize("link", ["davidson", "cumulative"])
def test_products_and_factors_give_the_same(rng, link):
    f = logistic(rng, link)
    start = np.append(np.zeros(6), 0.5)
    dense = Counted(f)
    one = minimize_newton(dense, start, dense=True)
    products = Counted(f)
    two = minimize_newton(products, start, dense=False)
    assert_allclose(one.x, two.x, rtol=1e-7, atol=1e-7)
    assert "hessian_product" not in dense.asked
    assert "hessian" not in products.asked


def test_large_problems_are_solved_by_products():
    n = DENSE_LIMIT + 1
    f = Quadratic(np.eye(n), np.ones(n))
    f = Counted(f)
    solution = minimize_newton(f, np.zeros(n))
    assert "hessian" not in f.asked
    assert_allclose(solution.x, 1)
    f = Counted(Quadratic(np.eye(3), np.ones(3)))
    minimize_newton(f, np.zeros(3))
    assert "hessian" in f.asked


@pytest.mark.parametrize("dense", [True, False])
def test_a_singular_hessian(rng, dense):
    # Two columns alike and one empty: the minimum is a plane, and b is in its range.
    F = rng.normal(size=(9, 4))
    F = np.column_stack([F, F[:, 0], np.zeros(9)])
    A = F.T @ F
    b = A @ rng.normal(size=6)
    solution = minimize_newton(Quadratic(A, b, 100.0), np.zeros(6), dense=dense)
    assert solution.converged
    assert_allclose(A @ solution.x, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dense", [True, False])
def test_steps_stay_in_the_domain(rng, dense):
    a = rng.uniform(0.5, 2, size=5)
    f = Counted(Logarithm(a))
    # From here the first full step leads far outside.
    solution = minimize_newton(f, 10.0 / a, dense=dense)
    assert math.isinf(f.objective.value(10.0 / a - 90.0 / a))
    assert solution.converged
    assert_allclose(solution.x, 1 / a, rtol=1e-7)


def test_the_number_of_steps_is_limited(rng):
    f = logistic(rng)
    start = np.append(np.zeros(6), 0.5)
    values = []
    for max_iter in range(1, 4):
        solution = minimize_newton(f, start, max_iter=max_iter)
        assert solution.n_iter == max_iter
        assert not solution.converged
        assert solution.gap > 1e-16
        values.append(solution.value)
    assert f.value(start) > values[0] > values[1] > values[2]


def test_it_stops_at_the_solution(rng):
    f = logistic(rng)
    solution = minimize_newton(f, np.append(np.zeros(6), 0.5))
    again = minimize_newton(f, solution.x)
    assert again.n_iter == 0
    assert again.converged
    assert_array_equal(again.x, solution.x)


def test_the_last_step_is_checked_without_another_factor(rng):
    f, start = Counted(logistic(rng)), np.append(np.zeros(6), 0.5)
    found = minimize_newton(f, start, tol=1e-7)
    assert f.asked.count("hessian") == found.n_iter
    # Its gap is that of the Hessian there, to the tenth that the comment promises.
    _, gradient = f.objective.expand(found.x)
    step = np.linalg.solve(f.objective.hessian(), gradient)
    assert_allclose(found.gap, 0.5 * gradient @ step / found.value, rtol=0.1)


def test_at_least_so_many_steps(rng):
    # Under this penalty the value cannot tell the solution from the start.
    f = logistic(rng, alpha=1e20)
    start = minimize_newton(f, np.append(np.zeros(6), 0.5)).x
    start[:6] = 0
    stopped = minimize_newton(f, start)
    assert stopped.n_iter == 0
    assert_array_equal(stopped.x, start)
    solution = minimize_newton(f, start, min_iter=1)
    assert solution.n_iter == 1
    assert solution.converged
    _, gradient = f.expand(start)
    assert_allclose(solution.x[:6], -gradient[:6] / 2e20, rtol=1e-6)


def test_the_start_is_not_written_to(rng):
    f, start = logistic(rng), np.append(np.zeros(6), 0.5)
    minimize_newton(f, start)
    assert_array_equal(start, np.append(np.zeros(6), 0.5))


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("link", ["davidson", "cumulative"])
def test_the_certificate_bounds_the_distance_to_the_minimum(rng, link, dense):
    f = logistic(rng, link, scale=3.0)
    start = np.append(np.zeros(6), 0.5)
    best = minimize_newton(f, start, tol=1e-12, dense=True).value
    bounded = 0
    for max_iter in range(8):
        s = minimize_newton(f, start, max_iter=max_iter, tol=1e-12, dense=dense)
        above = (s.value - best) / s.value
        if s.gap < 1e-2:
            # λ² / 2 is the leading term: twice as much is a bound.
            assert above <= 2 * s.gap + 1e-14
            bounded += s.gap > 1e-10
        if 1e-12 < s.gap < 1e-4:
            assert_allclose(above, s.gap, rtol=0.3, atol=1e-13)
    assert bounded >= 2


def test_a_tolerance_is_kept(rng):
    f, start = logistic(rng), np.append(np.zeros(6), 0.5)
    loose = minimize_newton(f, start, tol=1e-2)
    tight = minimize_newton(f, start, tol=1e-8)
    assert loose.converged and tight.converged
    assert 1e-16 < loose.gap <= 1e-4
    assert tight.gap <= 1e-16
    assert loose.n_iter < tight.n_iter


def test_a_value_that_is_no_number_is_not_called_converged():
    class Broken(Quadratic):
        def expand(self, x):
            return math.nan, np.full(len(x), math.nan)

    # The factor of a good Hessian: only value and gradient are broken.
    solution = minimize_newton(Broken(np.eye(2), np.ones(2)), np.zeros(2))
    assert not solution.converged


def test_no_variables_are_nothing_to_do():
    f = Quadratic(np.empty((0, 0)), np.empty(0), 3.0)
    solution = minimize_newton(f, np.empty(0))
    assert solution.converged
    assert solution.value == 3
    assert solution.n_iter == 0


def test_what_is_needed_of_an_objective(rng):
    assert isinstance(logistic(rng), SmoothObjective)
    assert not isinstance(object(), SmoothObjective)


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
