# SPDX-License-Identifier: BSD-3-Clause
"""Results of evaluations and searches: tables, rows and differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text
from scipy.special import stdtrit
from sklearn.pipeline import Pipeline

from tiebreak.data.columns import readable_period
from tiebreak.data.markup import results_html, results_text
from tiebreak.data.messages import noun, plural
from tiebreak.metrics import comparison_accuracy
from tiebreak.metrics.comparison_metrics import probability_scores, row_losses
from tiebreak.metrics.scorers import metric_words
from tiebreak.models.covariates import check_level
from tiebreak.ratings.leaderboard_table import text_table

Metric = Literal["accuracy", "log_loss", "brier", "rps"]
METRICS: tuple[Metric, ...] = ("accuracy", "log_loss", "brier", "rps")
_SHOWN = 20  # combinations of a search; all are in its table


@dataclass(frozen=True)
class ForwardDifference:
    """A difference of two models on the same rows.

    Attributes
    ----------
    mean, standard_error : float
        Weighted mean over rows of the first model's metric minus the second's, and its
        standard error clustered by period; NaN for a single period.
    n_periods : int
        Number of periods, or of raters, groups, folds or rows in their place.
    """

    mean: float
    standard_error: float
    n_periods: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Give the mean ± t · standard error, t of n_periods - 1 degrees of freedom.

        Parameters
        ----------
        level : float, default=0.95
            Its confidence.

        Returns
        -------
        tuple of float
        """
        check_level(level)
        half = float(stdtrit(self.n_periods - 1, (1 + level) / 2)) * self.standard_error
        return self.mean - half, self.mean + half


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """How well models predicted held-out rows; metrics are weighted means over rows.

    Attributes
    ----------
    table : polars.DataFrame
        One row per model, and one for ``"baseline"``, the frequencies of left, tie and
        right in the training rows. ``n_test`` rows are evaluated; ``n_unseen`` are left
        out for an unseen item. ``accuracy`` is of ``predict``; ``log_loss``, ``brier``
        and ``rps`` are of ``predict_proba``, or null.
    by_split : polars.DataFrame
        The same for every block ``split``, with its ``first`` and ``last`` period and
        ``n_train``, the number of training rows.
    row, split, period : ndarray of int64 of shape (m,)
        Row numbers in order of time, and the block and period number of each.
    outcome, weight : ndarray of int8 and of float64, of shape (m,)
        What happened, and weights.
    predicted, proba : dict of str to ndarray of shape (m,) and (m, 3)
        Outcomes and, where available, probabilities that each model predicted.
    note : str
        How rows were held out, if not by period.
    overlap : float
        See `difference`.
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
            Name of the model, and of the metric.

        Returns
        -------
        ndarray of shape (m,)
            Its weighted mean is the number in `table`.
        """
        for name, known in ((metric, METRICS), (model, self.predicted)):
            if name not in known:
                raise ValueError(f"expected one of {', '.join(known)}; got {name!r}.")
        if metric == "accuracy":
            return (self.predicted[model] == self.outcome).astype(np.float64)
        if model not in self.proba:
            raise ValueError(
                f"{model!r} gives no probabilities, so it has no {metric}."
            )
        return row_losses(metric, self.outcome, self.proba[model])

    def difference(
        self, a: str, b: str, metric: Metric = "log_loss"
    ) -> ForwardDifference:
        """Compare two models on the same rows.

        With d the difference of a row, w its weight and D the weighted mean of d over
        all rows, the squared standard error of D is ::

            (1 + overlap) · B / (B - 1) · Σ_b (Σ_{i∈b} wᵢ (dᵢ - D))² / (Σᵢ wᵢ)²,

        a sum over the B periods, whose rows may depend on each other.

        The factor 1 + overlap allows for other training rows (Nadeau and Bengio, 2003).
        For k folds overlap = k · n_test / n_train, forward in time n_test / n_train of
        a mean block.

        Parameters
        ----------
        a, b : str
            Names of models, or ``"baseline"``.
        metric : {"accuracy", "log_loss", "brier", "rps"}, default="log_loss"
            Negative differences favor `a`, except of the accuracy.

        Returns
        -------
        ForwardDifference
            NaN where both models gave probability 0 to what happened.
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
        return results_text(self, 100)

    def __rich__(self) -> Group:
        """Show the table in the terminal."""
        rows = self.table.select("model", *METRICS).iter_rows()
        return Group(*map(Text, self.heading()), metrics_table(METRICS, rows))

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())

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
                f"{n_test:,} rows in {plural(len(blocks), 'block')} from {first} to "
                f"{last}, each block predicted from earlier rows."
            ]
        if n_unseen:
            lines.append(
                f"Left out: {plural(n_unseen, 'row')} of unseen {noun('items')}."
            )
        return lines


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Scores of every combination of a grid.

    Attributes
    ----------
    table : polars.DataFrame
        One row per combination, in grid order: its parameters, ``score`` and ``spread``
        (mean and standard deviation over splits), ``place`` (1 is best), ``converged``,
        and ``split_0``, ``split_1``, ….
    best_params_, best_score_ : dict, float
        The first of the best combinations in grid order, and its score, which is
        optimistic.
    corrected_score : float
        An estimate of the score on new data, the number to report, see Notes. At most
        ``best_score_``; NaN with a single split, unless there was nothing to choose.
    best_estimator_ : estimator or None
        Fitted on all training data, unless ``refit=False``.
    scoring : str
        Name of the metric; greater is better.

    Notes
    -----
    With s_k(j) the score of combination j on split k, the choice is repeated without
    each set P of two splits (of one, if there are fewer than four), and scored on P::

        corrected = mean over P of mean_{k∈P} s_k(j_P),  j_P = argmax_j Σ_{k∉P} s_k(j).
    """

    table: pl.DataFrame
    best_params_: dict[str, Any]
    best_score_: float
    corrected_score: float
    best_estimator_: Any
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
        """Make the table from scores and convergence, shape (n, n_splits).

        Parameters
        ----------
        candidates, scores, converged, best, best_model, scoring
            Combinations, their results on every split, and the choice.

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
        rows = []
        for *params, score, spread, place in best.select(names).iter_rows():
            cells = ["–" if v is None else _short(v).strip("'") for v in params]
            rows.append((*cells, f"{score:.4f}", f"{spread:.4f}", place))
        texts = [k for k, n in enumerate(names) if not best[n].dtype.is_numeric()]
        caption = f"and {more} more combinations" if more else None
        return Group(Text(repr(self)), text_table(names, rows, texts, caption=caption))

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())


def _correct_score(scores: NDArray[np.float64]) -> float:
    """Return the mean score of choices on splits not used for them."""
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
    """Keep plain values; others become text."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    kinds = {type(v) for v in plain if v is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if v is None else float(v) for v in plain]
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return plain
    return [None if v is None else str(v) for v in plain]


def metrics_table(metrics: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Make a table for the terminal: models and their metrics."""
    return text_table(
        ["model", *map(metric_words, metrics)],
        (
            [model, *("–" if value is None else f"{value:.4f}" for value in values)]
            for model, *values in rows
        ),
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


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
        probability = probability_scores(outcome, proba, weight)
        scores |= zip(METRICS[1:], probability, strict=True)
    return scores


def parameter_names(method: Any, name: str) -> list[str]:
    """Give the names under which a method takes a column."""
    if _takes(method, name):
        return [name]
    pipeline: Any = getattr(method, "__self__", None)
    into_steps = name in ("sample_weight", "rater", "qid")
    if not into_steps or not isinstance(pipeline, Pipeline):
        return []
    steps = pipeline.steps
    if method.__name__ != "fit":  # of which only the last step gets arguments
        return [name] if _takes(getattr(steps[-1][1], method.__name__), name) else []
    return [f"{step}__{name}" for step, part in steps if _takes(part.fit, name)]


def _takes(method: Any, name: str) -> bool:
    return name in signature(method).parameters
