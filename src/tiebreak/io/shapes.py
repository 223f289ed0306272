# SPDX-License-Identifier: BSD-3-Clause
"""The shapes of tables, as one table of rules, and which of them a table has.

A rule says by which roles of columns, or by which function of the header and a sample,
a shape is recognized, and who reads it. Where none of a group of rules fits, the next
group is tried; several readings are an error that lists three of them.
"""

from dataclasses import replace
from functools import partial

from tiebreak.io.columns import (
    METADATA,
    SIDED,
    Reading,
    Roles,
    Rule,
    ask_which,
    words_of,
)
from tiebreak.io.comparisons import read_comparisons
from tiebreak.io.grades import (
    find_last_grade,
    find_people,
    read_graded,
    read_long,
    read_people,
    refusal,
    refuse_two_sides,
)
from tiebreak.io.lists import (
    find_ballots,
    find_best_worst,
    find_cells,
    find_places,
    find_ranks,
    read_ballots,
    read_best_worst,
    read_cells,
    read_places,
    read_ranks,
)
from tiebreak.io.matrices import find_matrix, read_matrix, read_totals
from tiebreak.io.result import ReadOptions, flag
from tiebreak.io.scores import find_scores, read_scores
from tiebreak.io.table import Table

_SIDES = {"left": "", "right": ""}
_SCORES = {"left_score": "left_score", "right_score": "right_score"}
_WINS = {"left_wins": "left_wins", "right_wins": "right_wins"}
_SCORED = {"person": "person", "grade": "rating", "item": "item"}
_PAIRS, _GRADES = ("comparisons",), ("grades",)
_LISTS, _TASKS = ("orders",), ("scores",)
_PEOPLE = ("comparisons", "orders", "grades")


def _refuse_sides(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Refuse two sides of which no column says who won."""
    graded = {"query", "grade", "person", "item"} & set(roles.named)
    if (sides := roles.sides()) and not graded:
        advice = f"Name it with {flag('outcome')}"
        if len(roles.table.columns) > 3:
            scores = f"{flag('left_score')} and {flag('right_score')}"
            advice += f", or both scores with {scores}"
        if any({"wins", "won", "win"} & words_of(c) for c in roles.table.columns):
            advice = "Call columns that count wins of both sides wins_a and wins_b"
        raise roles.table.error(
            f"{sides[0].left} and {sides[0].right} look like two sides, but no column "
            f"says who won. {advice}. {roles.table.list_columns()}"
        )
    return []


#: All shapes; those of a later group are looked for where no earlier one fits: a grade
#: is also a usual name in tables of comparisons and of scores.
RULES: tuple[tuple[Rule, ...], ...] = (
    (
        Rule(
            _PAIRS, read_comparisons, {"winner": "", "loser": ""}, (*METADATA, "is_tie")
        ),
        Rule(_PAIRS, read_comparisons, {**_SIDES, "outcome": "outcome"}, SIDED),
        Rule(_PAIRS, read_comparisons, {**_SIDES, **_SCORES}, SIDED),
        Rule(_PAIRS, read_totals, {**_SIDES, **_WINS}, (*SIDED, "tied")),
        Rule(_PEOPLE, read_long, _SCORED),
        Rule(_LISTS, read_places, find=find_places),
        Rule(_LISTS, read_ballots, find=find_ballots),
        Rule(_LISTS, read_best_worst, find=find_best_worst),
        Rule(_TASKS, read_scores, find=find_scores),
    ),
    (Rule(_PAIRS, read_comparisons, {**_SIDES, "outcome": "one_hot"}, SIDED),),
    (Rule(_PAIRS, read_comparisons, {**_SIDES, "outcome": "points"}, SIDED),),
    (Rule(_GRADES, read_graded, find=refuse_two_sides),),
    (Rule(_LISTS, read_places, find=partial(find_places, words="time")),),
    (Rule(_LISTS, read_places, find=partial(find_places, words="rating")),),
    (Rule(_GRADES, read_graded, {"grade": "grade"}, ("query", "item")),),
    (Rule(_GRADES, read_graded, {"query": "query", "grade": "rating"}, ("item",)),),
    (Rule(_PAIRS, read_matrix, find=find_matrix),),
    (Rule(_LISTS, read_ranks, find=find_ranks),),
    (Rule(_LISTS, read_cells, find=find_cells),),
    (Rule(_TASKS, read_scores, find=partial(find_scores, is_long=False)),),
    (Rule(_PAIRS, read_comparisons, find=_refuse_sides),),
    (Rule(_PEOPLE, read_people, find=find_people),),
    (Rule(_GRADES, read_graded, find=find_last_grade),),
)


def find_reading(table: Table, options: ReadOptions) -> Reading:
    """Find the one reading of a table, or refuse it."""
    roles = Roles(table, options)
    for rules in RULES:
        readings: list[Reading] = []
        for rule in rules:
            if options.kind is None or options.kind in rule.kinds:
                found = rule.find and rule.find(rule, roles, options)
                readings += roles.readings(rule) if found is None else found
        stated = [one for one in readings if "outcome" in one.roles]
        points = [one.roles.get("left_score") for one in readings if one not in stated]
        if len(stated) == 1 and len(points) == 1 and points[0]:
            outcome = stated[0].roles["outcome"]
            note = f"{outcome} says who is better; {points[0]} is not read."
            return replace(stated[0], note=note)
        if len(readings) > 1:
            raise ask_which(table, readings)
        if readings:
            return readings[0]
    raise refusal(table, options)
