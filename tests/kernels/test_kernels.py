# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from tests.oracles.pair_svm import pair_kernel
from tiebreak.kernels import (
    CachedRows,
    DifferenceRows,
    FactorRows,
    FunctionKernel,
    GramKernel,
    ItemPairRows,
    KernelFunction,
    NystroemMap,
    check_gram,
    make_kernel,
    make_rows,
)
from tiebreak.kernels.functions import exp_in_place

FUNCTIONS = {
    "linear": (KernelFunction("linear"), linear_kernel),
    "poly": (
        KernelFunction("poly", 0.3, 2, 1.5),
        lambda A, B: polynomial_kernel(A, B, gamma=0.3, degree=2, coef0=1.5),
    ),
    "rbf": (KernelFunction("rbf", 0.7), lambda A, B: rbf_kernel(A, B, gamma=0.7)),
    "callable": (
        KernelFunction(lambda A, B: np.tanh(A @ B.T) + 2.0),
        lambda A, B: np.tanh(A @ B.T) + 2.0,
    ),
}


@pytest.fixture
def table(rng):
    return rng.normal(size=(40, 3))


@pytest.fixture
def sides(rng):
    return rng.integers(0, 40, 90), rng.integers(0, 40, 90)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_equal_scikit_learn(name, table):
    ours, theirs = FUNCTIONS[name]
    np.testing.assert_allclose(ours.block(table[:7], table), theirs(table[:7], table))
    np.testing.assert_allclose(ours.diagonal(table), np.diag(theirs(table, table)))


@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_sparse_equals_dense(name, table):
    ours, _ = FUNCTIONS[name]
    table = np.where(np.abs(table) > 0.5, table, 0.0)
    sparse = sp.csr_array(table)
    np.testing.assert_allclose(
        ours.block(sparse[:5], sparse), ours.block(table[:5], table), atol=1e-14
    )
    np.testing.assert_allclose(ours.diagonal(sparse), ours.diagonal(table))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_pair_rows_equal_the_explicit_pair_kernel(name, dtype, table, sides):
    ours, theirs = FUNCTIONS[name]
    left, right = sides
    whole = pair_kernel(theirs, table[left], table[right])
    source = ItemPairRows(FunctionKernel(ours, table), left, right)
    rows = CachedRows(source, 1e9, dtype)
    index = np.array([3, 80, 3, 41])
    got = rows.rows(index)
    assert got.dtype == dtype
    tolerance = 2e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(got, whole[index], atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(source.diagonal(), np.diag(whole), atol=1e-12)
    coef = np.sin(np.arange(90.0)) * (np.arange(90) % 3 > 0)
    np.testing.assert_allclose(source.product(coef), whole @ coef, atol=1e-11)
    through_gram = ItemPairRows(GramKernel(theirs(table, table)), left, right)
    np.testing.assert_allclose(through_gram.product(coef), whole @ coef, atol=1e-11)


def test_product_over_many_tiles(rng, monkeypatch):
    monkeypatch.setattr("tiebreak.kernels.rows._TILE", 16)
    table = rng.normal(size=(100, 2))
    kernel = FunctionKernel(KernelFunction("rbf", 0.5), table)
    coef = rng.normal(size=100) * (rng.random(100) < 0.6)
    expected = rbf_kernel(table, gamma=0.5) @ coef
    np.testing.assert_allclose(kernel.product(coef), expected, atol=1e-12)
    np.testing.assert_array_equal(kernel.product(np.zeros(100)), 0.0)


def test_single_precision_is_refused_where_it_would_lose(rng):
    """Exponents of thousands are computed in double precision first."""
    table = 300.0 * rng.normal(size=(30, 2))
    function = KernelFunction("rbf", 1.0)
    near = table + 0.3
    both = np.vstack([table, near])
    block = function.evaluator(both, np.float32)(np.arange(30), np.arange(30, 60))
    np.testing.assert_allclose(np.diag(block), np.exp(-0.18), rtol=1e-4)


def test_distances_far_from_the_origin(table):
    far = KernelFunction("rbf", 0.7).block(table[:7] + 1e6, table + 1e6)
    np.testing.assert_allclose(far, rbf_kernel(table[:7], table, gamma=0.7), atol=1e-8)


def test_cache_evicts_the_oldest(rng):
    Z = rng.normal(size=(200, 3))
    rows = CachedRows(DifferenceRows(Z), 1.0)
    assert rows.capacity == 64
    for start in (0, 40, 80, 20, 0):
        index = np.arange(start, start + 60) % 200
        got = rows.rows(index)
        np.testing.assert_allclose(got, Z[index] @ Z.T, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_difference_rows(rng, kind):
    Z = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.5)
    source = DifferenceRows(sp.csr_array(Z) if kind == "sparse" else Z)
    coef = rng.normal(size=50)
    np.testing.assert_allclose(source.product(coef), Z @ (Z.T @ coef))
    np.testing.assert_allclose(source.diagonal(), (Z**2).sum(1))
    assert isinstance(make_rows(source), FactorRows)


def test_wide_sparse_differences_keep_their_rows():
    Z = sp.csr_array(np.eye(20, 3000))
    rows = make_rows(DifferenceRows(Z))
    assert rows.factor is None
    np.testing.assert_array_equal(rows.rows(np.arange(20)), np.eye(20))


def test_gamma_as_in_scikit_learn(rng):
    X = rng.normal(size=(30, 4)) * 3
    assert make_kernel(NystroemMap(gamma="auto"), X).gamma == 0.25
    scale = make_kernel(NystroemMap(), X).gamma
    assert scale == pytest.approx(1 / (4 * X.var()))
    assert make_kernel(NystroemMap(), sp.csr_array(X)).gamma == pytest.approx(scale)
    assert make_kernel(NystroemMap(), np.ones((5, 2))).gamma == 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kernel": "sigmoid"}, r"kernel='sigmoid'; expected a callable.*'rbf'"),
        ({"gamma": -1.0}, r"gamma=-1.0; expected a positive"),
        ({"gamma": "wide"}, r"gamma='wide'; expected"),
        ({"gamma": np.nan}, r"gamma=nan; expected"),
        ({"degree": 0}, r"degree=0; expected a whole"),
        ({"coef0": np.inf}, r"coef0=inf; expected a finite"),
    ],
)
def test_wrong_kernel_parameters(change, words, table):
    with pytest.raises(ValueError, match=words):
        make_kernel(NystroemMap(**{"kernel": "poly", **change}), table)


def test_callable_kernels_are_checked(table):
    short = KernelFunction(lambda A, B: np.zeros((1, 1)))
    with pytest.raises(ValueError, match=r"shape \(1, 1\).*expected \(4, 40\)"):
        short.block(table[:4], table)
    holes = KernelFunction(lambda A, B: np.where(A @ B.T > 0, np.nan, 1.0))
    with pytest.raises(ValueError, match=r"returned nan for rows \d+ and \d+"):
        holes.block(table, table)


def test_gram_is_checked():
    with pytest.raises(ValueError, match="must be square"):
        check_gram(np.ones((3, 4)))
    K = np.eye(5)
    K[1, 3] = 0.5
    with pytest.raises(
        ValueError, match=r"symmetric, but K\[1, 3\] = 0.5 and K\[3, 1\]"
    ):
        check_gram(K)


@pytest.mark.parametrize(
    ("dtype", "lowest", "tolerance"),
    [(np.float32, -87.0, 3e-7), (np.float64, -700.0, 5e-16)],
)
def test_exponential_equals_its_naive_twin(rng, dtype, lowest, tolerance):
    x = np.concatenate(
        [rng.uniform(lowest, 10, 5000), rng.uniform(-1, 1, 5000), [0.0, -0.0, lowest]]
    ).astype(dtype)
    x = x[: len(x) // 3 * 3].reshape(3, -1)
    expected = np.exp(x.astype(np.longdouble))
    got = exp_in_place(x.copy())
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(np.longdouble), expected, rtol=tolerance)
    far = exp_in_place(np.array([2 * lowest, -np.inf], dtype=dtype))
    np.testing.assert_allclose(far, np.exp(dtype(lowest)), rtol=1e-5)
    assert exp_in_place(np.zeros((0, 4), dtype=dtype)).shape == (0, 4)
