# SPDX-License-Identifier: BSD-3-Clause
"""Names of tests are the same in every process, and so are the numbers drawn.

That two processes collect the same tests is checked by pytest-xdist in every run.
"""

import hypothesis
import pytest

from tests import conftest


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
