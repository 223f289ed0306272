# SPDX-License-Identifier: BSD-3-Clause
"""The format of a file, detected from its content and never from its name.

`detect_format` looks at the whole file once, in pieces, before anything is believed of
it: that it can be opened and unpacked, that it is text in UTF-8, and whether it holds
quotes or blank lines, which decide how rows are counted. A new format is detected here.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from tiebreak.io.result import FileError

_PIECE = 1 << 20
_SEPARATORS = (",", "\t", ";", "|")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SVMLIGHT = re.compile(
    rf"(?:{_NUMBER}|[-+]?nan|[-+]?inf)(?=\s)(?:\s+qid:\S+)?(?:\s+\d+:\S+)*\s*(?:#.*)?$",
    re.IGNORECASE,
)
_ADVICE = "save the file again as CSV in UTF-8 and try that."
_BLANK = re.compile(r"\n[ \t]*\r?\n")
_HAS_PAIR = re.compile(r"\s(?:qid|\d+):")
_TYPED = (("parquet", b"PAR1", "a Parquet"), ("arrow", b"ARROW1", "an Arrow"))
_UNREADABLE = (
    (b"PK\x03\x04", "is a zip archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel workbook"),
    (b"%PDF", "is a PDF"),
    (b"SQLite format 3", "is an SQLite database"),
)


@dataclass(frozen=True)
class FileFormat:
    """How a file is written: a format of `ReadOptions`, and what reading needs."""

    format: str
    separator: str = ","  # between the fields of a row, for CSV and TSV
    gzipped: bool = False
    quoted: bool = False  # whether there are quotation marks
    blank: bool = False  # whether there are blank lines

    @property
    def is_table(self) -> bool:
        """Whether the file has named columns."""
        return self.format in ("csv", "tsv", "parquet", "arrow")


def detect_format(path: Path, wanted: str | None = None) -> FileFormat:
    """Look at a file and detect its format, unless the user named it in `wanted`."""
    error = partial(FileError, path)
    start = _first_bytes(path)
    for name, magic, what in _TYPED:
        if start.startswith(magic):
            return FileFormat(name)
        if wanted == name:
            begin = magic.decode()
            raise error(f"this is not {what} file: it must begin with {begin}.")
    for magic, what in _UNREADABLE:
        if start.startswith(magic):
            raise error(f"this {what}; export the table as CSV and try that.")
    gzipped = start.startswith(b"\x1f\x8b")
    quoted, blank = _check_text(path, gzipped)
    with open_bytes(path, gzipped) as stream:
        lines = [
            line.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n")
            for line in islice(stream, 50)
        ]
    if not any(line.strip() for line in lines):
        raise error("the file has only blank lines.")
    guess = wanted or _guess_text(lines)
    if guess not in ("csv", "tsv"):
        return FileFormat(guess, gzipped=gzipped)
    separator = "\t" if wanted == "tsv" else _separator(lines[0])
    guess = wanted or ("tsv" if separator == "\t" else "csv")
    return FileFormat(guess, separator, gzipped, quoted, blank)


@contextmanager
def open_bytes(path: Path, gzipped: bool) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked; its errors are raised as `FileError`."""
    try:
        with open(path, "rb") as raw:
            if gzipped:
                with gzip.open(raw, "rb") as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
    except EOFError:
        raise FileError(
            path, "the gzip file is cut short; get it again, whole."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(path, f"the gzip file is damaged ({error}).") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {_reason(error)}.") from None


def text_lines(path: Path, gzipped: bool) -> Iterator[tuple[int, str]]:
    """Give line numbers from 1, and the stripped lines of a text file."""
    with open_bytes(path, gzipped) as stream:
        for number, line in enumerate(stream, start=1):
            yield number, line.decode("utf-8").lstrip("\ufeff").strip()


def _first_bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise FileError(path, "this is a directory; name a file in it.")
        if not path.exists():
            raise FileError(path, "there is no such file.")
        if not path.is_file():
            raise FileError(path, "this is not a regular file; save it as one first.")
    except OSError as error:
        raise FileError(path, f"cannot be read: {_reason(error)}.") from None
    with open_bytes(path, gzipped=False) as stream:
        start = stream.read(64)
    if not start:
        raise FileError(path, "the file is empty.")
    return start


def _reason(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "no permission"
    return error.strerror or str(error) or type(error).__name__


def _check_text(path: Path, gzipped: bool) -> tuple[bool, bool]:
    """Check that a file is UTF-8 text; return whether it has quotes, blank lines."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_bytes = n_lines = 0
    quoted = blank = False
    tail = ""
    returns = False
    with open_bytes(path, gzipped) as stream:
        while True:
            piece = stream.read(_PIECE)
            if n_bytes == 0 and piece[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise FileError(path, f"line 1: this is UTF-16 text; {_ADVICE}")
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise _encoding_error(path, error, n_bytes - pending, n_lines) from None
            if not piece:
                break
            n_bytes += len(piece)
            n_lines += piece.count(b"\n")
            quoted = quoted or '"' in text
            returns = returns or "\r" in text
            blank = blank or _BLANK.search(text) is not None
            blank = blank or _BLANK.search(tail + text[:64]) is not None
            tail = text[-64:]
    if n_bytes == 0:
        raise FileError(path, "the packed file is empty.")
    if not n_lines and returns:
        raise FileError(
            path,
            "lines end with a carriage return alone, as on very old Macs; save the "
            "file again with usual line ends.",
        )
    return quoted, blank


def _encoding_error(
    path: Path, error: UnicodeDecodeError, before: int, lines: int
) -> FileError:
    line = lines + error.object[: error.start].count(b"\n") + 1
    return FileError(
        path,
        f"line {line} is not UTF-8 text: byte {before + error.start + 1:,} of the "
        f"file is 0x{error.object[error.start]:02x}; {_ADVICE}",
    )


def _guess_text(lines: list[str]) -> str:
    if re.match(r"#\s*FILE NAME", lines[0], re.IGNORECASE):
        return "preflib"
    if _are_orders(lines):
        return "orders"
    data = [line for line in lines if line.strip() and not line.startswith("#")]
    if data and _SVMLIGHT.match(data[0].strip()) and _HAS_PAIR.search(data[0]):
        return "svmlight"
    return "csv"


def _are_orders(lines: list[str]) -> bool:
    """Say whether a file holds orders: a line `100 1`, then lines `0 3 i j k`."""
    if len(lines) < 2 or not re.fullmatch(r"\d+ \d+ *", lines[0]):
        return False
    fields = lines[1].split()
    if not all(field.isdigit() for field in fields) or len(fields) < 3:
        return False
    return fields[0] == "0" and int(fields[1]) == len(fields) - 2


def _separator(header: str) -> str:
    """Choose the separator that occurs most often in the header, outside quotes."""
    bare = re.sub(r'"(?:[^"]|"")*"', "", header)
    return max(_SEPARATORS, key=bare.count)
