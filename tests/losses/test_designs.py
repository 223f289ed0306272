# SPDX-License-Identifier: BSD-3-Clause
"""Designs against the matrix that they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tiebreak.losses import CovariateDesign, FeatureDesign, ItemDesign, JointDesign


def rows(rng, n_items, m):
    """Pairs in both directions, repeated, and some items against themselves."""
    left = rng.integers(0, n_items, m)
    right = rng.integers(0, n_items, m)
    right[:2] = left[:2]
    return left, right


def explicit(features, left, right):
    return features[right] - features[left]


def make(rng, kind, n_items, m):
    """Draw a design and its matrix."""
    left, right = rows(rng, n_items, m)
    features = rng.normal(size=(n_items, 3)) * (rng.random((n_items, 3)) < 0.7)
    Z = rng.normal(size=(m, 2))
    items = ItemDesign(left, right, n_items)
    one_hot = explicit(np.eye(n_items), left, right)
    if kind == "items":
        return items, one_hot
    if kind == "covariates":
        return CovariateDesign(Z), -Z
    if kind == "sparse covariates":
        return CovariateDesign(sp.csr_array(Z)), -Z
    if kind == "no covariates":
        return JointDesign(items, CovariateDesign(np.empty((m, 0)))), one_hot
    if kind == "joint":
        design = JointDesign(items, CovariateDesign(Z))
        return design, np.hstack([one_hot, -Z])
    table = sp.csr_array(features) if "sparse" in kind else features
    design = FeatureDesign(table, left, right)
    D = explicit(features, left, right)
    if "identity" in kind:
        return JointDesign(design, items), np.hstack([D, one_hot])
    if "merged" in kind:
        # Items that share features: another numbering of the same comparisons.
        code = rng.integers(0, n_items, n_items)
        design = FeatureDesign(table, code[left], code[right])
        D = explicit(features[code], left, right)
        return JointDesign(design, items), np.hstack([D, one_hot])
    return design, D


KINDS = [
    "items",
    "covariates",
    "sparse covariates",
    "no covariates",
    "joint",
    "features",
    "sparse features",
    "features, identity",
    "sparse features, identity",
    "features, merged",
    "sparse features, merged",
]


# Few rows: the Laplacian is sparse. Many: it is dense. One item: all rows are empty.
@pytest.mark.parametrize(("n_items", "m"), [(40, 30), (6, 50), (2, 3), (1, 2)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_design_is_its_matrix(rng, kind, n_items, m):
    design, D = make(rng, kind, n_items, m)
    assert design.n_coef == D.shape[1]
    beta, g, h = rng.normal(size=D.shape[1]), rng.normal(size=m), rng.random(m)
    h[0] = 0
    close = {"rtol": 1e-11, "atol": 1e-12}
    assert_allclose(design.apply(beta), D @ beta, **close)
    assert_allclose(design.back(g), D.T @ g, **close)
    assert_allclose(design.gram(h), D.T @ (h[:, None] * D), **close)
    assert_allclose(design.diagonal(h), np.diag(D.T @ (h[:, None] * D)), **close)
    assert_allclose(design.matrix().toarray(), D, **close)
    for part in (design.apply(beta), design.back(g), design.gram(h)):
        assert isinstance(part, np.ndarray)
        assert part.dtype == np.float64


def test_coefficients_of_joint_designs_follow_each_other(rng):
    left, right = rows(rng, 4, 9)
    Z = rng.normal(size=(9, 2))
    design = JointDesign(CovariateDesign(Z), ItemDesign(left, right, 4))
    assert design.slices == [slice(0, 2), slice(2, 6)]
    beta = np.arange(6.0)
    expected = -Z @ beta[:2] + beta[2:][right] - beta[2:][left]
    assert_allclose(design.apply(beta), expected)
