# SPDX-License-Identifier: BSD-3-Clause
"""A million comparisons as a few thousand counts.

The likelihood of a model without features depends on comparisons only through how
often each outcome occurred between two items under the same circumstances. Such alike
comparisons make one cell. In a cell the item with the lower number stands on the left;
turning a comparison around exchanges its outcome and the signs of its covariates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from tiebreak.data.distinct import number_keys

__all__ = ["ComparisonCounts", "count_comparisons"]

# The table of all pairs is used while it is not much larger than the data.
_TABLE_PER_ROW, _SMALL_TABLE = 4, 1_000_000


@dataclass(frozen=True, eq=False)
class ComparisonCounts:
    """Comparisons summed by cell.

    Attributes
    ----------
    left, right : ndarray of int64 of shape (m,)
        The two items of each cell, left ≤ right.
    counts : ndarray of shape (m, 3)
        Summed weights of outcomes left, tie, right.
    covariates : ndarray of shape (m, q)
        Covariates of each cell, in favor of left; q may be 0.
    by_rater : csr_array of shape (n_raters, 3 m) or None
        The same counts, of each rater by itself; column 3 k + c is outcome c of cell k.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    counts: NDArray[np.float64]
    covariates: NDArray[np.float64]
    by_rater: sp.csr_array | None = None

    def tally(
        self, n_items: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Sum wins, ties and losses of every item; shape (n_items,) each."""

        def per_item(of_left: Any, of_right: Any) -> NDArray[np.float64]:
            sums = np.bincount(self.left, of_left, n_items)
            return np.asarray(sums + np.bincount(self.right, of_right, n_items))

        left, tie, right = self.counts.T
        return per_item(left, right), per_item(tie, tie), per_item(right, left)


def count_comparisons(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64],
    n_items: int,
    covariates: NDArray[np.float64] | None = None,
    rater: NDArray[np.int64] | None = None,
) -> ComparisonCounts:
    """Sum comparisons by cell.

    Parameters
    ----------
    left, right : ndarray of int64 of shape (n,)
        Items compared; an item may meet itself.
    outcome : ndarray of int8 of shape (n,)
        Outcomes -1, 0, +1.
    weight : ndarray of float64 of shape (n,)
        Weights, all positive.
    n_items : int
        Number of items.
    covariates : ndarray of shape (n, q), optional
        Covariates in favor of left.
    rater : ndarray of int64 of shape (n,), optional
        Number of the rater of each row, 0 to R - 1.

    Returns
    -------
    ComparisonCounts
    """
    if covariates is None or covariates.shape[1] == 0:
        n_table = n_items * n_items
        small = n_table <= max(_TABLE_PER_ROW * len(left), _SMALL_TABLE)
        if rater is None and small:
            return _count_in_table(left, right, outcome, weight, n_items)
        covariates = np.empty((len(left), 0))
    turned = left > right
    low, high = np.where(turned, right, left), np.where(turned, left, right)
    # Adding zero makes -0.0, which is a turned 0.0, equal to it.
    signed = np.where(turned[:, None], -covariates, covariates) + 0.0
    cell, first = _cells(low * n_items + high, signed)
    column = np.where(turned, -outcome, outcome).astype(np.int64) + 1 + 3 * cell
    m = len(first)
    counts = np.asarray(np.bincount(column, weight, 3 * m), float).reshape(m, 3)
    by_rater = None
    if rater is not None:
        shape = (int(rater.max()) + 1, 3 * m)
        by_rater = sp.coo_array((weight, (rater, column)), shape=shape).tocsr()
    return ComparisonCounts(low[first], high[first], counts, signed[first], by_rater)


def _count_in_table(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64],
    n_items: int,
) -> ComparisonCounts:
    # By direction first: which side has the lower number is as good as random, and a
    # branch on it would cost more than the sums.
    table = np.zeros((n_items, n_items, 3))
    _add_to_table(left, right, outcome, weight, table)
    turned = table.transpose(1, 0, 2)[:, :, ::-1].copy()
    turned[np.arange(n_items), np.arange(n_items)] = 0.0
    table += turned
    low, high = np.triu_indices(n_items)
    counts = table[low, high]
    met = np.flatnonzero(counts.any(axis=1))
    return ComparisonCounts(low[met], high[met], counts[met], np.empty((len(met), 0)))


def _cells(
    pair: NDArray[np.int64], covariates: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number alike rows; gives the number of each row and one row of each number."""
    cell, first = _sorted_codes(pair)
    for j in range(covariates.shape[1]):
        code, value = _sorted_codes(covariates[:, j])
        # Numbers are dense again after every column, so the product stays small.
        cell, first = _sorted_codes(cell * len(value) + code)
    return cell, first


def _sorted_codes(
    column: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number values in ascending order; gives also the first row of each number.

    As ``np.unique`` with inverse and index, but only the distinct values are sorted.
    """
    values = np.ascontiguousarray(column) + 0  # a copy, in which -0.0 is 0.0
    code, first = number_keys(values.view(np.uint64))
    order = np.argsort(values[first])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[code], first[order]


@njit(cache=True, nogil=True)
def _add_to_table(left, right, outcome, weight, table):  # type: ignore[no-untyped-def]
    for row in range(len(left)):
        table[left[row], right[row], outcome[row] + 1] += weight[row]
