# SPDX-License-Identifier: BSD-3-Clause
"""Tables of items, equal rows of them, and names of the items of both sides."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from tests.data.fast_columns import (
    TEXT_COLUMNS,
    as_if_long,
    equal_values,
    object_array,
    plain_sides,
)
from tiebreak.data import Pairs, as_items, items
from tiebreak.data.columns import SHORT, as_column
from tiebreak.data.items import names_of_sides, number_rows

DENSE = np.array([[1.0, 0.0], [0.0, -2.5], [0.0, 0.0]])


@pytest.mark.parametrize(
    "X",
    [
        DENSE,
        DENSE.tolist(),
        np.asfortranarray(DENSE),
        DENSE.astype(np.float32),
        DENSE.astype(object),
        np.ma.array(DENSE),
        DENSE[::-1][::-1],
        pd.DataFrame(DENSE),
        pd.DataFrame({"a": [1, 0, 0], "b": DENSE[:, 1]}),
        pd.DataFrame({"a": [True, False, False], "b": DENSE[:, 1]}),
        pd.DataFrame({"a": pd.array([1, 0, 0], dtype="Int64"), "b": DENSE[:, 1]}),
        pl.DataFrame({"a": [1, 0, 0], "b": DENSE[:, 1]}),
        pl.DataFrame({"a": [True, False, False], "b": DENSE[:, 1]}),
        pl.DataFrame({"a": [1, 0, 0], "b": DENSE[:, 1]}).with_columns(
            pl.col("a").cast(pl.Decimal(10, 2))
        ),
    ],
)
def test_dense_tables_become_one_form(X):
    values = as_items(X).values
    assert isinstance(values, np.ndarray)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    np.testing.assert_array_equal(values, DENSE)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_sparse_tables_become_canonical_csr(kind, make):
    table = as_items(make(DENSE).asformat(kind).astype(np.float32))
    assert isinstance(table.values, sp.csr_array)
    assert table.is_sparse
    assert table.values.dtype == np.float64
    assert table.values.nnz == 2
    np.testing.assert_array_equal(table.dense(), DENSE)


def test_sparse_duplicates_and_zeros_are_merged_without_changing_the_input():
    X = sp.csr_array(
        (np.array([2.0, 1.0, 0.0, 3.0]), np.array([1, 1, 0, 0]), np.array([0, 2, 4])),
        shape=(2, 2),
    )
    data, indices = X.data.copy(), X.indices.copy()
    table = as_items(X)
    np.testing.assert_array_equal(table.dense(), [[0.0, 3.0], [3.0, 0.0]])
    assert table.values.has_canonical_format
    assert table.values.nnz == 2
    np.testing.assert_array_equal(X.data, data)
    np.testing.assert_array_equal(X.indices, indices)


def test_no_copy_when_none_is_needed():
    X = DENSE.copy()
    X.flags.writeable = False
    assert as_items(X).values is X
    csr = sp.csr_array(DENSE)
    assert np.shares_memory(as_items(csr).values.data, csr.data)
    table = as_items(X)
    assert as_items(table) is table


def test_feature_names():
    assert as_items(pd.DataFrame({"a": [1], "b": [2]})).feature_names == ("a", "b")
    assert as_items(pl.DataFrame({"a": [1], "b": [2]})).feature_names == ("a", "b")
    assert as_items(pd.DataFrame([[1, 2]])).feature_names is None
    assert as_items([[1, 2]]).feature_names is None
    with pytest.raises(TypeError, match="all text or none, got 1"):
        as_items(pd.DataFrame({"a": [1], 1: [2]}))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 2], [3, np.nan]], "the first is NaN at row 1, column 1\\."),
        (
            [[1, np.inf], [np.nan, 1]],
            "2 value.s. are not; the first is inf at row 0, col",
        ),
        ([[-np.inf]], "1 value.s. are not; the first is -inf at row 0, column 0"),
        ([[1, None]], "the first is NaN at row 0, column 1"),
        (pd.DataFrame({"a": [1], "b": [np.nan]}), r"row 0, column 1 \('b'\)"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), r"row 1.*\('a'\)"),
        (pl.DataFrame({"a": [1, None]}), r"row 1, column 0 \('a'\)"),
        (pl.DataFrame({"a": [True, None]}), r"row 1, column 0 \('a'\)"),
        (pl.DataFrame({"a": [None, None]}), r"row 0, column 0 \('a'\)"),
        (sp.csr_array([[0, 1], [np.nan, 0]]), "the first is NaN at row 1, column 0"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "NaN at row 0, column 1"),
        ([[1, 2], [3]], "must be rectangular"),
        ([1, 2, 3], "Reshape your data"),
        (np.zeros((2, 2, 2)), "Found array with dim 3"),
        (np.zeros((0, 2)), r"0 sample\(s\) \(shape=\(0, 2\)\)"),
        (
            np.zeros((2, 0)),
            r"0 feature\(s\) \(shape=\(2, 0\)\) while a min",
        ),
        (sp.csr_array((0, 2)), "0 sample"),
        (sp.coo_array(np.array([1.0, 2.0])), "Reshape your data"),
        ([[1.0, -1e31]], "at most 1e.30 in size.*-1e.31 at row 0, column 1. Scale"),
        (sp.csr_array([[0.0], [1e31]]), "at most 1e.30.*1e.31 at row 1, column 0"),
        ([[1j]], "Complex data not supported"),
        (sp.csr_array([[1j]]), "Complex data not supported"),
    ],
)
def test_refused_values(X, message):
    with pytest.raises(ValueError, match=message):
        as_items(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a", "b"]], r"items must hold numbers, got 'a' at \[0, 0\]"),
        (np.array([["1.5"]]), "items must hold numbers, got '1.5'"),
        (np.array([[1, "2"]], dtype=object), r"got '2' at \[0, 1\]"),
        (np.array([[1, pd.NA]], dtype=object), r"got <NA> at \[0, 1\]"),
        (np.array([[{"a": 1}]], dtype=object), "argument must be a string or a real"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "datetime.date"),
        (pd.DataFrame({"a": [1j]}), "Column 'a' of items has dtype complex"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), "Column 'b' of items has dtype"),
        (pd.DataFrame({"b": pd.Categorical(["x"])}), "Column 'b' of items has dtype"),
        (pd.DataFrame({"b": [1]}, dtype=object), "Column 'b' of items has dtype obj"),
        (pd.DataFrame({"b": [pd.Timestamp(0)]}), "Column 'b' of items has dtype"),
        (pl.DataFrame({"a": [1], "b": ["x"]}), "Column 'b' of items has dtype String"),
        (pl.DataFrame({"b": [[1, 2]]}), "Column 'b' of items has dtype List"),
        (pl.LazyFrame({"a": [1]}), "must be a table of numbers.*got LazyFrame"),
        (None, "must be a table of numbers.*got NoneType"),
        (Pairs(None, ["a"], ["b"]), "have no features"),
    ],
)
def test_refused_types(X, message):
    with pytest.raises(TypeError, match=message):
        as_items(X)


def test_table_knows_its_size():
    table = as_items(DENSE)
    assert (table.n_items, table.n_features, len(table)) == (3, 2, 3)
    assert table.shape == (3, 2)
    assert repr(table) == "ItemTable(3 items, 2 features)"
    assert repr(as_items(sp.csr_array(DENSE))) == (
        "ItemTable(3 items, 2 features, sparse)"
    )
    named = as_items(pd.DataFrame({"a": [1.0, 2.0]})).take([1, 1, 0])
    np.testing.assert_array_equal(named.values, [[2.0], [2.0], [1.0]])
    assert named.feature_names == ("a",)


small_tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 3)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300]),
)


@given(small_tables, st.booleans())
def test_unique_merges_equal_rows_only(X, sparse):
    table = as_items(sp.csr_array(X) if sparse else X)
    unique, inverse = table.unique()
    np.testing.assert_array_equal(unique.dense()[inverse], X)
    # Python's own equality of tuples knows that 0.0 == -0.0.
    assert unique.n_items == len(set(map(tuple, X.tolist())))
    # Numbered by first appearance: a new number is one more than the largest so far.
    assert inverse[0] == 0
    assert all(inverse[i] <= inverse[:i].max() + 1 for i in range(1, len(inverse)))


def test_rows_with_the_same_hash_stay_apart(monkeypatch):
    monkeypatch.setattr(items, "_hash_rows", lambda bits, keys: keys.fill(7))
    values = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [2.0, 0.0], [3.0, 1.0]])
    for rows in (values, -values):
        codes, first = number_rows(rows)
        assert_array_equal(codes, [0, 1, 0, 1, 2])
        assert_array_equal(first, [0, 1, 4])


words = st.sampled_from(["", "a", "A", "a ", "b", "é", "e\u0301", "𝔸", "10", "9"])
rows_of_words = st.lists(st.tuples(words, words), min_size=1, max_size=30)


def check(left, right, expected_left, expected_right):
    with as_if_long():
        found = names_of_sides(as_column(left, "left"), as_column(right, "right"))
    codes_left, codes_right, names = plain_sides(expected_left, expected_right)
    assert found[0].tolist() == codes_left
    assert found[1].tolist() == codes_right
    assert found[0].dtype == found[1].dtype == np.int64
    assert equal_values(found[2].tolist(), names)


@pytest.mark.filterwarnings("ignore:Names that look the same")
@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
@given(rows=rows_of_words)
def test_text_of_every_make(make, rows):
    left, right = (list(side) for side in zip(*rows, strict=True))
    check(make(left), make(right), left, right)


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
    assert equal_values(found[2].tolist(), [2**53 + 1, float(2**53), 1.5])


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


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_numbers_against_text_are_refused_at_any_length(make):
    for length in (1, SHORT):
        with pytest.raises(TypeError, match="left holds numbers and right holds text"):
            Pairs(None, np.arange(length), make(["1"] * length))


@pytest.mark.filterwarnings("ignore:Names that look the same")
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


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_unknown_names_are_counted_and_shown(make):
    left = make(["a", "x", "b", "y", "x"])
    with (
        as_if_long(),
        pytest.raises(
            ValueError,
            match=r"left must be among the 2 names, got 3 other value\(s\): "
            r"row 1 \('x'\), row 3 \('y'\), row 4 \('x'\)",
        ),
    ):
        Pairs(None, left, ["a"] * 5, names=["a", "b"])
