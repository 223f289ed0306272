# SPDX-License-Identifier: BSD-3-Clause
"""Every block of Python in the documentation is a doctest, so that it is run.

Blocks of the page of the command are run, too, and what they show is compared.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import typer

from docs._ext import command_reference
from tests.extended import few
from tests.meta.sources import ROOT
from tiebreak.cli.app import app
from tiebreak.data import OUTCOME_WORDS

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_blocks_of_python_are_doctests():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [
        (page.relative_to(ROOT).as_posix(), block)
        for page in pages
        if "_build" not in page.parts
        for block in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(blocks) > 50
    assert [page for page, block in blocks if not block.startswith(">>> ")] == []


CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND_LINE = ROOT / "docs" / "command-line.md"
SESSIONS = CONSOLE.findall(COMMAND_LINE.read_text(encoding="utf-8"))


def matches(expected, shown):
    """Say whether lines that are not blank are as expected; ``...`` is anything."""
    parts = [re.escape(line.rstrip()) for line in expected.strip("\n").splitlines()]
    pattern = "\n".join(part.replace(r"\.\.\.", "(?s:.*)") for part in parts)
    lines = [line.rstrip() for line in shown.splitlines() if line.strip()]
    # Lines that consist of dots may stand for none at all.
    pattern = pattern.replace("\n(?s:.*)\n", "\n(?s:(?:.*\n)?)")
    return re.fullmatch(pattern, "\n".join(lines)) is not None


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """Give a function that runs a session beside the votes and compares its output."""
    shutil.copy(ROOT / "docs" / "data" / "votes.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(session):
        *commands, last = re.findall(r"^\$ (.*)\n", session, re.MULTILINE)
        for command in commands:  # of the shell, which make files
            subprocess.run(command, shell=True, check=True)
        monkeypatch.setattr(sys, "argv", shlex.split(last))
        with pytest.raises(SystemExit) as end:
            app()
        assert end.value.code == 0
        shown = capsys.readouterr().out
        expected = session.split(f"$ {last}\n")[1]
        assert matches(expected, shown), shown
        assert not matches(re.sub(r"\d", "x", expected), shown)

    return run


@pytest.mark.parametrize("session", few(SESSIONS), ids=lambda text: text.split("\n")[0])
def test_the_command_prints_what_its_page_shows(session, play):
    play(session)


def test_the_tutorial_prints_what_it_shows(play):
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    sessions = CONSOLE.findall(text)
    assert len(sessions) == 5 and len(text.split()) <= 1200
    for session in sessions:  # one after the other, in one folder
        play(session)


def test_the_readme_is_short_and_says_who_is_best(capsys, monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    for heading in ("Install", "Quick start", "Development"):
        assert f"\n## {heading}\n" in text
    commands = re.findall(r"^tiebreak (.*?) +#", text, re.MULTILINE)
    assert [words.split()[0] for words in commands] == ["rank", "versus", "judges"]
    sentence = re.search(r"^```text\n(.*)\n```", text, re.MULTILINE)[1]
    monkeypatch.setattr(sys, "argv", ["tiebreak", *commands[0].split(), "--json"])
    with pytest.raises(SystemExit):
        app()
    assert json.loads(capsys.readouterr().out)["summary"][0] == sentence


def test_the_page_asks_ten_questions():
    text = COMMAND_LINE.read_text(encoding="utf-8")
    assert len(SESSIONS) == len(re.findall(r"^## .*\?$", text, re.MULTILINE)) == 10


def test_the_reference_has_every_option_of_every_command():
    page = (ROOT / "docs" / "command-reference.md").read_text(encoding="utf-8")
    assert command_reference.MARK in page
    text = command_reference.command_reference()
    *sections, shared = text.split("\n## ")
    for name, command in typer.main.get_command(app).commands.items():
        for parameter in set(getattr(command, "params", ())):
            if parameter.name != "help_all" and parameter.param_type_name == "option":
                own = next(s for s in sections if s.split("\n")[0].endswith(name))
                assert f"`{parameter.opts[0]}" in own + shared, (name, parameter.name)
    assert "| `--half-life TIME` | `half_life` | For bradley-terry: the age" in text


def test_the_page_of_outcome_words_has_all_of_them():
    page = (ROOT / "docs" / "data" / "outcome-words.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:−1|0|\+1) (left|tie|right).*$", page, re.MULTILINE)
    assert rows == ["left", "tie", "tie", "right"]
    for word, outcome in OUTCOME_WORDS.items():
        lines = re.findall(rf"^\| \S+ {outcome.word}.*$", page, re.MULTILINE)
        assert any(f"`{word}`" in line for line in lines), word
