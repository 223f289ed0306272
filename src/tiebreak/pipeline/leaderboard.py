# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted model learned of items: utilities, ranks, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from tiebreak.data import Comparisons, Data, Grades, ItemTable
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.validation import check_weights
from tiebreak.ratings.leaderboard import RatingScale


def last_step(model: Any) -> Any:
    """Return the last step of a Pipeline; else the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


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


def utilities(model: Any, data: Data, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the utilities of some items of the data."""
    names = None if data.names is None else data.names[rows]
    if data.items is None:
        return np.asarray(model.utility(names), dtype=np.float64)
    return item_utilities(model, data.items.take(rows), names)


def rate_items(model: Any, data: Data) -> NDArray[np.float64]:
    """Return utilities of items with features, centered at those that occur."""
    assert data.items is not None
    utility = item_utilities(model, data.items, data.names)
    return utility - utility[data.touched()].mean()


def board_items(
    utility: NDArray[np.float64],
    data: Data,
    model: Any,
    scale: RatingScale | None = None,
) -> pl.DataFrame | None:
    """Return the leaderboard of items that have features and names, without intervals.

    Utilities whose differences are log odds are shown as ratings, 400 points for odds
    of ten to one around 1500. None if items have no names, a name occurs twice, or
    there are several queries.
    """
    names = data.names
    if names is None or len(set(names.tolist())) < len(names):
        return None
    if isinstance(data, Grades) and data.n_groups > 1:
        return None
    scale = RatingScale() if scale is None else scale
    place = scale.place(names)
    rating = utility - (0.0 if place is None else utility[place])
    if hasattr(last_step(model), "predict_proba"):
        rating = scale.anchor + scale.unit * rating
    kinds: dict[str, Any] = dict.fromkeys(("lower", "upper"), pl.Float64())
    kinds |= {"could_be_best": pl.Boolean()}
    kinds |= dict.fromkeys(("rank_best", "rank_worst"), pl.Int64())
    kinds |= {"group": pl.String(), "placed": pl.Boolean(), "provisional": pl.Boolean()}
    kinds |= dict.fromkeys(_TALLY, pl.Float64())
    columns: dict[str, Any] = {
        name: pl.Series([None] * len(names), dtype=kind) for name, kind in kinds.items()
    }
    columns["placed"] = pl.Series([True] * len(names))
    columns["provisional"] = pl.Series([False] * len(names))
    if isinstance(data, Comparisons):
        weight = check_weights(data.weight, len(data))
        sides = data.pairs.left, data.pairs.right
        counts = count_comparisons(*sides, data.y, weight, len(names))
        columns |= zip(_TALLY, counts.tally(len(names)), strict=True)
    table = pl.DataFrame({"item": names, "rating": rating} | columns)
    table = table.sort("rating", descending=True, maintain_order=True)
    ranks = table["rating"].rank("min", descending=True).cast(pl.Int64)
    return table.insert_column(0, ranks.alias("rank"))


_TALLY = ("wins", "ties", "losses")


def rank_rows(utility: NDArray[np.float64], data: Data) -> pl.DataFrame:
    """Return rows with their ranks within queries, best first."""
    # ``row`` counts from 1 in the order of the file.
    n = len(utility)
    group = np.zeros(n, dtype=np.int64)
    columns: dict[str, Any] = {"row": np.arange(1, n + 1)}
    columns |= {} if data.names is None else {"item": data.names}
    if isinstance(data, Grades):
        group = data.group
        columns |= {} if data.qid is None else {"query": data.qid}
        columns |= {} if np.isnan(data.y).all() else {"grade": data.y}
    rank = ranks_within(utility, group)
    table = pl.DataFrame(columns | {"utility": utility, "rank": rank})
    return table[np.lexsort((rank, group))]


def list_weights(fitted: Any, data: Data) -> list[tuple[str, float]] | None:
    """Return features and weights, the largest first; None without features or weights.

    ``fitted`` may be a pipeline.
    """
    last = last_step(fitted)
    last = getattr(last, "ranker_", last)
    if data.items is None or not hasattr(last, "coef_"):
        return None
    names, order = _feature_names(data.items), np.argsort(-np.abs(last.coef_))
    return [(names[j], float(last.coef_[j])) for j in order]


_SHOWN = 8  # disagreements


def find_disagreements(model: Any, data: Data) -> pl.DataFrame | None:
    """The comparisons with the least probable outcomes."""
    if not isinstance(data, Comparisons) or not hasattr(model, "predict_proba"):
        return None
    if data.items is None:
        return None
    proba = model.predict_proba(data.pairs)
    probability = proba[np.arange(len(data.y)), data.y.astype(np.int64) + 1]
    words = np.array(["left", "tie", "right"])
    names = data.names
    if names is None:
        names = np.array([f"row {i + 1}" for i in range(data.pairs.n_items)])
    least = np.argsort(probability, kind="stable")
    # One example of the same two items is enough.
    both = np.stack([data.pairs.left[least], data.pairs.right[least]], axis=1)
    rows = least[np.sort(np.unique(both, axis=0, return_index=True)[1])][:_SHOWN]
    columns = {
        "left": [str(names[i]) for i in data.pairs.left[rows]],
        "right": [str(names[i]) for i in data.pairs.right[rows]],
        "said": words[data.y[rows] + 1].tolist(),
        "predicted": words[proba[rows].argmax(axis=1)].tolist(),
        "probability": probability[rows],
    }
    table = pl.DataFrame(columns)
    return table.filter(pl.col("said") != pl.col("predicted"))


def _feature_names(items: ItemTable) -> list[str]:
    names = items.feature_names or [f"feature {j}" for j in range(items.n_features)]
    return [str(name) for name in names]
