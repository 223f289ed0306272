# SPDX-License-Identifier: BSD-3-Clause
r"""What a partition contributes to a fit, and the sum over all partitions.

.. math:: f(x) = \tfrac12 \sum_j ρ_j x_j^2 + c \sum_p f_p(x)

Value, gradient and products with the Hessian are sums over partitions, and a pass over
them costs one vector out and one vector back. The preconditioner is made of a sample of
the rows that is here, so that no matrix travels. Least squares and counts need one pass
and are plain sums.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import (
    Grades,
    ItemTable,
    Outcome,
    Pairs,
    as_items,
    as_pairs,
    check_comparisons,
    check_grades,
    check_outcomes,
    check_weights,
)
from tiebreak.data.columns import as_column
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    FeatureDesign,
    GradeSquaredHinge,
    GradeTree,
    GroupLaplacian,
    ListedSquaredHinge,
    PairLaplacian,
    UtilityLoss,
)
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.outofcore.partitions import (
    PartitionFacts,
    Partitions,
    group_keys,
    n_bytes,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Up to this many variables the Hessian of the sample is formed and factored.
DENSE_VARIABLES = 2000


class SummedObjective:
    """½ Σ ρ_j x_j² + c Σ f_p(x) over partitions; ``ridge`` is ρ and ``factor`` is c.

    The sum over all rows is about that over the ``sample``, which is here, times
    ``share``.
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
        return self._pass("expand", x)[0] + 0.5 * float(self.ridge @ x**2)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Return f and its gradient at x; the Hessian then speaks of x."""
        self._at = x
        value, gradient = self._pass("expand", x)
        return value + 0.5 * float(self.ridge @ x**2), gradient + self.ridge * x

    def hessian_product(self, v: Floats) -> Floats:
        """Return the Hessian at the last expanded point times v."""
        product: Floats = self._pass("hessian_product", self._at, v)[0]
        return product + self.ridge * v

    def hessian_diagonal(self) -> Floats:
        """Return the diagonal of the Hessian at the last expanded point."""
        diagonal: Floats = self._pass("hessian_diagonal", self._at)[0]
        return diagonal + self.ridge

    def hessian(self) -> Floats:
        """Return the Hessian at the last expanded point."""
        hessian: Floats = self._pass("hessian", self._at)[0]
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return hessian

    def preconditioner(self, n_products: int = 0) -> Callable[[Floats], Floats]:
        """Return r to M⁻¹ r for an M near the Hessian at the last expanded point."""
        if self.sample is None or self.n_variables > DENSE_VARIABLES:
            diagonal = np.maximum(self.hessian_diagonal(), np.finfo(float).tiny)
            return lambda r: r / diagonal
        with one_blas_thread():
            M = self.factor * self.share * self.sample.hessian(self._at)
            M.flat[:: len(M) + 1] += self.ridge
            diagonal = np.maximum(M.diagonal(), np.finfo(float).tiny)
            try:
                factor = la.cho_factor(M, lower=True, check_finite=False)
            except la.LinAlgError:  # a feature that the sample does not have
                return lambda r: r / diagonal
        return lambda r: np.asarray(la.cho_solve(factor, r, check_finite=False))

    def _pass(self, method: str, *arguments: Floats) -> tuple[Any, ...]:
        sums = self.parts.sum(partial(_call, method), *arguments)
        return tuple(self.factor * entry for entry in sums)


def _call(method: str, part: PartitionObjective, *arguments: Floats) -> tuple[Any, ...]:
    found = getattr(part, method)(*arguments)
    return found if isinstance(found, tuple) else (found,)


class PartitionObjective:
    """A partition as a smooth convex function; every call names the point.

    It remembers the last point, so that naming it again costs nothing, and goes there
    first if another worker has built it anew. Without rows it is the function zero.
    """

    facts: PartitionFacts
    is_empty = True

    def _fill(self) -> None:
        """Record that there are rows."""
        self.is_empty = False
        self._at: Floats | None = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Return value and gradient at x."""
        if self.is_empty:
            return 0.0, np.zeros(len(x))
        with self._lock:
            self._at = x
            return self._expand(x)

    def hessian_product(self, x: Floats, v: Floats) -> Floats:
        """Return the Hessian at x times v."""
        return self._at_point(x, "_hessian_product", np.zeros(len(x)), v)

    def hessian_diagonal(self, x: Floats) -> Floats:
        """Return the diagonal of the Hessian at x, or what is near it."""
        return self._at_point(x, "_hessian_diagonal", np.zeros(len(x)))

    def hessian(self, x: Floats) -> Floats:
        """Return the Hessian at x."""
        return self._at_point(x, "_hessian", np.zeros((len(x), len(x))))

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        raise NotImplementedError

    def _at_point(
        self, x: Floats, method: str, nothing: Floats, *arguments: Floats
    ) -> Floats:
        """Return what a method of the subclass returns after `_expand` at x."""
        if self.is_empty:
            return nothing
        with self._lock:
            if self._at is None or not np.array_equal(self._at, x):
                self.expand(x)
            found: Floats = getattr(self, method)(*arguments)
            return found


class LinearPartition(PartitionObjective):
    """L(A x) of the rows of a partition."""

    A: Any
    loss: UtilityLoss

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        value, slope = self.loss.expand(forward_product(self.A, x))
        return value, back_product(self.A, slope)

    def _hessian_product(self, v: Floats) -> Floats:
        product = self.loss.hessian_product(forward_product(self.A, v))
        return back_product(self.A, product)

    def _hessian_diagonal(self) -> Floats:
        squares = self.A**2 if isinstance(self.A, np.ndarray) else self.A.power(2)
        return np.asarray(squares.T @ self.loss.hessian_diagonal()).ravel()

    def _hessian(self) -> Floats:
        return self.loss.sketch(self.A, np.iinfo(np.int64).max)


def read_graded_columns(columns: dict[str, Any]) -> tuple[Grades, Floats] | None:
    """Return the checked grades and weights of a partition; None without rows."""
    y = columns.get("y")
    if y is not None and len(as_column(y, "y")) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what concerns all rows is said once, later
        grades = check_grades(columns["X"], y, columns.get("qid"))
        weight = check_partition_weights(columns.get("weight"), len(grades.y))
    return grades, weight


def check_partition_weights(weight: Any, n_rows: int) -> Floats:
    """Check weights; all of a partition may be zero."""
    if weight is not None and not np.any(as_column(weight, "sample_weight") != 0):
        return np.zeros(n_rows)
    return check_weights(weight, n_rows)


class GradedPartition(LinearPartition):
    """Σ c w_i w_j (1 - (u_i - u_j))₊² over the pairs of a partition, with u = X x."""

    def __init__(self, columns: dict[str, Any], per_group: str = "sum") -> None:
        read = read_graded_columns(columns)
        if read is None:
            self.facts, self.group_names = PartitionFacts(0), np.zeros(0)
            return
        grades, weight = read
        self.grades, self.weight = grades, weight
        self.group_names = grades.group_names
        self.tree = GradeTree(grades.y, grades.group, weight, per_group)
        self.A, self.loss = grades.items.values, GradeSquaredHinge(self.tree)
        self.facts = graded_facts(grades, weight, self.tree)
        if self.tree.n_pairs:
            self._fill()

    def take(self, share: float) -> tuple[Any, ...]:
        """Return features, grades, groups and weights of about a share of the rows."""
        if self.is_empty:
            return ()
        rows = self.tree.rows
        if share < 1.0:
            rows = self.tree.sample(max(2, round(share * len(rows))))[0]
        table = self.grades.items.take(rows)
        group = self.grades.group[rows]
        return table.dense(), self.grades.y[rows], group, self.weight[rows]

    def __sizeof__(self) -> int:
        if self.facts.n_rows == 0:
            return 1000
        # Next to the features: the orders and bounds of every level of the tree.
        tree = self.tree
        work = 8 * (tree.n_levels + 1) * len(tree.rows) + 64 * len(tree.rows)
        return n_bytes(self.A, self.grades.y, self.grades.group, self.weight) + work


def graded_facts(grades: Grades, weight: Floats, tree: GradeTree) -> PartitionFacts:
    """Return what is known of a partition of graded items."""
    items, positive = grades.items, weight[weight > 0]
    return PartitionFacts(
        len(grades.y),
        items.n_features,
        items.feature_names,
        tree.n_pairs,
        tree.n_groups,
        tree.n_idle_groups,
        tree.total,
        float(positive.min(initial=np.inf)),
        float(positive.max(initial=0.0)),
        group_keys(grades.group_names),
    )


def join_samples(samples: list[tuple[Any, ...]], per_group: str) -> GradedPartition:
    """Return one partition of the rows that `GradedPartition.take` gave."""
    filled = [sample for sample in samples if sample]
    X, y, group, weight = map(np.concatenate, zip(*filled, strict=True))
    # Groups are numbered in every partition anew.
    n_groups = [sample[2].max() + 1 for sample in filled]
    first = np.repeat(np.cumsum([0, *n_groups[:-1]]), [len(s[1]) for s in filled])
    columns = {"X": as_items(X), "y": y, "qid": first + group, "weight": weight}
    return GradedPartition(columns, per_group)


@dataclass(frozen=True, eq=False)
class Compared:
    """Comparisons of a partition, checked; those of weight zero are left out."""

    pairs: Pairs
    outcome: NDArray[np.int8]
    weight: Floats
    n_rows: int  # that were read
    n_selves: int  # comparisons of an item with itself
    n_both_bad: int  # outcomes that call both items bad
    others: dict[str, NDArray[Any]]  # further columns


def read_comparisons(
    columns: dict[str, Any],
    items: ItemTable | None = None,
    names: NDArray[Any] | None = None,
) -> Compared | None:
    """Return the checked comparisons of a partition; None without rows."""
    # Columns are y, maybe weight, and either X, of shape (n, 2, n_features), or left
    # and right. Outcomes are numbers -1, 0, +1, or words.
    if columns.get("y") is None:
        check_outcomes(None, 0)
    y = as_column(columns["y"], "y")
    if len(y) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what concerns all rows is said once, later
        if "X" in columns:
            pairs = as_pairs(np.asarray(columns["X"]))
        else:
            pairs = Pairs(items, columns["left"], columns["right"], names=names)
        n_both_bad = 0
        if y.dtype.kind in "OU":
            n_both_bad = int(Outcome.is_both_bad(y).sum())
            left = right = None
            if pairs.names is not None:
                left, right = pairs.names[pairs.left], pairs.names[pairs.right]
            outcome = Outcome.parse(y, left=left, right=right)
        else:
            outcome = check_outcomes(y, len(pairs), some=True)
        check_comparisons(pairs, outcome)
        weight = check_partition_weights(columns.get("weight"), len(pairs))
    kept = weight > 0
    n_selves = int(np.count_nonzero(kept & (pairs.left == pairs.right)))
    if not kept.all():
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
    others = {
        role: np.asarray(as_column(column, role))[kept]
        for role, column in columns.items()
        if role not in ("X", "left", "right", "y", "weight")
    }
    return Compared(pairs, outcome, weight, len(y), n_selves, n_both_bad, others)


class ComparedPartition:
    """A partition of comparisons, which knows its totals of left, tie and right.

    What else is made of them, if there are any, `_build` of a subclass says.
    """

    _build: Callable[..., None]

    def __init__(
        self,
        columns: dict[str, Any],
        items: ItemTable | None = None,
        names: NDArray[Any] | None = None,
        **options: str,
    ) -> None:
        compared = read_comparisons(columns, items, names)
        self.totals: Floats = np.zeros(3)
        self.n_selves, self.n_both_bad = 0, 0
        self.facts = PartitionFacts(0 if compared is None else compared.n_rows)
        if compared is None or not len(compared.pairs):
            return
        self.totals += np.bincount(compared.outcome + 1, compared.weight, 3)
        self.n_selves, self.n_both_bad = compared.n_selves, compared.n_both_bad
        pairs = compared.pairs
        self.facts = PartitionFacts(
            compared.n_rows,
            0 if pairs.items is None else pairs.items.n_features,
            pairs.feature_names,
        )
        self._build(replace(compared, pairs=pairs.compact()), **options)


class ListedPartition(ComparedPartition, LinearPartition):
    """Squared hinge over the comparisons of a partition, of items with features."""

    loss: ListedSquaredHinge

    def _build(self, compared: Compared, ties: str = "ignore") -> None:
        pairs = compared.pairs
        listed = _list_pairs(pairs, compared.outcome, compared.weight, ties)
        self.A = pairs.values
        self.loss = ListedSquaredHinge(*listed, pairs.n_items)
        if len(listed[0]):
            self._fill()

    def take(self, share: float) -> tuple[Any, ...]:
        """Return differences of the features, better minus worse, and weights."""
        if self.is_empty:
            return ()
        loss, chosen = self.loss, _draw_rows(len(self.loss.better), share)
        difference = self.A[loss.better[chosen]] - self.A[loss.worse[chosen]]
        return _dense(difference), loss.weight[chosen]

    def __sizeof__(self) -> int:
        return 1000 if self.is_empty else n_bytes(self.A) + 64 * len(self.loss.better)


class SampledPairs(LinearPartition):
    """Squared hinge over differences of features that partitions gave."""

    def __init__(self, samples: list[tuple[Any, ...]]) -> None:
        D, weight = _join(samples)
        n = len(D)
        # A difference is an item compared with one that is zero.
        self.A = np.concatenate([D, np.zeros((1, D.shape[1]))])
        self.loss = ListedSquaredHinge(np.arange(n), np.full(n, n), weight, n + 1)
        self.total = float(weight.sum())
        self._fill()


class _Likelihood(PartitionObjective):
    """A likelihood as a function of weights and, where there are ties, of t."""

    def _keep(self, design: Design, counts: Floats, link: str) -> None:
        self._design, self._counts, self._link = design, counts, link
        self._fill()

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        link, q = LINKS[self._link], self._design.n_coef
        # Without a variable for it, the tie parameter is that of no ties at all.
        tie = None if len(x) > q else link.start(0.0)
        given = self._design, link, self._counts, np.zeros(q)
        self._objective = ComparisonObjective(*given, tie=tie)
        return self._objective.expand(x)

    def _hessian_product(self, v: Floats) -> Floats:
        return self._objective.hessian_product(v)

    def _hessian_diagonal(self) -> Floats:
        return self._objective.hessian_diagonal()

    def _hessian(self) -> Floats:
        return self._objective.hessian()


class LikelihoodPartition(ComparedPartition, _Likelihood):
    """-Σ s ln P(y) over the comparisons of a partition, of items with features."""

    def _build(self, compared: Compared, link: str = "davidson") -> None:
        pairs = compared.pairs
        table, code = pairs.table.unique()
        outcome, weight = compared.outcome, compared.weight
        left, right = code[pairs.left], code[pairs.right]
        cells = count_comparisons(left, right, outcome, weight, table.n_items)
        design = FeatureDesign(table.values, cells.left, cells.right)
        self._keep(design, cells.counts, link)

    def take(self, share: float) -> tuple[Any, ...]:
        """Return differences of the features, right minus left, and counts."""
        if self.is_empty:
            return ()
        design, chosen = self._design, _draw_rows(len(self._counts), share)
        assert isinstance(design, FeatureDesign)
        left, right = design.items.left[chosen], design.items.right[chosen]
        difference = design.features[right] - design.features[left]
        return _dense(difference), self._counts[chosen]

    def __sizeof__(self) -> int:
        if self.is_empty:
            return 1000
        assert isinstance(self._design, FeatureDesign)
        return n_bytes(self._design.features) + 120 * len(self._counts)


class SampledLikelihood(_Likelihood):
    """A likelihood over differences of features that partitions gave."""

    def __init__(self, samples: list[tuple[Any, ...]], link: str) -> None:
        D, counts = _join(samples)
        self.total = float(counts.sum())
        self._keep(CovariateDesign(-D), counts, link)


class CountedPartition(ComparedPartition):
    """Equal comparisons of a partition, added up; other columns tell rows apart."""

    table: pl.DataFrame | None = None

    def _build(self, compared: Compared) -> None:
        pairs, names = compared.pairs, np.asarray(compared.pairs.names)
        columns = {"left": pairs.left, "right": pairs.right, "y": compared.outcome}
        columns |= {"weight": compared.weight, **compared.others}
        added = add_equal(pl.DataFrame(columns))
        named = (pl.Series(s, names[added[s].to_numpy()]) for s in ("left", "right"))
        self.table = added.with_columns(*named)


def add_equal(table: pl.DataFrame) -> pl.DataFrame:
    """Add up the weights of rows that agree in all else, in order of appearance."""
    keys = [name for name in table.columns if name != "weight"]
    return table.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())


def _list_pairs(
    pairs: Pairs, outcome: NDArray[np.int8], weight: Floats, ties: str
) -> tuple[Codes, Codes, Floats]:
    """Return the better and the worse item of every pair, and its weight."""
    left, right, decided = pairs.left, pairs.right, outcome != 0
    better = np.where(outcome > 0, right, left)[decided]
    worse = np.where(outcome > 0, left, right)[decided]
    if ties != "both":
        return better, worse, weight[decided]
    tied = ~decided
    return (
        np.concatenate([better, right[tied], left[tied]]),
        np.concatenate([worse, left[tied], right[tied]]),
        np.concatenate([2.0 * weight[decided], weight[tied], weight[tied]]),
    )


def _draw_rows(n: int, share: float) -> Codes:
    if share >= 1.0:
        return np.arange(n)
    size = min(n, max(1, round(share * n)))
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


def _join(samples: list[tuple[Any, ...]]) -> tuple[Floats, Floats]:
    first, second = zip(*(sample for sample in samples if sample), strict=True)
    return np.concatenate(first), np.concatenate(second)


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if sp.issparse(values) else values)


class _Squares:
    """AᵀLA, AᵀBᵀt, ‖t‖², the squares of A weighed by the diagonal of L, and a count.

    L = BᵀB is a Laplacian and t a target; the count is that of differences that are
    not zero. There are no sums of a partition without rows.
    """

    facts: PartitionFacts
    sums: tuple[Any, ...] = ()

    def _add(
        self, table: ItemTable, laplacian: Any, target: Floats, count: int
    ) -> None:
        A = table.values
        squares = A.multiply(A) if table.is_sparse else A**2
        self.sums = (
            np.asarray(laplacian.quadratic(A)),
            np.asarray(A.T @ laplacian.root_transpose(target)),
            float(target @ target),
            np.asarray(squares.T @ laplacian.diagonal()).ravel(),
            count,
        )

    def __sizeof__(self) -> int:
        arrays = [entry for entry in self.sums if isinstance(entry, np.ndarray)]
        return n_bytes(*arrays) + 1000


class GradedSquares(_Squares):
    """Sums over all pairs of graded items of a partition."""

    def __init__(self, columns: dict[str, Any], per_group: str = "sum") -> None:
        read = read_graded_columns(columns)
        self.facts, self.group_names = PartitionFacts(0), np.zeros(0)
        if read is None:
            return
        grades, weight = read
        self.group_names = grades.group_names
        tree = GradeTree(grades.y, grades.group, weight)
        size = np.bincount(grades.group[weight > 0.0], minlength=grades.n_groups)
        # A group of one has no pair; a group of equal grades has, and they say "equal".
        weight = np.where(size[grades.group] > 1, weight, 0.0)
        self.facts = replace(
            graded_facts(grades, weight, tree),
            n_pairs=int((size * (size - 1) // 2).sum()),
            n_idle_groups=int((size == 1).sum()),
        )
        laplacian = GroupLaplacian(grades.group, weight, per_group)
        self._add(grades.items, laplacian, laplacian.root(grades.y), tree.n_pairs)


class ComparedSquares(ComparedPartition, _Squares):
    """Sums over the comparisons of a partition: right - left is to be -1, 0 or 1."""

    def _build(self, compared: Compared) -> None:
        pairs = compared.pairs
        weight = compared.weight
        laplacian = PairLaplacian(pairs.left, pairs.right, weight, pairs.n_items)
        target: Floats = np.sqrt(weight) * compared.outcome.astype(float)
        self.facts = replace(self.facts, n_pairs=len(pairs))
        count = int(np.count_nonzero(compared.outcome))
        self._add(pairs.table, laplacian, target, count)
