# SPDX-License-Identifier: BSD-3-Clause
"""Where published sets are on this machine.

Published data never ship with the package. A file is looked for in the folder named by
the environment variable ``TIEBREAK_DATA``, then in the user's cache folder; the first
one found is taken. The layout below either folder is ``<set>/<file>``, for example
``football/results.csv.gz``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tiebreak.datasets.registry import REGISTRY, DataFile, DataSet

VARIABLE = "TIEBREAK_DATA"


def cache_dir() -> Path:
    r"""Return the folder in which the user's copies of published data sets are kept.

    ``$XDG_CACHE_HOME/tiebreak`` when that variable holds an absolute path (a relative
    one is ignored, as the XDG base directory specification asks). Otherwise
    ``~/Library/Caches/tiebreak`` on macOS, ``%LOCALAPPDATA%\tiebreak`` on Windows and
    ``~/.cache/tiebreak`` elsewhere; without a home, below the folder of temporary
    files. The folder is not created.

    Returns
    -------
    pathlib.Path
        An absolute path, which may not exist.
    """
    # Not pooch.os_cache: it names another folder on Windows, and XDG only on Linux.
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        if sys.platform == "darwin":
            base = str(_home() / "Library" / "Caches")
        elif sys.platform == "win32":
            local = _home() / "AppData" / "Local"
            base = os.environ.get("LOCALAPPDATA") or str(local)
        else:
            base = str(_home() / ".cache")
    return Path(base) / "tiebreak"


def _home() -> Path:
    """Give the home of the user, or a folder of temporary files for one without."""
    try:
        return Path.home()
    except RuntimeError:  # a number without a name, as in many containers
        return Path(tempfile.gettempdir()) / f"tiebreak-{os.getuid()}"


def data_folder() -> Path | None:
    """``$TIEBREAK_DATA``, which may not exist; None if the variable is not set."""
    root = os.environ.get(VARIABLE)
    return Path(root).expanduser() if root else None


def package_folder() -> Path:
    """Folder of the sets that ship with this package."""
    return Path(__file__).parent


def own_files(dataset: DataSet, files: Sequence[DataFile]) -> tuple[Path, ...] | None:
    """The wanted files in the package or data folder as they are; None if not all."""
    folder = package_folder() if dataset.bundled else data_folder()
    if folder is None or not _has_all(folder, files):
        return None
    return tuple(folder / file.name for file in files)


def _has_all(root: Path, files: Sequence[DataFile]) -> bool:
    return all((root / file.name).is_file() for file in files)


def _roots() -> list[Path]:
    folder = data_folder()
    return [cache_dir()] if folder is None else [folder, cache_dir()]


def data_path(name: str) -> Path:
    """Return the path of a published file or folder, which exists.

    Nothing is downloaded: loaders and `tiebreak.datasets.fetch` do that.

    Parameters
    ----------
    name : str
        Path below the data folder, such as ``"football/results.csv.gz"``.

    Returns
    -------
    pathlib.Path
        ``$TIEBREAK_DATA/<name>`` when it exists, else ``<cache_dir()>/<name>``.

    Raises
    ------
    ValueError
        If `name` is empty, absolute, or leaves the data folder by ``..``.
    FileNotFoundError
        If neither folder has it.
    """
    for path in _candidates(name):
        if path.exists():
            return path
    raise missing_file(name)


def _candidates(name: str) -> list[Path]:
    """Where a file or folder may be, first choice first."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name:
        raise ValueError(
            f"name must be a path below the data folder, got {name!r}. Expected "
            "something like 'football/results.csv.gz', with forward slashes."
        )
    return [root.joinpath(*parts) for root in _roots()]


def missing_file(name: str, *, failure: str | None = None) -> FileNotFoundError:
    """Make the error that says where a file was looked for, why not got, what to do."""
    lines = [f"{name!r} was not found. Looked for:"]
    lines += [f"  {path}" for path in _candidates(name)]
    folder = data_folder()
    if folder is None:
        lines.append(f"The environment variable {VARIABLE} is not set.")
    elif not folder.is_dir():
        lines.append(f"{VARIABLE} is {str(folder)!r}, which is not a folder.")
    dataset = PurePosixPath(name).parts[0]
    known = REGISTRY.get(dataset)
    if failure is not None:
        lines.append(f"It could not be downloaded either: {failure}")
    elif known is not None and not known.bundled:
        lines.append(f"The set is published at {known.publisher}.")
        lines.append(
            f"It cannot be downloaded. {known.by_hand}"
            if known.by_hand
            else f"`tiebreak data get {dataset}` downloads it, and so does "
            f"tiebreak.datasets.fetch({dataset!r})."
        )
    lines.append(
        f"You can also put it at one of the places above, or set {VARIABLE} to the "
        f"folder that contains {dataset!r}."
    )
    return FileNotFoundError("\n".join(lines))


@dataclass(frozen=True)
class Location:
    """Where a set is now, and the folder that has all of its files, if one has."""

    place: Literal["bundled", "data folder", "cache", "in part", "not here"]
    folder: Path | None = None


def locate(dataset: DataSet) -> Location:
    """Say where a set is, without reading its files."""
    if dataset.bundled:
        return Location("bundled", package_folder())
    folder = data_folder()
    if folder is not None and _has_all(folder, dataset.files):
        return Location("data folder", folder / dataset.name)
    if _has_all(cache_dir(), dataset.files):
        return Location("cache", cache_dir() / dataset.name)
    if any((root / file.name).is_file() for root in _roots() for file in dataset.files):
        return Location("in part")
    return Location("not here")
