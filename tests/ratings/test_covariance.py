# SPDX-License-Identifier: BSD-3-Clause
"""Covariances of many items and many raters, in parts, are those of the formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tiebreak import BradleyTerry, Pairs
from tiebreak.ratings.strengths import inference as module


def test_a_symmetric_product_by_blocks(rng):
    n = 600  # more than two blocks
    a, m = rng.normal(size=(2, n, n))
    a, m = a + a.T, m + m.T
    assert_allclose(module._symmetric(a, m @ a), a @ m @ a, rtol=1e-9, atol=1e-9)


def test_an_inverse_from_the_factor(rng):
    a = rng.normal(size=(7, 7))
    a = a @ a.T + np.eye(7)
    assert_allclose(module._inverse(np.linalg.cholesky(a)), np.linalg.inv(a), rtol=1e-9)


@pytest.fixture
def model(rng):
    """Give a model of many items that met few others, with raters and an advantage."""
    n, games = 80, 250
    left = rng.integers(0, n, games)
    right = (left + rng.integers(1, n, games)) % n
    return BradleyTerry(alpha=0.2).fit(
        Pairs(None, left, right),
        rng.integers(-1, 2, games),
        advantage=rng.integers(-1, 2, games).astype(float),
        rater=rng.integers(0, 40, games),
    )


def by_formula(model, by_rater):
    """H⁻¹ (Σ s sᵀ) H⁻¹ with the scores of single votes, or summed by rater."""
    objective, x = model._objective_of(model.pair_counts_), model._solution()
    objective.expand(x)
    inverse = np.linalg.inv(objective.hessian())
    beta, t = objective.split(x)
    in_d, in_t = objective.link.scores(objective.design.apply(beta), t)
    D = objective.design.weighted(np.ones(len(in_d)))
    # Row 3 k + c: the score of outcome c of cell k.
    in_beta = (in_d[:, :, None] * D[:, None, :]).reshape(-1, D.shape[1])
    single = np.column_stack([in_beta, in_t.ravel()])
    if by_rater:
        scores = model.rater_counts_ @ single
        meat = scores.T @ scores * len(scores) / (len(scores) - 1)
    else:
        meat = single.T @ (model.pair_counts_.reshape(-1, 1) * single)
    return inverse @ meat @ inverse


@pytest.mark.parametrize("sparse", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["sandwich", "cluster"])
def test_few_or_many_zeros_and_raters_in_parts(model, monkeypatch, sparse, kind):
    monkeypatch.setattr(module, "_SPARSE", sparse)
    monkeypatch.setattr(module, "_RATERS", 7)
    monkeypatch.setattr(module, "_BLOCK", 16)
    found = model._coefficient_covariance(kind)
    expected = by_formula(model, by_rater=kind == "cluster")
    assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
