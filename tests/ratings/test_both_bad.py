# SPDX-License-Identifier: BSD-3-Clause
"""Votes that call both items bad, as an outcome of their own."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.special import expit

from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.datasets import load_lm_arena
from tiebreak.losses import LINKS, ComparisonObjective, ItemDesign
from tiebreak.losses.both_bad import BothBadObjective, both_bad_counts


def draw(seed, n_items=8, n_votes=4000, zero=-0.7):
    rng = np.random.default_rng(seed)
    theta = 0.8 * rng.normal(size=n_items)
    theta -= theta.mean()
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    bad = rng.random(n_votes) < expit(zero - theta[left]) * expit(zero - theta[right])
    d = theta[right] - theta[left]
    odds = np.stack([np.exp(-d / 2), np.full(n_votes, 0.6), np.exp(d / 2)], axis=1)
    odds /= odds.sum(axis=1, keepdims=True)
    y = (rng.random(n_votes)[:, None] > odds.cumsum(axis=1)).sum(axis=1) - 1
    y[bad] = 0
    return Pairs._of(None, left, right, np.arange(n_items)), y, bad, theta


def objective_of(pairs, y, bad, alpha, link="davidson"):
    left, right, n = pairs.left[~bad], pairs.right[~bad], pairs.n_items
    counts = np.eye(3)[y[~bad] + 1]
    base = ComparisonObjective(
        ItemDesign(left, right, n), LINKS[link], counts, np.full(n, alpha)
    )
    weight = np.ones(len(y))
    duels = both_bad_counts(pairs.left, pairs.right, bad, weight, n)
    return BothBadObjective(base, *duels)


def plain_loss(x, pairs, y, bad, alpha):
    """Minus the log-likelihood of four outcomes, vote by vote."""
    n = pairs.n_items
    theta, t, zero = x[:n], x[n], x[n + 1]
    total = alpha * theta @ theta
    for left, right, outcome, is_bad in zip(
        pairs.left, pairs.right, y, bad, strict=True
    ):
        p_bad = expit(zero - theta[left]) * expit(zero - theta[right])
        if is_bad:
            total -= np.log(p_bad)
            continue
        d = theta[right] - theta[left]
        odds = np.exp([-d / 2, t, d / 2])
        total -= np.log((1 - p_bad) * odds[outcome + 1] / odds.sum())
    return total


def test_value_and_gradient():
    pairs, y, bad, _ = draw(0, 5, 200)
    objective = objective_of(pairs, y, bad, 0.1)
    x = np.random.default_rng(1).normal(size=7)
    assert objective.value(x) == pytest.approx(plain_loss(x, pairs, y, bad, 0.1))
    assert objective.expand(x)[0] == pytest.approx(objective.value(x))
    slow = check_grad(objective.value, lambda z: objective.expand(z)[1], x)
    assert slow < 1e-4
    objective.expand(x)
    hessian, v = objective.hessian(), np.arange(7.0)
    assert objective.hessian_product(v) == pytest.approx(hessian @ v)
    assert objective.hessian_diagonal() == pytest.approx(np.diag(hessian))
    assert np.linalg.eigvalsh(hessian)[0] > 0


def test_the_hessian_is_the_expected_one():
    pairs, _, _, theta = draw(2, 4, 12)
    n = len(pairs.left)
    x, expected = np.append(theta, [-0.5, -0.3]), np.zeros((6, 6))
    chance = expit(-0.3 - theta[pairs.left]) * expit(-0.3 - theta[pairs.right])
    for row in range(n):
        for is_bad, share in ((True, chance[row]), (False, 1 - chance[row])):
            one = objective_of(pairs[[row]], np.zeros(1, int), np.array([is_bad]), 0.0)
            one.base.counts[:] = 0.0  # of "both bad or not" alone
            slope = one.expand(x)[1]
            expected += share * np.outer(slope, slope)
    whole = objective_of(pairs, np.zeros(n, int), np.zeros(n, bool), 0.0)
    whole.base.counts[:] = 0.0
    whole.expand(x)
    assert whole.hessian() == pytest.approx(expected, abs=1e-10)


def test_a_fit_is_that_of_scipy():
    pairs, y, bad, _ = draw(3, 4, 150)
    model = BradleyTerry("davidson", alpha=0.2, tol=1e-10)
    model.fit(pairs, y, both_bad=bad)
    given = pairs, y, bad, 0.2
    slow = minimize(plain_loss, np.zeros(6), given, "BFGS", options={"gtol": 1e-6}).x
    at = np.argsort(model.items_)
    assert model.strength_[at] == pytest.approx(slow[:4], abs=1e-4)
    assert [np.log(model.tie_), model.zero_] == pytest.approx(slow[4:], abs=1e-4)


def test_without_bad_votes_there_are_three_outcomes():
    pairs, y, bad, _ = draw(4)
    rest = pairs[~bad], y[~bad]
    plain = BradleyTerry(alpha=0.1).fit(*rest)
    same = BradleyTerry(alpha=0.1).fit(*rest, both_bad=np.zeros((~bad).sum(), bool))
    assert same.strength_ == pytest.approx(plain.strength_, abs=1e-12)
    assert not hasattr(same, "zero_") and not same.both_bad_proba(pairs).any()
    # A zero far below all strengths is the same as none.
    objective = objective_of(pairs, y, np.zeros(len(y), bool), 0.1)
    x = np.random.default_rng(0).normal(size=10)
    x[-1] = -60.0
    assert objective.value(x) == pytest.approx(objective.base.value(x[:-1]), rel=1e-12)


@pytest.mark.parametrize("alpha", ["auto", 0.1, 0])
def test_zero_and_strengths_are_recovered(alpha):
    pairs, y, bad, theta = draw(5)
    model = BradleyTerry("davidson", alpha=alpha).fit(pairs, y, both_bad=bad)
    assert model.converged_
    assert np.abs(model.strength_ - theta[model.items_]).max() < 0.2
    table = model.acceptable()
    truth = expit(theta[model.items_] + 0.7)
    inside = (table["lower"].to_numpy() <= truth) & (truth <= table["upper"].to_numpy())
    assert inside.sum() >= 6
    share = model.predict_proba(pairs)
    assert share.sum(axis=1) == pytest.approx(1)
    assert (share[:, 1] >= model.both_bad_proba(pairs)).all()
    assert (model.predict(pairs) == share.argmax(axis=1) - 1).all()


@pytest.mark.extended
def test_the_zero_has_an_interval_that_covers():
    inside = []
    for seed in range(100):
        pairs, y, bad, _ = draw((seed, 1), n_votes=600)
        model = BradleyTerry("davidson", alpha=0.1).fit(pairs, y, both_bad=bad)
        row = model.coefficients().row(-1, named=True)
        inside.append(row["lower"] <= -0.7 <= row["upper"])
    assert 0.88 <= np.mean(inside) <= 1.0


def test_a_leaderboard_says_what_is_acceptable():
    pairs, y, bad, _ = draw(6)
    board = Leaderboard(BradleyTerry().fit(pairs, y, both_bad=bad))
    good = board.table["acceptable"]
    assert (good.sort(descending=True) == good).all()
    assert (board.table["acceptable_lower"] < good).all()
    assert "acceptable" in str(board)
    plain = Leaderboard(BradleyTerry().fit(pairs, y))
    assert "acceptable" not in plain.table.columns


def test_swapped_sides_and_weights():
    pairs, y, bad, _ = draw(7, n_votes=800)
    model = BradleyTerry(alpha=0.2, tol=1e-10).fit(
        pairs, y, both_bad=bad, sample_weight=np.full(800, 2.0)
    )
    turned = Pairs._of(None, pairs.right, pairs.left, pairs.names)
    both = Pairs(
        None, np.r_[turned.left, turned.left], np.r_[turned.right, turned.right]
    )
    twice = BradleyTerry(alpha=0.2, tol=1e-10).fit(
        both, np.r_[-y, -y], both_bad=np.r_[bad, bad]
    )
    at = [twice.items_.tolist().index(item) for item in model.items_]
    assert model.strength_ == pytest.approx(twice.strength_[at], abs=1e-8)
    assert model.zero_ == pytest.approx(twice.zero_, abs=1e-8)


def test_bad_columns():
    pairs, y, bad, _ = draw(8, n_votes=100)
    fit = BradleyTerry().fit
    for column, words in (
        (bad[:3], "both_bad has 3 values"),
        (y + 2, "True and False.*got"),
        (np.ones(100, bool), "that have a winner.*outcome 0"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(pairs, y, both_bad=column)
    with pytest.raises(ValueError, match="Every vote calls both items bad"):
        fit(pairs, np.zeros(100, int), both_bad=np.ones(100, bool))
    model = BradleyTerry().fit(pairs, y, both_bad=bad)
    with pytest.raises(ValueError, match="four outcomes"):
        model.likelihood()
    with pytest.raises(ValueError, match="no zero"):
        BradleyTerry().fit(pairs, y).acceptable()


@pytest.mark.usefixtures("data_dir")
def test_arena_votes_call_weak_models_bad():
    votes = load_lm_arena()
    model = BradleyTerry(alpha=0.1).fit(votes.pairs, votes.y, both_bad=votes.both_bad)
    n = len(model.items_)
    place = {name: k for k, name in enumerate(model.items_.tolist())}
    side = [
        np.array([place[name] for name in votes.pairs.names[s].tolist()])
        for s in (votes.pairs.left, votes.pairs.right)
    ]
    games = sum(np.bincount(s, minlength=n) for s in side)
    called = sum(np.bincount(s, votes.both_bad, n) for s in side)
    often = games >= 100
    plain = BradleyTerry(alpha=0.1).fit(votes.pairs, votes.y)
    rate = (called / games)[often]
    assert np.corrcoef(plain.strength_[often], rate)[0, 1] == pytest.approx(
        -0.76, abs=0.05
    )
    expected = model.both_bad_proba(votes.pairs).mean()
    assert expected == pytest.approx(votes.both_bad.mean(), abs=0.002)
