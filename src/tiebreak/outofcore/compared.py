# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of one partition: as hinges, as a likelihood, as counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import (
    ItemTable,
    Outcome,
    Pairs,
    as_pairs,
    check_comparisons,
    check_outcomes,
)
from tiebreak.data.columns import as_column
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    FeatureDesign,
    GradeTree,
    GroupLaplacian,
    Laplacian,
    ListedSquaredHinge,
    PairLaplacian,
)
from tiebreak.outofcore.graded import (
    LinearPartition,
    MovingPartition,
    check_part_weights,
    graded_facts,
    read_graded_columns,
)
from tiebreak.outofcore.partitions import PartitionFacts, n_bytes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Compared:
    """Comparisons of a partition, checked; those of weight zero are left out.

    Attributes
    ----------
    pairs : Pairs
        The comparisons.
    outcome : ndarray of int8 of shape (n,)
        Outcomes.
    weight : ndarray of shape (n,)
        Weights, all positive.
    n_rows : int
        Number of rows that were read.
    n_selves : int
        Comparisons of an item with itself.
    n_both_bad : int
        Outcomes that call both items bad.
    kept : ndarray of bool of shape (n_rows,)
        Rows of positive weight.
    """

    pairs: Pairs
    outcome: NDArray[np.int8]
    weight: Floats
    n_rows: int
    n_selves: int
    n_both_bad: int
    kept: NDArray[np.bool_]


def read_comparisons(
    columns: dict[str, Any],
    items: ItemTable | None = None,
    names: NDArray[Any] | None = None,
) -> Compared | None:
    """Check the comparisons of a partition.

    Parameters
    ----------
    columns : dict
        y, maybe weight, and either X, of shape (n, 2, n_features), or left and right.
        Outcomes are numbers -1, 0, +1, or words.
    items : ItemTable, optional
        Features of the items.
    names : ndarray of shape (N,), optional
        Their names.

    Returns
    -------
    Compared or None
        None without rows.
    """
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
            outcome = check_outcomes(y, len(pairs))
        check_comparisons(pairs, outcome)
        weight = check_part_weights(columns.get("weight"), len(pairs))
    kept = weight > 0
    n_selves = int(np.count_nonzero(kept & (pairs.left == pairs.right)))
    if not kept.all():
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
    return Compared(pairs, outcome, weight, len(y), n_selves, n_both_bad, kept)


Codes = NDArray[np.int64]


class ComparedPartition:
    """What a partition of comparisons tells of itself."""

    facts: PartitionFacts

    def _describe(self, compared: Compared | None) -> Pairs | None:
        """Set facts and totals; give the comparisons that count, if there are any."""
        self.totals: Floats = np.zeros(3)
        self.n_selves, self.n_both_bad = 0, 0
        self.facts = PartitionFacts(0 if compared is None else compared.n_rows)
        if compared is None or not len(compared.pairs):
            return None
        self.totals += np.bincount(compared.outcome + 1, compared.weight, 3)
        self.n_selves, self.n_both_bad = compared.n_selves, compared.n_both_bad
        pairs = compared.pairs
        table = pairs.items
        ends = float(pairs.left.sum()), float(pairs.right.sum())
        self.facts = PartitionFacts(
            compared.n_rows,
            0 if table is None else table.n_features,
            pairs.feature_names,
            (*self.totals.tolist(), *ends),
        )
        return pairs.compact()


class ListedPartition(ComparedPartition, LinearPartition):
    """Squared hinge over the comparisons of a partition, of items with features.

    Parameters
    ----------
    columns : dict
        As in :func:`read_comparisons`.
    items, names
        As there.
    ties : {"ignore", "both"}
        With ``"both"`` a tie counts once in each direction and all else twice.
    """

    loss: ListedSquaredHinge

    def __init__(
        self,
        columns: dict[str, Any],
        items: ItemTable | None = None,
        names: NDArray[Any] | None = None,
        ties: str = "ignore",
    ) -> None:
        compared = read_comparisons(columns, items, names)
        pairs = self._describe(compared)
        if compared is None or pairs is None:
            return
        listed = _list_pairs(pairs, compared.outcome, compared.weight, ties)
        self.A = pairs.values
        self.loss = ListedSquaredHinge(*listed, pairs.n_items)
        if len(listed[0]):
            self._fill()

    def take(self, share: float) -> tuple[Any, ...]:
        """Give differences of the features, better minus worse, and weights.

        Parameters
        ----------
        share : float
            About which part of the pairs.

        Returns
        -------
        tuple of ndarray
            Differences and weights; nothing without pairs.
        """
        if self.is_empty:
            return ()
        loss, chosen = self.loss, _draw_rows(len(self.loss.better), share)
        difference = self.A[loss.better[chosen]] - self.A[loss.worse[chosen]]
        return _dense(difference), loss.weight[chosen]

    def __sizeof__(self) -> int:
        if self.is_empty:
            return 1000
        return n_bytes(self.A) + 64 * len(self.loss.better)


class SampledPairs(LinearPartition):
    """Squared hinge over differences of features that partitions gave.

    Parameters
    ----------
    samples : list of tuple
        What :meth:`ListedPartition.take` gave; at least one is not empty.
    """

    def __init__(self, samples: list[tuple[Any, ...]]) -> None:
        D, weight = _join(samples)
        n = len(D)
        # A difference is an item compared with one that is zero.
        self.A = np.concatenate([D, np.zeros((1, D.shape[1]))])
        self.loss = ListedSquaredHinge(np.arange(n), np.full(n, n), weight, n + 1)
        self.total = float(weight.sum())
        self._fill()


class _Likelihood(MovingPartition):
    """A likelihood as a function of weights and, where there are ties, of t."""

    def _keep(self, design: Design, counts: Floats, link: str) -> None:
        self._design, self._counts, self._link = design, counts, link
        self._fill()

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        link, q = LINKS[self._link], self._design.n_coef
        # Without a variable for it, the tie parameter is that of no ties at all.
        tie = None if len(x) > q else link.start(0.0)
        self._objective = ComparisonObjective(
            self._design, link, self._counts, np.zeros(q), tie=tie
        )
        return self._objective.expand(x)

    def _hessian_product(self, v: Floats) -> Floats:
        return self._objective.hessian_product(v)

    def _hessian_diagonal(self) -> Floats:
        return self._objective.hessian_diagonal()

    def _hessian(self) -> Floats:
        return self._objective.hessian()


class LikelihoodPartition(ComparedPartition, _Likelihood):
    """-Σ s ln P(y) over the comparisons of a partition, of items with features.

    Parameters
    ----------
    columns : dict
        As in :func:`read_comparisons`.
    items, names
        As there.
    link : str
        Name of the link.
    """

    def __init__(
        self,
        columns: dict[str, Any],
        items: ItemTable | None = None,
        names: NDArray[Any] | None = None,
        link: str = "davidson",
    ) -> None:
        compared = read_comparisons(columns, items, names)
        pairs = self._describe(compared)
        if compared is None or pairs is None:
            return
        table, code = pairs.table.unique()
        cells = count_comparisons(
            code[pairs.left],
            code[pairs.right],
            compared.outcome,
            compared.weight,
            table.n_items,
        )
        design = FeatureDesign(table.values, cells.left, cells.right)
        self._keep(design, cells.counts, link)

    def take(self, share: float) -> tuple[Any, ...]:
        """Give differences of the features, right minus left, and counts.

        Parameters
        ----------
        share : float
            About which part of the rows.

        Returns
        -------
        tuple of ndarray
            Differences and counts; nothing without rows.
        """
        if self.is_empty:
            return ()
        design, chosen = self._design, _draw_rows(len(self._counts), share)
        assert isinstance(design, FeatureDesign)
        left, right = design.items.left[chosen], design.items.right[chosen]
        return _dense(design.features[right] - design.features[left]), self._counts[
            chosen
        ]

    def __sizeof__(self) -> int:
        if self.is_empty:
            return 1000
        assert isinstance(self._design, FeatureDesign)
        return n_bytes(self._design.features) + 120 * len(self._counts)


class SampledLikelihood(_Likelihood):
    """A likelihood over differences of features that partitions gave.

    Parameters
    ----------
    samples : list of tuple
        What :meth:`LikelihoodPartition.take` gave; at least one is not empty.
    link : str
        Name of the link.
    """

    def __init__(self, samples: list[tuple[Any, ...]], link: str) -> None:
        D, counts = _join(samples)
        self.total = float(counts.sum())
        self._keep(CovariateDesign(-D), counts, link)


class CountedPartition(ComparedPartition):
    """Alike comparisons of a partition, added up.

    Parameters
    ----------
    columns : dict
        As in :func:`read_comparisons`, and further columns that tell rows apart.
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        compared = read_comparisons(columns)
        pairs = self._describe(compared)
        self.table: pl.DataFrame | None = None
        if compared is None or pairs is None:
            return
        assert pairs.names is not None
        names = np.asarray(pairs.names)
        others = {
            role: np.asarray(as_column(column, role))[compared.kept]
            for role, column in columns.items()
            if role not in ("left", "right", "y", "weight")
        }
        added = add_equal(
            pl.DataFrame(
                {
                    "left": pairs.left,
                    "right": pairs.right,
                    "y": compared.outcome,
                    "weight": compared.weight,
                    **others,
                }
            )
        )
        self.table = added.with_columns(
            pl.Series("left", names[added["left"].to_numpy()]),
            pl.Series("right", names[added["right"].to_numpy()]),
        )


def add_equal(table: pl.DataFrame) -> pl.DataFrame:
    """Add up the weights of rows that agree in all else, in order of appearance.

    Parameters
    ----------
    table : polars.DataFrame
        With a column ``weight``.

    Returns
    -------
    polars.DataFrame
    """
    keys = [name for name in table.columns if name != "weight"]
    return table.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())


def _list_pairs(
    pairs: Pairs, outcome: NDArray[np.int8], weight: Floats, ties: str
) -> tuple[Codes, Codes, Floats]:
    """Give the better and the worse item of every pair, and its weight."""
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
        self, table: ItemTable, laplacian: Laplacian, target: Floats, count: int
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
    """Sums over all pairs of graded items of a partition.

    Parameters
    ----------
    columns : dict
        X, y, and maybe qid and weight.
    per_group : {"sum", "mean"}
        Whether the pair sum of a group is divided by its size.
    """

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


class ComparedSquares(_Squares, ComparedPartition):
    """Sums over the comparisons of a partition: right - left is to be -1, 0 or 1.

    Parameters
    ----------
    columns : dict
        As in :func:`read_comparisons`.
    items, names
        As there.
    """

    def __init__(
        self,
        columns: dict[str, Any],
        items: ItemTable | None = None,
        names: NDArray[Any] | None = None,
    ) -> None:
        compared = read_comparisons(columns, items, names)
        pairs = self._describe(compared)
        if compared is None or pairs is None:
            return
        laplacian = PairLaplacian(
            pairs.left, pairs.right, compared.weight, pairs.n_items
        )
        target: Floats = np.sqrt(compared.weight) * compared.outcome.astype(float)
        self.facts = replace(self.facts, n_pairs=len(pairs))
        count = int(np.count_nonzero(compared.outcome))
        self._add(pairs.table, laplacian, target, count)
