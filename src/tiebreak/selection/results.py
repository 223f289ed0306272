# SPDX-License-Identifier: BSD-3-Clause
"""What evaluations and searches found: tables, rows, differences, and the picture.

Row-aligned columns (period, advantage, context, rater, weights) are handed to the
methods of a model that name them among their parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text
from scipy.special import stdtrit
from sklearn.utils import _safe_indexing

from tiebreak.data.atomic import atomic_path
from tiebreak.data.columns import readable_period
from tiebreak.data.markup import results_html
from tiebreak.data.messages import warn_user
from tiebreak.lazy import is_pipeline
from tiebreak.metrics import comparison_accuracy, get_scorer, scorer_names
from tiebreak.metrics.comparisons import probability_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Metric = Literal["accuracy", "log_loss", "brier", "rps"]
METRICS: tuple[Metric, ...] = ("accuracy", "log_loss", "brier", "rps")
_HEADINGS = {"accuracy": "accuracy", "log_loss": "log loss", "brier": "Brier"}
_HEADINGS["rps"] = "RPS"
_OLD_NAMES = {"best_params": "best_params_", "best_score": "best_score_"}
_OLD_NAMES["best_model"] = "best_estimator_"
_SHOWN = 20  # combinations of a search; all are in its table


@dataclass(frozen=True)
class ForwardDifference:
    """A difference of two models on the same rows.

    Attributes
    ----------
    mean, standard_error : float
        Weighted mean over rows of the first model's metric minus the second's, and its
        error, rows of a period taken together; NaN for a single period.
    n_periods : int
        How many periods there are, or raters, groups, folds or rows in their place.
    """

    mean: float
    standard_error: float
    n_periods: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Give the mean ± t · standard error, t of n_periods - 1 degrees of freedom.

        Parameters
        ----------
        level : float, default=0.95
            Its confidence. An interval without 0 speaks for one of the models.

        Returns
        -------
        tuple of float
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}.")
        half = float(stdtrit(self.n_periods - 1, (1 + level) / 2)) * self.standard_error
        return self.mean - half, self.mean + half


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """How well models predicted the rows of later periods.

    All m rows that are evaluated are predicted by every model, from earlier periods
    only. Metrics are weighted means over rows.

    Attributes
    ----------
    table : polars.DataFrame
        One row per model, and one for ``"baseline"``, which predicts every
        row by the frequencies of left, tie and right in the training rows. ``n_test``
        rows are evaluated; ``n_unseen`` rows have an item that not every model can
        predict and are left out for all. ``accuracy`` (more is better) is of
        ``predict``; ``log_loss``, ``brier`` and ``rps`` (less is better) are of
        ``predict_proba``, null for models without it.
    by_split : polars.DataFrame
        The same for every block, with its number ``split``, its ``first`` and ``last``
        period and ``n_train``, the number of rows trained on.
    row, split, period : ndarray of int64 of shape (m,)
        Row numbers in order of time, and the block and period number of each. Rows of
        a period may depend on each other.
    outcome, weight : ndarray of int8 and of float64, of shape (m,)
        What happened, and weights.
    predicted, proba : dict of str to ndarray of shape (m,) and (m, 3)
        Outcomes that each model predicted, and probabilities of those that give them.
    note : str
        How rows were held out, where it was not by period.
    overlap : float
        What training adds to the variance of a difference, see `difference`.
    """

    table: pl.DataFrame
    by_split: pl.DataFrame
    row: NDArray[np.int64]
    split: NDArray[np.int64]
    period: NDArray[np.int64]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    predicted: dict[str, NDArray[Any]]
    proba: dict[str, NDArray[np.float64]]
    note: str = ""
    overlap: float = 0.0

    def losses(self, model: str, metric: Metric = "log_loss") -> NDArray[np.float64]:
        """Give the metric of every row.

        Parameters
        ----------
        model, metric : str, {"accuracy", "log_loss", "brier", "rps"}
            Name of the model, and which metric; the accuracy of a row is 1 or 0.

        Returns
        -------
        ndarray of shape (m,)
            Its weighted mean is the number in `table`.
        """
        if metric not in METRICS:
            known = ", ".join(map(repr, METRICS))
            raise ValueError(f"metric must be one of {known}, got {metric!r}.")
        if model not in self.predicted:
            known = ", ".join(map(repr, self.predicted))
            raise ValueError(f"There is no model {model!r}; known are {known}.")
        if metric == "accuracy":
            return (self.predicted[model] == self.outcome).astype(np.float64)
        if model not in self.proba:
            raise ValueError(
                f"Model {model!r} gives no probabilities, so it has no {metric}; only "
                'metric="accuracy".'
            )
        proba = self.proba[model]
        happened = self.outcome[:, np.newaxis] == np.array([-1, 0, 1])
        if metric == "log_loss":
            with np.errstate(divide="ignore"):
                return -np.log(proba[happened])
        gap = proba - happened
        if metric == "brier":
            return (gap**2).sum(axis=1)
        return (np.cumsum(gap, axis=1)[:, :2] ** 2).sum(axis=1) / 2

    def difference(
        self, a: str, b: str, metric: Metric = "log_loss"
    ) -> ForwardDifference:
        """Compare two models on the same rows.

        With d the difference of a row, w its weight and D the weighted mean of d over
        all rows, the squared standard error of D is ::

            (1 + overlap) · B / (B - 1) · Σ_b (Σ_{i∈b} wᵢ (dᵢ - D))² / (Σᵢ wᵢ)²,

        a sum over the B periods, whose rows may depend on each other.

        The rows say how much D varies for these fitted models; 1 + overlap allows for
        other training rows, too. For k folds, which train on each other's
        rows, overlap = k · n_test / n_train: where the periods are the folds, this is
        the corrected resampled variance (1/k + n_test/n_train) · s² of Nadeau and
        Bengio (2003), s² the variance of d between folds. Forward in time overlap =
        n_test / n_train of a mean block, as if blocks were trained independently; this
        is not derived but measured: of models that are equally good by construction,
        2 to 5 % have an ``interval`` without 0 (3 to 8 % with overlap = 0). Of rows in
        5 folds it is 0.3 to 2.3 % (5 to 13 %), of items in 5 folds 4 to 6 % (21 to 51 %
        with rows taken as independent).

        Parameters
        ----------
        a, b : str
            Names of models, or ``"baseline"``.
        metric : {"accuracy", "log_loss", "brier", "rps"}, default="log_loss"
            Which. Negative differences speak for `a`, except of the accuracy.

        Returns
        -------
        ForwardDifference
            Not a number where both models called impossible what happened.
        """
        first, second = self.losses(a, metric), self.losses(b, metric)
        with np.errstate(invalid="ignore"):  # infinite minus infinite
            gap = first - second
            mean = float(np.average(gap, weights=self.weight))
            _, block = np.unique(self.period, return_inverse=True)
            sums = np.bincount(block, self.weight * (gap - mean))
        n_blocks = len(sums)
        error = float("nan")
        if n_blocks > 1:
            scale = (1 + self.overlap) * n_blocks / (n_blocks - 1)
            error = float(np.sqrt(scale * (sums**2).sum()) / self.weight.sum())
        return ForwardDifference(mean, error, n_blocks)

    def __str__(self) -> str:
        cells = [["", *(_HEADINGS[name] for name in METRICS)], *self._cells()]
        first, *others = zip(*cells, strict=True)
        columns = [_padded(first, str.ljust), *(_padded(c, str.rjust) for c in others)]
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        return "\n".join([*self.heading(), "", *lines])

    def __rich__(self) -> Group:
        """Show the table in the terminal."""
        table = Table()
        table.add_column("model")
        for name in METRICS:
            table.add_column(_HEADINGS[name], justify="right")
        for row in self._cells():
            table.add_row(*map(Text, row))
        return Group(*map(Text, self.heading()), table)

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())

    def _cells(self) -> list[list[str]]:
        cells = []
        for row in self.table.iter_rows(named=True):
            values = (row[name] for name in METRICS)
            numbers = ("–" if value is None else f"{value:.4f}" for value in values)
            cells.append([str(row["model"]), *numbers])
        return cells

    def heading(self) -> list[str]:
        """Say which rows were held out, and how.

        Returns
        -------
        list of str
        """
        blocks = self.by_split.filter(pl.col("model") == self.table["model"][0])
        n_test, n_unseen = self.table["n_test"][0], self.table["n_unseen"][0]
        if self.note:
            lines = [f"{n_test:,} rows, {self.note}"]
        else:
            first = readable_period(blocks["first"][0])
            last = readable_period(blocks["last"][-1])
            lines = [
                f"{n_test:,} rows of {len(blocks)} block{'s' * (len(blocks) != 1)}, "
                f"from {first} to {last}, each predicted from what was before its "
                "block."
            ]
        if n_unseen:
            lines.append(
                f"Left out: {n_unseen:,} row{'s' * (n_unseen != 1)} with an item that "
                "had not been seen before."
            )
        return lines


def _padded(cells: Sequence[str], pad: Callable[[str, int], str]) -> list[str]:
    width = max(map(len, cells))
    return [pad(cell, width) for cell in cells]


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Scores of every combination of a grid.

    Attributes
    ----------
    table : polars.DataFrame
        One row per combination, in grid order: its parameters, ``score`` (the mean over
        splits), ``spread`` (standard deviation over splits), ``place`` (1 is best),
        ``converged``, and ``split_0``, ``split_1``, ….
    best_params_, best_score_ : dict, float
        The first of the best combinations in grid order, and its score. The best of
        many scores is optimistic: it was chosen for its luck too.
    corrected_score : float
        An estimate of the score of the choice on new data, the number to report, see
        Notes. At most ``best_score_``; NaN with a single split, as of a validation set,
        unless there was nothing to choose.
    best_estimator_ : estimator or None
        Fitted with ``best_params_`` on all training data, unless ``refit=False``.
    scoring : str
        Name of the metric; greater is better.

    Notes
    -----
    With s_k(j) the score of combination j on split k, the choice is repeated without
    each set P of two splits (of one, if there are fewer than four), and scored on P::

        corrected = mean over P of mean_{k∈P} s_k(j_P),  j_P = argmax_j Σ_{k∉P} s_k(j).

    This needs no further fits and holds for every metric. Errors in simulations, as
    estimate minus score on new data: for 20 equally good settings with an accuracy of
    .8 on 100 rows in 5 folds, +.070 of the best and -.002 corrected; for grids of
    `SVMCompare` on 80, 200 (5 folds) and 100 comparisons (10 folds), +.019, +.006 and
    +.016 of the best, -.003, -.007 and .000 corrected (± .005 by simulation). A single
    corrected score scatters about as much as a single best score.

    The correction of Tibshirani and Tibshirani (2009), the mean over splits of
    max_j s_k(j) - s_k(best), depends on the number of splits: +.014 for 3, -.045 for 10
    splits of 200 rows with equally good settings. The bootstrap of Tsamardinos,
    Greasidou and Borboudakis (2018) is as unbiased and scatters less, but needs a loss
    of every row, which a rank correlation, AUC or NDCG does not have.
    """

    table: pl.DataFrame
    best_params_: dict[str, Any]
    best_score_: float
    corrected_score: float
    best_estimator_: Any
    scoring: str

    def __getattr__(self, name: str) -> Any:
        if name not in _OLD_NAMES:
            raise AttributeError(f"'TuneResult' object has no attribute {name!r}")
        warn_user(
            f"TuneResult.{name} is {_OLD_NAMES[name]} since version 0.2; the old name "
            "will be removed in 0.3.",
            FutureWarning,
        )
        return getattr(self, _OLD_NAMES[name])

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
        """Make the table.

        Parameters
        ----------
        candidates, scores, converged : list of dict, ndarray of shape (n, n_splits)
            The combinations, and what was found of each on every split.
        best, best_model, scoring : int, estimator or None, str
            The number of the choice, its model, and the name of the metric.

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
        with np.errstate(invalid="ignore"):  # infinite losses
            spread = scores.std(axis=1)
        columns |= {"score": mean, "spread": spread, "place": place}
        columns["converged"] = converged.all(axis=1)
        columns |= {f"split_{k}": scores[:, k] for k in range(scores.shape[1])}
        choice, score = dict(candidates[best]), float(mean[best])
        corrected = _correct_score(scores)
        return cls(pl.DataFrame(columns), choice, score, corrected, best_model, scoring)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{k}={_short(v)}" for k, v in self.best_params_.items())
        score = f"{self.best_score_:.4g}"
        if np.isfinite(self.corrected_score):
            score = f"{self.corrected_score:.4g} (uncorrected {score})"
        return (
            f"TuneResult({chosen}: {self.scoring} {score}, best of {len(self.table)})"
        )

    def __rich__(self) -> Group:
        """Show the best combinations in the terminal."""
        names = self.table.columns[: self.table.columns.index("converged")]
        best = self.table.sort("place", maintain_order=True).head(_SHOWN)
        more = len(self.table) - len(best)
        table = Table(caption=f"and {more} more combinations" if more else None)
        for name in names:
            number = self.table[name].dtype.is_numeric()
            table.add_column(Text(name), justify="right" if number else "left")
        for *params, score, spread, place in best.select(names).iter_rows():
            cells = ["–" if value is None else label_value(value) for value in params]
            table.add_row(
                *map(Text, cells), f"{score:.4f}", f"{spread:.4f}", f"{place}"
            )
        return Group(Text(repr(self)), table)

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())

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
            with the best score over the others. The choice is framed, or has a ring.
        """
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.8), layout="constrained")
        axes = figure.add_subplot()
        names = varying_parameters(self.table)
        metric = self.scoring
        known = metric in scorer_names()
        if known and not getattr(get_scorer(metric), "greater_is_better", True):
            metric = f"minus {metric} (higher is better)"
        draw_grid(axes, self, names=names, metric=metric)
        axes.tick_params(axis="x", rotation=45)
        chosen, rest = (
            ", ".join(f"{n} = {label_value(self.best_params_[n])}" for n in some)
            for some in (names[:2], names[2:])
        )
        others = f"\n(each cell: best over the others, here {rest})" if rest else ""
        title = f"Best: {chosen or 'the only combination'}{others}"
        axes.set_title(title, fontsize=11)
        if path is not None:
            target = Path(path)
            with atomic_path(target) as temporary:
                figure.savefig(temporary, format=target.suffix.lower().lstrip("."))
        return figure


def _correct_score(scores: NDArray[np.float64]) -> float:
    """Return the mean score of choices on splits that played no part in them."""
    n_splits = scores.shape[1]
    if len(scores) == 1:
        return float(scores.mean())
    # A combination without a score on some split could not have been chosen.
    kept = scores[np.isfinite(scores).all(axis=1)]
    if n_splits == 1 or len(kept) == 0:
        return float("nan")
    total, held_out = kept.sum(axis=1), []
    for left_out in combinations(range(n_splits), 2 if n_splits > 3 else 1):
        aside = kept[:, left_out]
        held_out.append(aside[(total - aside.sum(axis=1)).argmax()].mean())
    return float(np.mean(held_out))


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


# Okabe and Ito's blue and orange, and grey.
_LINE, _RING, _GRID = "#0072b2", "#d55e00", "#767676"


def varying_parameters(table: pl.DataFrame) -> list[str]:
    """Name the parameters that have more than one value in the table of a search."""
    fixed = ("score", "spread", "place", "converged")
    names = [n for n in table.columns if n not in fixed and not n.startswith("split_")]
    return [name for name in names if table[name].n_unique() > 1]


def grid_values(table: pl.DataFrame, name: str) -> list[Any]:
    """Give the values of a parameter, sorted if they are numbers."""
    column = table[name].unique(maintain_order=True)
    return (column.sort() if column.dtype.is_numeric() else column).to_list()


def label_value(value: Any) -> str:
    """Write the value of a parameter."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _index(values: list[Any], value: Any) -> int:
    """Find a value; what a table cannot hold is there as text."""
    return values.index(value) if value in values else values.index(str(value))


def draw_grid(
    axes: Any,
    result: TuneResult,
    *,
    names: list[str],
    metric: str,
    sign: float = 1.0,
    label: Callable[[Any], str] = label_value,
    paint: Callable[..., None] | None = None,
) -> None:
    """Draw scores over the first two parameters that vary, or `sign` times over one.

    ``paint(axes, scores)`` fills the cells, where -inf is no score.
    """
    columns = varying_parameters(result.table)
    if len(columns) >= 2:
        _draw_cells(axes, result, columns, label, metric, paint)
        axes.set(xlabel=names[0], ylabel=names[1])
        return
    name = columns[0] if columns else result.table.columns[0]
    _draw_curve(axes, result, name, label, sign)
    axes.set(xlabel=names[0] if names else name, ylabel=metric)


def _draw_cells(
    axes: Any,
    result: TuneResult,
    columns: list[str],
    label: Callable[[Any], str],
    metric: str,
    paint: Callable[..., None] | None,
) -> None:
    from matplotlib.patches import Rectangle

    across, down = columns[:2]
    xs, ys = grid_values(result.table, across), grid_values(result.table, down)
    scores = np.full((len(ys), len(xs)), -np.inf)
    for a, b, score in result.table.select(across, down, "score").iter_rows():
        i, j = ys.index(b), xs.index(a)
        if score is not None and score > scores[i, j]:
            scores[i, j] = score
    if paint is None:
        finite = np.where(np.isfinite(scores), scores, np.nan)
        picture = axes.imshow(finite, aspect="auto", cmap="cividis")
        axes.get_figure().colorbar(picture, ax=axes).set_label(metric)
    else:
        paint(axes, scores)
    best = result.best_params_
    i, j = _index(ys, best.get(down)), _index(xs, best.get(across))
    frame = Rectangle((j - 0.47, i - 0.47), 0.94, 0.94, fill=False, ec="black", lw=2.0)
    axes.add_artist(frame)
    axes.set_xlim(-0.5, len(xs) - 0.5)
    axes.set_ylim(len(ys) - 0.5, -0.5)
    axes.set_xticks(np.arange(len(xs)), [label(v) for v in xs], fontsize=8)
    axes.set_yticks(np.arange(len(ys)), [label(v) for v in ys], fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_curve(
    axes: Any, result: TuneResult, name: str, label: Callable[[Any], str], sign: float
) -> None:
    values = grid_values(result.table, name)
    score, spread = [], []
    for value in values:
        of_value = result.table.filter(pl.col(name).eq_missing(value))
        best = of_value.sort("score", descending=True, nulls_last=True)
        score.append(sign * best["score"][0])
        spread.append(best["spread"][0])
    places, error = np.arange(len(values)), np.array(spread, dtype=np.float64)
    bars = error if error.any() else None
    axes.errorbar(places, score, yerr=bars, color=_LINE, marker="o", capsize=3)
    at = _index(values, result.best_params_.get(name))
    axes.plot(at, score[at], "o", ms=13, mfc="none", mec=_RING, mew=2.0)
    axes.set_xticks(places, [label(value) for value in values])
    axes.grid(color=_GRID, alpha=0.3, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def score_rows(
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64],
    predicted: NDArray[Any],
    proba: NDArray[np.float64] | None,
) -> dict[str, float | None]:
    """Compute all metrics of some rows."""
    scores: dict[str, float | None] = dict.fromkeys(METRICS)
    if len(outcome) == 0:
        return scores
    scores["accuracy"] = comparison_accuracy(outcome, predicted, weight)
    if proba is not None:
        found = probability_scores(outcome, proba, weight)
        scores |= zip(METRICS[1:], found, strict=True)
    return scores


@dataclass(frozen=True, eq=False)
class ForwardColumns:
    """Row-aligned columns, as given."""

    period: Any
    advantage: Any  # one for all models, or a mapping for models by name
    context: Any
    rater: Any
    sample_weight: Any

    def check(self, models: dict[str, Any], n_rows: int) -> None:
        """Refuse columns of another length, and such that no model takes."""
        for name in ("advantage", "context", "rater"):
            given = getattr(self, name)
            if isinstance(given, Mapping):
                if name != "advantage":
                    raise TypeError(f"{name} must be one column, got a dictionary.")
                _check_by_model(given, models, n_rows)
            elif given is not None:
                _check_length(given, name, n_rows)
                if not any(fit_names(model, name) for model in models.values()):
                    raise ValueError(
                        f"{name} is given, but no model takes it in fit. Leave it out, "
                        f"or add a model that learns from {name}."
                    )

    def of(
        self, method: Any, model: str, rows: NDArray[np.int64], names: tuple[str, ...]
    ) -> dict[str, Any]:
        """Give the columns that a method of a model takes, for some rows."""
        taken: dict[str, Any] = {}
        for name in names:
            values = getattr(self, name)
            if isinstance(values, Mapping):
                values = values.get(model)
            keys = _keys(method, name)
            if values is None or not keys:
                continue
            if not isinstance(values, Real):
                values = _safe_indexing(values, rows)
            taken |= dict.fromkeys(keys, values)
        return taken


def _check_by_model(
    advantage: Mapping[str, Any], models: dict[str, Any], n_rows: int
) -> None:
    for key, values in advantage.items():
        if key not in models:
            known = ", ".join(map(repr, models))
            raise ValueError(
                f"advantage is given for {key!r}, which is not among the models: "
                f"{known}."
            )
        if not _takes(models[key].fit, "advantage"):
            raise ValueError(
                f"advantage is given for {key!r}, which takes none in fit."
            )
        _check_length(values, "advantage", n_rows)


def fit_names(model: Any, column: str) -> list[str]:
    """Give the names under which the fit of a model takes a column."""
    return _keys(model.fit, column)


def _keys(method: Any, name: str) -> list[str]:
    if _takes(method, name):
        return [name]
    pipeline: Any = getattr(method, "__self__", None)
    into_steps = name in ("sample_weight", "rater")
    if not into_steps or not is_pipeline(pipeline):
        return []
    steps = pipeline.steps
    if method.__name__ != "fit":  # of which only the last step gets arguments
        return [name] if _takes(getattr(steps[-1][1], method.__name__), name) else []
    return [f"{step}__{name}" for step, part in steps if _takes(part.fit, name)]


def _takes(method: Any, name: str) -> bool:
    return name in signature(method).parameters


def _check_length(values: Any, name: str, n_rows: int) -> None:
    if isinstance(values, Real):
        return
    length = values.shape[0] if hasattr(values, "shape") else len(values)
    if length != n_rows:
        raise ValueError(
            f"{name} has {length} values but there are {n_rows} rows; they must be as "
            "many."
        )
