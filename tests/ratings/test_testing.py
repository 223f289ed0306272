# SPDX-License-Identifier: BSD-3-Clause
"""Likelihoods, goodness of fit, differences of two items, and votes that are needed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, chi2, norm

from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.ratings import likelihood_ratio_test, votes_needed
from tiebreak.ratings.leaderboard import holm


@pytest.fixture
def results(rng):
    n, m = 6, 900
    theta = np.linspace(-0.6, 0.6, n)
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    d = theta[right] - theta[left] - 0.5
    half = np.stack([-d / 2, np.full(m, -0.4), d / 2], axis=1)
    share = np.exp(half) / np.exp(half).sum(axis=1, keepdims=True)
    y = (rng.random(m)[:, None] > share.cumsum(axis=1)[:, :2]).sum(axis=1) - 1
    return Pairs(None, left, right), y


def test_the_likelihood_is_the_sum_of_log_probabilities(results):
    pairs, y = results
    model = BradleyTerry("davidson", alpha=0).fit(pairs, y, advantage=1)
    proba = model.predict_proba(pairs, advantage=1)
    found = model.likelihood()
    total = np.log(proba[np.arange(len(y)), y + 1]).sum()
    assert found.log_likelihood == pytest.approx(total, abs=1e-3)
    assert found.n_parameters == 5 + 1 + 1
    assert found.aic == pytest.approx(14 - 2 * total, abs=1e-2)
    assert found.bic == pytest.approx(7 * np.log(len(y)) - 2 * total, abs=1e-2)
    # A prior changes the strengths and not what the data could at most say.
    learned = BradleyTerry("davidson").fit(pairs, y, advantage=1)
    assert learned.likelihood().log_likelihood == pytest.approx(total, abs=1e-3)


def test_an_effect_is_found_by_likelihood_ratio_and_by_its_error(results):
    pairs, y = results
    plain = BradleyTerry("davidson").fit(pairs, y)
    sided = BradleyTerry("davidson").fit(pairs, y, advantage=1)
    test = likelihood_ratio_test(plain, sided)
    assert test.df == 1
    assert test.p_value < 1e-4
    row = sided.coefficients().row(0, named=True)
    assert row["coefficient"] == "advantage"
    assert row["estimate"] == pytest.approx(0.5, abs=3 * row["standard_error"])
    # Wald's statistic and the likelihood ratio agree where results are many.
    assert row["z"] ** 2 == pytest.approx(test.statistic, rel=0.2)
    with pytest.raises(ValueError, match="smaller model first"):
        likelihood_ratio_test(sided, plain)


def test_expected_counts_are_those_of_the_model(results):
    pairs, y = results
    model = BradleyTerry("davidson", alpha=0).fit(pairs, y, advantage=1)
    fit = model.goodness_of_fit()
    table = fit.table
    assert table["tied_expected"].sum() == pytest.approx(table["tied"].sum(), rel=1e-4)
    # The likelihood equations: every item has the points that are expected of it.
    points = np.zeros(6)
    for side, won in (("left", "left_won"), ("right", "right_won")):
        gap = table[won] - table[f"{won}_expected"]
        gap += (table["tied"] - table["tied_expected"]) / 2
        np.add.at(points, table[side].to_numpy(), gap.to_numpy())
    assert_allclose(points, 0, atol=1e-2)
    worst = fit.table["residual"].abs().to_list()
    assert worst == sorted(worst, reverse=True)
    assert fit.p_value > 0.001
    # Two free counts of each pair, five strengths, ties and an advantage.
    assert fit.df == 2 * len(table) - 7
    assert fit.statistic == pytest.approx((np.array(worst) ** 2).sum())


def draw_few(rng, n=20, games=6):
    """Draw tables in which every item has a few games, and no side an effect."""
    order = np.concatenate([rng.permutation(n) for _ in range(games)])
    left, right = order[::2], order[1::2]
    strength = 0.7 * rng.normal(size=n)
    d = strength[right] - strength[left] + rng.logistic(size=len(left))
    return Pairs(None, left, right), np.where(abs(d) < 0.5, 0, np.sign(d)).astype(int)


def test_few_games_are_compared_with_draws(rng):
    pairs, y = draw_few(rng)
    plain = BradleyTerry().fit(pairs, y)
    sided = BradleyTerry().fit(pairs, y, advantage=1)
    test, fit = likelihood_ratio_test(plain, sided), plain.goodness_of_fit()
    # Shares of 199 draws, always the same ones.
    assert (200 * test.p_value) % 1 == pytest.approx(0, abs=1e-9)
    assert (200 * fit.p_value) % 1 == pytest.approx(0, abs=1e-9)
    assert likelihood_ratio_test(plain, sided) == test
    assert test.p_value > chi2.sf(test.statistic, 1)
    half = np.full(len(y), 0.5)  # no games that could be drawn
    models = [
        BradleyTerry().fit(pairs, y, sample_weight=half, **columns)
        for columns in ({}, {"advantage": 1})
    ]
    weighted = likelihood_ratio_test(*models)
    assert weighted.p_value == pytest.approx(chi2.sf(weighted.statistic, 1))


@pytest.mark.extended
def test_true_models_are_seldom_rejected():
    rng, runs, found = np.random.default_rng(2), 300, np.zeros(2)
    for _ in range(runs):
        pairs, y = draw_few(rng)
        plain = BradleyTerry().fit(pairs, y)
        sided = BradleyTerry().fit(pairs, y, advantage=1)
        found[0] += likelihood_ratio_test(plain, sided).p_value < 0.05
        found[1] += plain.goodness_of_fit().p_value < 0.05
    # Chi-square rejects 12 % of the first; of 300 at 5 % within two standard errors.
    assert (found >= 7).all() and (found <= 23).all()


def test_intervals_of_probabilities_hold_the_prediction(results):
    pairs, y = results
    model = BradleyTerry("davidson").fit(pairs, y, advantage=1)
    few = pairs[:20]
    found = model.predict_interval(few, advantage=1)
    proba = model.predict_proba(few, advantage=1)
    assert (found[:, :, 0] <= proba + 1e-12).all()
    assert (proba <= found[:, :, 1] + 1e-12).all()
    narrow = model.predict_interval(few, advantage=1, level=0.5)
    wide, less = np.ptp(found, axis=2), np.ptp(narrow, axis=2)
    assert (less[:, [0, 2]] < wide[:, [0, 2]]).all()


def test_versus_is_the_difference_with_its_error(results):
    pairs, y = results
    model = BradleyTerry("davidson", alpha=0).fit(pairs, y)
    board = Leaderboard(model)
    row = board.versus(5, 0).row(0, named=True)
    unit = 400 / np.log(10)
    five, zero = (model.items_.tolist().index(item) for item in (5, 0))
    gap = model.strength_[five] - model.strength_[zero]
    assert row["difference"] == pytest.approx(unit * gap)
    error = unit * model.standard_errors(reference=0)[five]
    assert row["upper"] - row["lower"] == pytest.approx(2 * 1.959964 * error)
    assert row["p_value"] == pytest.approx(2 * norm.sf(row["difference"] / error))
    assert row["probability"] == pytest.approx(norm.cdf(row["difference"] / error))
    whole = board.versus(5)
    assert whole["votes_needed"].dtype.is_integer()
    assert len(whole) == 5
    assert (whole["p_adjusted"] >= whole["p_value"]).all()
    with pytest.raises(ValueError, match="with itself"):
        board.versus(5, 5)
    with pytest.raises(ValueError, match="'x' is not among the items"):
        board.versus(5, "x")


def test_items_that_never_meet_are_not_compared():
    pairs = Pairs(None, ["a", "a", "c", "c"], ["b", "b", "d", "d"])
    with pytest.warns(UserWarning, match="never meet"):
        board = Leaderboard(BradleyTerry().fit(pairs, [-1, 1, -1, -1]))
    assert board.versus("a", "c")["p_value"].to_list() == [None]
    assert board.versus("a", "b")["p_value"][0] is not None
    assert any("never meet" in note for note in board.notes)
    # Ranks count within a set.
    assert sorted(board.table.select("set", "rank").rows()) == [
        (1, 1), (1, 1), (2, 1), (2, 2),
    ]  # fmt: skip
    assert board.table["item"].to_list()[2:] == ["c", "d"]
    assert " set " in str(board)


def test_holm_adjusts_from_the_smallest():
    # 0.01 · 3, then 0.02 · 2, then 0.04 · 1, none below the one before.
    assert_allclose(holm(np.array([0.04, 0.01, 0.02])), [0.04, 0.03, 0.04])
    assert_allclose(holm(np.array([0.9, 0.8])), [1.0, 1.0])


def test_votes_needed_are_those_of_the_formula():
    # n = (1.960 + 0.842)² / (h 0.1151²), with h = 0.1771, and 0.2492 without ties.
    assert votes_needed(20, ties=0.29) == pytest.approx(
        7.849 / (0.1771 * 0.013255), rel=1e-3
    )
    assert votes_needed(20) == pytest.approx(7.849 / (0.24917 * 0.013255), rel=1e-3)
    assert votes_needed([20, 40], ties=0.29).tolist()[1] < 850
    for bad, words in ((0, "equal items"), (20, "share")):
        with pytest.raises(ValueError, match=words):
            votes_needed(bad, ties=0.0 if bad == 0 else 1.5)


def test_so_many_votes_separate_two_items_as_often_as_they_say():
    n, d = votes_needed(100), 100 * np.log(10) / 400
    wins = np.arange(1, n)
    strength = np.log(wins / (n - wins))
    error = np.sqrt(1 / wins + 1 / (n - wins))
    share = binom.pmf(wins, n, 1 / (1 + np.exp(-d)))
    assert share[strength / error > 1.96].sum() == pytest.approx(0.8, abs=0.03)
