# SPDX-License-Identifier: BSD-3-Clause
"""Systems of penalized least squares, by every method."""

import numpy as np
import pytest
import scipy.linalg as la
from numpy.testing import assert_allclose

from tiebreak.solvers.ridge import RidgeSystem, solve_by_products, thin_inverse


@pytest.fixture
def Z(rng):
    return rng.normal(size=(30, 12)) * np.logspace(0, -4, 12)


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 100.0])
def test_methods_agree_with_least_squares(Z, rng, alpha):
    t = rng.normal(size=30)
    stacked = np.vstack([Z, np.sqrt(alpha) * np.eye(12)])
    expected = la.lstsq(stacked, np.append(t, np.zeros(12)))[0]
    columns = RidgeSystem(Z.T @ Z, Z.T @ t)
    rows = RidgeSystem(Z @ Z.T, t)
    one, many = columns.solve(alpha), columns.solve_again(alpha)
    assert (one.method, many.method) == ("cholesky", "eigen")
    for x in (one.x, many.x, columns.inverse(alpha) @ columns.h):
        assert_allclose(x, expected, rtol=1e-6)
    for b in (rows.solve(alpha).x, rows.solve_again(alpha).x):
        assert_allclose(Z.T @ b, expected, rtol=1e-6, atol=1e-8)
    assert one.residual <= 1e-20 * (t @ t)
    assert one.n_dropped == many.n_dropped == 0


@pytest.mark.parametrize("alpha", [1.0, 1e-14])
def test_a_factor_leaves_the_matrix_as_it_was(rng, alpha):
    """Also one that fails, because the matrix is not positive."""
    Z = rng.normal(size=(300, 200))
    H = Z @ Z.T - 1e-9 * np.eye(300)
    H = 0.5 * (H + H.T)
    system = RidgeSystem(H.copy(), Z[:, 0])
    system.floor = 0.0
    assert system.solve(alpha).method == ("cholesky" if alpha == 1.0 else "eigen")
    np.testing.assert_array_equal(system.H, H)


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_conjugate_gradients(Z, rng, alpha):
    t = rng.normal(size=30)
    direct = RidgeSystem(Z @ Z.T, t).solve(alpha)
    plain = {"product": lambda v: Z @ (Z.T @ v), "h": t, "alpha": alpha}

    def allowed(x, residual):
        return 1e-20

    slow = solve_by_products(
        **plain, precondition=np.copy, allowed=allowed, max_iter=500
    )
    fast = solve_by_products(
        **plain,
        precondition=thin_inverse(Z, alpha),
        allowed=allowed,
        max_iter=500,
    )
    for found in (slow, fast):
        assert_allclose(found.x, direct.x, rtol=1e-6, atol=1e-8)
        true = t - (Z @ (Z.T @ found.x) + alpha * found.x)
        assert found.residual == true @ true <= 1e-20
        assert found.method == "cg"
    # With the exact inverse one step is enough, and one more for its rounding.
    assert fast.n_iter <= 2 < slow.n_iter
    short = solve_by_products(
        **plain, precondition=np.copy, allowed=allowed, max_iter=1
    )
    assert short.n_iter == 1
    assert short.residual > 1e-20


def test_a_penalty_lost_in_rounding_gives_the_smallest_solution(rng):
    Z = rng.normal(size=(30, 4))[:, [0, 1, 2, 3, 3, 0]]
    t = rng.normal(size=30)
    system = RidgeSystem(Z.T @ Z, Z.T @ t)
    expected = np.linalg.pinv(Z) @ t
    for alpha in (1e-300, 1e-30, 1e-18):
        assert alpha < system.floor
        for found in (system.solve(alpha), system.solve_again(alpha)):
            assert_allclose(found.x, expected, rtol=1e-9)
            assert found.n_dropped == 2
        with pytest.raises(la.LinAlgError, match="lost in rounding"):
            system.inverse(alpha)


def test_nothing_at_all():
    system = RidgeSystem(np.zeros((3, 3)), np.zeros(3))
    assert_allclose(system.solve(1e-12).x, np.zeros(3))
    assert_allclose(system.inverse(0.5), 2.0 * np.eye(3))
