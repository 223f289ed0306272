# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of two items: the container that models and splitters pass around.

`Pairs` stores each item once and refers to it by its row number, so a thousand
comparisons of ten items hold ten rows of features. Taking rows of `Pairs` takes
comparisons; the item table stays whole, so that codes keep their meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, refuse_missing
from tiebreak.data.items import (
    ItemRows,
    ItemTable,
    Rows,
    as_items,
    check_names,
    item_codes,
    names_of_sides,
    take_rows,
)


class Pairs(ItemRows):
    """n comparisons, each of a left and a right item.

    Parameters
    ----------
    items : array-like, DataFrame, sparse matrix, ItemTable or None
        Features of the N items, one row each; None: they have names only.
    left, right : array-like of shape (n,)
        The two items of every comparison. Integers are row numbers of `items` (or
        of `names`, when there are no features), unless `names` holds numbers too:
        then they are names. Values of any other type are names.
    names : array-like of shape (N,), optional
        Names of the items, all different. Without `items` and `names`, the values of
        `left` and `right` are the names, in order of first appearance.

    Attributes
    ----------
    items : ItemTable or None
        The item table.
    left, right : ndarray of int64 of shape (n,)
        Row numbers of the items compared.
    names : ndarray of shape (N,) or None
        Names of the items.

    Notes
    -----
    ``pairs[rows]`` takes comparisons (integers, a mask or a slice).
    ``np.asarray(pairs)`` builds the dense array of shape (n, 2, n_features).

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import Pairs
    >>> pairs = Pairs([[1.0], [2.0], [4.0]], left=[0, 1], right=[1, 2])
    >>> pairs
    Pairs(2 comparisons of 3 items, 1 feature)
    >>> np.asarray(pairs[1])
    array([[[2.],
            [4.]]])
    >>> Pairs(None, left=["Ada", "Bo"], right=["Bo", "Cy"]).names
    array(['Ada', 'Bo', 'Cy'], dtype='<U3')
    """

    __module__ = "tiebreak"  # where users find it
    _made_by = "Pairs(items, left, right)"

    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def __init__(
        self, items: Any, left: ArrayLike, right: ArrayLike, names: Any = None
    ) -> None:
        self.items = None if items is None else as_items(items)
        left, right = as_column(left, "left"), as_column(right, "right")
        if len(left) != len(right):
            raise ValueError(
                f"left has {len(left)} items but right has {len(right)}; every "
                "comparison needs one of each."
            )
        refuse_missing(left, "left")
        refuse_missing(right, "right")
        if self.items is None and names is None:
            self.left, self.right, self.names = names_of_sides(left, right)
            return
        self.names = None if names is None else check_names(names, self.items)
        self.left = item_codes(left, "left", self.names, self.n_items)
        self.right = item_codes(right, "right", self.names, self.n_items)

    @classmethod
    def _of(cls, items: ItemTable | None, left: Rows, right: Rows, names: Any) -> Pairs:
        """Build from parts that are known to be right."""
        pairs = cls.__new__(cls)
        pairs.items, pairs.names = items, names
        pairs.left, pairs.right = left, right
        return pairs

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, 2, n_features), or (n, 2) when items have no features."""
        features = () if self.items is None else (self.items.n_features,)
        return (len(self), 2, *features)

    @property
    def ndim(self) -> int:
        """Length of `shape`."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features; of the codes when items have no features."""
        return np.dtype(np.int64 if self.items is None else np.float64)

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: Any) -> Pairs:
        rows = take_rows(rows, len(self), "Pairs")
        # A slice with a step gives strided views; kernels want contiguous codes.
        left = np.ascontiguousarray(self.left[rows])
        right = np.ascontiguousarray(self.right[rows])
        return Pairs._of(self.items, left, right, self.names)

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> NDArray[np.float64]:
        table = self.table
        if copy is False:
            raise ValueError(
                "Pairs store each item once, so an array of them is always a copy; "
                "leave out copy=False."
            )
        dense = table.dense()
        array = np.stack([dense[self.left], dense[self.right]], axis=1)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return self._describe(len(self), "comparison")

    def swap(self) -> Pairs:
        """Exchange the sides: every left item becomes the right one.

        Returns
        -------
        Pairs
            The outcome of a swapped comparison is minus its old outcome.
        """
        return Pairs._of(self.items, self.right, self.left, self.names)

    def touched(self) -> NDArray[np.int64]:
        """Find the items that occur in a comparison.

        Returns
        -------
        ndarray of int64
            Their row numbers, ascending.
        """
        used = np.zeros(self.n_items, dtype=bool)
        mark_codes(self.left, used)
        mark_codes(self.right, used)
        return np.flatnonzero(used).astype(np.int64, copy=False)

    def compact(self) -> Pairs:
        """Drop the items that occur in no comparison.

        Returns
        -------
        Pairs
            The same comparisons of a table of the touched items, in their old order.
        """
        rows = self.touched()
        if len(rows) == self.n_items:
            return self
        new = np.full(self.n_items, -1, dtype=np.int64)
        new[rows] = np.arange(len(rows))
        items = None if self.items is None else self.items.take(rows)
        names = None if self.names is None else self.names[rows]
        return Pairs._of(items, new[self.left], new[self.right], names)

    def unique_items(self) -> tuple[ItemTable, NDArray[np.int64]]:
        """Merge items with identical features, in O(N n_features).

        0.0 and -0.0 are equal. Distinct rows keep the order of first appearance.

        Returns
        -------
        table, inverse : ItemTable, ndarray of int64 of shape (N,)
            The distinct rows, and the row that holds each item's features.
        """
        return self.table.unique()

    def with_items(self, table: Any) -> Pairs:
        """Make the same comparisons with other features.

        Parameters
        ----------
        table : array-like, DataFrame, sparse matrix or ItemTable of shape (N, q)
            New features, one row per item of the old table.

        Returns
        -------
        Pairs
        """
        table = self._check_table(table, "comparisons")
        return Pairs._of(table, self.left, self.right, self.names)


@njit(cache=True, nogil=True)
def mark_codes(codes, used):  # type: ignore[no-untyped-def]
    """Mark the codes that occur, in place; several times as fast as indexing."""
    for i in range(len(codes)):
        used[codes[i]] = True
