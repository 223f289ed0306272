# SPDX-License-Identifier: BSD-3-Clause
"""Votes of judges who differ: the likelihood, recovery, coverage and odd judges."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.judges import Setting, draw, one
from tests.oracles.judges_plain import fit_given_spread, judge_loss, marginal_loss
from tiebreak import (
    BradleyTerry,
    DataWarning,
    JudgeBradleyTerry,
    Pairs,
)
from tiebreak.losses.judge_likelihood import JudgeCells, JudgeObjective
from tiebreak.ratings.strengths import judge_bradley_terry
from tiebreak.ratings.strengths.judge_bradley_terry import _excess
from tiebreak.solvers import minimize_newton


def draw_votes(seed, n_items, n_judges, n_votes):
    """Draw votes; 30 % of the judges toss coins and 5 % vote the other way round."""
    rng = np.random.default_rng(seed)
    theta, a = 0.8 * rng.normal(size=n_items), np.ones(n_judges)
    careless, reversed_ = round(0.3 * n_judges), round(0.05 * n_judges)
    a[:careless], a[careless : careless + reversed_] = 0.0, -1.0
    t = math.log(0.6) + 0.3 * rng.normal(size=n_judges)
    b = 0.1 + 0.2 * rng.normal(size=n_judges)
    judge = np.append(
        np.arange(n_judges), rng.integers(0, n_judges, n_votes - n_judges)
    )
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    d = a[judge] * (theta[right] - theta[left]) - b[judge]
    odds = np.stack([np.exp(-d / 2), np.exp(t[judge]), np.exp(d / 2)], axis=1)
    odds /= odds.sum(axis=1, keepdims=True)
    y = (rng.random(n_votes)[:, None] > odds.cumsum(axis=1)).sum(axis=1) - 1
    truth = {
        "theta": (theta - theta.mean()) * a.mean(),
        "a": a / a.mean(),
        "t": t,
        "b": b,
    }
    return Pairs._of(None, left, right, np.arange(n_items)), y, judge, truth


def small_cells(seed=0, n_items=4, n_judges=3, n_votes=60):
    pairs, y, judge, _ = draw_votes(seed, n_items, n_judges, n_votes)
    weight = np.ones(n_votes)
    return JudgeCells.of(judge, pairs, y.astype(np.int8), weight)


def listed(cells):
    """Give the votes of each judge one by one."""
    out = []
    for begin, end in zip(cells.start, cells.start[1:], strict=False):
        votes = []
        for k in range(begin, end):
            for outcome in (-1, 0, 1):
                times = int(cells.counts[k, outcome + 1])
                votes += times * [(cells.left[k], cells.right[k], outcome)]
        out.append(votes)
    return out


SPREADS = [(0.5, 0.4, 0.3), (0.9, 0.0, 0.2), (0.0, 0.3, 0.0), (0.0, 0.0, 0.0)]


LINKS = ["davidson", "cumulative"]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("spread", SPREADS)
def test_the_objective_is_that_of_the_plain_version(spread, link):
    cells = small_cells(n_votes=24)
    spread = np.array(spread)
    objective = JudgeObjective(cells, spread, 0.1, sided=True, tied=True, link=link)
    x = np.random.default_rng(1).normal(size=6)
    slow = marginal_loss(
        x[:4], x[4], x[5], spread, listed(cells), 0.1, objective.stiffness, link
    )
    assert objective.value(x) == pytest.approx(slow, rel=1e-6)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_gradients_are_differences_of_values(spread, alpha, link):
    cells = small_cells(n_items=5, n_judges=6, n_votes=300)
    spread, rng = np.array(spread), np.random.default_rng(2)
    kind = {"sided": True, "tied": True, "link": link}
    objective = JudgeObjective(cells, spread, alpha, **kind)
    objective.stiffness = 1.0  # large terms would hide small ones
    x = 0.7 * rng.normal(size=7)
    _, gradient = objective.expand(x)
    in_spread, slope = objective.in_spread.copy(), objective.scale_slope.copy()
    h = 1e-4

    def change(x_plus, x_minus, of):
        return (of(x_plus) - of(x_minus)) / (2 * h)

    def scale(at):
        objective.value(at)
        return objective.scale

    for k, unit in enumerate(np.eye(7)):
        ends = x + h * unit, x - h * unit
        assert gradient[k] == pytest.approx(change(*ends, objective.value), abs=2e-6)
        assert slope[k] == pytest.approx(change(*ends, scale), abs=1e-6)

    def of_spread(log_spread):
        objective.set_spread(np.exp(log_spread))
        return objective.value(x)

    for k in np.flatnonzero(spread):
        with np.errstate(divide="ignore"):
            ends = [np.log(spread) + sign * h * np.eye(3)[k] for sign in (1, -1)]
        assert in_spread[k] == pytest.approx(change(*ends, of_spread), abs=2e-6)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 2.0])
def test_equal_judges_are_bradley_terry(alpha, ties):
    pairs, y, judge, _ = draw_votes(3, 6, 5, 400)
    plain = BradleyTerry(ties, alpha=alpha, tol=1e-12).fit(pairs, y)
    cells = JudgeCells.of(judge, pairs, y.astype(np.int8), np.ones(len(y)))
    kind = {"sided": False, "tied": True, "link": plain._link.inner.name}
    scale = 1.0 if ties == "davidson" else 1.0 + plain.tie_probability_
    same = JudgeObjective(cells, np.zeros(3), scale**2 * alpha, **kind)
    found = minimize_newton(same, np.zeros(7), tol=1e-12).x
    at = np.argsort(plain.items_)
    # At the best p₀, the strengths of the likelihood of judges are those of d′.
    if ties == "davidson" or alpha == 0.0:
        assert scale * found[:6] == pytest.approx(plain.strength_[at], abs=1e-8)
        width = plain.tie_ if ties == "davidson" else math.log(plain.tie_)
        assert math.exp(found[6]) == pytest.approx(width, abs=1e-8)
    model = JudgeBradleyTerry(ties, alpha=alpha, vary=(), tol=1e-12)
    model.fit(pairs, y, rater=judge)
    assert model.strength_ == pytest.approx(plain.strength_, abs=1e-8)
    assert model.intervals() == pytest.approx(plain.intervals(), abs=1e-7)
    assert model.predict_proba(pairs) == pytest.approx(plain.predict_proba(pairs))


@pytest.mark.extended
@pytest.mark.parametrize("link", LINKS)
def test_a_fit_is_that_of_scipy(link):
    cells = small_cells(n_items=3, n_judges=2, n_votes=30)
    spread = np.array([0.6, 0.0, 0.0])
    objective = JudgeObjective(cells, spread, 0.2, sided=True, tied=True, link=link)
    found = minimize_newton(objective, np.zeros(5), tol=1e-10, max_iter=300)
    assert found.converged
    start = found.x + np.array([0.05, -0.1, 0.05, 0.1, -0.1])
    given = listed(cells), 3, spread, 0.2, objective.stiffness, link
    slow = fit_given_spread(*given, start)
    assert found.x == pytest.approx(slow, abs=3e-3)  # of its differences
    assert np.abs(found.x).max() > 0.1


@pytest.mark.parametrize("link", LINKS)
def test_means_of_judges_are_nearer_to_the_integral_than_modes(link):
    cells = small_cells(seed=4, n_items=4, n_judges=3, n_votes=45)
    theta, spread = np.array([1.5, 0.5, -0.5, -1.5]), np.array([0.9, 0.0, 0.0])
    objective = JudgeObjective(cells, spread, 0.1, sided=False, tied=True, link=link)
    objective.expand(np.append(theta, -0.5))
    e, exact = np.linspace(-6.0, 6.0, 1001), []
    for votes in listed(cells):
        given = votes, theta, 0.0, -0.5, spread, link
        loss = np.array([judge_loss(np.array([x]), *given) for x in e])
        weight = np.exp(loss.min() - loss)
        exact.append((weight @ e) / weight.sum())
    off_mean = np.abs(objective.mean[:, 0] - exact).max()
    off_mode = np.abs(objective.effect[:, 0] - exact).max()
    assert off_mean < 0.3 * off_mode and off_mode > 0.02


def test_equal_judges_are_a_part_of_the_model():
    setting = Setting(5, 20, mixed=False)
    pairs, y, judge, _ = draw(setting, 1)
    model = JudgeBradleyTerry().fit(pairs, y, rater=judge)
    assert model.equal_ > 0.9
    assert model.strength_ == pytest.approx(model.plain_.strength_, abs=0.02)
    # Their part is the plain model, and the others are not.
    nodes = len(model.plain_.prior_weights_)
    weight, center = model.prior_weights_[-nodes:], model.node_strengths_[-nodes:]
    found = weight @ center / weight.sum()
    assert found == pytest.approx(model.plain_.strength_, abs=1e-8)
    other = model.prior_weights_[:-nodes] @ model.node_strengths_[:-nodes]
    assert np.abs(other / (1 - model.equal_) - found).max() > 0.05
    # Judges who clearly differ are not equal.
    pairs, y, judge, _ = draw_votes(3, 6, 6, 3000)
    model = JudgeBradleyTerry().fit(pairs, y, rater=judge)
    assert model.equal_ < 1e-6 and model.spread_[0] > 0.3


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_what_is_known_of_judges_is_averaged(ties, monkeypatch):
    pairs, y, judge, _ = draw(Setting(20, 20, ties=ties), 0)
    model = JudgeBradleyTerry(ties).fit(pairs, y, rater=judge)
    parts = []
    whole = judge_bradley_terry._average_parts

    def alone(given, *others):
        parts.extend(SimpleNamespace(**whole([one], *others)) for one in given)
        return whole(given, *others)

    monkeypatch.setattr(judge_bradley_terry, "_average_parts", alone)
    JudgeBradleyTerry(ties).fit(pairs, y, rater=judge)
    w = np.array([1 - model.equal_, model.equal_])
    assert 0.01 < model.equal_ < 0.98
    names = ("discrimination_", "side_bias_", "side_", "excess_")
    for name in names:
        mean = sum(a * getattr(part, name) for a, part in zip(w, parts, strict=True))
        # The scale of sides moves a little with p₀.
        assert getattr(model, name) == pytest.approx(mean, rel=1e-3)
    assert parts[1].discrimination_.tolist() == [1.0] * 20
    assert not parts[1].side_bias_.any() and parts[0].side_bias_.any()
    # Second moments about these means, if judges differ.
    apart = parts[0].discrimination_ - model.discrimination_
    moment = parts[0].judge_covariance_[:, 0, 0] + apart**2
    assert model.judge_covariance_[:, 0, 0] == pytest.approx(moment)


@pytest.mark.extended
def test_intervals_of_judges_hold_also_where_they_may_be_equal():
    rng, inside, equal = np.random.default_rng(0), [], []
    for _ in range(20):
        a, strength = 1 + 0.4 * rng.normal(size=20), 0.8 * rng.normal(size=10)
        judge = np.repeat(np.arange(20), 60)
        left = rng.integers(0, 10, 1200)
        right = (left + rng.integers(1, 10, 1200)) % 10
        chance = 1 / (1 + np.exp(a[judge] * (strength[left] - strength[right])))
        y = np.where(rng.random(1200) < chance, 1, -1)
        model = JudgeBradleyTerry().fit(Pairs(None, left, right), y, rater=judge)
        table, truth = model.judges().sort("judge"), a / a.mean()
        ends = table.select("discrimination_lower", "discrimination_upper").to_numpy()
        inside.append(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
        equal.append(model.equal_)
    assert np.mean(equal) > 0.2
    assert np.mean(inside) > 0.87  # .50 with the variance of both models averaged


def test_the_excess_is_the_mean_square_of_scores():
    """In units of what equal judges would give: as many as parameters are free."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 3))
    root = rng.normal(size=(5, 3))
    hessian = 2.0 * root.T @ root / 5 + np.eye(3)

    class Objective:
        alpha, n_coef = 0.4, 2
        judge_scores = staticmethod(lambda: sp.csr_array(scores))
        hessian = staticmethod(lambda: hessian)

    squares = [s @ np.linalg.solve(hessian, s) for s in scores]
    shrunk = 2 * 0.4 * sum(np.linalg.solve(hessian, np.eye(3))[k, k] for k in range(2))
    expected = sum(squares) * 30 / 29 / (3 - shrunk)
    assert np.isclose(_excess(Objective()), expected, rtol=1e-12)
    scores *= 1e-3
    assert _excess(Objective()) == 1.0


def test_parameters_are_recovered():
    pairs, y, judge, truth = draw_votes(5, 10, 20, 8000)
    model = JudgeBradleyTerry().fit(pairs, y, rater=judge)
    assert model.converged_
    at = np.argsort(model.items_)
    assert np.abs(model.strength_[at] - truth["theta"]).max() < 0.2
    of = np.argsort(model.judges_)
    assert np.abs(model.discrimination_[of] - truth["a"]).max() < 1.0
    assert model.discrimination_.mean() == pytest.approx(1.0)
    assert np.corrcoef(model.side_bias_[of], truth["b"])[0, 1] > 0.8
    assert np.corrcoef(np.log(model.tie_width_[of]), truth["t"])[0, 1] > 0.8
    table = model.judges().sort("judge")
    inside = (table["discrimination_lower"].to_numpy() <= truth["a"]) & (
        truth["a"] <= table["discrimination_upper"].to_numpy()
    )
    assert inside.sum() >= 16


def test_names_weights_order_and_sides_change_nothing():
    pairs, y, judge, _ = draw_votes(6, 5, 4, 300)
    model = JudgeBradleyTerry(alpha=0.1, tol=1e-10).fit(pairs, y, rater=judge)
    order = np.random.default_rng(0).permutation(300)
    names = np.array(["e", "d", "c", "b", "a"])
    other = Pairs(None, names[pairs.right[order]], names[pairs.left[order]])
    weight = np.r_[np.full(300, 2.0), np.zeros(3)]
    turned = JudgeBradleyTerry(alpha=0.2, tol=1e-10).fit(
        Pairs(None, [*other_left(other), *"abc"], [*other_right(other), *"bca"]),
        np.r_[-y[order], [1, 0, -1]],
        rater=[f"judge {k}" for k in judge[order]] + ["nobody"] * 3,
        sample_weight=weight,
    )
    twice = JudgeBradleyTerry(alpha=0.2, tol=1e-10).fit(
        pairs[np.r_[:300, :300]], np.r_[y, y], rater=np.r_[judge, judge]
    )
    assert len(turned.judges_) == 4
    at = [turned.items_.tolist().index(names[item]) for item in twice.items_]
    assert turned.strength_[at] == pytest.approx(twice.strength_, abs=1e-4)
    assert turned.side_ == pytest.approx(-twice.side_, abs=1e-4)
    assert not np.allclose(model.strength_, twice.strength_, atol=1e-3)


def other_left(pairs):
    return pairs.names[pairs.left].tolist()


def other_right(pairs):
    return pairs.names[pairs.right].tolist()


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_predictions_for_known_average_and_new_judges(ties):
    pairs, y, judge, truth = draw_votes(7, 6, 12, 6000)
    model = JudgeBradleyTerry(ties).fit(pairs, y, rater=judge)
    some = pairs[:500]
    average = model.predict_proba(some)
    known = model.predict_proba(some, rater=judge[:500])
    new = model.predict_proba(some, rater=["stranger"] * 500)
    for found in (average, known, new):
        assert found.sum(axis=1) == pytest.approx(1.0)
    rows, happened = np.arange(500), y[:500] + 1

    def loss(share):
        return -np.log(share[rows, happened]).mean()

    assert loss(known) < loss(average) - 0.02
    # A new judge may be careless: probabilities are nearer to equal.
    assert np.ptp(new[:, 0]) < np.ptp(average[:, 0])
    # The quadrature is the mean over drawn judges.
    rng = np.random.default_rng(0)
    e = rng.normal(size=(200_000, 3)) * model.spread_
    gap = model.difference(some[:1])[0]
    d = (1 + e[:, 0]) * gap - model.side_ - e[:, 2]
    if ties == "davidson":
        odds = np.stack([np.exp(-d / 2), model.tie_ * np.exp(e[:, 1]), np.exp(d / 2)])
        drawn = (odds / odds.sum(axis=0)).mean(axis=1)
    else:
        width = math.log(model.tie_) * np.exp(e[:, 1])
        ends = np.mean(1 / (1 + np.exp([d + width, width - d])), axis=1)
        drawn = [ends[0], 1 - ends.sum(), ends[1]]
    assert new[0] == pytest.approx(drawn, abs=3e-3)
    share = model.predict_proba(some, rater=judge[:500])
    assert (model.predict(some, rater=judge[:500]) == share.argmax(axis=1) - 1).all()
    careless = judge[:500] < 4
    assert np.abs(truth["a"][judge[:500]][careless]).max() == 0
    assert np.ptp(known[careless][:, 0]) < np.ptp(known[~careless][:, 0])


def test_one_judge_is_the_plain_model_with_a_note():
    pairs, y, _, _ = draw_votes(9, 5, 3, 200)
    with pytest.warns(DataWarning, match="one rater, 'Ann'"):
        model = JudgeBradleyTerry().fit(pairs, y, rater=["Ann"] * 200)
    plain = BradleyTerry("davidson", tol=model.tol).fit(pairs, y)
    assert model.strength_ == pytest.approx(plain.strength_)
    assert model.intervals() == pytest.approx(plain.intervals())


def test_votes_without_ties_and_with_nothing_else():
    pairs, y, judge, _ = draw_votes(11, 4, 3, 150)
    kept = np.flatnonzero(y)
    model = JudgeBradleyTerry().fit(pairs[kept], y[kept], rater=judge[kept])
    assert model.tie_ == 0 and not model.tie_width_.any()
    assert model.predict_proba(pairs, rater=judge)[:, 1].max() == 0
    with pytest.warns(DataWarning, match="Every comparison is a tie"):
        model = JudgeBradleyTerry().fit(pairs, np.zeros(150, int), rater=judge)
    assert not model.strength_.any()
    assert model.predict_proba(pairs, rater=judge).tolist() == [[0, 1, 0]] * 150


def test_bad_parameters():
    pairs, y, judge, _ = draw_votes(12, 4, 3, 50)
    for model, words in (
        (JudgeBradleyTerry(vary=["taste"]), "vary=.*'taste'.*'discrimination'"),
        (JudgeBradleyTerry(vary="tie"), "vary='tie'.*some of"),
        (JudgeBradleyTerry(alpha=-1), "alpha=-1"),
        (JudgeBradleyTerry("both"), "ties='both'.*'rao-kupper'"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(pairs, y, rater=judge)
    with pytest.raises(ValueError, match="rater has 3 values"):
        JudgeBradleyTerry().fit(pairs, y, rater=judge[:3])
    model = JudgeBradleyTerry().fit(pairs, y, rater=judge)
    with pytest.raises(ValueError, match=r"kind must be one of 'model'.*in the model"):
        model.covariance("cluster")


@pytest.mark.extended
@pytest.mark.parametrize("judges", [(5, 100), (20, 20)])
def test_intervals_cover_and_rankings_are_better(judges):
    # benchmarks/judges.py measures more of both.
    rows = np.array([one(Setting(*judges), (seed, 1)) for seed in range(30)])
    assert 0.91 <= rows[:, 0].mean() <= 0.99
    assert rows[:, 3].mean() > 0
