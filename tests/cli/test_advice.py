# SPDX-License-Identifier: BSD-3-Clause
"""What the command advises is an option that it has, and following it helps."""

import ast
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer

import tiebreak
from tests.extended import few
from tests.io.test_shapes import FOLDER, REFUSED
from tests.meta.sources import PACKAGE
from tiebreak.cli.app import app
from tiebreak.io import ReadOptions
from tiebreak.options import RankOptions, read_settings

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# In messages for Python; the values of --outcome-words look the same.
ARGUMENT = re.compile(r"(?<![\w,'])([a-z_]{3,})=(?!=)")
COMMANDS = typer.main.get_command(app).commands

VOTES = """left,right,outcome,round,language,len_a,len_b
Ada,Bo,left,1,en,10,0
Ada,Cy,left,2,en,20,10
Ada,Bo,left,3,de,5,7
Bo,Cy,left,4,de,8,3
Cy,Bo,left,5,de,9,4
Bo,Cy,tie,6,en,4,4
Cy,Bo,right,7,en,2,1
"""
ITEMS = "item,price,age\nAda,1,2\nBo,2,1\nCy,3,5\n"
GRADES = "query,grade,x,y\n1,2,0.1,1\n1,0,0.5,0\n2,1,0.2,1\n2,0,0.9,0\n"
SIDED = "left,right,outcome\n" + "Ada,Bo,left\nBo,Cy,left\nCy,Ada,left\n" * 9


@pytest.fixture(scope="module", autouse=True)
def _files(tmp_path_factory):
    """Run in a folder with the files that are refused, and some others."""
    folder = tmp_path_factory.mktemp("advice")
    for file in (*(FOLDER / "refused").iterdir(), *FOLDER.glob("*.*")):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "votes.csv").write_text(VOTES)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "grades.csv").write_text(GRADES)
    (folder / "sided.csv").write_text(SIDED)
    (folder / "votes").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "thesis.txt").write_text("mine")
    before = Path.cwd()
    os.chdir(folder)
    yield
    os.chdir(before)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process; give its code and what it said."""

    def run(line):
        monkeypatch.setattr(sys, "argv", ["tiebreak", *shlex.split(line)])
        with pytest.raises(SystemExit) as end:
            app()
        said = capsys.readouterr()
        text = said.err if end.value.code else said.out + said.err
        return end.value.code, " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())

    return run


def options_of(line):
    """List the options of a command."""
    parameters = COMMANDS[shlex.split(line)[0]].params
    return {name for parameter in parameters for name in parameter.opts}


# A command that is refused, and what to do instead: options to add, or "-" and those to
# leave out, and after "+" others to add.
CASES = {
    "check latin_1.csv": ["--encoding cp1252"],
    "check letters_h_d_a.csv": ["--outcome-words 'left=H,tie=D,right=A'"],
    "check unknown_words.csv": ["--outcome-words left=victory", "--skip-bad-rows"],
    "check missing_outcomes.csv": ["--skip-bad-rows"],
    "check name_and_word.csv": ["--skip-bad-rows"],
    "check off_the_scale.csv --likert 1..7": ["--skip-bad-rows"],
    "check off_the_scale.csv": ["--likert '1..8'", "--likert '8..1'"],
    "check one_bad_date.csv": ["--period none", "--skip-bad-rows"],
    "check one_bad_weight.csv": ["--weight none", "--skip-bad-rows"],
    "check two_meanings.csv": [
        "--left home --right away --outcome winner",
        "--left white --right black --outcome winner",
    ],
    "check two_winners.csv": ["--skip-bad-rows"],
    "check zeros_and_ones.csv": ["--meaning score", "--meaning sign"],
    "check declared_words.csv": ["--outcome-words 'left=1,right=2,tie=0'"],
    "check likert_1_to_7.csv": ["--likert '1..7'", "--likert '7..1'"],
    "check no_outcome_column.csv": [
        "--outcome text",
    ],
    "check votes.csv --left left": ["--right right"],
    "check votes.csv --loser left": ["--winner right"],
    "check votes.csv --left-score len_a": ["--right-score len_b"],
    "check votes.csv --where 'nothing > 1'": ["- --where"],
    "check votes.csv --item-column item": ["--items items.csv", "- --item-column"],
    "check votes.csv --meaning score --likert 1..7": ["- --likert", "- --meaning"],
    "check ranked_ballots.soc --where 'x > 1'": ["- --where"],
    "check ranked_ballots.soc --kind grades": ["- --kind"],
    "rank votes.csv --print csv --set alpha=0": ["- --set", "--set alpha=auto"],
    "rank votes.csv --print csv --items items.csv --set alpha=0": ["--set alpha=1e-6"],
    "rank votes.csv --print csv --items items.csv --model elo": ["- --items"],
    "rank votes.csv --print csv --items items.csv --by language": [
        "- --by",
        "- --items",
    ],
    "rank votes.csv --print csv --items items.csv --ties half": ["- --ties"],
    "rank votes.csv --print csv --half-life 5y": ["--period round", "- --half-life"],
    "rank votes.csv --print csv --half-life 5y --period round": ["--half-life 3"],
    "rank votes.csv --print csv --model elo --half-life 3 --period round": [
        "- --half-life",
        "--model bradley-terry",
    ],
    "rank votes.csv --print csv --since 2": ["--period round", "- --since"],
    "rank votes.csv --print csv --period round --since x": ["--since 2"],
    "rank votes.csv --print csv --model elo --set alpha=1": ["--set k=20"],
    "rank votes.csv --print csv --set alpha": ["--set alpha=1"],
    "rank votes.csv --print csv --set alpha=1 --set alpha=2": ["- --set"],
    "rank votes.csv --print csv --model elo --ties half": [
        "- --ties",
        "--model bradley-terry",
    ],
    "rank votes.csv --print csv --set ties=davidson --ties rao-kupper": [
        "- --ties",
        "- --set",
    ],
    "rank votes.csv --print csv --model glicko --position": [
        "- --position",
        "--model bradley-terry",
    ],
    "rank votes.csv --print csv --model rank-svm": [
        "--model elo",
        "--items items.csv",
    ],
    "rank votes.csv --print csv --model judge-bradley-terry": [
        "--rater language",
        "--model elo",
    ],
    "rank votes.csv --print csv --model judge-bradley-terry --rater language "
    "--ties half": ["- --ties"],
    "rank votes.csv --print csv --covariates log:len_a:len_b": [
        "--covariates len_a:len_b",
        "--where 'len_b > 0'",
    ],
    "rank votes.csv --print csv --covariates round:round": ["- --covariates"],
    "rank votes.csv --print csv --anchor Ada": ["--anchor Ada=1114"],
    "rank votes.csv --print csv --tune --set alpha=1": ["- --set"],
    "rank votes.csv --print csv --tune": ["- --tune"],
    "rank votes.csv --print csv --level 2": ["--level 0.9"],
    "rank votes.csv --print word": ["--print csv"],
    "rank votes.csv --print csv --json": ["- --json", "- --print"],
    "rank votes.csv --out full": ["--out other", "--force"],
    "rank grades.csv --print markdown": ["--print csv"],
    "rank grades.csv --print csv --set alpha=auto": ["--set C=0.1"],
    "rank tennis_winner_loser.csv --print csv --position": [
        "- --position",
        "--left winner_name --right loser_name",
    ],
    "rank chess_pgn_results.csv --print csv --position": ["- --position"],
    "versus votes.csv Ada --model elo": ["--model glicko"],
    "compare votes.csv --models elo,rank-svm": [
        "--models elo,glicko",
        "--items items.csv",
    ],
    "compare votes.csv --models elo --half-life 3": ["- --half-life"],
    "compare votes.csv --models bradley-terry --half-life 3": [
        "--period round",
        "- --half-life",
    ],
}
# Options of a message that would answer another question.
NOT_TRIED = {
    "check declared_words.csv": {"--winner"},
    "check votes.csv --item-column item": {"--item"},
}


@pytest.mark.parametrize("line", few(CASES, 12))
def test_advice_can_be_followed(line, run):
    code, said = run(line)
    assert code, said
    advised = set(OPTION.findall(said)) - {"--help"}
    assert advised <= options_of(line), said
    plain = re.sub("'[^']*'", "", said)
    assert set(ARGUMENT.findall(plain)) <= {"alpha", "half_life", "kernel"}, (
        said
    )  # of --set
    followed = set()
    for advice in CASES[line]:
        without, _, others = advice.removeprefix("- ").partition(" + ")
        words = shlex.split(others if advice.startswith("- ") else advice)
        options = [w for w in [*shlex.split(without), *words] if w.startswith("--")]
        followed |= set(options)
        again = shlex.split(line)
        for option in options:
            if option in again:
                place = again.index(option)
                takes = place + 1 < len(again) and not again[place + 1].startswith("--")
                del again[place : place + 1 + takes]
        again += words
        _, after = run(shlex.join(again))
        assert after != said, f"{shlex.join(again)}: {after}"
        assert said[:60] not in after, f"{shlex.join(again)}: {after}"
    mentioned = {word for word in shlex.split(line) if word.startswith("--")}
    untried = advised - followed - mentioned - NOT_TRIED.get(line, set())
    assert untried <= {"--model", "--skip-bad-rows"}, said


@pytest.mark.parametrize("name", few(REFUSED, 6))
def test_options_of_a_refusal_are_those_of_every_command_that_reads(name, run):
    for command in ("rank", "check", "convert", "compare"):
        out = "out.csv" if command == "convert" else ""
        code, said = run(f"{command} {name} {out}")
        assert code == 3, said
        assert set(OPTION.findall(said)) <= options_of(command), said


def arguments(line):
    """Write the options of a command as arguments of `tiebreak.rank`."""
    words, given = shlex.split(line)[2:], {"settings": {}}
    while words:
        name = words.pop(0).removeprefix("--").replace("-", "_")
        value = words.pop(0) if words and not words[0].startswith("--") else True
        if name == "set":
            given["settings"] |= read_settings([value])
        else:
            given[name] = float(value) if name == "level" else value
    given.pop("print", None)
    return given


IN_PYTHON = [
    line
    for line in CASES
    if line.startswith(("check", "rank"))
    and not {"--print word", "--json", "--out", "markdown", "auto"} & set(line.split())
    and line.count("--set") == line.count("alpha=") + line.count("ties=")
    and line.count("--set") < 2
]


@pytest.mark.parametrize("line", [*IN_PYTHON, *(f"check {name}" for name in REFUSED)])
def test_python_speaks_of_arguments(line):
    known = {*RankOptions.__dataclass_fields__, *ReadOptions.__dataclass_fields__}
    known |= {"alpha"}  # of an estimator, which settings= has
    if {"--json", "--out", "word"} & {*line.split()}:
        return
    try:
        tiebreak.rank(shlex.split(line)[1], **arguments(line))
    except (ValueError, TypeError) as error:
        said = str(error)
        assert not OPTION.search(said), said
        plain = re.sub(r"'[^']*'|LogisticCompare got alpha", "", said)
        assert set(ARGUMENT.findall(plain)) <= known, said


def flags(path):
    """Give the names of options that the messages of a file name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "flag"
        if called and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value


def test_every_option_in_a_message_exists():
    known = {*RankOptions.__dataclass_fields__, *ReadOptions.__dataclass_fields__}
    folders = (PACKAGE, PACKAGE / "pipeline", PACKAGE / "io")
    files = [path for folder in folders for path in sorted(folder.glob("*.py"))]
    named = {name for path in files for name in flags(path)}
    assert len(named) > 25
    assert named <= known
