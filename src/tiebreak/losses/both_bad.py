# SPDX-License-Identifier: BSD-3-Clause
r"""A fourth outcome, both bad, with an absolute zero of strengths.

An item of strength θ is good with probability σ(θ - z), each by itself; two that are
not are called both bad, and else the outcome is left, tie or right as without this:

.. math:: P_b = σ(z - θ_l)\,σ(z - θ_r), \qquad P(y) = (1 - P_b)\,P_3(y).

The objective is a **sum** over votes: that of three outcomes for votes with one of
them, and -n_b ln P_b - n ln(1 - P_b) for pairs with n_b votes "both bad" and n others.
z → -∞ leaves three outcomes. The second part is not convex; its expected Hessian, which
is positive semidefinite, serves as Hessian.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tiebreak.losses.comparisons import ComparisonObjective

Array = NDArray[np.float64]


class BothBadObjective:
    """Value, gradient and Hessian at x = (variables of three outcomes, z)."""

    def __init__(
        self,
        base: ComparisonObjective,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        counts: Array,
    ) -> None:
        self.base, self.left, self.right = base, left, right
        self.counts = counts  # (m, 2): other votes of each pair, and both bad
        self.n_variables = base.n_variables + 1
        self.design, self.link = base.design, base.link

    def split(self, x: Array) -> tuple[Array, float]:
        """Give β and t."""
        return self.base.split(x[:-1])

    def value(self, x: Array) -> float:
        """Give f(x); infinite outside its domain."""
        one, two = x[self.left] - x[-1], x[self.right] - x[-1]
        return self.base.value(x[:-1]) + self._loss(one, two)

    def _loss(self, one: Array, two: Array) -> float:
        # 1 - P_b = σ(u) + σ(-u) σ(v), which does not cancel.
        other = expit(one) + expit(-one) * expit(two)
        bad = np.logaddexp(0.0, one) + np.logaddexp(0.0, two)
        with np.errstate(divide="ignore"):
            fine = np.log(other)
        # Where there are none, an impossible outcome costs nothing.
        fine[self.counts[:, 0] == 0.0] = 0.0
        return float(self.counts[:, 1] @ bad - self.counts[:, 0] @ fine)

    def expand(self, x: Array) -> tuple[float, Array]:
        """Give f and its gradient at x, and keep x for the Hessian."""
        value, gradient = self.base.expand(x[:-1])
        one, two = x[self.left] - x[-1], x[self.right] - x[-1]
        n, n_bad = self.counts.T
        good = np.stack([expit(one), expit(two)])
        p_bad = expit(-one) * expit(-two)
        odds = p_bad / (good[0] + expit(-one) * good[1])
        self.good, self.odds = good, odds
        slope = good * (n_bad - n * odds)
        out = np.append(gradient, -slope.sum())
        np.add.at(out, self.left, slope[0])
        np.add.at(out, self.right, slope[1])
        return value + self._loss(one, two), out

    def hessian(self) -> Array:
        """Give the expected Hessian at the last expanded point."""
        out = np.zeros((self.n_variables, self.n_variables))
        out[:-1, :-1] = self.base.hessian()
        # The Fisher information of "both bad or not" is an outer product.
        weight = self.counts.sum(axis=1) * self.odds
        one, two = self.good
        both = one + two
        np.add.at(out, (self.left, self.left), weight * one * one)
        np.add.at(out, (self.right, self.right), weight * two * two)
        np.add.at(out, (self.left, self.right), weight * one * two)
        np.add.at(out, (self.right, self.left), weight * one * two)
        edge = np.zeros(self.n_variables)
        np.add.at(edge, self.left, -weight * one * both)
        np.add.at(edge, self.right, -weight * two * both)
        out[-1] += edge
        out[:, -1] += edge
        out[-1, -1] += float(weight @ both**2)
        return out

    def hessian_product(self, v: Array) -> Array:
        """Give the Hessian at the last expanded point times v."""
        one, two = self.good
        change = one * v[self.left] + two * v[self.right] - (one + two) * v[-1]
        change *= self.counts.sum(axis=1) * self.odds
        out = np.append(self.base.hessian_product(v[:-1]), -change @ (one + two))
        np.add.at(out, self.left, one * change)
        np.add.at(out, self.right, two * change)
        return out

    def hessian_diagonal(self) -> Array:
        """Give the diagonal of the Hessian at the last expanded point."""
        weight, (one, two) = self.counts.sum(axis=1) * self.odds, self.good
        last = float(weight @ (one + two) ** 2)
        out = np.append(self.base.hessian_diagonal(), last)
        np.add.at(out, self.left, weight * one**2)
        np.add.at(out, self.right, weight * two**2)
        return out

    @property
    def penalty(self) -> Array:
        """What the penalty adds to the diagonal of the Hessian."""
        return np.append(self.base.penalty, 0.0)


def both_bad_start(counts: Array) -> float:
    """Give the z at which equal items are called both bad as often as in the data."""
    other, bad = counts.sum(axis=0)
    share = math.sqrt(bad / (bad + other))
    return math.log(share / (1.0 - share))


def both_bad_counts(
    left: NDArray[np.int64], right: NDArray[np.int64], bad: Any, weight: Array, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Sum weights by unordered pair: both items, and counts (m, 2) of other and bad."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    pair, code = np.unique(low * n + high, return_inverse=True)
    column = 2 * code + np.asarray(bad, dtype=np.int64)
    counts = np.bincount(column, weight, 2 * len(pair)).reshape(-1, 2)
    return pair // n, pair % n, np.asarray(counts, dtype=np.float64)
