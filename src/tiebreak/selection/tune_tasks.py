# SPDX-License-Identifier: BSD-3-Clause
"""Units of work of a search: one combination, or all that differ only in C.

A model with a method ``path(X, y, Cs, ...)`` is fitted for all values of C together,
each from the solution before it. Pairwise support vector machines on comparisons share
even the kernel values between training and test items.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tiebreak.data import as_pairs, is_pairs
from tiebreak.metrics import PairScorer
from tiebreak.models import ThresholdCompare, fit_path
from tiebreak.models.base import to_outcomes
from tiebreak.models.kernel_machine import PairKernelMachine
from tiebreak.selection.checkpoint import CellScore
from tiebreak.selection.tune_splits import Split
from tiebreak.solvers import best_threshold

__all__ = ["Task", "fit_arguments", "make_tasks", "run_task"]

Params = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Combinations that one worker fits on one split.

    Attributes
    ----------
    split : int
        Number of the split.
    candidates : tuple of int
        Numbers of the combinations; several if they are a path, ascending in C.
    along : str or None
        Name of the parameter along which the path goes.
    """

    split: int
    candidates: tuple[int, ...]
    along: str | None


def make_tasks(model: Any, candidates: list[Params], splits: list[Split]) -> list[Task]:
    """Group combinations that differ only in C, where a path can fit them.

    Parameters
    ----------
    model : estimator
        The model.
    candidates : list of dict
        All combinations.
    splits : list of Split
        All splits.

    Returns
    -------
    list of Task
    """
    along = _path_parameter(model, splits[0]) if splits else None
    groups: dict[str, list[int]] = {}
    for number, params in enumerate(candidates):
        others = {k: repr(v) for k, v in params.items() if k != along}
        alone = along is None or along not in params
        key = repr((number if alone else -1, sorted(others.items())))
        groups.setdefault(key, []).append(number)
    tasks = []
    for split in range(len(splits)):
        for members in groups.values():
            if along is None or along not in candidates[members[0]]:
                tasks.append(Task(split, tuple(members), None))
                continue
            ascending = sorted(members, key=lambda i: candidates[i][along])
            tasks.append(Task(split, tuple(ascending), along))
    return tasks


def _path_parameter(model: Any, split: Split) -> str | None:
    if _has_path(model, split.fit):
        return "C"
    # On graded items a threshold needs its own pairs, model by model.
    wrapped = isinstance(model, ThresholdCompare) and is_pairs(split.X)
    return "ranker__C" if wrapped and _has_path(model.ranker, split.fit) else None


def _has_path(model: Any, columns: Params) -> bool:
    path = getattr(model, "path", None)
    if path is None:
        return False
    takes = signature(path).parameters
    return "Cs" in takes and all(name in takes for name in columns)


def run_task(
    model: Any, candidates: list[Params], task: Task, split: Split, scorer: Any
) -> list[CellScore]:
    """Fit and score.

    Parameters
    ----------
    model : estimator
        The model; clones of it are fitted.
    candidates : list of dict
        All combinations.
    task : Task
        Which of them.
    split : Split
        Its split.
    scorer : callable
        The scorer.

    Returns
    -------
    list of CellScore
        One per combination of the task.
    """
    with warnings.catch_warnings():
        # Corners of a grid are meant to be bad; the table says which did not converge.
        warnings.simplefilter("ignore")
        if task.along is None:
            (number,) = task.candidates
            fitted = clone(model).set_params(**candidates[number])
            fitted.fit(split.X, split.y, **fit_arguments(fitted, split.fit))
            return [_cell(task, number, fitted, split, scorer)]
        first = clone(model).set_params(**candidates[task.candidates[0]])
        values = [candidates[i][task.along] for i in task.candidates]
        if _shares_kernel(first, split, scorer):
            return list(_score_shared(first, values, task, split, scorer))
        return list(_score_path(first, values, task, split, scorer))


def fit_arguments(model: Any, extras: Params) -> Params:
    """Name weights and groups as ``fit`` wants them: for a Pipeline, its last step.

    Parameters
    ----------
    model : estimator
        The model.
    extras : dict
        What belongs to the rows.

    Returns
    -------
    dict
    """
    last, prefix = model, ""
    if hasattr(model, "steps"):
        step, last = model.steps[-1]
        prefix = f"{step}__"
    for name in extras:
        if not has_fit_parameter(last, name):
            raise TypeError(f"{type(last).__name__}.fit takes no {name}.")
    return {prefix + name: value for name, value in extras.items()}


def _cell(task: Task, number: int, fitted: Any, split: Split, scorer: Any) -> CellScore:
    if split.ask:
        ask = getattr(fitted, scorer.response_method)
        response = ask(split.X_test, **split.ask)
        value = scorer.from_response(split.y_test, response, **split.score)
    else:
        value = scorer(fitted, split.X_test, split.y_test, **split.score)
    return CellScore(number, task.split, float(value), _converged(fitted))


def _converged(fitted: Any) -> bool:
    """Whether a fit reached its tolerance, also inside a pipeline or a wrapper."""
    if hasattr(fitted, "steps"):
        return _converged(fitted.steps[-1][1])
    if hasattr(fitted, "ranker_"):
        return _converged(fitted.ranker_)
    return bool(getattr(fitted, "converged_", True))


def _score_path(
    first: Any, values: list[float], task: Task, split: Split, scorer: Any
) -> Iterator[CellScore]:
    """Score the models of a path one after another."""
    wrapped = isinstance(first, ThresholdCompare)
    machine = first.ranker if wrapped else first
    path = machine.path(split.X, split.y, values, **split.fit)
    for number, fitted in zip(task.candidates, path, strict=True):
        if wrapped:
            fitted = first._around(fitted, split.X, split.y, **split.fit)
        yield _cell(task, number, fitted, split, scorer)


def _shares_kernel(first: Any, split: Split, scorer: Any) -> bool:
    """Whether all models of a path can be asked at once."""
    machine = first.ranker if isinstance(first, ThresholdCompare) else first
    return (
        isinstance(machine, PairKernelMachine)
        and getattr(machine, "loss", "hinge") == "hinge"
        and isinstance(scorer, PairScorer)
        and scorer.response_method != "predict_proba"
        and is_pairs(split.X)
        and is_pairs(split.X_test)
    )


def _score_shared(
    first: Any, values: list[float], task: Task, split: Split, scorer: Any
) -> Iterator[CellScore]:
    """Score all models of a path by one set of kernel values."""
    wrapped = isinstance(first, ThresholdCompare)
    machine = first.ranker if wrapped else first
    path = fit_path(machine, split.X, split.y, values, **split.fit)
    on_test = _differences(path, split.X_test)
    on_train = _differences(path, split.X) if wrapped else None
    weight = np.asarray(split.fit.get("sample_weight", np.ones(len(split.y))))
    for k, (number, fitted) in enumerate(
        zip(task.candidates, path.models, strict=True)
    ):
        threshold = getattr(fitted, "threshold_", 0.0)
        if on_train is not None:
            threshold, _ = best_threshold(
                on_train[:, k], np.asarray(split.y), weight.astype(float)
            )
        response = on_test[:, k]
        if scorer.response_method == "predict":
            response = to_outcomes(response, threshold)
        value = scorer.from_response(split.y_test, response, **split.score)
        yield CellScore(number, task.split, float(value), bool(fitted.converged_))


def _differences(path: Any, X: Any) -> np.ndarray:
    """``decision_function`` of every model of a path, shape (n, n_models)."""
    first = path.models[0]
    pairs = as_pairs(X).compact()
    if pairs.items is None or hasattr(first, "items_"):
        return np.column_stack([m.decision_function(pairs) for m in path.models])
    first.decision_function(pairs[:1])  # the checks of features and names
    table, code = pairs.items.unique()
    utility = path.utilities(table)[code]
    return utility[pairs.right] - utility[pairs.left]
