# SPDX-License-Identifier: BSD-3-Clause
"""Ratings over time, span by span, and their chart."""

import math
import warnings
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tiebreak.data import Pairs
from tiebreak.losses.comparison_covariance import inverse_hessian
from tiebreak.ratings import BradleyTerry
from tiebreak.report.charts import WIDTH, Axis

_MOST_SPANS = 16
_ROWS_OF_SPAN = 100
_FEW_RESULTS = 5.0  # of an item in a span; a rating of fewer is mostly chance
_FEW_POINTS = 3  # of a line
_PENALTY = 0.1
_MOST_WITH_ERRORS = 500  # of a span; more take seconds
_Z = 1.959963984540054


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
) -> tuple[pl.DataFrame | None, str]:
    """Rate items by the results of one span of time after the other.

    Each of up to 16 spans of consecutive periods, with nearly equal numbers of rows, is
    fitted by itself, with the penalty of the model or 0.1. Its strengths θˢ are known
    up to a constant, so they are moved to the mean of its items over all the time: with
    n_j results of item j in the span, a rating is ::

        zero + unit (θᵢˢ + Σⱼ nⱼ (θⱼ - θⱼˢ) / Σⱼ nⱼ).

    Returns a table of ``time`` (the middle of a span), ``item``, ``rating`` and its
    95 % interval, of the first ``top`` items with enough results in three spans; and
    what a point is.
    """
    block, count = _cut(period)
    if count < _FEW_POINTS:
        return None, ""
    # Not one that was learned from all rows: items may differ more within a span.
    penalty = 0.0 if model.alpha == "auto" else float(model.alpha)
    middles, ratings = [], np.full((2, count, len(items)), np.nan)
    for span in range(count):
        rows = np.flatnonzero(block == span)
        times = period[rows]
        middles.append(np.partition(times, len(times) // 2)[len(times) // 2])
        # Within a span all results count the same.
        fresh = clone(model).set_params(alpha=max(penalty, _PENALTY), half_life=None)
        with warnings.catch_warnings():
            # What can be said of the data is said of all of them.
            warnings.simplefilter("ignore")
            of_span = {name: column[rows] for name, column in columns.items()}
            fresh.fit(pairs[rows], y[rows], **of_span)
        ratings[:, span] = _ratings(model, fresh, items)
    dense = np.flatnonzero(np.isfinite(ratings[0]).sum(axis=0) >= _FEW_POINTS)[:top]
    if not len(dense):
        return None, ""
    rating, error = (unit * part[:, dense].T.ravel() for part in ratings)
    cells = {
        "time": np.tile(np.array(middles), len(dense)),
        "item": [items[place] for place in dense for _ in range(count)],
        "rating": zero + rating,
        "lower": zero + rating - _Z * error,
        "upper": zero + rating + _Z * error,
    }
    table = pl.DataFrame(cells).with_columns(pl.col(pl.Float64).fill_nan(None))
    note = (
        f"The results were cut by time into {count} spans of about "
        f"{round(len(y) / count):,} results. Each point is the rating that the results "
        "of one span alone give; on average the items of a span are taken to be as "
        "good as over the whole time. Where an item has fewer than "
        f"{_FEW_RESULTS:.0f} results in a span it has no point. Bands are 95 % "
        "intervals."
    )
    return table, note


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
    """Strengths of a span on the scale of all spans, and their standard errors.

    NaN where little is known. The variance is that of θᵢ - Σⱼ wⱼ θⱼ, with the shares w
    of the results.
    """
    overall = model.utility(fresh.items_)
    results = fresh.wins_ + fresh.ties_ + fresh.losses_
    share = results / results.sum()
    strengths = fresh.strength_ + share @ (overall - fresh.strength_)
    errors = np.full(len(strengths), np.nan)
    if len(strengths) <= _MOST_WITH_ERRORS:
        objective, n = fresh._problem.objective(fresh.alpha_), len(strengths)
        covariance = inverse_hessian(objective, fresh._solution())[:n, :n]
        mean = covariance @ share
        variance = np.diag(covariance) - 2.0 * mean + share @ mean
        errors = np.sqrt(np.maximum(variance, 0.0))
    known = results >= _FEW_RESULTS
    both = zip(strengths[known], errors[known], strict=True)
    by_name = dict(zip(fresh.items_[known].tolist(), both, strict=True))
    return np.array([by_name.get(item, (np.nan, np.nan)) for item in items]).T


_TIMES = ("time", "period", "row")
_LINES, _GREY_LINES = 5, 20
_POINTS = 150  # of one line; more cannot be told apart
_NAME_GAP = 60.0  # of 1,000, between names at the ends of lines


def history_chart(history: pl.DataFrame, items: list[Any]) -> dict[str, Any] | None:
    """Ratings over time: the first lines in color, the rest grey."""
    time = next(name for name in _TIMES if name in history.columns)
    numbers, dated = _times(history[time])
    frame = history.with_columns(pl.Series("_x", numbers), pl.col("rating").cast(float))
    rated = frame.filter(pl.col("rating").is_not_null()).partition_by(
        "item", as_dict=True, include_key=False
    )
    chosen = [item for item in items if (item,) in rated][: _LINES + _GREY_LINES]
    if not chosen:
        return None
    bands = {"lower", "upper"} <= set(frame.columns)
    shown = [(item, "rating") for item in chosen]
    if bands:
        shown += [(item, end) for item in chosen[:_LINES] for end in ("lower", "upper")]
    ends = [v for item, end in shown for v in rated[(item,)][end] if v is not None]
    pad = 0.04 * (max(ends) - min(ends))
    vertical = Axis(min(ends) - pad, max(ends) + pad, 5)
    across = Axis(float(numbers.min()), float(numbers.max()), 5)
    lines = []
    for place, item in enumerate(chosen):
        part = _thin(frame.filter(pl.col("item") == item))
        x = [across.place(v) for v in part["_x"]]
        y = [vertical.down(v) for v in part["rating"]]
        band = ""
        if bands:
            low, high = (
                [vertical.down(v) for v in part[n]] for n in ("lower", "upper")
            )
            band = _band_path(x, low, high)
        last = [point for point in zip(x, y, strict=True) if point[1] is not None][-1]
        line = {"item": item, "color": place if place < _LINES else None, "band": band}
        lines.append(line | {"path": _broken_path(x, y), "x": last[0], "y": last[1]})
    _spread(lines[:_LINES])
    return {
        "lines": lines,
        "y": vertical,
        "ticks": _date_ticks(across) if dated else across.ticks,
    }


def _broken_path(x: list[float], y: list[Any]) -> str:
    """A line with gaps; a point between two gaps is drawn as a dot."""
    path, drawing = "", False
    for a, b in zip(x, y, strict=True):
        if b is not None:
            path += f"L{a:g} {b:g}" if drawing else f"M{a:g} {b:g}h0"
        drawing = b is not None
    return path


def _band_path(x: list[float], low: list[Any], high: list[Any]) -> str:
    path = ""
    points = zip(x, low, high, strict=True)
    for known, run in groupby(points, lambda point: None not in point):
        band = list(run)
        if known and len(band) > 1:
            up = "L".join(f"{a:g} {c:g}" for a, _, c in band)
            down = "L".join(f"{a:g} {b:g}" for a, b, _ in reversed(band))
            path += f"M{up}L{down}Z"
    return path


def _spread(lines: list[dict[str, Any]]) -> None:
    """Move names at the ends of lines apart."""
    ends = sorted(lines, key=lambda line: line["y"])
    last = -math.inf
    for line in ends:
        line["label"] = last = max(line["y"], last + _NAME_GAP)
    bound = WIDTH - 20.0
    if last > bound:
        for line in reversed(ends):
            line["label"] = bound = min(line["label"], bound)
            bound -= _NAME_GAP


def _times(values: pl.Series) -> tuple[NDArray[np.float64], bool]:
    """Times as numbers, days of dates, and whether they are dates."""
    if values.dtype.is_temporal():
        days = values.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]")
        return days.astype(np.int64) / 86_400e6, True
    return values.cast(pl.Float64).to_numpy(), False


def _date_ticks(axis: Axis) -> list[tuple[float, str]]:
    least = (axis.high - axis.low) / _MOST_DATES
    step, form = next(entry for days, *entry in _DATES if days >= least)
    ends = pl.Series([axis.low, axis.high]).floor().cast(pl.Int32).cast(pl.Date)
    dates = pl.date_range(ends.dt.truncate(step)[0], ends[1], step, eager=True)
    both = zip(dates.to_physical(), dates.dt.strftime(form), strict=True)
    return [(axis.place(p), text) for p, text in both if p >= axis.low]


_MOST_DATES = 6
# How far dates on an axis are apart, in days and as a step, and how they are written.
_DATES = (
    *((1, "1d", "%-d %b"), (5, "5d", "%-d %b"), (10, "10d", "%-d %b")),
    *((30, "1mo", "%b %Y"), (91, "3mo", "%b %Y"), (182, "6mo", "%b %Y")),
    *((365, "1y", "%Y"), (1826, "5y", "%Y"), (3652, "10y", "%Y")),
    *((18262, "50y", "%Y"), (math.inf, "500y", "%Y")),
)


def _thin(line: pl.DataFrame) -> pl.DataFrame:
    """Keep the last rating of each short span of time."""
    if len(line) <= _POINTS:
        return line
    x = line["_x"].to_numpy()
    cell = np.floor((x - x[0]) / ((x[-1] - x[0]) or 1.0) * (_POINTS - 1))
    return line.filter(pl.Series(np.append(cell[1:] != cell[:-1], True)))
