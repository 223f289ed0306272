# SPDX-License-Identifier: BSD-3-Clause
"""Men's tour-level tennis singles since 1991, from Jeff Sackmann's match files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak.data import Pairs
from tiebreak.datasets.obtaining import obtain
from tiebreak.datasets.tables import read_results, refuse, refuse_same

_COLUMNS = {
    "tourney_id": pl.String,
    "tourney_date": pl.Int64,
    "match_num": pl.Int64,
    "tourney_level": pl.String,
    "surface": pl.String,
    "best_of": pl.Int64,
    "round": pl.String,
    "winner_id": pl.Int64,
    "loser_id": pl.Int64,
    "winner_rank": pl.Float64,
    "loser_rank": pl.Float64,
    "score": pl.String,
}
# In the order in which they are played: early round, ..., bronze medal, final.
_ROUNDS = ("ER", "R128", "R64", "R32", "R16", "RR", "QF", "SF", "BR", "F")
_NOT_PLAYED = ("W/O", "Walkover")
_NOT_FINISHED = (
    "RET", "DEF", "Def.", "Default", "ABD", "Played and abandoned",
    "Played and unfinished",
)  # fmt: skip

_DESCRIPTION = """\
Men's singles at the level of the ATP tour, Grand Slams and Davis Cup included, from
1991. There are no ties in tennis. The day of a match is not known, only the first day
of its tournament: matches are in the order of that day, then of the round, so that no
match comes before one that led to it. Players are the numbers of the publisher.

A walk-over is a match that one player won because the other did not come: it says
little about who is better. Walk-overs, and matches that were begun but not played to
the end (a player retired or was disqualified, or the match was abandoned), are kept and
marked.

Data: Jeff Sackmann, Tennis Abstract, https://github.com/JeffSackmann/tennis_atp.
CC BY-NC-SA 4.0: name the author, no commercial use, share alike."""


@dataclass(frozen=True, eq=False)
class TennisMatches:
    """What `load_tennis` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per match. Players have names, which are the publisher's numbers,
        but no features.
    y : ndarray of int8, shape (n,)
        -1 the left player won, +1 the right player won; never 0.
    date : ndarray of datetime64[D], shape (n,)
        First day of the tournament, ascending.
    tournament : ndarray of str, shape (n,)
        The publisher's mark of the tournament in its year.
    level : ndarray of str, shape (n,)
        ``G`` Grand Slam, ``M`` Masters 1000, ``A`` other tour event, ``D`` Davis Cup,
        ``F`` tour finals, ``O`` Olympic Games.
    surface : ndarray of str, shape (n,)
        ``Hard``, ``Clay``, ``Grass`` or ``Carpet``; empty where it is not known.
    round : ndarray of str, shape (n,)
        Round of the tournament, such as ``R32`` or ``F``.
    best_of : ndarray of int64, shape (n,)
        3 or 5 sets.
    rank : ndarray of float64, shape (n, 2)
        Places of the left and the right player in the ATP ranking when the tournament
        began; NaN for players who were not ranked.
    walkover : ndarray of bool, shape (n,)
        Whether the match was not played.
    unfinished : ndarray of bool, shape (n,)
        Whether the match was begun but not played to the end.
    description : str
        What the data are, whose they are, and on what terms.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    date: np.ndarray = field(repr=False)
    tournament: np.ndarray = field(repr=False)
    level: np.ndarray = field(repr=False)
    surface: np.ndarray = field(repr=False)
    round: np.ndarray = field(repr=False)
    best_of: np.ndarray = field(repr=False)
    rank: np.ndarray = field(repr=False)
    walkover: np.ndarray = field(repr=False)
    unfinished: np.ndarray = field(repr=False)
    description: str = field(repr=False, default=_DESCRIPTION)


def load_tennis(
    random_state: int | np.random.Generator | None = None,
    swap: bool = True,
    *,
    download: bool = True,
) -> TennisMatches:
    """Load men's tennis singles: winners, surfaces, ranks, walk-overs marked.

    The file names the winner first, so the sides of each match are swapped with
    probability 1/2. The file also lists the final of some tournaments first; the rows
    are put into the order of the tournament's first day, then of the round.

    Parameters
    ----------
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the swaps.
    swap : bool, default=True
        Whether to swap. Without it every outcome is -1, which a model can exploit.
    download : bool, default=True
        Whether a file that is neither in ``$TIEBREAK_DATA`` nor in the cache is
        downloaded; a warning says from where and on what terms.

    Returns
    -------
    TennisMatches
        ``pairs``, ``y``, ``date``, ``tournament``, ``level``, ``surface``, ``round``,
        ``best_of``, ``rank``, ``walkover``, ``unfinished`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``tennis_atp/atp_matches_1991_2024.csv.gz`` is not in
        ``$TIEBREAK_DATA`` or in the cache, and is not or cannot be downloaded. It is
        the publisher's yearly files, one after the other.
    ValueError
        If the file is no such table; the message names the lines.
    """
    path = obtain("tennis_atp/atp_matches_1991_2024.csv.gz", download=download)
    optional = ["surface", "winner_rank", "loser_rank"]
    table = read_results(path, _COLUMNS, optional=optional)
    refuse_same(path, table, "winner_id", "loser_id")
    refuse(path, table.filter(~pl.col("best_of").is_in([3, 5])), "best_of", "3 or 5")
    table = _in_order_of_time(path, table)
    ending = _endings(path, table)
    sides = table.select("winner_id", "loser_id").to_numpy()
    rank = table.select("winner_rank", "loser_rank").to_numpy().astype(np.float64)
    y = np.full(table.height, -1, dtype=np.int8)
    if swap:
        rng = np.random.default_rng(random_state)
        swapped = rng.integers(0, 2, len(y), dtype=np.int8).astype(bool)
        sides = np.where(swapped[:, None], sides[:, ::-1], sides)
        rank = np.where(swapped[:, None], rank[:, ::-1], rank)
        y[swapped] = 1
    return TennisMatches(
        pairs=Pairs(None, sides[:, 0], sides[:, 1]),
        y=y,
        date=table["date"].to_numpy().astype("M8[D]"),
        tournament=_text(table["tourney_id"]),
        level=_text(table["tourney_level"]),
        surface=_text(table["surface"].fill_null("")),
        round=_text(table["round"]),
        best_of=table["best_of"].to_numpy(writable=True),
        rank=rank,
        walkover=np.isin(ending, _NOT_PLAYED),
        unfinished=np.isin(ending, _NOT_FINISHED),
    )


def _in_order_of_time(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    day = pl.col("tourney_date").cast(pl.String).str.to_date("%Y%m%d", strict=False)
    table = table.with_columns(date=day)
    no_day = table.filter(pl.col("date").is_null())
    refuse(path, no_day, "tourney_date", "a day such as 20240101")
    unknown = table.filter(~pl.col("round").is_in(_ROUNDS))
    refuse(path, unknown, "round", f"one of {', '.join(_ROUNDS)}")
    place = pl.col("round").replace_strict(
        list(_ROUNDS), list(range(len(_ROUNDS))), return_dtype=pl.Int64
    )
    return table.sort("date", place, "tourney_id", "match_num", maintain_order=True)


def _endings(path: Path, table: pl.DataFrame) -> np.ndarray:
    """Give the words after the sets of each score, empty for a match like any other."""
    words = table["score"].str.extract(r"([A-Za-z].*)$").fill_null("")
    known = ["", *_NOT_PLAYED, *_NOT_FINISHED]
    unknown = table.filter(~words.is_in(known))
    refuse(path, unknown, "score", f"a score, alone or with {', '.join(known[1:])},")
    return _text(words)


def _text(series: pl.Series) -> np.ndarray:
    return np.asarray(series.to_list(), dtype=np.str_)
