# SPDX-License-Identifier: BSD-3-Clause
"""`Study`: ask about pairs by program."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from tiebreak.ask.choose import Settings
from tiebreak.ask.engine import Engine, Progress
from tiebreak.ask.run_judge import Calls, read_outcome, run_judge
from tiebreak.ask.store import Store
from tiebreak.io.result import FileError
from tiebreak.ratings.leaderboard import Leaderboard


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
        path: str | os.PathLike[str] | None = None,
        *,
        level: float = 0.95,
        strategy: str = "information",
        min_each: int = 1,
        repeat: float = 0.0,
        features: ArrayLike | None = None,
        random_state: int | None = None,
    ) -> None:
        settings = Settings(goal, level, strategy, min_each, repeat)
        prompts = _read_prompts(items)
        table = None if features is None else check_array(features, dtype=np.float64)
        store = Store(None if path is None else Path(path))
        store.enter(dict.fromkeys(prompts, ""))
        self._engine = Engine(prompts, store, settings, table, random_state)

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
        self._engine.store.save(Path(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the fit that runs, and close the file."""
        self._engine.close()

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
        engine = self._engine
        questions = engine.open_questions(engine.store.rater(rater), k)[:k]
        return [engine.name_of(question) for question in questions]

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
        self._engine.tell(left, right, prompt, word, rater)

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
            Name of the judge among the raters; that of the callable if not given.
        retries : int, default=2
            How often a call that raises an error, or returns no outcome, is repeated,
            after one second, then two, and so on.
        progress : bool, optional
            Whether to show a progress bar; on a terminal if not given.

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
        run_judge(self._engine, calls, both_orders, parallel, progress)
        return calls.count

    @property
    def progress(self) -> Progress:
        """How far the goal was when it was last looked at, and how many answers are."""
        return self._engine.progress

    @property
    def settled(self) -> bool:
        """Whether the goal is reached.

        This is looked at when the answers are a tenth more than last time, because
        each look is a chance to stop by chance.
        """
        return self._engine.settled

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
        board = self._engine.rate()
        if board is None:
            raise ValueError(
                "No answer prefers an item yet, so that none can be rated."
            )
        return board


def _read_prompts(
    items: Sequence[str] | Mapping[str, str | Iterable[str | None]],
) -> dict[str, list[str | None]]:
    """Prompts by item; refuse names that are equal, or without a prompt."""
    values = items.values() if isinstance(items, Mapping) else [""] * len(items)
    prompts: dict[str, list[str | None]] = {
        name: [None] if isinstance(some, str) else list(some)
        for name, some in zip(items, values, strict=True)
    }
    if not 1 < len(prompts) == len(items):
        raise ValueError("items must be at least two names, all different.")
    if not all(isinstance(name, str) and name for name in prompts):
        raise TypeError("items must be names, as text.")
    if empty := [name for name, some in prompts.items() if not some]:
        raise ValueError(f"{empty[0]!r} has no prompt.")
    return prompts
