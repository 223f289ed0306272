# SPDX-License-Identifier: BSD-3-Clause
"""Checks of comparisons, and how well models predict held-out results."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

import tiebreak as tb
from tiebreak import BradleyTerry, check_pairs
from tiebreak.data import Comparisons, Data, Grades, Lists
from tiebreak.io.result import plural
from tiebreak.options import flag
from tiebreak.pipeline.leaderboard import utilities
from tiebreak.pipeline.order_quality import OrderQuality, score_order
from tiebreak.pipeline.source import Source
from tiebreak.ratings.checks.pairs_report import PairsReport
from tiebreak.selection.evaluation import evaluate_folds, evaluate_forward
from tiebreak.selection.results import ForwardResult, parameter_names

# Held-out quality is an estimate; more rows than this only take longer.
ENOUGH_ROWS = 300_000
_FEW_PERIODS = 8
_FOLDS = 5

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Fold = tuple[Rows, Rows]


def learns_advantage(model: Any) -> bool:
    """Return whether a model learns what an advantage of 1 is worth."""
    return isinstance(model, BradleyTerry) or getattr(model, "advantage", 0) == "auto"


def columns_for(model: Any, columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the columns that the fit of a model takes."""
    taken: dict[str, Any] = {}
    for name, column in columns.items():
        taken |= dict.fromkeys(parameter_names(model.fit, name), column)
    # Others read points, not a flag whose worth is to be learned.
    if not learns_advantage(model):
        taken.pop("advantage", None)
    numbered = "period" in taken and taken["period"].dtype.kind in "iuf"
    if "period" in taken and not numbered and not isinstance(model, BradleyTerry):
        taken["period"] = np.unique(taken["period"], return_inverse=True)[1]
    return taken


def draw_rows(data: Comparisons) -> Comparisons:
    """Return a random sample of comparisons, if there are too many."""
    # They are always the same ones, in their order.
    n = len(data)
    if n <= ENOUGH_ROWS:
        return data
    rows = np.random.default_rng(0).choice(n, ENOUGH_ROWS, replace=False)
    return data.take(np.sort(rows))


def by_time(data: Comparisons) -> bool:
    """Return whether later rows can be predicted from earlier ones."""
    return len(np.unique(data.columns.get("period", ()))) >= _FEW_PERIODS


def one_rater(data: Data) -> bool:
    """Return whether all votes are those of one rater."""
    rater = data.columns.get("rater") if isinstance(data, Comparisons) else None
    return rater is not None and bool((rater == rater[0]).all())


def fit_data(model: Any, data: Data, labels: Sequence[str] = ()) -> Any:
    """Fit a model to data, with its columns."""
    arguments, columns = data.arguments()
    taken = columns_for(model, columns)
    if "context" in taken and labels:
        taken["context"] = pl.DataFrame(taken["context"], list(labels))
    return model.fit(*arguments, **taken)


def _refuse_few(n: int, noun: str) -> None:
    if n < _FOLDS:
        raise ValueError(
            f"{plural(n, noun)}, of which none can be spared; {_FOLDS} are needed."
        )


def order_folds(data: Grades | Lists) -> list[Fold]:
    """Return folds of lists, of queries or, without queries, of graded rows."""
    together = data.together
    if together is not None:
        _refuse_few(int(together.max()) + 1, "query")
    _refuse_few(len(data), "row")
    kind = KFold if together is None else GroupKFold
    folds = kind(_FOLDS, shuffle=True, random_state=0)
    return list(folds.split(np.zeros(len(data)), groups=together))


def order_held_out(models: dict[str, Any], data: Grades | Lists) -> OrderQuality:
    """Return how well clones of models order held-out queries or lists."""
    grades, groups = [], []
    parts: dict[str, list[Floats]] = {name: [] for name in models}
    for number, (train, test) in enumerate(order_folds(data)):
        y, group, item = _entries(data, train, test)
        grades.append(y)
        # Without queries, the rows of a fold are compared with each other.
        alone = isinstance(data, Grades) and not data.has_groups
        groups.append(np.full(len(y), number) if alone else group)
        for name, model in models.items():
            with warnings.catch_warnings():
                # Those about all rows are shown when a model is fitted on them.
                warnings.simplefilter("ignore")
                fitted = fit_data(clone(model), data.take(train))
            parts[name].append(utilities(fitted, data, item))
    y, qid = np.concatenate(grades), np.concatenate(groups)
    utility = {name: np.concatenate(part) for name, part in parts.items()}
    unit = "held-out queries" if isinstance(data, Grades) else "held-out lists"
    queries = getattr(data, "group_names", None) if data.together is not None else None
    return score_order(y, utility, qid, queries, unit)


def _entries(
    data: Grades | Lists, train: Rows, test: Rows
) -> tuple[Floats, Rows, Rows]:
    """Return grades, groups and items of held-out rows that can be rated."""
    if isinstance(data, Grades):
        return data.y[test], data.group[test], test
    lists = data.orders[test]
    y, group = lists.entry_grades()
    known = np.ones(len(y), dtype=bool)
    if data.items is None:
        known = np.isin(lists.flat, data.orders[train].touched())
    return y[known], test[group[known]], lists.flat[known]


def predict_held_out(models: dict[str, Any], data: Comparisons) -> ForwardResult:
    """Return how well clones of models predict the same held-out rows."""
    # These are later ones if there are dates, else folds.
    data = draw_rows(data)
    (pairs, y), columns = data.arguments()
    if one_rater(data):
        del columns["rater"]  # what rows of other raters would vary by is not known
    fading = any(getattr(model, "half_life", None) for model in models.values())
    dated = by_time(data)
    if fading and not dated:
        raise ValueError(f"{flag('half_life')} needs {_FEW_PERIODS} different times.")
    period = columns.pop("period", None)
    columns.pop("unit", None)  # of standard errors only
    arguments: dict[str, Any] = {}
    for name, model in models.items():
        for key, values in columns_for(model, columns).items():
            column = key.rpartition("__")[2]  # without the step of a pipeline
            if column == "advantage":
                arguments.setdefault(column, {})[name] = values
            else:
                arguments[column] = values
    with warnings.catch_warnings():
        # Warnings about all rows are shown when a model is fitted on them.
        warnings.simplefilter("ignore")
        if dated and period is not None:
            dates, place = np.unique(period, return_inverse=True)
            arguments |= {"min_train": 0.5, "groups": data.together}
            if fading:
                # Half-lives are measured in days, and not in the numbers of periods.
                return evaluate_forward(models, pairs, y, period=period, **arguments)
            result = evaluate_forward(models, pairs, y, period=place, **arguments)
            table = result.by_split
            ends = (pl.Series(end, dates[table[end]]) for end in ("first", "last"))
            return replace(result, by_split=table.with_columns(*ends))
        if pairs.names is not None:
            _refuse_few(len(y), "comparison")
            arguments["groups"] = units = data.together
            if units is not None:
                _refuse_few(int(units.max()) + 1, "unit")
            return evaluate_folds(models, pairs, y, **arguments)
        folds = tb.selection.ItemKFold(_FOLDS, random_state=0)
        return evaluate_folds(models, pairs, y, cv=folds, **arguments)


def check_data(source: Source, without: Sequence[str] = ()) -> PairsReport:
    """Run `check_pairs`, without some columns, on items with names."""
    named = source.named
    assert named is not None
    (pairs, y), columns = named.arguments()
    # Classes of newcomers or units are given; the raters of lists are the lists.
    answered = {"newcomers": source.classes, "repeated": "unit" in columns}
    answered["one_vote"] = isinstance(source.data, Lists)
    left_out = {"unit", *without}
    columns = {name: c for name, c in columns.items() if name not in left_out}
    report = check_pairs(pairs, y, **columns, sided=source.sided)
    kept = tuple(one for one in report.findings if not answered.get(one.code))
    return replace(report, findings=kept)
