# SPDX-License-Identifier: BSD-3-Clause
"""Games in the order of time: checked, numbered, and grouped into updates.

An *update* is a run of rows that are rated together, from the ratings before the first
of them: all rows of a period, or one row when there are no periods.

What ratings over time have in common: a state per item, and a log of the games.

The state of every item is a row of one array, and the log keeps the games themselves,
both in arrays whose capacity doubles, so that ``partial_fit`` of a game costs the same
however many there are. What is seldom asked for, the history and the tie model, is
found by playing the log again. Everything is a plain array, so that models can be
saved.

Boundary conventions: row order is time; rows of one period see the ratings before it;
a row of weight 0 is absent, but has its place in ``before_``.
"""

from __future__ import annotations

import datetime
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data import Pairs, check_outcomes, check_weights
from tiebreak.data.columns import as_column, as_names, plain_values, refuse_missing
from tiebreak.data.messages import list_rows
from tiebreak.metrics.inputs import outcome_vector
from tiebreak.models.base import OUTCOMES, UtilityMixin
from tiebreak.ratings.inputs import check_rater, check_row_numbers, named_pairs

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


def append(buffer: NDArray[Any], count: int, new: NDArray[Any]) -> NDArray[Any]:
    """Write behind the first rows of a buffer, in a larger one when it is full.

    Parameters
    ----------
    buffer : ndarray of shape (capacity, ...)
        Overwritten from row `count` on.
    count : int
        How many rows of it are in use.
    new : ndarray of shape (n, ...)
        What to write.

    Returns
    -------
    ndarray
        The buffer, or a new one of at least twice its length, so that a row is copied
        about once on average.
    """
    needed = count + len(new)
    kind = np.result_type(buffer, new)
    if needed > len(buffer) or kind != buffer.dtype:
        capacity = max(needed, 2 * len(buffer))
        larger = np.empty((capacity, *buffer.shape[1:]), dtype=kind)
        larger[:count] = buffer[:count]
        buffer = larger
    buffer[count:needed] = new
    return buffer


_ROWS = ("sides", "outcome", "weight", "advantage")
_PARTS = (
    "_settings",
    "_state",
    "_names",
    "_kind",
    "_log",
    "_n_rows",
    "_n_updates",
    "_before",
    "_row_of",
    "_cache",
)


_KINDS = dict.fromkeys("iuf", "numbers") | {"U": "text", "M": "dates"}


class GameLog(UtilityMixin, ClassifierMixin, BaseEstimator):
    """A model that learns game after game, or period after period.

    A subclass names the columns of its state, the first of them those that ``before_``
    and the history show, and implements `_read_settings`, `_new_item` and `_play`.
    """

    _columns: ClassVar[tuple[str, ...]]
    _n_traced: ClassVar[int]
    _measures_time: ClassVar[bool] = False

    _settings: dict[str, Any]
    _state: NDArray[np.float64]
    _names: list[Any]
    _kind: str
    _log: dict[str, Any]
    _n_rows: int
    _n_updates: int
    _before: NDArray[np.float64]
    _row_of: dict[Any, int] | None = None
    _cache: dict[str, Any]

    def _read_settings(self) -> dict[str, Any]:
        """Check the parameters and give those that ratings depend on."""
        raise NotImplementedError

    def _new_item(self) -> tuple[float, ...]:
        """Give the state of an item before its first game."""
        raise NotImplementedError

    def _play(
        self,
        games: Games,
        state: NDArray[np.float64],
        before: NDArray[np.float64],
        after: NDArray[np.float64],
    ) -> None:
        """Update a state by games, and write down what was before and after."""
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: ArrayLike | None = None,
        advantage: ArrayLike | float | None = None,
        rater: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Rate the items from the beginning, in the order of the rows.

        Parameters
        ----------
        X : Pairs
            Games of items with names, in the order of time.
        y : array-like of shape (n,)
            Outcomes: -1 left won, 0 tie, +1 right won.
        period : array-like of shape (n,), optional
            Period of each game, not decreasing. All games of a period are rated
            together, from the ratings before it. None: ratings change after every row.
        advantage : float or array-like of shape (n,), optional
            Rating points added to left in each row, instead of the parameter.
        rater : array-like of shape (n,), optional
            Who judged. It is checked, and has no influence on these ratings; it is
            here so that the same call fits every rating model.
        sample_weight : array-like of shape (n,), optional
            A game of weight w counts w times in its update; of weight 0, not at all.

        Returns
        -------
        self
            The fitted model.
        """
        settings = self._read_settings()
        pairs = named_pairs(X, type(self).__name__)
        columns = check_games(
            y,
            len(pairs),
            period=period,
            advantage=advantage,
            rater=rater,
            sample_weight=sample_weight,
        )
        self._check_numbers(columns)
        sides, names, n_present = number_sides(pairs, columns.weight)
        self._forget()
        self._settings = settings
        self._state = np.empty((len(names), len(self._columns)))
        self._state[:] = self._new_item()
        self._names = plain_values(names[:n_present])
        self._kind = _kind_of_names(pairs)
        self._log, self._n_rows, self._n_updates = {}, 0, 0
        self.classes_ = OUTCOMES.copy()
        return self._take(Games(sides, *columns))

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: ArrayLike | None = None,
        advantage: ArrayLike | float | None = None,
        rater: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Rate further games, from the ratings as they are; on a new model, fit.

        The cost depends on the number of these games only. New items enter as they do
        in fit. Games of the period that was last are a further update in it: no time
        passes, but they see the ratings after the earlier ones.

        Parameters
        ----------
        X : Pairs
            Games, after all earlier ones in time.
        y : array-like of shape (n,)
            Outcomes: -1 left won, 0 tie, +1 right won.
        period : array-like of shape (n,), optional
            Periods, not before those of earlier calls; in every call or in none.
        advantage : float or array-like of shape (n,), optional
            Rating points added to left in each row, instead of the parameter.
        rater : array-like of shape (n,), optional
            Checked, and not used.
        sample_weight : array-like of shape (n,), optional
            Weights, as in fit.

        Returns
        -------
        self
            The model.
        """
        given = {"period": period, "advantage": advantage, "rater": rater}
        given["sample_weight"] = sample_weight
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, **given)
        self._check_settings(self._read_settings())
        pairs = named_pairs(X, type(self).__name__)
        columns = check_games(y, len(pairs), **given, few=True)
        self._check_numbers(columns)
        self._check_continues(columns)
        self._check_kind(_kind_of_names(pairs))
        sides, names, n_present = number_sides(pairs, columns.weight)
        rows = self._enter(plain_values(names), n_present)
        return self._take(Games(rows[sides], *columns))

    def _take(self, games: Games) -> Self:
        """Play checked games and write them into the log."""
        n = len(games.outcome)
        self._before = np.empty((n, 2, self._n_traced))
        self._play(games, self._state, self._before, self._before[:0])
        for name in _ROWS:
            self._write(name, getattr(games, name), self._n_rows, n)
        if games.starts is not None:
            self._write("starts", games.starts[:-1] + self._n_rows, self._n_updates)
            self._write("period", games.period, self._n_updates)
            self._n_updates += len(games.starts) - 1
        self._n_rows += n
        self._cache = {}
        return self

    def _write(
        self, name: str, new: NDArray[Any] | None, count: int, n: int = 0
    ) -> None:
        """Append to a column of the log; None stands for the usual value."""
        old = self._log.get(name)
        if old is None and (new is None or count == 0):
            self._log[name] = new
            return
        usual = 1.0 if name == "weight" else self._settings["advantage"]
        if old is None:
            old = np.full(count, usual)
        if new is None:
            new = np.full(n, usual)
        self._log[name] = append(old, count, new)

    def _enter(self, names: list[Any], n_present: int) -> NDArray[np.uint32]:
        """Find the rows of items by name; new ones get a row at the end.

        The last of the names only occur in rows of weight 0. New ones among them get a
        row for the time being, which the next new item takes over.
        """
        row_of = self._rows()
        rows = np.empty(len(names), dtype=np.uint32)
        count = known = len(self._names)
        for i, name in enumerate(names):
            row = row_of.get(name)
            if row is None:
                row, count = count, count + 1
                if i < n_present:
                    row_of[name] = row
                    self._names.append(name)
            rows[i] = row
        new = np.empty((count - known, len(self._columns)))
        new[:] = self._new_item()
        self._state = append(self._state, known, new)
        return rows

    def _rows(self) -> dict[Any, int]:
        if self._row_of is None:
            self._row_of = {name: row for row, name in enumerate(self._names)}
        return self._row_of

    def _games(self) -> Games:
        """Give the games of all calls since fit."""
        log, n, n_updates = self._log, self._n_rows, self._n_updates
        part: dict[str, Any] = dict.fromkeys(Games._fields)
        for name in _ROWS:
            part[name] = None if log[name] is None else log[name][:n]
        if "starts" in log:
            part["starts"] = np.append(log["starts"][:n_updates], n)
            part["period"] = log["period"][:n_updates]
        return Games(**part)

    def _replay(self, games: Games) -> tuple[NDArray[Any], NDArray[Any]]:
        """Play the games again from the beginning; give before and after."""
        state = np.empty((int(games.sides.max()) + 1, len(self._columns)))
        state[:] = self._new_item()
        before = np.empty((self._n_rows, 2, self._n_traced))
        after = np.empty_like(before)
        self._play(games, state, before, after)
        return before, after

    def _check_settings(self, settings: dict[str, Any]) -> None:
        changed = [
            f"{name} was {self._settings[name]!r} and is {settings[name]!r}"
            for name in settings
            if settings[name] != self._settings[name]
        ]
        if changed:
            raise ValueError(
                f"Parameters of {type(self).__name__} changed since fit: "
                f"{', '.join(changed)}. Ratings under different rules do not compare; "
                "set them back, or call fit with all games."
            )

    def _check_numbers(self, columns: Columns) -> None:
        period = columns.period
        if period is None or not self._measures_time or period.dtype.kind in "iuf":
            return
        raise TypeError(
            f"{type(self).__name__} needs numbers as period, because deviations grow "
            f"with the time between them; got {plain_values(period[:1])[0]!r} at row "
            "0. For months try np.asarray(dates, dtype='datetime64[M]').astype(int), "
            "for days 'datetime64[D]' in the same place."
        )

    def _check_continues(self, columns: Columns) -> None:
        """Refuse periods that do not come after those of earlier calls."""
        periods, period = self._log.get("period"), columns.period
        if (periods is None) != (period is None):
            now, then = "without", "with"
            if periods is None:
                now, then = then, now
            raise ValueError(
                f"These games come {now} period and the earlier ones came {then}; give "
                "it in every call or in none, or start again with fit."
            )
        if periods is None or period is None:
            return
        kinds = {_KINDS[periods.dtype.kind], _KINDS[period.dtype.kind]}
        if len(kinds) > 1:
            raise TypeError(
                f"period holds {_KINDS[period.dtype.kind]} here and held "
                f"{_KINDS[periods.dtype.kind]} in earlier calls, so there is no order "
                "between them."
            )
        last = periods[self._n_updates - 1]
        if period[0] < last:
            raise ValueError(
                f"period {plain_values(period[:1])[0]!r} at row 0 is before "
                f"{plain_values(np.array([last]))[0]!r}, the last one of earlier "
                "calls. Row order is time here; to rate earlier games call fit with "
                "all games, sorted by period."
            )

    def _check_kind(self, kind: str) -> None:
        if {kind, self._kind} == {"text", "numbers"}:
            raise TypeError(
                f"The items so far are {self._kind} and these are {kind}, so none of "
                "them could be known. Give names of one type."
            )

    def _forget(self) -> Self:
        super()._forget()
        for name in _PARTS:
            self.__dict__.pop(name, None)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_log" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        """Give the state without spare capacity, and names as an array."""
        state = dict(super().__getstate__())
        if not self.__sklearn_is_fitted__():
            return state
        games = self._games()
        log = {name: getattr(games, name) for name in _ROWS}
        if games.starts is not None:
            log |= {"starts": games.starts[:-1], "period": games.period}
        state |= {
            "_log": {k: None if v is None else v.copy() for k, v in log.items()},
            "_state": self._state[: len(self._names)].copy(),
            "_names": as_names(self._names),
            "_row_of": None,
            "_cache": {},
        }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__() and isinstance(self._names, np.ndarray):
            self._names = plain_values(self._names)


def _kind_of_names(pairs: Pairs) -> str:
    assert pairs.names is not None
    return _KINDS.get(pairs.names.dtype.kind, "values")
