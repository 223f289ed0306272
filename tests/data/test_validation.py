# SPDX-License-Identifier: BSD-3-Clause
"""What models call to check what they are given, and pairs within groups."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from tiebreak.data import (
    Pairs,
    as_pairs,
    check_comparisons,
    check_grades,
    check_weights,
    is_pairs,
)
from tiebreak.data.validation import pair_of_number, pairs_within_groups

CUBE = np.arange(12.0).reshape(3, 2, 2)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (Pairs(None, ["a"], ["b"]), True),
        (CUBE, True),
        (CUBE.tolist(), True),
        (list(CUBE), True),
        (CUBE[0], False),
        ([[1, 2], [3, 4]], False),
        ([], False),
        ([[]], False),
        (pd.DataFrame({"a": [1]}), False),
        (sp.csr_array([[1.0]]), False),
        (None, False),
    ],
)
def test_dispatch_is_by_type(X, expected):
    assert is_pairs(X) is expected


@pytest.mark.parametrize("X", [CUBE, CUBE.tolist(), CUBE.astype(np.float32)])
def test_arrays_become_pairs(X):
    pairs = as_pairs(X)
    np.testing.assert_array_equal(pairs.left, [0, 2, 4])
    np.testing.assert_array_equal(pairs.right, [1, 3, 5])
    np.testing.assert_array_equal(np.asarray(pairs), CUBE)


def test_arrays_are_not_copied_and_pairs_pass():
    cube = CUBE.copy()
    cube.flags.writeable = False
    pairs = as_pairs(cube)
    assert np.shares_memory(pairs.values, cube)
    assert as_pairs(pairs) is pairs
    assert len(as_pairs(np.zeros((0, 2, 3)))) == 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 3, 2)), r"\(n, 2, n_features\).*got shape \(3, 3, 2\)"),
        (np.zeros((3, 2, 0)), "n_features"),
        (np.where(CUBE == 7, np.nan, CUBE), "NaN at row 1, right item, column 1"),
        (np.where(CUBE == 8, -np.inf, CUBE), "-inf at row 2, left item, column 0"),
        (CUBE * 1j, "Complex data not supported"),
    ],
)
def test_refused_arrays(X, message):
    with pytest.raises(ValueError, match=message):
        as_pairs(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (CUBE[0], r"Got ndarray of shape \(2, 2\)"),
        ([["a", "b", "c"]], "two columns of names.*Got list"),
        (pl.DataFrame({"a": [1]}), r"Got DataFrame of shape \(1, 1\)"),
        (None, "Got NoneType"),
        (np.array([[["a"], ["b"]]]), "must hold numbers"),
        (
            np.array([[[1], ["b"]]], dtype=object),
            "got 'b' at \\[0, 1, 0\\]",
        ),
    ],
)
def test_what_is_no_pairs(X, message):
    with pytest.raises(TypeError, match=message):
        as_pairs(X)


def test_weights():
    np.testing.assert_array_equal(check_weights(None, 2), [1.0, 1.0])
    for weight in ([2, 0], pd.Series([2, 0]), np.array([2, 0], dtype=object)):
        checked = check_weights(weight, 2)
        assert checked.dtype == np.float64
        np.testing.assert_array_equal(checked, [2.0, 0.0])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1], "sample_weight has 1 values but there are 2 rows"),
        ([1, -2], r"1 other value\(s\): row 1 \(-2.0\)"),
        ([np.nan, 1], r"1 other value\(s\): row 0 \(nan\)"),
        ([None, 1], r"1 other value\(s\): row 0 \(nan\)"),
        ([1, np.inf], r"row 1 \(inf\)"),
        ([0, 0], "Every sample weight is zero"),
        ([1, 1e-61], r"from 1e-60 to 1e\+15, got 1 other value\(s\): row 1 \(1e-61\)"),
        ([1e16, 1], r"from 1e-60 to 1e\+15, got 1 other value\(s\): row 0 \(1e\+16\)"),
        (["a", 1], r"sample_weight must hold numbers.*row 0 \('a'\)"),
        (np.array(["a", "b"]), r"sample_weight must hold numbers.*row 0 \('a'\)"),
        (np.ones((2, 1)), r"one dimension, got shape \(2, 1\)"),
    ],
)
def test_refused_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weight, 2)


def test_weights_are_not_the_callers_array():
    weight = np.array([1.0, 2.0])
    check_weights(weight, 2)[0] = 7
    assert weight[0] == 1


def test_grades():
    grades = check_grades([[1], [2], [3]], [3, 1.5, True], qid=["b", "a", "b"])
    assert grades.y.dtype == np.float64
    np.testing.assert_array_equal(grades.y, [3.0, 1.5, 1.0])
    np.testing.assert_array_equal(grades.group, [0, 1, 0])
    assert grades.group.dtype == np.int64
    np.testing.assert_array_equal(grades.group_names, ["b", "a"])
    assert grades.n_groups == 2
    assert grades.items.shape == (3, 1)


@pytest.mark.parametrize(
    "qid",
    [
        [2**40, 1, 2**40],
        pd.Series(["x", "y", "x"], index=[5, 6, 7], dtype="category"),
        pl.Series(["x", "y", "x"]),
        np.array(["2020", "2021", "2020"], dtype="M8[ns]"),
        [1.5, 0.5, 1.5],
        [True, False, True],
        ["x", 3, "x"],
    ],
)
def test_groups_of_any_type(qid):
    grades = check_grades(np.eye(3), [1, 2, 3], qid)
    np.testing.assert_array_equal(grades.group, [0, 1, 0])
    assert list(grades.group_names[grades.group]) == list(qid)


@pytest.mark.parametrize(
    ("y", "qid", "message"),
    [
        (None, None, "requires y to be passed, but the target y is None"),
        ([1, 2], None, "y has 2 values but there are 3 rows"),
        ([1, np.nan, 2], None, r"y has 1 missing value\(s\).*row 1"),
        (pd.Series([1, None, 2], dtype="Int64"), None, r"1 missing value\(s\)"),
        ([1, np.inf, 2], None, r"finite, .* 1 other value\(s\): row 1 \(inf\)"),
        (["a", "b", "c"], None, r"y must hold numbers, got 3.*row 0 \('a'\)"),
        (np.ones((3, 2)), None, r"one dimension, got shape \(3, 2\)"),
        ([1, 2, 3], ["a", "b"], "qid has 2 values but there are 3 rows"),
        ([1, 2, 3], ["a", None, "b"], r"qid has 1 missing value\(s\).*row 1"),
        ([1, 2, 3], [1, np.nan, 2], r"qid has 1 missing value\(s\).*row 1"),
    ],
)
def test_refused_grades(y, qid, message):
    with pytest.raises(ValueError, match=message):
        check_grades(np.eye(3), y, qid)


def test_missing_grades_are_kept_if_allowed():
    for y in ([1, None, 2], [1, np.nan, 2], pl.Series([1, None, 2])):
        kept = check_grades(np.eye(3), y, allow_missing=True).y
        np.testing.assert_array_equal(kept, [1.0, np.nan, 2.0])
    with pytest.raises(ValueError, match="must be finite"):
        check_grades(np.eye(3), [1, np.nan, np.inf], allow_missing=True)


def test_a_column_vector_is_used_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        grades = check_grades(np.eye(2), np.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(grades.y, [1.0, 2.0])


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        (np.zeros((0, 2, 1)), [], None, r"Found 0 sample\(s\)"),
        (CUBE, [1], None, "y has 1 values but there are 3 rows"),
        (CUBE, [1, 0, -1], [1], "sample_weight has 1 values but there are 3"),
        (CUBE, None, None, "requires y to be passed"),
    ],
)
def test_refused_comparisons(X, y, weight, message):
    with pytest.raises(ValueError, match=message):
        check_comparisons(X, y, weight)


def test_an_item_compared_with_itself_has_no_weight():
    pairs = Pairs(None, ["a", "b", "c"], ["b", "b", "c"])
    with pytest.warns(UserWarning, match=r"2 comparison\(s\).*row 1 \('b'\), row 2"):
        assert check_comparisons(pairs, [-1, 0, 1])[2].tolist() == [1, 0, 0]


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


def test_numbers_of_pairs_are_turned_back_exactly():
    # Just below and at i (i - 1) / 2 the rounded root is off by one.
    i = np.repeat(np.array([1, 2, 3, 95_000_000, 1_000_000_007, 1_500_000_001]), 3)
    number = i * (i - 1) // 2 + np.tile([-1, 0, 1], 6)
    number = number[number >= 0]
    row, column = pair_of_number(number)
    assert_array_equal(row * (row - 1) // 2 + column, number)
    assert ((column >= 0) & (column < row)).all()
