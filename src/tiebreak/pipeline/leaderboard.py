# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted model learned of items: utilities, ranks, weights."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import Comparisons, Data, Grades, ItemTable
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.validation import check_weights
from tiebreak.metrics.pair_counts import group_ranks
from tiebreak.metrics.scorers import last_step as transform_items
from tiebreak.ratings.leaderboard import UNKNOWN, RatingScale, sort_board
from tiebreak.ratings.leaderboard_table import TALLY


def last_step(model: Any) -> Any:
    """Return the last step of a Pipeline; else the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def item_utilities(
    model: Any, items: ItemTable, names: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return the utilities of items with features; higher is better."""
    # A model that was fitted with ``identity`` adds what it knows of an item by its
    # name.
    last, X = transform_items(model, items)
    own = names is not None and hasattr(last, "item_effect_")
    return np.asarray(last.utility(X, *[names] * own), dtype=np.float64)


def ranks_within(
    utility: NDArray[np.float64], group: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return ranks within groups; equal utilities share the best (1, 2, 2, 4)."""
    return group_ranks(group, -utility, "min").astype(np.int64)


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

    Log odds are shown as ratings. None if items have no names, a name occurs twice, or
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
    tally: dict[str, Any] = dict.fromkeys(TALLY, pl.lit(None, pl.Float64))
    if isinstance(data, Comparisons):
        weight, pairs = check_weights(data.weight, len(data)), data.pairs
        n_sides = len(pairs.side_names)
        counts = count_comparisons(*pairs.sides, data.y, weight, n_sides)
        sums = counts.tally(len(names), pairs.members)
        tally = dict(zip(TALLY, map(pl.Series, sums), strict=True))
    return sort_board(
        pl.DataFrame({"item": names, "rating": rating}).with_columns(
            **{name: pl.lit(None, kind) for name, kind in UNKNOWN.items()},
            placed=True,
            provisional=False,
            **tally,
        )
    )


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


def list_weights(fitted: Any, data: Data) -> tuple[list[tuple[str, float]] | None, str]:
    """Return features and weights or shares, the largest first, and what shares are.

    Shares are those of trees or of changes; None without features, or of too many.
    """
    if data.items is None:
        return None, ""
    last = last_step(fitted)
    last = getattr(last, "ranker_", last)
    worth, shares = getattr(last, "coef_", None), ""
    if hasattr(last, "feature_importances_"):
        worth, shares = last.feature_importances_, "shares of the gain of all splits"
    elif worth is None and data.items.n_features <= _MOST_PERMUTED:
        worth = _changes(fitted, data.items)
        shares = "shares of the change of utilities when one feature is permuted"
    if worth is None or not worth.any():
        return None, ""
    worth = worth / worth.sum() if shares else worth
    names = data.items.feature_names or [f"feature {j}" for j in range(len(worth))]
    order = np.argsort(-np.abs(worth))
    return [(str(names[j]), float(worth[j])) for j in order], shares


_MOST_PERMUTED, _SOME_ITEMS = 100, 200


def _changes(model: Any, items: ItemTable) -> NDArray[np.float64]:
    """Return by how much utilities change, on average, where a feature is permuted."""
    rng = np.random.default_rng(0)
    values = items.take(rng.permutation(items.n_items)[:_SOME_ITEMS]).dense()
    before = item_utilities(model, ItemTable(values, items.feature_names))
    changes = np.empty(items.n_features)
    for j in range(items.n_features):
        mixed = values.copy()
        mixed[:, j] = rng.permutation(values[:, j])
        after = item_utilities(model, ItemTable(mixed, items.feature_names))
        changes[j] = np.abs(after - before).mean()
    return changes


_SHOWN = 8  # disagreements
OUTCOME_WORDS = {-1: "left", 0: "tie", 1: "right"}


def find_disagreements(model: Any, data: Data) -> pl.DataFrame | None:
    """The comparisons with the least probable outcomes."""
    if not isinstance(data, Comparisons) or not hasattr(model, "predict_proba"):
        return None
    if data.items is None:
        return None
    proba = model.predict_proba(data.pairs)
    columns = {
        "left": data.pairs.sides[0],
        "right": data.pairs.sides[1],
        "said": data.y,
        "predicted": proba.argmax(axis=1).astype(np.int8) - 1,
        "probability": proba[np.arange(len(data)), data.y + 1],
    }
    table = pl.DataFrame(columns).sort("probability", maintain_order=True)
    # One example of the same two items is enough.
    table = table.unique(("left", "right"), keep="first", maintain_order=True)
    names = [*map(str, data.pairs.side_names.tolist())]
    if data.names is None:
        names = [f"row {i + 1}" for i in range(data.pairs.n_items)]
    rows = range(len(names))
    return (
        table.head(_SHOWN)
        .filter(pl.col("said") != pl.col("predicted"))
        .with_columns(
            pl.col("left", "right").replace_strict(rows, names, return_dtype=pl.String),
            pl.col("said", "predicted").replace_strict(
                OUTCOME_WORDS, return_dtype=pl.String
            ),
        )
    )
