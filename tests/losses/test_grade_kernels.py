# SPDX-License-Identifier: BSD-3-Clause
"""Each kernel does what its naive twin does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles.compiled_kernels import (
    add_exponential_sums_naive,
    add_partner_rows_naive,
    add_partner_sums_naive,
    sort_groups_naive,
    split_nodes_naive,
)
from tiebreak.losses import GradeTree
from tiebreak.losses.grade_tree import (
    add_partner_rows,
    add_partner_sums,
    sort_groups,
    split_nodes,
)
from tiebreak.losses.pair_potentials import add_exponential_sums


@pytest.fixture(params=[1, 5])
def tree(request, rng):
    n = 120
    group = np.unique(rng.integers(0, request.param, n), return_inverse=True)[1]
    return GradeTree(rng.integers(0, 7, n).astype(float), group, np.ones(n))


def test_sort_groups(rng, tree):
    m, n_groups = len(tree.rows), len(tree.starts) - 1
    u = np.round(rng.normal(size=m), 1)
    fast, slow = np.arange(m, dtype=np.int32), np.arange(m, dtype=np.int32)
    spare = np.empty(m, dtype=np.int32)
    sort_groups(fast, u, tree.starts, 0, n_groups, spare)
    sort_groups_naive(slow, u, tree.starts, 0, n_groups, spare)
    assert_array_equal(fast, slow)
    # From where they stand to a nearby order.
    u = u + rng.normal(size=m) / 50
    sort_groups(fast, u, tree.starts, 0, n_groups, spare)
    sort_groups_naive(slow, u, tree.starts, 0, n_groups, spare)
    assert_array_equal(u[fast], u[slow])


def test_split_and_sums(rng, tree):
    m, T = len(tree.rows), len(tree.nodes)
    u = np.round(rng.normal(size=m) * 4) / 4
    results = []
    for split, add, add_rows in (
        (split_nodes, add_partner_sums, add_partner_rows),
        (split_nodes_naive, add_partner_sums_naive, add_partner_rows_naive),
    ):
        order = np.zeros((tree.n_levels + 1, m), dtype=np.int32)
        bound = np.zeros((tree.n_levels, m), dtype=np.int32)
        order[0] = np.arange(m)
        sort_groups_naive(order[0], u, tree.starts, 0, len(tree.starts) - 1, order[1])
        in_order, spare = u[order[0]], np.empty(m)
        split(tree.nodes, 0, T, order, bound, in_order, spare)
        x = np.arange(m) - m / 2
        worse, better, both = np.zeros((3, m))
        add(tree.nodes, 0, T, order, bound, x, spare, worse, better)
        add(tree.nodes, 0, T, order, bound, x, spare, both, both)
        assert_allclose(both, worse + better)
        rows = np.zeros((m, 2))
        columns = np.column_stack([x, x**2])
        add_rows(tree.nodes, order, bound, columns, np.empty((m + 1, 2)), rows)
        assert_allclose(rows[:, 0], both)
        results.append((order, bound, worse, better, rows))
    for fast, slow in zip(*results, strict=True):
        assert_allclose(fast, slow)


def test_exponential_sums(rng):
    m = 60
    runs, first_run = np.array([0, 10, 11, 30, 45, 60]), np.array([0, 3, 5])
    u, x = 3 * rng.normal(size=m), rng.normal(size=m)
    log_weight = np.log(rng.uniform(0.1, 3, size=m))
    fast, slow = np.zeros((2, m))
    add_exponential_sums(fast, u, log_weight, x, runs, first_run)
    add_exponential_sums_naive(slow, u, log_weight, x, runs, first_run)
    assert_allclose(fast, slow, rtol=1e-10, atol=1e-12)
    assert not slow[:10].any() and slow[10:30].any() and not slow[30:45].any()
