# SPDX-License-Identifier: BSD-3-Clause
r"""How much each item gains by moving up, under the exponential loss of its pairs.

A pair of a better item b and a worse item c with weight w has the share

.. math:: D(b, c) = \frac{w\, e^{-(u_b - u_c)}}{\sum w'\, e^{-(u_{b'} - u_{c'})}}

of the loss. The *potential* of an item is its share as the better item minus its share
as the worse one, so Σ D (h(b) - h(c)) = Σ_i potential_i h_i for any h.

For all pairs of different grades in a group running sums over slots (sorted by group,
then by grade; a run is slots of equal grade) give all potentials in O(n). Where
exponentials overflow or vanish, sums are kept relative to their largest term.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.losses.comparison_likelihood import ItemDesign
from tiebreak.losses.grade_tree import GradeTree

# What begins with a slot.
NEW_RUN, NEW_GROUP = 1, 2


@njit(cache=True, nogil=True)
def add_shares(
    as_better: Floats,
    as_worse: Floats,
    up: Floats,
    down: Floats,
    item: Codes,
    step: NDArray[np.int8],
) -> float:
    """Add down_b up_c of every pair of slots to its two items, in place."""
    total, below, seen = 0.0, 0.0, 0.0
    for i in range(len(item)):
        if step[i] == NEW_GROUP:
            seen = 0.0
        if step[i] > 0:
            below = seen
        as_better[item[i]] += down[i] * below
        total += down[i] * below
        seen += up[i]
    above = 0.0
    for i in range(len(item) - 1, -1, -1):
        if step[i + 1] == NEW_GROUP:
            seen = 0.0
        if step[i + 1] > 0:
            above = seen
        as_worse[item[i]] += up[i] * above
        seen += down[i]
    return total


@njit(cache=True, nogil=True)
def split_pairs(
    up: Floats, down: Floats, h: Floats, item: Codes, step: NDArray[np.int8]
) -> tuple[float, float]:
    """Sum down_b up_c over pairs with h 1 and 0, and with 0 and 1."""
    in_order, turned = 0.0, 0.0
    zeros, ones, zeros_below, ones_below = 0.0, 0.0, 0.0, 0.0
    for i in range(len(item)):
        if step[i] == NEW_GROUP:
            zeros, ones = 0.0, 0.0
        if step[i] > 0:
            zeros_below, ones_below = zeros, ones
        if h[item[i]] > 0.0:
            in_order += down[i] * zeros_below
            ones += up[i]
        else:
            turned += down[i] * ones_below
            zeros += up[i]
    return in_order, turned


@njit(cache=True, nogil=True)
def largest_power(
    u: Floats, log_weight: Floats, runs: Codes, first_run: Codes
) -> float:
    """Largest log w_b + log w_c - (u_b - u_c) of all pairs."""
    largest = -np.inf
    for group in range(len(first_run) - 1):
        below = -np.inf
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                largest = max(largest, log_weight[i] - u[i] + below)
            for i in range(runs[run], runs[run + 1]):
                below = max(below, log_weight[i] + u[i])
    return largest


# exp(±300) and products of two of them, times any number of pairs, are numbers.
SAFE_POWER = 300.0


@njit(cache=True, nogil=True)
def add_exponential_sums(
    out: Floats, u: Floats, log_weight: Floats, x: Floats, runs: Codes, first_run: Codes
) -> None:
    """Add Σ_j w_i w_j exp(u_j - u_i) x_j over the lower runs of i's group, in place."""
    for group in range(len(first_run) - 1):
        largest, total = -np.inf, 0.0
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                if total != 0.0:
                    out[i] += math.exp(log_weight[i] - u[i] + largest) * total
            for i in range(runs[run], runs[run + 1]):
                power = log_weight[i] + u[i]
                if power > largest:
                    total *= math.exp(largest - power)
                    largest = power
                total += math.exp(power - largest) * x[i]


class GradePotentials:
    """Potentials of items over all pairs of different grades within groups."""

    def __init__(self, tree: GradeTree, item: Codes, n_items: int) -> None:
        self.n_items, self.n_pairs = n_items, tree.n_pairs
        self._item = item[tree.rows]
        self._weight, self._square = tree.weight, tree.weight**2
        self._log_weight = np.log(tree.weight)
        self._largest_log = float(np.abs(self._log_weight).max(initial=0.0))
        run_ends = np.unique(np.concatenate([tree.starts[1:], tree.cuts]))
        self._runs = np.concatenate([[0], run_ends]).astype(np.int64)
        self._first_run = np.searchsorted(self._runs, tree.starts)
        self._step = np.zeros(len(self._item) + 1, dtype=np.int8)
        self._step[self._runs] = NEW_RUN
        self._step[tree.starts] = NEW_GROUP
        self._powers: tuple[Floats, Floats] | None = None

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the logarithm of the loss, and the potentials of all items."""
        log_loss, as_better, as_worse = self.shares(u)
        return log_loss, as_better - as_worse

    def shares(self, u: Floats) -> tuple[float, Floats, Floats]:
        """Give ln of the loss, and the share of each item on each side."""
        self._s = u[self._item]
        low, high = float(self._s.min()), float(self._s.max())
        if 0.5 * (high - low) + self._largest_log > SAFE_POWER:
            return self._relative_shares()
        up = self._weight * np.exp(self._s - 0.5 * (low + high))
        down = self._square / up
        sides = np.zeros((2, self.n_items))
        self._total = add_shares(sides[0], sides[1], up, down, self._item, self._step)
        self._powers = up, down
        sides /= self._total
        return math.log(self._total), sides[0], sides[1]

    def split(self, h: Floats) -> tuple[float, float]:
        """Give the shares of pairs that h puts in order and reverses."""
        if self._powers is not None:
            in_order, turned = split_pairs(*self._powers, h, self._item, self._step)
        else:
            above = h[self._item]
            below = 1.0 - above
            in_order = float(above @ self._sums_below(below))
            turned = float(below @ self._sums_below(above))
        return in_order / self._total, turned / self._total

    def separates(self, h: Floats) -> bool:
        """Whether h is 1 and 0, or 0 and 1, in every pair."""
        if np.any(np.diff(self._first_run) != 2):
            return False  # of three grades two have the same h
        upper = np.repeat(np.arange(len(self._runs) - 1) % 2, np.diff(self._runs))
        own = h[self._item]
        return np.array_equal(own, upper) or np.array_equal(own, 1 - upper)

    def _relative_shares(self) -> tuple[float, Floats, Floats]:
        """Do what ``shares`` does relative to largest terms."""
        self._powers = None
        m, last = len(self._s), len(self._runs) - 1
        shift = largest_power(self._s, self._log_weight, self._runs, self._first_run)
        # Both sides of a pair carry half of it: the largest term becomes one.
        self._shifted = self._log_weight - 0.5 * shift
        better = self._sums_below(np.ones(m))
        self._total = float(better.sum())
        # From the top, with utilities negated, better items are worse ones.
        worse = np.zeros(m)
        add_exponential_sums(
            worse,
            -self._s[::-1],
            self._shifted[::-1].copy(),
            np.ones(m),
            m - self._runs[::-1],
            last - self._first_run[::-1],
        )
        as_better, as_worse = (
            np.bincount(self._item, side / self._total, self.n_items).astype(float)
            for side in (better, worse[::-1])
        )
        return math.log(self._total) + shift, as_better, as_worse

    def _sums_below(self, x: Floats) -> Floats:
        """Sum the terms of each slot with worse ones, times their x."""
        out = np.zeros(len(x))
        add_exponential_sums(
            out, self._s, self._shifted, x, self._runs, self._first_run
        )
        return out


class ListedPotentials:
    """Potentials of items over pairs that are written down."""

    def __init__(
        self, better: Codes, worse: Codes, weight: Floats, n_items: int
    ) -> None:
        self._pairs = ItemDesign(worse, better, n_items)
        self.n_items, self.n_pairs = n_items, len(better)
        self._log_weight = np.log(weight)

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the logarithm of the loss and the potentials."""
        power = self._log_weight - self._pairs.apply(u)
        shift = float(power.max())
        term = np.exp(power - shift)
        total = float(term.sum())
        self._share = term / total
        return math.log(total) + shift, self._pairs.back(self._share)

    def split(self, h: Floats) -> tuple[float, float]:
        """Give the shares of pairs in order and reversed."""
        apart = self._pairs.apply(h)
        in_order = self._share[apart > 0.0].sum()
        return float(in_order), float(self._share[apart < 0.0].sum())

    def separates(self, h: Floats) -> bool:
        """Whether h is 1 and 0, or 0 and 1, in every pair."""
        apart = self._pairs.apply(h)
        return bool(np.all(apart == 1.0) or np.all(apart == -1.0))
