# SPDX-License-Identifier: BSD-3-Clause
"""The base of rating systems over time: Elo, Glicko and Glicko-2.

A new rating system names the columns of an item's state (``_columns``, ``_n_traced``)
and implements `_new_item` and `_play`, as `elo.py` does. History and ties come from
playing the log again.

Boundary conventions: row order is time; a row of weight 0 is absent, but has its place
in ``before_``; a difference exactly at the threshold is a tie.

With ``advantage="auto"`` the points of one unit minimize the log loss of the expected
scores, see docs/methods/ratings.md.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import check_outcomes, is_pairs
from tiebreak.data.arrays import Floats
from tiebreak.data.columns import as_column, as_names, plain_values
from tiebreak.data.messages import DataWarning, closest, warn_user
from tiebreak.data.parameters import check_parameters
from tiebreak.io.result import first_of
from tiebreak.models.base import UtilityMixin, accuracy, fits_outcomes, outcome_scores
from tiebreak.models.covariates import check_row_numbers
from tiebreak.ratings.named_results import named_pairs
from tiebreak.ratings.over_time.games import (
    Games,
    fit_ties,
    outcome_probabilities,
    read_games,
)

Settings = dict[str, Any]
Advantage = ArrayLike | float | None  # of left, in each row

_ODDS = 2.0  # a learned advantage of at most so many scales: a hundred to one
_ROWS = ("sides", "outcome", "weight", "advantage")


class SequentialRating(UtilityMixin, ClassifierMixin, BaseEstimator):
    """A model that learns game after game, or period after period."""

    _columns: ClassVar[tuple[str, ...]]  # of the state; "rating" first, "games" too
    _n_traced: ClassVar[int]  # how many of them before_ and the history show
    _measures_time: ClassVar[bool] = False  # whether periods must be numbers
    _fitted_arrays: ClassVar = {
        "items_": "n: any",
        "_before": "b 2 *",
        "_settings.init": ": any",
        "_log.sides": "r 2: index n+2*r",
        "_log.outcome": "r",
        "_log.weight": "r",
        "_log.advantage": "r",
        "_log.starts": "u: index r, rising, from 0",
        "_log.period": "u: any",
    }

    unseen: str
    _settings: Settings  # the parameters at fit, and the "points" of the advantage
    _state: Floats  # (N, len(_columns))
    _log: dict[str, Any]  # the fields of Games, since fit
    _later: list[Games]  # what is to be added to the log
    _before: Floats  # (n, 2, _n_traced), of the last call
    _cache: dict[str, Any]  # what is computed when first used

    def _read_settings(self) -> Settings:
        """Check the parameters and give those that ratings depend on."""
        check_parameters(self)
        values = {name: getattr(self, name) for name in self._parameters}
        del values["unseen"]
        starts = {k: dict(v) for k, v in values.items() if isinstance(v, Mapping)}
        values |= {name: getattr(type(self), name) for name in starts}
        out = {k: v if isinstance(v, str) else float(v) for k, v in values.items()}
        return out | {"points": out["advantage"], "starts": starts}

    def _read_clock(self, settings: Settings, games: Games) -> None:
        """Set how long a period is, where that matters."""

    @staticmethod
    def _new_item(settings: Settings) -> tuple[float, ...]:
        """Give the state of an item before its first game."""
        raise NotImplementedError

    @staticmethod
    def _play(
        settings: Settings, games: Games, state: Floats, before: Floats, after: Floats
    ) -> None:
        """Update a state by games, and write down what was before and after."""
        raise NotImplementedError

    @fits_outcomes
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: ArrayLike | None = None,
        advantage: Advantage = None,
        rater: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Rate the items from the beginning, in the order of the rows.

        Parameters
        ----------
        X, y : Pairs, array-like of shape (n,)
            Games of items by name, in the order of time: -1 left won, 0 tie, +1 right.
        period : array-like of shape (n,), optional
            Period of each game, not decreasing; its games are rated together. None:
            ratings change after every row.
        advantage : float or array-like of shape (n,), optional
            Points added to left in each row, instead of the parameter. If that is
            "auto", multiples of what is learned: 1 at home (default), 0 on neutral
            ground, -1 if right has it.
        rater, sample_weight : array-like of shape (n,), optional
            Who judged, which has no influence; a game of weight w counts w times.

        Returns
        -------
        self
        """
        columns = {"period": period, "advantage": advantage, "rater": rater}
        columns["sample_weight"] = sample_weight
        settings = self._read_settings()
        games, names, n_present = self._read_games(X, y, columns)
        self._read_clock(settings, games)
        state = self._new_state(settings, plain_values(names))
        if settings["advantage"] == "auto":
            settings["points"] = self._learn_advantage(settings, games, state)
        games = _in_points(settings, games)
        before = self._played(settings, games, state)
        log = {name: getattr(games, name) for name in _ROWS}
        if games.starts is not None:
            log |= {"starts": games.starts[:-1], "period": games.period}
        return self._keep(
            {
                "items_": as_names(plain_values(names[:n_present])),
                "_settings": settings,
                "_state": state[:n_present],
                "_before": before,
                "_log": log,
                "_later": [],
                "_cache": {},
            }
        )

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: ArrayLike | None = None,
        advantage: Advantage = None,
        rater: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Rate further games, from the ratings as they are; on a new model, fit.

        Parameters and a learned advantage stay those of `fit`. More games of the last
        period are a further update in it, from the ratings after the earlier ones.

        Parameters
        ----------
        X : Pairs
            Games, after all earlier ones in time.
        y, period : array-like of shape (n,)
            As in `fit`; periods in every call or in none.
        advantage, rater, sample_weight : optional
            As in `fit`.

        Returns
        -------
        self
        """
        columns = {"period": period, "advantage": advantage, "rater": rater}
        columns["sample_weight"] = sample_weight
        if not self.__sklearn_is_fitted__():
            if self._read_settings()["advantage"] == "auto":
                raise ValueError(
                    f"{type(self).__name__} got advantage='auto', and partial_fit "
                    "learns none: call fit first, or set a number of points."
                )
            pairs = named_pairs(X, type(self).__name__)
            y = check_outcomes(y, len(pairs), some=True)
            return self.fit(pairs, y, **columns)
        games, names, n_present = self._read_games(X, y, columns, few=True)
        last = self._later[-1].period if self._later else self._log.get("period")
        _check_continues(last, games.period)
        row_of = self._row_of()
        values = plain_values(names)
        new = [name for name in values if name not in row_of]
        entered = sum(name not in row_of for name in values[:n_present])
        place = {name: len(row_of) + k for k, name in enumerate(new)}
        places = [row_of[name] if name in row_of else place[name] for name in values]
        rows = np.array(places, dtype=np.uint32)
        settings = self._settings
        games = _in_points(settings, games._replace(sides=rows[games.sides]))
        state = np.concatenate([self._state, self._new_state(settings, new)])
        before = self._played(settings, games, state)
        self._later.append(games)
        self._before, self._cache = before, {}
        self._state = state[: len(row_of) + entered]
        if entered:
            self.items_ = as_names([*row_of, *new[:entered]])
        else:
            self._cache["row_of"] = row_of
        return self

    def _read_games(
        self, X: Any, y: ArrayLike | None, columns: dict[str, Any], few: bool = False
    ) -> tuple[Games, NDArray[Any], int]:
        name, numbers = type(self).__name__, self._measures_time
        return read_games(X, y, name, numbers=numbers, few=few, **columns)

    def _new_state(self, settings: Settings, names: list[Any]) -> Floats:
        """Give the state of items before their first game."""
        state = np.tile(np.array(self._new_item(settings)), (len(names), 1))
        starts = settings["starts"]
        for row, name in enumerate(names if starts else ()):
            own = {k: float(of[name]) for k, of in starts.items() if name in of}
            state[row] = self._new_item(settings | own)
        return state

    def _played(self, settings: Settings, games: Games, state: Floats) -> Floats:
        """Play games, which updates the state; give what was before each."""
        before = np.empty((len(games.outcome), 2, self._n_traced))
        self._play(settings, games, state, before, before[:0])
        return before

    def _learn_advantage(
        self, settings: Settings, games: Games, state: Floats
    ) -> float:
        """Find the points of a unit of advantage, see the module."""
        units, weight = games.advantage, games.weight
        weight = np.ones(len(games.outcome)) if weight is None else weight
        largest = 1.0 if units is None else float(np.abs(units[weight > 0]).max())
        if largest == 0.0:
            raise ValueError(
                "advantage is 0 in every row, so its size cannot be learned. Give 1 "
                "where left has it and -1 where right has, or set it to a number."
            )
        score = 0.5 + 0.5 * games.outcome  # of right

        def loss(points: float) -> float:
            trial = settings | {"points": points}
            played = _in_points(trial, games)
            before = self._played(trial, played, state.copy())
            added = points if played.advantage is None else played.advantage
            logit = self._effective_difference(before, added) * _per_point(trial)
            return float(weight @ (np.logaddexp(0.0, logit) - score * logit))

        bound = _ODDS * settings["scale"] / largest
        best: float = minimize_scalar(
            loss, bounds=(-bound, bound), options={"xatol": 1e-7 * bound}
        ).x
        if abs(best) > 0.999 * bound:
            warn_user(
                f"The {'left' if best > 0 else 'right'} side wins so often that no "
                f"advantage is large enough; it is set to {best:.0f} points.",
                DataWarning,
            )
        return float(best)

    @property
    def advantage_(self) -> float:
        """Points of left's advantage."""
        check_is_fitted(self)
        return self._settings["points"]

    def _row_of(self) -> dict[Any, int]:
        if "row_of" not in self._cache:
            names = plain_values(self.items_)
            self._cache["row_of"] = {name: row for row, name in enumerate(names)}
        return self._cache["row_of"]

    def _games(self) -> Games:
        if self._later:
            self._log = _append(self._log, self._later, self._settings["points"])
            self._later = []
        log: dict[str, Any] = dict.fromkeys(Games._fields) | self._log
        if log["starts"] is not None:
            log["starts"] = np.append(log["starts"], len(log["outcome"]))
        return Games(**log)

    def _replay(self, games: Games) -> tuple[Floats, Floats]:
        """Play the games again from the beginning; give before and after."""
        names = plain_values(self.items_)
        names += [None] * (int(games.sides.max()) + 1 - len(names))  # never played
        state = self._new_state(self._settings, names)
        before = np.empty((len(games.outcome), 2, self._n_traced))
        after = np.empty_like(before)
        self._play(self._settings, games, state, before, after)
        return before, after

    def __sklearn_is_fitted__(self) -> bool:
        return "_log" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        """Give the state with one log, without caches."""
        if not self.__sklearn_is_fitted__():
            return super().__getstate__()
        self._games()
        state = dict(super().__getstate__())
        del state["_cache"], state["_later"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            self._cache, self._later = {}, []

    @staticmethod
    def _effective_difference(values: Floats, advantage: float | Floats) -> Floats:
        """Give the difference that expected scores depend on, in rating points."""
        return values[:, 1, 0] - values[:, 0, 0] - advantage

    def _fitted_column(self, name: str) -> Floats:
        check_is_fitted(self)
        return self._now()[:, self._columns.index(name)]

    def _now(self) -> Floats:
        """Give the state after the last period."""
        return self._state

    @property
    def rating_(self) -> Floats:
        """Rating of every item."""
        return self._fitted_column("rating")

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The ratings."""
        return self.rating_

    @property
    def n_games_(self) -> Floats:
        """Games of every item, by weight."""
        return self._fitted_column("games")

    @property
    def wins_(self) -> Floats:
        """Won games, by weight."""
        return self._tally()[0]

    @property
    def ties_(self) -> Floats:
        """Tied games, by weight."""
        return self._tally()[1]

    @property
    def losses_(self) -> Floats:
        """Lost games, by weight."""
        return self._tally()[2]

    def _tally(self) -> Floats:
        check_is_fitted(self)
        if "tally" not in self._cache:
            games, n = self._games(), len(self.items_)
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
        """Ratings before each row of the last call."""
        return self._trace("rating")

    def _trace(self, name: str) -> Floats:
        check_is_fitted(self)
        return self._before[:, :, self._columns.index(name)]

    @property
    def history_(self) -> pl.DataFrame:
        """Ratings after every update since fit."""
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
            update = np.arange(len(games.period))
            update = np.repeat(update, 2 * np.diff(games.starts))
            # An item with several games in a period has one rating after it.
            key = update[kept] * len(self.items_) + item[kept]
            kept = kept[np.sort(np.unique(key, return_index=True)[1])]
            time = _gather("period", games.period, update[kept])
        columns = [time, _gather("item", self.items_, item[kept])]
        for i, name in enumerate(self._columns[: self._n_traced]):
            columns.append(pl.Series(name, after[kept, i]))
        return pl.DataFrame(columns)

    @property
    def slope_(self) -> float:
        """Slope of the tie model."""
        return self._tie_model()[0]

    @property
    def tie_(self) -> float:
        """Davidson's ν of the tie model."""
        return self._tie_model()[1]

    def _tie_model(self) -> tuple[float, float]:
        check_is_fitted(self)
        if "tie" not in self._cache:
            games, before = self._games(), self._before
            if len(before) != len(games.outcome):
                before = self._replay(games)[0]
            advantage = games.advantage
            points = self._settings["points"] if advantage is None else advantage
            logit = self._effective_difference(before, points)
            logit = logit * _per_point(self._settings)
            self._cache["tie"] = fit_ties(logit, games.outcome, games.weight)
        return self._cache["tie"]

    @property
    def threshold_(self) -> float:
        """Largest difference for which a tie is most likely."""
        check_is_fitted(self)
        if "threshold" not in self._cache:
            slope, tie = self._tie_model()
            logit = 2.0 * math.log(tie) / slope if tie > 1.0 else 0.0
            self._cache["threshold"] = logit / _per_point(self._settings)
        return self._cache["threshold"]

    @threshold_.setter
    def threshold_(self, value: float) -> None:
        self._cache["threshold"] = value

    def _values_of(self, names: NDArray[Any]) -> Floats:
        """First columns of the state of items, the prior's for unseen ones."""
        values, row_of = plain_values(names), self._row_of()
        rows = np.array([row_of.get(name, -1) for name in values], dtype=np.intp)
        if self.unseen != "prior" and (rows < 0).any():
            unseen = dict.fromkeys(repr(values[i]) for i in np.flatnonzero(rows < 0))
            raise ValueError(
                f"{len(unseen)} item(s) have no rating: {first_of(list(unseen))}. "
                "Known names are in items_; set_params(unseen='prior') admits others."
                f"{closest(values[int(np.argmax(rows < 0))], row_of)}"
            )
        state = self._now()[rows, : self._n_traced]
        new = [values[i] for i in np.flatnonzero(rows < 0)]
        state[rows < 0] = self._new_state(self._settings, new)[:, : self._n_traced]
        return state

    def _utility_of_names(self, names: Any) -> Floats:
        return self._values_of(as_column(names, "names"))[:, 0]

    def _sides_of(self, X: Any, advantage: Advantage) -> tuple[Floats, float | Floats]:
        """Give the state of both sides of games, and the advantage of left."""
        check_is_fitted(self)
        pairs = named_pairs(X, type(self).__name__).compact()
        assert pairs.names is not None
        values = self._values_of(pairs.names)
        points: float | Floats = self._settings["points"]
        if advantage is not None:
            unit = points if self._settings["advantage"] == "auto" else 1.0
            points = unit * check_row_numbers(advantage, "advantage", len(pairs))
        return np.stack([values[pairs.left], values[pairs.right]], axis=1), points

    def difference(self, X: Any, *, advantage: Advantage = None) -> Floats:
        """Difference of ratings, r(right) - r(left) - advantage.

        Parameters
        ----------
        X : Pairs
            Games of items with names.
        advantage : float or array-like of shape (n,), optional
            As in `fit`; None: ``advantage_``.

        Returns
        -------
        ndarray of shape (n,)
        """
        values, points = self._sides_of(X, advantage)
        return values[:, 1, 0] - values[:, 0, 0] - points

    def decision_function(self, X: Any, *, advantage: Advantage = None) -> Floats:
        """Scores of left, tie and right for games, or ratings of items.

        The columns are -d - τ, ``τ - |d|`` and d - τ, with τ = ``threshold_`` and d the
        `difference`, which Glicko's models multiply by g.

        Parameters
        ----------
        X, advantage
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, 3), or (n,) for items
        """
        check_is_fitted(self)
        if not is_pairs(X, by_name=True):
            return self.utility(X)
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return outcome_scores(difference, self.threshold_)

    def expected_score(self, X: Any, *, advantage: Advantage = None) -> Floats:
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

    def _right_logit(self, X: Any, advantage: Advantage) -> Floats:
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return difference * _per_point(self._settings)

    def predict_proba(self, X: Any, *, advantage: Advantage = None) -> Floats:
        """Probabilities of left, tie and right.

        Davidson's model adds ties to expected scores: P(left) : P(tie) : P(right) =
        exp(-d/2) : ν : exp(d/2), with d ``slope_`` times the logit of right's expected
        score and ν = ``tie_``, fitted to all games since fit.

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

    def predict(self, X: Any, *, advantage: Advantage = None) -> NDArray[Any]:
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
        if not is_pairs(X, by_name=True):
            return self.utility(X)
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return self._to_classes(difference)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: Advantage = None,
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
        if not is_pairs(X, by_name=True) or y is None or advantage is None:
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        predicted = self.predict(X, advantage=advantage)
        return accuracy(self, y, predicted, sample_weight)


def _gather(name: str, values: NDArray[Any], codes: NDArray[Any]) -> pl.Series:
    if values.dtype.kind == "O":
        return pl.Series(name, values[codes].tolist(), dtype=pl.Object)
    if values.dtype.kind == "U":
        return pl.Series(name, values.tolist()).gather(codes)
    return pl.Series(name, values[codes])


def _per_point(settings: Settings) -> float:
    return math.log(10.0) / settings["scale"]


def _in_points(settings: Settings, games: Games) -> Games:
    if settings["advantage"] != "auto" or games.advantage is None:
        return games
    return games._replace(advantage=settings["points"] * games.advantage)


def _append(log: dict[str, Any], later: list[Games], points: float) -> dict[str, Any]:
    """Give the log with further games; None stands for the usual value."""
    parts = [log, *(games._asdict() for games in later)]
    n_rows = [len(part["outcome"]) for part in parts]
    usual, out = {"weight": 1.0, "advantage": points}, dict(log)
    for name in _ROWS:
        if any(part[name] is not None for part in parts):
            out[name] = np.concatenate(
                [
                    np.full(n, usual[name]) if part[name] is None else part[name]
                    for n, part in zip(n_rows, parts, strict=True)
                ]
            )
    if "starts" in log:
        first = np.cumsum(n_rows[:-1])
        starts = [
            games["starts"][:-1] + n for n, games in zip(first, parts[1:], strict=True)
        ]
        out["starts"] = np.concatenate([log["starts"], *starts])
        out["period"] = np.concatenate([part["period"] for part in parts])
    return out


def _check_continues(earlier: NDArray[Any] | None, period: NDArray[Any] | None) -> None:
    if earlier is None and period is None:
        return
    if earlier is None or period is None:
        now, then = ("with", "without") if earlier is None else ("without", "with")
        raise ValueError(
            f"These games come {now} period and the earlier ones came {then}; give "
            "it in every call or in none, or start again with fit."
        )
    if period[0] < earlier[-1]:
        raise ValueError(
            f"period {plain_values(period[:1])[0]!r} at row 0 is before "
            f"{plain_values(earlier[-1:])[0]!r}, the last one of earlier calls."
        )
