# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions where neither the package nor the home can be written to."""

import subprocess
import sys

import pytest

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
