# SPDX-License-Identifier: BSD-3-Clause
"""Folders, patterns and several files: the result of one file with all rows."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import tiebreak
from tiebreak.io import FileError


def make_matches(rng, n=200):
    """Make dated matches of six teams on home ground, some rows of which are alike."""
    left = rng.integers(0, 6, n)
    right = (left + rng.integers(1, 6, n)) % 6
    strength = np.linspace(-0.8, 0.8, 6)
    d = strength[right] - strength[left] - 0.3 + rng.logistic(size=n)
    return pl.DataFrame(
        {
            "date": np.datetime64("2021-01-01") + np.sort(rng.integers(0, 40, n)),
            "home_team": [f"team {i}" for i in left],
            "away_team": [f"team {i}" for i in right],
            "home_score": (d < -0.4).astype(int),
            "away_score": (d > 0.4).astype(int),
            "cup": rng.choice(["yes", "no"], n),
        }
    )


def make_graded(rng, n=120):
    """Make graded rows of queries, with numbers and words as features."""
    x = rng.normal(size=(n, 2))
    return pl.DataFrame(
        {
            "query": rng.integers(0, 12, n),
            "grade": np.clip(np.round(1.5 + x[:, 0]), 0, 3).astype(int),
            "sweet": 100 * x[:, 0] + 7,
            "salty": x[:, 1],
            "color": rng.choice(["red", "green", "blue"], n),
        }
    )


def make_panel(rng, n=90):
    """Make scores that people gave to wines, one per row."""
    return pl.DataFrame(
        {
            "panelist": np.repeat(np.arange(n // 6), 6),
            "product": [f"wine {i}" for i in np.tile(np.arange(6), n // 6)],
            "score": rng.integers(1, 9, n),
        }
    )


def split(table, folder, cuts, arrow=()):
    """Write a table to one file and to a folder of files."""
    folder.mkdir()
    whole = folder.parent / f"{folder.name}-whole.parquet"
    table.write_parquet(whole)
    for number, (start, end) in enumerate(pairwise([0, *cuts, len(table)])):
        part = table[start:end]
        if number in arrow:
            part.write_ipc(folder / f"part-{number}.arrow")
        else:
            part.write_parquet(folder / f"part-{number}.parquet")
    return whole


@pytest.mark.parametrize(
    "make, options",
    [
        (make_matches, ()),
        (make_matches, ("--by", "cup", "--since", "2021-01-09", "--model", "glicko2")),
        (make_graded, ()),
        (make_panel, ()),
    ],
)
def test_a_folder_is_ranked_as_one_file(run, rng, tmp_path, make, options):
    # One file is empty, one is Arrow; groups lie in several files.
    whole = split(make(rng), tmp_path / "log", [40, 40, 75], arrow=[2])
    (tmp_path / "log" / "notes.txt").write_text("hi")
    (tmp_path / "log" / "_SUCCESS").write_text("")
    one = run("rank", whole, "--out", "one", "--json", *options, cwd=tmp_path)
    many = run("rank", "log", "--out", "many", "--json", *options, cwd=tmp_path)
    assert (one.code, many.code) == (0, 0), many.stderr
    one, many = json.loads(one.stdout), json.loads(many.stdout)
    sentences = many.pop("recognized")
    assert sentences[0].startswith("4 Arrow and Parquet files with ")
    assert sentences[1] == "Not read: notes.txt."
    assert sentences[2:] == one.pop("recognized")[1:]
    for name in ("file", "out", "title", "command", "date"):
        one.pop(name), many.pop(name)
    assert many == one  # the fingerprint of the data, too
    assert (tmp_path / "one" / "leaderboard.csv").read_bytes() == (
        tmp_path / "many" / "leaderboard.csv"
    ).read_bytes()


def test_files_that_cannot_be_read_as_one(tmp_path, rng):
    table, folder = make_matches(rng), tmp_path / "log"
    (tmp_path / "empty").mkdir()
    split(table, folder, [140])
    broken = folder / "part-2.parquet"
    cut = (folder / "part-0.parquet").read_bytes()[:-40]

    def other(frame):
        return lambda: frame.write_parquet(broken)

    for change, path, message in (
        (None, "empty", "there is no Parquet or Arrow file in this folder; for other"),
        (None, "*.parq", "no file has such a name"),
        (other(table.rename({"date": "day"})), "log", "no 'date', and it has 'day'"),
        (other(table[:0]), "log/part-2*", "the table has a header and no rows"),
        (lambda: broken.write_bytes(cut), "log", "part-2.parquet: the Parquet file is"),
        (
            lambda: broken.write_text("date,a\n1,2\n"),
            "log",
            "part-2.parquet: it cannot be read together",
        ),
        (lambda: broken.write_text("0 1:2\n1 1:3\n"), "log", "svmlight is read alone"),
    ):
        if change is not None:
            change()
        with pytest.raises(FileError, match=message):
            tiebreak.rank(tmp_path / path)


def test_a_file_may_have_the_name_of_a_pattern(tmp_path):
    strange = tmp_path / "what[1]?.csv"
    strange.write_text("left,right,outcome\na,b,left\nb,a,tie\n")
    assert tiebreak.rank(strange).checks.n_rows == 2


def test_rows_that_cannot_be_read_are_named_with_their_files(tmp_path):
    votes = {"left": ["A", "B", "A", "C"], "right": ["B", "C", "C", "A"]}
    first = pl.DataFrame(votes | {"outcome": ["left", "tie", "right", "oops"]})
    second = pl.DataFrame(votes | {"outcome": ["right", "left", None, "left"]})
    first.write_parquet(tmp_path / "a.parquet")
    second.write_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        FileError, match=r"b\.parquet row 3; unknown outcomes: a\.parquet row 4"
    ):
        tiebreak.rank(tmp_path)
    answer = tiebreak.rank(tmp_path, skip_bad_rows=True)
    kept = answer.source.skipped.select("place", "left", "outcome").rows()
    assert sorted(kept) == [
        ("a.parquet row 4", "C", "oops"),
        ("b.parquet row 3", "A", None),
    ]
    assert answer.checks.n_rows == 6
