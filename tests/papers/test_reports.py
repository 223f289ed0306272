# SPDX-License-Identifier: BSD-3-Clause
"""Reports show what there is, also when that is nothing yet."""

import pytest

from papers import show
from papers.__main__ import main


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
