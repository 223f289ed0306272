# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is split, dropped or misread in silence."""

import re
import subprocess
import sys
import zipfile

import numpy as np
import polars as pl
import pytest

import tiebreak
from tests.io.test_read import rows_of
from tiebreak import BradleyTerry, DataWarning, Orders, Outcome, Pairs
from tiebreak.ask.items import read_items
from tiebreak.io import FileError, NeedsAnswer, ReadOptions, read_file

HEAD = "left,right,outcome\n"


@pytest.fixture
def save(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("1", "1.0", "1"),
        ("caf\u00e9", "cafe\u0301", "caf\u00e9"),
        ("Bo", "B\u200bo", "Bo"),
        ("Bo", "\ufeffBo\u00a0", "Bo"),
        ("Bo", " Bo", "Bo"),
    ],
)
def test_spellings_of_one_name_are_one_item(save, first, second, name):
    head = "left,right,winner\n"
    rows = f"{first},2,left\n2,{second},tie\n{second},2,{first}\n2,{first},{second}\n"
    with pytest.warns(DataWarning, match=rf"one item: '{name}' \(2 ways\)"):
        result = read_file(save(head + rows))
    expected = [(name, "2", -1), ("2", name, 0), (name, "2", -1), ("2", name, 1)]
    assert rows_of(result) == expected
    frame = pl.read_csv((head + rows).encode(), infer_schema=False)
    with pytest.warns(DataWarning, match="one item"):
        assert rows_of(read_file(frame)) == expected


def test_versions_and_padded_numbers_stay_apart_and_are_said(save):
    path = save(HEAD + "1,1.0,left\n1.0,1.1,tie\n007,7,left\n1.10,1.1,left\n")
    with pytest.warns(DataWarning, match="'1' and '1.0', '007' and '7'"):
        result = read_file(path)
    assert len(result.data.pairs.names) == 6


def test_names_in_memory_that_look_the_same_are_said():
    for other in (b"a", "a ", "a\u200b"):
        with pytest.warns(DataWarning, match="look the same are different items: 'a'"):
            pairs = Pairs(None, ["a", other], ["b", "b"])
        assert pairs.n_items == 3
        with pytest.warns(DataWarning, match="look the same"):
            Orders(None, [["a", "b"], [other, "b"]])


@pytest.mark.parametrize("word", ["NA", "null", "None", "nan"])
def test_words_for_missing_values_are_no_names(save, word):
    path = save(HEAD + f"{word},Bo,left\nBo,Cy,left\nCy,{word},right\n")
    with pytest.raises(FileError, match=r"missing name: line 2.*--keep-na takes them"):
        read_file(path)
    assert len(read_file(path, ReadOptions(skip_bad_rows=True)).data) == 1
    assert len(read_file(path, ReadOptions(keep_na=True)).data) == 3


def test_rows_left_out_are_said_whoever_asks(save):
    path = save(HEAD + "Ada,Bo,left\nAda,Ada,left\nBo,Ada,skip\nBo,Ada,tie\n")
    with pytest.warns(DataWarning) as caught:
        tiebreak.rank(path)
    said = [str(one.message) for one in caught]
    assert "1 row with the same item on both sides left out: line 3." in said
    assert "1 row in which nobody voted left out: line 4." in said
    command = [sys.executable, "-m", "tiebreak", "check", str(path)]
    for option, stream in (([], "stdout"), (["--json"], "stderr"), (["-q"], "stderr")):
        done = subprocess.run([*command, *option], capture_output=True, text=True)
        text = " ".join(getattr(done, stream).split())
        assert all(text.count(one) == 1 for one in said)
        other = done.stderr if stream == "stdout" else ""
        assert not any(one in other for one in said)


@pytest.mark.parametrize("weight", ["0", "-1", "many"])
def test_a_column_of_bad_weights_is_refused(save, weight):
    path = save(f"left,right,outcome,weight\na,b,left,{weight}\nb,a,tie,{weight}\n")
    with pytest.raises(FileError, match=r"weight.*--weight none reads the file"):
        read_file(path)
    assert read_file(path, ReadOptions(weight="none")).data.weight is None


def test_an_empty_column_of_weights_is_not_used(save):
    result = read_file(save("left,right,outcome,weight\na,b,left,\nb,a,tie,\n"))
    assert result.data.weight is None
    assert any("weight is not used" in sentence for sentence in result.sentences)


def test_times_with_an_offset_are_in_utc(save):
    times = "2024-05-01T00:30:00+01:00,2024-04-30 23:45:00.5Z,2024-05-01T09:00+0530"
    rows = "".join(f"a,b,left,{time}\n" for time in times.split(","))
    result = read_file(save("left,right,outcome,date\n" + rows))
    expected = ["2024-04-30T23:30", "2024-04-30T23:45:00.5", "2024-05-01T03:30"]
    found = result.data.columns["period"]
    assert (found == np.array(expected, dtype="datetime64[us]")).all()
    assert any(s.endswith(", in UTC.") for s in result.sentences)


@pytest.mark.parametrize("ending", ["le", "be"])
def test_utf_16_without_a_mark_is_named(save, ending):
    path = save((HEAD + "Zoë,Bo,left\n").encode(f"utf-16-{ending}"))
    with pytest.raises(FileError, match=f"UTF-16.*--encoding utf-16-{ending}"):
        read_file(path)
    assert len(read_file(path, ReadOptions(encoding=f"utf-16-{ending}")).data) == 1


def test_a_nul_in_text_is_named(save):
    with pytest.raises(FileError, match="line 3 holds a NUL character"):
        read_file(save(HEAD + "a,b,left\na,b\0c,left\n"))


def test_a_line_that_tells_excel_the_separator_is_understood(save):
    result = read_file(save("sep=;\r\nleft;right;outcome\r\na;b;left\r\nb;a;tie\r\n"))
    assert rows_of(result) == [("a", "b", -1), ("b", "a", 0)]
    with pytest.raises(FileError, match="no name in right: line 4"):
        read_file(save("sep=;\nleft;right;outcome\na;b;left\nb;;tie\n"))


@pytest.mark.parametrize("number", [2**63 + 5, 10**25])
def test_large_integers_are_names(save, number):
    columns = {"left": [number, 1], "right": [1, number], "outcome": ["left", "tie"]}
    name = str(number)
    assert rows_of(read_file(columns)) == [(name, "1", -1), ("1", name, 0)]
    fitted = BradleyTerry().fit(Pairs(None, columns["left"], columns["right"]), [-1, 0])
    assert fitted.items_.tolist() == [number, 1]
    lines = f'{{"left": {number}, "right": 1, "outcome": "left"}}\n'
    assert rows_of(read_file(save(lines))) == [(name, "1", -1)]


def test_half_a_point_says_that_numbers_are_scores(save):
    path = save("left;right;outcome\na;b;0,5\nb;a;1\na;c;0,0\n")
    result = read_file(path)
    assert rows_of(result) == [("a", "b", 0), ("b", "a", -1), ("a", "c", 1)]
    assert "outcome is the score of left: 1, 0.5 or 0." in result.sentences
    assert Outcome.parse([0, 0.5, 1]).tolist() == [1, 0, -1]
    with pytest.raises(NeedsAnswer, match="--meaning"):
        read_file(save(HEAD + "a,b,1\nb,a,0\n"))
    points = "home;away;home_score;away_score\na;b;2,5;1,5\nb;a;2,5;2,5\n"
    assert rows_of(read_file(save(points))) == [("a", "b", -1), ("b", "a", 0)]


def test_plus_one_can_mean_left(save):
    path = save(HEAD + "a,b,1\nb,a,-1\na,c,0\n")
    with pytest.raises(NeedsAnswer, match=r"--meaning sign.*--meaning left") as caught:
        read_file(path)
    assert "score" not in str(caught.value)
    assert read_file(path, ReadOptions(meaning="left")).data.y.tolist() == [-1, 1, 0]
    assert Outcome.parse([1, 0, -1], meaning="left").tolist() == [-1, 0, 1]


ROWS = "Ada,Bo,left\nBo,Cy,tie\nBo,Ada,right\nCy,Bo,left\n"


def test_a_table_without_a_header(save):
    path = save(ROWS)
    with pytest.raises(NeedsAnswer, match=r"looks like a row.*--no-header"):
        read_file(path)
    result = read_file(path, ReadOptions(no_header=True))
    assert rows_of(result) == rows_of(read_file(save(HEAD + ROWS, "headed.csv")))
    turned = read_file(path, ReadOptions(columns="right,left,outcome"))
    assert turned.data.y.tolist() == [-1, 0, 1, -1]
    with pytest.raises(FileError, match="it has 3 columns; name them all"):
        read_file(path, ReadOptions(columns="a,b"))
    with pytest.raises(FileError, match="unknown outcomes: line 2"):
        read_file(save("a,b,left\na,b,who\n"), ReadOptions(no_header=True))


def test_sheets_of_a_workbook(tmp_path):
    import xlsxwriter

    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name, left in (("first", 7), ("second", "x")):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["left", "right", "outcome", ""])
            sheet.write_row(1, 0, [left, "b", 0.5])
            sheet.write_row(2, 0, ["b", left, "1"])
    with pytest.warns(DataWarning, match="Of 2 sheets, 'first' is read"):
        assert rows_of(read_file(path)) == [("7", "b", 0), ("b", "7", -1)]
    second = read_file(path, ReadOptions(sheet="second"))
    assert rows_of(second) == [("x", "b", 0), ("b", "x", -1)]
    with pytest.raises(FileError, match="sheets, which are 'first', 'second'"):
        read_file(path, ReadOptions(sheet="third"))


def test_a_workbook_without_its_reader_and_other_archives(save, monkeypatch):
    path = save(b"", "book.xlsx")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(FileError, match="the workbook cannot be read"):
        read_file(path)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(FileError, match=r"install tiebreak\[excel\]"):
        read_file(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("votes.csv", ROWS)
    with pytest.raises(FileError, match="this is a zip archive; unpack it"):
        read_file(path)


def test_games_without_dates_or_names(save):
    game = '[White "{}"]\n[Black "b"]\n[Result "{}"]\n[Date "{}"]\n\n1. e4 {}\n\n'
    games = [("a", "1-0", "2024.??.??"), (r"c \"x\"", "1/2-1/2", "2024.02.03")]
    text = "".join(game.format(*one, one[1]) for one in games)
    result = read_file(save(text, "x.pgn"))
    assert rows_of(result) == [("a", "b", -1), ('c "x"', "b", 0)]
    assert str(result.data.columns["period"][0]) == "2024-01-01"
    text += game.format("?", "0-1", "????.??.??", "0-1")
    with pytest.raises(FileError, match="no name in white: line 15"):
        read_file(save(text, "x.pgn"))


IDS = HEAD + "1,2,left\n2,3,tie\n3,1,right\n"


def test_labels_stand_for_names_everywhere(save):
    labels = save("id,label\n1,Ada\n2,Bo\n3,Cy\n4,unused\n", "names.csv")
    result = tiebreak.rank(save(IDS), labels=labels)
    assert result.leaderboard.table["item"].to_list() == ["Ada", "Bo", "Cy"]
    assert result.model.items_.tolist() == ["Ada", "Bo", "Cy"]
    read = read_file(save(IDS), ReadOptions(labels=labels))
    assert read.labels == {"1": "Ada", "2": "Bo", "3": "Cy"}
    lists = save("3 1\n0 3 2 0 1\n0 2 2 1\n", "lists.txt")
    named = read_file(lists, ReadOptions(labels=save("id,x\n0,a\n1,b\n2,c\n", "n.csv")))
    assert named.data.names.tolist() == ["a", "b", "c"]
    for text, message in (
        ("id,label\n1,Ada\n2,Bo\n", "id has no row for '3'; expected one"),
        ("id,label\n1,A\n2,A\n3,B\n", "label has two items called 'A'"),
        ("id,label\n1,A\n1,C\n2,D\n3,B\n", "id has two rows for '1'"),
    ):
        with pytest.raises(FileError, match=message):
            read_file(save(IDS), ReadOptions(labels=save(text, "names.csv")))


FOOTBALL = "home_team,away_team,home_goals,away_goals\n"
FOOTBALL += "a,b,1,0\nb,c,2,2\nc,a,0,3\na,c,1,1\nb,a,0,2\nitems left,b,1,0\n"


def test_a_report_of_football_speaks_of_teams(save):
    result = tiebreak.rank(save(FOOTBALL))
    page = save("", "report.html")
    result.report(page)
    shown = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", page.read_text())
    for text in (str(result), result.methods, *result.summary(), shown):
        ours = re.sub(r"(?i)items left|left (aside|out)|(is|are) right", "", text)
        assert not re.search(r"\b(items?|votes?|comparisons?|left|right)\b", ours, re.I)
    assert "6 matches of 4 teams: home is better in 2" in result.source.detected[-1]
    chosen = read_file(save(IDS), ReadOptions(nouns="city, vote"))
    assert "3 votes of 3 cities: left is better in 1" in chosen.sentences[-1]
    # Nothing of it is left for others.
    assert "items" in str(tiebreak.check_pairs(Pairs(None, ["a"], ["b"]), [-1]))
    with pytest.raises(ValueError, match="--nouns must be like team,match"):
        ReadOptions(nouns="team")


def test_an_unknown_name_is_answered_with_a_close_one(save):
    result = tiebreak.rank(save(HEAD + "Arsenal,Chelsea,left\nChelsea,Arsenal,tie\n"))
    meant = r"Did you mean 'Arsenal'\?"
    with pytest.raises(ValueError, match=meant):
        result.leaderboard.versus("arsenl")
    with pytest.raises(ValueError, match=meant):
        result.model.utility(["Arsenel"])
    with pytest.raises(ValueError, match=meant):
        Pairs([[1.0], [2.0]], ["Arsenol"], ["Chelsea"], names=["Arsenal", "Chelsea"])
    rated = tiebreak.Elo().fit(Pairs(None, ["Arsenal"], ["Chelsea"]), [-1])
    with pytest.raises(ValueError, match=meant):
        rated.utility(["Arsenall"])


def test_one_column_is_a_list_of_items_to_ask_about(save):
    for text in ("name\nAda\nBo, C\n", 'Ada\n"Bo, C"\n'):
        text = text.replace("\nBo, C", '\n"Bo, C"')
        assert [one.name for one in read_items(save(text)).items] == ["Ada", "Bo, C"]
