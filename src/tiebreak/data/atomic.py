# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all, alone or several together.

Everything is written under another name next to its target and renamed at the end.
Unfinished files are removed when the block ends with an error or an interrupt. A
program that ends without leaving its blocks calls `abandon`.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_MARK = ".tiebreak-"
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")

# What is to vanish if it is not finished: files and folders of ours, with all they
# hold, and folders that were made on the way, if they are empty.
_unfinished: dict[Path, None] = {}
_made: dict[Path, None] = {}


def abandon() -> None:
    """Remove everything unfinished, in a program that is about to end."""
    for path in list(_unfinished):
        _remove(path)
    _unmake(list(_made))


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file next to its target, and rename it; it keeps the old file's mode."""
    target = Path(target)
    temporary = _temporary_name(target, target.suffix)
    with _named_by(target, temporary), _vanishing(temporary):
        yield temporary
        _flush(temporary, target)
        os.replace(temporary, target)


@contextmanager
def atomic_folder(
    folder: str | os.PathLike[str], names: Sequence[str]
) -> Iterator[Path]:
    """Write the named files of a folder together, or none of them."""
    # Whether they can be written is found out first, before work is done that would be
    # lost. Only a loss of power or a kill during the last renaming can break this.
    folder = Path(folder)
    temporary = _temporary_name(folder / "any")
    with _named_by(folder, temporary), made_folder(folder), _vanishing(temporary):
        for name in names:
            _check_replaceable(folder / name)
        temporary.mkdir()
        yield temporary
        for name in names:
            _flush(temporary / name, folder / name)
        with _undisturbed():
            _put_in_place(temporary, folder, names)


def check_folder(folder: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Check that files can be written to a folder, without leaving a trace."""
    with suppress(_Enough), atomic_folder(folder, names):
        raise _Enough


def refuse_to_replace(inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
    """Refuse to write to a file, folder or pattern that is read."""
    read = {source: _files_of(os.fspath(source)) for source in inputs if source}
    for target in outputs:
        if not target or not os.path.exists(target):
            continue
        for source, files in read.items():
            if any(os.path.samefile(target, file) for file in files):
                why = f"It is read too, as {source}; give another name"
                raise FileExistsError(errno.EEXIST, why, str(target))


def _files_of(source: str) -> list[str]:
    """Give a file, the files of a folder, or those that fit a pattern."""
    if os.path.isdir(source):
        return [entry.path for entry in os.scandir(source) if entry.is_file()]
    return [source] if os.path.exists(source) else glob.glob(source)


class _Enough(Exception):  # noqa: N818 - it is no error
    """Leaves a block of `atomic_folder` without writing anything."""


@contextmanager
def made_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder and its parents; remove them if they stay empty."""
    folder = Path(folder)
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    _made.update(dict.fromkeys(missing))
    try:
        if not missing and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "Is not a folder", str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    finally:
        _unmake(missing)


def _temporary_name(target: Path, suffix: str = "") -> Path:
    # Not tempfile: its files are readable by their owner only.
    return target.with_name(f"{_MARK}{secrets.token_hex(8)}{suffix}")


@contextmanager
def _vanishing(path: Path) -> Iterator[None]:
    """Remove a file or folder at the end of a block, whatever happens."""
    _unfinished[path] = None
    try:
        yield
    finally:
        _remove(path)


@contextmanager
def _named_by(target: Path, temporary: Path) -> Iterator[None]:
    """Let errors name the target instead of the temporary file."""
    try:
        yield
    except OSError as error:
        named = temporary if error.filename is None else Path(error.filename)
        if error.errno is None or not named.is_relative_to(temporary):
            raise
        known = target / named.relative_to(temporary)
        raise OSError(error.errno, error.strerror, str(known)) from error


def _check_replaceable(target: Path) -> None:
    if target.exists() and not target.is_file():
        why = "Is not a regular file, so it is not replaced"
        raise FileExistsError(errno.EEXIST, why, str(target))
    if target.exists() and not os.access(target, os.W_OK):
        why = "Is write-protected, so it is not replaced"
        raise PermissionError(errno.EACCES, why, str(target))


def _flush(temporary: Path, target: Path) -> None:
    """Wait until a file is on the disk, and give it the mode of the old one."""
    with open(temporary, "rb") as written:
        os.fsync(written.fileno())
    if target.exists():
        shutil.copymode(target, temporary)


def _put_in_place(temporary: Path, folder: Path, names: Sequence[str]) -> None:
    """Rename all files, or none: after a failure the old ones are restored."""
    kept = temporary / f"{_MARK}old"
    kept.mkdir()
    for name in names:
        if (folder / name).exists():
            shutil.copy2(folder / name, kept / name)
    done: list[str] = []
    try:
        for name in names:
            os.replace(temporary / name, folder / name)
            done.append(name)
    except BaseException:
        for name in done:
            if (kept / name).exists():
                os.replace(kept / name, folder / name)
            else:
                (folder / name).unlink()
        raise


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back signals until the block is done (main thread only)."""
    came: list[int] = []
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        known = [getattr(signal, n) for n in _SIGNALS if hasattr(signal, n)]
        current = {number: signal.getsignal(number) for number in known}
        # A handler that Python did not install, None, could not be put back.
        ignored = (None, signal.SIG_IGN)
        handlers = {n: each for n, each in current.items() if each not in ignored}
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def _remove(path: Path) -> None:
    # A folder that cannot be emptied must not hide the error that led here.
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    _unfinished.pop(path, None)


def _unmake(folders: list[Path]) -> None:
    """Remove folders that are empty, the innermost first."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
        _made.pop(folder, None)
