# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions where their cache is damaged, or cannot be written."""

import subprocess
import sys

import numba
import pytest

from tiebreak.data.jit import _warn_without_cache, njit
from tiebreak.data.messages import TiebreakWarning

CODE = """
from numba.core import caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]
import numpy as np
import tiebreak.kernels.functions as functions
assert abs(functions.exp_in_place(np.zeros((1, 2))).sum() - 2.0) < 1e-12
"""


@pytest.mark.extended
def test_without_a_place_for_the_cache_there_is_one_warning_and_an_answer():
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("TiebreakWarning") == 1
    assert "Set NUMBA_CACHE_DIR" in done.stderr


def twice(x):
    return 2 * x


def hits(x):
    """Compile anew, as a new process does; count what came from the cache."""
    function = njit(cache=True)(twice)
    assert function(x) == 2 * x
    return sum(function.stats.cache_hits.values())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert [hits(1), hits(1)] == [0, 1]
    return tmp_path


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b"\0" * len(b)]
)
def test_a_damaged_cache_is_a_miss_and_is_written_again(folder, suffix, damage):
    [path] = folder.rglob(f"*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    assert [hits(1), hits(1)] == [0, 1]


def test_a_cache_that_cannot_grow_is_a_miss_with_one_warning(folder):
    resource = pytest.importorskip("resource")
    _warn_without_cache.cache_clear()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))  # as on a full disk
    try:
        with pytest.warns(TiebreakWarning, match="NUMBA_CACHE_DIR") as caught:
            found = [hits(1.0), hits(1.0)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert found == [0, 0]
    assert len(caught) == 1
    assert list(folder.rglob("*.tmp.*")) == []
