# SPDX-License-Identifier: BSD-3-Clause
"""What loaders do for a file: find it on this machine, or download it and say so."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from tiebreak.data.messages import warn_user
from tiebreak.datasets.catalog import DataSet, Delivery
from tiebreak.datasets.fetching import FetchError, fetch_files
from tiebreak.datasets.real import cache_dir, data_path, missing_file
from tiebreak.datasets.registry import find_set


def obtain(name: str, *, download: bool = True) -> Path:
    """Return the path of a published file, which is downloaded if it must be.

    A file in ``$TIEBREAK_DATA`` or in the cache is taken as it is, without a look at
    the network. Otherwise it is downloaded into the cache and compared with its
    SHA-256. A warning says so before the first byte: what, from where, to which folder,
    and on what terms.

    Parameters
    ----------
    name : str
        A file of the registry, such as ``"football/results.csv.gz"``.
    download : bool, default=True
        Whether it may be downloaded.

    Returns
    -------
    pathlib.Path
        The file, which exists.

    Raises
    ------
    FileNotFoundError
        If it is not on this machine, and may not or cannot be downloaded. The message
        says where it was looked for, why the download failed, and what to try.
    """
    try:
        return data_path(name)
    except FileNotFoundError:
        dataset, (file,) = find_set(name)
        delivery = next(each for each in dataset.deliveries if file in each.files)
        if not download or not delivery.served:
            raise
    warn_user(_notice(dataset, delivery))
    try:
        (path,) = fetch_files(name)
    except FetchError as error:
        raise missing_file(name, failure=error.reason) from error
    except OSError as error:
        why = f"{error.strerror or error} ({error.filename or cache_dir()})."
        raise missing_file(name, failure=why) from error
    return path


def _notice(dataset: DataSet, delivery: Delivery) -> str:
    hosts = sorted({urlsplit(served.urls[0]).netloc for served in delivery.served})
    size = sum(served.limit for served in delivery.served)
    amount = f"{size / 1e6:.1f} MB" if size >= 50_000 else f"{size / 1e3:.1f} kB"
    return (
        f"{dataset.name!r} is not on this machine and is downloaded from "
        f"{' and '.join(hosts)}, {amount} at most, to {cache_dir() / dataset.name}. "
        f"Terms: {dataset.terms} Publisher: {dataset.publisher}. Loaders do not "
        "download with download=False."
    )
