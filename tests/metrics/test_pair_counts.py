# SPDX-License-Identifier: BSD-3-Clause
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from tests.metrics.strategies import graded_groups
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics.pair_counts import Groups, count_pairs, pair_counts


def codes(qid):
    return np.unique(qid, return_inverse=True)[1]


@given(graded_groups())
def test_counts_equal_the_double_loop(data):
    y, utility, qid, weight = data
    counts = pair_counts(y, utility, codes(qid), weight)
    for count, rows in zip(counts, oracle.members(qid), strict=True):
        expected = oracle.pair_sums(y[rows], utility[rows], qid[rows], weight[rows])
        # Quarters are exact in floating point, so nothing is left to tolerance.
        np.testing.assert_array_equal(count, expected)


@given(graded_groups())
def test_merging_counts_as_the_double_loop_does(data):
    y, utility, qid, _ = data
    counts = count_pairs(y, utility, Groups(codes(qid)))
    for count, rows in zip(counts, oracle.members(qid), strict=True):
        ones, u = np.ones(len(rows)), utility[rows]
        expected = oracle.pair_sums(y[rows], u, qid[rows], ones)
        np.testing.assert_array_equal(count[:3], expected)
        assert count[3] == sum(a != b for a, b in combinations(u, 2))


@pytest.mark.parametrize(
    ("n", "n_groups", "n_grades", "digits"),
    [(3000, 1, 4, 6), (3000, 1, 3000, 6), (3000, 7, 3, 1), (75_000, 70_000, 3, 1)],
)
def test_merging_counts_as_the_tree_does(rng, n, n_groups, n_grades, digits):
    group = np.append(np.arange(n_groups), rng.integers(0, n_groups, n - n_groups))
    y = rng.integers(0, n_grades, n)
    utility = np.round(y / n_grades + rng.normal(size=n), digits)
    counts = pair_counts(y, utility, group)
    np.testing.assert_array_equal(counts, pair_counts(y, utility, group, np.ones(n)))
    assert (counts > 0).any(axis=0)[[0, 2]].all()
