# SPDX-License-Identifier: BSD-3-Clause
"""Reading tables of results: what is read, and what the errors say."""

import datetime
import gzip
import re

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets.tables import (
    LINE,
    outcomes_from_words,
    read_results,
    refuse_same,
)

COLUMNS = {
    "day": pl.Date,
    "left": pl.String,
    "right": pl.String,
    "goals": pl.Int64,
    "share": pl.Float64,
}
GOOD = """\
extra,day,left,right,goals,share
x,2020-01-02,Ünø,b,3,0.5
y,2020-01-01,c,"d, e",-1,1e-3
"""


def test_the_columns_asked_for(write):
    table = read_results(write("set/table.csv.gz", GOOD), COLUMNS)
    assert table.columns == [*COLUMNS, LINE]
    assert table.rows() == [
        (datetime.date(2020, 1, 2), "Ünø", "b", 3, 0.5, 2),
        (datetime.date(2020, 1, 1), "c", "d, e", -1, 0.001, 3),
    ]


def test_values_that_may_be_missing(write):
    path = write("set/table.csv", "a,b\n1,NA\n,2\n")
    kinds = {"a": pl.Int64, "b": pl.Int64}
    table = read_results(path, kinds, optional=["a", "b"], null_values=["NA"])
    assert table.select("a", "b").rows() == [(1, None), (None, 2)]
    with pytest.raises(ValueError, match=r"'b' is not a whole number.*line 2 \('NA'\)"):
        read_results(path, kinds, optional=["a", "b"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "3",
            "three",
            r"'goals' is not a whole number in 1 row\(s\): line 2 \('three'",
        ),
        ("-1", "1.5", r"'goals' is not a whole number.*line 3 \('1.5'\)"),
        ("-1", "", r"'goals' is not a whole number.*line 3 \(None\)"),
        ("0.5", "inf", r"'share' is not a number.*line 2 \('inf'\)"),
        ("0.5", "NaN", r"'share' is not a number.*line 2 \('NaN'\)"),
        ("2020-01-01", "2020-13-01", r"'day' is not a date .*line 3 \('2020-13-01'\)"),
        ("2020-01-01", "01/01/2020", r"'day' is not a date .*line 3 \('01/01/2020'\)"),
        ("Ünø", "", r"'left' is not text in 1 row\(s\): line 2 \(None\)"),
        ("goals", "points", "has no column 'goals'; its columns are 'extra', 'day',"),
        ("0.5", "0.5,7", "cannot be read as a table"),
    ],
)
def test_what_is_wrong_is_named(write, old, new, message):
    path = write("set/table.csv", GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        read_results(path, COLUMNS)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read as a table"),
        (GOOD.splitlines()[0].encode(), "has a header but no rows"),
        (GOOD.encode("latin-1", "replace"), "cannot be read as a table"),
        (gzip.compress(GOOD.encode() * 9)[:60], "cannot be read as a table"),
    ],
    ids=["empty", "header only", "not UTF-8", "cut off"],
)
def test_files_that_are_no_tables(write, content, message):
    path = write("set/table.csv", content)
    with pytest.raises(ValueError, match=message):
        read_results(path, COLUMNS)


def test_many_wrong_rows_are_counted(write):
    path = write("set/table.csv", "a\n" + "x\n" * 7)
    with pytest.raises(
        ValueError, match=r"in 7 row\(s\): line 2.*line 6 .* and 2 more"
    ):
        read_results(path, {"a": pl.Int64})


def test_an_item_against_itself(write):
    path = write("set/table.csv", "a,b\nx,y\nz,z\n")
    table = read_results(path, {"a": pl.String, "b": pl.String})
    with pytest.raises(
        ValueError,
        match=r"'b' is not another one than in column 'a' in 1 row.*line 3 \('z'\)",
    ):
        refuse_same(path, table, "a", "b")
    refuse_same(path, table.head(1), "a", "b")


def test_outcomes(write):
    path = write("set/table.csv", "won\nright\nleft\nnobody\n")
    table = read_results(path, {"won": pl.String})
    words = {"left": -1, "nobody": 0, "right": 1}
    y = outcomes_from_words(path, table, "won", words)
    assert y.dtype == np.int8
    assert y.tolist() == [1, -1, 0]
    message = re.escape(
        "'won' is not one of left, right in 1 row(s): line 4 ('nobody')"
    )
    with pytest.raises(ValueError, match=message):
        outcomes_from_words(path, table, "won", {"left": -1, "right": 1})
