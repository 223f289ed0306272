# SPDX-License-Identifier: BSD-3-Clause
import pickle
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.data import Pairs

ITEMS = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])


@pytest.fixture
def pairs():
    return Pairs(ITEMS, left=[0, 1, 3], right=[1, 2, 0], names=list("abcd"))


def test_row_numbers(pairs):
    assert pairs.left.dtype == pairs.right.dtype == np.int64
    np.testing.assert_array_equal(pairs.left, [0, 1, 3])
    np.testing.assert_array_equal(pairs.right, [1, 2, 0])
    np.testing.assert_array_equal(pairs.names, list("abcd"))
    assert pairs.table is pairs.items
    assert pairs.values is pairs.items.values
    assert (len(pairs), pairs.n_items, pairs.shape, pairs.ndim) == (3, 4, (3, 2, 2), 3)
    assert pairs.has_features
    assert pairs.dtype == np.float64


def test_an_array_says_the_same(pairs):
    array = np.asarray(pairs)
    assert array.shape == pairs.shape
    np.testing.assert_array_equal(array[:, 0], ITEMS[[0, 1, 3]])
    np.testing.assert_array_equal(array[:, 1], ITEMS[[1, 2, 0]])
    assert np.asarray(pairs, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array(pairs, copy=True), array)
    with pytest.raises(ValueError, match="always a copy"):
        np.array(pairs, copy=False)


def test_sparse_items_become_a_dense_array(pairs):
    sparse = Pairs(sp.csr_array(ITEMS), pairs.left, pairs.right)
    np.testing.assert_array_equal(np.asarray(sparse), np.asarray(pairs))


def test_no_features():
    pairs = Pairs(None, left=["b", "a"], right=["c", "b"])
    np.testing.assert_array_equal(pairs.names, ["b", "c", "a"])
    np.testing.assert_array_equal(pairs.left, [0, 2])
    np.testing.assert_array_equal(pairs.right, [1, 0])
    assert (pairs.n_items, pairs.shape, pairs.ndim) == (3, (2, 2), 2)
    assert pairs.items is None
    assert not pairs.has_features
    assert pairs.feature_names is None
    assert pairs.dtype == np.int64
    for use in (np.asarray, lambda p: p.values, lambda p: p.table):
        with pytest.raises(TypeError, match="have no features"):
            use(pairs)


@pytest.mark.parametrize("items", [None, ITEMS])
def test_names_are_matched(items):
    pairs = Pairs(items, left=["d", "a"], right=["a", "b"], names=list("abcd"))
    np.testing.assert_array_equal(pairs.left, [3, 0])
    np.testing.assert_array_equal(pairs.right, [0, 1])


@pytest.mark.parametrize("items", [None, ITEMS])
def test_integers_are_row_numbers_if_names_are_text(items):
    pairs = Pairs(items, left=[3, 0], right=[0, 1], names=list("abcd"))
    np.testing.assert_array_equal(pairs.left, [3, 0])


@pytest.mark.parametrize("items", [None, ITEMS])
@pytest.mark.parametrize("names", [[7, 0, 2, 1], [7, 0, 2, "x"], [7.0, 0.0, 2.0, 1.5]])
def test_integers_are_names_if_names_hold_numbers(items, names):
    pairs = Pairs(items, left=[7, 0], right=[2, 7], names=names)
    np.testing.assert_array_equal(pairs.left, [0, 1])
    np.testing.assert_array_equal(pairs.right, [2, 0])


def test_names_may_be_dates():
    days = [date(2020, 1, 1), date(2020, 1, 2)]
    pairs = Pairs(None, left=days, right=days[::-1])
    assert pairs.names.tolist() == days
    numpy_days = np.array(days, dtype="M8[ns]")
    pairs = Pairs(ITEMS[:2], left=numpy_days, right=numpy_days[::-1], names=numpy_days)
    np.testing.assert_array_equal(pairs.left, [0, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_equal_arrays(frame, pairs):
    other = Pairs(frame({"u": ITEMS[:, 0], "v": ITEMS[:, 1]}), [0, 1, 3], [1, 2, 0])
    np.testing.assert_array_equal(np.asarray(other), np.asarray(pairs))
    assert other.feature_names == ("u", "v")
    assert other[[0]].swap().compact().feature_names == ("u", "v")


def test_codes_are_copies():
    left = np.array([0, 1])
    pairs = Pairs(ITEMS, left, [1, 2])
    left[0] = 3
    assert pairs.left[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"left": [0, 1]}, "left has 2 items but right has 1"),
        ({"left": [4]}, r"left .*0 to 3, got 1 other.*row 0 \(4\)"),
        ({"right": [-1]}, r"right .*0 to 3, got 1 other.*row 0 \(-1\)"),
        ({"left": [None]}, r"left has 1 missing value\(s\).*row 0"),
        ({"right": [np.nan]}, r"right has 1 missing value\(s\).*row 0"),
        ({"names": ["a", "b"]}, "names has 2 values but there are 4 rows"),
        ({"names": ["a", "b", "a", None]}, r"names has 1 missing value\(s\).*row 3"),
        ({"names": ["a", "b", "a", "b"]}, "2 occur more than once: 'a', 'b'"),
        (
            {"left": ["x"], "right": ["a"], "names": list("abcd")},
            r"left must be among the 4 names, got 1 other.*row 0 \('x'\)",
        ),
        ({"left": [9], "names": [5, 6, 7, 8]}, r"among the 4 names.*row 0 \(9\)"),
        ({"items": [[1.0], [2.0, 3.0]]}, "items must be rectangular"),
    ],
)
def test_refused_values(arguments, message):
    arguments = {"items": ITEMS, "left": [0], "right": [1]} | arguments
    with pytest.raises(ValueError, match=message):
        Pairs(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"left": [0.0]}, r"integers\), got float64 values, such as 0.0"),
        ({"left": ["a"]}, "got object values, such as 'a'.*Give `names`"),
        ({"left": [True]}, "got bool values"),
        ({"left": 3}, "left must be a column"),
        (
            {"items": None, "left": [1], "right": ["1"]},
            "left holds numbers and right holds text",
        ),
    ],
)
def test_refused_types(arguments, message):
    arguments = {"items": ITEMS, "left": [0], "right": [1]} | arguments
    with pytest.raises(TypeError, match=message):
        Pairs(**arguments)


@pytest.mark.parametrize(
    "rows",
    [
        [0, 2],
        (np.array([0, 2]), ...),
        np.array([0, 2], dtype=np.int32),
        np.array([-3, -1]),
        slice(0, 3, 2),
        (slice(None, None, 2), ...),
        [True, False, True],
        np.array([True, False, True]),
        pd.Series([0, 2]),
    ],
)
def test_rows_are_comparisons(pairs, rows):
    taken = pairs[rows]
    assert isinstance(taken, Pairs)
    np.testing.assert_array_equal(taken.left, [0, 3])
    np.testing.assert_array_equal(taken.right, [1, 0])
    assert taken.left.flags.c_contiguous
    assert taken.right.flags.c_contiguous
    assert taken.items is pairs.items
    assert taken.names is pairs.names


def test_all_and_no_rows(pairs):
    assert len(pairs[...]) == 3
    for nothing in ([], slice(0, 0), np.zeros(3, dtype=bool), np.array([], dtype=int)):
        assert pairs[nothing].shape == (0, 2, 2)
        assert np.asarray(pairs[nothing]).shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, "out of bounds"),
        ([0, -4], "out of bounds"),
        ([True, False], "boolean index did not match"),
        ((0, 1), "row numbers, a mask or a slice"),
        ((slice(None), slice(None)), "row numbers, a mask or a slice"),
        ([0.0, 1.0], "integer"),
        ("a", "integer"),
        ([[0], [1]], "row numbers, a mask or a slice"),
    ],
)
def test_what_is_no_row(pairs, rows, message):
    with pytest.raises(IndexError, match=message):
        pairs[rows]


def test_no_comparisons_can_be_held():
    assert Pairs(ITEMS, [], []).shape == (0, 2, 2)
    nothing = Pairs(None, [], [])
    assert (len(nothing), nothing.n_items) == (0, 0)


def test_swap(pairs):
    swapped = pairs.swap()
    np.testing.assert_array_equal(np.asarray(swapped), np.asarray(pairs)[:, ::-1])
    assert swapped.names is pairs.names


def test_touched_and_compact(pairs):
    part = pairs[[2]]
    np.testing.assert_array_equal(part.touched(), [0, 3])
    assert part.touched().dtype == np.int64
    small = part.compact()
    assert small.n_items == 2
    np.testing.assert_array_equal(small.names, ["a", "d"])
    np.testing.assert_array_equal(np.asarray(small), np.asarray(part))
    assert pairs.compact() is pairs
    named = Pairs(None, ["a", "b"], ["b", "c"])[[1]].compact()
    np.testing.assert_array_equal(named.names, ["b", "c"])
    np.testing.assert_array_equal(named.left, [0])


def test_with_items(pairs):
    other = pairs.with_items(ITEMS[:, :1] + 1)
    assert other.shape == (3, 2, 1)
    np.testing.assert_array_equal(other.names, pairs.names)
    np.testing.assert_array_equal(np.asarray(other), np.asarray(pairs)[..., :1] + 1)
    with pytest.raises(ValueError, match="has 2 rows for 4 items"):
        pairs.with_items(ITEMS[:2])


def test_repr(pairs):
    assert repr(pairs) == "Pairs(3 comparisons of 4 items, 2 features)"
    one = Pairs(sp.csr_array(ITEMS[:1, :1]), [0], [0])
    assert repr(one) == "Pairs(1 comparison of 1 item, 1 feature, sparse)"
    assert repr(Pairs(None, ["a"], ["b"])) == (
        "Pairs(1 comparison of 2 items, no features)"
    )


@pytest.mark.parametrize("features", [True, False])
def test_pickle(pairs, features):
    if not features:
        pairs = Pairs(None, ["a", "b"], ["b", "c"])
    again = pickle.loads(pickle.dumps(pairs))
    np.testing.assert_array_equal(again.left, pairs.left)
    np.testing.assert_array_equal(again.right, pairs.right)
    np.testing.assert_array_equal(again.names, pairs.names)
    if features:
        np.testing.assert_array_equal(np.asarray(again), np.asarray(pairs))


@given(st.data())
def test_rows_of_pairs_are_rows_of_the_array(data):
    n_items = data.draw(st.integers(1, 5))
    code = st.integers(0, n_items - 1)
    codes = data.draw(st.lists(st.tuples(code, code), min_size=1, max_size=6))
    rows = data.draw(st.lists(st.integers(0, len(codes) - 1), max_size=6))
    items = np.arange(2.0 * n_items).reshape(n_items, 2)
    pairs = Pairs(items, [a for a, _ in codes], [b for _, b in codes])
    taken = pairs[np.array(rows, dtype=int), ...]
    np.testing.assert_array_equal(
        np.asarray(taken), np.asarray(pairs)[np.array(rows, dtype=int)]
    )
    if rows:
        np.testing.assert_array_equal(np.asarray(taken.compact()), np.asarray(taken))
