# SPDX-License-Identifier: BSD-3-Clause
"""A folder or a pattern of files: which files, and what they hold together.

Every file is read as one file of its kind is, on whatever machine the work is done. All
must have the same columns, since what a column means is recognized by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from tiebreak.io import FileError, ReadOptions, ReadResult, Wanted, read_file
from tiebreak.io.columns import find_reading
from tiebreak.io.formats import open_bytes, sniff
from tiebreak.io.result import first_of, plural, shorten
from tiebreak.io.table import Table
from tiebreak.outofcore import PartitionedTable
from tiebreak.outofcore.sources import list_files

_KINDS = {b"PAR1": "Parquet", b"ARRO": "Arrow"}
_MAGIC = set("*?[")
_SAID = 40  # letters by which two sentences are of a kind
_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True)
class ManyFiles:
    """Files that are read as one.

    Attributes
    ----------
    files : tuple of str
        The files, in order; those without rows are left out.
    shape : {"comparisons", "grades"}
        What they hold.
    reading : ReadOptions
        How to read each of them.
    sentences : list of str
        What was recognized, in plain words.
    """

    files: tuple[str, ...]
    shape: Literal["comparisons", "grades"]
    reading: ReadOptions
    sentences: list[str] = field(default_factory=list)


def is_in_parts(path: Path) -> bool:
    """Tell whether a path is a folder, or a pattern and no file.

    Parameters
    ----------
    path : Path
        What the user typed.

    Returns
    -------
    bool
    """
    try:
        return path.is_dir() or (bool(_MAGIC & set(str(path))) and not path.exists())
    except OSError:  # for the reader of files to say
        return False


def find_partitions(path: Path, reading: ReadOptions) -> ManyFiles:
    """Find the files of a folder, a pattern or a single file, and look at them.

    Parameters
    ----------
    path : Path
        What the user typed.
    reading : ReadOptions
        How to read the files.

    Returns
    -------
    ManyFiles

    Raises
    ------
    FileError
        If there is no file, one cannot be read, columns differ, or the files hold
        something that cannot be read in parts.
    """
    # Workers may run in another folder.
    reading = replace(reading, items=reading.items and Path(reading.items).absolute())
    if not is_in_parts(path):
        shape = _find_shape(path, reading)
        return ManyFiles((str(path.absolute()),), shape, reading)
    files = _list(path)
    looks = [_look(Path(file)) for file in files]
    for file, look in zip(files, looks, strict=True):
        _refuse_other_columns(Path(file), look.columns, files[0], looks[0].columns)
    filled = [f for f, look in zip(files, looks, strict=True) if look.n_rows]
    if not filled:
        raise FileError(path, f"there are no rows in {plural(len(files), 'file')}.")
    kinds = " and ".join(sorted({look.kind for look in looks}))
    n_rows = sum(look.n_rows for look in looks)
    sentences = [
        f"{plural(len(files), f'{kinds} file')} with {plural(n_rows, 'row')} in all."
    ]
    if empty := len(files) - len(filled):
        sentences.append(f"{plural(empty, 'file')} without rows left out.")
    sentences += _say_others(path, files)
    shape = _find_shape(Path(filled[0]), reading)
    whole = tuple(str(Path(file).absolute()) for file in filled)
    return ManyFiles(whole, shape, reading, sentences)


def _list(path: Path) -> list[str]:
    try:
        return list_files(path)
    except OSError as error:
        if not isinstance(error, FileNotFoundError) or error.strerror:
            reason = error.strerror or str(error)
            raise FileError(path, f"cannot be read: {reason}.") from None
    except ValueError as error:
        raise FileError(path, str(error)) from None
    if not path.is_dir():
        raise FileError(path, "no file has such a name.")
    deeper = ""
    if any(child.is_dir() for child in path.iterdir()):
        deeper = f" For folders in it write '{path}/**/*.parquet'."
    raise FileError(
        path,
        "there is no Parquet or Arrow file in this directory; expected names that end "
        f"with .parquet or .arrow.{deeper}",
    )


@dataclass(frozen=True)
class _Look:
    kind: str
    columns: list[str]
    n_rows: int


def _look(path: Path) -> _Look:
    """Look at the columns and the length of a file, which stand at its end."""
    if path.is_dir():
        raise FileError(path, "this is a directory; expected a file.")
    with open_bytes(path, gzipped=False) as stream:
        kind = _KINDS.get(stream.read(4))
    if kind is None:
        raise FileError(path, "this is not a Parquet or Arrow file, whatever its name.")
    scan: Callable[..., pl.LazyFrame]
    scan = pl.scan_parquet if kind == "Parquet" else pl.scan_ipc
    try:
        with path.open("rb") as stream:
            frame = scan(stream)
            columns = frame.collect_schema().names()
            n_rows = int(frame.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(
            path,
            f"the {kind} file is damaged or cut short ({reason}); get it again, whole.",
        ) from None
    return _Look(kind, columns, n_rows)


def _refuse_other_columns(
    path: Path, columns: list[str], first: str, expected: list[str]
) -> None:
    missing = [shorten(name) for name in expected if name not in set(columns)]
    more = [shorten(name) for name in columns if name not in set(expected)]
    if not (missing or more):
        return
    said = [f"it has no {first_of(missing)}"] if missing else []
    said += [f"it has {first_of(more)} besides"] if more else []
    raise FileError(
        path,
        f"other columns than in {first}: {', and '.join(said)}. All files must have "
        "the same columns.",
    )


def _say_others(path: Path, files: list[str]) -> list[str]:
    """Say what else is in a folder, besides what other programs leave there."""
    if not path.is_dir():
        return []
    taken = {Path(file).name for file in files}
    others = sorted(
        child.name
        for child in path.iterdir()
        if child.name not in taken and not child.name.startswith((".", "_"))
    )
    return [f"Not read: {first_of(others, 5)}."] if others else []


def _find_shape(path: Path, reading: ReadOptions) -> Literal["comparisons", "grades"]:
    """Tell what a file holds; refuse what has no meaning in parts."""
    sniffed = sniff(path, reading.format)
    if sniffed.format == "svmlight":
        return "grades"
    found = None
    if sniffed.format not in ("preflib", "orders"):
        found = find_reading(Table(path, sniffed), reading)
        if found is None or found.shape == "grades":
            return "grades"
        if found.shape == "comparisons" and reading.kind in (None, "comparisons"):
            return "comparisons"
    raise _not_in_parts(path)


def _not_in_parts(path: Path) -> FileError:
    return FileError(
        path,
        "lists, and scores that people gave, cannot be read in parts, because what "
        "belongs together may lie in several files. Expected comparisons of two items, "
        "or graded items with features; 'tiebreak convert FILE comparisons.parquet' "
        "makes comparisons of one file, leave --dask out for it.",
    )


@dataclass(frozen=True)
class FileReader:
    """Reads one file as the commands do, on whatever machine it is called.

    Attributes
    ----------
    path : str
        The file.
    shape : str
        What it must hold.
    reading : ReadOptions
        How to read it.
    wanted : Wanted or None
        The features that all files are to have.
    transform : callable or None
        What is done to features after reading.
    tell : callable or None
        Is told the file before it is read; only in this process.
    """

    path: str
    shape: str
    reading: ReadOptions
    wanted: Wanted | None = None
    transform: Callable[[Any], Any] | None = None
    tell: Callable[[str], None] | None = None

    def __call__(self) -> dict[str, Any]:
        """Read it.

        Returns
        -------
        dict
            ``label``, ``read`` and, of graded items, ``X``, ``y`` and ``qid``.
        """
        if self.tell is not None:
            self.tell(self.path)
        read = self._read()
        columns: dict[str, Any] = {"label": self.path, "read": read}
        if read.kind == "grades":
            if read.items is not None and self.transform is not None:
                columns["X"] = self.transform(read.items)
            else:
                columns["X"] = read.items
            columns |= {"y": read.grades, "qid": read.query}
        return columns

    def _read(self) -> ReadResult:
        path = Path(self.path)
        if not path.exists():
            raise FileError(
                path,
                "a worker cannot see this file; every worker must see it under this "
                "name.",
            )
        read = read_file(path, self.reading, wanted=self.wanted)
        if read.kind != self.shape:
            raise _not_in_parts(path)
        return read


class PartitionedFiles(PartitionedTable):
    """Partitions that are read as the commands read files.

    Parameters
    ----------
    files : sequence of str
        The files.
    reader : FileReader
        How to read one of them.
    """

    def __init__(self, files: Sequence[str], reader: FileReader) -> None:
        super().__init__(list(files))
        self._reader = reader

    def readers(self, **roles: Any) -> tuple[list[Any], list[str]]:
        """Give what reads each file; columns are recognized, whatever is asked for.

        Parameters
        ----------
        **roles : object
            Of no use here.

        Returns
        -------
        readers : list of FileReader
        labels : list of str
        """
        files = list(self.source)
        return [replace(self._reader, path=file) for file in files], files


def join_sentences(files: Sequence[str], said: Sequence[Sequence[str]]) -> list[str]:
    """Say once what was said of every file.

    Parameters
    ----------
    files : sequence of str
        The files.
    said : sequence of sequences of str
        What was recognized in each.

    Returns
    -------
    list of str
        Sentences of all files as they are; of those that differ between files, the
        first one of a kind, with the file and how many others have the like.
    """
    kinds: dict[str, list[tuple[int, str]]] = {}
    for number, sentences in enumerate(said):
        for sentence in sentences:
            kind = _NUMBER.sub("0", sentence)[:_SAID]
            kinds.setdefault(kind, []).append((number, sentence))
    joined = []
    for found in kinds.values():
        number, first = found[0]
        n_files = len({number for number, _ in found})
        if n_files == len(files) and len({sentence for _, sentence in found}) == 1:
            joined.append(first)
            continue
        more = n_files - 1
        also = f" The like in {plural(more, 'other file')}." if more else ""
        joined.append(f"{Path(files[number]).name}: {first}{also}")
    return joined
