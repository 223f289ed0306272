# SPDX-License-Identifier: BSD-3-Clause
"""Ties as half a win for each side."""

import numpy as np
import pytest

from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.losses import HalfWins


def draw(rng, n=300, n_items=5):
    theta = np.linspace(-0.8, 0.8, n_items)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d = theta[right] - theta[left]
    odds = np.stack([np.exp(-d / 2), np.ones(n), np.exp(d / 2)], axis=1)
    share = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    y = (rng.random((n, 1)) > share[:, :2]).sum(axis=1) - 1
    return Pairs(None, left, right), y


def test_derivatives_are_those_of_the_value(rng):
    link, d, counts = HalfWins(), rng.normal(size=7), rng.random((7, 3))
    found, step = link.expand(d, 0.0, counts), 1e-5
    by_side = -np.log(1 / (1 + np.exp(np.stack([d, -d], axis=1))))
    tie = by_side.mean(axis=1)
    plain = counts[:, [0, 2]] * by_side
    value = plain.sum() + counts[:, 1] @ tie
    assert link.value(d, 0.0, counts) == pytest.approx(value, rel=1e-12)
    for k in range(7):
        moved = [d + sign * step * (np.arange(7) == k) for sign in (-1, 0, 1)]
        low, here, high = (link.value(at, 0.0, counts) for at in moved)
        assert found.gradient[k] == pytest.approx((high - low) / (2 * step), abs=1e-8)
        curvature = (high - 2 * here + low) / step**2
        assert found.curvature[k] == pytest.approx(curvature, abs=1e-4)
    np.testing.assert_allclose(link.gradient(d, 0.0, counts)[0], found.gradient)
    scores = (counts * link.scores(d, -np.inf)[0]).sum(axis=1)
    np.testing.assert_allclose(scores, found.gradient, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.3, "auto"])
def test_strengths_are_those_of_two_half_rows(rng, alpha):
    pairs, y = draw(rng)
    model = BradleyTerry("half", alpha=alpha).fit(pairs, y)
    tied = np.flatnonzero(y == 0)
    rows = np.concatenate([np.arange(len(y)), tied])
    outcome = np.concatenate([np.where(y == 0, -1, y), np.ones(len(tied))])
    weight = np.concatenate([np.where(y == 0, 0.5, 1.0), np.full(len(tied), 0.5)])
    plain = BradleyTerry(None, alpha=alpha)
    plain.fit(pairs[rows], outcome.astype(int), sample_weight=weight)
    assert model.items_.tolist() == plain.items_.tolist()
    np.testing.assert_allclose(model.strength_, plain.strength_, atol=1e-8)
    assert model.ties_.sum() == 2 * len(tied)
    assert (model.predict_proba(pairs)[:, 1] == 0).all()
    assert Leaderboard(model).table["ties"].sum() == 2 * len(tied)


def test_standard_errors_are_those_of_whole_rows(rng):
    pairs, y = draw(rng)
    model = BradleyTerry("half", alpha=0.0).fit(pairs, y)
    # A row is a cluster of its own: its score is the mean of the two halves.
    own = BradleyTerry("half", alpha=0.0).fit(pairs, y, rater=np.arange(len(y)))
    np.testing.assert_allclose(
        model.covariance("sandwich"), own.covariance("cluster"), rtol=0.02, atol=1e-5
    )
    assert (
        np.diag(model.covariance("sandwich")) < np.diag(model.covariance("model"))
    ).all()


def test_what_needs_a_probability_of_ties_is_refused(rng):
    model = BradleyTerry("half").fit(*draw(rng))
    for ask in (model.likelihood, model.goodness_of_fit):
        with pytest.raises(ValueError, match="ties='half' a tie has no probability"):
            ask()
    only = BradleyTerry("half").fit(Pairs(None, ["a", "b"], ["b", "c"]), [0, 0])
    np.testing.assert_allclose(only.strength_, 0.0, atol=1e-12)
