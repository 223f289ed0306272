# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists of items, best first, of any lengths, with tied or open positions.

Convention: tied items share the position of the first of them (0, 1, 1, 3), and so do
items whose order is unknown. Whether items that a list leaves out are below it is for a
model to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import (
    as_column,
    as_column_of,
    as_names,
    factorize,
    plain_values,
    refuse_missing,
)
from tiebreak.data.items import (
    ItemRows,
    as_table,
    check_names,
    item_codes,
    take_rows,
    warn_of_spellings,
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
        list or tuple holds tied items, or a set items in unknown order.
    names : array-like of shape (N,), optional
        As in `Pairs`.
    seen : iterable of sequences, optional
        For each list, the items that its author saw, in any order. None: all.

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
    unordered : ndarray of bool of shape (n,)
        Whether equal positions of a list mean unknown order, and not a tie.

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

    flat: Codes
    position: Codes
    indptr: Codes
    seen: Orders | None
    unordered: Flags

    def __init__(
        self, items: Any, sequences: Any, names: Any = None, seen: Any = None
    ) -> None:
        self._items = None if items is None else as_table(items)
        entries, self.position, self.indptr, self.unordered = _flatten(sequences)
        column = as_column(entries, "sequences")
        refuse_missing(column, "sequences", "Leave out items not ranked.", self._places)
        if self._items is None and names is None:
            self.flat, distinct = factorize(column)
            if seen is not None:
                others = factorize(as_column(_flatten(seen)[0], "seen"))[1]
                distinct = list(dict.fromkeys([*distinct, *others]))
            warn_of_spellings(distinct)
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
    def from_frame(cls, frame: Any, *, list: str, item: str, place: str) -> Orders:
        """Make lists of a table with one row per place.

        Parameters
        ----------
        frame : DataFrame (pandas, polars, lazy ones) or Arrow table
            Rows in any order.
        list, item, place : str
            Names of columns: which list, which item, and its place; 1 is the best.

        Returns
        -------
        Orders
            Lists in order of first appearance.

        Examples
        --------
        >>> import polars as pl
        >>> from tiebreak import Orders
        >>> races = {"race": [1, 1, 2, 2], "who": [*"abab"], "at": [2, 1, 1, 1]}
        >>> races = pl.DataFrame(races)
        >>> [*Orders.from_frame(races, list="race", item="who", place="at")]
        [['b', 'a'], [['a', 'b']]]
        """
        if hasattr(frame, "collect"):
            frame = frame.collect()
        columns = [as_column(frame[name], name) for name in (list, item, place)]
        for column, name in zip(columns, (list, item, place), strict=True):
            refuse_missing(column, name)
        if columns[2].dtype.kind not in "iuf":
            raise TypeError(
                f"{place} must hold numbers, got {columns[2].dtype} values."
            )
        (group, _), (code, names) = map(factorize, columns[:2])
        warn_of_spellings(names)
        out = cls._of_places(group, code, columns[2], as_names(names))
        out._refuse_repeated()
        return out

    @classmethod
    def _of_places(
        cls,
        group: Codes,
        item: Codes,
        place: NDArray[Any],
        names: NDArray[Any],
        unordered: bool = False,
    ) -> Orders:
        """Make the list of each value of ``group``, ascending, by places of items."""
        order = np.lexsort((place, group))
        is_first = np.diff(group[order], prepend=group.min() - 1) != 0
        is_new = is_first | (np.diff(place[order], prepend=0) != 0)
        starts, blocks = np.flatnonzero(is_first), np.flatnonzero(is_new)
        out = cls.__new__(cls)
        out._items, out.names, out.flat = None, names, item[order]
        out.position = blocks[np.cumsum(is_new) - 1] - starts[np.cumsum(is_first) - 1]
        out.indptr = np.append(starts, len(order))
        out.unordered, out.seen = np.full(len(starts), unordered), None
        return out

    @classmethod
    def from_best_worst(
        cls,
        sets: Any,
        best: Any,
        worst: Any = None,
        items: Any = None,
        names: Any = None,
    ) -> Orders:
        """Make lists of choices of the best and the worst of a set (MaxDiff).

        Parameters
        ----------
        sets : iterable of sequences
            The items of each set, by row number or name as in `Pairs`.
        best, worst : array-like of shape (n,)
            The item of each set that was chosen as the best, and the worst, if any.
        items, names
            As in `Pairs`.

        Returns
        -------
        Orders
            Lists best > rest > worst, the rest in unknown order.

        Examples
        --------
        >>> from tiebreak import Orders
        >>> orders = Orders.from_best_worst([["a", "b", "c"]], best=["c"], worst=["a"])
        >>> list(orders)
        [['c', 'b', 'a']]
        """
        entries, _, indptr, _ = _flatten(sets)
        values = plain_values(as_column(entries, "sets"))
        columns = {"best": best} if worst is None else {"best": best, "worst": worst}
        n = len(indptr) - 1
        chosen = [plain_values(as_column_of(c, name, n)) for name, c in columns.items()]
        sequences = []
        for row, ends in enumerate(zip(*chosen, strict=True)):
            own = values[indptr[row] : indptr[row + 1]]
            rest = {item for item in own if item not in ends}
            if len(rest) != len(own) - len(ends):
                raise ValueError(
                    f"{' and '.join(columns)} of set {row} must be different items of "
                    f"it, got {', '.join(map(repr, ends))} of {own}."
                )
            sequences.append([ends[0], *[rest] * bool(rest), *ends[1:]])
        return cls(items, sequences, names)

    @property
    def lengths(self) -> Codes:
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
        return self._replace(
            flat=flat,
            position=position,
            indptr=indptr,
            seen=seen,
            unordered=self.unordered[rows],
        )

    def __iter__(self) -> Iterator[list[Any]]:
        labels = None if self.names is None else plain_values(self.names)
        for row in range(len(self)):
            entries = slice(self.indptr[row], self.indptr[row + 1])
            blocks: dict[int, list[Any]] = {}
            codes, places = self.flat[entries].tolist(), self.position[entries].tolist()
            for code, position in zip(codes, places, strict=True):
                label = code if labels is None else labels[code]
                blocks.setdefault(position, []).append(label)
            kind: Any = set if self.unordered[row] else list
            yield [kind(b) if len(b) > 1 else b[0] for b in blocks.values()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise TypeError(
            "Orders have no array. Use orders.grades() for features, grades and groups."
        )

    def _as_texts(self) -> Iterator[str]:
        tied = (list, set)
        for row in self:
            ties = (" = ".join(map(str, b)) if isinstance(b, tied) else b for b in row)
            yield " > ".join(map(str, ties))

    def __repr__(self) -> str:
        return self._describe(len(self), "list")

    def touched(self) -> Codes:
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
        return self._replace(_items=self._check_table(table))

    def unlisted(self) -> tuple[Codes, Codes]:
        """Find the items that were seen and not listed.

        Returns
        -------
        row, item : ndarray of int64 of shape (n_unlisted,)
            Of the lists, ascending, and of the items.
        """
        n, seen = self.n_items, self.seen
        saw = np.arange(len(self) * n) if seen is None else seen._keys()
        return np.divmod(np.setdiff1d(saw, self._keys(), assume_unique=True), n)

    def _keys(self) -> Codes:
        """Give one number for list and item."""
        return np.repeat(np.arange(len(self)), self.lengths) * self.n_items + self.flat

    def grades(self) -> tuple[Any, Floats, Codes]:
        """Write the lists as graded items in groups.

        Returns
        -------
        X : ndarray or csr_array of shape (n_entries, n_features)
            Features of the entries.
        y, qid : ndarray of float64 and of int64, of shape (n_entries,)
            Minus the position (in lists with items in unknown order, the number of
            positions below), and the number of the list.

        Examples
        --------
        >>> from tiebreak import Orders
        >>> X, y, qid = Orders([[1.0], [2.0], [3.0]], [[2, 0], [1, [0, 2]]]).grades()
        >>> y, qid
        (array([ 0., -1.,  0., -1., -1.]), array([0, 0, 1, 1, 1]))
        """
        return self.table.take(self.flat).values, *self.entry_grades()

    def entry_grades(self) -> tuple[Floats, Codes]:
        """Give y and qid of `grades`, also of items without features.

        Returns
        -------
        y, qid : ndarray of float64 and of int64, of shape (n_entries,)
        """
        # Adding zero keeps a leading position from reading -0.0.
        y = -self.position.astype(np.float64) + 0.0
        row = np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)
        if self.unordered.any():
            place = np.cumsum(self.position == np.arange(len(row)) - self.indptr[row])
            below = place[self.indptr[1:] - 1][row] - place
            y = np.where(self.unordered[row], below, y)
        return y, row

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


_SETS = (set, frozenset)
_NESTED = (list, tuple, np.ndarray, *_SETS)


def _flatten(sequences: Any) -> tuple[Any, Codes, Codes, Flags]:
    """List entries, positions, where sequences begin and end, and who is unordered."""
    array = isinstance(sequences, np.ndarray) and sequences.ndim == 2
    if array and sequences.size and sequences.dtype.kind not in "OT":
        n, k = sequences.shape
        entries, unordered = sequences.ravel(), np.zeros(n, dtype=bool)
        return entries, np.tile(np.arange(k), n), k * np.arange(n + 1), unordered
    if hasattr(sequences, "to_list"):  # pandas, polars
        sequences = sequences.to_list()
    sequences = list(sequences)
    if not sequences:
        raise ValueError("There are no sequences; at least one is required.")
    for row, sequence in enumerate(sequences):
        if not isinstance(sequence, _NESTED) or isinstance(sequence, _SETS):
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
    entries, unordered = blocks, np.zeros(len(sequences), dtype=bool)
    if kinds:
        is_tied = np.fromiter(map(kinds.__contains__, map(type, blocks)), dtype=bool)
        tied = np.flatnonzero(is_tied)
        entries, done = [], 0
        for place in tied.tolist():
            entries.extend(blocks[done:place])
            block = blocks[place]
            # The order of a set changes from run to run.
            entries.extend(
                sorted(block, key=str) if isinstance(block, _SETS) else block
            )
            done = place + 1
        entries.extend(blocks[done:])
        sizes[tied] = [len(blocks[place]) for place in tied.tolist()]
        if len(empty := np.flatnonzero(sizes == 0)):
            row = np.searchsorted(ends, empty[0], side="right") - 1
            raise ValueError(f"Sequence {row} holds an empty list of tied items.")
        row_of = np.searchsorted(ends, tied, side="right") - 1
        is_set = np.array([isinstance(blocks[place], _SETS) for place in tied.tolist()])
        unordered[row_of[is_set]] = True
        if len(both := row_of[~is_set][unordered[row_of[~is_set]]]):
            raise ValueError(
                f"Sequence {both[0]} has tied items (a list) and items in unknown "
                "order (a set); expected one of both."
            )
    starts = np.concatenate([[0], np.cumsum(sizes)])
    indptr = starts[ends]
    position = np.repeat(starts[:-1], sizes)
    position -= np.repeat(indptr[:-1], np.diff(indptr))
    return entries, position, indptr, unordered
