# SPDX-License-Identifier: BSD-3-Clause
"""Which column of a table has which role, by usual names or by the user's options.

A reading is one way to understand a table: comparisons, scores that people gave, or
graded rows, with a column for each role. With more than one reading the user chooses.

Case, blanks, dots and underscores of a column's name do not matter: ``HomeTeam``,
``home team`` and ``home_team`` are equal. Where a file has several columns for a role
of the metadata (rater, period, weight), the name that stands first in `COLUMN_WORDS` is
taken; for what is compared, two readings are an error that lists them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Literal, NamedTuple

from tiebreak.io.result import ReadOptions, flag
from tiebreak.io.table import Table


class Sides(NamedTuple):
    """Two columns that are compared; the first ones of a family are taken."""

    family: str
    left: str
    right: str


_FAMILIES = {
    "left": "left right, left_name right_name, left_item right_item, "
    "left_id right_id, model_x model_y",
    "model": "model_a model_b, model_1 model_2, model_left model_right",
    "system": "system_a system_b, system_1 system_2",
    "item": "item_a item_b, item_1 item_2",
    "option": "option_a option_b, option_1 option_2",
    "player": "player_a player_b, player_1 player_2",
    "team": "team_a team_b, team_1 team_2",
    "home": "home_team away_team, home_name away_name, home away, "
    "home_team_id away_team_id, home_id away_id",
    "white": "white_player black_player, white_name black_name, white black, "
    "white_id black_id",
    "winner": "winner_name loser_name, winner loser, winner_team loser_team, "
    "winner_id loser_id",
    "chosen": "chosen rejected",
}

#: Pairs of columns that are compared with each other. In the families winner and
#: chosen the left column is better in every row; in home and white the left side has an
#: advantage.
SIDES: tuple[Sides, ...] = tuple(
    Sides(family, *columns.split())
    for family, listed in _FAMILIES.items()
    for columns in listed.split(", ")
)

#: For each role the names that its column usually has. `points` are those of the
#: left side alone, numbers that need a meaning; `rating` is what a `person` gives to an
#: `item`; `grade` belongs to a `query`, or to the whole table; `name` is the item in a
#: table that has one row for each.
COLUMN_WORDS: dict[str, tuple[str, ...]] = {
    "outcome": ("outcome", "winner", "result", "preference", "preferred", "vote",
                "verdict", "choice", "judgment", "judgement", "overall_preference"),
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


@lru_cache(1 << 16)  # each name is asked for once for every role
def spelling(name: str) -> str:
    """Reduce a column name to its letters and digits."""
    return re.sub(r"[\W_]+", "", name.casefold())


def find_columns(role: str, columns: list[str]) -> list[str]:
    """Find the columns of a table that may have a role, the likeliest first."""
    spelled = {spelling(column): column for column in reversed(columns)}
    words = dict.fromkeys(map(spelling, COLUMN_WORDS[role]))
    return [spelled[word] for word in words if word in spelled]


def find_column(name: str, columns: list[str]) -> str | None:
    """Find the column that a user named; case counts only if it must."""
    if name in columns:
        return name
    same = [column for column in columns if column.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def named_column(table: Table, name: str, option: str) -> str:
    """Find the column that an option names; refuse it if there is none."""
    if (column := find_column(name, table.columns)) is not None:
        return column
    if find_column(name, table.skipped) is not None:
        raise table.error(
            f"{option} names {name!r}, but that column holds lists or bytes; expected "
            "text or numbers."
        )
    raise table.error(
        f"{option} names {name!r}, but there is no such column."
        f"{closest(name, table.columns)} {table.list_columns()}"
    )


def closest(name: str, columns: list[str]) -> str:
    """Suggest the column that the user may have meant."""
    near = difflib.get_close_matches(name, columns, 1)
    return f" Did you mean {near[0]!r}?" if near else ""


Shape = Literal["comparisons", "long", "grades"]
_KINDS: dict[Shape, tuple[str, ...]] = {
    "comparisons": ("comparisons",),
    "long": ("comparisons", "orders", "grades"),
    "grades": ("grades",),
}
# Roles that no column need have: the option says none.
_OPTIONAL = ("rater", "period", "weight", "advantage", "neutral")
# An option for one of these columns rules out the readings that do not use it.
_DEFINING = (
    "left", "right", "outcome", "winner", "loser", "left_score", "right_score",
    "item", "grade", "query", "person",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One way to understand a table."""

    shape: Shape  # comparisons row by row, scores of people one per row, or graded rows
    roles: dict[str, str]  # the column of each role
    family: str = ""  # of the two sides, see `SIDES`

    def describe(self) -> str:
        """Say which columns are used, as options that choose this reading."""
        return " ".join(flag(role, column) for role, column in self.roles.items())


def split_outcome(outcome: str, table: Table) -> list[str]:
    """Split columns of 0 and 1 for left, right, tie and both bad; [] if it is one."""
    return [] if outcome in table.columns or not outcome else outcome.split(",")


def _find_one_hot(table: Table, sides: dict[str, str]) -> str | None:
    """Find one column per outcome, such as winner_model_a, and write them as one."""
    spelled = {spelling(c): c for c in reversed(table.columns)}
    for before in ("winner", "win", "wins", "won", "preferred"):
        left, right = (
            spelled.get(before + spelling(sides[side])) for side in ("left", "right")
        )
        if left is None or right is None:
            continue
        found = [left, right]
        for words in (("tie", "draw"), ("tiebothbad", "bothbad")):
            names = [*(before + word for word in words), *words]
            found += [spelled[name] for name in names if name in spelled][:1]
        return ",".join(found)
    return None


class Roles:
    """Finds columns by the user's options first and by their usual names second."""

    def __init__(self, table: Table, options: ReadOptions) -> None:
        self.table = table
        self.given: dict[str, str] = {}
        self.left_out: set[str] = set()  # roles that no column is to have
        for role, name in options.columns().items():
            column = find_column(name, table.columns)
            if column is None and name == "none" and role in _OPTIONAL:
                self.left_out.add(role)
                continue
            if column is None and role == "outcome" and 1 < name.count(",") + 1 < 5:
                listed = [
                    find_column(n.strip(), table.columns) for n in name.split(",")
                ]
                if None not in listed:
                    self.given[role] = ",".join(map(str, listed))
                    continue
            self.given[role] = named_column(table, name, flag(role))
        for role, other in permutations(("left_score", "right_score")):
            if role in self.given and other not in self.given:
                raise table.error(f"{flag(role)} is given without {flag(other)}.")

    def others(self, names: Sequence[str], option: str) -> list[str]:
        """Find columns without a role that an option names."""
        return [named_column(self.table, name, option) for name in names]

    def find(self, role: str, used: dict[str, str] | None = None) -> str | None:
        """Find the column of a role that no other role has taken."""
        if role in self.given or role in self.left_out:
            return self.given.get(role)
        taken = set((used or {}).values())
        found = find_columns(role, self.table.columns)
        return next((column for column in found if column not in taken), None)

    def sides(self) -> list[Sides]:
        """Find the pairs of columns that can be compared."""
        given = self.given
        if "loser" in given:
            if "winner" not in given:
                raise self.table.error(
                    f"{flag('loser')} is given without {flag('winner')}; name both."
                )
            return [Sides("winner", given["winner"], given["loser"])]
        if "left" in given or "right" in given:
            if "left" not in given or "right" not in given:
                raise self.table.error(
                    f"{flag('left')} and {flag('right')} name the two columns that "
                    "are compared; give both."
                )
            left, right = given["left"], given["right"]
            return [Sides(_family_of(left, right), left, right)]
        spelled = {spelling(c): c for c in reversed(self.table.columns)}
        found: dict[str, Sides] = {}
        for family, *words in SIDES:
            columns = [spelled[w] for w in map(spelling, words) if w in spelled]
            if len(columns) == 2:
                found.setdefault(family, Sides(family, *columns))
        return list(found.values())


def find_reading(table: Table, options: ReadOptions) -> Reading | None:
    """Find the one reading of a table by the names of its columns."""
    roles = Roles(table, options)
    readings = _fitting(roles, options, [*_comparisons(roles), *_long(roles)])
    # A query or a grade is also a usual name in tables of comparisons and of scores.
    if not readings:
        readings = _fitting(roles, options, _grades(roles))
    if len(readings) > 1:
        listed = "; or ".join(reading.describe() for reading in readings)
        raise table.question(
            f"the columns can be read in {len(readings)} ways. Choose one by its "
            f"options: {listed}."
        )
    if not readings and options.kind in (None, "comparisons"):
        _refuse_sides_without_outcome(roles)
    return readings[0] if readings else None


def _fitting(
    roles: Roles, options: ReadOptions, readings: list[Reading]
) -> list[Reading]:
    """Keep the readings that use every column the user named, and are of the kind."""
    wanted = {item for item in roles.given.items() if item[0] in _DEFINING}

    def fits(reading: Reading) -> bool:
        used = dict(reading.roles)
        if "outcome" in used:
            used["winner"] = used["outcome"]  # --winner may name the outcome column
        return wanted <= set(used.items()) and (
            options.kind is None or options.kind in _KINDS[reading.shape]
        )

    return [reading for reading in readings if fits(reading)]


def _comparisons(roles: Roles) -> list[Reading]:
    readings = []
    for family, left, right in roles.sides():
        if family in ("winner", "chosen"):
            columns = {"winner": left, "loser": right}
            readings.append(Reading("comparisons", columns, family))
            continue
        sides = {"left": left, "right": right}
        for outcome in _outcomes(roles, sides):
            readings.append(Reading("comparisons", {**sides, **outcome}, family))
    return readings


def _outcomes(roles: Roles, sides: dict[str, str]) -> list[dict[str, str]]:
    """Find the ways in which a table says who of two sides is better."""
    given = roles.given
    if "outcome" in given or "winner" in given:
        return [{"outcome": given.get("outcome") or given["winner"]}]
    if "left_score" in given:
        return [{role: given[role] for role in ("left_score", "right_score")}]
    # A winner next to a loser is a side, and no outcome.
    taken = set(sides.values())
    taken.update(*(found[1:] for found in roles.sides() if found.family == "winner"))
    likely = find_columns("outcome", roles.table.columns)
    found = [{"outcome": column} for column in likely if column not in taken]
    scores = roles.find("left_score", sides), roles.find("right_score", sides)
    if scores[0] is not None and scores[1] is not None:
        found.append({"left_score": scores[0], "right_score": scores[1]})
    elif not found and (one_hot := _find_one_hot(roles.table, sides)) is not None:
        found.append({"outcome": one_hot})
    elif not found and (points := roles.find("points", sides)) is not None:
        found.append({"outcome": points})
    return found


def _long(roles: Roles) -> list[Reading]:
    if roles.sides() and "person" not in roles.given:
        return []
    person, item = roles.find("person"), roles.find("item")
    rating = roles.given.get("grade") or roles.find("rating")
    others = [c for c in roles.table.columns if c not in (person, rating)]
    if item is None and len(others) == 1:
        item = others[0]  # somebody scored something, and nothing else is there
    if person is None or item is None or rating is None:
        return []
    if len({person, item, rating}) < 3:
        return []
    return [Reading("long", {"person": person, "item": item, "grade": rating})]


def _grades(roles: Roles) -> list[Reading]:
    query, grade = roles.find("query"), roles.find("grade")
    if grade is None and query is not None:
        grade = roles.find("rating")
    if grade is None or "person" in roles.given:
        return []
    columns = {"grade": grade} if query is None else {"query": query, "grade": grade}
    if (item := roles.find("item", columns)) is not None:
        columns["item"] = item
    return [Reading("grades", columns)]


def _family_of(left: str, right: str) -> str:
    """Give the family of two columns that the user named, if they are usual ones."""
    named = spelling(left), spelling(right)
    for sides in SIDES:
        if named == (spelling(sides.left), spelling(sides.right)):
            # The user says left and right, so the outcome column decides.
            return "" if sides.family in ("winner", "chosen") else sides.family
    return ""


def _refuse_sides_without_outcome(roles: Roles) -> None:
    if {"query", "grade", "person", "item"} & set(roles.given):
        return
    for sides in roles.sides():
        raise roles.table.error(
            f"{sides.left} and {sides.right} look like two sides that are compared, "
            f"but no column says who won. Name it with {flag('outcome')} (or "
            f"{flag('left_score')} and {flag('right_score')}). "
            f"{roles.table.list_columns()}"
        )
