# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak convert` to PrefLib files."""

import re

import pytest

from tiebreak.io import read_file

LISTS = (
    "# FILE NAME: 1.toi\n# ALTERNATIVE NAME 1: Apple\n# ALTERNATIVE NAME 2: Banana\n"
    "# ALTERNATIVE NAME 3: Cherry\n3: 2,{1,3}\n2: 3,1\n"
)


@pytest.fixture
def convert(run, tmp_path):
    """Write a file, convert it, and read the result back; give what was said too."""

    def convert(text, ending, *options):
        path, out = tmp_path / "in.txt", tmp_path / f"out.{ending}"
        path.write_text(text)
        done = run("convert", path, out, *options)
        if done.code:
            return done.line
        read, said = read_file(out), " ".join(done.stdout.split())
        return list(read.data.orders), read.data.weight.tolist(), said

    return convert


def test_lists(convert):
    *found, said = convert(LISTS, "toi")
    assert found == [[["Banana", ["Apple", "Cherry"]], ["Cherry", "Apple"]], [3, 2]]
    assert "2 lists written to" in said
    assert re.search(r"no such lists .*end with \.toi", convert(LISTS, "soc"))
    # Item numbers as names, and a list that two people gave.
    *found, _ = convert("4 1\n0 3 2 0 3\n0 2 1 2\n0 2 1 2\n", "soi")
    assert found == [[["2", "0", "3"], ["1", "2"]], [1, 2]]


def test_panels_are_lists_and_comparisons_are_none(convert):
    panel = "person,wine,score\nx,Gamay,3\nx,Malbec,5\ny,Malbec,1\ny,Gamay,1\n"
    (strict, tied), weight, _ = convert(panel, "toc", "--kind", "orders")
    assert strict == ["Malbec", "Gamay"]
    assert len(tied) == 1 and set(tied[0]) == {"Malbec", "Gamay"}
    assert weight == [1, 1]
    assert "hold ranked lists" in convert("left,right,winner\nAda,Bo,Bo\n", "toi")


def test_another_ending_is_refused_before_reading(run, tmp_path):
    refused = run("convert", tmp_path / "none", tmp_path / "a.txt").line
    assert "must end with .csv, .tsv or .parquet" in refused
