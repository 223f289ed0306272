# SPDX-License-Identifier: BSD-3-Clause
"""Ratings over time from a model that knows no time: one fit for every span of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tiebreak.data import Pairs
from tiebreak.ratings import BradleyTerry

__all__ = ["SpanRatings", "rate_spans"]

_MOST_SPANS = 16
_ROWS_OF_SPAN = 100
_FEW_RESULTS = 5.0  # of an item in a span; a rating of fewer is mostly chance
_FEW_POINTS = 3  # of a line
_PENALTY = 0.1


@dataclass(frozen=True, eq=False)
class SpanRatings:
    """Ratings over time, and how they were found.

    Attributes
    ----------
    table : polars.DataFrame
        Columns ``time`` (the middle of a span), ``item`` and ``rating``, null where an
        item has too few results in a span; items in the order asked for.
    note : str
        What a point is, in words.
    """

    table: pl.DataFrame
    note: str


def rate_spans(
    model: BradleyTerry,
    pairs: Pairs,
    y: NDArray[np.int8],
    period: NDArray[Any],
    items: list[Any],
    *,
    top: int = 8,
    unit: float = 1.0,
    zero: float = 0.0,
    **columns: NDArray[Any],
) -> SpanRatings | None:
    """Rate items by the results of one span of time after the other.

    Rows are cut into up to 16 spans of consecutive periods with nearly equal numbers of
    rows; a period is never divided. Each span is fitted by itself, with a penalty of at
    least 0.1, which keeps strengths finite. Strengths θ of a span s are known up to a
    constant only, so they are moved to where the items that it rests on lie over all
    the time: with n_j results of item j in the span, a rating is ::

        zero + unit (θᵢˢ + Σⱼ nⱼ (θⱼ - θⱼˢ) / Σⱼ nⱼ).

    Parameters
    ----------
    model : BradleyTerry
        Fitted on all rows.
    pairs : Pairs
        The rows.
    y : ndarray of shape (n,)
        Their outcomes.
    period : ndarray of numbers or dates of shape (n,)
        When they took place, in any order.
    items : list
        Names of items to rate, the most important first.
    top : int, default=8
        How many of them: the first that have enough results in three spans or more.
    unit, zero : float
        How ratings are shown.
    **columns : ndarray of shape (n,)
        Further arguments of the fit, such as ``advantage`` and ``sample_weight``.

    Returns
    -------
    SpanRatings or None
        None if there are too few rows or periods for three spans, or no item has
        enough results in three of them.
    """
    block, count = _cut(period)
    if count < _FEW_POINTS:
        return None
    middles, ratings = [], np.full((count, len(items)), np.nan)
    for span in range(count):
        rows = np.flatnonzero(block == span)
        times = period[rows]
        middles.append(np.partition(times, len(times) // 2)[len(times) // 2])
        fresh = clone(model).set_params(alpha=max(model.alpha, _PENALTY))
        given = {name: column[rows] for name, column in columns.items()}
        with warnings.catch_warnings():
            # What can be said of the data is said of all of them.
            warnings.simplefilter("ignore")
            fresh.fit(pairs[rows], y[rows], **given)
        ratings[span] = _ratings(model, fresh, items)
    dense = np.flatnonzero(np.isfinite(ratings).sum(axis=0) >= _FEW_POINTS)[:top]
    if not len(dense):
        return None
    table = pl.DataFrame(
        {
            "time": np.tile(np.array(middles), len(dense)),
            "item": [items[place] for place in dense for _ in range(count)],
            "rating": zero + unit * ratings[:, dense].T.ravel(),
        }
    ).with_columns(pl.col("rating").fill_nan(None))
    note = (
        f"The results were cut by time into {count} spans of about "
        f"{round(len(y) / count):,} results. Each point is the rating that the results "
        "of one span alone give; on average the items of a span are taken to be as "
        "good as over the whole time. Where an item has fewer than "
        f"{_FEW_RESULTS:.0f} results in a span it has no point."
    )
    return SpanRatings(table, note)


def _cut(period: NDArray[Any]) -> tuple[NDArray[np.int8], int]:
    """Number the span of every row, and count the spans."""
    n = len(period)
    wanted = min(_MOST_SPANS, n // _ROWS_OF_SPAN)
    if wanted < _FEW_POINTS:
        return np.zeros(n, dtype=np.int8), 1
    places = np.arange(1, wanted) * n // wanted
    edges = np.unique(np.partition(period, places)[places])
    edges = edges[edges > period.min()]
    block = np.searchsorted(edges, period, side="right").astype(np.int8)
    return block, len(edges) + 1


def _ratings(
    model: BradleyTerry, fresh: BradleyTerry, items: list[Any]
) -> NDArray[np.float64]:
    """Give strengths of a span on the scale of all spans; NaN where little is known."""
    overall = model.utility(fresh.items_)
    results = fresh.wins_ + fresh.ties_ + fresh.losses_
    shift = np.average(overall - fresh.strength_, weights=results)
    known = results >= _FEW_RESULTS
    found = dict(
        zip(fresh.items_[known].tolist(), fresh.strength_[known] + shift, strict=True)
    )
    return np.array([found.get(item, np.nan) for item in items])
