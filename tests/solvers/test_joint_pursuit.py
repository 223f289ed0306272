# SPDX-License-Identifier: BSD-3-Clause
"""The joint pursuit against numerical minimization of J for every candidate."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles import pursuit as plain
from tests.solvers.test_pursuit import Squares
from tiebreak.kernels import MatrixDictionary
from tiebreak.solvers import JointProblem, joint_pursuit, pursue_jointly

N, L = 7, 6  # rows of the target and of the agreement


def make(rng, M, m, nu, *, others=True):
    """Views, pair rows of both kinds over all rows, targets, and the problem."""
    n = N + (L if others else 0)
    K = [rng.normal(size=(n, m)) for _ in range(M)]
    target = np.hstack([rng.normal(size=(8, N)), np.zeros((8, n - N))])
    agree = target
    if others:
        agree = np.hstack([np.zeros((5, N)), rng.normal(size=(5, L))])
    s = np.concatenate([rng.normal(size=N), np.zeros(n - N)])
    B, own = target[:, :N], target @ s
    at = slice(N, None) if others else slice(0, N)
    problem = JointProblem(
        [MatrixDictionary(np.ascontiguousarray(k.T)) for k in K],
        Squares(B),
        B.T @ own,
        float(own @ own),
        Squares(agree[:, at]),
        nu,
        slice(0, N),
        at,
    )
    return K, target, agree, s, problem


def pursue(problem, steps, averaged, shared, cache_bytes=1e6):
    return pursue_jointly(
        problem,
        n_steps=steps,
        averaged=averaged,
        shared=shared,
        cache_bytes=cache_bytes,
    )


@pytest.mark.extended
@pytest.mark.parametrize("nu", [0.0, 0.3, 20.0])
@pytest.mark.parametrize("shared", [False, True], ids=["free", "shared"])
@pytest.mark.parametrize("averaged", [False, True], ids=["functions", "increments"])
def test_two_views_equal_a_numerical_minimizer(rng, nu, shared, averaged):
    K, target, agree, s, problem = make(rng, 2, 4, nu)
    chosen, increments, f = plain.joint_greedy(
        K, target, agree, s, nu, 3, averaged=averaged, shared=shared
    )
    found = pursue(problem, 3, averaged, shared)
    assert_array_equal(found.columns, chosen)
    assert_allclose(found.increments, increments, atol=1e-5)
    J = sum(np.sum((target @ (s - own)) ** 2) for own in f)
    J += nu * sum(np.sum((agree @ (one - two)) ** 2) for one in f for two in f)
    assert_allclose(found.objective[-1], J, rtol=1e-5)


@pytest.mark.extended
@pytest.mark.parametrize("shared", [False, True], ids=["free", "shared"])
@pytest.mark.parametrize("others", [True, False])
def test_three_views_equal_a_numerical_minimizer(rng, shared, others):
    K, target, agree, s, problem = make(rng, 3, 3, 0.5, others=others)
    chosen, increments, _ = plain.joint_greedy(
        K, target, agree, s, 0.5, 2, averaged=False, shared=shared
    )
    found = pursue(problem, 2, False, shared)
    assert_array_equal(found.columns, chosen)
    assert_allclose(found.increments, increments, atol=1e-5)


def test_little_memory_changes_nothing(rng):
    *_, problem = make(rng, 2, 70, 0.4)
    one, two = (pursue(problem, 4, False, False, cache) for cache in (1e6, 1.0))
    assert_array_equal(one.columns, two.columns)
    assert_allclose(one.increments, two.increments, rtol=1e-9)


def test_searching_by_turns_ends_where_no_single_column_is_better(rng, monkeypatch):
    _, _, _, _, problem = make(rng, 3, 6, 2.0)
    every = pursue(problem, 1, False, False)
    monkeypatch.setattr(joint_pursuit, "ENUMERATED", 0)
    turns = pursue(problem, 1, False, False)
    fall = every.objective[0] - every.objective[1]
    assert 0.5 * fall < turns.objective[0] - turns.objective[1] <= fall * (1 + 1e-12)

    def value(columns):
        f = np.zeros((3, N + L))
        candidate = np.array(columns)
        q = problem.pulls(f, averaged=False)
        e = np.array(
            [problem.views[v].products(q[v])[c] for v, c in enumerate(columns)]
        )
        A = np.zeros((3, 3))
        k = [problem.views[v].columns(candidate[v : v + 1])[0] for v in range(3)]
        for v, u in itertools.product(range(3), repeat=2):
            shared = k[v][N:] @ problem.agreement.product(k[u][N:])
            A[v, u] = -2 * 2.0 * shared
            if v == u:
                own = k[v][:N] @ problem.form.product(k[v][:N])
                A[v, v] = own + 2 * 2.0 * 2 * shared
        return e @ np.linalg.solve(A, e)

    reached = value(turns.columns[0])
    assert_allclose(reached, turns.objective[0] - turns.objective[1], rtol=1e-9)
    for v, j in itertools.product(range(3), range(6)):
        other = turns.columns[0].copy()
        other[v] = j
        assert value(other) <= reached * (1 + 1e-9)


@pytest.mark.parametrize("shared", [False, True], ids=["free", "shared"])
def test_columns_that_the_target_does_not_see_are_never_taken(rng, shared):
    *_, problem = make(rng, 2, 5, 1.0)
    for view in problem.views:
        view._kept[2, :N] = 0.0
    found = pursue(problem, 6, False, shared)
    assert 2 not in found.columns
    problem.views[1]._kept[:, :N] = 0.0
    nothing = pursue(problem, 6, False, shared)
    assert nothing.columns.shape == (0, 2)
    assert nothing.exhausted
