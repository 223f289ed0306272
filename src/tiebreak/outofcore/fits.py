# SPDX-License-Identifier: BSD-3-Clause
"""How models are fitted on data in partitions.

`fit_model` chooses by the class of the model. Items that have only names need one pass:
equal comparisons are added up where they are, and the model is fitted here, on their
weights. A linear model of features is minimized by the same Newton method as in memory,
on a sum over partitions; least squares need one pass for the normal equations. Every
function returns the fitted attributes, which the model itself keeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial, singledispatch
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import Pairs, check_weights
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.outcome import OUTCOMES, warn_both_bad, warn_no_left
from tiebreak.data.parameters import check_parameters
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import LINKS
from tiebreak.models import LogisticCompare, RankRLS, RankSVM
from tiebreak.models.base import warn_gap, warn_one_kind
from tiebreak.models.least_squares.normal_equations import (
    CONSTANT,
    LARGEST,
    LeastSquaresFit,
)
from tiebreak.models.logistic.logistic_compare import tie_attributes
from tiebreak.models.primal import PrimalSolution, check_solution, minimize_smooth
from tiebreak.models.problem import (
    refuse_no_pairs,
    refuse_only_ties,
    warn_idle_groups,
    warn_single_items,
)
from tiebreak.outofcore.cluster import open_partitions
from tiebreak.outofcore.objectives import (
    ComparedSquares,
    CountedPartition,
    GradedPartition,
    GradedSquares,
    LikelihoodPartition,
    ListedPartition,
    PartitionObjective,
    SampledLikelihood,
    SampledPairs,
    SummedObjective,
    add_equal,
    join_samples,
)
from tiebreak.outofcore.partitions import (
    PartitionFacts,
    Partitions,
    check_consistent,
    check_groups,
    watch_steps,
)
from tiebreak.outofcore.sources import PartitionedPairs, PartitionedTable
from tiebreak.ratings import BradleyTerry
from tiebreak.solvers import NewtonSolution, minimize_newton
from tiebreak.solvers.ridge import RidgeSystem

# Rows that are brought here for the preconditioner: so many, or some per variable.
_SAMPLE, _PER_VARIABLE, _LARGEST_SAMPLE = 8000, 8, 16_000

Data = PartitionedTable | PartitionedPairs


@singledispatch
def fit_model(model: Any, data: Data, **columns: Any) -> dict[str, Any] | None:
    """Return the fitted attributes of a model, learned where the data are."""
    # None if the model was fitted here, on comparisons that were added up there.
    raise TypeError(
        f"{type(model).__name__} cannot be fitted on data in partitions; expected "
        "RankSVM, RankRLS, LogisticCompare or BradleyTerry. Try a sample of the rows."
    )


@fit_model.register
def _fit_strengths(
    model: BradleyTerry,
    data: Data,
    context: Any = None,
    sample_weight: Any = None,
    **columns: Any,
) -> None:
    if context is not None:
        raise ValueError(
            "context has no meaning for data in partitions, where equal comparisons "
            "are added up; expected None. advantage and rater are names of columns."
        )
    pairs, outcome, weight, others = add_up(data, weight=sample_weight, **columns)
    model.fit(pairs, outcome, sample_weight=weight, **others)


@dataclass(frozen=True, eq=False)
class PartitionSummary:
    """What the partitions hold together."""

    facts: Sequence[PartitionFacts]  # one for each partition
    first: PartitionFacts  # the first one with rows
    totals: NDArray[np.float64]  # weights of left, tie and right, of comparisons
    n_selves: int  # comparisons of an item with itself
    n_both_bad: int

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return self.sum("n_rows")

    def sum(self, count: str) -> Any:
        """Return the sum of a count of `PartitionFacts` over all partitions."""
        return sum(getattr(fact, count) for fact in self.facts)

    @property
    def features(self) -> dict[str, Any]:
        """``n_features_in_``, and ``feature_names_in_`` if columns have names."""
        features: dict[str, Any] = {"n_features_in_": self.first.n_features}
        if self.first.feature_names is not None:
            names = np.asarray(self.first.feature_names, dtype=object)
            features["feature_names_in_"] = names
        return features


def summarize(parts: Partitions) -> PartitionSummary:
    """Return what all partitions hold, after a check that they fit together."""
    answers = zip(*parts.each(_summary_of), strict=True)
    facts, totals, n_selves, n_both_bad = answers
    first, total = check_consistent(facts, parts.labels), np.sum(totals, axis=0)
    return PartitionSummary(facts, first, total, sum(n_selves), sum(n_both_bad))


def _summary_of(part: Any) -> tuple[Any, ...]:
    counts = (getattr(part, name, 0) for name in ("totals", "n_selves", "n_both_bad"))
    return part.facts, *counts


def warn_of_comparisons(summary: PartitionSummary) -> None:
    """Warn of what is odd about comparisons; refuse weights that are all zero."""
    left, tie, right = summary.totals
    if not summary.totals.any():
        check_weights(np.zeros(1), 1)
    if left == 0 and tie and right:
        warn_no_left()
    if summary.n_both_bad:
        warn_both_bad(summary.n_both_bad, summary.n_rows)
    if summary.n_selves:
        warn_user(
            f"{summary.n_selves} comparison(s) are of an item with itself; such a tie "
            "carries no information about utilities.",
            DataWarning,
        )


def check_linear(model: Any, **needed: Any) -> None:
    """Refuse parameters that have no meaning for data in partitions."""
    check_parameters(model)
    name = type(model).__name__
    if not (isinstance(model.kernel, str) and model.kernel == "linear"):
        raise ValueError(
            f"{name} got kernel={model.kernel!r}; on data in partitions the kernel is "
            "'linear'. For others let NystroemMap make features first: "
            "features = NystroemMap(kernel).fit(sample), then "
            "fit(PartitionedTable(source).map(features.transform), ...)."
        )
    for parameter, value in needed.items():
        if (got := getattr(model, parameter)) != value:
            raise ValueError(
                f"{name} got {parameter}={got!r}; on data in partitions it is "
                f"{parameter}={value!r}."
            )


def build_compared(kind: Callable[..., Any], data: Data, **options: Any) -> Any:
    """Return a class of partitions of comparisons, with the items if there are any."""
    if isinstance(data, PartitionedPairs):
        options |= {"items": data.items, "names": data.names}
    return partial(kind, **options)


def fit_named(model: Any, data: Data, y: Any, sample_weight: Any) -> bool:
    """Fit a model here if items have only names; return whether that is so."""
    if not isinstance(data, PartitionedPairs) or data.items is not None:
        return False
    pairs, outcome, weight, _ = add_up(data, y=y, weight=sample_weight)
    model.fit(pairs, outcome, sample_weight=weight)
    return True


def add_up(
    data: Data, **roles: Any
) -> tuple[Pairs, NDArray[np.int8], NDArray[np.float64], dict[str, NDArray[Any]]]:
    """Return pairs, outcomes, weights and other columns; equal comparisons added up."""
    # One pass: the sum over comparisons is a sum over the few that differ, with
    # weights.
    if not isinstance(data, PartitionedPairs):
        raise TypeError(
            "Expected comparisons in partitions: PartitionedPairs(source, left, "
            f"right), with the names of the two columns of items; got {data!r}."
        )
    with closing(open_partitions(data, CountedPartition, **roles)) as parts:
        warn_of_comparisons(summarize(parts))
        tables = [t for t in parts.each(attrgetter("table")) if t is not None]
    added = add_equal(pl.concat(tables, how="vertical_relaxed"))
    pairs = Pairs(None, added["left"], added["right"])
    others = {c.name: c.to_numpy() for c in added.drop("left", "right").iter_columns()}
    return pairs, others.pop("y"), others.pop("weight"), others


def sample_share(summary: PartitionSummary) -> float:
    """Return the fraction of rows that makes a preconditioner good enough."""
    wanted = max(_SAMPLE, _PER_VARIABLE * summary.first.n_features)
    return min(wanted, _LARGEST_SAMPLE) / summary.n_rows


@fit_model.register
def _fit_logistic(
    model: LogisticCompare, data: Data, y: Any = None, sample_weight: Any = None
) -> dict[str, Any] | None:
    if not data.is_pairs:
        given = data if isinstance(data.source, str) else data.source
        raise TypeError(
            f"LogisticCompare learns from comparisons; got {type(given).__name__}. "
            "Expected Pairs(items, left, right), PartitionedPairs(source, left, "
            "right), or an array, also of Dask, of shape (n, 2, n_features)."
        )
    if fit_named(model, data, y, sample_weight):
        return None
    check_linear(model, identity=None)
    build = build_compared(LikelihoodPartition, data, link=model.link)
    opened = open_partitions(data, build, y=y, weight=sample_weight)
    with closing(opened) as parts:
        summary = summarize(parts)
        warn_of_comparisons(summary)
        solution, coef, t = _solve_likelihood(model, parts, summary)
    if not summary.totals[[0, 2]].any():
        warn_one_kind(np.zeros(1, dtype=np.int8))
    if not solution.converged:
        warn_gap(model, solution.n_iter, solution.gap)
    return {
        **summary.features,
        **tie_attributes(LINKS[model.link], t),
        "classes_": OUTCOMES.copy(),
        "coef_": coef,
        "objective_": solution.value,
        "gap_": solution.gap,
        "n_iter_": solution.n_iter,
        "converged_": solution.converged,
    }


def _solve_likelihood(
    model: Any, parts: Partitions, summary: PartitionSummary
) -> tuple[NewtonSolution, np.ndarray, float]:
    share = float(summary.totals[1] / summary.totals.sum())
    q, link = summary.first.n_features, LINKS[model.link]
    if share == 1.0:
        nothing = np.zeros(q)
        return NewtonSolution(nothing, 0.0, 0.0, 0, True), nothing, math.inf
    # With no ties at all the tie parameter is no variable.
    start, ridge = np.zeros(q), np.full(q, 2.0 * float(model.alpha))
    if share:
        start, ridge = np.append(start, link.start(share)), np.append(ridge, 0.0)
    taken = parts.each(LikelihoodPartition.take, sample_share(summary))
    sample = SampledLikelihood(taken, model.link)
    scale = float(summary.totals.sum()) / sample.total
    objective = SummedObjective(parts, ridge, sample=sample, share=scale)
    solution = minimize_newton(
        objective,
        start,
        tol=model.tol,
        max_iter=int(model.max_iter),
        min_iter=1,
        dense=False,
        precondition=objective.preconditioner,
        watch=watch_steps(),
    )
    t = float(solution.x[-1]) if share else link.start(0.0)
    return solution, solution.x[:q], t


@fit_model.register
def _fit_squares(
    model: RankRLS,
    data: Data,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
) -> dict[str, Any] | None:
    if fit_named(model, data, y, sample_weight):
        return None
    check_linear(model)
    roles = {"y": y, "weight": sample_weight}
    if data.is_pairs:
        build = build_compared(ComparedSquares, data)
    else:
        build = partial(GradedSquares, per_group=model.per_group)
        roles["qid"] = qid
    with closing(open_partitions(data, build, **roles)) as parts:
        summary = summarize(parts)
        if summary.first.n_features > LARGEST:
            raise ValueError(
                f"RankRLS on data in partitions forms a matrix of its "
                f"{summary.first.n_features} features; expected at most {LARGEST}. Try "
                "RankSVM(kernel='linear', loss='squared_hinge')."
            )
        if data.is_pairs:
            warn_of_comparisons(summary)
        else:
            check_groups(summary.facts, parts)
        sums = parts.sum(_sums_of, summary.first.n_features)
    H, h, square, size, n_different = sums
    n_groups = summary.sum("n_groups")
    if n_different == 0:
        if data.is_pairs:
            refuse_only_ties(model, summary.n_rows)
        refuse_no_pairs(summary.n_rows, n_groups)
    warn_single_items(summary.sum("n_idle_groups"), n_groups)
    fit = _solve_squares(H, h, square, size, float(model.alpha))
    assert fit.x is not None
    fitted = summary.features | fit.fitted(model)
    fitted |= {"coef_": fit.x, "objective_": fit.value}
    fitted["n_pairs_"] = summary.sum("n_pairs")
    if not data.is_pairs:
        fitted["fitted_with_qid_"] = qid is not None
    return fitted


def _sums_of(part: Any, n_features: int) -> tuple[Any, ...]:
    nothing = np.zeros(n_features)
    return part.sums or (np.zeros((n_features, n_features)), nothing, 0.0, nothing, 0)


def _solve_squares(
    H: np.ndarray, h: np.ndarray, square: float, size: np.ndarray, alpha: float
) -> LeastSquaresFit:
    # What rounding leaves of features that are constant inside groups is no signal.
    constant = H.diagonal() <= CONSTANT**2 * size
    H[constant], H[:, constant], h[constant] = 0.0, 0.0, 0.0
    with one_blas_thread():
        solution = RidgeSystem(H, h).solve(alpha)
        x = solution.x
        value = max(square - float(x @ (2.0 * h - H @ x)), 0.0) + alpha * float(x @ x)
    gap, n_iter = solution.residual / (alpha * value), solution.n_iter
    how = solution.method, solution.n_dropped, not x.any()
    return LeastSquaresFit(x, np.zeros(0), value, gap, n_iter, *how)


@fit_model.register
def _fit_svm(
    model: RankSVM,
    data: Data,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
) -> dict[str, Any] | None:
    if fit_named(model, data, y, sample_weight):
        return None
    check_linear(model, loss="squared_hinge", pairs_per_item=None)
    if data.is_pairs:
        return _fit_compared(model, data, y, sample_weight)
    build = partial(GradedPartition, per_group=model.per_group)
    parts = open_partitions(data, build, y=y, qid=qid, weight=sample_weight)
    summary = summarize(parts)
    check_groups(summary.facts, parts)
    n_pairs, n_groups = summary.sum("n_pairs"), summary.sum("n_groups")
    if n_pairs == 0:
        refuse_no_pairs(summary.n_rows, n_groups)
    total = summary.sum("total")
    warn_idle_groups(summary.sum("n_idle_groups"), n_groups)
    taken = parts.each(GradedPartition.take, sample_share(summary))
    sample = join_samples(taken, model.per_group)
    fitted = _solve_hinges(model, parts, summary, sample, total / sample.tree.total)
    return {**fitted, "n_pairs_": n_pairs, "fitted_with_qid_": qid is not None}


def _fit_compared(
    model: RankSVM, data: Data, y: Any, sample_weight: Any
) -> dict[str, Any]:
    build = build_compared(ListedPartition, data, ties=model.ties)
    parts = open_partitions(data, build, y=y, weight=sample_weight)
    summary = summarize(parts)
    warn_of_comparisons(summary)
    if model.ties == "ignore" and not summary.totals[[0, 2]].any():
        refuse_only_ties(model, summary.n_rows)
    double = 2.0 if model.ties == "both" else 1.0
    total = double * (summary.totals.sum() - (model.ties != "both") * summary.totals[1])
    sample = SampledPairs(parts.each(ListedPartition.take, sample_share(summary)))
    return _solve_hinges(model, parts, summary, sample, total / sample.total)


def _solve_hinges(
    model: RankSVM,
    parts: Partitions,
    summary: PartitionSummary,
    sample: PartitionObjective,
    share: float,
) -> dict[str, Any]:
    q, C = summary.first.n_features, float(model.C)
    objective = SummedObjective(parts, np.ones(q), C, sample=sample, share=share)
    silent = np.errstate(over="ignore", invalid="ignore")
    with closing(parts), silent, one_blas_thread():
        found = minimize_smooth(model, objective, np.zeros(q), watch_steps())
    gap, learned = found.gap, bool(found.x.any())
    result = found.x, found.value, gap, found.n_iter, gap <= model.tol
    solution = PrimalSolution(*result, np.zeros(0), "newton")
    check_solution(model, solution, learned)
    return {**summary.features, **solution.fitted(), "coef_": found.x}
