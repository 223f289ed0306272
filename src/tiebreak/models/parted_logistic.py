# SPDX-License-Identifier: BSD-3-Clause
"""The smooth comparer on data in partitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tiebreak.models.parted import (
    Told,
    ask,
    build_compared,
    check_linear,
    fit_named,
    remember_parted,
    sample_share,
    tell_of_comparisons,
)
from tiebreak.scale import (
    Journey,
    LikelihoodPart,
    Parts,
    SampledLikelihood,
    SummedObjective,
    as_parted,
    open_parts,
)
from tiebreak.solvers import NewtonSolution, minimize_newton

__all__ = ["fit_parted_logistic"]


def fit_parted_logistic(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit :class:`LogisticCompare` where the data are.

    Parameters
    ----------
    model : LogisticCompare
        The model, its parameters checked.
    X : PartedPairs, or collection of Dask of shape (n, 2, n_features)
        Comparisons.
    y, sample_weight : str, collection of Dask or None
        Columns.
    """
    data = as_parted(X)
    if not data.is_pairs:
        raise TypeError(
            f"LogisticCompare learns from comparisons; got {type(X).__name__}. "
            "Expected Pairs(items, left, right), PartedPairs(source, left, right), "
            "or an array, also of Dask, of shape (n, 2, n_features)."
        )
    if fit_named(model, data, y, sample_weight):
        return
    check_linear(model, {"identity": None})
    build = build_compared(LikelihoodPart, data, link=model.link)
    parts = open_parts(data, build, y=y, weight=sample_weight)
    try:
        told = ask(parts)
        tell_of_comparisons(told)
        solution, coef, t = _solve(model, parts, told)
    finally:
        parts.close()
    assert told.totals is not None
    model._warn(bool(told.totals[1] == told.totals.sum()), solution)
    remember_parted(model, told)
    model.__dict__.pop("_stream", None)
    model.coef_ = coef
    model._set_tie(t)
    model.objective_, model.gap_ = solution.value, solution.gap
    model.n_iter_, model.converged_ = solution.n_iter, solution.converged


def _solve(
    model: Any, parts: Parts, told: Told
) -> tuple[NewtonSolution, np.ndarray, float]:
    assert told.totals is not None
    share = float(told.totals[1] / told.totals.sum())
    q, link = told.first.n_features, model._link
    if share == 1.0:
        nothing = np.zeros(q)
        return NewtonSolution(nothing, 0.0, 0.0, 0, True), nothing, math.inf
    # With no ties at all the tie parameter is no variable.
    start, ridge = np.zeros(q), np.full(q, 2.0 * float(model.alpha))
    if share:
        start, ridge = np.append(start, link.start(share)), np.append(ridge, 0.0)
    part = SampledLikelihood(
        parts.each(LikelihoodPart.take, sample_share(told)), model.link
    )
    objective = SummedObjective(
        parts, ridge, sample=part, share=float(told.totals.sum()) / part.total
    )
    journey = Journey(model, told.facts, start)
    solution = minimize_newton(
        objective,
        journey.start,
        tol=model.tol,
        max_iter=int(model.max_iter),
        min_iter=1,
        dense=False,
        precondition=objective.preconditioner,
        watch=journey.watch,
    )
    t = float(solution.x[-1]) if share else link.start(0.0)
    return solution, solution.x[:q], t
