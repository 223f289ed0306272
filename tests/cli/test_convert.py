# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak convert` of ranked lists, and where it cannot write."""

from tiebreak.io import read_file

LISTS = (
    "# FILE NAME: 1.toi\n# ALTERNATIVE NAME 1: Apple\n# ALTERNATIVE NAME 2: Banana\n"
    "# ALTERNATIVE NAME 3: Cherry\n3: 2,{1,3}\n2: 3,1\n"
)


def test_lists_become_weighted_comparisons(run, tmp_path):
    path, out = tmp_path / "in.toi", tmp_path / "out.csv"
    path.write_text(LISTS)
    assert "4 comparisons written to" in " ".join(
        run("convert", path, out).stdout.split()
    )
    data = read_file(out).data
    assert sorted(data.weight.tolist()) == [2, 3, 3, 3]
    assert sorted(abs(data.y).tolist()) == [0, 1, 1, 1]


def test_another_ending_is_refused_before_reading(run, tmp_path):
    refused = run("convert", tmp_path / "none", tmp_path / "a.txt").line
    assert "must end with .csv, .tsv or .parquet" in refused
