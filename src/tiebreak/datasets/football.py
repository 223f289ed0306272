# SPDX-License-Identifier: BSD-3-Clause
"""Men's international football matches since 1872, from Mart Jürisoo's list."""

from __future__ import annotations

from dataclasses import dataclass, field

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

_COLUMNS = {
    "date": pl.Date,
    "home_team": pl.String,
    "away_team": pl.String,
    "home_score": pl.Int64,
    "away_score": pl.Int64,
    "tournament": pl.String,
    "neutral": pl.String,
}

_DESCRIPTION = """\
Full international matches of men's football teams since the first one, in 1872, in
order of date. Left is the home team, or the team named first where the ground was
neutral. Goals are those after extra time; penalty shoot-outs do not count, so that
matches decided by one are draws. Teams that changed their name have the current one.

Data: "International football results from 1872", Mart Jürisoo,
https://github.com/martj42/international_results. CC0 1.0 (public domain)."""


@dataclass(frozen=True, eq=False)
class FootballMatches:
    """What `load_football` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per match, left the home team. Teams have names but no features.
    y : ndarray of int8, shape (n,)
        -1 the left team won, 0 draw, +1 the right team won.
    date : ndarray of datetime64[D], shape (n,)
        Day of the match, ascending.
    advantage : ndarray of float64, shape (n,)
        1 if the left team played at home, 0 on neutral ground.
    tournament : ndarray of str, shape (n,)
        Name of the competition; ``"Friendly"`` for friendly matches.
    goals : ndarray of int64, shape (n, 2)
        Goals of the left and of the right team.
    n_unplayed : int
        How many fixtures without a result (scores ``NA``) were left out.
    description : str
        What the data are, whose they are, and on what terms.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    date: np.ndarray = field(repr=False)
    advantage: np.ndarray = field(repr=False)
    tournament: np.ndarray = field(repr=False)
    goals: np.ndarray = field(repr=False)
    n_unplayed: int = 0
    description: str = field(repr=False, default=_DESCRIPTION)


def load_football(*, download: bool = True) -> FootballMatches:
    """Load men's international football matches: results, dates, and who was at home.

    The publisher's list also announces matches that are still to be played, with ``NA``
    for both scores. These are left out and counted in ``n_unplayed``.

    Parameters
    ----------
    download : bool, default=True
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    FootballMatches
        ``pairs``, ``y``, ``date``, ``advantage``, ``tournament``, ``goals``,
        ``n_unplayed`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``football/results.csv.gz`` is not in ``$TIEBREAK_DATA`` or in the
        cache, and is not or cannot be downloaded.
    ValueError
        If the file is not the publisher's list of results; the message names the lines.
    """
    path = obtain("football/results.csv.gz", download=download)
    scores = ["home_score", "away_score"]
    table = read_results(path, _COLUMNS, optional=scores, null_values=["NA"])
    unplayed = pl.all_horizontal(pl.col(scores).is_null())
    played = table.filter(~unplayed)
    for name in scores:
        wrong = pl.col(name).is_null() | (pl.col(name) < 0)
        refuse(path, played.filter(wrong), name, "a number of goals")
    refuse_same(path, played, "home_team", "away_team")
    played = played.sort("date", maintain_order=True)
    at_home = outcomes_from_words(path, played, "neutral", {"FALSE": 1, "TRUE": 0})
    goals = played.select(scores).to_numpy()
    return FootballMatches(
        pairs=Pairs(None, played["home_team"], played["away_team"]),
        y=np.sign(goals[:, 1] - goals[:, 0]).astype(np.int8),
        date=played["date"].to_numpy().astype("M8[D]"),
        advantage=at_home.astype(np.float64),
        tournament=np.asarray(played["tournament"].to_list(), dtype=np.str_),
        goals=goals,
        n_unplayed=table.height - played.height,
    )
