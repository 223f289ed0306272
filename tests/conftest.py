# SPDX-License-Identifier: BSD-3-Clause
"""What every test can ask for: a printed seed, a generator, real data, a browser.

Numba keeps what it compiled beside the sources, or in the user's cache folder when
the sources cannot be written to, so there is nothing to set up for it here.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

SEED = "TIEBREAK_TEST_SEED"
DEFAULT_SEED = 2022
TESTS = "TIEBREAK_TESTS"
DATA = "TIEBREAK_DATA"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without a sandbox because tests may run as root; the others keep it off the network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def seed_of_this_run() -> int:
    """Give the seed of this run: the default, the one asked for, or a new one."""
    asked = os.environ.get(SEED) or str(DEFAULT_SEED)
    if asked == "random":
        return secrets.randbelow(2**32)
    if not asked.isdecimal():
        raise pytest.UsageError(f"{SEED} is {asked!r}, expected a number or 'random'")
    return int(asked)


# First, because the plugin of hypothesis reads its option in its own hook.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"extended: runs only with {TESTS}=all, as `make test TESTS=all`"
    )
    os.environ[TESTS] = os.environ.get(TESTS) or "short"
    if os.environ[TESTS] not in ("short", "all"):
        raise pytest.UsageError(
            f"{TESTS} is {os.environ[TESTS]!r}, expected 'short' or 'all'"
        )
    # In the environment, so that child processes of a test use the same seed; and no
    # test may open a window.
    seed = seed_of_this_run()
    os.environ[SEED] = str(seed)
    os.environ.setdefault("MPLBACKEND", "agg")
    # Processes that share the cores leave none to the threads of BLAS, which would wait
    # for each other half of the time.
    if getattr(config.option, "numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Another seed also draws other examples. No deadline: the first example of a test
    # may have to wait for a compilation.
    hypothesis.settings.register_profile(
        "tiebreak",
        deadline=None,
        derandomize=seed == DEFAULT_SEED,
        max_examples=50 if os.environ[TESTS] == "all" else 20,
        print_blob=True,
    )
    hypothesis.settings.load_profile("tiebreak")
    if seed != DEFAULT_SEED and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(seed)


def pytest_report_header() -> list[str]:
    return [
        f"seed: {SEED}={os.environ[SEED]}",
        f"tests: {TESTS}={os.environ[TESTS]}",
        f"data: {DATA}={os.environ.get(DATA, '')}",
    ]


def pytest_make_parametrize_id(val: object, argname: str) -> None:
    # Bytes would stand in the id as they are, unreadable and often not the same twice.
    if isinstance(val, bytes | bytearray):
        pytest.fail(
            f"{argname} is parametrized over bytes: name them with ids=[...]",
            pytrace=False,
        )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    # Pages take longest. First, so that one of two processes shows all of them while
    # the other one does the rest, and neither waits at the end.
    items.sort(key=lambda item: "browser" not in getattr(item, "fixturenames", ()))
    if os.environ[TESTS] == "all":
        return
    extended = [item for item in items if item.get_closest_marker("extended")]
    if extended:
        config.hook.pytest_deselected(items=extended)
        left_out = set(extended)
        items[:] = [item for item in items if item not in left_out]


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


def find_browser() -> str | None:
    found = (shutil.which(name) for name in BROWSERS)
    return next((path for path in found if path), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start a browser without a window, one for all tests of a process."""
    sync_api = pytest.importorskip("playwright.sync_api", exc_type=ImportError)
    path = find_browser()
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
