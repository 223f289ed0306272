# SPDX-License-Identifier: BSD-3-Clause
"""What each kind of model can say in a leaderboard, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from tiebreak.data.messages import warn_user
from tiebreak.metrics.inputs import positive_integer
from tiebreak.ratings.covariance import KINDS
from tiebreak.ratings.rank_intervals import ranks_and_groups
from tiebreak.ratings.rating_scale import RatingScale
from tiebreak.ratings.strength_intervals import LARGEST_COVARIANCE, check_level

__all__ = ["Uncertain", "model_columns"]


@dataclass(frozen=True)
class Uncertain:
    """How intervals are found.

    Attributes
    ----------
    level : float
        Confidence.
    interval : str or None
        A kind of covariance, ``"bootstrap"``, or None for the model's own choice.
    n_resamples : int
        Resamples of the bootstrap.
    random_state : int or None
        Seed of the bootstrap.
    """

    level: float
    interval: str | None
    n_resamples: int
    random_state: int | None

    def __post_init__(self) -> None:
        """Refuse what is not among the choices."""
        check_level(self.level)
        if self.interval not in (None, "bootstrap", *KINDS):
            choices = ", ".join(map(repr, (*KINDS, "bootstrap")))
            raise ValueError(
                f"interval must be one of {choices} or None; got {self.interval!r}."
            )
        positive_integer(self.n_resamples, "n_resamples")


def model_columns(
    model: Any, uncertain: Uncertain, scale: RatingScale
) -> dict[str, Any]:
    """Give the columns of a leaderboard, items in the model's order.

    Parameters
    ----------
    model : object
        Fitted, with ``items_`` and ``coef_``.
    uncertain : Uncertain
        How intervals are found.
    scale : RatingScale
        How strengths are shown.

    Returns
    -------
    dict of str to array or None
        All columns but ``rank``.
    """
    n = len(model.items_)
    nothing = [None] * n
    columns: dict[str, Any] = dict.fromkeys(
        ("lower", "upper", "rank_best", "rank_worst", "group"), nothing
    )
    if hasattr(model, "strength_"):
        rating = _strengths(model, uncertain, scale, columns)
    else:
        rating = np.asarray(model.coef_, dtype=np.float64)
        if hasattr(model, "deviation_"):
            _independent(rating, model.deviation_, uncertain.level, columns)
    tally = {
        name: getattr(model, f"{name}_", nothing) for name in ("wins", "ties", "losses")
    }
    return {"item": model.items_, "rating": rating} | columns | tally


def _strengths(
    model: Any, uncertain: Uncertain, scale: RatingScale, columns: dict[str, Any]
) -> NDArray[np.float64]:
    """Ratings of strengths; intervals, ranks and groups go into `columns`."""
    place = scale.place(model.items_)
    rating = scale.apply(model.strength_, place)
    # Nothing but ties: nothing is known. PlackettLuce has one number per size.
    if np.isposinf(model.tie_).any():
        return rating
    if len(rating) > LARGEST_COVARIANCE:
        warn_user(
            f"There are {len(rating):,} items, and intervals of ratings and ranks are "
            f"computed for {LARGEST_COVARIANCE:,} at most: the leaderboard has none."
        )
        return rating
    level = uncertain.level
    tails = [0.5 - 0.5 * level, 0.5 + 0.5 * level]
    if uncertain.interval == "bootstrap":
        if not hasattr(model, "bootstrap"):
            raise ValueError(
                "interval='bootstrap' is offered for BradleyTerry; "
                f"{type(model).__name__} has 'sandwich' and 'model'."
            )
        drawn = model.bootstrap(uncertain.n_resamples, uncertain.random_state)
        covariance = np.cov(drawn, rowvar=False)
        columns["lower"], columns["upper"] = np.quantile(
            scale.apply(drawn, place), tails, axis=0
        )
    else:
        covariance = model.covariance(uncertain.interval)
        relative = covariance
        if place is not None:
            row = covariance[place]
            relative = covariance - row[:, None] - row[None, :] + row[place]
        error = scale.unit * np.sqrt(np.maximum(np.diag(relative), 0.0))
        columns["lower"], columns["upper"] = rating + np.outer(norm.ppf(tails), error)
    _ranks_and_groups(model.strength_, covariance, level, columns)
    return rating


def _independent(
    rating: NDArray[np.float64],
    deviation: NDArray[np.float64],
    level: float,
    columns: dict[str, Any],
) -> None:
    """Intervals of ratings whose errors are taken to be independent."""
    half = norm.ppf(0.5 + 0.5 * level) * deviation
    columns["lower"], columns["upper"] = rating - half, rating + half
    _ranks_and_groups(rating, deviation**2, level, columns)


def _ranks_and_groups(
    strength: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float,
    columns: dict[str, Any],
) -> None:
    ranks, groups = ranks_and_groups(strength, covariance, level)
    columns["rank_best"], columns["rank_worst"] = ranks.T
    letters: list[list[str]] = [[] for _ in strength]
    for number, group in enumerate(groups):
        for item in group:
            letters[item].append(_letter(number))
    columns["group"] = [" ".join(of_item) for of_item in letters]


def _letter(number: int) -> str:
    """Count a, b, …, z, aa, ab, and so on.

    Examples
    --------
    >>> _letter(0), _letter(25), _letter(26), _letter(27)
    ('a', 'z', 'aa', 'ab')
    """
    letter = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letter = chr(ord("a") + digit) + letter
    return letter
