# SPDX-License-Identifier: BSD-3-Clause
"""Reports show what there is, also when that is nothing yet."""

import shutil

import pytest

from papers import show
from papers.__main__ import main
from papers.results import results_folder
from tests.meta.sources import ROOT


@pytest.mark.extended
def test_without_any_result(tmp_path):
    assert main(["show", "--quick", "--folder", str(tmp_path)]) == 0
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "Table 1" in text
    assert "nan" not in text


def test_a_report_of_a_folder_is_written_there(tmp_path, monkeypatch):
    """Not over that of the project."""
    monkeypatch.setattr(show, "PAPERS", {})
    for quick in (False, True):
        assert show.write_report(quick, tmp_path) == tmp_path / "RESULTS.md"


@pytest.mark.extended
def test_the_report_of_the_project_is_that_of_its_results(tmp_path):
    for path in results_folder(quick=False).glob("*.jsonl"):
        shutil.copy(path, tmp_path)
    text = show.write_report(False, tmp_path).read_text(encoding="utf-8")
    assert text == (ROOT / "papers" / "RESULTS.md").read_text(encoding="utf-8")
