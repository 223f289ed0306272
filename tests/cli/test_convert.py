# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak convert` to PrefLib files."""

import pytest

from tiebreak.cli import convert as convert_command
from tiebreak.io import ReadOptions, WriteError, read_file

LISTS = (
    "# FILE NAME: 1.toi\n# ALTERNATIVE NAME 1: Apple\n# ALTERNATIVE NAME 2: Banana\n"
    "# ALTERNATIVE NAME 3: Cherry\n3: 2,{1,3}\n2: 3,1\n"
)


@pytest.fixture
def convert(tmp_path):
    """Write a file, convert it, and read the result back."""

    def run(text, ending, **options):
        path, out = tmp_path / "in.txt", tmp_path / f"out.{ending}"
        path.write_text(text)
        convert_command.run(path, out, ReadOptions(**options), quiet=False)
        read = read_file(out)
        return list(read.orders), read.columns["weight"].tolist()

    return run


def test_lists(convert, capsys):
    lists = [["Banana", ["Apple", "Cherry"]], ["Cherry", "Apple"]]
    assert convert(LISTS, "toi") == (lists, [3, 2])
    assert "2 lists written to" in capsys.readouterr().out
    with pytest.raises(WriteError, match=r"list 0 has tied items.*end with \.toi"):
        convert(LISTS, "soc")
    # Item numbers as names, and a list that two people gave.
    lists = [["2", "0", "3"], ["1", "2"]]
    assert convert("4 1\n0 3 2 0 3\n0 2 1 2\n0 2 1 2\n", "soi") == (lists, [1, 2])


def test_comparisons_are_lists_of_two(convert, capsys):
    text = (
        "left,right,winner,rater\nAda,Bo,Bo,x\nBo,Cy,tie,x\nAda,Bo,Bo,y\nCy,Ada,Cy,x\n"
    )
    lists = [["Bo", "Ada"], [["Bo", "Cy"]], ["Cy", "Ada"]]
    assert convert(text, "toi") == (lists, [2, 1, 1])
    said = " ".join(capsys.readouterr().out.split())
    assert "Every comparison is written as a list of two items." in said
    assert "no place for it: rater" in said


def test_grades_and_panels_are_lists(convert, capsys):
    text = "item,query,grade,f\na,q,1,5\nb,q,3,5\nc,q,1,5\na,p,2,5\nc,p,9,5\n"
    lists = [["b", ["a", "c"]], ["c", "a"]]
    assert convert(text, "toi", item="item") == (lists, [1, 1])
    assert "features of the items" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(ValueError, match=r"no names.*--item"):
        convert("2 qid:1 1:0.5\n1 qid:1 1:2\n", "soc")
    panel = "person,wine,score\nx,Gamay,3\nx,Malbec,5\ny,Malbec,1\ny,Gamay,1\n"
    (strict, tied), weight = convert(panel, "toc", kind="orders")
    assert strict == ["Malbec", "Gamay"]
    assert len(tied) == 1 and set(tied[0]) == {"Malbec", "Gamay"}
    assert weight == [1, 1]


def test_another_ending_is_refused_before_reading(tmp_path):
    with pytest.raises(
        WriteError, match=r"\.parquet; or, for ranked lists, with \.soc"
    ):
        convert_command.run(
            tmp_path / "none", tmp_path / "a.txt", ReadOptions(), quiet=True
        )
