# SPDX-License-Identifier: BSD-3-Clause
"""A small slice of every experiment runs, and the report has all of it."""

import re
from pathlib import Path

import pytest

import papers
from papers.__main__ import main
from papers.registry import PAPERS, find
from papers.results import Results

# The first words of what is said of a table or figure.
VERDICT = re.compile(
    r"^(Same protocol|Other (protocols?|data)|Not (in|judged)\b)",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def folder(data_dir, tmp_path_factory):
    """Give the results of the small run."""
    made = tmp_path_factory.mktemp("quick")
    assert main(["run", "--quick", "--folder", str(made)]) == 0
    return made


@pytest.mark.extended
def test_every_cell_has_a_result(folder):
    for experiment in find([]):
        results = Results(experiment, True, folder)
        # Games that nobody can download have no cells.
        assert results.table() or not experiment.cells(True), experiment.name
        assert not results.missing(), experiment.name


@pytest.fixture(scope="module")
def report(folder):
    """Give the report of the small run."""
    assert main(["show", "--quick", "--folder", str(folder)]) == 0
    return folder / "RESULTS.md"


@pytest.mark.extended
def test_the_report_shows_every_paper_and_its_figures_exist(folder, report):
    text = report.read_text(encoding="utf-8")
    for paper in PAPERS:
        assert f"## {paper}: " in text
    figures = re.findall(r"\((figures/[^)]+\.svg)\)", text)
    assert figures
    for figure in figures:
        assert (folder / figure).read_text(encoding="utf-8").endswith("</svg>\n")


@pytest.mark.extended
def test_every_table_and_figure_has_its_sentence(report):
    """Also in the full report that is part of the project."""
    for path in (report, Path(papers.__file__).parent / "RESULTS.md"):
        sections = re.split(r"^##+ ", path.read_text(encoding="utf-8"), flags=re.M)[1:]
        shown = [part for part in sections if "|---|" in part or "![" in part]
        assert len(shown) > 20, path
        for part in shown:
            assert VERDICT.search(part), part.splitlines()[0]


@pytest.mark.extended
def test_what_is_there_is_not_computed_again(folder, capsys):
    before = {path: path.read_bytes() for path in folder.glob("*.jsonl")}
    assert main(["run", "--quick", "--folder", str(folder)]) == 0
    assert {path: path.read_bytes() for path in folder.glob("*.jsonl")} == before


def test_an_unknown_name_lists_the_known_ones(capsys):
    assert main(["run", "007"]) == 2
    assert "001-table1" in capsys.readouterr().err


def test_the_list_counts_what_is_finished(capsys):
    assert main(["list"]) == 0
    assert "000-figure4" in capsys.readouterr().out
