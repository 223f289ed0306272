# SPDX-License-Identifier: BSD-3-Clause
"""Products with Laplacians that are not stored equal those with ones that are."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles import rank_rls
from tiebreak.losses import GroupLaplacian, PairLaplacian


@st.composite
def groups(draw):
    n = draw(st.integers(1, 12))
    group = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weight = draw(
        st.none()
        | st.lists(
            st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0]), min_size=n, max_size=n
        ).map(np.array)
    )
    return group, weight, draw(st.sampled_from(["sum", "mean"]))


@st.composite
def graphs(draw):
    n, m = draw(st.integers(2, 8)), draw(st.integers(1, 20))
    item = st.integers(0, n - 1)
    left = np.array(draw(st.lists(item, min_size=m, max_size=m)))
    right = np.array(draw(st.lists(item, min_size=m, max_size=m)))
    weight = np.array(
        draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=m, max_size=m))
    )
    return left, right, weight, n


def assert_same_operator(laplacian, L, n_roots):
    n = len(L)
    assert (laplacian.n, laplacian.n_roots) == (n, n_roots)
    rng = np.random.default_rng(n)
    v, V = rng.normal(size=n), rng.normal(size=(n, 3))
    close = {"rtol": 1e-12, "atol": 1e-12 * (1.0 + np.abs(L).max())}
    assert_allclose(laplacian.product(v), L @ v, **close)
    assert_allclose(laplacian.product(V), L @ V, **close)
    assert_allclose(laplacian.diagonal(), np.diag(L), **close)
    B = laplacian.root(np.eye(n))
    assert B.shape == (n_roots, n)
    assert_allclose(B.T @ B, L, **close)
    assert_allclose(laplacian.root(v), B @ v, **close)
    c = rng.normal(size=n)
    for form in (V, sp.csr_array(V)):
        square, product, _ = laplacian.form(form, c)
        assert_allclose(square, V.T @ L @ V, **close)
        assert_allclose(product, V.T @ c, **close)
    K = np.cov(rng.normal(size=(n, n + 2))).reshape(n, n)
    upper = np.where(np.tri(n, k=-1), np.nan, K)
    assert_allclose(laplacian.sandwich(upper), B @ K @ B.T, **close)
    R = rng.normal(size=(n_roots, 2))
    assert_allclose(laplacian.root_transpose(R), B.T @ R, **close)
    assert_allclose(laplacian.root_transpose(R[:, 0]), B.T @ R[:, 0], **close)


@given(groups())
def test_groups_are_all_their_pairs(case):
    group, weight, per_group = case
    laplacian = GroupLaplacian(group, weight, per_group)
    L = rank_rls.group_laplacian(group, weight, per_group)
    assert_same_operator(laplacian, L, len(group))
    V = np.random.default_rng(0).normal(size=(len(group), 2))
    rooted = laplacian.root(V)
    for g in np.unique(group):
        rows = np.flatnonzero(group == g)
        assert_allclose(laplacian.root_of(V[rows], rows), rooted[rows], atol=1e-12)


@given(graphs())
def test_graphs_are_their_pairs(case):
    left, right, weight, n = case
    L = rank_rls.pair_laplacian(left, right, weight, n)
    assert_same_operator(PairLaplacian(left, right, weight, n), L, len(left))


def test_a_group_is_a_graph_of_all_its_pairs():
    group = np.array([0, 1, 0, 0, 1])
    i, j = np.nonzero(np.triu(group[:, None] == group, 1))
    v = np.array([3.0, -1.0, 0.5, 7.0, 2.0])
    graph = PairLaplacian(i, j, None, 5)
    assert_allclose(graph.product(v), GroupLaplacian(group).product(v))
    # n_g v - sum_g(v)
    assert_allclose(graph.product(v)[[1, 4]], 2 * v[[1, 4]] - v[[1, 4]].sum())


def test_constants_cost_nothing_however_large():
    group = np.array([0, 1, 0, 0, 1, 2])
    laplacian = GroupLaplacian(group)
    constant = np.array([1e8, 3.0, -7.0])[group]
    assert_array_equal(laplacian.product(np.ones(6)), np.zeros(6))
    v = np.arange(6.0)
    assert_allclose(laplacian.product(v + constant), laplacian.product(v), atol=1e-7)


def test_many_rows_are_centered_a_chunk_at_a_time():
    rng = np.random.default_rng(1)
    group, V = rng.integers(0, 40, 10_000), rng.normal(size=(10_000, 3)) + 100.0
    laplacian = GroupLaplacian(group, rng.random(10_000))
    assert_allclose(
        laplacian.form(V, np.zeros(10_000))[0],
        V.T @ laplacian.product(V),
        rtol=1e-9,
        atol=1e-6,
    )


@pytest.mark.parametrize("far", [0.0, 3.0, 1e7])
def test_one_group_is_centered_at_last_where_its_means_are_small(far):
    rng = np.random.default_rng(1)
    V, c = rng.normal(size=(10_000, 3)), rng.normal(size=10_000)
    V[:, 1] = np.arange(10_000) % 128  # exact also far away
    laplacian = GroupLaplacian(np.zeros(10_000, dtype=int))
    expected = 1e8 * np.cov(V.T, bias=True)
    V[:, 1] += far
    form, product, size = laplacian.form(V, c)
    assert_allclose(form, expected, rtol=1e-8, atol=1e-6)
    assert_allclose(product, V.T @ c, rtol=1e-8)
    assert_allclose(size, 1e4 * (V**2).sum(axis=0), rtol=1e-3)
