# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as a dual program: what pairwise support vector machines share.

Comparisons of the same two items are one row of the pair kernel, whatever their
direction and outcome: the weights of "right is better", "left is better" and "tie" are
added up per row. Hinge losses are sums, so nothing changes but the size, and a row of
weight two is a duplicated row by construction.

Each row has up to four dual variables, in the notation of
:class:`~tiebreak.solvers.DualQP`: right better (sign +1), left better (sign -1), and
for a tie both of its directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.data import Pairs
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers import DualQP, DualSolution


@dataclass(frozen=True)
class PairDual:
    """A dual program over comparisons.

    Parameters
    ----------
    problem : DualQP
        What the solver sees.
    outcome : ndarray of int, shape (m,)
        Outcome of the comparisons that each variable stands for.
    shift : float
        What was taken from the linear term: intercept = level + shift.
    """

    problem: DualQP
    outcome: np.ndarray
    shift: float


class PairProblem:
    """Training comparisons summed up per pair of distinct items.

    Parameters
    ----------
    pairs : Pairs
        Comparisons of compact items, all of positive weight.
    y : ndarray of int, shape (n,)
        Outcomes.
    weight : ndarray of shape (n,)
        Weights.
    items : TrainingItems
        Distinct items and kernel.
    given : ndarray of int, shape (n,)
        Row numbers of the comparisons in what the user passed.
    cache_bytes : float
        Memory for kernel rows.

    Attributes
    ----------
    rows : MatrixRows
        The pair kernel over the distinct pairs of items.
    right_better, left_better, tied : ndarray of shape (n_rows,)
        Added-up weights of each outcome.
    """

    def __init__(
        self,
        pairs: Pairs,
        y: np.ndarray,
        weight: np.ndarray,
        items: TrainingItems,
        given: np.ndarray,
        cache_bytes: float,
    ) -> None:
        self.given = given
        left, right = items.code[pairs.left], items.code[pairs.right]
        # One orientation per pair of items, so that both directions share a row.
        self._turned = left > right
        low, high = np.minimum(left, right), np.maximum(left, right)
        key, self._row_of = np.unique(low * items.n_items + high, return_inverse=True)
        self.items = items
        self.left, self.right = key // items.n_items, key % items.n_items
        self.n_rows = len(key)
        self._y = np.where(self._turned, -y, y)
        self._weight = weight
        self.right_better = self._total(self._y > 0)
        self.left_better = self._total(self._y < 0)
        self.tied = self._total(self._y == 0)
        self.rows = items.rows(self.left, self.right, cache_bytes)

    def _total(self, chosen: np.ndarray) -> np.ndarray:
        return np.bincount(self._row_of, self._weight * chosen, self.n_rows)

    def compare(self, C: float) -> PairDual:
        """Dual of the comparison machine.

        The linear term is +1 for differences and -1 for ties. A constant is taken
        from it so that it is zero for the outcome with more weight: with a tiny C only
        variables of that outcome are free, and their gradients, of the size of C, are
        then not lost next to a one.
        """
        differ = self.right_better.sum() + self.left_better.sum()
        shift = -1.0 if 2.0 * self.tied.sum() >= differ else 1.0
        parts = [
            _Part(1, self.right_better, 1.0, 1.0),
            _Part(-1, self.left_better, -1.0, 1.0),
            _Part(0, self.tied, 1.0, -1.0),
            _Part(0, self.tied, -1.0, -1.0),
        ]
        return _dual(C, parts, shift, balanced=True)

    def order(self, C: float, ties: str) -> PairDual:
        """Dual of the machine that only orders.

        ``ties="ignore"`` leaves ties out; ``"both"`` counts a tie in either direction
        and every other comparison twice.
        """
        factor = 2.0 if ties == "both" else 1.0
        parts = [
            _Part(1, factor * self.right_better, 1.0, 1.0),
            _Part(-1, factor * self.left_better, -1.0, 1.0),
        ]
        if ties == "both":
            parts.append(_Part(0, self.tied, 1.0, 1.0))
            parts.append(_Part(0, self.tied, -1.0, 1.0))
        return _dual(C, parts, 0.0, balanced=False)

    def item_coef(self, solution: DualSolution) -> np.ndarray:
        """Coefficients a on distinct items: utility(x) = Σ a_j k(item j, x)."""
        n = self.items.n_items
        return np.bincount(self.right, solution.coef[0], n) - np.bincount(
            self.left, solution.coef[0], n
        )

    def comparison_coef(self, dual: PairDual, solution: DualSolution) -> np.ndarray:
        """Coefficients on the comparisons as given, shape (n,).

        What a row received is divided among its comparisons of the same outcome in
        proportion to their weights.
        """
        signed = dual.problem.sign * solution.s
        out = np.zeros(len(self._y))
        for outcome in (-1, 0, 1):
            chosen = dual.outcome == outcome
            mine = self._y == outcome
            row = self._row_of[mine]
            amount = np.bincount(dual.problem.row[chosen], signed[chosen], self.n_rows)
            share = self._weight[mine] / self._total(mine)[row]
            out[mine] = amount[row] * share
        return np.where(self._turned, -out, out)


class _Part(NamedTuple):
    """Variables of one outcome and direction, one per row with weight."""

    outcome: int
    weight: np.ndarray
    sign: float
    label: float


def _dual(C: float, parts: list[_Part], shift: float, *, balanced: bool) -> PairDual:
    used = [np.flatnonzero(part.weight) for part in parts]
    sizes = [len(rows) for rows in used]
    label = np.repeat([part.label for part in parts], sizes)
    bound = C * np.concatenate(
        [part.weight[rows] for part, rows in zip(parts, used, strict=True)]
    )
    problem = DualQP.box(
        linear=label - shift,
        lower=np.where(label > 0, 0.0, -bound),
        upper=np.where(label > 0, bound, 0.0),
        row=np.concatenate(used),
        sign=np.repeat([part.sign for part in parts], sizes),
        balanced=balanced,
    )
    return PairDual(problem, np.repeat([part.outcome for part in parts], sizes), shift)
