# SPDX-License-Identifier: BSD-3-Clause
"""The usual names of columns, in one table.

Case, blanks, dots and underscores of a name do not matter: ``HomeTeam``, ``home team``
and ``home_team`` are one. Where a file has several columns of one role, the name that
stands first here is taken for the columns beside the comparison (rater, period,
weight); for what is compared, two readings are an error that lists them.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

__all__ = [
    "COLUMN_WORDS",
    "SIDES",
    "Sides",
    "closest",
    "find_column",
    "find_columns",
    "spelling",
]


class Sides(NamedTuple):
    """Two columns that hold the two items of a comparison.

    Attributes
    ----------
    family : str
        Columns of one family say the same, once by name and once by number; the ones
        that stand first in `SIDES` are taken.
    left, right : str
        Names of the columns. The left one is favored in families with an advantage.
    """

    family: str
    left: str
    right: str


SIDES: tuple[Sides, ...] = (
    Sides("left", "left", "right"),
    Sides("left", "left_name", "right_name"),
    Sides("left", "left_item", "right_item"),
    Sides("left", "left_id", "right_id"),
    Sides("left", "model_x", "model_y"),
    Sides("model", "model_a", "model_b"),
    Sides("model", "model_1", "model_2"),
    Sides("item", "item_a", "item_b"),
    Sides("item", "item_1", "item_2"),
    Sides("option", "option_a", "option_b"),
    Sides("option", "option_1", "option_2"),
    Sides("player", "player_a", "player_b"),
    Sides("player", "player_1", "player_2"),
    Sides("team", "team_a", "team_b"),
    Sides("team", "team_1", "team_2"),
    Sides("home", "home_team", "away_team"),
    Sides("home", "home_name", "away_name"),
    Sides("home", "home", "away"),
    Sides("home", "home_team_id", "away_team_id"),
    Sides("home", "home_id", "away_id"),
    Sides("white", "white_player", "black_player"),
    Sides("white", "white_name", "black_name"),
    Sides("white", "white", "black"),
    Sides("white", "white_id", "black_id"),
    Sides("winner", "winner_name", "loser_name"),
    Sides("winner", "winner", "loser"),
    Sides("winner", "winner_team", "loser_team"),
    Sides("winner", "winner_id", "loser_id"),
    Sides("chosen", "chosen", "rejected"),
)
"""Pairs of columns that are compared with each other.

In the families ``winner`` and ``chosen`` the left column is better in every row; in
``home`` and ``white`` the left side has an advantage.
"""

COLUMN_WORDS: dict[str, tuple[str, ...]] = {
    "outcome": ("outcome", "winner", "result", "preference", "preferred", "vote",
                "verdict", "choice"),
    "points": ("score", "white_score", "left_score", "home_points", "white_points",
               "points"),
    "left_score": ("home_score", "home_goals", "home_points", "left_score", "score_a",
                   "score_1", "score_left", "score_home", "goals_home", "fthg",
                   "points_a", "points_1", "goals_1", "left_goals", "left_points"),
    "right_score": ("away_score", "away_goals", "away_points", "right_score", "score_b",
                    "score_2", "score_right", "score_away", "goals_away", "ftag",
                    "points_b", "points_2", "goals_2", "right_goals",
                    "right_points"),
    "advantage": ("advantage", "home_advantage", "left_advantage"),
    "neutral": ("neutral", "neutral_venue", "neutral_ground", "neutral_site"),
    "rater": ("rater", "judge", "worker", "annotator", "assessor", "voter",
              "judge_id", "rater_id", "worker_id", "annotator_id", "panelist",
              "participant", "subject", "person", "user", "user_id"),
    "period": ("period", "date", "tourney_date", "match_date", "game_date", "day",
               "week", "month", "month_id", "season", "year", "timestamp", "tstamp",
               "time", "datetime"),
    "weight": ("weight", "sample_weight", "count", "votes", "n_votes"),
    "person": ("person", "panelist", "panellist", "judge", "rater", "assessor",
               "taster", "consumer", "participant", "subject", "respondent", "user",
               "user_id", "person_id", "judge_id", "rater_id", "panelist_id", "worker",
               "annotator", "reviewer"),
    "item": ("item", "product", "sample", "item_name", "product_name", "item_id",
             "product_id", "sample_id", "stimulus", "wine", "movie", "movie_id",
             "joke", "doc", "doc_id", "document", "document_id"),
    "rating": ("score", "rating", "grade", "liking", "stars", "points", "mark"),
    "query": ("query", "qid", "query_id", "queryid", "group", "group_id", "topic",
              "topic_id", "session_id", "race", "race_id"),
    "grade": ("grade", "relevance", "label", "rel", "rating", "target"),
    "name": ("item", "name", "item_name", "product", "product_name", "model",
             "model_name", "team", "team_name", "player", "player_name", "sample",
             "sample_name", "stimulus", "option", "candidate", "alternative", "wine",
             "movie", "joke", "doc", "document", "id", "item_id", "product_id",
             "model_id", "team_id", "player_id", "sample_id", "movie_id", "doc_id",
             "document_id"),
}  # fmt: skip
"""For each role the names that its column usually has.

``points`` are the points of the left side alone, a number that needs a meaning;
``rating`` is what a ``person`` gives to an ``item``; ``grade`` belongs to a ``query``,
or to the whole table; ``name`` is the item in a table that has one row for each.
"""


def spelling(name: str) -> str:
    """Reduce a column name to its letters and digits.

    Examples
    --------
    >>> spelling("Home Team") == spelling("home_team") == spelling("HomeTeam")
    True
    """
    return re.sub(r"[\W_]+", "", name.casefold())


def find_columns(role: str, columns: list[str]) -> list[str]:
    """Find the columns of a table that may have a role, the likeliest first.

    Parameters
    ----------
    role : str
        A key of `COLUMN_WORDS`.
    columns : list of str
        Columns of the table.

    Returns
    -------
    list of str

    Examples
    --------
    >>> find_columns("period", ["Year", "a", "DATE"])
    ['DATE', 'Year']
    """
    spelled = {spelling(column): column for column in reversed(columns)}
    words = dict.fromkeys(map(spelling, COLUMN_WORDS[role]))
    return [spelled[word] for word in words if word in spelled]


def find_column(name: str, columns: list[str]) -> str | None:
    """Find the column that a user named; case counts only if it must.

    Parameters
    ----------
    name : str
        As given by the user.
    columns : list of str
        Columns of the table.

    Returns
    -------
    str or None
    """
    if name in columns:
        return name
    same = [column for column in columns if column.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def closest(name: str, columns: list[str]) -> str:
    """Suggest the column that the user may have meant."""
    near = difflib.get_close_matches(name, columns, 1)
    return f" Did you mean {near[0]!r}?" if near else ""
