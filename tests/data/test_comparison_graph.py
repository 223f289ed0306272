# SPDX-License-Identifier: BSD-3-Clause
"""The graph of comparisons, and comparisons as counts."""

import re
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak.data import Pairs
from tiebreak.data import comparison_graph as module
from tiebreak.data.comparison_graph import (
    ComparisonGraph,
    count_comparisons,
)

MAX_ROWS = 14


@st.composite
def comparisons(draw):
    """Few comparisons of few items: ties, weights 0, self-comparisons, absent items."""
    n_items = draw(st.integers(1, 7))
    item = st.integers(0, n_items - 1)
    row = st.tuples(
        item, item, st.sampled_from([-1, -1, 0, 1]), st.sampled_from([0.0, 0.5, 1, 2])
    )
    rows = draw(st.lists(row, max_size=MAX_ROWS))
    left, right, outcome, weight = np.array(rows, dtype=float).reshape(-1, 4).T
    pairs = Pairs(
        None,
        left.astype(int),
        right.astype(int),
        names=[f"i{code}" for code in range(n_items)],
    )
    return pairs, outcome.astype(np.int8), weight.copy()


def closure(edge):
    """Which item reaches which, by Floyd and Warshall; every item reaches itself."""
    n = len(edge)
    reach = edge | np.eye(n, dtype=bool)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                reach[i, j] |= reach[i, k] and reach[k, j]
    return reach


def edges_by_loop(pairs, outcome, weight):
    beats = np.zeros((pairs.n_items, pairs.n_items))
    tied = np.zeros_like(beats)
    for left, right, y, w in zip(pairs.left, pairs.right, outcome, weight, strict=True):
        if left == right:
            continue
        if y == 0:
            tied[left, right] += w
            tied[right, left] += w
        elif y < 0:
            beats[left, right] += w
        else:
            beats[right, left] += w
    return beats, tied


def classes(labels):
    """The sets of items that a labeling makes, without absent items."""
    return {
        frozenset(np.flatnonzero(labels == label))
        for label in np.unique(labels[labels >= 0])
    }


def graph_of(*rows, items=None):
    """Build the graph of rows such as "a>b", "a=b"."""
    left, sign, right = zip(*(re.split("([>=<])", row) for row in rows), strict=True)
    names = items or sorted({*left, *right})
    outcome = [{">": -1, "=": 0, "<": 1}[s] for s in sign]
    pairs = Pairs(None, left, right, names=names)
    graph = ComparisonGraph.of(pairs, np.array(outcome, dtype=np.int8))
    return graph, graph.describe_separation(pairs.names)


@given(comparisons())
def test_sums_are_those_of_a_loop(data):
    pairs, outcome, weight = data
    graph = ComparisonGraph.of(pairs, outcome, weight)
    beats, tied = edges_by_loop(pairs, outcome, weight)
    np.testing.assert_allclose(graph.beats.toarray(), beats)
    np.testing.assert_allclose(graph.tied.toarray(), tied)
    np.testing.assert_allclose(graph.adjacency.toarray(), beats + tied)
    assert graph.beats.nnz == (beats > 0).sum()
    assert graph.tied.nnz == (tied > 0).sum()
    np.testing.assert_allclose(graph.wins, beats.sum(1))
    np.testing.assert_allclose(graph.ties, tied.sum(1))
    np.testing.assert_allclose(graph.losses, beats.sum(0))


@given(comparisons())
def test_components_are_those_of_the_transitive_closure(data):
    pairs, outcome, weight = data
    graph = ComparisonGraph.of(pairs, outcome, weight)
    edge = sum(edges_by_loop(pairs, outcome, weight)) > 0
    met = (edge | edge.T).any(axis=1)
    np.testing.assert_array_equal(graph.present, met)
    strong = closure(edge) & closure(edge).T
    weak = closure(edge | edge.T)
    for labels, same in ((graph.component, weak), (graph.strong_component, strong)):
        np.testing.assert_array_equal(labels == -1, ~met)
        expected = {frozenset(np.flatnonzero(same[i])) for i in np.flatnonzero(met)}
        assert classes(labels) == expected
        sizes = np.bincount(labels[met])
        assert (np.diff(sizes) <= 0).all()
        first = [np.flatnonzero(labels == k)[0] for k in range(len(sizes))]
        assert all(
            first[k] < first[k + 1]
            for k in range(len(sizes) - 1)
            if sizes[k] == sizes[k + 1]
        )
    assert graph.n_components == len(classes(graph.component))
    assert graph.n_strong_components == len(classes(graph.strong_component))
    assert graph.is_strongly_connected == (
        bool(met.any()) and bool(strong[np.ix_(met, met)].all())
    )


@given(comparisons())
def test_undefeated_and_winless_are_those_of_a_loop(data):
    pairs, outcome, weight = data
    graph = ComparisonGraph.of(pairs, outcome, weight)
    results = {code: set() for code in range(pairs.n_items)}
    for left, right, y, w in zip(pairs.left, pairs.right, outcome, weight, strict=True):
        if w > 0 and left != right:
            results[left].add(-int(y))
            results[right].add(int(y))
    assert graph.undefeated.tolist() == [i for i, r in results.items() if r == {1}]
    assert graph.winless.tolist() == [i for i, r in results.items() if r == {-1}]


@given(comparisons())
def test_groups_are_closed_strong_components(data):
    pairs, outcome, weight = data
    graph = ComparisonGraph.of(pairs, outcome, weight)
    edge = sum(edges_by_loop(pairs, outcome, weight)) > 0
    met = (edge | edge.T).any(axis=1)
    strong = closure(edge) & closure(edge).T
    weak = closure(edge | edge.T)
    winning, losing = set(), set()
    for i in np.flatnonzero(met):
        inside = strong[i]
        around = weak[i] & met
        biggest = [strong[j] for j in np.flatnonzero(around)]
        first = max(biggest, key=lambda s: (s.sum(), -np.flatnonzero(s)[0]))
        if inside.sum() < 2 or (inside == first).all() or (inside == around).all():
            continue
        out, into = edge[inside][:, ~inside].any(), edge[~inside][:, inside].any()
        if out and not into:
            winning.add(frozenset(np.flatnonzero(inside)))
        if into and not out:
            losing.add(frozenset(np.flatnonzero(inside)))
    assert set(map(frozenset, graph.winning_groups)) == winning
    assert set(map(frozenset, graph.losing_groups)) == losing


@given(comparisons())
def test_there_is_something_to_say_exactly_when_it_is_not_connected(data):
    pairs, outcome, weight = data
    graph = ComparisonGraph.of(pairs, outcome, weight)
    sentences = graph.describe_separation(pairs.names)
    assert (not sentences) == graph.is_strongly_connected
    assert all(sentence.endswith(".") for sentence in sentences)


def test_items_that_never_meet_the_rest_are_named():
    graph, sentences = graph_of("a=b", "b=c", "d=e")
    assert graph.n_components == 2
    assert sentences == ["2 items never meet the other 3: 'd', 'e'."]
    _, sentences = graph_of("a=b", "b=c", "d=e", "f=g")
    assert sentences == [
        "The items fall into 3 sets that never meet; outside the largest set, of 3 "
        "items, are 'd', 'e', 'f', 'g'."
    ]


def test_undefeated_and_winless_items_are_named():
    _, sentences = graph_of("a>b", "b=c", "c>d", "e<b")
    assert sentences == [
        "1 item won all its comparisons: 'a'.",
        "2 items lost all their comparisons: 'd', 'e'.",
    ]


def test_groups_are_named_when_no_single_item_explains_it():
    graph, sentences = graph_of("a=b", "a>c", "b>d", "c=d", "d=e")
    assert [group.tolist() for group in graph.winning_groups] == [[0, 1]]
    assert graph.losing_groups == []
    assert sentences == [
        "A group of 2 items won all comparisons with items outside it: 'a', 'b'."
    ]
    _, sentences = graph_of("c=d", "d=e", "c>a", "a=b")
    assert sentences == [
        "A group of 2 items lost all comparisons with items outside it: 'a', 'b'."
    ]


def test_a_group_in_the_middle_is_not_named():
    graph, sentences = graph_of("a>b", "b=c", "c>d", "d=e", "e=f")
    assert graph.winning_groups == graph.losing_groups == []
    assert sentences == ["1 item won all its comparisons: 'a'."]
    graph, sentences = graph_of("a<b", "b=c", "c<d", "d=e", "e=f")
    assert graph.winning_groups == graph.losing_groups == []
    assert sentences == ["1 item lost all its comparisons: 'a'."]


def test_many_groups_are_counted():
    rows = ["x=y", "y=z"]
    for name in "abcde":
        rows += [f"{name}1={name}2", f"{name}1>x"]
    _, sentences = graph_of(*rows)
    assert len(sentences) == 4
    assert sentences[-1] == (
        "2 more groups of items won all comparisons with items outside."
    )


def test_absent_items_belong_nowhere():
    graph, sentences = graph_of("a=b", "c>c", items=["a", "b", "c", "d"])
    assert graph.component.tolist() == [0, 0, -1, -1]
    assert graph.strong_component.tolist() == [0, 0, -1, -1]
    assert graph.is_strongly_connected
    assert sentences == []


def test_no_comparison_at_all():
    pairs = Pairs(None, np.empty(0, dtype=int), np.empty(0, dtype=int), names=["a"])
    empty = np.empty(0, dtype=np.int8)
    for some in (pairs, Pairs(None, [], [])):
        graph = ComparisonGraph.of(some, empty)
        assert graph.n_components == graph.n_strong_components == 0
        assert not graph.is_strongly_connected
        assert graph.winning_groups == graph.losing_groups == []
        expected = ["No two different items are compared."]
        assert graph.describe_separation(some.names) == expected


def test_half_a_million_rows_of_54000_items_take_no_square(rng):
    n, n_items = 500_000, 54_000
    left = rng.integers(0, n_items, n)
    right = rng.integers(0, n_items, n)
    names = np.arange(n_items)
    pairs = Pairs._of(None, left, right, names)
    outcome = rng.integers(-1, 2, n).astype(np.int8)
    tracemalloc.start()
    try:
        graph = ComparisonGraph.of(pairs, outcome)
        graph.describe_separation(names)
        # A square of single bits would be larger.
        assert tracemalloc.get_traced_memory()[1] < n_items**2 / 8 / 2
    finally:
        tracemalloc.stop()
    assert graph.wins.sum() == (outcome[left != right] != 0).sum()


def make(rng, n=200, n_items=5, q=0):
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    outcome = rng.integers(-1, 2, n).astype(np.int8)
    weight = rng.integers(1, 4, n).astype(float)
    return left, right, outcome, weight, rng.integers(-1, 2, (n, q)).astype(float)


def counted(left, right, outcome, weight, z):
    """Sum by cell in a dictionary."""
    sums = Counter()
    for i, j, y, w, row in zip(left, right, outcome, weight, z, strict=True):
        turn = -1 if i > j else 1
        key = (min(i, j), max(i, j), *(turn * row + 0.0))
        sums[key, turn * y] += w
    return sums


def as_sums(counts):
    sums = Counter()
    rows = (counts.left, counts.right, counts.covariates, counts.counts)
    for i, j, z, n in zip(*rows, strict=True):
        for y in (-1, 0, 1):
            if n[y + 1]:
                sums[(i, j, *z), y] += n[y + 1]
    return sums


@pytest.mark.parametrize("q", [0, 1, 2])
@pytest.mark.parametrize("table", [True, False])
def test_cells_are_those_of_a_dictionary(rng, monkeypatch, q, table):
    if not table:
        monkeypatch.setattr(module, "_TABLE_PER_ROW", 0)
        monkeypatch.setattr(module, "_SMALL_TABLE", 0)
    left, right, outcome, weight, z = make(rng, q=q)
    counts = count_comparisons(left, right, outcome, weight, 5, z)
    assert (counts.left < counts.right).all()
    assert counts.counts.any(axis=1).all()
    assert as_sums(counts) == counted(left, right, outcome, weight, z)


@pytest.mark.parametrize("table", [True, False])
def test_an_item_may_meet_itself(monkeypatch, table):
    if not table:
        monkeypatch.setattr(module, "_TABLE_PER_ROW", 0)
        monkeypatch.setattr(module, "_SMALL_TABLE", 0)
    left, right = np.array([1, 0, 2]), np.array([1, 2, 0])
    outcome = np.array([0, -1, -1], dtype=np.int8)
    counts = count_comparisons(left, right, outcome, np.array([3.0, 1.0, 2.0]), 3)
    assert_array_equal(counts.left, [0, 1])
    assert_array_equal(counts.right, [2, 1])
    assert_array_equal(counts.counts, [[1, 0, 2], [0, 3, 0]])
    assert counts.counts.flags.c_contiguous


def test_raters_add_up(rng):
    left, right, outcome, weight, z = make(rng, q=1)
    rater = rng.integers(0, 7, 200)
    counts = count_comparisons(left, right, outcome, weight, 5, z, rater)
    assert counts.by_rater.shape == (7, counts.counts.size)
    assert_allclose(counts.by_rater.sum(axis=0), counts.counts.ravel())
    own = rater == 3
    alone = count_comparisons(
        left[own], right[own], outcome[own], weight[own], 5, z[own]
    )
    mine = counts.by_rater[[3]].toarray().reshape(-1, 3)
    seen = mine.any(axis=1)
    assert_array_equal(mine[seen], alone.counts)
