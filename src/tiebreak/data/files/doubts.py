# SPDX-License-Identifier: BSD-3-Clause
"""Tables that could be taken for graded items, and are likely something else.

A table whose column names say nothing is read as graded items, the last column the
grade. These look at its content first, and ask instead of guessing.
"""

from __future__ import annotations

from itertools import combinations

import polars as pl

from tiebreak.data.files.errors import NeedsAnswer
from tiebreak.data.files.table import Table
from tiebreak.data.files.vocabulary import spelling

__all__ = ["refuse_places", "refuse_two_sides"]

_PLACES = (
    "finish", "place", "placement", "placing", "pos", "position", "rank", "ranking",
    "standing",
)  # fmt: skip
_FEWEST_NAMES = 3


def refuse_places(table: Table, grade: str) -> None:
    """Refuse to guess that a column of places is a grade.

    Parameters
    ----------
    table : Table
        The table.
    grade : str
        The column that would be taken for the grade.

    Raises
    ------
    NeedsAnswer
        If its name says that 1 is best.
    """
    if spelling(grade) in _PLACES:
        raise NeedsAnswer(
            table.path,
            f"{grade} looks like a place, of which 1 is best, but grades are better "
            "the higher they are. Add a column that is higher for better rows and "
            f"name it with --grade, or say --grade {grade} if higher is better.",
        )


def refuse_two_sides(table: Table, numeric: list[str]) -> None:
    """Refuse to guess where two columns hold the same names, as two sides do.

    Parameters
    ----------
    table : Table
        The table.
    numeric : list of str
        Its columns of numbers; the others hold text.

    Raises
    ------
    NeedsAnswer
        If two columns of text share most of their values, and no row has the same one
        in both. Codes of two features can be the same too, but then also in one row.
    """
    words = [column for column in table.columns if column not in numeric]
    for first, second in combinations(words, 2):
        left, right = (table.head[c].cast(pl.String) for c in (first, second))
        sides = [set(side.drop_nulls().unique()) for side in (left, right)]
        both = len(sides[0] & sides[1])
        if both < _FEWEST_NAMES or 2 * both < min(map(len, sides)):
            continue
        if not (left == right).any():
            raise NeedsAnswer(
                table.path,
                f"{first} and {second} hold the same names, as two sides do that are "
                f"compared. Then say --left {first!r} --right {second!r}, and who won "
                "by --outcome or by --left-score and --right-score. If every row is a "
                "graded item, name its grade with --grade.",
            )
