# SPDX-License-Identifier: BSD-3-Clause
"""Checks of comparisons, and how well models predict held-out results."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import tiebreak as tb
from tiebreak import BradleyTerry, check_pairs
from tiebreak.pipeline.comparisons import ComparisonData, take_rows
from tiebreak.ratings.checks.report import PairsReport, plural
from tiebreak.selection.evaluation import evaluate_folds, evaluate_forward
from tiebreak.selection.results import ForwardResult, fit_names

# Held-out quality is an estimate; more rows than this only take longer.
ENOUGH_ROWS = 300_000
_FEW_PERIODS = 8
_FOLDS = 5


def learns_advantage(model: Any) -> bool:
    """Return whether a model learns what an advantage of 1 is worth."""
    return isinstance(model, BradleyTerry) or getattr(model, "advantage", 0) == "auto"


def columns_for(model: Any, columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the columns that the fit of a model takes, as keyword arguments."""
    taken: dict[str, Any] = {}
    for name, column in columns.items():
        taken |= dict.fromkeys(fit_names(model, name), column)
    # Others read points, not a flag whose worth is to be learned.
    if not learns_advantage(model):
        taken.pop("advantage", None)
    numbered = "period" in taken and taken["period"].dtype.kind in "iuf"
    if "period" in taken and not numbered and not isinstance(model, BradleyTerry):
        taken["period"] = np.unique(taken["period"], return_inverse=True)[1]
    return taken


def draw_rows(data: ComparisonData) -> ComparisonData:
    """Return comparisons drawn at random, if there are more than an estimate needs."""
    # They are always the same ones, in their order.
    n = len(data.y)
    return data if n <= ENOUGH_ROWS else take_rows(data, draw_numbers(n))


def draw_numbers(n_rows: int) -> NDArray[np.int64]:
    """Return row numbers drawn at random, ascending; all if they are few enough."""
    if n_rows <= ENOUGH_ROWS:
        return np.arange(n_rows)
    rows = np.random.default_rng(0).choice(n_rows, ENOUGH_ROWS, replace=False)
    return np.sort(rows)


def by_time(data: ComparisonData) -> bool:
    """Return whether later rows can be predicted from earlier ones."""
    period = data.columns.get("period")
    return period is not None and len(np.unique(period)) >= _FEW_PERIODS


def one_rater(data: ComparisonData) -> bool:
    """Return whether all votes are those of one rater."""
    rater = data.columns.get("rater")
    return rater is not None and bool((rater == rater[0]).all())


def predict_held_out(models: dict[str, Any], data: ComparisonData) -> ForwardResult:
    """Return how well clones of models predict held-out rows, the same for all."""
    # These are later ones if there are dates, else folds.
    data = draw_rows(data)
    pairs, y, columns = data.pairs, data.y, dict(data.columns)
    if one_rater(data):
        del columns["rater"]  # what rows of other raters would vary by is not known
    fading = any(getattr(model, "half_life", None) for model in models.values())
    dated = by_time(data)
    if fading and not dated:
        raise ValueError(
            "with --half-life later results are predicted from earlier ones, which "
            f"takes {_FEW_PERIODS} different times, and there are fewer; leave it out."
        )
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
        # Warnings about all rows are shown when a model is fitted on them.
        warnings.simplefilter("ignore")
        if dated and period is not None:
            dates, place = np.unique(period, return_inverse=True)
            given |= {"min_train": 0.5}
            if fading:
                # Half-lives are measured in days, and not in the numbers of periods.
                return evaluate_forward(models, pairs, y, period=period, **given)
            result = evaluate_forward(models, pairs, y, period=place, **given)
            table = result.by_split
            ends = (pl.Series(end, dates[table[end]]) for end in ("first", "last"))
            return replace(result, by_split=table.with_columns(*ends))
        # Comparisons of a list or a query follow from each other. Items with names are
        # compared again and again, so rows can be held out; a graded row is an item of
        # its own.
        group = np.zeros(1) if data.group is None else data.group
        if len(np.unique(group)) >= _FOLDS:
            return evaluate_folds(models, pairs, y, groups=group, **given)
        if pairs.names is not None:
            if len(y) < _FOLDS:
                raise ValueError(
                    f"{plural(len(y), 'comparison')}, of which none can be spared; "
                    f"{_FOLDS} are needed."
                )
            return evaluate_folds(models, pairs, y, **given)
        folds = tb.selection.ItemKFold(_FOLDS, random_state=0)
        return evaluate_folds(models, pairs, y, cv=folds, **given)


# These findings name rows by number, and counts have no rows.
_OF_ROWS = ("unsorted", "weightless")


def check_data(data: ComparisonData) -> PairsReport:
    """Return what `check_pairs` finds in comparisons of items with names."""
    rows = data.whole
    assert rows.by_name is not None
    report = check_pairs(rows.by_name, rows.y, **rows.columns, sided=rows.sided)
    if rows.partitioned is None:
        return report
    findings = tuple(f for f in report.findings if f.code not in _OF_ROWS)
    return replace(
        report, n_rows=rows.partitioned.n_rows, repeated_rows=None, findings=findings
    )
