# SPDX-License-Identifier: BSD-3-Clause
"""Getting sets: from the data folder, the cache or a real server, whole or not."""

import dataclasses
import errno
import gzip
import hashlib
import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from tests.datasets.serving import (
    Answer,
    closed_port,
    one_file,
    sha256,
    toy,
)
from tiebreak.datasets import (
    REGISTRY,
    DataFile,
    Delivery,
    FetchError,
    Served,
    fetch,
    registry,
)
from tiebreak.datasets.fetching import (
    DAMAGED,
    content_sha256,
    fetch_files,
    write_content,
)
from tiebreak.datasets.places import locate
from tiebreak.datasets.recipes import zip_members
from tiebreak.io import FileError

TABLE = b"left,right,outcome\nAda,Bo,left\n"


def everything(folder):
    """List all files below a folder, also hidden ones."""
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )


def test_a_set_is_downloaded_once(server, cache):
    server.answers["/table.csv"] = Answer(TABLE)
    dataset = one_file(f"{server.url}/table.csv", TABLE)
    assert locate(dataset).place == "not here"
    seen = []
    folder = fetch(dataset, progress=lambda *news: seen.append(news))
    assert folder == cache / "toy"
    assert (folder / "table.csv").read_bytes() == TABLE
    assert everything(cache) == ["toy/table.csv"]
    assert seen == [(f"{server.url}/table.csv", len(TABLE), len(TABLE))]
    assert locate(dataset).place == "cache"
    assert fetch(dataset) == folder
    assert server.asked == ["/table.csv"]


def test_a_table_is_packed_on_arrival(server, cache):
    server.answers["/table.csv"] = Answer(TABLE)
    dataset = one_file(f"{server.url}/table.csv", TABLE, "toy/table.csv.gz")
    (path,) = fetch_files(dataset)
    assert path == cache / "toy" / "table.csv.gz"
    assert gzip.decompress(path.read_bytes()) == TABLE


def test_files_of_the_user_are_taken_as_they_are(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path / "mine"))
    dataset = one_file(f"http://127.0.0.1:{closed_port()}/table.csv", TABLE)
    (tmp_path / "mine" / "toy").mkdir(parents=True)
    (tmp_path / "mine" / "toy" / "table.csv").write_bytes(b"my own")
    assert fetch(dataset) == tmp_path / "mine" / "toy"
    assert locate(dataset).place == "data folder"
    assert not cache.exists()


def test_a_data_folder_without_the_set_is_no_hindrance(
    server, cache, tmp_path, monkeypatch
):
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path))
    server.answers["/table.csv"] = Answer(TABLE)
    assert fetch(one_file(f"{server.url}/table.csv", TABLE)) == cache / "toy"


@pytest.mark.parametrize(
    ("name", "broken", "said"),
    [
        ("toy/table.csv", TABLE[:-1], f"expected {sha256(TABLE)}"),
        ("toy/table.csv.gz", b"\x1f\x8b\x08broken", "cannot be unpacked"),
    ],
    ids=["changed", "not packed"],
)
def test_a_damaged_file_is_reported_and_downloaded_again(
    server, cache, name, broken, said
):
    server.answers["/table.csv"] = Answer(TABLE)
    dataset = one_file(f"{server.url}/table.csv", TABLE, name)
    (path,) = fetch_files(dataset)
    right = path.read_bytes()
    path.write_bytes(broken)
    with pytest.warns(UserWarning, match=f"{said}.*It is downloaded again"):
        assert fetch_files(dataset) == (path,)
    assert path.read_bytes() == right
    assert server.asked == ["/table.csv"] * 2


def test_a_damaged_file_stays_if_it_cannot_be_replaced(server, cache):
    server.answers["/table.csv"] = Answer(TABLE)
    dataset = one_file(f"{server.url}/table.csv", TABLE)
    (path,) = fetch_files(dataset)
    path.write_bytes(b"mine?")
    server.answers.clear()
    with pytest.warns(UserWarning, match="again"), pytest.raises(FetchError):
        fetch(dataset)
    assert path.read_bytes() == b"mine?"
    assert everything(cache) == ["toy/table.csv"]


REFUSED = {
    "missing": (None, r"answers 404 Not Found instead of the file\. Try again later"),
    "wrong": (Answer(TABLE[::-1]), r"SHA-256 is [0-9a-f]{64}, expected [0-9a-f]{64}"),
    "truncated": (Answer(TABLE[:9], length=len(TABLE)), r"after 9 of 31 bytes"),
    "elsewhere": (
        Answer(status=301, headers={"Location": "http://example.org/"}),
        "does not begin with https",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_left_of_what_is_refused(server, cache, case):
    answer, message = REFUSED[case]
    if answer is not None:
        server.answers["/table.csv"] = answer
    with pytest.raises(FetchError, match=message) as caught:
        fetch(one_file(f"{server.url}/table.csv", TABLE))
    text = str(caught.value)
    assert text.startswith(f"toy: {server.url}/table.csv ")
    assert "https://example.org/toy" in text
    assert "set TIEBREAK_DATA to the folder that contains it" in text
    assert "\n" not in text
    assert isinstance(caught.value, FileError)
    assert not cache.exists()


def test_no_network(cache):
    url = f"http://127.0.0.1:{closed_port()}/table.csv"
    with pytest.raises(FetchError, match=r"cannot be reached .*Try again later"):
        fetch(one_file(url, TABLE))
    assert not cache.exists()


def test_an_interrupted_download_leaves_nothing(server, cache):
    content = TABLE * 10_000
    server.answers["/table.csv"] = Answer(content)

    def interrupt(url, done, total):
        assert list(cache.rglob("*"))  # something is being written
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(one_file(f"{server.url}/table.csv", content), progress=interrupt)
    assert not cache.exists()


def pack(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def archived(server, members, **options):
    """Describe a set of two files, which are served in one archive."""
    server.answers["/all.zip"] = Answer(pack(members))
    files = tuple(
        DataFile(f"toy/{name}", sha256(content), len(content))
        for name, content in (("a", b"first"), ("b", b"second"))
    )
    served = Served((f"{server.url}/all.zip",), 10_000)
    make = zip_members(["in/a", "in/b"], options.pop("limit", 100))
    return toy((Delivery(files, (served,), make),))


def test_an_archive_is_unpacked(server, cache):
    members = {"in/a": b"first", "in/b": b"second", "../../evil": b"evil"}
    assert fetch(archived(server, members)) == cache / "toy"
    assert everything(cache.parent) == ["tiebreak/toy/a", "tiebreak/toy/b"]
    assert (cache / "toy" / "b").read_bytes() == b"second"


def test_one_lost_member_brings_the_others_too(server, cache):
    members = {"in/a": b"first", "in/b": b"second"}
    dataset = archived(server, members)
    fetch(dataset)
    (cache / "toy" / "a").unlink()
    assert locate(dataset).place == "in part"
    fetch(dataset)
    assert (cache / "toy" / "a").read_bytes() == b"first"


@pytest.mark.parametrize(
    ("members", "limit", "message"),
    [
        ({"in/a": b"first"}, 100, "the archive has no 'in/b'"),
        ({"in/a": b"first", "in/b": b"second"}, 10, "unpacks to more than 10 bytes"),
        ({"in/a": b"first", "in/b": b"other"}, 100, "toy/b: .*is another version"),
    ],
    ids=["a member is missing", "too large", "another member"],
)
def test_archives_that_are_others_bring_nothing(server, cache, members, limit, message):
    with pytest.raises(FetchError, match=message):
        fetch(archived(server, members, limit=limit))
    assert not cache.exists()


def test_what_cannot_be_downloaded_says_what_to_do(cache):
    file = DataFile("toy/table.csv", sha256(TABLE), len(TABLE))
    dataset = toy((Delivery((file,), by_hand="Ask the author for it."),))
    assert dataset.by_hand == "Ask the author for it."
    with pytest.raises(FetchError, match=r"Ask the author for it\. .*Then put the fil"):
        fetch(dataset)
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "table.csv").write_bytes(TABLE)
    assert fetch(dataset) == cache / "toy"
    (cache / "toy" / "table.csv").write_bytes(TABLE + b"Bo,Ada,tie\n")
    with pytest.warns(UserWarning, match="not the file .* It is used as it is"):
        assert fetch(dataset) == cache / "toy"


def test_errors_survive_the_way_between_processes():
    error = FetchError("toy", "it is gone")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (FetchError, "toy: it is gone")


def test_names(cache):
    path = fetch("worldcup2022.csv")
    assert path.read_text("utf-8").startswith("date,stage,left,right")
    assert fetch_files("worldcup2022") == (path,)
    assert fetch("worldcup2022") == path.parent
    with pytest.raises(
        ValueError, match=r"no data set 'footbal'\. Did you mean 'footb"
    ):
        fetch("footbal")
    with pytest.raises(ValueError, match=r"no data set 'xyzzy'\. The sets are world"):
        fetch("xyzzy")
    with pytest.raises(ValueError, match="no file 'football/x'; its files are footb"):
        fetch("football/x")


def test_one_file_of_a_set(server, cache, tmp_path, monkeypatch):
    """Only what it comes with is downloaded; the others may be missing."""
    contents = {"a.csv": b"first", "b.csv": b"second"}
    deliveries = []
    for name, content in contents.items():
        server.answers[f"/{name}"] = Answer(content)
        whole = one_file(f"{server.url}/{name}", content, f"toy/{name}")
        deliveries += whole.deliveries
    known = MappingProxyType({"toy": toy(tuple(deliveries))})
    monkeypatch.setattr(registry, "REGISTRY", known)
    assert fetch("toy/b.csv") == cache / "toy" / "b.csv"
    assert everything(cache) == ["toy/b.csv"]
    assert server.asked == ["/b.csv"]
    assert fetch("toy") == cache / "toy"
    assert server.asked == ["/b.csv", "/a.csv"]
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path / "mine"))
    mine = tmp_path / "mine" / "toy" / "a.csv"
    mine.parent.mkdir(parents=True)
    mine.write_text("my own")
    assert fetch("toy/a.csv") == mine
    assert fetch("toy/b.csv") == cache / "toy" / "b.csv"
    assert fetch("toy") == cache / "toy"


@pytest.mark.extended
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk(server, cache, tmp_path):
    """A process that may not write large files meets the same error."""
    content = TABLE * 50_000
    server.answers["/table.csv"] = Answer(content)
    program = (
        "import resource, sys\n"
        "from tests.datasets.serving import one_file\n"
        "from tiebreak.datasets import fetch\n"
        f"dataset = one_file({server.url + '/table.csv'!r}, {TABLE!r} * 50_000)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    fetch(dataset)\n"
        "except OSError as error:\n"
        "    sys.stdout.write(f'{error.errno}|{error.filename}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        check=True,
    )
    code, _, name = done.stdout.partition("|")
    assert int(code) == errno.EFBIG
    assert name.startswith(str(cache / "toy"))
    assert not cache.exists()


def test_every_set_of_the_registry_can_be_made_again(server, cache, data_dir):
    """Serve what publishers serve, and compare what is made of it with our files."""
    skipped = {
        "worldcup2022",
        "tennis_atp",
        "jester",
        "chess_fide2011",
        "lm_arena_140k",
    }
    for name in REGISTRY.keys() - skipped:
        here = redirect(REGISTRY[name], server, data_dir)
        for path in fetch_files(here):
            ours = data_dir / path.relative_to(cache)
            unpack = gzip.decompress if path.suffix == ".gz" else bytes
            assert unpack(path.read_bytes()) == unpack(ours.read_bytes()), path


def redirect(dataset, server, data_dir):
    """Let a set be downloaded from this machine, from sources found in our files."""
    deliveries = []
    for delivery in dataset.deliveries:
        served = []
        for source in delivery.served:
            url = source.urls[-1]
            path = "/" + url.rpartition("/")[2]
            server.answers[path] = Answer(raw(dataset.name, path[1:], data_dir))
            served.append(dataclasses.replace(source, urls=(server.url + path,)))
        deliveries.append(dataclasses.replace(delivery, served=tuple(served)))
    return dataclasses.replace(dataset, deliveries=tuple(deliveries))


def raw(name, served, data_dir):
    """Give the bytes that a publisher serves."""
    if name == "sushi":
        folder = data_dir / "sushi"
        return pack({f"sushi3-2016/{p.name}": p.read_bytes() for p in folder.iterdir()})
    candidates = {
        "out.chess": "chess_kaggle2010/out.chess.gz",
        "test.txt": "mq2008/fold1_test.txt.gz",
        "Concrete_Data.xls": "uci/original/Concrete_Data.xls",
        "servo%20%282%29.arff": "uci/arff/servo.arff",
    }
    default = f"uci/arff/{served}" if name == "uci" else f"{name}/{served}"
    path = data_dir / candidates.get(served, default)
    if not path.exists():
        path = path.with_name(path.name + ".gz")
    if not path.exists():
        pytest.skip(f"{path} does not exist: no source of {name}")
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


CONTENT = b"left,right\n" * 100
HASH = hashlib.sha256(CONTENT).hexdigest()


def test_the_same_content_is_the_same_file(tmp_path):
    for name in ("a.csv", "b.csv.gz", "c.csv.gz"):
        write_content(tmp_path / name, CONTENT)
        assert content_sha256(tmp_path / name) == HASH
    assert (tmp_path / "a.csv").read_bytes() == CONTENT
    packed = (tmp_path / "b.csv.gz").read_bytes()
    assert packed == (tmp_path / "c.csv.gz").read_bytes()
    assert gzip.decompress(packed) == CONTENT
    assert packed[3:8] == bytes(5)  # no name, no time


def test_how_it_was_packed_does_not_matter(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(CONTENT, 1))
    assert content_sha256(tmp_path / "a.gz") == HASH
    first, second = np.arange(5, dtype=np.int16), np.ones((2, 2))
    np.savez(tmp_path / "a.npz", first=first, second=second)
    np.savez_compressed(tmp_path / "b.npz", second=second, first=first)
    assert content_sha256(tmp_path / "a.npz") == content_sha256(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", first=first, second=2 * second)
    assert content_sha256(tmp_path / "a.npz") != content_sha256(tmp_path / "c.npz")


@pytest.mark.parametrize("keep", [0, 5, 30, -1])
def test_what_cannot_be_unpacked_is_damaged(tmp_path, keep):
    packed = gzip.compress(CONTENT)[:keep] if keep else b"plain text"
    (tmp_path / "a.gz").write_bytes(packed)
    assert content_sha256(tmp_path / "a.gz") == DAMAGED
    np.savez(tmp_path / "a.npz", first=np.arange(5))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content[:keep] if keep else b"plain text")
    assert content_sha256(tmp_path / "a.npz") == DAMAGED
