# SPDX-License-Identifier: BSD-3-Clause
"""The answers that ``tiebreak ask`` collects in a file of SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from tiebreak.io.result import FileError

_COLUMNS = {
    "left": pl.String, "right": pl.String, "outcome": pl.String, "rater": pl.String,
    "date": pl.String, "seconds": pl.Float64, "reason": pl.String, "prompt": pl.String,
}  # fmt: skip
# No join, which equal numbers would blow up, and no view, which may never end.
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_NAMES = "SELECT number, CAST(name AS TEXT) FROM {}"
_QUERY = """
SELECT left_item, right_item, CAST(outcome AS TEXT), rater,
       datetime(answered, 'unixepoch'), round(seconds, 3), CAST(reason AS TEXT),
       CAST(prompt AS TEXT)
FROM questions WHERE outcome IS NOT NULL ORDER BY answered, number
"""


def read_answers(path: Path) -> pl.DataFrame:
    """All answers in order, skipped questions included."""
    if not path.is_file():
        raise FileError(path, "there is no such file.")
    try:
        # Not read-only: what the last crash left in the WAL is taken over first.
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        ) as db:
            tables = {name for (name,) in db.execute(_TABLES)}
            if missing := {"items", "raters", "questions"} - tables:
                raise sqlite3.DatabaseError(f"no such table: {min(missing)}")
            items = dict(db.execute(_NAMES.format("items")))
            raters = dict(db.execute(_NAMES.format("raters")))
            rows = [
                (items[left], items[right], outcome, raters[rater], *rest)
                for left, right, outcome, rater, *rest in db.execute(_QUERY)
            ]
    except (sqlite3.Error, KeyError) as error:
        # A KeyError is of a question about an item, or to a rater, that is not there.
        raise FileError(
            path, f"this SQLite database holds no answers of tiebreak ask ({error}); "
            "export the table as CSV and try that."
        ) from None  # fmt: skip
    frame = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    if frame["prompt"].null_count() == frame.height:
        frame = frame.drop("prompt")
    return frame
