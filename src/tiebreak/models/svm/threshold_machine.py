# SPDX-License-Identifier: BSD-3-Clause
"""Models of one utility and several thresholds: what they share beyond the program.

Items on the sides of several thresholds, as a dual program.

Every threshold is a block of the program and every item a row of the kernel. An item is
at most two variables per block: the weight of its rows above the threshold, and of
those below. So identical items are one, on whatever sides they are, and what weighs two
is the same as two by construction.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from tiebreak.data import Grades
from tiebreak.data.messages import warn_user
from tiebreak.kernels import (
    FunctionKernel,
    GramKernel,
    MatrixRows,
    make_item_rows,
    make_linear_rows,
)
from tiebreak.models.base import check_positive
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.svm.pair_machine import DualMachine
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers import DualQP, DualSolution, solve_dual_qp

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ThresholdProblem:
    """Training rows, summed up per distinct item and threshold.

    Attributes
    ----------
    items : TrainingItems
        Distinct items and kernel.
    rows : MatrixRows
        The kernel between them.
    weight : ndarray of shape (n,)
        Weight of every row that counts, positive.
    code : ndarray of int of shape (n,)
        Its distinct item.
    given : ndarray of int of shape (n,)
        Its place in what the user passed.
    side : ndarray of int8 of shape (B, n)
        +1 if the row is above a threshold, -1 below, 0 if it takes no part in it.
    loading : ndarray of shape (B, q)
        How much each threshold takes of each direction, the first of which is the
        utility; see :class:`~tiebreak.solvers.DualQP`.
    above, below : ndarray of shape (B, n_items)
        Weight of the rows of every item above and below every threshold.
    """

    items: TrainingItems
    rows: MatrixRows
    weight: Floats
    code: Codes
    given: Codes
    side: NDArray[np.int8]
    loading: Floats
    above: Floats
    below: Floats

    @classmethod
    def of_sides(
        cls,
        found: tuple[TrainingItems, Codes],
        side: NDArray[np.int8],
        weight: Floats,
        present: Codes,
        loading: Floats,
        cache_bytes: float,
    ) -> ThresholdProblem:
        """Sum up the weights per item, threshold and side.

        Parameters
        ----------
        found : (TrainingItems, ndarray of int of shape (n,))
            As `distinct_items` gives them.
        side : ndarray of int8 of shape (B, n)
            Sides of the rows that count.
        weight : ndarray of shape (n,)
            Their weights, positive.
        present : ndarray of int of shape (n,)
            Their places in what the user passed.
        loading : ndarray of shape (B, q)
            Directions of the thresholds.
        cache_bytes : float
            Memory for kernel rows.

        Returns
        -------
        ThresholdProblem
        """
        items, code = found
        above = np.empty((len(side), items.n_items))
        below = np.empty_like(above)
        for b, of_rows in enumerate(side):
            above[b] = np.bincount(code, weight * (of_rows > 0), items.n_items)
            below[b] = np.bincount(code, weight * (of_rows < 0), items.n_items)
        rows = _kernel_rows(items, cache_bytes)
        return cls(items, rows, weight, code, present, side, loading, above, below)

    @property
    def shifts(self) -> Floats:
        """What is taken from the labels of every block, shape (B,).

        Then those of the heavier side are zero. With a tiny C only variables of that
        side are free, and their gradients, of the size of C, are not lost next to one.
        """
        return np.where(self.above.sum(axis=1) >= self.below.sum(axis=1), 1.0, -1.0)

    def qp(self, C: float) -> DualQP:
        """The dual program for a value of C."""
        # Of every block first the items above it, then those below: shape (B, 2, n).
        weight = np.stack([self.above, self.below], axis=1)
        block, lower_side, row = np.nonzero(weight)
        label = 1.0 - 2.0 * lower_side
        bound = C * weight[block, lower_side, row]
        return DualQP.blocks(
            linear=label - self.shifts[block],
            lower=np.where(lower_side == 0, 0.0, -bound),
            upper=np.where(lower_side == 0, bound, 0.0),
            row=row,
            block=block,
            loading=self.loading,
        )

    def thresholds(self, solution: DualSolution) -> Floats:
        """What the value of an item is compared with, shape (B,)."""
        return -(solution.levels + self.shifts)

    def is_flat(self, solution: DualSolution) -> bool:
        """Whether all training items have the same utility, but for rounding."""
        utility = solution.fitted[0][self.code]
        largest = float(self.rows.diagonal()[self.code].max())
        rounding = 1e-13 * largest * float(np.abs(solution.coef[0]).sum())
        # Much less than the margin of one; the bound on rounding may be far too large.
        return bool(np.ptp(utility) <= min(rounding, 1e-6))

    def row_coef(self, qp: DualQP, solution: DualSolution) -> Floats:
        """Coefficients of the rows, shape (n,): w = Σ coef Φ(x).

        What an item received on one side of a threshold is divided among its rows of
        that side in proportion to their weights.
        """
        out = np.zeros(len(self.weight))
        for b in range(qp.n_blocks):
            mine = slice(qp.starts[b], qp.starts[b + 1])
            row, s = qp.row[mine], solution.s[mine]
            is_above = qp.upper[mine] > 0
            for chosen, total, of_rows in (
                (is_above, self.above[b], self.side[b] > 0),
                (~is_above, self.below[b], self.side[b] < 0),
            ):
                share = np.zeros(len(total))
                share[row[chosen]] = s[chosen] / total[row[chosen]]
                out[of_rows] += (share[self.code] * self.weight)[of_rows]
        return out


def distinct_items(
    model: KernelUtility, grades: Grades, present: Codes
) -> tuple[TrainingItems, Codes]:
    """Merge identical items and resolve the kernel.

    Parameters
    ----------
    model : KernelUtility
        Its ``kernel``, ``gamma``, ``degree`` and ``coef0`` are used.
    grades : Grades
        All items that were given.
    present : ndarray of int of shape (n,)
        The rows that count.

    Returns
    -------
    items : TrainingItems
    code : ndarray of int of shape (n,)
        The item of every row that counts.
    """
    kernel: Any = model.kernel
    if isinstance(kernel, str) and kernel == "precomputed":
        if grades.orders is None:
            return TrainingItems.of_gram(grades.items), present
        # An item of several lists is one row and column of the kernel.
        return TrainingItems.of_gram(grades.orders.table), grades.orders.flat[present]
    distinct, code = grades.items.take(present).unique()
    items = TrainingItems.of_table(
        distinct, code, kernel, model.gamma, model.degree, model.coef0
    )
    return items, code


def _kernel_rows(items: TrainingItems, cache_bytes: float) -> MatrixRows:
    if items.gram is not None:
        return make_item_rows(GramKernel(items.gram), cache_bytes)
    assert items.function is not None and items.table is not None
    if items.is_linear:
        return make_linear_rows(items.table.values, cache_bytes)
    kernel = FunctionKernel(items.function, items.table.values)
    return make_item_rows(kernel, cache_bytes)


class ThresholdMachine(DualMachine):
    """A utility learned together with thresholds by a dual program.

    Subclasses store the parameters ``C``, ``tol`` and ``max_iter`` besides those of the
    kernel. They say in ``_read`` what their program is, and in ``_unpack`` what they
    keep of its solution, ``thresholds_`` among it.
    """

    thresholds_: NDArray[np.float64]

    def path(
        self,
        X: Any,
        y: ArrayLike | None = None,
        Cs: Iterable[float] = (),
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit for several values of C, sharing kernel rows and warm starts.

        Parameters
        ----------
        X, y
            As in ``fit``.
        Cs : iterable of float
            Values of C; ascending values make the best use of warm starts.
        qid, sample_weight
            As in ``fit``.

        Returns
        -------
        iterator of fitted models
            One for each C, in the order given: the same as a model fitted with that C,
            within ``tol``. This model itself is not fitted.
        """
        Cs = list(Cs)
        if not Cs:
            raise ValueError("a path needs at least one value of C, got none.")
        template = clone(self)
        problem = template._read(X, y, qid, sample_weight)
        return template._follow(problem, Cs)

    def _follow(self, problem: ThresholdProblem, Cs: list[float]) -> Iterator[Self]:
        """Fit copies of this model for one C after the other."""
        last: tuple[DualQP, DualSolution] | None = None
        for C in Cs:
            model = copy.copy(self)
            model.C = C
            check_positive(model, "C")
            for name, value in vars(self).items():
                if name.endswith("_") and isinstance(value, np.ndarray):
                    setattr(model, name, value.copy())
            last = model._solve(problem, last)
            yield model

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "thresholds_")

    def _read(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> ThresholdProblem:
        raise NotImplementedError

    def _unpack(self, problem: ThresholdProblem, solution: DualSolution) -> None:
        raise NotImplementedError

    def _solve(
        self,
        problem: ThresholdProblem,
        last: tuple[DualQP, DualSolution] | None = None,
    ) -> tuple[DualQP, DualSolution]:
        """Solve for this C, keep the result, and say what a user should know of it."""
        qp = problem.qp(self.C)
        self._refuse_overflow(problem, qp)
        solution = solve_dual_qp(
            problem.rows, qp, tol=self.tol, max_iter=self.max_iter, last=last
        )
        if problem.is_flat(solution):
            warn_user(
                f"{type(self).__name__} gives all training items the same utility, so "
                f"it puts nothing in order: with C={self.C:g} no feature explains the "
                "grades well enough. Try a larger C, scaled features or another kernel."
            )
        self._warn_unconverged(solution)
        coef = problem.row_coef(qp, solution)
        self._keep_dual(problem.given, coef, solution)
        self._keep_expansion(problem.items, solution.coef[0])
        self._unpack(problem, solution)
        return qp, solution

    def _refuse_overflow(self, problem: ThresholdProblem, qp: DualQP) -> None:
        largest = float(problem.rows.diagonal().max())
        with np.errstate(over="ignore", invalid="ignore"):
            # What the directions may be multiplied with, twice, in the solver.
            sizes = qp.size * float((qp.upper - qp.lower).max())
            factor = float(qp.squared_loading.max())
            fits = np.isfinite(largest * factor * sizes * sizes)
        if not fits:
            raise ValueError(
                f"{type(self).__name__}: the objective overflows, so there is no "
                "solution in floating-point numbers. The largest kernel value of an "
                f"item with itself is {largest:.3g} and C={self.C:g}. Scale the "
                "features first, for example with StandardScaler, or try a smaller C "
                "or smaller weights."
            )
