# SPDX-License-Identifier: BSD-3-Clause
"""Columns of text, kept as the numbers of their distinct values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.distinct import Distinct, TextColumn, number_keys

__all__ = ["Text", "number_text"]


@dataclass(frozen=True, eq=False)
class Text:
    """A column of text by its distinct values.

    Attributes
    ----------
    codes : ndarray of int64 of shape (n,)
        The number of the value of each row; -1 where there is none.
    values : list of str
        The distinct values, in order of first appearance.
    """

    codes: NDArray[np.int64]
    values: list[str]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value, shape (n,)."""
        return self.codes < 0

    def take(self, rows: NDArray[Any]) -> Text:
        """Make the column of some rows, and of the values that they hold."""
        codes = self.codes[rows]
        keys = codes.astype(np.uint64)
        new, first = number_keys(keys)
        values = [self.values[code] for code in codes[first]]
        return Text(new, values)

    def array(self) -> TextColumn:
        """Give the column as an array of str, when no value is missing."""
        _, first = number_keys(self.codes.astype(np.uint64))
        return TextColumn.of(Distinct(self.codes, first, self.values))


def number_text(series: pl.Series) -> Text:
    """Number the distinct values of a column of text.

    Parameters
    ----------
    series : polars.Series
        Text, as it is or as categories; null where there is none.

    Returns
    -------
    Text
    """
    series = series.cast(pl.Categorical)
    physical = series.to_physical()
    missing = series.is_null().to_numpy()
    keys = physical.fill_null(0).to_numpy().astype(np.uint64)
    rows = np.flatnonzero(~missing) if missing.any() else None
    codes, first = number_keys(keys if rows is None else keys[rows])
    kept = series.gather(first if rows is None else rows[first]).cast(pl.String)
    if rows is not None:
        filled = np.full(len(series), -1, dtype=np.int64)
        filled[rows] = codes
        codes = filled
    return Text(codes, kept.to_list())
