# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles import outcome_models as oracle
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    ItemDesign,
    JointDesign,
    comparison_covariance,
)


def make(rng, link, tie, free):
    """Draw an objective, and the same function written out."""
    n, q, m = 5, 2, 14
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    Z = rng.normal(size=(m, q))
    counts = rng.integers(0, 4, size=(m, 3)).astype(float)
    if tie is not None:
        counts[:, 1] = 0
    alpha = rng.uniform(0, 1, n + q)
    f = ComparisonObjective(
        JointDesign(ItemDesign(left, right, n), CovariateDesign(Z)),
        LINKS[link],
        counts,
        alpha,
        tie=tie,
        free=slice(0, n) if free else None,
    )
    one_hot = np.eye(n)[right] - np.eye(n)[left]
    truth = oracle.objective(link, np.hstack([one_hot, -Z]), counts, alpha)

    def value(x):
        if tie is not None:
            x = np.append(x, tie)
        level = 0.5 * f.level * x[:n].sum() ** 2 if free else 0.0
        return truth(x) + level

    x = 0.5 * rng.normal(size=n + q)
    return f, value, x if tie is not None else np.append(x, 0.7)


CASES = [
    ("davidson", None, False),
    ("davidson", None, True),
    ("davidson", -np.inf, False),
    ("davidson", -np.inf, True),
    ("cumulative", None, False),
    ("cumulative", None, True),
    ("cumulative", 0.0, False),
    ("cumulative", 0.0, True),
]


@pytest.mark.parametrize(("link", "tie", "free"), CASES)
def test_value_gradient_and_hessian(rng, link, tie, free):
    f, truth, x = make(rng, link, tie, free)
    assert f.n_variables == len(x)
    value, gradient = f.expand(x)
    assert_allclose(value, truth(x), rtol=1e-11)
    assert_allclose(f.value(x), value, rtol=1e-12)
    expected = oracle.derivative(truth, x)
    assert_allclose(gradient, expected, rtol=1e-8, atol=1e-9)
    hessian = oracle.second_derivative(truth, x)
    close = {"rtol": 1e-6, "atol": 1e-6}
    assert_allclose(f.hessian(), hessian, **close)
    assert_allclose(f.hessian_diagonal(), np.diag(hessian), **close)
    for v in (*np.eye(len(x)), rng.normal(size=len(x))):
        assert_allclose(f.hessian_product(v), hessian @ v, rtol=1e-5, atol=1e-5)
    # The gradient alone, at another point, leaves the Hessian where it was.
    before = f.hessian()
    y = x + 0.1
    assert_allclose(f.gradient(y), oracle.derivative(truth, y), rtol=1e-8, atol=1e-9)
    assert_array_equal(f.hessian(), before)


def test_the_variables_are_coefficients_and_then_the_tie_parameter(rng):
    f, _, x = make(rng, "davidson", None, False)
    beta, t = f.split(x)
    assert_array_equal(beta, x[:-1])
    assert t == 0.7
    fixed, _, x = make(rng, "cumulative", 0.0, False)
    beta, t = fixed.split(x)
    assert_array_equal(beta, x)
    assert t == 0


def test_the_level_changes_nothing_but_the_level(rng):
    free, _, x = make(rng, "davidson", None, True)
    bound, _, _ = make(rng, "davidson", None, False)
    bound.counts, bound.alpha = free.counts, free.alpha
    bound.design = free.design
    x[:5] -= x[:5].mean()
    assert_allclose(free.value(x), bound.value(x))
    moved = x.copy()
    moved[:5] += 0.3
    rise = 0.5 * free.level * (5 * 0.3) ** 2
    assert_allclose(free.value(moved) - bound.value(moved), rise)


@pytest.mark.parametrize("limit", [100, 2], ids=["full", "sparse"])
@pytest.mark.parametrize(("link", "tie", "free"), CASES)
def test_the_factor_solves_with_the_hessian(rng, link, tie, free, limit, monkeypatch):
    monkeypatch.setattr(comparison_covariance, "_LARGEST_FULL", limit)
    f, _, x = make(rng, link, tie, free)
    f.expand(x)
    factor = comparison_covariance.HessianFactor(f)
    assert factor.sparse == (limit == 2 and not free)
    hessian = f.hessian()
    v = rng.normal(size=len(x))
    assert_allclose(hessian @ factor.solve(v), v, atol=1e-9)
    expected = np.linalg.slogdet(hessian)[1]
    assert_allclose(factor.log_determinant, expected, rtol=1e-10)
