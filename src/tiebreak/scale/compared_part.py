# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of one partition: as hinges, as a likelihood, as counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import ItemTable, Pairs
from tiebreak.data.columns import as_column
from tiebreak.data.comparison_counts import count_comparisons
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    FeatureDesign,
    ListedSquaredHinge,
)
from tiebreak.scale.compared import Compared, read_comparisons
from tiebreak.scale.facts import PartFacts
from tiebreak.scale.linear_part import LinearPart, MovingPart
from tiebreak.scale.parts import n_bytes

__all__ = [
    "ComparedPart",
    "CountedPart",
    "LikelihoodPart",
    "ListedPart",
    "SampledLikelihood",
    "SampledPairs",
    "add_alike",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class ComparedPart:
    """What a partition of comparisons tells of itself."""

    facts: PartFacts

    def _describe(self, compared: Compared | None) -> Pairs | None:
        """Set facts and totals; give the comparisons that count, if there are any."""
        self.totals: Floats = np.zeros(3)
        self.n_selves, self.n_both_bad = 0, 0
        self.facts = PartFacts(0 if compared is None else compared.n_rows)
        if compared is None or not len(compared.pairs):
            return None
        self.totals += np.bincount(compared.outcome + 1, compared.weight, 3)
        self.n_selves, self.n_both_bad = compared.n_selves, compared.n_both_bad
        pairs = compared.pairs
        table = pairs.items
        ends = float(pairs.left.sum()), float(pairs.right.sum())
        self.facts = PartFacts(
            compared.n_rows,
            0 if table is None else table.n_features,
            pairs.feature_names,
            (*self.totals.tolist(), *ends),
        )
        return pairs.compact()


class ListedPart(ComparedPart, LinearPart):
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


class SampledPairs(LinearPart):
    """Squared hinge over differences of features that partitions gave.

    Parameters
    ----------
    samples : list of tuple
        What :meth:`ListedPart.take` gave; at least one is not empty.
    """

    def __init__(self, samples: list[tuple[Any, ...]]) -> None:
        D, weight = _join(samples)
        n = len(D)
        # A difference is an item compared with one that is zero.
        self.A = np.concatenate([D, np.zeros((1, D.shape[1]))])
        self.loss = ListedSquaredHinge(np.arange(n), np.full(n, n), weight, n + 1)
        self.total = float(weight.sum())
        self._fill()


class _Likelihood(MovingPart):
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


class LikelihoodPart(ComparedPart, _Likelihood):
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
        What :meth:`LikelihoodPart.take` gave; at least one is not empty.
    link : str
        Name of the link.
    """

    def __init__(self, samples: list[tuple[Any, ...]], link: str) -> None:
        D, counts = _join(samples)
        self.total = float(counts.sum())
        self._keep(CovariateDesign(-D), counts, link)


class CountedPart(ComparedPart):
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
        added = add_alike(
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


def add_alike(table: pl.DataFrame) -> pl.DataFrame:
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
