# SPDX-License-Identifier: BSD-3-Clause
"""Two columns of names are comparisons, and what tables of comparisons may hold."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import tiebreak
from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko2,
    LogisticCompare,
    MajorityCompare,
    Orders,
    Outcome,
    Pairs,
    RankSVM,
    SVMCompare,
)
from tiebreak.data import is_pairs

HOME = ["Ada", "Bo", "Cy", "Ada", "Cy", "Bo"]
AWAY = ["Bo", "Cy", "Ada", "Cy", "Bo", "Ada"]
Y = np.array([-1, 0, 1, -1, 1, -1])
FRAME = pd.DataFrame({"home": HOME, "away": AWAY})
TABLES = [
    FRAME,
    FRAME.astype(object),
    FRAME.to_numpy(),
    np.array([HOME, AWAY]).T,
    pl.DataFrame({"home": HOME, "away": AWAY}),
    list(zip(HOME, AWAY, strict=True)),
]


@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry(),
        Elo(),
        Glicko2(),
        MajorityCompare(),
        SVMCompare(kernel="linear"),
        RankSVM(kernel="linear"),
        LogisticCompare(),
    ],
    ids=repr,
)
def test_every_model_of_names_takes_two_columns(model):
    pairs = Pairs(None, HOME, AWAY)
    expected = model.fit(pairs, Y).difference(pairs)
    for table in TABLES:
        assert is_pairs(table)
        assert_array_equal(model.fit(table, Y).difference(table), expected)
        assert_array_equal(model.predict(table), model.predict(pairs))
        assert model.score(table, Y) == model.score(pairs, Y)


def test_numbers_are_names_for_models_of_names_only():
    ids = pd.DataFrame({"white": [7, 8, 9], "black": [8, 9, 7]})
    model = BradleyTerry().fit(ids, [-1, 0, 1])
    assert model.items_.tolist() == [7, 8, 9]
    assert model.predict(ids).shape == (3,)
    assert not is_pairs(ids)
    with pytest.raises(TypeError, match="two columns of names"):
        SVMCompare().fit(ids, [-1, 0, 1])
    assert not is_pairs(pd.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"]}))
    assert not is_pairs(FRAME.astype("category"))
    with pytest.raises(ValueError, match="must name two items"):
        BradleyTerry().fit([("a", "b"), ("a",)], [-1, 1])


@pytest.mark.parametrize("model", [BradleyTerry(), Elo(), SVMCompare(kernel="linear")])
def test_an_item_compared_with_itself_is_left_out(model):
    left, right = [*HOME, "Ada", "Di"], [*AWAY, "Ada", "Di"]
    with pytest.warns(UserWarning, match=r"2 comparison.*itself.*row 6"):
        model.fit(Pairs(None, left, right), [*Y, 1, 0])
    rest = type(model)(**model.get_params()).fit(FRAME, Y)
    assert_array_equal(model.difference(FRAME), rest.difference(FRAME))
    with pytest.raises(ValueError, match="Every comparison is of an item with itself"):
        model.fit(Pairs(None, ["a"], ["a"]), [1])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_names_are_looked_up_in_the_table_of_items(library):
    wines = {"wine": ["Bo", "Di", "Ada", "Cy"], "sugar": [1.0, 2.0, 3.0, 4.0]}
    games = library({"l": HOME, "r": AWAY, "y": Y})
    columns = {"left": "l", "right": "r", "outcome": "y", "meaning": "sign"}
    pairs, y = Pairs.from_frame(games, items=library(wines), **columns)
    assert pairs.feature_names == ("sugar",)
    assert_array_equal(pairs.values[pairs.left, 0], [3, 1, 4, 3, 4, 1])
    assert_array_equal(y, Y)
    named, _ = Pairs.from_frame(games, items=library(wines), names="wine", **columns)
    assert_array_equal(named.left, pairs.left)
    if library is pd.DataFrame:
        indexed = pd.DataFrame(wines).set_index("wine")
        by_index, _ = Pairs.from_frame(games, items=indexed, **columns)
        assert_array_equal(by_index.values, pairs.values)
    wines["wine"][0] = "Eve"
    with pytest.raises(ValueError, match="left must be among the 4 names"):
        Pairs.from_frame(games, items=library(wines), **columns)


def test_frames_of_other_libraries():
    games = pl.DataFrame({"l": HOME, "r": AWAY, "y": [*"HDAHAH"]})
    columns = {"left": "l", "right": "r", "outcome": "y"}
    for table in (games, games.lazy(), games.to_pandas(), games.to_arrow()):
        pairs, y = Pairs.from_frame(table, **columns)
        assert_array_equal(y, Y)
        assert pairs.names.tolist() == ["Ada", "Bo", "Cy"]
    assert "<li>Ada – Bo</li>" in pairs._repr_html_()


def test_home_draw_away():
    assert Outcome.parse(["H", "D", "a"]).tolist() == [-1, 0, 1]
    assert Outcome.parse(["A", "H"]).tolist() == [1, -1]
    assert Outcome.parse(["A", "B"]).tolist() == [-1, 1]
    for other in (["H", "D"], ["H", "A", "B"]):
        with pytest.raises(ValueError, match="unknown"):
            Outcome.parse(other)
    games = pl.DataFrame({"home": HOME, "away": AWAY, "result": [*"HDAHAH"]})
    assert tiebreak.rank(games).table.height == 3


@pytest.mark.parametrize("columns", [("home_goals", "away_goals"), ("fthg", "ftag")])
def test_an_outcome_against_the_goals_warns(columns):
    goals = {columns[0]: [3, 1, 0, 2], columns[1]: [0, 1, 2, 1]}
    games = pd.DataFrame({"home": HOME[:4], "away": AWAY[:4], **goals})
    games["y"] = (games[columns[0]] - games[columns[1]]).clip(-1, 1)
    names = {"left": "home", "right": "away", "outcome": "y"}
    with pytest.warns(UserWarning, match="3 of 4 rows.*opposite.*meaning='left'"):
        Pairs.from_frame(games, **names, meaning="sign")
    with pytest.warns(UserWarning, match="3 of 4 rows"):
        tiebreak.rank(games, **names, meaning="sign")
    _, y = Pairs.from_frame(games, **names, meaning="left")
    assert y.tolist() == [-1, 0, 1, -1]
    games["winner"] = ["Ada", None, "Ada", "Ada"]
    with pytest.warns(UserWarning, match="'winner'"):
        Pairs.from_frame(games, **names, meaning="sign")


def test_places_are_lists():
    races = pd.DataFrame(
        {"race": [2, 1, 1, 2, 1], "who": [*"xyzyx"], "place": [2, 1, 3, 1, 1]}
    )
    orders = Orders.from_frame(races, list="race", item="who", place="place")
    assert list(orders) == [["y", "x"], [["y", "x"], "z"]]
    assert "<li>y &gt; x</li>" in orders._repr_html_()
    races["place"] = "first"
    with pytest.raises(TypeError, match="place must hold numbers"):
        Orders.from_frame(races, list="race", item="who", place="place")
