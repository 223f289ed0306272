# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, minimize

from tiebreak.solvers.simplex_qp import (
    SimplexProgram,
    drop_free,
    solve_lower,
    solve_upper,
)


def start(k):
    program = SimplexProgram(k)
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
    program = SimplexProgram(20)
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
