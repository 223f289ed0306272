# SPDX-License-Identifier: BSD-3-Clause
"""Differences without priors, and who could be best."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import dunnett, norm

from tests.extended import RUNS_ALL
from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.losses import RATING_LINKS
from tiebreak.ratings.leaderboard_table import draw_leaderboard
from tiebreak.ratings.strengths.contrasts import PairContrasts
from tiebreak.ratings.strengths.distribution import StrengthDistribution


def contrasts(center, covariance, precision=0.0, component=None):
    center, covariance = np.asarray(center, float), np.asarray(covariance, float)
    component = np.zeros(len(center), np.int64) if component is None else component
    known = StrengthDistribution.normal(center, covariance)
    return PairContrasts.of(known, 0, 0.5 * precision, np.asarray(component))


def play(rng, n, games, tau, newcomer=0):
    """Games of Davidson's model; the newcomer is as good as the best."""
    theta = tau * rng.normal(size=n)
    left = rng.integers(0, n, n * games // 2)
    right = (left + rng.integers(1, n, len(left))) % n
    if newcomer:
        theta = np.append(theta, theta.max())
        left = np.append(left, np.full(newcomer, n))
        right = np.append(right, rng.integers(0, n, newcomer))
    p = RATING_LINKS["davidson"].probabilities(theta[right] - theta[left], -1.0)
    y = (rng.random(len(left))[:, None] > p.cumsum(axis=1)).sum(axis=1) - 1
    model = BradleyTerry("davidson").fit(Pairs(None, left, right), y)
    return theta[np.asarray(model.items_, int)], model


def test_a_normal_model_gives_back_what_is_known_without_the_prior(rng):
    # Results worth N(θ, P⁻¹) and a prior on all: without the priors of two items the
    # estimate is that of a model in which only the others have one.
    P = rng.normal(size=(5, 5))
    P, kappa, observed = P @ P.T, 0.7, rng.normal(size=5)
    H = P + kappa * np.eye(5)
    known = contrasts(np.linalg.solve(H, P @ observed), np.linalg.inv(H), kappa)
    for a, b in ((0, 1), (3, 2)):
        kept = kappa * np.eye(5)
        kept[[a, b], [a, b]] = 0.0
        theta = np.linalg.solve(P + kept, P @ observed)
        spread = np.linalg.inv(P + kept)
        found = known.between(np.array([a]), np.array([b]))
        assert_allclose(found.mean, theta[b] - theta[a])
        c = np.zeros(5)
        c[[a, b]] = -1, 1
        assert_allclose(found.errors() ** 2, c @ spread @ c)


def test_two_items_that_meet_nobody_else_know_their_difference_only():
    # Information of the difference alone: P is singular.
    H = 3.0 * np.array([[1.0, -1.0], [-1.0, 1.0]]) + 0.5 * np.eye(2)
    theta = np.linalg.solve(H, 3.0 * np.array([-1.2, 1.2]))
    known = contrasts(theta, np.linalg.inv(H), 0.5)
    found = known.between(np.array([0]), np.array([1]))
    assert_allclose(found.mean, 1.2, rtol=1e-6)
    assert_allclose(found.errors() ** 2, 1 / 3, rtol=1e-6)
    # Of an item without any results nothing is known.
    known = contrasts([0.3, 0.0], np.diag([1.0, 2.0]), 0.5)
    assert np.isinf(known.between(np.array([0]), np.array([1])).errors())


def test_it_is_near_the_maximum_of_the_likelihood(rng):
    _, model = play(rng, 6, 200, 0.7)
    exact = BradleyTerry("davidson", alpha=0).fit(
        Pairs(None, model.pair_left_.repeat(3), model.pair_right_.repeat(3)),
        np.tile([-1, 0, 1], len(model.pair_left_)),
        sample_weight=model.pair_counts_.ravel(),
    )
    left, right = np.triu_indices(6, 1)
    found = model.contrasts().between(left, right)
    assert_allclose(
        found.mean, exact.strength_[right] - exact.strength_[left], atol=0.03
    )
    error = np.sqrt(exact.distribution("model").differences(left, right).total)
    assert_allclose(found.errors(), error, rtol=0.1)


def test_the_best_set_is_that_of_dunnett(rng):
    # Means of equal samples: comparisons with one control, one-sided.
    samples = [rng.normal(loc, 1.0, 400) for loc in (0.0, 0.12, 0.2, -0.1)]
    mean = np.array([sample.mean() for sample in samples])
    found = contrasts(mean, np.eye(4) / 400)
    for i in range(4):
        others = [samples[j] for j in range(4) if j != i]
        p = dunnett(*others, control=samples[i], alternative="greater").pvalue.min()
        assert found.best[i] == pytest.approx(p, abs=0.03)


@pytest.mark.parametrize("own", [1.0, 100.0])
def test_leads_over_one_item_are_correlated(own):
    # All others have the item in common, which Bonferroni's bound does not know: with
    # z its deviation, the largest of k leads is that of k independent ones.
    k, z = 20, np.linspace(-8.0, 8.0, 2001)
    lead = 2.2 * np.sqrt(own + 1.0)
    found = contrasts(np.append(0.0, np.full(k, lead)), np.diag([own, *[1.0] * k]))
    below = norm.cdf(lead - np.sqrt(own) * z) ** k
    exact = 1.0 - norm.pdf(z) @ below * (z[1] - z[0])
    assert exact < 0.8 * k * norm.sf(2.2)
    assert found.best[0] == pytest.approx(exact, rel=0.12)


def test_two_items_are_one_test_and_sets_are_apart():
    found = contrasts([0.0, 3.0], np.diag([1.0, 3.0])).best
    assert found == pytest.approx([norm.sf(1.5), norm.sf(-1.5)], abs=0.02)
    both = contrasts([0.0, 9.0, 5.0, 0.0], 0.01 * np.eye(4), component=[0, 0, 1, 1])
    assert (both.best > 0.05).tolist() == [False, True, True, False]
    assert contrasts([1.0], np.eye(1)).best.tolist() == [1.0]


def test_many_items_are_bounded(monkeypatch, rng):
    monkeypatch.setattr("tiebreak.ratings.strengths.contrasts._DRAWN", 5)
    few, bounded = rng.normal(size=8), contrasts(np.arange(8.0), np.eye(8))
    lead = (7 - np.arange(8)) / np.sqrt(2)
    lead[7] = -lead[6]
    assert_allclose(bounded.best, np.minimum(7 * norm.sf(lead), 1.0))
    monkeypatch.setattr("tiebreak.ratings.strengths.contrasts._DRAWN", 300)
    drawn = contrasts(few, np.eye(8)).best
    assert (drawn >= 1 / 4001).all()


def test_an_item_is_first_only_where_it_could_be_best(rng):
    for seed in range(4):
        _, model = play(np.random.default_rng(seed), 12, 60, 1.0)
        table = Leaderboard(model).table
        best = table["could_be_best"].to_numpy()
        assert ((table["rank_best"].to_numpy() == 1) == best).all()
        assert best[0] and not best.all()


@pytest.mark.filterwarnings("ignore:2 items never meet")
def test_the_only_item_that_could_be_best_has_one_rank_and_a_group_of_its_own():
    # c is better than both, but of so few results all pairs at once are not told apart.
    rows = ["ca"] * 7 + ["cb"] * 6 + ["ac", "ab", "ba", "xy", "yx"]
    left, right = np.array([list(row) for row in rows]).T
    board = Leaderboard.from_results(Pairs(None, left, right), -np.ones(len(rows)))
    found = {row["item"]: row for row in board.table.to_dicts()}
    worst = board.model.rank_intervals(simultaneous=True)[:, 1]
    assert worst[board.model.items_.tolist().index("c")] > 1
    assert (found["c"]["rank_best"], found["c"]["rank_worst"]) == (1, 1)
    assert not set(found["c"]["group"].split()) & set(found["a"]["group"].split())
    assert set(found["a"]["group"].split()) & set(found["b"]["group"].split())
    assert set(found["c"]["group"].split()) <= set(found["x"]["group"].split())


def test_a_newcomer_is_compared_by_its_results(rng):
    runs, worse, inside = (200 if RUNS_ALL else 30), 0, 0
    for seed in range(runs):
        theta, model = play(np.random.default_rng(seed), 12, 60, 0.7, newcomer=10)
        best = np.flatnonzero(theta == theta.max())
        known = model.contrasts()
        found = known.compare(best[:1], best[1:], 0.95)
        worse += found.p_value[0] < 0.05
        inside += (known.best[best] >= 0.05).all()
    assert worse <= 0.09 * runs
    assert inside >= 0.9 * runs


def test_very_few_results_separate_nobody():
    # Three wins of three happen to equals in a quarter of all tables.
    pairs = Pairs(None, ["a"] * 3, ["b"] * 3)
    board = Leaderboard.from_results(pairs, [-1, -1, -1])
    assert board.table["could_be_best"].all()
    assert board.versus("a", "b")["p_value"][0] > 0.05


def test_a_p_value_is_not_less_than_that_of_the_sign_test():
    for n in range(1, 9):
        board = Leaderboard.from_results(Pairs(None, ["a"] * n, ["b"] * n), [-1] * n)
        row = board.versus("a", "b").row(0, named=True)
        assert row["p_value"] >= 2.0 ** (1 - n) * (1 - 1e-9)
        assert (row["p_value"] < 0.05) == (row["lower"] > 0) == (n >= 6)


def test_the_results_alone_say_whether_two_differ(rng):
    # From six results on, with errors that are nearly normal, the prior has no say.
    _, model = play(rng, 12, 60, 0.5)
    known, (left, right) = model.contrasts(), np.triu_indices(12, 1)
    found, alone = known.compare(left, right, 0.95), known.between(left, right)
    assert_allclose(found.p_value, 2 * norm.sf(abs(alone.mean) / alone.errors()))
    assert_allclose(found.upper - found.lower, 2 * 1.96 * alone.errors(), rtol=1e-3)
    assert (found.p_value < 0.05).any()
    known = model.contrasts().take(np.arange(12)[::-1])
    assert_allclose(known.compare(11 - left, 11 - right, 0.95).p_value, found.p_value)


def test_results_that_all_agree_tell_the_best():
    # Standard errors grow with the differences, and say nothing.
    worse, better = np.tile(np.triu_indices(5, 1), 8)
    board = Leaderboard.from_results(Pairs(None, better, worse), -np.ones(80))
    assert board.table.filter("could_be_best")["item"].to_list() == [4]
    known = board.model.contrasts()
    gap = known.between(np.array([3]), np.array([4]))
    assert gap.mean < 2.0 * gap.errors()
    # If two are equal, their eight games have the probability ½ each.
    assert 0.9 < known.log_ratio(3, 4) / (8 * np.log(2)) <= 1.0
    assert known.behind(np.array([3]), np.array([4]))[0] < 0.01
    some = known.take(np.array([4, 1, 3]))
    assert some.log_ratio(2, 0) == known.log_ratio(3, 4)


def test_sparse_populations_place_those_with_enough_results(rng):
    left = np.r_[rng.integers(0, 30, 1500), np.arange(30, 150)]
    right = np.r_[(left[:1500] + rng.integers(1, 30, 1500)) % 30, np.zeros(120, int)]
    y = np.where(rng.random(len(left)) < 0.5, -1, 1)
    pairs = Pairs(None, left, right)
    board = Leaderboard.from_results(pairs, y)
    placed = board.table.filter("placed")
    assert sorted(placed["item"]) == list(range(30))
    assert placed["rank_worst"].max() <= 30 and placed["rank"].to_list()[0] == 1
    rest = board.table.filter(~board.table["placed"])
    assert rest["rank"].is_null().all() and rest["could_be_best"].is_null().all()
    assert "120 of 150 items have too few results" in board.notes[-1]
    shown = draw_leaderboard(board.table, 0.95, 80, 150)
    last = [str([*column.cells][-1]) for column in shown.columns]
    assert last.count("–") == 3  # no rank, no range of ranks, no group
    many = board.table.with_columns(board.table["group"] + " aa")  # past the 26th
    heads = [column.header for column in draw_leaderboard(many, 0.95, 80, 150).columns]
    assert "ranks" in heads and "group" not in heads
    everyone = Leaderboard.from_results(pairs, y, place_from=1).table
    assert everyone["placed"].all()


def test_weights_are_a_penalized_fit_without_two_penalties(rng):
    # The whole likelihood, by a general solver: the one step is near its minimum.
    _, model = play(rng, 4, 120, 0.8, newcomer=15)
    a, b = 4, int(np.argmax(model.strength_[:4]))
    penalty = np.full(5, model.alpha_)
    penalty[[a, b]] = 0.0
    link, counts = RATING_LINKS["davidson"], model.pair_counts_

    def objective(x):
        d = x[model.pair_right_] - x[model.pair_left_]
        return link.value(d, x[5], counts) + penalty @ x[:5] ** 2

    x = minimize(objective, np.append(model.strength_, -1.0), method="BFGS").x
    found = model.contrasts().between(np.array([a]), np.array([b]))
    assert_allclose(found.mean[0], x[b] - x[a], atol=0.35 * found.errors()[0])
