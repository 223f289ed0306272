# SPDX-License-Identifier: BSD-3-Clause
"""A dictionary gives the same columns however little memory it has."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak.kernels import KernelDictionary, KernelFunction, MatrixDictionary

POLY = KernelFunction("poly", 0.2, 2, 1.0)
# Megabytes for: no column at all, a few, all.
CACHES = [0.0, 3e3, 1e9]


def plain(X, C):
    """Columns of the kernel, one in each row."""
    return (0.2 * C @ X.T + 1.0) ** 2


@pytest.fixture
def table(rng):
    return rng.normal(size=(30, 3)), rng.normal(size=(34, 3))


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_and_products(table, rng, cache, convert):
    X, C = table
    expected = plain(X, C)
    columns = KernelDictionary(POLY, convert(X), convert(C), cache)
    assert (columns.n_columns, columns.n_rows) == expected.shape
    q, index = rng.normal(size=(30, 2)), np.array([33, 2, 16, 17, 2])
    # Before the first pass, in it, and when some columns are kept.
    for _ in range(3):
        assert_allclose(columns.columns(index), expected[index], atol=1e-12)
        assert_allclose(columns.columns(slice(14, 20)), expected[14:20], atol=1e-12)
        assert_allclose(columns.products(q), expected @ q, atol=1e-12)
        assert_allclose(columns.products(q[:, 0]), expected @ q[:, 0], atol=1e-12)
        norms = columns.measure(lambda block: np.sum(block**2, axis=1))
        assert_allclose(norms, np.sum(expected**2, axis=1), atol=1e-12)


def test_memory_decides_how_many_columns_stay(table):
    X, C = table
    kept = [KernelDictionary(POLY, X, C, cache).n_kept for cache in CACHES]
    assert kept[0] == 0
    assert 0 < kept[1] < 34
    assert kept[2] == 34


def test_kept_columns_are_not_computed_again(table):
    X, C = table
    counted = []

    def kernel(A, B):
        counted.append(len(A))
        return A @ B.T

    for cache, again in zip(CACHES, (34, None, 0), strict=True):
        columns = KernelDictionary(KernelFunction(kernel), X, C, cache)
        columns.products(np.ones(30))
        assert sum(counted) == 34
        counted.clear()
        columns.products(np.ones(30))
        assert sum(counted) == (34 - columns.n_kept if again is None else again)
        counted.clear()


def test_a_matrix_is_a_dictionary(rng):
    values = rng.normal(size=(11, 5))
    columns = MatrixDictionary(values)
    q = rng.normal(size=5)
    assert_array_equal(columns.columns(np.array([3, 1])), values[[3, 1]])
    assert_allclose(columns.products(q), values @ q, atol=1e-14)
