# SPDX-License-Identifier: BSD-3-Clause
"""What a report shows beside numbers: ratings over time, level curves, comparisons."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak import BradleyTerry
from tiebreak.cli.knowledge import Knowledge
from tiebreak.ratings.rating_scale import RatingScale
from tiebreak.report import CompareData, Picture, rate_spans
from tiebreak.report.compare_data import last_step

__all__ = ["compare_items", "draw_plane", "ratings_over_time"]

_DRAWN = 8  # items in the chart of ratings over time
_CONSIDERED = 3 * _DRAWN  # the best, of which those with enough results are drawn
_PAIRS_IN_PLANE = 60  # more would hide each other


def ratings_over_time(
    model: Any, table: pl.DataFrame, known: Knowledge
) -> tuple[pl.DataFrame | None, str]:
    """Give ratings over time, where time is known.

    Parameters
    ----------
    model : estimator
        The fitted model, of items by name.
    table : polars.DataFrame
        Its leaderboard.
    known : Knowledge
        The comparisons.

    Returns
    -------
    history : polars.DataFrame or None
        For :class:`~tiebreak.report.HistoryDisplay`.
    note : str
        What a point is.
    """
    best = table["item"].head(_CONSIDERED)
    period = known.columns.get("period")
    if isinstance(model, BradleyTerry):
        if period is None:
            return None, ""
        unit = RatingScale().unit
        place = np.flatnonzero(model.items_ == best[0])[0]
        given = {
            name: known.columns[name]
            for name in ("advantage", "sample_weight")
            if name in known.columns
        }
        found = rate_spans(
            model,
            known.pairs,
            known.y,
            period,
            best.to_list(),
            top=_DRAWN,
            unit=unit,
            zero=table["rating"][0] - unit * model.strength_[place],
            **given,
        )
        return (None, "") if found is None else (found.table, found.note)
    if not hasattr(model, "history_"):
        return None, ""
    history = model.history_.filter(pl.col("item").is_in(best.head(_DRAWN).implode()))
    if "period" not in history.columns:
        note = "The ratings after every result, in the order of the file."
        return history, note
    if period is not None and period.dtype.kind not in "iuf":
        # The model was given the numbers of the dates; see `columns_for`.
        dates = pl.Series("period", np.unique(period))
        history = history.with_columns(dates.gather(history["period"]))
    return history, "The ratings after every period."


def draw_plane(model: Any, known: Knowledge) -> list[Picture]:
    """Draw level curves of what was learned, if items have exactly two features.

    Parameters
    ----------
    model : estimator
        The fitted model.
    known : Knowledge
        The comparisons.

    Returns
    -------
    list of Picture
        One, or none.
    """
    pairs = known.pairs
    if not pairs.has_features or pairs.shape[2] != 2:
        return []
    from tiebreak.report import draw_level_curves
    from tiebreak.report.figures import figure_settings

    last = last_step(model)
    learned = SimpleNamespace(
        utility=model.predict, threshold_=getattr(last, "threshold_", None)
    )
    with figure_settings():
        figure = draw_level_curves(
            {"what was learned": learned},
            pairs,
            known.y,
            resolution=81,
            most_pairs=_PAIRS_IN_PLANE,
            title="what was compared",
        )
    return [
        Picture(
            "Level curves",
            "Left: comparisons of two items, by their two features; an arrow points to "
            "the better item, a line joins a tie. Right: what was learned from them. "
            "Items on the same curve are equally good; the darker, the better.",
            figure,
        )
    ]


def compare_items(
    model: Any, known: Knowledge, utility: NDArray[np.float64] | None
) -> CompareData | None:
    """Give what the page needs to compare any two items.

    Parameters
    ----------
    model : estimator
        The fitted model.
    known : Knowledge
        The comparisons.
    utility : ndarray of shape (N,) or None
        Utilities of the items of a leaderboard, if the model knows their features.

    Returns
    -------
    CompareData or None
    """
    if utility is None or known.item_names is None:
        return CompareData.from_model(model)
    return CompareData.from_utilities(model, known.item_names, utility)
