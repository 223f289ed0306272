# SPDX-License-Identifier: BSD-3-Clause
"""Chess games of the two Kaggle contests on rating players, of 2010 and 2011."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak.data import Pairs
from tiebreak.datasets.obtaining import obtain
from tiebreak.datasets.tables import (
    outcomes_from_words,
    read_results,
    refuse,
    refuse_same,
)

_SCORES = {1.0: -1, 0.5: 0, 0.0: 1}

_DESCRIPTION_2010 = """\
Games among top chess players over 100 months, in order of the month. Left is white.
Players are numbers; the month is known, the day and the order within it are not.

Data: training set of the contest "Chess ratings - Elo versus the Rest of the World"
(Kaggle 2010, Jeff Sonas), as redistributed by KONECT (network "chess",
http://konect.cc/networks/chess/), which numbered the players anew. The publisher states
no open license; use for research."""

_DESCRIPTION_2011 = """\
Chess games of the months 133 to 135 of the "Deloitte / FIDE Chess Rating Challenge"
(Kaggle 2011): its test set with the results that were published after the contest. Left
is white. Players are numbers; the month is known, the day and the order within it are
not. The organizers had mixed invented pairings into the file ("Spurious", score -1) to
keep the contestants from learning from who meets whom; these are left out and counted.

Data: Kaggle, Jeff Sonas and FIDE, https://www.kaggle.com/c/ChessRatings2. The publisher
states no open license; use for research."""


@dataclass(frozen=True, eq=False)
class ChessGames:
    """What `load_chess` and `load_chess_fide2011` return.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per game, left is white. Players have names, which are numbers,
        but no features.
    y : ndarray of int8, shape (n,)
        -1 white won, 0 draw, +1 black won.
    month : ndarray of int64, shape (n,)
        Number of the month, ascending; 1 is the contest's first.
    description : str
        What the data are, whose they are, and on what terms.
    n_spurious : int
        How many invented games of the file were left out.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    month: np.ndarray = field(repr=False)
    description: str = field(repr=False)
    n_spurious: int = 0


def load_chess(*, download: bool = True) -> ChessGames:
    """Load the games of the contest of 2010: 100 months of top players.

    Parameters
    ----------
    download : bool, default=True
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    ChessGames
        ``pairs``, ``y``, ``month`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``chess_kaggle2010/games.csv.gz`` is not in ``$TIEBREAK_DATA`` or in
        the cache, and is not or cannot be downloaded. It has the columns ``month``,
        ``white``, ``black`` and ``score`` (white's: 1, 0.5 or 0).
    ValueError
        If the file is no such table; the message names the lines.
    """
    path = obtain("chess_kaggle2010/games.csv.gz", download=download)
    kinds = {"month": pl.Int64, "white": pl.Int64, "black": pl.Int64}
    table = read_results(path, {**kinds, "score": pl.Float64})
    return _games(path, table, _DESCRIPTION_2010)


def load_chess_fide2011(*, download: bool = True) -> ChessGames:
    """Load the real games of the test set of the contest of 2011: three months.

    The rows that the organizers invented (``Leaderboard`` is ``Spurious`` and
    ``WhiteScore`` -1) are no games. They are left out and counted in ``n_spurious``.

    Parameters
    ----------
    download : bool, default=True
        As of other loaders; but this set has no address to download it from, and the
        error says how to get it by hand.

    Returns
    -------
    ChessGames
        ``pairs``, ``y``, ``month``, ``description`` and ``n_spurious``.

    Raises
    ------
    FileNotFoundError
        If the file ``chess_fide2011/test_with_results.csv.gz`` is not in
        ``$TIEBREAK_DATA`` or in the cache, and is not or cannot be downloaded. It has
        the columns ``MonthID``, ``WhitePlayer``, ``BlackPlayer``, ``WhiteScore`` and
        ``Leaderboard``.
    ValueError
        If the file is no such table; the message names the lines.
    """
    path = obtain("chess_fide2011/test_with_results.csv.gz", download=download)
    names = {
        "MonthID": "month",
        "WhitePlayer": "white",
        "BlackPlayer": "black",
        "WhiteScore": "score",
    }
    kinds = dict.fromkeys(["MonthID", "WhitePlayer", "BlackPlayer"], pl.Int64)
    table = read_results(
        path, {**kinds, "WhiteScore": pl.Float64, "Leaderboard": pl.String}
    )
    known = pl.col("Leaderboard").is_in(["Public", "Private", "Spurious"])
    refuse(path, table.filter(~known), "Leaderboard", "Public, Private or Spurious")
    spurious = pl.col("Leaderboard") == "Spurious"
    wrong = table.filter(spurious & (pl.col("WhiteScore") != -1))
    refuse(path, wrong, "WhiteScore", "-1, as in every Spurious row")
    games = table.filter(~spurious).rename(names)
    return _games(path, games, _DESCRIPTION_2011, table.height - games.height)


def _games(
    path: Path, table: pl.DataFrame, description: str, n_spurious: int = 0
) -> ChessGames:
    refuse_same(path, table, "white", "black")
    table = table.sort("month", maintain_order=True)
    return ChessGames(
        pairs=Pairs(None, table["white"], table["black"]),
        y=outcomes_from_words(path, table, "score", _SCORES),
        month=table["month"].to_numpy(writable=True),
        description=description,
        n_spurious=n_spurious,
    )
