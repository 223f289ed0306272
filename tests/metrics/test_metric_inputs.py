# SPDX-License-Identifier: BSD-3-Clause
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tiebreak.metrics.metric_inputs import (
    group_codes,
    numeric_vector,
    outcome_vector,
)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series])
def test_columns_of_any_kind_come_in(make):
    assert numeric_vector(make([3, 1, 2]), "y").tolist() == [3, 1, 2]
    assert outcome_vector(make([-1, 0, 1]), "outcome").tolist() == [-1, 0, 1]
    assert group_codes(make(["b", "a", "b"]), 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "y is empty"),
        ([1.0, np.nan], r"y has 1 missing value.*row 1"),
        ([1, None], r"y has 1 missing value.*row 1"),
        ([1.0, -np.inf], r"y must be finite.*row 1 \(-inf\)"),
        ([1, "2"], r"y must hold numbers, got 1 other value.*row 1 \('2'\)"),
        (["1", "2"], r"y must hold numbers, got 2 other value.*row 0 \('1'\)"),
        ([Decimal(1), 2], r"y must hold numbers.*row 0 \(Decimal"),
        (np.array([1, 2j]), r"y must hold numbers, got 2 other value"),
        (np.zeros((2, 1)), "y must have one dimension"),
        (np.ma.masked_array([1, 2], [False, True]), r"missing value.*row 1"),
        ([1, 2, 3], "y has 3 values but there are 2 rows"),
    ],
)
def test_bad_vectors(values, message):
    n_rows = 2 if message.endswith("2 rows") else None
    with pytest.raises(ValueError, match=message):
        numeric_vector(values, "y", n_rows)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2, 0], r"must hold -1.*got 1 other value\(s\): row 1 \(2\)"),
        ([0.5], r"row 0 \(0.5\)"),
        ([True, False], "must hold numbers, got True"),
        (["left"], "must hold numbers"),
    ],
)
def test_bad_outcomes(values, message):
    with pytest.raises(ValueError, match=message):
        outcome_vector(values, "outcome")


def test_groups_of_any_type_stay_apart():
    assert group_codes(None, 3).tolist() == [0, 0, 0]
    assert group_codes([1, "1", 1], 3).tolist() == [0, 1, 0]
    assert group_codes([5.5, -1.0, 5.5], 3).tolist() == [0, 1, 0]
    days = np.array(["2024-01-02", "2024-01-01"], dtype="datetime64[D]")
    assert group_codes(days, 2).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([0, 1], "qid has 2 values but there are 3 rows"),
        ([0.0, np.nan, 1.0], r"qid has 1 missing value.*row 1"),
        (["a", None, "b"], r"qid has 1 missing value.*row 1"),
    ],
)
def test_bad_groups(qid, message):
    with pytest.raises(ValueError, match=message):
        group_codes(qid, 3)
