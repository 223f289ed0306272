# SPDX-License-Identifier: BSD-3-Clause
"""The bundle of linear programs finds the optimum of the whole program."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tests.solvers.absolute_errors import AbsoluteErrors
from tiebreak.solvers import LinearProgram, LPBundle, Plane, SlackRows
from tiebreak.solvers.linear_program import lower_bound


def make(rng, n=80, q=4):
    A = rng.uniform(-1, 1, (n, q))
    b = A @ np.linspace(0.0, 2.0, q) + 0.3 * rng.normal(size=n)
    return AbsoluteErrors(A, b)


@pytest.mark.parametrize("max_rows", [4, 20, 1000])
def test_parts_have_the_optimum_of_the_whole(max_rows, rng):
    risk = make(rng)
    bundle = LPBundle(risk, 4, max_rows=max_rows)
    for p in (0.3, 0.05, 0.0):
        penalty = np.full(4, p)
        # Without a penalty no multiplier may be off, and those of HiGHS are, a little.
        found = bundle.minimize(penalty, tol=1e-10 if p else 1e-7)
        expected, x = risk.solve(penalty)
        assert found.converged and found.status == "optimal"
        assert_allclose(found.value, expected, rtol=1e-9)
        assert_allclose(found.x, x, atol=1e-7)
        assert_allclose(found.value, penalty @ np.abs(found.x) + found.risk)
        assert found.lower_bound <= expected * (1 + 1e-12)
        # The certificate: a plane nowhere above the risk, not steeper than the penalty.
        assert (np.abs(found.plane.a) <= penalty + 1e-9).all()
        for point in rng.normal(size=(50, 4)):
            assert found.plane.a @ point + found.plane.b <= risk.expand(point)[0] + 1e-9


def test_free_variables_and_their_order(rng):
    risk = make(rng)
    # The last two are free and must be in the other order than they would be.
    G = sp.csr_array(np.array([[0.0, 0.0, 1.0, -1.0]]))
    found = LPBundle(risk, 2, G, max_rows=20).minimize(np.full(2, 0.05), tol=1e-9)
    penalty = np.array([0.05, 0.05, 0.0, 0.0])
    expected, x = risk.solve(penalty, G.toarray())
    assert_allclose(found.value, expected, rtol=1e-8)
    assert_allclose(found.x, x, atol=1e-6)
    assert found.gap <= 1e-9


def test_it_stops_when_told_and_says_what_is_left(rng):
    risk = make(rng, 400, 8)
    bundle = LPBundle(risk, 8, max_rows=10)
    found = bundle.minimize(np.full(8, 0.01), tol=1e-9, max_iter=3)
    assert (found.status, found.n_iter, found.converged) == ("iterations", 3, False)
    expected = risk.solve(np.full(8, 0.01))[0]
    assert found.lower_bound <= expected <= found.value
    assert_allclose(found.gap, (found.value - found.lower_bound) / found.value)
    found = bundle.minimize(np.full(8, 0.01), tol=1e-9, time_limit=1e-9)
    assert found.status == "time limit"
    assert found.lower_bound <= expected <= found.value


def test_multipliers_are_made_admissible():
    S = sp.csr_array(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    D = sp.csr_array(np.ones((3, 1)))
    rows = SlackRows(D, S, np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5]))
    kept = rows.admit(np.array([0.8, 0.8, -0.1]))
    assert (kept >= 0).all()
    assert (S.T @ kept <= rows.cost + 1e-15).all()
    fine = np.array([0.2, 0.3, 0.1])
    assert_allclose(rows.admit(fine), fine)
    plane = rows.plane(fine)
    assert_allclose([plane.a[0], plane.b], [-0.6, 0.2 + 0.6 + 0.3])


def test_a_steep_plane_proves_less():
    none = sp.csr_array((0, 3))
    penalty = np.array([1.0, 2.0])
    gentle = Plane(np.array([1.0, -2.0, 0.0]), 0.7)
    assert lower_bound(gentle, penalty, none, np.zeros(0), 10.0)[0] == 0.7
    steep = Plane(np.array([2.0, -2.0, 0.0]), 0.7)
    bound, plane = lower_bound(steep, penalty, none, np.zeros(0), 10.0)
    assert_allclose([bound, *plane.a], [0.35, 1.0, -1.0, 0.0])
    tilted = Plane(np.array([1.0, -2.0, 0.01]), 0.7)
    assert_allclose(lower_bound(tilted, penalty, none, np.zeros(0), 10.0)[0], 0.6)


def test_what_rounding_leaves_of_a_weight_is_zero(rng, monkeypatch):
    # Weights of some thousands, and a program that is off by a part in 10¹² of them.
    A = rng.uniform(-1, 1, (80, 4))
    risk = AbsoluteErrors(A, A @ [5e3, 0.0, 0.0, 2e3] + rng.normal(size=80))
    solve = LinearProgram.solve

    def rounded(self, *args):
        solution = solve(self, *args)
        positive = np.where(solution.x[:4] == 0, 1e-9, solution.x[:4])
        return replace(solution, x=np.append(positive, solution.x[4:]))

    monkeypatch.setattr(LinearProgram, "solve", rounded)
    penalty = np.array([0.01, 20.0, 20.0, 0.01])
    solution = LPBundle(risk, 4, max_rows=1000).minimize(penalty, tol=1e-8)
    assert solution.x[1] == solution.x[2] == 0.0
    assert (np.abs(solution.x[[0, 3]]) > 1e3).all()
