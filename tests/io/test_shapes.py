# SPDX-License-Identifier: BSD-3-Clause
"""A folder of small files as people have them: what is said, found, and ranked.

Files that are packed, in another encoding or in binary formats are made from those in
the folder. In most of them the same thirteen results are told, so that their
leaderboards are of the same order: the first of four names is best.
"""

import io
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import zstandard

from tiebreak.cli.errors import _code_of
from tiebreak.data import Grades
from tiebreak.io import FileError, ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline.rank import rank_names
from tiebreak.pipeline.read import read_source

FOLDER = Path(__file__).parent / "shapes"


class Shape(NamedTuple):
    """A file, what it is read with, and what is expected of it."""

    name: str  # of a file, or of several with + between them
    said: list[str]  # sentences that are said, among others
    order: list[str] | None = None  # of the leaderboard; None if items have no names
    columns: str = ""  # what is known of each comparison besides
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    made: str = ""  # how the file is rewritten before it is read


def load(name):
    return tomllib.loads(FOLDER.joinpath(name).read_text("utf-8"))


SHAPES = [Shape(**shape) for shape in load("shapes.toml")["shape"]]


def parquet(content):
    buffer = io.BytesIO()
    pl.read_csv(content, try_parse_dates=True).write_parquet(buffer)
    return buffer.getvalue()


def arrow(content):
    buffer = io.BytesIO()
    pl.read_csv(content).write_ipc(buffer)
    return buffer.getvalue()


def excel(content):
    buffer = io.BytesIO()
    pl.read_csv(content, try_parse_dates=True).write_excel(buffer)
    return buffer.getvalue()


MAKERS = {
    "Excel": excel,
    "zstd": zstandard.compress,
    "cp1252": lambda content: content.decode().encode("cp1252"),
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "Parquet": parquet,
    "Arrow": arrow,
}


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.name} {s.made}".strip())
def test_a_file_is_read_and_ranked(shape, tmp_path):
    source: Any = [FOLDER / name for name in shape.name.split(" + ")]
    if shape.made:
        made = tmp_path / shape.name
        made.write_bytes(MAKERS[shape.made](source[0].read_bytes()))
        source = [made]
    source = source[0] if len(source) == 1 else source
    options = dict(shape.options)
    if "items" in options:
        options["items"] = FOLDER / options["items"]
    read = read_source(source, ReadOptions(**options), RankOptions())
    for sentence in shape.said:
        assert sentence in read.detected
    _, columns = read.data.arguments()
    assert sorted(columns) == sorted(shape.columns.split())
    if shape.order is None:
        assert isinstance(read.data, Grades)
        return
    board = rank_names(read, RankOptions())
    assert board.table["item"].to_list() == shape.order


REFUSED = load("refused.toml")
OPTIONS = {"off_the_scale.csv": {"likert": "1..7"}}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_in_one_line(name):
    path = FOLDER / "refused" / name
    with pytest.raises(FileError) as caught:
        read_source(path, ReadOptions(**OPTIONS.get(name, {})), RankOptions())
    assert str(caught.value) == f"{path}: {REFUSED[name]}"
    assert _code_of(caught.value) == 3


def test_every_file_of_the_folder_is_used():
    used = {part for shape in SHAPES for part in shape.name.split(" + ")} | {
        "wines.csv",
        "refused.toml",
        "shapes.toml",
    }
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == used
    assert {path.name for path in (FOLDER / "refused").iterdir()} == set(REFUSED)
    assert len(used) >= 30
