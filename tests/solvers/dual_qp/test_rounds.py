# SPDX-License-Identifier: BSD-3-Clause
"""Working sets and coordinate descent, against the same steps by whole arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tests.oracles.sweep_plain import sweep_plain
from tests.solvers.dual_qp.test_blocks import OWN, SHARED, fresh, random_problem
from tiebreak.kernels import (
    CachedRows,
    DifferenceRows,
    FunctionKernel,
    ItemRows,
    KernelFunction,
    LinearRows,
)
from tiebreak.solvers import solve_dual_qp
from tiebreak.solvers.dual_qp.problem import DualQP, DualState
from tiebreak.solvers.dual_qp.rounds import (
    Descent,
    _flat_table,
    find_partner,
    find_violation,
    sweep,
)


@pytest.mark.parametrize("kind", [SHARED, OWN])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_a_sweep_is_exact_steps_one_after_the_other(rng, kind, convert):
    X, q = random_problem(rng, 25, p=6, C=0.5, kind=kind, share=0.8)
    X *= rng.random(X.shape) < 0.6
    X[3] = 0.0
    X[7] = X[8]
    bounds, where = np.stack([q.lower, q.upper]), (q.row, q.block)
    curve = np.maximum(q.diagonal((X**2).sum(axis=1)) + 0.3, 1e-12)
    for _ in range(3):
        s, order = rng.uniform(q.lower, q.upper), rng.permutation(q.size)
        weights = (q.collect(s, 25) @ X).copy()
        levels = rng.normal(size=q.n_blocks)
        balance = np.stack([levels, np.bincount(q.block, s, q.n_blocks)])
        expected, before = sweep_plain(X, q, s, levels, 0.3, order), s.copy()
        sweep(
            _flat_table(convert(X)), weights, s, bounds, q.linear, where, q.loads,
            curve, balance, (order, 0.3),
        )  # fmt: skip
        assert np.abs(s - before).max() > 0.01
        assert_allclose(s, expected, atol=1e-12)
        assert_allclose(weights, q.collect(s, 25) @ X, atol=1e-10)
        assert_allclose(balance, [levels, np.bincount(q.block, s)], atol=1e-12)


@pytest.mark.parametrize("kind", [SHARED, OWN])
def test_descent_reaches_what_the_whole_solver_reaches(rng, kind):
    X, q = random_problem(rng, 100, p=100, C=0.2, kind=kind, share=0.9)
    state = fresh(LinearRows(X), q)
    assert Descent(LinearRows(X), state).run(1e-8, 10**9, 10**5) <= 1e-8
    reference = solve_dual_qp(CachedRows(DifferenceRows(X), 1e8), q, tol=1e-10)
    levels, _, dual, gap = state.certificate()
    assert gap <= 1e-7
    assert dual == pytest.approx(reference.dual, rel=1e-8)
    assert_allclose(levels, reference.levels, atol=1e-5)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_rows_kept_in_single_precision_are_certified_in_double(rng, tol):
    X, q = random_problem(rng, 100, p=8, C=0.2)
    exact = ItemRows(FunctionKernel(KernelFunction("rbf", 0.1), X))
    rows = CachedRows(exact, 1e8, np.float32)
    found = solve_dual_qp(rows, q, tol=tol)
    assert rows.whole and found.converged
    state = DualState(q, found.s, exact.product(found.coef[0])[None], np.ones(100))
    assert_allclose(found.fitted, state.f, rtol=1e-12)
    assert found.gap == pytest.approx(state.certificate()[3], abs=1e-12)


def test_descent_goes_on_from_where_others_have_moved_the_point(rng):
    X, q = random_problem(rng, 80, p=60, C=0.3)
    rows = LinearRows(X)
    state = fresh(rows, q)
    descent = Descent(rows, state)
    descent.run(1e-9, 10**9, 2)
    assert descent.n_rounds == 2
    state.s *= 0.5
    state.f *= 0.5
    assert descent.run(1e-6, 10**9, 10**4) <= 1e-6
    assert_allclose(state.f[0], X @ (X.T @ np.bincount(q.row, state.s)), atol=1e-9)
    assert_allclose(np.bincount(q.block, state.s), np.zeros(3), atol=1e-12)
    assert state.certificate()[3] <= 1e-5


@pytest.mark.parametrize("C", [1e-20, 1e-10, 1e-4])
def test_at_a_tiny_C_all_variables_stay_at_their_bounds(rng, C):
    # Both sides weigh the same up to rounding, so the best s is bounds everywhere.
    Z, weight = rng.normal(size=(1200, 8)), rng.uniform(0.5, 1.5, 1200)
    weight[600:] *= weight[:600].sum() / weight[600:].sum()
    sign = np.repeat([1.0, -1.0], 600)
    edge = sign * C * weight
    q = DualQP(
        linear=sign,
        lower=np.minimum(edge, 0.0),
        upper=np.maximum(edge, 0.0),
        row=np.arange(1200),
        sign=np.ones(1200),
        block=np.zeros(1200, dtype=np.int64),
        loading=np.ones((1, 1)),
        balanced=True,
    )
    found = solve_dual_qp(LinearRows(Z), q, max_iter=50)
    assert found.converged
    assert_allclose(found.s, edge, rtol=1e-12)


@pytest.fixture
def case(rng):
    """Twelve variables, a third of them at either bound."""
    features = rng.normal(size=(12, 5))
    s = np.repeat([-1.0, 0.0, 2.0], 4)
    return features @ features.T, rng.normal(size=12), s, np.full(12, -1.0)


def test_the_first_variable_violates_most(case):
    _, e, s, lower = case
    i, violation = find_violation(e, s, lower, np.full(12, 2.0))
    assert i == np.where(s < 2.0, e, -np.inf).argmax()
    assert violation == e[s < 2.0].max() - e[s > -1.0].min()


def test_without_room_to_grow_there_is_no_first_variable(case):
    _, e, s, lower = case
    assert find_violation(e, s, lower, s)[0] == -1


def test_the_second_variable_gains_most(case):
    K, e, s, lower = case
    i = int(e.argmax())
    curve = K[i, i] + np.diag(K) - 2.0 * K[i]
    curve[i] = 1.0
    gain = np.where((s > lower) & (e < e[i]), (e[i] - e) ** 2 / curve, 0.0)
    j = find_partner(K[i], np.diag(K).copy(), e, s, lower, K[i, i], e[i])
    assert j == gain.argmax()
    assert find_partner(K[i], np.diag(K).copy(), e, lower, lower, K[i, i], e[i]) == -1
