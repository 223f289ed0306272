# SPDX-License-Identifier: BSD-3-Clause
"""What boosting learns from: distinct items, their pairs, and the rounds over them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Grades, ItemTable, Orders, check_comparisons, is_pairs
from tiebreak.data.features import check_features, remember_features
from tiebreak.data.group_pairs import pairs_within_groups
from tiebreak.losses import GradePotentials, ListedPotentials
from tiebreak.metrics import swapped_pairs
from tiebreak.models.base import refuse_only_ties
from tiebreak.models.graded_program import check_graded, plant_tree, read_grades
from tiebreak.models.weak_rankers import WeakRanker, WeakRankers

__all__ = ["BoostProgram", "BoostRound", "ValidationSet", "boost"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Below this no weak ranker has an edge that is more than rounding.
NO_EDGE = 1e-12
# An edge this close to one may be that of a ranker that puts every pair in order. If it
# is not, because the other pairs weigh next to nothing, it counts as this far from one.
PERFECT = 1e-10
# Beyond so many pairs a majority of lists is not written down.
MOST_PAIRS = 20_000_000


@dataclass(frozen=True, eq=False)
class BoostProgram:
    """Distinct training items and the pairs of them.

    Attributes
    ----------
    table : ItemTable
        Items that are in a pair, each once however often it occurs.
    pairs : GradePotentials or ListedPotentials
        The pairs, by numbers of these items.
    n_pairs : int
        How many pairs there are.
    """

    table: ItemTable
    pairs: GradePotentials | ListedPotentials
    n_pairs: int

    @classmethod
    def read(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> BoostProgram:
        """Check what ``fit`` was given.

        Parameters
        ----------
        model : RankBoost
            Is being fitted; remembers the features.
        X, y, qid, sample_weight
            As in ``fit``.

        Returns
        -------
        BoostProgram
        """
        if is_pairs(X):
            return cls._of_comparisons(model, X, y, qid, sample_weight)
        grades, weight = read_grades(model, X, y, qid, sample_weight)
        tree = plant_tree(model, grades, weight, "sum")
        rows = np.sort(tree.rows)
        table, code = grades.items.take(rows).unique()
        if model.feedback == "majority":
            return cls._of_majority(*_row_pairs(grades, weight, rows, code), table)
        item = np.zeros(len(grades.y), dtype=np.int64)
        item[rows] = code
        return cls(table, GradePotentials(tree, item, table.n_items), tree.n_pairs)

    @classmethod
    def _of_comparisons(
        cls, model: Any, X: Any, y: Any, qid: Any, sample_weight: Any
    ) -> BoostProgram:
        if qid is not None:
            raise ValueError(
                "qid groups graded items; comparisons say themselves what is compared. "
                "Leave qid out."
            )
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        if pairs.items is None:
            raise TypeError(
                "RankBoost needs features of the items; these Pairs have none "
                "(items=None). Try BradleyTerry, which knows items by name."
            )
        used = weight > 0
        if model.feedback == "lists":
            used &= outcome != 0
        model._forget()
        remember_features(model, pairs.table)
        if not outcome[used].any():
            refuse_only_ties(model, int((weight > 0).sum()))
        pairs, outcome, weight = pairs[used].compact(), outcome[used], weight[used]
        table, code = pairs.unique_items()
        left, right = code[pairs.left], code[pairs.right]
        if model.feedback == "majority":
            return cls._of_majority(left, right, outcome, weight, table)
        better = np.where(outcome > 0, right, left)
        worse = np.where(outcome > 0, left, right)
        listed = ListedPotentials(better, worse, weight, table.n_items)
        return cls(table, listed, len(better))

    @classmethod
    def _of_majority(
        cls,
        left: Codes,
        right: Codes,
        outcome: NDArray[np.int8],
        weight: Floats,
        table: ItemTable,
    ) -> BoostProgram:
        """Count each two items once, by how clearly one of them wins."""
        first, second = np.minimum(left, right), np.maximum(left, right)
        wins = weight * outcome * np.where(right == second, 1.0, -1.0)
        numbers, place = np.unique(first * table.n_items + second, return_inverse=True)
        total = np.bincount(place, weight)
        # 2 Pr[second is better] - 1, a tie being half a win for both.
        clear = np.bincount(place, wins) / total
        first, second = np.divmod(numbers, table.n_items)
        kept = (np.abs(clear) > 1e-12) & (first != second)
        if not kept.any():
            raise ValueError(
                "There is no pair to learn from: no two items have a majority, one "
                "wins as often as the other. Try feedback='lists'."
            )
        first, second, clear = first[kept], second[kept], clear[kept]
        better = np.where(clear > 0, second, first)
        worse = np.where(clear > 0, first, second)
        used, code = np.unique(np.append(better, worse), return_inverse=True)
        better, worse = np.split(code, 2)
        listed = ListedPotentials(better, worse, np.abs(clear), len(used))
        return cls(table.take(used), listed, len(better))


def _row_pairs(
    grades: Grades, weight: Floats, rows: Codes, code: Codes
) -> tuple[Codes, Codes, NDArray[np.int8], Floats]:
    """Write down all pairs of rows of a group, by the items in these rows."""
    group = np.unique(grades.group[rows], return_inverse=True)[1]
    sizes = np.bincount(group).astype(np.float64)
    n_possible = float(np.sum(sizes * (sizes - 1) / 2))
    if n_possible > MOST_PAIRS:
        raise ValueError(
            f"feedback='majority' writes down pairs, and here are {n_possible:.3g}, "
            f"more than {MOST_PAIRS:,}. Try feedback='lists', which writes down none."
        )
    found = pairs_within_groups(group, grades.y[rows], limit=MOST_PAIRS)
    weight = weight[rows]
    pair_weight = weight[found.left] * weight[found.right]
    return code[found.left], code[found.right], found.y, pair_weight


@dataclass(frozen=True)
class BoostRound:
    """One round of boosting.

    Attributes
    ----------
    ranker : WeakRanker
        What was chosen.
    alpha : float
        Its weight.
    normalizer : float
        Z, what the loss was multiplied by.
    loss : float
        Weighted mean of exp(-(H(b) - H(c))) over the pairs after this round.
    """

    ranker: WeakRanker
    alpha: float
    normalizer: float
    loss: float


def boost(
    program: BoostProgram,
    rankers: WeakRankers,
    n_rounds: int,
    smoothing: float | None = None,
) -> Iterator[BoostRound]:
    """Add weak rankers one by one, each where the loss is now.

    Parameters
    ----------
    program : BoostProgram
        Items and pairs.
    rankers : WeakRankers
        What to choose from.
    n_rounds : int
        Rounds at most. It ends before if no ranker has an edge, or with one that puts
        every pair in order.
    smoothing : float, optional
        If given, rankers are 0 or 1 and α = ½ ln(W₊ / W₋), shares below `smoothing`
        counting as that. Else α = ½ ln((1 + r) / (1 - r)).

    Yields
    ------
    BoostRound
    """
    utility = np.zeros(program.table.n_items)
    log_loss, potential = program.pairs.expand(utility)
    first = log_loss
    for _ in range(n_rounds):
        ranker = rankers.choose(potential)
        if abs(ranker.edge) <= NO_EDGE:
            return
        h = rankers.values(ranker)
        close = abs(ranker.edge) >= 1.0 - PERFECT
        is_perfect = close and program.pairs.separates(h)
        if is_perfect:
            # All pairs differ by one in h, more than what was learned before can undo.
            alpha = math.copysign(1.0 + float(np.ptp(utility)), ranker.edge)
        elif smoothing is None:
            size = min(abs(ranker.edge), 1.0 - PERFECT)
            alpha = math.copysign(math.atanh(size), ranker.edge)
        else:
            shares = np.maximum(program.pairs.split(h), smoothing)
            alpha = 0.5 * float(np.log(shares[0] / shares[1]))
        if alpha == 0.0:
            return
        utility += alpha * h
        before = log_loss
        log_loss, potential = program.pairs.expand(utility)
        yield BoostRound(
            ranker, alpha, math.exp(log_loss - before), math.exp(log_loss - first)
        )
        if is_perfect:
            return


class ValidationSet:
    """Items held out, and how many of their pairs are swapped, round after round.

    Parameters
    ----------
    model : RankBoost
        Remembers the features of the training items.
    given : tuple
        (X, y) or (X, y, qid), as for :func:`tiebreak.tune`; y is None for Orders.
    """

    def __init__(self, model: Any, given: tuple[Any, ...]) -> None:
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise ValueError(
                "validation must be (X, y), or (X, y, qid) for graded items; y is None "
                f"for Orders. Got {type(given).__name__}"
                + (f" of {len(given)} parts." if hasattr(given, "__len__") else ".")
            )
        X, y, qid = (*given, None)[:3]
        if is_pairs(X):
            pairs, outcome, _ = check_comparisons(X, y)
            decided = outcome != 0
            if not decided.any():
                raise ValueError(
                    f"all {len(outcome)} comparisons of validation are ties; they do "
                    "not say when to stop."
                )
            pairs, outcome = pairs[decided].compact(), outcome[decided]
            table = pairs.table
            self._error = lambda u: float(
                np.mean(np.sign(u[pairs.right] - u[pairs.left]) != outcome)
            )
        else:
            grades, _ = check_graded(X, y, qid, None)
            grouped = qid is not None or isinstance(X, Orders)
            if getattr(model, "fitted_with_qid_", False) and not grouped:
                raise ValueError(
                    "the training items have groups (qid) and those of validation have "
                    "none, so items of different groups would be compared. Give "
                    "validation=(X, y, qid)."
                )
            table = grades.items
            self._error = lambda u: swapped_pairs(grades.y, u, grades.group)
        check_features(model, table)
        self._values = sp.csc_array(table.values) if table.is_sparse else table.values
        self._utility = np.zeros(table.n_items)
        # Says now rather than later that there is no pair.
        self._error(self._utility)

    def add(self, rankers: WeakRankers, done: BoostRound) -> float:
        """Add a weak ranker.

        Parameters
        ----------
        rankers : WeakRankers
            Where it is from.
        done : BoostRound
            The round.

        Returns
        -------
        float
            Fraction of pairs that are now swapped or tied.
        """
        self._utility += done.alpha * rankers.values_of(self._values, done.ranker)
        return self._error(self._utility)
