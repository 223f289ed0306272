# SPDX-License-Identifier: BSD-3-Clause
"""Choose parameters on a grid, on a validation set or by cross-validation.

The choice is that of the plain loop "for every combination: clone, fit, score", the
first of the best in grid order. Models that have a ``path`` are fitted as paths along
C: all values of C start from each other's solutions. On comparisons, support vector
machines share the rows of one kernel too, and the kernel values of the validation items
are computed once for all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from tiebreak.data import is_pairs
from tiebreak.losses import GradeHinge, GradeSquaredHinge, GradeTree
from tiebreak.selection.checkpoint import Checkpoint
from tiebreak.selection.tune_result import TuneResult
from tiebreak.selection.tune_splits import (
    Split,
    choose_scorer,
    make_splits,
    row_columns,
)
from tiebreak.selection.tune_tasks import fit_arguments, make_tasks, run_task
from tiebreak.solvers import compile_kernels

__all__ = ["tune"]

Params = dict[str, Any]


def tune(
    model: Any,
    X: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    validation: tuple[Any, ...] | None = None,
    cv: Any = None,
    scoring: str | Callable[..., float] | None = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    columns: Mapping[str, Any] | None = None,
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
        Training data, as for ``model.fit``; y is None for Orders.
    grid : mapping of str to sequence, or a sequence of mappings
        Parameters and their values, as in scikit-learn's GridSearchCV.
    validation : (X, y) or (X, y, qid), optional
        Data on which every combination is scored; all of ``X`` is then used to fit.
    cv : int, splitter or iterable of (train, test), default=5
        How to split ``X`` when there is no validation set. With ``qid`` a number means
        QueryKFold, and folds that divide a group are refused. Orders are split by
        lists.
    scoring : str or callable, optional
        A name known to :func:`tiebreak.metrics.get_scorer`, or a callable
        ``scorer(estimator, X, y)``, which is told ``qid`` and ``sample_weight`` too if
        it has arguments of these names. Greater is better, so losses are negative. By
        default ``"error"`` for comparisons, ``"swapped_pairs"`` for graded items and
        orders.
    sample_weight : array-like of shape (n,), optional
        Weights of the training rows. In cross-validation they also weigh the score,
        where the metric takes weights.
    qid : array-like of shape (n,), optional
        Groups of graded items, for models that take them; handed to the splitter too.
    columns : mapping of str to array-like of n rows, optional
        What else ``fit`` takes, such as ``period``, ``rater`` or ``advantage``. The
        scorers of this package hand on what predictions take as well.
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
    scorer = choose_scorer(scoring, validation[0] if validation else X)
    extra = row_columns(len(X) if y is None else len(y), sample_weight, qid, columns)
    splits = list(make_splits(model, X, y, validation, cv, extra, scorer))
    tasks = make_tasks(model, candidates, splits)
    search = ""
    if checkpoint is not None:
        search = _signature(model, candidates, scorer, splits)
    memory = Checkpoint(checkpoint, search)
    todo = [task for task in tasks if not memory.has(task.split, task.candidates)]
    if n_jobs not in (None, 1):
        _compile(of_pairs=is_pairs(X))
    work = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        joblib.delayed(run_task)(model, candidates, task, splits[task.split], scorer)
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
            f"the scorer {_name_of(scorer)!r} gave NaN for every combination; there is "
            "no best."
        )
    best = int(np.nanargmax(mean))
    best_model = None
    if refit:
        final = fit_arguments(model, extra)
        best_model = clone(model).set_params(**candidates[best]).fit(X, y, **final)
    return TuneResult.make(
        candidates, scores, converged, best, best_model, _name_of(scorer)
    )


def _check_parameters(model: Any, candidates: list[Params]) -> None:
    known = model.get_params()
    for name in dict.fromkeys(key for params in candidates for key in params):
        if name not in known:
            raise ValueError(
                f"{type(model).__name__} has no parameter {name!r}; expected one of "
                f"{', '.join(sorted(known))}."
            )


def _compile(*, of_pairs: bool) -> None:
    """Compile before worker processes start, which would all do it."""
    if of_pairs:
        for dtype in (np.float32, np.float64):
            compile_kernels(dtype)
        return
    tree = GradeTree(np.arange(2.0), np.zeros(2, dtype=np.int64), np.ones(2))
    GradeHinge(tree).expand(np.zeros(2))
    smooth = GradeSquaredHinge(tree)
    smooth.expand(np.zeros(2))
    smooth.hessian_product(np.ones(2))


def _name_of(scorer: Callable[..., float]) -> str:
    return getattr(scorer, "name", getattr(scorer, "__name__", repr(scorer)))


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
    model: Any, candidates: list[Params], scoring: Any, splits: list[Split]
) -> str:
    """Tell searches apart by everything that a score depends on."""
    parts = [repr(model.get_params()), repr(candidates), _name_of(scoring)]
    parts.append(repr(getattr(scoring, "options", None)))
    for split in splits:
        beside = split.fit, split.score, split.ask
        parts.append(joblib.hash((split.y, split.y_test, *beside)))
        parts += [joblib.hash(X) for X in (split.X, split.X_test)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
