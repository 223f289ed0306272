# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tiebreak.kernels import (
    CachedRows,
    DifferenceRows,
    FactorRows,
    FunctionKernel,
    GramKernel,
    ItemPairRows,
    ItemRows,
    KernelFunction,
    LinearRows,
    make_linear_rows,
    make_rows,
    upper_triangle,
)


def matrix_of(rows):
    everything = np.arange(rows.n_rows)
    return rows.block(everything, np.ones(rows.n_rows), np.float64)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_linear_rows_are_those_of_the_product(rng, convert):
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.5)
    K, rows = X @ X.T, LinearRows(convert(X))
    assert rows.n_rows == rows.capacity == 30
    some, sign = np.array([4, 0, 4, 29]), np.array([1.0, -1.0, -1.0, 1.0])
    block = rows.block(some, sign, np.float64)
    assert block.dtype == np.float64
    assert_allclose(block, np.outer(sign, sign) * K[np.ix_(some, some)])
    assert rows.block(some, sign, np.float32).dtype == np.float32
    coef, f = rng.normal(size=4), np.ones(30)
    rows.add(some, coef, f)
    assert_allclose(f, 1.0 + coef @ K[some])
    assert_allclose(rows.product(K[0]), K @ K[0])
    assert_allclose(rows.diagonal(), np.diag(K))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_item_rows_are_those_of_the_kernel(rng, dtype):
    X = rng.normal(size=(200, 3))
    function = KernelFunction("rbf", 0.5)
    K = function.block(X, X)
    for kernel in (FunctionKernel(function, X), GramKernel(K)):
        source = ItemRows(kernel)
        index, table = rng.permutation(200)[:150], np.zeros((160, 200), dtype=dtype)
        slots = rng.permutation(160)[:150]
        source.fill(index, table, slots)
        assert_allclose(table[slots], K[index], atol=1e-5)
        assert not np.delete(table, slots, axis=0).any()
        assert_allclose(source.product(K[3]), K @ K[3])
        assert_allclose(source.diagonal(), np.ones(200))


def test_few_features_are_a_factor_as_they_are(rng):
    X = rng.normal(size=(90, 30))
    rows = make_linear_rows(X)
    assert isinstance(rows, FactorRows)
    assert np.shares_memory(rows.factor, X)
    assert_allclose(matrix_of(rows), X @ X.T)
    sparse = make_linear_rows(sp.csr_array(X))
    assert isinstance(sparse, FactorRows)
    assert_allclose(matrix_of(sparse), X @ X.T)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_many_features_are_never_an_items_by_items_matrix(rng, convert):
    X = rng.normal(size=(200, 150))
    rows = make_linear_rows(convert(X))
    assert isinstance(rows, LinearRows)
    assert_allclose(matrix_of(rows), X @ X.T)


def test_sparse_features_are_made_dense_only_within_the_memory():
    X = sp.random_array((400, 50), density=0.1, rng=np.random.default_rng(0))
    assert isinstance(make_linear_rows(X.tocsr(), max_bytes=1e6), FactorRows)
    assert isinstance(make_linear_rows(X.tocsr(), max_bytes=1e5), LinearRows)


def test_kernels_have_a_factor_only_if_they_are_thin(rng):
    X = rng.normal(size=(150, 2))
    wide = make_rows(ItemRows(FunctionKernel(KernelFunction("rbf", 0.01), X)))
    assert isinstance(wide, FactorRows)
    assert len(wide.factor) < 50
    narrow = make_rows(ItemRows(FunctionKernel(KernelFunction("rbf", 50.0), X)))
    assert isinstance(narrow, CachedRows)
    for rows, gamma in ((wide, 0.01), (narrow, 50.0)):
        K = KernelFunction("rbf", gamma).block(X, X)
        assert_allclose(matrix_of(rows), K, atol=1e-8)


def test_linear_rows_are_those_of_differences_from_nothing(rng):
    X = rng.normal(size=(12, 4))
    assert_allclose(
        matrix_of(LinearRows(X)), matrix_of(CachedRows(DifferenceRows(X), 1e6))
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_are_all_rows_from_half_of_the_matrix(rng, dtype):
    kernel = FunctionKernel(KernelFunction("rbf", 0.5), rng.normal(size=(600, 3)))
    left, right = np.arange(300), np.arange(300, 600)
    source = ItemPairRows(kernel, left, right)
    k = kernel.block(np.arange(600), np.float64)
    K = k[300:, 300:] - k[300:, :300] - k[:300, 300:] + k[:300, :300]
    assert_allclose(
        np.triu(upper_triangle(source.n_rows, source.between)), np.triu(K), atol=1e-14
    )
    rows = CachedRows(source, 1e9, dtype)
    few, many = rng.permutation(300)[:20], rng.permutation(300)[:120]
    assert_allclose(rows.rows(few), K[few], atol=1e-5)
    assert not rows.whole
    rounding = 1e-7 if dtype is np.float32 else 0.0
    for some in (many, few):
        assert_allclose(rows.rows(some), K[some], rtol=rounding, atol=1e-14)
    assert rows.whole
    # Rows of items that comparisons share are cheaper.
    again = ItemPairRows(kernel, np.repeat(left, 3), np.repeat(right, 3))
    again = CachedRows(again, 1e9, dtype)
    again.rows(np.arange(900))
    assert not again.whole
