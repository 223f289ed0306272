# SPDX-License-Identifier: BSD-3-Clause
"""Choose parameters on a grid, on a validation set or by cross-validation.

A unit of work is one combination on one split; support vector machines on comparisons
that differ only in C are one, and share kernel values.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import track
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from tiebreak.data import Orders, as_pairs, check_outcomes, is_pairs
from tiebreak.data.columns import as_column, factorize
from tiebreak.losses import GradeHinge, GradeSquaredHinge, GradeTree
from tiebreak.metrics import PairScorer, get_scorer
from tiebreak.metrics.scorers import inner_estimator
from tiebreak.models import fit_path
from tiebreak.models.base import to_outcomes
from tiebreak.models.svm.rank_svm import RankSVM
from tiebreak.models.svm.svm_compare import SVMCompare
from tiebreak.selection.results import TuneResult
from tiebreak.selection.splitters import QueryKFold
from tiebreak.solvers import compile_kernels

Params = dict[str, Any]
Fold = tuple[np.ndarray, np.ndarray]
Cell = tuple[int, float, bool]  # a combination, its score, whether it converged


@dataclass(frozen=True)
class Split:
    """One training set and the set that scores it."""

    X: Any  # training rows
    y: Any
    fit: Params  # what else ``fit`` takes for these rows
    X_test: Any  # rows that score
    y_test: Any
    score: Params  # what the scorer takes for these rows
    predict: Params  # what predictions take for these rows


def choose_scorer(
    scoring: str | Callable[..., float] | None, X_test: Any
) -> Callable[..., float]:
    """Find the scorer; by default the one of the shape of the data."""
    default = "error" if is_pairs(X_test) else "swapped_pairs"
    return get_scorer(default if scoring is None else scoring)


def row_columns(
    n_rows: int,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    columns: Mapping[str, Any] | None,
) -> Params:
    """Gather the columns of the rows, and check their length."""
    rows = dict(columns or {})
    for name, column in (("sample_weight", sample_weight), ("qid", qid)):
        if column is not None:
            rows[name] = as_column(column, name)
    for name, column in rows.items():
        if len(column) != n_rows:
            raise ValueError(
                f"{name} has {len(column)} values but there are {n_rows} rows."
            )
    return rows


def make_splits(
    model: Any,
    X: Any,
    y: Any,
    validation: tuple[Any, ...] | None,
    cv: Any,
    extra: Params,
    scorer: Any,
) -> Iterator[Split]:
    """Divide the rows."""
    scored = {"qid", "sample_weight"}.intersection(
        getattr(scorer, "metadata", None) or signature(scorer).parameters
    )
    if validation is not None:
        if cv is not None:
            raise ValueError("give a validation set or cv, not both.")
        yield _validation_split(X, y, validation, extra, scored)
        return
    if is_pairs(X) and y is not None:
        # Outcomes are checked once; a few of them may be without a left winner.
        X, y = as_pairs(X), check_outcomes(y, len(X))
    y = None if y is None else np.asarray(y)
    predicted_with = _prediction_columns(model, scorer)
    for train, test in _fold_rows(model, X, y, cv, extra.get("qid")):
        fit = {name: _safe_indexing(v, train) for name, v in extra.items()}
        at_test = {name: _safe_indexing(v, test) for name, v in extra.items()}
        yield Split(
            _take(model, X, train, train),
            None if y is None else y[train],
            fit,
            _take(model, X, test, train),
            None if y is None else y[test],
            {name: v for name, v in at_test.items() if name in scored},
            {name: v for name, v in at_test.items() if name in predicted_with},
        )


def _validation_split(
    X: Any, y: Any, validation: tuple[Any, ...], extra: Params, scored: set[str]
) -> Split:
    X_test, y_test, qid = validation if len(validation) == 3 else (*validation, None)
    of_items = not is_pairs(X_test) and not isinstance(X_test, Orders)
    if qid is None and "qid" in extra and of_items:
        raise ValueError("the training items have groups; give validation=(X, y, qid).")
    score = {} if qid is None or "qid" not in scored else {"qid": qid}
    return Split(X, y, extra, X_test, y_test, score, {})


def _take(model: Any, X: Any, rows: np.ndarray, train: np.ndarray) -> Any:
    """Take rows; of a kernel matrix also the training columns."""
    if isinstance(X, Orders):
        return X[rows]
    inner = getattr(model, "ranker", model)
    if not is_pairs(X) and getattr(inner, "kernel", None) == "precomputed":
        return _safe_indexing(_safe_indexing(X, rows), train, axis=1)
    return _safe_indexing(X, rows)


def _prediction_columns(model: Any, scorer: Any) -> set[str]:
    """Name the columns that predictions take."""
    if not isinstance(scorer, PairScorer) or hasattr(model, "steps"):
        return set()
    method = getattr(model, scorer.response_method, None)
    return set() if method is None else set(signature(method).parameters)


def _fold_rows(
    model: Any, X: Any, y: np.ndarray | None, cv: Any, qid: np.ndarray | None
) -> list[Fold]:
    """Row numbers of the folds; no group is on both sides."""
    cv = 5 if cv is None else cv
    if qid is None:
        stratified = is_classifier(model) and is_pairs(X)
        return list(check_cv(cv, y, classifier=stratified).split(X, y))
    if isinstance(cv, Integral):
        cv = QueryKFold(int(cv))
    if not hasattr(cv, "split"):
        folds = list(cv)
    elif "qid" in signature(cv.split).parameters:
        folds = list(cv.split(X, y, qid=qid))
    else:
        with warnings.catch_warnings():
            # Some splitters say that they ignore groups; what they do is checked below.
            warnings.simplefilter("ignore", UserWarning)
            folds = list(cv.split(X, y, groups=qid))
    group, names = factorize(qid)
    for train, test in folds:
        both = np.intersect1d(group[train], group[test])
        if len(both):
            raise ValueError(
                f"cv={cv!r} divides qid {names[both[0]]!r}; use QueryKFold instead."
            )
    return folds


@dataclass(frozen=True)
class Task:
    """Combinations that one worker fits on one split."""

    split: int  # number of the split
    candidates: tuple[int, ...]  # several if they differ only in C, ascending
    shared: bool  # whether they share kernel values


def make_tasks(
    model: Any, candidates: list[Params], splits: list[Split], scorer: Any
) -> list[Task]:
    """Group combinations that differ only in C and can share kernel values."""
    groups: dict[str, list[int]] = {}
    for number, params in enumerate(candidates):
        others = sorted((k, repr(v)) for k, v in params.items() if k != "C")
        groups.setdefault(repr(("C" in params, others)), []).append(number)
    tasks = []
    for members in groups.values():
        first = clone(model).set_params(**candidates[members[0]])
        shared = "C" in candidates[members[0]] and _shares_kernel(first, splits, scorer)
        units: list[tuple[int, ...]] = [(number,) for number in members]
        if shared:
            units = [tuple(sorted(members, key=lambda i: candidates[i]["C"]))]
        tasks += [
            Task(split, unit, shared) for split in range(len(splits)) for unit in units
        ]
    return tasks


def _shares_kernel(machine: Any, splits: list[Split], scorer: Any) -> bool:
    """Whether several values of C can be fitted and scored at once."""
    return (
        isinstance(machine, RankSVM | SVMCompare)
        and getattr(machine, "loss", "hinge") == "hinge"
        and isinstance(scorer, PairScorer)
        and scorer.response_method != "predict_proba"
        and all(is_pairs(split.X) and is_pairs(split.X_test) for split in splits)
        and all(split.fit.keys() <= {"sample_weight"} for split in splits)
    )


def run_task(
    model: Any,
    candidates: list[Params],
    task: Task,
    split: Split,
    scorer: Any,
) -> tuple[int, list[Cell]]:
    """Fit and score on a split; data warnings are left to the final fit."""
    with warnings.catch_warnings():
        # Corners of a grid are meant to be bad; the table says which did not converge.
        warnings.simplefilter("ignore")
        first = clone(model).set_params(**candidates[task.candidates[0]])
        if task.shared:
            values = [candidates[i]["C"] for i in task.candidates]
            cells = _score_shared(first, values, split, scorer)
        else:
            first.fit(split.X, split.y, **fit_arguments(first, split.X, split.fit))
            cells = [(_score(first, split, scorer), _converged(first))]
        numbered = zip(task.candidates, cells, strict=True)
        return task.split, [(number, *cell) for number, cell in numbered]


def fit_arguments(model: Any, X: Any, extras: Params) -> Params:
    """Name weights and groups as ``fit``, or a Pipeline's last step, takes them."""
    last, prefix = model, ""
    if hasattr(model, "steps"):
        step, last = model.steps[-1]
        prefix = f"{step}__"
    taken = {name for name in extras if has_fit_parameter(last, name)}
    # A plain regressor learns nothing from groups; folds and scores keep them.
    unused = set() if is_pairs(X) else {"qid"}
    for name in extras.keys() - taken - unused:
        raise TypeError(f"{type(last).__name__}.fit takes no {name}.")
    return {prefix + name: extras[name] for name in extras if name in taken}


def _score(fitted: Any, split: Split, scorer: Any) -> float:
    if split.predict:
        method = getattr(fitted, scorer.response_method)
        response = method(split.X_test, **split.predict)
        return float(scorer.from_response(split.y_test, response, **split.score))
    return float(scorer(fitted, split.X_test, split.y_test, **split.score))


def _converged(fitted: Any) -> bool:
    """Whether a fit, perhaps inside a pipeline or wrapper, reached its tolerance."""
    inner = inner_estimator(fitted)
    if inner is not None:
        return _converged(inner)
    return bool(getattr(fitted, "converged_", True))


def _score_shared(
    machine: Any, values: list[float], split: Split, scorer: Any
) -> list[tuple[float, bool]]:
    """Score all models of a path by one set of kernel values."""
    path = fit_path(machine, split.X, split.y, values, **split.fit)
    cells = []
    for fitted, difference in zip(
        path.models, _differences(path, split.X_test).T, strict=True
    ):
        response = difference
        if scorer.response_method == "predict":
            response = to_outcomes(difference, getattr(fitted, "threshold_", 0.0))
        value = scorer.from_response(split.y_test, response, **split.score)
        cells.append((float(value), bool(fitted.converged_)))
    return cells


def _differences(path: Any, X: Any) -> np.ndarray:
    """``difference`` of every model of a path, shape (n, n_models)."""
    first = path.models[0]
    pairs = as_pairs(X).compact()
    if pairs.items is None or hasattr(first, "items_"):
        return np.column_stack([m.difference(pairs) for m in path.models])
    first.difference(pairs[:1])  # the checks of features and names
    table, code = pairs.items.unique()
    utility = path.utilities(table)[code]
    return utility[pairs.right] - utility[pairs.left]


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
    refit: bool = True,
) -> TuneResult:
    """Fit a model for every combination of a grid and keep the best.

    Parameters
    ----------
    model : estimator
        Any model of this package, for graded items also any scikit-learn regressor, or
        a Pipeline that ends with one.
    X, y
        Training data, as for ``model.fit``; y is None for Orders.
    grid : mapping of str to sequence, or a sequence of mappings
        As in scikit-learn's GridSearchCV.
    validation : (X, y) or (X, y, qid), optional
        Data on which every combination, fitted on all of ``X``, is scored.
    cv : int, splitter or iterable of (train, test), default=5
        How to split ``X`` without a validation set. With ``qid`` a number means
        QueryKFold, and folds that divide a group are refused.
    scoring : str or callable, optional
        A name known to :func:`tiebreak.metrics.get_scorer`, or a callable
        ``scorer(estimator, X, y)``, greater is better. By default ``"error"`` for
        comparisons, ``"swapped_pairs"`` for graded items and orders.
    sample_weight, qid : array-like of shape (n,), optional
        Weights of the rows, and groups of graded items, passed to whatever takes them:
        model, metric and splitter.
    columns : mapping of str to array-like of n rows, optional
        Further columns for ``fit`` and predictions, such as ``rater`` or ``advantage``.
    n_jobs, progress : int and bool, optional
        Worker processes (-1: all cores), and whether to show a progress bar.
    refit : bool, default=True
        Fit the best combination on all of ``X`` at the end.

    Returns
    -------
    TuneResult

    Examples
    --------
    >>> from tiebreak import SVMCompare, tune
    >>> from tiebreak.datasets import make_norms
    >>> train = make_norms(80, random_state=0)
    >>> valid = make_norms(80, random_state=1)
    >>> grid = {"C": [1, 10, 100], "gamma": [0.1, 1.0]}
    >>> held_out = valid.pairs, valid.y
    >>> result = tune(SVMCompare(), train.pairs, train.y, grid, validation=held_out)
    >>> sorted(result.best_params_), result.table.shape
    (['C', 'gamma'], (6, 7))
    """
    candidates = list(ParameterGrid(grid))
    scorer = choose_scorer(scoring, validation[0] if validation else X)
    extra = row_columns(len(X) if y is None else len(y), sample_weight, qid, columns)
    splits = list(make_splits(model, X, y, validation, cv, extra, scorer))
    tasks = make_tasks(model, candidates, splits, scorer)
    if n_jobs not in (None, 1):
        _compile(of_pairs=is_pairs(X))
    work = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        joblib.delayed(run_task)(model, candidates, task, splits[task.split], scorer)
        for task in tasks
    )
    scores = np.empty((len(candidates), len(splits)))
    converged = np.empty(scores.shape, dtype=bool)
    console = Console(stderr=True)
    hidden = not console.is_terminal if progress is None else not progress
    console.quiet = hidden  # older ones of rich end a hidden bar with a line
    for split, cells in track(
        work, "tuning", len(tasks), console=console, transient=True, disable=hidden
    ):
        for candidate, score, done in cells:
            scores[candidate, split], converged[candidate, split] = score, done
    mean = scores.mean(axis=1)
    if np.isnan(mean).all():
        raise ValueError(f"{_name_of(scorer)!r} gave NaN for every combination.")
    best = int(np.nanargmax(mean))
    best_model = None
    if refit:
        final = fit_arguments(model, X, extra)
        best_model = clone(model).set_params(**candidates[best]).fit(X, y, **final)
    return TuneResult.make(
        candidates, scores, converged, best, best_model, _name_of(scorer)
    )


def _compile(*, of_pairs: bool) -> None:
    """Compile before worker processes start."""
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
