# SPDX-License-Identifier: BSD-3-Clause
"""Loaders get what is missing, say so, and say what to do when they cannot."""

import contextlib
import dataclasses
import gzip
import inspect
import socket
import sys
import warnings
from types import MappingProxyType

import pytest

from tests.datasets.serving import Answer, closed_port, one_file
from tiebreak import datasets
from tiebreak.datasets import fetching, load_football, places, registry
from tiebreak.datasets.fetching import obtain

TABLE = (
    b"date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n"
    b"2020-01-01,Ada,Bo,2,1,Friendly,Rome,Ada,FALSE\n"
)
PATH = "/results.csv"
NAME = "football/results.csv.gz"
LOADERS = [
    name
    for name in datasets.__all__
    if name.startswith("load_") and name != "load_worldcup2022"
]


@pytest.fixture
def offer(monkeypatch, cache):
    """Give a function that puts a small football set of an address into the registry.

    What is asked of any other address would be a failure of the test: there is no other
    set.
    """

    def register(url, content=TABLE):
        whole = dataclasses.replace(
            one_file(url, content, NAME), name="football", terms="For the test."
        )
        known = MappingProxyType({"football": whole})
        monkeypatch.setattr(registry, "REGISTRY", known)
        monkeypatch.setattr(places, "REGISTRY", known)
        return whole

    return register


def test_a_loader_downloads_once_and_says_so(offer, server, cache):
    server.answers[PATH] = Answer(TABLE)
    offer(server.url + PATH)
    with pytest.warns(UserWarning) as caught:
        data = load_football()
    assert len(data.y) == 1
    (notice,) = [str(each.message) for each in caught]
    assert "'football' is not on this machine and is downloaded from" in notice
    assert server.url.removeprefix("http://") in notice
    assert str(cache / "football") in notice
    assert "Terms: For the test." in notice
    assert "download=False" in notice
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(load_football().y) == 1
    assert server.asked == [PATH]


def test_what_is_here_is_taken_as_it_is(offer, server, cache, tmp_path, monkeypatch):
    offer(server.url + PATH)
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path / "mine"))
    mine = tmp_path / "mine" / NAME
    mine.parent.mkdir(parents=True)
    mine.write_bytes(gzip.compress(TABLE))
    assert obtain(NAME) == mine
    assert len(load_football().y) == 1
    assert server.asked == []


def test_a_loader_that_may_not_download(offer, server, cache):
    server.answers[PATH] = Answer(TABLE)
    offer(server.url + PATH)
    with pytest.raises(FileNotFoundError, match="`tiebreak data get football`") as said:
        load_football(download=False)
    assert str(cache / NAME) in str(said.value)
    assert server.asked == []


BAD = {
    "another file": (Answer(TABLE[:-2] + b"!\n"), "serves something else: its SHA-256"),
    "a truncated file": (Answer(TABLE[:50], length=len(TABLE)), "breaks off after"),
    "no file": (Answer(b"gone", 404), "answers 404 Not Found"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_download_that_fails(offer, server, cache, case):
    answer, reason = BAD[case]
    server.answers[PATH] = answer
    offer(server.url + PATH)
    with pytest.warns(UserWarning), pytest.raises(FileNotFoundError) as caught:
        load_football()
    message = str(caught.value)
    assert f"{NAME!r} was not found. Looked for:\n  {cache / NAME}" in message
    assert "could not be downloaded either: " in message
    assert reason in message
    assert "Try again later" in message or "look at https://example.org" in message
    assert "TIEBREAK_DATA" in message
    assert not list(cache.rglob("*"))


def test_without_a_network(offer, cache):
    offer(f"http://127.0.0.1:{closed_port()}{PATH}")
    with (
        pytest.warns(UserWarning),
        pytest.raises(FileNotFoundError, match="cannot be reached"),
    ):
        load_football()


@pytest.mark.skipif(sys.platform != "linux", reason="others refuse, and do not wait")
def test_a_server_that_does_not_pick_up_is_given_up(offer, cache, monkeypatch):
    monkeypatch.setattr(fetching, "CONNECT_TIMEOUT", 0.2)
    with contextlib.ExitStack() as stack, socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen(0)
        address = busy.getsockname()
        for _ in range(4):  # more than the queue holds
            each = stack.enter_context(socket.socket())
            each.setblocking(False)
            each.connect_ex(address)
        offer(f"http://127.0.0.1:{address[1]}{PATH}")
        with (
            pytest.warns(UserWarning),
            pytest.raises(
                FileNotFoundError, match=r"no connection within 0\.2 seconds"
            ),
        ):
            load_football()


def test_a_cache_that_cannot_be_written(offer, server, cache):
    server.answers[PATH] = Answer(TABLE)
    offer(server.url + PATH)
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    with (
        pytest.warns(UserWarning),
        pytest.raises(FileNotFoundError, match="could not be downloaded either"),
    ):
        load_football()


@pytest.mark.parametrize("name", ["jester", "uci/concrete.csv"])
def test_workbooks_without_the_extra(name, cache, monkeypatch):
    """What is missing is said before anything is downloaded."""
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    message = (
        r'\(\.xls\).*not installed.*pip install "tiebreak\[excel\]".*TIEBREAK_DATA'
    )
    with pytest.raises(datasets.FetchError, match=message):
        datasets.fetch(name)
    assert not cache.exists()


def test_what_has_no_address_is_not_asked_for(offer, cache, monkeypatch):
    whole = offer("https://example.org/never-asked")
    (delivery,) = whole.deliveries
    by_hand = dataclasses.replace(delivery, served=(), by_hand="Write to the author.")
    known = {"football": dataclasses.replace(whole, deliveries=(by_hand,))}
    monkeypatch.setattr(registry, "REGISTRY", MappingProxyType(known))
    monkeypatch.setattr(places, "REGISTRY", MappingProxyType(known))
    with pytest.raises(FileNotFoundError, match=r"cannot be downloaded\. Write to the"):
        load_football()


@pytest.mark.parametrize("name", LOADERS)
def test_every_loader_can_be_told_not_to(name, cache):
    loader = getattr(datasets, name)
    parameter = inspect.signature(loader).parameters["download"]
    assert parameter.kind is parameter.KEYWORD_ONLY
    assert parameter.default is True
    arguments = ("abalone",) if name == "load_uci" else ()
    with pytest.raises(FileNotFoundError, match="was not found"):
        loader(*arguments, download=False)
