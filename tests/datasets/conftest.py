# SPDX-License-Identifier: BSD-3-Clause
"""Files for the loaders: written by the test, or the published ones when present."""

import gzip

import pytest

from tests.datasets.serving import serve


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Give a function that writes a file into an otherwise empty data folder."""
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def write_file(name, text):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write_file


@pytest.fixture
def published(data_dir):
    """Give a function that finds a published file, or skips the test without it."""

    def find(name):
        path = data_dir / name
        if not path.exists():
            pytest.skip(f"{path} does not exist: no {name.split('/')[0]} data")
        return path

    return find


@pytest.fixture
def server():
    """Run an HTTP server on this machine."""
    with serve() as running:
        yield running


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Give the cache of the user, which is empty, and no data folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("TIEBREAK_DATA", raising=False)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "xdg" / "tiebreak"
