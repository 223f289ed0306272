# SPDX-License-Identifier: BSD-3-Clause
"""What the command prints as JSON is what the schema files say."""

import json
from pathlib import Path

import jsonschema
import pytest

from tiebreak.cli.rank import JSON_VERSION

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
VOTES = "left,right,outcome,language\n" + "".join(
    f"{left},{right},{outcome},{language}\n"
    for language in ("en", "de")
    for left, right, outcome in [
        ("A", "B", "left"),
        ("B", "C", "tie"),
        ("C", "A", "right"),
        ("B", "A", "left"),
        ("C", "B", "left"),
    ]
)
JUDGED = VOTES + "A,C,both_bad,en\nC,B,both_bad,de\n"
SCORES = "dataset,A,B,C\n" + "".join(
    f"t{k},{k % 5 + 0.1},{k % 5},{k % 3}\n" for k in range(30)
)
GRADES = "grade,size,height\n" + "".join(
    f"{k % 3},{k % 3 + k / 9},{k % 5}\n" for k in range(30)
)


@pytest.fixture
def printed(run, tmp_path, monkeypatch):
    """Give what prints JSON about a file."""
    monkeypatch.chdir(tmp_path)

    def printed(text, command, *words):
        file = tmp_path / "data.csv"
        file.write_text(text)
        done = run(command, file, *words, "--json", cwd=tmp_path)
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)

    return printed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (VOTES, ("rank",)),
        (VOTES, ("rank", "--by", "language", "--position")),
        (JUDGED, ("rank", "--model", "judge-bradley-terry", "--rater", "language")),
        (SCORES, ("rank", "--tie-within", "0.5")),
        (GRADES, ("rank", "--grade", "grade", "--kind", "grades")),
    ],
    ids=["votes", "categories", "judges", "scores", "grades"],
)
def test_rank(printed, tmp_path, text, words):
    found = printed(text, *words)
    schema = json.loads((SCHEMAS / "rank.json").read_text())
    jsonschema.validate(found, schema)
    assert set(found) <= set(schema["properties"]), "describe new fields in the schema"
    assert schema["properties"]["version"] == {"const": JSON_VERSION}
    # Nothing is written unless a folder is named.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]
    known = schema["properties"]["leaderboard"]["items"]["properties"]
    assert all(set(row) <= set(known) for row in found["leaderboard"] or [])
    assert found["out"] is None


def test_audit(printed):
    found = printed(VOTES, "audit")
    jsonschema.validate(found, json.loads((SCHEMAS / "audit.json").read_text()))


def test_judges(printed):
    rows = VOTES.splitlines()
    text = "\n".join(
        [f"{rows[0]},rater"]
        + [f"{row},{'ab'[k % 2]}" for k, row in enumerate(rows[1:])]
    )
    found = printed(text, "judges", "--question", "language", "--people", "a")
    schema = json.loads((SCHEMAS / "judges.json").read_text())
    jsonschema.validate(found, schema)
    assert set(found) == set(schema["properties"])
    assert {one["judge"] for one in found["judges"]} == {"a", "b"}
    assert [one["judge"] for one in found["confusion"]] == ["b"]


def test_judges_need_to_know_who_judged(run, tmp_path):
    (tmp_path / "data.csv").write_text(VOTES)
    done = run("judges", tmp_path / "data.csv", cwd=tmp_path)
    assert done.code == 4
    assert "Name that column with --rater" in done.stderr
