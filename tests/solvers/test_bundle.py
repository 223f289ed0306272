# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import LinearConstraint, minimize

from tests.oracles.hinge_pieces import of_distances, of_grades
from tiebreak.losses import GradeHinge, GradeTree
from tiebreak.solvers import minimize_bundle
from tiebreak.solvers.bundle import (
    Bundle,
    CurvatureMemory,
    CuttingPlanes,
    SimplexQP,
    drop_free,
    row_covariance,
    solve_lower,
    solve_upper,
)


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


@pytest.mark.extended
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
    solution = Bundle(A, risk, max_planes).minimize(C, 1e-3, 3000)
    assert len(solution.bundle.planes) <= max(max_planes, 4)
    assert_certified(solution, A, risk, C, 1e-3)


def test_planes_are_below_the_function(rng):
    A, risk = graded(rng, 40, 5)
    solution = Bundle(A, risk, 10).minimize(0.1, 1e-6, 1000)
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
    assert again.n_iter < minimize_bundle(A, risk, 1.01).n_iter


def test_a_tiny_c_still_gives_a_direction(rng):
    A, risk = graded(rng, 50, 4)
    slope = A.T @ risk.expand(np.zeros(50))[1]
    for C in (1e-8, 1e-12, 1e-20):
        solution = minimize_bundle(A, risk, C)
        assert solution.converged
        assert solution.n_iter >= 1
        # Of the length of the slope: a part of it may be almost zero by chance.
        near = 1e-3 * np.linalg.norm(slope)
        assert_allclose(solution.x / C, -slope, rtol=0, atol=near)
        assert_allclose(-(A.T @ solution.weights) / C, -slope, rtol=0, atol=near)


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


def random_planes(rng, n_planes, capacity, q=5, n=9):
    """Planes of a convex function: tangents of ‖Ax‖² + 1, with A known."""
    A = rng.normal(size=(n, q))
    planes = CuttingPlanes(q, n, capacity)
    for _ in range(n_planes):
        u = A @ rng.normal(size=q)
        g = 2 * u
        planes.add(A.T @ g, float(u @ u) + 1.0 - float(g @ u), g)
    return A, planes


def test_without_planes_the_bound_is_zero():
    x, bound = CuttingPlanes(3, 4, 5).maximize(2.0, 1e-9)
    assert not x.any()
    assert bound == 0.0


@pytest.mark.parametrize("C", [1e-6, 0.1, 10.0])
def test_the_bound_is_the_minimum_of_the_planes(rng, C):
    A, planes = random_planes(rng, 20, 30)
    x, bound = planes.maximize(C, 1e-12)
    k = len(planes)
    highest = (planes._a[:k] @ x + planes._b[:k]).max()
    assert 0.5 * x @ x + C * highest == pytest.approx(bound, rel=1e-8)
    assert bound <= 0.5 * x @ x + C * (np.sum((A @ x) ** 2) + 1.0)
    # No other point is lower.
    for _ in range(50):
        z = x + 0.1 * rng.normal(size=5)
        value = 0.5 * z @ z + C * (planes._a[:k] @ z + planes._b[:k]).max()
        assert value >= bound
    assert_allclose(-C * (A.T @ planes.combined()), x, atol=1e-9)


def test_old_planes_go_and_the_bound_stays(rng):
    A, planes = random_planes(rng, 7, 12)
    bounds = []
    for _ in range(40):
        x, bound = planes.maximize(1.0, 1e-12)
        assert_consistent(planes)
        bounds.append(bound)
        assert len(planes) <= 12
        assert_allclose(-(A.T @ planes.combined()), x, atol=1e-9)
        u = A @ (x + 0.1 * rng.normal(size=5))
        planes.add(2 * A.T @ u, 1.0 - float(u @ u), 2 * u)
    assert (np.diff(bounds) >= -1e-10).all()
    assert bounds[-1] > bounds[0]


def assert_consistent(planes):
    k = len(planes)
    a = planes._a[:k]
    assert_allclose(planes._gram[:k, :k], a @ a.T, atol=1e-9)
    assert planes.weight.sum() == pytest.approx(1.0)
    assert not planes._simplex.weight[k:].any()


def tangents_with_weight(n_planes):
    """In many dimensions all tangents at small points have weight."""
    planes = CuttingPlanes(30, 30, n_planes + 1)
    for u in 0.3 * np.eye(30)[:n_planes]:
        planes.add(2 * u, 1.0 - float(u @ u), 2 * u)
    return planes


def test_making_room_changes_no_bound(rng):
    n_planes = 7
    few, many = tangents_with_weight(n_planes), random_planes(rng, 7, 8, q=2)[1]
    for planes in (few, many):
        x, bound = planes.maximize(1.0, 1e-12)
        n_heavy = (planes.weight > 0).sum()
        assert n_heavy == n_planes if planes is few else n_heavy < 5
        planes._shrink()
        assert_consistent(planes)
        assert len(planes) < n_planes + 1
        after, same = planes._bound(1.0)
        assert same == pytest.approx(bound, rel=1e-12)
        assert_allclose(after, x, atol=1e-12)


def test_a_bound_is_never_given_up(rng, monkeypatch):
    _, planes = random_planes(rng, 9, 12)
    x, bound = planes.maximize(1.0, 1e-12)

    def spoil(V, gram, q, eps, max_pivots):
        planes.weight[:] = 0.0
        planes.weight[-1] = 1.0

    monkeypatch.setattr(planes._simplex, "maximize", spoil)
    again, same = planes.maximize(1.0, 1e-12)
    assert same == bound
    assert_allclose(again, x)


def test_planes_with_weight_become_one():
    A, planes, before = np.eye(30), CuttingPlanes(30, 30, 8), 0.0
    for u in 0.3 * np.eye(30):
        planes.add(2 * u, 1.0 - float(u @ u), 2 * u)
        x, bound = planes.maximize(1.0, 1e-12)
        assert len(planes) <= 8
        assert bound >= before - 1e-12
        assert_allclose(-(A.T @ planes.combined()), x, atol=1e-12)
        before = bound
    assert (planes.weight > 0).sum() > 3


def test_another_c_uses_the_same_planes(rng):
    _, planes = random_planes(rng, 25, 40)
    forward = [planes.maximize(C, 1e-13)[1] for C in (1e-3, 1e-2, 0.1, 1.0, 10.0)]
    back = [planes.maximize(C, 1e-13)[1] for C in (10.0, 1.0, 0.1, 1e-2, 1e-3)]
    assert_allclose(forward, back[::-1], rtol=1e-9)


def start(k):
    program = SimplexQP(k)
    program.weight[0] = 1.0
    return program


def violation(V, q, mu):
    """How far the objective may be below its maximum."""
    e = q - V @ (V.T @ mu)
    return e.max() - e[mu > 0].min()


@st.composite
def vertices(draw):
    """Few dimensions and small integers: repeated and dependent vertices abound."""
    k, d = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    numbers = st.integers(-2, 2)
    V = np.array(draw(st.lists(numbers, min_size=k * d, max_size=k * d)), dtype=float)
    sizes = draw(st.lists(st.sampled_from([0, 1, 1, 1000]), min_size=k, max_size=k))
    return V.reshape(k, d) * np.array(sizes)[:, None]


@given(vertices(), st.data())
def test_it_is_optimal_from_any_start(V, data):
    k = len(V)
    program, gram = start(k), V @ V.T
    for _ in range(3):
        # The factor of one linear part serves the next, whose start is not optimal.
        numbers = st.lists(st.integers(-3, 3), min_size=k, max_size=k)
        q = np.array(data.draw(numbers), dtype=float)
        program.maximize(V, gram, q, 1e-9, 1000)
        mu = program.weight
        assert mu.min() >= 0.0
        assert mu.sum() == pytest.approx(1.0, abs=1e-12)
        assert violation(V, q, mu) <= 1e-8


@pytest.mark.parametrize("d", [1, 3, 12])
def test_it_equals_a_general_solver(rng, d):
    V, q = rng.normal(size=(10, d)), rng.normal(size=10)
    program = start(10)
    program.maximize(V, V @ V.T, q, 1e-12, 500)
    solved = minimize(
        lambda mu: 0.5 * np.sum((mu @ V) ** 2) - q @ mu,
        np.full(10, 0.1),
        jac=lambda mu: V @ (mu @ V) - q,
        bounds=[(0, 1)] * 10,
        constraints=[LinearConstraint(np.ones((1, 10)), 1, 1)],
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    value = q @ program.weight - 0.5 * np.sum((program.weight @ V) ** 2)
    assert value == pytest.approx(-solved.fun, abs=1e-9)


def test_vertices_of_very_different_lengths(rng):
    V = rng.normal(size=(60, 20)) * 10.0 ** rng.integers(-4, 5, (60, 1))
    q = rng.normal(size=60)
    program = start(60)
    program.maximize(V, V @ V.T, q, 1e-10, 5000)
    assert violation(V, q, program.weight) <= 1e-6


def test_the_factor_of_nearly_dependent_vertices(rng):
    flat = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 30))
    V, q = flat + 1e-5 * rng.normal(size=(20, 30)), np.zeros(20)
    program = SimplexQP(20)
    program.weight[:] = 1 / 20
    program._refactor(V, q, program.weight)
    free = program._free[: program._n_free]
    assert len(free) == 20
    D = V[free[1:]] - V[free[0]]
    L = np.tril(program._factor[:19, :19])
    # Accurate to the differences, and not only to their squares.
    assert_allclose(np.linalg.svd(L)[1], np.linalg.svd(D)[1], rtol=1e-6)


def test_it_stops_feasible_after_any_number_of_pivots(rng):
    V, q = rng.normal(size=(30, 8)), rng.normal(size=30)
    before = -np.inf
    for pivots in range(1, 30, 4):
        program = start(30)
        program.maximize(V, V @ V.T, q, 1e-12, pivots)
        mu = program.weight
        assert mu.min() >= 0.0
        assert mu.sum() == pytest.approx(1.0)
        value = q @ mu - 0.5 * np.sum((mu @ V) ** 2)
        assert value >= before - 1e-12
        before = value


def test_vertices_that_come_later(rng):
    V, q = rng.normal(size=(40, 10)), rng.normal(size=40)
    program = start(40)
    for k in range(1, 41):
        program.maximize(V[:k], V[:k] @ V[:k].T, q[:k], 1e-11, 500)
        assert violation(V[:k], q[:k], program.weight[:k]) <= 1e-9
        assert not program.weight[k:].any()


def test_triangular_systems(rng):
    L = np.tril(rng.normal(size=(6, 6))) + 3 * np.eye(6)
    x = rng.normal(size=6)
    lower, upper = x.copy(), x.copy()
    solve_lower(L, 5, lower)
    solve_upper(L, 5, upper)
    assert_allclose(L[:5, :5] @ lower[:5], x[:5])
    assert_allclose(L[:5, :5].T @ upper[:5], x[:5])
    assert lower[5] == upper[5] == x[5]


@pytest.mark.parametrize("p", [1, 3, 5])
def test_dropping_a_row_of_the_factor(rng, p):
    D = rng.normal(size=(5, 8))
    L = np.zeros((7, 7))
    L[:5, :5] = np.linalg.cholesky(D @ D.T)
    free = np.array([9, 11, 12, 13, 14, 15, 0])
    drop_free(L, free, 6, p)
    rest = np.delete(D, p - 1, axis=0)
    factor = np.tril(L[:4, :4])
    assert_allclose(factor @ factor.T, rest @ rest.T)
    assert free[:5].tolist() == np.delete([9, 11, 12, 13, 14, 15], p).tolist()


@pytest.mark.parametrize("shape", [(50, 4), (1500, 6), (20, 600), (300, 510)])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_covariance_of_few_rows_is_exact(rng, shape, sparse):
    A = rng.normal(size=shape) + 3.0
    A[np.abs(A - 3) < 0.5] = 0.0
    spread, basis = row_covariance(sp.csr_array(A) if sparse else A)
    assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-8)
    exact = np.cov(A.T, bias=True)
    assert_allclose(basis.T @ (spread[:, None] * basis), exact, atol=1e-8)


def test_the_covariance_of_many_rows_is_estimated(rng):
    A = rng.normal(size=(50_000, 5)) * [1.0, 2.0, 5.0, 10.0, 100.0]
    spread, basis = row_covariance(A)
    exact = np.cov(A.T)
    near = basis.T @ (spread[:, None] * basis)
    assert_allclose(np.diag(near), np.diag(exact), rtol=0.2)


@pytest.mark.parametrize("n", [3, 200])
def test_without_steps_it_is_the_guess(rng, n):
    # With three rows the covariance leaves directions in which R is flat.
    A = rng.normal(size=(n, 6))
    memory = CurvatureMemory(A, 2.0)
    gradient = rng.normal(size=6)
    hessian = np.eye(6) + 0.5 * 2.0 * np.cov(A.T, bias=True)
    assert_allclose(
        memory.direction(gradient, 0.5), -np.linalg.solve(hessian, gradient)
    )


def test_a_step_is_explained_for_every_c(rng):
    A = rng.normal(size=(100, 5))
    H = A.T @ A
    memory = CurvatureMemory(A, 1.0)
    for _ in range(3):
        step = rng.normal(size=5)
        memory.remember(step, H @ step)
    for C in (1e-3, 1.0, 50.0):
        # What the last step changed in the whole gradient leads back along it.
        assert_allclose(memory.direction(step + C * (H @ step), C), -step, atol=1e-9)
        gradient = rng.normal(size=5)
        assert gradient @ memory.direction(gradient, C) < 0.0


def test_a_quadratic_function_takes_few_steps(rng):
    A = rng.normal(size=(400, 10)) * np.geomspace(1, 1000, 10)
    H, C = A.T @ A, 0.1
    memory, x = CurvatureMemory(A, 1.0), rng.normal(size=10)
    first = np.linalg.norm(x + C * H @ x)
    for _ in range(6):
        step = memory.direction(x + C * H @ x, C)
        memory.remember(step, H @ step)
        x = x + step
    assert np.linalg.norm(x + C * H @ x) <= 1e-6 * first


@pytest.mark.parametrize("largest", [1e3, 1e100])
def test_columns_of_large_numbers(rng, largest):
    A = rng.normal(size=(60, 3)) * largest * np.array([1.0, 1e-3, 1e-6])
    memory = CurvatureMemory(A, 1.0)
    gradient = largest * rng.normal(size=3) * [1.0, 1e-3, 1e-6]
    # Scaled to numbers near 1, where a general solver can do it.
    hessian = np.diag([1.0, 1e3, 1e6]) @ (
        np.eye(3) / largest**2 + np.cov(A.T / largest, bias=True)
    )
    scaled = np.diag([1.0, 1e3, 1e6]) @ gradient / largest
    expected = -np.linalg.solve(hessian, scaled) / largest
    assert_allclose(memory.direction(gradient, 1.0), expected, rtol=1e-3)


def test_steps_without_curvature_are_not_kept(rng):
    A = rng.normal(size=(30, 3))
    memory, fresh = CurvatureMemory(A, 1.0), CurvatureMemory(A, 1.0)
    memory.remember(np.ones(3), np.zeros(3))
    memory.remember(np.ones(3), -np.ones(3))
    memory.remember(np.ones(3), np.full(3, np.nan))
    gradient = rng.normal(size=3)
    assert_allclose(memory.direction(gradient, 1.0), fresh.direction(gradient, 1.0))
