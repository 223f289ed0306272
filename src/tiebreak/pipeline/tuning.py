# SPDX-License-Identifier: BSD-3-Clause
"""``--tune``: settings of a model chosen by how well they foretell held-out results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import Pipeline

from tiebreak import tune
from tiebreak.data import Pairs
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.held_out import by_time, columns_for, draw_rows, take_rows
from tiebreak.pipeline.models import grid_for
from tiebreak.selection import ItemKFold, PeriodSplit, TuneResult
from tiebreak.selection.tune import OtherSearchError

_FOLDS = 5
_FORWARD_FOLDS = 3
_FEWEST_ROWS = 20

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Tuned:
    """What was chosen.

    Attributes
    ----------
    model : estimator
        A model with the chosen settings, not fitted.
    result : TuneResult
        All scores; parameters have their plain names.
    notes : list of str
        What was chosen, and what that means for the held-out quality.
    """

    model: Any
    result: TuneResult
    notes: list[str]


@dataclass(frozen=True, eq=False)
class _Plan:
    """Rows to choose with, and how they foretell each other.

    ``folds`` number the rows of ``known``.
    """

    known: ComparisonData
    folds: list[Fold]
    how: str
    honest: str


def tune_model(
    name: str,
    model: Any,
    known: ComparisonData,
    *,
    checkpoint: Path | None = None,
    progress: bool = False,
) -> Tuned:
    """Choose the settings of a model.

    With dates, the earlier half of the results is divided by time, and the later half,
    on which quality is measured, is not looked at. Else folds are of rows, of queries
    or of items, as when quality is measured.

    Parameters
    ----------
    name : str
        Name of the model; its grid is found in `tiebreak.pipeline.models`.
    model : estimator
        The model, not fitted.
    known : ComparisonData
        The comparisons.
    checkpoint : Path, optional
        A file that keeps scores over an interruption. One of another search is
        overwritten.
    progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    Tuned
    """
    pairs = known.pairs
    grid = grid_for(
        name,
        pairs.shape[2] if pairs.has_features else 1,
        dated="period" in known.columns,
    )
    plan = _plan(known)
    rows, last, step = plan.known.pairs, model, ""
    if isinstance(model, Pipeline):
        # Features are scaled once; outcomes play no part in that.
        rows = clone(model[:-1]).fit_transform(rows)
        last, step = model[-1], f"{model.steps[-1][0]}__"
    path = "ranker__" if hasattr(last, "ranker") else ""
    y = plan.known.y
    columns = columns_for(last, plan.known.columns)
    options: dict[str, Any] = {
        "cv": plan.folds,
        "scoring": _scoring(last, y, plan.folds),
        "sample_weight": columns.pop("sample_weight", None),
        "columns": columns,
        "progress": progress,
        "checkpoint": checkpoint,
        "refit": False,
    }
    search = {f"{path}{key}": values for key, values in grid.items()}
    try:
        found = tune(last, rows, y, search, **options)
    except OtherSearchError:
        assert checkpoint is not None
        checkpoint.unlink()
        found = tune(last, rows, y, search, **options)
    chosen = {f"{step}{key}": value for key, value in found.best_params.items()}
    found = _plain_names(found, path)
    notes = [_say_choice(found, plan.how), *_say_edges(found, grid), plan.honest]
    return Tuned(clone(model).set_params(**chosen), found, notes)


def _plan(known: ComparisonData) -> _Plan:
    known = _present(draw_rows(known))
    if len(known.y) < _FEWEST_ROWS:
        raise ValueError(
            f"There are {len(known.y)} comparisons, too few to choose settings with; "
            f"--tune needs at least {_FEWEST_ROWS}."
        )
    seen = (
        "The choice used all results, so the held-out quality may look a little better "
        "than it is."
    )
    if by_time(known):
        period = known.columns["period"]
        halves = PeriodSplit(_FOLDS, min_train=0.5).split(known.y, period=period)
        known = take_rows(known, next(iter(halves))[0])
        seen = (
            "The choice used the earlier half of the results only, so the held-out "
            "quality, of the later half, is honest."
        )
        if folds := _forward_folds(known):
            return _Plan(known, folds, "earlier results foretold later ones", seen)
    pairs, y = known.pairs, known.y
    parts: Any
    if pairs.names is not None:
        how = "every result was foretold from others"
        parts = KFold(_FOLDS, shuffle=True, random_state=0).split(y)
    elif known.group is not None and len(np.unique(known.group)) >= _FOLDS:
        how = "every query was foretold from others"
        folds = GroupKFold(_FOLDS, shuffle=True, random_state=0)
        parts = folds.split(y, groups=known.group)
    else:
        how = "held-out items were compared by what others taught"
        parts = ItemKFold(_FOLDS, random_state=0).split(pairs)
    return _Plan(known, _usable(pairs, list(parts)), how, seen)


def _forward_folds(known: ComparisonData) -> list[Fold]:
    """Divide by time, if there are periods enough."""
    period = known.columns["period"]
    splitter = PeriodSplit(min(_FORWARD_FOLDS, len(np.unique(period)) - 1))
    try:
        parts = list(splitter.split(known.y, period=period))
        return _usable(known.pairs, parts)
    except ValueError:
        return []


def _usable(pairs: Pairs, parts: list[Fold]) -> list[Fold]:
    """Leave out test rows with items that the training rows do not name."""
    folds = []
    for train, test in parts:
        if not pairs.has_features:
            seen = np.zeros(pairs.n_items, dtype=bool)
            seen[pairs.left[train]] = seen[pairs.right[train]] = True
            test = test[seen[pairs.left[test]] & seen[pairs.right[test]]]
        if len(train) and len(test):
            folds.append((train, test))
    if not folds:
        raise ValueError(
            "No two results share their items, so none can be foretold from others, "
            "and settings cannot be chosen; leave --tune out."
        )
    return folds


def _present(known: ComparisonData) -> ComparisonData:
    weight = known.columns.get("sample_weight")
    if weight is None or (weight > 0).all():
        return known
    return take_rows(known, np.flatnonzero(weight > 0))


def _scoring(model: Any, y: NDArray[np.int8], folds: list[Fold]) -> str:
    if not hasattr(model, "predict_proba"):
        return "error"
    # An outcome that training rows do not have is impossible for some models, and its
    # log loss infinite for all settings alike.
    known = all(
        set(y[test].tolist()) <= set(y[train].tolist()) for train, test in folds
    )
    return "log_loss" if known else "brier"


def _plain_names(found: TuneResult, path: str) -> TuneResult:
    if not path:
        return found
    plain = {key: key.removeprefix(path) for key in found.best_params}
    return replace(
        found,
        table=found.table.rename(plain),
        best_params={plain[key]: value for key, value in found.best_params.items()},
    )


def _say_choice(found: TuneResult, how: str) -> str:
    best = _words(found.best_params)
    worst = found.table.sort("score", nulls_last=False).row(0, named=True)
    bad = _words({key: worst[key] for key in found.best_params})
    metric = found.scoring.replace("_", " ")
    return (
        f"Tuning tried {len(found.table)} settings and chose {best}, by the {metric} "
        f"when {how}: {-found.best_score:.4f}; the worst, {bad}, has "
        f"{-worst['score']:.4f}."
    )


def _words(params: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value:.4g}" for key, value in params.items())


def _say_edges(found: TuneResult, grid: dict[str, tuple[float, ...]]) -> list[str]:
    ends = {
        key: value
        for key, value in found.best_params.items()
        if value in (min(grid[key]), max(grid[key])) and value != 0
    }
    if not ends:
        return []
    return [f"No value beyond {_words(ends)} was tried; the best may lie there."]
