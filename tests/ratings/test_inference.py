# SPDX-License-Identifier: BSD-3-Clause
"""Covariances of many items and many raters, in parts, are those of the formulas."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import sqrtm
from scipy.stats import norm
from scipy.stats import t as student

from benchmarks import score_tables
from benchmarks.coverage import Setting, measure
from tests.extended import few
from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.losses import comparison_covariance as module
from tiebreak.losses.comparison_covariance import (
    cluster_covariance,
    excess_covariance,
    inverse_hessian,
    sandwich,
    score_covariance,
)
from tiebreak.ratings.strengths import distribution
from tiebreak.ratings.strengths.distribution import (
    Separation,
    StrengthDistribution,
    maximal_cliques,
)
from tiebreak.ratings.strengths.inference import side_scales


def separation(strength, covariance, level=0.95, **options):
    strengths = StrengthDistribution.normal(np.asarray(strength, float), covariance)
    together = {"component": np.zeros(len(strength), int)}
    return Separation.of(strengths, level, **together | options)


def rank_intervals(strength, covariance, **options):
    options = {"simultaneous": False} | options
    return separation(strength, covariance, **options).ranks()


def indistinct_groups(strength, covariance):
    return separation(strength, covariance).groups()


def critical_values(covariance, level):
    strengths = StrengthDistribution.normal(np.zeros(len(covariance)), covariance)
    return distribution._critical_values(strengths, level)[:2]


def test_two_items_are_judged_by_one_comparison():
    covariance = np.diag([1.0, 3.0])  # the difference has standard error 2
    apart, close = np.array([0.0, 4.2]), np.array([0.0, 3.6])
    # 1.96 · 2 = 3.92; the simulated quantile is that up to its noise.
    assert_array_equal(rank_intervals(apart, covariance), [[2, 2], [1, 1]])
    assert_array_equal(rank_intervals(close, covariance), [[1, 2], [1, 2]])


@pytest.mark.parametrize("simultaneous", [False, True])
def test_simulated_quantile_is_that_of_the_largest_difference(simultaneous):
    # Independent items of equal variance: Tukey's studentized range, divided by √2.
    # 3.633 = the 95 % point for 4 items and many degrees of freedom (Tukey's table).
    found = critical_values(np.eye(4), 0.95)[simultaneous]
    if simultaneous:
        assert found == pytest.approx(np.full(4, 3.633 / np.sqrt(2)), abs=0.06)
    else:
        # Dunnett's two-sided point for 3 comparisons with one control: 2.35.
        assert found == pytest.approx(np.full(4, 2.35), abs=0.1)


def test_many_items_fall_back_to_bonferroni(monkeypatch):
    monkeypatch.setattr(distribution, "_SIMULATED", 3)
    each, together = critical_values(np.eye(5), 0.95)
    assert each == pytest.approx(np.full(5, norm.ppf(1 - 0.025 / 4)))
    assert together == pytest.approx(np.full(5, norm.ppf(1 - 0.025 / 10)))


@given(
    strength=st.lists(st.integers(-4, 4), min_size=1, max_size=7),
    variance=st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=7, max_size=7),
)
def test_groups_are_the_largest_sets_without_a_difference(strength, variance):
    strength = np.array(strength, dtype=float)
    covariance = np.diag(variance[: len(strength)])
    own = np.diag(covariance)
    error = np.sqrt(own[:, None] + own)  # they are independent
    np.fill_diagonal(error, 0.0)
    difference = strength[None, :] - strength[:, None]  # column better than row
    # Step down: the largest ratio among ordered pairs that did not differ before.
    strengths = StrengthDistribution.normal(strength, covariance)
    draws = strengths.draw(4000, np.random.default_rng(0)) if len(strength) > 1 else 0
    critical, better = critical_values(covariance, 0.95)[1][0], np.zeros_like(error)
    while (more := difference > critical * error).sum() > better.sum():
        better, largest = more, np.zeros(4000)
        for i, j in zip(*np.nonzero(~better & (error > 0)), strict=True):
            ratio = (draws[:, j] - draws[:, i]) / error[i, j]
            largest = np.maximum(largest, ratio)
        critical = min(critical, np.quantile(largest, 0.95))
    differ = more | more.T
    sets = [
        set(chosen)
        for size in range(1, len(strength) + 1)
        for chosen in combinations(range(len(strength)), size)
        if not differ[np.ix_(chosen, chosen)].any()
    ]
    largest = [one for one in sets if not any(one < other for other in sets)]
    found = [set(group.tolist()) for group in indistinct_groups(strength, covariance)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))
    # Best first.
    best = [strength[list(group)].max() for group in found]
    assert best == sorted(best, reverse=True)


def test_too_many_groups_are_none():
    # Of 40 pairs no two partners are joined: 2⁴⁰ cliques.
    joined = np.ones((80, 80), dtype=bool)
    for k in range(0, 80, 2):
        joined[k, k + 1] = joined[k + 1, k] = False
    assert maximal_cliques(joined) is None
    strength = np.zeros(distribution._GROUPED + 1)
    assert indistinct_groups(strength, np.ones(len(strength))) is None


def test_items_that_never_meet_are_never_different():
    component = np.array([0, 0, 1])
    found = separation([9.0, -9.0, 0.0], 0.01 * np.eye(3), component=component)
    assert_array_equal(found.ranks(), [[1, 1], [2, 2], [1, 1]])  # among those it meets
    assert [g.tolist() for g in found.groups()] == [[0, 2], [2, 1]]


def test_nor_are_they_where_distributions_are_lopsided():
    component = np.array([0, 0, 1])
    center, covariance = np.array([[9.0, -9.0, 0.0]]), 0.01 * np.eye(3)[None]
    sides = np.ones((1, 2, 3))
    strengths = StrengthDistribution(center, covariance, np.ones(1), sides=sides)
    found = Separation.of(strengths, 0.95, component)
    assert_array_equal(found.ranks(), [[1, 1], [2, 2], [1, 1]])  # among those it meets
    # Without sides, or components, the same statements come the other way.
    together = Separation.of(strengths, 0.95, np.zeros(3, int))
    assert_array_equal(together.ranks(), [[1, 1], [3, 3], [2, 2]])


def test_quantiles_of_a_mixture(rng):
    weight, center = np.array([0.3, 0.7]), np.array([[0.0, 1.0], [2.0, -1.0]])
    covariance = np.array([np.diag([1.0, 4.0]), np.diag([0.25, 1.0])])
    mixture = StrengthDistribution(center, covariance, weight)
    draws = mixture.mean + mixture.draw(200_000, rng)
    for share in (0.025, 0.4, 0.975):
        found = mixture.quantile(share)
        assert_allclose((draws <= found).mean(axis=0), share, atol=0.005)
        assert_allclose(mixture.below(found), share, atol=1e-9)
    assert_allclose(np.cov(draws.T), mixture.total, atol=0.05)
    gap = mixture.differences(np.array([0]), np.array([1]))
    assert_allclose((draws[:, 1] - draws[:, 0] <= 0).mean(), gap.below(0.0), atol=0.01)


def test_what_few_raters_say_has_few_degrees_of_freedom():
    excess = np.diag([4.0, 1.0])
    only = StrengthDistribution(
        np.zeros((1, 2)), np.zeros((1, 2, 2)), np.ones(1), excess, 4.0
    )
    t = student.ppf(0.975, 4)
    assert_allclose(only.quantile(0.975), [2 * t, t])
    # Next to a certain part of the same size there are twice as many.
    both = StrengthDistribution(np.zeros((1, 2)), excess[None], np.ones(1), excess, 4.0)
    assert_allclose(both.quantile(0.975)[1], np.sqrt(2) * student.ppf(0.975, 8))


def test_the_excess_is_never_negative_and_nothing_without_a_surplus(rng):
    root = rng.normal(size=(5, 9))
    information, penalty = root @ root.T, np.full(5, 0.7)
    hessian = information + np.diag(penalty)
    assert_allclose(excess_covariance(hessian, penalty, information), 0, atol=1e-12)
    meat = 3.0 * information
    inverse = np.linalg.inv(hessian)
    expected = inverse @ (2.0 * information) @ inverse
    found = excess_covariance(hessian, penalty, meat)
    assert_allclose(found, expected, rtol=1e-9)
    small = excess_covariance(hessian, penalty, 0.2 * information)
    assert_allclose(small, 0, atol=1e-12)


def test_many_items_have_one_excess_for_all(rng, monkeypatch):
    root = rng.normal(size=(5, 9))
    information, penalty = root @ root.T, np.full(5, 0.7)
    hessian = information + np.diag(penalty)
    exact = excess_covariance(hessian, penalty, 3.0 * information)
    monkeypatch.setattr(module, "_LARGEST_EIGEN", 3)
    assert_allclose(
        excess_covariance(hessian, penalty, 3.0 * information), exact, rtol=1e-9
    )
    assert not excess_covariance(hessian, penalty, 0.5 * information).any()


def test_sides_are_where_the_objective_has_grown_enough():
    # An undefeated item is bounded from below by its results, from above by the prior.
    pairs = Pairs(None, ["a", "a", "a", "b"], ["b", "b", "b", "c"])
    model = BradleyTerry("davidson", alpha=0.05).fit(pairs, [-1, -1, -1, 1])
    objective, x = model._problem.objective(0.05), model._solution()
    inverse = inverse_hessian(objective, x)
    sides = side_scales(objective, x, inverse, 3)
    assert sides[0, 0] < 1 < sides[1, 0]
    contrast = np.eye(3) - 1 / 3
    for item in range(3):
        line = inverse @ contrast[item]
        line /= np.sqrt(contrast[item] @ inverse @ contrast[item])
        for side, sign in ((0, -1), (1, 1)):
            z = sign * 1.96 * sides[side, item]
            grown = objective.value(x + z * line) - objective.value(x)
            assert grown == pytest.approx(0.5 * 1.96**2, rel=0.03)


def test_independent_errors_need_no_matrix(rng, monkeypatch):
    strength, variance = rng.normal(size=40), rng.random(40) * 0.1
    for simulated in (300, 10):
        monkeypatch.setattr(distribution, "_SIMULATED", simulated)
        monkeypatch.setattr(distribution, "_RANK_BLOCK", 7)
        one = rank_intervals(strength, variance)
        assert_array_equal(one, rank_intervals(strength, np.diag(variance)))
        groups = indistinct_groups(strength, variance)
        expected = indistinct_groups(strength, np.diag(variance))
        assert [g.tolist() for g in groups] == [g.tolist() for g in expected]
        assert len(groups) > 2


def test_the_largest_difference_of_every_draw(rng):
    draws, error = rng.normal(size=(5, 4)), rng.uniform(0.5, 2.0, (4, 4))
    error = error + error.T
    np.fill_diagonal(error, 0.0)
    gaps = np.abs(draws[:, :, None] - draws[:, None, :])
    expected = (gaps / np.where(error > 0, error, np.inf)).max(axis=2)
    precision = np.divide(1.0, error, out=np.full((4, 4), np.nan), where=error > 0)
    found = distribution.largest_leads(draws, precision, both=True)
    np.testing.assert_allclose(found, expected)
    precision[0, 1] = np.nan  # 1 over 0 does not count
    leads = (draws[:, None, :] - draws[:, :, None]) * precision
    found = distribution.largest_leads(draws, precision)
    np.testing.assert_allclose(found, np.nanmax(leads, axis=2))


@pytest.fixture
def model(rng):
    """Give a model of many items that met few others, with raters and an advantage."""
    n, games = 80, 250
    left = rng.integers(0, n, games)
    right = (left + rng.integers(1, n, games)) % n
    return BradleyTerry(alpha=0.2, ties="davidson").fit(
        Pairs(None, left, right),
        rng.integers(-1, 2, games),
        advantage=rng.integers(-1, 2, games).astype(float),
        rater=rng.integers(0, 40, games),
    )


def by_formula(model, by_rater):
    """H⁻¹ M H⁻¹ with the scores of single votes, or of raters by Bell and McCaffrey."""
    objective, x = model._problem.objective(model.alpha_), model._solution()
    objective.expand(x)
    hessian = objective.hessian()
    inverse = np.linalg.inv(hessian)
    beta, t = objective.split(x)
    d = objective.design.apply(beta)
    in_d, in_t = objective.link.scores(d, t)
    D = objective.design.matrix().toarray()
    # Row 3 k + c: the score of outcome c of cell k.
    in_beta = (in_d[:, :, None] * D[:, None, :]).reshape(-1, D.shape[1])
    single = np.column_stack([in_beta, in_t.ravel()])
    if not by_rater:
        meat = single.T @ (model.pair_counts_.reshape(-1, 1) * single)
        return inverse @ meat @ inverse
    meat, L = np.zeros_like(hessian), np.linalg.cholesky(hessian)
    share = objective.link.probabilities(d, t)
    for counts in model.rater_counts_.toarray().reshape(-1, *share.shape):
        expected = (counts.sum(axis=1, keepdims=True) * share).reshape(-1, 1)
        information = single.T @ (expected * single)
        B = np.linalg.solve(L, np.linalg.solve(L, information).T)
        root = np.linalg.inv(sqrtm(np.eye(len(B)) - B))
        score = L @ root @ np.linalg.solve(L, counts.ravel() @ single)
        meat += np.outer(score, score)
    return inverse @ meat @ inverse


@pytest.mark.parametrize("sparse", [0.0, 1.0])
def test_few_or_many_zeros_and_raters_in_parts(model, monkeypatch, sparse):
    monkeypatch.setattr(module, "_SPARSE", sparse)
    monkeypatch.setattr(module, "_ROWS", 7)
    monkeypatch.setattr(module, "_BLOCK", 16)
    objective, x = model._problem.objective(model.alpha_), model._solution()
    inverse = inverse_hessian(objective, x)
    found = sandwich(inverse, score_covariance(objective, x))
    expected = by_formula(model, by_rater=False)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    meat, _ = cluster_covariance(objective, x, model.rater_counts_, inverse)
    expected = by_formula(model, by_rater=True)
    assert_allclose(sandwich(inverse, meat), expected, rtol=1e-7, atol=1e-9)


def test_equal_raters_have_one_degree_of_freedom_less_than_their_number():
    left, right = np.triu_indices(4, 1)
    rater = np.repeat(np.arange(5), 2 * len(left))
    pairs = Pairs(None, np.tile(left, 10), np.tile(right, 10))
    y = np.tile(np.repeat([-1, 1], len(left)), 5)
    model = BradleyTerry(None, alpha=0).fit(pairs, y, rater=rater)
    assert_allclose(model.distribution().df, 4.0)
    # One who gives half of all votes leaves few: shares ½ and four times ⅛.
    weight = np.where(rater == 0, 4.0, 1.0)
    model.fit(pairs, y, rater=rater, sample_weight=weight)
    b = np.array([0.5, 0.125, 0.125, 0.125, 0.125])
    gamma = np.diag(b / (1 - b)) - np.outer(b, b) / np.sqrt(np.outer(1 - b, 1 - b))
    expected = np.trace(gamma) ** 2 / (gamma**2).sum()
    assert expected < 3
    assert_allclose(model.distribution().df, expected)


def test_an_item_of_one_rater_keeps_the_variance_of_the_model():
    left, right = ["a", "b", "a", "b", "a", "b"] * 3, ["b", "a", "b", "a", "b", "a"] * 3
    y, rater = [-1, -1, -1, 1, -1, 1] * 3, [0, 0, 0, 1, 1, 1, 2, 2, 2] * 2
    pairs = Pairs(None, left + ["c"] * 6, right + ["a"] * 6)
    model = BradleyTerry(None, alpha=0)
    model.fit(pairs, [*y, -1, 1, -1, 1, -1, 1], rater=rater + [0] * 6)
    plain = model.standard_errors("model")[2]
    assert model.standard_errors()[2] == pytest.approx(plain, rel=0.3)
    assert np.isinf(model.distribution().df[2])
    note = "Only one rater judged 'c'"
    assert any(note in text for text in Leaderboard(model).notes)
    assert (
        len(
            Leaderboard(
                model.fit(pairs, [*y, *y[:6]], rater=[*rater, *rater[:6]])
            ).notes
        )
        == 1
    )


@pytest.mark.parametrize("n", few([20, 300]))
def test_intervals_cover_where_few_raters_give_most_votes(n):
    setting = Setting(n_items=12, games=1000, raters=12, opinion=0.4, unequal=True)
    found = measure(setting, n)
    assert 0.9 < min(found.ratings, found.differences) < 0.97  # .87 before


def draw_votes(seed, n=8, votes=300):
    rng = np.random.default_rng(seed)
    left = np.append(np.arange(n), rng.integers(0, n, votes - n))
    right = (left + rng.integers(1, n, votes)) % n
    theta = rng.normal(size=n)
    win = rng.random(votes) < 1 / (1 + np.exp(theta[left] - theta[right]))
    return theta, left, right, np.where(win, 1, -1)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_rows_of_a_unit_are_one_observation(alpha):
    _, *votes = draw_votes(0)
    left, right, y = (np.repeat(column, 3) for column in votes)
    unit, rater = np.repeat(np.arange(300), 3), np.repeat(np.arange(300) % 11, 3)

    def covariance(left, right, y, alpha=0.0, **columns):
        model = BradleyTerry(None, alpha=alpha)
        return model.fit(Pairs(None, left, right), y, **columns).covariance()

    once = covariance(*votes, unit=np.arange(300))
    assert_allclose(covariance(left, right, y, unit=unit), once, rtol=1e-6)
    # A rater who gives all rows of a unit makes it no wider.
    two = covariance(left, right, y, alpha, unit=unit, rater=rater)
    one = covariance(left, right, y, alpha, rater=rater)
    assert_allclose(two, one, rtol=1e-6, atol=1e-12)


def test_units_and_raters_that_cross_add_up(rng):
    _, left, right, y = draw_votes(1)
    unit, rater = rng.integers(0, 60, 300), rng.integers(0, 40, 300)
    model = BradleyTerry(None, alpha=0)
    model.fit(Pairs(None, left, right), y, unit=unit, rater=rater)
    objective, x = model._problem.objective(0.0), model._solution()
    inverse = inverse_hessian(objective, x)
    counts = model.unit_counts_, model.rater_counts_, model.both_counts_
    parts = [cluster_covariance(objective, x, part, inverse)[0] for part in counts]
    expected = inverse @ (parts[0] + parts[1] - parts[2]) @ inverse
    expected = distribution.centered(expected, None)
    assert np.linalg.eigvalsh(expected).min() > -1e-9  # nothing to leave out
    assert_allclose(model.covariance(), expected, atol=1e-8)
    # Each unit has one vote of each of two raters, who always disagree.
    unit, rater = np.repeat(np.arange(150), 2), np.tile([0, 1, 2], 100)
    y[1::2], left[1::2], right[1::2] = -y[::2], left[::2], right[::2]
    model.fit(Pairs(None, left, right), y, unit=unit, rater=rater)
    assert np.linalg.eigvalsh(model.covariance()).min() > -1e-12


def test_intervals_cover_where_every_row_stands_three_times():
    inside = []
    for seed in range(40):
        theta, *votes = draw_votes(seed)
        left, right, y = (np.repeat(column, 3) for column in votes)
        model = BradleyTerry(None)
        model.fit(Pairs(None, left, right), y, unit=np.repeat(np.arange(300), 3))
        lower, upper = model.intervals().T
        truth = theta[model.items_] - theta.mean()
        inside.append((lower <= truth) & (truth <= upper))
    assert 0.91 < np.mean(inside) < 0.98  # .75 without units


@pytest.mark.parametrize("n_tasks", [12, 130])
def test_few_units_are_bounded_by_holm(n_tasks):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(n_tasks, 6)) - np.array([0, 0, 0, 0, 4, 9])
    pairs, y, task = Pairs.from_scores(scores)
    known = BradleyTerry().fit(pairs, y, unit=task).distribution()
    together = np.zeros(6, int)
    found = Separation.of(known, 0.95, together)
    _, better = found._apart(np.arange(6))
    n_open = 30 - int(better.sum())
    holm = norm.ppf(1 - 0.05 / n_open)
    if n_tasks < 100:
        assert better.any() and found.critical[0] == pytest.approx(holm)
    else:
        assert found.critical[0] < holm - 0.01
    # Without any significant difference this is the bound of Bonferroni.
    equal = replace(known, center=0 * known.center)
    if n_tasks < 100:
        bound = norm.ppf(1 - 0.05 / 30)
        assert Separation.of(equal, 0.95, together).critical[0] == pytest.approx(bound)


@pytest.mark.extended
@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_statements_about_score_tables_hold(spread):
    found = score_tables.measure(score_tables.Setting(10, 8, spread), 150)
    assert found.ratings > 0.92 and found.ranks > 0.92 and found.best > 0.9
