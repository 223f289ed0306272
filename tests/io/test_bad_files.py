# SPDX-License-Identifier: BSD-3-Clause
"""Bad files: one line that names the file and the place, and nothing read halfway."""

import gzip
import io
import os
import pickle
import signal
import warnings
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from tiebreak.io import FileError, read_file

HEADER = "left,right,outcome\n"
GOOD = "Ada,Bo,left\n"


@pytest.fixture
def refuse(tmp_path):
    def check(content, name="bad.csv", options=None):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(FileError) as caught:
            read_file(path, options)
        message = str(caught.value)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        return message.removeprefix(f"{path}: ")

    return check


def test_an_unknown_outcome_is_named_by_line_and_all_are_counted(refuse):
    message = refuse(HEADER + GOOD + "Ada,Bo,lefft\n" * 7)
    assert message == (
        "7 rows cannot be read, so nothing was read. unknown outcomes: line 3 "
        "('lefft'), line 4 ('lefft'), line 5 ('lefft'), line 6 ('lefft'), line 7 "
        "('lefft') and 2 more. An outcome is the name of one of the two, or a word "
        "such as left, tie, right or draw; --outcome-words says what others mean."
    )


def test_faults_of_different_kinds_are_told_together(refuse):
    message = refuse(HEADER + ",Bo,left\nAda,,won\nAda,Bo,\n" + GOOD)
    assert message.startswith("3 rows cannot be read")
    assert "no name in left: line 2;" in message
    assert "no name in right: line 3;" in message
    assert "no outcome in outcome: line 4;" in message
    assert "unknown outcomes: line 3 ('won')" in message


def test_lines_are_counted_through_quotes_and_blank_lines(refuse):
    assert "line 6 ('won')" in refuse(HEADER + '\n"A\nda",Bo,left\n\nAda,Bo,won\n')
    assert "line 5 ('won')" in refuse(HEADER + "\n" + GOOD + "  \nAda,Bo,won\n")
    assert "line 5 ('won')" in refuse(HEADER + GOOD + "\r\n\r\nAda,Bo,won\r\n")
    packed = gzip.compress((HEADER + GOOD + "Ada,Bo,won\n").encode())
    assert "line 3 ('won')" in refuse(packed)


def test_a_quoted_empty_name_is_missing(refuse):
    assert "no name in left: line 2" in refuse(HEADER + '"",Bo,left\n" ",Bo,left\n')


@pytest.mark.parametrize(
    ("row", "fields"), [("Ada,Bo", 2), ("Ada,Bo,left,x", 4), ("Ada,Bo,left,", 4)]
)
def test_rows_of_another_length(refuse, row, fields):
    message = refuse(HEADER + GOOD + row + "\n" + GOOD)
    assert "1 row with another number of fields than the 3 of the header" in message
    assert f"line 3 ({fields})" in message


def test_rows_of_another_length_in_columns_that_are_not_needed(refuse):
    text = "left,right,outcome,note\n" + 3 * "Ada,Bo,left,x\n"
    assert "line 5 (5)" in refuse(text + "Ada,Bo,left,x,y\n")
    assert "line 5 (3)" in refuse(text + "Ada,Bo,left\n")
    assert "line 4003 (3)" in refuse(
        "left,right,outcome,note\n" + 4001 * "Ada,Bo,left,x\n" + "Ada,Bo,tie\n"
    )
    # Far below the rows that are looked at first.
    assert "line 4003 (5)" in refuse(
        "left,right,outcome,note\n" + 4001 * "Ada,Bo,left,x\n" + "Ada,Bo,tie,x,y\n"
    )


def test_a_missing_last_field_is_no_short_row(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text("left,right,outcome,note\nAda,Bo,left,\nBo,Ada,tie,x\n")
    assert read_file(path).data.y.tolist() == [-1, 0]


@pytest.mark.parametrize("row", ['A"da,Bo,left', '"A"da,Bo,left', '"Ada,Bo,left'])
def test_a_quotation_mark_out_of_place(refuse, row):
    message = refuse(HEADER + GOOD + row + "\n" + GOOD)
    assert "quotation mark inside a field" in message
    assert "line 3" in message


def test_scores_that_are_not_numbers(refuse):
    header = "home_team,away_team,home_score,away_score\n"
    message = refuse(header + "A,B,1,2\nA,B,x,2\nA,B,1,\nA,B,nan,inf\n")
    assert message.startswith("3 rows cannot be read")
    assert "values of home_score that are not finite numbers: line 3 ('x')" in message
    assert "line 5 ('nan')" in message and "line 5 ('inf')" in message
    assert "no score in away_score: line 4" in message


def test_a_winner_who_did_not_play_and_a_word_that_is_also_a_name(refuse):
    header = "left,right,winner\n"
    assert "unknown outcomes: line 3 ('Cy')" in refuse(header + "Cy,Bo,Cy\nAda,Bo,Cy\n")
    assert "and the name of an item of other rows: line 3 ('Tie')" in refuse(
        header + "tie,Bo,Bo\nAda,Bo,Tie\n"
    )


def test_wrong_encoding(refuse):
    message = refuse((HEADER + GOOD + "Zoë,Bo,left\n").encode("latin-1"))
    assert message.startswith("line 3 is not UTF-8 text: byte 34 of the file is 0xeb")
    assert "UTF-8" in message
    bare = (HEADER + GOOD).encode("utf-16")[:-1]
    assert "below line 1 this is not utf-16 text" in refuse(bare)
    assert "line 2 is not UTF-8" in refuse(HEADER.encode() + b"Zo\xc3")
    far = (HEADER + GOOD * 200_000).encode() + b"Zo\xeb,Bo,left\n"
    assert "line 200002 is not UTF-8 text: byte 2,400,022 of" in refuse(far)
    # A character that lies across two of the pieces in which files are looked at.
    wide = (
        HEADER.encode() + b"x" * (2**20 - len(HEADER) - 1) + "ë\nZo".encode() + b"\xeb"
    )
    assert f"line 3 is not UTF-8 text: byte {len(wide):,} of" in refuse(
        wide + b",B,tie"
    )


def test_files_without_content(refuse):
    assert refuse("") == "the file is empty."
    assert refuse("\n\n \n") == "the file has only blank lines."
    assert refuse(HEADER) == "the table has a header and no rows."
    assert refuse(HEADER.strip()) == "the table has a header and no rows."
    assert refuse(HEADER + "\n\n") == "the table has a header and no rows."
    assert "line 1 is blank" in refuse("\n" + HEADER + GOOD)
    assert refuse(gzip.compress(b"")) == "the file is empty."


def test_headers_that_are_none(refuse):
    assert "one column only ('names')" in refuse("names\nAda\nBo\n")
    assert "line 1 holds numbers" in refuse("1,2,3\n4,5,6\n")
    assert "names 1 column twice: 'left'" in refuse("left,left,outcome\nAda,Bo,left\n")
    assert "carriage return alone" in refuse((HEADER + GOOD).replace("\n", "\r"))


def test_things_that_are_not_files(tmp_path):
    with pytest.raises(FileError, match="no Parquet or Arrow file in this folder"):
        read_file(tmp_path)
    with pytest.raises(FileError, match="No such file"):
        read_file(tmp_path / "none.csv")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="not a regular file"):
        read_file(tmp_path / "pipe")


def test_a_parquet_file_that_is_cut_short(refuse, tmp_path):
    path = tmp_path / "whole.parquet"
    rng = np.random.default_rng(0)
    pl.DataFrame({"left": rng.random(1000), "right": rng.random(1000)}).write_parquet(
        path
    )
    whole = path.read_bytes()
    assert "damaged or cut short" in refuse(whole[:-100], "bad.parquet")
    assert "damaged or cut short" in refuse(whole[:4], "bad.parquet")


def test_a_parquet_file_whose_pages_are_damaged(refuse):
    """Polars stops a thread then, with an error that is no Exception."""
    stream = io.BytesIO()
    rows = [("a", "b", "left"), ("b", "c", "tie"), ("c", "a", "right")] * 4
    frame = pl.DataFrame(rows, ["left", "right", "outcome"], orient="row")
    frame.write_parquet(stream, compression="uncompressed")
    whole = stream.getvalue()
    for place in (37, 42, 63):
        changed = bytes([whole[place] ^ 12])
        said = refuse(whole[:place] + changed + whole[place + 1 :], "bad.parquet")
        assert "the Parquet file is damaged" in said


def test_parquet_rows_are_counted_from_one(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame(
        {"left": ["a1", None], "right": ["b1", "b1"], "outcome": ["tie", "tie"]}
    ).write_parquet(path)
    with pytest.raises(FileError, match="no name in left: row 2"):
        read_file(path)


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity", "x", ""])
def test_grades_and_features_must_be_finite(refuse, value):
    rows = "q,1,0.5\nq,2,0.5\n" * 2
    assert "line 6" in refuse(f"qid,grade,f\n{rows}q,{value},1\n")
    assert "line 6" in refuse(f"qid,grade,f\n{rows}q,1,{value}\n")


def test_scores_of_people_must_be_numbers(refuse):
    rows = "p,a,1\np,b,2\n"
    assert "line 4 ('x')" in refuse(f"person,item,score\n{rows}p,c,x\n")
    assert "no name in item: line 4" in refuse(f"person,item,score\n{rows}p,,1\n")
    wide = "person,a,b\np,1,2\nq,1,2\nr,3,x\n"
    assert "values of b that are not finite numbers: line 4 ('x')" in refuse(wide)
    assert "no person scored two products" in refuse(
        "person,item,score\np,a,1\nq,b,2\n"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 1:2", "1 line without a qid, while others have one: line 3"),
        ("1 qid:2 99999999999:1", "line 3 has feature number 99999999999"),
        ("1 qid:2 10000001:1", "line 3 has feature number 10000001"),
        ("nan qid:2 1:1", "line 3 has 'nan'; expected a grade"),
        ("inf qid:2 1:1", "line 3 has 'inf'"),
        ("one qid:2 1:1", "line 3 has 'one'"),
        ("1 qid:x 1:1", "line 3 has 'qid:x'"),
        ("1 qid:2 1:nan", "line 3 has '1:nan'"),
        ("1 qid:2 1:1 2:x 3:1", "line 3 has '2:x'"),
        ("1 qid:2 5:1 2:1", "line 3 has feature 2 after feature 5"),
        ("1 qid:2 a:1", "line 3 has 'a:1'"),
        ("1 qid:2 1:1 \u00b2:1 3:1", "line 3 has '\u00b2:1'"),
    ],
)
def test_svmlight_lines(refuse, line, expected):
    assert expected in refuse(f"1 qid:1 1:0.5\n\n{line}\n2 qid:1 2:1\n")


ORDERS = "3 1\n0 2 0 1\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 3 0 1", "line 3 is '0 3 0 1'; expected 0, how many items"),
        ("0 2 0 3", "line 3 lists item 3, but there are only 3 items"),
        ("0 2 1 1", "line 3 lists item 1 more than once"),
        ("0 2 1 x", "line 3 is '0 2 1 x'; expected whole numbers"),
        ("0 2 1 \u00b2", "expected whole numbers"),
        ("0 2 1 " + "9" * 5000, "expected whole numbers"),
    ],
)
def test_order_lines(refuse, line, expected):
    assert expected in refuse(ORDERS + line + "\n")


PREFLIB = (
    "# FILE NAME: 1.soc\n# NUMBER VOTERS: 3\n# ALTERNATIVE NAME 1: a\n"
    "# ALTERNATIVE NAME 2: b\n1: 1,2\n"
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2: 1,3", "line 6 lists item 3, but there are only 2 items"),
        ("2: 1,{1,2}", "line 6 lists item 1 more than once"),
        ("2: 1,{2", "line 6 is '2: 1,{2'"),
        ("2; 1,2", "line 6 is '2; 1,2'"),
        ("1: 1,2", "the header says NUMBER VOTERS 3, but there are 2"),
        ("# ALTERNATIVE NAME 3: a\n2: 2,1", "two alternatives are called 'a'"),
        ("# DATA TYPE: wmd\n2: 2,1", "is of type 'wmd'"),
        ("9" * 400 + ": 1,2", "line 6 is '999"),
        ("9" * 5000 + ": 1,2", "line 6 is '999"),
        ("2: 1," + "9" * 5000, "line 6 is '2: 1,999"),
        ("2: 1,\u00b2", "line 6 is '2: 1,\u00b2'"),
    ],
)
def test_preflib_lines(refuse, line, expected):
    assert expected in refuse(PREFLIB + line + "\n")


def test_an_error_can_be_sent_to_another_process(tmp_path):
    with pytest.raises(FileError) as caught:
        read_file(tmp_path)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.path == tmp_path


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"left\r,right,outcome\nA,B,left\n", "line 1 holds a carriage return inside"),
        (
            b"left,right,outcome," + b"x" * 140_000 + b"\nA,B,left,1\n",
            "line 1 cannot be read",
        ),
    ],
    ids=["carriage return", "endless name"],
)
def test_line_1_that_no_reader_takes(tmp_path, content, sentence):
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=sentence):
        read_file(path)


N = 100_000
LONG = {
    "digits": "1" * N + "x,b\n1,2\n",
    "signs": f'left,right,outcome\na,b,"{">" * N}\nx"\n',
    "zeros": f"left,right,outcome\n{'0' * N}x,b,left\n",
    "spaces of PrefLib": "#" + " " * N + "1\n",
    "spaces of a header": f"voter,a,b{' ' * N}c\n1,1,2\n2,2,1\n3,1,2\n",
    "spaces of a set": f"items,best,worst\na{' ' * N}b,a,b\na|b,a,b\n",
    "columns": ",".join(f"c{k}" for k in range(N // 4))
    + "\n"
    + "1," * (N // 4 - 1)
    + "1\n",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_the_work_grows_as_the_length_of_a_line(text, tmp_path):
    """What takes the square of the length would take minutes of a processor here."""
    path = tmp_path / "long.csv"
    path.write_text(text, encoding="utf-8")

    def give_up(number, frame):
        pytest.fail("this takes longer than its length")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, 30.0)
    try:
        with suppress(FileError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_file(path)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
