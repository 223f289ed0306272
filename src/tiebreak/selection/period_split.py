# SPDX-License-Identifier: BSD-3-Clause
"""Train on the past, test on what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from tiebreak.data.periods import order_periods

__all__ = ["PeriodSplit"]

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


class PeriodSplit(BaseCrossValidator):
    """Train on all rows before a time, test on the next block of periods.

    The periods after the first training set are divided into `n_splits` blocks of
    consecutive periods that have nearly equal numbers of rows. Each block is tested
    once, by what was learned from *all* rows of earlier periods. A period is never
    divided, so nothing that happened at the same time is known beforehand.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks to test.
    min_train : int or float, optional
        The least that the first training set holds: a number of rows, or a share of
        them below 1. None: the same as a block, one part of ``n_splits + 1``.

    Notes
    -----
    Rows need not be in order of time. Row numbers are yielded in that order, rows of
    the same period as they stand, so that models for which row order is time (Elo,
    Glicko) can be fitted on what ``X[train]`` gives.

    `period` is requested by default from scikit-learn's metadata routing. Without
    routing, pass it as `groups`.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.selection.period_split import PeriodSplit
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
        X : array-like or Pairs of n rows
            Only its length matters.
        y : object
            Ignored.
        groups : array-like of shape (n,), optional
            Taken for `period` if that is None.
        period : array-like of shape (n,)
            When each row took place: dates, numbers or text, in any order.

        Yields
        ------
        train, test : ndarray of int
            In order of time.
        """
        if period is not None and groups is not None:
            raise ValueError(
                "PeriodSplit got both period and groups; give only period."
            )
        period = groups if period is None else period
        if period is None:
            raise ValueError(
                "PeriodSplit needs the column period, which says when each row took "
                "place. Call split(X, y, period=period); in GridSearchCV and "
                "cross_val_score pass period with metadata routing enabled, or as "
                "groups without."
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        place = order_periods(period, n_rows).place
        in_time = np.argsort(place, kind="stable")
        starts = np.cumsum(np.bincount(place))[self._cuts(place) - 1]
        for start, stop in pairwise(starts):
            yield in_time[:start], in_time[start:stop]

    def get_n_splits(
        self, X: Any = None, y: Any = None, groups: Any = None, period: Any = None
    ) -> int:
        """Give the number of splits.

        Parameters
        ----------
        X, y, groups, period : object
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

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
                f"PeriodSplit cannot make {k} test block(s): there are {n_periods} "
                f"distinct period(s), and the first {min(first, n_periods)} of them "
                f"are needed to train on {least:g} of {n_rows} row(s). Lower n_splits "
                "or min_train, or use finer periods, such as days instead of years."
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
        if isinstance(least, bool) or not isinstance(least, Real):
            raise TypeError(
                f"min_train must be a number of rows or a share of them, got {least!r}."
            )
        if isinstance(least, Integral) and least >= 1:
            return int(least)
        if 0 < least < 1:
            return float(least) * n_rows
        raise ValueError(
            f"min_train must be a whole number of rows, at least 1, or a share between "
            f"0 and 1, got {least!r}."
        )
