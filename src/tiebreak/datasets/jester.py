# SPDX-License-Identifier: BSD-3-Clause
"""Ratings of 100 jokes by 73,421 people: Jester data set 1, of UC Berkeley."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field

import numpy as np

from tiebreak.datasets.obtaining import obtain
from tiebreak.datasets.recipes import NOT_RATED
from tiebreak.io import FileError

N_JOKES = 100

_DESCRIPTION = """\
Ratings of 100 jokes, from -10 (not funny) to 10, that visitors of a web site gave
between April 1999 and May 2003. Nobody had to rate all of them. People are in the order
of the publisher's three files: part 1 and 2 gave 36 ratings or more, part 3 from 15 to
35.

Data: Jester data set 1, Ken Goldberg's group, UC Berkeley,
https://eigentaste.berkeley.edu/dataset/. Free for research when Goldberg, Roeder,
Gupta and Perkins (2001), "Eigentaste", Information Retrieval 4(2), is cited."""


@dataclass(frozen=True, eq=False)
class JesterRatings:
    """What `load_jester` returns.

    Attributes
    ----------
    ratings : ndarray of float64, shape (n_people, 100)
        Rating of each joke by each person, from -10 to 10, higher is funnier; NaN for
        jokes that the person did not rate.
    part : ndarray of uint8, shape (n_people,)
        Number of the publisher's file, 1, 2 or 3, that the person comes from.
    description : str
        What the data are, whose they are, and on what terms.
    """

    ratings: np.ndarray = field(repr=False)
    part: np.ndarray = field(repr=False)
    description: str = field(repr=False, default=_DESCRIPTION)


def load_jester(*, download: bool = True) -> JesterRatings:
    """Load the ratings of jokes, 4,136,360 of them, with NaN where there is none.

    Parameters
    ----------
    download : bool, default=True
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    JesterRatings
        ``ratings``, ``part`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``jester/jester1_ratings.npz`` is not in ``$TIEBREAK_DATA`` or in
        the cache, and is not or cannot be downloaded. It holds ``ratings``, int16 of
        shape (n, 100), in hundredths and -32768 where there is none, and ``part``,
        uint8 of shape (n,).
    ValueError
        If it holds something else.
    """
    path = obtain("jester/jester1_ratings.npz", download=download)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            hundredths, part = arrays["ratings"], arrays["part"]
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(path, f"the arrays cannot be read ({error}).") from error
    if hundredths.dtype != np.int16 or hundredths.shape != (len(part), N_JOKES):
        raise FileError(
            path,
            f"ratings are {hundredths.dtype} of shape {hundredths.shape}, expected "
            f"int16 of shape ({len(part)}, {N_JOKES}).",
        )
    if part.shape != (len(part),) or not np.isin(part, (1, 2, 3)).all():
        raise FileError(path, "part is not 1, 2 or 3 for each person.")
    rated = hundredths != NOT_RATED
    wrong = np.argwhere(rated & (np.abs(hundredths) > 1000))
    if len(wrong):
        row, joke = (int(place) for place in wrong[0])
        raise FileError(
            path,
            f"row {row}, joke {joke} has {hundredths[row, joke]} hundredths, expected "
            f"-1000 to 1000, or {NOT_RATED} for no rating.",
        )
    empty = np.flatnonzero(~rated.any(axis=1))
    if len(empty):
        raise FileError(path, f"row {empty[0]} holds no rating at all.")
    return JesterRatings(np.where(rated, hundredths / 100, np.nan), part)
