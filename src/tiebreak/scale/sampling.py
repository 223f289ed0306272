# SPDX-License-Identifier: BSD-3-Clause
"""Some rows of data in partitions, brought here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tiebreak.data import ItemTable, as_items
from tiebreak.scale.open_parts import open_parts
from tiebreak.scale.sources import PartedTable, as_parted

__all__ = ["sample_rows", "split_rows"]


def sample_rows(
    X: Any,
    n_rows: int,
    *,
    leave_out: list[str] | tuple[str, ...] = (),
    random_state: int | np.random.RandomState | None = None,
) -> pl.DataFrame | NDArray[np.float64]:
    """Draw items at random from data in partitions, without replacement.

    It is what :class:`NystroemMap` or a scaler is fitted on, whose ``transform`` then
    goes to the partitions with :meth:`PartedTable.map`.

    Parameters
    ----------
    X : PartedTable, pattern of files, or collection of Dask
        Items.
    n_rows : int
        How many rows at most; all of them if there are fewer.
    leave_out : list of str, optional
        Columns that are no features, such as those of grades and groups.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    polars.DataFrame, or ndarray of shape (n_rows, p)
        A frame where features have names. Equally likely for every row.
    """
    data = as_parted(X)
    if not isinstance(data, PartedTable) or data.is_pairs:
        raise TypeError(f"Expected items in partitions, got {data!r}.")
    roles = {f"left out {k}": column for k, column in enumerate(leave_out)}
    parts = open_parts(data, _Rows, **roles)
    try:
        sizes = [n for (n,) in parts.each(_size)]
        n_all = sum(sizes)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(n_all, min(n_rows, n_all), replace=False))
        own = split_rows(chosen, sizes)
        tables = [table for (table,) in parts.each(_take, own=own) if table is not None]
    finally:
        parts.close()
    values = np.concatenate([table.dense() for table in tables])
    names = tables[0].feature_names
    return values if names is None else pl.DataFrame(values, schema=list(names))


def split_rows(rows: NDArray[np.int64], sizes: Sequence[int]) -> list[Any]:
    """Give to every partition the rows that lie in it, numbered from its first.

    Parameters
    ----------
    rows : ndarray of int
        Ascending row numbers, through all partitions.
    sizes : sequence of int
        Number of rows of each partition.

    Returns
    -------
    list of ndarray of int
        One for each partition.
    """
    starts = np.cumsum([0, *sizes])
    parts = np.split(rows, np.searchsorted(rows, starts[1:-1]))
    return [part - start for part, start in zip(parts, starts, strict=False)]


class _Rows:
    """The items of a partition."""

    def __init__(self, columns: dict[str, Any]) -> None:
        X = columns["X"]
        self.table: ItemTable | None = as_items(X, name="X") if len(X) else None


def _size(part: _Rows) -> tuple[int]:
    return (0 if part.table is None else part.table.n_items,)


def _take(part: _Rows, rows: NDArray[np.int64]) -> tuple[ItemTable | None]:
    return (None if part.table is None or not len(rows) else part.table.take(rows),)
