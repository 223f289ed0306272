# SPDX-License-Identifier: BSD-3-Clause
"""Columns: how they are converted, numbered by distinct values, and ordered in time."""

import datetime
import os
import subprocess
import sys
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.fast_columns import (
    TEXT_COLUMNS,
    as_if_long,
    equal_values,
    plain_factorize,
)
from tests.waiting import PATIENCE
from tiebreak.data.columns import (
    TextColumn,
    as_column,
    as_names,
    find_distinct,
    missing_rows,
    order_periods,
    plain_values,
    readable_period,
    refuse_missing,
    take_rows,
)
from tiebreak.data.messages import warn_user


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
    with pytest.raises(ValueError, match="left must have one dimension, got"):
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


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("look here", RuntimeWarning)
    assert caught[0].filename == __file__
    assert caught[0].category is RuntimeWarning


# Without the character 0 at the end, which NumPy's text of fixed width loses.
texts = st.lists(
    st.one_of(
        st.sampled_from(["", " ", "a", "A", "a ", "é", "e\u0301", "ſ", "ß", "𝔸", "0"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=9).map(
            lambda text: text.rstrip("\0")
        ),
    ),
    min_size=1,
    max_size=40,
)


def check(column, expected_values):
    """Hold the result for a column against the dictionary, first rows included."""
    codes, values = plain_factorize(expected_values)
    with as_if_long():
        found = find_distinct(column)
    assert found.codes.dtype == found.first.dtype == np.int64
    assert found.codes.tolist() == codes
    first = {code: row for row, code in reversed([*enumerate(codes)])}
    assert found.first.tolist() == [first[code] for code in range(len(values))]
    assert equal_values(found.values, values)


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
@given(values=texts)
def test_text(make, values):
    if make is TEXT_COLUMNS["pandas categorical"]:
        # pandas 2 takes "" and "\0a" for the same category.
        values = [value.replace("\0", "") for value in values]
    with as_if_long():
        column = as_column(make(values), "left")
    assert column.tolist() == values
    assert len(missing_rows(column)) == 0
    check(column, values)


@pytest.mark.parametrize(
    "dtype",
    ["i1", "i4", "i8", "u1", "u8", ">i4", "f2", "f4", "f8", ">f8", "?", "M8[D]"],
)
@given(numbers=st.lists(st.integers(-3, 3), max_size=30))
def test_numbers(dtype, numbers):
    column = np.array(numbers, dtype=np.int64).astype(dtype)
    check(column, list(column) if column.dtype.kind in "mM" else column.tolist())


@given(
    numbers=st.lists(
        st.one_of(
            st.integers(-(2**63), 2**63 - 1),
            st.integers(-5, 5).map(lambda n: n * 2**58),
            st.sampled_from([-(2**63), 2**63 - 1, -1, 0, 2**32, 2**32 + 1]),
        ),
        max_size=60,
    )
)
def test_integers_of_the_whole_range(numbers):
    check(np.array(numbers, dtype=np.int64), numbers)


@given(
    numbers=st.lists(
        st.one_of(
            st.sampled_from([0.0, -0.0, np.inf, -np.inf, 5e-324]),
            st.floats(allow_nan=False),
        ),
        max_size=30,
    )
)
def test_floats(numbers):
    """0.0 and -0.0 are the same, and the first of them stands for both."""
    check(np.array(numbers), numbers)


@pytest.mark.parametrize(
    "column",
    [
        np.array([np.nan, 1.0, 1.0]),
        np.array([1, 2, 1], dtype=np.longdouble),
        np.array([1j, 2.0, 1j]),
        np.array([b"a", b"", b"a"]),
        np.array([1, True, 1.0, "1", 2**70], dtype=object),
        np.array(["a", "\ud800", "a"], dtype=object),
        np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="M8[ns]"),
        np.array([3, 1, 3], dtype="m8[s]"),
        np.array([datetime.date(2020, 1, 1)] * 2),
        np.array([], dtype=np.str_),
        np.array([], dtype=np.int64),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_of_other_makes(column):
    dates = column.dtype.kind in "mM"
    check(column, list(column) if dates else column.tolist())


def test_what_has_no_value_is_left_to_the_loop():
    """NaN is not NaN, so that no two rows of it are the same."""
    with as_if_long():
        assert find_distinct(np.array([np.nan, np.nan])).codes.tolist() == [0, 1]
        assert len(find_distinct(np.array(["NaT"] * 2, "M8[D]")).values) == 2


def test_a_part_of_a_text_column_does_not_claim_to_know_itself():
    with as_if_long():
        column = as_column(["a", "b", "c", "a"], "left")
    assert isinstance(column, TextColumn)
    part = column[1:]
    assert part.distinct is None
    check(part, ["b", "c", "a"])
    assert as_column(column, "left") is column
    with pytest.raises(ValueError, match="read-only"):
        column[0] = "z"


@pytest.mark.parametrize("rows", [[3, 1, 1], [False, True, False, True], []])
def test_rows_that_are_taken_of_a_text_column_keep_its_values(rows):
    with as_if_long():
        column = as_column(["a", "b", "c", "a"], "left")
    rows = np.array(rows, dtype=None if rows else int)
    part = take_rows(column, rows)
    assert isinstance(part, TextColumn)
    assert part.distinct is not None
    check(part, column[rows].tolist())
    assert take_rows(np.arange(4), rows).tolist() == np.arange(4)[rows].tolist()


FORKED = """
import os, sys
import numpy as np, polars as pl
from tiebreak import Pairs

names = [f"name {i % 999}" for i in range(200_000)]
frame = pl.DataFrame({"name": names})
frame.group_by("name").len()  # the threads of polars run from here on
child = os.fork()
if child == 0:
    for column in (names, frame["name"], np.array(names), frame["name"].to_pandas()):
        assert Pairs(None, column, column).n_items == 999
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.extended
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_does_not_wait_for_threads_it_does_not_have():
    assert pl.thread_pool_size() >= 1
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=PATIENCE)


@given(st.lists(st.integers(-5, 5)) | st.lists(st.dates()) | st.lists(st.text()))
def test_places_and_values_are_those_of_sorting(period):
    found = order_periods(period, len(period))
    distinct = sorted(set(period))
    assert list(found.values) == distinct
    assert found.place.tolist() == [distinct.index(value) for value in period]


def test_numpy_dates_are_sorted_by_time():
    dates = np.array(["2024-10-01", "2024-09-30"], dtype="datetime64[ns]")
    assert order_periods(dates, 2).place.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("period", "error", "message"),
    [
        ([1, 2], ValueError, "period has 2 values but there are 3 rows"),
        ([1, None, 2], ValueError, "period has 1 missing value"),
        ([1, "x", 2], TypeError, "not supported between"),
    ],
)
def test_bad_periods_are_refused(period, error, message):
    with pytest.raises(error, match=message):
        order_periods(period, 3)


def test_dates_are_shown_without_a_time_at_midnight():
    assert readable_period(np.datetime64("2024-05-01", "ns")) == "2024-05-01"
    assert readable_period(np.datetime64("2024-05-01T12:30")) == "2024-05-01T12:30"
    assert readable_period(datetime.date(2024, 5, 1)) == datetime.date(2024, 5, 1)
    assert readable_period(7) == 7
