# SPDX-License-Identifier: BSD-3-Clause
"""The file of answers: SQLite in WAL mode, every answer committed before the reply.

A question is one row, and its answer fills that row: no acknowledged answer is lost,
and none counts twice, whatever a browser sends again. What is taken back is kept in the
table ``undone``.

`tiebreak.io.answers` reads these tables too.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tiebreak.io.result import OUTCOMES, FileError, first_of, plural

VERSION = 1
SIGNS = {"left": -1, "tie": 0, "both_bad": 0, "right": 1}
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS items (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL,
    present INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS raters (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS questions (
    number INTEGER PRIMARY KEY, rater INTEGER NOT NULL REFERENCES raters,
    left_item INTEGER NOT NULL REFERENCES items,
    right_item INTEGER NOT NULL REFERENCES items,
    prompt TEXT, reason TEXT NOT NULL, asked REAL NOT NULL,
    outcome TEXT, seconds REAL, answered REAL);
CREATE INDEX IF NOT EXISTS by_rater ON questions (rater, outcome);
CREATE TABLE IF NOT EXISTS undone (
    question INTEGER NOT NULL REFERENCES questions, outcome TEXT NOT NULL,
    undone REAL NOT NULL);
"""


class Refused(ValueError):  # noqa: N818 - it is an answer to a request
    """A request that cannot be done, with a message for the person."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


class Rater(NamedTuple):
    """A person who answers, and the secret of their link."""

    number: int
    name: str
    token: str


@dataclass(frozen=True)
class Question:
    """A question; ``outcome`` is None while it is open."""

    number: int
    rater: int
    left: int
    right: int
    prompt: str | None
    outcome: str | None
    seconds: float | None = None
    answered: float | None = None


_FIELDS = "number, rater, left_item, right_item, prompt, outcome, seconds, answered"


class Store:
    """A file of answers, opened or made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            if not path.exists():
                # The links of raters are in it: for its owner alone.
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._db = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=10
            )
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(path, f"cannot hold answers: {reason}.") from None

    def _prepare(self) -> None:
        """Make the tables, unless the file holds something else."""
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA foreign_keys=ON")
        tables = self._db.execute("SELECT name FROM sqlite_master").fetchall()
        if tables and ("about",) not in tables:
            raise FileError(self.path, "this SQLite database holds something else.")
        with self.writing() as db:
            for statement in _TABLES.split(";"):
                db.execute(statement)
            version = self._about("version", str(VERSION))
            if version != str(VERSION):
                raise FileError(
                    self.path, f"version {version} of answers; expected {VERSION}."
                )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Commit all changes of a block or none; blocks may be nested."""
        with self._lock:
            if self._db.in_transaction:
                yield self._db
                return
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            except BaseException as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise Refused(
                        f"Nothing was saved in {self.path.name}: {error}",
                        507,
                    ) from None
                raise

    def _about(self, name: str, default: str) -> str:
        """A value kept with the answers, the default at first."""
        with self.writing() as db:
            db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, default))
        find = "SELECT value FROM about WHERE name = ?"
        return str(self._db.execute(find, (name,)).fetchone()[0])

    def secret(self, name: str) -> str:
        """A random secret, made at first use."""
        return self._about(name, secrets.token_urlsafe(18))

    # Items ---------------------------------------------------------------------------

    def enter(
        self, hashes: Mapping[str, str], *, accept_changes: bool = False
    ) -> list[str]:
        """Enter items by name and hash; say what changed."""
        rows = self._db.execute("SELECT name, hash, present FROM items").fetchall()
        known = {name: digest for name, digest, _ in rows}
        changed = [n for n in hashes if known.get(n, hashes[n]) != hashes[n]]
        if changed and not accept_changes and self.n_answers:
            raise FileError(
                self.path,
                f"{plural(len(changed), 'item')} changed since they were asked about: "
                f"{first_of(changed, 5)}. Add --accept-changes, or new --answers.",
            )
        new = [name for name in hashes if name not in known] if known else []
        gone = [name for name, _, present in rows if present and name not in hashes]
        with self.writing() as db:
            db.execute("UPDATE items SET present = 0")
            db.executemany(
                "INSERT INTO items (name, hash, present) VALUES (?, ?, 1) ON CONFLICT "
                "(name) DO UPDATE SET hash = excluded.hash, present = 1",
                hashes.items(),
            )
        changes = {"added": new, "removed": gone, "changed": changed}
        return [
            f"{plural(len(names), 'item')} {change} since the last run: "
            f"{first_of(names, 5)}."
            for change, names in changes.items()
            if names
        ]

    def item_numbers(self) -> dict[str, int]:
        """Numbers of all items by name, also of removed ones."""
        return dict(self._db.execute("SELECT name, number FROM items"))

    # Raters --------------------------------------------------------------------------

    def rater(self, name: str) -> Rater:
        """Find a rater by name, or add one."""
        with self.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO raters (name, token) VALUES (?, ?)",
                (name, secrets.token_urlsafe(18)),
            )
        return next(rater for rater in self.raters() if rater.name == name)

    def raters(self) -> list[Rater]:
        """All raters, in order."""
        rows = self._db.execute(
            "SELECT number, name, token FROM raters ORDER BY number"
        )
        return [Rater(*row) for row in rows]

    # Questions and answers -----------------------------------------------------------

    def questions(self) -> list[Question]:
        """Questions as they were asked."""
        rows = self._db.execute(f"SELECT {_FIELDS} FROM questions ORDER BY number")
        return [Question(*row) for row in rows]

    @property
    def n_answers(self) -> int:
        """Number of answers, skipped questions not counted."""
        row = self._db.execute(
            "SELECT count(*) FROM questions WHERE outcome IS NOT NULL AND outcome != "
            "'skip'"
        ).fetchone()
        return int(row[0])

    def ask(
        self, rater: int, left: int, right: int, reason: str, prompt: str | None = None
    ) -> Question:
        """Record a question before it is shown."""
        with self.writing() as db:
            number = db.execute(
                "INSERT INTO questions (rater, left_item, right_item, prompt, reason, "
                "asked) VALUES (?, ?, ?, ?, ?, ?)",
                (rater, left, right, prompt, reason, time.time()),
            ).lastrowid
        return self.question(int(number or 0), rater)

    def question(self, number: int, rater: int) -> Question:
        """Find a question of a rater."""
        row = self._db.execute(
            f"SELECT {_FIELDS} FROM questions WHERE number = ? AND rater = ?",
            (number, rater),
        ).fetchone()
        if row is None:
            raise Refused("This pair was not asked. Reload the page.")
        return Question(*row)

    def answer(
        self, number: int, rater: int, outcome: str, seconds: float | None
    ) -> tuple[Question, bool]:
        """Save an answer; False if the same one was saved before."""
        if outcome not in OUTCOMES:
            raise Refused(f"An answer is one of {', '.join(OUTCOMES)}.", 400)
        before = self.question(number, rater)
        if before.outcome is None:
            with self.writing() as db:
                db.execute(
                    "UPDATE questions SET outcome = ?, seconds = ?, answered = ? "
                    "WHERE number = ? AND rater = ? AND outcome IS NULL",
                    (outcome, seconds, time.time(), number, rater),
                )
        after = self.question(number, rater)
        if after.outcome != outcome:
            raise Refused("This pair was answered already. Reload the page to go on.")
        return after, before.outcome is None

    def undo(self, number: int, rater: int) -> Question | None:
        """Take back the last answer; None if that was done before."""
        last = self._db.execute(
            "SELECT number FROM questions WHERE rater = ? AND outcome IS NOT NULL "
            "ORDER BY answered DESC, number DESC LIMIT 1",
            (rater,),
        ).fetchone()
        question = self.question(number, rater)
        if question.outcome is None:
            return None
        if last is None or last[0] != number:
            raise Refused("Only the last answer can be taken back. Reload the page.")
        with self.writing() as db:
            db.execute(
                "INSERT INTO undone VALUES (?, ?, ?)",
                (number, question.outcome, time.time()),
            )
            db.execute(
                "UPDATE questions SET outcome = NULL, seconds = NULL, answered = NULL "
                "WHERE number = ?",
                (number,),
            )
        return question
