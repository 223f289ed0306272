# SPDX-License-Identifier: BSD-3-Clause
"""Honest evaluation of dated results: learn from the past, foretell the future."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data import check_comparisons
from tiebreak.data.columns import as_column
from tiebreak.data.periods import order_periods
from tiebreak.selection.evaluation import (
    EvaluationData,
    collect,
    foretell,
    item_numbers,
    name_models,
)
from tiebreak.selection.forward_columns import ForwardColumns
from tiebreak.selection.forward_result import ForwardResult
from tiebreak.selection.period_split import PeriodSplit

__all__ = ["ForwardResult", "PeriodSplit", "evaluate_forward"]


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
    """Measure how well models foretell results from earlier ones only.

    For every block of `PeriodSplit`, a clone of each model is fitted on all rows of
    earlier periods, in order of time, and predicts the rows of the block. It is not
    updated within the block, so more splits let models that follow the time look their
    best. Beside the models stands ``"shares"``, which knows only how often left, tie
    and right occurred so far.

    A model without a prior cannot foretell an item that it has not seen. Rows with
    such an item are left out *for all models alike*, unless every model can predict
    them; the column ``n_unseen`` of the result says how many were left out.

    Parameters
    ----------
    models : estimator or dict of str to estimator
        Models of comparisons, fitted or not; they are cloned.
    X : Pairs or array-like of shape (n, 2, n_features)
        Comparisons.
    y : array-like of shape (n,)
        Outcomes: -1 left is better, 0 tie, +1 right is better.
    period : array-like of shape (n,)
        When: dates, numbers or text, in any order. Models whose ``fit`` takes periods
        get it.
    n_splits : int, default=5
        Number of blocks to foretell.
    min_train : int or float, optional
        Rows, or share of the rows, of the first training set, at least; see
        `PeriodSplit`.
    advantage : float, array-like of shape (n,), or dict of str to these, optional
        Advantage of left, for ``fit`` and for predicting. Its unit differs: Elo and
        Glicko read rating points, BradleyTerry learns what 1 is worth. A dictionary
        gives models by name an advantage of their own, and the others none.
    context : array-like or DataFrame of shape (n, q), optional
        Covariates of the comparisons, for ``fit`` and for predicting.
    rater : array-like of shape (n,), optional
        Who compared, for ``fit``.
    sample_weight : array-like of shape (n,), optional
        Weights, for ``fit`` and for the metrics. A row of weight 0 is absent.

    Returns
    -------
    ForwardResult
        Print it; its ``table`` holds a row per model, ``difference(a, b)`` compares two
        with a standard error.

    Raises
    ------
    ValueError
        If a column is given that no model takes, if there are too few periods, or if
        a model refuses its rows; a note then names the model and the block.

    Notes
    -----
    A model gets those of `period`, `advantage`, `context`, `rater` and `sample_weight`
    that its ``fit`` (``predict``, ``predict_proba``) names among its parameters. One
    whose ``fit`` takes no weights learns from every row alike.

    Examples
    --------
    >>> from tiebreak import MajorityCompare, Pairs
    >>> from tiebreak.selection import evaluate_forward
    >>> pairs = Pairs(None, list("abacbcab"), list("bacacbba"))
    >>> y = [-1, 1, -1, 1, -1, 0, -1, 0]
    >>> model = MajorityCompare()
    >>> result = evaluate_forward(model, pairs, y, period=range(8), n_splits=2)
    >>> result.table.select("model", "n_test", "accuracy")
    shape: (2, 3)
    ┌─────────────────┬────────┬──────────┐
    │ model           ┆ n_test ┆ accuracy │
    │ ---             ┆ ---    ┆ ---      │
    │ str             ┆ i64    ┆ f64      │
    ╞═════════════════╪════════╪══════════╡
    │ MajorityCompare ┆ 6      ┆ 0.5      │
    │ shares          ┆ 6      ┆ 0.5      │
    └─────────────────┴────────┴──────────┘
    """
    named = name_models(models)
    pairs, outcome, weight = check_comparisons(X, y, sample_weight)
    periods = order_periods(period, len(pairs))
    columns = ForwardColumns(
        period=as_column(period, "period"),
        advantage=advantage,
        context=context,
        rater=rater,
        sample_weight=None if sample_weight is None else weight,
    )
    columns.check(named, len(pairs))
    data = EvaluationData(pairs, outcome, weight, item_numbers(pairs, X), columns)
    present = np.flatnonzero(weight > 0)
    splitter = PeriodSplit(n_splits, min_train=min_train)
    blocks = [
        foretell(named, data, present[train], present[test], number)
        for number, (train, test) in enumerate(
            splitter.split(present, period=periods.place[present])
        )
    ]
    ends = [
        tuple(periods.values[periods.place[row]] for row in block.test[[0, -1]])
        for block in blocks
    ]
    return collect(blocks, data, periods.place, ends)
