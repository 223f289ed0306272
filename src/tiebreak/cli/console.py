# SPDX-License-Identifier: BSD-3-Clause
"""What is printed: text for people, JSON for programs, and progress."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
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

    def say(self, sentences: Sequence[str]) -> None:
        """Print sentences, each on its own line, without markup."""
        for sentence in sentences:
            self.print(Text(visible(sentence).replace("\n", "\\n")))

    def show(self, parts: Iterable[Any]) -> None:
        """Print sentences and tables."""
        for part in parts:
            if isinstance(part, str):
                self.say([part])
            else:
                self.print(part)


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

    Call it with the next step. ``shown`` is False if nothing is shown.
    """

    def __init__(self, shown: bool) -> None:
        console = Output(stderr=True)
        self.shown = shown and console.is_terminal
        self._spinner = Spinner("dots", style="green")
        self._live = Live(
            self._spinner, console=console, transient=True, refresh_per_second=12.5
        )

    def __call__(self, step: str) -> None:
        """Show the next step."""
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

        Parts are sentences and tables.
        """
        if self.json:
            print_json(result)
            return
        read = result.get("recognized")
        self.output().show([*parts, *([" ".join(read)] if type(read) is list else [])])
