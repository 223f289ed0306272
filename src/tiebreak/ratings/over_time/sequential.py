# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked of ratings over time: ratings, histories, scores, outcomes.

Boundary conventions: the advantage of left counts in every comparison, so differences
are r(right) - r(left) - advantage; one exactly at the threshold is a tie.

Probabilities of left, tie and right for ratings that know only expected scores.

Davidson's model with d, the slope times the logit of right's expected score:

    P(left) : P(tie) : P(right)  =  exp(-d / 2) : ν : exp(d / 2).

Slope and ν are those of maximum likelihood, with two gentle terms that keep them
positive and finite whatever the games are: the penalty ``slope - log(slope)``, which is
least where the ratings mean what they say (slope 1), and one imagined game between
equals that somebody won. Without any tie ν is exactly 0.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple, NoReturn

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import is_pairs
from tiebreak.data.columns import as_column, as_names, plain_values
from tiebreak.models.base import accuracy, to_outcomes
from tiebreak.ratings.inputs import check_row_numbers, named_pairs
from tiebreak.ratings.over_time.games import GameLog

_MAX_ITER = 100
_TOLERANCE = 1e-13


class _Point(NamedTuple):
    """The objective in (slope, log ν) with its derivatives."""

    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]


def fit_ties(
    logit: NDArray[np.float64],
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Fit the slope and ν of Davidson's model, by Newton's method.

    Parameters
    ----------
    logit : ndarray of shape (n,)
        Logit of right's expected score.
    outcome : ndarray of shape (n,)
        -1, 0 or +1.
    weight : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    slope : float
        Positive.
    tie : float
        ν, not negative.
    """
    weight = np.ones(len(logit)) if weight is None else weight
    tied = float(weight[outcome == 0].sum())
    free = 2 if tied > 0 else 1
    decided = float(weight.sum()) - tied
    at = np.array([1.0, np.log(2.0 * tied / (decided + 1.0)) if tied else -np.inf])
    totals = np.array([0.5 * float((weight * outcome) @ logit), tied])
    here = _objective(at, logit, weight, totals)
    for _ in range(_MAX_ITER):
        step = np.zeros(2)
        step[:free] = np.linalg.solve(here.hessian[:free, :free], -here.gradient[:free])
        decrease = float(-here.gradient[:free] @ step[:free])
        if decrease <= _TOLERANCE * (1.0 + abs(here.value)):
            # Too small to be seen in the value, but half of the digits are still in it.
            at = at + step
            break
        # Not beyond zero, and not farther than a quadratic model can be trusted.
        if at[0] + step[0] <= 0.0:
            step *= 0.9 * at[0] / -step[0]
        at, here = _search(at, step, here, decrease, (logit, weight, totals))
    return float(at[0]), float(np.exp(at[1]))


def _search(
    at: NDArray[np.float64],
    step: NDArray[np.float64],
    here: _Point,
    decrease: float,
    data: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], _Point]:
    """Halve a step until the objective falls by a fair part of what it promises."""
    for halvings in range(60):
        size = 0.5**halvings
        # An infinite log ν stays; its step is zero.
        there = _objective(at + size * step, *data)
        if there.value <= here.value - 1e-4 * size * decrease + 1e-15 * abs(here.value):
            return at + size * step, there
    return at, here


def _objective(
    at: NDArray[np.float64],
    logit: NDArray[np.float64],
    weight: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> _Point:
    slope, tie = float(at[0]), float(np.exp(at[1]))
    half = 0.5 * slope * np.abs(logit)
    small = np.exp(-half)
    # All three divided by the largest of left and right.
    total = 1.0 + small * small + tie * small
    t = tie * small / total
    m = np.sign(logit) * (1.0 - small * small) / total
    value = float(weight @ (half + np.log(total)))
    value += float(np.log(2.0 + tie)) + slope - float(np.log(slope))
    value -= slope * totals[0] + (at[1] * totals[1] if tie > 0 else 0.0)
    imagined = tie / (2.0 + tie)
    gradient = np.array(
        [
            0.5 * float(weight @ (m * logit)) - totals[0] + 1.0 - 1.0 / slope,
            float(weight @ t) - totals[1] + imagined,
        ]
    )
    cross = -0.5 * float(weight @ (t * m * logit))
    curvature = 0.25 * float(weight @ ((1.0 - t - m * m) * logit**2))
    spread = float(weight @ (t * (1.0 - t))) + imagined * (1.0 - imagined)
    hessian = np.array([[curvature + slope**-2, cross], [cross, spread]])
    return _Point(value, gradient, hessian)


def outcome_probabilities(
    logit: NDArray[np.float64], slope: float, tie: float
) -> NDArray[np.float64]:
    """Give the probabilities of left, tie and right.

    Parameters
    ----------
    logit : ndarray of shape (n,)
        Logit of right's expected score.
    slope, tie : float
        From `fit_ties`.

    Returns
    -------
    ndarray of shape (n, 3)
        Rows sum to 1.
    """
    half = 0.5 * slope * logit
    largest = np.abs(half)
    parts = np.stack(
        [np.exp(-half - largest), tie * np.exp(-largest), np.exp(half - largest)],
        axis=1,
    )
    return parts / parts.sum(axis=1, keepdims=True)


_SHOWN_NAMES = 10


class SequentialRating(GameLog):
    """Items with ratings, and what follows from these for their games.

    A subclass says in `_effective_difference` what a difference of ratings is worth.
    """

    unseen: str

    def _effective_difference(
        self, values: NDArray[np.float64], advantage: float | NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Give the difference that expected scores depend on, in rating points.

        Parameters
        ----------
        values : ndarray of shape (n, 2, n_traced)
            The first columns of the state of both sides.
        advantage : float or ndarray of shape (n,)
            Points added to left.
        """
        return values[:, 1, 0] - values[:, 0, 0] - advantage

    def _fitted_column(self, name: str) -> NDArray[np.float64]:
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
    def rating_(self) -> NDArray[np.float64]:
        """Rating of every item."""
        return self._fitted_column("rating")

    @property
    def coef_(self) -> NDArray[np.float64]:  # type: ignore[override]
        """The ratings, under the name that all models share."""
        return self.rating_

    @property
    def n_games_(self) -> NDArray[np.float64]:
        """Number of games of every item, counted by their weights."""
        return self._fitted_column("games")

    @property
    def wins_(self) -> NDArray[np.float64]:
        """Summed weights of the games each item won."""
        return self._tally()[0]

    @property
    def ties_(self) -> NDArray[np.float64]:
        """Summed weights of the games each item tied."""
        return self._tally()[1]

    @property
    def losses_(self) -> NDArray[np.float64]:
        """Summed weights of the games each item lost."""
        return self._tally()[2]

    def _tally(self) -> NDArray[np.float64]:
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
    def before_(self) -> NDArray[np.float64]:
        """Ratings of left and right before each row of the last call."""
        return self._trace("rating")

    def _trace(self, name: str) -> NDArray[np.float64]:
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
        row = np.repeat(np.arange(self._n_rows), 2)
        kept = np.arange(len(item))
        if games.weight is not None:
            kept = np.flatnonzero(np.repeat(games.weight > 0, 2))
        if games.starts is None or games.period is None:
            time = pl.Series("row", row[kept])
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
            advantage = games.advantage
            if advantage is None:
                advantage = self._settings["advantage"]
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
        self._check_unseen()
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

    def _check_unseen(self) -> None:
        if self.unseen not in ("error", "prior"):
            raise ValueError(
                f"{type(self).__name__} got unseen={self.unseen!r}; expected 'error' "
                "or 'prior'."
            )

    def _values_of(self, names: NDArray[Any]) -> NDArray[np.float64]:
        """Give the first columns of the state of items, the prior's for unseen ones."""
        rows = self._look_up(names)
        values = self._state[rows, : self._n_traced]
        values[rows < 0] = self._new_item()[: self._n_traced]
        return values

    def _utility_of_names(self, names: Any) -> NDArray[np.float64]:
        if np.ndim(names) > 1:
            raise ValueError(
                f"{type(self).__name__} rates items by name; expected a list of names, "
                f"got shape {np.shape(names)}."
            )
        return self._values_of(as_column(names, "names"))[:, 0]

    def _sides_of(
        self, X: Any, advantage: ArrayLike | float | None
    ) -> tuple[NDArray[np.float64], float | NDArray[np.float64]]:
        """Give the state of both sides of games, and the advantage of left."""
        check_is_fitted(self)
        pairs = named_pairs(X, type(self).__name__).compact()
        assert pairs.names is not None
        values = self._values_of(pairs.names)
        points = self._settings["advantage"]
        if advantage is not None:
            points = check_row_numbers(advantage, "advantage", len(pairs))
        return np.stack([values[pairs.left], values[pairs.right]], axis=1), points

    def decision_function(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> NDArray[np.float64]:
        """Difference of ratings, r(right) - r(left) - advantage.

        Parameters
        ----------
        X : Pairs
            Games of items with names.
        advantage : float or array-like of shape (n,), optional
            Points added to left; None: the parameter.

        Returns
        -------
        ndarray of shape (n,)
        """
        values, points = self._sides_of(X, advantage)
        return values[:, 1, 0] - values[:, 0, 0] - points

    def expected_score(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> NDArray[np.float64]:
        """Score that left can expect: its chance to win plus half that of a tie.

        Parameters
        ----------
        X : Pairs
            Games of items with names.
        advantage : float or array-like of shape (n,), optional
            Points added to left; None: the parameter.

        Returns
        -------
        ndarray of shape (n,)
            Between 0 and 1.
        """
        return expit(-self._right_logit(X, advantage))

    def _right_logit(
        self, X: Any, advantage: ArrayLike | float | None
    ) -> NDArray[np.float64]:
        return self._effective_difference(*self._sides_of(X, advantage)) * (
            self._per_point
        )

    def predict_proba(
        self, X: Any, *, advantage: ArrayLike | float | None = None
    ) -> NDArray[np.float64]:
        """Probabilities of left, tie and right.

        The ratings give expected scores only, so that a tie model is added to them:
        P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2), where d is ``slope_``
        times the logit of right's expected score and ν is ``tie_``. Both are fitted,
        when first asked for, to the games of all calls since fit, each predicted from
        the ratings before it.

        Parameters
        ----------
        X : Pairs
            Games of items with names.
        advantage : float or array-like of shape (n,), optional
            Points added to left; None: the parameter.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns as in ``classes_``.
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
            Points added to left; None: the parameter.

        Returns
        -------
        ndarray of shape (n,)
            -1 (left), 0 (tie) or +1 (right) for games; ratings for items.
        """
        check_is_fitted(self)
        if not is_pairs(X):
            return self.utility(X)
        difference = self._effective_difference(*self._sides_of(X, advantage))
        return to_outcomes(difference, self.threshold_)

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
        X : Pairs, Orders or names of items
            Test data.
        y : array-like of shape (n,), optional
            Outcomes of games or grades of items.
        advantage : float or array-like of shape (n,), optional
            Points added to left in games; None: the parameter.
        qid : array-like of shape (n,), optional
            Groups of graded items.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            Between 0 and 1, higher is better.
        """
        check_is_fitted(self)
        if not is_pairs(X) or y is None or advantage is None:
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        return accuracy(y, self.predict(X, advantage=advantage), sample_weight)


def _gather(name: str, values: NDArray[Any], codes: NDArray[Any]) -> pl.Series:
    """Repeat values in a column; mixed ones stay Python objects."""
    if values.dtype.kind == "O":
        return pl.Series(name, values[codes].tolist(), dtype=pl.Object)
    if values.dtype.kind == "U":
        return pl.Series(name, values.tolist()).gather(codes)
    return pl.Series(name, values[codes])


def finite_number(model: Any, name: str) -> float:
    """Read a parameter that must be a finite number.

    Parameters
    ----------
    model : estimator
        The model.
    name : str
        Name of the parameter.

    Returns
    -------
    float
    """
    value = getattr(model, name)
    if not _is_finite(value):
        refuse_parameter(model, name, "a finite number")
    return float(value)


def positive_number(model: Any, name: str, or_else: str = "") -> float:
    """Read a parameter that must be a positive finite number.

    Parameters
    ----------
    model : estimator
        The model.
    name : str
        Name of the parameter.
    or_else : str, default=""
        What else it may be, for the message.

    Returns
    -------
    float
    """
    value = getattr(model, name)
    if not _is_finite(value) or value <= 0:
        refuse_parameter(model, name, f"a positive finite number{or_else}")
    return float(value)


def refuse_parameter(model: Any, name: str, expected: str) -> NoReturn:
    """Raise a ValueError that says what a parameter must be.

    Parameters
    ----------
    model : estimator
        The model.
    name : str
        Name of the parameter.
    expected : str
        What was expected.
    """
    raise ValueError(
        f"{type(model).__name__} got {name}={getattr(model, name)!r}; expected "
        f"{expected}."
    )


def _is_finite(value: Any) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and math.isfinite(value)
