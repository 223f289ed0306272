# SPDX-License-Identifier: BSD-3-Clause
"""Old comparisons count less: weights by age, and the half-life that predicts best.

The weights are in `BradleyTerry`; T is the latest period of the rows that are present.
No row counts less than 2⁻⁶⁰, so that no item is forgotten.
"""

import warnings
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from tiebreak.data import Pairs
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import plain_values
from tiebreak.models.covariates import check_row_column
from tiebreak.ratings.named_results import (
    Results,
    as_times,
    check_row_periods,
    read_duration,
)

_LARGEST_AGE = 60.0  # half-lives
_BLOCKS = 5
# Half-lives that are tried, as multiples of the time from first to last.
_TRIED = 2.0 ** np.arange(-7, 2)
_CLEAR = 0.99
_PENALTIES = (0.1, 0.5, 2.5)  # α that are tried with them


def recency_weights(
    model: Any, results: Results, covariates: Floats, period: ArrayLike | None
) -> tuple[Floats, float, float | str]:
    """Give the weights of the present rows by age, the half-life (inf: none) and α.

    Covariates (m, q) are of the m present rows, `period` is of all n rows.
    """
    if model.half_life is None:
        if period is not None:  # also where it has no influence it must fit the rows
            check_row_column(period, "period", results.n_rows)
        return results.weight, np.inf, model.alpha
    half_life, in_days = None, False
    if model.half_life != "auto":
        half_life, in_days = read_duration(model.half_life, "half_life")
    if period is None:
        raise ValueError(
            f"{type(model).__name__} got half_life={model.half_life!r} but no times; "
            "expected fit(..., period=...) with a number or date for each row."
        )
    times = results.take(_measure(period, results.n_rows, in_days, model.half_life))
    alpha = model.alpha
    if half_life is None:
        half_life, alpha = _learn(model, results, covariates, times)
    return results.weight * _fade(times, half_life), half_life, alpha


def _measure(period: ArrayLike, n_rows: int, in_days: bool, half_life: Any) -> Floats:
    column = check_row_periods(period, n_rows)
    if column.dtype.kind == "U":
        raise TypeError(
            "half_life needs numbers or dates (2024-05-31) as period; got the text "
            f"{plain_values(column[:1])[0]!r} at row 0."
        )
    if in_days and column.dtype.kind != "M":
        raise ValueError(
            f"half_life={half_life!r} is a time, but period holds numbers without a "
            "unit; give half_life as a number of them, or period as dates."
        )
    return as_times(column)


def _fade(times: Floats, half_life: float) -> Floats:
    age = (times.max() - times) / half_life
    return np.exp2(-np.minimum(age, _LARGEST_AGE))


def _learn(
    model: Any, results: Results, covariates: Floats, times: Floats
) -> tuple[float, float | str]:
    """Choose the half-life and α with the least log loss, forward in time.

    A half-life must be better than none by more than a standard error.
    """
    order = np.argsort(times, kind="stable")
    n, ordered = len(order), times[order]
    # Periods are not divided: a block begins with the first row of one.
    begins = np.searchsorted(
        ordered, ordered[n * np.arange(1, _BLOCKS + 1) // (_BLOCKS + 1)]
    )
    blocks = []
    for begin, end in pairwise([*np.unique(begins[begins > 0]), n]):
        train, test = order[:begin], order[begin:end]
        seen = np.zeros(len(results.names), dtype=bool)
        seen[results.pairs[train].touched()] = True
        if len(test := test[results.pairs[test].among(seen)]):
            blocks.append((train, test))
    if not blocks:
        raise ValueError(
            "half_life='auto' predicts later rows from earlier ones, and no row has "
            "two items of an earlier block. Give half_life as a number, or None."
        )

    ties = [model.ties] * len(blocks)  # of each, once one of both is clearly better

    @cache
    def losses(half_life: float, alpha: float) -> Floats:
        fresh = clone(model).set_params(half_life=None, alpha=alpha)
        out = []
        for number, (train, test) in enumerate(blocks):
            fresh.set_params(ties=ties[number])
            weight = results.weight[train] * _fade(times[train], half_life)
            pairs, columns = _of_rows(results, covariates, train)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what can be said is said of all rows
                outcome = results.outcome[train]
                fresh.fit(pairs, outcome, sample_weight=weight, **columns)
            clear = fresh.tie_model_probability_ > _CLEAR and model.link != "probit"
            if ties[number] == "auto" and clear:
                ties[number] = fresh.tie_model_
            pairs, columns = _of_rows(results, covariates, test)
            proba = fresh.predict_proba(pairs, **columns)
            happened = proba[np.arange(len(test)), results.outcome[test] + 1]
            # An outcome that was never seen before is impossible for all half-lives.
            happened = np.log(np.maximum(happened, 1e-15))
            out.append(-results.weight[test] * happened)
        return np.concatenate(out)

    # Early rows are few, and without a penalty strengths need not be finite.
    learned = model.alpha == "auto"
    alphas = _PENALTIES if learned else [float(model.alpha) or _PENALTIES[0]]
    tried = [*(_TRIED * (ordered[-1] - ordered[0])).tolist(), np.inf]
    none, best = (
        min(((h, a) for h in some for a in alphas), key=lambda one: losses(*one).sum())
        for some in (tried[-1:], tried[::-1])
    )
    gain = losses(*none) - losses(*best)
    if gain.sum() <= np.sqrt(len(gain)) * gain.std():
        return np.inf, model.alpha
    return best[0], best[1] if learned else model.alpha


def _of_rows(
    results: Results, covariates: Floats, rows: Codes
) -> tuple[Pairs, dict[str, Floats]]:
    """Give some comparisons, and their covariates as context."""
    columns = {"context": covariates[rows]} if covariates.shape[1] else {}
    return results.pairs[rows], columns
