# SPDX-License-Identifier: BSD-3-Clause
"""Honest evaluation of results without dates: every row foretold from other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import KFold

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
    n_splits: int = 5,
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
    n_splits : int, default=5
        Number of folds.
    random_state : int or None, default=0
        Seed of the shuffle.
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
        As of :func:`evaluate_forward`; ``period`` numbers raters, or rows.
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
    if len(present) < n_splits:
        raise ValueError(
            f"There are {len(present)} comparisons, fewer than the {n_splits} folds; "
            "use fewer folds, or collect more comparisons."
        )
    folds = KFold(n_splits, shuffle=True, random_state=random_state)
    blocks = [
        foretell(named, data, present[train], present[test], number)
        for number, (train, test) in enumerate(folds.split(present))
    ]
    place = np.arange(len(pairs), dtype=np.int64)
    if rater is not None:
        place = factorize(as_column(rater, "rater"))[0]
    numbers = [(block.number, block.number) for block in blocks]
    note = f"each foretold from the other folds of {n_splits}."
    return collect(blocks, data, place, numbers, note)
