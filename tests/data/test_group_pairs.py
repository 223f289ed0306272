# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tiebreak.data.validation import pair_of_number, pairs_within_groups


@given(
    group=st.lists(st.integers(0, 4), min_size=1, max_size=25),
    limit=st.integers(1, 400),
)
def test_all_pairs_of_every_group_once(group, limit):
    group = np.unique(group, return_inverse=True)[1]
    grade = (np.arange(len(group)) * 7 % 4).astype(float)
    found = pairs_within_groups(group, grade, limit=limit)
    expected = {
        (a, b) for a in range(len(group)) for b in range(a) if group[a] == group[b]
    }
    pairs = {
        (max(p), min(p))
        for p in zip(found.left.tolist(), found.right.tolist(), strict=True)
    }
    assert found.n_possible == len(expected)
    assert len(pairs) == len(found.left) == min(limit, len(expected))
    assert pairs <= expected
    assert_array_equal(found.group, group[found.left])
    assert_array_equal(found.y, np.sign(grade[found.right] - grade[found.left]))


def test_large_groups_are_numbered_exactly():
    group = np.zeros(6000, dtype=np.int64)
    found = pairs_within_groups(group, np.arange(6000.0), limit=20_000)
    assert found.n_possible == 6000 * 5999 // 2
    assert (found.left != found.right).all()
    distinct = {*zip(found.left.tolist(), found.right.tolist(), strict=True)}
    assert len(distinct) == 20_000
    assert abs(found.y.mean()) < 0.05


def test_numbers_of_pairs_are_turned_back_exactly():
    # Just below and at i (i - 1) / 2 the rounded root is off by one.
    i = np.repeat(np.array([1, 2, 3, 95_000_000, 1_000_000_007, 1_500_000_001]), 3)
    number = i * (i - 1) // 2 + np.tile([-1, 0, 1], 6)
    number = number[number >= 0]
    row, column = pair_of_number(number)
    assert_array_equal(row * (row - 1) // 2 + column, number)
    assert ((column >= 0) & (column < row)).all()
