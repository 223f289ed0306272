# SPDX-License-Identifier: BSD-3-Clause
"""Periods of rows in order of time."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.data.columns import order_periods, readable_period


@given(st.lists(st.integers(-5, 5)) | st.lists(st.dates()) | st.lists(st.text()))
def test_places_and_values_are_those_of_sorting(period):
    found = order_periods(period, len(period))
    distinct = sorted(set(period))
    assert found.values == distinct
    assert found.place.tolist() == [distinct.index(value) for value in period]


def test_numpy_dates_are_sorted_by_time():
    dates = np.array(["2024-10-01", "2024-09-30"], dtype="datetime64[ns]")
    assert order_periods(dates, 2).place.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("period", "error", "message"),
    [
        ([1, 2], ValueError, "period has 2 values but there are 3 rows"),
        ([1, None, 2], ValueError, "period has 1 missing value"),
        ([1, "x", 2], TypeError, "can be sorted, got values of types int, str"),
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


@pytest.mark.parametrize("kind", ["int64", "float64", "datetime64[s]"])
def test_many_periods_are_no_list(rng, monkeypatch, kind):
    period = rng.integers(0, 9, 40).astype(kind)
    expected = order_periods(period, 40)
    assert isinstance(expected.values, list)
    monkeypatch.setattr("tiebreak.data.columns._LISTED", 2)
    found = order_periods(period, 40)
    assert isinstance(found.values, np.ndarray)
    assert found.values.tolist() == np.array(expected.values).tolist()
    np.testing.assert_array_equal(found.place, expected.place)
    np.testing.assert_array_equal(found.values[found.place], period)
