# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from hypothesis import given
from scipy.stats import rankdata

from tests.metrics.strategies import graded_groups
from tiebreak.metrics.pair_counts import (
    average_ranks,
    dense_ranks,
    group_starts,
    sort_into_runs,
    sums_by,
)


@given(graded_groups())
def test_ranks_equal_scipy_in_every_group(data):
    _, utility, qid, _ = data
    group = np.unique(qid, return_inverse=True)[1]
    dense, average = dense_ranks(group, utility), average_ranks(group, utility)
    for code in range(group.max() + 1):
        rows = group == code
        np.testing.assert_array_equal(
            dense[rows], rankdata(utility[rows], method="dense") - 1
        )
        np.testing.assert_array_equal(average[rows], rankdata(utility[rows]) - 1)


def test_runs_split_at_groups_and_at_values():
    group = np.array([1, 0, 0, 1, 0])
    values = np.array([5.0, 5.0, 2.0, 5.0, 5.0])
    order, run = sort_into_runs(group, values)
    assert order.tolist() == [2, 1, 4, 0, 3]
    assert run.tolist() == [0, 1, 1, 2, 2]
    assert group_starts(group).tolist() == [0, 3, 5]
    assert sums_by(group, values).tolist() == [12.0, 10.0]


def test_minus_zero_ties_with_zero():
    group = np.zeros(2, dtype=np.int64)
    assert dense_ranks(group, np.array([0.0, -0.0])).tolist() == [0, 0]
