# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of a fitted model on data in partitions.

A metric here is a mean: over comparisons, over pairs of graded items, or over groups.
Each partition gives its sum and its count, so that the result is that of all rows
together. Curves are not means and need the rows in one place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.metrics import (
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
from tiebreak.scale.compared import Compared, read_comparisons
from tiebreak.scale.facts import PartFacts, check_groups, group_keys
from tiebreak.scale.graded_part import read_graded_columns
from tiebreak.scale.open_parts import open_parts
from tiebreak.scale.sources import PartedPairs, PartedTable, as_parted

__all__ = ["evaluate"]

Floats = NDArray[np.float64]

_OF_PREDICTIONS: dict[str, Callable[..., float]] = {
    "comparison_error": comparison_error,
    "accuracy": lambda y, predicted, w: 1.0 - comparison_error(y, predicted, w),
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


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    metrics: Sequence[str] | None = None,
) -> dict[str, float]:
    """Judge a fitted model on data in partitions, where they are.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : PartedTable, PartedPairs, pattern of files or collection of Dask
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
    data = as_parted(X)
    if isinstance(data, PartedTable):
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
    build = partial(_Judged, model, names)
    if isinstance(data, PartedPairs):
        build = partial(build, items=data.items, item_names=data.names)
    if data.is_pairs:
        parts = open_parts(data, build, y=y, weight=sample_weight)
    else:
        assert isinstance(data, PartedTable)
        parts = open_parts(data, build, y=y, qid=qid, weight=sample_weight)
    try:
        if not data.is_pairs:
            check_groups([facts for (facts,) in parts.each(_facts_of)], parts)
        sums, counts = parts.sum(_sums_of)
    finally:
        parts.close()
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    if empty:
        raise ValueError(
            f"There is nothing to compute {empty[0]} from: no comparison of positive "
            "weight, or no group with two items of different grades."
        )
    return dict(zip(names, (sums / counts).tolist(), strict=True))


class _Judged:
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
        self.facts, self.group_names = PartFacts(0), np.zeros(0)
        is_pairs = "left" in columns or np.ndim(columns["X"]) == 3
        if is_pairs:
            compared = read_comparisons(columns, items, item_names)
            if compared is not None and len(compared.pairs):
                self._judge_comparisons(model, metrics, compared)
            return
        self._judge_grades(model, metrics, columns)

    def _judge_comparisons(
        self, model: Any, metrics: list[str], compared: Compared
    ) -> None:
        pairs, y, w = compared.pairs, compared.outcome, compared.weight
        asked = set(metrics)
        predicted = model.predict(pairs) if asked & {*_OF_PREDICTIONS} else None
        proba = model.predict_proba(pairs) if asked & {*_OF_PROBABILITIES} else None
        for k, name in enumerate(metrics):
            if name in _OF_PREDICTIONS:
                value = _OF_PREDICTIONS[name](y, predicted, w)
            else:
                value = _OF_PROBABILITIES[name](y, proba, w)
            self.counts[k] = w.sum()
            self.sums[k] = value * w.sum()

    def _judge_grades(
        self, model: Any, metrics: list[str], columns: dict[str, Any]
    ) -> None:
        read = read_graded_columns(columns)
        if read is None:
            return
        grades, weight = read
        self.group_names = grades.group_names
        self.facts = PartFacts(len(grades.y), keys=group_keys(grades.group_names))
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
    """Number of groups that a metric averages over."""
    if name == "ndcg":  # those without a positive gain are left out
        return len(np.unique(group[y > 0]))
    return len(np.unique(group))


def _facts_of(part: _Judged) -> tuple[PartFacts]:
    return (part.facts,)


def _sums_of(part: _Judged) -> tuple[Floats, Floats]:
    return part.sums, part.counts
