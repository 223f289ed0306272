# SPDX-License-Identifier: BSD-3-Clause
"""Ranking support vector machines on data in partitions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tiebreak.data.threads import one_blas_thread
from tiebreak.models.graded_program import (
    refuse_no_pairs,
    refuse_weights,
    warn_idle_groups,
)
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
from tiebreak.models.primal import PrimalSolution, judge_solution, minimize_smooth
from tiebreak.scale import (
    GradedPart,
    Journey,
    ListedPart,
    MovingPart,
    PartedPairs,
    PartedTable,
    Parts,
    SampledPairs,
    SummedObjective,
    as_parted,
    check_groups,
    join_samples,
    open_parts,
)

__all__ = ["fit_parted_svm"]


def fit_parted_svm(model: Any, X: Any, y: Any, qid: Any, sample_weight: Any) -> None:
    """Fit :class:`RankSVM` where the data are.

    Parameters
    ----------
    model : RankSVM
        The model.
    X : PartedTable, PartedPairs, pattern of files or collection of Dask
        The data.
    y, qid, sample_weight : str, collection of Dask or None
        Columns.
    """
    data = as_parted(X)
    if fit_named(model, data, y, sample_weight):
        return
    check_linear(model, {"loss": "squared_hinge", "pairs_per_item": None})
    if data.is_pairs:
        _fit_compared(model, data, y, sample_weight)
    else:
        assert isinstance(data, PartedTable)
        _fit_graded(model, data, y, qid, sample_weight)


def _fit_graded(
    model: Any, data: PartedTable, y: Any, qid: Any, sample_weight: Any
) -> None:
    build = partial(GradedPart, per_group=model.per_group)
    parts = open_parts(data, build, y=y, qid=qid, weight=sample_weight)
    told = ask(parts)
    facts = told.facts
    check_groups(facts, parts)
    n_pairs = sum(fact.n_pairs for fact in facts)
    n_groups = sum(fact.n_groups for fact in facts)
    if n_pairs == 0:
        refuse_no_pairs(told.n_rows, n_groups)
    smallest = min(fact.smallest for fact in facts)
    largest = max(fact.largest for fact in facts)
    total = sum(fact.total for fact in facts)
    if not 0.0 < smallest**2 <= total < np.inf:
        refuse_weights(smallest, largest)
    warn_idle_groups(sum(fact.n_idle_groups for fact in facts), n_groups)

    def sample() -> tuple[MovingPart, float]:
        share = sample_share(told)
        part = join_samples(parts.each(GradedPart.take, share), model.per_group)
        return part, total / part.tree.total

    _solve(model, parts, told, sample)
    model.n_pairs_, model.fitted_with_qid_ = n_pairs, qid is not None


def _fit_compared(
    model: Any, data: PartedTable | PartedPairs, y: Any, sample_weight: Any
) -> None:
    build = build_compared(ListedPart, data, ties=model.ties)
    parts = open_parts(data, build, y=y, weight=sample_weight)
    told = ask(parts)
    tell_of_comparisons(told)
    assert told.totals is not None
    model._check_outcomes(np.repeat([-1, 0, 1], (told.totals > 0).astype(int)))
    double = 2.0 if model.ties == "both" else 1.0
    total = double * (told.totals.sum() - (model.ties != "both") * told.totals[1])

    def sample() -> tuple[MovingPart, float]:
        part = SampledPairs(parts.each(ListedPart.take, sample_share(told)))
        return part, total / part.total

    _solve(model, parts, told, sample)


def _solve(
    model: Any,
    parts: Parts,
    told: Told,
    sample: Callable[[], tuple[MovingPart, float]],
) -> None:
    q = told.first.n_features
    part, share = sample()
    objective = SummedObjective(
        parts, np.ones(q), float(model.C), sample=part, share=share
    )
    journey = Journey(model, told.facts, np.zeros(q))
    try:
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            found = minimize_smooth(model, objective, journey.start, journey.watch)
    finally:
        parts.close()
    solution = PrimalSolution(
        found.x,
        found.value,
        found.gap,
        found.n_iter,
        found.gap <= model.tol,
        np.zeros(0),
        "newton",
    )
    judge_solution(
        model,
        solution,
        model.C,
        bool(found.x.any()),
        lambda: max(value for (value,) in parts.each(_largest)),
    )
    remember_parted(model, told)
    model.coef_ = found.x
    solution.unpack(model)


def _largest(part: Any) -> tuple[float]:
    return (0.0 if part.is_empty else float(np.abs(part.A).max()),)
