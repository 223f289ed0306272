# SPDX-License-Identifier: BSD-3-Clause
"""The records of a CSV file with their lines, for what polars does not tell.

A record is a row of the table. It ends with the line, unless the line ends within
quotation marks. This is slower than polars and only used to find and count lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tiebreak.data.files.errors import FileError, plural
from tiebreak.data.files.sniff import Sniffed, open_bytes

__all__ = ["check_records", "read_records"]

_QUOTED = re.compile(rb'"[^"]*(?:""[^"]*)*"')
_MARK = b"\xef\xbb\xbf"


def read_records(path: Path, gzipped: bool) -> Iterator[tuple[int, bytes]]:
    """Give the records of a file, the header first.

    Parameters
    ----------
    path : Path
        The file.
    gzipped : bool
        Whether it is packed by gzip.

    Yields
    ------
    line : int
        Number of the first line of the record, from 1.
    record : bytes
        The record, with its line end.
    """
    with open_bytes(path, gzipped) as stream:
        start, inside = 1, False
        parts: list[bytes] = []
        for number, line in enumerate(stream, start=1):
            parts.append(line)
            inside ^= line.count(b'"') % 2 == 1
            if not inside:
                yield start, b"".join(parts)
                start, parts = number + 1, []
        if parts:
            yield start, b"".join(parts)


def check_records(path: Path, sniffed: Sniffed, expected: int) -> None:
    """Refuse records with stray quotation marks, or of another length.

    Parameters
    ----------
    path : Path
        The file.
    sniffed : Sniffed
        What the first look found.
    expected : int
        Number of fields of the header.

    Raises
    ------
    FileError
        If there are such records; the message counts them and names the first lines.
    """
    separator = sniffed.separator.encode()
    ragged: list[str] = []
    stray: list[str] = []
    for line, record in read_records(path, sniffed.gzipped):
        if not record.strip(b" \r\n"):
            continue
        bare = record
        if b'"' in record:
            bare = _QUOTED.sub(b"", record)
            if b'"' in bare or _is_stray(record, separator):
                stray.append(f"line {line}")
                continue
        found = bare.count(separator) + 1
        if found != expected:
            ragged.append(f"line {line} ({found})")
    if stray:
        raise FileError(
            path,
            f"{plural(len(stray), 'row')} with a quotation mark inside a field, so "
            f"nothing was read: {_first(stray)}. Quote the whole field and write the "
            'mark twice: "5"" pipe".',
        )
    if ragged:
        raise FileError(
            path,
            f"{plural(len(ragged), 'row')} with another number of fields than the "
            f"{expected} of the header, so nothing was read: {_first(ragged)}.",
        )


def _is_stray(record: bytes, separator: bytes) -> bool:
    """Tell whether a quoted section is only a part of its field."""
    for match in _QUOTED.finditer(record):
        start, end = match.span()
        begins = start == 0 or record[start - 1 : start] == separator
        if not begins and record[:start] != _MARK:
            return True
        if record[end : end + 1] not in (b"", separator, b"\r", b"\n"):
            return True
    return False


def _first(places: list[str]) -> str:
    more = len(places) - 5
    return ", ".join(places[:5]) + (f" and {more:,} more" if more > 0 else "")
