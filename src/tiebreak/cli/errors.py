# SPDX-License-Identifier: BSD-3-Clause
"""Errors as one line, and an exit code that says what kind they are."""

import os
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

from tiebreak.cli.signals import SIGNALED, say

OURS, FILE, DATA, WRITE, WORSE, INTERRUPTED = 1, 3, 4, 5, 7, SIGNALED + 2


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into one line and an exit code, and warnings into one line each.

    ``TIEBREAK_DEBUG=1`` shows where errors come from instead.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        import typer

        def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
            # What reading left out is among the sentences, where these are printed.
            of_reading = category.__name__ == "ReadWarning"
            names = ("quiet", "json", "form") if of_reading else ("quiet",)
            if any(options.get(name) for name in names) == of_reading:
                say(f"warning: {' '.join(str(message).split())}")

        try:
            with warnings.catch_warnings():
                warnings.showwarning = show
                command(*args, **options)
        except KeyboardInterrupt:
            say("Interrupted; nothing is left half written.")
            raise typer.Exit(INTERRUPTED) from None
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            if os.environ.get("TIEBREAK_DEBUG"):
                raise
            say(_one_line(error))
            raise typer.Exit(_code_of(error)) from None

    return run


def _code_of(error: Exception) -> int:
    from tiebreak.io.result import FileError, WriteError

    if isinstance(error, OSError | WriteError):
        return WRITE
    if isinstance(error, FileError):
        return FILE
    return DATA if isinstance(error, ValueError | TypeError | MemoryError) else OURS


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        # Errors of files have a name; that of what is printed has none.
        place = error.filename or "to standard output"
        return f"Cannot write {place}: {error.strerror}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; try fewer rows."
    text = " ".join(str(error).split())
    if _code_of(error) == OURS:
        return (
            f"{type(error).__name__}: {text}. This is an error of tiebreak itself; "
            "TIEBREAK_DEBUG=1 shows where it comes from, which is worth a report."
        )
    return text
