# SPDX-License-Identifier: BSD-3-Clause
"""The answers that ``tiebreak ask`` collects in a file of SQLite."""

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from tiebreak.io.result import FileError

_COLUMNS = {
    "left": pl.String, "right": pl.String, "outcome": pl.String, "rater": pl.String,
    "date": pl.String, "seconds": pl.Float64, "reason": pl.String, "prompt": pl.String,
}  # fmt: skip
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE items (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL,
    present INTEGER NOT NULL) STRICT;
CREATE TABLE raters (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE)
    STRICT;
CREATE TABLE questions (
    number INTEGER PRIMARY KEY, rater INTEGER NOT NULL REFERENCES raters,
    left_item INTEGER NOT NULL REFERENCES items,
    right_item INTEGER NOT NULL REFERENCES items,
    prompt TEXT, reason TEXT NOT NULL, asked REAL NOT NULL,
    outcome TEXT, seconds REAL, answered REAL) STRICT;
CREATE INDEX by_rater ON questions (rater, outcome);
CREATE TABLE undone (
    question INTEGER NOT NULL REFERENCES questions, outcome TEXT NOT NULL,
    undone REAL NOT NULL) STRICT
"""
_NAMES = "SELECT number, CAST(name AS TEXT) FROM {}"
_QUERY = """
SELECT left_item, right_item, CAST(outcome AS TEXT), rater,
       datetime(answered, 'unixepoch'), round(seconds, 3), CAST(reason AS TEXT),
       CAST(prompt AS TEXT)
FROM questions WHERE outcome IS NOT NULL ORDER BY answered, number
"""


def check_schema(db: sqlite3.Connection) -> None:
    """Refuse views, triggers, values of other types, and all else that is not ours."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(SCHEMA)
        for each in (query, "PRAGMA quick_check(1)"):  # which looks at types of values
            if db.execute(each).fetchall() != empty.execute(each).fetchall():
                raise sqlite3.DatabaseError("its tables are not those of a study")


def read_answers(path: Path) -> pl.DataFrame:
    """All answers in order, skipped questions included."""
    if not path.is_file():
        raise FileError(path, "there is no such file.")
    try:
        # Not read-only: what the last crash left in the WAL is taken over first.
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        ) as db:
            check_schema(db)
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
