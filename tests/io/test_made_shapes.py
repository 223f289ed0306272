# SPDX-License-Identifier: BSD-3-Clause
"""Every simulated file is read the right way up, or refused; so is all advice."""

import re
import shlex

import pytest

from tests.io import made_noise, made_scores, made_shapes
from tests.meta.sources import ROOT
from tiebreak.data import Grades
from tiebreak.io import FileError, ReadOptions
from tiebreak.io.formats import detect_format
from tiebreak.io.shapes import RULES, find_reading
from tiebreak.io.table import Table, TableFile
from tiebreak.options import RankOptions
from tiebreak.pipeline.rank import rank_names
from tiebreak.pipeline.read import read_source

FLAGS = {
    "--lower-is-better": {"lower_is_better": True},
    "--higher-is-better": {"lower_is_better": False},
    "--skip-bad-rows": {"skip_bad_rows": True},
    "--drop-duplicates": {"drop_duplicates": True},
}
ADVICE = re.compile(r"--[a-z-]+(?: (?:'[^']*'|[\w.,-]+))*")


@pytest.fixture
def save(tmp_path):
    def make(file):
        path = tmp_path / f"{file.name}.csv"
        for name, text in file.more.items():
            (tmp_path / name).write_text(text)
        path.write_text(file.text, "utf-8")
        options = dict(file.options)
        if "tie_matrix" in options:
            options["tie_matrix"] = tmp_path / options["tie_matrix"]
        return path, options

    return make


def order(path, options):
    """Give the sentences and the order of a file; None of items without names."""
    source = read_source(path, ReadOptions(**options), RankOptions())
    if isinstance(source.data, Grades):
        return source.detected, None
    return source.detected, rank_names(source, RankOptions()).table["item"].to_list()


def suggestions(message):
    """Give the options of every command that a message suggests, and their text."""
    for text in ADVICE.findall(message):
        words, options = shlex.split(text.replace(" or ", " ")), {}
        while words:
            word = words.pop(0)
            value = []
            while words and not words[0].startswith("--"):
                value.append(words.pop(0))
            if word in FLAGS:
                options |= FLAGS[word]
            elif value:
                options[word[2:].replace("-", "_")] = value[0]
        if options:
            yield text, options


FILES = made_shapes.FILES + made_scores.FILES + made_noise.FILES


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_read_the_right_way_up_or_refused(file, save):
    path, options = save(file)
    if file.expected is True:
        said, names = order(path, options)
        assert names == file.names, said
        return
    with pytest.raises(FileError) as caught:
        order(path, options)
    message = caught.value.reason
    assert file.expected in message
    assert "\n" not in message and message.count("; or ") < 3
    tried = 0
    for text, more in suggestions(message):
        try:
            said, names = order(path, {**options, **more})
        except (FileError, ValueError):
            continue
        tried += 1
        turned = any(text.startswith(wrong) for wrong in file.wrong)
        assert turned or names == file.names, (text, said)
    assert tried >= len(file.wrong)


PAGE = (ROOT / "docs" / "data" / "files.md").read_text("utf-8")
SHOWN = re.findall(r"```text\n([^`]*)```\n`tiebreak rank ([^`\s]+)([^`]*)`", PAGE)


def shown_options(line):
    words = line.split()
    options = zip(words[::2], words[1::2], strict=True)
    return ReadOptions(**{flag[2:].replace("-", "_"): value for flag, value in options})


@pytest.mark.parametrize(("text", "name", "line"), SHOWN, ids=[s[1] for s in SHOWN])
def test_the_shapes_of_the_page_are_read(text, name, line, tmp_path):
    (tmp_path / name).write_text(text)
    assert text.count("\n") == 5
    read = read_source(tmp_path / name, shown_options(line), RankOptions())
    assert len(read.data)


def test_the_page_shows_every_shape(tmp_path):
    readers = set()
    for text, name, line in SHOWN:
        (path := tmp_path / name).write_text(text)
        options = shown_options(line)
        if (detected := detect_format(path, options)).is_table:
            table = Table([TableFile(path, detected)])
            readers.add(find_reading(table, options).rule.read)
    assert readers == {rule.read for rules in RULES for rule in rules}
    assert [name for _, name, _ in SHOWN if name.endswith(".txt")] == ["lists.txt"]


def test_rows_without_scores_are_said(tmp_path):
    (path := tmp_path / "scores.csv").write_text(
        "model,a,b,c\nx,1,2,3\ny,2,3,4\nSource: us,,,\n"
    )
    said, _ = order(path, {})
    assert "Left out, because no task has a score of it: Source: us." in said


def test_ties_in_another_language_are_not_said_to_be_skipped(tmp_path):
    rows = ["Ada,Bo,remis"] * 20 + ["Ada,Bo,Ada"] * 80
    (path := tmp_path / "games.csv").write_text("\n".join(["a,b,winner", *rows]))
    options = {"left": "a", "right": "b"}
    with pytest.raises(FileError, match=r"unknown outcomes.*--outcome-words") as caught:
        order(path, options)
    assert "--skip-bad-rows" not in caught.value.reason


def test_ranks_of_two_sides_are_no_list(tmp_path):
    rows = ["Ada,Bo,1,2", "Cy,Di,1,2", "Bo,Ada,2,1", "Di,Ada,2,1", "Cy,Bo,1,2"]
    header = "player1,player2,rank_1,rank_2"
    (path := tmp_path / "matches.csv").write_text("\n".join([header, *rows]))
    with pytest.raises(FileError, match="no column says who won"):
        order(path, {})
    scores = {"left_score": "rank_1", "right_score": "rank_2"}
    said, names = order(path, scores)
    assert names[-1] in ("Bo", "Di") and "Direction: 1 is best" in " ".join(said)
