# SPDX-License-Identifier: BSD-3-Clause
"""How the program ends when it is stopped, or when nobody reads its output.

An interrupt ends the program at once, after unfinished files were removed: an exception
could be swallowed by an import or a callback of compiled code.
"""

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALED = 128
"""What shells add to the number of a signal: 130 is Ctrl-C, 143 is a request to end."""

_WORDS = {"SIGINT": "Interrupted", "SIGTERM": "Terminated", "SIGHUP": "Hung up"}
_WRITE = 5
# Control characters but the end of a line, marks of direction, lone surrogates.
ACTIVE = (
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)
_ACTIVE = re.compile(f"(?P<pair>\u2068(?:(?!{ACTIVE}).)*\u2069)|{ACTIVE}")


def listen() -> None:
    """Take over the signals that end a program, and let no character end it.

    Signals that are ignored, as in programs that run in the background, stay so.
    """
    _open_closed()
    for name in _WORDS:
        number = getattr(signal, name, None)
        usual = (signal.SIG_DFL, signal.default_int_handler)
        if number is not None and signal.getsignal(number) in usual:
            signal.signal(number, _stop)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        # A terminal of few characters shows a question mark for the others.
        reconfigure(errors="replace")


def _open_closed() -> None:
    """Discard output that was closed by ``>&-``."""
    # Else the next file to be opened would get the number of the closed one, and what
    # is printed would go there.
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt be a KeyboardInterrupt in a block that keeps what it has."""
    before = signal.getsignal(signal.SIGINT)
    if before is not _stop:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(number: int, frame: FrameType | None) -> None:
    _stop_listening()
    # What was never imported has left nothing unfinished.
    abandon = getattr(sys.modules.get("tiebreak.data.atomic"), "abandon", None)
    if abandon is not None:
        abandon()
    word = _WORDS[signal.Signals(number).name]
    line = f"{word}; nothing is left half written."
    # The spinner hides the cursor, and its line is not ended. Not sys.stderr, which
    # may be in the middle of a line.
    clear = "\r\x1b[2K\x1b[?25h" if os.isatty(2) else ""
    with suppress(OSError):
        os.write(2, f"{clear}tiebreak: {line}\n".encode())
    os._exit(SIGNALED + number)


def _stop_listening() -> None:
    for name in _WORDS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def finish(code: Any) -> None:
    """End the program with a code of `SystemExit`, after all output is written.

    Interrupts are ignored then.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        ignore_pipe()
    except OSError as error:
        ignore_pipe()
        say(f"Cannot write to standard output: {error.strerror}.")
        code = code or _WRITE
    _stop_listening()
    sys.exit(code)


def visible(text: str) -> str:
    """Show characters that a terminal would obey as visible text.

    Line ends stay, and so do pairs of marks that isolate the direction of a name.
    """
    return _ACTIVE.sub(lambda m: m["pair"] or repr(m[0])[1:-1], text)


def ignore_pipe() -> None:
    """Discard what is printed from now on; its reader has gone away."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def say(message: str) -> None:
    """Print a line on standard error."""
    with suppress(OSError):
        sys.stderr.write(f"tiebreak: {visible(message)}\n")
        sys.stderr.flush()
