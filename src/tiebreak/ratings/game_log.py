# SPDX-License-Identifier: BSD-3-Clause
"""What ratings over time have in common: a state per item, and a log of the games.

The state of every item is a row of one array, and the log keeps the games themselves,
both in arrays whose capacity doubles, so that ``partial_fit`` of a game costs the same
however many there are. What is seldom asked for, the history and the tie model, is
found by playing the log again. Everything is a plain array, so that models can be
saved.

Boundary conventions: row order is time; rows of one period see the ratings before it;
a row of weight 0 is absent, but has its place in ``before_``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data import Pairs
from tiebreak.data.columns import as_names, plain_values
from tiebreak.models.base import OUTCOMES, UtilityMixin
from tiebreak.ratings.buffers import append
from tiebreak.ratings.games import (
    Columns,
    Games,
    check_games,
    number_sides,
)
from tiebreak.ratings.inputs import named_pairs

__all__ = ["GameLog"]

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
