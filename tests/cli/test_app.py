# SPDX-License-Identifier: BSD-3-Clause
"""The real command in a process of its own, on good files and bad."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tiebreak import BradleyTerry, Pairs, load, save
from tiebreak.io import read_file


@pytest.fixture
def votes(tmp_path):
    """Write votes of which nobody wins or loses everything."""
    rng = np.random.default_rng(0)
    names = np.array(["Ada", "Bo", "=cmd", "<b>Cy</b>", "Dée"])
    left = rng.integers(0, 5, 300)
    right = (left + rng.integers(1, 5, 300)) % 5
    d = (right - left) / 3 + rng.logistic(size=300)
    words = np.where(np.abs(d) < 0.6, "tie", np.where(d > 0, "right", "left"))
    path = tmp_path / "votes.csv"
    pl.DataFrame(
        {"left": names[left], "right": names[right], "outcome": words}
    ).write_csv(path)
    y = np.where(words == "tie", 0, np.where(words == "right", 1, -1))
    return path, Pairs(None, names[left], names[right]), y


def test_rank_writes_what_it_says(run, votes, tmp_path):
    path, pairs, y = votes
    out = tmp_path / "out"
    done = run("rank", path, "--out", out)
    assert done.code == 0, done.stderr
    assert "left and right are compared" in done.stdout
    assert "Model: bradley-terry" in done.stdout
    assert "held-out results" in done.stdout
    assert sorted(p.name for p in out.iterdir()) == [
        "leaderboard.csv",
        "model.tiebreak",
        "report.html",
    ]
    expected = BradleyTerry().fit(pairs, y)
    model = load(out / "model.tiebreak")
    np.testing.assert_allclose(
        model.utility(expected.items_), expected.strength_, atol=1e-9
    )
    board = pl.read_csv(out / "leaderboard.csv")
    # A cell that a spreadsheet would run is made text.
    assert set(board["item"]) == {"Ada", "Bo", "'=cmd", "<b>Cy</b>", "Dée"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Cy&lt;/b&gt;" in page
    assert "<b>Cy</b>" not in page


def test_the_answer_comes_first(run, votes, tmp_path):
    path, out = votes[0], tmp_path / "out"
    lines = run("rank", path, "--out", out).stdout.splitlines()
    assert "could be best, with 95 % confidence" in lines[0] + lines[1]
    head = next(n for n, line in enumerate(lines) if line.startswith(" rank"))
    assert head < 6 and not any("data checks" in line for line in lines)
    assert lines[-1] == f"Report: {out / 'report.html'}" or str(out) in lines[-1]
    more = run("rank", path, "--out", out, "--verbose").stdout
    assert "data checks" in more and "--verbose" not in more
    names = [f"item {n:02d}" for n in range(30)]
    pl.DataFrame({"left": names, "right": [*names[1:], names[0]]}).with_columns(
        outcome=pl.Series(["left", "right", "tie"] * 10)
    ).write_csv(tmp_path / "long.csv")
    short = run("rank", tmp_path / "long.csv", "--out", out).stdout
    assert "and 10 more items: --all" in short
    assert len(re.findall(r"^ +\d+ +item", short, re.MULTILINE)) == 20
    starts = ("Problem: ", "Warning: ", "Note: ")
    assert 1 <= sum(line.startswith(starts) for line in short.splitlines()) <= 3
    every = run("rank", tmp_path / "long.csv", "--out", out, "--all").stdout
    assert all(name in every for name in names)


def test_bundled_sets_are_read_by_name_where_no_file_has_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("check", "worldcup2022", "--json")
    assert json.loads(done.stdout)["n_comparisons"] == 64
    assert "tiebreak data get worldcup2022" in done.stdout
    assert run("check", "prefectures").code == 3
    (tmp_path / "worldcup2022").write_text("left,right,outcome\nAda,Bo,left\n")
    assert len(read_file("worldcup2022").data) == 1


def test_rank_as_json_and_quiet(run, votes, tmp_path):
    path, *_ = votes
    done = run("rank", path, "--out", tmp_path / "a", "--json", "--model", "glicko")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["model"] == "glicko"
    assert len(found["leaderboard"]) == 5
    assert done.stderr == ""
    quiet = run("rank", path, "--out", tmp_path / "b", "-q")
    assert (quiet.code, quiet.stdout, quiet.stderr) == (0, "", "")


@pytest.mark.extended
def test_compare_evaluate_and_convert(run, votes, tmp_path):
    path, pairs, y = votes
    done = run("compare", path, "--models", "bradley-terry, elo", "--json")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["model"] for row in found["table"]] == [
        "bradley-terry",
        "elo",
        "baseline",
    ]
    gap = found["log_loss_above_first"]["elo"]
    assert gap["standard_error"] > 0
    assert gap["interval"][0] < gap["mean"] < gap["interval"][1]
    assert "compared with bradley-terry" in run("compare", path).stdout
    for name in ("a.csv", "b.parquet"):
        done = run("convert", path, tmp_path / name)
        assert done.code == 0, done.stderr
        again = json.loads(run("check", tmp_path / name, "--json").stdout)
        assert again["n_comparisons"] == 300
    save(BradleyTerry().fit(pairs, y), tmp_path / "model")
    done = run("evaluate", tmp_path / "model", tmp_path / "a.csv", "--json")
    assert done.code == 0, done.stderr
    accuracy = (BradleyTerry().fit(pairs, y).predict(pairs) == y).mean()
    assert json.loads(done.stdout)["model"]["accuracy"] == pytest.approx(accuracy)
    assert "accuracy" in run("evaluate", tmp_path / "model", path).stdout
    strange = tmp_path / "strange.csv"
    strange.write_text("left,right,outcome\nAda,Zoe,left\n")
    done = run("evaluate", tmp_path / "model", strange)
    assert done.code == 4
    assert "'Zoe'" in done.stderr


def test_check_says_what_the_data_support(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("left,right,outcome\nAda,Bo,left\nBo,Cy,left\nCy,Bo,left\n")
    done = run("check", path)
    assert done.code == 0, done.stderr
    assert "'Ada'" in done.stdout
    found = json.loads(run("check", path, "--json").stdout)
    assert "undefeated" in {finding["code"] for finding in found["findings"]}


def test_help_is_quick_and_shows_examples(run):
    done = run("rank", "--help")
    assert done.code == 0
    assert "tiebreak rank matches.csv" in done.stdout
    assert "--both-bad" not in done.stdout
    assert "FILE" in done.stdout
    assert 14 <= len(re.findall(r"^│ --[a-z]", done.stdout, re.M)) <= 22
    assert "--both-bad" in run("rank", "--help-all").stdout
    assert "-q" in done.stdout
    assert run("--version").stdout.startswith("tiebreak ")
    # Imports are lazy: help needs no solver. Seconds are measured in benchmarks.
    code = "import sys, tiebreak.cli.app; print([m for m in %r if m in sys.modules])"
    slow = ["numpy", "polars", "sklearn", "numba", "matplotlib", "scipy"]
    found = subprocess.run(
        [sys.executable, "-c", code % slow], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
    assert run("dance").code == 2


@pytest.mark.parametrize(
    "name",
    [
        "football/results.csv.gz",
        "lm_arena_140k/battles.csv.gz",
        "mq2008/fold1_test.txt.gz",
        "sushi/sushi3a.5000.10.order",
    ],
)
def test_real_files_need_no_options(run, data_dir, tmp_path, name):
    done = run("rank", data_dir / name, "--out", tmp_path / "out")
    assert done.code == 0, done.stderr
    assert (tmp_path / "out" / "report.html").stat().st_size < 1_000_000


def test_chess_needs_no_answer(run, data_dir):
    path = data_dir / "chess_kaggle2010" / "games.csv.gz"
    found = json.loads(run("check", path, "--json").stdout)
    assert "65,053" in " ".join(found["recognized"])


SHAPES = Path(__file__).parents[1] / "io" / "shapes"


def test_skipped_rows_are_counted_and_written(run, tmp_path):
    path, out = SHAPES / "rows_without_outcome.csv", tmp_path / "out"
    done = run("rank", path, "--out", out)
    assert done.code == 3 and not out.exists()
    done = run("rank", path, "--out", out, "--skip-bad-rows")
    assert done.code == 0, done.stderr
    assert "3 rows skipped, because they cannot be read." in done.stdout
    assert pl.read_csv(out / "skipped.csv")["place"].to_list() == [
        "line 15",
        "line 16",
        "line 17",
    ]
