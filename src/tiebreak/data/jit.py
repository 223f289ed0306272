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
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from tiebreak.data.messages import TiebreakWarning, warn_user


def njit(*, plain: int = 0, **options: Any) -> Any:
    """Compile a function when it is first called, as ``numba.njit`` does.

    Numba takes half a second to load. Until something needs it, calls whose arrays have
    at most ``plain`` entries in all run as Python. This is for functions that write the
    same again if they are called again after an arithmetic error.
    """
    return lambda function: Compiled(function, plain, options)


TINY = 256  # entries: the results of some ten pairs
_FIRST = Lock()


class Compiled:
    """A function that is compiled when it is first called."""

    # Entries that may still be gone through in Python, at about a microsecond each.
    spare = 100_000

    def __init__(
        self, function: Callable[..., Any], plain: int, options: dict[str, Any]
    ) -> None:
        self._function, self._plain, self._options = function, plain, options
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function, or while all is tiny the plain one."""
        if self._plain and Compiled.spare > 0:
            entries = sum(getattr(arg, "size", 0) for arg in args)
            Compiled.spare -= entries
            if entries <= self._plain:
                # What is infinite in compiled code is an error or a warning in Python.
                with suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
                    return self._function(*args)
        return self.dispatcher(*args)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba calls."""
        with _FIRST:
            numba = _import_numba()
        try:
            return numba.njit(**self._options)(self._function)
        except RuntimeError:  # there is no place for the cache
            options = self._options | {"cache": _has_cache()}
            return numba.njit(**options)(self._function)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __reduce__(self) -> str:
        return self._function.__qualname__  # found again by its name


@cache
def _import_numba() -> Any:
    """Import numba, and let functions that it compiles call those of this module."""
    import numba
    from numba.core import types
    from numba.extending import typeof_impl

    Compiled.spare = 0

    @typeof_impl.register(Compiled)
    def _type_of(value: Compiled, context: Any) -> Any:
        return types.Dispatcher(value.dispatcher)

    return numba


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
    config = _import_numba().config  # which it has read from the environment before
    config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = str(folder / "numba")
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
