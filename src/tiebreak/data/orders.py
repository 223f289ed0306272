# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists of items, best first, of any lengths and with tied positions.

Convention: tied items share the position of the first of them (1, 2, 2, 4; counted from
0 here). Whether items that a list leaves out are below it is for a model to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import (
    as_column,
    as_names,
    factorize,
    plain_values,
    refuse_missing,
)
from tiebreak.data.items import (
    ItemRows,
    Rows,
    Table,
    as_table,
    check_names,
    item_codes,
    take_rows,
)
from tiebreak.data.messages import list_rows


class Orders(ItemRows):
    """n ranked lists of items.

    Parameters
    ----------
    items : array-like, DataFrame, sparse matrix, list of texts or None
        As in `Pairs`.
    sequences : iterable of sequences
        Each one lists items best first, by row number or name as in `Pairs`; a nested
        list or tuple holds tied items. An array (n, k) is n lists.
    names : array-like of shape (N,), optional
        As in `Pairs`.
    seen : iterable of sequences, optional
        For each list, the items that its author saw, in any order; those of the list
        are always among them. None: all.

    Attributes
    ----------
    items, raw, names : ItemTable or None, table or None, ndarray or None
        As in `Pairs`.
    flat, position : ndarray of int64 of shape (n_entries,)
        Row numbers of the items, all lists one after another, and their positions in
        their list, from 0.
    indptr : ndarray of int64 of shape (n + 1,)
        List i is ``flat[indptr[i]:indptr[i + 1]]``.
    seen : Orders or None
        The items that were seen, if given.

    Notes
    -----
    ``orders[rows]`` selects lists; iteration gives them back as they were written.

    Examples
    --------
    >>> from tiebreak import Orders
    >>> orders = Orders(None, [["Ada", ["Bo", "Cy"], "Di"], ["Cy", "Ada"]])
    >>> orders.position
    array([0, 1, 1, 3, 0, 1])
    >>> list(orders[[1]])
    [['Cy', 'Ada']]
    """

    __module__ = "tiebreak"  # where users find it
    _made_by = "Orders(items, sequences)"

    flat: Rows
    position: Rows
    indptr: Rows
    seen: Orders | None

    def __init__(
        self, items: Any, sequences: Any, names: Any = None, seen: Any = None
    ) -> None:
        self._items = None if items is None else as_table(items)
        entries, self.position, self.indptr = _flatten(sequences)
        column = as_column(entries, "sequences")
        refuse_missing(column, "sequences", "Leave out items not ranked.", self._places)
        if self._items is None and names is None:
            self.flat, distinct = factorize(column)
            if seen is not None:
                others = factorize(as_column(_flatten(seen)[0], "seen"))[1]
                distinct = list(dict.fromkeys([*distinct, *others]))
            self.names = as_names(distinct)
        else:
            self.names = None if names is None else check_names(names, self._items)
            self.flat = item_codes(
                column, "sequences", self.names, self.n_items, self._places
            )
        self._refuse_repeated()
        self.seen = None if seen is None else self._read_seen(seen)

    def _read_seen(self, seen: Any) -> Orders:
        names = np.arange(self.n_items) if self.names is None else self.names
        try:
            out = Orders(None, seen, names)
        except (TypeError, ValueError) as error:
            raise type(error)(f"In seen: {error}") from None
        if len(out) != len(self):
            raise ValueError(f"seen has {len(out)} lists for {len(self)} sequences.")
        return out

    @classmethod
    def _of(
        cls,
        items: Table | None,
        flat: Rows,
        position: Rows,
        indptr: Rows,
        names: Any,
        seen: Orders | None = None,
    ) -> Orders:
        """Build from parts that are known to be right."""
        orders = cls.__new__(cls)
        orders._items, orders.names, orders.seen = items, names, seen
        orders.flat, orders.position, orders.indptr = flat, position, indptr
        return orders

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of entries of each list, shape (n,)."""
        return np.diff(self.indptr)

    @property
    def shape(self) -> tuple[int]:
        """(n,), the number of lists."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: Any) -> Orders:
        rows = take_rows(rows, "Orders")
        starts, lengths = self.indptr[:-1][rows], self.lengths[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Entry j of the result, in list i, was entry j - indptr[i] + starts[i].
        entries = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
        flat, position = self.flat[entries], self.position[entries]
        seen = None if self.seen is None else self.seen[rows]
        return Orders._of(self._items, flat, position, indptr, self.names, seen)

    def __iter__(self) -> Iterator[list[Any]]:
        labels = None if self.names is None else plain_values(self.names)
        for row in range(len(self)):
            entries = slice(self.indptr[row], self.indptr[row + 1])
            blocks: dict[int, list[Any]] = {}
            codes, places = self.flat[entries].tolist(), self.position[entries].tolist()
            for code, position in zip(codes, places, strict=True):
                label = code if labels is None else labels[code]
                blocks.setdefault(position, []).append(label)
            yield [block if len(block) > 1 else block[0] for block in blocks.values()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise TypeError(
            "Orders have no array. Use orders.grades() for features, grades and groups."
        )

    def __repr__(self) -> str:
        return self._describe(len(self), "list")

    def touched(self) -> NDArray[np.int64]:
        """Find the items that occur in a list.

        Returns
        -------
        ndarray of int64
            Their row numbers, ascending.
        """
        return np.unique(self.flat)

    def with_items(self, table: Any) -> Orders:
        """Make the same lists with other features.

        Parameters
        ----------
        table : table of items of shape (N, q)
            New features, one row per item of the old table.

        Returns
        -------
        Orders
        """
        table = self._check_table(table)
        entries = self.flat, self.position, self.indptr
        return Orders._of(table, *entries, self.names, self.seen)

    def unlisted(self) -> tuple[Rows, Rows]:
        """Find the items that authors of lists saw and did not list.

        Returns
        -------
        row, item : ndarray of int64 of shape (n_unlisted,)
            Numbers of the lists, ascending, and of the items.
        """
        n, seen = self.n_items, self.seen
        saw = np.arange(len(self) * n) if seen is None else seen._keys()
        return np.divmod(np.setdiff1d(saw, self._keys(), assume_unique=True), n)

    def _keys(self) -> Rows:
        """Give one number for list and item."""
        return np.repeat(np.arange(len(self)), self.lengths) * self.n_items + self.flat

    def grades(self) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
        """Write the lists as graded items in groups.

        Returns
        -------
        X : ndarray or csr_array of shape (n_entries, n_features)
            Features of the entries.
        y, qid : ndarray of float64 and of int64, of shape (n_entries,)
            Minus the position, so that higher is better, and the number of the list.

        Examples
        --------
        >>> from tiebreak import Orders
        >>> X, y, qid = Orders([[1.0], [2.0], [3.0]], [[2, 0], [1, [0, 2]]]).grades()
        >>> y, qid
        (array([ 0., -1.,  0., -1., -1.]), array([0, 0, 1, 1, 1]))
        """
        return self.table.take(self.flat).values, *self.entry_grades()

    def entry_grades(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Give y and qid of `grades`, also of items without features.

        Returns
        -------
        y, qid : ndarray of float64 and of int64, of shape (n_entries,)
        """
        # Adding zero keeps a leading position from reading -0.0.
        y = -self.position.astype(np.float64) + 0.0
        return y, np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def _places(self, entries: Sequence[int] | NDArray[Any], values: Any = None) -> str:
        """Name the first places of the flat list by list and place, from 0."""

        def name(entries: Any) -> list[str]:
            rows = np.searchsorted(self.indptr, entries, side="right") - 1
            places = zip(rows, entries - self.indptr[rows], strict=True)
            return [f"entry {place} of sequence {row}" for row, place in places]

        return list_rows(entries, values, name)

    def _refuse_repeated(self) -> None:
        keys = self._keys()
        order = np.argsort(keys, kind="stable")
        repeated = np.sort(order[1:][np.diff(keys[order]) == 0])
        if len(repeated):
            codes = self.flat[repeated]
            labels = codes if self.names is None else self.names[codes]
            raise ValueError(
                f"An item may occur only once in a sequence, but {len(repeated)} "
                f"occur again: {self._places(repeated, list(labels))}."
            )


_NESTED = (list, tuple, np.ndarray)


def _flatten(sequences: Any) -> tuple[Any, Rows, Rows]:
    """List all entries, their positions, and where the sequences begin and end."""
    array = isinstance(sequences, np.ndarray) and sequences.ndim == 2
    if array and sequences.size and sequences.dtype.kind not in "OT":
        n, k = sequences.shape
        return sequences.ravel(), np.tile(np.arange(k), n), k * np.arange(n + 1)
    if hasattr(sequences, "to_list"):  # pandas, polars
        sequences = sequences.to_list()
    sequences = list(sequences)
    if not sequences:
        raise ValueError("There are no sequences; at least one is required.")
    for row, sequence in enumerate(sequences):
        if not isinstance(sequence, _NESTED):
            raise TypeError(
                f"Sequence {row} must be a list of items, best first, got {sequence!r}."
            )
    blocks = list(chain.from_iterable(sequences))
    ends = np.cumsum([0, *map(len, sequences)], dtype=np.int64)
    if len(empty := np.flatnonzero(ends[1:] == ends[:-1])):
        raise ValueError(f"Sequence {empty[0]} is empty; remove it.")
    # Types are looked at once each, so that no Python code runs for every entry.
    kinds = {kind for kind in set(map(type, blocks)) if issubclass(kind, _NESTED)}
    sizes = np.ones(len(blocks), dtype=np.int64)
    entries = blocks
    if kinds:
        is_tied = np.fromiter(map(kinds.__contains__, map(type, blocks)), dtype=bool)
        tied = np.flatnonzero(is_tied)
        entries, done = [], 0
        for place in tied.tolist():
            entries.extend(blocks[done:place])
            entries.extend(blocks[place])
            done = place + 1
        entries.extend(blocks[done:])
        sizes[tied] = [len(blocks[place]) for place in tied.tolist()]
        if len(empty := np.flatnonzero(sizes == 0)):
            row = np.searchsorted(ends, empty[0], side="right") - 1
            raise ValueError(f"Sequence {row} holds an empty list of tied items.")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    indptr = starts[ends]
    position = np.repeat(starts[:-1], sizes)
    return entries, position - np.repeat(indptr[:-1], np.diff(indptr)), indptr
