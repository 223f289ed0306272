# SPDX-License-Identifier: BSD-3-Clause
"""Tastes of raters: the likelihood, identification, recovery and odd raters."""

import numpy as np
import pytest

from tests.oracles.judges_plain import fit_tastes, taste_loss
from tests.ratings.test_judge_bradley_terry import listed
from tiebreak import BradleyTerry, DataWarning, Pairs, TasteBradleyTerry, load, save
from tiebreak.losses.judges import JudgeCells, TasteObjective


def draw_tastes(seed, n_items, n_raters, n_votes, k=2, size=1.0, tie=0.5):
    """Draw votes of raters with k tastes; every rater has one."""
    rng = np.random.default_rng(seed)
    theta, v = 0.8 * rng.normal(size=n_items), size * rng.normal(size=(n_items, k))
    u = rng.normal(size=(n_raters, k))
    rater = np.append(
        np.arange(n_raters), rng.integers(0, n_raters, n_votes - n_raters)
    )
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    own = theta + u @ v.T
    d = own[rater, right] - own[rater, left]
    odds = np.stack([np.exp(-d / 2), np.full(n_votes, tie), np.exp(d / 2)], axis=1)
    odds /= odds.sum(axis=1, keepdims=True)
    y = (rng.random(n_votes)[:, None] > odds.cumsum(axis=1)).sum(axis=1) - 1
    return Pairs._of(None, left, right, np.arange(n_items)), y, rater, own


def cells_of(pairs, y, rater):
    weight, n = np.ones(len(y)), len(pairs.names)
    given = rater, pairs.left, pairs.right, y.astype(np.int8)
    return JudgeCells.of(*given, weight, n)


@pytest.mark.parametrize("tied", [True, False])
def test_value_and_gradient(tied):
    pairs, y, rater, _ = draw_tastes(0, 4, 3, 40)
    y = y if tied else np.where(y == 0, 1, y)
    cells = cells_of(pairs, y, rater)
    objective = TasteObjective(cells, 2, 0.1, 0.3, tied=tied)
    x = np.random.default_rng(1).normal(size=objective.n_variables)
    value, gradient = objective.expand(x)
    theta, direction, width = objective.split(x)
    slow = taste_loss(theta, direction, width, listed(cells), 0.1, 0.3)
    assert value == pytest.approx(slow, rel=1e-7)
    step = 1e-5 * np.eye(len(x))
    slopes = [objective.expand(x + e)[0] - objective.expand(x - e)[0] for e in step]
    assert gradient == pytest.approx(np.array(slopes) / 2e-5, abs=1e-5)
    assert np.abs(gradient).min() > 1e-3


def test_many_raters_in_threads_are_the_sum_of_few(monkeypatch):
    pairs, y, rater, _ = draw_tastes(1, 5, 12, 200)
    cells = cells_of(pairs, y, rater)
    whole = TasteObjective(cells, 2, 0.1, 0.3, tied=True)
    monkeypatch.setattr("tiebreak.losses.judges._FEW", 10)
    monkeypatch.setattr("tiebreak.losses.judges._TASK", 5)
    split = TasteObjective(cells, 2, 0.1, 0.3, tied=True)
    assert len(split.tasks) > 1
    x = np.random.default_rng(2).normal(size=whole.n_variables)
    for one, other in zip(whole.expand(x), split.expand(x), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_the_spectral_start_is_where_the_objective_falls_most():
    pairs, y, rater, _ = draw_tastes(2, 5, 40, 900)
    objective = TasteObjective(cells_of(pairs, y, rater), 1, 0.1, 0.1, tied=True)
    plain = BradleyTerry("davidson", alpha=0.1).fit(pairs, y)
    theta, tie = plain.strength_[np.argsort(plain.items_)], np.log(plain.tie_)

    def fall(v):
        near = np.concatenate([theta, 1e-2 * v / np.linalg.norm(v), [tie]])
        return objective.expand(near)[0]

    best = objective.spectral_start(theta, tie)[:, 0]
    others = np.random.default_rng(0).normal(size=(30, 5))
    others -= others.mean(axis=1, keepdims=True)
    assert fall(best) < min(map(fall, others))
    assert fall(best) < fall(best + 0.3 * others[0])


@pytest.mark.extended
def test_a_fit_is_that_of_scipy():
    pairs, y, rater, _ = draw_tastes(4, 3, 3, 40, k=1, size=1.5)
    model = TasteBradleyTerry(1, alpha=0.2, taste_alpha=0.1, tol=1e-8)
    model.fit(pairs, y, rater=rater)
    assert model.converged_ and model.gap_ <= 1e-15
    at = np.argsort(model.items_)
    found = np.concatenate(
        [model.strength_[at], model.direction_[at, 0], [np.log(model.tie_)]]
    )
    shift = np.array([0.02, -0.04, 0.02, 0.04, -0.02, -0.02, 0.03])
    votes = listed(cells_of(pairs, y, rater))
    slow = fit_tastes(votes, 3, 1, 0.2, 0.1, found + shift)
    assert found == pytest.approx(slow.x, abs=2e-3)  # of its differences
    assert model.objective_ == pytest.approx(slow.fun, rel=1e-7)
    assert np.abs(found).min() > 1e-3


def test_limits_are_bradley_terry():
    pairs, y, rater, _ = draw_tastes(4, 5, 8, 300)
    for alpha in ("auto", 0.1):
        plain = BradleyTerry("davidson", alpha=alpha).fit(pairs, y)
        none = TasteBradleyTerry(0, alpha=alpha).fit(pairs, y, rater=rater)
        assert none.strength_ == pytest.approx(plain.strength_, abs=1e-8)
        assert none.tie_ == pytest.approx(plain.tie_, abs=1e-8)
        shares = none.predict_proba(pairs, rater=rater)
        assert shares == pytest.approx(plain.predict_proba(pairs), abs=1e-8)
    # Directions that cost too much vanish.
    tiny = TasteBradleyTerry(2, alpha=0.1, taste_alpha=1e6, tol=1e-10)
    tiny.fit(pairs, y, rater=rater)
    assert tiny.strength_ == pytest.approx(plain.strength_, abs=1e-6)
    assert np.abs(tiny.direction_).max() < 1e-6
    assert np.abs(plain.strength_).max() > 0.3


def test_identification():
    pairs, y, rater, _ = draw_tastes(5, 8, 60, 4000)
    model = TasteBradleyTerry(3, taste_alpha=2.0).fit(pairs, y, rater=rater)
    size = model.direction_.T @ model.direction_
    assert size == pytest.approx(np.diag(np.diag(size)), abs=1e-8 * size[0, 0])
    assert (np.diff(np.diag(size)) < 0).all()
    largest = np.abs(model.direction_).argmax(axis=0)
    assert (model.direction_[largest, np.arange(3)] > 0).all()
    assert model.direction_.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert model.strength_.mean() == pytest.approx(0, abs=1e-12)
    # Tastes have about unit variance: their modes and what is left unknown.
    mean = np.diagonal(model.taste_covariance_, axis1=1, axis2=2).mean(axis=0)
    assert (model.taste_**2).mean(axis=0) + mean == pytest.approx(np.ones(3), abs=0.5)


def test_personal_strengths_are_recovered_and_predicted():
    pairs, y, rater, own = draw_tastes(6, 8, 50, 8000)
    train, test = np.arange(6000), np.arange(6000, 8000)
    model = TasteBradleyTerry(2).fit(pairs[train], y[train], rater=rater[train])
    assert model.converged_
    at = np.argsort(model.items_)
    found = (model.strength_ + model.taste_ @ model.direction_.T)[:, at]
    found = found[np.argsort(model.raters_)]
    truth = own - own.mean(axis=1, keepdims=True)
    assert np.corrcoef(found.ravel(), truth.ravel())[0, 1] > 0.9

    def loss(share):
        assert share.sum(axis=1) == pytest.approx(1)
        return -np.log(share[np.arange(len(test)), y[test] + 1]).mean()

    known = model.predict_proba(pairs[test], rater=rater[test])
    average, new = (
        model.predict_proba(pairs[test], rater=who) for who in (None, ["x"] * 2000)
    )
    assert loss(known) < loss(average) - 0.1
    # A new person may like anything: probabilities are nearer to equal.
    assert np.ptp(new[:, 0]) < np.ptp(average[:, 0])
    expected = known.argmax(axis=1) - 1
    assert (model.predict(pairs[test], rater=rater[test]) == expected).all()
    assert np.exp(model.predict_log_proba(pairs[:9])) == pytest.approx(
        model.predict_proba(pairs[:9])
    )
    # The quadrature is the mean over drawn tastes.
    u = np.random.default_rng(0).normal(size=(200_000, 2))
    left, right = (model.items_.tolist().index(side[test[0]]) for side in
                   (pairs.left, pairs.right))  # fmt: skip
    d = model.strength_[right] - model.strength_[left]
    d = d + u @ (model.direction_[right] - model.direction_[left])
    odds = np.stack([np.exp(-d / 2), np.full(len(d), model.tie_), np.exp(d / 2)])
    drawn = (odds / odds.sum(axis=0)).mean(axis=1)
    assert new[0] == pytest.approx(drawn, abs=3e-3)


def test_names_weights_order_and_sides_change_nothing(tmp_path):
    pairs, y, rater, _ = draw_tastes(7, 5, 10, 400)
    given = {"alpha": 0.2, "taste_alpha": 1.0, "tol": 1e-9}
    model = TasteBradleyTerry(1, **given).fit(
        pairs, y, rater=rater, sample_weight=np.full(400, 2.0)
    )
    order = np.random.default_rng(0).permutation(400)
    names = np.array(list("edcba"))
    left, right = names[pairs.left[order]], names[pairs.right[order]]
    turned = Pairs(None, [*right, *right, "a"], [*left, *left, "b"])
    who = [f"person {k}" for k in rater[order]]
    other = TasteBradleyTerry(1, **given).fit(
        turned,
        np.r_[-y[order], -y[order], 1],
        rater=[*who, *who, "nobody"],
        sample_weight=np.r_[np.ones(800), 0],
    )
    assert len(other.raters_) == 10
    at = [other.items_.tolist().index(names[item]) for item in model.items_]
    assert other.strength_[at] == pytest.approx(model.strength_, abs=1e-5)
    assert other.direction_[at] == pytest.approx(model.direction_, abs=1e-5)
    assert np.abs(model.direction_).max() > 0.1
    save(model, tmp_path / "model.tiebreak")
    again = load(tmp_path / "model.tiebreak").predict_proba(pairs, rater=rater)
    assert (again == model.predict_proba(pairs, rater=rater)).all()


def test_odd_raters():
    pairs, y, rater, _ = draw_tastes(8, 5, 6, 300)
    with pytest.warns(DataWarning, match="one rater, 'Ann'.*those of BradleyTerry"):
        model = TasteBradleyTerry().fit(pairs, y, rater=["Ann"] * 300)
    assert model.direction_.shape == (5, 0)
    name = rater.astype(object)
    name[:4] = [f"once {k}" for k in range(4)]
    y = np.where(rater == 1, 0, y)  # only ties
    model = TasteBradleyTerry().fit(pairs, y, rater=name.astype(str))
    size = dict(zip(model.raters_, np.abs(model.taste_).max(axis=1), strict=True))
    assert model.converged_ and max(size[f"once {k}"] for k in range(4)) < 1.5
    with pytest.warns(DataWarning, match="Every comparison is a tie"):
        model = TasteBradleyTerry().fit(pairs, np.zeros(300, int), rater=rater)
    assert model.predict_proba(pairs[:1], rater=[0])[0].tolist() == [0, 1, 0]
    decided = np.where(y == 0, 1, y)
    model = TasteBradleyTerry(1).fit(pairs, decided, rater=rater)
    assert model.tie_ == 0 and model.predict_proba(pairs, rater=rater)[:, 1].max() == 0


def test_bad_parameters():
    pairs, y, rater, _ = draw_tastes(9, 4, 5, 80)
    for model, words in (
        (TasteBradleyTerry(-1), "n_directions=-1.*0 or more"),
        (TasteBradleyTerry(1.5), "n_directions=1.5.*whole"),
        (TasteBradleyTerry(4), "n_directions=4.*less than the 4 items"),
        (TasteBradleyTerry(alpha=0), "alpha=0.*positive.*'auto'"),
        (TasteBradleyTerry(taste_alpha=-1), "taste_alpha=-1"),
        (TasteBradleyTerry(tol=0), "tol=0"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(pairs, y, rater=rater)
    with pytest.raises(ValueError, match="rater has 3 values"):
        TasteBradleyTerry().fit(pairs, y, rater=rater[:3])
    with pytest.warns(match="did not converge in 1 steps"):
        TasteBradleyTerry(max_iter=1).fit(pairs, y, rater=rater)
