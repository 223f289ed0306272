# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.extended import few
from tests.oracles import ordinal
from tests.solvers.dual_qp.problems import blocks
from tiebreak.kernels import CachedRows, DifferenceRows, FactorRows, LinearRows
from tiebreak.solvers import solve_dual_qp
from tiebreak.solvers.dual_qp.active_set import ActiveSet
from tiebreak.solvers.dual_qp.interior_point import interior_point
from tiebreak.solvers.dual_qp.problem import DualState
from tiebreak.solvers.dual_qp.rounds import WorkingSets, solve_blocks

SHARED = "one direction"
OWN = "a direction per block besides"


def loading_of(kind, n_blocks, weight=0.7):
    ones = np.ones((n_blocks, 1))
    return ones if kind == SHARED else np.hstack([ones, weight * np.eye(n_blocks)])


def random_problem(rng, n, *, p, C, n_blocks=3, kind=SHARED, noise=0.5, share=1.0):
    """Draw items and thresholds; only a share of the items is at each of them."""
    X = rng.normal(size=(n, p))
    u = X @ rng.normal(size=p) / np.sqrt(p) + noise * rng.normal(size=n)
    cuts = np.quantile(u, np.arange(1, n_blocks + 1) / (n_blocks + 1))
    row, block, label = [], [], []
    for b, cut in enumerate(cuts):
        used = np.flatnonzero(rng.random(n) < share) if share < 1 else np.arange(n)
        row.append(used)
        block.append(np.full(len(used), b))
        label.append(np.where(u[used] > cut, 1.0, -1.0))
    label = np.concatenate(label)
    bound = C * rng.uniform(0.5, 1.5, len(label))
    problem = blocks(
        linear=label,
        lower=np.where(label > 0, 0.0, -bound),
        upper=np.where(label > 0, bound, 0.0),
        row=np.concatenate(row),
        block=np.concatenate(block),
        loading=loading_of(kind, n_blocks),
    )
    return X, problem


def explicit(X, q):
    """What the general solver takes: a row of features for every variable."""
    features = np.array(
        [np.kron(q.loading[b], X[i]) for i, b in zip(q.row, q.block, strict=True)]
    )
    return features, q.block, q.linear, q.upper - q.lower


def fresh(rows, q):
    f = np.zeros((q.n_directions, rows.n_rows))
    return DualState(q, np.zeros(q.size), f, rows.diagonal())


def assert_certified(X, q, solution, tol):
    """Prove the solution optimal from nothing but its dual variables and levels."""
    s = solution.s
    assert (s >= q.lower).all()
    assert (s <= q.upper).all()
    for b in range(q.n_blocks):
        mine = q.block == b
        assert abs(s[mine].sum()) <= 1e-9 * np.abs(s[mine]).sum() + 1e-300
    features, block, label, cost = explicit(X, q)
    w = features.T @ s
    primal = ordinal.objective(w, -solution.levels, features, block, label, cost)
    dual = label @ s - 0.5 * w @ w
    assert solution.primal == pytest.approx(primal, rel=1e-9, abs=1e-300)
    assert solution.dual == pytest.approx(dual, rel=1e-9, abs=1e-12 * abs(primal))
    assert primal - dual <= 1.001 * tol * primal + 1e-12 * cost.sum()
    assert solution.converged
    scale = 1e-12 * np.abs(features.T) @ np.abs(s)
    assert (np.abs((solution.coef @ X).ravel() - w) <= scale).all()


@pytest.mark.parametrize("kind", [SHARED, OWN])
@pytest.mark.parametrize("C", [1e-3, 0.3, 30.0])
@pytest.mark.parametrize("p", [2, 12])
def test_equals_a_general_solver(rng, p, C, kind):
    X, q = random_problem(rng, 14, p=p, C=C, kind=kind, share=0.8)
    solution = solve_dual_qp(LinearRows(X), q, tol=1e-9)
    assert_certified(X, q, solution, 1e-9)
    w, _, best = ordinal.solve(*explicit(X, q))
    assert solution.primal == pytest.approx(best, rel=1e-6)
    found = solution.coef @ X
    assert_allclose(found.ravel(), w, atol=2e-3 * np.abs(w).max() + 1e-6)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    p=st.integers(1, 3),
    n_blocks=st.integers(1, 4),
    log_c=st.integers(-12, 4),
    kind=st.sampled_from([SHARED, OWN]),
    as_factor=st.booleans(),
)
def test_certified_on_small_and_degenerate_programs(
    seed, n, p, n_blocks, log_c, kind, as_factor
):
    rng = np.random.default_rng(seed)
    C = 10.0**log_c
    X, q = random_problem(rng, n, p=p, C=C, n_blocks=n_blocks, kind=kind)
    # Duplicated, zero and constant rows make the matrix singular in every way, and a
    # block may have variables of one side only.
    X = np.round(X)
    X[rng.random(n) < 0.3] = X[0]
    X[rng.random(n) < 0.2] = 0.0
    X[:, 0] = 1.0
    rows = FactorRows(X.T) if as_factor else CachedRows(DifferenceRows(X), 1e8)
    solution = solve_dual_qp(rows, q, tol=1e-6)
    assert_certified(X, q, solution, 1e-6)


@pytest.mark.parametrize("kind", [SHARED, OWN])
def test_every_part_reaches_the_same_optimum(rng, kind):
    X, q = random_problem(rng, 150, p=6, C=2.0, kind=kind, share=0.9)
    rows = FactorRows(X.T)
    reference = solve_dual_qp(rows, q, tol=1e-11)
    assert reference.converged
    by_sets = fresh(rows, q)
    assert WorkingSets(rows, by_sets).run(1e-8, 10**7, 10**5) <= 1e-8
    by_barrier = fresh(rows, q)
    assert 5 <= interior_point(rows.factor, by_barrier, 1e-7) <= 40
    assert by_barrier.certificate()[3] <= 1e-4
    # Without the exact bounds the last digits are missing; Newton steps find them.
    assert ActiveSet(rows, by_barrier).settle(1e-9)
    for state in (by_sets, by_barrier):
        levels, _, dual, gap = state.certificate()
        assert gap <= 1e-7
        assert dual == pytest.approx(reference.dual, rel=1e-8)
        assert_allclose(levels, reference.levels, atol=1e-6)
        assert_allclose(state.f, reference.fitted, atol=1e-6)


def test_newton_steps_leave_a_point_untouched_that_they_cannot_settle(rng):
    X, q = random_problem(rng, 60, p=3, C=2.0)
    rows = FactorRows(X.T)
    state = fresh(rows, q)
    assert not ActiveSet(rows, state).settle(1e-9)  # nothing is free
    WorkingSets(rows, state).run(1e-9, 40, 1)
    before = state.s.copy(), state.f.copy()
    assert not ActiveSet(rows, state).settle(1e-9, max_systems=1)
    assert_array_equal(state.s, before[0])
    assert_array_equal(state.f, before[1])


@pytest.mark.parametrize("kind", [SHARED, OWN])
def test_a_newton_system_restores_the_balance_and_finds_the_levels(rng, kind):
    """Six free variables of three blocks; with three features alone M is singular."""
    X, q = random_problem(rng, 20, p=3, C=1.0, kind=kind)
    rows = FactorRows(X.T)
    state = fresh(rows, q)
    state.s[:] = 0.5 * (q.lower + q.upper)
    first = q.starts[:-1]
    free = np.sort(np.concatenate([first, first + np.array([3, 5, 7])]))
    features = explicit(X, q)[0][free]
    e, wanted = rng.normal(size=6), np.array([0.3, -0.2, 0.1])
    step, levels = ActiveSet(rows, state)._solve(free, e, wanted)
    size = np.abs(step).max()
    assert_allclose(np.bincount(q.block[free], step), wanted, atol=1e-6 * size)
    seen = features @ (features.T @ step) + levels[q.block[free]]
    assert_allclose(seen, e, atol=1e-5 * size)


def test_large_programs_with_few_features_go_through_the_barrier(rng):
    X, q = random_problem(rng, 500, p=4, C=0.1, n_blocks=4)
    solution = solve_dual_qp(FactorRows(X.T), q, tol=1e-6)
    assert solution.method.startswith("interior point")
    assert solution.n_iter < 60
    assert_certified(X, q, solution, 1e-6)
    for rows, method in (
        (CachedRows(DifferenceRows(X), 1e8), "working sets"),
        (LinearRows(X), "coordinate descent"),
    ):
        other = solve_dual_qp(rows, q, tol=1e-6)
        assert other.method.startswith(method)
        assert_certified(X, q, other, 1e-6)
        assert other.primal == pytest.approx(solution.primal, rel=2e-6)


def test_descent_that_takes_long_gives_way_to_other_parts():
    """A program with many more variables than features, which sweeps solve slowly."""
    X, q = random_problem(np.random.default_rng(16), 500, p=4, C=0.1, n_blocks=4)
    solution = solve_dual_qp(LinearRows(X), q, tol=1e-6)
    assert solution.method.startswith("coordinate descent + ")
    assert 500 <= solution.n_iter < 1000
    assert_certified(X, q, solution, 1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda X: FactorRows(X.T),
        lambda X: FactorRows(np.ascontiguousarray(X.T)),
        lambda X: CachedRows(DifferenceRows(X), 1e8),
        lambda X: CachedRows(DifferenceRows(X), 1e8, np.float32),
        lambda X: CachedRows(DifferenceRows(X), 0.0),
        LinearRows,
        lambda X: LinearRows(sp.csr_array(X)),
    ],
    ids=["view", "factor", "rows", "single", "few rows", "linear", "sparse"],
)
@pytest.mark.parametrize("kind", few([SHARED, OWN]))
def test_the_form_of_the_matrix_does_not_matter(rng, make, kind):
    X, q = random_problem(rng, 360, p=30, C=0.03, n_blocks=3, kind=kind)
    X *= rng.random(X.shape) < 0.5
    reference = solve_dual_qp(LinearRows(X), q, tol=1e-9)
    solution = solve_dual_qp(make(X), q, tol=1e-6)
    assert_certified(X, q, solution, 1e-6)
    assert solution.primal == pytest.approx(reference.primal, rel=2e-6)


@pytest.mark.parametrize("ratio", [0.1, 0.9, 3.0, 1e4])
@pytest.mark.parametrize("kind", [SHARED, OWN])
def test_starting_from_other_bounds_ends_at_the_same_solution(rng, kind, ratio):
    X, q = random_problem(rng, 200, p=5, C=0.1, kind=kind)
    other = blocks(
        q.linear, ratio * q.lower, ratio * q.upper, q.row, q.block, q.loading
    )
    rows = CachedRows(DifferenceRows(X), 1e8)
    last = solve_dual_qp(rows, q, tol=1e-8)
    warm = solve_dual_qp(rows, other, tol=1e-8, last=last)
    cold = solve_dual_qp(rows, other, tol=1e-8)
    assert_certified(X, other, warm, 1e-8)
    assert warm.primal == pytest.approx(cold.primal, rel=1e-7)
    # The solution that was started from is not written to.
    assert_certified(X, q, last, 1e-8)


def test_the_solution_of_the_same_program_is_accepted_at_once(rng):
    X, q = random_problem(rng, 600, p=40, C=1.0)
    rows = CachedRows(DifferenceRows(X), 1e8)
    first = solve_dual_qp(rows, q, tol=1e-4)
    again = solve_dual_qp(rows, q, tol=1e-4, last=first)
    assert again.converged
    assert again.n_iter <= 2 < first.n_iter


def test_a_budget_of_one_iteration_says_that_it_did_not_suffice(rng):
    X, q = random_problem(rng, 800, p=50, C=10.0)
    solution = solve_dual_qp(CachedRows(DifferenceRows(X), 1e8), q, max_iter=1)
    assert not solution.converged
    assert solution.gap > 1e-3
    assert solution.n_iter <= 2
    primal = solution.primal
    assert primal >= solve_dual_qp(FactorRows(X.T), q, tol=1e-6).primal * (1 - 1e-6)


def test_what_rounding_does_not_allow_ends_without_a_long_search(rng):
    X, q = random_problem(rng, 500, p=3, C=1e7, noise=2.0)
    solution = solve_dual_qp(FactorRows(X.T), q, tol=1e-12)
    # A few passes of some hundred rounds without progress, and not all of max_iter.
    assert solution.n_iter < 5000
    assert solution.gap < 1e-6


@given(st.data())
def test_levels_are_the_middle_of_what_is_best(data):
    """Every kink is tried; the loss is convex, so the best ones bound an interval."""
    number = st.integers(-3, 3)
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    m = sum(sizes)
    e = np.array(data.draw(st.lists(number, min_size=m, max_size=m)), dtype=float)
    sign = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=m)))[:m]
    bound = np.array(data.draw(st.lists(st.integers(1, 3), min_size=m)))[:m]
    q = blocks(
        linear=e,
        lower=np.where(sign > 0, 0.0, -bound),
        upper=np.where(sign > 0, bound, 0.0),
        row=np.zeros(m, dtype=int),
        block=np.repeat(np.arange(len(sizes)), sizes),
        loading=np.ones((len(sizes), 1)),
    )
    state = DualState(q, np.zeros(m), np.zeros((1, 1)), np.ones(1))
    for b, level in enumerate(state.levels(e)):
        mine = q.block == b
        upper, lower, kinks = q.upper[mine], q.lower[mine], e[mine]

        def loss(beta, upper=upper, lower=lower, kinks=kinks):
            return upper @ np.maximum(kinks - beta, 0) - lower @ np.maximum(
                beta - kinks, 0
            )

        least = min(loss(k) for k in kinks)
        best = [k for k in kinks if loss(k) <= least + 1e-9]
        assert loss(level) == pytest.approx(least)
        if upper.any() and lower.any():
            assert level == 0.5 * (min(best) + max(best))


def test_pair_steps_keep_every_block_in_balance(rng):
    X, q = random_problem(rng, 30, p=3, C=1.0, n_blocks=4)
    K = (X @ X.T)[np.ix_(q.row, q.row)]
    e, s = q.linear.copy(), np.zeros(q.size)
    steps = solve_blocks(K, e, s, q.lower, q.upper, q.starts, 1e-6, 10**6)
    assert 0 < steps < 10**6
    assert_allclose(e, q.linear - K @ s, atol=1e-9)
    assert_allclose(np.bincount(q.block, s), np.zeros(4), atol=1e-12)
    state = DualState(q, s, np.array([X @ (X.T @ np.bincount(q.row, s))]), np.ones(30))
    assert state.violation(e) <= 1e-6
    # One step is one pair, and that of the block that violates most.
    e, s = q.linear.copy(), np.zeros(q.size)
    e[q.block == 2] *= 5.0
    assert solve_blocks(K, e, s, q.lower, q.upper, q.starts, 1e-6, 1) == 1
    moved = np.flatnonzero(s)
    assert len(moved) == 2
    assert (q.block[moved] == 2).all()


def test_no_warning_leaves_the_solver(rng):
    """Blocks of one side, weights of all sizes, and items that are all zero."""
    X = np.zeros((4, 2))
    q = blocks(
        linear=np.array([1.0, 1.0, 1.0, -1.0]),
        lower=np.array([0.0, 0.0, 0.0, -1e-200]),
        upper=np.array([1e-200, 5.0, 1e-308, 0.0]),
        row=np.arange(4),
        block=np.array([0, 0, 1, 1]),
        loading=np.ones((2, 1)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (FactorRows(X.T), LinearRows(X)):
            solution = solve_dual_qp(rows, q)
            assert solution.converged
            state = fresh(rows, q)
            interior_point(X.T, state, 1e-6)
            assert np.isfinite(state.s).all()
