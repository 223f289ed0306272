# SPDX-License-Identifier: BSD-3-Clause
"""How well models foretold results: tables, rows, and differences with errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from tiebreak.data.columns import readable_period
from tiebreak.metrics import (
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    ranked_probability_score,
)

Metric = Literal["accuracy", "log_loss", "brier", "rps"]
METRICS: tuple[Metric, ...] = ("accuracy", "log_loss", "brier", "rps")
_HEADINGS = {"accuracy": "accuracy", "log_loss": "log loss", "brier": "Brier"}
_HEADINGS["rps"] = "RPS"


@dataclass(frozen=True)
class ForwardDifference:
    """A difference of two models on the same rows.

    Attributes
    ----------
    mean : float
        Weighted mean over rows of the first model's metric minus the second's.
    standard_error : float
        Of the mean, rows of a period taken together; NaN for a single period.
    n_periods : int
        How many periods there are.
    """

    mean: float
    standard_error: float
    n_periods: int


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """How well models foretold the rows of later periods.

    All m rows that are evaluated are foretold by every model, from earlier periods
    only. Metrics are weighted means over rows.

    Attributes
    ----------
    table : polars.DataFrame
        One row per model, and one for ``"shares"``, which foretells every row with the
        shares of left, tie and right in the training rows. ``n_test`` rows are
        evaluated; ``n_unseen`` rows are left out for all models alike, because they
        have an item that was not seen before and not every model can do without.
        ``accuracy`` (more is better) is of what ``predict`` says; ``log_loss``,
        ``brier`` and ``rps`` (less is better) are of ``predict_proba``, null for models
        without it.
    by_split : polars.DataFrame
        The same for every block, with its number ``split``, its ``first`` and ``last``
        period and ``n_train``, the number of rows trained on.
    row : ndarray of int64 of shape (m,)
        Row numbers, in order of time.
    split : ndarray of int64 of shape (m,)
        The block of each.
    period : ndarray of int64 of shape (m,)
        Number of the period of each, in order of time.
    outcome : ndarray of int8 of shape (m,)
        What happened.
    weight : ndarray of float64 of shape (m,)
        Weights.
    predicted : dict of str to ndarray of shape (m,)
        Outcomes that each model predicted.
    proba : dict of str to ndarray of shape (m, 3)
        Probabilities of left, tie and right, of the models that give them.
    note : str
        How rows were held out, where it was not by period.
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

    def losses(self, model: str, metric: Metric = "log_loss") -> NDArray[np.float64]:
        """Give the metric of every row.

        Parameters
        ----------
        model : str
            Name of the model.
        metric : {"accuracy", "log_loss", "brier", "rps"}, default="log_loss"
            Which; the accuracy of a row is 1 or 0.

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

            B / (B - 1) · Σ_b (Σ_{i∈b} wᵢ (dᵢ - D))² / (Σᵢ wᵢ)²,

        a sum over the B periods, because rows of the same period may depend on each
        other.

        Parameters
        ----------
        a, b : str
            Names of models, or ``"shares"``.
        metric : {"accuracy", "log_loss", "brier", "rps"}, default="log_loss"
            Which. Negative differences speak for `a`, except of the accuracy.

        Returns
        -------
        ForwardDifference
            The mean, its standard error, and the number of periods. Not a number
            where both models called impossible what happened.
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
            scale = n_blocks / (n_blocks - 1)
            error = float(np.sqrt(scale * (sums**2).sum()) / self.weight.sum())
        return ForwardDifference(mean, error, n_blocks)

    def __str__(self) -> str:
        cells = [["", *(_HEADINGS[name] for name in METRICS)], *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [
                    cell.rjust(width)
                    for cell, width in zip(row[1:], widths[1:], strict=True)
                ]
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*self.heading(), "", *lines])

    def __rich__(self) -> Group:
        """Show the table in the terminal.

        Returns
        -------
        rich.console.Group
        """
        table = Table()
        table.add_column("model")
        for name in METRICS:
            table.add_column(_HEADINGS[name], justify="right")
        for row in self._cells():
            table.add_row(*map(Text, row))
        return Group(*map(Text, self.heading()), table)

    def _cells(self) -> list[list[str]]:
        return [
            [
                str(row["model"]),
                *("–" if row[name] is None else f"{row[name]:.4f}" for name in METRICS),
            ]
            for row in self.table.iter_rows(named=True)
        ]

    def heading(self) -> list[str]:
        """Say which rows were held out, and how.

        Returns
        -------
        list of str
            Sentences.
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
                f"from {first} to {last}, each foretold from what was before its block."
            ]
        if n_unseen:
            lines.append(
                f"Left out: {n_unseen:,} row{'s' * (n_unseen != 1)} with an item that "
                "had not been seen before."
            )
        return lines


def score_rows(
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64],
    predicted: NDArray[Any],
    proba: NDArray[np.float64] | None,
) -> dict[str, float | None]:
    """Compute all metrics of some rows.

    Parameters
    ----------
    outcome : ndarray of int8 of shape (n,)
        What happened.
    weight : ndarray of float64 of shape (n,)
        Weights.
    predicted : ndarray of shape (n,)
        Predicted outcomes.
    proba : ndarray of shape (n, 3) or None
        Predicted probabilities.

    Returns
    -------
    dict
        Metrics by name; None for those of probabilities that are not there, and for
        all when there is no row.
    """
    if len(outcome) == 0:
        return dict.fromkeys(METRICS)
    scores: dict[str, float | None] = dict.fromkeys(METRICS)
    scores["accuracy"] = 1.0 - comparison_error(
        outcome, predicted, sample_weight=weight
    )
    if proba is not None:
        scores["log_loss"] = comparison_log_loss(outcome, proba, sample_weight=weight)
        scores["brier"] = comparison_brier(outcome, proba, sample_weight=weight)
        scores["rps"] = ranked_probability_score(outcome, proba, sample_weight=weight)
    return scores


@dataclass(frozen=True, eq=False)
class ForwardColumns:
    """Row-aligned columns, as given.

    Attributes
    ----------
    period, context, rater, sample_weight : array-like of n rows, or None
        The columns.
    advantage : float, array-like of shape (n,), mapping of str to these, or None
        For all models, or for models by name.
    """

    period: Any
    advantage: Any
    context: Any
    rater: Any
    sample_weight: Any

    def check(self, models: dict[str, Any], n_rows: int) -> None:
        """Refuse columns of another length, and such that no model takes.

        Parameters
        ----------
        models : dict of str to estimator
            The models.
        n_rows : int
            n.
        """
        for name in ("advantage", "context", "rater"):
            given = getattr(self, name)
            if isinstance(given, Mapping):
                self._check_by_model(name, given, models, n_rows)
            elif given is not None:
                _check_length(given, name, n_rows)
                if not any(_takes(model.fit, name) for model in models.values()):
                    raise ValueError(
                        f"{name} is given, but no model takes it in fit. Leave it out, "
                        f"or add a model that learns from {name}."
                    )

    def _check_by_model(
        self,
        name: str,
        given: Mapping[str, Any],
        models: dict[str, Any],
        n_rows: int,
    ) -> None:
        if name != "advantage":
            raise TypeError(f"{name} must be one column, got a dictionary.")
        for key, values in given.items():
            if key not in models:
                known = ", ".join(map(repr, models))
                raise ValueError(
                    f"advantage is given for {key!r}, which is not among the models: "
                    f"{known}."
                )
            if not _takes(models[key].fit, name):
                raise ValueError(
                    f"advantage is given for {key!r}, which takes none in fit."
                )
            _check_length(values, name, n_rows)

    def of(
        self, method: Any, model: str, rows: NDArray[np.int64], names: tuple[str, ...]
    ) -> dict[str, Any]:
        """Give the columns that a method of a model takes, for some rows.

        Parameters
        ----------
        method : callable
            Such as ``fit``; it takes a column if it names it among its parameters.
        model : str
            Name of the model.
        rows : ndarray of int64
            Which rows.
        names : tuple of str
            The columns to look at.

        Returns
        -------
        dict
            Keyword arguments for the method.
        """
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


def fit_names(model: Any, column: str) -> list[str]:
    """Give the names under which the fit of a model takes a column.

    Parameters
    ----------
    model : estimator
        The model.
    column : str
        Such as ``"sample_weight"``.

    Returns
    -------
    list of str
        Empty if it does not take the column. A pipeline gives weights to every step
        that takes them.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tiebreak import LogisticCompare, OnItems
    >>> fit_names(LogisticCompare(), "sample_weight")
    ['sample_weight']
    >>> model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    >>> fit_names(model, "sample_weight")
    ['onitems__sample_weight', 'logisticcompare__sample_weight']
    """
    return _keys(model.fit, column)


def _keys(method: Any, name: str) -> list[str]:
    if _takes(method, name):
        return [name]
    pipeline = getattr(method, "__self__", None)
    if name != "sample_weight" or not isinstance(pipeline, Pipeline):
        return []
    return [
        f"{step}__{name}" for step, part in pipeline.steps if _takes(part.fit, name)
    ]


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
