# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons: outcomes as `Outcome.parse` reads them; what is written is read back."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tiebreak import Outcome, Pairs
from tiebreak.data.columns import name_key
from tiebreak.io import (
    FileError,
    ReadOptions,
    WriteError,
    neutralize_formulas,
    read_file,
    write_comparisons,
)

NAMES = st.sampled_from(["Ada", "Bo", "tie", " Left", "7", "1"])
VALUES = st.sampled_from(
    ["Ada", " Bo ", "tie", "LEFT", "b", "7", "1", "0", "½", "-1", "both_bad", "won"]
)


@given(
    rows=st.lists(st.tuples(NAMES, NAMES, VALUES), min_size=1, max_size=5),
    meaning=st.sampled_from([None, "sign", "score"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_outcomes_are_those_of_parse(tmp_path, rows, meaning):
    rows = [row for row in rows if row[0] != row[1]] or [("Ada", "Bo", "tie")]
    path = tmp_path / "table.csv"
    lines = ["left,right,winner", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    left, right, values = zip(*rows, strict=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "both bad", which is a sentence here
            expected = Outcome.parse(
                list(values), meaning=meaning, left=list(left), right=list(right)
            ).tolist()
    except ValueError:
        expected = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an item called "1" that should win
            found = read_file(path, ReadOptions(meaning=meaning)).data.y.tolist()
    except FileError:
        found = None
    assert found == expected


NASTY = st.one_of(
    st.sampled_from(
        ["=1+1", "'=1", "-", "+x", "@a", "\tx", "\rx", "''-", "'", '"', '""', ",", ";"]
    ),
    st.sampled_from(
        ["a\nb", "a\r\nb", "🍣", "א", "left", "tie", "draw", "007", "1", "½"]
    ),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        min_size=1,
        max_size=6,
    ),
)


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@given(
    rows=st.lists(
        st.tuples(NASTY, NASTY, st.sampled_from([-1, 0, 1])), min_size=1, max_size=8
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_round_trip(tmp_path, ending, rows):
    rows = [row for row in rows if row[0] != row[1]]
    names = {name for row in rows for name in row[:2]}
    assume(rows and len({*map(name_key, names)} - {""}) == len(names))
    left, right, y = map(list, zip(*rows, strict=True))
    path = tmp_path / f"table.{ending}"
    try:
        write_comparisons(path, Pairs(None, left, right), y)
    except ValueError as error:
        assert "rename them" in str(error)
        assume(False)
    result = read_file(path, ReadOptions(keep_na=True))
    found = result.data.pairs.names
    assert found[result.data.pairs.left].tolist() == left
    assert found[result.data.pairs.right].tolist() == right
    assert result.data.y.tolist() == y


def test_more_columns_are_written_and_read_back(tmp_path):
    path = tmp_path / "table.csv"
    columns = {
        "rater": ["=x", "y"],
        "date": np.array(["2024-05-31", "2024-06-01"], dtype="datetime64[D]"),
        "weight": [0.5, 2],
        "hard": [0, 1],
    }
    write_comparisons(path, Pairs(None, ["a", "b"], ["b", "c"]), [-1, 0], columns)
    assert path.read_text().splitlines()[1].startswith("a,b,left,'=x,2024-05-31,0.5,0")
    result = read_file(path)
    assert result.data.columns["period"].tolist() == columns["date"].tolist()
    assert result.data.weight.tolist() == [0.5, 2]


def test_an_item_called_like_an_outcome_changes_the_words(tmp_path):
    path = tmp_path / "table.csv"
    pairs = Pairs(None, ["right", "x"], ["x", "right"])
    write_comparisons(path, pairs, [-1, 0])
    assert "right,x,first" in path.read_text()
    assert read_file(path).data.y.tolist() == [-1, 0]


def test_items_without_names_are_written_by_number(tmp_path):
    path = tmp_path / "table.parquet"
    write_comparisons(path, Pairs([[1.0], [2.0]], [0], [1]), [1])
    assert pl.read_parquet(path).rows() == [("0", "1", "right")]


def test_formulas_are_neutralized_in_text_only():
    text = ["=1", "+1", "-1", "@x", "\tx", "\rx", "''=x", "x=1", "'x", "", None]
    safe = [f"'{value}" for value in text[:7]] + text[7:]
    frame = pl.DataFrame({"=a": text, "x=a": range(-1, 10), "'@": text})
    neutral = neutralize_formulas(frame)
    assert neutral.columns == ["'=a", "x=a", "''@"]  # also names of columns
    assert neutral.to_series(0).to_list() == neutral.to_series(2).to_list() == safe
    assert neutral["x=a"].to_list() == frame["x=a"].to_list()


def test_what_cannot_be_written_leaves_no_file(tmp_path):
    pairs = Pairs(None, ["a"], ["b"])
    with pytest.raises(WriteError, match=r"must end with \.csv, \.tsv or \.parquet"):
        write_comparisons(tmp_path / "table.txt", pairs, [0])
    with pytest.raises(WriteError, match="cannot be written: No such file"):
        write_comparisons(tmp_path / "none" / "table.csv", pairs, [0])
    with pytest.raises(ValueError, match="rater has 2 values but there are 1"):
        write_comparisons(tmp_path / "t.csv", pairs, [0], {"rater": ["x", "y"]})
    with pytest.raises(pl.exceptions.DuplicateError, match="left"):
        write_comparisons(tmp_path / "t.csv", pairs, [0], {"left": ["x"]})
    assert list(tmp_path.iterdir()) == []
