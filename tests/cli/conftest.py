# SPDX-License-Identifier: BSD-3-Clause
import os

import pytest

from tests.cli.processes import Processes


@pytest.fixture(scope="session")
def processes(tmp_path_factory):
    """Give what runs commands."""
    if not hasattr(os, "fork"):
        pytest.skip("runs are forked")
    started = Processes(tmp_path_factory.mktemp("processes"))
    yield started
    started.close()


@pytest.fixture
def run(processes):
    """Give what runs a command without colors to its end."""

    def run(*words, **options):
        return processes.run(*words, **{"NO_COLOR": "1"} | options)

    return run
