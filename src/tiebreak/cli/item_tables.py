# SPDX-License-Identifier: BSD-3-Clause
"""Tables of items that a model knows by their features."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.cli.item_utilities import item_utilities, ranks_within
from tiebreak.cli.knowledge import Knowledge
from tiebreak.data.columns import factorize
from tiebreak.data.comparison_counts import count_comparisons
from tiebreak.data.door import check_weights
from tiebreak.ratings.rating_scale import RatingScale
from tiebreak.report.compare_data import last_step

__all__ = ["board_items", "rank_rows", "rate_items", "table_rows"]


def rate_items(model: Any, known: Knowledge) -> NDArray[np.float64]:
    """Give utilities of all items with features, also of those in no comparison.

    Parameters
    ----------
    model : estimator
        Fitted on the comparisons.
    known : Knowledge
        The comparisons.

    Returns
    -------
    ndarray of shape (N,)
        Their mean over the items that are compared is 0.
    """
    assert known.items is not None
    utility = item_utilities(model, known.items, known.item_names)
    return utility - utility[known.compared].mean()


def board_items(
    utility: NDArray[np.float64],
    known: Knowledge,
    model: Any,
    reference: str | None = None,
) -> pl.DataFrame | None:
    """Make the leaderboard of items that have features and names.

    Utilities whose differences are log odds are shown on the scale of ratings, 400
    points for odds of ten to one around 1500; others as they are.

    Parameters
    ----------
    utility : ndarray of shape (N,)
        Utilities of the items.
    known : Knowledge
        The comparisons.
    model : estimator
        The fitted model.
    reference : str, optional
        The item that ratings are measured from.

    Returns
    -------
    polars.DataFrame or None
        The columns of a :class:`~tiebreak.Leaderboard`, intervals null. None if items
        have no names, if a name occurs twice, or if there are several queries, between
        which nothing was compared.
    """
    names = known.item_names
    if names is None or len(set(names.tolist())) < len(names):
        return None
    if known.query is not None and len(np.unique(known.query)) > 1:
        return None
    scale = RatingScale(reference=reference)
    place = scale.place(names)
    rating = utility - (0.0 if place is None else utility[place])
    if hasattr(last_step(model), "predict_proba"):
        rating = scale.anchor + scale.unit * rating
    pairs, weight = known.pairs, known.columns.get("sample_weight")
    counts = count_comparisons(
        pairs.left, pairs.right, known.y, check_weights(weight, len(pairs)), len(names)
    )
    tally = dict(zip(("wins", "ties", "losses"), counts.tally(len(names)), strict=True))
    nothing = {
        name: pl.Series([None] * len(names), dtype=kind)
        for name, kind in (
            ("lower", pl.Float64),
            ("upper", pl.Float64),
            ("rank_best", pl.Int64),
            ("rank_worst", pl.Int64),
            ("group", pl.String),
        )
    }
    table = pl.DataFrame({"item": names, "rating": rating} | nothing | tally)
    table = table.sort("rating", descending=True, maintain_order=True)
    ranks = table["rating"].rank("min", descending=True).cast(pl.Int64)
    return table.insert_column(0, ranks.alias("rank"))


def rank_rows(utility: NDArray[np.float64], known: Knowledge) -> pl.DataFrame:
    """Rank graded rows within their query.

    Parameters
    ----------
    utility : ndarray of shape (N,)
        Utilities of the rows.
    known : Knowledge
        The grades.

    Returns
    -------
    polars.DataFrame
        As of `table_rows`.
    """
    return table_rows(utility, known.item_names, known.query, known.grades)


def table_rows(
    utility: NDArray[np.float64],
    names: NDArray[Any] | None,
    query: NDArray[Any] | None,
    grades: NDArray[np.float64] | None,
) -> pl.DataFrame:
    """Rank rows within their query.

    Parameters
    ----------
    utility : ndarray of shape (N,)
        Utilities of the rows.
    names, query, grades : ndarray of shape (N,) or None
        What else is known of them.

    Returns
    -------
    polars.DataFrame
        ``row`` (from 1, as they stand in the file), ``item`` if the rows have names,
        ``query``, ``grade``, ``utility`` and ``rank``, 1 for the best of its query;
        query by query as they appear, best first.
    """
    n = len(utility)
    group = np.zeros(n, dtype=np.int64)
    columns: dict[str, Any] = {"row": np.arange(1, n + 1)}
    if names is not None:
        columns["item"] = names
    if query is not None:
        columns["query"] = query
        group = factorize(query)[0]
    if grades is not None:
        columns["grade"] = grades
    rank = ranks_within(utility, group)
    table = pl.DataFrame(columns | {"utility": utility, "rank": rank})
    return table[np.lexsort((rank, group))]
