# SPDX-License-Identifier: BSD-3-Clause
"""What is printed: text for people, JSON for programs, and progress."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from tiebreak.cli.signals import ACTIVE, ignore_pipe, visible


class Output(Console):
    """Output for people, in which no character of theirs controls the terminal.

    When its reader goes away, as in ``tiebreak rank FILE | head``, the work is finished
    and further output dropped.
    """

    def __init__(self, *, quiet: bool = False, stderr: bool = False) -> None:
        super().__init__(
            quiet=quiet, stderr=stderr, markup=False, emoji=False, highlight=False
        )

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Give the pieces of what is printed; the codes of colors come after this."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, or spare the work if nothing is to be seen."""
        if not self.quiet:
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Continue without a reader."""
        self.quiet = True
        ignore_pipe()

    def show(self, parts: Iterable[Any]) -> None:
        """Print sentences, each on its own line, without markup, and tables."""
        for part in parts:
            is_text = isinstance(part, str)
            self.print(Text(visible(part).replace("\n", "\\n")) if is_text else part)


def print_json(result: Any) -> None:
    """Print JSON on standard output; numbers that are not finite become null."""
    from tiebreak.report.tables import plain

    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(
        plain(result),
        ensure_ascii=not encoding.startswith("utf"),
        allow_nan=False,
        indent=2,
    )
    # As JSON escapes them, so that a terminal obeys none and programs read the same.
    text = re.sub(ACTIVE, lambda match: f"\\u{ord(match[0]):04x}", text)
    _write_out(text + "\n")


def print_text(text: str) -> None:
    """Print lines on standard output as they are; characters that act are escaped."""
    _write_out("".join(f"{visible(line)}\n" for line in text.splitlines()))


def _write_out(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        ignore_pipe()


class Steps:
    """Show the current step on standard error, if that is a terminal.

    Call it with the next step.
    """

    def __init__(self, shown: bool) -> None:
        console = Output(stderr=True)
        self._status = console.status("") if shown and console.is_terminal else None

    def __call__(self, step: str) -> None:
        """Show the next step."""
        if self._status:
            # A new spinner is shown at once; the next turn of the old one may be late.
            self._status.update(Text(f"{step} …"), spinner="dots")

    def __enter__(self) -> Steps:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._status:
            self._status.stop()


@dataclass(frozen=True)
class Screen:
    """How much a command says, and to whom: ``quiet`` little, ``json`` to programs."""

    quiet: bool = False
    json: bool = False

    def steps(self) -> Steps:
        """Return what shows the current step."""
        return Steps(shown=not (self.quiet or self.json))

    def output(self) -> Output:
        """Return where sentences are printed."""
        return Output(quiet=self.quiet or self.json)

    def show(self, result: Any, parts: Iterable[Any]) -> None:
        """Print a result as JSON, or its parts, and last what was recognized.

        Parts are sentences and tables. Which numbers are best comes after the first.
        """
        if self.json:
            print_json(result)
            return
        read = result.get("recognized")
        read = read if isinstance(read, list) else []
        told = [sentence for sentence in read if sentence.startswith("Direction:")]
        others = [" ".join(s for s in read if s not in told)] if read else []
        parts = [*parts]
        self.output().show([*parts[:1], *told, *parts[1:], *others])
