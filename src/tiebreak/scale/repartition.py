# SPDX-License-Identifier: BSD-3-Clause
"""Bring groups together: partitions that a group never straddles."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import numpy as np
import polars as pl

from tiebreak.data.atomic import atomic_folder
from tiebreak.data.columns import as_column, factorize, refuse_missing
from tiebreak.scale.facts import group_keys
from tiebreak.scale.readers import is_dask, list_files, read_file

__all__ = ["repartition"]

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
    >>> from tiebreak.scale import repartition
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
    """Write the rows of every file to their pieces; give an empty table."""
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
