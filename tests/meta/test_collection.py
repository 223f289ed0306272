# SPDX-License-Identifier: BSD-3-Clause
"""Every process names the tests alike, and every run draws the same numbers."""

import os
import subprocess
import sys

import hypothesis
import pytest

from tests import conftest
from tests.meta.sources import ROOT


@pytest.mark.extended
def test_two_collections_are_equal():
    def collect(hash_seed):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests"],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return [line for line in done.stdout.splitlines() if "::" in line]

    # One after the other, so that the clock shows another time.
    first, second = collect("1"), collect("2")
    assert len(first) > 10_000
    assert first == second


def test_names_made_of_bytes_are_refused():
    with pytest.raises(pytest.fail.Exception, match="content is parametrized over"):
        conftest.pytest_make_parametrize_id(b"PK", "content")
    assert conftest.pytest_make_parametrize_id("PK", "content") is None


def test_the_seed_is_fixed_unless_another_is_asked_for(monkeypatch, rng_seed):
    assert hypothesis.settings.default.derandomize == (rng_seed == 2022)
    for asked, expected in ("", 2022), ("7", 7):
        monkeypatch.setenv("TIEBREAK_TEST_SEED", asked)
        assert conftest.seed_of_this_run() == expected
    monkeypatch.setenv("TIEBREAK_TEST_SEED", "random")
    assert len({conftest.seed_of_this_run() for _ in range(3)}) > 1
    monkeypatch.setenv("TIEBREAK_TEST_SEED", "seven")
    with pytest.raises(pytest.UsageError, match="expected a number or 'random'"):
        conftest.seed_of_this_run()
