# SPDX-License-Identifier: BSD-3-Clause
"""Cycles against enumeration: every triple, every item's way back to itself."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.data import Pairs
from tiebreak.data.comparison_graph import ComparisonGraph
from tiebreak.ratings.checks import check_pairs as majority_cycles
from tiebreak.ratings.checks.pairs_report import Named
from tiebreak.ratings.strengths.existence import has_decided_cycle


def graph_of(rows, n_items):
    left, right, outcome, weight = np.array(rows, dtype=float).reshape(-1, 4).T
    pairs = Pairs(
        None,
        left.astype(int),
        right.astype(int),
        names=[f"i{k}" for k in range(n_items)],
    )
    return ComparisonGraph.of(pairs, outcome.astype(np.int8), weight.copy())


@st.composite
def graphs(draw):
    n_items = draw(st.integers(2, 7))
    item = st.integers(0, n_items - 1)
    row = st.tuples(item, item, st.sampled_from([-1, 0, 1]), st.sampled_from([0, 1, 2]))
    return graph_of(draw(st.lists(row, max_size=20)), n_items)


def majority(graph):
    beats = graph.beats.toarray()
    return beats > beats.T


def find_cycles(graph):
    return majority_cycles.find_cycles(graph, Named(None, np.arange(graph.n_items)))


def reach(over):
    """Which item reaches which in one step or more."""
    found = over.copy()
    for _ in range(len(over)):
        found |= (found.astype(int) @ over.astype(int)) > 0
    return found


@given(graphs())
def test_items_on_cycles_reach_themselves(graph):
    on_cycle = np.flatnonzero(np.diag(reach(majority(graph))))
    assert find_cycles(graph).n_items == len(on_cycle)


@given(graphs())
def test_triads_are_those_of_enumeration(graph):
    over = majority(graph)
    decided = circular = 0
    for triple in combinations(range(graph.n_items), 3):
        if all(over[i, j] or over[j, i] for i, j in combinations(triple, 2)):
            decided += 1
            circular += any(
                over[i, j] and over[j, k] and over[k, i]
                for i, j, k in permutations(triple)
            )
    found = find_cycles(graph)
    assert (found.circular_triads, found.decided_triads) == (circular, decided)


@pytest.mark.parametrize("most_items", [400, 0])
@given(graph=graphs())
def test_the_example_is_a_cycle_and_there_is_one_if_any(most_items, graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(majority_cycles, "MOST_ITEMS_FOR_TRIADS", most_items)
        found = find_cycles(graph)
    assert bool(found.example) == bool(found.n_items)
    over = majority(graph)
    following = np.roll(found.example, -1).astype(int)
    assert all(over[i, j] for i, j in zip(found.example, following, strict=True))
    assert len(set(found.example)) == len(found.example)
    if most_items == 0 and graph.present.any():
        assert found.circular_triads is None
        assert found.decided_triads is None


@given(graphs())
def test_the_example_is_the_triad_of_widest_margins(graph):
    found = find_cycles(graph)
    if not found.circular_triads:
        return
    margin = graph.beats.toarray() - graph.beats.toarray().T
    widest = max(
        min(margin[i, j], margin[j, k], margin[k, i])
        for i, j, k in permutations(range(graph.n_items), 3)
    )
    i, j, k = found.example
    assert min(margin[i, j], margin[j, k], margin[k, i]) == widest


def test_the_shortest_cycle_is_found_without_triads(monkeypatch):
    monkeypatch.setattr(majority_cycles, "MOST_ITEMS_FOR_TRIADS", 0)
    ring = [(k, (k + 1) % 6, -1, 1) for k in range(6)]
    assert find_cycles(graph_of(ring, 6)).example == (0, 1, 2, 3, 4, 5)
    shortcut = [*ring, (4, 2, -1, 1)]
    assert sorted(find_cycles(graph_of(shortcut, 6)).example) == [2, 3, 4]


def test_a_cycle_of_four_has_no_triad():
    found = find_cycles(graph_of([(k, (k + 1) % 4, -1, 1) for k in range(4)], 4))
    assert found.decided_triads == 0
    assert sorted(found.example) == [0, 1, 2, 3]


def test_equal_sums_of_weights_are_no_majority():
    # 0.1 + 0.2 is not 0.3 in floating point.
    rows = [(0, 1, -1, 0.1), (0, 1, -1, 0.2), (1, 0, -1, 0.3)]
    rows += [(1, 2, -1, 1), (2, 0, -1, 1)]
    assert find_cycles(graph_of(rows, 3)).example == ()


def has_more_wins_than_ties(graph):
    """Go round every cycle of distinct items, by a win wherever there is one."""
    beats, tied = graph.beats.toarray() > 0, graph.tied.toarray() > 0
    cost = np.where(beats, -1.0, np.where(tied, 1.0, np.inf))
    return any(
        cost[list(cycle), list(np.roll(cycle, -1))].sum() < 0
        for size in range(2, graph.n_items + 1)
        for cycle in permutations(range(graph.n_items), size)
    )


@given(st.integers(3, 5), st.data())
def test_cycles_with_more_wins_than_ties_are_those_of_enumeration(n_items, data):
    item = st.integers(0, n_items - 1)
    row = st.tuples(item, item, st.sampled_from([-1, 0]), st.just(1))
    rows = [row for row in data.draw(st.lists(row, max_size=9)) if row[0] != row[1]]
    # Ties all around, so that every item can be reached from every other.
    ring = [(k, (k + 1) % n_items, 0, 1) for k in range(n_items)]
    graph = graph_of([*rows, *ring], n_items)
    assert has_decided_cycle(graph) == has_more_wins_than_ties(graph)


def test_a_win_counts_before_a_tie_of_the_same_two():
    # Two wins and a tie around three items; the first two have also tied.
    rows = [(0, 1, -1, 1), (0, 1, 0, 1), (1, 2, -1, 1), (2, 0, 0, 1)]
    assert has_decided_cycle(graph_of(rows, 3))
    assert not has_decided_cycle(graph_of(rows[1:], 3))
