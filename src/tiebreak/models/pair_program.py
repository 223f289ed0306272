# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as a dual program: what pairwise support vector machines share.

Comparisons of the same two items are one row of the pair kernel, whatever their
direction and outcome: the weights of "right is better", "left is better" and "tie" are
added up per row. Hinge losses are sums, so nothing changes but the size, and a row of
weight two is a duplicated row by construction.

Each row has up to four dual variables, in the notation of
:class:`~tiebreak.solvers.BoxQP`: right better (sign +1), left better (sign -1), and
for a tie both of its directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tiebreak.data import ItemTable, Pairs
from tiebreak.kernels import (
    DifferenceRows,
    FunctionKernel,
    GramKernel,
    ItemKernel,
    ItemPairRows,
    KernelFunction,
    MatrixRows,
    check_gram,
    make_kernel,
    make_rows,
)
from tiebreak.solvers import BoxQP, DualSolution

__all__ = ["PairDual", "PairProgram", "TrainingItems"]

# A kernel function is tried on this many items: enough to find a wrong one, and cheap.
_SYMMETRY_SAMPLE = 64


@dataclass(frozen=True)
class PairDual:
    """A dual program over comparisons.

    Parameters
    ----------
    problem : BoxQP
        What the solver sees.
    outcome : ndarray of int, shape (m,)
        Outcome of the comparisons that each variable stands for.
    shift : float
        What was taken from the linear term: intercept = level + shift.
    """

    problem: BoxQP
    outcome: np.ndarray
    shift: float


@dataclass(frozen=True)
class TrainingItems:
    """The distinct items of the training comparisons and the kernel between them.

    Parameters
    ----------
    table : ItemTable or None
        Distinct items; None when the kernel is precomputed or items have no features.
    function : KernelFunction or None
        The kernel, when it is a function of features.
    gram : ndarray or None
        The kernel, when it is precomputed.
    n_items : int
        Number of distinct items N.
    code : ndarray of int
        Distinct item of every row of the item table.
    """

    table: ItemTable | None
    function: KernelFunction | None
    gram: np.ndarray | None
    n_items: int
    code: np.ndarray

    @classmethod
    def read(
        cls,
        pairs: Pairs,
        kernel: Any,
        gamma: float | str,
        degree: int,
        coef0: float,
    ) -> TrainingItems:
        """Merge identical items of compact pairs and resolve the kernel."""
        if not pairs.has_features:
            if kernel != "linear":
                raise ValueError(
                    f"kernel={kernel!r} compares features, but these items have none "
                    "(items=None), only identity. Use kernel='linear': one utility "
                    "per item."
                )
            n = pairs.n_items
            return cls(None, None, None, n, np.arange(n))
        if isinstance(kernel, str) and kernel == "precomputed":
            return cls.of_gram(pairs.table)
        table, code = pairs.unique_items()
        return cls.of_table(table, code, kernel, gamma, degree, coef0)

    @classmethod
    def of_gram(cls, table: ItemTable) -> TrainingItems:
        """Take a table that holds the kernel values between all items."""
        gram = check_gram(table.dense())
        n = len(gram)
        return cls(None, None, gram, n, np.arange(n))

    @classmethod
    def of_table(
        cls,
        table: ItemTable,
        code: np.ndarray,
        kernel: Any,
        gamma: float | str,
        degree: int,
        coef0: float,
    ) -> TrainingItems:
        """Resolve the kernel between the distinct items of a table."""
        function = make_kernel(
            kernel, gamma=gamma, degree=degree, coef0=coef0, items=table.values
        )
        if callable(kernel):
            _check_symmetric(function, table)
        return cls(table, function, None, table.n_items, code)

    @property
    def is_linear(self) -> bool:
        """Whether the utility is a weighted sum of features (or one per item)."""
        if self.gram is not None:
            return False
        return self.function is None or self.function.name == "linear"

    def linear_coef(self, item_coef: np.ndarray) -> np.ndarray:
        """Weights of the features for coefficients on items; themselves without."""
        if self.table is None:
            return item_coef
        return np.asarray(self.table.values.T @ item_coef).ravel()

    def rows(
        self, left: np.ndarray, right: np.ndarray, cache_bytes: float
    ) -> MatrixRows:
        """Rows of the pair kernel for comparisons of distinct items."""
        if self.is_linear:
            return make_rows(
                DifferenceRows(self._differences(left, right)), cache_bytes
            )
        item_kernel: ItemKernel
        if self.gram is not None:
            item_kernel = GramKernel(self.gram)
        else:
            assert self.function is not None and self.table is not None
            item_kernel = FunctionKernel(self.function, self.table.values)
            few = self.n_items <= len(left) // 2
            if few and 8 * self.n_items**2 <= cache_bytes:
                everything = np.arange(self.n_items)
                item_kernel = GramKernel(item_kernel.block(everything, np.float64))
        return make_rows(ItemPairRows(item_kernel, left, right), cache_bytes)

    def _differences(
        self, left: np.ndarray, right: np.ndarray
    ) -> np.ndarray | sp.csr_array:
        if self.table is not None:
            return self.table.values[right] - self.table.values[left]
        n = len(left)
        data = np.concatenate([np.ones(n), -np.ones(n)])
        row = np.concatenate([np.arange(n), np.arange(n)])
        column = np.concatenate([right, left])
        return sp.csr_array((data, (row, column)), shape=(n, self.n_items))


class PairProgram:
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


def _check_symmetric(function: KernelFunction, table: ItemTable) -> None:
    """Refuse a kernel function that is not symmetric on the first items."""
    some = table.values[:_SYMMETRY_SAMPLE]
    block = function.block(some, some)
    apart = np.abs(block - block.T)
    if apart.max() > 1e-8 * np.abs(block).max():
        i, j = np.unravel_index(apart.argmax(), apart.shape)
        raise ValueError(
            f"the kernel function is not symmetric: it gives {block[i, j]:g} for "
            f"distinct items {i} and {j}, and {block[j, i]:g} the other way round. A "
            "kernel compares items, so that the order of its arguments must not "
            "matter."
        )


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
    problem = BoxQP(
        linear=label - shift,
        lower=np.where(label > 0, 0.0, -bound),
        upper=np.where(label > 0, bound, 0.0),
        row=np.concatenate(used),
        sign=np.repeat([part.sign for part in parts], sizes),
        balanced=balanced,
    )
    return PairDual(problem, np.repeat([part.outcome for part in parts], sizes), shift)
