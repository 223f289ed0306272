# SPDX-License-Identifier: BSD-3-Clause
"""What every test can ask for: one printed seed, a generator, the real data.

Numba keeps what it compiled beside the sources, or in the user's cache folder when
the sources cannot be written to, so there is nothing to set up for it here.
"""

import os
import secrets
from pathlib import Path

import hypothesis
import numpy as np
import pytest

SEED = "TIEBREAK_TEST_SEED"
DATA = "TIEBREAK_DATA"

# The examples are drawn anew in every run, except under CI, where a change must not
# fail for an example that has nothing to do with it. No deadline: the first example
# of a test may have to wait for a compilation.
hypothesis.settings.register_profile(
    "tiebreak",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=50,
    print_blob=True,
)
hypothesis.settings.load_profile("tiebreak")


def pytest_configure() -> None:
    # In the environment, so that child processes of a test use the same seed; and no
    # test may open a window.
    os.environ.setdefault(SEED, str(secrets.randbelow(2**32)))
    os.environ.setdefault("MPLBACKEND", "agg")


def pytest_report_header() -> list[str]:
    return [
        f"seed: {SEED}={os.environ[SEED]}",
        f"data: {DATA}={os.environ.get(DATA, '')}",
    ]


@pytest.fixture(scope="session")
def rng_seed() -> int:
    """Give the one seed of this run, which the header of the report shows."""
    return int(os.environ[SEED])


@pytest.fixture
def rng(rng_seed: int) -> np.random.Generator:
    """Give a new generator, so that a test does not depend on those before it."""
    return np.random.default_rng(rng_seed)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Give the folder of the real data sets, or skip the test without one."""
    folder = os.environ.get(DATA)
    if not folder:
        pytest.skip(f"{DATA} is not set: it names the folder of the real data sets")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"{DATA} is {folder!r}, which is not a folder")
    return path
