# SPDX-License-Identifier: BSD-3-Clause
"""Choose parameters on a grid, on a validation set or by cross-validation.

The choice is that of the plain loop "for every combination: clone, fit, score", the
first of the best in grid order. Pairwise support vector machines are fitted as paths
along C: all values of C share the rows of one kernel and start from each other's
solutions, and the kernel values of the validation items are computed once for all.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from tiebreak.data import as_pairs, is_pairs
from tiebreak.metrics import PairScorer, get_scorer
from tiebreak.models import ThresholdCompare, fit_path
from tiebreak.models.base import to_outcomes
from tiebreak.models.kernel_machine import PairKernelMachine
from tiebreak.selection.checkpoint import CellScore, Checkpoint
from tiebreak.selection.splitters import QueryKFold
from tiebreak.selection.tune_result import TuneResult
from tiebreak.solvers import best_threshold, compile_kernels

__all__ = ["tune"]

Params = dict[str, Any]


@dataclass(frozen=True)
class _Split:
    """One training set and the set that scores it, with what belongs to the rows."""

    X: Any
    y: Any
    fit: Params
    X_test: Any
    y_test: Any
    score: Params


def tune(
    model: Any,
    X: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    validation: tuple[Any, Any] | None = None,
    cv: Any = None,
    scoring: str | Callable[..., float] = "error",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    checkpoint: str | Path | None = None,
    refit: bool = True,
) -> TuneResult:
    """Fit a model for every combination of a grid and keep the best.

    Parameters
    ----------
    model : estimator
        Any model of this package, or a Pipeline that ends with one.
    X, y
        Training data, as for ``model.fit``.
    grid : mapping of str to sequence, or a sequence of mappings
        Parameters and their values, as in scikit-learn's GridSearchCV.
    validation : (X, y), optional
        Data on which every combination is scored; all of ``X`` is then used to fit.
    cv : int, splitter or iterable of (train, test), default=5
        How to split ``X`` when there is no validation set. With ``qid`` a number means
        QueryKFold, and folds that divide a group are refused.
    scoring : str or callable, default="error"
        A name known to :func:`tiebreak.metrics.get_scorer`, or a callable
        ``scorer(estimator, X, y)``; greater is better, so ``"error"`` is negative.
    sample_weight : array-like of shape (n,), optional
        Weights of the training rows. In cross-validation they also weigh the score,
        where the metric takes weights.
    qid : array-like of shape (n,), optional
        Groups of graded items, for models that take them; handed to the splitter too.
    n_jobs : int, optional
        Worker processes; -1 for all cores. Compiled code is compiled before they start.
    progress : bool, optional
        Show a progress bar on the terminal. By default if there is a terminal.
    checkpoint : path, optional
        A file that keeps finished scores, written atomically. A search that was
        interrupted continues from it; a file of another search is refused.
    refit : bool, default=True
        Fit the best combination on all of ``X`` at the end.

    Returns
    -------
    TuneResult
        The table of scores, the choice, and the fitted model.

    Examples
    --------
    >>> from tiebreak import SVMCompare, tune
    >>> from tiebreak.datasets import make_norms
    >>> train = make_norms(80, random_state=0)
    >>> valid = make_norms(80, random_state=1)
    >>> found = tune(
    ...     SVMCompare(),
    ...     train.pairs,
    ...     train.y,
    ...     {"C": [1, 10, 100], "gamma": [0.1, 1.0]},
    ...     validation=(valid.pairs, valid.y),
    ... )
    >>> sorted(found.best_params)
    ['C', 'gamma']
    >>> found.table.shape
    (6, 7)
    """
    candidates = list(ParameterGrid(grid))
    if not candidates:
        raise ValueError("the grid has no combination; give every parameter a value.")
    _check_parameters(model, candidates)
    scorer = get_scorer(scoring)
    splits = list(_make_splits(model, X, y, validation, cv, sample_weight, qid, scorer))
    tasks = _make_tasks(model, candidates, len(splits), scorer)
    search = ""
    if checkpoint is not None:
        search = _signature(model, candidates, scorer, splits)
    memory = Checkpoint(checkpoint, search)
    todo = [task for task in tasks if not memory.has(task.split, task.candidates)]
    if n_jobs not in (None, 1):
        for dtype in (np.float32, np.float64):
            compile_kernels(dtype)
    work = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        joblib.delayed(_run)(model, candidates, task, splits[task.split], scorer)
        for task in todo
    )
    done = sum(
        len(task.candidates)
        for task in tasks
        if memory.has(task.split, task.candidates)
    )
    total = len(candidates) * len(splits)
    with _progress_bar(progress) as bar:
        job = bar.add_task("tuning", total=total, completed=done)
        for cells in work:
            memory.add(cells)
            bar.advance(job, len(cells))
    scores, converged = memory.arrays(len(candidates), len(splits))
    mean = scores.mean(axis=1)
    if np.isnan(mean).all():
        raise ValueError(
            f"the scorer {scoring!r} gave NaN for every combination; there is no best."
        )
    best = int(np.nanargmax(mean))
    best_model = None
    if refit:
        final = _fit_arguments(model, _weights_and_groups(sample_weight, qid))
        best_model = clone(model).set_params(**candidates[best]).fit(X, y, **final)
    return TuneResult.make(
        candidates, scores, converged, best, best_model, _name_of(scoring)
    )


def _check_parameters(model: Any, candidates: list[Params]) -> None:
    known = model.get_params()
    for name in dict.fromkeys(key for params in candidates for key in params):
        if name not in known:
            raise ValueError(
                f"{type(model).__name__} has no parameter {name!r}; expected one of "
                f"{', '.join(sorted(known))}."
            )


def _weights_and_groups(
    sample_weight: ArrayLike | None, qid: ArrayLike | None
) -> Params:
    given = {"sample_weight": sample_weight, "qid": qid}
    return {name: np.asarray(v) for name, v in given.items() if v is not None}


def _make_splits(
    model: Any,
    X: Any,
    y: Any,
    validation: tuple[Any, Any] | None,
    cv: Any,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    scorer: Any,
) -> Iterator[_Split]:
    extra = _weights_and_groups(sample_weight, qid)
    if validation is not None:
        if cv is not None:
            raise ValueError("give a validation set or cv, not both.")
        if len(validation) != 2:
            raise ValueError(f"validation must be (X, y), got {len(validation)} parts.")
        yield _Split(X, y, extra, validation[0], validation[1], {})
        return
    if is_pairs(X):
        X = as_pairs(X)
    y = np.asarray(y)
    metadata = getattr(scorer, "metadata", ())
    for train, test in _fold_rows(model, X, y, cv, extra.get("qid")):
        fit = {name: value[train] for name, value in extra.items()}
        score = {name: v[test] for name, v in extra.items() if name in metadata}
        yield _Split(
            _safe_indexing(X, train),
            y[train],
            fit,
            _safe_indexing(X, test),
            y[test],
            score,
        )


def _fold_rows(
    model: Any, X: Any, y: np.ndarray, cv: Any, qid: np.ndarray | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers of the folds; with groups no group is on both sides."""
    if qid is None:
        folds = check_cv(5 if cv is None else cv, y, classifier=is_classifier(model))
        return list(folds.split(X, y))
    if cv is None or isinstance(cv, Integral):
        cv = QueryKFold(5 if cv is None else int(cv))
    if not hasattr(cv, "split"):
        parts = list(cv)
    elif "qid" in signature(cv.split).parameters:
        parts = list(cv.split(X, y, qid=qid))
    else:
        with warnings.catch_warnings():
            # Some splitters say that they ignore groups; what they do is checked below.
            warnings.simplefilter("ignore", UserWarning)
            parts = list(cv.split(X, y, groups=qid))
    for train, test in parts:
        both = np.intersect1d(qid[train], qid[test])
        if len(both):
            raise ValueError(
                f"cv={cv!r} puts rows of {len(both)} group(s), such as qid "
                f"{both[0]!r}, into both training and test set. Use QueryKFold."
            )
    return parts


@dataclass(frozen=True)
class _Task:
    """Combinations that one worker fits on one split; a path along C, or just one."""

    split: int
    candidates: tuple[int, ...]
    along: str | None


def _make_tasks(
    model: Any, candidates: list[Params], n_splits: int, scorer: Any
) -> list[_Task]:
    """Group combinations that differ only in C, where a path can fit them."""
    along = _path_parameter(model, scorer)
    groups: dict[str, list[int]] = {}
    for number, params in enumerate(candidates):
        others = {k: repr(v) for k, v in params.items() if k != along}
        alone = along is None or along not in params
        key = repr((number if alone else -1, sorted(others.items())))
        groups.setdefault(key, []).append(number)
    tasks = []
    for split in range(n_splits):
        for members in groups.values():
            if along is None or along not in candidates[members[0]]:
                tasks.append(_Task(split, tuple(members), None))
                continue
            ascending = sorted(members, key=lambda i: candidates[i][along])
            tasks.append(_Task(split, tuple(ascending), along))
    return tasks


def _path_parameter(model: Any, scorer: Any) -> str | None:
    if not isinstance(scorer, PairScorer) or scorer.response_method == "predict_proba":
        return None
    if isinstance(model, PairKernelMachine):
        return "C"
    if isinstance(model, ThresholdCompare) and isinstance(
        model.ranker, PairKernelMachine
    ):
        return "ranker__C"
    return None


def _run(
    model: Any, candidates: list[Params], task: _Task, split: _Split, scorer: Any
) -> list[CellScore]:
    with warnings.catch_warnings():
        # Corners of a grid are meant to be bad; the table says which did not converge.
        warnings.simplefilter("ignore")
        if task.along is not None:
            return list(_score_path(model, candidates, task, split, scorer))
        (number,) = task.candidates
        fitted = clone(model).set_params(**candidates[number])
        fitted.fit(split.X, split.y, **_fit_arguments(fitted, split.fit))
        value = float(scorer(fitted, split.X_test, split.y_test, **split.score))
        converged = bool(getattr(fitted, "converged_", True))
        return [CellScore(number, task.split, value, converged)]


def _fit_arguments(model: Any, extras: Params) -> Params:
    """Name weights and groups as ``fit`` wants them: for a Pipeline, its last step."""
    last, prefix = model, ""
    if hasattr(model, "steps"):
        step, last = model.steps[-1]
        prefix = f"{step}__"
    for name in extras:
        if not has_fit_parameter(last, name):
            raise TypeError(f"{type(last).__name__}.fit takes no {name}.")
    return {prefix + name: value for name, value in extras.items()}


def _score_path(
    model: Any, candidates: list[Params], task: _Task, split: _Split, scorer: Any
) -> Iterator[CellScore]:
    assert task.along is not None
    values = [candidates[i][task.along] for i in task.candidates]
    first = clone(model).set_params(**candidates[task.candidates[0]])
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


def _name_of(scoring: str | Callable[..., float]) -> str:
    if isinstance(scoring, str):
        return scoring
    return getattr(scoring, "name", getattr(scoring, "__name__", repr(scoring)))


def _progress_bar(wanted: bool | None) -> Progress:
    console = Console(stderr=True)
    hidden = not console.is_terminal if wanted is None else not wanted
    return Progress(
        "[progress.description]{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=hidden,
        transient=True,
    )


def _signature(
    model: Any, candidates: list[Params], scoring: Any, splits: list[_Split]
) -> str:
    """Tell searches apart by everything that a score depends on."""
    parts = [repr(model.get_params()), repr(candidates), _name_of(scoring)]
    parts.append(repr(getattr(scoring, "options", None)))
    for split in splits:
        parts.append(joblib.hash((split.y, split.fit, split.y_test, split.score)))
        parts += [joblib.hash(X) for X in (split.X, split.X_test)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
