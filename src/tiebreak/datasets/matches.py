# SPDX-License-Identifier: BSD-3-Clause
"""Results of matches and games: football, tennis and chess."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak.data import Pairs
from tiebreak.datasets.fetching import obtain
from tiebreak.datasets.registry import REGISTRY
from tiebreak.datasets.tables import (
    outcomes_from_words,
    read_results,
    refuse,
    refuse_same,
)


@dataclass(frozen=True, eq=False)
class WorldCup:
    """What `load_worldcup2022` returns.

    Attributes
    ----------
    pairs : Pairs of length 64
        One per match; ``pairs.names`` are the 32 teams in alphabetical order.
    y : ndarray of int8, shape (64,)
        -1 the left team won, 0 draw, +1 the right team won.
    table : polars.DataFrame, 64 rows
        Date, stage, sides and goals, in the row order of ``pairs``.
    description : str
        What the table holds and where it comes from.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    table: pl.DataFrame = field(repr=False)
    description: str = field(repr=False, default=REGISTRY["worldcup2022"].description)


def load_worldcup2022() -> WorldCup:
    """Load the 64 matches of the 2022 men's football World Cup.

    The result counts after extra time; the five matches decided by a penalty shoot-out
    are draws. 15 of the 64 matches are draws.

    Returns
    -------
    WorldCup

    Examples
    --------
    >>> from tiebreak.datasets import load_worldcup2022
    >>> cup = load_worldcup2022()
    >>> cup.table.select("stage", "left", "right", "left_goals", "right_goals").row(-1)
    ('Final', 'Argentina', 'France', 3, 3)
    >>> int(cup.y[-1])
    0
    """
    source = resources.files("tiebreak.datasets").joinpath("worldcup2022.csv")
    table = pl.read_csv(
        source.read_bytes(),
        schema={
            "date": pl.Date,
            **dict.fromkeys(["stage", "left", "right"], pl.String),
            **dict.fromkeys(["left_goals", "right_goals"], pl.Int64),
        },
    )
    goals = table.select("left_goals", "right_goals").to_numpy()
    teams = sorted({*table["left"], *table["right"]})
    row = {team: i for i, team in enumerate(teams)}
    left, right = ([row[team] for team in table[side]] for side in ("left", "right"))
    return WorldCup(
        pairs=Pairs(None, np.array(left), np.array(right), names=teams),
        y=np.sign(goals[:, 1] - goals[:, 0]).astype(np.int8),
        table=table,
    )


_FOOTBALL_COLUMNS: dict[str, type[pl.DataType]] = {
    "date": pl.Date,
    **dict.fromkeys(["home_team", "away_team"], pl.String),
    **dict.fromkeys(["home_score", "away_score"], pl.Int64),
    **dict.fromkeys(["tournament", "neutral"], pl.String),
}


@dataclass(frozen=True, eq=False)
class FootballMatches:
    """What `load_football` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per match, left the home team. Teams have names but no features.
    y : ndarray of int8, shape (n,)
        -1 the left team won, 0 draw, +1 the right team won.
    date, advantage : ndarray of datetime64[D] and of float64, shape (n,)
        Day of the match, ascending; 1 if left played at home, 0 on neutral ground.
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
    description: str = field(repr=False, default=REGISTRY["football"].description)


def load_football(*, download: bool = True) -> FootballMatches:
    """Load men's international football matches: results, dates, and who was at home.

    Matches still to be played, with ``NA`` for both scores, are left out and counted.

    Parameters
    ----------
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    FootballMatches

    Raises
    ------
    FileNotFoundError, ValueError
        If ``football/results.csv.gz`` cannot be downloaded, or is no such table.
    """
    path = obtain("football/results.csv.gz", download=download)
    scores = ["home_score", "away_score"]
    table = read_results(path, _FOOTBALL_COLUMNS, optional=scores, null_values=["NA"])
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
        tournament=_text(played["tournament"]),
        goals=goals,
        n_unplayed=table.height - played.height,
    )


_TENNIS_COLUMNS: dict[str, type[pl.DataType]] = {
    "tourney_id": pl.String,
    **dict.fromkeys(["tourney_date", "match_num"], pl.Int64),
    **dict.fromkeys(["tourney_level", "surface"], pl.String),
    "best_of": pl.Int64,
    "round": pl.String,
    **dict.fromkeys(["winner_id", "loser_id"], pl.Int64),
    **dict.fromkeys(["winner_rank", "loser_rank"], pl.Float64),
    "score": pl.String,
}
# In the order in which they are played: early round, ..., bronze medal, final.
_ROUNDS = ("ER", "R128", "R64", "R32", "R16", "RR", "QF", "SF", "BR", "F")
_NOT_PLAYED = ("W/O", "Walkover")
_NOT_FINISHED = (
    "RET", "DEF", "Def.", "Default", "ABD", "Played and abandoned",
    "Played and unfinished",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TennisMatches:
    """What `load_tennis` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One per match. Players are named by the publisher's numbers, without features.
    y : ndarray of int8, shape (n,)
        -1 the left player won, +1 the right player won; never 0.
    date : ndarray of datetime64[D], shape (n,)
        First day of the tournament, ascending.
    tournament, level, surface, round : ndarray of str, shape (n,)
        The publisher's mark of the tournament in its year; ``G`` Grand Slam, ``M``
        Masters 1000, ``A`` other tour event, ``D`` Davis Cup, ``F`` tour finals, ``O``
        Olympic Games; ``Hard``, ``Clay``, ``Grass``, ``Carpet`` or empty; such as
        ``R32`` or ``F``.
    best_of : ndarray of int64, shape (n,)
        3 or 5 sets.
    rank : ndarray of float64, shape (n, 2)
        Places of the left and the right player in the ATP ranking when the tournament
        began; NaN for players who were not ranked.
    walkover, unfinished : ndarray of bool, shape (n,)
        Whether the match was not played, or begun but not played to the end.
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
    description: str = field(repr=False, default=REGISTRY["tennis_atp"].description)


def load_tennis(
    random_state: int | np.random.Generator | None = None,
    swap: bool = True,
    *,
    download: bool = True,
) -> TennisMatches:
    """Load men's tennis singles: winners, surfaces, ranks, walk-overs marked.

    The file names the winner first, so the sides of each match are swapped with
    probability 1/2. Rows are ordered by the tournament's first day, then by round.

    Parameters
    ----------
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the swaps.
    swap : bool, default=True
        Whether to swap. Without it every outcome is -1, which a model can exploit.
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    TennisMatches

    Raises
    ------
    FileNotFoundError
        If ``tennis_atp/atp_matches_1991_2024.csv.gz``, the publisher's yearly files one
        after the other, is neither here nor can be downloaded.
    ValueError
        If the file is no such table.
    """
    path = obtain("tennis_atp/atp_matches_1991_2024.csv.gz", download=download)
    optional = ["surface", "winner_rank", "loser_rank"]
    table = read_results(path, _TENNIS_COLUMNS, optional=optional)
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


_SCORES = {1.0: -1, 0.5: 0, 0.0: 1}


@dataclass(frozen=True, eq=False)
class ChessGames:
    """What `load_chess` and `load_chess_fide2011` return.

    Attributes
    ----------
    pairs : Pairs of length n
        One per game, left is white. Players are named by numbers, without features.
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
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    ChessGames

    Raises
    ------
    FileNotFoundError
        If ``chess_kaggle2010/games.csv.gz`` is neither here nor can be downloaded. It
        has the columns ``month``, ``white``, ``black`` and ``score`` (white's).
    ValueError
        If the file is no such table.
    """
    path = obtain("chess_kaggle2010/games.csv.gz", download=download)
    kinds = {"month": pl.Int64, "white": pl.Int64, "black": pl.Int64}
    table = read_results(path, {**kinds, "score": pl.Float64})
    return _games(path, table, REGISTRY["chess_kaggle2010"].description)


def load_chess_fide2011(*, download: bool = True) -> ChessGames:
    """Load the real games of the test set of the contest of 2011: three months.

    Rows that the organizers invented (``Spurious``) are left out and counted.

    Parameters
    ----------
    download : bool, default=True
        Makes no difference: the error says how to get this set by hand.

    Returns
    -------
    ChessGames

    Raises
    ------
    FileNotFoundError
        If ``chess_fide2011/test_with_results.csv.gz`` is not here. Its columns are
        ``MonthID``, ``WhitePlayer``, ``BlackPlayer``, ``WhiteScore``, ``Leaderboard``.
    ValueError
        If the file is no such table.
    """
    path = obtain("chess_fide2011/test_with_results.csv.gz", download=download)
    names = ["MonthID", "WhitePlayer", "BlackPlayer", "WhiteScore"]
    kinds = dict.fromkeys(names[:3], pl.Int64)
    others = {"WhiteScore": pl.Float64, "Leaderboard": pl.String}
    table = read_results(path, {**kinds, **others})
    known = pl.col("Leaderboard").is_in(["Public", "Private", "Spurious"])
    refuse(path, table.filter(~known), "Leaderboard", "Public, Private or Spurious")
    spurious = pl.col("Leaderboard") == "Spurious"
    wrong = table.filter(spurious & (pl.col("WhiteScore") != -1))
    refuse(path, wrong, "WhiteScore", "-1, as in every Spurious row")
    new = dict(zip(names, ("month", "white", "black", "score"), strict=True))
    games = table.filter(~spurious).rename(new)
    return _games(
        path, games, REGISTRY["chess_fide2011"].description, table.height - games.height
    )


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
