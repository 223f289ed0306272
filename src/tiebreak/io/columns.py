# SPDX-License-Identifier: BSD-3-Clause
"""Which column of a table has which role, by usual names or by the user's options.

Three tables of rules say what a table is: `COLUMN_WORDS` the usual names of a role's
column, `RULES` which roles make a shape, and `PARSED` how the column of a role is read.

A reading assigns a column to each role. Two readings of what is compared are an error
that lists them; of several columns for metadata (rater, period, weight), the name that
stands first in `COLUMN_WORDS` is taken.

Case, blanks, dots and underscores of a column's name do not matter: ``HomeTeam``,
``home team`` and ``home_team`` are equal.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from tiebreak.io.result import ReadOptions, flag
from tiebreak.io.table import Columns, Table


class Sides(NamedTuple):
    """Two columns that are compared, of one family of names."""

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
    "unit": (),
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


def find_columns(
    role: str,
    columns: Sequence[str],
    words: Mapping[str, Sequence[str]] = COLUMN_WORDS,
) -> list[str]:
    """Find the columns that may have a role, the likeliest first."""
    spelled = {spelling(column): column for column in reversed(columns)}
    likely = dict.fromkeys(map(spelling, words[role]))
    return [spelled[word] for word in likely if word in spelled]


def find_column(name: str, columns: list[str]) -> str | None:
    """Find the column that a user named; case counts only if needed."""
    if name in columns:
        return name
    same = [column for column in columns if column.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def named_column(table: Table, name: str, option: str) -> str:
    """Find the column that an option names, or refuse it."""
    if (column := find_column(name, table.columns)) is not None:
        return column
    why = f"there is no such column.{closest(name, table.columns)}"
    if find_column(name, table.skipped) is not None:
        why = "that column holds lists or bytes."
    raise table.error(f"{option} names {name!r}, but {why} {table.list_columns()}")


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


class Rule(NamedTuple):
    """The roles that make a shape."""

    shape: Shape  # comparisons row by row, scores of people one per row, or graded rows
    # Roles, and which words of `COLUMN_WORDS` name each; two sides are found together.
    needs: Mapping[str, str]
    may: tuple[str, ...] = ()  # roles that need not have a column


_SIDES = {"left": "", "right": ""}
_METADATA = ("rater", "unit", "period", "weight")
_SIDED = (*_METADATA, "advantage", "neutral")

#: Ways to understand a table. Where none of a group fits, the next group is tried: a
#: grade is also a usual name in tables of comparisons and of scores.
RULES: tuple[tuple[Rule, ...], ...] = (
    (
        Rule("comparisons", {"winner": "", "loser": ""}, _METADATA),
        Rule("comparisons", {**_SIDES, "outcome": "outcome"}, _SIDED),
        Rule(
            "comparisons",
            {**_SIDES, "left_score": "left_score", "right_score": "right_score"},
            _SIDED,
        ),
        Rule("long", {"person": "person", "grade": "rating", "item": "item"}),
    ),
    (Rule("comparisons", {**_SIDES, "outcome": "one_hot"}, _SIDED),),
    (Rule("comparisons", {**_SIDES, "outcome": "points"}, _SIDED),),
    (Rule("grades", {"grade": "grade"}, ("query", "item")),),
    (Rule("grades", {"query": "query", "grade": "rating"}, ("item",)),),
)

#: How the column of a role is read, and what is missing in an empty cell of it; without
#: a noun empty cells are looked at later.
PARSED: dict[str, tuple[Literal["text", "numbers", "raw"], str]] = {
    **dict.fromkeys(("left", "right", "winner", "loser"), ("text", "name")),
    **dict.fromkeys(("person", "item", "query"), ("text", "value")),
    **dict.fromkeys(("left_score", "right_score"), ("numbers", "score")),
    "outcome": ("text", "outcome"),
    "grade": ("numbers", "grade"),
    "advantage": ("numbers", "advantage"),
    "neutral": ("text", ""),
    **dict.fromkeys(("rater", "unit"), ("text", "")),
    "period": ("raw", ""),
    "weight": ("numbers", ""),
}


# An option that is given alone says too little.
_NEEDED = {
    "left_score": "right_score", "right_score": "left_score", "left": "right",
    "right": "left", "loser": "winner",
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One way to understand a table."""

    rule: Rule
    roles: dict[str, str]  # the column of each role
    family: str = ""  # of the two sides, see `SIDES`

    @property
    def shape(self) -> Shape:
        """What the table is."""
        return self.rule.shape

    def describe(self) -> str:
        """Say which columns are needed, as options."""
        return " ".join(flag(role, self.roles[role]) for role in self.rule.needs)


def read_roles(
    table: Table,
    roles: Mapping[str, str],
    text: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> Columns:
    """Read columns; note the empty cells in those of roles."""
    listed: dict[str, list[str]] = {"text": [], "numbers": [], "raw": []}
    for role, column in roles.items():
        listed[PARSED[role][0]].append(column)
    listed["text"] += text
    listed["numbers"] += numbers
    columns = table.read(**listed)
    for role, column in roles.items():
        kind, noun = PARSED[role]
        if noun and kind == "text":
            columns.note_missing(noun, column)
        elif noun:
            columns.note_bad(noun, column)
    return columns


def split_outcome(outcome: str, table: Table) -> list[str]:
    """Split columns of 0 and 1 for left, right, tie and both bad; [] if it is one."""
    return [] if outcome in table.columns or not outcome else outcome.split(",")


class Roles:
    """Finds columns by options first and by usual names second."""

    def __init__(self, table: Table, options: ReadOptions) -> None:
        self.table = table
        self._spelled = {spelling(c): c for c in reversed(table.columns)}
        self.named: dict[str, str] = {}
        self.left_out: set[str] = set()  # roles that no column is to have
        for role, name in options.columns().items():
            column = find_column(name, table.columns)
            if column is None and name == "none" and role in _SIDED:
                self.left_out.add(role)
                continue
            if column is None and role == "outcome" and 1 < name.count(",") + 1 < 5:
                listed = [
                    find_column(n.strip(), table.columns) for n in name.split(",")
                ]
                if None not in listed:
                    self.named[role] = ",".join(map(str, listed))
                    continue
            self.named[role] = named_column(table, name, flag(role))
        for role, other in _NEEDED.items():
            if role in self.named and other not in self.named:
                raise table.error(f"{flag(role)} needs {flag(other)}; give both.")
        if "left" in self.named and self.named["left"] == self.named["right"]:
            raise table.error(f"{flag('left')} and {flag('right')} name one column.")

    def find(self, role: str, used: dict[str, str] | None = None) -> str | None:
        """Find the column of a role, not taken by another role."""
        columns = self.candidates(role, role, used or {})
        return columns[0] if columns else None

    def candidates(self, role: str, words: str, used: dict[str, str]) -> list[str]:
        """List the columns that may have a role, the likeliest first."""
        column = self.named.get(role)
        if role == "outcome" and column is None:
            column = self.named.get("winner")
        if column is not None or role in self.left_out:
            return [] if column is None else [column]
        if words == "one_hot":
            return self._one_hot(used)
        taken = set(used.values())
        if words == "outcome":
            # A winner next to a loser is a side, and no outcome.
            taken.update(*(s[1:] for s in self.sides() if s.family == "winner"))
        likely = find_columns(words, self.table.columns)
        free = [column for column in likely if column not in taken]
        if words == "outcome":
            return free
        if role == "item" and "person" in used and not free:
            # Somebody scored something, and nothing else is there.
            free = [column for column in self.table.columns if column not in taken]
            return free if len(free) == 1 else []
        return free[:1]

    def _one_hot(self, sides: dict[str, str]) -> list[str]:
        """Find one column per outcome, such as winner_model_a."""
        spelled = self._spelled
        for before in ("winner", "win", "wins", "won", "preferred"):
            columns = [
                spelled.get(before + spelling(sides[side]))
                for side in ("left", "right")
            ]
            if None in columns:
                continue
            for words in (("tie", "draw"), ("tiebothbad", "bothbad")):
                names = [*(before + word for word in words), *words]
                columns += [spelled[name] for name in names if name in spelled][:1]
            return [",".join(map(str, columns))]
        return []

    def sides(self) -> list[Sides]:
        """Find the pairs of columns that can be compared."""
        named = self.named
        if "loser" in named:
            return [Sides("winner", named["winner"], named["loser"])]
        if "left" in named:
            left, right = named["left"], named["right"]
            return [Sides(_family_of(left, right), left, right)]
        spelled = self._spelled
        families: dict[str, Sides] = {}
        for family, *words in SIDES:
            columns = [spelled[w] for w in map(spelling, words) if w in spelled]
            if len(columns) == 2:
                families.setdefault(family, Sides(family, *columns))
        return list(families.values())

    def readings(self, rule: Rule) -> list[Reading]:
        """Find the readings by a rule that use every named column."""
        if rule.shape == "long" and self.sides() and "person" not in self.named:
            return []
        choices: list[tuple[str, dict[str, str]]] = [("", {})]
        if rule.shape == "comparisons":
            winner_first = "winner" in rule.needs
            choices = [
                (sides.family, dict(zip(rule.needs, sides[1:], strict=False)))
                for sides in self.sides()
                if (sides.family in ("winner", "chosen")) == winner_first
            ]
        for role, words in rule.needs.items():
            if words:
                choices = [
                    (family, {**columns, role: column})
                    for family, columns in choices
                    for column in self.candidates(role, words, columns)
                ]
        # Readings that do not use a column which the user named are ruled out.
        wanted = {item for item in self.named.items() if item[0] not in _SIDED}
        readings = []
        for family, columns in choices:
            for role in rule.may:
                if (column := self.find(role, columns)) is not None:
                    columns[role] = column
            # --winner may name the outcome column.
            used = {"winner": columns.get("outcome", ""), **columns}
            distinct = rule.shape != "long" or len({*columns.values()}) == 3
            if distinct and wanted <= used.items():
                readings.append(Reading(rule, columns, family))
        return readings


def find_reading(table: Table, options: ReadOptions) -> Reading | None:
    """Find the one reading of a table by its column names."""
    roles = Roles(table, options)
    for rules in RULES:
        readings = [
            reading
            for rule in rules
            if options.kind is None or options.kind in _KINDS[rule.shape]
            for reading in roles.readings(rule)
        ]
        ask_which(table, [reading.describe() for reading in readings])
        if readings:
            return readings[0]
    graded = {"query", "grade", "person", "item"} & set(roles.named)
    sides = roles.sides()
    if sides and not graded and options.kind in (None, "comparisons"):
        raise table.error(
            f"{sides[0].left} and {sides[0].right} look like two sides, but no column "
            f"says who won. Name it with {flag('outcome')} (or {flag('left_score')} "
            f"and {flag('right_score')}). {table.list_columns()}"
        )
    return None


def ask_which(table: Table, ways: list[str]) -> None:
    """Ask which of several readings is right."""
    if len(ways) > 1:
        raise table.question(
            f"the columns can be read in {len(ways)} ways. Choose one by its options: "
            f"{'; or '.join(ways)}."
        )


def _family_of(left: str, right: str) -> str:
    """Give the family of two columns that the user named, if any."""
    named = spelling(left), spelling(right)
    for sides in SIDES:
        if named == (spelling(sides.left), spelling(sides.right)):
            # The user says left and right, so the outcome column decides.
            return "" if sides.family in ("winner", "chosen") else sides.family
    return ""
