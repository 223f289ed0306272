# SPDX-License-Identifier: BSD-3-Clause
"""Weak rankers of boosting: functions of one feature with values from 0 to 1.

Both kinds are asked for the ranker h with the largest edge |r|, where
r = Σ_i potential_i h(x_i). Edges that differ by less than 1e-10 count as equal, so
that rounding does not choose: the first feature wins, and of it the lowest cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import min_max_axis

from tiebreak.data import ItemTable

__all__ = ["FeatureRankers", "StumpRankers", "WeakRanker", "WeakRankers"]

Floats = NDArray[np.float64]

EQUAL = 1e-10


class WeakRanker(NamedTuple):
    """A weak ranker: feature, cut (NaN for the feature as it is), and edge r."""

    feature: int
    cut: float
    edge: float


class WeakRankers(Protocol):
    """All weak rankers of one kind on the training items."""

    def choose(self, potential: Floats) -> WeakRanker:
        """Find the ranker with the largest |r|."""

    def values(self, ranker: WeakRanker) -> Floats:
        """Give h of the training items."""

    def values_of(self, table: Any, ranker: WeakRanker) -> Floats:
        """Give h of other items, rows of an array or a CSC array."""


class FeatureRankers:
    """The features themselves, scaled to [0, 1] on the training items.

    Items that were not in training may lie outside: values are not clipped, so that a
    sum of such rankers is linear. A feature without variance is 0 and has no edge.

    Parameters
    ----------
    table : ItemTable
        The training items.

    Attributes
    ----------
    lower, span : ndarray of shape (p,)
        Smallest value of each feature, and the distance to the largest.
    """

    def __init__(self, table: ItemTable) -> None:
        X = table.values
        if table.is_sparse:
            self.lower, upper = (np.asarray(v) for v in min_max_axis(X, axis=0))
        else:
            self.lower, upper = X.min(axis=0), X.max(axis=0)
        with np.errstate(over="ignore", divide="ignore"):
            self.span = upper - self.lower
            beyond = ~np.isfinite(self.span) | ~np.isfinite(1.0 / self.span)
        beyond &= self.span != 0.0
        if beyond.any():
            column = int(np.flatnonzero(beyond)[0])
            raise ValueError(
                f"Feature {column} goes from {self.lower[column]:.3g} to "
                f"{upper[column]:.3g}, which cannot be scaled to [0, 1] in "
                "floating-point numbers. Scale the features first, for example with "
                "StandardScaler."
            )
        self._varies = self.span > 0.0
        self._divisor = np.where(self._varies, self.span, 1.0)
        self._sparse = table.is_sparse
        # Scaling would fill a sparse table, so there it is done column by column.
        self._X: Any = sp.csc_array(X) if table.is_sparse else self._scale(X)

    def _scale(self, X: Floats) -> Floats:
        # Column by column in memory: a round reads all of it, and then one column.
        scaled: Floats = np.asfortranarray(X - self.lower)
        scaled /= self._divisor
        return scaled

    def choose(self, potential: Floats) -> WeakRanker:
        """Find the feature with the largest |r|.

        Parameters
        ----------
        potential : ndarray of shape (N,)
            Potentials of the training items; their sum is zero, so that r does not
            depend on where the scale begins.

        Returns
        -------
        WeakRanker
        """
        edge = potential @ self._X
        if self._sparse:
            edge = np.where(self._varies, edge / self._divisor, 0.0)
        size = np.abs(edge)
        feature = int((size >= size.max() - EQUAL).argmax())
        return WeakRanker(feature, np.nan, float(edge[feature]))

    def values(self, ranker: WeakRanker) -> Floats:
        """Give h of the training items.

        Parameters
        ----------
        ranker : WeakRanker
            A feature.

        Returns
        -------
        ndarray of shape (N,)
        """
        if self._sparse:
            return self.values_of(self._X, ranker)
        return column_of(self._X, ranker.feature)

    def values_of(self, table: Any, ranker: WeakRanker) -> Floats:
        """Give h of any items.

        Parameters
        ----------
        table : ndarray or csc_array of shape (n, p)
            Items.
        ranker : WeakRanker
            A feature.

        Returns
        -------
        ndarray of shape (n,)
        """
        f = ranker.feature
        if not self._varies[f]:
            return np.zeros(table.shape[0])
        return (column_of(table, f) - self.lower[f]) / self.span[f]


class StumpRankers:
    """Is a feature above a cut: 1 if so, else 0.

    Cuts lie in the middle between neighboring values of the training items. Every
    feature is sorted once; all cuts of a feature are then tried in O(N).

    Parameters
    ----------
    table : ItemTable
        The training items; a sparse table is made dense.
    """

    def __init__(self, table: ItemTable) -> None:
        self._X = np.asfortranarray(table.dense())
        by_value = np.argsort(self._X, axis=0, kind="stable")
        self._sorted = np.ascontiguousarray(
            np.take_along_axis(self._X, by_value, axis=0).T
        )
        self._order = np.ascontiguousarray(by_value.T.astype(np.int32))
        self._step = np.zeros(self._order.shape, dtype=np.bool_)
        self._step[:, :-1] = self._sorted[:, :-1] < self._sorted[:, 1:]

    def choose(self, potential: Floats) -> WeakRanker:
        """Find the cut with the largest |r|.

        Parameters
        ----------
        potential : ndarray of shape (N,)
            Potentials of the training items; their sum is zero.

        Returns
        -------
        WeakRanker
        """
        feature, place, edge = best_step(self._order, self._step, potential, EQUAL)
        if place < 0:
            return WeakRanker(0, np.inf, 0.0)
        low, high = self._sorted[feature, place : place + 2]
        # Halves first: the sum of two values could overflow.
        cut = 0.5 * low + 0.5 * high
        if not low <= cut < high:
            cut = low
        return WeakRanker(int(feature), float(cut), float(edge))

    def values(self, ranker: WeakRanker) -> Floats:
        """Give h of the training items.

        Parameters
        ----------
        ranker : WeakRanker
            A feature and its cut.

        Returns
        -------
        ndarray of shape (N,)
        """
        return self.values_of(self._X, ranker)

    def values_of(self, table: Any, ranker: WeakRanker) -> Floats:
        """Give h of any items.

        Parameters
        ----------
        table : ndarray or csc_array of shape (n, p)
            Items.
        ranker : WeakRanker
            A feature and its cut.

        Returns
        -------
        ndarray of shape (n,)
        """
        return (column_of(table, ranker.feature) > ranker.cut).astype(np.float64)


def column_of(table: Any, feature: int) -> Floats:
    """Give one feature of an array or a CSC array.

    Parameters
    ----------
    table : ndarray or csc_array of shape (n, p)
        Items.
    feature : int
        Column number.

    Returns
    -------
    ndarray of shape (n,)
    """
    if sp.issparse(table):
        return table[:, [feature]].toarray().ravel()
    return table[:, feature]


@njit(cache=True, nogil=True)
def best_step(
    order: NDArray[np.int32], step: NDArray[np.bool_], potential: Floats, equal: float
) -> tuple[int, int, float]:
    """Find the feature and the place in its order above which potentials sum to most.

    Parameters
    ----------
    order : ndarray of int32 of shape (p, N)
        Items in ascending order of each feature.
    step : ndarray of bool of shape (p, N)
        Whether the next item in this order has a larger value.
    potential : ndarray of shape (N,)
        Potentials, of sum zero.
    equal : float
        A later place must be better by more than this.

    Returns
    -------
    feature, place : int
        The sum is over the items after `place`; -1 if no feature has a step.
    edge : float
        The sum.
    """
    found, place, edge = 0, -1, 0.0
    for feature in range(len(order)):
        below = 0.0
        for k in range(order.shape[1]):
            below += potential[order[feature, k]]
            if step[feature, k] and (place < 0 or abs(below) > abs(edge) + equal):
                found, place, edge = feature, k, -below
    return found, place, edge


def best_step_naive(
    order: NDArray[np.int32], step: NDArray[np.bool_], potential: Floats, equal: float
) -> tuple[int, int, float]:
    """Do what ``best_step`` does with a sum for every place."""
    found, place, edge = 0, -1, 0.0
    for feature in range(len(order)):
        for k in np.flatnonzero(step[feature]):
            total = float(potential[order[feature, k + 1 :]].sum())
            if place < 0 or abs(total) > abs(edge) + equal:
                found, place, edge = feature, int(k), total
    return found, place, edge
