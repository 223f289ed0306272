# SPDX-License-Identifier: BSD-3-Clause
"""Games in the order of time: checked, numbered, and grouped into updates.

An *update* is a run of rows that are rated together, from the ratings before the first
of them: all rows of a period, or one row when there are no periods.
"""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, check_outcomes, check_weights
from tiebreak.data.columns import as_column, plain_values, refuse_missing
from tiebreak.data.messages import list_rows
from tiebreak.metrics.inputs import outcome_vector
from tiebreak.ratings.inputs import check_rater, check_row_numbers

__all__ = ["Games", "check_games", "check_period", "number_sides"]

# Units of dates that polars has; coarser ones become the next finer of these.
_DATE_UNITS = {"D", "ms", "us", "ns"}
_COARSE_UNITS = dict.fromkeys(["Y", "M", "W"], "D") | dict.fromkeys("hms", "ms")


class Games(NamedTuple):
    """Games of numbered items, checked.

    Attributes
    ----------
    sides : ndarray of uint32 of shape (n, 2)
        Numbers of the left and the right item.
    outcome : ndarray of int8 of shape (n,)
        -1 left won, 0 tie, +1 right won.
    weight : ndarray of float64 of shape (n,) or None
        Weights; 0: the row is absent. None: all are 1.
    advantage : ndarray of float64 of shape (n,) or None
        Rating points added to left. None: the model's own.
    starts : ndarray of int64 of shape (n_updates + 1,) or None
        Update u is of the rows from ``starts[u]`` to before ``starts[u + 1]``. None:
        every row is an update.
    period : ndarray of shape (n_updates,) or None
        The period of each update.
    """

    sides: NDArray[np.uint32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    advantage: NDArray[np.float64] | None
    starts: NDArray[np.int64] | None
    period: NDArray[Any] | None

    def filled(self, advantage: float) -> Games:
        """Put an array in the place of every None, except for the periods.

        Parameters
        ----------
        advantage : float
            Advantage of left where the rows have none of their own.

        Returns
        -------
        Games
        """
        n = len(self.outcome)
        return self._replace(
            weight=np.ones(n) if self.weight is None else self.weight,
            advantage=(
                np.full(n, advantage) if self.advantage is None else self.advantage
            ),
            starts=np.arange(n + 1) if self.starts is None else self.starts,
        )


class Columns(NamedTuple):
    """What ``fit`` was given besides the items, checked; see `Games`."""

    outcome: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    advantage: NDArray[np.float64] | None
    starts: NDArray[np.int64] | None
    period: NDArray[Any] | None


def check_games(
    y: ArrayLike | None,
    n_rows: int,
    *,
    period: ArrayLike | None = None,
    advantage: ArrayLike | float | None = None,
    rater: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    few: bool = False,
) -> Columns:
    """Check the row-aligned columns of games.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Outcomes.
    n_rows : int
        How many games there are.
    period : array-like of shape (n_rows,), optional
        Period of each game, not decreasing.
    advantage : float or array-like of shape (n_rows,), optional
        Rating points added to left.
    rater : array-like of shape (n_rows,), optional
        Checked, and not used.
    sample_weight : array-like of shape (n_rows,), optional
        Weights.
    few : bool, default=False
        Whether these rows are a part of the data, so that it is nothing unusual when
        no left side wins among them.

    Returns
    -------
    Columns
    """
    if few and y is not None:
        outcome = outcome_vector(y, "y", n_rows).astype(np.int8)
    else:
        outcome = check_outcomes(y, n_rows)
    weight = None if sample_weight is None else check_weights(sample_weight, n_rows)
    points = None
    if advantage is not None:
        points = check_row_numbers(advantage, "advantage", n_rows)
    check_rater(rater, n_rows)
    starts = values = None
    if period is not None:
        column = check_period(period, n_rows)
        first = np.flatnonzero(column[1:] != column[:-1]) + 1
        starts = np.concatenate(([0], first, [n_rows]))
        values = column[starts[:-1]]
    return Columns(outcome, weight, points, starts, values)


def check_period(period: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Check periods: numbers, text or dates that do not decrease.

    Parameters
    ----------
    period : array-like of shape (n_rows,)
        Period of each row.
    n_rows : int
        How many rows there are.

    Returns
    -------
    ndarray of shape (n_rows,)
        Of integers, floats, text or ``datetime64``.
    """
    column = as_column(period, "period")
    if len(column) != n_rows:
        raise ValueError(
            f"period has {len(column)} values but there are {n_rows} rows; they must "
            "be as many."
        )
    refuse_missing(column, "period")
    column = _sortable(column)
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        rows = np.flatnonzero(~np.isfinite(column))
        raise ValueError(
            f"period must be finite, got {len(rows)} other value(s): "
            f"{list_rows(rows, column[rows[:5]])}."
        )
    earlier = np.flatnonzero(column[1:] < column[:-1]) + 1
    if len(earlier):
        values = plain_values(column[earlier[:5]])
        row, before = int(earlier[0]), plain_values(column[earlier[:1] - 1])[0]
        raise ValueError(
            f"period decreases at {list_rows(earlier, values)}: row {row} comes after "
            f"period {before!r} of row {row - 1}. Row order is time here, so sort the "
            "rows first: order = np.argsort(period, kind='stable'), then X[order], "
            "y[order], period[order]."
            + (_TEXT_HINT if column.dtype.kind == "U" else "")
        )
    return column


_TEXT_HINT = (
    " Text is compared letter by letter ('10' comes before '9'); turn it into numbers "
    "or dates if it means these."
)


def _sortable(column: NDArray[Any]) -> NDArray[Any]:
    kinds = set(map(type, column)) if column.dtype.kind == "O" else set()
    if kinds and all(issubclass(kind, str) for kind in kinds):
        column = column.astype(np.str_)
    elif kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        # A date is at midnight when there are times among the dates.
        times = any(issubclass(kind, datetime.datetime) for kind in kinds)
        column = column.astype("datetime64[us]" if times else "datetime64[D]")
    if column.dtype.kind == "M":
        unit = np.datetime_data(column.dtype)[0]
        if unit not in _DATE_UNITS:
            column = column.astype(f"datetime64[{_COARSE_UNITS.get(unit, 'us')}]")
    if column.dtype.kind not in "iufUM":
        raise TypeError(
            f"period must hold numbers, text or dates, got {column.dtype} values, for "
            f"example {plain_values(column[:1])[0]!r} at row 0."
        )
    return column


def number_sides(
    pairs: Pairs, weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.uint32], NDArray[Any], int]:
    """Number the items of games in order of first appearance, left before right.

    The cost depends on the number of games, not on the size of the table of names.

    Parameters
    ----------
    pairs : Pairs
        Comparisons of items with names.
    weight : ndarray of shape (n,) or None
        Items that only occur in rows of weight 0 come after all others.

    Returns
    -------
    sides : ndarray of uint32 of shape (n, 2)
        Numbers of the left and the right items.
    names : ndarray of shape (m,)
        Names of the m items that occur.
    n_present : int
        How many of these occur in a row of positive weight.

    Raises
    ------
    ValueError
        If an item is compared with itself.
    """
    assert pairs.names is not None
    left, right, names = pairs.left, pairs.right, pairs.names
    n = len(left)
    if 2 * n < len(names):
        used, code = np.unique(np.concatenate([left, right]), return_inverse=True)
        left, right, names = code[:n], code[n:], names[used]
    number = np.full(len(names), -1, dtype=np.int64)
    order = np.empty(len(names), dtype=np.int64)
    sides = np.empty((n, 2), dtype=np.uint32)
    present = np.empty(0) if weight is None else weight
    n_present, n_all, n_same = number_items(left, right, present, number, order, sides)
    if n_same:
        same = np.flatnonzero(left == right)
        shown = plain_values(names[left[same[:5]]])
        raise ValueError(
            f"{len(same)} game(s) are of an item against itself: "
            f"{list_rows(same, shown)}. No rating can follow from such a game, not "
            "even from a tie; correct or remove these rows."
        )
    return sides, names[order[:n_all]], n_present


@njit(cache=True, nogil=True)
def number_items(left, right, weight, number, order, sides):  # type: ignore[no-untyped-def]
    """Number codes in order of first appearance, in place.

    Parameters
    ----------
    left, right : ndarray of int64 of shape (n,)
        Codes of the items.
    weight : ndarray of float64 of shape (n,) or (0,)
        Weights, if there are any; codes of rows with a positive one come first.
    number : ndarray of int64 of shape (n_codes,)
        Filled with -1; gets the number of every code that occurs.
    order : ndarray of int64 of shape (n_codes,)
        Gets the code of every number.
    sides : ndarray of uint32 of shape (n, 2)
        Gets the numbers of the items.

    Returns
    -------
    n_present, n_all, n_same : int
        How many codes occur with a positive weight and at all, and how many rows have
        the same code on both sides.
    """
    count = 0
    for i in range(len(weight)):
        if weight[i] > 0.0:
            for code in (left[i], right[i]):
                if number[code] < 0:
                    number[code] = count
                    order[count] = code
                    count += 1
    n_present, n_same = count, 0
    for i in range(len(left)):
        n_same += left[i] == right[i]
        for code in (left[i], right[i]):
            if number[code] < 0:
                number[code] = count
                order[count] = code
                count += 1
        sides[i, 0] = number[left[i]]
        sides[i, 1] = number[right[i]]
    if len(weight) == 0:
        n_present = count
    return n_present, count, n_same
