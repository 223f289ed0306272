# SPDX-License-Identifier: BSD-3-Clause
"""Splitters that hold out whole queries, whole raters, later periods or unseen items.

They follow scikit-learn's protocol. Those that need a column (`qid`, `rater`, `period`)
request it by default from metadata routing; without routing, pass it as `groups`.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from tiebreak.data import as_pairs, is_pairs
from tiebreak.data.columns import as_column_of, factorize, order_periods, refuse_missing
from tiebreak.data.messages import TiebreakWarning, warn_user

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


class _Splitter(BaseCrossValidator):
    """What these splitters share."""

    n_splits: int

    def get_n_splits(
        self, X: Any = None, y: Any = None, groups: Any = None, **columns: Any
    ) -> int:
        """Give the number of splits.

        Parameters
        ----------
        X, y, groups, **columns : object
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def _choose_column(self, name: str, column: Any, groups: Any) -> Any:
        """Give the column of the splitter, which may have come as groups."""
        kind = type(self).__name__
        if column is not None and groups is not None:
            raise ValueError(f"{kind} got both {name} and groups; give only {name}.")
        column = groups if column is None else column
        if column is None:
            raise ValueError(
                f"{kind} needs the column {name}, as argument, as groups or by routing."
            )
        return column


class _KFold(_Splitter):
    """Folds of items or of whole groups."""

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.n_splits, Integral) or self.n_splits < 2:
            raise ValueError(
                f"n_splits must be an integer of at least 2, got {self.n_splits!r}."
            )
        if not self.shuffle and self.random_state is not None:
            raise ValueError("random_state has no effect without shuffle=True.")

    def _order(self, n: int) -> NDArray[np.int64]:
        """Give 0 to n-1, at random if shuffling."""
        if self.shuffle:
            return check_random_state(self.random_state).permutation(n)
        return np.arange(n)


class _GroupedKFold(_KFold):
    """K folds of whole groups; the subclass names the column of groups."""

    _column: str

    def _folds(self, X: Any, column: Any, groups: Any) -> Iterator[Fold]:
        self._check_parameters()
        name = self._column
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        values = as_column_of(self._choose_column(name, column, groups), name, n_rows)
        refuse_missing(values, name)
        codes, distinct = factorize(values)
        n_groups = len(distinct)
        if n_groups < self.n_splits:
            raise ValueError(
                f"cannot make {self.n_splits} folds of {n_groups} distinct {name}."
            )
        fold_of_row = self._assign(np.bincount(codes))[codes]
        for fold in range(self.n_splits):
            held_out = fold_of_row == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _assign(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put each group in the smallest fold so far, large groups first."""
        # Not scikit-learn's GroupKFold: its folds differ where groups are equally
        # large, and shuffled ones balance the number of groups and not that of rows.
        order = self._order(len(sizes))
        if not self.shuffle:
            order = np.argsort(-sizes, kind="stable")
        filled = np.zeros(self.n_splits, dtype=np.int64)
        fold = np.empty(len(sizes), dtype=np.int64)
        for group in order:
            fold[group] = np.argmin(filled)
            filled[fold[group]] += sizes[group]
        return fold


class QueryKFold(_GroupedKFold):
    """K folds that never split a query.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle, random_state : bool, and int, RandomState or None, default=False and None
        Whether queries are assigned at random, and the seed. If not, the largest come
        first, so that folds have nearly as many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.selection import QueryKFold
    >>> X = np.zeros((5, 1))
    >>> for train, test in QueryKFold(2).split(X, qid=["b", "a", "b", "a", "b"]):
    ...     print(train, test)
    [1 3] [0 2 4]
    [0 2 4] [1 3]
    """

    __metadata_request__split = {"qid": True}  # noqa: RUF012
    _column = "qid"

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Iterator[Fold]:
        """Generate the row numbers of training and test sets.

        Parameters
        ----------
        X, y
            n rows; only their number matters.
        groups, qid : array-like of shape (n,)
            The query of each row, of any type; either.

        Returns
        -------
        iterator of (train, test)
        """
        caller = sys._getframe(1).f_globals.get("__name__", "")
        inside = str(caller).startswith("sklearn")
        if inside and qid is None and groups is not None and not is_pairs(X):
            warn_user(
                "QueryKFold got its queries as groups: neither fit nor score sees "
                "them. Pass qid, with enable_metadata_routing=True.",
                TiebreakWarning,
            )
        return self._folds(X, qid, groups)


class RaterKFold(_GroupedKFold):
    """K folds that never split the comparisons of one rater.

    Parameters
    ----------
    n_splits, shuffle, random_state
        As in :class:`QueryKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.selection import RaterKFold
    >>> pairs = np.zeros((4, 2, 1))
    >>> for train, test in RaterKFold(2).split(pairs, rater=["u", "v", "v", "u"]):
    ...     print(train, test)
    [1 2] [0 3]
    [0 3] [1 2]
    """

    __metadata_request__split = {"rater": True}  # noqa: RUF012
    _column = "rater"

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: ArrayLike | None = None,
        rater: ArrayLike | None = None,
    ) -> Iterator[Fold]:
        """Generate the row numbers of training and test sets.

        Parameters
        ----------
        X, y
            As in :meth:`QueryKFold.split`.
        groups, rater : array-like of shape (n,)
            The rater of each row; either.

        Returns
        -------
        iterator of (train, test)
        """
        return self._folds(X, rater, groups)


class ItemKFold(_KFold):
    """K folds that test on comparisons of two items never seen in training.

    The items are divided in `n_splits` parts of nearly equal size. The test set holds
    the comparisons with *both* items in the part, and the training set those with *no*
    item in it. Comparisons between the part and the rest are in neither.

    Parameters
    ----------
    n_splits : int, default=5
        Number of parts, at least 2.
    shuffle, random_state : bool, and int, RandomState or None, default=True and None
        Whether items are divided at random, and the seed.

    Notes
    -----
    Items with identical features are one item, so 3-D arrays can be split too.

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> from tiebreak.selection import ItemKFold
    >>> pairs = Pairs(None, left=["a", "c", "a", "b"], right=["b", "d", "c", "a"])
    >>> for train, test in ItemKFold(2, shuffle=False).split(pairs):
    ...     print(train, test)
    [1] [0 3]
    [0 3] [1]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[Fold]:
        """Generate the row numbers of training and test sets.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            The comparisons.
        y, groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray of int
        """
        self._check_parameters()
        left, right, n_items = _compared_items(X)
        if n_items < 2 * self.n_splits:
            raise ValueError(
                f"{self.n_splits} parts, of at least two items, of {n_items} item(s)."
            )
        part = np.empty(n_items, dtype=np.int64)
        order = self._order(n_items)
        for number, members in enumerate(np.array_split(order, self.n_splits)):
            part[members] = number
        left, right = part[left], part[right]
        folds = []
        for number in range(self.n_splits):
            test = np.flatnonzero((left == number) & (right == number))
            train = np.flatnonzero((left != number) & (right != number))
            if not len(test) or not len(train):
                name = "training" if len(test) else "test"
                raise ValueError(f"Fold {number} would have an empty {name} set.")
            folds.append((train, test))
        yield from folds


def _compared_items(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Give numbers to the distinct items that occur in comparisons."""
    pairs = as_pairs(X).compact()
    if not pairs.has_features:
        return pairs.left, pairs.right, pairs.n_items
    table, number = pairs._features.unique()
    return number[pairs.left], number[pairs.right], table.n_items


class PeriodSplit(_Splitter):
    """Train on all rows before a time, test on the next block of periods.

    The periods after the first training set are divided into `n_splits` blocks of
    consecutive periods with nearly equal numbers of rows; each is tested once. A period
    is never divided.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks to test.
    min_train : int or float, optional
        Minimum size of the first training set: a number of rows, or a share of them
        below 1. None: one part of ``n_splits + 1``.

    Notes
    -----
    Row numbers are yielded in order of time, rows of the same period as they stand.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.selection import PeriodSplit
    >>> year = [2023, 2021, 2022, 2021, 2023]
    >>> for train, test in PeriodSplit(2).split(np.zeros((5, 2, 1)), period=year):
    ...     print(train, test)
    [1 3] [2]
    [1 3 2] [0 4]
    """

    __metadata_request__split = {"period": True}  # noqa: RUF012

    def __init__(
        self, n_splits: int = 5, *, min_train: int | float | None = None
    ) -> None:
        self.n_splits = n_splits
        self.min_train = min_train

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: ArrayLike | None = None,
        period: ArrayLike | None = None,
    ) -> Iterator[Fold]:
        """Generate the row numbers of training and test sets, earliest first.

        Parameters
        ----------
        X, y
            As in :meth:`QueryKFold.split`.
        groups, period : array-like of shape (n,)
            When each row took place: dates, numbers or text, in any order; either.

        Yields
        ------
        train, test : ndarray of int
        """
        period = self._choose_column("period", period, groups)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        place = order_periods(period, n_rows).place
        in_time = np.argsort(place, kind="stable")
        starts = np.cumsum(np.bincount(place))[self._cuts(place) - 1]
        for start, stop in pairwise(starts):
            yield in_time[:start], in_time[start:stop]

    def _cuts(self, place: NDArray[np.int64]) -> NDArray[np.int64]:
        """First period of each block, and the number of periods."""
        k = self.n_splits
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"n_splits must be an integer of at least 1, got {k!r}.")
        until = np.concatenate(([0], np.cumsum(np.bincount(place))))
        n_rows, n_periods = int(until[-1]), len(until) - 1
        # The earliest cut that leaves enough to train on; at least one period.
        least = self._least_rows(n_rows)
        first = max(1, int(np.searchsorted(until, least)))
        if n_periods - first < k:
            raise ValueError(
                f"PeriodSplit cannot make {k} test blocks of {n_periods} periods, of "
                "which some are to train on."
            )
        cuts = [first]
        for block in range(1, k):
            start = until[cuts[-1]]
            wanted = start + (n_rows - start) / (k - block + 1)
            after = int(np.searchsorted(until, wanted))
            nearer = after - int(wanted - until[after - 1] < until[after] - wanted)
            # Every block has a period, this one and those that follow.
            cuts.append(int(np.clip(nearer, cuts[-1] + 1, n_periods - (k - block))))
        return np.array([*cuts, n_periods])

    def _least_rows(self, n_rows: int) -> float:
        least = self.min_train
        if least is None:
            # Rounded down, so that equal blocks of whole periods can be made.
            return n_rows // (self.n_splits + 1)
        if isinstance(least, Integral) and least >= 1:
            return int(least)
        if isinstance(least, Real) and 0 < least < 1:
            return float(least) * n_rows
        raise ValueError(f"min_train must be rows or a share, got {least!r}.")
