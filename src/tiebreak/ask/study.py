# SPDX-License-Identifier: BSD-3-Clause
"""A study: names of items, the file of answers, and what was learned from them.

Every rater has two open questions, that on the page and the next, loaded in advance.
Answers that arrive together are committed with the next questions of the same people,
and then change the beliefs. A thread fits all answers from time to time. When they are
a tenth more than at the last look it makes their leaderboard, which says how far the
goal is; not after every answer, because each look is a chance to stop by chance.
"""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from tiebreak.ask.choose import Chooser, Pair, Prompts, Settings
from tiebreak.ask.run_judge import Calls, read_outcome, run_judge
from tiebreak.ask.store import SIGNS, Answer, Question, Rater, Refused, Store
from tiebreak.data import Outcome, Pairs
from tiebreak.io.result import FileError
from tiebreak.ratings.leaderboard import Leaderboard

AHEAD = 2  # open questions of a rater
MORE = 1.1  # times the answers of a look are needed for the next
FEWEST = 5  # answers per item, below which a goal is not reached
_RESTORED = 8  # refits at the start, each with a step of the width


@dataclass
class RaterState:
    """The open questions of a rater, the last answered one, and how many are done.

    After an answer there are questions up to ``ahead`` again, each with its sides
    swapped too if ``both_orders``.
    """

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


class Study:
    """Ask about the pairs that tell most, until a goal is reached.

    The engine of ``tiebreak ask`` without its page: for raters that are programs,
    or people on a page of your own. `ask.md` in the documentation has the formula by
    which pairs are chosen. Methods can be called from several threads.

    Parameters
    ----------
    items : sequence of str, or mapping of str to prompts
        Names of the items; as keys of a mapping, each with a list of the prompts that
        it has an answer to. Two items are then compared under a prompt of both. Values
        that are text are left alone.
    goal : {"ranking", "top:K", "best", "scale"}, default="ranking"
        What is to become certain.
    path : path-like, optional
        File of answers (SQLite), which ``tiebreak rank`` and ``tiebreak ask`` read
        too. If it exists, the study goes on. Without it all is in memory.
    level : float, default=0.95
        How certain the goal is to be.
    strategy : {"information", "swiss", "random"}, default="information"
        How pairs are chosen.
    min_each : int, default=1
        How often to ask about every item at least.
    repeat : float, default=0.0
        Share of pairs that a rater is asked again, to see who is consistent.
    features : array-like of shape (n_items, n_features), optional
        Features of the items: half of the prior variance comes from them.
    random_state : int, optional
        Seed of the choices between equal pairs, and of the sides.

    Examples
    --------
    >>> from tiebreak import Study
    >>> def judge(left, right):
    ...     return "left" if len(left) > len(right) else "right"
    >>> study = Study(["a", "bb", "cccc", "ddddd"], goal="best", random_state=0)
    >>> calls = study.run(judge, max_calls=200)
    >>> study.settled, study.leaderboard().table["item"][0]
    (True, 'ddddd')
    """

    __module__ = "tiebreak"  # where users find it

    def __init__(
        self,
        items: Sequence[str] | Mapping[str, str | Iterable[str | None]],
        goal: str = "ranking",
        path: str | os.PathLike[str] | Store | None = None,
        *,
        level: float = 0.95,
        strategy: str = "information",
        min_each: int = 1,
        repeat: float = 0.0,
        features: ArrayLike | None = None,
        random_state: int | None = None,
    ) -> None:
        self.settings = Settings(goal, level, strategy, min_each, repeat)
        values = items.values() if isinstance(items, Mapping) else items
        self._prompts = Prompts([[None] if isinstance(v, str) else v for v in values])
        _check_items(list(items), self._prompts)
        table = None if features is None else check_array(features, dtype=np.float64)
        self.chooser = Chooser(
            len(items), self.settings, features=table, prompts=self._prompts,
            seed=random_state,
        )  # fmt: skip
        self.store: Store
        if isinstance(path, Store):  # of `tiebreak ask`, which knows what items hold
            self.store = path
        else:
            self.store = Store(None if path is None else Path(path))
            self.store.enter(dict.fromkeys(items, ""))
        numbers = self.store.item_numbers()
        self.names = {numbers[name]: name for name in items}
        self._number = list(self.names)
        self._row = {number: row for row, number in enumerate(self._number)}
        self._rng = np.random.default_rng(random_state)
        self._lock = threading.RLock()
        self.raters: defaultdict[int, RaterState] = defaultdict(RaterState)
        self._answers: dict[int, Question] = {}  # by number; skipped ones are not
        self._since = 0  # answers since the last fit
        self._looked = 0  # answers at the last look
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="refit")
        self._fit: Future[None] | None = None
        self._restore()

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Study:
        """Open a file of answers; its items are those it was used with last.

        Parameters
        ----------
        path : path-like
            A file of `Study` or ``tiebreak ask``.
        **options
            As of `Study`; `items` if they have prompts, which are not in the file.

        Returns
        -------
        Study
        """
        if not os.path.exists(path):
            raise FileError(Path(path), "there is no such file.")
        with closing(Store(Path(path))) as store:
            items = store.item_numbers(present=True)
        return cls(**{"items": list(items), "path": path} | options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the answers to a new file.

        A study with a path needs no saving: each answer is on the disk at once.

        Parameters
        ----------
        path : path-like
            Where; it must not exist.
        """
        self.store.save(Path(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

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
            if q.outcome or q.prompt in self._prompts.common(left, right):
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
                common = self._prompts.common(pair.left, pair.right)
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
            if question.prompt in self._prompts.common(*self._rows(question)):
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

    # By name -------------------------------------------------------------------------

    def next(self, k: int = 8, *, rater: str = "me") -> list[tuple[str, ...]]:
        """Return pairs to ask a rater about.

        They are the same again until they are answered.

        Parameters
        ----------
        k : int, default=8
            How many.
        rater : str, default="me"
            Whom to ask.

        Returns
        -------
        list of tuple
            The names of left and right, with the prompt if items have prompts; fewer
            than k if no more pairs can be asked.
        """
        questions = self.open_questions(self.store.rater(rater), k)[:k]
        return [self.name_of(question) for question in questions]

    def name_of(self, question: Question) -> tuple[str, ...]:
        """Names of left and right, and the prompt if there is one."""
        prompt = () if question.prompt is None else (question.prompt,)
        return (self.names[question.left], self.names[question.right], *prompt)

    def tell(
        self,
        left: str,
        right: str,
        outcome: str,
        *,
        rater: str = "me",
        prompt: str | None = None,
    ) -> None:
        """Save an answer, asked for by `next` or not.

        Parameters
        ----------
        left, right : str
            Names of the items, as they were shown.
        outcome : str
            A word of `Outcome.parse` (``"left"``, ``"tie"``, the name of the better
            item, …), ``"both_bad"`` or ``"skip"``.
        rater : str, default="me"
            Who said so.
        prompt : str, optional
            Under which prompt, if items have prompts.
        """
        word = read_outcome(outcome, left, right)
        row = {name: k for k, name in enumerate(self.names.values())}
        for name in (left, right):
            if name not in row:
                raise ValueError(f"{name!r} is not an item of this study.")
        ends = row[left], row[right]
        if left == right or prompt not in self._prompts.common(*ends):
            raise ValueError(
                f"{left!r} and {right!r} are no pair under the prompt {prompt!r}."
            )
        who = self.store.rater(rater)
        with self._lock:
            state = self.raters[who.number]
            key = self._number[ends[0]], self._number[ends[1]], prompt
            same = [q for q in state.open if (q.left, q.right, q.prompt) == key]
            if not same:
                same = [self.store.ask(who.number, *key[:2], "told", prompt)]
                self.chooser.note(who.number, *ends)
                state.open = state.open + same
            self.save_answers([Answer(who.number, same[0].number, word)])

    def save_answers(self, answers: Sequence[Answer]) -> None:
        """Save answers, and raise the error of the first that was refused."""
        for result in self.answer(answers) if answers else ():
            if isinstance(result, Exception):
                raise result

    def run(
        self,
        judge: Callable[..., str],
        max_calls: int | None = None,
        *,
        both_orders: bool = True,
        parallel: int = 4,
        rater: str | None = None,
        retries: int = 2,
        progress: bool | None = None,
    ) -> int:
        """Let a program answer until the goal is reached.

        Every answer is saved as soon as it is there. After an error, an interrupt or a
        crash the same call goes on with the questions that are open.

        Parameters
        ----------
        judge : callable
            ``judge(left, right)`` takes two names and returns a word that `tell`
            takes; it has the keyword ``prompt`` too where items have prompts.
        max_calls : int, optional
            How often it is called at most, retries included.
        both_orders : bool, default=True
            Ask about every pair twice, with the sides swapped.
        parallel : int, default=4
            How many calls run at once, in threads.
        rater : str, optional
            Name of the judge among the raters. [default: that of the callable]
        retries : int, default=2
            How often a call that raises an error, or returns no outcome, is repeated,
            after one second, then two, and so on.
        progress : bool, optional
            Whether to show a progress bar. [default: on a terminal]

        Returns
        -------
        int
            Number of calls.

        Raises
        ------
        RuntimeError
            If a call fails again and again; it names the pair and the error.
        """
        name = rater or str(getattr(judge, "__name__", type(judge).__name__))
        if parallel < 1 or retries < 0:
            raise ValueError("parallel must be at least 1, and retries not negative.")
        most = math.inf if max_calls is None else max_calls
        calls = Calls(judge, name, most, retries)
        run_judge(self, calls, both_orders, parallel, progress)
        return calls.count

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
        if not self._looked <= count < MORE * self._looked:
            self._look()

    def _look(self) -> None:
        """Make the leaderboard of the answers, and see how far the goal is."""
        with self._lock:
            self._looked = len(self._answers)
            often = bool(self.chooser.games.min() >= self.settings.min_each)
        often = often and self._looked >= FEWEST * len(self._number)
        goal, level = self.chooser.goal, self.settings.level
        board = self._rate()
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
        """Whether the goal is reached.

        This is looked at when the answers are a tenth more than last time, because
        each look is a chance to stop by chance.
        """
        if self._fit is not None:
            self._fit.result()
        return self._progress.reached

    def leaderboard(self) -> Leaderboard:
        """Rate the items by all answers, as ``tiebreak rank`` does.

        Returns
        -------
        Leaderboard

        Raises
        ------
        ValueError
            If no answer prefers an item.
        """
        board = self._rate()
        if board is None:
            raise ValueError(
                "No answer prefers an item yet, so that none can be rated."
            )
        return board

    def _rate(self) -> Leaderboard | None:
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


def _check_items(names: list[str], prompts: Prompts) -> None:
    """Refuse names that cannot be told apart, and items that no other can meet."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError("items must be at least two names, all different.")
    if not all(isinstance(name, str) and name for name in names):
        raise TypeError("items must be names, as text.")
    if empty := [n for n, some in zip(names, prompts.of, strict=True) if not some]:
        raise ValueError(f"{empty[0]!r} has no prompt.")
