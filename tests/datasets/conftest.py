# SPDX-License-Identifier: BSD-3-Clause
"""Published files when they are present, and folders without any."""

import pytest

from tiebreak.datasets.published import find_file, find_set


@pytest.fixture
def published(data_dir):
    """Give a function that finds a published file, or skips the test without it."""

    def find(name):
        path = find_file(find_set(name)[1][0])
        if path is None:
            pytest.skip(f"{name} is not in {data_dir}")
        return path

    return find


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Give a data folder and a cache, both empty."""
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data", tmp_path / "xdg" / "tiebreak"
