# SPDX-License-Identifier: BSD-3-Clause
"""Tables in many partitions: files, or collections of Dask.

Which columns a model asks for (the grade, the group) is part of how a partition is
read, so that a worker reads just what it needs.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, Self

import numpy as np
import polars as pl

from tiebreak.data import ItemTable, as_items
from tiebreak.data.atomic import atomic_folder
from tiebreak.data.columns import as_column, factorize, refuse_missing
from tiebreak.data.partitioned import FILE_ENDINGS, is_dask
from tiebreak.outofcore.partitions import group_keys


@dataclass(frozen=True)
class Layout:
    """Which columns of a partition have which role."""

    roles: tuple[tuple[str, str], ...] = ()  # role and column of what is no feature
    features: tuple[str, ...] | None = None  # None: all other columns
    has_features: bool = True
    maps: tuple[Callable[[Any], Any], ...] = ()  # applied to the features after reading

    @property
    def wanted(self) -> list[str] | None:
        """The columns to read; None for all."""
        named = [column for _, column in self.roles]
        if not self.has_features:
            return named
        return None if self.features is None else [*self.features, *named]

    def split(self, frame: Any, label: str) -> dict[str, Any]:
        """Return features and columns of a table by their roles."""
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
        """Return the features that the model is to see."""
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
    """Reads one file, on whatever machine it is called."""

    path: str  # absolute, because workers may run in another folder
    label: str
    layout: Layout

    def __call__(self) -> dict[str, Any]:
        """Return the columns of the file by their roles."""
        try:
            frame = read_file(self.path, self.layout.wanted)
        except pl.exceptions.ColumnNotFoundError:
            frame = read_file(self.path)  # the message below names what is missing
        return self.layout.split(frame, self.label)


def read_file(path: str | Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a Parquet or Arrow file; an uncompressed Arrow file is mapped, not read."""
    # glob=False: a name may hold brackets.
    try:
        if str(path).endswith((".parquet", ".pq")):
            return pl.read_parquet(path, columns=columns, glob=False)
        return pl.read_ipc(path, columns=columns)
    except pl.exceptions.ColumnNotFoundError:
        raise
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(
            f"The partition {path} cannot be read: {error}. Every worker must see the "
            "file under this name."
        ) from error


def list_files(source: str | Path | Sequence[str | Path]) -> list[str]:
    """Return the files of a folder, a pattern or a list, in order."""
    if isinstance(source, str | Path):
        text = str(source)
        if Path(text).is_dir():
            inside = sorted(Path(text).iterdir())
            files = [str(path) for path in inside if path.suffix in FILE_ENDINGS]
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
        if not path.endswith(FILE_ENDINGS):
            raise ValueError(
                f"{path} is not a Parquet or Arrow file, by its name; expected "
                f"{', '.join(FILE_ENDINGS)}."
            )
    return files


def dask_readers(
    source: Any, layout: Layout, others: dict[str, Any]
) -> tuple[list[Any], list[str]]:
    """Return the tasks that read the blocks of a collection, and their labels."""
    from dask.delayed import delayed

    if hasattr(source, "assign"):
        # One frame: Dask may read columns of different frames in different portions.
        for role, column in others.items():
            _check_partitions(role, column.npartitions, source.npartitions)
        named = {role: f"tiebreak {role}" for role in others}
        source = source.assign(**{named[role]: others[role] for role in others})
        layout = replace(layout, roles=(*layout.roles, *named.items()))
        others = {}
    blocks = _blocks(source)
    columns: dict[str, list[Any]] = {}
    for role, column in others.items():
        columns[role] = _blocks(_cut_like(column, source, role))
        _check_partitions(role, len(columns[role]), len(blocks))
    split = delayed(_split_block, pure=False)
    labels = [f"partition {number}" for number in range(len(blocks))]
    readers = [
        split(layout, labels[k], block, {role: c[k] for role, c in columns.items()})
        for k, block in enumerate(blocks)
    ]
    return readers, labels


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


def _cut_like(column: Any, source: Any, role: str) -> Any:
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
    """Return features and columns of a block of Dask, on a worker."""
    if hasattr(block, "columns"):
        return layout.split(block, label) | others
    if layout.roles:
        raise TypeError(
            f"An array has no column {layout.roles[0][1]!r}; give {layout.roles[0][0]} "
            "as an array of Dask."
        )
    return {"label": label, "X": layout.map(block), **others}


def as_partitioned_data(X: Any) -> PartitionedTable | PartitionedPairs:
    """Return X itself, or a path, pattern or Dask collection as a table."""
    known = isinstance(X, PartitionedTable | PartitionedPairs)
    return X if known else PartitionedTable(X)


class _Partitioned:
    """What `PartitionedTable` and `PartitionedPairs` share."""

    source: Any
    _layout: Layout

    def __repr__(self) -> str:
        what = type(self.source).__name__ if is_dask(self.source) else self.source
        return f"{type(self).__name__}({what!s})"

    def fit_model(self, model: Any, **columns: Any) -> dict[str, Any] | None:
        """Fit a model where the data are; return its fitted attributes."""
        from tiebreak.outofcore.fits import fit_model

        assert isinstance(self, PartitionedTable | PartitionedPairs)
        return fit_model(model, self, **columns)

    def score_model(self, model: Any, **columns: Any) -> float:
        """Return accuracy, or 1 - the swapped-pair fraction, of all rows together."""
        from tiebreak.outofcore.evaluation import score_model

        assert isinstance(self, PartitionedTable | PartitionedPairs)
        return score_model(model, self, **columns)

    def readers(self, **roles: Any) -> tuple[list[Any], list[str]]:
        """Return what reads each partition, and the labels of the partitions."""
        # A role is given the name of a column, or a collection of Dask with the same
        # partitions; None: there is none.
        given = {role: column for role, column in roles.items() if column is not None}
        named = {role: c for role, c in given.items() if isinstance(c, str)}
        known = (*self._layout.roles, *sorted(named.items()))
        layout = replace(self._layout, roles=known)
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


class PartitionedTable(_Partitioned):
    """Items in many partitions, of which some columns are features.

    Models take it as X, with the names of the other columns:
    ``model.fit(PartitionedTable("queries/*.parquet", features=["bm25"]), "grade",
    qid="query")``. A bare pattern or collection of Dask means all other columns.

    Parameters
    ----------
    source : path, pattern, list of paths, or Dask DataFrame or array
        Partitions: Parquet or Arrow files, or those of a collection. Arrays of shape
        (n, 2, n_features) are comparisons.
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

    def for_model(self, model: Any) -> PartitionedTable:
        """Return the table with the features that a fitted model knows by name."""
        # Nothing changes where features were chosen or mapped, or have no names.
        known = getattr(model, "feature_names_in_", None)
        is_frame = not hasattr(self.source, "rechunk")
        if known is None or self._layout != Layout() or not is_frame:
            return self
        return PartitionedTable(self.source, [str(name) for name in known])

    def map(self, function: Callable[[Any], Any]) -> Self:
        """Return the table with other features, computed where the partitions are.

        Parameters
        ----------
        function : callable
            Takes the features of a partition and returns new ones, such as the
            ``transform`` of a fitted scaler or :class:`NystroemMap`.

        Returns
        -------
        PartitionedTable
        """
        other = type(self)(self.source, self._layout.features)
        other._layout = replace(self._layout, maps=(*self._layout.maps, function))
        return other


class PartitionedPairs(_Partitioned):
    """Comparisons in many partitions: two columns of names, and maybe a table of items.

    Models take it as X, with the name of the column of outcomes:
    ``model.fit(PartitionedPairs("votes/*.parquet", "model_a", "model_b"), "winner")``.

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
    >>> from tiebreak.outofcore import PartitionedPairs
    >>> PartitionedPairs("votes/*.parquet", "model_a", "model_b")
    PartitionedPairs(votes/*.parquet)
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


_ROWS = 1_000_000


def repartition(
    source: Any,
    folder: str | Path | None = None,
    *,
    qid: str,
    n_parts: int | None = None,
) -> Any:
    """Cut a table anew so that every group lies in one partition.

    Files are read one at a time, and their rows go to as many files as asked for, by
    their group; memory is needed for the largest of these. Inside a file rows keep
    the order in which they were read. The files are uncompressed Arrow, which later
    passes map into memory instead of reading; the folder is complete or not there.

    Parameters
    ----------
    source : path, pattern, list of paths, or Dask DataFrame
        The table.
    folder : path, optional
        Where the files go; not for a Dask DataFrame.
    qid : str
        The column of groups.
    n_parts : int, optional
        Number of partitions. Default: about a million rows each; of a Dask DataFrame,
        as many as it has.

    Returns
    -------
    list of str, or Dask DataFrame
        The files, or the DataFrame shuffled by group.

    Examples
    --------
    >>> import polars as pl, tempfile
    >>> from tiebreak.outofcore import repartition
    >>> here = tempfile.mkdtemp()
    >>> table = pl.DataFrame({"query": [1, 2, 1, 2], "bm25": [1.0, 2.0, 3.0, 4.0]})
    >>> table.write_parquet(f"{here}/log.parquet")
    >>> files = repartition(here, f"{here}/whole", qid="query", n_parts=2)
    >>> sum(pl.read_ipc(file)["query"].n_unique() for file in files)
    2
    """
    if is_dask(source):
        if folder is not None:
            raise ValueError(
                "A Dask DataFrame is shuffled where it is; expected no folder."
            )
        return source.shuffle(qid, npartitions=n_parts or source.npartitions)
    if folder is None:
        raise ValueError("repartition needs a folder for the files it writes.")
    files = list_files(source)
    folder = Path(folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"{folder} is not empty, and what is in it would be read together with the "
            "new files. Name a new folder, or empty it first."
        )
    if n_parts is None:
        n_parts = max(1, -(-sum(_count_rows(path, qid) for path in files) // _ROWS))
    if n_parts < 1:
        raise ValueError(f"n_parts must be at least 1, got {n_parts}.")
    width = len(str(n_parts - 1))
    names = [f"part-{number:0{width}d}.arrow" for number in range(n_parts)]
    with (
        atomic_folder(folder, names) as unfinished,
        TemporaryDirectory(prefix=".tiebreak-", dir=folder.parent) as scratch,
    ):
        schema = _scatter(files, qid, n_parts, Path(scratch))
        for number, name in enumerate(names):
            pieces = sorted(Path(scratch).glob(f"{number}-*.arrow"))
            table = pl.concat([pl.read_ipc(piece) for piece in pieces] or [schema])
            table.write_ipc(unfinished / name, compression="uncompressed")
            for piece in pieces:
                piece.unlink()
    return [str(folder / name) for name in names]


def _scatter(files: list[str], qid: str, n_parts: int, scratch: Path) -> pl.DataFrame:
    """Write the rows of every file to their pieces; return an empty table."""
    first: pl.DataFrame | None = None
    for order, path in enumerate(files):
        table = read_file(path)
        if qid not in table.columns:
            _refuse_columns(path, qid, table.columns)
        if first is None:
            first = table.clear()
        elif table.schema != first.schema:
            raise ValueError(
                f"{path} has other columns or types than {files[0]}: {table.schema} "
                f"instead of {first.schema}."
            )
        column = as_column(table[qid], qid)
        refuse_missing(column, qid)
        codes, distinct = factorize(column)
        part = (group_keys(np.asarray(distinct)) % n_parts)[codes]
        for number in np.unique(part):
            piece = table.filter(pl.Series(part == number))
            piece.write_ipc(
                scratch / f"{number}-{order:08d}.arrow", compression="uncompressed"
            )
    assert first is not None
    return first


def _count_rows(path: str, qid: str) -> int:
    try:
        return len(read_file(path, [qid]))
    except pl.exceptions.ColumnNotFoundError:
        _refuse_columns(path, qid, read_file(path).columns)


def _refuse_columns(path: str, qid: str, columns: list[str]) -> NoReturn:
    raise ValueError(
        f"{path} has no column {qid!r} of groups; it has {', '.join(columns)}."
    )
