# SPDX-License-Identifier: BSD-3-Clause
"""Glicko: Glickman's example, growth over idle periods; both against the plain loop."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from tests.extended import few
from tests.oracles.glicko_plain import Player, g, glicko_update, idle, rate
from tests.ratings.random_games import few_games, random_games
from tiebreak import Pairs
from tiebreak.ratings import Glicko, Glicko2
from tiebreak.ratings.over_time.glicko import COLUMNS, update_glicko

ONE = Pairs(None, ["a"], ["b"])
OPPONENTS = [(1400, 30), (1550, 100), (1700, 300)]


def glickmans_example(tau):
    """Rate 1500/200 against his three opponents: a victory and two defeats."""
    state = np.zeros((4, len(COLUMNS)))
    state[:, COLUMNS.index("rating")] = [1500, 1400, 1550, 1700]
    state[:, COLUMNS.index("deviation")] = [200, 30, 100, 300]
    state[:, COLUMNS.index("volatility")] = 0.06
    # Nobody has played before, so deviations are what they are at the start.
    state[:, COLUMNS.index("last")] = np.nan
    before = np.empty((3, 2, 3))
    update_glicko(
        np.array([[0, 1], [0, 2], [0, 3]], dtype=np.uint32),
        np.array([-1, 1, 1], dtype=np.int8),
        np.ones(3),
        np.zeros(3),
        np.array([0, 3]),
        np.array([1.0]),
        state,
        before,
        before[:0],
        np.array([63.2, 350.0, tau]),
    )
    return dict(zip(COLUMNS, state[0], strict=True))


def test_glickmans_example():
    # M. E. Glickman, The Glicko system: r' = 1464, RD' = 151.4 (from 1464.1).
    player = glickmans_example(tau=0.0)
    assert player["rating"] == pytest.approx(1464.1, abs=0.05)
    assert player["deviation"] == pytest.approx(151.4, abs=0.05)
    assert player["games"] == 3
    assert player["last"] == 1
    games = [(r, d, s, 1.0) for (r, d), s in zip(OPPONENTS, (1, 0, 0), strict=True)]
    expected = glicko_update(Player(1500, 200), games)
    assert_allclose(player["rating"], expected.rating, rtol=1e-13)
    assert_allclose(player["deviation"], expected.deviation, rtol=1e-13)


def test_one_game_by_hand():
    # Two new players at 1500 / 350: g(350) = 0.6690695, E = 1/2, so
    # 1/d² = q² g² / 4 with q = ln 10 / 400, and a victory is worth q D'² g / 2.
    q = math.log(10) / 400
    shrunk = 1 / (1 / 350**2 + q**2 * 0.66906941**2 / 4)
    won = q * shrunk * 0.66906941 / 2
    model = Glicko().fit(ONE, [-1])
    assert_allclose(model.rating_, [1500 + won, 1500 - won], rtol=1e-7)
    assert_allclose(model.deviation_, [math.sqrt(shrunk)] * 2, rtol=1e-7)
    assert_allclose(model.rating_, [1662.2, 1337.8], rtol=0, atol=0.05)
    assert_allclose(model.deviation_, [290.2, 290.2], rtol=0, atol=0.05)
    assert_array_equal(model.before_, [[1500, 1500]])
    assert_array_equal(model.before_deviation_, [[350, 350]])


def start(c, periods, **parameters):
    model = Glicko(c=c, deviation=100.0, **parameters)
    return model.fit(
        Pairs(None, ["a"] * len(periods), ["b"] * len(periods)),
        [0] * len(periods),
        period=periods,
    )


def test_idle_periods_grow_the_deviation():
    shrunk = start(50.0, [3]).deviation_[0]
    assert shrunk < 100
    # Nobody grows before the first game; then by c² per period since the last.
    for later, passed in ((4, 1), (5, 2), (7, 4), (5.5, 2.5), (3.25, 1)):
        model = start(50.0, [3]).partial_fit(ONE, [0], period=[later])
        grown = math.sqrt(shrunk**2 + passed * 50.0**2)
        assert_allclose(model.before_deviation_, [[grown, grown]])
        assert_array_equal(
            model.before_deviation_, start(50.0, [3, later]).before_deviation_[1:]
        )
        expected = glicko_update(Player(1500, grown), [(1500, grown, 0.5, 1.0)])
        assert_allclose(model.deviation_, [expected.deviation] * 2)
    # Whoever is idle grows until the last period.
    model = start(50.0, [3]).partial_fit(Pairs(None, ["c"], ["a"]), [0], period=[9])
    assert model.deviation_[1] == pytest.approx(math.sqrt(shrunk**2 + 6 * 50.0**2))
    grown = math.sqrt(shrunk**2 + 6 * 50.0**2)
    assert_allclose(model.before_deviation_, [[100, grown]])


def test_the_same_period_in_a_later_call_is_an_update_without_time():
    model = start(50.0, [3])
    first = model.deviation_
    model.partial_fit(ONE, [0], period=[3])
    assert_array_equal(model.before_deviation_, [first])
    # It is no part of the earlier update: a game against somebody whose deviation has
    # shrunk already says more.
    together = start(50.0, [3, 3])
    assert (model.deviation_ < together.deviation_).all()


def model_of(system, games, columns, **parameters):
    names = {"weight": "sample_weight"}
    values = {names.get(name, name): getattr(games, name) for name in columns}
    model = clone(SYSTEMS[system][0]).set_params(**parameters)
    return model.fit(games.pairs, games.y, **values)


def plain(system, games, columns):
    columns = {name: getattr(games, name) for name in columns}
    rules = SYSTEMS[system][1] | {"max_deviation": 310.0}
    return rate(games.left, games.right, games.y, **rules, **columns)


def assert_same(model, oracle):
    players, before, history = oracle
    assert set(model.items_.tolist()) == set(players)
    of = [players[name] for name in model.items_.tolist()]
    assert_allclose(model.rating_, [p.rating for p in of], rtol=0, atol=1e-9)
    last = [idle(p, of, getattr(model, "c", None), 310.0) for p in of]
    assert_allclose(model.deviation_, last, rtol=0, atol=1e-9)
    assert_allclose(model.n_games_, [p.games for p in of])
    pairs = [[a.rating, b.rating] for a, b in before]
    assert_allclose(model.before_, pairs, rtol=0, atol=1e-9)
    pairs = [[a.deviation, b.deviation] for a, b in before]
    assert_allclose(model.before_deviation_, pairs, rtol=0, atol=1e-9)
    after = model.history_
    assert after["item"].to_list() == [name for _, name, _ in history]
    assert_allclose(after["rating"], [p.rating for *_, p in history])
    assert_allclose(after["deviation"], [p.deviation for *_, p in history])
    if isinstance(model, Glicko2):
        assert_allclose(model.volatility_, [p.volatility for p in of], rtol=1e-9)
        assert_allclose(after["volatility"], [p.volatility for *_, p in history])


SYSTEMS = {
    "glicko": (
        Glicko(c=20.0, deviation=300.0, max_deviation=310.0),
        {"new": Player(1500.0, 300.0), "c": 20.0},
    ),
    "glicko2": (
        Glicko2(deviation=300.0, max_deviation=310.0, tau=0.9),
        {"new": Player(1500.0, 300.0, 0.06), "tau": 0.9},
    ),
}
COLUMN_SETS = [
    (),
    ("period",),
    ("advantage", "weight"),
    ("period", "advantage", "weight"),
]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("columns", few(map(pytest.param, COLUMN_SETS[::-1])))
def test_equals_the_plain_loop(rng, system, columns):
    games = random_games(rng, 10_000, 40)
    model = model_of(system, games, columns)
    assert np.ptp(model.rating_) > 100
    assert_same(model, plain(system, games, columns))


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("columns", COLUMN_SETS)
@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@given(few_games())
def test_equals_the_plain_loop_on_oddities(system, columns, games):
    model = model_of(system, games, columns)
    assert_same(model, plain(system, games, columns))


def test_expected_score_and_what_a_difference_is_worth(rng):
    games = random_games(rng, 60)
    model = model_of("glicko", games, ["period"], advantage=25.0)
    rating = dict(zip(model.items_, model.rating_, strict=True))
    deviation = dict(zip(model.items_, model.deviation_, strict=True))
    asked = games.pairs[:20]
    expected = []
    for a, b in zip(games.left[:20], games.right[:20], strict=True):
        both = g(math.hypot(deviation[a], deviation[b]))
        ahead = rating[a] + 25 - rating[b]
        expected.append(1 / (1 + 10 ** (-both * ahead / 400)))
    assert_allclose(model.expected_score(asked), expected, rtol=1e-12)
    # The decision function is the plain difference.
    utility = model.utility(games.right) - model.utility(games.left)
    assert_allclose(model.difference(asked), utility[:20] - 25)


HIS_GAMES = Pairs(None, ["me", "me", "me"], ["x", "y", "z"])


@pytest.mark.parametrize(
    ("model", "expected"), [(Glicko, (1464.1, 151.4)), (Glicko2, (1464.06, 151.52))]
)
def test_glickmans_own_example(model, expected):
    # "The Glicko system" and "Example of the Glicko-2 system", their only examples.
    init = {"me": 1500, "x": 1400, "y": 1550, "z": 1700}
    deviation = {"me": 200, "x": 30, "y": 100, "z": 300}
    rated = model(init=init, deviation=deviation)
    rated.fit(HIS_GAMES, [-1, 1, 1], period=[1, 1, 1])
    assert rated.rating_[0] == pytest.approx(expected[0], abs=0.1)
    assert rated.deviation_[0] == pytest.approx(expected[1], abs=0.1)
    assert rated.before_[0].tolist() == [1500, 1400]
    if model is Glicko2:
        assert rated.volatility_[0] == pytest.approx(0.05999, abs=1e-5)
    with pytest.raises(ValueError, match=r"got init=\{'me': 'high'\}"):
        model(init={"me": "high"}).fit(HIS_GAMES, [-1, 1, 1])


def test_time_is_measured_in_periods_of_a_length():
    dates = pd.to_datetime(["2024-01-01", "2024-01-31", "2024-04-30"])
    games = Pairs(None, ["a", "a", "a"], ["b", "b", "c"])
    by_month = Glicko(period_length="30d").fit(games, [-1, 1, 0], period=dates)
    by_number = Glicko().fit(games, [-1, 1, 0], period=[0, 1, 4])
    assert_allclose(by_month.deviation_, by_number.deviation_)
    # The median of 30 and 90 days is 60.
    usual = Glicko().fit(games, [-1, 1, 0], period=dates)
    same = Glicko(period_length=60).fit(games, [-1, 1, 0], period=dates)
    assert_allclose(usual.deviation_, same.deviation_)
    with pytest.raises(ValueError, match=r"period_length='30d'.*expected a number"):
        Glicko(period_length="30d").fit(games, [-1, 1, 0], period=[0, 1, 4])


@pytest.mark.parametrize("model", [Glicko(c=40), Glicko2()], ids=repr)
def test_the_deviation_of_an_idle_player_grows(model):
    games = Pairs(None, ["a", "b"], ["b", "c"])
    short = model.fit(games[:1], [-1], period=[1]).deviation_[0]
    idle = clone(model).fit(games, [-1, 0], period=[1, 4])
    growth = 40.0 if isinstance(model, Glicko) else 0.06 * 400 / np.log(10)
    grown = np.sqrt(short**2 + 3 * growth**2)
    assert idle.deviation_[0] == pytest.approx(grown, rel=1e-6)
    late = clone(model).fit(games[[0, 1, 0]], [-1, 0, 1], period=[1, 4, 4])
    assert late.before_deviation_[2, 0] == pytest.approx(idle.deviation_[0], rel=1e-3)
