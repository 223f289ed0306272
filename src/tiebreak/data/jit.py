# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions, also where nothing can be written.

Numba keeps what it compiled beside the sources or in the user's cache folder, and
refuses to compile if it may write to neither: a package installed by another user, and
no home, as in many containers. Then a private folder of temporary files takes it, which
later runs find again; and if there is none, every process compiles for itself.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from tiebreak.data.messages import TiebreakWarning, warn_user


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as ``numba.njit`` does, also without a place for its cache."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # there is no place for the cache
            return numba.njit(**options | {"cache": _has_cache()})(function)

    return compiled


@cache
def _has_cache() -> bool:
    """Let numba and matplotlib write to a private folder; say whether there is one."""
    try:
        folder = _private_folder()
    except OSError:
        warn_user(
            "There is no folder to keep compiled code in: the package, the user's "
            "cache and the folder of temporary files are all write-protected. Every "
            "process compiles anew, which takes seconds. Set NUMBA_CACHE_DIR to a "
            "folder that can be written.",
            TiebreakWarning,
        )
        return False
    # For processes that start later; in this one numba has read the environment.
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "numba")
    numba.config.CACHE_DIR = str(folder / "numba")  # type: ignore[attr-defined]
    os.environ.setdefault("MPLCONFIGDIR", str(folder / "matplotlib"))
    return True


def _private_folder() -> Path:
    """Make or find a folder of temporary files that nobody else can write to."""
    # What is cached is code that will run, so a folder that another user made in our
    # name, or can write to, will not do.
    if hasattr(os, "getuid"):
        folder = Path(tempfile.gettempdir()) / f"tiebreak-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            status = folder.lstat()
        except OSError:
            pass
        else:
            ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if ours and not stat.S_IMODE(status.st_mode) & 0o077:
                return folder
    folder = Path(tempfile.mkdtemp(prefix="tiebreak-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
