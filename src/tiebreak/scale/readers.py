# SPDX-License-Identifier: BSD-3-Clause
"""How partitions are read: files of a folder, or blocks of a collection of Dask."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

__all__ = [
    "FileReader",
    "Layout",
    "dask_readers",
    "is_dask",
    "list_files",
    "names_files",
    "read_file",
]

_ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


@dataclass(frozen=True)
class Layout:
    """Which columns of a partition play which part.

    Attributes
    ----------
    roles : tuple of (role, column)
        Columns that are not features.
    features : tuple of str or None
        Columns that are; None: all others.
    has_features : bool
        Whether there are features at all.
    maps : tuple of callables
        What is done to the features after reading.
    """

    roles: tuple[tuple[str, str], ...] = ()
    features: tuple[str, ...] | None = None
    has_features: bool = True
    maps: tuple[Callable[[Any], Any], ...] = ()

    @property
    def wanted(self) -> list[str] | None:
        """The columns to read; None for all."""
        named = [column for _, column in self.roles]
        if not self.has_features:
            return named
        return None if self.features is None else [*self.features, *named]

    def split(self, frame: Any, label: str) -> dict[str, Any]:
        """Give features and columns of a table."""
        known = [str(name) for name in frame.columns]
        for role, column in self.roles:
            _check_column(column, known, label, role)
        columns: dict[str, Any] = {"label": label}
        columns |= {role: frame[column] for role, column in self.roles}
        if self.has_features:
            taken = {column for _, column in self.roles}
            features = self.features or [name for name in known if name not in taken]
            for feature in features:
                _check_column(feature, known, label, "a feature")
            columns["X"] = self.map(frame[list(features)])
        return columns

    def map(self, X: Any) -> Any:
        """Bring features into the form that the model is to see."""
        for function in self.maps:
            X = function(X)
        return X


def _check_column(column: str, known: list[str], label: str, role: str) -> None:
    if column not in known:
        raise ValueError(
            f"{label} has no column {column!r}, which was to be {role}; it has "
            f"{', '.join(known)}."
        )


@dataclass(frozen=True)
class FileReader:
    """Reads one file, on whatever machine it is called.

    Attributes
    ----------
    path : str
        The file; absolute, because workers may run in another folder.
    label : str
        What it is called in messages.
    layout : Layout
        Its columns.
    """

    path: str
    label: str
    layout: Layout

    def __call__(self) -> dict[str, Any]:
        """Read the file and give its columns by their roles."""
        try:
            frame = read_file(self.path, self.layout.wanted)
        except pl.exceptions.ColumnNotFoundError:
            frame = read_file(self.path)  # the message below names what is missing
        return self.layout.split(frame, self.label)


def names_files(text: str) -> bool:
    """Say whether a text names files: a folder, a pattern, or by its ending."""
    return (
        os.path.exists(text)
        or text.endswith(_ENDINGS)
        or any(sign in text for sign in (*"*?[/", os.sep))
    )


def read_file(path: str | Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a Parquet or Arrow file; an uncompressed Arrow file is mapped, not read.

    Parameters
    ----------
    path : path
        The file.
    columns : list of str, optional
        Columns; None for all.

    Returns
    -------
    polars.DataFrame
    """
    # glob=False: a name may hold brackets.
    try:
        if str(path).endswith((".parquet", ".pq")):
            return pl.read_parquet(path, columns=columns, glob=False)
        return pl.read_ipc(path, columns=columns)
    except pl.exceptions.ColumnNotFoundError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        raise OSError(
            f"The partition {path} cannot be read: {error}. Every worker must see the "
            "file under this name."
        ) from error


def list_files(source: str | Path | Sequence[str | Path]) -> list[str]:
    """Give the files of a folder, a pattern or a list, in order.

    Parameters
    ----------
    source : path, pattern or list of paths
        A folder of Parquet or Arrow files, a pattern such as ``"log/*.parquet"``, one
        file, or the files themselves.

    Returns
    -------
    list of str
    """
    if isinstance(source, str | Path):
        text = str(source)
        if Path(text).is_dir():
            inside = sorted(Path(text).iterdir())
            files = [str(path) for path in inside if path.suffix in _ENDINGS]
        elif Path(text).is_file():
            files = [text]
        else:
            files = sorted(glob.glob(text, recursive=True))
    else:
        files = [str(path) for path in source]
    if not files:
        raise FileNotFoundError(
            f"{source} names no file; expected a folder of Parquet or Arrow files, or "
            "a pattern such as 'folder/*.parquet'."
        )
    for path in files:
        if not path.endswith(_ENDINGS):
            raise ValueError(
                f"{path} is not a Parquet or Arrow file, by its name; expected "
                f"{', '.join(_ENDINGS)}."
            )
    return files


def is_dask(X: Any) -> bool:
    """Say whether X is a collection of Dask, without importing it."""
    return type(X).__module__.split(".")[0].startswith("dask") and hasattr(X, "dask")


def dask_readers(
    source: Any, layout: Layout, others: dict[str, Any]
) -> tuple[list[Any], list[str]]:
    """Give the tasks that read the blocks of a collection, and what these are called.

    Parameters
    ----------
    source : Dask DataFrame or array
        The collection.
    layout : Layout
        Its columns.
    others : dict of str to Dask collections
        Columns that stand beside it, by their roles.

    Returns
    -------
    readers : list of Delayed
    labels : list of str
    """
    from dask.delayed import delayed

    if hasattr(source, "assign"):
        # One frame: Dask may read columns of different frames in different portions.
        for role, column in others.items():
            _check_partitions(role, column.npartitions, source.npartitions)
        source = source.assign(
            **{_reserved(role): column for role, column in others.items()}
        )
        named = [(role, _reserved(role)) for role in others]
        layout = replace(layout, roles=(*layout.roles, *named))
        others = {}
    blocks = _blocks(source)
    columns: dict[str, list[Any]] = {}
    for role, column in others.items():
        columns[role] = _blocks(_alike(column, source, role))
        _check_partitions(role, len(columns[role]), len(blocks))
    split = delayed(_split_block, pure=False)
    labels = [f"partition {number}" for number in range(len(blocks))]
    readers = [
        split(layout, labels[k], block, {role: c[k] for role, c in columns.items()})
        for k, block in enumerate(blocks)
    ]
    return readers, labels


def _reserved(role: str) -> str:
    return f"tiebreak {role}"


def _check_partitions(role: str, n: int, n_wanted: int) -> None:
    if n != n_wanted:
        raise ValueError(
            f"{role} has {n} partitions and X has {n_wanted}; both must be cut in the "
            "same way, as columns of one collection are."
        )


def _blocks(collection: Any) -> list[Any]:
    if hasattr(collection, "npartitions") and hasattr(collection, "to_delayed"):
        if getattr(collection, "ndim", 2) >= 2 and hasattr(collection, "rechunk"):
            whole = {axis: -1 for axis in range(1, collection.ndim)}
            collection = collection.rechunk(whole)
        return list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))
    raise TypeError(
        f"Expected a DataFrame or an array of Dask, got {type(collection).__name__}."
    )


def _alike(column: Any, source: Any, role: str) -> Any:
    """Cut an array where the rows of X are cut, if that is known."""
    if not (hasattr(column, "rechunk") and hasattr(source, "rechunk")):
        return column
    if column.chunks[0] == source.chunks[0] or np.isnan(source.shape[0]):
        return column
    if column.shape[0] != source.shape[0]:
        raise ValueError(
            f"{role} has {column.shape[0]} values but X has {source.shape[0]} rows; "
            "they must be as many."
        )
    return column.rechunk((source.chunks[0],))


def _split_block(
    layout: Layout, label: str, block: Any, others: dict[str, Any]
) -> dict[str, Any]:
    """Give features and columns of a block of Dask, on a worker."""
    if hasattr(block, "columns"):
        return layout.split(block, label) | others
    if layout.roles:
        raise TypeError(
            f"An array has no column {layout.roles[0][1]!r}; give {layout.roles[0][0]} "
            "as an array of Dask."
        )
    return {"label": label, "X": layout.map(block), **others}
