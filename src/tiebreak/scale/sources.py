# SPDX-License-Identifier: BSD-3-Clause
"""Tables in many partitions: files, or collections of Dask.

What a model is told of the columns (which one is the grade, which the group) is part of
how a partition is read, so that a worker reads just what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from tiebreak.data import ItemTable, as_items
from tiebreak.data.columns import as_column
from tiebreak.scale.readers import (
    FileReader,
    Layout,
    dask_readers,
    is_dask,
    list_files,
    names_files,
)

__all__ = ["PartedPairs", "PartedTable", "as_parted", "is_parted"]


def is_parted(X: Any) -> bool:
    """Say whether X is data in partitions: files, or a collection of Dask.

    Parameters
    ----------
    X : object
        Anything that a model may be given.

    Returns
    -------
    bool
    """
    if isinstance(X, str):
        return names_files(X)
    return isinstance(X, Path | PartedTable | PartedPairs) or is_dask(X)


def as_parted(X: Any) -> PartedTable | PartedPairs:
    """Bring parted data to the form that says how to read them.

    Parameters
    ----------
    X : PartedTable, PartedPairs, path, pattern or collection of Dask
        Data in partitions.

    Returns
    -------
    PartedTable or PartedPairs
    """
    return X if isinstance(X, PartedTable | PartedPairs) else PartedTable(X)


class _Parted:
    """What both kinds of parted data share."""

    source: Any
    _layout: Layout

    def __repr__(self) -> str:
        what = type(self.source).__name__ if is_dask(self.source) else self.source
        return f"{type(self).__name__}({what!s})"

    def readers(self, **roles: Any) -> tuple[list[Any], list[str]]:
        """Give what reads each partition, and what the partitions are called.

        Parameters
        ----------
        **roles : str, Dask collection or None
            The column that plays each role: its name, or a collection of Dask with the
            same partitions. None: there is none.

        Returns
        -------
        readers : list of callables or Delayed
        labels : list of str
        """
        given = {role: column for role, column in roles.items() if column is not None}
        named = {role: c for role, c in given.items() if isinstance(c, str)}
        layout = replace(
            self._layout, roles=(*self._layout.roles, *sorted(named.items()))
        )
        others = {role: c for role, c in given.items() if role not in named}
        for role, column in others.items():
            if not is_dask(column) or not is_dask(self.source):
                raise TypeError(
                    f"{role} must be the name of a column of {self!r}, or, where that "
                    "is a collection of Dask, one with the same partitions; got "
                    f"{type(column).__name__}."
                )
        if is_dask(self.source):
            return dask_readers(self.source, layout, others)
        files = list_files(self.source)
        readers = [FileReader(os.path.abspath(path), path, layout) for path in files]
        return readers, files


class PartedTable(_Parted):
    """Items in many partitions, of which some columns are features.

    Models take it as X, with the names of the other columns:
    ``model.fit(PartedTable("queries/*.parquet", features=["bm25", "clicks"]), "grade",
    qid="query")``. A bare pattern or collection of Dask means all other columns.

    Parameters
    ----------
    source : path, pattern, list of paths, or Dask DataFrame or array
        Partitions: Parquet or Arrow files, or those of a collection. Arrays of shape
        (n, 2, n_features) are comparisons.
    features : list of str, optional
        Columns that are features. Default: all that play no other part.

    Examples
    --------
    >>> from tiebreak.scale import PartedTable
    >>> PartedTable("queries/*.parquet", features=["bm25", "clicks"])
    PartedTable(queries/*.parquet)
    """

    def __init__(self, source: Any, features: Sequence[str] | None = None) -> None:
        if isinstance(features, str):
            raise TypeError(
                f"features must be a list of names, got the text {features!r}; write "
                f"[{features!r}]."
            )
        self.source = source
        chosen = None if features is None else tuple(features)
        self._layout = Layout(features=chosen)

    @property
    def is_pairs(self) -> bool:
        """Whether the partitions hold comparisons, an array of three dimensions."""
        return getattr(self.source, "ndim", 2) == 3

    def for_model(self, model: Any) -> PartedTable:
        """Give the table with the features that a fitted model knows by name.

        Parameters
        ----------
        model : estimator
            Fitted; without ``feature_names_in_`` nothing changes, nor where features
            were chosen or mapped.

        Returns
        -------
        PartedTable
        """
        known = getattr(model, "feature_names_in_", None)
        is_frame = not hasattr(self.source, "rechunk")
        if known is None or self._layout != Layout() or not is_frame:
            return self
        return PartedTable(self.source, [str(name) for name in known])

    def map(self, function: Callable[[Any], Any]) -> Self:
        """Give the table with other features, computed where the partitions are.

        Parameters
        ----------
        function : callable
            Takes the features of a partition and gives new ones, such as the
            ``transform`` of a fitted scaler or :class:`NystroemMap`.

        Returns
        -------
        PartedTable
        """
        other = type(self)(self.source, self._layout.features)
        other._layout = replace(self._layout, maps=(*self._layout.maps, function))
        return other


class PartedPairs(_Parted):
    """Comparisons in many partitions: two columns of names, and maybe a table of items.

    Models take it as X, with the name of the column of outcomes:
    ``model.fit(PartedPairs("votes/*.parquet", "model_a", "model_b"), "winner")``.

    Parameters
    ----------
    source : path, pattern, list of paths, or Dask DataFrame
        Partitions with one row per comparison.
    left, right : str, default="left", "right"
        Columns that name the two items.
    items : array-like or DataFrame of shape (N, p), optional
        Features of the items; it goes to every worker. None: items have none.
    names : array-like of shape (N,), optional
        Names of the rows of `items`. Default: 0 to N - 1.

    Examples
    --------
    >>> from tiebreak.scale import PartedPairs
    >>> PartedPairs("votes/*.parquet", "model_a", "model_b")
    PartedPairs(votes/*.parquet)
    """

    is_pairs = True

    def __init__(
        self,
        source: Any,
        left: str = "left",
        right: str = "right",
        *,
        items: Any = None,
        names: Any = None,
    ) -> None:
        self.source, self.left, self.right = source, left, right
        self.items: ItemTable | None = None if items is None else as_items(items)
        self.names = None
        if self.items is not None:
            n = self.items.n_items
            self.names = np.arange(n) if names is None else as_column(names, "names")
            if len(self.names) != n:
                raise ValueError(
                    f"There are {len(self.names)} names but {n} rows of items; they "
                    "must be as many."
                )
        elif names is not None:
            raise ValueError("names are those of items; give items too.")
        self._layout = Layout((("left", left), ("right", right)), has_features=False)
