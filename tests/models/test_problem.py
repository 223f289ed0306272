# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from tiebreak import RankSVM
from tiebreak.data import as_items
from tiebreak.models import problem as kernel_factor


def factor_of(items, rows=None, kernel="rbf"):
    table = as_items(items)
    rows = np.arange(len(items)) if rows is None else rows
    model = RankSVM(kernel=kernel, gamma=0.5)
    return kernel_factor.KernelItems.merge(model, table, rows)[0].factor


@pytest.mark.parametrize("limit", [4096, 40], ids=["formed", "rows"])
@pytest.mark.parametrize("spread", [0.3, 1.0], ids=["alike", "distinct"])
def test_the_factor_is_one_and_the_pivots_carry_it(rng, monkeypatch, limit, spread):
    monkeypatch.setattr(kernel_factor, "MAX_PIVOTS", limit)
    items = spread * rng.normal(size=(60, 1))
    K = rbf_kernel(items, gamma=0.5)
    factor = factor_of(items)
    n, r = factor.values.shape
    assert n == 60
    assert len(np.unique(factor.pivots)) == len(factor.pivots) == r < 40
    assert_allclose(factor.values @ factor.values.T, K, atol=1e-9)
    beta = rng.normal(size=r)
    a = factor.item_coef(beta)
    assert_allclose(K[:, factor.pivots] @ a, factor.values @ beta, atol=1e-6)
    inner = K[np.ix_(factor.pivots, factor.pivots)]
    # The pivots are as good as singular, so what rounding leaves of them is large
    # beside the coefficients; a and its norm differ by no more than that.
    rest = np.abs(inner - factor.values[factor.pivots] @ factor.values[factor.pivots].T)
    bound = np.abs(a) @ (rest + r * np.finfo(float).eps) @ np.abs(a)
    assert bound < 0.01 * beta @ beta
    assert_allclose(a @ inner @ a, beta @ beta, rtol=1e-9, atol=bound)


def test_items_that_differ_are_factored_without_pivots(rng):
    items = 3 * rng.normal(size=(50, 4))
    factor = factor_of(items)
    assert_array_equal(factor.pivots, np.arange(50))
    assert_array_equal(np.triu(factor.values, 1), 0)
    K = rbf_kernel(items, gamma=0.5)
    assert_allclose(factor.values @ factor.values.T, K, atol=1e-14)
    a = factor.item_coef(factor.values.T @ np.ones(50))
    assert_allclose(a, np.ones(50), atol=1e-8)
    # Two equal items, or a matrix that is no kernel.
    twice = np.vstack([items, items[:1] + 1e-9])
    assert len(factor_of(twice).pivots) == 50
    bad = np.eye(3) - 0.9
    with pytest.raises(ValueError, match="not positive semidefinite"):
        factor_of(bad, kernel="precomputed")


def test_too_many_items_that_differ_too_much(rng, monkeypatch):
    monkeypatch.setattr(kernel_factor, "MAX_PIVOTS", 40)
    items = 100 * rng.normal(size=(90, 3))
    with pytest.raises(ValueError, match=r"90 distinct items .* 40 .*Nystroem"):
        factor_of(items)


def test_a_factor_of_part_of_a_given_matrix(rng):
    F = rng.normal(size=(9, 2))
    rows = np.array([1, 4, 5, 8])
    factor = factor_of(F @ F.T, rows, "precomputed")
    assert factor.values.shape == (4, 2)
    assert_allclose(factor.values @ factor.values.T, (F @ F.T)[np.ix_(rows, rows)])
    assert_array_equal(np.isin(factor.pivots, range(4)), True)
