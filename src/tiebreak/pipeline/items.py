# SPDX-License-Identifier: BSD-3-Clause
"""Tables of items that a model knows by their features."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from tiebreak.data import ItemTable
from tiebreak.data.columns import factorize
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.validation import check_weights
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.ratings.leaderboard.scale import RatingScale
from tiebreak.report.data import last_step


def item_utilities(
    model: Any, items: ItemTable, names: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Give the utility of items with features; higher is better.

    Parameters
    ----------
    model : estimator
        A fitted model of features, also at the end of a pipeline.
    items : ItemTable
        N items, seen or unseen.
    names : ndarray of shape (N,), optional
        Their names, which may repeat. A model that was fitted with ``identity`` adds
        what it knows of an item by its name; others have no use for names.

    Returns
    -------
    ndarray of shape (N,)
    """
    X: Any = items
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            X = step.transform(X)
        model = model.steps[-1][1]
    if names is not None and hasattr(model, "item_effect_"):
        return np.asarray(model.utility(X, names), dtype=np.float64)
    return np.asarray(model.utility(X), dtype=np.float64)


def ranks_within(
    utility: NDArray[np.float64], group: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rank items within their groups, the best one first.

    Parameters
    ----------
    utility : ndarray of shape (n,)
        Utilities, higher is better.
    group : ndarray of int64 of shape (n,)
        Group of each item.

    Returns
    -------
    ndarray of int64 of shape (n,)
        From 1; equal utilities share the best rank, and the ranks that they fill are
        not used again (1, 2, 2, 4).

    Examples
    --------
    >>> ranks_within(np.array([1.0, 3.0, 2.0, 2.0, 0.0]), np.array([0, 0, 0, 0, 1]))
    array([4, 1, 2, 2, 1])
    """
    order = np.lexsort((-utility, group))
    sorted_group, sorted_utility = group[order], utility[order]
    place = np.arange(len(order))
    new_group = np.append(True, sorted_group[1:] != sorted_group[:-1])
    new_value = new_group | np.append(True, sorted_utility[1:] != sorted_utility[:-1])
    start = np.maximum.accumulate(np.where(new_group, place, 0))
    first = np.maximum.accumulate(np.where(new_value, place, 0))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = first - start + 1
    return ranks


def rate_items(model: Any, known: ComparisonData) -> NDArray[np.float64]:
    """Give utilities of all items with features, also of those in no comparison.

    Parameters
    ----------
    model : estimator
        Fitted on the comparisons.
    known : ComparisonData
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
    known: ComparisonData,
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
    known : ComparisonData
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


def rank_rows(utility: NDArray[np.float64], known: ComparisonData) -> pl.DataFrame:
    """Rank graded rows within their query.

    Parameters
    ----------
    utility : ndarray of shape (N,)
        Utilities of the rows.
    known : ComparisonData
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
