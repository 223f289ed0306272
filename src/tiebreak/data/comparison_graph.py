# SPDX-License-Identifier: BSD-3-Clause
"""Who met whom, and who never lost to whom: the graph behind comparisons.

Strengths of maximum likelihood are finite exactly when the graph with an edge from
every winner to every loser, and edges both ways for a tie, is strongly connected:
however the items are split in two, each side must have won or tied against the other.
Where it is not, the graph says in words which items are to blame.

Conventions: a comparison of weight 0 is absent, and so is an item compared with
itself. Items without a comparison are absent too: they belong to no component.

A million comparisons as a few thousand counts.

The likelihood of a model without features depends on comparisons only through how
often each outcome occurred between two items under the same circumstances. Such alike
comparisons make one cell. In a cell the item with the lower number stands on the left;
turning a comparison around exchanges its outcome and the signs of its covariates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from tiebreak.data.columns import number_keys, plain_values
from tiebreak.data.pairs import Pairs

# The table of all pairs is used while it is not much larger than the data.
_TABLE_PER_ROW, _SMALL_TABLE = 4, 1_000_000


@dataclass(frozen=True, eq=False)
class ComparisonCounts:
    """Comparisons summed by cell.

    Attributes
    ----------
    left, right : ndarray of int64 of shape (m,)
        The two items of each cell, left ≤ right.
    counts : ndarray of shape (m, 3)
        Summed weights of outcomes left, tie, right.
    covariates : ndarray of shape (m, q)
        Covariates of each cell, in favor of left; q may be 0.
    by_rater : csr_array of shape (n_raters, 3 m) or None
        The same counts, of each rater by itself; column 3 k + c is outcome c of cell k.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    counts: NDArray[np.float64]
    covariates: NDArray[np.float64]
    by_rater: sp.csr_array | None = None

    def tally(
        self, n_items: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Sum wins, ties and losses of every item; shape (n_items,) each."""

        def per_item(of_left: Any, of_right: Any) -> NDArray[np.float64]:
            sums = np.bincount(self.left, of_left, n_items)
            return np.asarray(sums + np.bincount(self.right, of_right, n_items))

        left, tie, right = self.counts.T
        return per_item(left, right), per_item(tie, tie), per_item(right, left)


def count_comparisons(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64],
    n_items: int,
    covariates: NDArray[np.float64] | None = None,
    rater: NDArray[np.int64] | None = None,
) -> ComparisonCounts:
    """Sum comparisons by cell.

    Parameters
    ----------
    left, right : ndarray of int64 of shape (n,)
        Items compared; an item may meet itself.
    outcome : ndarray of int8 of shape (n,)
        Outcomes -1, 0, +1.
    weight : ndarray of float64 of shape (n,)
        Weights, all positive.
    n_items : int
        Number of items.
    covariates : ndarray of shape (n, q), optional
        Covariates in favor of left.
    rater : ndarray of int64 of shape (n,), optional
        Number of the rater of each row, 0 to R - 1.

    Returns
    -------
    ComparisonCounts
    """
    if covariates is None or covariates.shape[1] == 0:
        n_table = n_items * n_items
        small = n_table <= max(_TABLE_PER_ROW * len(left), _SMALL_TABLE)
        if rater is None and small:
            return _count_in_table(left, right, outcome, weight, n_items)
        covariates = np.empty((len(left), 0))
    turned = left > right
    low, high = np.where(turned, right, left), np.where(turned, left, right)
    # Adding zero makes -0.0, which is a turned 0.0, equal to it.
    signed = np.where(turned[:, None], -covariates, covariates) + 0.0
    cell, first = _cells(low * n_items + high, signed)
    column = np.where(turned, -outcome, outcome).astype(np.int64) + 1 + 3 * cell
    m = len(first)
    counts = np.asarray(np.bincount(column, weight, 3 * m), float).reshape(m, 3)
    by_rater = None
    if rater is not None:
        shape = (int(rater.max()) + 1, 3 * m)
        by_rater = sp.coo_array((weight, (rater, column)), shape=shape).tocsr()
    return ComparisonCounts(low[first], high[first], counts, signed[first], by_rater)


def _count_in_table(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64],
    n_items: int,
) -> ComparisonCounts:
    # By direction first: which side has the lower number is as good as random, and a
    # branch on it would cost more than the sums.
    table = np.zeros((n_items, n_items, 3))
    _add_to_table(left, right, outcome, weight, table)
    turned = table.transpose(1, 0, 2)[:, :, ::-1].copy()
    turned[np.arange(n_items), np.arange(n_items)] = 0.0
    table += turned
    low, high = np.triu_indices(n_items)
    counts = table[low, high]
    met = np.flatnonzero(counts.any(axis=1))
    return ComparisonCounts(low[met], high[met], counts[met], np.empty((len(met), 0)))


def _cells(
    pair: NDArray[np.int64], covariates: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number alike rows; gives the number of each row and one row of each number."""
    cell, first = _sorted_codes(pair)
    for j in range(covariates.shape[1]):
        code, value = _sorted_codes(covariates[:, j])
        # Numbers are dense again after every column, so the product stays small.
        cell, first = _sorted_codes(cell * len(value) + code)
    return cell, first


def _sorted_codes(
    column: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number values in ascending order; gives also the first row of each number.

    As ``np.unique`` with inverse and index, but only the distinct values are sorted.
    """
    values = np.ascontiguousarray(column) + 0  # a copy, in which -0.0 is 0.0
    code, first = number_keys(values.view(np.uint64))
    order = np.argsort(values[first])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[code], first[order]


@njit(cache=True, nogil=True)
def _add_to_table(left, right, outcome, weight, table):  # type: ignore[no-untyped-def]
    for row in range(len(left)):
        table[left[row], right[row], outcome[row] + 1] += weight[row]


SHOWN_ITEMS = 5
SHOWN_GROUPS = 3


def list_items(
    codes: NDArray[np.int64],
    names: NDArray[Any] | None = None,
    shown: int = SHOWN_ITEMS,
) -> str:
    """Name the first items and count the others.

    Parameters
    ----------
    codes : ndarray of int64
        Row numbers of the items; at least one.
    names : ndarray of shape (N,), optional
        Names of all items, shown with ``repr``. Without names: the row numbers.
    shown : int, default=5
        How many to name.

    Returns
    -------
    str

    Examples
    --------
    >>> list_items(np.array([0, 2]), np.array(["Ada", "Bo", "Cy"]))
    "'Ada', 'Cy'"
    >>> list_items(np.arange(7))
    'item 0, item 1, item 2, item 3, item 4 and 2 more'
    """
    first = codes[:shown]
    if names is None:
        parts = [f"item {code}" for code in first.tolist()]
    else:
        parts = [repr(name) for name in plain_values(names[first])]
    more = len(codes) - len(first)
    return ", ".join(parts) + (f" and {more} more" if more else "")


@dataclass(frozen=True, eq=False)
class ComparisonGraph:
    """Sums of comparisons by item and by pair of items, and what they connect.

    Build it with :meth:`of`. Everything takes O(n + N) time and memory for n
    comparisons of N items, and what is derived is computed once, when first asked for.

    Attributes
    ----------
    wins, ties, losses : ndarray of float64 of shape (N,)
        Sums of the weights of the comparisons that the item won, tied, lost.
    beats : csr_array of shape (N, N)
        Entry (i, j): sum of the weights of the comparisons that i won against j.
    tied : csr_array of shape (N, N)
        Entry (i, j): sum of the weights of the ties of i and j; symmetric.

    Examples
    --------
    >>> pairs = Pairs(None, ["Ada", "Bo", "Cy"], ["Bo", "Cy", "Bo"])
    >>> graph = ComparisonGraph.of(pairs, np.array([-1, -1, -1], dtype=np.int8))
    >>> graph.wins
    array([1., 1., 1.])
    >>> graph.is_strongly_connected
    False
    >>> graph.describe_separation(pairs.names)
    ["1 item won all its comparisons: 'Ada'."]
    """

    wins: NDArray[np.float64]
    ties: NDArray[np.float64]
    losses: NDArray[np.float64]
    beats: csr_array
    tied: csr_array

    @classmethod
    def of(
        cls,
        pairs: Pairs,
        outcome: NDArray[np.int8],
        weight: NDArray[np.float64] | None = None,
    ) -> ComparisonGraph:
        """Build the graph of comparisons that have been checked.

        Parameters
        ----------
        pairs : Pairs
            n comparisons of N items.
        outcome : ndarray of int8 of shape (n,)
            -1 left is better, 0 tie, +1 right is better.
        weight : ndarray of float64 of shape (n,), optional
            Finite and not negative. None: 1 each.

        Returns
        -------
        ComparisonGraph
        """
        left, right = pairs.left, pairs.right
        weight = np.ones(len(left)) if weight is None else weight
        present = (weight > 0) & (left != right)
        if not present.all():
            left, right = left[present], right[present]
            outcome, weight = outcome[present], weight[present]
        n_items = pairs.n_items
        # Summed by pair, of which there are few, before any row is copied.
        cells = count_comparisons(left, right, outcome, weight, n_items)
        low_won, tie, high_won = cells.counts.T
        beats = _entries(
            np.concatenate([cells.left, cells.right]),
            np.concatenate([cells.right, cells.left]),
            np.concatenate([low_won, high_won]),
            n_items,
        )
        one_way = _entries(cells.left, cells.right, tie, n_items)
        tied = csr_array(one_way + one_way.T)
        return cls(
            wins=_row_sums(beats),
            ties=_row_sums(tied),
            losses=_row_sums(csr_array(beats.T)),
            beats=beats,
            tied=tied,
        )

    @property
    def n_items(self) -> int:
        """Number of items, N, absent ones included."""
        return len(self.wins)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Whether each item was compared with another; shape (N,)."""
        # Sums of positive weights, so an item is present as soon as one is not zero.
        return (self.wins > 0) | (self.ties > 0) | (self.losses > 0)

    @cached_property
    def adjacency(self) -> csr_array:
        """Weights of "i beat or tied j", a csr_array of shape (N, N)."""
        return csr_array(self.beats + self.tied)

    @cached_property
    def component(self) -> NDArray[np.int64]:
        """Component of each item when it only matters who met whom; shape (N,).

        Numbered from 0 with the largest first, equally large ones in the order of
        their first items; -1 for absent items.
        """
        return self._components("weak")

    @property
    def n_components(self) -> int:
        """Number of components, absent items not counted."""
        return _count(self.component)

    @cached_property
    def strong_component(self) -> NDArray[np.int64]:
        """Strong component of each item; shape (N,), numbered as `component`.

        Within a strong component every item has won or tied against every other one,
        directly or through a chain of items, so their strengths are finite when only
        comparisons among them count.
        """
        return self._components("strong")

    @property
    def n_strong_components(self) -> int:
        """Number of strong components, absent items not counted."""
        return _count(self.strong_component)

    @property
    def is_strongly_connected(self) -> bool:
        """Whether the items compared have finite strengths of maximum likelihood.

        False when there is no comparison at all.
        """
        return self.n_strong_components == 1

    @cached_property
    def undefeated(self) -> NDArray[np.int64]:
        """Items that won every comparison, without a tie; ascending."""
        only_wins = (self.wins > 0) & (self.ties == 0) & (self.losses == 0)
        return np.flatnonzero(only_wins).astype(np.int64, copy=False)

    @cached_property
    def winless(self) -> NDArray[np.int64]:
        """Items that lost every comparison, without a tie; ascending."""
        only_losses = (self.losses > 0) & (self.ties == 0) & (self.wins == 0)
        return np.flatnonzero(only_losses).astype(np.int64, copy=False)

    @property
    def winning_groups(self) -> list[NDArray[np.int64]]:
        """Sets of items, two or more, that won all comparisons with the others.

        They are strong components that met items outside and never lost to nor tied
        with one. The largest strong component of a component is not listed: seen
        from there, it is the others who stand apart. Largest set first.
        """
        return self._groups[0]

    @property
    def losing_groups(self) -> list[NDArray[np.int64]]:
        """Sets of items, two or more, that lost all comparisons with the others.

        As `winning_groups`, with sides exchanged.
        """
        return self._groups[1]

    def describe_separation(self, names: NDArray[Any] | None = None) -> list[str]:
        """Say why maximum-likelihood strengths do not exist.

        Parameters
        ----------
        names : ndarray of shape (N,), optional
            Names of the items; without them they are called by their row numbers.

        Returns
        -------
        list of str
            Short sentences, each with the names of at most five items: which items
            never meet the rest, which won or lost all their comparisons, and, where
            that does not tell it, which groups did. Empty exactly when
            `is_strongly_connected`.
        """
        if not self.present.any():
            return ["No two different items are compared."]
        sentences = []
        if self.n_components > 1:
            sentences.append(self._describe_components(names))
        for codes, verb in ((self.undefeated, "won"), (self.winless, "lost")):
            if len(codes):
                subject = "1 item" if len(codes) == 1 else f"{len(codes)} items"
                whose = "its" if len(codes) == 1 else "their"
                sentences.append(
                    f"{subject} {verb} all {whose} comparisons: "
                    f"{list_items(codes, names)}."
                )
        sentences += _describe_groups(self.winning_groups, "won", names)
        sentences += _describe_groups(self.losing_groups, "lost", names)
        return sentences

    def _describe_components(self, names: NDArray[Any] | None) -> str:
        component = self.component
        outside = np.flatnonzero(component > 0)
        inside = int((component == 0).sum())
        if self.n_components == 2:
            return (
                f"{len(outside)} items never meet the other {inside}: "
                f"{list_items(outside, names)}."
            )
        return (
            f"The items fall into {self.n_components} sets that never meet; outside "
            f"the largest set, of {inside} items, are {list_items(outside, names)}."
        )

    def _components(self, connection: str) -> NDArray[np.int64]:
        _, labels = connected_components(
            self.adjacency, directed=True, connection=connection
        )
        return _number_by_size(labels, self.present)

    @cached_property
    def _groups(self) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
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

        def members(chosen: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
            labels = np.flatnonzero(chosen)
            return [by_label[ends[k] - counts[k] : ends[k]] for k in labels]

        return (
            members(listed & has_won & ~has_lost),
            members(listed & has_lost & ~has_won),
        )


def _describe_groups(
    groups: Sequence[NDArray[np.int64]], verb: str, names: NDArray[Any] | None
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


def _entries(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_items: int,
) -> csr_array:
    """Give the matrix of these entries; what is zero is none."""
    some = weight > 0
    entries = weight[some], (rows[some], columns[some])
    return csr_array(coo_array(entries, shape=(n_items, n_items)))


def _row_sums(matrix: csr_array) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64)


def _number_by_size(
    labels: NDArray[Any], present: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Renumber the labels of present items, largest class first; -1 for the others."""
    result = np.full(len(labels), -1, dtype=np.int64)
    _, first, inverse, counts = np.unique(
        labels[present], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.lexsort((first, -counts))] = np.arange(len(counts))
    result[present] = rank[inverse]
    return result


def _count(labels: NDArray[np.int64]) -> int:
    return int(labels.max(initial=-1)) + 1
