# SPDX-License-Identifier: BSD-3-Clause
r"""What a partition contributes to a fit, and the sum over all partitions.

.. math:: f(x) = \tfrac12 \sum_j ρ_j x_j^2 + c \sum_p f_p(x)

Value, gradient and products with the Hessian are sums over partitions. The
preconditioner is made of a local sample of the rows, so that no matrix travels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import (
    Comparisons,
    Grades,
    ItemTable,
    Outcome,
    Pairs,
    check_grades,
    check_outcomes,
    check_weights,
)
from tiebreak.data.arrays import Floats
from tiebreak.data.columns import as_column
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    FeatureDesign,
    GradeSquaredHinge,
    GradeTree,
    GroupLaplacian,
    Laplacian,
    PairLaplacian,
    UtilityLoss,
)
from tiebreak.losses.linear_objective import (
    back_product,
    forward_product,
    solve_near,
    weigh_squares,
)
from tiebreak.models.problem import pair_problem
from tiebreak.models.svm.duals import list_hinges
from tiebreak.models.svm.rank_svm import RankSVM
from tiebreak.outofcore.partitions import Partitions

# A sample has at most so many rows.
LARGEST_SAMPLE = 16_000
# Up to this many variables the Hessian of the sample is formed and factored.
DENSE_VARIABLES = 2000


@dataclass(frozen=True, eq=False)
class PartitionFacts:
    """Size, features and counts of a partition."""

    n_rows: int = 0
    n_features: int = 0
    feature_names: tuple[str, ...] | None = None
    n_pairs: int = 0
    total: float = 0.0  # weight of the pairs
    # Of graded items
    n_groups: int = 0
    n_idle_groups: int = 0  # groups without a pair
    group_names: NDArray[Any] | None = None
    # Of comparisons
    totals: Floats = field(default_factory=lambda: np.zeros(3))  # left, tie and right
    n_selves: int = 0  # of an item with itself
    n_both_bad: int = 0  # outcomes that call both items bad


class SummedObjective:
    """½ Σ ρ_j x_j² + c Σ f_p(x) over partitions; ``ridge`` is ρ and ``factor`` is c.

    The sum over all rows is about that over the local ``sample``, times ``share``.
    """

    def __init__(
        self,
        parts: Partitions,
        ridge: Floats,
        factor: float = 1.0,
        *,
        sample: PartitionObjective | None = None,
        share: float = 1.0,
    ) -> None:
        self.parts, self.ridge, self.factor = parts, ridge, factor
        self.sample, self.share = sample, share
        self.n_variables = len(ridge)
        self.convexity = float(ridge.min())
        self.max_products = 20 + 2 * self.n_variables

    def value(self, x: Floats) -> float:
        """Return f(x)."""
        return self.expand(x)[0]

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Return f and its gradient at x; keep x for the Hessian."""
        self._at = x
        value, gradient = self._pass("expand")
        value = value + 0.5 * float(self.ridge @ x**2)
        return value, gradient + self.ridge * x

    def hessian_product(self, v: Floats) -> Floats:
        """Return the Hessian at the last expanded point times v."""
        return np.asarray(self._pass("hessian_product", v)[0] + self.ridge * v)

    def hessian_diagonal(self) -> Floats:
        """Return the diagonal of the Hessian at the last expanded point."""
        return np.asarray(self._pass("hessian_diagonal")[0] + self.ridge)

    def hessian(self) -> Floats:
        """Return the Hessian at the last expanded point."""
        return np.asarray(self._pass("hessian")[0] + np.diag(self.ridge))

    def _pass(self, method: str, *arguments: Floats) -> tuple[Any, ...]:
        work = partial(PartitionObjective.work, method=method)
        sums = self.parts.sum(work, self._at, *arguments)
        return tuple(self.factor * entry for entry in sums)

    def preconditioner(self, n_products: int = 0) -> Callable[[Floats], Floats]:
        """Return r to M⁻¹ r for an M near the Hessian."""
        sample = self.sample
        if sample is None or sample.is_empty or self.n_variables > DENSE_VARIABLES:
            diagonal = np.maximum(self.hessian_diagonal(), np.finfo(float).tiny)
            return lambda r: r / diagonal
        with one_blas_thread():
            [hessian] = sample.work(self._at, method="hessian")
            M = self.factor * self.share * hessian
            M.flat[:: len(M) + 1] += self.ridge
            return solve_near(M, np.finfo(float).tiny)


class PartitionObjective:
    """A partition as a smooth convex function; every call names the point.

    The last point is kept, and evaluated again on a worker that builds it anew.
    """

    facts = PartitionFacts()
    is_empty = True  # whether nothing is to be learned from it
    A: Any
    loss: Any
    _at: Floats | None = None

    def work(self, x: Floats, *arguments: Floats, method: str) -> tuple[Any, ...]:
        """Return the result of a method at x; 0 without rows."""
        if self.is_empty:
            return (0.0, 0.0) if method == "expand" else (0.0,)
        if self._at is None:
            self._objective = self._make_objective(len(x))
        if method == "expand" or not np.array_equal(self._at, x):  # type: ignore[arg-type]
            self._at, expanded = x, self._objective.expand(x)
            if method == "expand":
                return expanded
        return (getattr(self._objective, method)(*arguments),)

    def _make_objective(self, n_variables: int) -> Any:
        return UtilityObjective(self.A, self.loss)


class UtilityObjective:
    """L(A x), without a penalty."""

    def __init__(self, A: Any, loss: UtilityLoss) -> None:
        self.A, self.loss = A, loss

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Return value and gradient at x."""
        value, slope = self.loss.expand(forward_product(self.A, x))
        return value, back_product(self.A, slope)

    def hessian_product(self, v: Floats) -> Floats:
        """Return the Hessian at the last point times v."""
        product = self.loss.hessian_product(forward_product(self.A, v))
        return back_product(self.A, product)

    def hessian_diagonal(self) -> Floats:
        """Return the diagonal of the Hessian, or an approximation."""
        return weigh_squares(self.A, self.loss.hessian_diagonal())

    def hessian(self) -> Floats:
        """Return the Hessian at the last point."""
        return self.loss.sketch(self.A, np.iinfo(np.int64).max)


def check_partition_weights(weight: Any, n_rows: int) -> Floats:
    """Check weights; all of a partition may be zero."""
    if weight is not None and not np.any(as_column(weight, "sample_weight") != 0):
        return np.zeros(n_rows)
    return check_weights(weight, n_rows)


class GradedRows:
    """Graded rows of a partition, checked."""

    facts = PartitionFacts()
    _build: Callable[..., None]

    def __init__(self, columns: dict[str, Any], per_group: str = "sum") -> None:
        if len(y := as_column(columns["y"], "y")) == 0:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what concerns all rows is said once
            grades = check_grades(columns["X"], y, columns.get("qid"))
            weight = check_partition_weights(columns.get("weight"), len(y))
        tree = GradeTree(grades.y, grades.group, weight, per_group)
        self.facts = PartitionFacts(
            len(y),
            grades.items.n_features,
            grades.items.feature_names,
            n_pairs=tree.n_pairs,
            n_groups=tree.n_groups,
            n_idle_groups=tree.n_idle_groups,
            total=tree.total,
            group_names=grades.group_names,
        )
        self._build(grades, weight, tree)


class GradedPartition(GradedRows, PartitionObjective):
    """Σ c w_i w_j (1 - (u_i - u_j))₊² over the pairs of a partition, with u = X x."""

    def _build(self, grades: Grades, weight: Floats, tree: GradeTree) -> None:
        self.grades, self.weight, self.tree = grades, weight, tree
        self.A, self.loss = grades.items.values, GradeSquaredHinge(tree)
        self.is_empty = not tree.n_pairs

    def take(self, share: float) -> dict[str, Any]:
        """Return the columns of about a share of the rows; none without pairs."""
        if self.is_empty:
            return {}
        grades, rows = self.grades, self.tree.rows
        if share < 1.0:
            rows = self.tree.sample(max(2, round(share * len(rows))))[0]
        groups = grades.group_names[grades.group[rows]]
        X, y = grades.items.take(rows).dense(), grades.y[rows]
        return {"X": X, "y": y, "qid": groups, "weight": self.weight[rows]}


class ComparedPartition:
    """Comparisons of a partition, checked; those of weight zero are left out.

    Columns are left, right, y and maybe weight; outcomes are -1, 0, +1, or words.
    `_build` of a subclass computes what it needs.
    """

    facts = PartitionFacts()
    _build: Callable[..., None]

    def __init__(
        self,
        columns: dict[str, Any],
        items: ItemTable,
        names: NDArray[Any],
        **options: str,
    ) -> None:
        if len(y := as_column(columns["y"], "y")) == 0:
            return
        n_both_bad = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said once, of all rows
            left, right = columns["left"], columns["right"]
            pairs = Pairs(items, left, right, names=names)
            if y.dtype.kind in "OU":
                n_both_bad = int(Outcome.is_both_bad(y).sum())
                outcome = Outcome.parse(y, left=left, right=right)
            else:
                outcome = check_outcomes(y, len(pairs), some=True)
            weight = check_partition_weights(columns.get("weight"), len(pairs))
        selves = pairs.left == pairs.right
        n_selves = int(np.count_nonzero(weight[selves]))
        weight[selves] = 0.0
        kept = np.flatnonzero(weight)
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
        self.facts = PartitionFacts(
            len(y),
            pairs.table.n_features,
            pairs.feature_names,
            n_pairs=len(pairs),
            total=float(weight.sum()),
            totals=np.bincount(outcome + 1, weight, 3).astype(np.float64),
            n_selves=n_selves,
            n_both_bad=n_both_bad,
        )
        if len(pairs):
            n = min(len(pairs), LARGEST_SAMPLE)
            some = np.random.default_rng(0).choice(len(pairs), n, replace=False)
            sides = names[pairs.left[some]], names[pairs.right[some]]
            self._some: tuple[Any, ...] = *sides, outcome[some], weight[some]
            self._build(pairs.compact(), outcome, weight, **options)

    def take(self, share: float) -> dict[str, Any]:
        """Return the columns of about a share of the rows; none without rows."""
        if not self.facts.n_pairs:
            return {}
        n = max(1, round(share * self.facts.n_pairs))
        columns = zip(("left", "right", "y", "weight"), self._some, strict=True)
        return {name: column[:n] for name, column in columns}


class ListedPartition(ComparedPartition, PartitionObjective):
    """Squared hinge over the comparisons of a partition, of items with features."""

    def _build(
        self, pairs: Pairs, outcome: Any, weight: Floats, ties: str = "ignore"
    ) -> None:
        data = Comparisons(pairs, outcome, weight, rows=np.arange(len(pairs)))
        problem = pair_problem(RankSVM(kernel="linear"), data)
        self.A, self.loss = problem.items.design, list_hinges(problem, ties)[0]
        self.is_empty = not len(self.loss.weight)


class LikelihoodPartition(ComparedPartition, PartitionObjective):
    """-Σ s ln P(y) of a partition, in weights and, with ties, t."""

    def _build(
        self, pairs: Pairs, outcome: Any, weight: Floats, link: str = "davidson"
    ) -> None:
        table, code = pairs.table.unique()
        left, right = code[pairs.left], code[pairs.right]
        cells = count_comparisons(left, right, outcome, weight, table.n_items)
        self._design = FeatureDesign(table.values, cells.left, cells.right)
        self._counts, self._link, self.is_empty = cells.counts, LINKS[link], False

    def _make_objective(self, n_variables: int) -> ComparisonObjective:
        design, link, q = self._design, self._link, self._design.n_coef
        # Without a variable for it, the tie parameter is that of no ties at all.
        tie = None if n_variables > q else link.start(0.0)
        return ComparisonObjective(design, link, self._counts, np.zeros(q), tie=tie)


class SquaresPartition:
    """AᵀLA, AᵀBᵀt, the squares of A weighed by the diagonal of L, ‖t‖², and a count.

    L = BᵀB is a Laplacian and t a target; the count is that of nonzero differences.
    """

    sums: tuple[Any, ...] = (0.0, 0.0, 0.0, 0.0, 0)

    def _add(self, A: Any, laplacian: Laplacian, target: Floats, count: int) -> None:
        form = laplacian.form(A, laplacian.root_transpose(target))
        self.sums = *form, float(target @ target), count


class GradedSquares(GradedRows, SquaresPartition):
    """Sums over all pairs of graded items of a partition."""

    def _build(self, grades: Grades, weight: Floats, tree: GradeTree) -> None:
        size = np.bincount(grades.group[weight > 0.0], minlength=grades.n_groups)
        # A group of one has no pair; a group of equal grades has, and they say "equal".
        weight = np.where(size[grades.group] > 1, weight, 0.0)
        self.facts = replace(
            self.facts,
            n_pairs=int((size * (size - 1) // 2).sum()),
            n_idle_groups=int((size == 1).sum()),
        )
        laplacian = GroupLaplacian(grades.group, weight, tree.per_group)
        target = laplacian.root(grades.y)
        self._add(grades.items.values, laplacian, target, tree.n_pairs)


class ComparedSquares(ComparedPartition, SquaresPartition):
    """Sums over the comparisons of a partition."""

    def _build(self, pairs: Pairs, outcome: Any, weight: Floats) -> None:
        laplacian = PairLaplacian(pairs.left, pairs.right, weight, pairs.n_items)
        target = np.sqrt(weight) * outcome
        count = int(np.count_nonzero(outcome))
        self._add(pairs.values, laplacian, target, count)
