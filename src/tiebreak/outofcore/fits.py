# SPDX-License-Identifier: BSD-3-Clause
"""What models share that are fitted on data in partitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import Pairs, check_weights
from tiebreak.data.messages import warn_user
from tiebreak.data.outcome import warn_both_bad, warn_no_left
from tiebreak.data.threads import one_blas_thread
from tiebreak.models import LogisticCompare, RankRLS, RankSVM
from tiebreak.models.base import check_positive, refuse_only_ties
from tiebreak.models.graded_problem import (
    refuse_no_pairs,
    refuse_weights,
    warn_idle_groups,
)
from tiebreak.models.least_squares.normal_equations import (
    CONSTANT,
    LARGEST,
    LeastSquaresFit,
    warn_single_items,
)
from tiebreak.models.primal import PrimalSolution, judge_solution, minimize_smooth
from tiebreak.outofcore import (
    ComparedSquares,
    CountedPartition,
    FitProgress,
    GradedPartition,
    GradedSquares,
    LikelihoodPartition,
    ListedPartition,
    MovingPartition,
    PartitionedPairs,
    PartitionedTable,
    PartitionFacts,
    Partitions,
    SampledLikelihood,
    SampledPairs,
    SummedObjective,
    add_equal,
    check_consistent,
    check_groups,
    join_samples,
    open_partitions,
)
from tiebreak.ratings import BradleyTerry
from tiebreak.solvers import NewtonSolution, minimize_newton
from tiebreak.solvers.ridge import RidgeSystem

# Rows that are brought here for the preconditioner: so many, or some per variable.
_SAMPLE, _PER_VARIABLE, _LARGEST_SAMPLE = 8000, 8, 16_000


@singledispatch
def fit_model(
    model: Any, data: PartitionedTable | PartitionedPairs, **columns: Any
) -> dict[str, Any] | None:
    """Return the fitted attributes of a model, learned where the data are.

    None if the model was fitted here, on comparisons that were added up there.
    """
    raise TypeError(
        f"{type(model).__name__} cannot be fitted on data in partitions; expected "
        "RankSVM, RankRLS, LogisticCompare or BradleyTerry. Try a sample of the rows."
    )


@fit_model.register
def _fit_strengths(
    model: BradleyTerry,
    data: PartitionedTable | PartitionedPairs,
    context: Any = None,
    sample_weight: Any = None,
    **columns: Any,
) -> None:
    if context is not None:
        raise ValueError(
            "context has no meaning for data in partitions, where equal "
            "comparisons are added up; expected None. advantage and rater are "
            "names of columns."
        )
    pairs, outcome, weight, others = add_up(data, weight=sample_weight, **columns)
    model.fit(pairs, outcome, sample_weight=weight, **others)


def _given(data: PartitionedTable | PartitionedPairs) -> str:
    """Return the type of what the user gave."""
    return type(data if isinstance(data.source, str) else data.source).__name__


@dataclass(frozen=True, eq=False)
class PartitionSummary:
    """What the partitions told of themselves.

    Attributes
    ----------
    facts : list of PartitionFacts
        One for each partition.
    first : PartitionFacts
        The first one with rows.
    totals : ndarray of shape (3,) or None
        Weights of left, tie and right.
    n_selves, n_both_bad : int
        Comparisons of an item with itself, and those that call both items bad.
    """

    facts: Sequence[PartitionFacts]
    first: PartitionFacts
    totals: NDArray[np.float64] | None = None
    n_selves: int = 0
    n_both_bad: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return sum(fact.n_rows for fact in self.facts)


def summarize(parts: Partitions) -> PartitionSummary:
    """Ask all partitions what they hold, and check that they fit together.

    Parameters
    ----------
    parts : Parts
        The partitions.

    Returns
    -------
    PartitionSummary
    """
    answers = parts.each(_tell)
    facts = [answer[0] for answer in answers]
    first = check_consistent(facts, parts.labels)
    if answers[0][1] is None:
        return PartitionSummary(facts, first)
    totals = np.sum([answer[1] for answer in answers], axis=0)
    n_selves, n_both_bad = (sum(answer[k] for answer in answers) for k in (2, 3))
    return PartitionSummary(facts, first, totals, n_selves, n_both_bad)


def _tell(part: Any) -> tuple[Any, ...]:
    totals = getattr(part, "totals", None)
    if totals is None:
        return part.facts, None
    return part.facts, totals, part.n_selves, part.n_both_bad


def warn_of_comparisons(summary: PartitionSummary) -> None:
    """Warn of what is odd about comparisons; refuse weights that are all zero.

    Parameters
    ----------
    told : PartitionSummary
        What the partitions summary.
    """
    assert summary.totals is not None
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
            "carries no information about utilities."
        )


def check_linear(model: Any, needed: Mapping[str, Any]) -> None:
    """Refuse parameters that have no meaning for data in partitions.

    Parameters
    ----------
    model : estimator
        The model, with a ``kernel``.
    needed : mapping
        Values that other parameters must have.
    """
    check_positive(model, *(n for n in ("C", "alpha") if hasattr(model, n)), "tol")
    check_positive(model, "max_iter")
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


def build_compared(
    kind: Callable[..., Any], data: PartitionedTable | PartitionedPairs, **options: Any
) -> Callable[[dict[str, Any]], Any]:
    """Give what makes parts of comparisons, with the table of items if there is one.

    Parameters
    ----------
    kind : class
        The part.
    data : PartitionedTable or PartitionedPairs
        The comparisons.
    **options
        Further parameters of the part.

    Returns
    -------
    callable
    """
    if isinstance(data, PartitionedPairs):
        options |= {"items": data.items, "names": data.names}
    return partial(kind, **options)


def fit_named(
    model: Any, data: PartitionedTable | PartitionedPairs, y: Any, sample_weight: Any
) -> bool:
    """Fit a model here if items are known by name and nothing else.

    Parameters
    ----------
    model : estimator
        The model.
    data : PartitionedTable or PartitionedPairs
        The data.
    y, sample_weight : str, collection of Dask or None
        Columns.

    Returns
    -------
    bool
        Whether that was so, and the model is fitted.
    """
    if not isinstance(data, PartitionedPairs) or data.items is not None:
        return False
    pairs, outcome, weight, _ = add_up(data, y=y, weight=sample_weight)
    model.fit(pairs, outcome, sample_weight=weight)
    return True


def add_up(
    data: PartitionedTable | PartitionedPairs, **roles: Any
) -> tuple[Pairs, NDArray[np.int8], NDArray[np.float64], dict[str, NDArray[Any]]]:
    """Add up alike comparisons of items that have names only, in one pass.

    The sum over comparisons is then a sum over the few that differ, with weights.

    Parameters
    ----------
    data : PartitionedPairs
        Comparisons.
    **roles : str, collection of Dask or None
        Columns: y, weight, and others that tell rows apart.

    Returns
    -------
    pairs : Pairs
    outcome : ndarray of int8 of shape (m,)
    weight : ndarray of shape (m,)
    others : dict of ndarray
        The other columns.
    """
    if not isinstance(data, PartitionedPairs):
        raise TypeError(
            "Expected comparisons in partitions: PartitionedPairs(source, left, "
            f"right), with the names of the two columns of items; got {data!r}."
        )
    parts = open_partitions(data, CountedPartition, **roles)
    try:
        summary = summarize(parts)
        warn_of_comparisons(summary)
        tables = [table for (table,) in parts.each(_table_of) if table is not None]
    finally:
        parts.close()
    added = add_equal(pl.concat(tables, how="vertical_relaxed"))
    others = {
        name: added[name].to_numpy()
        for name in added.columns
        if name not in ("left", "right", "y", "weight")
    }
    pairs = Pairs(None, added["left"], added["right"])
    return pairs, added["y"].to_numpy(), added["weight"].to_numpy(), others


def _table_of(part: CountedPartition) -> tuple[pl.DataFrame | None]:
    return (part.table,)


def sample_share(summary: PartitionSummary) -> float:
    """Which part of the rows makes a preconditioner that is good enough."""
    wanted = min(
        max(_SAMPLE, _PER_VARIABLE * summary.first.n_features), _LARGEST_SAMPLE
    )
    return wanted / summary.n_rows


def _features_of(summary: PartitionSummary) -> dict[str, Any]:
    """Return ``n_features_in_``, and ``feature_names_in_`` if columns have names."""
    features: dict[str, Any] = {"n_features_in_": summary.first.n_features}
    if summary.first.feature_names is not None:
        names = np.asarray(summary.first.feature_names, dtype=object)
        features["feature_names_in_"] = names
    return features


@fit_model.register
def _fit_logistic(
    model: LogisticCompare,
    data: PartitionedTable | PartitionedPairs,
    y: Any = None,
    sample_weight: Any = None,
) -> dict[str, Any] | None:
    if not data.is_pairs:
        raise TypeError(
            f"LogisticCompare learns from comparisons; got {_given(data)}. "
            "Expected Pairs(items, left, right), PartitionedPairs(source, left, "
            "right), or an array, also of Dask, of shape (n, 2, n_features)."
        )
    if fit_named(model, data, y, sample_weight):
        return None
    check_linear(model, {"identity": None})
    build = build_compared(LikelihoodPartition, data, link=model.link)
    parts = open_partitions(data, build, y=y, weight=sample_weight)
    try:
        summary = summarize(parts)
        warn_of_comparisons(summary)
        solution, coef, t = _solve_likelihood(model, parts, summary)
    finally:
        parts.close()
    assert summary.totals is not None
    model._warn(bool(summary.totals[1] == summary.totals.sum()), solution)
    model.__dict__.pop("_stream", None)
    return {
        **_features_of(summary),
        **model._tie_attributes(t),
        "coef_": coef,
        "objective_": solution.value,
        "gap_": solution.gap,
        "n_iter_": solution.n_iter,
        "converged_": solution.converged,
    }


def _solve_likelihood(
    model: Any, parts: Partitions, summary: PartitionSummary
) -> tuple[NewtonSolution, np.ndarray, float]:
    assert summary.totals is not None
    share = float(summary.totals[1] / summary.totals.sum())
    q, link = summary.first.n_features, model._link
    if share == 1.0:
        nothing = np.zeros(q)
        return NewtonSolution(nothing, 0.0, 0.0, 0, True), nothing, math.inf
    # With no ties at all the tie parameter is no variable.
    start, ridge = np.zeros(q), np.full(q, 2.0 * float(model.alpha))
    if share:
        start, ridge = np.append(start, link.start(share)), np.append(ridge, 0.0)
    part = SampledLikelihood(
        parts.each(LikelihoodPartition.take, sample_share(summary)), model.link
    )
    objective = SummedObjective(
        parts, ridge, sample=part, share=float(summary.totals.sum()) / part.total
    )
    progress = FitProgress(model, summary.facts, start)
    solution = minimize_newton(
        objective,
        progress.start,
        tol=model.tol,
        max_iter=int(model.max_iter),
        min_iter=1,
        dense=False,
        precondition=objective.preconditioner,
        watch=progress.watch,
    )
    t = float(solution.x[-1]) if share else link.start(0.0)
    return solution, solution.x[:q], t


@fit_model.register
def _fit_squares(
    model: RankRLS,
    data: PartitionedTable | PartitionedPairs,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
) -> dict[str, Any] | None:
    if fit_named(model, data, y, sample_weight):
        return None
    check_linear(model, {})
    roles = {"y": y, "weight": sample_weight}
    if data.is_pairs:
        parts = open_partitions(data, build_compared(ComparedSquares, data), **roles)
    else:
        build = partial(GradedSquares, per_group=model.per_group)
        parts = open_partitions(data, build, qid=qid, **roles)
    try:
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
    finally:
        parts.close()
    H, h, square, size, n_different = sums
    facts = summary.facts
    n_groups = sum(fact.n_groups for fact in facts)
    if n_different == 0:
        if data.is_pairs:
            refuse_only_ties(model, summary.n_rows)
        refuse_no_pairs(summary.n_rows, n_groups)
    if not np.isfinite(H).all() or not np.isfinite(square):
        smallest = min(fact.smallest for fact in facts)
        refuse_weights(smallest, max(fact.largest for fact in facts))
    warn_single_items(sum(fact.n_idle_groups for fact in facts), n_groups)
    fit = _solve_squares(H, h, square, size, float(model.alpha))
    assert fit.x is not None
    fitted = {
        **_features_of(summary),
        **fit.fitted(model),
        "coef_": fit.x,
        "objective_": fit.value,
        "n_pairs_": sum(fact.n_pairs for fact in facts),
    }
    if not data.is_pairs:
        fitted["fitted_with_qid_"] = qid is not None
    return fitted


def _sums_of(part: Any, n_features: int) -> tuple[Any, ...]:
    if part.sums:
        sums: tuple[Any, ...] = part.sums
        return sums
    nothing = np.zeros(n_features)
    return np.zeros((n_features, n_features)), nothing, 0.0, nothing, 0


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
    return LeastSquaresFit(
        x,
        np.zeros(0),
        value,
        solution.residual / (alpha * value),
        solution.n_iter,
        solution.method,
        solution.n_dropped,
        not x.any(),
    )


@fit_model.register
def _fit_svm(
    model: RankSVM,
    data: PartitionedTable | PartitionedPairs,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
) -> dict[str, Any] | None:
    if fit_named(model, data, y, sample_weight):
        return None
    check_linear(model, {"loss": "squared_hinge", "pairs_per_item": None})
    if data.is_pairs:
        return _fit_compared(model, data, y, sample_weight)
    assert isinstance(data, PartitionedTable)
    return _fit_graded(model, data, y, qid, sample_weight)


def _fit_graded(
    model: RankSVM, data: PartitionedTable, y: Any, qid: Any, sample_weight: Any
) -> dict[str, Any]:
    build = partial(GradedPartition, per_group=model.per_group)
    parts = open_partitions(data, build, y=y, qid=qid, weight=sample_weight)
    summary = summarize(parts)
    facts = summary.facts
    check_groups(facts, parts)
    n_pairs = sum(fact.n_pairs for fact in facts)
    n_groups = sum(fact.n_groups for fact in facts)
    if n_pairs == 0:
        refuse_no_pairs(summary.n_rows, n_groups)
    smallest = min(fact.smallest for fact in facts)
    largest = max(fact.largest for fact in facts)
    total = sum(fact.total for fact in facts)
    if not 0.0 < smallest**2 <= total < np.inf:
        refuse_weights(smallest, largest)
    warn_idle_groups(sum(fact.n_idle_groups for fact in facts), n_groups)

    def sample() -> tuple[MovingPartition, float]:
        share = sample_share(summary)
        part = join_samples(parts.each(GradedPartition.take, share), model.per_group)
        return part, total / part.tree.total

    fitted = _solve_hinges(model, parts, summary, sample)
    return {**fitted, "n_pairs_": n_pairs, "fitted_with_qid_": qid is not None}


def _fit_compared(
    model: RankSVM,
    data: PartitionedTable | PartitionedPairs,
    y: Any,
    sample_weight: Any,
) -> dict[str, Any]:
    build = build_compared(ListedPartition, data, ties=model.ties)
    parts = open_partitions(data, build, y=y, weight=sample_weight)
    summary = summarize(parts)
    warn_of_comparisons(summary)
    assert summary.totals is not None
    model._check_outcomes(np.repeat([-1, 0, 1], (summary.totals > 0).astype(int)))
    double = 2.0 if model.ties == "both" else 1.0
    total = double * (summary.totals.sum() - (model.ties != "both") * summary.totals[1])

    def sample() -> tuple[MovingPartition, float]:
        part = SampledPairs(parts.each(ListedPartition.take, sample_share(summary)))
        return part, total / part.total

    return _solve_hinges(model, parts, summary, sample)


def _solve_hinges(
    model: RankSVM,
    parts: Partitions,
    summary: PartitionSummary,
    sample: Callable[[], tuple[MovingPartition, float]],
) -> dict[str, Any]:
    q = summary.first.n_features
    part, share = sample()
    objective = SummedObjective(
        parts, np.ones(q), float(model.C), sample=part, share=share
    )
    progress = FitProgress(model, summary.facts, np.zeros(q))
    try:
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            found = minimize_smooth(model, objective, progress.start, progress.watch)
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
    return {**_features_of(summary), **solution.fitted(), "coef_": found.x}


def _largest(part: Any) -> tuple[float]:
    return (0.0 if part.is_empty else float(np.abs(part.A).max()),)
