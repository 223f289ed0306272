# SPDX-License-Identifier: BSD-3-Clause
"""People who answer by themselves, from utilities that are known.

The utilities are drawn from N(0, spread²), answers from Davidson's model with the tie
parameter ν, and a share of answers is given without looking.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tiebreak.ask.choose import Chooser, Floats, Pair, Settings


class Asker(Protocol):
    """What a strategy offers: pairs, and a place for the answers."""

    def ask(self, rater: int) -> Pair | None:
        """Choose a pair."""

    def tell(self, pair: Pair, y: int) -> None:
        """Take its answer."""

    def utilities(self) -> Floats:
        """What is known so far."""


@dataclass
class People:
    """People with one opinion and noise; ``careless`` answers are made blindly."""

    theta: Floats
    tie: float = 1.0
    careless: float = 0.05
    n_raters: int = 10
    seed: int = 0
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    @classmethod
    def draw(cls, n_items: int, seed: int, spread: float = 1.5, **more: Any) -> People:
        """Draw the utilities of some items."""
        rng = np.random.default_rng([seed, n_items])
        return cls(spread * rng.standard_normal(n_items), seed=seed, **more)

    def answer(self, pair: Pair) -> int:
        """Answer with -1, 0 or 1."""
        if self._rng.random() < self.careless:
            return int(self._rng.integers(-1, 2))
        d = float(self.theta[pair.right] - self.theta[pair.left])
        left, tie, right = math.exp(-0.5 * d), self.tie, math.exp(0.5 * d)
        at = self._rng.random() * (left + tie + right)
        return -1 if at < left else 0 if at < left + tie else 1


class OwnAsker:
    """A strategy of `tiebreak ask`; all answers are fitted now and then."""

    def __init__(self, n_items: int, settings: Settings, seed: int = 0) -> None:
        self.chooser = Chooser(n_items, settings, seed=seed)
        self.rows: list[tuple[int, int, int, int]] = []  # left, right, y, rater
        self._every, self._rater = max(1, n_items // 5), 0

    def ask(self, rater: int) -> Pair | None:
        """Choose a pair."""
        self._rater = rater
        return self.chooser.ask(rater)

    def tell(self, pair: Pair, y: int) -> None:
        """Learn from an answer."""
        self.chooser.answer(pair.left, pair.right, y)
        self.rows.append((pair.left, pair.right, y, self._rater))
        if len(self.chooser) % self._every == 0:
            self.chooser.refit()

    def utilities(self) -> Floats:
        """Means of the beliefs."""
        return self.chooser.beliefs.mean


def run(people: People, asker: Asker, most: int) -> Iterator[int]:
    """Ask and answer; give the number of answers after each of them."""
    for n in range(1, most + 1):
        pair = asker.ask(n % people.n_raters)
        if pair is None:
            return
        asker.tell(pair, people.answer(pair))
        yield n
