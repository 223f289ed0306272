# SPDX-License-Identifier: BSD-3-Clause
"""The published sets: one table, ``registry.toml``, and where their files are.

Files in ``$TIEBREAK_DATA``, also packed (``.gz``), are the user's own and not checked;
those in the cache have the SHA-256 of the table.
"""

import hashlib
import os
import tempfile
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from zipfile import BadZipFile, ZipFile


@dataclass(frozen=True)
class DataFile:
    """One file of a set.

    Attributes
    ----------
    name : str
        Path below the data folder, with forward slashes.
    sha256 : str
        Of the file, not packed.
    url, member : str
        Address of the file, or of a ZIP archive and the file's name in it; empty if it
        cannot be downloaded.
    """

    name: str
    sha256: str
    url: str = ""
    member: str = ""


@dataclass(frozen=True)
class DataSet:
    """One published set.

    Attributes
    ----------
    name, what, rows : str
        Name of the set; what it is, in one line; its size.
    terms, publisher, cite : str
        License; page of the publisher; what to cite.
    description : str
        All of this in words.
    files : tuple of DataFile
        Its files.
    by_hand : str
        What to do about files that cannot be downloaded.
    """

    name: str
    what: str
    rows: str
    terms: str
    publisher: str
    cite: str
    description: str = field(repr=False)
    files: tuple[DataFile, ...] = field(repr=False)
    by_hand: str = ""


def _read_registry() -> dict[str, DataSet]:
    text = resources.files(__package__).joinpath("registry.toml").read_text("utf-8")
    sets = {}
    for entry in tomllib.loads(text)["set"]:
        files = tuple(DataFile(**file) for file in entry.pop("files"))
        sets[entry["name"]] = DataSet(**entry, files=files)
    return sets


REGISTRY = _read_registry()
"""All sets by their names."""


def find_set(name: str) -> tuple[DataSet, tuple[DataFile, ...]]:
    """Give a set with all of its files, or with the one file that is named."""
    for dataset in REGISTRY.values():
        if dataset.name == name:
            return dataset, dataset.files
        for file in dataset.files:
            if file.name == name:
                return dataset, (file,)
    raise ValueError(
        f"There is no data set {name!r}. The sets are {', '.join(REGISTRY)}."
    )


def cache_dir() -> Path:
    """Return the folder for downloaded sets, ``~/.cache/tiebreak``; it may not exist.

    Returns
    -------
    pathlib.Path
    """
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(caches).expanduser() / "tiebreak"
    except RuntimeError:  # a user without a home, as in many containers
        user = getattr(os, "getuid", os.getpid)()  # Windows knows no numbers of users
        return Path(tempfile.gettempdir()) / f"tiebreak-{user}"


def find_file(file: DataFile) -> Path | None:
    """Path of a file that is on this machine, or None."""
    if "/" not in file.name:
        return Path(__file__).parent / file.name
    if folder := os.environ.get("TIEBREAK_DATA"):
        own = Path(folder).expanduser() / file.name
        for path in (own, own.with_name(f"{own.name}.gz")):
            if path.is_file():
                return path
    path = cache_dir() / file.name
    return path if path.is_file() and _is_whole(path, file) else None


def _is_whole(path: Path, file: DataFile) -> bool:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def fetch(name: str, *, download: bool = True) -> list[Path]:
    """Find the files of a published set, and download those that are missing.

    Each is looked for in ``$TIEBREAK_DATA``, then in the user's cache. Downloads go
    into the cache and are compared with their SHA-256.

    Parameters
    ----------
    name : str
        Name of a set, or of one of its files.
    download : bool, default=True
        Whether missing files are downloaded.

    Returns
    -------
    list of pathlib.Path
        The files in the order of ``REGISTRY``; the one that was named.

    Examples
    --------
    >>> from tiebreak.datasets import fetch
    >>> [path.name for path in fetch("worldcup2022")]
    ['worldcup2022.csv']
    """
    dataset, files = find_set(name)
    paths = []
    for file in files:
        path = find_file(file)
        if path is None and not (file.url and download):
            why = f"It has no address. {dataset.by_hand}"
            if file.url:
                why = f"Get it: `tiebreak data get {dataset.name}`."
            raise _missing(dataset, file, why)
        paths.append(path or _download(dataset, file))
    return paths


def _missing(dataset: DataSet, file: DataFile, why: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"{file.name!r} is neither in {cache_dir()} nor in the folder $TIEBREAK_DATA. "
        f"{why} Publisher: {dataset.publisher}."
    )


def _download(dataset: DataSet, file: DataFile) -> Path:
    try:
        import pooch
        import requests
    except ImportError as error:
        why = f'Install what downloads it: pip install "tiebreak[download]" ({error}).'
        raise _missing(dataset, file, why) from error
    path = cache_dir() / file.name
    served = file.url.rpartition("/")[2] if file.member else path.name
    known = None if file.member else file.sha256
    pooch.get_logger().info("Terms of %s: %s", dataset.name, dataset.terms)
    try:
        arrived = Path(pooch.retrieve(file.url, known, fname=served, path=path.parent))
        if file.member:
            with ZipFile(arrived) as archive:
                path.write_bytes(archive.read(file.member))
            if not _is_whole(path, file):
                raise ValueError(f"{file.member} in it has another SHA-256.")
    except (requests.RequestException, ValueError, KeyError, BadZipFile) as error:
        if file.member:
            (path.parent / served).unlink(missing_ok=True)
        why = f"{file.url} could not be downloaded: {error}"
        raise _missing(dataset, file, why) from error
    return path
