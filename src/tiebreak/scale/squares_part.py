# SPDX-License-Identifier: BSD-3-Clause
"""The sums that least squares on differences needs of a partition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import ItemTable
from tiebreak.losses import GradeTree, GroupLaplacian, Laplacian, PairLaplacian
from tiebreak.scale.compared import read_comparisons
from tiebreak.scale.compared_part import ComparedPart
from tiebreak.scale.facts import PartFacts
from tiebreak.scale.graded_part import graded_facts, read_graded_columns
from tiebreak.scale.parts import n_bytes

__all__ = ["ComparedSquares", "GradedSquares"]

Floats = NDArray[np.float64]


class _Squares:
    """AᵀLA, AᵀBᵀt, ‖t‖², the squares of A weighed by the diagonal of L, and a count.

    L = BᵀB is a Laplacian and t a target; the count is that of differences that are
    not zero. There are no sums of a partition without rows.
    """

    facts: PartFacts
    sums: tuple[Any, ...] = ()

    def _add(
        self, table: ItemTable, laplacian: Laplacian, target: Floats, count: int
    ) -> None:
        A = table.values
        squares = A.multiply(A) if table.is_sparse else A**2
        self.sums = (
            np.asarray(laplacian.quadratic(A)),
            np.asarray(A.T @ laplacian.root_transpose(target)),
            float(target @ target),
            np.asarray(squares.T @ laplacian.diagonal()).ravel(),
            count,
        )

    def __sizeof__(self) -> int:
        arrays = [entry for entry in self.sums if isinstance(entry, np.ndarray)]
        return n_bytes(*arrays) + 1000


class GradedSquares(_Squares):
    """Sums over all pairs of graded items of a partition.

    Parameters
    ----------
    columns : dict
        X, y, and maybe qid and weight.
    per_group : {"sum", "mean"}
        Whether the pair sum of a group is divided by its size.
    """

    def __init__(self, columns: dict[str, Any], per_group: str = "sum") -> None:
        read = read_graded_columns(columns)
        self.facts, self.group_names = PartFacts(0), np.zeros(0)
        if read is None:
            return
        grades, weight = read
        self.group_names = grades.group_names
        tree = GradeTree(grades.y, grades.group, weight)
        size = np.bincount(grades.group[weight > 0.0], minlength=grades.n_groups)
        # A group of one has no pair; a group of equal grades has, and they say "equal".
        weight = np.where(size[grades.group] > 1, weight, 0.0)
        self.facts = replace(
            graded_facts(grades, weight, tree),
            n_pairs=int((size * (size - 1) // 2).sum()),
            n_idle_groups=int((size == 1).sum()),
        )
        laplacian = GroupLaplacian(grades.group, weight, per_group)
        self._add(grades.items, laplacian, laplacian.root(grades.y), tree.n_pairs)


class ComparedSquares(_Squares, ComparedPart):
    """Sums over the comparisons of a partition: right - left is to be -1, 0 or 1.

    Parameters
    ----------
    columns : dict
        As in :func:`read_comparisons`.
    items, names
        As there.
    """

    def __init__(
        self,
        columns: dict[str, Any],
        items: ItemTable | None = None,
        names: NDArray[Any] | None = None,
    ) -> None:
        compared = read_comparisons(columns, items, names)
        pairs = self._describe(compared)
        if compared is None or pairs is None:
            return
        laplacian = PairLaplacian(
            pairs.left, pairs.right, compared.weight, pairs.n_items
        )
        target: Floats = np.sqrt(compared.weight) * compared.outcome.astype(float)
        self.facts = replace(self.facts, n_pairs=len(pairs))
        count = int(np.count_nonzero(compared.outcome))
        self._add(pairs.table, laplacian, target, count)
