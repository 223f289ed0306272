# SPDX-License-Identifier: BSD-3-Clause
"""From the tables that people have to `Pairs`, outcomes and weights."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tiebreak import BradleyTerry, LogisticCompare, Outcome, Pairs, SVMCompare
from tiebreak.io import ReadOptions, read_file

GAMES = {
    "home": ["Ada", "Bo", "Cy", "Ada", "Cy"],
    "away": ["Bo", "Cy", "Ada", "Cy", "Bo"],
    "result": ["home", "draw", "Cy", "1-0", "away"],
}
FRAMES = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])


def same(one, other):
    """Check that two `Pairs` compare the same items, by name, in the same order."""
    np.testing.assert_array_equal(one.names[one.left], other.names[other.left])
    np.testing.assert_array_equal(one.names[one.right], other.names[other.right])
    return True


# Two columns of names


def test_a_forgotten_side_is_an_error_that_says_how():
    with pytest.raises(TypeError, match=r"Pairs needs left and right"):
        Pairs(left=["Ada"])
    # The first argument is the table of items, not the left side.
    with pytest.raises(TypeError, match=r"Pairs\(left=\.\.\."):
        Pairs(["Ada"], ["Bo"])


# Winners and losers


def test_winners_and_losers():
    pairs, y = Pairs.from_winners(winner=["Ada", "Bo", "Ada"], loser=["Bo", "Cy", "Cy"])
    assert pairs.names[pairs.left].tolist() == ["Ada", "Bo", "Ada"]
    assert y.tolist() == [-1, -1, -1]
    assert BradleyTerry().fit(pairs, y).order(["Cy", "Bo", "Ada"]).tolist() == [2, 1, 0]


def test_exchanged_sides_do_not_change_a_fit_and_hide_the_outcome():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.permuted(np.tile(list("abcde"), (80, 1)), axis=1)[:, :2])
    tie = rng.random(80) < 0.2
    as_given = Pairs.from_winners(table[0], table[1], tie)
    exchanged = Pairs.from_winners(table[0], table[1], tie, exchange=True)
    np.testing.assert_array_equal(exchanged[1] == 0, tie)
    assert 15 < np.sum(exchanged[1] == 1) < 50
    one, other = (BradleyTerry().fit(*data) for data in (as_given, exchanged))
    names = list("abcde")
    np.testing.assert_allclose(one.utility(names), other.utility(names), atol=1e-6)


def test_exchanging_does_what_the_reader_of_files_does(tmp_path):
    rng = np.random.default_rng(1)
    winner, loser = rng.permuted(np.tile(list("abcde"), (40, 1)), axis=1)[:, :2].T
    path = tmp_path / "games.csv"
    pl.DataFrame({"winner": winner, "loser": loser}).write_csv(path)
    read = read_file(path, ReadOptions())
    pairs, y = Pairs.from_winners(winner, loser, exchange=True)
    assert same(pairs, read.data.pairs)
    assert y.tolist() == read.data.y.tolist()


@pytest.mark.parametrize(
    ("loser", "tie", "message"),
    [
        (["Bo", "Cy"], [0, 1], "tie must hold True and False, got int64"),
        (["Bo", "Cy"], [False, None], "tie has 1 missing value.*row 1"),
        (["Bo", "Cy"], [True], "tie has 1 values but there are 2 rows"),
        (["Bo"], None, "left has 2 items but right has 1"),
        (["Bo", None], None, "right has 1 missing value.*row 1"),
    ],
)
def test_winners_that_are_refused(loser, tie, message):
    with pytest.raises(ValueError, match=message):
        Pairs.from_winners(["Ada", "Bo"], loser, tie)


# A data frame


@FRAMES
def test_a_frame_with_words_and_names_of_winners(make):
    games, y = Pairs.from_frame(
        make(GAMES), left="home", right="away", outcome="result"
    )
    assert same(games, Pairs(left=GAMES["home"], right=GAMES["away"]))
    assert y.tolist() == [-1, 0, -1, -1, 1]
    words = ["left", "tie", "left", "left", "right"]
    assert y.tolist() == Outcome.parse(words).tolist()


@FRAMES
def test_numbers_need_a_meaning(make):
    table = make(GAMES | {"points": [1, 0, 1, 1, 0]})
    columns = {"left": "home", "right": "away", "outcome": "points"}
    with pytest.raises(ValueError, match=r"numbers without a declared.*row 0 \(1\)"):
        Pairs.from_frame(table, **columns)
    _, y = Pairs.from_frame(table, **columns, meaning="score")
    assert y.tolist() == [-1, 1, -1, -1, 1]


def test_a_number_is_an_outcome_and_never_the_name_of_an_item():
    table = pd.DataFrame({"a": [0, 1], "b": [1, 2], "won": [1, 1]})
    with pytest.raises(ValueError, match="numbers without a declared meaning"):
        Pairs.from_frame(table, left="a", right="b", outcome="won")
    with pytest.raises(ValueError, match="numbers without a declared meaning"):
        Pairs.from_frame(table.astype(str), left="a", right="b", outcome="won")
    # Who means the winner says so.
    assert Outcome.parse(table.won, left=table.a, right=table.b).tolist() == [1, -1]


@FRAMES
def test_an_unknown_word_is_named(make):
    columns = {"left": "home", "right": "away", "outcome": "result"}
    with pytest.raises(ValueError, match=r"unknown: row 1 \('Dora'\)"):
        Pairs.from_frame(
            make(GAMES | {"result": ["home", "Dora", "tie", "tie", "tie"]}), **columns
        )
    with pytest.raises(ValueError, match=r"outcomes has .* missing.*row 4"):
        Pairs.from_frame(make(GAMES | {"result": [*"abab", None]}), **columns)


@FRAMES
def test_both_bad_is_a_tie_with_a_warning(make):
    table = make({"a": ["x"], "b": ["y"], "vote": ["tie (bothbad)"]})
    columns = {"left": "a", "right": "b", "outcome": "vote"}
    with pytest.warns(UserWarning, match="both items are bad"):
        assert Pairs.from_frame(table, **columns)[1].tolist() == [0]


@FRAMES
def test_features_come_from_a_second_frame(make):
    players = make({"name": ["Cy", "Ada", "Bo"], "age": [30, 25, 41], "elo": [9, 8, 7]})
    features = players[["age", "elo"]]
    games, y = Pairs.from_frame(
        make(GAMES), left="home", right="away", outcome="result",
        items=features, names=players["name"],
    )  # fmt: skip
    assert games.feature_names == ("age", "elo")
    assert np.asarray(games)[0].tolist() == [[25, 8], [41, 7]]
    assert LogisticCompare(kernel="linear").fit(games, y).predict(games).shape == (5,)


# Counts of votes


VOTES = np.array([[1, 2, 7], [5, 0, 5], [7, 3, 0]])  # left, tie, right
ANSWERS = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]]


@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry("davidson", alpha=0.5),
        BradleyTerry(),
        LogisticCompare(kernel="linear"),
        SVMCompare(kernel="linear"),
    ],
    ids=["BradleyTerry", "learned prior", "LogisticCompare", "SVMCompare"],
)
def test_a_fit_on_counts_is_a_fit_on_the_single_votes(model):
    """Ten raters of each pair, one row per vote, or per outcome with its count."""
    items = None if isinstance(model, BradleyTerry) else ANSWERS
    names = ["x", "y", "z"]
    pairs = Pairs(items, ["x", "y", "z"], ["y", "z", "x"], names=names)
    votes = np.repeat([-1, 0, 1] * 3, VOTES.ravel())
    counted = model.fit(pairs[np.repeat([0, 1, 2], 10)], votes)
    expected = counted.utility(names if items is None else ANSWERS)
    row, outcome = np.nonzero(VOTES)
    shared = model.fit(pairs[row], outcome - 1, sample_weight=VOTES[row, outcome])
    found = shared.utility(names if items is None else ANSWERS)
    np.testing.assert_allclose(found, expected, atol=1e-5)
