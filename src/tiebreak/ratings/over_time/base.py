# SPDX-License-Identifier: BSD-3-Clause
"""The base of rating systems over time: Elo, Glicko and Glicko-2.

A new rating system is a subclass of `SequentialRating`, in a file of its own. It names
the columns of an item's state (``_columns``, ``_n_traced``) and implements
`_read_settings` (check the parameters), `_new_item` (the state before the first game)
and `_play` (update the state by games). `elo.py` is the shortest example. State and
games are arrays whose capacity doubles, so that ``partial_fit`` of a game always costs
the same; the history and the tie model are found by playing the log again.

Boundary conventions: row order is time; rows of one period see the ratings before it;
a row of weight 0 is absent, but has its place in ``before_``. The advantage of left
counts in every comparison, so differences are r(right) - r(left) - advantage; one
exactly at the threshold is a tie.

*Advantage learned.* With ``advantage="auto"`` the points a of one unit of advantage
minimize the log loss of the expected scores E of left, with scores s (a tie is ½), ::

    -Σᵢ wᵢ (sᵢ ln Eᵢ(a) + (1 - sᵢ) ln(1 - Eᵢ(a))),

a sum over the games of one pass through `fit`, each predicted from the ratings before
it, which depend on a too. No unit may be worth more than odds of a hundred to one.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Pairs, check_outcomes, is_pairs
from tiebreak.data.columns import as_column, as_names, plain_values
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import check_parameters
from tiebreak.lazy import LateModule
from tiebreak.models.base import (
    UtilityMixin,
    accuracy,
    fits_outcomes,
    outcome_scores,
)
from tiebreak.models.covariates import check_row_numbers
from tiebreak.ratings.inputs import named_pairs
from tiebreak.ratings.over_time.games import (
    Games,
    append,
    check_games,
    fit_ties,
    number_sides,
    outcome_probabilities,
    refuse_unmeasured,
)

Floats = NDArray[np.float64]

optimize = LateModule("scipy.optimize")  # for a learned advantage
_SHOWN_NAMES = 10
_ODDS = 2.0  # a learned advantage of at most so many scales: a hundred to one
_ROWS = ("sides", "outcome", "weight", "advantage")
_KINDS = dict.fromkeys("iuf", "numbers") | {"U": "text", "M": "dates"}


class SequentialRating(UtilityMixin, ClassifierMixin, BaseEstimator):
    """A model that learns game after game, or period after period."""

    _columns: ClassVar[tuple[str, ...]]  # of the state; "rating" first, "games" too
    _n_traced: ClassVar[int]  # how many of them before_ and the history show
    _measures_time: ClassVar[bool] = False  # whether periods must be numbers

    unseen: str
    _settings: dict[str, Any]  # the parameters at fit
    _state: Floats  # (capacity, len(_columns))
    _names: list[Any]
    _kind: str  # of names: text, numbers, dates or values
    _log: dict[str, Any]  # the fields of Games, of all calls since fit
    _n_rows: int
    _n_updates: int
    _before: Floats  # (n, 2, _n_traced), of the last call
    _row_of: dict[Any, int] | None = None
    _cache: dict[str, Any]  # what is found when first asked for

    def _checked_parameters(self) -> dict[str, Any]:
        """Return the parameters that a fit depends on."""
        check_parameters(self)
        values = {name: getattr(self, name) for name in self._parameters}
        del values["unseen"]
        return {k: v if isinstance(v, str) else float(v) for k, v in values.items()}

    def _read_settings(self) -> dict[str, Any]:
        """Check the parameters and give those that ratings depend on."""
        raise NotImplementedError

    def _new_item(self) -> tuple[float, ...]:
        """Give the state of an item before its first game."""
        raise NotImplementedError

    def _play(self, games: Games, state: Floats, before: Floats, after: Floats) -> None:
        """Update a state by games, and write down what was before and after."""
        raise NotImplementedError

    @fits_outcomes
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
        X, y : Pairs, array-like of shape (n,)
            Games of items by name, in the order of time: -1 left won, 0 tie, +1 right.
        period : array-like of shape (n,), optional
            Period of each game, not decreasing. All games of a period are rated
            together, from the ratings before it. None: ratings change after every row.
        advantage : float or array-like of shape (n,), optional
            Rating points added to left in each row, instead of the parameter. If that
            is "auto": how many times the points to be learned count for left, such as 1
            at home, 0 on neutral ground, -1 if right has it; None: 1 in every row.
        rater, sample_weight : array-like of shape (n,), optional
            Who judged, which has no influence; a game of weight w counts w times.

        Returns
        -------
        self
        """
        given: dict[str, Any] = {"period": period, "advantage": advantage}
        given |= {"rater": rater, "sample_weight": sample_weight}
        settings = self._read_settings()
        pairs = named_pairs(X, type(self).__name__)
        games = check_games(y, len(pairs), **given)
        self._check_numbers(games.period)
        if settings["advantage"] == "auto":
            _refuse_no_advantage(games)
        sides, names, n_present = number_sides(pairs, games.weight)
        self._forget()
        self._settings = settings
        self._state = np.empty((len(names), len(self._columns)))
        self._state[:] = self._new_item()
        self._names = plain_values(names[:n_present])
        self._kind = _kind_of_names(pairs)
        self._log, self._n_rows, self._n_updates = {}, 0, 0
        games = games._replace(sides=sides)
        if settings["advantage"] == "auto":
            self._settings["learned"] = self._learn_advantage(games)
        return self._take(self._in_points(games))

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

        The cost depends on the number of these games only. An advantage that `fit`
        learned is kept; here none is learned. Games of the period that was last are a
        further update in it: they see the ratings after the earlier ones.

        Parameters
        ----------
        X : Pairs
            Games, after all earlier ones in time.
        y, period : array-like of shape (n,)
            As in `fit`; periods not before earlier ones, in every call or in none.
        advantage, rater, sample_weight : optional
            As in `fit`.

        Returns
        -------
        self
        """
        given = {"period": period, "advantage": advantage, "rater": rater}
        given["sample_weight"] = sample_weight
        if not self.__sklearn_is_fitted__():
            if self._read_settings()["advantage"] == "auto":
                raise ValueError(
                    f"{type(self).__name__} got advantage='auto', and partial_fit "
                    "learns none: it would be that of a few games, for ever. Call fit "
                    "with earlier games first, or set advantage to a number of points."
                )
            n_rows = len(named_pairs(X, type(self).__name__))
            return self.fit(X, check_outcomes(y, n_rows, some=True), **given)
        self._check_settings(self._read_settings())
        pairs = named_pairs(X, type(self).__name__)
        games = check_games(y, len(pairs), **given, few=True)
        self._check_numbers(games.period)
        self._check_continues(games)
        kind = _kind_of_names(pairs)
        if {kind, self._kind} == {"text", "numbers"}:
            raise TypeError(
                f"The items so far are {self._kind} and these are {kind}, so none of "
                "them could be known. Give names of one type."
            )
        sides, names, n_present = number_sides(pairs, games.weight)
        rows = self._enter(plain_values(names), n_present)
        return self._take(self._in_points(games._replace(sides=rows[sides])))

    def _in_points(self, games: Games) -> Games:
        """Turn multiples of a learned advantage into rating points."""
        if "learned" not in self._settings or games.advantage is None:
            return games
        return games._replace(advantage=self._points * games.advantage)

    def _learn_advantage(self, games: Games) -> float:
        """Find the points of a unit of advantage that predict games best, forward."""
        weight = np.ones(len(games.outcome)) if games.weight is None else games.weight
        score = 0.5 + 0.5 * games.outcome  # of right
        before = np.empty((len(score), 2, self._n_traced))
        state = np.empty_like(self._state)

        def loss(points: float) -> float:
            self._settings["learned"] = points
            trial = self._in_points(games)
            state[:] = self._new_item()
            self._play(trial, state, before, before[:0])
            added = points if trial.advantage is None else trial.advantage
            logit = self._effective_difference(before, added) * self._per_point
            return float(weight @ (np.logaddexp(0.0, logit) - score * logit))

        largest = 1.0
        if games.advantage is not None:
            largest = float(np.abs(games.advantage[weight > 0]).max())
        bound = _ODDS * self._settings["scale"] / largest
        found = optimize.minimize_scalar(
            loss, bounds=(-bound, bound), options={"xatol": 1e-7 * bound}
        )
        if abs(found.x) > 0.999 * bound:
            side = "left" if found.x > 0 else "right"
            warn_user(
                f"The {side} side wins so often that no advantage is large enough; it "
                f"is set to the largest, {found.x:.0f} points. Are sides in the data "
                "sorted by outcome?",
                DataWarning,
            )
        return float(found.x)

    @property
    def _points(self) -> float:
        """Points of a unit of advantage: the parameter, or what was learned."""
        return self._settings.get("learned", self._settings["advantage"])

    @property
    def advantage_(self) -> float:
        """Rating points of left's advantage, the parameter or learned."""
        check_is_fitted(self)
        return self._points

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
        usual = 1.0 if name == "weight" else self._points
        if old is None:
            old = np.full(count, usual)
        if new is None:
            new = np.full(n, usual)
        self._log[name] = append(old, count, new)

    def _enter(self, names: list[Any], n_present: int) -> NDArray[np.uint32]:
        """Find the rows of items by name; new ones get a row at the end."""
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

    def _check_numbers(self, period: NDArray[Any] | None) -> None:
        if period is not None and self._measures_time:
            why = "deviations grow with the time between them"
            refuse_unmeasured(period, type(self).__name__, why)

    def _check_continues(self, games: Games) -> None:
        """Refuse periods that do not come after those of earlier calls."""
        periods, period = self._log.get("period"), games.period
        if (periods is None) != (period is None):
            now, then = ("with", "without") if periods is None else ("without", "with")
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

    def _forget(self) -> Self:
        super()._forget()
        for name in SequentialRating.__annotations__.keys() & self.__dict__.keys():
            if name.startswith("_"):
                del self.__dict__[name]
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

    def _effective_difference(
        self, values: Floats, advantage: float | Floats
    ) -> Floats:
        """Give the difference that expected scores depend on, in rating points."""
        return values[:, 1, 0] - values[:, 0, 0] - advantage

    def _fitted_column(self, name: str) -> Floats:
        check_is_fitted(self)
        column = self._columns.index(name)
        if name not in self._cache:
            self._cache[name] = self._state[: len(self._names), column].copy()
        return self._cache[name]

    @property
    def items_(self) -> NDArray[Any]:  # type: ignore[override]
        """Names of the items, in order of their first game."""
        check_is_fitted(self)
        if "items" not in self._cache:
            self._cache["items"] = as_names(self._names)
        return self._cache["items"]

    @property
    def rating_(self) -> Floats:
        """Rating of every item."""
        return self._fitted_column("rating")

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The ratings, under the name that all models share."""
        return self.rating_

    @property
    def n_games_(self) -> Floats:
        """Number of games of every item, counted by their weights."""
        return self._fitted_column("games")

    @property
    def wins_(self) -> Floats:
        """Summed weights of the games each item won."""
        return self._tally()[0]

    @property
    def ties_(self) -> Floats:
        """Summed weights of the games each item tied."""
        return self._tally()[1]

    @property
    def losses_(self) -> Floats:
        """Summed weights of the games each item lost."""
        return self._tally()[2]

    def _tally(self) -> Floats:
        check_is_fitted(self)
        if "tally" not in self._cache:
            games, n = self._games(), len(self._names)
            left, right = games.sides.T.astype(np.int64)
            # From the side of left, 0 is a win; from the side of right, a loss.
            result, weight = games.outcome.astype(np.int64) + 1, games.weight
            if weight is not None:  # absent rows may have items that are not known
                present = weight > 0
                left, right, result = left[present], right[present], result[present]
                weight = np.tile(weight[present], 2)
            key = np.concatenate([result * n + left, (2 - result) * n + right])
            counts = np.bincount(key, weight, 3 * n)
            self._cache["tally"] = counts.reshape(3, n).astype(np.float64)
        return self._cache["tally"]

    @property
    def before_(self) -> Floats:
        """Ratings of left and right before each row of the last call."""
        return self._trace("rating")

    def _trace(self, name: str) -> Floats:
        check_is_fitted(self)
        return self._before[:, :, self._columns.index(name)]

    @property
    def history_(self) -> pl.DataFrame:
        """Ratings after every update of an item, over all calls since fit."""
        check_is_fitted(self)
        if "history" not in self._cache:
            self._cache["history"] = self._make_history()
        return self._cache["history"]

    def _make_history(self) -> pl.DataFrame:
        games = self._games()
        after = self._replay(games)[1].reshape(-1, self._n_traced)
        item = games.sides.ravel()
        kept = np.arange(len(item))
        if games.weight is not None:
            kept = np.flatnonzero(np.repeat(games.weight > 0, 2))
        if games.starts is None or games.period is None:
            time = pl.Series("row", kept // 2)
        else:
            update = np.repeat(np.arange(self._n_updates), 2 * np.diff(games.starts))
            # An item with several games in a period has one rating after it.
            key = update[kept] * len(self._names) + item[kept]
            kept = kept[np.sort(np.unique(key, return_index=True)[1])]
            time = _gather("period", games.period, update[kept])
        columns = [time, _gather("item", self.items_, item[kept])]
        for i, name in enumerate(self._columns[: self._n_traced]):
            columns.append(pl.Series(name, after[kept, i]))
        return pl.DataFrame(columns)

    @property
    def slope_(self) -> float:
        """Slope of the logit in the tie model."""
        return self._tie_model()[0]

    @property
    def tie_(self) -> float:
        """Davidson's ν of the tie model."""
        return self._tie_model()[1]

    def _tie_model(self) -> tuple[float, float]:
        check_is_fitted(self)
        if "tie" not in self._cache:
            games, before = self._games(), self._before
            if len(before) < self._n_rows:
                before = self._replay(games)[0]
            advantage = self._points if games.advantage is None else games.advantage
            logit = self._effective_difference(before, advantage) * self._per_point
            self._cache["tie"] = fit_ties(logit, games.outcome, games.weight)
        return self._cache["tie"]

    @property
    def _per_point(self) -> float:
        """Logit of the expected score per rating point."""
        return math.log(10.0) / self._settings["scale"]

    @property
    def threshold_(self) -> float:
        """Largest difference, in rating points, for which a tie is most likely."""
        check_is_fitted(self)
        if "threshold" not in self._cache:
            slope, tie = self._tie_model()
            logit = 2.0 * math.log(tie) / slope if tie > 1.0 else 0.0
            self._cache["threshold"] = logit / self._per_point
        return self._cache["threshold"]

    @threshold_.setter
    def threshold_(self, value: float) -> None:
        check_is_fitted(self)
        self._cache["threshold"] = value

    def _look_up(self, names: NDArray[Any]) -> NDArray[np.intp]:
        """Find the rows of items; -1 for unseen ones, if these are allowed."""
        asked, row_of = plain_values(names), self._rows()
        rows = np.array([row_of.get(name, -1) for name in asked], dtype=np.intp)
        check_parameters(self)
        if self.unseen == "error" and (rows < 0).any():
            unseen = list(dict.fromkeys(asked[i] for i in np.flatnonzero(rows < 0)))
            more = len(unseen) - _SHOWN_NAMES
            shown = ", ".join(map(repr, unseen[:_SHOWN_NAMES]))
            raise ValueError(
                f"{len(unseen)} item(s) have no rating, because no game of theirs was "
                f"seen: {shown}{f' and {more} more' if more > 0 else ''}. Known names "
                f"are in items_; {type(self).__name__}(unseen='prior') would give "
                "others the rating that new items start with."
            )
        return rows

    def _values_of(self, names: NDArray[Any]) -> Floats:
        """Give the first columns of the state of items, the prior's for unseen ones."""
        rows = self._look_up(names)
        values = self._state[rows, : self._n_traced]
        values[rows < 0] = self._new_item()[: self._n_traced]
        return values

    def _utility_of_names(self, names: Any) -> Floats:
        if np.ndim(names) > 1:
            raise ValueError(
                f"{type(self).__name__} rates items by name; expected a list of names, "
                f"got shape {np.shape(names)}."
            )
        return self._values_of(as_column(names, "names"))[:, 0]

    def _sides_of(
        self, X: Any, advantage: ArrayLike | float | None
    ) -> tuple[Floats, float | Floats]:
        """Give the state of both sides of games, and the advantage of left."""
        check_is_fitted(self)
        pairs = named_pairs(X, type(self).__name__).compact()
        assert pairs.names is not None
        values = self._values_of(pairs.names)
        points: float | Floats = self._points
        if advantage is not None:
            unit = self._points if "learned" in self._settings else 1.0
            points = unit * check_row_numbers(advantage, "advantage", len(pairs))
        return np.stack([values[pairs.left], values[pairs.right]], axis=1), points

    def difference(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> Floats:
        """Difference of ratings, r(right) - r(left) - advantage.

        Parameters
        ----------
        X : Pairs
            Games of items with names.
        advantage : float or array-like of shape (n,), optional
            Points added to left, or multiples of a learned advantage, as in `fit`;
            None: ``advantage_``.

        Returns
        -------
        ndarray of shape (n,)
        """
        values, points = self._sides_of(X, advantage)
        return values[:, 1, 0] - values[:, 0, 0] - points

    def decision_function(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> Floats:
        """Scores of left, tie and right for games, or ratings of items.

        The columns are -d - τ, ``τ - |d|`` and d - τ, where τ is ``threshold_`` and d
        is `difference`, which Glicko's models multiply by a discount for uncertain
        ratings. The largest is that of `predict`.

        Parameters
        ----------
        X, advantage
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, 3), or (n,) for items
        """
        check_is_fitted(self)
        if not is_pairs(X):
            return self.utility(X)
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return outcome_scores(difference, self.threshold_)

    def expected_score(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> Floats:
        """Score that left can expect: its chance to win plus half that of a tie.

        Parameters
        ----------
        X, advantage
            As in `difference`.

        Returns
        -------
        ndarray of shape (n,)
        """
        return expit(-self._right_logit(X, advantage))

    def _right_logit(self, X: Any, advantage: ArrayLike | float | None) -> Floats:
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return difference * self._per_point

    def predict_proba(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> Floats:
        """Probabilities of left, tie and right.

        A tie model is added to the expected scores: P(left) : P(tie) : P(right) =
        exp(-d/2) : ν : exp(d/2), where d is ``slope_`` times the logit of right's
        expected score and ν is ``tie_``. Both are fitted, when first asked for, to all
        games since fit, each predicted from the ratings before it.

        Parameters
        ----------
        X, advantage
            As in `difference`.

        Returns
        -------
        ndarray of shape (n, 3)
        """
        logit = self._right_logit(X, advantage)
        return outcome_probabilities(logit, *self._tie_model())

    def predict(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> NDArray[Any]:
        """Most likely outcomes of games, or ratings of items.

        Parameters
        ----------
        X : Pairs, or names of items
            Dispatch is by type.
        advantage : float or array-like of shape (n,), optional
            As in `difference`.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if not is_pairs(X):
            return self.utility(X)
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return self._to_classes(difference)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: ArrayLike | float | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on games; 1 - swapped-pair fraction on graded items.

        Parameters
        ----------
        X, y
            Pairs and outcomes, Orders, or names of items and their grades.
        advantage : float or array-like of shape (n,), optional
            As in `difference`.
        qid, sample_weight : array-like of shape (n,), optional
            Groups of graded items, and weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if not is_pairs(X) or y is None or advantage is None:
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        found = self.predict(X, advantage=advantage)
        return accuracy(self, y, found, sample_weight)


def _gather(name: str, values: NDArray[Any], codes: NDArray[Any]) -> pl.Series:
    """Repeat values in a column; mixed ones stay Python objects."""
    if values.dtype.kind == "O":
        return pl.Series(name, values[codes].tolist(), dtype=pl.Object)
    if values.dtype.kind == "U":
        return pl.Series(name, values.tolist()).gather(codes)
    return pl.Series(name, values[codes])


def _refuse_no_advantage(games: Games) -> None:
    given, weight = games.advantage, games.weight
    if given is not None and not (given if weight is None else given * weight).any():
        raise ValueError(
            "advantage is 0 in every row, so its size cannot be learned. Give 1 where "
            "left has it and -1 where right has, or set advantage to a number."
        )


def _kind_of_names(pairs: Pairs) -> str:
    assert pairs.names is not None
    return _KINDS.get(pairs.names.dtype.kind, "values")
