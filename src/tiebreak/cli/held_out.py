# SPDX-License-Identifier: BSD-3-Clause
"""How well models foretell results that they have not seen."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak import BradleyTerry
from tiebreak.cli.knowledge import Knowledge
from tiebreak.selection import (
    ForwardResult,
    ItemKFold,
    evaluate_folds,
    evaluate_forward,
)

__all__ = ["columns_for", "foretell_held_out"]

# Held-out quality is an estimate; more rows than this only take longer.
_ENOUGH_ROWS = 300_000
_FEW_PERIODS = 8
_FOLDS = 5


def columns_for(model: Any, columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Take the columns that the fit of a model knows what to do with.

    Parameters
    ----------
    model : estimator
        The model.
    columns : dict of str to ndarray
        Row-aligned columns.

    Returns
    -------
    dict
        Keyword arguments for its fit.
    """
    known = signature(model.fit).parameters
    taken = {name: column for name, column in columns.items() if name in known}
    # Elo and Glicko read points, not a flag whose worth is to be learned.
    if not isinstance(model, BradleyTerry):
        taken.pop("advantage", None)
        if "period" in taken and taken["period"].dtype.kind not in "iuf":
            taken["period"] = np.unique(taken["period"], return_inverse=True)[1]
    return taken


def foretell_held_out(models: dict[str, Any], known: Knowledge) -> ForwardResult:
    """Foretell held-out rows: later ones if there are dates, else folds.

    Parameters
    ----------
    models : dict of str to estimator
        Models; they are cloned.
    known : Knowledge
        The comparisons.

    Returns
    -------
    ForwardResult
    """
    pairs, y, columns = known.pairs, known.y, dict(known.columns)
    rows = np.arange(len(y))
    if len(y) > _ENOUGH_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(y), _ENOUGH_ROWS, False))
        columns = {name: column[rows] for name, column in columns.items()}
        pairs, y = pairs[rows], y[rows]
    period = columns.pop("period", None)
    given: dict[str, Any] = {}
    for name, model in models.items():
        for column, values in columns_for(model, columns).items():
            if column == "advantage":
                given.setdefault(column, {})[name] = values
            else:
                given[column] = values
    with warnings.catch_warnings():
        # What can be said of the whole data is said when a model is fitted on it.
        warnings.simplefilter("ignore")
        if period is not None and len(np.unique(period)) >= _FEW_PERIODS:
            if not all(isinstance(model, BradleyTerry) for model in models.values()):
                period = np.unique(period, return_inverse=True)[1]
            return evaluate_forward(
                models, pairs, y, period=period, min_train=0.5, **given
            )
        if not pairs.has_features:
            return evaluate_folds(models, pairs, y, **given)
        group = np.zeros(1) if known.group is None else known.group[rows]
        if len(np.unique(group)) >= _FOLDS:
            return evaluate_folds(models, pairs, y, groups=group, **given)
        folds = ItemKFold(_FOLDS, random_state=0)
        return evaluate_folds(models, pairs, y, cv=folds, **given)
