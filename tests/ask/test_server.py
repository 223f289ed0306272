# SPDX-License-Identifier: BSD-3-Clause
"""The server against real requests: who may do what, and what is saved."""

import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest

from tests.ask.conftest import Person
from tiebreak.io.answers import read_answers


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One server with two people, for tests that leave it as it is."""
    from PIL import Image

    from tests.ask.conftest import Server

    folder = tmp_path_factory.mktemp("ask")
    photos = folder / "photos"
    photos.mkdir()
    for color in ("red", "green", "blue", "gold"):
        Image.new("RGB", (30, 20), color).save(photos / f"{color}.png")
    (photos / "evil.md").write_text(
        "<script>alert(1)</script> [x](javascript:alert(2)) ![i](http://e.example/i)",
        encoding="utf-8",
    )
    (folder / "secret.png").write_bytes(b"secret")
    server = Server(folder, photos, "--port", "0", "--raters", "Ada,Bo", "-q")
    yield server
    server.kill()


def ask(path, *words):
    """Run the command until it ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "tiebreak", "ask", *map(str, words)], cwd=path,
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
