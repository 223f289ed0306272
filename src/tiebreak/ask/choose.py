# SPDX-License-Identifier: BSD-3-Clause
"""Which pair to ask about next, and how far the goal is.

A goal has weights w_kl of the differences θ_l - θ_k (table in docs/ask.md). The value
of a pair is the decrease of the weighted sum of Var(θ_l - θ_k) that is expected from
its answer. With c = e_right - e_left, s² = cᵀVc, the Laplacian L of the weights and the
mutual information I of the answer and d = cᵀθ it is

    (1 - exp(-2 I)) cᵀVLVc / s².

How far the goal is says the leaderboard of the answers, not these beliefs.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.ask.beliefs import Beliefs, Floats, Ints, expected_information
from tiebreak.data.jit import njit
from tiebreak.data.parameters import Values, one_of
from tiebreak.ratings.leaderboard import Leaderboard

STRATEGIES = ("information", "swiss", "random")
_PARTS = (60, 40)  # of the axes of the table of information: mean, deviation
_MOST_MEAN, _MOST_DEVIATION = 12.0, 8.0
_ROWS = 100  # so many items, those with the largest need, are paired with all others
_FIRST = 4000  # so many pairs are looked at, and all others only if none can be asked
_SAMPLE = 400  # above MOST_DENSE items, so many are candidates
_NEAR = 300  # so many items below the border of the best K may belong above it
_PAIRS, _DRAWS = 100_000, 1000  # to measure how certain a goal is
_DISTANCE = 10  # so many answers lie between a pair and its repetition
_SETTINGS = {
    "level": Values("a number above 0 and below 1", 1e-9, 1.0 - 1e-9),
    "strategy": one_of(*STRATEGIES),
    "min_each": Values("a whole number, not negative", 0, np.inf, whole=True),
    "repeat": Values("a share from 0 to 0.5", 0.0, 0.5),
}


class Goal(NamedTuple):
    """What the answers are for; ``top`` is K, or 0."""

    name: str
    top: int = 0

    @classmethod
    def read(cls, text: str, n_items: int) -> Goal:
        """Read ranking, top:K, best or scale."""
        if text in ("ranking", "scale"):
            return cls(text)
        match = re.fullmatch(r"top:(\d+)", "top:1" if text == "best" else text)
        if match is None:
            raise ValueError(
                f"goal must be ranking, top:K, best or scale; got {text!r}."
            )
        top = int(match[1])
        if not 0 < top < n_items:
            raise ValueError(f"goal {text} must be from top:1 to top:{n_items - 1}.")
        return cls(text, top)

    def look(self, board: Leaderboard | None, n_items: int, level: float) -> Look:
        """See how far the goal is; `board` is None before anything is decided.

        The best is known when one item of the leaderboard could be best.
        """
        n_known = 0 if board is None else len(board.table)
        if self.top == 1:
            possible = n_items - n_known
            if board is not None:
                possible += int(board.table["could_be_best"].sum())
            share = (n_items - possible) / (n_items - 1)
            words = f"{possible} of {n_items} items could be best"
            return Look(share, possible == 1, f"{words} ({100 * level:g} % confidence)")
        words = {
            "ranking": "of all pairs in the right order",
            "scale": "of the differences explained",
        }.get(self.name, f"sure of the best {self.top}")
        start = 0.5 if self.name == "ranking" else 0.0
        above = 0.0 if board is None else self._certainty(board) - start
        # Of items that no answer is about, nothing is known.
        above *= n_known * (n_known - 1) / (n_items * (n_items - 1))
        reached = above + start >= level
        share = 1.0 if reached else above / (level - start)
        percent = math.floor(1000 * (above + start)) / 10
        words = f"{percent:g} % {words} ({100 * level:g} % is the goal)"
        return Look(share, reached, words)

    def _certainty(self, board: Leaderboard) -> float:
        contrasts, rng = board._contrasts, np.random.default_rng(0)
        assert contrasts is not None  # something is decided
        known = contrasts.posterior
        if self.top:
            order = np.argsort(-known.mean, kind="stable")
            near = known.take(order[: self.top + _NEAR])  # others are far below
            theta = near.mean + near.draw(_DRAWS, rng)
            worst, rival = theta[:, : self.top].min(axis=1), theta[:, self.top :]
            certainty = float(np.mean(rival.max(axis=1) < worst))
            if certainty < 0.5:
                return certainty
            # Of people who nearly always agree normal draws say too little.
            pairs = np.meshgrid(order[self.top : self.top + _NEAR], order[: self.top])
            apart = contrasts.behind(*(items.ravel() for items in pairs))
            return max(certainty, 1.0 - float(apart.sum()))
        difference = known.differences(*_some_pairs(known.center.shape[1], rng))
        if self.name == "ranking":
            behind = difference.below()
            return float(np.maximum(behind, 1.0 - behind).mean())
        explained = float((difference.mean**2).sum())
        return explained / (explained + float((difference.errors() ** 2).sum()))


class Look(NamedTuple):
    """How far a goal is."""

    share: float  # of the way
    reached: bool
    words: str


def _some_pairs(n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """All pairs, or a sample of them."""
    if n * (n - 1) // 2 <= _PAIRS:
        return np.triu_indices(n, 1)
    i = rng.integers(0, n, _PAIRS)
    return i, (i + rng.integers(1, n, _PAIRS)) % n


class Pair(NamedTuple):
    """Two items to ask about, and why: a strategy, or ``repeat``."""

    left: int
    right: int
    reason: str


@dataclass(frozen=True)
class Settings:
    """How pairs are chosen, see ``tiebreak ask --help``."""

    goal: str = "ranking"
    level: float = 0.95
    strategy: str = "information"
    min_each: int = 1
    repeat: float = 0.05

    def __post_init__(self) -> None:
        for name, values in _SETTINGS.items():
            if getattr(self, name) not in values:
                raise ValueError(
                    f"{name} must be {values}; got {getattr(self, name)!r}."
                )


class Prompts:
    """Which items can be paired: those that share a prompt."""

    def __init__(self, prompts: Sequence[Iterable[str | None]]) -> None:
        self.of = [dict.fromkeys(some) for some in prompts]
        number = {p: k for k, p in enumerate(dict.fromkeys(chain(*self.of)))}
        ends = np.cumsum([0, *map(len, self.of)])
        columns = [number[p] for p in chain(*self.of)]
        shape = len(self.of), len(number)
        self._has = sp.csr_array((np.ones(ends[-1], np.int32), columns, ends), shape)
        self._who = self._has.tocsc()
        self.all_alike = ends[-1] == math.prod(shape)

    def common(self, left: int, right: int) -> list[str | None]:
        """Prompts that two items share."""
        return [p for p in self.of[left] if p in self.of[right]]

    def allowed(self, rows: Ints, items: Ints) -> NDArray[np.bool_]:
        """Which of some items can be paired with which others."""
        return (self._has[rows] @ self._has[items].T).toarray() > 0

    def partners(self, items: Ints, rng: np.random.Generator) -> Ints:
        """For each item one at random with a prompt of it, possibly itself."""
        for table in (self._has, self._who):
            start, end = table.indptr[items], table.indptr[items + 1]
            items = table.indices[rng.integers(start, end)]
        return items


class Chooser:
    """Choose pairs, learn from answers; items of one `prompts` entry can be paired."""

    def __init__(
        self,
        n_items: int,
        settings: Settings | None = None,
        *,
        features: Floats | None = None,
        prompts: Prompts | None = None,
        seed: int | None = None,
    ) -> None:
        self.settings = Settings() if settings is None else settings
        self.goal = Goal.read(self.settings.goal, n_items)
        self.beliefs = Beliefs.prior(n_items, features)
        self._aim = aim(self.goal, self.beliefs)
        self.games = np.zeros(n_items, dtype=np.int64)  # asked, answered or not
        self._prompts = None if prompts is None or prompts.all_alike else prompts
        self._rng = np.random.default_rng(seed)
        self._answers: list[tuple[int, int, int]] = []  # left, right, y
        self._epoch = 0  # grows when an answer is taken back
        self._open: Counter[tuple[int, int]] = Counter()
        # The pairs of each rater in the order in which they were asked.
        self._asked: defaultdict[Hashable, list[tuple[int, int]]] = defaultdict(list)
        self._values: tuple[Ints, Ints, Floats] | None = None  # of the present beliefs

    def __len__(self) -> int:
        return len(self._answers)

    # Questions and answers -----------------------------------------------------------

    def ask(self, rater: Hashable) -> Pair | None:
        """Choose a pair for a rater, sides at random; None if none is left."""
        pair = self._repeated(rater) or self._chosen(rater)
        if pair is None:
            return None
        if self._rng.random() < 0.5:
            pair = Pair(pair.right, pair.left, pair.reason)
        self.note(rater, pair.left, pair.right)
        return pair

    def warm_up(self) -> None:
        """Compile what a choice needs."""
        self._chosen(None)

    def note(self, rater: Hashable, left: int, right: int) -> None:
        """Remember that a rater was asked."""
        key = _key(left, right)
        self._asked[rater].append(key)
        self._open[key] += 1
        self.games[[left, right]] += 1

    def answer(
        self, left: int, right: int, y: int | None, *, update: bool = True
    ) -> None:
        """Close a question that was answered, or skipped if `y` is None.

        Without an update it counts from the next `refit` on.
        """
        key = _key(left, right)
        self._values = None
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]
        if y is None:
            self.games[[left, right]] -= 1
            return
        self._answers.append((left, right, y))
        if update:
            self._aim.learn(self.beliefs, *self.beliefs.learn(left, right, y))

    def undo(self, left: int, right: int, y: int | None) -> None:
        """Open a question again; the beliefs follow with the next `refit`."""
        self._open[_key(left, right)] += 1
        if y is None:
            self.games[[left, right]] += 1
            return
        del self._answers[-1 - self._answers[::-1].index((left, right, y))]
        self._epoch += 1

    # Beliefs from all answers --------------------------------------------------------

    def snapshot(self) -> tuple[Beliefs, Ints, int]:
        """What `fit` needs, which may run in another thread."""
        answers = np.array(self._answers, dtype=np.int64).reshape(-1, 3)
        start = replace(self.beliefs, mean=self.beliefs.mean.copy())
        return start, answers, self._epoch

    def fit(self, start: Beliefs, answers: Ints, epoch: int) -> Fit:
        """Fit all answers of a snapshot; nothing here changes."""
        beliefs = start.refit(answers)
        return Fit(beliefs, aim(self.goal, beliefs), len(answers), epoch)

    def adopt(self, fit: Fit) -> bool:
        """Take the beliefs of a fit, and add later answers."""
        if fit.epoch != self._epoch:
            return False
        for answer in self._answers[fit.n_answers :]:
            fit.aim.learn(fit.beliefs, *fit.beliefs.learn(*answer))
        self.beliefs, self._aim, self._values = fit.beliefs, fit.aim, None
        return True

    def refit(self) -> None:
        """Fit all answers now."""
        self.adopt(self.fit(*self.snapshot()))

    # Strategies ----------------------------------------------------------------------

    def _repeated(self, rater: Hashable) -> Pair | None:
        if self._rng.random() >= self.settings.repeat:
            return None
        times = Counter(self._asked[rater])
        old = [key for key in self._asked[rater][:-_DISTANCE]
               if times[key] == 1 and key not in self._open]  # fmt: skip
        return Pair(*old[self._rng.integers(len(old))], "repeat") if old else None

    def _chosen(self, rater: Hashable) -> Pair | None:
        if self._values is None:
            self._values = self._valued()
        first, second, value = self._values
        flat = value.ravel()
        recent = self._asked[rater][-_DISTANCE:]
        times = Counter(self._asked[rater])
        chosen: tuple[int, int] | None = None
        again: tuple[int, int] | None = None
        best = -1.0
        for most in sorted({min(_FIRST, flat.size), flat.size}):
            places = np.argpartition(-flat, most - 1)[:most]
            for place in places[np.argsort(-flat[places])].tolist():
                if flat[place] <= best or flat[place] < 0.0:
                    break
                i, j = divmod(place, len(second))
                key = _key(int(first[i]), int(second[j]))
                if key in self._open:
                    continue
                if key in recent:
                    if key != recent[-1]:
                        again = again or key  # rather this one than none
                # What the same person says again tells less.
                elif (worth := flat[place] * 0.5 ** times[key]) > best:
                    chosen, best = key, worth
            if chosen is not None:
                break
        chosen = chosen or again
        if chosen is None:
            return None
        value[np.isin(first, chosen)] *= 0.5  # these two wait for their answer
        value[:, np.isin(second, chosen)] *= 0.5
        return Pair(*chosen, self.settings.strategy)

    def _valued(self) -> tuple[Ints, Ints, Floats]:
        """Items, items, and the values of their pairs."""
        items = self._candidates()
        value = np.empty((min(_ROWS, len(items)), len(items)))
        rows = getattr(self, f"_value_{self.settings.strategy}")(items, value)
        few = np.maximum(self.settings.min_each - self.games[items], 0)
        value += 1e6 * (few[rows][:, None] + few)
        if self._prompts is not None:
            value[~self._prompts.allowed(items[rows], items)] = -np.inf
        value[np.arange(len(rows)), rows] = -np.inf
        return items[rows], items, value

    def _candidates(self) -> Ints:
        """Items to choose from; of many, a sample with few games."""
        n = len(self.games)
        if self.beliefs.is_dense:
            return np.arange(n)
        few = np.flatnonzero(self.games == self.games.min())
        some = self._rng.choice(few, min(len(few), _SAMPLE // 2), replace=False)
        if self._prompts is not None:
            return np.union1d(some, self._prompts.partners(some, self._rng))
        others = self._rng.choice(n, _SAMPLE - len(some), replace=False)
        return np.union1d(some, others)

    def _rows(self, items: Ints, need: Floats) -> Ints:
        """Items with few games, then those with the largest need."""
        few = np.maximum(self.settings.min_each - self.games[items], 0)
        return np.lexsort((-need, -few))[:_ROWS]

    def _value_random(self, items: Ints, value: Floats) -> Ints:
        value[:] = self._rng.random(value.shape)
        return self._rows(items, self._rng.random(len(items)))

    def _value_swiss(self, items: Ints, value: Floats) -> Ints:
        """Prefer few games, and among these neighbors."""
        games, mean = self.games[items], self.beliefs.mean[items]
        rows = self._rows(items, self._rng.random(len(items)) - games)
        played = games[rows][:, None] + games - 2 * games.min()
        apart = np.abs(mean[rows][:, None] - mean)
        chance = self._rng.random(apart.shape)
        value[:] = np.maximum(1e5 - 1e3 * played, 0.0) + 1e2 - apart + 1e-9 * chance
        return rows

    def _value_information(self, items: Ints, value: Floats) -> Ints:
        """Fill in the expected decrease."""
        mean, cov, reach = self._aim.among(self.beliefs, items)
        variance = np.ascontiguousarray(np.diagonal(cov))
        # Chance decides between equal values, and items that somebody else is asked
        # about now wait for that answer.
        weight = 1.0 - 0.01 * self._rng.random(len(items))
        times = np.zeros(self.beliefs.n_items)
        for key, count in self._open.items():
            times[list(key)] += count
        weight /= 1.0 + times[items]
        rows = self._rows(items, weight * np.diagonal(reach) / variance)
        table = _information(round(self.beliefs.tie, 1))  # as fine as choices need
        _fill_values(rows, mean, cov, reach, table, weight, value)
        return rows


@dataclass(eq=False)
class Aim:
    """L of a goal, and VLV (empty above `MOST_DENSE` items)."""

    goal: Goal
    weights: Floats
    reach: Floats
    changes: list[tuple[Floats, Floats]] = field(default_factory=list)

    def among(self, beliefs: Beliefs, items: Ints) -> tuple[Floats, Floats, Floats]:
        """Mean, V and VLV of some items, or all."""
        if not beliefs.is_dense:
            beliefs = Beliefs(beliefs.mean[items], np.diag(beliefs.cov[items]))
            return beliefs.mean, beliefs.cov, aim(self.goal, beliefs).reach
        if self.changes:
            a, b = np.array(self.changes).transpose(1, 0, 2)
            self.reach -= np.vstack([a, b]).T @ np.vstack([b, a])
            self.changes.clear()
        return beliefs.mean, beliefs.cov, self.reach

    def learn(self, beliefs: Beliefs, a: Floats, k: float) -> None:
        """Follow an answer that made V less by k a aᵀ.

        VLV becomes less by a bᵀ + b aᵀ, b = k VLa - ½k² (aᵀLa) a with the V of before.
        """
        if beliefs.is_dense:
            pulled = self.weights @ a
            moved = beliefs.cov @ pulled + 0.5 * k * float(a @ pulled) * a
            self.changes.append((a, k * moved))


class Fit(NamedTuple):
    """Beliefs from all answers up to some number, see `Chooser.fit`."""

    beliefs: Beliefs
    aim: Aim
    n_answers: int
    epoch: int


def aim(goal: Goal, beliefs: Beliefs) -> Aim:
    """Weigh the differences that a goal wants to know."""
    if not beliefs.is_dense:
        return Aim(goal, np.empty((0, 0)), np.empty((0, 0)))
    n, mean, cov = beliefs.n_items, beliefs.mean, beliefs.cov
    if goal.name == "ranking":
        weights = np.empty((n, n))
        _fill_weights(mean, cov, weights)
    else:
        q = np.ones(n)
        if goal.top:
            low, high = n - goal.top - 1, n - goal.top
            border = np.partition(mean, (low, high))[low : high + 1].mean()
            q = np.exp(-0.5 * (mean - border) ** 2 / beliefs.variance)
            q /= np.sqrt(beliefs.variance)
        weights = -np.multiply.outer(q, q)
    np.fill_diagonal(weights, 0.0)
    np.fill_diagonal(weights, -weights.sum(axis=1))
    return Aim(goal, weights, cov @ weights @ cov)


@cache
def _information(t: float) -> Floats:
    """Table of information / s², by the mean and the deviation s of d."""
    s = np.linspace(0.0, _MOST_DEVIATION, _PARTS[1] + 1)
    s[0] = 1e-3
    mu = np.linspace(0.0, _MOST_MEAN, _PARTS[0] + 1)
    information = expected_information(*np.meshgrid(mu, s, indexing="ij"), t)
    return information / s**2


def _key(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)


@njit(cache=True, nogil=True)
def _fill_weights(mean, cov, weights):  # type: ignore[no-untyped-def]
    for i in range(len(mean)):
        for j in range(i):
            s2 = max(cov[i, i] + cov[j, j] - 2.0 * cov[i, j], 1e-12)
            z = abs(mean[j] - mean[i]) / math.sqrt(2.0 * s2)
            weights[i, j] = weights[j, i] = -math.erfc(z) / s2


@njit(cache=True, nogil=True)
def _fill_values(rows, mean, cov, reach, table, weight, value):  # type: ignore[no-untyped-def]
    n_mean, n_deviation = table.shape[0] - 1, table.shape[1] - 1
    for row, i in enumerate(rows):
        for j in range(len(mean)):
            s2 = max(cov[i, i] + cov[j, j] - 2.0 * cov[i, j], 1e-12)
            x = abs(mean[j] - mean[i]) * n_mean / _MOST_MEAN
            y = math.sqrt(s2) * n_deviation / _MOST_DEVIATION
            x, y = min(x, n_mean - 1e-9), min(y, n_deviation - 1e-9)
            a, b = int(x), int(y)
            x, y = x - a, y - b
            low = (1.0 - y) * table[a, b] + y * table[a, b + 1]
            high = (1.0 - y) * table[a + 1, b] + y * table[a + 1, b + 1]
            known = 1.0 - math.exp(-2.0 * s2 * ((1.0 - x) * low + x * high))
            gain = reach[i, i] + reach[j, j] - 2.0 * reach[i, j]
            value[row, j] = max(gain, 0.0) * known / s2 * weight[i] * weight[j]
