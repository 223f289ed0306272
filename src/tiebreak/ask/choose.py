# SPDX-License-Identifier: BSD-3-Clause
r"""Which pair to ask about next, how certain the goal is, and when to stop.

The value of a pair is the mutual information of its answer and d = θ_right - θ_left,
weighted by what the goal needs:

* ``ranking``: the probability that the order of the two is wrong now;
* ``top:K`` (``best`` is ``top:1``): the probability that one of the two belongs to the
  best K and the other does not;
* ``scale``: no weight.

How certain a goal is, between 0 and 1, is a posterior expectation:

* ``ranking``: the share of pairs whose order is right;
* ``top:K``: the probability that the K items with the largest means are the best K;
* ``scale``: the share of the variance of the utilities that the means explain.

Two items within the tie threshold of the model are in the right order either way. The
goal is reached when this number is at least the level and every item was compared
often enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tiebreak.ask.beliefs import Answers, Beliefs, Floats, Ints, expected_information
from tiebreak.data.jit import njit

STRATEGIES = ("information", "swiss", "random")
_PARTS = (60, 40)  # of the axes of the table of information: mean, deviation
_MOST_MEAN, _MOST_DEVIATION = 12.0, 8.0
_WHOLE = 2000  # so many items: every pair is a candidate
_SAMPLE = 1000  # of more items, so many are candidates
_PAIRS, _DRAWS = 100_000, 1000  # to measure how certain a goal is
_DISTANCE = 10  # so many answers lie between a pair and its repetition
_MOST_FACTOR = 1e4


class Goal(NamedTuple):
    """What the answers are for; ``top`` is K, or 0."""

    name: str
    top: int = 0

    @classmethod
    def read(cls, text: str, n_items: int) -> Goal:
        """Read ranking, top:K, best or scale."""
        if text in ("ranking", "scale"):
            return cls(text)
        found = re.fullmatch(r"top:(\d+)", "top:1" if text == "best" else text)
        if found is None:
            raise ValueError(
                f"--goal must be ranking, top:K (such as top:5), best or scale; got "
                f"{text!r}."
            )
        top = int(found[1])
        if not 0 < top < n_items:
            raise ValueError(
                f"--goal {text} asks for the best {top} of {n_items:,} items; expected "
                f"1 to {n_items - 1:,}."
            )
        return cls(text, top)

    def certainty(self, beliefs: Beliefs, factor: float = 1.0) -> float:
        """How certain the goal is, if all variances were divided by a factor."""
        mean, variance = beliefs.mean, beliefs.variance
        if self.name == "scale":
            known = float(np.sum((mean - mean.mean()) ** 2))
            unknown = float(variance.sum())
            if beliefs.is_dense:  # not in the direction that moves all items alike
                unknown -= float(beliefs.cov.sum()) / len(mean)
            return known / (known + unknown / factor) if known else 0.0
        rng = np.random.default_rng(0)
        if self.name == "ranking":
            i, j = _some_pairs(len(mean), rng)
            s2 = variance[i] + variance[j]
            if beliefs.is_dense:
                s2 = s2 - 2.0 * beliefs.cov[i, j]
            apart = np.abs(mean[j] - mean[i]) + beliefs.threshold
            return float(ndtr(apart / np.sqrt(np.maximum(s2 / factor, 1e-12))).mean())
        order = np.argsort(-mean, kind="stable")
        near = order[: _SAMPLE + self.top]  # others are far below the border
        z = rng.standard_normal((len(near), _DRAWS))
        if beliefs.is_dense:
            root = np.linalg.cholesky(
                beliefs.cov[np.ix_(near, near)] + 1e-9 * np.eye(len(near))
            )
            z = root @ z
        else:
            z *= np.sqrt(variance[near])[:, None]
        theta = mean[near][:, None] + z / math.sqrt(factor)
        worst, rival = theta[: self.top].min(axis=0), theta[self.top :].max(axis=0)
        return float(np.mean(rival - worst <= beliefs.threshold))

    def remaining(self, beliefs: Beliefs, n_answers: int, level: float) -> int | None:
        """About how many answers are missing; None if that cannot be said."""
        if self.certainty(beliefs) >= level:
            return 0
        low, high = 0.0, math.log(_MOST_FACTOR)
        if self.certainty(beliefs, math.exp(high)) < level:
            return None
        while high - low > 0.05:
            middle = (low + high) / 2
            enough = self.certainty(beliefs, math.exp(middle)) >= level
            low, high = (low, middle) if enough else (middle, high)
        # Variances fall as one over the number of answers, counted from the prior.
        return math.ceil((n_answers + beliefs.n_items) * math.expm1(high))


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
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"--strategy must be one of {', '.join(STRATEGIES)}; got "
                f"{self.strategy!r}."
            )
        for name, most in (("level", 1.0), ("repeat", 0.5)):
            value = getattr(self, name)
            if not 0.0 <= value < most or (name == "level" and value == 0.0):
                raise ValueError(
                    f"--{name} must be between 0 and {most:g}; got {value:g}."
                )
        if self.min_each < 0:
            raise ValueError(f"--min-each must not be negative; got {self.min_each}.")


class Chooser:
    """Choose pairs, learn from answers; ``allowed`` says which items can be paired."""

    def __init__(
        self,
        n_items: int,
        settings: Settings | None = None,
        *,
        features: Floats | None = None,
        allowed: NDArray[np.bool_] | None = None,
        seed: int | None = None,
    ) -> None:
        self.settings = Settings() if settings is None else settings
        self.goal = Goal.read(self.settings.goal, n_items)
        self.beliefs = Beliefs.prior(n_items, features)
        self.games = np.zeros(n_items, dtype=np.int64)  # asked, answered or not
        self.allowed = allowed
        self._rng = np.random.default_rng(seed)
        self._left: list[int] = []
        self._right: list[int] = []
        self._y: list[int] = []
        self._epoch = 0  # grows when an answer is taken back
        self._open: dict[tuple[int, int], int] = {}
        self._met: dict[Hashable, dict[tuple[int, int], int]] = {}  # when, by rater
        self._values, self._uses = np.empty((0, 0)), 0
        self._latest: dict[Hashable, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._y)

    # Questions and answers -----------------------------------------------------------

    def ask(self, rater: Hashable) -> Pair | None:
        """Choose a pair for a rater, sides at random; None if there is none left."""
        pair = self._repeated(rater) or self._chosen(rater)
        if pair is None:
            return None
        if self._rng.random() < 0.5:
            pair = Pair(pair.right, pair.left, pair.reason)
        self.note(rater, pair.left, pair.right)
        return pair

    def warm_up(self) -> None:
        """Compile what a choice needs, before anybody waits for it."""
        self._value_information(np.arange(2), np.empty((2, 2)))

    def note(self, rater: Hashable, left: int, right: int) -> None:
        """Remember that a rater was asked, also before this program was started."""
        key = _key(left, right)
        met = self._met.setdefault(rater, {})
        # A repeated pair is not asked for a third time.
        met[key] = -1 if key in met else len(met)
        self._latest[rater] = key
        self._open[key] = self._open.get(key, 0) + 1
        self.games[[left, right]] += 1

    def close(self, left: int, right: int, *, counted: bool = True) -> None:
        """Remember that a question is no longer open."""
        key = _key(left, right)
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]
        if not counted:
            self.games[[left, right]] -= 1

    def reopen(self, left: int, right: int, *, counted: bool = True) -> None:
        """Remember that a question is open again, after its answer was taken back."""
        key = _key(left, right)
        self._open[key] = self._open.get(key, 0) + 1
        if not counted:
            self.games[[left, right]] += 1

    def learn(self, left: int, right: int, y: int, *, update: bool = True) -> None:
        """Add an answer; without an update it counts from the next `refit` on."""
        self._left.append(left)
        self._right.append(right)
        self._y.append(y)
        if update:
            self.beliefs.learn(left, right, y)

    def forget(self, left: int, right: int, y: int) -> None:
        """Take back an answer; the beliefs follow with the next `refit`."""
        rows = zip(self._left, self._right, self._y, strict=True)
        at = [row == (left, right, y) for row in rows][::-1].index(True)
        for values in (self._left, self._right, self._y):
            values.pop(len(values) - 1 - at)
        self._epoch += 1

    # Beliefs from all answers --------------------------------------------------------

    def snapshot(self) -> tuple[Beliefs, Answers, int]:
        """What a refit needs, which may run in another thread."""
        columns = (
            np.array(v, dtype=np.int64) for v in (self._left, self._right, self._y)
        )
        start = Beliefs(
            self.beliefs.mean.copy(), self.beliefs.cov, self.beliefs.tie,
            self.beliefs.width, self.beliefs.precision,
        )  # fmt: skip
        return start, Answers(*columns), self._epoch

    def adopt(self, fitted: Beliefs, n_used: int, epoch: int) -> bool:
        """Take the beliefs of a refit, and add the answers that came since."""
        if epoch != self._epoch:
            return False
        for row in range(n_used, len(self)):
            fitted.learn(self._left[row], self._right[row], self._y[row])
        self.beliefs = fitted
        return True

    def refit(self) -> None:
        """Fit all answers now."""
        start, answers, epoch = self.snapshot()
        self.adopt(start.refit(answers), len(answers), epoch)

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        often = self.games.min() >= self.settings.min_each
        return bool(often) and self.goal.certainty(self.beliefs) >= self.settings.level

    # Strategies ----------------------------------------------------------------------

    def _repeated(self, rater: Hashable) -> Pair | None:
        met = self._met.get(rater, {})
        if len(met) <= _DISTANCE or self._rng.random() >= self.settings.repeat:
            return None
        old = [k for k, at in met.items() if 0 <= at < len(met) - _DISTANCE]
        old = [key for key in old if key not in self._open]
        return Pair(*old[self._rng.integers(len(old))], "repeat") if old else None

    def _chosen(self, rater: Hashable) -> Pair | None:
        items = self._candidates()
        n = len(items)
        if self._values.shape != (n, n) or n < len(self.games):
            # Below the diagonal it stays so; the strategies fill what is above.
            self._values, self._uses = np.full((n, n), -1.0), 0
        value = self._values
        # Of many people at once, several are asked by the same values.
        if self._uses and self._uses <= len(self._open) // 8:
            self._uses += 1
        else:
            self._uses = 1
            getattr(self, f"_value_{self.settings.strategy}")(items, value)
            if self.allowed is not None:
                value[~self.allowed[np.ix_(items, items)]] = -1.0
        row = np.full(len(self.games), -1)
        row[items] = np.arange(n)
        latest = self._latest.get(rater)
        kept = {*self._open, *([] if latest is None else [latest])}
        met = self._met.get(rater, {})
        # Rather a pair again than none, but neither the last one nor one that is open.
        for excluded in (kept | met.keys(), kept):
            flat = np.fromiter(chain.from_iterable(excluded), np.int64)
            first, second = row[flat[::2]], row[flat[1::2]]
            here = (first >= 0) & (second >= 0)
            place = first[here], second[here]  # the smaller number comes first
            before = value[place]
            value[place] = -1.0
            best = int(np.argmax(value))
            found = value.flat[best] >= 0.0
            value[place] = before
            if found:
                i, j = divmod(best, n)
                for used in (value[i], value[j], value[:, i], value[:, j]):
                    used[used > 0.0] *= 0.5  # these two wait for their answer
                return Pair(int(items[i]), int(items[j]), self.settings.strategy)
        return None

    def _candidates(self) -> Ints:
        """Items to choose from; of many, those with few games among a sample."""
        n = len(self.games)
        if n <= _WHOLE:
            return np.arange(n)
        few = np.flatnonzero(self.games == self.games.min())
        some = self._rng.choice(few, min(len(few), _SAMPLE // 2), replace=False)
        others = self._rng.choice(n, _SAMPLE - len(some), replace=False)
        return np.union1d(some, others)

    def _value_random(self, items: Ints, value: Floats) -> None:
        upper = np.triu_indices(len(items), 1)
        value[upper] = self._rng.random(len(upper[0])) + self._bonus(items)[upper]

    def _value_swiss(self, items: Ints, value: Floats) -> None:
        """Prefer items with the fewest games, and among them neighbors."""
        upper = np.triu_indices(len(items), 1)
        games = self.games[items]
        played = (games[:, None] + games)[upper] - 2 * games.min()
        mean = self.beliefs.mean[items]
        apart = np.abs(mean[:, None] - mean)[upper]
        value[upper] = 1e6 - 1e3 * played - apart + 1e-9 * self._rng.random(len(apart))

    def _bonus(self, items: Ints) -> Floats:
        few = 1e3 * np.maximum(self.settings.min_each - self.games[items], 0)
        return few[:, None] + few

    def _value_information(self, items: Ints, value: Floats) -> None:
        beliefs = self.beliefs
        whole = len(items) == beliefs.n_items
        cov = np.empty((0, 0))
        if beliefs.is_dense:
            cov = beliefs.cov if whole else beliefs.cov[np.ix_(items, items)]
        mean, variance = (
            beliefs.mean[items],
            np.ascontiguousarray(beliefs.variance[items]),
        )
        # Chance decides between equal values, and items that somebody else is asked
        # about now wait for that answer.
        weight = 1.0 - 0.01 * self._rng.random(len(items))
        place = {item: row for row, item in enumerate(items.tolist())}
        for key, times in self._open.items():
            for item in key:
                if item in place:
                    weight[place[item]] /= 1.0 + times
        bonus = 1e3 * np.maximum(self.settings.min_each - self.games[items], 0.0)
        inside = np.empty(0)
        if self.goal.top:
            inside = _inside(beliefs.mean, beliefs.variance, self.goal.top)[items]
        ordered = self.goal.name == "ranking"
        table = _information(round(beliefs.tie, 1))  # as fine as choices need
        _fill_values(
            mean, variance, cov, table, inside, ordered, weight, bonus,
            value,
        )  # fmt: skip


@cache
def _information(t: float) -> Floats:
    """Table of information / s², by the mean and the deviation s of d."""
    s = np.linspace(0.0, _MOST_DEVIATION, _PARTS[1] + 1)
    s[0] = 1e-3
    mu = np.linspace(0.0, _MOST_MEAN, _PARTS[0] + 1)
    found = expected_information(*np.meshgrid(mu, s, indexing="ij"), t)
    return found / s**2


def _key(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)


def _inside(mean: Floats, variance: Floats, top: int) -> Floats:
    """About the probability of each item to be among the best K."""
    order = np.partition(mean, (len(mean) - top - 1, len(mean) - top))
    border = 0.5 * (order[len(mean) - top - 1] + order[len(mean) - top])
    return ndtr((mean - border) / np.sqrt(variance))


@njit(cache=True, nogil=True)
def _fill_values(mean, variance, cov, table, inside, ordered, weight, bonus, value):  # type: ignore[no-untyped-def]
    n, dense = len(mean), len(cov) > 0
    n_mean, n_deviation = table.shape[0] - 1, table.shape[1] - 1
    for i in range(n):
        for j in range(i + 1, n):
            s2 = variance[i] + variance[j]
            if dense:
                s2 -= 2.0 * cov[i, j]
            s2 = max(s2, 1e-12)
            mu, s = abs(mean[j] - mean[i]), math.sqrt(s2)
            x = min(mu * n_mean / _MOST_MEAN, n_mean - 1e-9)
            y = min(s * n_deviation / _MOST_DEVIATION, n_deviation - 1e-9)
            a, b = int(x), int(y)
            x, y = x - a, y - b
            low = (1.0 - y) * table[a, b] + y * table[a, b + 1]
            high = (1.0 - y) * table[a + 1, b] + y * table[a + 1, b + 1]
            gain = s2 * ((1.0 - x) * low + x * high)
            if ordered:
                gain *= math.erfc(mu / s * 0.7071067811865476)
            elif len(inside) > 0:
                gain *= inside[i] + inside[j] - 2.0 * inside[i] * inside[j]
            value[i, j] = gain * weight[i] * weight[j] + bonus[i] + bonus[j]
