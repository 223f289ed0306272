# SPDX-License-Identifier: BSD-3-Clause
"""The file of answers: SQLite in WAL mode, every answer committed before the reply.

A question is one row, and its answer fills that row, so that none counts twice. What is
taken back is kept in the table ``undone``.

`tiebreak.io.answers` has the schema, and reads these tables too.
"""

import os
import secrets
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tiebreak.io.answers import SCHEMA, check_schema
from tiebreak.io.result import OUTCOMES, FileError, first_of, plural

SIGNS = {"left": -1, "tie": 0, "both_bad": 0, "right": 1}
MOST_RATERS = 1000


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


class Answer(NamedTuple):
    """An answer to a question."""

    rater: int
    question: int
    outcome: str
    seconds: float | None = None


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


def _lock_name(path: Path) -> Path:
    return Path(f"{path.resolve()}-lock")


def _lock_file(path: Path) -> sqlite3.Connection:
    """Refuse a file that another study has open; the system unlocks at a crash."""
    only = sqlite3.connect(
        _lock_name(path), isolation_level=None, check_same_thread=False, timeout=0
    )
    try:
        only.execute("PRAGMA journal_mode=OFF")
        only.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        only.close()
        raise OSError(0, "it is in use by another study or page") from None
    return only


_FIELDS = "number, rater, left_item, right_item, prompt, outcome, seconds, answered"


class Store:
    """A file of answers, opened or made, for one study at a time; None: in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = Path(":memory:") if path is None else path
        self._lock = threading.RLock()
        self._only: sqlite3.Connection | None = None
        try:
            if path is not None:
                # The links of raters are in it: for its owner alone.
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
                self._only = _lock_file(path)
            self._db = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, timeout=10
            )
            self._db.text_factory = lambda text: text.decode("utf-8", "replace")
            self._closed = weakref.finalize(self, self._db.close)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise
        except (OSError, sqlite3.Error, Refused) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(
                self.path, f"cannot hold answers: {reason.rstrip('.')}."
            ) from None

    def _prepare(self) -> None:
        """Make the tables, unless the file holds something else."""
        with self.writing() as db:
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in SCHEMA.split(";"):
                    db.execute(statement)
            check_schema(db)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA foreign_keys=ON")

    def close(self) -> None:
        """Close the file."""
        self._closed()
        if self._only is not None:
            _lock_name(self.path).unlink(missing_ok=True)
            self._only.close()
            self._only = None

    def was_moved(self) -> bool:
        """Whether a file with raters is new at this place, as one from elsewhere is."""
        status = self.path.stat()
        place = f"{status.st_dev}:{status.st_ino}"
        before = self._about("place", place)
        with self.writing() as db:
            db.execute("UPDATE about SET value = ? WHERE name = 'place'", (place,))
        return before != place and bool(self.raters())

    def renew_links(self) -> None:
        """Replace all keys, so that those who had one need the new link."""
        with self.writing() as db:
            for rater in self.raters():
                db.execute(
                    "UPDATE raters SET token = ? WHERE number = ?",
                    (secrets.token_urlsafe(18), rater.number),
                )
            db.execute("DELETE FROM about WHERE name IN ('organizer', 'join', 'csrf')")

    def save(self, path: Path) -> None:
        """Write a copy to a new file."""
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self._lock, closing(sqlite3.connect(path)) as copy:
            self._db.backup(copy)

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
        """Enter items by name and hash ("": not known); say what changed."""
        rows = self._db.execute("SELECT name, hash, present FROM items").fetchall()
        known = {name: digest for name, digest, _ in rows}
        changed = [
            n for n in hashes if hashes[n] and known.get(n, "") not in ("", hashes[n])
        ]
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
                "(name) DO UPDATE SET present = 1, "
                "hash = coalesce(nullif(excluded.hash, ''), hash)",
                hashes.items(),
            )
        changes = {"added": new, "removed": gone, "changed": changed}
        return [
            f"{plural(len(names), 'item')} {change} since the last run: "
            f"{first_of(names, 5)}."
            for change, names in changes.items()
            if names
        ]

    def item_numbers(self, present: bool = False) -> dict[str, int]:
        """Numbers of all items by name, also of removed ones unless `present`."""
        query = "SELECT name, number FROM items WHERE present >= ? ORDER BY number"
        return dict(self._db.execute(query, (int(present),)))

    # Raters --------------------------------------------------------------------------

    def rater(self, name: str, *, new: bool = False) -> Rater:
        """Find a rater by name, or add one; with `new`, refuse a name that is known."""
        with self.writing() as db:
            raters = self.raters()
            same = [rater for rater in raters if rater.name == name]
            if new:
                same = [r for r in raters if r.name.casefold() == name.casefold()]
                if same or len(raters) >= MOST_RATERS:
                    raise Refused(
                        f"{name} is taken. Open your own link, or change the name."
                        if same else "No more people can take part."
                    )  # fmt: skip
            if not same:
                row = None, name, secrets.token_urlsafe(18)
                number = db.execute("INSERT INTO raters VALUES (?, ?, ?)", row)
                same = [Rater(int(number.lastrowid or 0), name, row[2])]
        return same[0]

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

    def withdraw(self, rater: int) -> None:
        """Remove the open questions of a rater that were never answered."""
        with self.writing() as db:
            db.execute(
                "DELETE FROM questions WHERE rater = ? AND outcome IS NULL AND number "
                "NOT IN (SELECT question FROM undone)",
                (rater,),
            )

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
