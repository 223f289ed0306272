# SPDX-License-Identifier: BSD-3-Clause
"""Real servers of `tiebreak ask`, in processes of their own."""

import os
import re
import signal
import subprocess
import sys

import httpx
import pytest

from tests.waiting import wait_for
from tiebreak.ask.choose import Settings
from tiebreak.ask.engine import Engine
from tiebreak.ask.store import Store

_CLIENTS: list[httpx.Client] = []


def open_client(base, **more):
    """A client that is closed at the end of the test."""
    _CLIENTS.append(httpx.Client(base_url=base, timeout=60, **more))
    return _CLIENTS[-1]


def open_engine(items, path=None, **settings):
    """The engine of a study, as the command opens it."""
    store = Store(path)
    store.enter(dict.fromkeys(items, ""))
    prompts = items if isinstance(items, dict) else {name: [None] for name in items}
    return Engine(prompts, store, Settings(**{"repeat": 0.0} | settings), seed=0)


@pytest.fixture(autouse=True)
def _closed():
    yield
    while _CLIENTS:
        _CLIENTS.pop().close()


class Server:
    """`tiebreak ask` with options; ``links`` are what it printed."""

    def __init__(self, folder, *words):
        self.folder, self.words = folder, [str(word) for word in words]
        self.start()

    def start(self):
        log = self.folder / "server.log"
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tiebreak", "ask", *self.words],
                stdout=out, stderr=out, cwd=self.folder,
                env={**os.environ, "COLUMNS": "500"},
            )  # fmt: skip
        wait_for(
            lambda: b"Ctrl-C" in log.read_bytes() or self.process.poll() is not None
        )
        self.output = log.read_text("utf-8")
        assert self.process.poll() is None, self.output
        self.links = re.findall(r"http://\S+/\?key=\S+", self.output)
        self.organizer = re.search(r"http://\S+/organizer\?key=\S+", self.output)[0]
        self.base = self.links[0].partition("/?")[0]

    @property
    def port(self):
        return int(self.base.rpartition(":")[2])

    def kill(self):
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """End it as a person does; return what it said at the end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        return code, (self.folder / "server.log").read_text("utf-8")


class Person:
    """A client that behaves as the page does, and can misbehave."""

    def __init__(self, link):
        self.base, self.key = link.split("/?key=")
        self.client = open_client(self.base)
        page = self.client.get("/", params={"key": self.key})
        assert page.status_code == 200
        self.csrf = re.search(r'name="csrf" content="(\w+)"', page.text)[1]

    def post(self, path, body, **headers):
        headers = {"Origin": self.base, "X-CSRF-Token": self.csrf} | headers
        headers = {name: value for name, value in headers.items() if value is not None}
        try:
            return self.client.post(path, json=body, headers=headers)
        except httpx.ReadError:
            # What is refused is not read: its end may meet a connection that is closed.
            return self.client.post(path, json=body, headers=headers)

    def state(self):
        return self.client.get("/api/state").json()

    def answer(self, number, outcome="left", **more):
        body = {"question": number, "outcome": outcome, "seconds": 1.0}
        return self.post("/api/answer", body, **more)


@pytest.fixture
def serve(tmp_path):
    """Start servers, which end with the test."""
    started = []

    def start(*words):
        server = Server(tmp_path, *words)
        started.append(server)
        return server

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(f"text {i}" for i in range(8)), encoding="utf-8")
    return path


@pytest.fixture
def photos(tmp_path):
    return draw_photos(tmp_path)


def draw_photos(parent):
    """Draw six photos of different sizes in a folder of their own."""
    from PIL import Image

    folder = parent / "photos"
    folder.mkdir()
    for k, color in enumerate(("red", "green", "blue", "gold", "navy", "teal")):
        Image.new("RGB", (300 - 40 * k, 200), color).save(folder / f"{color}.png")
    return folder
