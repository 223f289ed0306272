# SPDX-License-Identifier: BSD-3-Clause
"""The examples run on real data and say what they promise to say."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        # World champions of 2010 and 2022, and of Europe in 2024.
        ("football", ["Spain", "Argentina", "Playing at home is worth", "Elo"]),
        ("chess", ["Glicko-2", "all features", "What matters most"]),
        ("language_models", ["gemini-2.5-pro", "GPT 4", "Ranks by category"]),
    ],
)
def test_examples_run(data_dir, name, said):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "120", "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for words in said:
        assert words in done.stdout


def test_the_ordering_example_has_theirs_beside_ours(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    example = runpy.run_path(str(EXAMPLES / "ordering.py"))
    example["main"](1, 2, 30)
    said = capsys.readouterr().out
    for words in ("li/num", "nl/bin", "Order SVM", "0.982", "ERR"):
        assert words in said
