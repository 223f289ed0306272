# SPDX-License-Identifier: BSD-3-Clause
"""What is printed controls no terminal, and what is written replaces no input."""

import io
import json
import re

import pytest
from rich.table import Table

from tiebreak import BradleyTerry, Pairs, save
from tiebreak.cli.console import Output
from tiebreak.cli.signals import visible

# Raw ESC, the same as one C1 character, a title for the window, a mark that turns the
# text that follows, and half a character.
NASTY = "\x1b[31m\x9b32m\x1b]0;title\x07\u202eevil\u2066\ud800\x7f"
ACTIVE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
ROWS = ["a,b,left", "b,c,left", "c,a,right", "a,c,right", "c,b,tie", "b,a,left"]
VOTES = "\n".join(["left,right,outcome", *ROWS, ""])


def test_names_and_sentences_show_what_they_hold():
    shown = visible(NASTY)
    assert not ACTIVE.search(shown) and shown.encode()
    assert shown.startswith(r"\x1b[31m\x9b32m") and r"\u202eevil" in shown
    assert visible("Ada\nשלום 👩‍🚀") == "Ada\nשלום 👩‍🚀"
    # Our own marks, which keep a name to itself, come in pairs.
    assert visible("\u2068שלום\u2069 won") == "\u2068שלום\u2069 won"
    assert visible("\u2068שלום") == r"\u2068שלום"
    assert visible("\u2068a\u202eb\u2069") == r"\u2068a\u202eb\u2069"


@pytest.mark.parametrize("terminal", [True, False])
def test_no_table_and_no_sentence_acts(terminal, monkeypatch):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    output = Output()
    output.file = io.StringIO()
    table = Table(NASTY, title=NASTY)
    table.add_row(NASTY, style="bold red" if terminal else None)
    output.print(table)
    output.print(NASTY)
    output.print("[link=http://evil.example]click[/link] :warning:")
    output.show([f"{NASTY}\nevil"])
    printed = output.file.getvalue()
    ours = re.compile("\x1b\\[[0-9;]*m")
    assert bool(ours.search(printed)) == terminal
    assert not ACTIVE.search(ours.sub("", printed))
    assert "\x1b[31m" not in printed.replace("\x1b[1;31m", "")
    assert "[link=http://evil.example]click[/link] :warning:" in printed


def test_json_of_names(run, tmp_path):
    name = NASTY.replace("\ud800", "").replace('"', "")
    path = tmp_path / "votes.csv"
    path.write_text(VOTES.replace("a,", f"{name},").replace(",a,", f",{name},"))
    done = run("check", path, "--json")
    assert done.code == 0, done.stderr
    assert not ACTIVE.search(done.stdout)
    assert json.loads(done.stdout)


@pytest.mark.parametrize("command", ["check", "rank", "predict"])
def test_names_of_files(command, run, tmp_path):
    missing = f"{NASTY[:-2]}.csv"
    words = ["m", missing] if command == "predict" else [missing]
    done = run(command, *words, cwd=tmp_path)
    assert done.code != 0
    assert not ACTIVE.search(done.stderr + done.stdout)
    if command != "predict":
        (tmp_path / missing.replace("/", "")).write_text(VOTES)
        out = ["--out", "out"] if command == "rank" else []
        for more in ([], ["--json"]):
            done = run(command, *words, *out, *more, cwd=tmp_path)
            assert done.code == 0, done.stderr
            assert not ACTIVE.search(done.stderr + done.stdout)


def test_unknown_words_of_the_command_line(run):
    # typer shows marks of direction as the user wrote them, in words of the user.
    codes = NASTY.partition("\u202e")[0]
    for words in ([codes], ["check", "a", f"--{codes}"]):
        done = run(*words)
        assert done.code == 2
        assert not ACTIVE.search(done.stderr + done.stdout)


def test_output_never_replaces_input(run, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text(VOTES)
    (tmp_path / "link.csv").symlink_to(votes)
    out = tmp_path / "out"
    out.mkdir()
    board = out / "leaderboard.csv"
    board.write_text(VOTES)
    left, right = ["Ada", "Bo", "Ada"], ["Bo", "Ada", "Bo"]
    model = BradleyTerry().fit(Pairs(None, left, right), [-1, -1, 1])
    save(model, tmp_path / "model.csv")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for words in (
        ("convert", votes, votes),
        ("convert", votes, tmp_path / "out" / ".." / "votes.csv"),
        ("convert", tmp_path / "link.csv", votes),
        ("convert", votes, tmp_path / "link.csv"),
        ("convert", votes, board, "--items", board),
        ("predict", tmp_path / "model.csv", votes, "--out", votes),
        ("predict", tmp_path / "model.csv", votes, "--out", tmp_path / "model.csv"),
        ("rank", board, "--out", out),
        ("rank", out, "--out", out),
        ("rank", out / "*.csv", "--out", out),
        ("rank", votes, "--items", board, "--out", out),
        ("audit", votes, "--votes", votes),
        ("audit", votes, "--items", board, "--out", out),
        ("ask", votes, "--export", votes),
        ("ask", votes, "--export", board, "--answers", board),
        ("ask", votes, "--export", board, "--items", board),
    ):
        done = run(*words)
        assert done.code == 5, (words, done.stderr)
        assert "read too" in done.stderr and done.stderr.count("\n") == 1
    found = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == before
    assert not (tmp_path / "new").exists()
