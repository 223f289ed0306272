# SPDX-License-Identifier: BSD-3-Clause
"""Rows that are asked for, and columns that have no role."""

import numpy as np
import polars as pl
import pytest

from tiebreak import DataWarning
from tiebreak.io import FileError, ReadOptions, read_file

VOTES = """left,right,outcome,turns,home town,language,len
a,b,left,1,Bonn,en,3
b,c,right,2,Rome,de,5

c,a,tie,3,,en,7
a,b,left,1,Bonn,en,3
b,a,nonsense,9,Rome,xx,1
"""


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.mark.parametrize(
    "where, left_out, kept",
    [
        ("turns < 9", "1 row", "abca"),
        ("turns BETWEEN 2 AND 3", "3 rows", "bc"),
        ("LANGUAGE = 'de'", "4 rows", "b"),
        ("\"home town\" = 'Bonn'", "3 rows (1 of them lack a value)", "aa"),
        ("outcome != 'nonsense' AND turns > 1", "3 rows", "bc"),
        ("language LIKE 'e%' OR turns = 2", "1 row", "abca"),
        ("turns <= avg(turns)", "1 row", "abca"),
    ],
)
def test_rows_are_left_out_before_anything_is_read(votes, where, left_out, kept):
    result = read_file(votes, ReadOptions(where=where))
    assert f"--where {where!r} left out {left_out}." in result.sentences
    assert result.sentences[0] == "CSV with 5 rows."
    names = result.data.pairs.names[result.data.pairs.left].tolist()
    assert "".join(names) == kept


@pytest.mark.parametrize(
    "where, reason",
    [
        ("turns >", "is not understood"),
        (
            "turn > 1",
            "names 'turn', but there is no such column. Did you mean 'turns'?",
        ),
        ("1 = 1", "names no column"),
        ("turns", "it is not true or false for every row"),
        ("count(turns) > 1", "it is not true or false for every row"),
        ("language > 1", "cannot be used"),
        ("turns > 100", "is true of no row"),
        ("read_csv('votes.csv')", "is not understood"),
        ("turns IN (SELECT turns FROM votes)", "--where"),
        ("turns > 1; DROP TABLE votes", "is not understood"),
    ],
)
def test_other_conditions_are_refused_in_one_line(votes, where, reason):
    with pytest.raises(FileError) as refused:
        read_file(votes, ReadOptions(where=where))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_types_of_files_and_frames_do_not_matter(tmp_path):
    frame = pl.DataFrame(
        {
            "left": ["a", "b"],
            "right": ["b", "a"],
            "outcome": ["left", "left"],
            "day": np.array(["2024-01-01", "2024-02-01"], dtype="datetime64[D]"),
            "hard": [True, False],
        }
    )
    frame.write_parquet(tmp_path / "votes.parquet")
    frame.write_csv(tmp_path / "votes.csv")
    for source in (frame, tmp_path / "votes.parquet", tmp_path / "votes.csv"):
        for where in ("day > '2024-01-15'", "NOT hard"):
            result = read_file(source, ReadOptions(where=where))
            assert result.data.pairs.names[result.data.pairs.left].tolist() == ["b"]


def test_places_of_rows_are_those_of_the_file(votes):
    with pytest.raises(FileError, match=r"line 7 \('nonsense'\)"):
        read_file(votes, ReadOptions(where="turns > 1"))
    with pytest.raises(FileError, match="format"):
        lists = votes.with_name("lists.soc")
        lists.write_text("# NUMBER ALTERNATIVES: 2\n1: 1,2\n")
        read_file(lists, ReadOptions(where="a > 1", format="preflib"))


def test_repeated_rows_are_left_out_if_asked_for(votes):
    options = ReadOptions(where="turns < 9", drop_duplicates=True)
    result = read_file(votes, options)
    assert len(result.data.y) == 3
    said = "--drop-duplicates left out 1 row that repeat an earlier one."
    assert said in result.sentences


def test_other_columns_follow_the_rows(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,outcome,n,x\na,a,left,1,u\na,b,left,2,\nb,a,tie,3,v\n")
    options = ReadOptions(words=("X",), numbers=("n",), fingerprint=True)
    with pytest.warns(DataWarning, match="same item on both sides"):
        result = read_file(path, options)
    assert result.data.others["X"].tolist() == [None, "v"]
    assert result.data.others["n"].tolist() == [2, 3]
    assert len(set(result.data.marks["fingerprint"].tolist())) == 2
    with pytest.warns(DataWarning, match="same item on both sides"):
        again = read_file(pl.read_csv(path, infer_schema=False), options)
    assert (again.data.marks["fingerprint"] == result.data.marks["fingerprint"]).all()
    path.write_text("left,right,outcome,n\na,b,left,2\nb,a,tie,\nb,a,tie,x\n")
    with pytest.raises(FileError, match=r"no number in n: line 3; .*line 4"):
        read_file(path, ReadOptions(numbers=("n",)))
