# SPDX-License-Identifier: BSD-3-Clause
"""Covariances of many items and many raters, in parts, are those of the formulas."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from tiebreak import BradleyTerry, Pairs
from tiebreak.ratings.strengths import inference as module
from tiebreak.ratings.strengths.inference import (
    indistinct_groups,
    rank_intervals,
    ranks_and_groups,
)


def test_two_items_are_judged_by_one_comparison():
    covariance = np.diag([1.0, 3.0])  # the difference has standard error 2
    apart, close = np.array([0.0, 4.2]), np.array([0.0, 3.6])
    # 1.96 · 2 = 3.92; the simulated quantile is that up to its noise.
    assert_array_equal(rank_intervals(apart, covariance), [[2, 2], [1, 1]])
    assert_array_equal(rank_intervals(close, covariance), [[1, 2], [1, 2]])


def test_certain_strengths_have_certain_ranks():
    strength = np.array([0.3, 2.0, -1.0, 2.0])
    ranks = rank_intervals(strength, np.zeros((4, 4)))
    # Two items are equal, so each may be first or second.
    assert_array_equal(ranks, [[3, 3], [1, 2], [4, 4], [1, 2]])
    groups = indistinct_groups(strength, np.zeros((4, 4)))
    assert [g.tolist() for g in groups] == [[1, 3], [0], [2]]


def test_one_item():
    assert_array_equal(rank_intervals(np.zeros(1), np.ones((1, 1))), [[1, 1]])
    assert [g.tolist() for g in indistinct_groups(np.zeros(1), np.ones((1, 1)))] == [
        [0]
    ]


@pytest.mark.parametrize("simultaneous", [False, True])
def test_simulated_quantile_is_that_of_the_largest_difference(simultaneous):
    # Independent items of equal variance: Tukey's studentized range, divided by √2.
    # 3.633 = the 95 % point for 4 items and many degrees of freedom (Tukey's table).
    found = module._critical_values(np.eye(4), 0.95)[simultaneous]
    if simultaneous:
        assert found == pytest.approx(np.full(4, 3.633 / np.sqrt(2)), abs=0.06)
    else:
        # Dunnett's two-sided point for 3 comparisons with one control: 2.35.
        assert found == pytest.approx(np.full(4, 2.35), abs=0.1)


def test_many_items_fall_back_to_bonferroni(monkeypatch):
    monkeypatch.setattr(module, "_SIMULATED", 3)
    each, together = module._critical_values(np.eye(5), 0.95)
    assert each == pytest.approx(np.full(5, norm.ppf(1 - 0.025 / 4)))
    assert together == pytest.approx(np.full(5, norm.ppf(1 - 0.025 / 10)))


@given(
    strength=st.lists(st.integers(-4, 4), min_size=1, max_size=7),
    variance=st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=7, max_size=7),
)
def test_groups_are_the_largest_runs_without_a_difference(strength, variance):
    strength = np.array(strength, dtype=float)
    covariance = np.diag(variance[: len(strength)])
    everyone = np.arange(len(strength))
    error = module._errors(covariance, everyone, everyone)
    _, critical = module._critical_values(covariance, 0.95)
    difference = np.abs(strength[:, None] - strength[None, :])
    differ = difference > critical[:, None] * error
    order = np.argsort(-strength, kind="stable")
    runs = []
    for start, end in combinations(range(len(order) + 1), 2):
        run = order[start:end]
        if not differ[np.ix_(run, run)].any():
            runs.append(run.tolist())
    largest = [run for run in runs if not any(set(run) < set(other) for other in runs)]
    assert [g.tolist() for g in indistinct_groups(strength, covariance)] == largest


def test_independent_errors_need_no_matrix(rng, monkeypatch):
    strength, variance = rng.normal(size=40), rng.random(40) * 0.1
    for simulated in (300, 10):
        monkeypatch.setattr(module, "_SIMULATED", simulated)
        monkeypatch.setattr(module, "_BLOCK", 7)
        one = rank_intervals(strength, variance)
        assert_array_equal(one, rank_intervals(strength, np.diag(variance)))
        groups = indistinct_groups(strength, variance)
        expected = indistinct_groups(strength, np.diag(variance))
        assert [g.tolist() for g in groups] == [g.tolist() for g in expected]
        assert len(groups) > 2


def test_one_simulation_gives_what_two_give(rng):
    strength, root = rng.normal(size=6), rng.normal(size=(6, 6)) / 4
    covariance = root @ root.T
    ranks, groups = ranks_and_groups(strength, covariance, 0.9)
    assert_array_equal(ranks, rank_intervals(strength, covariance, 0.9))
    expected = indistinct_groups(strength, covariance, 0.9)
    assert [g.tolist() for g in groups] == [g.tolist() for g in expected]


def test_the_largest_difference_of_every_draw(rng):
    draws, error = rng.normal(size=(5, 4)), rng.uniform(0.5, 2.0, (4, 4))
    error = error + error.T
    np.fill_diagonal(error, 0.0)
    gaps = np.abs(draws[:, :, None] - draws[:, None, :])
    expected = (gaps / np.where(error > 0, error, np.inf)).max(axis=2)
    precision = np.divide(1.0, error, out=np.zeros((4, 4)), where=error > 0)
    found = np.zeros((5, 4))
    module._update_largest(draws, precision, found)
    np.testing.assert_allclose(found, expected)


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
