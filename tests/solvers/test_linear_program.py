# SPDX-License-Identifier: BSD-3-Clause
"""One HiGHS object, changed and solved again, gives what a new one gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from tiebreak.solvers import LinearProgram


def random_program(rng, m=12, n=6):
    """Make a program with a solution: x = 1 is feasible, and x ≥ 0 with costs > 0."""
    A = rng.normal(size=(m, n))
    return rng.uniform(0.5, 2.0, n), A, A.sum(axis=1) - rng.uniform(0, 1, m)


def by_scipy(cost, A, lower, bounds=(0, None)):
    found = linprog(cost, A_ub=-A, b_ub=-lower, bounds=bounds)
    assert found.status == 0
    return found.fun


def test_solutions_and_their_certificates(rng):
    for convert in (np.asarray, sp.csr_array):
        cost, A, lower = random_program(rng)
        solution = LinearProgram(cost, convert(A), lower).solve()
        assert solution.status == "optimal"
        assert_allclose(solution.objective, by_scipy(cost, A, lower), rtol=1e-9)
        assert solution.gap <= 1e-9
        # The multipliers by themselves: y ≥ 0, Aᵀy ≤ cost, b·y the optimum.
        assert (solution.row_dual >= -1e-10).all()
        assert (A.T @ solution.row_dual <= cost + 1e-9).all()
        assert_allclose(lower @ solution.row_dual, solution.objective, rtol=1e-8)


def test_changes_are_the_changed_program(rng):
    cost, A, lower = random_program(rng)
    program = LinearProgram(cost, A, lower)
    program.solve()
    other = rng.uniform(0.5, 2.0, len(cost))
    program.change_costs(other)
    assert_allclose(
        program.solve("primal").objective, by_scipy(other, A, lower), rtol=1e-9
    )
    program.change_costs([3.0], [2])
    other[2] = 3.0
    more, right = random_program(rng, 4)[1:]
    program.add_rows(more, right)
    taller, sides = np.vstack([A, more]), np.append(lower, right)
    assert program.n_rows == 16
    assert_allclose(
        program.solve("dual").objective, by_scipy(other, taller, sides), rtol=1e-9
    )
    program.change_bounds([0.5], [2.0], [0])
    bounds = [(0.5, 2.0)] + [(0, None)] * 5
    solution = program.solve("dual")
    assert_allclose(solution.objective, by_scipy(other, taller, sides, bounds))
    assert solution.gap <= 1e-9


def test_warm_starts_need_fewer_iterations(rng):
    cost, A, lower = random_program(rng, 200, 40)
    program = LinearProgram(cost, A, lower)
    cold = program.solve().n_iter
    program.change_costs(cost * rng.uniform(0.99, 1.01, len(cost)))
    assert program.solve("primal").n_iter < 0.5 * cold


def test_variables_that_do_not_pay_are_exactly_zero(rng):
    cost, A, lower = random_program(rng, 3, 30)
    x = LinearProgram(cost, A, lower).solve().x
    assert np.sum(x == 0.0) >= 27


@pytest.mark.parametrize(
    ("A", "lower", "upper", "status"),
    [
        ([[1.0]], 2.0, 1.0, "infeasible"),
        ([[0.0]], -1.0, np.inf, "unbounded"),
    ],
)
def test_programs_without_a_solution_say_so(A, lower, upper, status):
    solution = LinearProgram([-1.0], A, lower, upper).solve()
    assert status in solution.status
    assert solution.gap == np.inf


def test_a_time_limit_is_counted_from_each_call(rng):
    cost, A, lower = random_program(rng, 600, 300)
    program = LinearProgram(cost, A, lower)
    assert program.solve(time_limit=1e-9).status == "time limit"
    assert program.solve(time_limit=60.0).status == "optimal"
    assert_array_equal(program.solve(time_limit=60.0).x >= 0, True)
