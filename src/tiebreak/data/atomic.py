# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all, alone or several together.

Everything is written to a temporary folder next to its target and renamed at the end.
The folder is locked while its process lives, and removed when the block ends, also with
an error; a program that ends inside its blocks calls `abandon`. What a killed process
left is removed by the next one that writes there.
"""

import errno
import glob
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is locked and only we remove ours
    fcntl = None  # type: ignore[assignment]

_MARK = ".tiebreak-"
_OLD = f"{_MARK}old"
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


def is_temporary(name: str) -> bool:
    """Whether a folder is one of ours, of a process that writes or was killed."""
    return name.startswith(_MARK)


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file next to its target, and rename it; it keeps the old file's mode."""
    target = Path(target)
    _check_replaceable(target)
    with temporary_folder(target.parent, target) as temporary:
        yield temporary / target.name
        _flush(temporary / target.name, target)
        os.replace(temporary / target.name, target)


@contextmanager
def atomic_folder(
    folder: str | os.PathLike[str], names: Collection[str], stale: Collection[str] = ()
) -> Iterator[Path]:
    """Write the named files of a folder together, or none; stale ones are removed.

    A folder that holds nothing else is replaced as one, by renaming. Files beside
    others, or where somebody may be inside, are replaced one after the other.
    """
    # Whether they can be written is found out before work is done.
    shown, folder = Path(folder), Path(os.path.realpath(folder))
    stale = {*stale}.difference(names)
    alone = not _others(folder, {*names, *stale}) and _is_movable(folder)
    place = folder.parent if alone else folder
    with _made_folder(place), temporary_folder(place, shown) as temporary:
        for name in names:
            _check_replaceable(shown / name)
        new = temporary / folder.name
        new.mkdir()
        yield new
        for name in names:
            _flush(new / name, folder / name)
        with _undisturbed():
            if alone and not _others(folder, {*names, *stale}):
                _replace_folder(new, folder)
                return
            for name in names:
                os.replace(new / name, folder / name)
            for name in stale:
                (folder / name).unlink(missing_ok=True)


def _others(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder holds anything but the named files."""
    held = os.listdir(folder) if folder.is_dir() else []
    return any(name not in names and not is_temporary(name) for name in held)


def _is_movable(folder: Path) -> bool:
    """Whether a folder can be made or renamed, and we are not inside of it."""
    if folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    place = next(path for path in folder.parents if path.exists())
    inside = Path(os.path.realpath(os.curdir)).is_relative_to(folder)
    free = place.is_dir() and os.access(place, os.W_OK)
    return free and not inside and not os.path.ismount(folder)


def _replace_folder(new: Path, folder: Path) -> None:
    old = new.with_name(_OLD) / folder.name
    if folder.exists():
        old.parent.mkdir()
        shutil.copymode(folder, new)
        os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        _restore(new.parent, folder.parent)
        raise


def _restore(temporary: Path, place: Path) -> None:
    """Put back a folder that was moved away for one that did not come."""
    for old in (temporary / _OLD).glob("*"):
        if not (place / old.name).exists():
            os.replace(old, place / old.name)


def check_folder(
    folder: str | os.PathLike[str], names: Collection[str], stale: Collection[str] = ()
) -> None:
    """Check that files can be written to a folder, without leaving a trace."""
    with suppress(_Enough), atomic_folder(folder, names, stale):
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
def _made_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
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


@contextmanager
def temporary_folder(place: Path, target: Path) -> Iterator[Path]:
    """Make a locked folder that vanishes at the end; errors in it name the target."""
    _remove_dead(place)
    temporary, lock = place / f"{_MARK}{secrets.token_hex(8)}", None
    try:
        while not temporary.exists():  # else removed by another, before it was locked
            temporary.mkdir()
            _unfinished[temporary] = None
            lock = _lock(temporary, wait=True)
        yield temporary
    except OSError as error:
        named = temporary if error.filename is None else Path(error.filename)
        if error.errno is None or not named.is_relative_to(temporary):
            raise
        known = target.joinpath(*named.relative_to(temporary).parts[1:])
        raise OSError(error.errno, error.strerror, str(known)) from error
    finally:
        _remove(temporary)
        if lock is not None:
            os.close(lock)


def _remove_dead(place: Path) -> None:
    """Remove what killed processes left."""
    for temporary in place.glob(f"{_MARK}*"):
        if (lock := _lock(temporary, wait=False)) is not None:
            with suppress(OSError):
                _restore(temporary, place)
            _remove(temporary)
            os.close(lock)


def _lock(folder: Path, wait: bool) -> int | None:
    """Lock a folder until its number is closed, or this process ends."""
    if fcntl is None:
        return None
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(number)
        else:
            return number
    return None


def _check_replaceable(target: Path) -> None:
    if target.exists() and not target.is_file():
        why = "Is not a regular file, so it is not replaced"
        raise FileExistsError(errno.EEXIST, why, str(target))
    if target.exists() and not os.access(target, os.W_OK):
        why = "Is write-protected, so it is not replaced"
        raise PermissionError(errno.EACCES, why, str(target))


def _flush(temporary: Path, target: Path) -> None:
    """Wait until a file is on the disk, and give it the mode of the old one."""
    with open(temporary, "r+b") as written:  # Windows flushes no other
        os.fsync(written.fileno())
    if target.exists():
        shutil.copymode(target, temporary)


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
