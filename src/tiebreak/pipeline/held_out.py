# SPDX-License-Identifier: BSD-3-Clause
"""How well models foretell results that they have not seen."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak import BradleyTerry, check_pairs
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.ratings.checks.report import PairsReport
from tiebreak.selection import (
    ForwardResult,
    ItemKFold,
    evaluate_folds,
    evaluate_forward,
)
from tiebreak.selection.results import fit_names

# Held-out quality is an estimate; more rows than this only take longer.
ENOUGH_ROWS = 300_000
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
    taken: dict[str, Any] = {}
    for name, column in columns.items():
        taken |= dict.fromkeys(fit_names(model, name), column)
    # Elo and Glicko read points, not a flag whose worth is to be learned.
    if not isinstance(model, BradleyTerry):
        taken.pop("advantage", None)
        if "period" in taken and taken["period"].dtype.kind not in "iuf":
            taken["period"] = np.unique(taken["period"], return_inverse=True)[1]
    return taken


def draw_rows(known: ComparisonData) -> ComparisonData:
    """Draw comparisons at random, if there are more than an estimate needs.

    Parameters
    ----------
    known : ComparisonData
        The comparisons.

    Returns
    -------
    ComparisonData
        Always the same ones, in their order.
    """
    n = len(known.y)
    return known if n <= ENOUGH_ROWS else take_rows(known, draw_numbers(n))


def draw_numbers(n_rows: int) -> NDArray[np.int64]:
    """Draw row numbers, ascending; all of them if an estimate needs no fewer."""
    if n_rows <= ENOUGH_ROWS:
        return np.arange(n_rows)
    rows = np.random.default_rng(0).choice(n_rows, ENOUGH_ROWS, replace=False)
    return np.sort(rows)


def take_rows(known: ComparisonData, rows: NDArray[np.int64]) -> ComparisonData:
    """Take some comparisons with all that stands beside them.

    Parameters
    ----------
    known : ComparisonData
        The comparisons.
    rows : ndarray of int64
        Their numbers.

    Returns
    -------
    ComparisonData
    """
    return replace(
        known,
        pairs=known.pairs[rows],
        y=known.y[rows],
        columns={name: column[rows] for name, column in known.columns.items()},
        group=None if known.group is None else known.group[rows],
    )


def by_time(known: ComparisonData) -> bool:
    """Tell whether later rows can be foretold from earlier ones.

    Parameters
    ----------
    known : ComparisonData
        The comparisons.

    Returns
    -------
    bool
    """
    period = known.columns.get("period")
    return period is not None and len(np.unique(period)) >= _FEW_PERIODS


def predict_held_out(models: dict[str, Any], known: ComparisonData) -> ForwardResult:
    """Foretell held-out rows: later ones if there are dates, else folds.

    Parameters
    ----------
    models : dict of str to estimator
        Models; they are cloned.
    known : ComparisonData
        The comparisons.

    Returns
    -------
    ForwardResult
    """
    known = draw_rows(known)
    pairs, y, columns = known.pairs, known.y, dict(known.columns)
    dated = by_time(known)
    period = columns.pop("period", None)
    given: dict[str, Any] = {}
    for name, model in models.items():
        for key, values in columns_for(model, columns).items():
            column = key.rpartition("__")[2]  # without the step of a pipeline
            if column == "advantage":
                given.setdefault(column, {})[name] = values
            else:
                given[column] = values
    with warnings.catch_warnings():
        # What can be said of the whole data is said when a model is fitted on it.
        warnings.simplefilter("ignore")
        if dated and period is not None:
            dates, place = np.unique(period, return_inverse=True)
            result = evaluate_forward(
                models, pairs, y, period=place, min_train=0.5, **given
            )
            ends = (dates[result.by_split[end]] for end in ("first", "last"))
            first, last = (pl.Series(end) for end in ends)
            return replace(
                result, by_split=result.by_split.with_columns(first=first, last=last)
            )
        # Items with names are compared again and again, so rows can be held out; a
        # graded row is an item of its own.
        if pairs.names is not None:
            return evaluate_folds(models, pairs, y, **given)
        group = np.zeros(1) if known.group is None else known.group
        if len(np.unique(group)) >= _FOLDS:
            return evaluate_folds(models, pairs, y, groups=group, **given)
        folds = ItemKFold(_FOLDS, random_state=0)
        return evaluate_folds(models, pairs, y, cv=folds, **given)


# These speak of single rows by number, and there are none of counts.
_OF_ROWS = ("unsorted", "weightless")


def check_known(known: ComparisonData) -> PairsReport:
    """Check comparisons of items with names.

    Parameters
    ----------
    known : ComparisonData
        The comparisons.

    Returns
    -------
    PairsReport
        Of many files that were too long to be taken row by row, without what can be
        said of single rows only: repeated ones, and whether they are in order of time.
    """
    rows = known.whole
    assert rows.by_name is not None
    report = check_pairs(rows.by_name, rows.y, **rows.columns, sided=rows.sided)
    if rows.parted is None:
        return report
    findings = tuple(f for f in report.findings if f.code not in _OF_ROWS)
    return replace(
        report, n_rows=rows.parted.n_rows, repeated_rows=None, findings=findings
    )
