# SPDX-License-Identifier: BSD-3-Clause
"""Finding published files: the order of places, and what is said when none has it."""

import sys
from pathlib import Path

import pytest

from tiebreak.datasets import cache_dir, data_path


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A data folder and a cache, both empty, that the environment points to."""
    data, cache = tmp_path / "data", tmp_path / "xdg" / "tiebreak"
    data.mkdir()
    cache.mkdir(parents=True)
    monkeypatch.setenv("TIEBREAK_DATA", str(data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return data, cache


def put(folder, name="football/results.csv.gz"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_the_variable_goes_before_the_cache(places):
    data, cache = places
    in_cache = put(cache)
    assert data_path("football/results.csv.gz") == in_cache
    in_data = put(data)
    assert data_path("football/results.csv.gz") == in_data
    assert data_path("football") == data / "football"


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_variable_the_cache_is_used(places, monkeypatch, value):
    data, cache = places
    put(data)
    in_cache = put(cache)
    if value is None:
        monkeypatch.delenv("TIEBREAK_DATA")
    else:
        monkeypatch.setenv("TIEBREAK_DATA", value)
    assert data_path("football/results.csv.gz") == in_cache


def test_home_is_expanded(places, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("TIEBREAK_DATA", "~/data")
    in_data = put(places[0])
    assert data_path("football/results.csv.gz") == in_data


def test_missing_file_says_where_and_what_to_do(places):
    data, cache = places
    with pytest.raises(FileNotFoundError) as caught:
        data_path("sushi/sushi3.udata")
    message = str(caught.value)
    assert "'sushi/sushi3.udata' was not found" in message
    assert str(data / "sushi" / "sushi3.udata") in message
    assert str(cache / "sushi" / "sushi3.udata") in message
    assert "https://www.kamishima.net/sushi/" in message
    assert "set TIEBREAK_DATA to the folder that contains 'sushi'" in message
    assert "is not set" not in message
    assert "not a folder" not in message


def test_missing_file_says_that_the_variable_is_not_set(places, monkeypatch):
    monkeypatch.delenv("TIEBREAK_DATA")
    with pytest.raises(FileNotFoundError, match="TIEBREAK_DATA is not set"):
        data_path("sushi/sushi3.udata")


def test_missing_file_says_that_the_variable_names_no_folder(places, monkeypatch):
    monkeypatch.setenv("TIEBREAK_DATA", str(places[0] / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere', which is not a folder"):
        data_path("sushi/sushi3.udata")


def test_an_unknown_set_has_no_publisher(places):
    with pytest.raises(FileNotFoundError) as caught:
        data_path("mine/results.csv")
    assert "published" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["", "/etc/hosts", "../secret", "football/../../secret", "a\\b"]
)
def test_names_stay_below_the_data_folder(places, name):
    with pytest.raises(ValueError, match="path below the data folder"):
        data_path(name)


def test_cache_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "tiebreak"


@pytest.mark.parametrize("value", [None, "", "relative/cache"])
@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", Path(".cache") / "tiebreak"),
        ("darwin", Path("Library") / "Caches" / "tiebreak"),
        ("win32", Path("AppData") / "Local" / "tiebreak"),
    ],
)
def test_cache_of_each_platform(monkeypatch, value, platform, expected):
    if value is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_dir() == Path.home() / expected
