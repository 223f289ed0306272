# SPDX-License-Identifier: BSD-3-Clause
"""Downloading from a real server: what is kept, and what is said when it fails."""

import gzip
import re
import threading

import pooch
import pytest

from tests.datasets.serving import Answer, closed_port, sha256
from tiebreak.datasets import Served, fetching
from tiebreak.datasets.fetching import NotServed, download

CONTENT = bytes(range(256)) * 1000


def test_what_is_served_arrives(server, tmp_path):
    server.answers["/file"] = Answer(CONTENT)
    seen = []
    served = Served((f"{server.url}/file",), len(CONTENT), sha256(CONTENT))
    download(served, tmp_path / "file", lambda *news: seen.append(news))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert {url for url, _, _ in seen} == {f"{server.url}/file"}
    assert {total for _, _, total in seen} == {len(CONTENT)}
    done = [count for _, count, _ in seen]
    assert done == sorted(set(done))
    assert done[-1] == len(CONTENT)


def test_a_server_need_not_say_how_much_it_sends(server, tmp_path):
    server.answers["/file"] = Answer(CONTENT, length=None)
    seen = []
    served = Served((f"{server.url}/file",), len(CONTENT), sha256(CONTENT))
    download(served, tmp_path / "file", lambda *news: seen.append(news))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert seen[-1][1:] == (len(CONTENT), None)


def test_a_redirection_is_followed(server, tmp_path):
    server.answers["/old"] = Answer(status=302, headers={"Location": "/new"})
    server.answers["/new"] = Answer(CONTENT)
    served = Served((f"{server.url}/old",), len(CONTENT), sha256(CONTENT))
    download(served, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["/old", "/new"]


def test_addresses_are_tried_in_turn(server, tmp_path):
    server.answers["/third"] = Answer(CONTENT)
    urls = tuple(f"{server.url}/{name}" for name in ("first", "second", "third", "no"))
    download(Served(urls, len(CONTENT), sha256(CONTENT)), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["/first", "/second", "/third"]
    with pytest.raises(NotServed, match=r"first answers 404.*; .*second answers 404"):
        download(Served(urls[:2], 10), tmp_path / "other")


REFUSED = {
    "missing": (None, r"/file answers 404 Not Found instead of the file"),
    "forbidden": (Answer(b"", 403), r"/file answers 403 Forbidden"),
    "down": (Answer(b"", 503), r"/file answers 503 Service Unavailable"),
    "wrong": (
        Answer(CONTENT[::-1]),
        rf"its SHA-256 is {sha256(CONTENT[::-1])}, expected {sha256(CONTENT)}",
    ),
    "truncated": (
        Answer(CONTENT[:-100], length=len(CONTENT)),
        r"/file breaks off after 255,900 of 256,000 bytes",
    ),
    "truncated unannounced": (Answer(CONTENT[:-100], length=None), r"its SHA-256 is"),
    "too large": (
        Answer(CONTENT + b"!"),
        r"/file serves more than the 256,000 bytes that are expected",
    ),
    "too large unannounced": (
        Answer(CONTENT * 2, length=None),
        r"/file serves more than the 256,000 bytes that are expected",
    ),
    "elsewhere": (
        Answer(status=302, headers={"Location": "http://example.org/file"}),
        r"redirects to http://example\.org/file, which is not asked, because its "
        r"address does not begin with https",
    ),
    "on the disk": (
        Answer(status=302, headers={"Location": "file:///etc/hostname"}),
        r"redirects to file:///etc/hostname, which is not asked|302",
    ),
    "in circles": (Answer(status=302, headers={"Location": "/file"}), "302"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_as_expected_is_refused(server, tmp_path, case):
    answer, message = REFUSED[case]
    if answer is not None:
        server.answers["/file"] = answer
    served = Served((f"{server.url}/file",), len(CONTENT), sha256(CONTENT))
    with pytest.raises(NotServed, match=message) as caught:
        download(served, tmp_path / "file")
    assert str(caught.value).startswith(f"{server.url}/file")
    assert "\n" not in str(caught.value)


def test_too_much_is_not_even_begun_if_it_is_announced(server, tmp_path):
    server.answers["/file"] = Answer(b"", length=10**12)
    with pytest.raises(NotServed, match="more than the 10 bytes"):
        download(Served((f"{server.url}/file",), 10), tmp_path / "file")


def test_no_network(tmp_path):
    url = f"http://127.0.0.1:{closed_port()}/file"
    with pytest.raises(NotServed, match=re.escape(f"{url} cannot be reached (Conn")):
        download(Served((url,), 10), tmp_path / "file")
    with pytest.raises(NotServed, match=r"name\.invalid/ cannot be reached \("):
        download(Served(("https://name.invalid/",), 10), tmp_path / "file")


def test_a_server_that_falls_silent(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "TIMEOUT", 0.2)
    wait = threading.Event()
    server.answers["/file"] = Answer(CONTENT, wait=wait)
    try:
        with pytest.raises(
            NotServed, match=r"breaks off after 65,536 bytes \(no answer within 0\.2 s"
        ):
            download(Served((f"{server.url}/file",), len(CONTENT)), tmp_path / "file")
    finally:
        wait.set()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/file",
        "http://127.0.0.1.example.org/file",
        "http://localhost@example.org/file",
        "ftp://127.0.0.1/file",
        "file:///etc/hostname",
        "data:text/plain,hello",
        "/etc/hostname",
    ],
)
def test_only_https_is_asked(tmp_path, url):
    with pytest.raises(NotServed, match="does not begin with https"):
        download(Served((url,), 10), tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_what_cannot_be_written_is_another_error(server, tmp_path):
    server.answers["/file"] = Answer(CONTENT)
    (tmp_path / "no").write_text("a file where the folder should be")
    with pytest.raises(NotADirectoryError):
        download(
            Served((f"{server.url}/file",), len(CONTENT)), tmp_path / "no" / "file"
        )


def test_an_answer_that_is_packed_on_the_way(server, tmp_path):
    """Nobody asked for it; what counts is what it unpacks to."""
    packed = {"Content-Encoding": "gzip"}
    server.answers["/file"] = Answer(gzip.compress(CONTENT), headers=packed)
    served = Served((f"{server.url}/file",), len(CONTENT), sha256(CONTENT))
    download(served, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    server.answers["/file"] = Answer(gzip.compress(CONTENT * 9), headers=packed)
    with pytest.raises(NotServed, match="more than the 256,000 bytes"):
        download(served, tmp_path / "other")


def test_a_length_that_is_no_number(server, tmp_path):
    nonsense = {"Content-Length": "much"}
    server.answers["/file"] = Answer(CONTENT, headers=nonsense, length=None)
    served = Served((f"{server.url}/file",), len(CONTENT), sha256(CONTENT))
    download(served, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_pooch_is_silent_here_and_not_elsewhere(server, tmp_path, capfd):
    level = pooch.get_logger().level
    server.answers["/file"] = Answer(CONTENT)
    download(Served((f"{server.url}/file",), len(CONTENT)), tmp_path / "file")
    with pytest.raises(NotServed):
        download(Served((f"{server.url}/none",), len(CONTENT)), tmp_path / "none")
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
