# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tiebreak.solvers.quasi_newton import CurvatureMemory, row_covariance


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
