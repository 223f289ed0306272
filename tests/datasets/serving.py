# SPDX-License-Identifier: BSD-3-Clause
"""A real HTTP server on this machine, which answers as well or as badly as told."""

import hashlib
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tiebreak.datasets import DataFile, DataSet, Delivery, Served


@dataclass
class Answer:
    """What is sent for one path.

    ``length`` announces another number of bytes than are sent, None announces none;
    ``wait`` is an event for which the server waits before it sends the second half.
    """

    body: bytes = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    length: int | None = -1
    wait: threading.Event | None = None


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path, Answer(b"no such file", 404))
        self.send_response(answer.status)
        if answer.length is not None:
            length = len(answer.body) if answer.length < 0 else answer.length
            self.send_header("Content-Length", str(length))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        half = len(answer.body) // 2
        self.wfile.write(answer.body[:half])
        self.wfile.flush()
        if answer.wait is not None:
            answer.wait.wait(60)
        self.wfile.write(answer.body[half:])

    def log_message(self, *args):
        pass


@contextmanager
def serve():
    """Run a server; give it, with ``answers`` to fill, ``asked`` and ``url``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *args: None  # clients that hang up are part of this
    server.daemon_threads = True
    server.answers, server.asked = {}, []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def closed_port():
    """Give a port of this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def one_file(url, content, name="toy/table.csv", **options):
    """Describe a set of one file, which is served as it is at an address."""
    file = DataFile(name, sha256(content), len(content))
    served = Served((url,), len(content), sha256(content))
    return toy((Delivery((file,), (served,)),), **options)


def toy(deliveries, **options):
    """Describe a set."""
    about = {
        "name": "toy",
        "what": "A toy.",
        "rows": 1,
        "unit": "rows",
        "license": "free",
        "terms": "Do as you like.",
        "publisher": "https://example.org/toy",
        "cite": "Nobody.",
    }
    return DataSet(**about | options, deliveries=deliveries)
