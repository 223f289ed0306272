# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a published set: whose it is, on what terms, and how to get it.

A set is made of deliveries. A delivery is what arrives together: something is served
at one or more addresses, and files are made of it. What cannot be downloaded is a
delivery that says what to do by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

Recipe = Callable[[Sequence[bytes]], Sequence[bytes]]
"""Makes the content of the files of a delivery from what was served."""


def as_served(served: Sequence[bytes]) -> Sequence[bytes]:
    """Keep what was served, one file for each; the recipe of most deliveries."""
    return served


@dataclass(frozen=True)
class Served:
    """One thing that can be downloaded.

    Attributes
    ----------
    urls : tuple of str
        Addresses of the same thing, which are tried in turn.
    limit : int
        Number of bytes after which a download is refused.
    sha256 : str
        Of what is served. Empty where it is not known: then only the files that are
        made of it are checked.
    """

    urls: tuple[str, ...]
    limit: int
    sha256: str = ""


@dataclass(frozen=True)
class DataFile:
    """One file of a set.

    Attributes
    ----------
    name : str
        Path below the data folder, with forward slashes.
    sha256 : str
        Of the content: of the file itself, or, for a name that ends in ``.gz`` or
        ``.npz``, of what is packed in it, because not every program packs alike.
    size : int
        Bytes on disk, about.
    """

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Delivery:
    """Files that arrive together.

    Attributes
    ----------
    files : tuple of DataFile
        What is delivered.
    served : tuple of Served
        What is downloaded for it; empty if that is not possible.
    make : callable
        Makes the contents of the files, in their order, from the bytes served. Raises
        a ValueError if they are not what was expected.
    by_hand : str
        What to do where nothing can be downloaded, in full sentences.
    """

    files: tuple[DataFile, ...]
    served: tuple[Served, ...] = ()
    make: Recipe = as_served
    by_hand: str = ""


@dataclass(frozen=True)
class DataSet:
    """One published set.

    Attributes
    ----------
    name : str
        Name of the set, and of its folder below the data folder.
    what : str
        What it is, in one line.
    rows : int
        How much there is of it.
    unit : str
        What `rows` counts.
    license : str
        The terms in a few words.
    terms : str
        The terms in a sentence or two.
    publisher : str
        Page of who made it public.
    cite : str
        What to name when results are published.
    deliveries : tuple of Delivery
        How its files arrive.
    bundled : bool
        Whether it ships with this package.
    """

    name: str
    what: str
    rows: int
    unit: str
    license: str
    terms: str
    publisher: str
    cite: str
    deliveries: tuple[Delivery, ...]
    bundled: bool = False

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files of the set."""
        return tuple(file for delivery in self.deliveries for file in delivery.files)

    @property
    def size(self) -> int:
        """Bytes on disk, about."""
        return sum(file.size for file in self.files)

    @property
    def by_hand(self) -> str:
        """What cannot be downloaded, and what to do about it; empty if all can."""
        return " ".join(each.by_hand for each in self.deliveries if each.by_hand)


def on_github(repository: str, commit: str, path: str) -> str:
    """Give the address of a file of a public repository as it was at a commit.

    Parameters
    ----------
    repository : str
        Owner and name.
    commit : str
        The commit, all of it or its first digits.
    path : str
        The file.

    Returns
    -------
    str

    Examples
    --------
    >>> on_github("owner/name", "0123abcd", "a folder/file.csv")
    'https://raw.githubusercontent.com/owner/name/0123abcd/a%20folder/file.csv'
    """
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{quote(path)}"


def as_is(file: DataFile, url: str, limit: int = 0) -> Delivery:
    """Deliver one file that is served as it is, and only packed if its name says so.

    Parameters
    ----------
    file : DataFile
        The file.
    url : str
        Its address.
    limit : int, optional
        Number of bytes that are served; those of the file, if it is not packed.

    Returns
    -------
    Delivery
    """
    return Delivery((file,), (Served((url,), limit or file.size, file.sha256),))
