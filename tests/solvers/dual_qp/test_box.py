# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.box_qp_dense import maximize_box, primal
from tests.solvers.dual_qp.problems import box
from tiebreak.kernels import CachedRows, DifferenceRows, FactorRows, make_rows
from tiebreak.solvers import solve_dual_qp
from tiebreak.solvers.dual_qp.active_set import ActiveSet
from tiebreak.solvers.dual_qp.interior_point import interior_point
from tiebreak.solvers.dual_qp.problem import DualState
from tiebreak.solvers.dual_qp.rounds import WorkingSets


def random_problem(rng, n, *, p, C, balanced, share_rows=True):
    """A noisy comparison program: a tie and its mirror share a row."""
    Z = rng.normal(size=(n, p))
    row = np.arange(n)
    size = Z @ rng.normal(size=p) / np.sqrt(p) + 0.3 * rng.normal(size=n)
    sign = np.where(size > 0, 1.0, -1.0)
    label = np.ones(n)
    if share_rows:
        # Half ties: with few of them the best f is zero.
        tied = np.flatnonzero(np.abs(size) < np.median(np.abs(size)))
        label[tied] = -1.0
        row = np.concatenate([row, tied])
        sign = np.concatenate([sign, -sign[tied]])
        label = np.concatenate([label, -np.ones(len(tied))])
    bound = C * rng.uniform(0.5, 1.5, len(row))
    if not balanced:
        label = np.abs(label)
    problem = box(
        linear=label,
        lower=np.where(label > 0, 0.0, -bound),
        upper=np.where(label > 0, bound, 0.0),
        row=row,
        sign=sign,
        balanced=balanced,
    )
    return Z, problem


def dense(Z, q):
    signed = q.sign[:, None] * Z[q.row]
    return signed @ signed.T


def assert_feasible(q, s):
    assert (s >= q.lower).all()
    assert (s <= q.upper).all()
    if q.balanced:
        assert abs(s.sum()) <= 1e-9 * np.abs(s).sum() + 1e-300


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("p", [2, 40])
def test_equals_a_general_solver(rng, p, C, balanced):
    Z, q = random_problem(rng, 25, p=p, C=C, balanced=balanced)
    solution = solve_dual_qp(make_rows(DifferenceRows(Z)), q, tol=1e-8)
    K = dense(Z, q)
    _, best = maximize_box(K, q.linear, q.lower, q.upper, balanced)
    assert_feasible(q, solution.s)
    assert solution.converged
    assert solution.gap <= 1e-8
    assert solution.dual >= best - 1e-6 * abs(best)
    # The certificate is true: it is recomputed here from the dense matrix.
    s = solution.s
    assert solution.dual == pytest.approx(q.linear @ s - 0.5 * s @ K @ s, rel=1e-9)
    value = primal(K, q.linear, q.lower, q.upper, s, balanced)
    assert solution.primal == pytest.approx(value, rel=1e-9)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    p=st.integers(1, 4),
    log_c=st.integers(-4, 4),
    balanced=st.booleans(),
)
def test_certified_on_small_and_degenerate_programs(seed, n, p, log_c, balanced):
    rng = np.random.default_rng(seed)
    Z, q = random_problem(rng, n, p=p, C=10.0**log_c, balanced=balanced)
    # Duplicated and zero rows make the matrix singular in every way.
    Z[rng.random(n) < 0.3] = Z[0]
    Z[rng.random(n) < 0.2] = 0.0
    solution = solve_dual_qp(make_rows(DifferenceRows(Z)), q, tol=1e-6)
    assert_feasible(q, solution.s)
    assert solution.converged, solution
    K = dense(Z, q)
    value = primal(K, q.linear, q.lower, q.upper, solution.s, balanced)
    dual = q.linear @ solution.s - 0.5 * solution.s @ K @ solution.s
    assert value - dual <= 1e-6 * max(value, 0) + 1e-12 * (1 + 10.0**log_c)


@pytest.mark.parametrize("p", [110, 300])
def test_every_part_reaches_the_same_optimum(rng, p):
    """Working sets, interior point and active set agree on one program.

    With more features than comparisons the best intercept is -1 and both directions of
    a tie are free; with fewer only one of them is.
    """
    Z, q = random_problem(rng, 120, p=p, C=5.0, balanced=True)
    source = DifferenceRows(Z)
    rows = CachedRows(source, 1e8)
    n = rows.n_rows

    def fresh():
        return DualState(q, np.zeros(q.size), np.zeros((1, n)), source.diagonal())

    reference = solve_dual_qp(rows, q, tol=1e-10).dual
    by_sets = fresh()
    WorkingSets(rows, by_sets).run(1e-9, 10**7, 10**5)
    by_barrier = fresh()
    interior_point(np.ascontiguousarray(Z.T), by_barrier, 1e-6)
    assert by_barrier.certificate()[2] == pytest.approx(reference, rel=1e-4)
    assert ActiveSet(rows, by_barrier).settle(1e-9)
    by_newton = fresh()
    WorkingSets(rows, by_newton).run(0.1, 10**7, 10**5)
    rough = by_newton.certificate()[2]
    assert ActiveSet(rows, by_newton).settle(1e-9)
    for state in (by_sets, by_barrier, by_newton):
        assert_feasible(q, state.s)
        _, _, dual, gap = state.certificate()
        assert dual == pytest.approx(reference, rel=1e-8)
        assert gap < 1e-6
    assert rough < reference * (1 - 1e-9)


def test_active_set_leaves_a_far_point_untouched(rng):
    Z, q = random_problem(rng, 60, p=2, C=100.0, balanced=True)
    source = DifferenceRows(Z)
    rows = CachedRows(source, 1e8)
    state = DualState(q, np.zeros(q.size), np.zeros((1, 60)), source.diagonal())
    WorkingSets(rows, state).run(1.0, 50, 1)
    before = state.s.copy(), state.f.copy()
    if not ActiveSet(rows, state).settle(1e-6, max_systems=2):
        np.testing.assert_array_equal(state.s, before[0])
        np.testing.assert_array_equal(state.f, before[1])


def test_small_working_sets_and_small_cache(rng):
    """A cache of 64 rows gives the same optimum as one that holds everything."""
    Z, q = random_problem(rng, 700, p=900, C=1.0, balanced=True)
    large = solve_dual_qp(CachedRows(DifferenceRows(Z), 1e9), q, tol=1e-4)
    tight = CachedRows(DifferenceRows(Z), 1.0)
    assert tight.capacity == 64
    small = solve_dual_qp(tight, q, tol=1e-4)
    assert small.converged
    assert small.dual == pytest.approx(large.dual, rel=1e-4)


def test_single_precision_rows_are_certified_in_double(rng):
    Z, q = random_problem(rng, 300, p=400, C=50.0, balanced=True)
    exact = solve_dual_qp(CachedRows(DifferenceRows(Z), 1e9, np.float64), q, tol=1e-7)
    single = solve_dual_qp(CachedRows(DifferenceRows(Z), 1e9, np.float32), q, tol=1e-5)
    assert single.converged
    K = dense(Z, q)
    value = primal(K, q.linear, q.lower, q.upper, single.s, True)
    assert single.primal == pytest.approx(value, rel=1e-9)
    assert single.dual == pytest.approx(exact.dual, rel=2e-5)


def test_warm_start_needs_fewer_iterations(rng):
    Z, q = random_problem(rng, 800, p=60, C=1.0, balanced=True)
    rows = make_rows(DifferenceRows(Z))
    cold = solve_dual_qp(rows, q, tol=1e-4)
    again = solve_dual_qp(rows, q, tol=1e-4, last=cold)
    assert cold.n_iter > 1
    assert again.n_iter <= 2
    assert again.dual >= cold.dual * (1 - 1e-12)


@pytest.mark.parametrize("factor", [0.01, 0.5, 3.0, 1000.0])
@pytest.mark.parametrize("p", [4, 90])
def test_warm_start_from_other_bounds(rng, p, factor):
    """Wherever it starts, the optimum is the same."""
    Z, q = random_problem(rng, 150, p=p, C=1.0, balanced=True)
    rows = make_rows(DifferenceRows(Z))
    last = solve_dual_qp(rows, q, tol=1e-6)
    other = box(
        q.linear, factor * q.lower, factor * q.upper, q.row, q.sign, balanced=True
    )
    warm = solve_dual_qp(rows, other, tol=1e-6, last=last)
    cold = solve_dual_qp(rows, other, tol=1e-6)
    assert warm.converged
    assert_feasible(other, warm.s)
    assert warm.dual == pytest.approx(cold.dual, rel=1e-6)


def test_gap_is_reported_when_iterations_run_out(rng):
    Z, q = random_problem(rng, 1500, p=30, C=1000.0, balanced=True)
    rows = CachedRows(DifferenceRows(Z), 1e8)
    solution = solve_dual_qp(rows, q, tol=1e-9, max_iter=1)
    assert not solution.converged
    assert solution.gap > 1e-9
    assert_feasible(q, solution.s)


def test_level_is_the_midpoint_without_free_variables():
    """All variables at a bound: any level between 0 and 2 is optimal."""
    Z = np.array([[1.0], [0.0]])
    q = box(
        linear=np.array([1.0, -1.0]),
        lower=np.array([0.0, -0.25]),
        upper=np.array([0.25, 0.0]),
        row=np.array([0, 1]),
        sign=np.ones(2),
        balanced=True,
    )
    solution = solve_dual_qp(make_rows(DifferenceRows(Z)), q)
    np.testing.assert_allclose(solution.s, [0.25, -0.25])
    # e = (1 - 0.25, -1): the loss is flat in between.
    assert solution.levels == pytest.approx([0.5 * (0.75 - 1.0)])


def test_tolerance_follows_tiny_bounds(rng):
    """At C = 1e-20 the utility is that of C = 1e-10, scaled."""
    Z, q = random_problem(rng, 60, p=5, C=1.0, balanced=True)
    # Zero for the outcome that has variables to spare.
    y = q.linear + np.sign(-q.lower.sum() - q.upper.sum())
    found = []
    for C in (1e-10, 1e-20):
        scaled = box(y, C * q.lower, C * q.upper, q.row, q.sign, balanced=True)
        solution = solve_dual_qp(make_rows(DifferenceRows(Z)), scaled, tol=1e-9)
        found.append(solution.fitted / C)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-6)
    assert np.abs(found[0]).max() > 0.1


def test_factor_rows_are_used_by_the_interior_point(rng):
    Z, q = random_problem(rng, 600, p=3, C=1e4, balanced=True)
    rows = make_rows(DifferenceRows(Z))
    assert isinstance(rows, FactorRows)
    solution = solve_dual_qp(rows, q, tol=1e-6)
    assert solution.converged
    assert "interior point" in solution.method


def test_another_program_on_the_same_rows_has_another_block(rng):
    """What a solver keeps with the matrix is not used for other rows or signs."""
    Z, q = random_problem(rng, 60, p=8, C=1.0, balanced=True)
    rows = make_rows(DifferenceRows(Z))
    for row, sign in [
        (q.row, q.sign),
        (q.row, np.where(np.arange(q.size) % 2, -q.sign, q.sign)),
        (q.row[::-1], q.sign),
    ]:
        other = replace(q, row=row, sign=sign)
        state = DualState(other, np.zeros(q.size), np.zeros((1, 60)), rows.diagonal())
        np.testing.assert_array_equal(
            WorkingSets(rows, state)._matrix(np.arange(q.size)),
            rows.block(row, sign, np.float64),
        )


def test_rounding_is_no_violation():
    """Features of 1e-9: gradients of 1 and of 1e-18 meet, and rounding is left over."""
    Z = 1e-9 * np.array([[1.0, -1.0, 2.0], [2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    q = box(
        linear=np.array([1.0, -1.0, -1.0, -1.0, -1.0]),
        lower=np.array([0.0, -0.2, -0.1, -0.2, -0.1]),
        upper=np.array([0.9, 0.0, 0.0, 0.0, 0.0]),
        row=np.array([0, 1, 2, 1, 2]),
        sign=np.array([1.0, 1.0, 1.0, -1.0, -1.0]),
        balanced=True,
    )
    state = DualState(q, np.zeros(5), np.zeros((1, 3)), (Z**2).sum(1))
    # Either side may be off by four units in the last place, six are of both.
    further = 1.0 + 6 * np.finfo(float).eps
    e = np.array([0.0, -1.0, -further, -1.0, -1.0])
    state.s[:] = [0.9, -0.1, -0.05, -0.1, -0.05]
    assert state.violation(e) == 0.0
    e[2] -= 1e-12
    assert state.violation(e) == pytest.approx(1e-12, rel=1e-2)
