# SPDX-License-Identifier: BSD-3-Clause
"""``advantage="auto"`` of Elo, Glicko and Glicko-2."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.ratings.random_games import random_games
from tiebreak import Pairs
from tiebreak.ratings import Elo, Glicko, Glicko2

MODELS = [Elo, Glicko, Glicko2]
every_model = pytest.mark.parametrize("model", MODELS)
ONE = Pairs(None, ["item 0"], ["item 1"])


def forward_loss(model, points, pairs, y, advantage=None, **columns):
    """Sum the log loss of expected scores in one pass, by the public interface."""
    unit = np.ones(len(y)) if advantage is None else np.asarray(advantage)
    fitted = model(advantage=points).fit(pairs, y, advantage=points * unit, **columns)
    gap = fitted.before_[:, 0] - fitted.before_[:, 1] + points * unit
    if model is not Elo:
        variance = (fitted.before_deviation_**2).sum(axis=1)
        q = np.log(10) / 400
        gap = gap / np.sqrt(1 + 3 * q**2 * variance / np.pi**2)
    expected = 1 / (1 + 10 ** (-gap / 400))
    score = (1 - np.asarray(y)) / 2
    loss = -score * np.log(expected) - (1 - score) * np.log(1 - expected)
    weight = columns.get("sample_weight")
    return float(np.average(loss, weights=weight) * len(y))


@every_model
@pytest.mark.parametrize("dated", [False, True])
def test_it_is_the_best_of_a_grid(model, dated, rng):
    games = random_games(rng, 400)
    home = rng.choice([1.0, 0.0, -1.0], 400)
    columns = {"period": games.period} if dated else {}
    columns |= {"advantage": home, "sample_weight": games.weight}
    fitted = model(advantage="auto").fit(games.pairs, games.y, **columns)
    losses = {
        points: forward_loss(model, points, games.pairs, games.y, **columns)
        for points in np.arange(-800.0, 801.0, 10.0)
    }
    best = min(losses, key=losses.get)
    assert abs(fitted.advantage_ - best) <= 10
    reached = forward_loss(model, fitted.advantage_, games.pairs, games.y, **columns)
    assert reached <= losses[best] + 1e-9
    for near in (-0.5, 0.5):
        points = fitted.advantage_ + near
        assert reached < forward_loss(model, points, games.pairs, games.y, **columns)


@every_model
def test_a_learned_advantage_rates_as_the_same_number_does(model, rng):
    games = random_games(rng, 300)
    home = rng.choice([1.0, 0.0], 300)
    learned = model(advantage="auto").fit(games.pairs, games.y, advantage=home)
    points = learned.advantage_
    given = model(advantage=points).fit(games.pairs, games.y, advantage=points * home)
    more, y = games.pairs[:20], games.y[:20]
    for _ in range(2):
        assert given.advantage_ == learned.advantage_ == points
        assert_array_equal(learned.rating_, given.rating_)
        assert_array_equal(learned.before_, given.before_)
        assert learned.history_.equals(given.history_)
        assert (learned.tie_, learned.slope_) == (given.tie_, given.slope_)
        assert_array_equal(learned.predict_proba(more), given.predict_proba(more))
        for value in (0.0, 1.0, home[:20]):
            asked = {"advantage": points * value}
            for name in ("predict", "expected_score", "difference"):
                found = getattr(learned, name)(more, advantage=value)
                assert_array_equal(found, getattr(given, name)(more, **asked))
            found = learned.score(more, y, advantage=value)
            assert found == given.score(more, y, **asked)
        # It is kept by later games, with their own rows or for all of them.
        learned.partial_fit(more, y, advantage=home[:20]).partial_fit(more, y)
        given.partial_fit(more, y, advantage=points * home[:20]).partial_fit(more, y)


@every_model
def test_what_cannot_be_learned_is_refused(model):
    pairs, y = Pairs(None, ["a", "b", "a"], ["b", "c", "c"]), [-1, 1, 0]
    with pytest.raises(ValueError, match="'auto', and partial_fit learns none"):
        model(advantage="auto").partial_fit(pairs, y)
    for weight, home in [(None, [0, 0, 0]), ([1, 0, 1], [0, 1, 0])]:
        with pytest.raises(ValueError, match="advantage is 0 in every row"):
            columns = {"advantage": home, "sample_weight": weight}
            model(advantage="auto").fit(pairs, y, **columns)
    for wrong in ("home", None, np.inf, True):
        with pytest.raises(ValueError, match=r"expected a finite number.* or 'auto'"):
            model(advantage=wrong).fit(pairs, y)


@every_model
@pytest.mark.parametrize("winner", [-1, 1])
def test_a_side_that_always_wins_has_the_largest_advantage(model, winner):
    pairs = Pairs(None, list("abc") * 20, list("bca") * 20)
    with pytest.warns(UserWarning, match="no advantage is large enough"):
        fitted = model(advantage="auto").fit(pairs, np.full(60, winner))
    assert fitted.advantage_ == pytest.approx(-800 * winner, rel=0.001)
