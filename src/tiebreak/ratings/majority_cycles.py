# SPDX-License-Identifier: BSD-3-Clause
"""Cycles of "beat more often than it lost to": A over B over C over A.

Boundary convention: an item is over another when it won strictly more of their
comparisons; equally many wins, or only ties, decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from tiebreak.data.comparison_graph import ComparisonGraph

__all__ = ["MOST_ITEMS_FOR_TRIADS", "MajorityCycles", "find_cycles"]

MOST_ITEMS_FOR_TRIADS = 400
_STARTS = 20  # how many items a short cycle is looked for from
_ROUNDING = 1e-12  # sums of weights that differ by less are equal


@dataclass(frozen=True, eq=False)
class MajorityCycles:
    """What contradicts a ranking.

    Attributes
    ----------
    items : ndarray of int64
        The items that lie on a cycle, ascending.
    example : tuple of int
        A cycle, each item over the next and the last over the first; empty if there
        is none. If there are circular triads to choose from, the one whose smallest
        margin is largest.
    circular_triads : int or None
        How many sets of three items form a cycle. None: too many items to count.
    decided_triads : int or None
        Of how many, where each of the three pairs has a majority.
    """

    items: NDArray[np.int64]
    example: tuple[int, ...]
    circular_triads: int | None
    decided_triads: int | None


def find_cycles(graph: ComparisonGraph) -> MajorityCycles:
    """Find the cycles of the majority relation.

    Items on a cycle are those of the strong components of two or more items, in
    O(n + N). Triads are counted by products of N × N matrices, so only up to
    `MOST_ITEMS_FOR_TRIADS` items: with M the matrix of "over", tr(M³)/3 are circular
    of tr(D³)/6 decided ones, D = M + Mᵀ.

    Parameters
    ----------
    graph : ComparisonGraph
        The comparisons.

    Returns
    -------
    MajorityCycles
    """
    margin = _margins(graph)
    _, label = connected_components(margin, directed=True, connection="strong")
    items = np.flatnonzero(np.bincount(label)[label] > 1).astype(np.int64)
    circular = decided = None
    example: tuple[int, ...] = ()
    compared = np.flatnonzero(graph.present)
    if len(compared) <= MOST_ITEMS_FOR_TRIADS:
        circular, decided = _count_triads(margin[compared][:, compared].toarray() > 0)
        if circular:
            triad = _widest_triad(margin[items][:, items].toarray())
            example = tuple(int(code) for code in items[list(triad)])
    if len(items) and not example:
        inside = margin[items][:, items]
        example = tuple(int(code) for code in items[_short_cycle(inside)])
    return MajorityCycles(items, example, circular, decided)


def _margins(graph: ComparisonGraph) -> csr_array:
    """Wins minus losses of i against j, where positive."""
    margin = csr_array(graph.beats - graph.beats.T)
    margin.data[margin.data <= _ROUNDING * graph.beats.data.max(initial=0.0)] = 0.0
    margin.eliminate_zeros()
    return margin


def _count_triads(over: NDArray[np.bool_]) -> tuple[int, int]:
    one_way = over.astype(np.float64)
    either = one_way + one_way.T
    # tr(M³) is the sum of M² times Mᵀ, entry by entry; whole numbers below 2⁵³.
    circular = ((one_way @ one_way) * one_way.T).sum() / 3
    decided = ((either @ either) * either).sum() / 6
    return round(circular), round(decided)


def _widest_triad(margin: NDArray[np.float64]) -> tuple[int, int, int]:
    """Give the circular triad whose smallest margin is largest."""
    best, triad = 0.0, (0, 0, 0)
    for middle in range(len(margin)):
        # Smallest margin of the cycle i → middle → j → i.
        into, out = margin[:, middle, np.newaxis], margin[np.newaxis, middle]
        smallest = np.minimum(np.minimum(into, out), margin.T)
        at = int(smallest.argmax())
        if smallest.flat[at] > best:
            best = float(smallest.flat[at])
            i, j = divmod(at, len(margin))
            triad = (i, middle, j)
    return triad


def _short_cycle(margin: csr_array) -> list[int]:
    """Give the shortest cycle through one of the first items, all of which have one."""
    found: list[int] = []
    into = csr_array(margin.T)
    for start in range(min(_STARTS, margin.shape[0])):
        order, before = breadth_first_order(margin, start, return_predecessors=True)
        # In order of distance, so the first item over the start closes a shortest one.
        closes = np.isin(
            order, into.indices[into.indptr[start] : into.indptr[start + 1]]
        )
        path = [int(order[closes.argmax()])]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
        if not found or len(path) < len(found):
            found = path[::-1]
    return found
