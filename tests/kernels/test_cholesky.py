# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from tiebreak.kernels import pivoted_cholesky


def factor_of(K, **options):
    options.setdefault("max_pivots", len(K))
    return pivoted_cholesky(lambda i: K[i].copy(), np.diag(K), **options)


@pytest.mark.parametrize("gamma", [0.2, 4.0])
def test_reproduces_the_matrix_and_says_how_well(rng, gamma):
    K = rbf_kernel(rng.normal(size=(600, 2)), gamma=gamma)
    factor = factor_of(K, tol=1e-10)
    assert factor.complete
    assert not factor.indefinite
    error = K - factor.rows.T @ factor.rows
    assert np.abs(error).max() <= 1.1e-10
    assert_allclose(factor.left, np.diag(error), atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(K)
    needed = len(K) - np.searchsorted(np.cumsum(np.maximum(eigenvalues, 0)), 600e-10)
    assert needed <= len(factor.pivots) <= 1.5 * needed


@pytest.mark.extended
def test_is_accurate_where_the_kernel_is_narrow(rng):
    # Pivots that are small for their time lose digits: then the books are in order,
    # and the factor is wrong by 1e-5.
    X = rng.normal(size=(3000, 2))
    K = rbf_kernel(X, gamma=4.0)
    factor = factor_of(K, max_pivots=1500)
    assert factor.complete
    assert np.abs(K - factor.rows.T @ factor.rows).max() <= 2e-10


def test_the_pivots_carry_it(rng):
    K = rbf_kernel(rng.normal(size=(80, 1)), gamma=0.5)
    factor = factor_of(K)
    P, T = factor.pivots, factor.triangle
    assert len(np.unique(P)) == len(P) < 40
    assert_array_equal(np.triu(T, 1), 0.0)
    assert_allclose(T @ T.T, K[np.ix_(P, P)], atol=1e-10)
    assert_allclose(T @ factor.rows, K[P], atol=1e-10)
    assert_array_equal(factor.left[P], 0.0)


@given(
    st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(1, 12), st.integers(1, 4)
)
def test_a_matrix_of_low_rank_is_exact(seed, rank, n, copies):
    rng = np.random.default_rng(seed)
    F = rng.integers(-2, 3, size=(rank, n)).astype(float)
    F = np.repeat(F, copies, axis=1)
    K = F.T @ F
    factor = factor_of(K, tol=1e-9)
    assert factor.complete
    assert len(factor.pivots) == np.linalg.matrix_rank(K)
    assert_allclose(factor.rows.T @ factor.rows, K, atol=1e-7)


def test_keeps_to_the_number_of_pivots(rng):
    K = rbf_kernel(rng.normal(size=(300, 4)))
    factor = factor_of(K, max_pivots=50, all_or_nothing=False)
    assert factor.rows.shape == (50, 300)
    assert not factor.complete
    error = K - factor.rows.T @ factor.rows
    assert_allclose(factor.left, np.diag(error), atol=1e-12)
    # No entry of the error is larger than the largest of its diagonal.
    assert np.abs(error).max() <= factor.left.max() * (1 + 1e-9)


def test_spends_few_pivots_on_outliers(rng):
    # 40 rows that resemble nothing, and 1960 that need a few dozen landmarks. The
    # largest entry left is always that of an outlier.
    X = rng.normal(size=(2000, 2))
    X[:40] *= 1000 * np.arange(1, 41)[:, None]
    K = rbf_kernel(X, gamma=0.5)
    for seed in range(5):
        options = {"rng": np.random.default_rng(seed), "all_or_nothing": False}
        factor = factor_of(K, max_pivots=30, **options)
        assert factor.left[40:].mean() < 0.1


def test_takes_one_pivot_of_rows_that_are_alike(rng):
    # Ten clusters, so ten pivots, though all rows look alike when a block is drawn.
    X = 100.0 * rng.normal(size=(10, 3))
    X = np.repeat(X, 30, axis=0) + 1e-3 * rng.normal(size=(300, 3))
    factor = factor_of(rbf_kernel(X, gamma=0.5), max_pivots=10, all_or_nothing=False)
    assert sorted(factor.pivots // 30) == list(range(10))
    assert factor.left.max() < 1e-4


def test_gives_up_in_time():
    K, asked = np.eye(500), []

    def rows(index):
        asked.extend(index)
        return K[index].copy()

    factor = pivoted_cholesky(rows, np.diag(K), max_pivots=300)
    assert not factor.complete
    assert len(asked) <= 96
    asked.clear()
    factor = pivoted_cholesky(rows, np.diag(K), max_pivots=300, all_or_nothing=False)
    assert len(factor.pivots) == 300


def test_is_reproducible(rng):
    K = rbf_kernel(rng.normal(size=(200, 3)))
    assert_array_equal(factor_of(K).pivots, factor_of(K).pivots)
    drawn = [factor_of(K, rng=np.random.default_rng(seed)).pivots for seed in (7, 7, 8)]
    assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_of_nothing():
    factor = factor_of(np.zeros((4, 4)))
    assert factor.complete
    assert factor.rows.shape == (0, 4)
    assert factor.triangle.shape == (0, 0)


def test_an_indefinite_matrix_is_not_a_kernel(rng):
    K = np.full((50, 50), 2.0)
    np.fill_diagonal(K, 1.0)
    factor = factor_of(K)
    assert factor.indefinite
    assert not factor.complete
    assert factor_of(np.diag([1.0, -0.5])).indefinite
