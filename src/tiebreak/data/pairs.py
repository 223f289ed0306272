# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of two items: the container that models and splitters pass around.

Each item is stored once; selecting comparisons keeps the item table whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import (
    as_column,
    as_column_of,
    factorize_with_dict,
    find_distinct,
    refuse_missing,
)
from tiebreak.data.items import (
    ItemRows,
    ItemTable,
    RawTable,
    Table,
    as_items,
    as_table,
    check_lengths,
    check_names,
    item_codes,
    names_of_sides,
    take_rows,
)
from tiebreak.data.messages import warn_user
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import (
    Meaning,
    Outcome,
    as_number,
    contradiction,
    infer_meaning,
)
from tiebreak.data.scores import ScoreTable, read_scores

Outcomes = NDArray[np.int8]

# Seed of the exchange of sides in tables that always name the winner first.
_SWAP_SEED = 20_240_229


class Pairs(ItemRows):
    """n comparisons, each of a left and a right item.

    Parameters
    ----------
    items : array-like, DataFrame, sparse matrix, list of texts or None
        Features of the N items, one row each; None: they have names only. `OnItems`
        turns anything but numbers into numbers.
    left, right : array-like of shape (n,)
        The two items of every comparison. Integers are row numbers of `items` (or
        `names`), unless `names` holds numbers; all other values are names.
    names : array-like of shape (N,), optional
        Names of the items, all different; by default, without `items`, the values of
        `left` and `right`.

    Attributes
    ----------
    items : ItemTable or None
        The item table, as numbers; an error if a column is not numeric.
    raw : DataFrame, array, CSR array or None
        The items in their original form.
    left, right : ndarray of int64 of shape (n,)
        Row numbers of the items compared; an error if these are teams.
    sides : tuple of both
        The same; of teams, row numbers of `members`.
    members : csr_array of shape (N + T, N) or None
        Of `from_teams`: 1 at the members of the N items alone and of T teams.
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

    sides: tuple[Codes, Codes]
    members: sp.csr_array | None = None

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
            *sides, self.names = names_of_sides(left, right)
            self.sides = sides[0], sides[1]
            return
        left, right = as_column(left, "left"), as_column(right, "right")
        check_lengths(len(left), len(right))
        refuse_missing(left, "left")
        refuse_missing(right, "right")
        self.names = None if names is None else check_names(names, self._items)
        self.sides = (
            item_codes(left, "left", self.names, self.n_items),
            item_codes(right, "right", self.names, self.n_items),
        )

    left = property(lambda self: self._single(0), doc="Items on the left.")
    right = property(lambda self: self._single(1), doc="Items on the right.")

    def _single(self, side: int) -> Codes:
        if self.members is not None:
            raise TypeError(
                "These Pairs compare teams, and single items are expected here. "
                "BradleyTerry and LogisticCompare (kernel='linear') learn from teams."
            )
        return self.sides[side]

    @classmethod
    def from_teams(
        cls, left: Any, right: Any, items: Any = None, names: Any = None
    ) -> Pairs:
        """Make comparisons of teams, whose utility is the sum of their members'.

        Parameters
        ----------
        left, right : iterable of sequences, n each
            The members of both sides, in any order, as `left` and `right` of `Pairs`.
        items, names
            As in `Pairs`, of the members.

        Returns
        -------
        Pairs
            Where each side has one member, the same as ``Pairs(items, left, right)``.

        Examples
        --------
        >>> from tiebreak import BradleyTerry, Pairs
        >>> left = [["Ada", "Bo"], ["Ada", "Cy"], ["Ada", "Di"]]
        >>> teams = Pairs.from_teams(left, [["Cy", "Di"], ["Bo", "Di"], ["Bo", "Cy"]])
        >>> teams
        Pairs(3 comparisons of teams of 4 items, no features)
        >>> BradleyTerry(alpha=0.5).fit(teams, [-1, -1, 0]).strength_.round(2)
        array([ 0.64,  0.  ,  0.  , -0.64])
        """
        left, right = list(left), list(right)
        check_lengths(len(left), len(right))
        try:
            # Left and right by turns: names are numbered as in Pairs(left, right).
            by_turns = [*chain.from_iterable(zip(left, right, strict=True))]
            teams = Orders(items, by_turns, names)
        except (TypeError, ValueError) as error:
            rows = "2 i is the left and 2 i + 1 the right one of row i"
            raise type(error)(f"In teams, {rows}: {error}") from None
        code, n, members = teams.flat, teams.n_items, None
        if len(code) > len(teams):
            flat, ends = code.tolist(), pairwise(teams.indptr.tolist())
            every = [(item,) for item in range(n)]  # alone, then the teams
            every += [tuple(sorted(flat[a:b])) for a, b in ends]
            sides = factorize_with_dict(every)
            code, indptr = sides.codes[n:], np.cumsum([0, *map(len, sides.values)])
            parts = np.ones(indptr[-1]), np.concatenate(sides.values), indptr
            members = sp.csr_array(parts, shape=(len(sides.values), n))
        left, right = code.reshape(-1, 2).T.copy()
        return cls._of(teams._items, left, right, teams.names, members)

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
            As `left` and `right` of `Pairs`.
        tie : array-like of bool of shape (n,), optional
            True where neither won.
        exchange : bool, default=False
            False: the winner is left. True: about half of the rows, always the same
            ones, exchange sides, so that the side does not tell the outcome.
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
        frame : DataFrame (pandas, polars, lazy ones) or Arrow table of n rows
            One comparison per row.
        left, right, outcome : str
            Names of columns.
        meaning : {"sign", "score", "left"}, optional
            As in `Outcome.parse`; a number is never the name of an item.
        items, names
            As in `Pairs`; by default, names are the column or index of a frame `items`
            that has those of `left` and `right`.

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
        if hasattr(frame, "collect"):
            frame = frame.collect()
        columns = [as_column(frame[name], name) for name in (left, right, outcome)]
        items, names = _take_names(items, names, columns[:2])
        pairs = cls(items, columns[0], columns[1], names)
        # Numbers are refused before they could be taken for names, as in files: 1 is
        # a usual score.
        outcomes = find_distinct(columns[2]).values
        meaning = meaning or infer_meaning(outcomes)
        undeclared = meaning is None and any(as_number(v) is not None for v in outcomes)
        y = Outcome.parse(
            columns[2],
            meaning=meaning,
            left=None if undeclared else columns[0],
            right=None if undeclared else columns[1],
        )
        if said := contradiction(y, frame, left, right):
            warn_user(said)
        return pairs, y

    @classmethod
    def from_scores(
        cls,
        table: Any,
        *,
        tie_within: float | str = 0.0,
        lower_is_better: ArrayLike = False,
    ) -> tuple[Pairs, Outcomes, NDArray[Any]]:
        """Compare every two items on every task by their scores.

        They tie if the scores differ by at most `tie_within`.

        Parameters
        ----------
        table : DataFrame or array of shape (n_tasks, n_items)
            Rows are tasks (named by the index of pandas, or a first column of text),
            columns are items; missing scores are not compared.
        tie_within : float or str, default=0.0
            Such as 0.5; or "1%", of the larger of both scores.
        lower_is_better : bool or array-like of bool of shape (n_tasks,), default=False
            Whether low scores are good, on all tasks or on each.

        Returns
        -------
        pairs, y, task : Pairs, ndarray of int8, ndarray of shape (n,)
            Comparisons, about half of them exchanged, and the task of each: the `unit`
            of :meth:`BradleyTerry.fit`.

        Examples
        --------
        >>> from tiebreak import Pairs
        >>> scores = [[0.91, 0.90, 0.85], [0.70, 0.74, None]]
        >>> pairs, y, task = Pairs.from_scores(scores, tie_within=0.01)
        >>> len(pairs), (y == 0).sum(), task
        (4, np.int64(1), array([0, 0, 0, 1]))
        """
        scores = read_scores(table, tie_within, lower_is_better)
        pairs, y, task = cls._from_table(scores)
        return pairs, y, scores.tasks[task]

    @classmethod
    def _from_table(cls, scores: ScoreTable) -> tuple[Pairs, Outcomes, Codes]:
        left, right, y, task = scores.compare()
        pairs, y, _ = exchange_sides(cls._of(None, left, right, scores.names), y)
        return pairs, y, task

    @classmethod
    def _of(
        cls, items: Any, left: Codes, right: Codes, names: Any, members: Any = None
    ) -> Pairs:
        """Build from parts that are known to be right."""
        pairs = cls.__new__(cls)
        pairs._items, pairs.names = items, names
        pairs.sides, pairs.members = (left, right), members
        return pairs

    def _relabel(self, rows: Codes, items: Table, names: Any) -> Pairs:
        """Give item i the row rows[i] of another table, with its names."""
        sides, members, new = self.sides, self.members, rows
        if members is not None:
            old, n = members[len(rows) :], items.n_items
            parts = old.data, rows[old.indices], old.indptr
            teams = sp.csr_array(parts, shape=(old.shape[0], n))
            members = sp.vstack([sp.eye_array(n), teams], format="csr")
            new = np.append(rows, n + np.arange(old.shape[0]))
        sides = new[sides[0]], new[sides[1]]
        return self._replace(_items=items, names=names, sides=sides, members=members)

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
        return len(self.sides[0])

    def __getitem__(self, rows: Any) -> Pairs:
        rows = take_rows(rows, "Pairs")
        # A slice with a step gives strided views; kernels want contiguous codes.
        left, right = (np.ascontiguousarray(side[rows]) for side in self.sides)
        return self._replace(sides=(left, right))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        table = self.table
        if copy is False:
            raise ValueError("An array of Pairs is always a copy.")
        dense = self.by_side(table.dense())
        array = np.stack([dense[side] for side in self.sides], axis=1)
        return array if dtype is None else array.astype(dtype, copy=False)

    def _as_texts(self) -> Iterator[str]:
        names = self.side_names
        return (f"{names[a]} – {names[b]}" for a, b in zip(*self.sides, strict=True))

    def __repr__(self) -> str:
        text = self._describe(len(self), "comparison")
        return text if self.members is None else text.replace(" of", " of teams of", 1)

    def by_side(self, values: Any) -> Any:
        """Sum values over the members of each side.

        Parameters
        ----------
        values : ndarray of shape (N, ...)
            Of items.

        Returns
        -------
        ndarray of shape (N + T, ...), or `values` without teams
        """
        return values if self.members is None else self.members @ values

    @property
    def side_names(self) -> NDArray[Any]:
        """Names of all sides: of items, then of teams, whose members are joined."""
        names = np.arange(self.n_items) if self.names is None else self.names
        if self.members is None:
            return names
        labels, members = np.array([*map(str, names.tolist())]), self.members
        teams = np.split(members.indices, members.indptr[1:-1])
        return np.array([" + ".join(labels[team]) for team in teams])

    def opponents(self) -> tuple[Pairs, Codes]:
        """Compare every member of a side with every one of the other.

        Returns
        -------
        pairs, rows : Pairs of single items, ndarray of int64
            And the comparison of teams that each is of.
        """
        members, (left, right) = self.members, self.sides
        rows = np.arange(len(self))
        if members is None:
            return self, rows
        sizes, starts = np.diff(members.indptr), members.indptr
        n_each = sizes[left] * sizes[right]
        row = np.repeat(rows, n_each)
        number = np.arange(len(row)) - (np.cumsum(n_each) - n_each)[row]
        one, two = np.divmod(number, sizes[right][row])
        codes = starts[left][row] + one, starts[right][row] + two
        sides = tuple(members.indices[at].astype(np.int64) for at in codes)
        return self._replace(sides=sides, members=None), row

    def summed(self) -> Pairs:
        """Give teams as items, whose features are the sums of their members'.

        Returns
        -------
        Pairs
        """
        if self.members is None:
            return self
        values = as_items(self.members @ self.values).values
        return Pairs._of(ItemTable(values, self.feature_names), *self.sides, None)

    def swap(self) -> Pairs:
        """Exchange the sides: every left item becomes the right one.

        Returns
        -------
        Pairs
            The outcome of a swapped comparison is minus its old outcome.
        """
        return self._replace(sides=self.sides[::-1])

    def touched(self) -> Codes:
        """Find the items that occur in a comparison.

        Returns
        -------
        ndarray of int64
            Their row numbers, ascending.
        """
        used = np.zeros(self.n_items, dtype=bool)
        for side in self.sides:
            used[side if self.members is None else self.members[side].indices] = True
        return np.flatnonzero(used).astype(np.int64, copy=False)

    def among(self, items: Flags) -> Flags:
        """Find comparisons of some of the items only.

        Parameters
        ----------
        items : ndarray of bool of shape (N,)
            Which items.

        Returns
        -------
        ndarray of bool of shape (n,)
        """
        sides = self.by_side((~items).astype(np.int64)) == 0
        return np.asarray(sides[self.sides[0]] & sides[self.sides[1]])

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
        kept, members = rows, self.members
        if members is not None:
            teams = np.unique(np.append(*self.sides))
            kept = np.append(rows, teams[teams >= self.n_items])
            members = members[kept][:, rows]
        new = np.full(int(kept.max(initial=-1)) + 1, -1, dtype=np.int64)
        new[kept] = np.arange(len(kept))
        return self._replace(
            _items=None if self._items is None else self._items.take(rows),
            names=None if self.names is None else self.names[rows],
            sides=(new[self.sides[0]], new[self.sides[1]]),
            members=members,
        )

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
        return self._replace(_items=self._check_table(table))


def _take_names(items: Any, names: Any, sides: list[NDArray[Any]]) -> tuple[Any, Any]:
    """Take the names of items out of their frame: its index, or the right column."""
    if names is None and hasattr(items, "iloc"):
        index = items.index
        if index.name is not None or type(index).__name__ != "RangeIndex":
            return items, index
    if names is None and hasattr(items, "columns") and sides[0].dtype.kind not in "iu":
        wanted = {name for side in sides for name in find_distinct(side).values}
        known = {c: wanted.intersection(items[c].to_list()) for c in items.columns}
        names = max(known, key=lambda c: len(known[c]), default=None)
        names = names if known.get(names) else None
    if not isinstance(names, str):
        return items, names
    column = items[names]
    rest = items.drop(columns=names) if hasattr(items, "iloc") else items.drop(names)
    return rest, column


def exchange_sides(pairs: Pairs, y: Outcomes) -> tuple[Pairs, Outcomes, Flags]:
    """Exchange sides at random, so that they do not tell the outcome."""
    turned = np.random.default_rng(_SWAP_SEED).random(len(y)) < 0.5
    left, right = pairs.sides
    sides = np.where(turned, right, left), np.where(turned, left, right)
    exchanged = pairs._replace(sides=sides)
    return exchanged, np.where(turned, -y, y).astype(np.int8), turned
