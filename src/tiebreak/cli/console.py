# SPDX-License-Identifier: BSD-3-Clause
"""What is printed: text for people, JSON for programs, and what is going on."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from tiebreak.cli.signals import ignore_pipe

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Screen(Console):
    """Standard output for people.

    When its reader goes away, as in ``tiebreak rank FILE | head``, the rest of the work
    is still done, and what is left to print is dropped.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to print nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet, highlight=False)

    def on_broken_pipe(self) -> None:
        """Go on without a reader."""
        self.quiet = True
        ignore_pipe()

    def say(self, sentences: Sequence[str]) -> None:
        """Print sentences, each on a line of its own.

        Parameters
        ----------
        sentences : sequence of str
            Printed as they are, without markup; characters that would steer the
            terminal, which may be in names, as Python escapes them.
        """
        for sentence in sentences:
            plain = _CONTROLS.sub(lambda found: repr(found[0])[1:-1], sentence)
            self.print(Text(plain))


def print_json(found: Any) -> None:
    """Print JSON, and nothing else, on standard output.

    Parameters
    ----------
    found : object
        Numbers that are not finite, for which JSON has no word, become null.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(
        _finite(found),
        ensure_ascii=not encoding.startswith("utf"),
        allow_nan=False,
        indent=2,
    )
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        ignore_pipe()


def _finite(found: Any) -> Any:
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    if isinstance(found, dict):
        return {key: _finite(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_finite(value) for value in found]
    return found


class Steps:
    """Say what is going on, on standard error, if that is a terminal.

    Call it with the next step.

    Parameters
    ----------
    shown : bool
        Whether to say anything.

    Attributes
    ----------
    shown : bool
        Whether anything is said, because there is a terminal.
    """

    def __init__(self, shown: bool) -> None:
        console = Console(stderr=True)
        self.shown = shown and console.is_terminal
        self._spinner = Spinner("dots", style="green")
        self._live = Live(
            self._spinner, console=console, transient=True, refresh_per_second=12.5
        )

    def __call__(self, step: str) -> None:
        """Say the next step."""
        if self.shown:
            self._spinner.update(text=Text(f"{step} …"))
            # At once: a step may be over before the next turn of the spinner.
            self._live.refresh()

    def __enter__(self) -> Steps:
        if self.shown:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.shown:
            self._live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to somebody else for a block."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()
