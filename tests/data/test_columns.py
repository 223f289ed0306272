# SPDX-License-Identifier: BSD-3-Clause
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tiebreak.data.columns import (
    as_column,
    as_names,
    factorize,
    missing_rows,
    plain_values,
    refuse_missing,
)
from tiebreak.data.messages import list_rows, warn_user


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], np.int64),
        ([1, 2.5], np.float64),
        ([True, False], np.bool_),
        (["a", "b"], object),
        (["a", 1], object),
        ([1, True], object),
        ([2**70, 1], object),
        ([], object),
        ((n for n in range(2)), np.int64),
        (pd.Series([1, 2], dtype="Int64"), np.int64),
        (pl.Series([1, 2], dtype=pl.UInt8), np.uint8),
    ],
)
def test_as_column_keeps_what_values_are(values, dtype):
    assert as_column(values, "left").dtype == dtype


def test_mixed_values_are_not_made_text():
    assert as_column(["a", 1], "left").tolist() == ["a", 1]


@pytest.mark.parametrize("values", [None, "abc", 3, {"a": 1}, {1, 2}])
def test_what_is_no_column(values):
    with pytest.raises(TypeError, match="left must be a column"):
        as_column(values, "left")


@pytest.mark.parametrize(
    "values", [np.zeros((2, 2)), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})]
)
def test_tables_are_no_columns(values):
    with pytest.raises(ValueError, match="left must have one dimension, got shape"):
        as_column(values, "left")


@pytest.mark.parametrize("values", [[[1], [2]], [1, (2, 3)], pl.Series([[1], [2]])])
def test_nested_values(values):
    with pytest.raises(ValueError, match="left must have one dimension, got nested"):
        as_column(values, "left")


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "b"],
        [1.0, np.nan, 2.0],
        ["a", np.float32("nan"), "b"],
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[D]"),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pd.Series([True, pd.NA, False], dtype="boolean"),
        pd.Series(["a", None, "b"]),
        pd.Series([pd.Timestamp(2020, 1, 1), pd.NaT, "x"], dtype=object),
        pl.Series([1, None, 2]),
        pl.Series(["a", None, "b"]),
        np.ma.array([1, 2, 3], mask=[False, True, False]),
    ],
)
def test_missing_in_every_spelling(values):
    column = as_column(values, "qid")
    np.testing.assert_array_equal(missing_rows(column), [1])
    with pytest.raises(ValueError, match=r"qid has 1 missing value\(s\).*row 1\."):
        refuse_missing(column, "qid")


def test_nothing_is_missing():
    for values in ([1, 2], ["a", ""], [0.0, np.inf], [True, False]):
        assert len(missing_rows(as_column(values, "qid"))) == 0


def test_factorize_counts_from_the_first_appearance():
    codes, distinct = factorize([5, 3, 5, 4])
    assert codes.dtype == np.int64
    np.testing.assert_array_equal(codes, [0, 1, 0, 2])
    assert distinct == [5, 3, 4]
    for column in (np.array([5, 3, 5, 4]), np.array([5, 3, 5, 4], dtype=object)):
        codes, distinct = factorize(column)
        np.testing.assert_array_equal(codes, [0, 1, 0, 2])
        assert distinct == [5, 3, 4]


def test_names_of_one_type_have_that_type():
    assert as_names(["a", "bc"]).dtype == np.dtype("<U2")
    assert as_names([3, 4]).dtype == np.int64
    assert as_names(["a", 4]).dtype == object
    assert as_names([date(2020, 1, 1)]).tolist() == [date(2020, 1, 1)]
    assert as_names([1, 2.5]).dtype == np.float64


@pytest.mark.parametrize("names", [["a\0", "a"], [2**53 + 1, 0.5]])
def test_names_that_another_type_would_change_stay_objects(names):
    assert as_names(names).dtype == object
    assert as_names(names).tolist() == names


def test_dates_of_nanoseconds_stay_dates():
    column = np.array(["2020-01-01"], dtype="M8[ns]")
    assert plain_values(column) == [np.datetime64("2020-01-01", "ns")]
    assert isinstance(plain_values(column)[0], np.datetime64)


def test_rows_are_named_and_counted():
    assert list_rows([4]) == "row 4"
    assert list_rows(np.arange(6), np.arange(6.0)).endswith("row 4 (4.0) and 1 more")


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("look here", RuntimeWarning)
    assert caught[0].filename == __file__
    assert caught[0].category is RuntimeWarning
