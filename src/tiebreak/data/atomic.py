# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file beside its target and rename it at the end.

    Readers see the old file or the new one, never half of one, also when the program
    is interrupted or the disk is full. A file that is replaced keeps its mode.

    Parameters
    ----------
    target : path
        The file to be made or replaced.

    Yields
    ------
    Path
        A temporary file in the same directory, with the same suffix. It replaces the
        target when the block ends without an error, and is removed otherwise.
    """
    target = Path(target)
    # Not tempfile: its files are readable by their owner only.
    temporary = target.with_name(f".tiebreak-{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
