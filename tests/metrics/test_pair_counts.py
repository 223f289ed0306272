# SPDX-License-Identifier: BSD-3-Clause
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from tests.metrics.strategies import graded_groups
from tests.oracles import metrics_bruteforce as oracle
from tests.oracles.compiled_kernels import add_pair_weights_naive
from tiebreak.metrics import pair_counts as module
from tiebreak.metrics.pair_counts import (
    Groups,
    add_pair_weights,
    count_pairs,
    pair_counts,
    sortable,
)

# With NUMBA_DISABLE_JIT=1 the kernel is the Python function already.
IN_PYTHON = getattr(add_pair_weights, "py_func", add_pair_weights)


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


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.longdouble, np.float32])
def test_floats_that_sort_order_and_tie_as_the_values_do(dtype):
    values = np.array([3, 2, 5, 2], dtype=dtype)
    if values.dtype.kind in "iu":
        values += 1 << 60  # neighbours that no float tells apart
    found = sortable(values)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found[:, None] < found, values[:, None] < values)


@given(graded_groups())
def test_kernel_equals_its_naive_twin(data):
    y, utility, qid, weight = data
    fast = pair_counts(y, utility, codes(qid), weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "add_pair_weights", add_pair_weights_naive)
        slow = pair_counts(y, utility, codes(qid), weight)
    np.testing.assert_array_equal(fast, slow)


def test_a_count_that_should_be_zero_is_exactly_zero():
    weight = np.random.default_rng(0).uniform(size=500)
    y = np.arange(500)
    group = np.zeros(500, dtype=np.int64)
    concordant, tied, discordant = pair_counts(y, y, group, weight)[0]
    assert concordant > 0
    assert tied == discordant == 0
    assert pair_counts(y, -y, group, weight)[0, 0] == 0


class CountingTree:
    """A tree that counts how often a node is read or written."""

    def __init__(self, size):
        self.nodes = np.zeros(size)
        self.n_visits = 0

    def __getitem__(self, key):
        self.n_visits += 1
        return self.nodes[key]

    def __setitem__(self, key, value):
        self.n_visits += len(self.nodes[key]) if isinstance(key, slice) else 1
        self.nodes[key] = value


@pytest.mark.parametrize("n", [64, 256, 1024])
def test_work_grows_as_n_log_n(n):
    rng = np.random.default_rng(n)
    tree = CountingTree(2 * n)
    IN_PYTHON(
        np.zeros((1, 3)),
        tree,
        rng.permutation(n),
        np.ones(n),
        np.arange(n + 1),
        np.array([0, n]),
    )
    # Clearing 2n nodes; per row a leaf, log n siblings, and log n + 1 nodes
    # each read and written.
    levels = math.log2(n)
    assert n * levels < tree.n_visits <= n * (2 + 1 + levels + 2 * (levels + 1))


def test_many_small_groups_do_not_share_a_large_tree():
    n_groups = 300
    tree = CountingTree(2 * n_groups)
    IN_PYTHON(
        np.zeros((n_groups, 3)),
        tree,
        np.tile([0, 1], n_groups),
        np.ones(2 * n_groups),
        np.arange(2 * n_groups + 1),
        np.arange(0, 2 * n_groups + 1, 2),
    )
    assert tree.n_visits < 20 * n_groups
