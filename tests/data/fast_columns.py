# SPDX-License-Identifier: BSD-3-Clause
"""The slow truth about names, and columns of every make to hold against it."""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl

from tiebreak.data import columns
from tiebreak.data import columns as distinct


@contextmanager
def as_if_long():
    """Let short columns take the way of long ones."""
    with patch.object(columns, "SHORT", 1), patch.object(distinct, "SHORT", 1):
        yield


def plain_factorize(values):
    """Number values with a dictionary: this is what the numbers mean."""
    seen = {}
    codes = []
    for value in values:
        if value not in seen:
            seen[value] = len(seen)
        codes.append(seen[value])
    return codes, list(seen)


def plain_sides(left, right):
    """Number both sides, read row by row, the left one first."""
    both = [value for row in zip(left, right, strict=True) for value in row]
    codes, names = plain_factorize(both)
    return codes[0::2], codes[1::2], names


def equal_values(values, others):
    """Say whether two lists hold the same values of the same types (0.0, not -0.0)."""
    return [(type(v), repr(v)) for v in values] == [(type(v), repr(v)) for v in others]


def object_array(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


TEXT_COLUMNS = {
    "list": list,
    "tuple": tuple,
    "objects": object_array,
    "fixed width": lambda values: np.array(values, dtype=np.str_),
    "other byte order": lambda values: np.array(values, dtype=np.str_).astype(">U16"),
    "every second": lambda values: np.repeat(np.array(values, dtype=np.str_), 2)[::2],
    "NumPy strings": lambda values: np.array(values, dtype=np.dtypes.StringDType()),
    "list of NumPy text": lambda values: [np.str_(value) for value in values],
    "polars": lambda values: pl.Series(values, dtype=pl.String),
    "polars, in chunks": lambda values: pl.concat(
        [pl.Series(part, dtype=pl.String) for part in (values[:1], values[1:])],
        rechunk=False,
    ),
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars enum": lambda values: pl.Series(
        values, dtype=pl.Enum(sorted(set(values), reverse=True))
    ),
    "pandas": lambda values: pd.Series(values, dtype="str"),
    "pandas nullable": lambda values: pd.Series(values, dtype="string"),
    "pandas objects": lambda values: pd.Series(values, dtype=object),
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "pandas index": lambda values: pd.Index(values),
}
"""Ways to hand over a column of text that is not empty."""
