# SPDX-License-Identifier: BSD-3-Clause
"""Formats guessed from the first bytes of a file, never from its name.

The whole file is looked at once, in pieces, before anything is believed of it: that it
can be opened and unpacked, that it is text in UTF-8, and whether it holds quotes or
blank lines, which decide how rows are counted.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
_ARROW = b"ARROW1"
_BLANK = re.compile(r"\n[ \t]*\r?\n")
_HAS_PAIR = re.compile(r"\s(?:qid|\d+):")
_UNREADABLE = (
    (b"PK\x03\x04", "is a zip archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel workbook"),
    (b"%PDF", "is a PDF"),
    (b"SQLite format 3", "is an SQLite database"),
)


@dataclass(frozen=True)
class Sniffed:
    """What the first look at a file found.

    Attributes
    ----------
    format : str
        One of the formats of `ReadOptions`.
    separator : str
        Between the fields of a row, for CSV and TSV.
    gzipped, quoted, blank : bool
        Whether the file is packed, and has quotation marks or blank lines.
    """

    format: str
    separator: str = ","
    gzipped: bool = False
    quoted: bool = False
    blank: bool = False


def sniff(path: Path, wanted: str | None = None) -> Sniffed:
    """Look at a file and guess its format.

    Parameters
    ----------
    path : Path
        The file.
    wanted : str, optional
        The format, if the user named one.

    Returns
    -------
    Sniffed

    Raises
    ------
    FileError
        If there is no such file, it cannot be opened, or is not text.
    """
    start = _first_bytes(path)
    if start[:4] == b"PAR1" or wanted == "parquet":
        if start[:4] != b"PAR1":
            raise FileError(
                path, "this is not a Parquet file: it must begin with PAR1."
            )
        return Sniffed("parquet")
    if start[:6] == _ARROW or wanted == "arrow":
        if start[:6] != _ARROW:
            raise FileError(
                path, "this is not an Arrow file: it must begin with ARROW1."
            )
        return Sniffed("arrow")
    gzipped = start[:2] == b"\x1f\x8b"
    for magic, what in _UNREADABLE:
        if start.startswith(magic):
            raise FileError(path, f"this {what}; export the table as CSV and try that.")
    quoted, blank = _check_text(path, gzipped)
    with open_bytes(path, gzipped) as stream:
        lines = [
            line.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n")
            for line in islice(stream, 50)
        ]
    if not any(line.strip() for line in lines):
        raise FileError(path, "the file has only blank lines.")
    guess = wanted or _guess_text(lines)
    if guess in ("csv", "tsv"):
        separator = "\t" if wanted == "tsv" else _separator(lines[0])
        guess = wanted or ("tsv" if separator == "\t" else "csv")
        return Sniffed(guess, separator, gzipped, quoted, blank)
    return Sniffed(guess, gzipped=gzipped)


@contextmanager
def open_bytes(path: Path, gzipped: bool) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked, and word its troubles as `FileError`.

    Parameters
    ----------
    path : Path
        The file.
    gzipped : bool
        Whether it is packed by gzip.

    Yields
    ------
    binary stream
    """
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
    """Give the lines of a text file that `sniff` has looked at.

    Parameters
    ----------
    path : Path
        The file.
    gzipped : bool
        Whether it is packed by gzip.

    Yields
    ------
    number : int
        Line number, from 1.
    line : str
        The line, without blanks around it.
    """
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
    """Check that a file is UTF-8 text; tell of quotes and of blank lines."""
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
    """Tell a file of orders: a line `100 1`, then lines `0 3 i j k`."""
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
