# SPDX-License-Identifier: BSD-3-Clause
"""What ratings over time have in common: predictions, histories, bad questions."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.ratings.random_games import few_games, random_games
from tiebreak import Pairs
from tiebreak.ratings import Elo, Glicko, Glicko2
from tiebreak.ratings.over_time.games import fit_ties

MODELS = [Elo, Glicko, Glicko2]
every_model = pytest.mark.parametrize("model", MODELS)
ONE = Pairs(None, ["a"], ["b"])


def fitted(model, games, **parameters):
    return model(**parameters).fit(games.pairs, games.y, period=games.period)


@every_model
def test_before_and_history_tell_the_same_story(model, rng):
    games = random_games(rng, 300)
    m = model().fit(games.pairs, games.y, sample_weight=games.weight)
    history = m.history_
    present = np.flatnonzero(games.weight)
    assert_array_equal(history["row"], np.repeat(present, 2))
    sides = np.stack([games.left, games.right], axis=1)
    assert_array_equal(history["item"], sides[present].ravel())
    last = {}
    after = dict(zip(present, history["rating"].to_numpy().reshape(-1, 2), strict=True))
    for row in range(300):
        for side in range(2):
            init = m.init
            assert m.before_[row, side] == last.get(sides[row, side], init)
        if row in after:
            last |= dict(zip(sides[row], after[row], strict=True))
    assert last == dict(zip(m.items_, m.rating_, strict=True))


@every_model
def test_wins_ties_and_losses_are_counted(model, rng):
    games = random_games(rng, 200)
    weight = games.weight * 1.5
    m = model().fit(games.pairs, games.y, sample_weight=weight)
    before = m.wins_
    m.partial_fit(games.pairs, games.y)
    for k, item in enumerate(m.items_):
        left, right = games.left == item, games.right == item
        won = (left & (games.y == -1)) | (right & (games.y == 1))
        tied = (left | right) & (games.y == 0)
        assert m.wins_[k] == pytest.approx((weight[won] + 1).sum())
        assert m.ties_[k] == pytest.approx((weight[tied] + 1).sum())
    assert m.losses_.sum() == pytest.approx(m.wins_.sum())
    assert len(before) <= len(m.wins_)
    assert_allclose(m.wins_ + m.ties_ + m.losses_, m.n_games_)


@every_model
def test_history_of_periods(model, rng):
    games = random_games(rng, 300, n_periods=20)
    m = fitted(model, games)
    history = m.history_
    assert history.columns[:3] == ["period", "item", "rating"]
    keys = history.select("period", "item")
    assert keys.n_unique() == len(keys)
    expected = {
        (p, name)
        for p, *names in zip(games.period, games.left, games.right, strict=True)
        for name in names
    }
    assert set(keys.rows()) == expected
    assert history["period"].is_sorted()
    final = {item: rating for _, item, rating, *_ in history.rows()}
    assert final == dict(zip(m.items_, m.rating_, strict=True))
    # What is made when asked for does not outlive the next games.
    m.partial_fit(games.pairs[:1], [0], period=[20])
    assert len(m.history_) == len(history) + 2
    assert m.history_.head(len(history)).equals(history)


@every_model
def test_score_with_an_advantage(model, rng):
    games = random_games(rng, 200)
    m = fitted(model, games)
    home = m.predict(games.pairs, advantage=1e4)
    assert_array_equal(home, -np.ones(200))
    assert m.score(games.pairs, home, advantage=1e4) == 1
    assert m.score(games.pairs, home) < 1
    weight = np.arange(200.0)
    right = m.predict(games.pairs, advantage=50.0) == games.y
    score = m.score(games.pairs, games.y, advantage=50.0, sample_weight=weight)
    assert score == pytest.approx(np.average(right, weights=weight))


@every_model
@pytest.mark.parametrize("advantage", [None, 40.0])
@pytest.mark.parametrize("tie_share", [0.0, 0.1, 0.8])
def test_the_most_likely_outcome_is_predicted(model, rng, advantage, tie_share):
    games = random_games(rng, 500)
    y = np.where(rng.random(500) < tie_share, 0, np.where(games.y > 0, 1, -1))
    m = model(advantage=-15.0).fit(games.pairs, y)
    assert (m.tie_ == 0) == (tie_share == 0)
    assert (m.threshold_ > 0) == (tie_share == 0.8)
    names = m.items_
    left, right = np.nonzero(~np.eye(len(names), dtype=bool))
    pairs = Pairs(None, names[left], names[right])
    probability = m.predict_proba(pairs, advantage=advantage)
    predicted = m.predict(pairs, advantage=advantage)
    assert probability.shape == (len(pairs), 3)
    assert_allclose(probability.sum(axis=1), 1)
    two_best = np.sort(probability, axis=1)[:, 1:]
    clear = two_best[:, 1] - two_best[:, 0] > 1e-9
    assert clear.mean() > 0.9
    assert_array_equal(predicted[clear], probability[clear].argmax(axis=1) - 1)
    if tie_share == 0.8:
        assert (predicted == 0).any()


def test_the_tie_model_looks_forward_only(rng):
    games = random_games(rng, 3_000)
    m = Elo(32.0).fit(games.pairs, games.y)
    logit = np.diff(m.before_, axis=1)[:, 0] * np.log(10) / 400
    assert_allclose((m.slope_, m.tie_), fit_ties(logit, games.y), rtol=1e-12)
    # Rows of all calls since fit, each before it was rated.
    pieces = Elo(32.0).fit(games.pairs[:2000], games.y[:2000])
    shares = np.bincount(games.y[:2000] + 1) / 2000
    later = games.y[2000:] + 1
    found = pieces.predict_proba(games.pairs[2000:])[np.arange(1000), later]
    assert -np.log(found).mean() < -np.log(shares[later]).mean()
    first = pieces.tie_
    pieces.partial_fit(games.pairs[2000:], games.y[2000:])
    assert (pieces.slope_, pieces.tie_) == (m.slope_, m.tie_)
    assert pieces.tie_ != first


@every_model
def test_unseen_names(model):
    m = model().fit(ONE, [-1])
    other = Pairs(None, ["a", "z", "q"], ["q", "b", "a"])
    for call in (m.predict, m.difference, m.expected_score, m.predict_proba):
        with pytest.raises(ValueError, match=r"2 item\(s\) have no rating.*'q', 'z'"):
            call(other)
    with pytest.raises(ValueError, match=r"1 item\(s\).*'x'.*items_.*unseen='prior'"):
        m.utility(["x"])
    many = [f"new {i}" for i in range(12)]
    with pytest.raises(ValueError, match=r"12 item\(s\).*'new 9' and 2 more\."):
        m.utility(many)
    m = model(unseen="prior").fit(ONE, [-1])
    assert_array_equal(m.utility(["x", "a"]), [m.init, m.rating_[0]])
    assert_array_equal(m.expected_score(Pairs(None, ["x"], ["y"])), [0.5])
    # Prior and deviation of a new item are those it would be rated with.
    expected = m.expected_score(Pairs(None, ["a"], ["x"]))
    m.partial_fit(Pairs(None, ["a"], ["x"]), [0])
    values = m._before, m._settings["advantage"]
    logit = m._effective_difference(*values) * np.log(10) / 400
    assert_allclose(expected, 1 / (1 + np.exp(logit)))
    with pytest.raises(ValueError, match="got unseen='none'; expected 'error' or"):
        model(unseen="none").fit(ONE, [-1])


@pytest.mark.parametrize(
    "period",
    [
        [2019, 2019, 2021],
        [0.5, 0.5, 3.25],
        ["2019", "2019", "2021"],
        pd.Series(pd.PeriodIndex(["2019-01", "2019-01", "2021-03"], freq="M")),
        np.array(["2019-01", "2019-01", "2021-03"], dtype="datetime64[M]"),
        [datetime.date(2019, 1, 1)] * 2 + [datetime.date(2021, 1, 1)],
        [datetime.datetime(2019, 1, 1, 8)] * 2 + [datetime.date(2021, 1, 1)],
        pd.Series(pd.to_datetime(["2019-01-01", "2019-01-01", "2021-01-01"])),
        pl.Series([datetime.date(2019, 1, 1)] * 2 + [datetime.date(2021, 1, 1)]),
    ],
    ids=["int", "float", "text", "Period", "month", "date", "time", "pandas", "polars"],
)
def test_periods_of_any_sortable_type(period):
    pairs = Pairs(None, ["a", "a", "b"], ["b", "b", "c"])
    m = Elo().fit(pairs, [-1, -1, 0], period=period)
    assert_allclose(m.rating_[0], 1220)
    history = m.history_
    assert history["item"].to_list() == ["a", "b", "b", "c"]
    first, last = history["period"][0], history["period"][3]
    assert first == history["period"][1] and first < last
    m.partial_fit(pairs[:1], [0], period=period[2:])
    assert m.history_["period"][5] == last


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@given(games=few_games(), model=st.sampled_from(MODELS))
def test_weights_within_a_period(games, model):
    period = np.zeros(len(games.y))
    m = model().fit(games.pairs, games.y, period=period, sample_weight=games.weight)
    # 0.5 does not divide into rows, twice as much does.
    rows = np.repeat(np.arange(len(games.y)), (2 * games.weight).astype(int))
    twice = model().fit(
        games.pairs, games.y, period=period, sample_weight=2 * games.weight
    )
    duplicates = games.take(rows)
    expected = model().fit(duplicates.pairs, duplicates.y, period=np.zeros(len(rows)))
    assert set(twice.items_) == set(expected.items_)
    assert_allclose(twice.rating_, expected.utility(twice.items_), rtol=1e-12)
    assert set(m.items_) == set(twice.items_)
