# SPDX-License-Identifier: BSD-3-Clause
"""The command that asks whether claims survive: what it refuses, writes and keeps."""

import csv
import json

import pytest

from tests.cli.test_output import VOTES

# A signal of the real kind, when the third claim begins.
_AT_THIRD = """
import os, signal
from tiebreak.robustness.claim_audit import _Job
inner, calls = _Job._audit, []
def counted(self, *given):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return inner(self, *given)
_Job._audit = counted
"""


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--claim", "a > z"], "'z' is not among the items, which are 'a', 'b', 'c'"),
        (["--claim", "a best"], "The claim 'a best' was not understood"),
        (["--claim", "a > a"], "names an item twice"),
        (["--level", "2"], "level must be"),
        (["--top", "-1"], "top must not be negative"),
        (["--neighbors", "-1"], "neighbors must not be negative"),
        (["--ties", "foo"], "--ties must be one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_asked_wrongly(run, votes, words, sentence):
    done = run("audit", votes, *words)
    assert done.code in (2, 4)
    assert "Traceback" not in done.stderr
    assert sentence in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["a,a,left"], "no comparison is left"),
        (["a,b,tie", "b,c,tie"], "there is no claim to audit"),
    ],
    ids=["one item", "only ties"],
)
def test_files_without_a_claim(run, tmp_path, rows, sentence):
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["left,right,outcome", *rows, ""]))
    done = run("audit", path)
    assert done.code not in (0, 1)
    assert sentence in done.stderr.splitlines()[-1]


def test_the_votes_are_written(run, votes):
    out = votes.with_name("hang.csv")
    done = run("audit", votes, "--votes", out, "--json", "--ties", "half")
    assert done.code == 0, done.stderr
    answer = json.loads(done.stdout)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    for claim in answer["claims"]:
        listed = [
            int(row["row"])
            for row in rows
            if (row["claim"], row["change"]) == (claim["claim"], "removed")
        ]
        assert listed == claim["removal"]["rows"]


def test_an_interruption_keeps_what_was_verified(run, votes):
    out = votes.with_name("hang.csv")
    done = run("audit", votes, "--json", "--votes", out, before=_AT_THIRD)
    assert done.code == 130
    answer = json.loads(done.stdout)
    assert not answer["complete"]
    assert len(answer["claims"]) == 2
    assert all(claim["removal"]["verified"] for claim in answer["claims"])
    assert "2 claims" in done.line
    assert out.exists()


def test_the_report_has_what_the_audit_found(run, votes, tmp_path):
    folder = tmp_path / "report"
    done = run("audit", votes, "--out", folder, "--claim", "a first")
    assert done.code == 0, done.stderr
    page = (folder / "report.html").read_text()
    assert "Would the claims survive?" in page
    assert "a is first" in page
    assert sorted(path.name for path in folder.iterdir()) == [
        "leaderboard.csv",
        "model.tiebreak",
        "report.html",
    ]
    (folder / "other.txt").touch()
    done = run("audit", votes, "--out", folder)
    assert done.code not in (0, 1)
    assert "--force" in done.line
