# SPDX-License-Identifier: BSD-3-Clause
"""Fits on data in partitions: Newton's method, or one pass for least squares."""

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from tiebreak.data import check_weights
from tiebreak.data.arrays import Floats
from tiebreak.data.columns import factorize
from tiebreak.data.items import feature_attributes
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.outcome import OUTCOMES, warn_both_bad, warn_no_left
from tiebreak.data.parameters import check_parameters
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import LINKS
from tiebreak.models.base import certificate, warn_gap, warn_one_kind
from tiebreak.models.least_squares.normal_equations import (
    LARGEST,
    LeastSquaresFit,
    drop_constant,
)
from tiebreak.models.least_squares.rank_rls import RankRLS
from tiebreak.models.logistic.logistic_compare import LogisticCompare, tie_attributes
from tiebreak.models.logistic.problem import UNLEARNED
from tiebreak.models.primal import check_solution, minimize_smooth
from tiebreak.models.problem import (
    EQUAL_GRADES,
    refuse_no_pairs,
    refuse_only_ties,
    warn_idle_groups,
)
from tiebreak.models.svm.rank_svm import RankSVM
from tiebreak.outofcore.objectives import (
    LARGEST_SAMPLE,
    ComparedSquares,
    GradedPartition,
    GradedSquares,
    LikelihoodPartition,
    ListedPartition,
    PartitionFacts,
    SummedObjective,
)
from tiebreak.outofcore.partitions import Partitions, open_partitions
from tiebreak.outofcore.sources import PartitionedPairs, PartitionedTable
from tiebreak.solvers import NewtonSolution, minimize_newton
from tiebreak.solvers.ridge import RidgeSystem

# Rows that are brought here for the preconditioner: so many, or some per variable.
_SAMPLE, _PER_VARIABLE = 8000, 8


def fit(
    model: Any,
    X: Any,
    y: str,
    *,
    qid: str | None = None,
    sample_weight: str | None = None,
    client: Any = None,
    keep: bool = False,
) -> Any:
    """Fit a linear model on data in partitions, where they are.

    Parameters
    ----------
    model : RankSVM, RankRLS or LogisticCompare
        With the linear kernel; `RankSVM` with the squared hinge.
    X : PartitionedTable, PartitionedPairs, or what PartitionedTable takes
        Graded items, each group in one partition, or comparisons.
    y, qid, sample_weight : str
        Columns, as in ``fit`` of the model.
    client : distributed.Client, optional
        The cluster; it must see files under the same names. Default: this process, one
        partition after the other.
    keep : bool, default=False
        Whether partitions stay in memory, here or on the workers. Otherwise every pass
        reads them again.

    Returns
    -------
    The model
        Fitted as on all rows together, within its tolerance, without ``support_``.

    Examples
    --------
    >>> import numpy as np, polars as pl, tempfile
    >>> from tiebreak import RankSVM
    >>> from tiebreak.outofcore import fit
    >>> folder = tempfile.mkdtemp()
    >>> for day in range(3):
    ...     x = np.arange(4.0) - day
    ...     rows = pl.DataFrame({"x": x, "grade": x > 0, "query": day})
    ...     rows.write_parquet(f"{folder}/{day}.parquet")
    >>> model = RankSVM(kernel="linear", loss="squared_hinge")
    >>> fit(model, folder, "grade", qid="query").n_pairs_
    10
    """
    check_parameters(model)
    is_pairs = isinstance(X, PartitionedPairs)
    data = X if is_pairs or isinstance(X, PartitionedTable) else PartitionedTable(X)
    build, solve = _choose(model, data)
    roles = {"y": y, "weight": sample_weight}
    if not is_pairs:
        roles["qid"] = qid
    parts = open_partitions(data, build, client=client, keep=keep, **roles)
    summary = Summary(parts, build)
    if is_pairs:
        summary.warn_of_comparisons()
    else:
        summary.refuse_straddling_groups()
    fitted = feature_attributes(summary.first) | solve(model, summary)
    if not is_pairs:
        fitted["fitted_with_qid_"] = qid is not None
    return model._keep(fitted)


def _choose(model: Any, data: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the partition's builder and the solver for a model."""
    is_pairs = isinstance(data, PartitionedPairs)
    kind: Callable[..., Any]
    options: dict[str, Any] = {"per_group": getattr(model, "per_group", None)}
    if is_pairs:
        options = {"items": data.items, "names": data.names}
    if isinstance(model, RankSVM):
        _check_linear(model, loss="squared_hinge", pairs_per_item=None)
        if not is_pairs:
            return partial(GradedPartition, **options), _solve_hinges
        return partial(ListedPartition, **options, ties=model.ties), _solve_hinges
    if isinstance(model, RankRLS):
        _check_linear(model)
        kind = ComparedSquares if is_pairs else GradedSquares
        return partial(kind, **options), _solve_squares
    if isinstance(model, LogisticCompare):
        if not is_pairs:
            raise TypeError(
                f"LogisticCompare learns from comparisons, got {data!r}; expected "
                "PartitionedPairs."
            )
        _check_linear(model, identity=None)
        return partial(
            LikelihoodPartition, **options, link=model.link
        ), _solve_likelihood
    raise TypeError(
        f"{type(model).__name__} cannot be fitted on data in partitions; expected "
        "RankSVM, RankRLS or LogisticCompare."
    )


def _check_linear(model: Any, **needed: Any) -> None:
    """Refuse parameters that have no meaning for data in partitions."""
    name = type(model).__name__
    if not (isinstance(model.kernel, str) and model.kernel == "linear"):
        raise ValueError(
            f"{name} got kernel={model.kernel!r}; on data in partitions it is "
            "'linear', of features that NystroemMap may have made."
        )
    for parameter, value in needed.items():
        if (got := getattr(model, parameter)) != value:
            raise ValueError(
                f"{name} got {parameter}={got!r}; on data in partitions it is "
                f"{parameter}={value!r}."
            )


class Summary:
    """Facts of all partitions together, checked to agree."""

    def __init__(self, parts: Partitions, build: Callable[..., Any]) -> None:
        self.parts, self.build, self.labels = parts, build, parts.labels
        self.facts: list[PartitionFacts] = parts.each(attrgetter("facts"))
        filled = [k for k, fact in enumerate(self.facts) if fact.n_rows]
        if not filled:
            raise ValueError(f"There are no rows in {len(self.labels)} partition(s).")
        self.first = first = self.facts[filled[0]]
        for number in filled[1:]:
            other = self.facts[number]
            same = other.n_features == first.n_features
            if not same or other.feature_names != first.feature_names:
                raise ValueError(
                    f"{self.labels[number]} has other features than "
                    f"{self.labels[filled[0]]}: {_describe(other)} instead of "
                    f"{_describe(first)}."
                )
        self.is_graded = first.group_names is not None
        self.n_rows: int = self.sum("n_rows")
        self.totals: Floats = np.sum([fact.totals for fact in self.facts], axis=0)

    def sum(self, count: str) -> Any:
        """Return a count of `PartitionFacts`, summed over partitions."""
        return sum(getattr(fact, count) for fact in self.facts)

    def objective(self, ridge: Floats, factor: float = 1.0) -> SummedObjective:
        """Return the sum over all partitions, with a local sample."""
        wanted = max(_SAMPLE, _PER_VARIABLE * self.first.n_features)
        share = min(wanted, LARGEST_SAMPLE) / self.n_rows
        taken = [rows for rows in self.parts.each(methodcaller("take", share)) if rows]
        columns = {k: np.concatenate([rows[k] for rows in taken]) for k in taken[0]}
        sample = self.build(columns)
        scale = self.sum("total") / sample.facts.total
        return SummedObjective(self.parts, ridge, factor, sample=sample, share=scale)

    def refuse_straddling_groups(self) -> None:
        """Refuse groups that lie in more than one partition."""
        names = [
            np.zeros(0) if f.group_names is None else f.group_names for f in self.facts
        ]
        owner = np.repeat(np.arange(len(names)), [len(part) for part in names])
        codes, distinct = factorize(np.concatenate([n for n in names if len(n)]))
        if len(distinct) == len(codes):
            return
        [several] = np.nonzero(np.bincount(codes) > 1)
        one, two = owner[codes == several[0]][:2]
        raise ValueError(
            f"{len(several)} group(s) lie in more than one partition: group "
            f"{str(distinct[several[0]])!r} is in {self.labels[one]} and in "
            f"{self.labels[two]}; without qid all rows are one group."
        )

    def warn_of_comparisons(self) -> None:
        """Warn of odd comparisons; refuse weights that are all zero."""
        left, tie, right = self.totals
        if not self.totals.any():
            check_weights(np.zeros(1), 1)
        if left == 0 and tie and right:
            warn_no_left()
        if n_both_bad := self.sum("n_both_bad"):
            warn_both_bad(n_both_bad, self.n_rows)
        if n_selves := self.sum("n_selves"):
            warn_user(
                f"{n_selves} comparison(s) are of an item with itself and left out.",
                DataWarning,
            )


def _describe(fact: PartitionFacts) -> str:
    if fact.feature_names is None:
        return f"{fact.n_features} columns"
    return ", ".join(fact.feature_names)


def _solve_likelihood(model: Any, summary: Summary) -> dict[str, Any]:
    share = float(summary.totals[1] / summary.totals.sum())
    q, link = summary.first.n_features, LINKS[model.link]
    if share == 1.0:
        warn_one_kind(np.zeros(1, dtype=np.int8))
        solution, t = NewtonSolution(np.zeros(q), 0.0, 0.0, 0, True), math.inf
    else:
        alpha = UNLEARNED if model.alpha == "auto" else float(model.alpha)
        # With no ties at all the tie parameter is no variable.
        start, ridge = np.zeros(q), np.full(q, 2.0 * alpha)
        if share:
            start, ridge = np.append(start, link.start(share)), np.append(ridge, 0.0)
        objective = summary.objective(ridge)
        solution = minimize_newton(
            objective,
            start,
            tol=model.tol,
            max_iter=int(model.max_iter),
            min_iter=1,
            dense=False,
            precondition=objective.preconditioner,
        )
        t = float(solution.x[-1]) if share else link.start(0.0)
    if not solution.converged:
        warn_gap(model, solution.n_iter, solution.gap)
    return {
        **tie_attributes(link, t),
        "classes_": OUTCOMES.copy(),
        "coef_": solution.x[:q],
        **certificate(solution.value, solution),
    }


def _solve_squares(model: RankRLS, summary: Summary) -> dict[str, Any]:
    if (n_features := summary.first.n_features) > LARGEST:
        raise ValueError(
            f"RankRLS on data in partitions forms a matrix of its {n_features} "
            f"features; expected at most {LARGEST}. Try a linear RankSVM."
        )
    H, h, size, square, n_different = summary.parts.sum(attrgetter("sums"))
    n_groups = summary.sum("n_groups")
    if n_different == 0:
        if not summary.is_graded:
            refuse_only_ties(model, summary.n_rows)
        refuse_no_pairs(summary.n_rows, n_groups)
    warn_idle_groups(summary.sum("n_idle_groups"), n_groups)
    drop_constant(H, h, size)
    alpha = float(model.alpha)
    with one_blas_thread():
        solution = RidgeSystem(H, h).solve(alpha)
        x = solution.x
        value = max(square - float(x @ (2.0 * h - H @ x)), 0.0) + alpha * float(x @ x)
    gap = solution.residual / (alpha * value)
    fit = LeastSquaresFit(solution, np.zeros(0), value, gap, not x.any())
    n_pairs = summary.sum("n_pairs")
    return {**fit.fitted(model), "coef_": x, "objective_": value, "n_pairs_": n_pairs}


def _solve_hinges(model: RankSVM, summary: Summary) -> dict[str, Any]:
    q = summary.first.n_features
    n_pairs, n_groups = summary.sum("n_pairs"), summary.sum("n_groups")
    if summary.is_graded:
        if n_pairs == 0:
            refuse_no_pairs(summary.n_rows, n_groups)
        warn_idle_groups(summary.sum("n_idle_groups"), n_groups, EQUAL_GRADES)
    elif model.ties == "ignore" and not summary.totals[[0, 2]].any():
        refuse_only_ties(model, summary.n_rows)
    objective = summary.objective(np.ones(q), float(model.C))
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
        best = minimize_smooth(model, objective, np.zeros(q))
    check_solution(model, best, bool(best.x.any()))
    fitted = {**certificate(best.value, best), "solver_": "newton", "coef_": best.x}
    return {**fitted, "n_pairs_": n_pairs} if summary.is_graded else fitted
