# SPDX-License-Identifier: BSD-3-Clause
"""Reports show what there is, also when that is nothing yet."""

import pytest

from papers.__main__ import main


@pytest.mark.extended
def test_without_any_result(tmp_path):
    assert main(["show", "--quick", "--folder", str(tmp_path)]) == 0
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "Table 1" in text
    assert "nan" not in text
