# SPDX-License-Identifier: BSD-3-Clause
"""Variances, priors and ranks of many strengths, against the dense inverse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.ratings.strengths import bradley_terry, many_items, prior
from tiebreak.ratings.strengths.distribution import Separation, StrengthDistribution
from tiebreak.ratings.strengths.many_items import SparseHessian


def games(rng, n, m):
    """Games of items, of which a few play often, with ties after Davidson."""
    theta, often = rng.normal(size=n), rng.pareto(1.5, n) + 0.5
    left, right = rng.choice(n, (2, m), p=often / often.sum())
    right = np.where(left == right, (right + 1) % n, right)
    d = theta[right] - theta[left]
    odds = np.exp(np.stack([-0.5 * d, np.full(m, -0.3), 0.5 * d], axis=1))
    share = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    y = (rng.random(m)[:, None] > share).sum(axis=1) - 1
    return Pairs(None, left, right), y, theta


@pytest.fixture
def few_are_many(monkeypatch):
    """Let what is done for many items be done for few."""
    for module in (bradley_terry, many_items, prior):
        monkeypatch.setattr(module, "MANY_ITEMS", 1)


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
@pytest.mark.parametrize("given", ["nothing", "advantage and raters"])
def test_errors_are_those_of_the_dense_inverse(rng, few_are_many, given):
    pairs, y, _ = games(rng, 120, 1500)
    columns = {}
    if given != "nothing":
        # A weight of 3: votes are less independent than they seem.
        columns = {
            "advantage": rng.integers(0, 2, 1500),
            "sample_weight": np.full(1500, 3.0),
        }
        columns["rater"] = np.arange(1500)
    model = BradleyTerry("davidson", alpha=0.7).fit(pairs, y, **columns)
    many, dense = model.distribution(), model._distribution(None, None, whole=True)
    assert many.covariance.ndim == 2 and dense.covariance.ndim == 3
    # The direction that moves all strengths is left in.
    own = np.sqrt(np.diag(dense.covariance[0]) + 1.0 / (2.0 * 0.7 * 120))
    assert_allclose(np.sqrt(many.covariance[0]), own, rtol=0.12)
    assert_allclose(np.sqrt(many.covariance[0] / own**2).mean(), 1.0, atol=0.02)
    assert dense.excess is not None and many.excess is not None
    if given != "nothing":
        assert dense.excess.max() > 0.0
        # The bound, averaged over all directions, is of the size of the excess.
        assert np.all(many.excess > 0.0)
        ratio = many.excess.sum() / np.trace(dense.excess)
        assert 0.8 < ratio < 2.0
    assert_allclose(
        model._coefficient_distribution(None).errors()[120:],
        model._coefficient_distribution(None, whole=True).errors()[120:],
        rtol=0.3 if columns else 0.05,
    )


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
def test_no_difference_seems_more_certain_than_it_is(rng, few_are_many):
    pairs, y, _ = games(rng, 60, 900)
    model = BradleyTerry("davidson", alpha=0.5).fit(pairs, y)
    one, two = np.triu_indices(60, 1)
    many = model.distribution("model").differences(one, two).errors()
    dense = model._distribution("model", None, whole=True).differences(one, two)
    assert np.all(many > 0.93 * dense.errors())
    assert model.covariance().shape == (60, 60)
    assert many.mean() < 1.25 * dense.errors().mean()


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
def test_the_slope_of_the_evidence_is_its_difference(rng, monkeypatch):
    pairs, y, _ = games(rng, 1100, 9000)  # so many that ε is left out
    model = BradleyTerry("davidson", alpha=0.5, tol=1e-10).fit(pairs, y)
    model.alpha = "auto"
    start = model._problem.start(average=True)
    search = prior._Search(model._problem.objective, 1100, start, model._minimize)
    monkeypatch.setattr(many_items, "_N_PROBES", 400)
    # The trace of a matrix whose eigenvalues are below 1 is estimated with a variance
    # of at most 2 n / probes; five standard deviations are allowed.
    allowed = 5.0 * np.sqrt(2.0 * 1100 / 400)
    for s in (-0.5, 0.2):
        found, objective = search.fit(s), search._objective(s)
        objective.expand(found.x)
        half_cauchy = 1.0 - 2.0 / (1.0 + np.exp(-2.0 * s))
        slope = SparseHessian(objective).evidence_slope(found.x) + half_cauchy
        step = 1e-3
        rise = search.evidence(s + step) - search.evidence(s - step)
        assert slope == pytest.approx(rise / (2 * step), abs=allowed)
        assert abs(slope) > 100.0


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
def test_the_width_is_that_of_the_dense_search(rng, monkeypatch):
    pairs, y, _ = games(rng, 1100, 9000)
    dense = BradleyTerry("davidson").fit(pairs, y)
    monkeypatch.setattr(prior, "MANY_ITEMS", 1000)
    many = BradleyTerry("davidson").fit(pairs, y)
    assert many.alpha_ != dense.alpha_
    assert many.alpha_ == pytest.approx(dense.alpha_, rel=0.05)


def test_ranks_of_independent_strengths_are_counted_one_by_one(rng):
    mean, variance = rng.normal(size=700), rng.uniform(0.001, 0.02, 700)
    component = rng.integers(0, 2, 700)
    known = StrengthDistribution.normal(mean, variance)
    found = Separation(known, np.full(700, 3.0), component).ranks()
    gap = mean[None, :] - mean[:, None]
    apart = np.abs(gap) > 3.0 * np.sqrt(variance[:, None] + variance[None, :])
    apart &= component[:, None] == component[None, :]
    assert_array_equal(found[:, 0], 1 + (apart & (gap > 0)).sum(axis=1))
    size = np.bincount(component)[component]
    assert_array_equal(found[:, 1], size - (apart & (gap < 0)).sum(axis=1))
    assert 1 < found[:, 0].max() < 700


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
def test_a_leaderboard_of_many_items(rng):
    pairs, y, theta = games(rng, 3300, 33_000)
    model = BradleyTerry("davidson").fit(pairs, y)
    board = Leaderboard(model).table
    truth = theta[board["item"].to_numpy()]
    truth = 1500 + 400 / np.log(10) * (truth - truth.mean())
    inside = (board["lower"].to_numpy() <= truth) & (truth <= board["upper"].to_numpy())
    assert 0.92 < inside.mean() < 0.97
    truth = truth[board["placed"].to_numpy()]
    board = board.filter("placed")
    assert 20 < len(board) < 3300
    best = np.argsort(np.argsort(-truth)) + 1
    assert np.all(board["rank_best"].to_numpy() <= best)
    assert np.all(best <= board["rank_worst"].to_numpy())
    assert board["rank_worst"].min() < len(board)
    first = board["item"][0]
    own = Leaderboard(model, reference=first).table.row(0, named=True)
    assert own["lower"] == own["rating"] == own["upper"] == 1500
