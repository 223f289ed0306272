# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tiebreak.data import ItemTable, Pairs, as_items

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
    with pytest.raises(TypeError, match="all text or none, got 1 among text"):
        as_items(pd.DataFrame({"a": [1], 1: [2]}))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 2], [3, np.nan]], "the first is NaN at row 1, column 1\\."),
        (
            [[1, np.inf], [np.nan, 1]],
            "2 values are not; the first is inf at row 0, col",
        ),
        ([[-np.inf]], "1 value is not; the first is -inf at row 0, column 0"),
        ([[1, None]], "the first is NaN at row 0, column 1"),
        (pd.DataFrame({"a": [1], "b": [np.nan]}), r"row 0, column 1 \('b'\)"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), r"row 1.*\('a'\)"),
        (pl.DataFrame({"a": [1, None]}), r"row 1, column 0 \('a'\)"),
        (pl.DataFrame({"a": [True, None]}), r"row 1, column 0 \('a'\)"),
        (pl.DataFrame({"a": [None, None]}), r"row 0, column 0 \('a'\)"),
        (sp.csr_array([[0, 1], [np.nan, 0]]), "the first is NaN at row 1, column 0"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "NaN at row 0, column 1"),
        (np.array([[1, pd.NA]], dtype=object), r"\(NA\) at row 0, column 1"),
        ([[1, 2], [3]], "must be rectangular"),
        ([1, 2, 3], "Reshape your data"),
        (np.zeros((2, 2, 2)), r"got shape \(2, 2, 2\).*holds pairs, not items"),
        (np.zeros((0, 2)), r"no rows: 0 sample\(s\) \(shape=\(0, 2\)\)"),
        (
            np.zeros((2, 0)),
            r"no columns: 0 feature\(s\) \(shape=\(2, 0\)\) while a min",
        ),
        (sp.csr_array((0, 2)), "no rows"),
        (sp.coo_array(np.array([1.0, 2.0])), "Reshape your data"),
        ([[1j]], "Complex data not supported"),
        (sp.csr_array([[1j]]), "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), "Complex data not supported: column 'a'"),
    ],
)
def test_refused_values(X, message):
    with pytest.raises(ValueError, match=message):
        as_items(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a", "b"]], "items must hold numbers, got dtype <U1, for example 'a'"),
        (np.array([["1.5"]]), "items must hold numbers, got dtype <U3"),
        (np.array([[1, "2"]], dtype=object), "got '2' at row 0, column 1"),
        (np.array([[{"a": 1}]], dtype=object), "argument must be a string or a real"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "datetime64"),
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


def test_the_name_of_the_table_is_in_the_message():
    with pytest.raises(ValueError, match=r"^X must be finite"):
        as_items([[np.nan]], name="X")


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
@settings(max_examples=60, deadline=None)
def test_unique_merges_equal_rows_only(X, sparse):
    table = as_items(sp.csr_array(X) if sparse else X)
    unique, inverse = table.unique()
    np.testing.assert_array_equal(unique.dense()[inverse], X)
    # Python's own equality of tuples knows that 0.0 == -0.0.
    assert unique.n_items == len(set(map(tuple, X.tolist())))
    # Numbered by first appearance: a new number is one more than the largest so far.
    assert inverse[0] == 0
    assert all(inverse[i] <= inverse[:i].max() + 1 for i in range(1, len(inverse)))


def test_unique_is_itself_when_nothing_repeats():
    table = as_items(DENSE)
    unique, inverse = table.unique()
    assert unique is table
    np.testing.assert_array_equal(inverse, [0, 1, 2])
    assert isinstance(unique, ItemTable)


def test_unique_takes_the_features_of_the_first_of_equals():
    named = as_items(pd.DataFrame({"a": [2.0, 1.0, 2.0]}))
    unique, inverse = named.unique()
    np.testing.assert_array_equal(unique.values, [[2.0], [1.0]])
    np.testing.assert_array_equal(inverse, [0, 1, 0])
    assert unique.feature_names == ("a",)
