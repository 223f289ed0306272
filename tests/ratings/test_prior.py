# SPDX-License-Identifier: BSD-3-Clause
"""The learned prior on strengths: its evidence, what it covers, and what it costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from benchmarks.coverage import Setting, measure, play
from tests.extended import few
from tests.oracles.strength_sampler import sample_strengths
from tiebreak import BradleyTerry, Orders, Pairs, PlackettLuce
from tiebreak.losses import OrderLikelihood
from tiebreak.ratings.strengths import prior as module
from tiebreak.ratings.strengths.plackett_luce import _read
from tiebreak.solvers.evidence import find_mode


def wins(n, losses=0):
    pairs = Pairs(None, ["a"] * (n + losses), ["b"] * (n + losses))
    return pairs, [-1] * n + [1] * losses


def search(model):
    return module._Search(
        model._problem.objective,
        len(model.items_),
        model._problem.start(average=True),
        model._minimize,
    )


@pytest.mark.parametrize(("n", "losses"), [(1, 0), (3, 0), (5, 2), (40, 30)])
def test_the_evidence_of_two_items_is_an_integral(n, losses):
    found = search(BradleyTerry().fit(*wins(n, losses)))
    widths, values = [0.2, 0.7, 1.5, 4.0], []
    for tau in widths:

        def density(d, tau=tau):
            return expit(d) ** n * expit(-d) ** losses * norm.pdf(d, scale=tau * 2**0.5)

        exact = np.log(quad(density, -40, 40, points=[-3, 0, 3])[0])
        half_cauchy = np.log(tau) - np.log1p(tau**2)
        values.append(found.evidence(np.log(tau)) - exact - half_cauchy)
    # Up to a constant.
    assert_allclose(values, values[0], atol=0.06)


def test_the_penalty_of_the_mode_is_the_most_probable_one():
    model, _ = play(Setting(games=8, spread=1.0), (4,))
    found = search(model)
    s = -0.5 * np.log(2 * model.alpha_)
    best = found.evidence(s)
    for step in (-0.3, 0.3):
        assert found.evidence(s + step) < best + 1e-3
    assert model.prior_weights_.sum() == pytest.approx(1)
    assert_allclose(model.strength_.mean(), 0, atol=1e-12)


@pytest.mark.parametrize("mode", [-1.3, -0.1, 0.9])
def test_the_most_probable_width_is_found_between_the_steps(mode):
    where, spread = find_mode(lambda s: 25.0 * (s - np.exp(s - mode)), 0.0)
    assert_allclose(where, mode, atol=0.025)
    assert_allclose(spread, 0.2, rtol=0.05)


def test_variances_of_rows_are_those_of_the_dense_product(rng):
    pairs = Pairs(None, rng.integers(0, 4, 30), rng.integers(4, 9, 30))
    y, home = rng.integers(-1, 2, 30), rng.normal(size=30)
    for given in ({}, {"advantage": home, "context": rng.normal(size=(30, 2))}):
        model = BradleyTerry("davidson", alpha=0.3).fit(pairs, y, **given)
        objective = model._problem.objective(0.3)
        q = objective.n_coef
        root = rng.normal(size=(q, q))
        rows = objective.design.matrix().toarray()
        expected = np.diag(rows @ root @ root.T @ rows.T)
        found = module._row_variances(objective.design, root @ root.T)
        assert_allclose(found, expected)


def test_equal_items_make_a_narrow_prior_and_different_ones_a_wide_one():
    narrow, wide = (
        play(Setting(games=20, spread=spread), (3,))[0].alpha_ for spread in (0.0, 2.0)
    )
    assert 1 / np.sqrt(2 * narrow) < 0.4
    assert 1.2 < 1 / np.sqrt(2 * wide) < 3.5


def test_many_items_take_the_most_probable_width_alone(monkeypatch):
    pairs, y = Pairs(None, ["a", "b", "c"], ["b", "c", "a"]), [-1, -1, 0]
    averaged = BradleyTerry().fit(pairs, y)
    monkeypatch.setattr(module, "_AVERAGED", 2)
    single = BradleyTerry().fit(pairs, y)
    assert single.prior_ties_.tolist() in (["davidson", "rao-kupper"],
                                           ["rao-kupper", "davidson"])  # fmt: skip
    assert len(averaged.prior_weights_) > 4
    assert single.intervals().shape == (3, 2)
    monkeypatch.setattr(module, "_LARGEST_DENSE", 2)
    assert np.isfinite(BradleyTerry().fit(pairs, y).alpha_)


def test_lists_learn_their_prior_too():
    lists = [["a", "b", "c"], ["a", "c", "b"], ["a", "b", "c"]]
    model = PlackettLuce().fit(Orders(None, lists))
    assert model.items_[np.argmax(model.strength_)] == "a"
    assert np.isfinite(model.intervals()).all()
    pairs, y = wins(6, 4)  # lists of two are comparisons
    one, two = PlackettLuce().fit(pairs, y), BradleyTerry().fit(pairs, y)
    assert_allclose(one.strength_, two.strength_, rtol=2e-3)


def test_the_next_term_of_lists_of_two_is_that_of_comparisons(rng, monkeypatch):
    left, y = rng.integers(0, 5, 30), rng.choice([-1, 1], 30)
    pairs = Pairs(None, left, (left + rng.integers(1, 5, 30)) % 5)
    model = BradleyTerry(None, alpha=0.3).fit(pairs, y)
    monkeypatch.setattr(module, "_SMALL_SUM", 0.0)
    lists = OrderLikelihood(_read(pairs, y, None, "unknown")[1], 0.3)
    lists.expand(model.strength_)
    at = model.strength_, np.linalg.inv(lists.hessian())
    expected = module.laplace_correction(model._problem.objective(0.3), *at)
    assert_allclose(module.order_correction(lists, *at), expected, rtol=1e-3)


def test_top_lists_of_items_that_were_seen_cover():
    # Read as unknown, unlisted items make it 0.53.
    found = measure(Setting(n_items=8, lists=(60, 6, 2), spread=1.0), 15)
    assert min(found.ratings, found.differences) > 0.88


@pytest.mark.extended
@pytest.mark.parametrize(
    ("n_items", "games", "spread"), few([(6, 3, 0.8), (12, 10, 0.8), (20, 6, 1.5)])
)
def test_intervals_are_no_wider_than_those_of_the_exact_posterior(
    n_items, games, spread
):
    ratios, agreed = [], []
    for seed in range(2):
        model, _ = play(Setting(n_items=n_items, games=games, spread=spread), (9, seed))
        counts = model.pair_counts_.astype(int)
        left, right = (
            np.concatenate([np.repeat(side, counts[:, j]) for j in range(3)])
            for side in (model.pair_left_, model.pair_right_)
        )
        outcome = np.repeat([-1, 0, 1], counts.sum(axis=0))
        rng = np.random.default_rng(seed)
        drawn, _ = sample_strengths(left, right, outcome, len(model.items_), rng, 1500)
        exact = np.quantile(drawn, [0.025, 0.975], axis=0)
        found = model.intervals()
        ratios.append((found[:, 1] - found[:, 0]) / (exact[1] - exact[0]))
        inside = (drawn > found[:, 0]) & (drawn < found[:, 1])
        agreed.append(inside.mean())
    assert np.mean(np.concatenate(ratios)) < 1.1
    assert np.max(np.concatenate(ratios)) < 1.25  # 1,500 draws: ± 6 %
    assert np.mean(agreed) > 0.92


CASES = [
    Setting("world cup", n_items=32, games=4, spread=0.0),
    Setting(games=3, spread=0.8),
    Setting("hub", n_items=12, games=4),
    Setting("power law", games=6, spread=1.5),
    Setting(truth="rao-kupper", games=6),
    Setting(truth="thurstone", n_items=12, games=30),
    Setting(n_items=10, games=60, raters=5),
    Setting(n_items=10, games=60, raters=1),
    Setting(n_items=12, games=30, spread=None),
    Setting(n_items=8, lists=(60, 6, 2)),
    Setting(lists=(30, 3, 3), spread=1.5),
]


@pytest.mark.extended
@pytest.mark.parametrize("setting", few(CASES), ids=lambda s: f"{s.schedule}-{s.truth}")
def test_statements_about_strengths_hold(setting):
    found = measure(setting, 25, seed=7)
    assert found.ratings > 0.86
    assert found.differences > 0.86
    assert found.ranks >= 0.92
    assert found.best >= 0.9
