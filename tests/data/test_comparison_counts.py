# SPDX-License-Identifier: BSD-3-Clause
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak.data import comparison_graph as module
from tiebreak.data.comparison_graph import count_comparisons


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
