# SPDX-License-Identifier: BSD-3-Clause
"""Graded items as the dual program of one direction and several thresholds.

Every threshold is a block of the program and every item a row of the kernel. An item is
at most two variables per block: the weight of its rows with a grade above the
threshold, and of those below. So identical items are one, whatever their grades, and
a row of weight two is a duplicated row by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import ItemTable
from tiebreak.kernels import (
    FunctionKernel,
    GramKernel,
    MatrixRows,
    make_item_rows,
    make_linear_rows,
)
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.pair_program import TrainingItems
from tiebreak.solvers import BlockQP, BlockSolution

__all__ = ["OrdinalProgram"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OrdinalProgram:
    """Training rows, summed up per distinct item and threshold.

    Attributes
    ----------
    items : TrainingItems
        Distinct items and kernel.
    rows : MatrixRows
        The kernel between them.
    grades : ndarray of shape (r,)
        The distinct grades, ascending.
    grade : ndarray of int of shape (n,)
        Number of the grade of every row that counts.
    weight : ndarray of shape (n,)
        Its weight, positive.
    code : ndarray of int of shape (n,)
        Its distinct item.
    given : ndarray of int of shape (n,)
        Its place in what the user passed.
    above, below : ndarray of shape (r - 1, n_items)
        Weight of the rows of every item above and below every threshold.
    """

    items: TrainingItems
    rows: MatrixRows
    grades: Floats
    grade: Codes
    weight: Floats
    code: Codes
    given: Codes
    above: Floats
    below: Floats

    @classmethod
    def read(
        cls,
        model: KernelUtility,
        table: ItemTable,
        y: Floats,
        weight: Floats,
        present: Codes,
        cache_bytes: float,
    ) -> OrdinalProgram:
        """Merge identical items and resolve the kernel.

        Parameters
        ----------
        model : KernelUtility
            Its ``kernel``, ``gamma``, ``degree`` and ``coef0`` are used.
        table : ItemTable
            All items that were given.
        y, weight : ndarray of shape (n,)
            Grades and positive weights of the rows that count.
        present : ndarray of int of shape (n,)
            Their places in the table.
        cache_bytes : float
            Memory for kernel rows.

        Returns
        -------
        OrdinalProgram
        """
        kernel: Any = model.kernel
        if isinstance(kernel, str) and kernel == "precomputed":
            items, code = TrainingItems.of_gram(table), present
        else:
            distinct, code = table.take(present).unique()
            items = TrainingItems.of_table(
                distinct, code, kernel, model.gamma, model.degree, model.coef0
            )
        grades, grade = np.unique(y, return_inverse=True)
        above = np.empty((len(grades) - 1, items.n_items))
        below = np.empty_like(above)
        for j in range(len(above)):
            above[j] = np.bincount(code, weight * (grade > j), items.n_items)
            below[j] = np.bincount(code, weight * (grade <= j), items.n_items)
        rows = _kernel_rows(items, cache_bytes)
        return cls(items, rows, grades, grade, weight, code, present, above, below)

    @property
    def shifts(self) -> Floats:
        """What is taken from the labels of every block, shape (r - 1,).

        Then those of the heavier side are zero. With a tiny C only variables of that
        side are free, and their gradients, of the size of C, are not lost next to one.
        """
        return np.where(self.above.sum(axis=1) >= self.below.sum(axis=1), 1.0, -1.0)

    def problem(self, C: float) -> BlockQP:
        """The dual program for a value of C."""
        n_blocks = len(self.above)
        # Of every block first the items above it, then those below: shape (B, 2, n).
        weight = np.stack([self.above, self.below], axis=1)
        block, side, row = np.nonzero(weight)
        label = 1.0 - 2.0 * side
        bound = C * weight[block, side, row]
        return BlockQP(
            linear=label - self.shifts[block],
            lower=np.where(side == 0, 0.0, -bound),
            upper=np.where(side == 0, bound, 0.0),
            row=row,
            block=block,
            loading=np.ones((n_blocks, 1)),
        )

    def thresholds(self, solution: BlockSolution) -> Floats:
        """Ascending thresholds b, one between every two neighboring grades."""
        # They come out in order, but for the rounding of weights that add up to zero.
        return np.maximum.accumulate(-(solution.levels + self.shifts))

    def is_flat(self, solution: BlockSolution) -> bool:
        """Whether all training items have the same utility, but for rounding."""
        utility = solution.fitted[0][self.code]
        largest = float(self.rows.diagonal()[self.code].max())
        rounding = 1e-13 * largest * float(np.abs(solution.coef[0]).sum())
        # Much less than the margin of one; the bound on rounding may be far too large.
        return bool(np.ptp(utility) <= min(rounding, 1e-6))

    def row_coef(self, problem: BlockQP, solution: BlockSolution) -> Floats:
        """Coefficients of the rows, shape (n,): w = Σ coef Φ(x).

        What an item received on one side of a threshold is divided among its rows of
        that side in proportion to their weights.
        """
        out = np.zeros(len(self.weight))
        for j in range(problem.n_blocks):
            mine = slice(problem.starts[j], problem.starts[j + 1])
            row, s = problem.row[mine], solution.s[mine]
            is_above = problem.upper[mine] > 0
            for chosen, total, of_rows in (
                (is_above, self.above[j], self.grade > j),
                (~is_above, self.below[j], self.grade <= j),
            ):
                share = np.zeros(len(total))
                share[row[chosen]] = s[chosen] / total[row[chosen]]
                out[of_rows] += (share[self.code] * self.weight)[of_rows]
        return out


def _kernel_rows(items: TrainingItems, cache_bytes: float) -> MatrixRows:
    if items.gram is not None:
        return make_item_rows(GramKernel(items.gram), cache_bytes)
    assert items.function is not None and items.table is not None
    if items.is_linear:
        return make_linear_rows(items.table.values, cache_bytes)
    kernel = FunctionKernel(items.function, items.table.values)
    return make_item_rows(kernel, cache_bytes)
