# SPDX-License-Identifier: BSD-3-Clause
"""Let a callable answer the questions of a study, several at once.

One thread asks and saves: answers are committed together with the next questions. The
threads of a pool only call the judge.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress as ProgressBar

from tiebreak.ask.store import Answer, Question
from tiebreak.data import Outcome
from tiebreak.options import OUTCOMES

if TYPE_CHECKING:
    from tiebreak.ask.engine import Engine

PAUSE = 1.0  # seconds before the first repetition of a call


def read_outcome(value: Any, left: str, right: str) -> str:
    """Read a word, or the name of the better item, as a word of the file."""
    if isinstance(value, str) and value in OUTCOMES:
        return value
    return Outcome(int(Outcome.parse([value], left=[left], right=[right])[0])).word


@dataclass
class Calls:
    """Calls of a judge: no more than ``most``, and again after an error."""

    judge: Callable[..., str]
    name: str
    most: float
    retries: int
    count: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _may_call(self) -> bool:
        with self._lock:
            free = self.count < self.most and not self.stop.is_set()
            self.count += free
            return free

    def answer(self, left: str, right: str, *prompt: str) -> tuple[str, float] | None:
        """Outcome and seconds of a pair; None if no call is left."""
        more = {"prompt": prompt[0]} if prompt else {}
        for attempt in range(1, self.retries + 2):
            if not self._may_call():
                return None
            start = time.monotonic()
            try:
                word = read_outcome(self.judge(left, right, **more), left, right)
                return word, time.monotonic() - start
            except Exception as error:
                last = error
            if attempt <= self.retries:
                self.stop.wait(PAUSE * attempt)
        raise RuntimeError(
            f"{self.name} failed {attempt} times on {left!r} and {right!r}: "
            f"{type(last).__name__}: {last}"
        ) from last


def run_judge(
    study: Engine, calls: Calls, both_orders: bool, parallel: int, progress: bool | None
) -> None:
    """Ask a judge until the goal is reached, or no call or no pair is left."""
    rater = study.store.rater(calls.name)
    state = study.raters[rater.number]
    state.ahead, state.both_orders = 0, both_orders
    busy: dict[Future[tuple[str, float] | None], Question] = {}
    errors: list[BaseException] = []

    def save(done: Iterable[Future[tuple[str, float] | None]]) -> None:
        answers = []
        for future in list(done):
            number = busy.pop(future).number
            if error := future.exception():
                errors.append(error)
            elif result := future.result():
                answers.append(Answer(rater.number, number, *result))
        study.save_answers(answers)

    console = Console(stderr=True)
    hidden = not console.is_terminal if progress is None else not progress
    console.quiet = hidden  # older ones of rich end a hidden bar with a line
    with (
        ThreadPoolExecutor(parallel, thread_name_prefix="judge") as pool,
        ProgressBar(console=console, disable=hidden) as bar,
    ):
        task = bar.add_task("", total=1.0)
        try:
            while not errors:
                asked = set(busy.values())
                if calls.count < calls.most and not study.settled:
                    for question in study.open_questions(rater, parallel):
                        if len(busy) < parallel and question not in asked:
                            call = pool.submit(calls.answer, *study.name_of(question))
                            busy[call] = question
                if not busy:
                    break
                save(wait(busy, return_when=FIRST_COMPLETED).done)
                words = f"{calls.count} calls · {study.progress.words}"
                bar.update(task, description=words, completed=study.progress.share)
        finally:  # an interrupt loses nothing that was answered
            calls.stop.set()
            save(wait(busy).done)
            study.withdraw(rater)
    if errors:
        raise errors[0]
