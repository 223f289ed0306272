# SPDX-License-Identifier: BSD-3-Clause
"""The table of published sets, and finding or downloading their files."""

import functools
import gzip
import hashlib
import re
import sys
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

from tiebreak.datasets import REGISTRY, DataFile, DataSet, fetch, load_published
from tiebreak.datasets import published as module

TABLE = b"left,right,outcome\nAda,Bo,left\n"
SHA256 = hashlib.sha256(TABLE).hexdigest()


@pytest.mark.parametrize("dataset", REGISTRY.values(), ids=list(REGISTRY))
def test_everything_is_said(dataset):
    for text in (dataset.what, dataset.terms, dataset.cite):
        assert text.endswith(".") and "\n" not in text
    assert dataset.rows and dataset.description
    for file in dataset.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        folder, inside, _ = file.name.rpartition("/")
        if not inside:  # in the package
            assert file.name.partition(".")[0] == dataset.name
            continue
        assert dataset.name.startswith(folder.partition("/")[0])
        assert file.url.startswith("https://") if file.url else dataset.by_hand
        if "githubusercontent" in file.url:
            assert re.fullmatch(r"[0-9a-f]{12,40}", file.url.split("/")[5])


@pytest.mark.parametrize("name", REGISTRY)
def test_the_files_at_hand(name, published):
    for file in REGISTRY[name].files:
        path = published(file.name)
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        assert hashlib.sha256(content).hexdigest() == file.sha256, file.name


def test_the_bundled_football_is_a_part_of_the_published(published):
    whole = pl.read_csv(published("football/results.csv"), infer_schema=False)
    ours = pl.read_csv(fetch("football")[0], infer_schema=False)
    since = whole.filter(pl.col("date") >= "2014").with_columns(
        pl.col("neutral").str.to_lowercase()
    )
    left_out = since.select(ours.columns).join(ours, on=ours.columns, how="anti")
    alone = {"Aymara", "Mapuche", "Maule Sur"}
    assert {*left_out["home_team"], *left_out["away_team"]} == alone
    assert len(since) == len(ours) + len(left_out) and len(left_out) == 3
    assert sorted(ours.rows()) == sorted(set(ours.rows()))


@pytest.fixture
def server(tmp_path):
    """Serve the files of a folder on this machine."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            served.asked.append(self.path)

    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "table.csv").write_bytes(TABLE)
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("release/table.csv", TABLE)
    handler = functools.partial(Handler, directory=folder)
    served = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served.asked = []
    thread = threading.Thread(target=served.serve_forever, args=(0.02,))
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture
def offer(server, monkeypatch):
    """Give a function that registers a set of one file, served at an address."""

    def register(path="table.csv", sha256=SHA256, port=server.server_port, **more):
        url = f"http://127.0.0.1:{port}/{path}"
        words = ["A toy.", "1 row", "Do as you like.", "https://example.org", "Nobody."]
        files = (DataFile("toy/table.csv", sha256, url, **more),)
        toy = DataSet("toy", *words, "Made up.", files)
        monkeypatch.setattr(module, "REGISTRY", {"toy": toy})

    return register


def test_the_data_folder_comes_first(offer, folders, server):
    offer()
    for root in folders:
        (root / "toy").mkdir(parents=True)
        (root / "toy" / "table.csv").write_bytes(TABLE)
    assert fetch("toy") == [folders[0] / "toy" / "table.csv"]
    (folders[0] / "toy" / "table.csv").rename(folders[0] / "toy" / "table.csv.gz")
    assert fetch("toy/table.csv") == [folders[0] / "toy" / "table.csv.gz"]
    assert server.asked == []


@pytest.mark.parametrize(
    "more", [{}, {"path": "all.zip", "member": "release/table.csv"}]
)
def test_a_download_is_made_once_and_a_damaged_file_again(offer, folders, server, more):
    offer(**more)
    path = folders[1] / "toy" / "table.csv"
    with pytest.raises(FileNotFoundError, match="Get it: `tiebreak data get toy`"):
        fetch("toy", download=False)
    assert server.asked == []
    assert fetch("toy") == fetch("toy", download=False) == [path]
    assert path.read_bytes() == TABLE
    assert len(server.asked) == 1
    path.write_bytes(b"broken")
    assert fetch("toy") == [path]
    assert path.read_bytes() == TABLE


@pytest.mark.parametrize(
    "more",
    [{}, {"path": "all.zip", "member": "release/table.csv"}, {"member": "table.csv"}],
)
def test_what_is_something_else_is_refused(offer, folders, more):
    offer(sha256="0" * 64, **more)
    with pytest.raises(FileNotFoundError, match="could not be downloaded") as caught:
        fetch("toy")
    assert "https://example.org" in str(caught.value)
    assert module.find_file(module.find_set("toy")[1][0]) is None


def test_what_downloads_may_be_missing(offer, folders, monkeypatch, server):
    offer()
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(FileNotFoundError, match=r'pip install "tiebreak\[download\]"'):
        fetch("toy")
    assert server.asked == []


def test_what_has_no_address(folders):
    with pytest.raises(
        FileNotFoundError, match=r"no address.*save a table with the col"
    ):
        fetch("lm_arena_140k")
    with pytest.raises(FileNotFoundError, match="tiebreak data get football1872"):
        load_published("football1872", download=False)


def test_unknown_names():
    with pytest.raises(ValueError, match="no data set 'fotball'"):
        fetch("fotball")
