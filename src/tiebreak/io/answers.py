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
_QUERY = """
SELECT l.name, r.name, q.outcome, p.name, datetime(q.answered, 'unixepoch'),
       round(q.seconds, 3), q.reason, q.prompt
FROM questions q JOIN items l ON l.number = q.left_item
JOIN items r ON r.number = q.right_item JOIN raters p ON p.number = q.rater
WHERE q.outcome IS NOT NULL ORDER BY q.answered, q.number
"""


def read_answers(path: Path) -> pl.DataFrame:
    """All answers, skipped questions among them, in the order they were given."""
    if not path.is_file():
        raise FileError(path, "there is no such file.")
    try:
        # Not read-only: what the last crash left in the WAL is taken over first.
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        ) as db:
            rows = db.execute(_QUERY).fetchall()
    except sqlite3.Error as error:
        raise FileError(
            path, f"this SQLite database holds no answers of tiebreak ask ({error}); "
            "export the table as CSV and try that."
        ) from None  # fmt: skip
    frame = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    if frame["prompt"].null_count() == frame.height:
        frame = frame.drop("prompt")
    return frame
