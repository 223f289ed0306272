# SPDX-License-Identifier: BSD-3-Clause
"""Leaderboards: utilities, ranks and weights of what a fitted model learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from tiebreak.data import ItemTable, Pairs
from tiebreak.data.columns import factorize
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.validation import check_weights
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.ratings.leaderboard import RatingScale
from tiebreak.report.data import last_step


def item_utilities(
    model: Any, items: ItemTable, names: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return the utilities of items with features; higher is better."""
    # A model that was fitted with ``identity`` adds what it knows of an item by its
    # name.
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
    """Return ranks within groups; equal utilities share the best (1, 2, 2, 4)."""
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


def rate_items(model: Any, data: ComparisonData) -> NDArray[np.float64]:
    """Return utilities of all items; their mean over the compared ones is 0."""
    assert data.items is not None
    utility = item_utilities(model, data.items, data.item_names)
    return utility - utility[data.compared].mean()


def board_items(
    utility: NDArray[np.float64],
    data: ComparisonData,
    model: Any,
    scale: RatingScale | None = None,
) -> pl.DataFrame | None:
    """Return the leaderboard of items that have features and names, without intervals.

    Utilities whose differences are log odds are shown on the scale of ratings, 400
    points for odds of ten to one around 1500; others as they are. None if items have
    no names, a name occurs twice, or there are several queries, between which nothing
    was compared.
    """
    names = data.item_names
    if names is None or len(set(names.tolist())) < len(names):
        return None
    if data.query is not None and len(np.unique(data.query)) > 1:
        return None
    scale = RatingScale() if scale is None else scale
    place = scale.place(names)
    rating = utility - (0.0 if place is None else utility[place])
    if hasattr(last_step(model), "predict_proba"):
        rating = scale.anchor + scale.unit * rating
    pairs, weight = data.pairs, data.columns.get("sample_weight")
    counts = count_comparisons(
        pairs.left, pairs.right, data.y, check_weights(weight, len(pairs)), len(names)
    )
    tally = dict(zip(("wins", "ties", "losses"), counts.tally(len(names)), strict=True))
    kinds: dict[str, Any] = dict.fromkeys(("lower", "upper"), pl.Float64())
    kinds |= dict.fromkeys(("rank_best", "rank_worst"), pl.Int64())
    kinds |= {"group": pl.String(), "provisional": pl.Boolean()}
    nothing = {n: pl.Series([None] * len(names), dtype=k) for n, k in kinds.items()}
    nothing["provisional"] = pl.Series([False] * len(names))
    table = pl.DataFrame({"item": names, "rating": rating} | nothing | tally)
    table = table.sort("rating", descending=True, maintain_order=True)
    ranks = table["rating"].rank("min", descending=True).cast(pl.Int64)
    return table.insert_column(0, ranks.alias("rank"))


def rank_rows(utility: NDArray[np.float64], data: ComparisonData) -> pl.DataFrame:
    """Return graded rows with their ranks within queries, as `table_rows`."""
    return table_rows(utility, data.item_names, data.query, data.grades)


def table_rows(
    utility: NDArray[np.float64],
    names: NDArray[Any] | None,
    query: NDArray[Any] | None,
    grades: NDArray[np.float64] | None,
) -> pl.DataFrame:
    """Return rows with their ranks within queries: query by query, best first."""
    # ``row`` counts from 1 in the order of the file; columns that are None are left
    # out.
    n = len(utility)
    group = np.zeros(n, dtype=np.int64) if query is None else factorize(query)[0]
    rank = ranks_within(utility, group)
    columns = {"row": np.arange(1, n + 1), "item": names, "query": query}
    columns |= {"grade": grades, "utility": utility, "rank": rank}
    table = pl.DataFrame(
        {k: column for k, column in columns.items() if column is not None}
    )
    return table[np.lexsort((rank, group))]


def list_weights(fitted: Any, pairs: Pairs) -> list[tuple[str, float]] | None:
    """Return features and weights, the largest first; None without features or weights.

    ``fitted`` may be a pipeline.
    """
    last = fitted[-1] if hasattr(fitted, "steps") else fitted
    last = getattr(last, "ranker_", last)
    if not pairs.has_features or not hasattr(last, "coef_"):
        return None
    names = pairs.feature_names or [f"feature {j}" for j in range(pairs.shape[2])]
    order = np.argsort(-np.abs(last.coef_))
    return [(str(names[j]), float(last.coef_[j])) for j in order]
