# SPDX-License-Identifier: BSD-3-Clause
"""What a stored file holds, packed or not, and whether that is what it should be.

Two programs pack the same table into different bytes, so a packed file is known by
what it unpacks to.
"""

from __future__ import annotations

import gzip
import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

DAMAGED = "damaged"
"""Stands for the SHA-256 of a file that cannot be unpacked."""

_BLOCK = 1 << 20


def content_sha256(path: Path) -> str:
    """Give the SHA-256 of what a file holds.

    Parameters
    ----------
    path : Path
        A file. If its name ends in ``.gz``, the unpacked content counts; if it ends in
        ``.npz``, the unpacked arrays one after another, in the order of their names.

    Returns
    -------
    str
        In hexadecimal digits, or `DAMAGED`.
    """
    digest = hashlib.sha256()
    try:
        for block in _blocks(path):
            digest.update(block)
    except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError):
        return DAMAGED
    return digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as arrays:
            for name in sorted(arrays.namelist()):
                with arrays.open(name) as stream:
                    yield from _read(stream)
    elif path.suffix == ".gz":
        with gzip.open(path) as stream:
            yield from _read(stream)
    else:
        with path.open("rb") as stream:
            yield from _read(stream)


def _read(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while block := stream.read(_BLOCK):
        yield block


def write_content(path: Path, content: bytes) -> None:
    """Write a file, packed by gzip if its name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        The file.
    content : bytes
        What it should hold. No time and no name is packed with it, so that the same
        content gives the same file.
    """
    with path.open("wb") as file:
        if path.suffix != ".gz":
            file.write(content)
            return
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(content)
