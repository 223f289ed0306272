# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the rows: by label, or by columns of 0 and 1 that may overlap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import as_column, factorize, refuse_missing
from tiebreak.data.messages import list_rows

__all__ = ["split_categories"]

_MANY = 200


def split_categories(by: Any, n_rows: int) -> dict[str, NDArray[np.int64]]:
    """Find the rows of every category.

    Parameters
    ----------
    by : array-like of shape (n_rows,), DataFrame, dict of columns, or None
        Labels, one per row; or named columns of 0 and 1 (or False and True).
    n_rows : int
        How many rows there are.

    Returns
    -------
    dict of str to ndarray of int64
        Row numbers of each category, in order of first appearance, or of columns.

    Examples
    --------
    >>> split_categories(["clay", "grass", "clay"], 3)
    {'clay': array([0, 2]), 'grass': array([1])}
    >>> split_categories({"math": [1, 0, 1], "code": [0, 0, 1]}, 3)
    {'math': array([0, 2]), 'code': array([2])}
    """
    if by is None:
        return {}
    if isinstance(by, Mapping) or hasattr(by, "columns"):
        names = list(by) if isinstance(by, Mapping) else list(by.columns)
        return {str(name): _rows_of_flag(by[name], str(name), n_rows) for name in names}
    labels = _column(by, "by", n_rows)
    codes, distinct = factorize(labels)
    if len(distinct) > _MANY:
        raise ValueError(
            f"by has {len(distinct)} different categories, the most that makes sense "
            f"is {_MANY}; for numbers or dates, cut them into a few ranges first."
        )
    return {
        str(label): np.flatnonzero(codes == code) for code, label in enumerate(distinct)
    }


def _column(values: Any, name: str, n_rows: int) -> NDArray[Any]:
    column = as_column(values, name)
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} values but there are {n_rows} comparisons; they "
            "must be as many."
        )
    refuse_missing(column, name)
    return column


def _rows_of_flag(values: Any, name: str, n_rows: int) -> NDArray[np.int64]:
    column = _column(values, f"by[{name!r}]", n_rows)
    wrong = np.flatnonzero(~np.isin(column, (0, 1)))
    if len(wrong):
        raise ValueError(
            f"by[{name!r}] must hold 0 and 1 (or False and True), got {len(wrong)} "
            f"other value(s): {list_rows(wrong, column[wrong[:5]])}. Give one column "
            "of labels instead if categories do not overlap."
        )
    rows = np.flatnonzero(column)
    if len(rows) == 0:
        raise ValueError(f"The category {name!r} has no comparison; leave it out.")
    return rows
