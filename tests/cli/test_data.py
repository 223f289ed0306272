# SPDX-License-Identifier: BSD-3-Clause
"""The real command ``tiebreak data``."""

import json
import os
import subprocess
import sys

import pytest

from tiebreak.datasets import REGISTRY


@pytest.fixture
def run(tmp_path):
    """Give a function that runs the command for a user without any data."""
    nobody = {"XDG_CACHE_HOME": str(tmp_path / "xdg"), "TIEBREAK_DATA": ""}
    # An address at which nobody listens.
    nobody |= {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_COLOR": "1", "COLUMNS": "120"}

    def run(*words, **more):
        return subprocess.run(
            [sys.executable, "-m", "tiebreak", "data", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=os.environ | nobody | more,
            check=False,
        )

    return run


def test_list(run, tmp_path):
    for name in ("football/results.csv.gz", "sushi/sushi3.idata"):
        path = tmp_path / "mine" / name
        path.parent.mkdir(parents=True)
        path.touch()
    done = run("list", TIEBREAK_DATA=str(tmp_path / "mine"))
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in REGISTRY)
    assert "tiebreak rank football\n" in done.stdout
    narrow = run("list", COLUMNS="80").stdout
    assert max(map(len, narrow.splitlines()[:-1])) <= 80
    assert f"Cache: {tmp_path / 'xdg' / 'tiebreak'}" in done.stdout
    done = run("list", "--json", TIEBREAK_DATA=str(tmp_path / "mine"))
    assert (done.returncode, done.stderr) == (0, "")
    found = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert list(found) == list(REGISTRY)
    assert found["football1872"]["where"] == str(tmp_path / "mine" / "football")
    assert found["sushi"]["where"] == "in part"
    assert found["mq2008"]["where"] == "not here"
    assert found["worldcup2022"]["where"].endswith("datasets")
    assert found["mq2008"]["rows"] == "2,874 graded rows"


@pytest.mark.extended
def test_get(run, tmp_path):
    (tmp_path / "mine" / "football").mkdir(parents=True)
    path = tmp_path / "mine" / "football" / "results.csv"
    path.touch()
    mine = {"TIEBREAK_DATA": str(tmp_path / "mine")}
    done = run("get", "worldcup2022", "football1872", **mine)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].endswith("worldcup2022.csv")
    assert done.stdout.splitlines()[1] == str(path)
    assert "public record" in done.stderr
    assert "Please cite: Mart Jürisoo" in done.stderr
    done = run("get", "-q", "football/results.csv", **mine)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
    (found,) = json.loads(run("get", "football1872", "--json", **mine).stdout)
    assert found["paths"] == [str(path)]


@pytest.mark.extended
def test_what_cannot_be_had_is_one_line(run):
    for name, said in [
        ("football1872", "could not be downloaded"),
        ("lm_arena_140k", "save a table with the columns model_a"),
    ]:
        done = run("get", name)
        assert (done.returncode, done.stdout) == (3, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"tiebreak: {name}: ") and said in line
    done = run("get", "football", "footbal")
    assert done.returncode == 2
    assert "There is no data set 'footbal'." in " ".join(
        done.stderr.replace("│", "").split()
    )
