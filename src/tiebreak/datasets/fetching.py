# SPDX-License-Identifier: BSD-3-Clause
"""Getting a published set: from the data folder, from the cache, or by downloading.

Files in ``$TIEBREAK_DATA`` are the user's own and taken as they are. Files in the cache
are ours: `fetch` compares them with their SHA-256, and replaces those that are damaged.
A file appears in the cache when it is complete and right, and not before.

pooch downloads and compares. What it does not do is done here: only ``https`` is used,
also after a redirect (``http`` on this machine itself); what arrives is counted, and
must be as much as was announced and no more than is expected.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

import pooch
import requests
from pooch import HTTPDownloader
from requests import ConnectTimeout, ReadTimeout

from tiebreak.data.atomic import atomic_folder
from tiebreak.data.messages import TiebreakWarning, warn_user
from tiebreak.datasets.places import (
    VARIABLE,
    cache_dir,
    data_path,
    missing_file,
    own_files,
)
from tiebreak.datasets.recipes import WORKBOOK_RECIPES
from tiebreak.datasets.registry import DataFile, DataSet, Delivery, Served, find_set
from tiebreak.io import FileError

# Gets the address, the bytes so far, and how many there will be, if that is known.
Progress = Callable[[str, int, int | None], None]

CONNECT_TIMEOUT = 10.0  # seconds to wait for a connection: without a network, not long
TIMEOUT = 30.0  # seconds without a byte after which a download is given up
DAMAGED = "damaged"  # stands for the SHA-256 of a file that cannot be unpacked
_BLOCK = 1 << 16
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class FetchError(FileError):
    """A published set that could not be obtained.

    Parameters
    ----------
    name : str or Path
        The set or the file.
    reason : str
        What was wrong, what was got and expected, and what to try, in one line.
    """

    def __init__(self, name: str | Path, reason: str) -> None:
        super().__init__(Path(name), reason)


class NotServed(Exception):  # noqa: N818 - what was expected is not there
    """No address serves what is expected; the message says why, for each of them."""


def fetch(name: str | DataSet, *, progress: Progress | None = None) -> Path:
    """Find a published set, or download it into the cache.

    A set that is complete in ``$TIEBREAK_DATA`` is taken from there as it is, else from
    `cache_dir`, where a file that is missing or differs from its SHA-256 is downloaded
    anew. ``REGISTRY[name].terms`` says what you may do with a set.

    Parameters
    ----------
    name : str or DataSet
        Name of a set, or of one of its files; or a set of your own.
    progress : callable, optional
        Called as ``progress(url, done, total)``: bytes so far, and in all if known.

    Returns
    -------
    pathlib.Path
        The folder of the set, or the file that was named.

    Raises
    ------
    ValueError
        If there is no such set.
    FetchError
        If the set cannot be downloaded; it is a ValueError.
    OSError
        If the cache cannot be written to.

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
    """Find the files of a set in the order of the registry, or download them."""
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


def obtain(name: str, *, download: bool = True) -> Path:
    """Path of a published file, downloaded with a warning if it must and may be."""
    try:
        return data_path(name)
    except FileNotFoundError:
        dataset, (file,) = find_set(name)
        delivery = next(each for each in dataset.deliveries if file in each.files)
        if not download or not delivery.served:
            raise
    hosts = sorted({urlsplit(served.urls[0]).netloc for served in delivery.served})
    size = sum(served.limit for served in delivery.served)
    amount = f"{size / 1e6:.1f} MB" if size >= 50_000 else f"{size / 1e3:.1f} kB"
    warn_user(
        f"{dataset.name!r} is not on this machine and is downloaded from "
        f"{' and '.join(hosts)}, {amount} at most, to {cache_dir() / dataset.name}. "
        f"Terms: {dataset.terms} Publisher: {dataset.publisher}. Loaders do not "
        "download with download=False.",
        TiebreakWarning,
    )
    try:
        (path,) = fetch_files(name)
    except FetchError as error:
        raise missing_file(name, failure=error.reason) from error
    except OSError as error:
        why = f"{error.strerror or error} ({error.filename or cache_dir()})."
        raise missing_file(name, failure=why) from error
    return path


def _is_right(root: Path, file: DataFile, delivery: Delivery) -> bool:
    """Whether the cache has a file; a warning if it has another one instead."""
    path = root / file.name
    if not path.is_file():
        return False
    found = content_sha256(path)
    if found == file.sha256:
        return True
    other = f"the SHA-256 of its content is {found}, expected {file.sha256}"
    if not delivery.served:
        warn_user(
            f"{path} is not the file that this version of tiebreak was tested with: "
            f"{other}. It is used as it is.",
            TiebreakWarning,
        )
        return True
    what = "cannot be unpacked" if found == DAMAGED else f"is damaged or old: {other}"
    warn_user(f"{path} {what}. It is downloaded again.", TiebreakWarning)
    return False


def _deliver(
    dataset: DataSet, delivery: Delivery, root: Path, progress: Progress | None
) -> None:
    """Download what is served, and put the files made from it into the cache."""
    if not delivery.served:
        raise FetchError(
            dataset.name,
            f"this set cannot be downloaded. {delivery.by_hand} Publisher: "
            f"{dataset.publisher}. {_by_yourself(dataset, 'Then')}",
        )
    if delivery.make in WORKBOOK_RECIPES and find_spec("python_calamine") is None:
        raise FetchError(
            dataset.name,
            "this set is published in workbooks (.xls), and python-calamine, which "
            'reads them, is not installed. Install it with: pip install "tiebreak'
            f'[excel]". {_by_yourself(dataset)}',
        )
    folder = root / dataset.name
    names = [file.name.removeprefix(f"{dataset.name}/") for file in delivery.files]
    # What is downloaded lies in the same temporary folder as the files made from it,
    # which appear in the cache all at once, or not at all.
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
    dataset: DataSet, delivery: Delivery, folder: Path, progress: Progress | None
) -> Sequence[bytes]:
    """Download what is served to a folder, and make the contents of the files."""
    try:
        parts = [
            download(served, folder / str(number), progress).read_bytes()
            for number, served in enumerate(delivery.served)
        ]
    except NotServed as reason:
        raise FetchError(
            dataset.name,
            f"{reason}. Try again later; if it stays so, look at {dataset.publisher}. "
            f"{_by_yourself(dataset)}",
        ) from reason
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


def content_sha256(path: Path) -> str:
    """SHA-256 of what a file holds, unpacked, in hexadecimal digits, or `DAMAGED`."""
    # Programs pack the same table into different bytes.
    digest = hashlib.sha256()
    try:
        for stream in _unpacked(path):
            while block := stream.read(_BLOCK):
                digest.update(block)
    except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError):
        return DAMAGED
    return digest.hexdigest()


def _unpacked(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as arrays:
            for name in sorted(arrays.namelist()):
                with arrays.open(name) as stream:
                    yield stream
    else:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            yield stream


def write_content(path: Path, content: bytes) -> None:
    """Write a file, packed by gzip without time and name if it ends in ``.gz``."""
    with path.open("wb") as file:
        if path.suffix != ".gz":
            file.write(content)
            return
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(content)


def download(served: Served, target: Path, progress: Progress | None = None) -> Path:
    """Download to a new file from the first address that serves it, or NotServed."""
    reasons = []
    for url in served.urls:
        try:
            return _retrieve(url, served, target, progress)
        except NotServed as reason:
            reasons.append(str(reason))
    raise NotServed("; ".join(reasons))


def _retrieve(
    url: str, served: Served, target: Path, progress: Progress | None
) -> Path:
    """Download from one address with pooch, and say in our words why it failed."""
    if refusal := _refusal(url):
        raise NotServed(f"{url} {refusal}")
    transfer = _Transfer(url, served.limit, progress)
    where = {"fname": target.name, "path": target.parent, "downloader": transfer}
    try:
        with _quiet(pooch.get_logger()):
            return Path(pooch.retrieve(url, served.sha256 or None, **where))
    except requests.RequestException as error:
        raise NotServed(f"{url} {transfer.failure(error)}") from error
    except ValueError as error:
        got = f"its SHA-256 is {transfer.digest.hexdigest()}, expected {served.sha256}"
        raise NotServed(f"{url} serves something else: {got}") from error


def _refusal(url: str) -> str:
    """Why an address is not used, or nothing."""
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in _THIS_MACHINE
    if parts.scheme == "https" or local:
        return ""
    return "is not asked, because its address does not begin with https"


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from writing to standard error, only here and not for others."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


class _Transfer:
    """pooch's downloader of one file, and the file it writes to: it counts bytes."""

    def __init__(self, url: str, limit: int, progress: Progress | None) -> None:
        self.url, self.limit, self.progress = url, limit, progress
        self.begun = False
        self.done = 0
        self.total: int | None = None
        self.digest = hashlib.sha256()

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download to a file; pooch calls this."""
        get = HTTPDownloader(
            chunk_size=_BLOCK,
            timeout=(CONNECT_TIMEOUT, TIMEOUT),
            headers={"User-Agent": "tiebreak", "Accept-Encoding": "identity"},
            hooks={"response": self.check},
        )
        with open(output_file, "wb") as self.file:
            get(url, self, pooch)
        if self.total is not None and self.done != self.total:
            raise NotServed(
                f"{url} breaks off after {self.done:,} of {self.total:,} bytes"
            )

    def check(self, response: Any, **_: Any) -> None:
        """Look at the head of an answer; requests calls this, for a redirect too."""
        if response.is_redirect:
            target = urljoin(response.url, response.headers["Location"])
            if refusal := _refusal(target):
                raise NotServed(
                    f"{response.url} redirects to {target}, which {refusal}"
                )
        elif response.ok:
            self.begun = True
            # It is counted here, because not every version of urllib3 does.
            response.raw.enforce_content_length = False
            length = response.headers.pop("Content-Length", "")
            if length.isdigit() and "Content-Encoding" not in response.headers:
                self.total = int(length)
                self._refuse_more_than_expected(self.total)

    def write(self, block: bytes) -> None:
        """Write to the file; pooch calls this."""
        self.done += len(block)
        self._refuse_more_than_expected(self.done)
        self.digest.update(block)
        self.file.write(block)
        if self.progress is not None:
            self.progress(self.url, self.done, self.total)

    def flush(self) -> None:
        """Do nothing; pooch calls this after every block."""

    def _refuse_more_than_expected(self, size: int) -> None:
        if size > self.limit:
            raise NotServed(
                f"{self.url} serves more than the {self.limit:,} bytes that are "
                "expected"
            )

    def failure(self, error: Any) -> str:
        """Say why requests gave up."""
        if error.response is not None:
            status, reason = error.response.status_code, error.response.reason
            return f"answers {status} {reason} instead of the file"
        if self.begun:
            return f"breaks off after {self.done:,} bytes ({_why(error)})"
        return f"cannot be reached ({_why(error)})"


def _why(error: BaseException) -> str:
    """Say what is at the bottom of an error of requests, in a few words."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectTimeout):
            return f"no connection within {CONNECT_TIMEOUT:g} seconds"
        if isinstance(cause, (ReadTimeout, TimeoutError)):
            return f"no answer within {TIMEOUT:g} seconds"
        error, cause = cause, cause.__cause__ or cause.__context__
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
