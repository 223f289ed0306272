# SPDX-License-Identifier: BSD-3-Clause
"""Names of both sides: numbered row by row, the left one before the right one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.fast_columns import (
    TEXT_COLUMNS,
    alike,
    as_if_long,
    object_array,
    plain_sides,
)
from tiebreak.data import Orders, Pairs
from tiebreak.data.columns import SHORT, as_column
from tiebreak.data.items import names_of_sides

words = st.sampled_from(["", "a", "A", "a ", "b", "é", "e\u0301", "𝔸", "10", "9"])
rows_of_words = st.lists(st.tuples(words, words), min_size=1, max_size=30)


def check(left, right, expected_left, expected_right):
    with as_if_long():
        found = names_of_sides(as_column(left, "left"), as_column(right, "right"))
    codes_left, codes_right, names = plain_sides(expected_left, expected_right)
    assert found[0].tolist() == codes_left
    assert found[1].tolist() == codes_right
    assert found[0].dtype == found[1].dtype == np.int64
    assert alike(found[2].tolist(), names)


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
@given(rows=rows_of_words)
def test_text_of_every_make(make, rows):
    left, right = (list(side) for side in zip(*rows, strict=True))
    check(make(left), make(right), left, right)


@given(rows=rows_of_words, data=st.data())
def test_text_of_two_makes(rows, data):
    left, right = (list(side) for side in zip(*rows, strict=True))
    makes = st.sampled_from(list(TEXT_COLUMNS.values()))
    check(data.draw(makes)(left), data.draw(makes)(right), left, right)


numbers = st.integers(-3, 3)


@pytest.mark.parametrize("right_type", ["i8", "u8", "f8", "f4"])
@pytest.mark.parametrize("left_type", ["i8", "i2", "f8"])
@given(rows=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30))
def test_numbers_of_two_types(left_type, right_type, rows):
    """1 and 1.0 are one name, spelled as it stands first; narrowing comes after."""
    left, right = np.array(rows, dtype=np.int64).T
    left, right = left.astype(left_type), right.astype(right_type)
    with as_if_long():
        found = names_of_sides(left, right)
    codes_left, codes_right, names = plain_sides(left.tolist(), right.tolist())
    assert found[0].tolist() == codes_left
    assert found[1].tolist() == codes_right
    assert found[2].tolist() == names


def test_integers_that_no_float_can_hold_stay_apart():
    left, right = np.array([2**53 + 1, 2**53]), np.array([float(2**53), 1.5])
    with as_if_long():
        found = names_of_sides(left, right)
    assert (found[0].tolist(), found[1].tolist()) == ([0, 1], [1, 2])
    assert alike(found[2].tolist(), [2**53 + 1, float(2**53), 1.5])


anything = st.one_of(
    st.sampled_from([True, False, 0, 1, 1.0, 2**70, 2**63, -1, "1", "", "a"]),
    st.integers(-2, 2),
    st.booleans(),
)


@given(rows=st.lists(st.tuples(anything, anything), min_size=1, max_size=20))
def test_values_of_mixed_types_keep_the_equality_of_python(rows):
    """These columns are not narrowed first: they hold the values as they are."""
    left, right = (object_array(side) for side in zip(*rows, strict=True))
    with as_if_long():
        found = names_of_sides(left, right)
    codes_left, codes_right, names = plain_sides(left.tolist(), right.tolist())
    assert found[0].tolist() == codes_left
    assert found[1].tolist() == codes_right
    assert found[2].tolist() == names


def test_true_is_one_and_not_the_text():
    pairs = Pairs(None, [True, 1, "1"], [1.0, 2, "1"])
    assert pairs.left.tolist() == [0, 0, 2]
    assert pairs.right.tolist() == [0, 1, 2]
    assert alike(pairs.names.tolist(), [True, 2, "1"])


def test_integers_beyond_64_bits():
    with as_if_long():
        pairs = Pairs(None, [2**70, 1], [1, 2**63])
    assert pairs.names.tolist() == [2**70, 1, 2**63]
    assert pairs.left.tolist() == [0, 1]


def test_text_that_ends_with_the_character_0_is_not_cut():
    for length in (1, SHORT):
        pairs = Pairs(None, ["a\0"] * length, ["a"] * length)
        assert pairs.names.tolist() == ["a\0", "a"]
        assert (pairs.left[-1], pairs.right[-1]) == (0, 1)


def test_half_of_a_surrogate_pair_is_a_name_too():
    for length in (1, SHORT):
        pairs = Pairs(None, ["\ud800"] * length, ["a"] * length)
        assert pairs.names.tolist() == ["\ud800", "a"]


class Color(str):
    """Text with a mind of its own about what it is equal to."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return isinstance(other, Color) and str(self) == str(other)


def test_text_of_a_class_of_its_own_keeps_its_equality():
    for length in (1, SHORT):
        pairs = Pairs(None, [Color("a")] * length, ["a"] * length)
        assert (pairs.left[0], pairs.right[0]) == (0, 1)


@pytest.mark.parametrize("length", [10, SHORT])
@pytest.mark.parametrize(
    ("make", "missing"),
    [
        (make, missing)
        for make in (list, object_array, pd.Series)
        for missing in (None, np.nan, pd.NA)
    ]
    + [(pl.Series, None)],
)
def test_missing_names_are_refused_at_any_length(make, missing, length):
    names = ["a", "b"] * (length // 2)
    wrong = [*names[:3], missing, *names[4:]]
    with pytest.raises(ValueError, match=r"right has 1 missing value\(s\).*row 3\."):
        Pairs(None, names, make(wrong))


def test_missing_categories_are_refused():
    column = pd.Series(["a", None] + ["b"] * SHORT, dtype="category")
    with pytest.raises(ValueError, match=r"left has 1 missing value\(s\).*row 1\."):
        Pairs(None, column, column)


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_numbers_against_text_are_refused_at_any_length(make):
    for length in (1, SHORT):
        with pytest.raises(TypeError, match="left holds numbers and right holds text"):
            Pairs(None, np.arange(length), make(["1"] * length))


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
@given(rows=rows_of_words)
def test_names_that_are_given_are_looked_up(make, rows):
    left, right = (list(side) for side in zip(*rows, strict=True))
    names = sorted({*left, *right}, reverse=True)
    with as_if_long():
        pairs = Pairs(None, make(left), make(right), names=make(names))
    assert pairs.names.tolist() == names
    assert [names[code] for code in pairs.left] == left
    assert [names[code] for code in pairs.right] == right


@pytest.mark.parametrize("dtype", ["i8", "u2", "f8"])
def test_numbers_that_are_given_as_names_are_looked_up(dtype, rng):
    names = np.arange(0, 400, 2)[::-1].astype(dtype)
    codes = rng.integers(0, len(names), SHORT)
    pairs = Pairs(None, names[codes], names[codes[::-1]], names=names)
    np.testing.assert_array_equal(pairs.left, codes)
    np.testing.assert_array_equal(pairs.right, codes[::-1])


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_unknown_names_are_counted_and_shown(make):
    left = make(["a", "x", "b", "y", "x"])
    with (
        as_if_long(),
        pytest.raises(
            ValueError,
            match=r"left has 3 value\(s\), 2 distinct, that are not among the 2 names: "
            r"row 1 \('x'\), row 3 \('y'\), row 4 \('x'\). Known names begin with 'a'",
        ),
    ):
        Pairs(None, left, ["a"] * 5, names=["a", "b"])


def test_repeated_names_are_shown_at_any_length():
    names = [f"name {i}" for i in range(SHORT)]
    with pytest.raises(ValueError, match="1 occur more than once: 'name 7'"):
        Pairs(None, [0], [1], names=[*names, "name 7"])


def test_long_columns_of_random_names(rng):
    """All ways at once, at a length at which they are taken without being forced."""
    names = np.array([f"player {i}" for i in range(5000)])
    a, b = rng.integers(0, len(names), (2, SHORT + 1))
    left, right = names[a].tolist(), names[b].tolist()
    codes_left, codes_right, expected = plain_sides(left, right)
    for make in TEXT_COLUMNS.values():
        pairs = Pairs(None, make(left), make(right))
        assert pairs.names.tolist() == expected
        np.testing.assert_array_equal(pairs.left, codes_left)
        np.testing.assert_array_equal(pairs.right, codes_right)
        assert pairs.left.flags.c_contiguous
        assert pairs.left.flags.writeable
    pairs = Pairs(None, a, b)
    np.testing.assert_array_equal(pairs.left, codes_left)
    np.testing.assert_array_equal(pairs.names, [int(name[7:]) for name in expected])


def test_orders_of_long_lists(rng):
    lists = [rng.permutation(300).astype(str).tolist() for _ in range(SHORT // 300 + 1)]
    orders = Orders(None, lists)
    assert list(orders[[0, -1]]) == [lists[0], lists[-1]]
