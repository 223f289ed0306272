# SPDX-License-Identifier: BSD-3-Clause
"""How a table may be written: packed, in JSON, in other encodings, in several files."""

import bz2
import gc
import gzip
import io
import json
import lzma
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.io.test_read import VOTES, rows_of
from tiebreak import DataWarning
from tiebreak.io import FileError, NeedsAnswer, ReadOptions, formats, read_file

CSV = "left,right,outcome\nAda,Bo,left\n\nBo,Cy,tie\nCy,Ada,right\n"
RECORDS = [
    {"model_a": "Ada", "model_b": "Bo", "winner": "model_a", "meta": {"turns": 1}},
    {"model_a": "Bo", "model_b": "Cy", "winner": "tie", "meta": {"turns": 2}},
    {"model_a": "Cy", "model_b": "Ada", "winner": "model_b", "text": ["hi"]},
]


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
PACKERS["zstd"] = zstd


@pytest.fixture
def read(tmp_path):
    def write(content, name="table", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_file(path, ReadOptions(**options))

    return write


@pytest.mark.parametrize("packer", PACKERS)
def test_packed_files_are_unpacked(read, packer):
    result = read(PACKERS[packer](CSV.encode()))
    assert rows_of(result) == VOTES
    assert result.sentences[0] == f"CSV ({packer}) with 3 rows."
    packed = PACKERS[packer]((CSV + "Ada,Bo,lost\n").encode())
    with pytest.raises(FileError, match="line 6 \\('lost'\\)"):
        read(packed)
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    assert rows_of(read(PACKERS[packer](lines.encode()))) == VOTES


@pytest.mark.parametrize("packer", PACKERS)
def test_a_packed_file_may_be_damaged_or_empty(read, packer):
    packed = PACKERS[packer](CSV.encode() * 50)
    with pytest.raises(FileError, match=f"the {packer} file is (cut short|damaged)"):
        read(packed[: len(packed) // 2])
    with pytest.raises(FileError, match="the file is empty"):
        read(PACKERS[packer](b""))


@pytest.mark.parametrize("packer", PACKERS)
def test_a_small_file_may_not_fill_the_disk(read, packer, monkeypatch):
    monkeypatch.setattr(formats, "_MOST_UNPACKED", 1 << 16)
    with pytest.raises(FileError, match=r"unpacks to more than .* 100 times its own"):
        read(PACKERS[packer](CSV.encode() + b"Ada,Bo,left\n" * 100_000))


def test_a_packed_file_inside_a_packed_file_has_the_limit_of_the_first(
    read, monkeypatch
):
    monkeypatch.setattr(formats, "_MOST_UNPACKED", 1 << 16)
    inner = lzma.compress(CSV.encode() + b"Ada,Bo,left\n" * 100_000)
    with pytest.raises(FileError, match="unpacks to more than"):
        read(gzip.compress(inner))
    monkeypatch.undo()
    assert len(read(gzip.compress(inner)).data.y) == 100_003


def test_zstd_of_several_frames(read):
    parts = CSV.encode().partition(b"Bo,Cy")
    assert rows_of(read(b"".join(map(zstd, parts)))) == VOTES
    for version in range(0x22, 0x28):  # frames of older formats had no limit
        with pytest.raises(FileError, match="the zstd file is damaged"):
            read(zstd(CSV.encode()) + bytes([version, 0xB5, 0x2F, 0xFD]) + b"A" * 99)


def test_zstd_without_its_library_says_what_to_install(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(FileError, match=r"install tiebreak\[zstd\]"):
        read(zstd(CSV.encode()))


def test_temporary_copies_are_removed(read, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read(gzip.compress(CSV.encode()))
    with pytest.raises(FileError):
        read(gzip.compress(b"left,right\n1"))
    gc.collect()
    assert not list(tmp_path.glob("tiebreak-*"))


def test_parquet_may_be_packed_too(read):
    frame = io.BytesIO()
    pl.read_csv(CSV.encode()).drop_nulls().write_parquet(frame)
    assert rows_of(read(gzip.compress(frame.getvalue()))) == VOTES


@pytest.mark.parametrize("content", [CSV, json.dumps(RECORDS)])
def test_standard_input_is_read_by_its_content(monkeypatch, content):
    stdin = SimpleNamespace(buffer=io.BytesIO(content.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert rows_of(read_file("-")) == VOTES
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO()))
    with pytest.raises(FileError, match=r"^standard input: the file is empty"):
        read_file(Path("-"))


def test_encodings(read):
    text = CSV.replace("Ada", "Zoë")
    for encoding in ("utf-16", "utf-8-sig"):
        assert "Zoë" in read(text.encode(encoding)).data.pairs.names
    with pytest.raises(FileError, match="name its encoding, such as --encoding cp1252"):
        read(text.encode("cp1252"))
    result = read(text.encode("cp1252"), encoding="cp1252")
    assert "Zoë" in result.data.pairs.names
    assert result.sentences[0] == "CSV (cp1252) with 3 rows."
    with pytest.raises(FileError, match="--encoding ansi2 is unknown"):
        read(text, encoding="ansi2")
    with pytest.raises(FileError, match=r"below line \d this is not ascii text"):
        read(text, encoding="ascii")


FRAME = pd.DataFrame(RECORDS)[["model_a", "model_b", "winner"]]
SHAPES = {
    "records": json.dumps(RECORDS),
    "indented": json.dumps(RECORDS, indent=2),
    "in an object": json.dumps({"version": 1, "battles": RECORDS}),
    **{
        f"pandas {orient}": FRAME.to_json(orient=orient)
        for orient in ("records", "columns", "index", "split", "table")
    },
    "lists": json.dumps(FRAME.to_dict("list")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_json(read, shape):
    result = read(SHAPES[shape])
    assert rows_of(result) == VOTES
    assert result.sentences[0] == "JSON with 3 rows."


def test_json_lines_are_counted_with_blank_ones(read):
    lines = [json.dumps(record) for record in RECORDS]
    text = "\n\n".join(lines) + "\n"
    result = read(text)
    assert rows_of(result) == VOTES
    assert result.sentences[:2] == [
        "JSON Lines with 3 rows.",
        "Left out, because of lists or bytes in them: 'text'.",
    ]
    with pytest.raises(FileError, match=r"in meta\.turns: line 5 \(None\)"):
        read(text, weight="meta.turns")
    with pytest.raises(FileError, match=r"unknown outcomes: line 3 \('x'\)"):
        read(text.replace('"tie"', '"x"'))
    assert rows_of(read(lines[0])) == VOTES[:1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1}, {"a" 2}]', r"line 1, column 17: this is not valid JSON \(expect"),
        ('[{"a": 1},\n {"a": 2}', r"line 2, column 10: .*it ends in the middle"),
        ('[{"a": 1}, {"a": 2}] x', "extra data"),
        ('[{"a": 1}, [2]]', "row 2 is list; expected an array of objects"),
        ("[]", "no columns of text or numbers"),
        ("[1, 2]", "row 1 is int"),
        ('{"a": 1}\n{"a": }\n', r"line 2, column 7: this is not valid JSON"),
        ('{"a": 1}\n[1]\n', "line 2 is list; expected an object"),
        ('{"a": {"b": 1},\n "c": 1}', "this is an object with 'a', 'c'; expected an a"),
        ('{"a": [1],\n "c": [1, 2]}', "its columns are not equally long"),
        (
            '{"columns": ["a", "b"],\n "data": [[1]]}',
            "row 1 of data is not a list of 2",
        ),
        ('{"a": [{"b": 1}],\n"c": [{"b": 1}]}', r"2 tables \(a, c\); keep one"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        ('[Event "x"]\n[Site "?"]\n', "the table has a header and no rows"),
    ],
)
def test_broken_json_is_named_by_its_place(read, text, message):
    with pytest.raises(FileError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)


@pytest.fixture
def files(tmp_path):
    def write(*texts, suffix=".csv"):
        paths = [tmp_path / f"part{n}{suffix}" for n in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths

    return write


def test_several_files_are_read_as_one(files, tmp_path):
    other = "outcome,left,right\nlost,Dee,Ada\nleft,Dee,Bo\n"
    paths = files(CSV, other.replace("lost", "left"))
    result = read_file(paths)
    assert rows_of(result) == [*VOTES, ("Dee", "Ada", -1), ("Dee", "Bo", -1)]
    assert result.sentences[0] == "2 CSV files with 5 rows in all."
    with pytest.raises(FileError, match=r"^part0.csv and 1 other .* part1.csv line 2"):
        read_file(files(CSV, other))
    read = read_file(files(CSV, other), ReadOptions(skip_bad_rows=True))
    assert read.skipped["place"].to_list() == ["part1.csv line 2"]
    assert len(read.data.y) == 4
    frames = [
        pl.DataFrame({"left": [1], "right": [2.0], "outcome": ["left"]}),
        pl.DataFrame({"left": ["1"], "right": ["2"], "outcome": ["tie"]}),
    ]
    typed = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for frame, path in zip(frames, typed, strict=True):
        frame.write_parquet(path)
    assert rows_of(read_file(typed)) == [("1", "2", -1), ("1", "2", 0)]
    assert rows_of(read_file(paths[:1])) == VOTES


def test_files_that_do_not_belong_together(files, tmp_path):
    other = tmp_path / "other"
    for text, message in {
        "left,right,result\na,b,tie\n": "other: it cannot be read together with "
        ".*part0.csv: it has no 'outcome', and it has 'result' besides",
        CSV.replace(",", ";"): "part0.csv: it is written in another way",
        CSV.replace(",", "\t"): "part0.csv: it is written in another way",
        "2 qid:1 1:0.5\n": "a file of svmlight is read alone",
        "": "other: the file is empty",
    }.items():
        other.write_text(text)
        with pytest.raises(FileError, match=message):
            read_file([*files(CSV), other])


def test_bad_rows_can_be_skipped_and_are_kept_apart(read):
    text = (
        "left,right,outcome,note\nA,B,left,x\nA,B,,x\n,B,won,y\n\nB,A,tie,z\nA,B,d,\n"
    )
    with pytest.raises(FileError, match="--skip-bad-rows goes on without them"):
        read(text)
    result = read(text, skip_bad_rows=True)
    assert rows_of(result) == [("A", "B", -1), ("B", "A", 0)]
    assert result.sentences[:2] == [
        "CSV with 5 rows.",
        "3 rows skipped, because they cannot be read. no outcome in outcome: line 3; "
        "no name in left; unknown outcomes: line 4; unknown outcomes: line 7.",
    ]
    assert result.skipped.rows() == [
        ("line 3", "no outcome in outcome", "A", "B", None, "x"),
        ("line 4", "no name in left; unknown outcomes", None, "B", "won", "y"),
        ("line 7", "unknown outcomes", "A", "B", "d", None),
    ]
    with pytest.raises(FileError, match="no row can be read: unknown outcomes"):
        read("left,right,outcome\nA,B,x\nA,B,y\n", skip_bad_rows=True)
    with pytest.raises(NeedsAnswer):  # a question is not answered by leaving out rows
        read("left,right,outcome\nA,B,1\nA,B,0\n", skip_bad_rows=True)


def test_bad_rows_of_graded_tables_are_skipped_too(read):
    result = read(
        "query,grade,f,g\n1,2,1,1\n1,x,1,2\n1,1,2,\n1,1,1,4\n", skip_bad_rows=True
    )
    assert result.data.y.tolist() == [2, 1]
    result = read("judge,item,score\na,x,1\na,y,?\na,z,2\n", skip_bad_rows=True)
    assert abs(result.data.y).tolist() == [1]


def test_names_that_differ_only_in_case_or_blanks_are_pointed_out(read):
    said = "Names that differ only in case, blanks or zeros are different items: "
    text = "left,right,outcome\nGPT 4,gpt4,left\ngpt4,x,left\nGPT4,x,tie\n"
    with pytest.warns(DataWarning, match=said):
        assert said + "'GPT 4' and 'gpt4' and 'GPT4'." in read(text).sentences
    assert not any(said in s for s in read(CSV).sentences)
