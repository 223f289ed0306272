# SPDX-License-Identifier: BSD-3-Clause
"""Elo: FIDE's and Elo's arithmetic by hand, laws of the formula, and the plain loop."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from tests.extended import few
from tests.oracles.elo_plain import elo as elo_plain
from tests.ratings.random_games import few_games, random_games
from tiebreak import Pairs
from tiebreak.ratings import Elo


def ratings(model):
    return dict(zip(model.items_.tolist(), model.rating_.tolist(), strict=True))


def assert_ratings(model, expected, atol=1e-9):
    found = ratings(model)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == pytest.approx(expected[name], abs=atol, rel=0)


def test_three_games_by_hand():
    # Ada beats Bo, both at 1200: E = 1/2, so 20 · (1 - 1/2) = 10 points change hands.
    # Then Ada (1210) ties with Bo (1190): E = 1 / (1 + 10^(-20/400)) = 0.5287505, and
    # Ada loses 20 · 0.0287505 = 0.5750096.
    # Then Cy (1200) beats Ada (1209.4249904): Cy expects 1 / (1 + 10^(9.4249904/400)),
    # which is 0.4864411, and wins 20 · 0.5135589 = 10.2711778.
    games = Pairs(None, ["Ada", "Bo", "Cy"], ["Bo", "Ada", "Ada"])
    model = Elo(20).fit(games, [-1, 0, -1])
    assert_array_equal(model.items_, ["Ada", "Bo", "Cy"])
    bo = 1190 + 20 * (0.5 - 1 / (1 + 10 ** (20 / 400)))
    ada = 1200 + 1200 - bo
    won = 20 * (1 - 1 / (1 + 10 ** ((ada - 1200) / 400)))
    assert_allclose(model.before_, [[1200, 1200], [1190, 1210], [1200, ada]])
    assert_allclose(model.rating_, [ada - won, bo, 1200 + won], rtol=0, atol=1e-10)
    by_hand = [1199.1538, 1190.5750, 1210.2712]
    assert_allclose(model.rating_, by_hand, rtol=0, atol=1e-4)
    assert_array_equal(model.n_games_, [3, 2, 1])


@pytest.mark.parametrize(
    ("rule", "new", "usual", "top"), [("fide", 30, 15, 10), ("fide2014", 40, 20, 10)]
)
def test_fide_by_hand(rule, new, usual, top):
    # 30 ties of two equals change nothing; the 31st game is the first with the usual
    # K, and a victory is worth K/2.
    pairs = Pairs(None, ["a"] * 31, ["b"] * 31)
    model = Elo(rule).fit(pairs[:30], [0] * 29 + [-1])
    assert_allclose(model.rating_, [1200 + new / 2, 1200 - new / 2])
    model = Elo(rule).fit(pairs, [0] * 30 + [-1])
    assert_allclose(model.rating_, [1200 + usual / 2, 1200 - usual / 2])
    # From 2400 on it is the least K, for both of them, since both have been there.
    model = Elo(rule, init=2400).fit(pairs, [0] * 30 + [-1])
    assert_allclose(model.rating_, [2400 + top / 2, 2400 - top / 2])
    # Not below; and it remains when the rating falls again.
    model = Elo(rule, init=2399.9).fit(pairs, [0] * 30 + [-1])
    assert_allclose(model.rating_, [2399.9 + usual / 2, 2399.9 - usual / 2])
    before = model.rating_
    assert before[0] > 2400 > before[1]
    model.partial_fit(pairs[:1], [1], advantage=before[1] - before[0])
    assert_allclose(model.rating_, [before[0] - top / 2, before[1] + usual / 2])
    fallen = model.rating_
    model.partial_fit(pairs[:1], [1], advantage=fallen[1] - fallen[0])
    assert model.rating_[0] < 2400
    assert_allclose(model.rating_[0], fallen[0] - top / 2)
    again = model.rating_
    model.partial_fit(pairs[:1], [1], advantage=again[1] - again[0])
    assert_allclose(model.rating_[0], again[0] - top / 2)


@pytest.mark.parametrize("rule", [17.0, "fide", "fide2014"])
@pytest.mark.parametrize("with_period", few([True, False]))
@pytest.mark.parametrize("with_rest", few([True, False]))
def test_equals_the_plain_loop(rng, rule, with_period, with_rest):
    games = random_games(rng, 100_000 if rule == 17.0 else 5_000, 40)
    init = 2380.0 if rule != 17.0 else 1200.0
    columns = {"period": games.period} if with_period else {}
    given = dict(columns)
    if with_rest:
        columns |= {"advantage": games.advantage, "weight": games.weight}
        given |= {"advantage": games.advantage, "sample_weight": games.weight}
    expected, before, _ = elo_plain(
        games.left, games.right, games.y, k=rule, init=init, **columns
    )
    model = Elo(rule, init=init).fit(games.pairs, games.y, **given)
    assert_ratings(model, expected)
    assert np.ptp(model.rating_) > 10
    assert_allclose(model.before_, before, rtol=0, atol=1e-9)
    if rule != 17.0:
        assert model.history_["rating"].max() > 2400


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@given(few_games())
def test_equals_the_plain_loop_on_oddities(games):
    expected, before, history = elo_plain(
        games.left,
        games.right,
        games.y,
        k=32.0,
        advantage=games.advantage,
        weight=games.weight,
        period=games.period,
    )
    model = Elo(32.0).fit(
        games.pairs,
        games.y,
        period=games.period,
        advantage=games.advantage,
        sample_weight=games.weight,
    )
    assert_ratings(model, expected)
    assert_allclose(model.before_, before, rtol=0, atol=1e-9)
    found = model.history_.rows()
    assert [row[1] for row in found] == [row[1] for row in history]
    assert_allclose([row[2] for row in found], [row[2] for row in history])
    starts = [row for row in range(len(games.y)) if row == 0 or _new(games, row)]
    assert [row[0] for row in found] == [games.period[starts[u]] for u, *_ in history]


def _new(games, row):
    return games.period[row] != games.period[row - 1]


def test_the_fast_loop_and_the_general_one_are_bit_equal(rng):
    games = random_games(rng, 3_000)
    plain = Elo(advantage=35.0).fit(games.pairs, games.y)
    n = len(games.y)
    for columns in (
        {"sample_weight": np.ones(n)},
        {"advantage": np.full(n, 35.0)},
        {"advantage": 35.0},
        {"period": np.arange(n)},
    ):
        general = Elo(advantage=35.0).fit(games.pairs, games.y, **columns)
        assert_array_equal(general.rating_, plain.rating_)
        assert_array_equal(general.before_, plain.before_)
        assert_array_equal(general.n_games_, plain.n_games_)


def test_expected_score(rng):
    games = random_games(rng, 300)
    model = Elo(scale=250.0, advantage=20.0).fit(games.pairs, games.y)
    rating = ratings(model)
    asked = games.pairs[:20]
    expected = [
        1 / (1 + 10 ** (-(rating[a] + 20 - rating[b]) / 250))
        for a, b in zip(games.left[:20], games.right[:20], strict=True)
    ]
    assert_allclose(model.expected_score(asked), expected, rtol=1e-12)
    neutral = model.expected_score(asked, advantage=0)
    assert (neutral < expected).all()
    assert_allclose(neutral + model.expected_score(asked.swap(), advantage=0), 1)
    one_each = model.expected_score(asked, advantage=np.arange(20) * 1.0)
    assert_allclose(one_each[0], neutral[0])
    difference = model.difference(asked)
    assert_allclose(expected, 1 / (1 + 10 ** (difference / 250)))
    utility = model.utility(games.right) - model.utility(games.left)
    assert_allclose(difference, utility[:20] - 20)
