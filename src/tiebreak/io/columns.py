# SPDX-License-Identifier: BSD-3-Clause
"""Which column of a table has which role, by usual names or by the user's options.

Of several columns for a role, the name that stands first in `COLUMN_WORDS` is taken.
Case, blanks, dots and underscores do not matter: ``HomeTeam`` is ``home_team``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from tiebreak.data.messages import Nouns, closest, make_nouns
from tiebreak.io.result import ReadOptions, ReadResult, flag, shorten
from tiebreak.io.table import Columns, Table


class Sides(NamedTuple):
    """Two columns that are compared, of one family of names."""

    family: str
    left: str
    right: str


_FAMILIES = {
    "a": "a b",
    "left": "left right, left_name right_name, left_item right_item, "
    "left_id right_id, model_x model_y, id_a id_b, id_1 id_2",
    "response": "response_a response_b, answer_a answer_b, output_a output_b",
    "model": "model_a model_b, model_1 model_2, model_left model_right",
    **{noun: f"{noun}_a {noun}_b, {noun}_1 {noun}_2"
       for noun in ("system", "item", "option", "player", "team")},
    "home": "home_team away_team, home_name away_name, home away, "
    "home_team_id away_team_id, home_id away_id",
    "white": "white_player black_player, white_name black_name, white black, "
    "white_id black_id",
    "winner": "winner_name loser_name, winner loser, winner_team loser_team, "
    "winner_id loser_id",
    "chosen": "chosen rejected",
}  # fmt: skip

# What items and results are called, and the sides, by the family of the sides.
_NOUNS = {
    "home": ("team", "match", "home", "away"),
    "white": ("player", "game", "white", "black"),
    "team": ("team", "match"),
    "player": ("player", "game"),
    "model": ("model", "vote"),
    "system": ("system", "vote"),
}


def find_nouns(family: str, options: ReadOptions) -> Nouns:
    """Return the nouns that the user named, or those of a family of columns."""
    nouns = _NOUNS.get(family, ())
    if options.nouns is not None:
        item, result = (part.strip() for part in options.nouns.split(","))
        return make_nouns(item, result, *nouns[2:])
    return make_nouns(*nouns) if nouns else {}


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
_WORDS = {
    "outcome": (
        "outcome winner result preference preferred vote verdict choice judgment "
        "judgement overall_preference"
    ),
    "points": (
        "score white_score left_score home_points white_points points winner_id "
        "winner_name label"
    ),
    "left_score": (
        "home_score home_goals home_points left_score score_a score_1 score_left "
        "score_home goals_home fthg points_a points_1 goals_1 left_goals left_points "
        "hg home_sets sets_a sets_1 strokes_1"
    ),
    "right_score": (
        "away_score away_goals away_points right_score score_b score_2 score_right "
        "score_away goals_away ftag points_b points_2 goals_2 right_goals right_points "
        "ag away_sets sets_b sets_2 strokes_2"
    ),
    "advantage": "advantage home_advantage left_advantage",
    "neutral": "neutral neutral_venue neutral_ground neutral_site",
    "rater": (
        "rater judge worker annotator assessor voter judge_id rater_id worker_id "
        "annotator_id panelist participant subject person user user_id"
    ),
    "unit": "",
    "period": (
        "period date tourney_date match_date game_date day week month month_id season "
        "year timestamp tstamp time datetime"
    ),
    "weight": (
        "weight sample_weight count votes n_votes n cnt counts freq frequency "
        "num_votes vote_count n_times n_wins num_wins win_count n_comparisons "
        "occurrences"
    ),
    "person": (
        "person panelist panellist judge rater assessor taster consumer participant "
        "subject respondent user user_id person_id judge_id rater_id panelist_id "
        "worker annotator reviewer resp resp_id respondent_id"
    ),
    "item": (
        "item product sample item_name product_name item_id product_id sample_id "
        "stimulus wine movie movie_id joke doc doc_id document document_id"
    ),
    "rating": "score rating grade liking stars points mark",
    "time": (
        "time times time_s time_sec time_seconds seconds time_ms finish_time "
        "finishing_time total_time net_time gun_time chip_time duration"
    ),
    "left_wins": (
        "wins_a a_wins wins_1 wins_left left_wins home_wins wins_home white_wins won_a "
        "p1_wins player1_wins win_a win_1 votes_a votes_1 votes_left wins won win w"
    ),
    "right_wins": (
        "wins_b b_wins wins_2 wins_right right_wins away_wins wins_away black_wins "
        "won_b p2_wins player2_wins win_b win_2 votes_b votes_2 votes_right losses "
        "lost loss lose l"
    ),
    "tied": "ties draws tied drawn n_ties n_draws tie draw votes_tie d t",
    "is_tie": "tie is_tie tied draw is_draw drawn",
    "best": "best most most_important best_item max",
    "worst": "worst least least_important worst_item min",
    "shown": "items options alternatives shown set_items",
    "marked": "choice best_worst bw mark pick response maxdiff",
    "place": (
        "finish finish_position finishing_position final_position place placement "
        "placing position pos rank ranking standing"
    ),
    "query": (
        "query qid query_id queryid group group_id topic topic_id session_id race "
        "race_id"
    ),
    "grade": "grade relevance label rel rating target",
    "task": (
        "task dataset data_set subtask benchmark problem instance suite environment "
        "env corpus testset test_set task_name dataset_name benchmark_name task_id "
        "dataset_id instance_id problem_id question_id"
    ),
    "metric": "metric measure metric_name",
    "scored": (
        "model system method algorithm classifier regressor estimator learner approach "
        "solver optimizer llm agent policy model_name system_name method_name "
        "algorithm_name model_id"
    ),
    "name": (
        "item name item_name product product_name model model_name team team_name "
        "player player_name sample sample_name stimulus option candidate alternative "
        "wine movie joke doc document id item_id product_id model_id team_id player_id "
        "sample_id movie_id doc_id document_id"
    ),
    # What makes a ranked list: all of these columns together, also of query and person.
    "list": (
        "set set_id block trial question season year tournament event round heat stage "
        "circuit grand_prix venue meeting game match contest ballot list session task "
        "voter voter_id date race_date race_name exam quiz"
    ),
    # What is in it; also name.
    "entrant": (
        "driver rider athlete runner swimmer skater skier horse horse_name boat crew "
        "competitor contestant entrant candidate song system club country nation "
        "driver_id student attribute"
    ),
}
COLUMN_WORDS: dict[str, tuple[str, ...]] = {
    role: tuple(words.split()) for role, words in _WORDS.items()
}
COLUMN_WORDS["list"] += COLUMN_WORDS["query"] + COLUMN_WORDS["person"]
COLUMN_WORDS["entrant"] += COLUMN_WORDS["name"]


# Words in the name of a column of places, of which 1 is best; in that of another one
# whose least number is best; and names of rows and columns that sum up the others.
PLACE_WORDS, _LOWER_WORDS, SUMMARIES = map(set, map(str.split, (
    "finish finished place placed placement placing pos position rank ranking ranks "
    "standing 1st",
    "brier cer cost crossentropy delay divergence duration eer entropy err error "
    "errors failures fid latency logloss loss losses "
    "lpips mae mape mse nll penalties perplexity ppl regret rmse runtime strokes ter "
    "time times wer",
    "all average averagerank averagescore avg avgrank avgscore mean meanrank meanscore "
    "median overall sum total",
)))  # fmt: skip


def words_of(name: str) -> set[str]:
    """Split the name of a column into words: valLoss and val_loss hold loss."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
    return set(re.findall(r"[^\W_]+", parted))


def is_lower_better(column: str, options: ReadOptions) -> bool:
    """Say whether the least number of a column is best: as told, or by its name."""
    if options.lower_is_better is not None:
        return options.lower_is_better
    words = words_of(column)
    if "↑" in column or "↓" in column:
        return "↓" in column
    return bool(words & (PLACE_WORDS | _LOWER_WORDS)) and "reciprocal" not in words


def say_direction(column: str, options: ReadOptions, lower: bool) -> str:
    """Say which numbers are best, and how to turn that unless the user said it."""
    place = lower and words_of(column) & PLACE_WORDS
    best = "1 is best" if place else "lower is better" if lower else "higher is better"
    turn = ""
    if options.lower_is_better is None:
        turn = f" ({flag('lower_is_better', not lower)} reverses this)"
    return f"Direction: {best} in {column}{turn}."


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


class Rule(NamedTuple):
    """A shape of tables: how it is recognized, and who reads it.

    Without ``find``, a table has the shape if its header names the needed roles.
    """

    kinds: tuple[str, ...]  # values of ``--kind`` that allow it
    read: Callable[[Table, ReadOptions, Reading, Any], ReadResult]
    # Roles, and which words of `COLUMN_WORDS` name each; two sides are found together.
    needs: Mapping[str, str] = {}
    may: tuple[str, ...] = ()  # roles that need not have a column
    # By values of a sample; may also refuse a table that looks like nothing else.
    find: Callable[[Rule, Roles, ReadOptions], list[Reading]] | None = None


METADATA = ("rater", "unit", "period", "weight")
SIDED = (*METADATA, "advantage", "neutral")

#: How the column of a role is read, and what is missing in an empty cell of it; without
#: a noun empty cells are looked at later.
PARSED: dict[str, tuple[Literal["text", "numbers", "raw"], str]] = {
    **dict.fromkeys(("left", "right", "winner", "loser", "item"), ("text", "name")),
    **dict.fromkeys(("person", "query", "task"), ("text", "value")),
    **dict.fromkeys(("left_score", "right_score"), ("numbers", "score")),
    **dict.fromkeys(("left_wins", "right_wins", "tied"), ("numbers", "")),
    "outcome": ("text", "outcome"),
    "grade": ("numbers", "grade"),
    "advantage": ("numbers", "advantage"),
    **dict.fromkeys(("neutral", "is_tie"), ("text", "")),
    **dict.fromkeys(("rater", "unit"), ("text", "")),
    "period": ("raw", ""),
    "weight": ("numbers", ""),
}


_SEVERAL = ("outcome", "query", "item", "left", "right")  # may be several columns
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
    options: Mapping[str, Any] = field(default_factory=dict)  # that choose it
    example: str = ""  # what it says of the first row
    note: str = ""  # a sentence that is said first

    def describe(self, table: Table) -> str:
        """Say which options choose this reading, and what the first row then says."""
        listed = self.rule.needs or ({} if self.options else self.roles)
        roles = {role: self.roles[role] for role in listed}
        chosen = " ".join(flag(*one) for one in {**roles, **self.options}.items())
        row = table.head.row(0, named=True)
        parts = [f"{c} {shorten(row[c])}" for c in roles.values() if c in row]
        [place] = table.places(np.zeros(1, dtype=np.int64))
        return f"{chosen} ({place}: {self.example or ', '.join(parts)})"


def read_roles(
    table: Table,
    roles: Mapping[str, str],
    text: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> Columns:
    """Read columns; note the empty cells in those of roles."""
    listed: dict[str, list[str]] = {"text": [], "numbers": [], "raw": []}
    parsed = [
        (*PARSED[role], column)
        for role, names in roles.items()
        for column in split_columns(names, table)
    ]
    for kind, _, column in parsed:
        listed[kind].append(column)
    listed["text"] += text
    listed["numbers"] += numbers
    columns = table.read(**listed)
    for kind, noun, column in parsed:
        if noun and kind == "text":
            columns.note_missing(noun, column)
        elif noun:
            columns.note_bad(noun, column)
    return columns


def split_columns(names: str, table: Table) -> list[str]:
    """Split the names of several columns, or of one."""
    return [names] if names in table.columns else names.split(",") if names else []


class Roles:
    """Finds columns by options first and by usual names second."""

    def __init__(self, table: Table, options: ReadOptions) -> None:
        self.table = table
        self._spelled = {spelling(c): c for c in reversed(table.columns)}
        self.named: dict[str, str] = {}
        self.left_out: set[str] = set()  # roles that no column is to have
        for role, name in options.roles().items():
            column = find_column(name, table.columns)
            if column is None and name == "none" and role in SIDED:
                self.left_out.add(role)
                continue
            if column is None and role in _SEVERAL and "," in name:
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

    def columns_of(self, role: str) -> list[str]:
        """List the columns that the user named for a role."""
        return split_columns(self.named.get(role, ""), self.table)

    def groups(self) -> list[str]:
        """List the columns that make a list together, named or usual ones."""
        named = [*self.columns_of("query"), *self.columns_of("person")]
        return named or find_columns("list", self.table.columns)

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
        if words in ("left_wins", "right_wins"):  # model_1_wins, or wins_model_1
            side = spelling(used[words.removesuffix("_wins")])
            names = (f"{side}wins", f"wins{side}")
            likely += [self._spelled[name] for name in names if name in self._spelled]
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
            # Short names are sides only beside counts of wins.
            known = family != "a" or find_columns("left_wins", self.table.columns)
            if len(columns) == 2 and known:
                families.setdefault(family, Sides(family, *columns))
        if len(families) > 1:  # texts beside the names of who wrote them
            families.pop("response", None)
        return list(families.values())

    def readings(self, rule: Rule) -> list[Reading]:
        """Find the readings by a rule that use every named column."""
        if "person" in rule.needs and self.sides() and "person" not in self.named:
            return []
        choices: list[tuple[str, dict[str, str]]] = [("", {})]
        if {"left", "winner"} & set(rule.needs):
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
        wanted = {item for item in self.named.items() if item[0] not in SIDED}
        readings = []
        for family, columns in choices:
            for role in rule.may:
                if (column := self.find(role, columns)) is not None:
                    columns[role] = column
            # --winner may name the outcome column.
            used = {"winner": columns.get("outcome", ""), **columns}
            distinct = len({columns[need] for need in rule.needs}) == len(rule.needs)
            if distinct and wanted <= used.items():
                readings.append(Reading(rule, columns, family))
        return readings


def ask_which(table: Table, readings: Sequence[Reading], saw: str = "") -> Exception:
    """Return the question which of several readings is right."""
    ways = [reading.describe(table) for reading in readings[:3]]
    saw = saw or f"the columns can be read in {len(readings)} ways"
    return table.question(f"{saw}. Choose one by its options: {'; or '.join(ways)}.")


def _family_of(left: str, right: str) -> str:
    """Give the family of two columns that the user named, if any."""
    named = spelling(left), spelling(right)
    for sides in SIDES:
        if named == (spelling(sides.left), spelling(sides.right)):
            # The user says left and right, so the outcome column decides.
            return "" if sides.family in ("winner", "chosen") else sides.family
    return ""
