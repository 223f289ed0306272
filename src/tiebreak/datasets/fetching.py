# SPDX-License-Identifier: BSD-3-Clause
"""Getting a published set: from the data folder, from the cache, or by downloading.

Files in ``$TIEBREAK_DATA`` are the user's own and taken as they are. Files in the cache
are ours: they are compared with their SHA-256, and replaced if they are damaged. A file
appears in the cache when it is complete and right, and not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tiebreak.data.atomic import atomic_folder
from tiebreak.data.messages import warn_user
from tiebreak.datasets.catalog import DataFile, DataSet, Delivery
from tiebreak.datasets.contents import DAMAGED, content_sha256, write_content
from tiebreak.datasets.download import NotServed, Progress, download
from tiebreak.datasets.real import VARIABLE, cache_dir, own_files
from tiebreak.datasets.registry import find_set
from tiebreak.io import FileError


class FetchError(FileError):
    """A published set that could not be had.

    Parameters
    ----------
    name : str or Path
        The set or the file.
    reason : str
        What was wrong, what was got and expected, and what to try, in one line.
    """

    def __init__(self, name: str | Path, reason: str) -> None:
        super().__init__(Path(name), reason)


def fetch(name: str | DataSet, *, progress: Progress | None = None) -> Path:
    """Find a published set, or download it into the cache.

    A set that is complete in ``$TIEBREAK_DATA`` is taken from there as it is. Otherwise
    it is taken from the cache (see `cache_dir`), where every file is compared with its
    SHA-256; a damaged one is reported by a warning and downloaded again, and so is a
    missing one. Look at ``REGISTRY[name].terms`` for what you may do with a set.

    Parameters
    ----------
    name : str or DataSet
        Name of a set, or of one of its files; or a set of your own.
    progress : callable, optional
        Is called as ``progress(url, done, total)`` while something is downloaded, with
        the number of bytes so far, and of all bytes or None where it is not known.

    Returns
    -------
    pathlib.Path
        The folder of the set, or the file that was named.

    Raises
    ------
    ValueError
        If there is no such set.
    FetchError
        If the set cannot be downloaded. The message says why and what to try. It is
        a ValueError, as all errors about files are.
    OSError
        If the cache cannot be written to. Nothing incomplete is left behind.

    Examples
    --------
    >>> from tiebreak.datasets import fetch
    >>> fetch("worldcup2022.csv").name
    'worldcup2022.csv'
    """
    paths = fetch_files(name, progress=progress)
    if isinstance(name, str) and find_set(name)[0].name != name:
        return paths[0]
    return paths[0].parent


def fetch_files(
    name: str | DataSet, *, progress: Progress | None = None
) -> tuple[Path, ...]:
    """Find the files of a published set, or download them; see `fetch`.

    Parameters
    ----------
    name : str or DataSet
        Name of a set, or of one of its files; or a set of your own.
    progress : callable, optional
        Is told how far a download is.

    Returns
    -------
    tuple of pathlib.Path
        The files, in the order of the registry.
    """
    dataset, files = (name, name.files) if isinstance(name, DataSet) else find_set(name)
    own = own_files(dataset, files)
    if own is not None:
        return own
    root = cache_dir()
    for delivery in dataset.deliveries:
        wanted = [file for file in delivery.files if file in files]
        # A list, so that every damaged file is reported.
        if not all([_is_right(root, file, delivery) for file in wanted]):
            _deliver(dataset, delivery, root, progress)
    return tuple(root / file.name for file in files)


def _is_right(root: Path, file: DataFile, delivery: Delivery) -> bool:
    """Look whether the cache has a file, and warn if it is another one."""
    path = root / file.name
    if not path.is_file():
        return False
    found = content_sha256(path)
    if found == file.sha256:
        return True
    if not delivery.served:
        warn_user(
            f"{path} is not the file that this version of tiebreak was tested with: "
            f"the SHA-256 of its content is {found}, expected {file.sha256}. It is "
            "used as it is."
        )
        return True
    what = (
        "cannot be unpacked"
        if found == DAMAGED
        else f"is damaged or old: the SHA-256 of its content is {found}, expected "
        f"{file.sha256}"
    )
    warn_user(f"{path} {what}. It is downloaded again.")
    return False


def _deliver(
    dataset: DataSet, delivery: Delivery, root: Path, progress: Progress | None
) -> None:
    """Download what is served, and put the files that are made of it in the cache."""
    if not delivery.served:
        raise FetchError(
            dataset.name,
            f"this set cannot be downloaded. {delivery.by_hand} Publisher: "
            f"{dataset.publisher}. {_by_yourself(dataset, 'Then')}",
        )
    folder = root / dataset.name
    names = [file.name.removeprefix(f"{dataset.name}/") for file in delivery.files]
    # What is downloaded lies beside the files that are made of it, and goes when they
    # come: all of them at once, or none.
    with atomic_folder(folder, names) as temporary:
        contents = _make(dataset, delivery, temporary / ".served", progress)
        for file, name, content in zip(delivery.files, names, contents, strict=True):
            write_content(temporary / name, content)
            found = content_sha256(temporary / name)
            if found != file.sha256:
                raise FetchError(
                    file.name,
                    "what was downloaded is another version: the SHA-256 of its "
                    f"content is {found}, expected {file.sha256}. Look at "
                    f"{dataset.publisher}. {_by_yourself(dataset)}",
                )


def _make(
    dataset: DataSet, delivery: Delivery, scratch: Path, progress: Progress | None
) -> Sequence[bytes]:
    """Download what is served, and make the contents of the files of it."""
    parts = []
    for served in delivery.served:
        try:
            download(served, scratch, progress)
        except NotServed as reason:
            raise FetchError(
                dataset.name,
                f"{reason}. Try again later; if it stays so, look at "
                f"{dataset.publisher}. {_by_yourself(dataset)}",
            ) from reason
        parts.append(scratch.read_bytes())
    try:
        return delivery.make(parts)
    except ValueError as error:
        raise FetchError(
            dataset.name,
            f"{delivery.served[0].urls[0]} serves something else than expected: "
            f"{error}. Look at {dataset.publisher}. {_by_yourself(dataset)}",
        ) from error


def _by_yourself(dataset: DataSet, first: str = "Or") -> str:
    return (
        f"{first} put the files into a folder {dataset.name!r} yourself, and set "
        f"{VARIABLE} to the folder that contains it."
    )
