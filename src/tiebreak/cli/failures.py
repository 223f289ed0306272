# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong ends in one line and an exit code that says what it was."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["CODES", "DATA", "FILE", "INTERRUPTED", "WRITE", "guarded"]

FILE, DATA, WRITE, INTERRUPTED = 3, 4, 5, 130
CODES = {
    0: "done",
    2: "the command was not understood",
    FILE: "the file could not be read",
    DATA: "the data do not allow it",
    WRITE: "the result could not be written",
    INTERRUPTED: "interrupted",
}


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the errors that users can do something about into one line.

    ``TIEBREAK_DEBUG=1`` shows where they come from instead.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        import typer

        from tiebreak.data.files import FileError

        try:
            command(*args, **options)
        except KeyboardInterrupt:
            _say("Interrupted; nothing is left half written.")
            raise typer.Exit(INTERRUPTED) from None
        except (FileError, ValueError, TypeError, OSError) as error:
            if os.environ.get("TIEBREAK_DEBUG"):
                raise
            _say(_one_line(error))
            raise typer.Exit(_code_of(error)) from None

    return run


def _code_of(error: BaseException) -> int:
    from tiebreak.data.files import FileError

    if isinstance(error, FileError):
        return FILE
    return WRITE if isinstance(error, OSError) else DATA


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f" {error.filename}" if error.filename else ""
        return f"Cannot write{place}: {error.strerror}."
    return " ".join(str(error).split())


def _say(message: str) -> None:
    sys.stderr.write(f"tiebreak: {message}\n")
