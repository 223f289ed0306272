# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of two items: the container that models and splitters pass around.

Each item is stored once. Selecting comparisons keeps the item table whole, so that row
numbers keep their meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, as_column_of, find_distinct, refuse_missing
from tiebreak.data.items import (
    ItemRows,
    RawTable,
    Rows,
    Table,
    as_table,
    check_lengths,
    check_names,
    item_codes,
    names_of_sides,
    take_rows,
)
from tiebreak.data.outcome import Meaning, Outcome, as_number

Outcomes = NDArray[np.int8]

# Seed of the exchange of sides in tables that always name the winner first.
_SWAP_SEED = 20_240_229


class Pairs(ItemRows):
    """n comparisons, each of a left and a right item.

    Parameters
    ----------
    items : array-like, DataFrame, sparse matrix, list of texts or None
        Features of the N items, one row each; None: they have names only. `OnItems`
        turns strings, categories, missing values and texts into numbers.
    left, right : array-like of shape (n,)
        The two items of every comparison. Integers are row numbers of `items` (or
        `names`), unless `names` holds numbers; all other values are names.
    names : array-like of shape (N,), optional
        Names of the items, all different. Without `items` and `names`, the values of
        `left` and `right` are the names, in order of first appearance.

    Attributes
    ----------
    items : ItemTable or None
        The item table, as numbers; an error if a column is not numeric.
    raw : DataFrame, array, CSR array or None
        The items in their original form.
    left, right : ndarray of int64 of shape (n,)
        Row numbers of the items compared.
    names : ndarray of shape (N,) or None
        Names of the items.

    Notes
    -----
    ``pairs[rows]`` selects comparisons (integers, a mask or a slice).
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
    >>> Pairs(left=["Ada", "Bo"], right=["Bo", "Cy"]).names
    array(['Ada', 'Bo', 'Cy'], dtype='<U3')
    """

    __module__ = "tiebreak"  # where users find it
    _made_by = "Pairs(items, left, right)"

    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def __init__(
        self,
        items: Any = None,
        left: ArrayLike | None = None,
        right: ArrayLike | None = None,
        names: Any = None,
    ) -> None:
        if left is None or right is None:
            raise TypeError(
                "Pairs needs left and right: Pairs(items, left, right), or "
                "Pairs(left=..., right=...) if items have names only."
            )
        self._items = None if items is None else as_table(items)
        if self._items is None and names is None:
            self.left, self.right, self.names = names_of_sides(left, right)
            return
        left, right = as_column(left, "left"), as_column(right, "right")
        check_lengths(len(left), len(right))
        refuse_missing(left, "left")
        refuse_missing(right, "right")
        self.names = None if names is None else check_names(names, self._items)
        self.left = item_codes(left, "left", self.names, self.n_items)
        self.right = item_codes(right, "right", self.names, self.n_items)

    @classmethod
    def from_winners(
        cls,
        winner: ArrayLike,
        loser: ArrayLike,
        tie: ArrayLike | None = None,
        *,
        exchange: bool = False,
        items: Any = None,
        names: Any = None,
    ) -> tuple[Pairs, Outcomes]:
        """Make comparisons of a column of winners and a column of losers.

        Parameters
        ----------
        winner, loser : array-like of shape (n,)
            The two items of every comparison, as `left` and `right` of `Pairs`.
        tie : array-like of bool of shape (n,), optional
            True where neither won. None: there are no ties.
        exchange : bool, default=False
            False: the winner is left, so that no outcome is +1. True: about half of the
            rows, always the same ones, exchange sides; needed where the side must not
            tell the outcome, as with a baseline or an advantage.
        items, names
            As in `Pairs`.

        Returns
        -------
        pairs, y : Pairs, ndarray of int8 of shape (n,)

        Examples
        --------
        >>> from tiebreak import Pairs
        >>> Pairs.from_winners(["Ada", "Bo"], ["Bo", "Cy"], tie=[False, True])
        (Pairs(2 comparisons of 3 items, no features), array([-1,  0], dtype=int8))
        """
        pairs = cls(items, winner, loser, names)
        y = np.full(len(pairs), -1, dtype=np.int8)
        if tie is not None:
            column = as_column_of(tie, "tie", len(pairs))
            refuse_missing(column, "tie")
            if column.dtype.kind != "b" and len(column):
                raise ValueError(
                    f"tie must hold True and False, got {column.dtype} values."
                )
            y[column.astype(bool)] = 0
        return exchange_sides(pairs, y)[:2] if exchange else (pairs, y)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        left: str,
        right: str,
        outcome: str,
        meaning: Meaning | None = None,
        items: Any = None,
        names: Any = None,
    ) -> tuple[Pairs, Outcomes]:
        """Make comparisons of three columns of a data frame.

        Parameters
        ----------
        frame : pandas or polars DataFrame of n rows
            One comparison per row.
        left, right, outcome : str
            Names of columns: the two items, and who is better, in words of
            `OUTCOME_WORDS`, by the name of the better item, or in numbers.
        meaning : {"sign", "score"}, optional
            As in `Outcome.parse`. A number is never the name of an item here.
        items, names
            As in `Pairs`.

        Returns
        -------
        pairs, y : Pairs, ndarray of int8 of shape (n,)

        Examples
        --------
        >>> import polars as pl
        >>> from tiebreak import Pairs
        >>> games = pl.DataFrame(
        ...     {"home": ["Ada", "Bo"], "away": ["Bo", "Cy"], "result": ["draw", "Bo"]}
        ... )
        >>> Pairs.from_frame(games, left="home", right="away", outcome="result")
        (Pairs(2 comparisons of 3 items, no features), array([ 0, -1], dtype=int8))
        """
        columns = [as_column(frame[name], name) for name in (left, right, outcome)]
        pairs = cls(items, columns[0], columns[1], names)
        # Numbers are refused before they could be taken for names, as in files: 1 is
        # a usual score.
        outcomes = find_distinct(columns[2]).values
        undeclared = meaning is None and any(as_number(v) is not None for v in outcomes)
        y = Outcome.parse(
            columns[2],
            meaning=meaning,
            left=None if undeclared else columns[0],
            right=None if undeclared else columns[1],
        )
        return pairs, y

    @classmethod
    def _of(cls, items: Table | None, left: Rows, right: Rows, names: Any) -> Pairs:
        """Build from parts that are known to be right."""
        pairs = cls.__new__(cls)
        pairs._items, pairs.names = items, names
        pairs.left, pairs.right = left, right
        return pairs

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, 2, n_features), or (n, 2) when items have no features."""
        features = () if self._items is None else (self._items.n_features,)
        return (len(self), 2, *features)

    @property
    def ndim(self) -> int:
        """Length of `shape`."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features; of the codes when items have no features."""
        if isinstance(self._items, RawTable) and self._items.numbers is None:
            return np.dtype(object)
        return np.dtype(np.int64 if self._items is None else np.float64)

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: Any) -> Pairs:
        rows = take_rows(rows, "Pairs")
        # A slice with a step gives strided views; kernels want contiguous codes.
        left = np.ascontiguousarray(self.left[rows])
        right = np.ascontiguousarray(self.right[rows])
        return Pairs._of(self._items, left, right, self.names)

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> NDArray[np.float64]:
        table = self.table
        if copy is False:
            raise ValueError("An array of Pairs is always a copy.")
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
        return Pairs._of(self._items, self.right, self.left, self.names)

    def touched(self) -> NDArray[np.int64]:
        """Find the items that occur in a comparison.

        Returns
        -------
        ndarray of int64
            Their row numbers, ascending.
        """
        used = np.zeros(self.n_items, dtype=bool)
        used[self.left] = used[self.right] = True
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
        items = None if self._items is None else self._items.take(rows)
        names = None if self.names is None else self.names[rows]
        return Pairs._of(items, new[self.left], new[self.right], names)

    def with_items(self, table: Any) -> Pairs:
        """Make the same comparisons with other features.

        Parameters
        ----------
        table : array-like, DataFrame, sparse matrix or texts of N items
            New features, one row per item of the old table.

        Returns
        -------
        Pairs
        """
        table = self._check_table(table)
        return Pairs._of(table, self.left, self.right, self.names)


def exchange_sides(
    pairs: Pairs, y: Outcomes
) -> tuple[Pairs, Outcomes, NDArray[np.bool_]]:
    """Exchange sides at random, so that they do not tell the outcome."""
    turned = np.random.default_rng(_SWAP_SEED).random(len(y)) < 0.5
    left = np.where(turned, pairs.right, pairs.left)
    right = np.where(turned, pairs.left, pairs.right)
    exchanged = Pairs._of(pairs._items, left, right, pairs.names)
    return exchanged, np.where(turned, -y, y).astype(np.int8), turned
