# SPDX-License-Identifier: BSD-3-Clause
"""The engine of a study: its file of answers, and what was learned from them.

Answers that arrive together are committed with the next questions of the same people,
and then change the beliefs. A thread fits all answers from time to time. When they are
a tenth more than at the last look it makes their leaderboard, which says how far the
goal is: each look is a chance to stop by chance.
"""

import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from tiebreak.ask.beliefs import Floats
from tiebreak.ask.choose import Chooser, Pair, Prompts, Settings
from tiebreak.ask.store import SIGNS, Answer, Question, Rater, Refused, Store
from tiebreak.data import Outcome, Pairs
from tiebreak.ratings.leaderboard import Leaderboard

AHEAD = 2  # open questions of a rater
MORE = 1.1  # times the answers of a look are needed for the next
MANY = 100  # items without an answer, with which nobody looks
FEWEST = 5  # answers per item, below which a goal is not reached
_RESTORED = 8  # refits at the start, each with a step of the width


@dataclass
class RaterState:
    """The open questions of a rater, the last answered one, and how many are done."""

    open: list[Question] = field(default_factory=list)
    ahead: int = AHEAD
    both_orders: bool = False
    last: int | None = None
    done: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a study was at the last look; ``share`` is of the way to the goal."""

    share: float
    reached: bool
    words: str
    level: float
    answers: int


class Engine:
    """Ask raters about items, each with the prompts that it has an answer to.

    The page and `Study` are its clients, from several threads.
    """

    rest = _after = 0.0  # until the next look, in times that a look took

    def __init__(
        self,
        items: Mapping[str, Iterable[str | None]],
        store: Store,
        settings: Settings,
        features: Floats | None = None,
        seed: int | None = None,
    ) -> None:
        self.settings, self.store = settings, store
        self.prompts = Prompts(list(items.values()))
        self.chooser = Chooser(
            len(items), settings, features=features, prompts=self.prompts, seed=seed
        )
        numbers = store.item_numbers()
        self.names = {numbers[name]: name for name in items}
        self._number = list(self.names)
        self._row = {number: row for row, number in enumerate(self._number)}
        self._rng = np.random.default_rng(seed)
        self._lock = threading.RLock()
        self.raters: defaultdict[int, RaterState] = defaultdict(RaterState)
        self._answers: dict[int, Question] = {}  # by number; skipped ones are not
        self._since = 0  # answers since the last fit
        self._looked = 0  # answers at the last look
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="refit")
        self._fit: Future[None] | None = None
        self._restore()

    def close(self) -> None:
        """End the fit that runs, and close the file."""
        self._pool.shutdown()
        self.store.close()

    def _restore(self) -> None:
        answered: list[Question] = []
        for q in self.store.questions():
            if q.left not in self._row or q.right not in self._row:
                continue
            left, right = self._rows(q)
            if q.outcome or q.prompt in self.prompts.common(left, right):
                self.chooser.note(q.rater, left, right)
                (answered if q.outcome else self.raters[q.rater].open).append(q)
        for q in sorted(answered, key=lambda q: q.answered or 0.0):
            self._learn(q, update=False)
        for _ in range(_RESTORED if len(self.chooser) else 0):
            self.chooser.refit()
        self._look()
        self.chooser.warm_up()

    # Questions and answers -----------------------------------------------------------

    def open_questions(self, rater: Rater, ahead: int = AHEAD) -> list[Question]:
        """Return the open questions of a rater, and new ones up to some number."""
        state = self.raters[rater.number]
        if len(state.open) < ahead:
            with self._lock:
                with self._asking() as ask:
                    new = ask(rater.number, ahead - len(state.open))
                state.open = state.open + new
        return list(state.open)

    @contextmanager
    def _asking(self) -> Iterator[Callable[[int, int], list[Question]]]:
        """A function that asks a rater, in one commit at the end."""
        chosen: list[Pair] = []

        def ask(rater: int, n_questions: int) -> list[Question]:
            questions: list[Question] = []
            while len(questions) < n_questions:
                pair = self.chooser.ask(rater)
                if pair is None:
                    break
                common = self.prompts.common(pair.left, pair.right)
                prompt = common[self._rng.integers(len(common))]
                pairs = [pair]
                if self.raters[rater].both_orders:
                    pairs.append(Pair(pair.right, pair.left, "swapped"))
                    self.chooser.note(rater, pair.right, pair.left)
                chosen.extend(pairs)
                for left, right, reason in pairs:
                    ends = self._number[left], self._number[right]
                    questions.append(self.store.ask(rater, *ends, reason, prompt))
            return questions

        try:
            with self.store.writing():
                yield ask
        except BaseException:
            for pair in chosen:
                self.chooser.answer(pair.left, pair.right, None)
            raise

    def answer(self, answers: Sequence[Answer]) -> list[bool | Exception]:
        """Save answers and next questions in one commit; False: saved before.

        What cannot be saved is its own error, and does not touch the others.
        """
        try:
            return self._answer(answers)
        except Exception as error:
            if len(answers) == 1:
                return [error]
            return [self.answer([one])[0] for one in answers]

    def _answer(self, answers: Sequence[Answer]) -> list[bool | Exception]:
        results: list[bool | Exception] = []
        new: list[Question] = []
        with self._lock:
            queues = {a.rater: self.raters[a.rater].open for a in answers}
            with self._asking() as ask:
                for rater, number, outcome, seconds in answers:
                    try:
                        self._check(self.store.question(number, rater))
                        question, is_new = self.store.answer(
                            number, rater, outcome, seconds
                        )
                    except Refused as error:
                        results.append(error)
                        continue
                    results.append(is_new)
                    if is_new:
                        new.append(question)
                        queue = [q for q in queues[rater] if q.number != number]
                        wanted = self.raters[rater].ahead - len(queue)
                        queues[rater] = queue + ask(rater, wanted)
            for rater, queue in queues.items():
                self.raters[rater].open = queue
            self._since += sum(map(self._learn, new))
            self._maybe_fit()
        return results

    def withdraw(self, rater: Rater) -> None:
        """Forget the open questions of a rater, so that others are asked them."""
        with self._lock:
            state = self.raters[rater.number]
            self.store.withdraw(rater.number)
            for question in state.open:
                self.chooser.answer(*self._rows(question), None)
            state.open, state.both_orders, state.ahead = [], False, AHEAD

    def _rows(self, question: Question) -> tuple[int, int]:
        return self._row[question.left], self._row[question.right]

    def _check(self, question: Question) -> None:
        """Refuse a question about an item or a prompt that was removed."""
        with suppress(KeyError):
            if question.prompt in self.prompts.common(*self._rows(question)):
                return
        raise Refused("An item of this pair was removed. Reload the page.")

    def _learn(self, question: Question, *, update: bool = True) -> bool:
        """Count an answer; whether it says which item is better."""
        state = self.raters[question.rater]
        state.last, state.done = question.number, state.done + 1
        left, right = self._rows(question)
        sign = SIGNS.get(question.outcome or "")
        self.chooser.answer(left, right, sign, update=update)
        if sign is not None:
            self._answers[question.number] = question
        return sign is not None

    def undo(self, rater: Rater, number: int) -> bool:
        """Take back the last answer and ask again; False: done before."""
        with self._lock:
            self._check(self.store.question(number, rater.number))
            taken = self.store.undo(number, rater.number)
            if taken is None:
                return False
            sign = SIGNS.get(taken.outcome or "")
            self.chooser.undo(*self._rows(taken), sign)
            self._answers.pop(number, None)
            again = replace(taken, outcome=None, seconds=None, answered=None)
            state = self.raters[rater.number]
            state.open = [again, *state.open]
            state.last, state.done = None, state.done - 1
            self._maybe_fit(at_once=sign is not None)
            return True

    def name_of(self, question: Question) -> tuple[str, ...]:
        """Names of left and right, and the prompt if there is one."""
        prompt = () if question.prompt is None else (question.prompt,)
        return (self.names[question.left], self.names[question.right], *prompt)

    def tell(
        self, left: str, right: str, prompt: str | None, outcome: str, rater: str
    ) -> None:
        """Save an answer about names, asked for or not."""
        row = {name: k for k, name in enumerate(self.names.values())}
        for name in (left, right):
            if name not in row:
                raise ValueError(f"{name!r} is not an item of this study.")
        ends = row[left], row[right]
        if left == right or prompt not in self.prompts.common(*ends):
            raise ValueError(
                f"{left!r} and {right!r} are no pair under the prompt {prompt!r}."
            )
        who = self.store.rater(rater).number
        with self._lock:
            state = self.raters[who]
            key = self._number[ends[0]], self._number[ends[1]], prompt
            same = [q for q in state.open if (q.left, q.right, q.prompt) == key]
            if not same:
                same = [self.store.ask(who, *key[:2], "told", prompt)]
                self.chooser.note(who, *ends)
                state.open = state.open + same
            self.save_answers([Answer(who, same[0].number, outcome)])

    def save_answers(self, answers: Sequence[Answer]) -> None:
        """Save answers, and raise the error of the first that was refused."""
        for result in self.answer(answers) if answers else ():
            if isinstance(result, Exception):
                raise result

    # What has been learned -----------------------------------------------------------

    def _maybe_fit(self, at_once: bool = False) -> None:
        enough = max(1, len(self._number) // 10)
        idle = self._fit is None or self._fit.done()
        if at_once or (idle and self._since >= enough):
            self._since = 0
            self._fit = self._pool.submit(self._refit)

    def _refit(self) -> None:
        with self._lock:
            snapshot = self.chooser.snapshot()
            count = len(self.chooser)
        fit = self.chooser.fit(*snapshot)
        with self._lock:
            self.chooser.adopt(fit)
        # Of many items the first answers tell nothing, and looks take long.
        enough = max(MORE * self._looked, len(self._number) - MANY)
        start = time.monotonic()
        if start >= self._after and not self._looked <= count < enough:
            self._look()
            self._after = start + self.rest * (time.monotonic() - start)

    def _look(self) -> None:
        """Make the leaderboard of the answers, and see how far the goal is."""
        with self._lock:
            self._looked = len(self._answers)
            often = bool(self.chooser.games.min() >= self.settings.min_each)
        often = often and self._looked >= FEWEST * len(self._number)
        goal, level = self.chooser.goal, self.settings.level
        board = self.rate()
        share, reached, words = goal.look(board, len(self._number), level)
        reached = reached and often
        if reached:
            words += " · The goal is reached: you may stop, or go on."
        self._board = None if board is None else board.table
        self._progress = Progress(share, reached, words, level, self._looked)

    @property
    def progress(self) -> Progress:
        """How far it was at the last look, with the present number of answers."""
        return replace(self._progress, answers=len(self.chooser))

    @property
    def settled(self) -> bool:
        """Whether the goal is reached, when the fit that runs has ended."""
        if self._fit is not None:
            self._fit.result()
        return self._progress.reached

    def rate(self) -> Leaderboard | None:
        """Rate the items by all answers; None if no answer prefers an item."""
        with self._lock:
            answers = list(self._answers.values())
        return rate_answers(
            [(self.names[q.left], self.names[q.right], SIGNS[q.outcome or ""], q.rater)
             for q in answers],
            self.settings.level,
        )  # fmt: skip

    def board(self, most: int = 100) -> list[dict[str, Any]]:
        """Items best first, as at the last look; those without an answer are not."""
        if self._board is None:
            return []
        shown = ("rank", "item", "rating", "lower", "upper", "could_be_best")
        games = pl.sum_horizontal("wins", "ties", "losses").alias("answers")
        return self._board.head(most).select(*shown, games).to_dicts()


def rate_answers(rows: Sequence[tuple[Any, ...]], level: float) -> Leaderboard | None:
    """The leaderboard of rows of left, right, y and rater; None if all are ties."""
    if not any(y for _, _, y, _ in rows):
        return None
    left, right, signs, rater = zip(*rows, strict=True)
    pairs, y = Pairs(None, left, right), Outcome.parse(signs, meaning="sign")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in the beginning, many items never met
        return Leaderboard.from_results(pairs, y, columns={"rater": rater}, level=level)
