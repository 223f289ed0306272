# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are asked about instead of guessed, and dates that say one thing."""

import numpy as np
import pytest

from tiebreak.data import Grades
from tiebreak.io import FileError, NeedsAnswer, ReadOptions, read_file


@pytest.fixture
def table(tmp_path):
    def make(text, **options):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return read_file(path, ReadOptions(**options))

    return make


SIDES = "Heim;Gast;Tore;Tag\nA1;B1;1;1\nB1;C1;2;1\nC1;A1;0;2\nA1;C1;3;2\nB1;A1;1;3\n"


def test_two_columns_of_the_same_names_are_asked_about(table):
    with pytest.raises(NeedsAnswer, match=r"Heim and Gast hold the same names.*--left"):
        table(SIDES)
    assert isinstance(table(SIDES, grade="Tag").data, Grades)
    # Codes of two features are in one row too.
    same = SIDES + "A1;A1;2;3\n"
    assert table(same).data.items.n_features == 7


def test_scores_beside_two_sides_are_read_if_the_person_is_named(table):
    text = "left,right,winner,judge,item,score\nA,B,A,ann,x,1\nB,A,A,bo,y,2\n"
    assert table(text).data.names.tolist() == ["A", "B"]
    both = text + "A,B,B,ann,y,3\n"
    assert table(both, person="judge").data.names.tolist() == ["x", "y"]


def test_places_are_lists_or_grades_of_which_the_lowest_is_best(table):
    text = "race,driver,age,position\n1,a,30,1\n1,b,25,2\n2,a,30,2\n2,b,25,1\n"
    read = table(text)
    assert list(read.data.orders) == [["a", "b"], ["b", "a"]]
    assert read.sentences[1].startswith("Direction: 1 is best in position")
    alone = "race,age,position\n1,30,1\n1,25,2\n2,31,2\n2,26,1\n"
    graded = table(alone)
    assert graded.data.qid.tolist() == ["1", "1", "2", "2"]
    assert graded.data.y.tolist() == [-1, -2, -2, -1]
    assert table(alone, lower_is_better=False).data.y.tolist() == [1, 2, 2, 1]


def test_rows_without_numbers_are_no_example_of_ranks(table):
    with pytest.raises(NeedsAnswer, match="c is best, 3"):
        table("a,b,c\n,,\n1,2,3\n2,1,3\n3,2,1\n2,3,1\n")
    with pytest.raises(NeedsAnswer, match="can be read in 3 ways"):
        table("name,a,b,c\nmean,1,2,3\ntotal,2,1,3\nsum,3,2,1\n")


def test_the_only_other_column_is_what_was_scored(table):
    read = table("taster,beer,score\nP1,Pils,3\nP1,Stout,5\nP2,Pils,4\nP2,Stout,4\n")
    assert set(read.data.pairs.names.tolist()) == {"Pils", "Stout"}
    assert sorted(abs(read.data.y).tolist()) == [0, 1]
    with pytest.raises(FileError, match="cannot be understood"):
        table("taster,beer,glass,score\nP1,Pils,a,3\nP1,Stout,b,5\n")


def test_one_and_two_are_sides(table):
    text = "player_1,player_2,winner\nAnn,Bob,1\nAnn,Bob,2\n"
    with pytest.raises(NeedsAnswer, match="Say --outcome-words 'left=1,right=2'"):
        table(text)
    assert table(text, outcome_words="left=1,right=2").data.y.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("2024.05.03", "2024.12.31", ["2024-05-03", "2024-12-31"]),
        ("2024/5/3", "2024/12/31", ["2024-05-03", "2024-12-31"]),
        ("03.05.2024", "04.06.2024", ["2024-05-03", "2024-06-04"]),
        ("3/5/2024", "31/12/2024", ["2024-05-03", "2024-12-31"]),
        ("5/3/2024", "12/31/2024", ["2024-05-03", "2024-12-31"]),
        ("5/3/2024", "12/6/2024", None),  # nobody knows
        ("13/3/2024", "3/13/2024", None),  # both cannot be
        ("3/5/24", "31/12/24", None),  # years have four digits
        ("2024-05", "2024/06/01", ["2024-05-01", "2024-06-01"]),
    ],
)
def test_dates(table, first, second, expected):
    read = table(f"left,right,outcome,date\na,b,left,{first}\nb,a,left,{second}\n")
    if expected is None:
        assert "period" not in read.data.columns
        assert "date is not used as the period" in " ".join(read.sentences)
    else:
        assert read.data.columns["period"].dtype == np.dtype("datetime64[D]")
        assert read.data.columns["period"].astype(str).tolist() == expected


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("2024-02-01", "2024-02-31"),  # there is no such day
        ("01.02.2024", "31.02.2024"),
        ("2024-02-01", "soon"),
        ("7", "2024-02-01"),
        ("2024-02-01", ""),
    ],
)
def test_one_date_of_another_kind_is_refused_with_its_line(table, good, bad):
    rows = "".join(f"a,b,left,{value}\n" for value in (good, good, bad, good))
    text = f"left,right,outcome,date\n{rows}"
    with pytest.raises(FileError, match=r"in date: line 4 .*--period none reads"):
        table(text)
    assert "period" not in table(text, period="none").data.columns
    read = table(text, skip_bad_rows=True)
    assert len(read.data.columns["period"]) == 3
    assert read.skipped["place"].to_list() == ["line 4"]


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("1700000000", "seconds"),
        ("1700000000.25", "seconds"),
        ("1700000000000", "milliseconds"),
        ("1700000000000000", "microseconds"),
    ],
)
def test_seconds_since_1970_are_dates(table, value, unit):
    read = table(f"left,right,outcome,tstamp\na,b,left,{value}\nb,a,tie,{value}\n")
    [when] = set(read.data.columns["period"].astype("datetime64[s]").astype(str))
    assert when == "2023-11-14T22:13:20"
    assert f"in {unit} since 1970." in " ".join(read.sentences)
