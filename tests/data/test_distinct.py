# SPDX-License-Identifier: BSD-3-Clause
"""The fast numbering of distinct values gives what the loop over a dictionary gives."""

import datetime
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.fast_columns import TEXT_COLUMNS, alike, as_if_long, plain_factorize
from tiebreak.data import columns as distinct
from tiebreak.data.columns import (
    SHORT,
    TextColumn,
    as_column,
    find_distinct,
    missing_rows,
    number_keys,
)

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
    assert found.first.tolist() == [codes.index(code) for code in range(len(values))]
    assert alike(found.values, values)


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
@given(values=texts)
def test_text(make, values):
    with as_if_long():
        column = as_column(make(values), "left")
    assert column.tolist() == values
    assert len(missing_rows(column)) == 0
    check(column, values)


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_long_text_is_numbered_while_it_is_read(make):
    values = [f"name {row * row % 101}" for row in range(SHORT)]
    column = as_column(make(values), "left")
    assert (
        column.dtype.kind == "U"
        or isinstance(column, TextColumn)
        or (make is TEXT_COLUMNS["pandas index"])
    )
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


def test_integers_of_64_bits_without_sign():
    numbers = [2**64 - 1, 0, 2**63, 2**63 - 1, 2**64 - 1]
    check(np.array(numbers, dtype=np.uint64), numbers)


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


@pytest.mark.parametrize("make", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_hashes_that_collide_are_noticed(make, monkeypatch):
    values = ["a", "b", "a", "c", "b"]
    monkeypatch.setattr(
        distinct, "number_keys", lambda keys: number_keys(np.zeros_like(keys))
    )
    with as_if_long():
        column = as_column(make(values), "left")
        assert column.tolist() == values
        assert find_distinct(column).codes.tolist() == [0, 1, 0, 2, 1]


@given(
    keys=st.lists(
        st.one_of(
            st.integers(0, 2**64 - 1),
            st.integers(0, 20),
            st.integers(0, 20).map(lambda n: n << 40),
        ),
        max_size=80,
    )
)
def test_keys(keys):
    codes, first = number_keys(np.array(keys, dtype=np.uint64))
    expected, values = plain_factorize(keys)
    assert codes.tolist() == expected
    assert [keys[row] for row in first] == values


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_does_not_wait_for_threads_it_does_not_have():
    assert pl.thread_pool_size() >= 1
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=60)
