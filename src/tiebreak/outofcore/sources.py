# SPDX-License-Identifier: BSD-3-Clause
"""Tables in many partitions: files, or a Dask DataFrame.

A worker reads only the columns that a model needs.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from tiebreak.data import ItemTable, as_items
from tiebreak.data.columns import as_column_of
from tiebreak.io.formats import DAMAGED
from tiebreak.io.frames import is_path, list_files


@dataclass(frozen=True)
class Layout:
    """Which columns of a partition have which role."""

    roles: tuple[tuple[str, str], ...] = ()  # role and column of what is no feature
    features: tuple[str, ...] | None = None  # None: all other columns
    has_features: bool = True
    maps: tuple[Callable[[Any], Any], ...] = ()  # applied to the features after reading

    def choose(self, known: Sequence[str], label: str) -> list[str]:
        """Return the features of a table; all named columns must exist."""
        named = [column for _, column in self.roles]
        features: Sequence[str] = ()
        if self.has_features:
            features = self.features or [name for name in known if name not in named]
        for column in (*named, *features):
            if column not in known:
                raise ValueError(
                    f"{label} has no column {column!r}; it has {', '.join(known)}."
                )
        return list(features)

    def split(self, frame: Any, label: str) -> dict[str, Any]:
        """Return features and columns of a table by their roles."""
        features = self.choose([str(name) for name in frame.columns], label)
        columns: dict[str, Any] = {"label": label}
        columns |= {role: frame[column] for role, column in self.roles}
        if self.has_features:
            columns["X"] = frame[features]
        for function in self.maps:
            columns["X"] = function(columns["X"])
        return columns


@dataclass(frozen=True)
class FileReader:
    """Reads one Parquet or Arrow file."""

    path: str  # absolute, because workers may run in another folder
    label: str
    layout: Layout

    def __call__(self) -> dict[str, Any]:
        """Return the columns of the file by their roles."""
        is_parquet = self.path.endswith((".parquet", ".pq"))
        schema_of = pl.read_parquet_schema if is_parquet else pl.read_ipc_schema
        try:
            features = self.layout.choose(list(schema_of(self.path)), self.label)
            wanted = [*features, *(column for _, column in self.layout.roles)]
            if is_parquet:  # glob=False: a name may hold brackets
                frame = pl.read_parquet(self.path, columns=wanted, glob=False)
            else:
                frame = pl.read_ipc(self.path, columns=wanted)  # mapped, if it can be
        except DAMAGED as error:
            raise OSError(
                f"The partition {self.path} cannot be read: {error}. Every worker must "
                "see the file under this name."
            ) from error
        return self.layout.split(frame, self.label)


class _Partitioned:
    """What `PartitionedTable` and `PartitionedPairs` share."""

    source: Any
    _layout: Layout

    def __repr__(self) -> str:
        is_frame = hasattr(self.source, "to_delayed")
        what = type(self.source).__name__ if is_frame else self.source
        return f"{type(self).__name__}({what!s})"

    def readers(self, **roles: str | None) -> tuple[list[Any], list[str]]:
        """Return readers and labels of the partitions; roles name columns, or None."""
        columns = {role: c for role, c in roles.items() if c is not None}
        for role, column in columns.items():
            if not isinstance(column, str):
                raise TypeError(
                    f"{role} must be the name of a column of {self!r}, got "
                    f"{type(column).__name__}."
                )
        layout = replace(self._layout, roles=(*self._layout.roles, *columns.items()))
        if hasattr(self.source, "to_delayed"):
            from dask.delayed import delayed

            blocks, split = self.source.to_delayed(), delayed(layout.split, pure=False)
            labels = [f"partition {number}" for number in range(len(blocks))]
            return list(map(split, blocks, labels)), labels
        sources = [self.source] if is_path(self.source) else self.source
        files = [str(path) for one in sources for path in list_files(Path(one))]
        readers = [FileReader(os.path.abspath(path), path, layout) for path in files]
        return readers, files


class PartitionedTable(_Partitioned):
    """Items in many partitions, of which some columns are features.

    Parameters
    ----------
    source : path, pattern, list of paths, or Dask DataFrame
        Partitions: Parquet or Arrow files, or those of a frame.
    features : list of str, optional
        Columns that are features. Default: all columns without another role.

    Examples
    --------
    >>> from tiebreak.outofcore import PartitionedTable
    >>> PartitionedTable("queries/*.parquet", features=["bm25", "clicks"])
    PartitionedTable(queries/*.parquet)
    """

    def __init__(self, source: Any, features: Sequence[str] | None = None) -> None:
        if isinstance(features, str):
            raise TypeError(f"features must be a list of names, got {features!r}.")
        self.source = source
        self._layout = Layout(features=None if features is None else tuple(features))

    def map(self, function: Callable[[Any], Any]) -> Self:
        """Return the table with other features, computed where the partitions are.

        Parameters
        ----------
        function : callable
            Maps the features of a partition to new ones, such as the ``transform`` of a
            fitted scaler or :class:`NystroemMap`.

        Returns
        -------
        PartitionedTable
        """
        other = type(self)(self.source, self._layout.features)
        other._layout = replace(self._layout, maps=(*self._layout.maps, function))
        return other


class PartitionedPairs(_Partitioned):
    """Comparisons in many partitions, of the items of one table.

    Parameters
    ----------
    source : path, pattern, list of paths, or Dask DataFrame
        Partitions with one row per comparison.
    left, right : str
        Columns that name the two items.
    items : array-like or DataFrame of shape (N, p)
        Features of the items; it goes to every worker.
    names : array-like of shape (N,), optional
        Names of the rows of `items`. Default: 0 to N - 1.

    Examples
    --------
    >>> from tiebreak.outofcore import PartitionedPairs
    >>> items = [[0.5, 1.0], [0.3, 2.0]]
    >>> PartitionedPairs("votes/*.parquet", "model_a", "model_b", items=items)
    PartitionedPairs(votes/*.parquet)
    """

    def __init__(
        self, source: Any, left: str, right: str, *, items: Any, names: Any = None
    ) -> None:
        self.source, self.left, self.right = source, left, right
        self.items: ItemTable = as_items(items)
        n = self.items.n_items
        self.names = np.arange(n)
        if names is not None:
            self.names = as_column_of(names, "names", n, rows="items")
        self._layout = Layout((("left", left), ("right", right)), has_features=False)
