# SPDX-License-Identifier: BSD-3-Clause
"""Numbers from the first sheet of a workbook in the old binary format of Excel.

Two publishers still deliver in it. Only what their files need is read: a compound file
with sectors of any size, the stream ``Workbook`` (BIFF 8) at least 4096 bytes long, and
the records that hold numbers. Text and empty cells are NaN.

A record is its kind, its length and its data; a cell's data begin with row and column.
An RK number is 4 bytes: two flags (bit 0: a hundredth, bit 1: a whole number), and
either 30 bits of a whole number or the upper 30 bits of a double.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = bytes.fromhex("d0cf11e0a1b11ae1")
_LAST_SECTOR = 0xFFFFFFF9  # what is above marks an end, not a sector
_BOF, _EOF, _SHEET = 0x0809, 0x000A, 0x0085
_NUMBER, _RK, _MANY_RK, _FORMULA = 0x0203, 0x027E, 0x00BD, 0x0006
_VERSION_8 = 0x0600


def read_numbers(content: bytes) -> NDArray[np.float64]:
    """Read the numbers of the first sheet.

    Parameters
    ----------
    content : bytes
        The file.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_columns)
        From the first row and column of the sheet to the last ones that hold a number;
        NaN where a cell holds none.

    Raises
    ------
    ValueError
        If it is no such workbook, or ends too early.
    """
    try:
        stream = _workbook(content)
        # Read twice, because a list of millions of cells is far larger than the sheet.
        n_rows = n_columns = 0
        for row, column, values in _cells(stream):
            n_rows = max(n_rows, row + 1)
            n_columns = max(n_columns, column + len(values))
        numbers = np.full((n_rows, n_columns), np.nan)
        for row, column, values in _cells(stream):
            numbers[row, column : column + len(values)] = values
    except (struct.error, IndexError) as error:
        raise ValueError("the workbook (.xls) is cut short or damaged") from error
    if not numbers.size:
        raise ValueError("the first sheet of the workbook (.xls) holds no numbers")
    return numbers


def _workbook(content: bytes) -> bytes:
    """Put the stream ``Workbook`` of a compound file together from its sectors."""
    if not content.startswith(_SIGNATURE):
        raise ValueError("it is no workbook in the format .xls")
    size = 1 << struct.unpack_from("<H", content, 30)[0]
    (directory,) = struct.unpack_from("<I", content, 48)

    def sector(number: int) -> bytes:
        data = content[(number + 1) * size : (number + 2) * size]
        if not data:
            raise IndexError(number)
        return data

    table = np.concatenate(
        [np.frombuffer(sector(number), "<u4") for number in _tables(content, sector)]
    )

    def chain(start: int) -> bytes:
        parts = []
        while start <= _LAST_SECTOR:
            parts.append(sector(start))
            if len(parts) > len(table):
                raise IndexError(start)
            start = int(table[start])
        return b"".join(parts)

    entries = chain(directory)
    for at in range(0, len(entries), 128):
        (length,) = struct.unpack_from("<H", entries, at + 64)
        name = entries[at : at + length].decode("utf-16-le", "replace").rstrip("\0")
        if name == "Workbook":
            start, n_bytes = struct.unpack_from("<II", entries, at + 116)
            return chain(start)[:n_bytes]
    raise ValueError("the file .xls has no part called Workbook")


def _tables(content: bytes, sector: Callable[[int], bytes]) -> list[int]:
    """List the sectors that hold the table of which sector follows which."""
    (count,) = struct.unpack_from("<I", content, 44)
    following, _ = struct.unpack_from("<II", content, 68)
    numbers = list(struct.unpack_from("<109I", content, 76))
    while following <= _LAST_SECTOR and len(numbers) < count:
        more = np.frombuffer(sector(following), "<u4").tolist()
        following = more.pop()
        numbers += more
    return numbers[:count]


def _cells(stream: bytes) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Give row, first column and values of every run of numbers of the first sheet."""
    for kind, at, length in _records(stream, _first_sheet(stream)):
        if kind in (_NUMBER, _FORMULA):
            # A formula whose result is no number ends in two bytes FF, which is a NaN.
            row, column, _, value = struct.unpack_from("<HHHd", stream, at)
            yield row, column, np.array([value])
        elif kind == _RK:
            row, column = struct.unpack_from("<HH", stream, at)
            yield row, column, _decode(stream[at + 6 : at + 10])
        elif kind == _MANY_RK:
            row, column = struct.unpack_from("<HH", stream, at)
            pairs = np.frombuffer(stream[at + 4 : at + length - 2], np.uint8)
            yield row, column, _decode(pairs.reshape(-1, 6)[:, 2:].tobytes())


def _first_sheet(stream: bytes) -> int:
    for kind, at, _ in _records(stream, 0):
        if kind == _SHEET:
            return int(struct.unpack_from("<I", stream, at)[0])
    raise ValueError("the workbook (.xls) has no sheet")


def _records(stream: bytes, start: int) -> Iterator[tuple[int, int, int]]:
    """Give kind, place and length of every record of one part of the workbook."""
    kind, length = struct.unpack_from("<HH", stream, start)
    version = struct.unpack_from("<H", stream, start + 4)[0]
    if kind != _BOF or version != _VERSION_8:
        raise ValueError("the workbook (.xls) is not of the version of Excel 97")
    while kind != _EOF:
        yield kind, start + 4, length
        start += 4 + length
        kind, length = struct.unpack_from("<HH", stream, start)


def _decode(packed: bytes) -> NDArray[np.float64]:
    """Decode RK numbers, which are 4 bytes each."""
    raw = np.frombuffer(packed, "<i4")
    doubles = ((raw.astype(np.int64) & 0xFFFFFFFC) << 32).view(np.float64)
    values = np.where(raw & 2, (raw >> 2).astype(np.float64), doubles)
    return np.where(raw & 1, values / 100, values)
