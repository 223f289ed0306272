# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as counts, and the graph of who met whom and who never lost to whom.

Strengths of maximum likelihood are finite exactly when the graph with an edge from
winner to loser, and both ways for a tie, is strongly connected.

Equal comparisons (of the same two items with the same covariates) make one cell, the
item with the lower number on the left; turning a comparison around exchanges its
outcome and the signs of covariates. Comparisons of weight 0, or of an item with itself,
are absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import number_keys, plain_values
from tiebreak.data.jit import njit
from tiebreak.data.messages import first_of
from tiebreak.data.pairs import Pairs

# The table of all pairs is used while it is not much larger than the data.
_TABLE_PER_ROW, _SMALL_TABLE = 4, 1_000_000


@dataclass(frozen=True, eq=False)
class ComparisonCounts:
    """Comparisons summed by cell."""

    left: Codes  # (m,) the two items of each cell, left ≤ right
    right: Codes
    counts: Floats  # (m, 3) summed weights of outcomes left, tie, right
    covariates: Floats  # (m, q) covariates of each cell, in favor of left; q may be 0
    # (n_raters, 3 m) counts of each rater by itself; column 3 k + c: outcome c, cell k.
    by_rater: sp.csr_array | None = None

    def tally(self, n_items: int, members: Any = None) -> tuple[Floats, Floats, Floats]:
        """Sum wins, ties and losses of every item, or member of sides; shape (N,)."""
        n_sides = n_items if members is None else members.shape[0]

        def per_item(of_left: Any, of_right: Any) -> Floats:
            sums: Any = np.bincount(self.left, of_left, n_sides)
            sums = sums + np.bincount(self.right, of_right, n_sides)
            return np.asarray(sums if members is None else sums @ members)

        left, tie, right = self.counts.T
        return per_item(left, right), per_item(tie, tie), per_item(right, left)


def count_comparisons(
    left: Codes,
    right: Codes,
    outcome: NDArray[np.int8],
    weight: Floats,
    n_items: int,
    covariates: Floats | None = None,
    rater: Codes | None = None,
) -> ComparisonCounts:
    """Sum comparisons by cell: items (n,), outcomes -1, 0, +1, positive weights (n,).

    `covariates` (n, q) are in favor of left; `rater` (n,) counts from 0.
    """
    if covariates is None or covariates.shape[1] == 0:
        n_table = n_items * n_items
        small = n_table <= max(_TABLE_PER_ROW * len(left), _SMALL_TABLE)
        if rater is None and small:
            return _count_in_table(left, right, outcome, weight, n_items)
        covariates = np.empty((len(left), 0))
    cells = number_comparisons(left, right, outcome, n_items, covariates)
    column, m = cells.column, len(cells.left)
    counts = np.asarray(np.bincount(column, weight, 3 * m), float).reshape(m, 3)
    by_rater = None
    if rater is not None:
        shape = (int(rater.max()) + 1, 3 * m)
        by_rater = sp.coo_array((weight, (rater, column)), shape=shape).tocsr()
    return ComparisonCounts(cells.left, cells.right, counts, cells.covariates, by_rater)


def number_pairs(one: Codes, two: Codes | None = None) -> tuple[Codes, Codes]:
    """Number rows by one or two codes; also returns one row of each number."""
    return number_keys(one if two is None else one * (int(two.max()) + 1) + two)


def sum_rows(counts: sp.csr_array, codes: Codes) -> sp.csr_array:
    """Sum rows with the same code."""
    places = codes, np.arange(len(codes))
    return sp.csr_array(sp.csr_array((np.ones(len(codes)), places)) @ counts)


class NumberedComparisons(NamedTuple):
    """Comparisons by cell: column 3 k + c is outcome c of cell k."""

    left: Codes  # (m,) the two items of each cell, left ≤ right
    right: Codes
    covariates: Floats  # (m, q), in favor of left
    column: Codes  # (n,) of each comparison


def number_comparisons(
    left: Codes,
    right: Codes,
    outcome: NDArray[np.int8],
    n_items: int,
    covariates: Floats,
) -> NumberedComparisons:
    """Find the cell and the outcome of each comparison."""
    turned = left > right
    low, high = np.where(turned, right, left), np.where(turned, left, right)
    # Adding zero makes -0.0, which is a turned 0.0, equal to it.
    signed = np.where(turned[:, None], -covariates, covariates) + 0.0
    cell, first = number_cells(low * n_items + high, signed)
    column = np.where(turned, -outcome, outcome).astype(np.int64) + 1 + 3 * cell
    return NumberedComparisons(low[first], high[first], signed[first], column)


def _count_in_table(
    left: Codes, right: Codes, outcome: NDArray[np.int8], weight: Floats, n_items: int
) -> ComparisonCounts:
    # By direction first: which side has the lower number is as good as random, and a
    # branch on it would cost more than the sums.
    table = np.zeros((n_items, n_items, 3))
    _add_to_table(left, right, outcome, weight, table)
    low, high, counts = _fold_table(table)
    return ComparisonCounts(low, high, counts, np.empty((len(low), 0)))


def number_cells(pair: Codes, covariates: Floats) -> tuple[Codes, Codes]:
    """Number equal rows; also returns one row of each number."""
    cell, first = _sorted_codes(pair)
    for j in range(covariates.shape[1]):
        code, value = _sorted_codes(covariates[:, j])
        # Numbers are dense again after every column, so the product stays small.
        cell, first = _sorted_codes(cell * len(value) + code)
    return cell, first


def _sorted_codes(column: NDArray[Any]) -> tuple[Codes, Codes]:
    """As ``np.unique`` with inverse and index, sorting only distinct values."""
    code, first = number_keys(column)
    order = np.argsort(column[first])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[code], first[order]


@njit(cache=True, nogil=True)
def _add_to_table(left, right, outcome, weight, table):  # type: ignore[no-untyped-def]
    for row in range(len(left)):
        table[left[row], right[row], outcome[row] + 1] += weight[row]


@njit(cache=True, nogil=True)
def _fold_table(table):  # type: ignore[no-untyped-def]
    """Add both directions; gives pairs (i, j), i ≤ j, and their sums."""
    n, m = len(table), 0
    for i in range(n):
        for j in range(i, n):
            if i != j:
                for c in range(3):
                    table[i, j, c] += table[j, i, 2 - c]
            met = table[i, j, 0] + table[i, j, 1] + table[i, j, 2] > 0.0
            m += int(met)
    low, high = np.empty(m, np.int64), np.empty(m, np.int64)
    counts, m = np.empty((m, 3)), 0
    for i in range(n):
        for j in range(i, n):
            if table[i, j, 0] + table[i, j, 1] + table[i, j, 2] > 0.0:
                low[m], high[m], counts[m] = i, j, table[i, j]
                m += 1
    return low, high, counts


SHOWN_ITEMS = 5
SHOWN_GROUPS = 3


def list_items(codes: Codes, names: NDArray[Any] | None = None) -> str:
    """Name the first items and count the others."""
    first = codes[:SHOWN_ITEMS]
    parts = [f"item {code}" for code in first]
    if names is not None:
        parts = [repr(name) for name in plain_values(names[first])]
    return first_of(parts, total=len(codes))


@dataclass(frozen=True, eq=False)
class ComparisonGraph:
    """Sums of comparisons by item and pair, and their components; O(n + N)."""

    # (N,) sums of the weights of the comparisons that the item won, tied, lost.
    wins: Floats
    ties: Floats
    losses: Floats
    # (N, N) entry (i, j): sum of the weights of the comparisons that i won against j.
    beats: csr_array
    # (N, N) entry (i, j): sum of the weights of the ties of i and j; symmetric.
    tied: csr_array

    @classmethod
    def of(
        cls, pairs: Pairs, outcome: NDArray[np.int8], weight: Floats | None = None
    ) -> ComparisonGraph:
        """Build the graph of comparisons that have been checked."""
        left, right = pairs.left, pairs.right
        weight = np.ones(len(left)) if weight is None else weight
        present = (weight > 0) & (left != right)
        if not present.all():
            left, right = left[present], right[present]
            outcome, weight = outcome[present], weight[present]
        # Summed by pair, of which there are few, before any row is copied.
        cells = count_comparisons(left, right, outcome, weight, pairs.n_items)
        return cls.of_counts(cells, pairs.n_items)

    @classmethod
    def of_counts(cls, cells: ComparisonCounts, n_items: int) -> ComparisonGraph:
        """Build the graph of counts."""
        low_won, tie, high_won = cells.counts.T
        winner = np.concatenate([cells.left, cells.right])
        loser = np.concatenate([cells.right, cells.left])
        beats = _entries(winner, loser, np.concatenate([low_won, high_won]), n_items)
        one_way = _entries(cells.left, cells.right, tie, n_items)
        tied = csr_array(one_way + one_way.T)
        return cls(*cells.tally(n_items), beats, tied)

    @property
    def n_items(self) -> int:
        """Number of items, N, absent ones included."""
        return len(self.wins)

    @cached_property
    def present(self) -> Flags:
        """Whether each item was compared with another; shape (N,)."""
        # Sums of positive weights, so an item is present as soon as one is not zero.
        return (self.wins > 0) | (self.ties > 0) | (self.losses > 0)

    @cached_property
    def adjacency(self) -> csr_array:
        """Weights of "i beat or tied j", a csr_array of shape (N, N)."""
        return csr_array(self.beats + self.tied)

    @cached_property
    def component(self) -> Codes:
        """Component (N,) by who met whom, largest first; -1 for absent items."""
        return self._components("weak")

    @property
    def n_components(self) -> int:
        """Number of components, absent items not counted."""
        return _count(self.component)

    @cached_property
    def strong_component(self) -> Codes:
        """Strong component (N,) by who won or tied, numbered as `component`."""
        return self._components("strong")

    @property
    def n_strong_components(self) -> int:
        """Number of strong components, absent items not counted."""
        return _count(self.strong_component)

    @property
    def is_strongly_connected(self) -> bool:
        """Whether the items compared, if any, have finite strengths."""
        return self.n_strong_components == 1

    @cached_property
    def undefeated(self) -> Codes:
        """Items that won every comparison, without a tie; ascending."""
        only_wins = (self.wins > 0) & (self.ties == 0) & (self.losses == 0)
        return np.flatnonzero(only_wins).astype(np.int64, copy=False)

    @cached_property
    def winless(self) -> Codes:
        """Items that lost every comparison, without a tie; ascending."""
        only_losses = (self.losses > 0) & (self.ties == 0) & (self.wins == 0)
        return np.flatnonzero(only_losses).astype(np.int64, copy=False)

    @property
    def winning_groups(self) -> list[Codes]:
        """Sets of two or more items that won all comparisons with others."""
        # The largest strong component of a component is not listed: seen from there,
        # it is the others who stand apart. Largest set first.
        return self._groups[0]

    @property
    def losing_groups(self) -> list[Codes]:
        """Sets that lost all comparisons with others, as `winning_groups`."""
        return self._groups[1]

    def describe_separation(self, names: NDArray[Any] | None = None) -> list[str]:
        """Say why maximum-likelihood strengths do not exist; empty if they do."""
        if not self.present.any():
            return ["No two different items are compared."]
        sentences = []
        if self.n_components > 1:
            sentences.append(self._describe_components(names))
        for codes, verb in ((self.undefeated, "won"), (self.winless, "lost")):
            if len(codes):
                s, whose = ("", "its") if len(codes) == 1 else ("s", "their")
                subject = f"{len(codes)} item{s} {verb} all {whose} comparisons"
                sentences.append(f"{subject}: {list_items(codes, names)}.")
        sentences += _describe_groups(self.winning_groups, "won", names)
        sentences += _describe_groups(self.losing_groups, "lost", names)
        return sentences

    def _describe_components(self, names: NDArray[Any] | None) -> str:
        outside = np.flatnonzero(self.component > 0)
        inside, listed = int((self.component == 0).sum()), list_items(outside, names)
        if self.n_components == 2:
            return f"{len(outside)} items never meet the other {inside}: {listed}."
        return (
            f"The items fall into {self.n_components} sets that never meet; outside "
            f"the largest set, of {inside} items, are {listed}."
        )

    def _components(self, connection: str) -> Codes:
        graph = self.adjacency
        _, labels = connected_components(graph, directed=True, connection=connection)
        return _number_by_size(labels, self.present)

    @cached_property
    def _groups(self) -> tuple[list[Codes], list[Codes]]:
        strong = self.strong_component
        edges = self.adjacency.tocoo()
        winner, loser = strong[edges.coords[0]], strong[edges.coords[1]]
        across = winner != loser
        n_strong = self.n_strong_components
        has_won, has_lost = np.zeros((2, n_strong), dtype=bool)
        has_won[winner[across]] = True
        has_lost[loser[across]] = True
        counts = np.bincount(strong[self.present], minlength=n_strong)
        listed = counts > 1
        # Strong components are numbered by size: the first of a component's is its
        # largest.
        codes, first_of = np.unique(strong[self.present], return_index=True)
        component = self.component[self.present][first_of]
        listed[codes[np.unique(component, return_index=True)[1]]] = False
        by_label = np.argsort(strong, kind="stable")[self.n_items - counts.sum() :]
        ends = np.cumsum(counts)

        def members(chosen: Flags) -> list[Codes]:
            labels = np.flatnonzero(chosen)
            return [by_label[ends[k] - counts[k] : ends[k]] for k in labels]

        won, lost = listed & has_won & ~has_lost, listed & has_lost & ~has_won
        return members(won), members(lost)


def _describe_groups(
    groups: Sequence[Codes], verb: str, names: NDArray[Any] | None
) -> list[str]:
    sentences = [
        f"A group of {len(group)} items {verb} all comparisons with items outside it: "
        f"{list_items(group, names)}."
        for group in groups[:SHOWN_GROUPS]
    ]
    more = len(groups) - SHOWN_GROUPS
    if more > 0:
        sentences.append(
            f"{more} more group{'s' * (more > 1)} of items {verb} all comparisons "
            "with items outside."
        )
    return sentences


def _entries(rows: Codes, columns: Codes, weight: Floats, n_items: int) -> csr_array:
    """Give the matrix of these entries; zeros are not stored."""
    some = weight > 0
    entries = weight[some], (rows[some], columns[some])
    return csr_array(coo_array(entries, shape=(n_items, n_items)))


def _number_by_size(labels: NDArray[Any], present: Flags) -> Codes:
    """Renumber labels, largest class first; -1 for absent items."""
    result = np.full(len(labels), -1, dtype=np.int64)
    _, first, inverse, counts = np.unique(
        labels[present], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.lexsort((first, -counts))] = np.arange(len(counts))
    result[present] = rank[inverse]
    return result


def _count(labels: Codes) -> int:
    return int(labels.max(initial=-1)) + 1
