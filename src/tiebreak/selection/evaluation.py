# SPDX-License-Identifier: BSD-3-Clause
"""Fit models on some rows, let them predict others, and compare them on these.

The held-out rows are those of later periods (``evaluate_forward``) or of folds
(``evaluate_folds``). Rows with an item that was not seen in training are left out for
all models, unless every model can predict them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from tiebreak.data import Pairs, as_pairs, check_comparisons
from tiebreak.data.columns import as_column, factorize, order_periods
from tiebreak.lazy import LateModule
from tiebreak.selection.results import (
    METRICS,
    ForwardColumns,
    ForwardResult,
    score_rows,
)

# Splitters import scikit-learn's, and with them its metrics and `scipy.stats`.
splitters = LateModule("tiebreak.selection.splitters")
_BASELINE = "baseline"
_OUTCOMES = np.array([-1, 0, 1], dtype=np.int8)


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """Models by name, and checked comparisons with what belongs to their rows."""

    models: dict[str, Any]
    pairs: Pairs
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    sides: NDArray[np.int64]  # (n, 2), number of the item left and right
    columns: ForwardColumns

    @classmethod
    def read(
        cls, models: Any, X: Any, y: Any, sample_weight: Any, **columns: Any
    ) -> EvaluationData:
        """Check models, comparisons and columns."""
        named = _name_models(models)
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        kept = None if sample_weight is None else weight
        found = ForwardColumns(sample_weight=kept, **columns)
        found.check(named, len(pairs))
        sides = np.stack([pairs.left, pairs.right], axis=1)
        if pairs is not X:  # in an array, equal features are one item
            sides = as_pairs(pairs).unique_items()[1][sides]
        return cls(named, pairs, outcome, weight, sides, found)

    def predict(self, method: Any, name: str, rows: NDArray[np.int64]) -> Any:
        """Call a prediction method of a model with the columns that it takes."""
        extra = self.columns.of(method, name, rows, ("advantage", "context", "rater"))
        return method(self.pairs[rows], **extra)


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
    """Fit and predict for every split, whose rows are those of positive weight."""
    present = np.flatnonzero(data.weight > 0)
    return [
        _predict_block(data, present[train], present[test], number)
        for number, (train, test) in enumerate(splits)
    ]


def _predict_block(
    data: EvaluationData, train: NDArray[np.int64], test: NDArray[np.int64], number: int
) -> Block:
    fitted = {
        name: _fit(name, model, data, train, number)
        for name, model in data.models.items()
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
        gives_proba = hasattr(model, "predict_proba")
        if len(kept) == 0:
            # Nothing to predict, which models refuse to do.
            predicted[name] = np.empty(0, dtype=np.int8)
            proba |= {name: np.empty((0, 3))} if gives_proba else {}
            continue
        try:
            predicted[name] = np.asarray(data.predict(model.predict, name, kept))
            if gives_proba:
                chances = data.predict(model.predict_proba, name, kept)
                proba[name] = np.asarray(chances)
        except Exception as error:
            error.add_note(f"This was model {name!r}, predicting block {number}.")
            raise
    counts = np.bincount(data.outcome[train] + 1, data.weight[train], 3)
    predicted[_BASELINE] = np.full(len(kept), _OUTCOMES[counts.argmax()])
    proba[_BASELINE] = np.tile(counts / counts.sum(), (len(kept), 1))
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


def _all_predict(
    fitted: dict[str, Any], data: EvaluationData, rows: NDArray[np.int64]
) -> bool:
    """Ask whether every model can predict rows with items it has not seen."""
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
    names_of_blocks: list[tuple[Any, ...]],
    note: str = "",
    *,
    folds: bool = False,
) -> ForwardResult:
    """Join what was predicted of all blocks; without `place` a block is a period."""
    row = np.concatenate([block.kept for block in blocks])
    if len(row) == 0:
        n_test = sum(len(block.test) for block in blocks)
        raise ValueError(
            f"Nothing is left to evaluate: each of the {n_test} test rows has an item "
            "not seen before. Use models with a prior (unseen='prior') or with "
            "features, or give more rows to train on: min_train."
        )
    names = list(blocks[0].predicted)
    predicted, proba = (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for parts in ([b.predicted for b in blocks], [b.proba for b in blocks])
    )
    outcome, weight = data.outcome[row], data.weight[row]
    n_unseen = sum(len(block.test) - len(block.kept) for block in blocks)
    table = [
        {"model": name, "n_test": len(row), "n_unseen": n_unseen}
        | score_rows(outcome, weight, predicted[name], proba.get(name))
        for name in names
    ]
    by_split = []
    for block, (first, last) in zip(blocks, names_of_blocks, strict=True):
        counts = {"n_train": block.n_train, "n_test": len(block.kept)}
        counts["n_unseen"] = len(block.test) - len(block.kept)
        happened, weights = data.outcome[block.kept], data.weight[block.kept]
        for name in names:
            head = {"split": block.number, "model": name, "first": first, "last": last}
            answers = block.predicted[name], block.proba.get(name)
            by_split.append(head | counts | score_rows(happened, weights, *answers))
    split = np.concatenate([np.full(len(b.kept), b.number) for b in blocks])
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


def _name_models(models: Any) -> dict[str, Any]:
    """Give models by name; one alone is called by its class."""
    if not isinstance(models, Mapping):
        return {type(models).__name__: models}
    if not models:
        raise ValueError("There are no models to evaluate: the dictionary is empty.")
    for name in models:
        if not isinstance(name, str) or not name or name == _BASELINE:
            raise ValueError(
                f"Models need names other than {_BASELINE!r}, which is the baseline's; "
                f"got {name!r}."
            )
    return dict(models)


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

    For results with dates use :func:`evaluate_forward`: there a fold would learn from
    the future. Rows are shuffled into folds; each is predicted by models fitted on the
    other folds. Rows with an item that the other folds do not have are left out for all
    models, unless every model can predict them.

    Parameters
    ----------
    models, X, y
        As in :func:`evaluate_forward`.
    cv : int or splitter, default=5
        Number of folds, or a scikit-learn splitter of the rows, such as
        `ItemKFold` to hold out items.
    groups : array-like of shape (n,), optional
        Rows of the same group stay together, such as those of one query.
    random_state : int or None, default=0
        Seed of the shuffle, where `cv` is a number.
    advantage, context, rater, sample_weight
        As in :func:`evaluate_forward`; raters count for standard errors too.

    Returns
    -------
    ForwardResult
        As of :func:`evaluate_forward`; ``period`` numbers what standard errors take
        together: raters, groups or, of a number of folds, rows. Of a splitter without
        raters or groups, and of `ItemKFold` always, it numbers the folds, because rows
        of a fold may share items.
    """
    given = {"advantage": advantage, "context": context, "rater": rater}
    data = EvaluationData.read(models, X, y, sample_weight, period=None, **given)
    present = np.flatnonzero(data.weight > 0)
    labels = None if groups is None else factorize(as_column(groups, "groups"))[0]
    together = None if labels is None else labels[present]
    given_folds = hasattr(cv, "split")
    if given_folds:
        splits = cv.split(data.pairs[present], data.outcome[present], together)
    else:
        splits = _draw_folds(cv, len(present), together, random_state)
    blocks = predict_blocks(data, splits)
    # Rows of one query, or of one rater, may depend on each other.
    place = labels
    if rater is not None:
        place = factorize(as_column(rater, "rater"))[0]
    if given_folds and isinstance(cv, splitters.ItemKFold):
        place = None
    elif place is None and not given_folds:
        place = np.arange(len(data.pairs), dtype=np.int64)
    numbers = [(block.number, block.number) for block in blocks]
    note = f"each predicted from the other folds of {len(blocks)}."
    return collect(blocks, data, place, numbers, note, folds=True)


def _draw_folds(
    cv: int, n_rows: int, labels: NDArray[np.int64] | None, random_state: int | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield rows to train on and to test on, of folds of rows or of whole groups."""
    # They are those of scikit-learn's KFold and GroupKFold with shuffle.
    if not isinstance(cv, Integral) or cv < 2:
        raise ValueError(
            f"cv must be a number of folds, at least 2, or a splitter, got {cv!r}."
        )
    what = "comparison" if labels is None else "group"
    number = np.arange(n_rows)
    if labels is not None:
        number = np.unique(labels, return_inverse=True)[1]
    parts = int(number.max()) + 1
    if parts < cv:
        found = f"There is 1 {what}" if parts == 1 else f"There are {parts} {what}s"
        raise ValueError(
            f"{found}, fewer than the {cv} folds; use fewer folds, or collect more "
            f"{what}s."
        )
    fold = np.empty(parts, dtype=np.int64)
    order = check_random_state(random_state).permutation(parts)
    fold[order] = np.sort(np.arange(parts) % cv)
    for one in range(cv):
        tested = fold[number] == one
        yield np.flatnonzero(~tested), np.flatnonzero(tested)


def evaluate_forward(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    period: ArrayLike,
    n_splits: int = 5,
    min_train: int | float | None = None,
    advantage: Any = None,
    context: Any = None,
    rater: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ForwardResult:
    """Measure how well models predict results from earlier ones only.

    For every block of `PeriodSplit`, a clone of each model is fitted on all rows of
    earlier periods, in order of time, and predicts the rows of the block. It is not
    updated within the block, so more splits let models that follow the time look their
    best. ``"baseline"`` knows only how often left, tie and right occurred so far.

    Rows with an item that was not seen are left out *for all models*, unless every
    model can predict them; the column ``n_unseen`` of the result says how many.

    Parameters
    ----------
    models : estimator or dict of str to estimator
        Models of comparisons, fitted or not; they are cloned.
    X, y : Pairs or array-like of shape (n, 2, n_features), array-like of shape (n,)
        Comparisons, and outcomes: -1 left is better, 0 tie, +1 right is better.
    period : array-like of shape (n,)
        When: dates, numbers or text, in any order.
    n_splits, min_train : int, and int or float, default=5 and None
        Blocks to predict, and the least to train on, as in `PeriodSplit`.
    advantage : float, array-like of shape (n,), or dict of str to these, optional
        Advantage of left, for ``fit`` and for predicting. Its unit differs: Elo and
        Glicko read rating points, BradleyTerry and those with ``advantage="auto"``
        learn what 1 is worth. A dictionary
        gives models by name an advantage of their own, and the others none.
    context, rater, sample_weight : array-like of n rows, optional
        Covariates, who compared, and weights, also of the metrics; 0 is absent.

    Returns
    -------
    ForwardResult
        Print it; its ``table`` holds a row per model, ``difference(a, b)`` compares two
        with a standard error and an interval.

    Notes
    -----
    A model gets those of `period`, `advantage`, `context`, `rater` and `sample_weight`
    that its ``fit`` (``predict``, ``predict_proba``) names among its
    parameters; a column that no model takes is refused.

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
    given = {"advantage": advantage, "context": context, "rater": rater}
    when = as_column(period, "period")
    data = EvaluationData.read(models, X, y, sample_weight, period=when, **given)
    periods = order_periods(period, len(data.pairs))
    present = periods.place[data.weight > 0]
    splitter = splitters.PeriodSplit(n_splits, min_train=min_train)
    blocks = predict_blocks(data, splitter.split(present, period=present))
    ends = [
        tuple(periods.values[periods.place[row]] for row in block.test[[0, -1]])
        for block in blocks
    ]
    return collect(blocks, data, periods.place, ends)
