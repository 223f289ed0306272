# SPDX-License-Identifier: BSD-3-Clause
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.data import OUTCOME_WORDS, Outcome, check_outcomes
from tiebreak.data.outcome import BOTH_BAD_WORDS, decode_outcomes


def test_values_and_words():
    assert [int(outcome) for outcome in Outcome] == [-1, 0, 1]
    assert [outcome.word for outcome in Outcome] == ["left", "tie", "right"]


@pytest.mark.parametrize(
    ("left", "tie", "right"),
    [
        ("left", "tie", "right"),
        ("model_a", "tie", "model_b"),
        ("a", "draw", "b"),
        ("home", "draw", "away"),
        ("white", "drawn", "black"),
        ("1-0", "1/2-1/2", "0-1"),
        ("1-0", "½-½", "0-1"),
    ],
)
def test_families_of_words(left, tie, right):
    np.testing.assert_array_equal(Outcome.parse([left, tie, right]), [-1, 0, 1])


@pytest.mark.parametrize("word", [" Left", "LEFT\n", "Model_A", "1–0", "1−0", "WHITE "])
def test_case_blanks_and_dashes_do_not_matter(word):
    assert Outcome.parse([word]) == [-1]


def test_every_word_of_the_table_is_read_as_the_table_says():
    words = [word for word in OUTCOME_WORDS if word not in BOTH_BAD_WORDS]
    expected = [OUTCOME_WORDS[word] for word in words]
    np.testing.assert_array_equal(Outcome.parse(words), expected)
    assert set(OUTCOME_WORDS) >= BOTH_BAD_WORDS


@pytest.mark.parametrize(
    "column",
    [
        ["left", "draw"],
        ("left", "draw"),
        np.array(["left", "draw"]),
        np.array(["left", "draw"], dtype=object),
        np.array(["left", "draw"], dtype=np.dtypes.StringDType()),
        pd.Series(["left", "draw"], index=[7, 8]),
        pd.Series(["left", "draw"], dtype="category"),
        pl.Series(["left", "draw"]),
        pl.Series(["left", "draw"], dtype=pl.Categorical),
        [Outcome.LEFT, Outcome.TIE],
    ],
)
def test_parse_takes_every_kind_of_column(column):
    outcomes = Outcome.parse(column)
    assert outcomes.dtype == np.int8
    np.testing.assert_array_equal(outcomes, [-1, 0])


def test_parse_of_nothing_is_empty():
    assert Outcome.parse([]).shape == (0,)
    assert Outcome.parse(pd.Series([], dtype=object)).dtype == np.int8


def test_sign_and_score():
    np.testing.assert_array_equal(Outcome.parse([-1, 0, 1], meaning="sign"), [-1, 0, 1])
    np.testing.assert_array_equal(
        Outcome.parse([1, 0.5, 0], meaning="score"), [-1, 0, 1]
    )
    np.testing.assert_array_equal(
        Outcome.parse(["1", "½", "0.0", "1/2"], meaning="score"), [-1, 0, 1, 0]
    )
    np.testing.assert_array_equal(
        Outcome.parse(["−1", "+1", "tie"], meaning="sign"), [-1, 1, 0]
    )


@pytest.mark.parametrize("column", [[-1, 0, 1], [0.5, -1.0], ["1", "0"], [1, "tie"]])
def test_undeclared_numbers_are_refused_with_both_meanings(column):
    with pytest.raises(ValueError, match="without a declared meaning") as error:
        Outcome.parse(column)
    assert 'meaning="sign"' in str(error.value)
    assert 'meaning="score"' in str(error.value)


BETWEEN = {"left": ["Ada"], "right": ["Bo"]}
STRANGE = ["nan", "inf", "", date(2020, 1, 1)]
STRANGE += ["A>A", "a > tie", "tie wins", "A>C", "1-", ">", "a>"]
NOT_COMPARED = "not compared in that row"


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        ([1, 0.5], {"meaning": "sign"}, r"1 outcome.*-1, 0 and \+1.*row 1 \(0.5\)"),
        ([1, 0, -1], {"meaning": "score"}, r"1, 0.5, 0.*row 2 \(-1\)"),
        ([1], {"meaning": "margin"}, 'meaning must be "sign", "score", "left"'),
        ([True, False], {}, r"unknown: row 0 \(True\)"),
        ([1, True], {"meaning": "sign"}, r"unknown: row 1 \(True\)"),
        (["left", *["who"] * 7], {}, r"7 outcome\(s\) are unknown: row 1 \('who.* 2 m"),
        (["A", "D"], {}, r"row 1 \('D'\)"),
        (["left", "Skip"], {}, r"1 outcome\(s\) say that nobody voted: row 1"),
        (["Cy"], {}, "give left and right"),
        (["Cy"], BETWEEN, "names of the two items"),
        (
            ["b", "a"],
            {"left": ["a", "b"], "right": ["b", "c"]},
            f"{NOT_COMPARED}: row 1",
        ),
        (["WHITE"], {"left": ["white"], "right": ["x"]}, NOT_COMPARED),
        (["Ada"], {"left": ["Ada"], "right": ["Ada"]}, r"both sides: row 0 \('Ada'\)"),
        (["x"], {"right": ["x"]}, "left and right names, or neither"),
        (
            ["x"],
            BETWEEN | {"right": ["y", "z"]},
            "right has 2 values but there are 1",
        ),
        *(
            (["left", word], {}, r"1 outcome\(s\) are unknown: row 1")
            for word in STRANGE
        ),
    ],
)
def test_what_is_refused(column, options, message):
    with pytest.raises(ValueError, match=message):
        Outcome.parse(column, **options)


@pytest.mark.parametrize(
    "column",
    [
        ["left", None],
        ["left", float("nan")],
        pd.Series(["left", None]),
        pd.Series(["left", pd.NA], dtype="string"),
        pl.Series(["left", None]),
        np.ma.array(["left", "tie"], mask=[False, True]),
    ],
)
def test_missing_is_not_a_tie(column):
    with pytest.raises(ValueError, match=r"1 missing value\(s\).*row 1.*not a tie"):
        Outcome.parse(column)


def test_names_of_items():
    outcomes = Outcome.parse(
        ["Ada", "Ada ", "tie", "right"],
        left=["Ada", "Bo", "Ada", "Bo"],
        right=["Bo", "Ada", "Bo", "Ada"],
    )
    np.testing.assert_array_equal(outcomes, [-1, 1, 0, 1])


def test_numbers_may_be_names():
    outcomes = Outcome.parse([12.0, 7.0], left=[12, 12], right=[7, 7])
    np.testing.assert_array_equal(outcomes, [-1, 1])
    with pytest.raises(ValueError, match=r"declared meaning: row 1 \(9\)"):
        Outcome.parse([12, 9], left=[12, 12], right=[7, 7])
    declared = Outcome.parse([1, 1], meaning="sign", left=[1, 2], right=[2, 1])
    np.testing.assert_array_equal(declared, [1, 1])


def test_own_name_beats_the_table_of_words():
    outcomes = Outcome.parse(["black", "a"], left=["black", "b"], right=["white", "a"])
    np.testing.assert_array_equal(outcomes, [-1, 1])


def test_both_bad():
    column = ["left", "Tie (bothbad)", "both_bad"]
    np.testing.assert_array_equal(Outcome.is_both_bad(column), [False, True, True])
    np.testing.assert_array_equal(Outcome.is_both_bad([1, 2]), [False, False])
    np.testing.assert_array_equal(Outcome.is_both_bad(["tie", None]), [False, False])
    with pytest.warns(UserWarning, match="2 of 3 outcomes say that both items are bad"):
        outcomes = Outcome.parse(column)
    np.testing.assert_array_equal(outcomes, [-1, 0, 0])


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=12))
def test_round_trips(outcomes):
    words = [Outcome(outcome).word for outcome in outcomes]
    np.testing.assert_array_equal(Outcome.parse(words), outcomes)
    scores = [(1 - outcome) / 2 for outcome in outcomes]
    np.testing.assert_array_equal(Outcome.parse(scores, meaning="score"), outcomes)
    left = [f"item {2 * row}" for row in range(len(outcomes))]
    right = [f"item {2 * row + 1}" for row in range(len(outcomes))]
    winners = [
        {-1: a, 0: "tie", 1: b}[outcome]
        for a, b, outcome in zip(left, right, outcomes, strict=True)
    ]
    np.testing.assert_array_equal(
        Outcome.parse(winners, left=left, right=right), outcomes
    )


@pytest.mark.parametrize(
    "y",
    [
        [-1, 0, 1],
        np.array([-1.0, 0.0, 1.0], dtype=np.float32),
        np.array([-1, 0, 1], dtype=object),
        pd.Series([-1, 0, 1], dtype="Int64"),
        pl.Series([-1, 0, 1]),
        [Outcome.LEFT, Outcome.TIE, Outcome.RIGHT],
    ],
)
def test_check_outcomes_takes_numbers(y):
    checked = check_outcomes(y, 3)
    assert checked.dtype == np.int8
    np.testing.assert_array_equal(checked, [-1, 0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([-1, 0], "y has 2 values but there are 3 rows"),
        ([[1], [0], [1]], "one dimension, got .* row 0"),
        (np.zeros((3, 1)), r"one dimension, got shape \(3, 1\)"),
        ([True, False, True], r"row 0 \(True\).*True and False"),
        (["left", "tie", "left"], r"row 0 \('left'\).*Outcome.parse"),
        ([1, "tie", 0], r"1 other value\(s\): row 1 \('tie'\)"),
        ([1, np.nan, 0], r"y has 1 missing value\(s\).*row 1"),
        ([1, None, 0], r"y has 1 missing value\(s\).*row 1"),
        ([1, 0.5, 0], r'1 other value\(s\): row 1 \(0.5\).*meaning="score"'),
        ([-1, 2, 3], r"2 other value\(s\): row 1 \(2\), row 2 \(3\)\."),
        ([-1, 0, np.inf], r"row 2 \(inf\)"),
    ],
)
def test_check_outcomes_refuses(y, message):
    with pytest.raises(ValueError, match=message):
        check_outcomes(y, 3)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_zeros_and_ones_are_refused_until_declared(make):
    with pytest.raises(ValueError, match=r"0 is a tie.*WithoutTies\(model\)"):
        check_outcomes(make([0, 1, 1]), 3)
    assert check_outcomes(make([0, 1, 1]), 3, some=True).tolist() == [0, 1, 1]
    declared = Outcome.parse(make([0, 1, 1]), meaning="sign")
    for y in (declared, [Outcome.TIE, Outcome.RIGHT, Outcome.RIGHT]):
        with pytest.warns(UserWarning, match=r"0 is read as a tie.*Outcome.parse"):
            assert check_outcomes(y, 3).tolist() == [0, 1, 1]


@pytest.mark.parametrize("y", [[0, 1, 2], [2, 2], [1, 2], [0, 2]])
def test_classes_that_scikit_learn_renumbered(y):
    with pytest.warns(UserWarning, match="read as left, tie and right"):
        outcomes, classes = decode_outcomes(np.array(y))
    assert (outcomes + 1).tolist() == y
    assert classes.tolist() == [0, 1, 2]


@pytest.mark.parametrize("y", [[0, 1], [-1, 2], [0, 1, 3], [0.0, 2.0], [], ["left"]])
def test_what_is_not_renumbered_stays(y):
    column = np.array(y)
    assert decode_outcomes(column)[0] is column
    assert decode_outcomes([0, 1, 2])[1].tolist() == [-1, 0, 1]


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1], [-1, 0, 1], [-1, 0, 0]])
def test_other_outcomes_do_not_warn(y):
    np.testing.assert_array_equal(check_outcomes(y, 3), y)


def test_check_outcomes_of_nothing():
    assert check_outcomes([], 0).shape == (0,)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["A>B", "a >> b", "[[A>>B]]", "b<a", "B << A"], -1),
        (["B>A", "b>>a", "model_a < model_b", "[[B]]"], 1),
        (["A=B", "a == b", "left ~ right", "both good", "no preference"], 0),
        (
            ["left wins", "White won", "model_a is better", "2-1", "3 : 0", "1.5-0.5"],
            -1,
        ),
        (["away win", "0-2", "1:10"], 1),
        (["1-1", "0:0"], 0),
    ],
)
def test_words_that_are_made_of_others(words, expected):
    assert Outcome.parse(words).tolist() == [expected] * len(words)


def test_who_skips_has_not_voted():
    assert Outcome.parse(["skip"], left=["skip"], right=["Bo"]).tolist() == [-1]
