# SPDX-License-Identifier: BSD-3-Clause
"""Tests of strengths and position: against SciPy, and in simulated comparisons."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, chi2

from tests.extended import few
from tiebreak import Pairs, check_pairs
from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.ratings.checks import likelihood_tests
from tiebreak.ratings.checks.likelihood_tests import check_position, check_strengths
from tiebreak.ratings.strengths import refits


def draw(rng, strength, n, effect=0.0, tie=0.5, favorites_first=False):
    """Draw comparisons of random pairs, with an effect in favor of left."""
    left = rng.integers(0, len(strength), n)
    right = (left + rng.integers(1, len(strength), n)) % len(strength)
    if favorites_first:
        order = np.argsort(strength)[::-1].argsort()
        left, right = np.where(order[left] < order[right], (left, right), (right, left))
    d = strength[right] - strength[left] - effect
    odds = np.stack([np.exp(-d / 2), np.full(n, tie), np.exp(d / 2)], axis=1)
    below = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    return left, right, (rng.random(n)[:, None] > below).sum(axis=1) - 1


def fit(left, right, y, favor, n_items, penalty=0.0):
    """Minimize Davidson's loss row by row: the value, the point and the curvature."""

    def loss(x):
        theta = x[:n_items]
        d = (
            theta[right]
            - theta[left]
            - (x[n_items] * favor if favor is not None else 0)
        )
        logits = np.stack([-d / 2, np.full(len(d), x[-1]), d / 2], axis=1)
        rows = logits[np.arange(len(y)), y + 1] - np.logaddexp.reduce(logits, axis=1)
        return penalty * theta @ theta - rows.sum()

    size = n_items + (favor is not None) + 1
    found = minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-5})
    return found.fun, found.x, loss


def cells_of(left, right, y, favor=None):
    """One cell per row."""
    counts = np.eye(3)[y + 1]
    covariates = np.empty((len(y), 0)) if favor is None else favor[:, None]
    return ComparisonCounts(left, right, counts, covariates.astype(float))


def test_the_usual_advantage_is_a_mean_over_games(rng):
    left, right = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3])
    counts = rng.integers(1, 4, size=(4, 3)).astype(float)
    cells = ComparisonCounts(left, right, counts, np.array([[1.0], [-1], [1], [0]]))
    mean = np.zeros(4)
    for item in range(4):
        rows = [(+1, k) for k in range(4) if left[k] == item]
        rows += [(-1, k) for k in range(4) if right[k] == item]
        games = [counts[k].sum() for _, k in rows]
        favor = [side * cells.covariates[k, 0] for side, k in rows]
        mean[item] = np.average(favor, weights=games)
    usual = likelihood_tests._usual_advantage(cells, 4)
    assert np.allclose(usual, mean[left] - mean[right], rtol=1e-12)


@pytest.mark.parametrize("with_advantage", [False, True])
def test_the_statistic_is_twice_the_gain_in_log_likelihood(rng, with_advantage):
    left, right, y = draw(rng, np.linspace(-1, 1, 4), 120, effect=0.5)
    favor = rng.integers(-1, 2, 120) if with_advantage else None
    found = check_strengths(cells_of(left, right, y, favor), 4, 1)
    best, _, _ = fit(left, right, y, favor, 4)
    equal, _, _ = fit(left * 0, right * 0, y, favor, 1)
    assert found.statistic == pytest.approx(2 * (equal - best), abs=1e-3)
    assert (found.degrees, found.resamples) == (3, 0)
    assert found.p_value == pytest.approx(chi2.sf(2 * (equal - best), 3), rel=1e-2)


def test_the_statistic_is_a_supremum_where_there_is_no_maximum():
    report = check_pairs(Pairs(None, ["a"] * 9, ["b", "c", "b"] * 3), [-1] * 9)
    # Perfectly predicted, against coins.
    assert report.strengths.statistic == pytest.approx(18 * np.log(2), abs=0.05)
    apart = check_pairs(Pairs(None, ["a", "c"] * 9, ["b", "d"] * 9), [-1] * 18)
    assert apart.strengths.degrees == 2
    assert apart.strengths.statistic == pytest.approx(36 * np.log(2), abs=0.05)


def test_losses_of_many_draws_are_those_of_scipy(rng):
    strength = np.array([-1.0, 0.0, 0.0, 1.0])
    left, right, _ = draw(rng, strength, 60)
    outcomes = [draw(rng, np.zeros(60 + 1), 60)[2] for _ in range(5)]
    favor = rng.integers(0, 2, 60)
    cells = cells_of(left, right, outcomes[0], favor)
    design = refits.count_design(cells, 4)
    for y in outcomes:
        found = refits.fit_table(design, np.eye(3)[y + 1])
        expected = fit(left, right, y, favor, 4)[0]
        assert found.loss == pytest.approx(expected, abs=0.02)
        assert found.share.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.extended
def test_equal_items_are_seldom_called_different():
    # Four games each: chi-square rejects about half of these at level 0.05.
    rng = np.random.default_rng(5)
    runs, by_draws, by_chi_square = 40, 0, 0
    for _ in range(runs):
        found = check_strengths(cells_of(*draw(rng, np.zeros(16), 32)), 16, 1)
        assert found.resamples == 199
        by_draws += found.p_value < 0.05
        by_chi_square += chi2.sf(found.statistic, found.degrees) < 0.05
    assert by_draws <= 5  # P(more than 5 of 40 at 0.05) is 0.014
    assert by_chi_square > by_draws + 3


def test_different_items_are_called_so_and_equal_ones_are_not(rng):
    def codes(strength, n):
        left, right, y = draw(rng, strength, n)
        report = check_pairs(Pairs(None, left, right), y)
        return report, [finding.code for finding in report.findings]

    report, found = codes(np.linspace(-0.5, 0.5, 6), 1_000)
    assert report.strengths.p_value < 0.001
    assert "contradictory" not in found
    rng = np.random.default_rng(0)
    report, found = codes(np.zeros(6), 1_000)
    assert report.strengths.p_value >= 0.05
    assert "contradictory" in found


def test_of_few_games_and_many_items_nothing_is_said(rng):
    assert check_strengths(cells_of(*draw(rng, np.zeros(170), 400)), 170, 1).p_value
    many = check_strengths(cells_of(*draw(rng, np.zeros(171), 400)), 171, 1)
    assert many.p_value is None


def test_position_is_the_effect_in_a_lightly_penalized_model(rng):
    # Each pair as often both ways: no item is listed first more often than others.
    left, right = np.tile(np.array([p for p in permutations(range(5), 2)]), (8, 1)).T
    d = 0.6 * (right - left) - 0.4 + rng.logistic(size=160)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    cells = cells_of(left, right, y, np.ones(160))
    estimate, standard_error, p_value = check_position(cells, 5)
    without, _, _ = fit(left, right, y, None, 5, 0.05)
    best, x, loss = fit(left, right, y, np.ones(160), 5, 0.05)
    assert estimate == pytest.approx(x[5], abs=1e-2)
    assert p_value == pytest.approx(chi2.sf(2 * (without - best), 1), rel=0.02)
    h = 1e-3 * np.eye(7)
    hessian = [
        [(loss(x + a + b) - loss(x + a - b) - loss(x - a + b) + loss(x - a - b)) / 4e-6
         for a in h] for b in h
    ]  # fmt: skip
    error = np.sqrt(np.linalg.inv(hessian)[5, 5])
    assert standard_error == pytest.approx(error, rel=0.02)


@pytest.mark.parametrize(
    ("n_items", "games", "spread"), few([(8, 80, 1.0), (20, 100, 2.0), (50, 150, 1.0)])
)
def test_favorites_listed_first_are_no_effect_of_position(n_items, games, spread):
    rng = np.random.default_rng(n_items + games)
    runs, warned, counted, found = 60, 0, 0, 0
    for _ in range(runs):
        strength = spread * rng.normal(size=n_items)
        drawn = draw(rng, strength, games, favorites_first=True)
        cells = cells_of(*drawn, np.ones(games))
        warned += check_position(cells, n_items)[2] < 0.01
        decided = drawn[2][drawn[2] != 0]
        counted += binomtest(int((decided < 0).sum()), len(decided)).pvalue < 0.01
        drawn = draw(rng, strength, games, effect=2.0, favorites_first=True)
        cells = cells_of(*drawn, np.ones(games))
        found += check_position(cells, n_items)[2] < 0.01
    assert warned <= 3  # P(more than 3 of 60 at 0.01) is 0.003
    assert counted > 20
    assert found > 15


def test_an_effect_that_strengths_can_explain_is_not_tested():
    report = check_pairs(
        Pairs(None, ["a", "b"] * 8, ["b", "c"] * 8), [-1, 1, 1, -1] * 4
    )
    assert report.position.p_value is None
    assert report.position.share == 0.5
    assert not {"position"} & {finding.code for finding in report.findings}
