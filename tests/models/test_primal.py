# SPDX-License-Identifier: BSD-3-Clause
"""Solving by one step where that is enough, and never by less than one."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tiebreak.losses import GradeHinge, GradeSquaredHinge, GradeTree
from tiebreak.models.primal import solve_primal
from tiebreak.solvers import BundleSolution, NewtonSolution, minimize_bundle

RANKER = SimpleNamespace(tol=1e-9, max_iter=1000)


@pytest.fixture(scope="module")
def program():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 3))
    y = np.round(A @ [1.0, 0.5, 0.0] + rng.normal(size=40))
    return A, GradeTree(y, np.repeat([0, 1], 20), np.ones(40))


@pytest.mark.parametrize("slope", [1.0, 2.0])
@pytest.mark.parametrize("C", np.logspace(-5, -1, 17))
def test_a_small_c_is_solved_by_one_step_and_only_then(program, slope, C):
    A, tree = program
    loss = GradeHinge(tree, slope=slope)
    found, _ = solve_primal(RANKER, A, loss, C)
    expected = minimize_bundle(A, loss, C, tol=1e-9, max_iter=1000)
    assert found.value == pytest.approx(expected.value, rel=3e-9)
    assert_allclose(found.x, expected.x, atol=2e-4 * np.abs(expected.x).max())
    utility = A @ found.x
    value, subgradient = loss.expand(utility)
    assert found.value == pytest.approx(0.5 * found.x @ found.x + C * value)
    if not isinstance(found, BundleSolution):
        assert_allclose(-C * A.T @ subgradient, found.x, rtol=1e-12)


def test_the_step_is_taken_where_it_can_be(program):
    A, tree = program
    at_once = [
        isinstance(solve_primal(RANKER, A, GradeHinge(tree), C)[0], NewtonSolution)
        for C in np.logspace(-5, -1, 17)
    ]
    assert at_once == sorted(at_once, reverse=True)
    assert 2 < sum(at_once) < 15


def test_zero_is_no_answer_though_it_is_within_the_tolerance(program):
    A, tree = program
    loss = GradeSquaredHinge(tree)
    loose = SimpleNamespace(tol=0.5, max_iter=1000)
    found, _ = solve_primal(loose, A, loss, 1e-9)
    exact, _ = solve_primal(RANKER, A, loss, 1e-9)
    assert found.converged
    assert_allclose(found.x, exact.x, rtol=0.2)
    assert np.abs(found.x).min() > 0
