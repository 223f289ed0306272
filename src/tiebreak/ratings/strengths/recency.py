# SPDX-License-Identifier: BSD-3-Clause
"""Old comparisons count less: weights by age, and the half-life that predicts best.

The weights are in `BradleyTerry`; T is the latest period of the rows that are present.
No row counts less than 2⁻⁶⁰, so that no item is forgotten.
"""

from __future__ import annotations

import re
import warnings
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from tiebreak.data import Pairs
from tiebreak.data.columns import plain_values
from tiebreak.models.covariates import check_row_column
from tiebreak.ratings.named_results import Results, check_row_periods

Floats = NDArray[np.float64]

_DAYS = {"d": 1.0, "w": 7.0, "m": 365.25 / 12, "y": 365.25}
_TEXT = re.compile(r"(\d+\.?\d*|\.\d+)\s*([dwmy])")
_LARGEST_AGE = 60.0  # half-lives
_BLOCKS = 5
# Half-lives that are tried, as multiples of the time from first to last.
_TRIED = 2.0 ** np.arange(-7, 2)
_PENALTY = 0.1
_CLEAR = 0.99


def recency_weights(
    model: Any, results: Results, covariates: Floats, period: ArrayLike | None
) -> tuple[Floats, float]:
    """Give the weights of the present rows by age, and the half-life (inf: none).

    Covariates (m, q) are of the m present rows, `period` is of all n rows.
    """
    if model.half_life is None:
        if period is not None:  # also where it has no influence it must fit the rows
            check_row_column(period, "period", results.n_rows)
        return results.weight, np.inf
    half_life, in_days = read_half_life(model.half_life)
    if period is None:
        raise ValueError(
            f"{type(model).__name__} got half_life={model.half_life!r} but no times; "
            "expected fit(..., period=...) with a number or date for each row."
        )
    times = results.take(_measure(period, results.n_rows, in_days, model.half_life))
    if half_life is None:
        half_life = _learn(model, results, covariates, times)
    return results.weight * _fade(times, half_life), half_life


def read_half_life(value: Any) -> tuple[float | None, bool]:
    """A half-life as a number, None for "auto", and whether it is in days."""
    if isinstance(value, str) and value == "auto":
        return None, False
    if isinstance(value, str):
        time = _TEXT.fullmatch(value.strip().lower())
        if time is not None and float(time[1]) > 0:
            return float(time[1]) * _DAYS[time[2]], True
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0.0 < float(value) < np.inf:
        return float(value), False
    raise ValueError(
        "half_life must be a positive number in units of period (days for dates), a "
        "time such as '5y', '18m', '26w' or '90d' for dates, 'auto' or None; got "
        f"{value!r}."
    )


def _measure(period: ArrayLike, n_rows: int, in_days: bool, half_life: Any) -> Floats:
    column = check_row_periods(period, n_rows)
    if column.dtype.kind == "U":
        raise TypeError(
            "half_life needs numbers or dates as period; got the text "
            f"{plain_values(column[:1])[0]!r} at row 0."
        )
    if column.dtype.kind == "M":
        return (column - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    if in_days:
        raise ValueError(
            f"half_life={half_life!r} is a time, but period holds numbers without a "
            "unit; give half_life as a number of them, or period as dates."
        )
    return column.astype(np.float64)


def _fade(times: Floats, half_life: float) -> Floats:
    age = (times.max() - times) / half_life
    return np.exp2(-np.minimum(age, _LARGEST_AGE))


def _learn(model: Any, results: Results, covariates: Floats, times: Floats) -> float:
    """Choose the half-life with the least log loss, forward in time.

    Six blocks have about equal numbers of rows. Rows with a new item are left out.
    """
    order = np.argsort(times, kind="stable")
    n, ordered = len(order), times[order]
    # Periods are not divided: a block begins with the first row of one.
    begins = np.searchsorted(
        ordered, ordered[n * np.arange(1, _BLOCKS + 1) // (_BLOCKS + 1)]
    )
    tried = [*(_TRIED * (ordered[-1] - ordered[0])).tolist(), np.inf]
    losses, n_rows = np.zeros(len(tried)), 0
    fresh = clone(model).set_params(half_life=None)
    if not isinstance(model.alpha, Real) or model.alpha == 0:
        # Early rows are few, and then strengths need not be finite.
        fresh.set_params(alpha=_PENALTY)
    for begin, end in pairwise([*np.unique(begins[begins > 0]), n]):
        train, test = order[:begin], order[begin:end]
        seen = np.zeros(len(results.names), dtype=bool)
        seen[results.pairs[train].touched()] = True
        test = test[results.pairs[test].among(seen)]
        n_rows += len(test)
        fresh.set_params(ties=model.ties)
        # The longest first: most results say which model of ties is clearly the better
        # one, which the others of the block then take.
        for k, half_life in [*enumerate(tried)][::-1] if len(test) else []:
            weight = results.weight[train] * _fade(times[train], half_life)
            pairs, columns = _of_rows(results, covariates, train)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what can be said is said of all rows
                outcome = results.outcome[train]
                fresh.fit(pairs, outcome, sample_weight=weight, **columns)
            clear = fresh.tie_model_probability_ > _CLEAR
            if fresh.ties == "auto" and model.link != "probit" and clear:
                fresh.set_params(ties=fresh.tie_model_)
            pairs, columns = _of_rows(results, covariates, test)
            proba = fresh.predict_proba(pairs, **columns)
            happened = proba[np.arange(len(test)), results.outcome[test] + 1]
            # An outcome that was never seen before is impossible for all half-lives.
            happened = np.log(np.maximum(happened, 1e-15))
            losses[k] -= float(results.weight[test] @ happened)
    if n_rows == 0:
        raise ValueError(
            "half_life='auto' predicts later rows from earlier ones, and no row has "
            "two items of an earlier block. Give half_life as a number, or None."
        )
    return tried[int(losses.argmin())]


def _of_rows(
    results: Results, covariates: Floats, rows: NDArray[np.int64]
) -> tuple[Pairs, dict[str, Floats]]:
    """Give some comparisons, and their covariates as context."""
    columns = {"context": covariates[rows]} if covariates.shape[1] else {}
    return results.pairs[rows], columns
