# SPDX-License-Identifier: BSD-3-Clause
"""The format of a file, detected from its content and never from its name.

The whole file is read once, in pieces: it must unpack and be UTF-8, and quotes and
blank lines decide how rows are counted. Packed files, other encodings and standard
input are first written to a temporary file, up to a limit.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import re
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from tiebreak.io.result import FileError, ReadOptions, is_finite, whole_number
from tiebreak.options import flag

# What polars raises for files that are not what they say; some of it stops a thread.
DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
_PIECE = 1 << 20
# A packed file may unpack to so many bytes, or to so many times its own size. Votes
# that are all equal fill 256 MB with 30 million rows, which take 2 GB of memory.
_MOST_UNPACKED, _MOST_TIMES = 256 << 20, 100
STANDARD_INPUT = Path("standard input")
_SEPARATORS = (",", "\t", ";", "|")
_BLANK = re.compile(rb"^[ \t]*\r?\n", re.MULTILINE)
PGN_TAG = re.compile(r'\[\s*(\w+)\s+"(.*)"\s*\]')
_PAIR = re.compile(r"(?:qid|\d+):\S")
_TYPED = (
    ("parquet", b"PAR1"),
    ("arrow", b"ARROW1"),
    ("sqlite", b"SQLite format 3"),
)
_ZIP = b"PK\x03\x04"
_UNREADABLE = (
    (_ZIP, "is a zip archive; unpack it and try what is inside."),
    (b"\xd0\xcf\x11\xe0", "is an old Excel workbook; save it as .xlsx or CSV."),
    (b"%PDF", "is a PDF; export the table as CSV and try that."),
)
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # which Excel obeys


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, and what reading it needs."""

    format: str
    separator: str = ","  # between the fields of a row, for CSV and TSV
    written: tuple[str, ...] = ()  # how it is packed, and its encoding if not UTF-8
    copy: Copy | None = None  # the unpacked file
    quoted: bool = False  # whether there are quotation marks
    blank: bool = False  # whether there are blank lines
    skip: int = 0  # lines above the header
    names: tuple[str, ...] | None = None  # of columns without a header; (): the usual
    sheet: str | None = None  # of a workbook

    @property
    def is_table(self) -> bool:
        """Whether the file has named columns."""
        return self.format not in ("svmlight", "preflib", "orders", "lists")


class Copy:
    """A temporary file, removed with this object."""

    def __init__(self, path: Path, pieces: Iterator[bytes], most: float) -> None:
        # ``path`` is for messages; ``most`` bytes are written.
        number, name = tempfile.mkstemp(prefix="tiebreak-")
        self.place = Path(name)
        weakref.finalize(self, self.place.unlink, missing_ok=True)
        size = 0
        try:
            with open(number, "wb") as file:
                for piece in pieces:
                    size += len(piece)
                    if size > most:
                        raise FileError(
                            path,
                            f"it unpacks to more than {most / (1 << 20):,.0f} MB and "
                            f"{_MOST_TIMES} times its own size; unpack it first.",
                        )
                    file.write(piece)
        except OSError as error:
            raise FileError(
                path, f"no room for a temporary copy: {error.strerror}."
            ) from None


def detect_format(path: Path, options: ReadOptions | None = None) -> FileFormat:
    """Detect the format of a file, unless the options name it."""
    options = ReadOptions() if options is None else options
    error, wanted = partial(FileError, path), options.format
    copy, written = _copy(path, options.encoding)
    names = options.headless()
    start = _first_bytes(path, copy)
    for name, magic in _TYPED:
        if name == wanted or start.startswith(magic):
            return FileFormat(name, written=written, copy=copy)
    if wanted == "excel" or (start.startswith(_ZIP) and _is_workbook(path, copy)):
        sheet = options.sheet
        return FileFormat("excel", "", written, copy, names=names, sheet=sheet)
    for magic, what in _UNREADABLE:
        if start.startswith(magic):
            raise error(f"this {what}")
    quoted, blank = _check_text(path, copy)
    with open_bytes(path, copy) as stream:
        lines = [
            line.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n")
            for line in islice(stream, 50)
        ]
    if not any(line.strip() for line in lines):
        raise error("the file has only blank lines.")
    named = _SEPARATOR_LINE.fullmatch(lines[0])
    guess = wanted or ("csv" if named else _guess_text(lines))
    separator = "\t" if wanted == "tsv" else named[1] if named else _separator(lines[0])
    if guess not in ("csv", "tsv"):
        return FileFormat(guess, separator, written, copy)
    guess = wanted or ("tsv" if separator == "\t" else "csv")
    skip = int(named is not None)
    return FileFormat(guess, separator, written, copy, quoted, blank, skip, names)


def _is_workbook(path: Path, copy: Copy | None) -> bool:
    """Say whether a zip archive is an Excel workbook, of a size that can be read."""
    try:
        with open_bytes(path, copy) as stream, zipfile.ZipFile(stream) as archive:
            parts = archive.infolist()
            size = stream.seek(0, 2)
    except zipfile.BadZipFile:
        raise FileError(path, "the zip file is cut short; get it again.") from None
    if "xl/workbook.xml" not in {part.filename for part in parts}:
        return False
    if sum(p.file_size for p in parts) > max(_MOST_UNPACKED, _MOST_TIMES * size):
        raise FileError(path, "the workbook unpacks to too much; save it as CSV.")
    return True


def _copy(path: Path, encoding: str | None) -> tuple[Copy | None, tuple[str, ...]]:
    """Write a plain UTF-8 copy if needed; say how the file was written."""
    copy = None
    if path == STANDARD_INPUT:
        pieces = iter(partial(sys.stdin.buffer.read, _PIECE), b"")
        copy = Copy(path, pieces, float("inf"))
    start = _first_bytes(path, copy)
    written = []
    packed = path if copy is None else copy.place
    most = max(_MOST_UNPACKED, _MOST_TIMES * packed.stat().st_size)
    for name, magic, unpack in _PACKED:
        if start.startswith(magic):
            packed = path if copy is None else copy.place
            copy = Copy(path, _unpack(path, packed, name, unpack), most)
            written.append(name)
            start = _first_bytes(path, copy)
    if encoding is None and start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
        written.append("UTF-16")
    elif encoding is not None:
        written.append(encoding)
    if encoding is not None:
        place = path if copy is None else copy.place
        copy = Copy(path, _recode(path, place, encoding), float("inf"))
    return copy, tuple(written)


def _unpack(
    path: Path, packed: Path, name: str, unpack: Callable[[Path], Iterator[bytes]]
) -> Iterator[bytes]:
    try:
        yield from unpack(packed)
    except EOFError:
        what = f"the {name} file is cut short; get it again, whole."
        raise FileError(path, what) from None
    except ImportError:
        what = "install tiebreak[zstd] to read zstd files, or unpack it first."
        raise FileError(path, what) from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(path, f"the {name} file is damaged ({reason}).") from None


def _stream(module: Any, packed: Path) -> Iterator[bytes]:
    with module.open(packed, "rb") as stream:
        yield from iter(partial(stream.read, _PIECE), b"")


def _unpack_zstd(packed: Path) -> Iterator[bytes]:
    import zstandard  # an extra

    frame, began = zstandard.ZstdDecompressor().decompressobj(), False
    with open(packed, "rb") as stream:
        # In small pieces, because a few bytes may unpack to many.
        for piece in iter(partial(stream.read, 4096), b""):
            while piece:
                try:
                    yield frame.decompress(piece)
                except zstandard.ZstdError as error:
                    raise OSError(error) from None
                piece, began = frame.unused_data, not frame.eof
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
    if began:
        raise EOFError


_PACKED: tuple[tuple[str, bytes, Callable[[Path], Iterator[bytes]]], ...] = (
    ("gzip", b"\x1f\x8b", partial(_stream, gzip)),
    ("bzip2", b"BZh", partial(_stream, bz2)),
    ("xz", b"\xfd7zXZ\x00", partial(_stream, lzma)),
    ("zstd", b"\x28\xb5\x2f\xfd", _unpack_zstd),
)


def _recode(path: Path, place: Path, encoding: str) -> Iterator[bytes]:
    """Give the text of a file in UTF-8."""
    n_lines = 0
    try:
        with open(place, encoding=encoding, newline="") as stream:
            for line in stream:
                n_lines += 1
                yield line.encode()
    except LookupError:
        raise FileError(
            path,
            f"{flag('encoding', encoding)} is unknown; try utf-16, cp1252 or latin-1.",
        ) from None
    except UnicodeError as error:
        reason = getattr(error, "reason", str(error))
        raise FileError(
            path, f"below line {n_lines} this is not {encoding} text ({reason})."
        ) from None


@contextmanager
def open_bytes(path: Path, copy: Copy | None = None) -> Iterator[BinaryIO]:
    """Open a regular file, or its copy; errors are raised as `FileError`."""
    try:
        if copy is None and path.exists() and not path.is_file():
            raise FileError(path, "this is not a regular file; save it as one first.")
        with open(path if copy is None else copy.place, "rb") as raw:
            yield raw
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None


def text_lines(path: Path, copy: Copy | None) -> Iterator[tuple[int, str]]:
    """Give line numbers from 1, and stripped lines."""
    with open_bytes(path, copy) as stream:
        for number, line in enumerate(stream, start=1):
            yield number, line.decode("utf-8").lstrip("\ufeff").strip()


def _first_bytes(path: Path, copy: Copy | None) -> bytes:
    with open_bytes(path, copy) as stream:
        start = stream.read(64)
    if not start:
        raise FileError(path, "the file is empty.")
    return start


def _check_text(path: Path, copy: Copy | None) -> tuple[bool, bool]:
    """Check for UTF-8; return whether there are quotes, blank lines."""
    n_bytes = n_lines = 0
    quoted = blank = returns = False
    with open_bytes(path, copy) as stream:
        while piece := stream.read(_PIECE) + stream.readline():
            if b"\0" in piece:
                raise FileError(path, _describe_nul(piece, n_lines))
            try:
                piece.decode()
            except UnicodeDecodeError as error:
                line = n_lines + piece.count(b"\n", 0, error.start) + 1
                raise FileError(
                    path,
                    f"line {line} is not UTF-8 text: byte "
                    f"{n_bytes + error.start + 1:,} of the file is "
                    f"0x{piece[error.start]:02x}; save it again as UTF-8, or name its "
                    f"encoding, such as {flag('encoding', 'cp1252')}.",
                ) from None
            n_bytes += len(piece)
            n_lines += piece.count(b"\n")
            quoted = quoted or b'"' in piece
            returns = returns or b"\r" in piece
            blank = blank or _BLANK.search(piece) is not None
    if not n_lines and returns:
        raise FileError(
            path, "lines end with a carriage return alone; save it with usual ones."
        )
    return quoted, blank


def _describe_nul(piece: bytes, n_lines: int) -> str:
    """Say what a NUL in a text means: UTF-16, or a damaged file."""
    for ending, first in (("le", 1), ("be", 0)):
        if 2 * piece[first:64:2].count(0) > len(piece[first:64:2]):
            how = flag("encoding", f"utf-16-{ending}")
            return f"this looks like UTF-16 without a byte order mark; say {how}."
    line = n_lines + piece.count(b"\n", 0, piece.index(b"\0")) + 1
    return f"line {line} holds a NUL character; expected text."


def _guess_text(lines: list[str]) -> str:
    first = next(line.strip() for line in lines if line.strip())
    if PGN_TAG.fullmatch(first):
        return "pgn"
    if first[0] in "[{":
        n_lines = sum(bool(line.strip()) for line in lines)
        return "jsonl" if _is_record(first, alone=n_lines == 1) else "json"
    if re.match(r"#\s*FILE NAME", lines[0], re.IGNORECASE):
        return "preflib"
    if _are_orders(lines):
        return "orders"
    data = [line for line in lines if line.strip() and not line.startswith("#")]
    if data and _is_svmlight(*data[0].partition("#")[0].split()):
        return "svmlight"
    return "lists" if data and _are_lists(data) else "csv"


def _is_svmlight(grade: str = "", *pairs: str) -> bool:
    """Say whether the words of a line are a grade and features, such as 1 qid:7 3:1."""
    return is_finite(grade) and pairs != () and all(map(_PAIR.match, pairs))


def _is_record(line: str, alone: bool) -> bool:
    """Say whether a line is a record of JSON Lines."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(record, dict):
        return False
    # One object alone may also be a table: of columns, of rows, or around its rows.
    values = record.values()
    nested = all(isinstance(value, list | dict) for value in values)
    rows = any(isinstance(v, list) and v and isinstance(v[0], dict) for v in values)
    return not (alone and (nested or rows))


def _are_orders(lines: list[str]) -> bool:
    """Say whether a file holds orders: a line `100 1`, then lines `0 3 i j k`."""
    if len(lines) < 2 or not re.fullmatch(r"\d+ \d+ *", lines[0]):
        return False
    fields = lines[1].split()
    if not all(field.isdigit() for field in fields) or len(fields) < 3:
        return False
    return fields[0] == "0" and whole_number(fields[1]) == len(fields) - 2


def _are_lists(lines: list[str]) -> bool:
    """Say whether lines are lists of names: `A > B = C`, or `A, B, C` in any order."""
    if re.search("[>≻]", lines[0]) and not lines[0].startswith("<"):
        chains = [line for line in lines if re.search("[>≻]", line)]
        return len(chains) >= 0.8 * len(lines)
    separator = _separator(lines[0])
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return False
    rows = [[field.strip() for field in row if field.strip()] for row in rows]
    if len(rows) < 2 or max(map(len, rows)) < 3 or min(map(len, rows)) < 1:
        return False
    if any(
        len(set(row)) < len(row) or any(is_finite(field.rstrip("%")) for field in row)
        for row in rows
    ):
        return False
    # The first line holds names of other lines, and all columns the same ones.
    later = {field for row in rows[1:] for field in row}
    columns = [{row[i] for row in rows if i < len(row)} for i in range(len(rows[0]))]
    shared = (
        2 * len(column & set().union(*columns[:i], *columns[i + 1 :])) >= len(column)
        for i, column in enumerate(columns)
    )
    return set(rows[0]) <= later and all(shared)


def _separator(header: str) -> str:
    """Choose the most frequent separator of the header, outside quotes."""
    bare = re.sub(r'"(?:[^"]|"")*"', "", header)
    return max(_SEPARATORS, key=bare.count)
