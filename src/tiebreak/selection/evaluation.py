# SPDX-License-Identifier: BSD-3-Clause
"""Fit models on some rows, ask them about others, and compare: the part that does it.

Which rows those are is for others to say: later periods (`forward`) or folds (`folds`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tiebreak.data import Pairs, as_pairs
from tiebreak.selection.forward_columns import ForwardColumns
from tiebreak.selection.forward_result import METRICS, ForwardResult, score_rows

__all__ = [
    "Block",
    "EvaluationData",
    "collect",
    "foretell",
    "item_numbers",
    "name_models",
]

_SHARES = "shares"
_OUTCOMES = np.array([-1, 0, 1], dtype=np.int8)


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """Comparisons, checked, with the number of the item on each side."""

    pairs: Pairs
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    sides: NDArray[np.int64]
    columns: ForwardColumns


@dataclass(frozen=True, eq=False)
class Block:
    """What was foretold of one block."""

    number: int
    n_train: int
    test: NDArray[np.int64]
    kept: NDArray[np.int64]
    predicted: dict[str, NDArray[Any]]
    proba: dict[str, NDArray[np.float64]]


def foretell(
    models: dict[str, Any],
    data: EvaluationData,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    number: int,
) -> Block:
    """Fit every model on some rows and ask it about others.

    Parameters
    ----------
    models : dict of str to estimator
        Models, which are cloned.
    data : EvaluationData
        The comparisons.
    train, test : ndarray of int64
        Row numbers.
    number : int
        Number of the block.

    Returns
    -------
    Block
    """
    fitted = {
        name: _fit(name, model, data, train, number) for name, model in models.items()
    }
    seen = np.zeros(data.sides.max() + 1, dtype=bool)
    seen[data.sides[train]] = True
    known = seen[data.sides[test]].all(axis=1)
    kept = test
    if not known.all() and not _all_predict(fitted, data, test[~known]):
        kept = test[known]
    predicted: dict[str, NDArray[Any]] = {}
    proba: dict[str, NDArray[np.float64]] = {}
    for name, model in fitted.items():
        if len(kept) == 0:
            # Nothing to predict, which models refuse to do.
            predicted[name] = np.empty(0, dtype=np.int8)
            if hasattr(model, "predict_proba"):
                proba[name] = np.empty((0, 3))
            continue
        predicted[name], chances = _predict(name, model, data, kept, number)
        if chances is not None:
            proba[name] = chances
    counts = np.bincount(data.outcome[train] + 1, data.weight[train], 3)
    predicted[_SHARES] = np.full(len(kept), _OUTCOMES[counts.argmax()])
    proba[_SHARES] = np.tile(counts / counts.sum(), (len(kept), 1))
    return Block(number, len(train), test, kept, predicted, proba)


def _fit(
    name: str, model: Any, data: EvaluationData, train: NDArray[np.int64], number: int
) -> Any:
    fresh = clone(model)
    names = ("period", "advantage", "context", "rater", "sample_weight")
    extra = data.columns.of(fresh.fit, name, train, names)
    try:
        return fresh.fit(data.pairs[train], data.outcome[train], **extra)
    except Exception as error:
        error.add_note(
            f"This was model {name!r} on the {len(train)} rows before block {number}."
        )
        raise


def _predict(
    name: str, model: Any, data: EvaluationData, rows: NDArray[np.int64], number: int
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    pairs = data.pairs[rows]

    def ask(method: Any) -> NDArray[Any]:
        extra = data.columns.of(method, name, rows, ("advantage", "context"))
        return np.asarray(method(pairs, **extra))

    try:
        predicted = ask(model.predict)
        if not hasattr(model, "predict_proba"):
            return predicted, None
        return predicted, ask(model.predict_proba)
    except Exception as error:
        error.add_note(f"This was model {name!r}, foretelling block {number}.")
        raise


def _all_predict(
    fitted: dict[str, Any], data: EvaluationData, rows: NDArray[np.int64]
) -> bool:
    """Ask whether every model can predict rows with items it has not seen."""
    for name, model in fitted.items():
        extra = data.columns.of(model.predict, name, rows, ("advantage", "context"))
        try:
            model.predict(data.pairs[rows], **extra)
        except ValueError:
            return False
    return True


def collect(
    blocks: list[Block],
    data: EvaluationData,
    place: NDArray[np.int64],
    names_of_blocks: list[tuple[Any, ...]],
    note: str = "",
) -> ForwardResult:
    """Join what was foretold of all blocks.

    Parameters
    ----------
    blocks : list of Block
        What was foretold.
    data : EvaluationData
        The comparisons.
    place : ndarray of int64 of shape (n,)
        Rows with the same number may depend on each other.
    names_of_blocks : list of (first, last)
        What each block is of: its first and last period.
    note : str, default=""
        How rows were held out, instead of what is said of periods.

    Returns
    -------
    ForwardResult
    """
    row = np.concatenate([block.kept for block in blocks])
    if len(row) == 0:
        n_test = sum(len(block.test) for block in blocks)
        raise ValueError(
            f"Nothing is left to evaluate: each of the {n_test} test rows has an item "
            "not seen before. Use models with a prior (unseen='prior') or with "
            "features, or give more rows to train on: min_train."
        )
    names = list(blocks[0].predicted)
    predicted = {
        name: np.concatenate([block.predicted[name] for block in blocks])
        for name in names
    }
    proba = {
        name: np.concatenate([block.proba[name] for block in blocks])
        for name in names
        if name in blocks[0].proba
    }
    outcome, weight = data.outcome[row], data.weight[row]
    n_unseen = sum(len(block.test) - len(block.kept) for block in blocks)
    table = [
        {"model": name, "n_test": len(row), "n_unseen": n_unseen}
        | score_rows(outcome, weight, predicted[name], proba.get(name))
        for name in names
    ]
    by_split = [
        {
            "split": block.number,
            "model": name,
            "first": first,
            "last": last,
            "n_train": block.n_train,
            "n_test": len(block.kept),
            "n_unseen": len(block.test) - len(block.kept),
        }
        | score_rows(
            data.outcome[block.kept],
            data.weight[block.kept],
            block.predicted[name],
            block.proba.get(name),
        )
        for block, (first, last) in zip(blocks, names_of_blocks, strict=True)
        for name in names
    ]
    return ForwardResult(
        table=_frame(table),
        by_split=_frame(by_split),
        row=row,
        split=np.concatenate([np.full(len(b.kept), b.number) for b in blocks]),
        period=place[row],
        outcome=outcome,
        weight=weight,
        predicted=predicted,
        proba=proba,
        note=note,
    )


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    columns = []
    for name in rows[0]:
        values: Any = [row[name] for row in rows]
        if name in METRICS:
            columns.append(pl.Series(name, values, dtype=pl.Float64))
            continue
        if isinstance(values[0], np.datetime64):
            values = np.array(values)
        columns.append(pl.Series(name, values))
    return pl.DataFrame(columns)


def name_models(models: Any) -> dict[str, Any]:
    """Give models by name; one alone is called by its class.

    Parameters
    ----------
    models : estimator or dict of str to estimator
        The models.

    Returns
    -------
    dict of str to estimator
    """
    if not isinstance(models, Mapping):
        return {type(models).__name__: models}
    if not models:
        raise ValueError("There are no models to evaluate: the dictionary is empty.")
    for name in models:
        if not isinstance(name, str) or not name or name == _SHARES:
            raise ValueError(
                f"Models need names other than {_SHARES!r}, which is the baseline's; "
                f"got {name!r}."
            )
    return dict(models)


def item_numbers(pairs: Pairs, X: Any) -> NDArray[np.int64]:
    """Number the items of both sides; in an array, equal features are one item."""
    sides = np.stack([pairs.left, pairs.right], axis=1)
    if pairs is X:
        return sides
    return as_pairs(pairs).unique_items()[1][sides]
