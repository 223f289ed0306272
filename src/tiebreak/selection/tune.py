# SPDX-License-Identifier: BSD-3-Clause
"""Choose parameters on a grid, on a validation set or by cross-validation.

The choice is that of the plain loop "for every combination: clone, fit, score", the
first of the best in grid order. Models that have a ``path`` are fitted as paths along
C: all values of C start from each other's solutions. On comparisons, support vector
machines share the rows of one kernel too, and the kernel values of the validation items
are computed once for all.

Units of work of a search: one combination, or all that differ only in C.

A model with a method ``path(X, y, Cs, ...)`` is fitted for all values of C together,
each from the solution before it. Pairwise support vector machines on comparisons share
even the kernel values between training and test items.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import has_fit_parameter

from tiebreak.data import as_pairs, is_pairs
from tiebreak.data.atomic import atomic_path
from tiebreak.losses import GradeHinge, GradeSquaredHinge, GradeTree
from tiebreak.metrics import PairScorer, get_scorer, scorer_names
from tiebreak.models import ThresholdCompare, fit_path
from tiebreak.models.base import to_outcomes
from tiebreak.models.svm.pair_machine import PairKernelMachine
from tiebreak.selection.tune_splits import (
    Split,
    choose_scorer,
    make_splits,
    row_columns,
)
from tiebreak.solvers import best_threshold, compile_kernels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class OtherSearchError(ValueError):
    """A checkpoint that another search has left."""


@dataclass(frozen=True)
class CellScore:
    """Score of one combination on one split.

    Parameters
    ----------
    candidate, split : int
        Numbers of the combination and of the split.
    score : float
        Greater is better.
    converged : bool
        Whether the fit reached its tolerance.
    """

    candidate: int
    split: int
    score: float
    converged: bool


class Checkpoint:
    """Finished scores, in memory and, when asked, in a file.

    Parameters
    ----------
    path : path or None
        The file; it is written atomically after every addition.
    signature : str
        What tells this search from others; a file of another one is refused.
    """

    def __init__(self, path: str | Path | None, signature: str) -> None:
        self.path = None if path is None else Path(path)
        self.signature = signature
        self.known: dict[tuple[int, int], tuple[float, bool]] = {}
        if self.path is not None and self.path.exists():
            self._read()

    def _read(self) -> None:
        assert self.path is not None
        try:
            stored = json.loads(self.path.read_text())
            rows = [
                (int(c), int(s), float(v), bool(k)) for c, s, v, k in stored["done"]
            ]
            signature = stored["search"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self.path} is not a checkpoint of a search ({error}); remove it or "
                "name another file."
            ) from None
        if signature != self.signature:
            raise OtherSearchError(
                f"{self.path} belongs to another search (other model, grid, metric or "
                "data); remove it or name another file."
            )
        self.known = {(c, s): (v, k) for c, s, v, k in rows}

    def has(self, split: int, candidates: Iterable[int]) -> bool:
        """Whether all these combinations have a score on a split."""
        return all((i, split) in self.known for i in candidates)

    def add(self, cells: Iterable[CellScore]) -> None:
        """Take in scores and write the file."""
        for cell in cells:
            self.known[cell.candidate, cell.split] = (cell.score, cell.converged)
        if self.path is not None:
            rows = [[*key, *value] for key, value in self.known.items()]
            with atomic_path(self.path) as temporary:
                temporary.write_text(
                    json.dumps({"search": self.signature, "done": rows})
                )

    def arrays(self, n_candidates: int, n_splits: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and convergence, both of shape (n_candidates, n_splits)."""
        scores = np.empty((n_candidates, n_splits))
        converged = np.empty((n_candidates, n_splits), dtype=bool)
        for (candidate, split), (value, done) in self.known.items():
            scores[candidate, split], converged[candidate, split] = value, done
        return scores, converged


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


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Scores of every combination of a grid.

    Attributes
    ----------
    table : polars.DataFrame
        One row per combination, in grid order: its parameters, ``score`` (the mean over
        splits), ``spread`` (standard deviation over splits), ``place`` (1 is best),
        ``converged``, and ``split_0``, ``split_1``, ….
    best_params : dict
        The first of the best combinations in grid order.
    best_score : float
        Its score; greater is better.
    best_model : estimator or None
        Fitted with ``best_params`` on all training data, unless ``refit=False``.
    scoring : str
        Name of the metric.
    """

    table: pl.DataFrame
    best_params: dict[str, Any]
    best_score: float
    best_model: Any
    scoring: str

    @classmethod
    def make(
        cls,
        candidates: list[dict[str, Any]],
        scores: np.ndarray,
        converged: np.ndarray,
        best: int,
        best_model: Any,
        scoring: str,
    ) -> TuneResult:
        """Put the table together.

        Parameters
        ----------
        candidates : list of dict
            The combinations of parameters, in the order of the grid.
        scores : ndarray of shape (n_candidates, n_splits)
            Score of every combination on every split.
        converged : ndarray of bool of shape (n_candidates, n_splits)
            Whether each fit reached its tolerance.
        best : int
            Row of the choice.
        best_model : estimator or None
            Fitted with the parameters of the choice.
        scoring : str
            Name of the score.

        Returns
        -------
        TuneResult
        """
        names = list(dict.fromkeys(key for params in candidates for key in params))
        mean = scores.mean(axis=1)
        # Combinations of equal score share a place; NaN comes last.
        order = np.where(np.isnan(mean), -np.inf, mean)
        place = 1 + (order[None, :] > order[:, None]).sum(axis=1)
        columns: dict[str, Any] = {
            name: _column([params.get(name) for params in candidates]) for name in names
        }
        columns |= {
            "score": mean,
            "spread": scores.std(axis=1),
            "place": place,
            "converged": converged.all(axis=1),
        }
        columns |= {f"split_{k}": scores[:, k] for k in range(scores.shape[1])}
        return cls(
            pl.DataFrame(columns),
            dict(candidates[best]),
            float(mean[best]),
            best_model,
            scoring,
        )

    def __repr__(self) -> str:
        chosen = ", ".join(f"{k}={_short(v)}" for k, v in self.best_params.items())
        return (
            f"TuneResult({chosen}: {self.scoring} {self.best_score:.4g}, best of "
            f"{len(self.table)})"
        )

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the grid: scores over two parameters, or a curve over one.

        Parameters
        ----------
        path : path, optional
            Where to save the picture (PNG, SVG or PDF), written atomically.

        Returns
        -------
        matplotlib.figure.Figure
            With more than two parameters the first two that vary are drawn, each cell
            with the best score over the others. The choice is marked by a ring.
        """
        figure = draw_grid(self.table, self.best_params, self.scoring)
        if path is not None:
            target = Path(path)
            with atomic_path(target) as temporary:
                figure.savefig(temporary, format=target.suffix.lower().lstrip("."))
        return figure


def _column(values: list[Any]) -> list[Any]:
    """Keep plain values; what a table cannot hold is shown as text."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    kinds = {type(v) for v in plain if v is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if v is None else float(v) for v in plain]
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return plain
    return [None if v is None else str(v) for v in plain]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


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


_FIXED = ("score", "spread", "place", "converged")


def draw_grid(table: pl.DataFrame, best: dict[str, Any], scoring: str) -> Figure:
    """Draw scores over the first two parameters that vary, or over one.

    Parameters
    ----------
    table : polars.DataFrame
        The table of a :class:`~tiebreak.selection.TuneResult`.
    best : dict
        The chosen combination.
    scoring : str
        Name of the metric, for the scale.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = [
        name
        for name in table.columns
        if name not in _FIXED
        and not name.startswith("split_")
        and table[name].n_unique() > 1
    ]
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    axes = figure.add_subplot()
    if len(names) >= 2:
        _draw_cells(figure, axes, table, names[:2], best, scoring)
    else:
        _draw_curve(axes, table, names[0] if names else table.columns[0], best, scoring)
    rest = ", ".join(f"{n} = {_label(best[n])}" for n in names[2:])
    chosen = ", ".join(f"{n} = {_label(best[n])}" for n in names[:2])
    axes.set_title(
        f"Best: {chosen or 'the only combination'}"
        + (f"\n(each cell: best over the others, here {rest})" if rest else ""),
        fontsize=11,
    )
    return figure


def _draw_cells(
    figure: Figure,
    axes: Any,
    table: pl.DataFrame,
    names: list[str],
    best: dict[str, Any],
    scoring: str,
) -> None:
    x, y = names
    xs, ys = _values(table, x), _values(table, y)
    cells = np.full((len(ys), len(xs)), np.nan)
    for a, b, score in zip(table[x], table[y], table["score"], strict=True):
        i, j = ys.index(b), xs.index(a)
        cells[i, j] = (
            np.nanmax([cells[i, j], score]) if cells[i, j] == cells[i, j] else score
        )
    picture = axes.imshow(cells, origin="lower", aspect="auto", cmap="cividis")
    colors = figure.colorbar(picture, ax=axes)
    colors.set_label(_score_label(scoring))
    axes.set_xticks(range(len(xs)), [_label(v) for v in xs], rotation=45, ha="right")
    axes.set_yticks(range(len(ys)), [_label(v) for v in ys])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.plot(
        _place(xs, best[x]),
        _place(ys, best[y]),
        marker="o",
        markersize=15,
        markerfacecolor="none",
        markeredgecolor="white",
        markeredgewidth=2.5,
    )
    axes.plot(
        _place(xs, best[x]),
        _place(ys, best[y]),
        marker="o",
        markersize=15,
        markerfacecolor="none",
        markeredgecolor="black",
        markeredgewidth=1.0,
    )


def _draw_curve(
    axes: Any, table: pl.DataFrame, name: str, best: dict[str, Any], scoring: str
) -> None:
    values = _values(table, name)
    best_of = {
        v: table.filter(pl.col(name).eq_missing(v)).sort("score", nulls_last=True)[-1]
        for v in values
    }
    score = np.array([best_of[v]["score"][0] for v in values])
    spread = np.array([best_of[v]["spread"][0] for v in values])
    places = np.arange(len(values))
    axes.plot(places, score, marker="o", color="#1f4e79")
    if spread.any():
        axes.fill_between(
            places, score - spread, score + spread, color="#1f4e79", alpha=0.2, lw=0
        )
    at = _place(values, best.get(name))
    axes.plot(at, score[at], "o", ms=14, mfc="none", mec="#c1440e", mew=2)
    axes.set_xticks(places, [_label(v) for v in values], rotation=45, ha="right")
    axes.set_xlabel(name)
    axes.set_ylabel(_score_label(scoring))
    axes.grid(alpha=0.3)


def _values(table: pl.DataFrame, name: str) -> list[Any]:
    column = table[name].unique(maintain_order=True)
    return (column.sort() if column.dtype.is_numeric() else column).to_list()


def _place(values: list[Any], value: Any) -> int:
    if value in values:
        return values.index(value)
    return values.index(str(value))


def _label(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _score_label(scoring: str) -> str:
    known = scoring in scorer_names()
    if known and not getattr(get_scorer(scoring), "greater_is_better", True):
        return f"minus {scoring} (higher is better)"
    return scoring
