# SPDX-License-Identifier: BSD-3-Clause
"""Honest evaluation of results without dates: every row foretold from other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, KFold

from tiebreak.data import check_comparisons
from tiebreak.data.columns import as_column, factorize
from tiebreak.selection.evaluation import (
    EvaluationData,
    collect,
    foretell,
    item_numbers,
    name_models,
)
from tiebreak.selection.forward_columns import ForwardColumns
from tiebreak.selection.forward_result import ForwardResult

__all__ = ["evaluate_folds"]


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
    """Measure how well models foretell results from the others, by cross-validation.

    For results with dates use :func:`evaluate_forward`: there a fold would learn from
    the future. Rows are shuffled into folds; each is foretold by models fitted on the
    other folds. Rows with an item that the other folds do not have are left out for all
    models alike, unless every model can predict them.

    Parameters
    ----------
    models : estimator or dict of str to estimator
        Models of comparisons, fitted or not; they are cloned.
    X : Pairs or array-like of shape (n, 2, n_features)
        Comparisons.
    y : array-like of shape (n,)
        Outcomes: -1 left is better, 0 tie, +1 right is better.
    cv : int or splitter, default=5
        Number of folds, or a scikit-learn splitter of the rows, such as
        `ItemKFold` to hold out items.
    groups : array-like of shape (n,), optional
        Rows of the same group stay together, such as those of one query.
    random_state : int or None, default=0
        Seed of the shuffle, where `cv` is a number.
    advantage : float, array-like of shape (n,), or dict of str to these, optional
        Advantage of left, as in :func:`evaluate_forward`.
    context : array-like or DataFrame of shape (n, q), optional
        Covariates of the comparisons.
    rater : array-like of shape (n,), optional
        Who compared: for ``fit``, and for standard errors of differences.
    sample_weight : array-like of shape (n,), optional
        Weights. A row of weight 0 is absent.

    Returns
    -------
    ForwardResult
        As of :func:`evaluate_forward`; ``period`` numbers raters, groups or rows.
    """
    named = name_models(models)
    pairs, outcome, weight = check_comparisons(X, y, sample_weight)
    columns = ForwardColumns(
        period=None,
        advantage=advantage,
        context=context,
        rater=rater,
        sample_weight=None if sample_weight is None else weight,
    )
    columns.check(named, len(pairs))
    data = EvaluationData(pairs, outcome, weight, item_numbers(pairs, X), columns)
    present = np.flatnonzero(weight > 0)
    labels = None if groups is None else factorize(as_column(groups, "groups"))[0]
    splitter = _splitter(cv, len(present), labels, random_state)
    together = None if labels is None else labels[present]
    blocks = [
        foretell(named, data, present[train], present[test], number)
        for number, (train, test) in enumerate(
            splitter.split(pairs[present], outcome[present], together)
        )
    ]
    # Rows of one query, or of one rater, may depend on each other.
    place = np.arange(len(pairs), dtype=np.int64) if labels is None else labels
    if rater is not None:
        place = factorize(as_column(rater, "rater"))[0]
    numbers = [(block.number, block.number) for block in blocks]
    note = f"each foretold from the other folds of {len(blocks)}."
    return collect(blocks, data, place, numbers, note)


def _splitter(
    cv: Any, n_rows: int, labels: NDArray[np.int64] | None, random_state: int | None
) -> Any:
    if hasattr(cv, "split"):
        return cv
    parts = n_rows if labels is None else len(np.unique(labels))
    if parts < cv:
        what = "comparisons" if labels is None else "groups"
        raise ValueError(
            f"There are {parts} {what}, fewer than the {cv} folds; use fewer folds, or "
            f"collect more {what}."
        )
    kind = KFold if labels is None else GroupKFold
    return kind(cv, shuffle=True, random_state=random_state)
