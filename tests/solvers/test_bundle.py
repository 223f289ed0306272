# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles.hinge_pieces import of_distances, of_grades
from tiebreak.losses import GradeHinge, GradeTree
from tiebreak.solvers import minimize_bundle
from tiebreak.solvers.bundle import Bundle


class Squares:
    """Σ (u - target)²: no kinks at all."""

    def __init__(self, target):
        self.target = target

    def expand(self, u):
        return float(np.sum((u - self.target) ** 2)), 2.0 * (u - self.target)


class Worst:
    """The largest of (1 - u_i)₊: one kink of all rows together."""

    def expand(self, u):
        g = np.zeros(len(u))
        if u.min() < 1.0:
            g[u.argmin()] = -1.0
        return float(max(0.0, 1.0 - u.min())), g


def objective(A, risk, C, x):
    return 0.5 * x @ x + C * risk.expand(A @ x)[0]


def assert_certified(solution, A, risk, C, tol):
    """The parts of a solution say the same, and what they say can be checked."""
    assert solution.converged
    assert solution.value == pytest.approx(objective(A, risk, C, solution.x), rel=1e-12)
    gap = solution.value - solution.lower_bound
    assert -1e-12 * solution.value <= gap <= max(tol, 1e-12) * solution.value
    assert solution.gap == pytest.approx(max(gap, 0.0) / solution.value, abs=1e-15)
    # Strongly convex: both points are so close to the minimizer.
    apart = -(A.T @ solution.weights) - solution.x
    assert np.linalg.norm(apart) <= 2.0 * np.sqrt(2.0 * max(gap, 0.0)) + 1e-7


numbers = st.integers(-2, 2)


@st.composite
def programs(draw):
    n, q = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    A = np.array(draw(st.lists(numbers, min_size=n * q, max_size=n * q)), dtype=float)
    y = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    if draw(st.booleans()):
        weight = draw(st.lists(st.sampled_from([0, 0.5, 1, 2]), min_size=n, max_size=n))
        risk = of_grades(y, np.array(weight, dtype=float))
    else:
        risk = of_distances(y)
    C = draw(st.sampled_from([1e-6, 0.01, 0.3, 1.0, 20.0, 1000.0]))
    return A.reshape(n, q), risk, C


@given(programs())
def test_it_is_the_minimum_of_a_general_solver(program):
    A, risk, C = program
    if not risk.cost.any():
        return
    lower, upper = risk.bracket(A, C)
    solution = minimize_bundle(A, risk, C, tol=1e-8)
    if upper == 0.0:
        assert solution.value == 0.0
        return
    assert_certified(solution, A, risk, C, 1e-8)
    # These two hold however well the general solver did.
    assert solution.lower_bound <= upper * (1 + 1e-12)
    assert solution.value >= lower * (1 - 1e-12)
    if upper - lower <= 1e-4 * upper:
        assert solution.value == pytest.approx(upper, rel=2e-4)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("shape", [(60, 3), (40, 40), (25, 90)])
def test_many_kinks(rng, shape, C):
    A = rng.normal(size=shape)
    y = np.round(A[:, 0] + rng.normal(size=len(A)))
    risk = of_grades(y, np.ones(len(A)))
    # Planes allow for their rounding, which the largest C makes 1e-7 of a small value.
    tol = 1e-8 if C <= 1.0 else 1e-6
    solution = minimize_bundle(A, risk, C, tol=tol)
    assert_certified(solution, A, risk, C, tol)


def test_the_bound_holds_wherever_it_stops(rng):
    A, y = rng.normal(size=(30, 8)), rng.integers(0, 4, 30).astype(float)
    risk = of_grades(y, np.ones(30))
    best = minimize_bundle(A, risk, 2.0, tol=1e-10).value
    before = -np.inf
    for max_iter in range(1, 30, 3):
        solution = minimize_bundle(A, risk, 2.0, tol=1e-10, max_iter=max_iter)
        assert solution.n_iter <= max_iter
        assert solution.lower_bound <= best * (1 + 1e-10)
        assert best <= solution.value * (1 + 1e-10)
        assert before <= solution.lower_bound * (1 + 1e-12)
        before = solution.lower_bound
    assert not minimize_bundle(A, risk, 2.0, tol=1e-10, max_iter=2).converged


def test_other_convex_functions(rng):
    A, C = rng.normal(size=(20, 4)), 0.7
    target = rng.normal(size=20)
    smooth = minimize_bundle(A, Squares(target), C, tol=1e-10)
    ridge = np.linalg.solve(np.eye(4) + 2 * C * A.T @ A, 2 * C * A.T @ target)
    assert_allclose(smooth.x, ridge, atol=1e-5)
    assert_certified(smooth, A, Squares(target), C, 1e-10)
    assert smooth.n_iter <= 20
    # The narrowest side of the hull of the rows, from the origin, is the hard margin.
    A = np.abs(A) + 0.1
    worst = minimize_bundle(A, Worst(), 1e3, tol=1e-9)
    assert_certified(worst, A, Worst(), 1e3, 1e-9)
    assert (A @ worst.x).min() == pytest.approx(1.0, abs=1e-6)


def graded(rng, n, q, *, condition=1.0, noise=1.0):
    """Many items of five grades; the columns have very different sizes."""
    size = np.geomspace(1.0, condition, q)
    X = rng.normal(size=(n, q))
    u = X @ rng.normal(size=q) / np.sqrt(q) + noise * rng.normal(size=n)
    y = np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8])).astype(float)
    tree = GradeTree(y, np.zeros(n, dtype=np.int64), np.ones(n))
    return X * size, GradeHinge(tree)


@pytest.mark.parametrize("condition", [1.0, 100.0])
@pytest.mark.parametrize("per_item", [1.0, 100.0])
def test_a_few_steps_do_where_kinks_are_dense(rng, condition, per_item):
    A, risk = graded(rng, 5000, 20, condition=condition)
    C = per_item * len(A) / risk.tree.n_pairs
    solution = minimize_bundle(A, risk, C, tol=1e-4)
    assert_certified(solution, A, risk, C, 1e-4)
    assert solution.n_iter <= 60
    assert solution.n_evaluations <= 150


def test_many_kinks_decide_without_stalling(rng):
    X = rng.normal(size=(80, 4))
    A = np.linalg.cholesky(
        np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)) + 1e-9 * np.eye(80)
    )
    y = np.round(2 * X[:, 0] + rng.normal(size=80))
    risk = GradeHinge(GradeTree(y, np.zeros(80, dtype=np.int64), np.ones(80)))
    for C in (0.01, 1.0, 100.0):
        solution = minimize_bundle(A, risk, C, tol=1e-8)
        assert_certified(solution, A, risk, C, 1e-8)


@pytest.mark.parametrize("max_planes", [2, 6, 12])
def test_few_planes_are_enough(rng, max_planes):
    A, risk = graded(rng, 60, 8)
    C = 0.05
    solution = minimize_bundle(
        A, risk, C, tol=1e-3, max_planes=max_planes, max_iter=3000
    )
    assert len(solution.bundle.planes) <= max(max_planes, 4)
    assert_certified(solution, A, risk, C, 1e-3)


def test_planes_are_below_the_function(rng):
    A, risk = graded(rng, 40, 5)
    solution = minimize_bundle(A, risk, 0.1, tol=1e-6, max_planes=10)
    planes = solution.bundle.planes
    for scale in (0.1, 1.0, 1e4):
        x = scale * rng.normal(size=5)
        below = planes._a[: len(planes)] @ x + planes._b[: len(planes)]
        value = risk.expand(A @ x)[0]
        assert below.max() <= value * (1 + 1e-10)
        assert below.max() >= 0.0


def test_sparse_equals_dense(rng):
    A, risk = graded(rng, 300, 12)
    A[np.abs(A) < 0.7] = 0.0
    dense = minimize_bundle(A, risk, 0.01, tol=1e-9)
    sparse = minimize_bundle(sp.csr_array(A), risk, 0.01, tol=1e-9)
    assert_allclose(sparse.value, dense.value, rtol=1e-8)
    assert_allclose(sparse.x, dense.x, atol=1e-4)


def test_it_goes_on_from_another_c(rng):
    A, risk = graded(rng, 400, 10)
    last = None
    for C in (1e-4, 1e-3, 1e-2, 3e-3, 1.0):
        last = minimize_bundle(A, risk, C, tol=1e-7, last=last)
        alone = minimize_bundle(A, risk, C, tol=1e-7)
        assert_certified(last, A, risk, C, 1e-7)
        assert last.value == pytest.approx(alone.value, rel=2e-7)
    again = minimize_bundle(A, risk, 1.01, tol=1e-3, last=last)
    assert again.n_evaluations < minimize_bundle(A, risk, 1.01).n_evaluations


def test_a_tiny_c_still_gives_a_direction(rng):
    A, risk = graded(rng, 50, 4)
    slope = A.T @ risk.expand(np.zeros(50))[1]
    for C in (1e-8, 1e-12, 1e-20):
        solution = minimize_bundle(A, risk, C)
        assert solution.converged
        assert solution.n_iter >= 1
        assert_allclose(solution.x / C, -slope, rtol=1e-3)
        assert_allclose(-(A.T @ solution.weights) / C, -slope, rtol=1e-3)


def test_a_small_c_is_judged_by_what_was_gained(rng):
    A, risk = graded(rng, 50, 4)
    start = risk.expand(np.zeros(50))[0]
    for C in (1e-6, 1e-5, 1e-4):
        # f hardly falls, so that any x would be within 1e-3 of it.
        solution = minimize_bundle(A, risk, C, tol=1e-3)
        best = minimize_bundle(A, risk, C, tol=1e-7)
        assert best.value >= 0.9 * C * start
        assert solution.value - best.value <= 1e-3 * (C * start - best.lower_bound)
        apart = np.linalg.norm(solution.x - best.x)
        assert apart <= 0.1 * np.linalg.norm(best.x)


def test_planes_from_far_away_stay_below(rng):
    y = rng.integers(0, 4, 30).astype(float)
    risk, A = of_grades(y, np.ones(30)), rng.normal(size=(30, 4))
    bundle = Bundle(A, risk)
    for scale in 10.0 ** np.arange(2, 16):
        u = scale * rng.normal(size=30)
        bundle._point(np.zeros(4), u, *risk.expand(u))
        # The plane of the hinges that are active at u is this high at zero.
        exact = int((risk.D @ u < 1.0).sum())
        assert bundle.planes._b[len(bundle.planes) - 1] <= exact


def test_nothing_to_learn(rng):
    A, risk = graded(rng, 30, 3)
    level = minimize_bundle(np.ones((30, 3)), risk, 1.0)
    assert level.converged
    assert_allclose(level.x, 0.0, atol=1e-12)
    done = minimize_bundle(A, Squares(np.zeros(30)), 1.0)
    assert done.converged
    assert (done.value, done.gap) == (0.0, 0.0)
    assert_array_equal(done.x, 0.0)


def test_far_beyond_double_precision_it_ends_without_a_claim(rng):
    A, risk = graded(rng, 30, 3)
    with np.errstate(all="ignore"):
        for scale in (1e30, 1e150, 1e200):
            solution = minimize_bundle(scale * A, risk, 1.0)
            assert not solution.converged
            assert solution.lower_bound <= solution.value
