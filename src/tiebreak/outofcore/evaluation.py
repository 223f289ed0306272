# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of a fitted model on data in partitions.

A metric here is a mean: over comparisons, over pairs of graded items, or over groups.
Each partition gives its sum and its count, so that the result is that of all rows
together. Curves are not means and need the rows in one place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tiebreak.data import ItemTable, as_items
from tiebreak.metrics import (
    comparison_accuracy,
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    disagreement,
    ndcg,
    ranked_probability_score,
    swapped_pairs,
    top_k_precision,
)
from tiebreak.metrics.pair_counts import pair_counts
from tiebreak.outofcore.cluster import open_partitions
from tiebreak.outofcore.objectives import (
    Compared,
    read_comparisons,
    read_graded_columns,
)
from tiebreak.outofcore.partitions import PartitionFacts, check_groups, group_keys
from tiebreak.outofcore.sources import (
    PartitionedPairs,
    PartitionedTable,
    as_partitioned_data,
)

Floats = NDArray[np.float64]

_OF_PREDICTIONS: dict[str, Callable[..., float]] = {
    "comparison_error": comparison_error,
    "accuracy": comparison_accuracy,
}
_OF_PROBABILITIES: dict[str, Callable[..., float]] = {
    "comparison_log_loss": comparison_log_loss,
    "comparison_brier": comparison_brier,
    "ranked_probability_score": ranked_probability_score,
}
_OF_PAIRS: dict[str, Callable[..., float]] = {
    "swapped_pairs": swapped_pairs,
    "disagreement": disagreement,
}
_OF_GROUPS: dict[str, Callable[..., float]] = {
    "ndcg": ndcg,
    "top_k_precision": top_k_precision,
}


def score_model(
    model: Any,
    data: PartitionedTable | PartitionedPairs,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return accuracy on comparisons, 1 - swapped-pair fraction on graded items."""
    if y is None:
        raise ValueError("score needs y, the name of a column, got None.")
    name = "accuracy" if data.is_pairs else "swapped_pairs"
    options = {"qid": qid, "sample_weight": sample_weight, "metrics": [name]}
    value = evaluate(model, data, y, **options)[name]
    return value if name == "accuracy" else 1.0 - value


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    metrics: Sequence[str] | None = None,
) -> dict[str, float]:
    """Evaluate a fitted model on data in partitions, where they are.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : PartitionedTable, PartitionedPairs, pattern of files or collection of Dask
        Items or comparisons.
    y, qid, sample_weight : str, collection of Dask or None
        Columns.
    metrics : sequence of str, optional
        For comparisons ``"accuracy"``, ``"comparison_error"`` and, of models with
        probabilities, ``"comparison_log_loss"``, ``"comparison_brier"`` and
        ``"ranked_probability_score"``; for graded items ``"swapped_pairs"``,
        ``"disagreement"``, ``"ndcg"`` and ``"top_k_precision"``. Default: all that
        apply but the last two, which need grades that are not negative.

    Returns
    -------
    dict of str to float
        As the functions of :mod:`tiebreak.metrics` give on all rows together.
    """
    data = as_partitioned_data(X)
    if isinstance(data, PartitionedTable):
        data = data.for_model(model)
    known: list[str]
    if data.is_pairs:
        known = [*_OF_PREDICTIONS, *_OF_PROBABILITIES]
        fitting = [*_OF_PREDICTIONS]
        if hasattr(model, "predict_proba"):
            fitting += _OF_PROBABILITIES
    else:
        known, fitting = [*_OF_PAIRS, *_OF_GROUPS], [*_OF_PAIRS]
    names = list(fitting if metrics is None else metrics)
    for name in names:
        if name not in known:
            what = "comparisons" if data.is_pairs else "graded items"
            raise ValueError(
                f"{name!r} is no metric of {what} in partitions; expected "
                f"{', '.join(known)}."
            )
    build = partial(_Scores, model, names)
    if isinstance(data, PartitionedPairs):
        build = partial(build, items=data.items, item_names=data.names)
    group = None if data.is_pairs else qid
    opened = open_partitions(data, build, y=y, qid=group, weight=sample_weight)
    with closing(opened) as parts:
        if not data.is_pairs:
            check_groups(parts.each(attrgetter("facts")), parts)
        sums, counts = parts.sum(attrgetter("sums", "counts"))
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    if empty:
        raise ValueError(
            f"There is nothing to compute {empty[0]} from: no comparison of positive "
            "weight, or no group with two items of different grades."
        )
    return dict(zip(names, (sums / counts).tolist(), strict=True))


class _Scores:
    """Sums and counts of metrics on one partition."""

    def __init__(
        self,
        model: Any,
        metrics: list[str],
        columns: dict[str, Any],
        items: Any = None,
        item_names: Any = None,
    ) -> None:
        self.sums, self.counts = np.zeros(len(metrics)), np.zeros(len(metrics))
        self.facts, self.group_names = PartitionFacts(0), np.zeros(0)
        if "left" not in columns and np.ndim(columns["X"]) != 3:
            self._score_grades(model, metrics, columns)
            return
        compared = read_comparisons(columns, items, item_names)
        if compared is not None and len(compared.pairs):
            self._score_comparisons(model, metrics, compared)

    def _score_comparisons(
        self, model: Any, metrics: list[str], compared: Compared
    ) -> None:
        pairs, y, w = compared.pairs, compared.outcome, compared.weight
        asked = set(metrics)
        predicted = model.predict(pairs) if asked & {*_OF_PREDICTIONS} else None
        proba = model.predict_proba(pairs) if asked & {*_OF_PROBABILITIES} else None
        for k, name in enumerate(metrics):
            answer = predicted if name in _OF_PREDICTIONS else proba
            value = (_OF_PREDICTIONS | _OF_PROBABILITIES)[name](y, answer, w)
            self.counts[k] = w.sum()
            self.sums[k] = value * w.sum()

    def _score_grades(
        self, model: Any, metrics: list[str], columns: dict[str, Any]
    ) -> None:
        read = read_graded_columns(columns)
        if read is None:
            return
        grades, weight = read
        self.group_names = grades.group_names
        self.facts = PartitionFacts(len(grades.y), keys=group_keys(grades.group_names))
        kept = weight > 0
        y, group, w = grades.y[kept], grades.group[kept], weight[kept]
        if not len(y):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            utility = model.utility(grades.items.take(np.flatnonzero(kept)))
        group = np.unique(group, return_inverse=True)[1]
        pair_weight = float(pair_counts(y, utility, group, w).sum())
        for k, name in enumerate(metrics):
            if name in _OF_PAIRS and pair_weight:
                self.counts[k] = pair_weight
                self.sums[k] = pair_weight * _OF_PAIRS[name](y, utility, group, w)
            elif name in _OF_GROUPS:
                n = _count_groups(name, y, group)
                self.counts[k] = n
                self.sums[k] = n * _OF_GROUPS[name](y, utility, group) if n else 0.0


def _count_groups(name: str, y: Floats, group: NDArray[np.int64]) -> int:
    """Return the number of groups that a metric averages over."""
    # Of ndcg those without a positive gain are left out.
    return len(np.unique(group[y > 0] if name == "ndcg" else group))


def sample_rows(
    X: Any,
    n_rows: int,
    *,
    leave_out: list[str] | tuple[str, ...] = (),
    random_state: int | np.random.RandomState | None = None,
) -> pl.DataFrame | NDArray[np.float64]:
    """Draw items at random from data in partitions, without replacement.

    It is what :class:`NystroemMap` or a scaler is fitted on, whose ``transform`` then
    goes to the partitions with :meth:`PartitionedTable.map`.

    Parameters
    ----------
    X : PartitionedTable, pattern of files, or collection of Dask
        Items.
    n_rows : int
        How many rows at most; all of them if there are fewer.
    leave_out : list of str, optional
        Columns that are no features, such as those of grades and groups.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    polars.DataFrame, or ndarray of shape (n_rows, p)
        A frame where features have names. Equally likely for every row.
    """
    data = as_partitioned_data(X)
    if not isinstance(data, PartitionedTable) or data.is_pairs:
        raise TypeError(f"Expected items in partitions, got {data!r}.")
    roles = {f"left out {k}": column for k, column in enumerate(leave_out)}
    with closing(open_partitions(data, _Rows, **roles)) as parts:
        sizes = parts.each(attrgetter("n_rows"))
        n_all = sum(sizes)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(n_all, min(n_rows, n_all), replace=False))
        taken = parts.each(_Rows.take, own=split_rows(chosen, sizes))
        tables = [table for table in taken if table is not None]
    values = np.concatenate([table.dense() for table in tables])
    names = tables[0].feature_names
    return values if names is None else pl.DataFrame(values, schema=list(names))


def split_rows(rows: NDArray[np.int64], sizes: Sequence[int]) -> list[Any]:
    """Return the rows of each partition, numbered from its first; rows ascend."""
    starts = np.cumsum([0, *sizes])
    parts = np.split(rows, np.searchsorted(rows, starts[1:-1]))
    return [part - start for part, start in zip(parts, starts, strict=False)]


class _Rows:
    """The items of a partition."""

    def __init__(self, columns: dict[str, Any]) -> None:
        X = columns["X"]
        self.table: ItemTable | None = as_items(X, name="X") if len(X) else None
        self.n_rows = 0 if self.table is None else self.table.n_items

    def take(self, rows: NDArray[np.int64]) -> ItemTable | None:
        """Return some of the items; None if there are none."""
        return self.table.take(rows) if self.table is not None and len(rows) else None
