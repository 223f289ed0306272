# SPDX-License-Identifier: BSD-3-Clause
"""Good files of every shape: what is detected, what is read, what is said."""

import gzip

import numpy as np
import polars as pl
import pytest

from tiebreak import DataWarning
from tiebreak.data import Comparisons
from tiebreak.io import FileError, NeedsAnswer, ReadOptions, Wanted, read_file


@pytest.fixture
def save(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def rows_of(result):
    names = result.data.pairs.names
    left, right = names[result.data.pairs.left], names[result.data.pairs.right]
    return list(zip(left.tolist(), right.tolist(), result.data.y.tolist(), strict=True))


def said(result):
    return " ".join(result.sentences)


VOTES = [("Ada", "Bo", -1), ("Bo", "Cy", 0), ("Cy", "Ada", 1)]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_guessed(save, separator):
    text = "Model_A,model_B,WINNER\nAda,Bo,model_a\nBo,Cy,tie\nCy,Ada,Ada\n"
    result = read_file(save(text.replace(",", separator), "no.extension"))
    assert rows_of(result) == VOTES
    assert result.sentences[0].startswith("TSV" if separator == "\t" else "CSV")


def test_gzip_is_seen_by_its_content_and_windows_lines_and_a_mark_do_not_matter(save):
    text = (
        "\ufeffleft,right,outcome\r\nAda,Bo,left\r\nBo,Cy,tie\r\n\r\nCy,Ada,right\r\n"
    )
    result = read_file(save(gzip.compress(text.encode()), "table.txt"))
    assert rows_of(result) == VOTES
    assert result.sentences[0] == "CSV (gzip) with 3 rows."


def test_parquet_is_seen_by_its_content(tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame(
        {"winner_id": [1, 2, 3], "loser_id": [2.0, 3.0, 1.0], "tags": [[1], [2], [3]]}
    ).write_parquet(path)
    result = read_file(path)
    assert result.sentences[0].startswith("Parquet")
    assert sorted(result.data.pairs.names.tolist()) == ["1", "2", "3"]
    assert "Left out, because of lists or bytes in them: 'tags'." in said(result)
    with pytest.raises(FileError, match="that column holds lists or bytes"):
        read_file(path, ReadOptions(left="tags", right="loser_id"))


def test_a_number_needs_a_meaning_and_the_question_names_the_options(save):
    path = save("white,black,score,month\n7,8,1,9\n8,9,0,10\n9,7,0,11\n")
    with pytest.raises(NeedsAnswer) as caught:
        read_file(path)
    message = str(caught.value)
    assert "--meaning score" in message and "--meaning sign" in message
    assert "(line 2 ('1'), line 3 ('0'), line 4 ('0'))" in message
    path = save("white,black,score,month\n7,8,1,9\n8,9,0.5,10\n9,7,0,11\n")
    result = read_file(path, ReadOptions(meaning="score"))
    assert rows_of(result) == [("7", "8", -1), ("8", "9", 0), ("9", "7", 1)]
    # As numbers: as text, 10 and 11 would come before 9.
    assert result.data.columns["period"].tolist() == [9, 10, 11]
    assert result.data.columns["advantage"].tolist() == [1, 1, 1]


def test_a_score_is_never_taken_for_the_name_of_a_player(save):
    path = save("white,black,score\n1,0,1\n0,1,0\n")
    with pytest.raises(NeedsAnswer, match="--winner score"):
        read_file(path)
    same = read_file(path, ReadOptions(winner="score"))
    assert same.data.y.tolist() == [-1, -1]
    named = read_file(save("left,right,winner\n1,0,1\n0,1,0\n0,1,1\n"))
    assert named.data.y.tolist() == [-1, -1, 1]


def test_winners_and_losers_are_exchanged_at_random_but_always_the_same(save):
    rows = "".join(f"w{i},l{i},20240{1 + i % 9}01\n" for i in range(60))
    path = save("winner,loser,tourney_date\n" + rows)
    result, again = read_file(path), read_file(path)
    assert rows_of(result) == rows_of(again)
    assert {left[0] for left, _, _ in rows_of(result)} == {"w", "l"}
    for left, right, outcome in rows_of(result):
        assert (left[0], right[0]) == (("w", "l") if outcome == -1 else ("l", "w"))
        assert left[1:] == right[1:]
    assert "exchanged at random" in said(result)
    assert (result.data.marks["exchanged"] == (result.data.y == 1)).all()
    assert result.data.columns["period"][0] == np.datetime64("2024-01-01")


def test_an_item_against_itself_is_reported_and_left_out(save):
    path = save(
        "model_a,model_b,winner,rater,hard\nAda,Bo,model_a,x,1\n"
        "Ada,Ada,model_b,x,0\nBo,Cy,tie,y,0\nDi,Di,tie,z,1\nCy,Ada,model_b,y,1\n"
    )
    with pytest.warns(DataWarning, match="2 rows with the same item on both sides"):
        result = read_file(path)
    assert rows_of(result) == VOTES
    assert result.data.columns["rater"].tolist() == ["x", "y", "y"]
    assert result.data.pairs.names.tolist() == ["Ada", "Bo", "Cy"]
    assert "left out: line 3, line 5." in said(result)


def test_names_go_before_their_numbers_in_other_columns(save):
    result = read_file(
        save(
            "id,model_x,model_y,worker,winner,left,right\n"
            "0,97,98,58,tie,Ada,Bo\n0,98,97,83,left,Bo,Ada\n"
        )
    )
    assert rows_of(result) == [("Ada", "Bo", 0), ("Bo", "Ada", -1)]
    assert result.data.columns["rater"].tolist() == ["58", "83"]


def test_an_outcome_beside_scores_is_read_unless_the_scores_are_named(save):
    path = save(
        "home_team,away_team,home_score,away_score,winner\nAda,Bo,1,1,Bo\nBo,Ada,2,0,Bo"
    )
    assert read_file(path).data.y.tolist() == [1, -1]
    assert read_file(path, ReadOptions(winner="winner")).data.y.tolist() == [1, -1]
    scores = ReadOptions(left_score="home_score", right_score="away_score")
    assert read_file(path, scores).data.y.tolist() == [0, -1]


def test_options_name_columns(save):
    path = save("x,y,z,w,when\nAda,Bo,left,2,1\nBo,Ada,tie,0,2\n")
    options = ReadOptions(left="x", right="Y", outcome="z", weight="w", period="when")
    result = read_file(path, options)
    assert rows_of(result) == [("Ada", "Bo", -1), ("Bo", "Ada", 0)]
    assert result.data.weight.tolist() == [2, 0]
    with pytest.raises(FileError, match=r"--left names 'xx', .*Did you mean 'x'\?"):
        read_file(path, ReadOptions(left="xx", right="y", outcome="z"))


def test_columns_beside_are_left_unused_when_only_their_name_says_so(save):
    rows = "Ada,Bo,left,03/12/2020,x\nBo,Ada,tie,,\nBo,Ada,tie,,\n"
    path = save(f"left,right,outcome,date,rater\n{rows}")
    result = read_file(path)
    assert not result.data.columns
    assert "date is not used as the period: no value in line 3, line 4." in said(result)
    assert "rater is not used as the rater: no value in line 3, line 4" in said(result)
    with pytest.raises(FileError, match=r"no value in date: line 3"):
        read_file(path, ReadOptions(period="date"))


LONG = "panelist,product,score\np1,a,3\np1,b,3\np2,a,9\np2,b,1\np1,c,5\np3,a,1\n"
WIDE = "panelist,a,b,c\np1,3,3,5\np2,9,1,\np3,1,,\n"


@pytest.mark.parametrize("text", [LONG, WIDE], ids=["long", "wide"])
def test_scores_are_compared_within_a_person_only(save, text):
    result = read_file(save(text))
    rated = zip(result.data.columns["rater"], rows_of(result), strict=True)
    assert {
        (rater, left, right, y) if left < right else (rater, right, left, -y)
        for rater, (left, right, y) in rated
    } == {
        ("p1", "a", "b", 0),
        ("p1", "a", "c", 1),
        ("p1", "b", "c", 1),
        ("p2", "a", "b", -1),
    }
    assert "scores of different people are never compared" in said(result)


@pytest.mark.parametrize("text", [LONG, WIDE], ids=["long", "wide"])
def test_scores_of_a_person_are_a_list_if_wanted(save, text):
    result = read_file(save(text), ReadOptions(kind="orders"))
    assert list(result.data.orders) == [["c", ["a", "b"]], ["a", "b"], ["a"]]
    grades = read_file(save(text), ReadOptions(kind="grades"))
    assert sorted(zip(grades.data.qid, grades.data.names, grades.data.y, strict=True))[
        :2
    ] == [
        ("p1", "a", 3.0),
        ("p1", "b", 3.0),
    ]


def test_repeated_scores_are_said_and_compared_with_other_products_only(save):
    path = save("judge,sample,rating\nj,a,1\nj,a,2\nj,b,2\n")
    result = read_file(path)
    assert rows_of(result) == [("a", "b", 1), ("a", "b", 0)]
    assert "1 score of a product that the person had scored before (line 3)" in said(
        result
    )
    with pytest.raises(FileError, match="line 3"):
        read_file(path, ReadOptions(kind="orders"))


def test_a_table_of_numbers_is_graded_by_its_last_column(save):
    path = save("cement,age,kind,strength\n1,2,x,3.5\n4,5,y,6\n7,8,x,9\n")
    result = read_file(path)
    assert result.data.y.tolist() == [3.5, 6, 9]
    assert result.data.items.feature_names == ("cement", "age", "kind=x", "kind=y")
    assert result.data.items.values.tolist() == [
        [1, 2, 1, 0],
        [4, 5, 0, 1],
        [7, 8, 1, 0],
    ]
    assert "the last one, strength, is taken as the grade" in said(result)
    assert "--grade names another." in said(result)
    other = read_file(path, ReadOptions(grade="age"))
    assert other.data.y.tolist() == [2, 5, 8]
    assert "the last one" not in said(other)


def test_graded_rows_are_brought_to_the_features_of_a_model(save):
    path = save("qid,grade,b,kind,a\nq,2,1,x,5\nr,0,3,y,6\nq,1,-1,x,7\n")
    wanted = Wanted(4, ("a", "kind=z", "kind=y", "kind=x"))
    result = read_file(path, wanted=wanted)
    assert result.data.items.feature_names == wanted.names
    assert result.data.items.values.tolist() == [
        [5, 0, 0, 1],
        [6, 0, 1, 0],
        [7, 0, 0, 1],
    ]
    assert "the model was not fitted on them: b." in said(result)
    with pytest.raises(FileError, match=r"was not fitted on: line 3 \('y'\)"):
        read_file(path, wanted=Wanted(1, ("kind=x",)))
    lines = save("2 qid:3 1:0.5 3:2\n0 qid:3 2:1\n")
    numbered = Wanted(4, tuple(f"feature {j}" for j in (1, 2, 3, 4)))
    assert read_file(lines, wanted=numbered).data.items.values.shape == (2, 4)


def test_a_first_column_of_text_is_people_or_items(save):
    path = save("name,sweet,sour\nAda,1,2\nBo,3,3\n")
    with pytest.raises(NeedsAnswer, match=r"--person name; or .*--item name --grade"):
        read_file(path)
    judged = rows_of(read_file(path, ReadOptions(person="name")))
    assert {left if y < 0 else right if y else "" for left, right, y in judged} == {
        "sour", "",
    }  # fmt: skip
    graded = read_file(path, ReadOptions(item="name", grade="sour"))
    assert graded.data.names.tolist() == ["Ada", "Bo"]
    assert graded.data.items.values.tolist() == [[1], [3]]


def test_decimal_commas_between_semicolons(save):
    result = read_file(save("a;b;target\n1,5;2;0,25\n3;4;1\n"))
    assert result.data.y.tolist() == [0.25, 1]
    assert result.data.items.values.tolist() == [[1.5, 2], [3, 4]]


def test_names_are_text_as_written_and_odd_column_names_are_only_names(save):
    path = save('left,right,winner,^.*$,*\n007,7,007,x,1\n"a ""b""\nc",7,7,y,0\n')
    with pytest.warns(DataWarning, match="zeros are different items: '007' and '7'"):
        result = read_file(path)
    assert rows_of(result) == [("007", "7", -1), ('a "b"\nc', "7", 1)]


def test_blanks_around_names_are_taken_away_where_they_split_an_item(save):
    path = save("left, right, outcome\nAda, Bo, left\nBo, Ada, tie\n")
    with pytest.warns(DataWarning, match=r"are one item: 'Ada' \(2 ways\)"):
        result = read_file(path)
    assert rows_of(result) == [("Ada", "Bo", -1), ("Bo", "Ada", 0)]


def test_svmlight_with_queries(save):
    result = read_file(
        save("# a remark\n2 qid:3 1:0.5 3:2 # doc 1\n0 qid:3 2:1\n\n1 qid:1 3:-1\n")
    )
    assert result.data.qid.tolist() == [3, 3, 1]
    assert result.data.y.tolist() == [2, 0, 1]
    assert result.data.items.values.tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, -1]]
    assert result.data.items.feature_names[0] == "feature 1"


def test_svmlight_without_queries_is_one_group_and_says_so(save):
    result = read_file(save("2 0:0.5 3:2\n0 2:1\n"))
    assert result.data.qid is None
    assert result.data.items.values.tolist() == [[0.5, 0, 0, 2], [0, 0, 1, 0]]
    assert "without any qid: all rows are one group" in said(result)


def test_svmlight_with_sizes_of_queries_beside_it_as_of_lightgbm(save):
    path = save("2 1:0.5\n0 1:1\n1 1:2\n")
    sizes = path.with_name(f"{path.name}.query")
    sizes.write_text("2\n1\n")
    result = read_file(path)
    assert result.data.qid.tolist() == [0, 0, 1]
    assert f"{sizes.name} has the sizes of its groups" in said(result)
    for wrong in ("2\n", "2\n-1\n2\n", "many\n"):
        sizes.write_text(wrong)
        with pytest.raises(FileError, match="cannot be read"):
            read_file(path)


def test_lines_of_item_numbers(save):
    result = read_file(save("4 1\n0 3 2 0 3\n0 2 1 2\n"))
    assert list(result.data.orders) == [["2", "0", "3"], ["1", "2"]]
    assert result.data.orders.n_items == 4


def test_a_wanted_format_goes_before_the_guess(save):
    with pytest.raises(FileError, match="line 1 has 'left,right,outcome'"):
        read_file(save("left,right,outcome\n"), ReadOptions(format="svmlight"))
    with pytest.raises(FileError, match="the Parquet file is damaged"):
        read_file(save("left,right,outcome\n"), ReadOptions(format="parquet"))
    with pytest.raises(ValueError, match="--format must be one of csv, tsv"):
        ReadOptions(format="xls")


def test_an_option_that_cannot_be_used_is_refused(save):
    with pytest.raises(
        FileError, match=r"--kind grades cannot be used: .* holds orders"
    ):
        read_file(save("4 1\n0 2 1 2\n"), ReadOptions(kind="grades"))
    with pytest.raises(FileError, match="no named columns"):
        read_file(save("4 1\n0 2 1 2\n"), ReadOptions(left="a"))
    path = save("winner,loser,neutral\nAda,Bo,TRUE\n")
    with pytest.raises(FileError, match="speak of the left side"):
        read_file(path, ReadOptions(neutral="neutral"))
    assert read_file(path).data.columns == {}


def test_a_kind_chooses_among_readings(save):
    path = save("query,left,right,outcome,grade,f\nq,a,b,left,1,2\nq,b,a,tie,3,4\n")
    assert isinstance(read_file(path).data, Comparisons)
    graded = read_file(path, ReadOptions(kind="grades"))
    assert graded.data.y.tolist() == [1, 3]
    assert "f" in graded.data.items.feature_names


def test_an_item_column_names_graded_rows(save):
    result = read_file(save("grade,item,f\n1,x,2\n3,y,4\n"))
    assert result.data.names.tolist() == ["x", "y"]
    assert result.data.items.feature_names == ("f",)


def test_names_of_columns_cannot_break_a_sentence(save):
    header = '"left\x1b[31m\nx",right,outcome\n'
    path = save(header + "Ada,Bo,tie\n")
    options = ReadOptions(left="left\x1b[31m\nx", right="right")
    result = read_file(path, options)
    assert all(sentence.isprintable() for sentence in result.sentences)
    with pytest.raises(FileError) as caught:
        read_file(save(header + ",Bo,tie\n"), options)
    assert str(caught.value).isprintable()
