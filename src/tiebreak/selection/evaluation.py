# SPDX-License-Identifier: BSD-3-Clause
"""Fit models on some rows, let them predict others, and compare them on these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import _safe_indexing

from tiebreak.data import Pairs, check_comparisons
from tiebreak.data.columns import as_column, factorize, order_periods
from tiebreak.selection.results import (
    METRICS,
    ForwardResult,
    parameter_names,
    score_rows,
)
from tiebreak.selection.splitters import ItemKFold, PeriodSplit

_BASELINE = "baseline"
_OUTCOMES = np.array([-1, 0, 1], dtype=np.int8)
_OF_PREDICTIONS = ("advantage", "context", "rater")


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """Models by name, and checked comparisons with their columns."""

    models: dict[str, Any]
    pairs: Pairs
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    compared: Pairs  # the same, equal items being one
    columns: dict[str, Any]  # advantage may be a mapping of models by name

    @classmethod
    def read(
        cls, models: Any, X: Any, y: Any, sample_weight: Any, **columns: Any
    ) -> EvaluationData:
        """Check models, comparisons and columns."""
        named = _name_models(models)
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        if sample_weight is not None or not weight.all():
            columns["sample_weight"] = weight
        columns = {k: column for k, column in columns.items() if column is not None}
        _check_columns(columns, named, len(pairs))
        compared = pairs
        if (
            pairs is not X and pairs.has_features
        ):  # in an array, equal features are one item
            table, code = pairs.table.unique()
            compared = Pairs._of(table, code[pairs.left], code[pairs.right], None)
        return cls(named, pairs, outcome, weight, compared, columns)

    def arguments(
        self, method: Any, model: str, rows: NDArray[np.int64], names: Iterable[str]
    ) -> dict[str, Any]:
        """Give the columns that a method of a model takes, for some rows."""
        taken: dict[str, Any] = {}
        for name in names:
            values = self.columns.get(name)
            if isinstance(values, Mapping):
                values = values.get(model)
            if values is not None and not isinstance(values, Real):
                values = _safe_indexing(values, rows)
            if values is not None:
                taken |= dict.fromkeys(parameter_names(method, name), values)
        return taken

    def predict(self, method: Any, model: str, rows: NDArray[np.int64]) -> Any:
        """Call a prediction method with the columns that it takes."""
        if len(rows) == 0:  # which models refuse to predict
            return np.empty((0, 3) if method.__name__ == "predict_proba" else 0)
        columns = self.arguments(method, model, rows, _OF_PREDICTIONS)
        return np.asarray(method(self.pairs[rows], **columns))


def _check_columns(
    columns: dict[str, Any], models: dict[str, Any], n_rows: int
) -> None:
    """Refuse columns of another length, and those that no model takes."""
    for name in columns.keys() & set(_OF_PREDICTIONS):
        values = columns[name]
        named = isinstance(values, Mapping)
        by_model = values if named else dict.fromkeys(models, values)
        taking = {k for k, model in models.items() if parameter_names(model.fit, name)}
        others = [key for key in by_model if key not in taking]
        if len(others) == len(by_model) or (named and others):
            raise ValueError(
                f"{name} is not taken in fit by {', '.join(map(repr, others))}."
            )
        for column in by_model.values():
            if not isinstance(column, Real) and np.shape(column)[0] != n_rows:
                raise ValueError(
                    f"{name} has {len(column)} values but there are {n_rows} rows."
                )


@dataclass(frozen=True, eq=False)
class Block:
    """What was predicted of one block."""

    number: int
    n_train: int
    test: NDArray[np.int64]
    kept: NDArray[np.int64]  # the rows of it that are evaluated
    predicted: dict[str, NDArray[Any]]
    proba: dict[str, NDArray[np.float64]]


def predict_blocks(data: EvaluationData, splits: Iterable[Any]) -> list[Block]:
    """Fit and predict for every split of the rows of positive weight."""
    present = np.flatnonzero(data.weight > 0)
    return [
        _predict_block(data, present[train], present[test], number)
        for number, (train, test) in enumerate(splits)
    ]


@contextmanager
def _naming(model: str, block: int) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        error.add_note(f"This was model {model!r} in block {block}.")
        raise


def _predict_block(
    data: EvaluationData, train: NDArray[np.int64], test: NDArray[np.int64], number: int
) -> Block:
    fitted = {}
    for name, model in data.models.items():
        fitted[name] = clone(model)
        columns = data.arguments(fitted[name].fit, name, train, data.columns)
        with _naming(name, number):
            fitted[name].fit(data.pairs[train], data.outcome[train], **columns)
    seen = np.zeros(data.compared.n_items, dtype=bool)
    seen[data.compared[train].touched()] = True
    known = data.compared[test].among(seen)
    kept = test
    if not known.all() and not _all_predict(fitted, data, test[~known]):
        kept = test[known]
    predicted: dict[str, NDArray[Any]] = {}
    proba: dict[str, NDArray[np.float64]] = {}
    for name, model in fitted.items():
        with _naming(name, number):
            predicted[name] = data.predict(model.predict, name, kept)
            if hasattr(model, "predict_proba"):
                proba[name] = data.predict(model.predict_proba, name, kept)
    counts = np.bincount(data.outcome[train] + 1, data.weight[train], 3)
    predicted[_BASELINE] = np.full(len(kept), _OUTCOMES[counts.argmax()])
    proba[_BASELINE] = np.tile(counts / counts.sum(), (len(kept), 1))
    return Block(number, len(train), test, kept, predicted, proba)


def _all_predict(
    fitted: dict[str, Any], data: EvaluationData, rows: NDArray[np.int64]
) -> bool:
    """Ask whether every model can predict unseen items."""
    try:
        for name, model in fitted.items():
            data.predict(model.predict, name, rows)
    except ValueError:
        return False
    return True


def collect(
    blocks: list[Block],
    data: EvaluationData,
    place: NDArray[np.int64] | None,
    ends: list[tuple[Any, ...]],
    note: str = "",
    *,
    folds: bool = False,
) -> ForwardResult:
    """Join the predictions of all blocks; without `place` a block is a period."""
    row = np.concatenate([block.kept for block in blocks])
    if len(row) == 0:
        n_test = sum(len(block.test) for block in blocks)
        raise ValueError(
            f"Each of the {n_test} test rows has an unseen item; try unseen='prior'."
        )
    predicted = _join([block.predicted for block in blocks])
    proba = _join([block.proba for block in blocks])
    outcome, weight = data.outcome[row], data.weight[row]
    split = np.concatenate([np.full(len(b.kept), b.number) for b in blocks])
    n_unseen = sum(len(block.test) - len(block.kept) for block in blocks)
    table = [
        {"model": name, "n_test": len(row), "n_unseen": n_unseen}
        | score_rows(outcome, weight, predicted[name], proba.get(name))
        for name in predicted
    ]
    by_split = []
    for block, (first, last) in zip(blocks, ends, strict=True):
        counts = {"n_train": block.n_train, "n_test": len(block.kept)}
        counts["n_unseen"] = len(block.test) - len(block.kept)
        rows = data.outcome[block.kept], data.weight[block.kept]
        for name in predicted:
            head = {"split": block.number, "model": name, "first": first, "last": last}
            answers = block.predicted[name], block.proba.get(name)
            by_split.append(head | counts | score_rows(*rows, *answers))
    n_train = [block.n_train for block in blocks]
    return ForwardResult(
        table=_frame(table),
        by_split=_frame(by_split),
        row=row,
        split=split,
        period=split if place is None else place[row],
        outcome=outcome,
        weight=weight,
        predicted=predicted,
        proba=proba,
        note=note,
        overlap=len(row) / float(np.mean(n_train) if folds else np.sum(n_train)),
    )


def _join(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _name_models(models: Any) -> dict[str, Any]:
    """Give models by name; one alone is called by its class."""
    if not isinstance(models, Mapping):
        return {type(models).__name__: models}
    if not models or _BASELINE in models:
        raise ValueError("models must hold at least one, and none called 'baseline'.")
    return dict(models)


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return pl.DataFrame(
        columns | {name: [row[name] for row in rows] for name in METRICS},
        schema_overrides=dict.fromkeys(METRICS, pl.Float64),
    )


def evaluate_folds(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    random_state: int | None = 0,
    advantage: Any = None,
    context: Any = None,
    rater: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ForwardResult:
    """Measure how well models predict held-out results, by cross-validation.

    Each fold is predicted by models fitted on the other folds. For results with dates
    use :func:`evaluate_forward`: a fold learns from the future.

    Parameters
    ----------
    models, X, y
        As in :func:`evaluate_forward`.
    cv : int or splitter, default=5
        Number of folds, or a splitter, such as `ItemKFold` to hold out items.
    groups : array-like of shape (n,), optional
        Groups that stay together, such as queries.
    random_state : int or None, default=0
        Seed of the shuffle, where `cv` is a number.
    advantage, context, rater, sample_weight
        As in :func:`evaluate_forward`.

    Returns
    -------
    ForwardResult
        Its ``period`` numbers the clusters of the standard errors: raters, groups or,
        if `cv` is a number, rows. For a splitter without raters or groups, and always
        for `ItemKFold`, they are the folds, because rows of a fold may share items.
    """
    data = EvaluationData.read(
        models, X, y, sample_weight, advantage=advantage, context=context, rater=rater
    )
    present = np.flatnonzero(data.weight > 0)
    labels = None if groups is None else factorize(as_column(groups, "groups"))[0]
    together = None if labels is None else labels[present]
    folds = cv
    if not hasattr(cv, "split"):
        kind = KFold if groups is None else GroupKFold
        folds = kind(cv, shuffle=True, random_state=random_state)
    splits = folds.split(data.pairs[present], data.outcome[present], together)
    blocks = predict_blocks(data, splits)
    # Rows of one query, or of one rater, may depend on each other.
    place = labels
    if rater is not None:
        place = factorize(as_column(rater, "rater"))[0]
    if isinstance(cv, ItemKFold):
        place = None
    elif place is None and folds is not cv:
        place = np.arange(len(data.pairs), dtype=np.int64)
    numbers = [(block.number, block.number) for block in blocks]
    note = f"each predicted from the other folds of {len(blocks)}."
    return collect(blocks, data, place, numbers, note, folds=True)


def evaluate_forward(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    period: ArrayLike,
    groups: ArrayLike | None = None,
    n_splits: int = 5,
    min_train: int | float | None = None,
    advantage: Any = None,
    context: Any = None,
    rater: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ForwardResult:
    """Measure how well models predict results from earlier ones only.

    For every block of `PeriodSplit`, a clone of each model is fitted on the rows of
    earlier periods and predicts the block. Rows with an unseen item are left out *for
    all models*, unless every model can predict them.

    Parameters
    ----------
    models : estimator or dict of str to estimator
        Models of comparisons; they are cloned.
    X, y : Pairs or array-like of shape (n, 2, n_features), array-like of shape (n,)
        Comparisons, and outcomes: -1 left, 0 tie, +1 right.
    period : array-like of shape (n,)
        When: dates, numbers or text, in any order.
    groups : array-like of shape (n,), optional
        Rows that are one observation, such as a match of two legs: before a block that
        has one of them, the others are not trained on.
    n_splits, min_train : int, and int or float, default=5 and None
        As in `PeriodSplit`.
    advantage : float, array-like of shape (n,), or dict of str to these, optional
        Advantage of left, for ``fit`` and for predicting. Elo and Glicko read rating
        points; BradleyTerry and models with ``advantage="auto"`` learn what 1 is worth.
        A dictionary gives models by name an advantage of their own, and the others
        none.
    context, rater, sample_weight : array-like of n rows, optional
        Covariates, raters, and weights, also of the metrics; 0 is absent.

    Returns
    -------
    ForwardResult
        Its ``table`` has a row per model; ``difference(a, b)`` compares two models.

    Examples
    --------
    >>> from tiebreak import MajorityCompare, Pairs
    >>> from tiebreak.selection import evaluate_forward
    >>> pairs = Pairs(None, list("abacbcab"), list("bacacbba"))
    >>> y = [-1, 1, -1, 1, -1, 0, -1, 0]
    >>> model = MajorityCompare()
    >>> result = evaluate_forward(model, pairs, y, period=range(8), n_splits=2)
    >>> result.table.select("model", "n_test", "accuracy").rows()
    [('MajorityCompare', 6, 0.5), ('baseline', 6, 0.5)]
    """
    columns = {"advantage": advantage, "context": context, "rater": rater}
    columns["period"] = as_column(period, "period")
    data = EvaluationData.read(models, X, y, sample_weight, **columns)
    periods = order_periods(period, len(data.pairs))
    present = periods.place[data.weight > 0]
    splitter = PeriodSplit(n_splits, min_train=min_train)
    splits = splitter.split(present, period=present)
    if groups is not None:
        code = factorize(as_column(groups, "groups"))[0][data.weight > 0]
        splits = (
            (train[~np.isin(code[train], code[test])], test) for train, test in splits
        )
    blocks = predict_blocks(data, splits)
    ends = [
        tuple(periods.values[periods.place[row]] for row in block.test[[0, -1]])
        for block in blocks
    ]
    return collect(blocks, data, periods.place, ends)
