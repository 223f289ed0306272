# SPDX-License-Identifier: BSD-3-Clause
"""Learning game after game: pieces, periods, weights of 0, files, and bad input."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.ratings.random_games import few_games, random_games
from tiebreak import Pairs
from tiebreak.ratings import Elo, Glicko, Glicko2

MODELS = [Elo, Glicko, Glicko2]
every_model = pytest.mark.parametrize("model", MODELS)
ONE = Pairs(None, ["a"], ["b"])
ATTRIBUTES = ("items_", "rating_", "n_games_", "deviation_", "volatility_")


def assert_equal(one, two, *, last_call=True):
    names = [name for name in ATTRIBUTES if hasattr(one, name)]
    if last_call:
        names += ["before_"]
    known = two.items_.tolist()
    rows = [known.index(name) for name in one.items_.tolist()]
    for name in names:
        other = getattr(two, name)
        other = other if name == "before_" else other[rows]
        assert_array_equal(getattr(one, name), other, err_msg=name)
    assert one.history_.schema == two.history_.schema
    assert one.history_.rows() == two.history_.rows()
    assert (one.slope_, one.tie_) == (two.slope_, two.tie_)
    assert one.threshold_ == two.threshold_


def columns_of(games, rows, names):
    called = {"weight": "sample_weight"}
    return {called.get(name, name): getattr(games, name)[rows] for name in names}


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@given(
    games=few_games(),
    model=st.sampled_from(MODELS),
    names=st.sets(st.sampled_from(["advantage", "weight", "period"])),
    data=st.data(),
)
def test_pieces_are_the_whole(games, model, names, data):
    n = len(games.y)
    if "period" in names:
        # A period that is cut would be two updates.
        cuts = np.flatnonzero(np.diff(games.period)) + 1
    else:
        cuts = np.arange(1, n)
    ends = sorted(data.draw(st.sets(st.sampled_from([*cuts.tolist(), n]))) | {n})
    whole = model().fit(games.pairs, games.y, **columns_of(games, slice(n), names))
    pieces, start, before = model(), 0, []
    for end in ends:
        rows = slice(start, end)
        if "weight" in names and not games.weight[rows].any():
            return
        columns = columns_of(games, rows, names)
        pieces.partial_fit(games.pairs[rows], games.y[rows], **columns)
        before.append(pieces.before_)
        start = end
    # An item of absent rows alone enters later than its name appears.
    assert_equal(whole, pieces, last_call=False)
    assert_array_equal(np.concatenate(before), whole.before_)


@every_model
def test_columns_may_come_and_go_between_calls(model, rng):
    games = random_games(rng, 90)
    parts = [slice(0, 30), slice(30, 60), slice(60, 90)]
    for name in ("advantage", "weight"):
        usual = 1.0 if name == "weight" else 25.0
        column = np.full(90, usual)
        column[30:60] = getattr(games, name)[30:60]
        given = {"sample_weight" if name == "weight" else name: column}
        whole = model(advantage=25.0).fit(games.pairs, games.y, **given)
        pieces = model(advantage=25.0)
        for part, names in zip(parts, ([], [name], []), strict=True):
            columns = columns_of(games, part, names)
            pieces.partial_fit(games.pairs[part], games.y[part], **columns)
        assert_equal(whole, pieces, last_call=False)


@every_model
def test_a_later_call_sees_the_ratings_after_the_earlier(model):
    pieces = model().fit(ONE, [-1], period=[1]).partial_fit(ONE, [-1], period=[1])
    together = model().fit(Pairs(None, ["a"] * 2, ["b"] * 2), [-1, -1], period=[1, 1])
    assert pieces.rating_[0] < together.rating_[0]
    assert_array_equal(pieces.history_["period"], [1, 1, 1, 1])
    assert_array_equal(together.history_["period"], [1, 1])


@every_model
def test_new_items_enter_where_they_come(model):
    m = model().fit(ONE, [-1])
    m.partial_fit(Pairs(None, ["z", "c"], ["a", "z"]), [0, 1])
    assert_array_equal(m.items_, ["a", "b", "z", "c"])
    assert m.before_[0, 0] == m.init == m.before_[1, 0]
    assert_array_equal(m.n_games_, [2, 1, 2, 1])


@every_model
def test_before_of_an_absent_row(model):
    pairs = Pairs(None, ["a", "x", "a"], ["b", "a", "x"])
    m = model().fit(pairs, [-1, 1, 0], sample_weight=[1, 0, 0])
    assert_array_equal(m.items_, ["a", "b"])
    assert_array_equal(m.before_[1:], [[m.init, m.rating_[0]], [m.rating_[0], m.init]])
    # x is unknown, and its place is free for the next item.
    with pytest.raises(ValueError, match=r"1 item\(s\) have no rating.*'x'"):
        m.utility(["x"])
    m.partial_fit(Pairs(None, ["b", "q"], ["c", "a"]), [0, 0], sample_weight=[1, 0])
    assert_array_equal(m.items_, ["a", "b", "c"])
    assert m.before_[1, 0] == m.init
    other = model().fit(Pairs(None, ["a", "b"], ["b", "c"]), [-1, 0])
    assert_array_equal(m.rating_, other.rating_)
    assert_array_equal(m.history_["rating"], other.history_["rating"])
    assert m.history_["row"].to_list() == [0, 0, 3, 3]


@every_model
def test_an_absent_row_has_the_deviation_of_its_time(model):
    if model is Elo:
        return
    m = model().fit(
        Pairs(None, ["a"] * 2, ["b"] * 2),
        [0, 0],
        period=[1, 9],
        sample_weight=[1, 0],
    )
    assert (m.before_deviation_[1] > m.deviation_).all()


@every_model
@pytest.mark.parametrize(
    ("left", "right", "y", "given", "error", "message"),
    [
        (["a"], ["a"], [0], {}, ValueError, "Every comparison is of an item with"),
        (["a"], ["b"], [2], {}, ValueError, r"y must hold -1 .*row 0 \(2\)"),
        (["a"], ["b"], None, {}, ValueError, "the target y is None"),
        (["a"], ["b"], [0, 0], {}, ValueError, "2 outcomes|2 values"),
        (["a"], ["b"], [0], {"advantage": [1, 2]}, ValueError, "advantage has 2 val"),
        (["a"], ["b"], [0], {"rater": [1, 2]}, ValueError, "rater has 2 values"),
        (["a"], ["b"], [0], {"sample_weight": [1, 1]}, ValueError, "has 2 values"),
        (["a"], ["b"], [0], {"period": [1, 2]}, ValueError, "period has 2 values"),
        (["a"], ["b"], [0], {"period": [np.nan]}, ValueError, "period has 1 missing"),
        (["a"], ["b"], [0], {"period": [np.inf]}, ValueError, "period must be finite"),
        (["a"], ["b"], [0], {"period": [True]}, TypeError, "period must hold numbers"),
    ],
)
def test_bad_games(model, left, right, y, given, error, message):
    pairs = Pairs(None, left, right)
    with pytest.raises(error, match=message):
        model().fit(pairs, y, **given)
    m = model().fit(ONE, [-1], period=[0] if "period" in given else None)
    rating = m.rating_
    with pytest.raises(error, match=message):
        m.partial_fit(pairs, y, **given)
    assert_array_equal(m.rating_, rating)
    assert_array_equal(m.items_, ["a", "b"])


@every_model
def test_periods_out_of_order(model):
    pairs = Pairs(None, ["a"] * 5, ["b"] * 5)
    message = (
        r"period decreases at row 2 \(3\), row 4 \(1\): row 2 comes after period 7 of "
        r"row 1\. Sort the rows"
    )
    with pytest.raises(ValueError, match=message):
        model().fit(pairs, [0] * 5, period=[2, 7, 3, 3, 1])
    m = model().fit(pairs, [0] * 5, period=[2, 2, 3, 3, 7])
    with pytest.raises(ValueError, match=r"period 6 at row 0 is before 7, the last"):
        m.partial_fit(ONE, [0], period=[6])
    with pytest.raises(ValueError, match=r"come without period .* came with;"):
        m.partial_fit(ONE, [0])
    with pytest.raises(ValueError, match=r"come with period .* came without;"):
        model().fit(pairs, [0] * 5).partial_fit(ONE, [0], period=[6])


def test_periods_of_text_and_of_other_kinds():
    pairs = Pairs(None, ["a"] * 2, ["b"] * 2)
    with pytest.raises(ValueError, match=r"row 1 \('10'\).*letter by letter"):
        Elo().fit(pairs, [0, 0], period=["9", "10"])
    m = Elo().fit(pairs, [0, 0], period=["2019", "2020"])
    with pytest.raises(TypeError):
        m.partial_fit(ONE, [0], period=[2021])
    assert_array_equal(m.history_["period"], ["2019", "2019", "2020", "2020"])
    for model in (Glicko, Glicko2):
        with pytest.raises(TypeError, match=r"numbers or dates .* as period.*at row 0"):
            model().fit(ONE, [0], period=["May"])
        m = model().fit(ONE, [0], period=[datetime.date(2020, 1, 1)])
        assert m.history_["period"].dtype.is_temporal()


def test_few_games_without_a_left_winner_are_nothing_unusual():
    two = Pairs(None, ["a", "a"], ["b", "b"])
    with pytest.warns(UserWarning, match="y holds only 0 and 1"):
        m = Elo().partial_fit(two, [0, 1])
    m.partial_fit(two, [0, 1])
    with pytest.raises(ValueError, match="y holds only 0 and 1, which can be read"):
        Elo().fit(two, [0, 1])
