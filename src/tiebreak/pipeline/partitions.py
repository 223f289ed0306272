# SPDX-License-Identifier: BSD-3-Clause
"""A folder or a pattern of files that is read as one table.

Every file is read as a single file of its kind is, on whatever machine the work is
done. All must have the same columns, since the meaning of a column is detected by its
name.

Equal comparisons are added up where the files are read. Here they become one row for
every kind of comparison, with a weight, next to the rows on which quality is measured.
These are the very rows that would be drawn from one file that holds all. A linear model
of graded items is fitted where the files are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import OnItems
from tiebreak.data import Comparisons, Grades, ItemTable, Pairs, as_items
from tiebreak.data.columns import factorize, readable_period
from tiebreak.data.validation import remember_features
from tiebreak.io import FileError, ReadOptions, ReadResult, Wanted, read_file
from tiebreak.io.columns import find_reading
from tiebreak.io.comparisons import count_outcomes
from tiebreak.io.formats import DAMAGED, detect_format, open_bytes
from tiebreak.io.items import MOST_WORDS, join_items
from tiebreak.io.result import first_of, plural, shorten
from tiebreak.io.table import Table
from tiebreak.options import flag
from tiebreak.outofcore import PartitionedTable
from tiebreak.outofcore.cluster import open_partitions, watched
from tiebreak.outofcore.evaluation import split_rows
from tiebreak.outofcore.objectives import add_equal
from tiebreak.outofcore.partitions import Partitions
from tiebreak.outofcore.sources import list_files
from tiebreak.pipeline.held_out import draw_numbers
from tiebreak.pipeline.leaderboard import item_utilities, rank_rows
from tiebreak.pipeline.source import Source, is_partitioned

Floats = NDArray[np.float64]

_KINDS = {b"PAR1": "Parquet", b"ARRO": "Arrow"}
_SAID = 40  # letters by which two sentences are of a kind
_NUMBER = re.compile(r"\d[\d,.]*")

_METADATA = ("advantage", "rater", "period")
# Kinds of comparisons that are brought together here; a file of as many rows is read.
_MOST_KINDS = 10_000_000
_RATERS = re.compile(r"(.+) is who judged \([\d,]+ raters?\)\.")
_WHEN = re.compile(r"(.+) is when, from .+ to .+\.")
# What is left out when there are more, one after the other, and what for.
_LEFT_OUT = {
    "period": "the time of the comparisons is not used",
    "rater": "who judged is not used, and intervals take votes as independent",
}

_SAMPLE_ROWS = 50_000  # in whole queries, to measure quality on
_AT_ONCE = 8  # files of which the ranks are in memory here


def read_partitions(
    source: Path,
    reading: ReadOptions,
    progress: Callable[[str], None],
    client: Any = None,
) -> Source:
    """Return what a folder, a pattern or a file holds, and what was detected, in words.

    Equal comparisons are added up; of graded items it is where they are. ``client`` is
    the cluster that reads the files; None: this process.
    """
    progress(f"looking at {source}")
    files = find_partitions(source, reading)
    n_files = len(files.files)
    places = {file: place for place, file in enumerate(files.files, 1)}

    def report(file: str) -> None:
        name = Path(file).name
        progress(f"reading {name}, file {places[file]:,} of {n_files:,}")

    watching = nullcontext() if client is None else watched(client, n_files, progress)
    with watching:
        before_reading = report if client is None else None
        if files.shape == "comparisons":
            return gather_comparisons(files, before_reading)
        graded = look_at_grades(files, before_reading)
        sample = graded.sample()
        return Source(sample, graded.detected, skipped=graded.skipped, files=graded)


@dataclass(frozen=True)
class ManyFiles:
    """Files that are read as one, in order; those without rows are left out."""

    files: tuple[str, ...]
    shape: Literal["comparisons", "grades"]
    reading: ReadOptions
    sentences: list[str] = field(default_factory=list)  # what was detected, in words


def find_partitions(path: Path, reading: ReadOptions) -> ManyFiles:
    """Return the files of a folder, a pattern or a single file, after a first check."""
    # Workers may run in another folder.
    reading = replace(reading, items=reading.items and Path(reading.items).absolute())
    if not is_partitioned(path):
        shape = _find_shape(path, reading)
        return ManyFiles((str(path.absolute()),), shape, reading)
    files = list_partitions(path)
    heads = [_read_head(Path(file)) for file in files]
    for file, head in zip(files, heads, strict=True):
        _refuse_other_columns(Path(file), head.columns, files[0], heads[0].columns)
    filled = [f for f, head in zip(files, heads, strict=True) if head.n_rows]
    if not filled:
        raise FileError(path, f"there are no rows in {plural(len(files), 'file')}.")
    kinds = " and ".join(sorted({head.kind for head in heads}))
    n_rows = sum(head.n_rows for head in heads)
    sentences = [
        f"{plural(len(files), f'{kinds} file')} with {plural(n_rows, 'row')} in all."
    ]
    if empty := len(files) - len(filled):
        sentences.append(f"{plural(empty, 'file')} without rows left out.")
    sentences += _say_others(path, files)
    shape = _find_shape(Path(filled[0]), reading)
    whole = tuple(str(Path(file).absolute()) for file in filled)
    return ManyFiles(whole, shape, reading, sentences)


def list_partitions(path: Path) -> list[str]:
    """Return the files of a folder or a pattern; FileError if there are none."""
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
class _Head:
    kind: str
    columns: list[str]
    n_rows: int


def _read_head(path: Path) -> _Head:
    """Return the columns and the length of a file, without its rows."""
    if path.is_dir():
        raise FileError(path, "this is a directory; expected a file.")
    with open_bytes(path) as stream:
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
    except DAMAGED as error:
        reason = str(error).partition("\n")[0]
        what = f"the {kind} file is damaged or cut short ({reason})"
        raise FileError(path, f"{what}; get it again, whole.") from None
    return _Head(kind, columns, n_rows)


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
    """Say what else is in a folder, except what other programs leave there."""
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
    """Return what a file holds; refuse what has no meaning in partitions."""
    detected = detect_format(path, reading.format)
    if detected.format == "svmlight":
        return "grades"
    found = None
    if detected.format not in ("preflib", "orders"):
        found = find_reading(Table.of_file(path, detected), reading)
        if found is None or found.shape == "grades":
            return "grades"
        if found.shape == "comparisons" and reading.kind in (None, "comparisons"):
            return "comparisons"
    raise _not_in_partitions(path)


def _not_in_partitions(path: Path) -> FileError:
    return FileError(
        path,
        "lists, and scores that people gave, cannot be read in partitions, because "
        "what belongs together may lie in several files. Expected comparisons of two "
        "items, or graded items with features; 'tiebreak convert FILE "
        f"comparisons.parquet' makes comparisons of one file, leave {flag('dask')} "
        "out for it.",
    )


@dataclass(frozen=True)
class FileReader:
    """Reads one file as the commands do, on whatever machine it is called."""

    path: str
    shape: str  # what it must hold
    reading: ReadOptions
    wanted: Wanted | None = None  # the features that all files are to have
    transform: Callable[[Any], Any] | None = None  # of features, after reading
    report: Callable[[str], None] | None = None  # is called first, in this process

    def __call__(self) -> dict[str, Any]:
        """Return ``label``, ``read`` and, of graded items, ``X``, ``y`` and ``qid``."""
        if self.report is not None:
            self.report(self.path)
        path = Path(self.path)
        if not path.exists():
            what = "a worker cannot see this file; every worker must see it under this"
            raise FileError(path, f"{what} name.")
        read = read_file(path, self.reading, wanted=self.wanted)
        data = read.data
        if not isinstance(data, Comparisons if self.shape == "comparisons" else Grades):
            raise _not_in_partitions(path)
        columns: dict[str, Any] = {"label": self.path, "read": read}
        if isinstance(data, Grades):
            X = data.items if self.transform is None else self.transform(data.items)
            columns |= {"X": X, "y": data.y, "qid": data.qid}
        return columns


class PartitionedFiles(PartitionedTable):
    """Partitions that are read as the commands read files."""

    def __init__(self, files: Sequence[str], reader: FileReader) -> None:
        super().__init__(list(files))
        self._reader = reader

    def readers(self, **roles: Any) -> tuple[list[Any], list[str]]:
        """Return what reads each file; columns are detected, whatever the roles."""
        files = list(self.source)
        return [replace(self._reader, path=file) for file in files], files


def join_sentences(files: Sequence[str], said: Sequence[Sequence[str]]) -> list[str]:
    """Return what was said of every file, once."""
    # Of sentences that differ between files it is the first one of a kind, with its
    # file and how many other files have a similar one.
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
        also = f" The same in {plural(more, 'other file')}." if more else ""
        joined.append(f"{Path(files[number]).name}: {first}{also}")
    return joined


def _join_skipped(
    files: Sequence[str], tables: Sequence[pl.DataFrame | None]
) -> pl.DataFrame | None:
    """Return the rows that could not be read, with the names of their files."""
    found = [
        table.select(pl.lit(Path(file).name).alias("file"), pl.all().exclude("file"))
        for file, table in zip(files, tables, strict=True)
        if table is not None
    ]
    return pl.concat(found, how="diagonal_relaxed") if found else None


def gather_comparisons(
    many: ManyFiles, report: Callable[[str], None] | None = None
) -> Source:
    """Return kinds of comparisons with their weights, and what was detected."""
    reading = replace(many.reading, items=None, item_column=None)
    reader = FileReader("", "comparisons", reading, report=report)
    source = PartitionedFiles(many.files, reader)
    with closing(open_partitions(source, _ComparedRows)) as opened:
        facts: list[_Facts] = opened.each(_facts_of)
        metadata, notes = _choose_columns(many.files, facts)
        tables = opened.each(_count_equal, tuple(metadata))
        drawn = _draw(opened, [fact.n_rows for fact in facts])
    counted = add_equal(pl.concat(tables, how="vertical_relaxed"))
    said = [_of_all(fact.sentences, counted) for fact in facts]
    sentences = [*many.sentences, *join_sentences(many.files, said), *notes]
    sentences.append(_count(counted, facts))
    questions = list(dict.fromkeys(q for fact in facts for q in fact.questions))
    weighted = any("weight" in fact.kinds for fact in facts)
    read = _as_read(counted, sentences, questions)
    rows = _as_read(drawn if weighted else drawn.drop("weight"))
    if many.reading.items is not None:
        read = join_items(read, many.reading)
        rows = join_items(rows, many.reading)
    assert isinstance(rows.data, Comparisons)
    return Source(
        read.data,
        [*read.sentences, *read.questions],
        skipped=_join_skipped(many.files, [fact.skipped for fact in facts]),
        sample=rows.data,
        n_rows=sum(fact.n_rows for fact in facts),
    )


@dataclass(frozen=True, eq=False)
class _Facts:
    """What is known of the comparisons of one file."""

    outcomes: NDArray[np.int64]  # numbers of left, tie and right
    kinds: dict[str, str]  # of values, by metadata column
    n_equal: dict[tuple[str, ...], int]  # kinds of comparisons, by these columns
    sentences: list[str]
    questions: list[str]
    skipped: pl.DataFrame | None

    @property
    def n_rows(self) -> int:
        """Number of comparisons."""
        return int(self.outcomes.sum())


class _ComparedRows:
    """The comparisons of one file, row by row."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.read: ReadResult = columns["read"]
        self.data: Comparisons = columns["read"].data

    def frame(self, metadata: Sequence[str]) -> pl.DataFrame:
        """Return the comparisons as a table, with numbers for items and raters."""
        pairs, weight = self.data.pairs, self.data.weight
        table: dict[str, Any] = {
            "left": pairs.left,
            "right": pairs.right,
            "y": self.data.y,
        }
        table["weight"] = np.ones(len(pairs)) if weight is None else weight
        for role in metadata:
            column = self.data.columns[role]
            table[role] = factorize(column)[0] if role == "rater" else column
        return pl.DataFrame(table)

    def named(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with names of items and raters instead of their numbers."""
        names: dict[str, Any] = dict.fromkeys(("left", "right"), self.data.names)
        if "rater" in table.columns:
            names["rater"] = factorize(self.data.columns["rater"])[1]
        return table.with_columns(
            pl.Series(role, np.asarray(known).tolist(), dtype=pl.String)
            .gather(table[role])
            .alias(role)
            for role, known in names.items()
        )

    def __sizeof__(self) -> int:
        return 1000 + 8 * len(self.data) * (3 + len(self.data.columns))


def _facts_of(part: _ComparedRows) -> _Facts:
    read, data = part.read, part.data
    columns = dict(data.columns)
    columns |= {} if data.weight is None else {"weight": data.weight}
    kinds: dict[str, str] = {
        name: column.dtype.kind for name, column in columns.items()
    }
    metadata = [role for role in _METADATA if role in kinds]
    table = add_equal(part.frame(metadata))
    n_equal = {tuple(metadata): len(table)}
    for role in _LEFT_OUT:
        if role in metadata:
            metadata.remove(role)
            table = add_equal(table.drop(role))
            n_equal[tuple(metadata)] = len(table)
    # The first says how the file is written, the last counts its comparisons.
    said = read.sentences[1:-1]
    outcomes = np.bincount(data.y + 1, minlength=3)
    return _Facts(outcomes, kinds, n_equal, said, read.questions, read.skipped)


def _count_equal(part: _ComparedRows, metadata: tuple[str, ...]) -> pl.DataFrame:
    return part.named(add_equal(part.frame(metadata)))


def _take_rows(part: _ComparedRows, rows: NDArray[np.int64]) -> pl.DataFrame:
    metadata = [role for role in _METADATA if role in part.data.columns]
    return part.named(part.frame(metadata)[rows])


def _choose_columns(
    files: Sequence[str], facts: Sequence[_Facts]
) -> tuple[list[str], list[str]]:
    """Choose the columns that tell comparisons apart, and say which are not used."""
    notes = []
    metadata = []
    for role in (*_METADATA, "weight"):
        found = [fact.kinds.get(role) for fact in facts]
        # Numbers are numbers, whole or not.
        kinds = ["f" if kind is not None and kind in "iuf" else kind for kind in found]
        if len(set(kinds)) == 1:
            metadata += [role] if kinds[0] is not None and role != "weight" else []
            continue
        other = next(k for k, kind in enumerate(kinds) if kind != kinds[0])
        if role == "weight":
            raise FileError(
                Path(files[other]),
                "the weights of rows can be used in some files only, and here as not "
                f"in {files[0]}; correct that column, or rename it.",
            )
        notes.append(
            f"The {role} is not used: {Path(files[other]).name} has it otherwise than "
            f"{Path(files[0]).name}."
        )
    for role, what in _LEFT_OUT.items():
        if role in metadata and _n_kinds(facts, metadata) > _MOST_KINDS:
            metadata.remove(role)
            notes.append(
                f"More than {_MOST_KINDS:,} comparisons differ by {role}, so {what}."
            )
    return metadata, notes


def _n_kinds(facts: Sequence[_Facts], metadata: Sequence[str]) -> int:
    """Return at most how many kinds of comparisons differ by some columns."""
    total = 0
    for fact in facts:
        finer = [n for key, n in fact.n_equal.items() if set(key) >= set(metadata)]
        total += min(finer, default=fact.n_rows)
    return total


def _of_all(sentences: Sequence[str], table: pl.DataFrame) -> list[str]:
    """Say of all files what was said of one: how many raters, and from when to when."""
    said = []
    for sentence in sentences:
        if "rater" in table.columns and (found := _RATERS.fullmatch(sentence)):
            n_raters = plural(table["rater"].n_unique(), "rater")
            said.append(f"{found[1]} is who judged ({n_raters}).")
        elif "period" in table.columns and (found := _WHEN.fullmatch(sentence)):
            times = table["period"].to_numpy()
            first, last = readable_period(times.min()), readable_period(times.max())
            said.append(f"{found[1]} is when, from {first} to {last}.")
        else:
            said.append(sentence)
    return said


def _draw(opened: Partitions, n_rows: Sequence[int]) -> pl.DataFrame:
    """Draw the rows that `draw_rows` would, were all of them in one file."""
    chosen = draw_numbers(sum(n_rows))
    tables = opened.each(_take_rows, own=split_rows(chosen, n_rows))
    shared = set.intersection(*(set(table.columns) for table in tables))
    columns = [name for name in tables[0].columns if name in shared]
    kept = [table[columns] for table in tables]
    return pl.concat(kept, how="vertical_relaxed")


def _as_read(
    table: pl.DataFrame, sentences: Sequence[str] = (), questions: Sequence[str] = ()
) -> ReadResult:
    """Return a table of comparisons as a file with these rows is read."""
    others = [c for c in table.columns if c not in ("left", "right", "y")]
    columns = {name: table[name].to_numpy() for name in others}
    pairs, y = Pairs(None, table["left"], table["right"]), table["y"].to_numpy()
    data = Comparisons(pairs, y, columns.pop("weight", None), columns)
    return ReadResult(data, "parquet", list(sentences), list(questions))


def _count(table: pl.DataFrame, facts: Sequence[_Facts]) -> str:
    n_items = len(set(table["left"].unique()) | set(table["right"].unique()))
    left, tie, right = np.sum([fact.outcomes for fact in facts], axis=0).tolist()
    return count_outcomes(n_items, left, tie, right)


@dataclass(frozen=True, eq=False)
class GradedFiles:
    """Graded items in files, of which the features are known."""

    files: tuple[str, ...]
    reader: FileReader
    n_rows: tuple[int, ...]
    n_groups: int
    grouped: bool  # whether there are queries at all
    scaler: OnItems  # to mean 0 and variance 1; fitted
    detected: list[str]  # in words
    skipped: pl.DataFrame | None = None  # rows that could not be read

    def fit(self, model: Any) -> Any:
        """Return the scaler and a linear model, fitted where the files are."""
        reader = replace(self.reader, transform=self.scaler.transform)
        # The reader knows the columns, so that any names will do.
        query = "query" if self.grouped else None
        model.fit(PartitionedFiles(self.files, reader), "grade", qid=query)
        return make_pipeline(self.scaler, model)

    def sample(self) -> Grades:
        """Return some queries, whole; all if they are few."""
        share = min(1.0, _SAMPLE_ROWS / sum(self.n_rows))
        kept: list[Grades] = _each_file(self.files, self.reader, _take_queries, share)
        values = np.concatenate([part.items.dense() for part in kept])
        items = ItemTable(as_items(values).values, kept[0].items.feature_names)
        y = np.concatenate([part.y for part in kept])
        qid: list[Any] = [part.qid for part in kept]
        names: list[Any] = [part.names for part in kept]
        return Grades.of(
            items,
            y,
            np.concatenate(qid) if self.grouped else None,
            None if None in names else np.concatenate(names),
        )

    def ranks(self, model: Any) -> Iterator[pl.DataFrame]:
        """Return the ranks of all rows within their queries, some files at a time."""
        starts = np.cumsum([0, *self.n_rows])
        for first in range(0, len(self.files), _AT_ONCE):
            files = self.files[first : first + _AT_ONCE]
            tables = _each_file(files, self.reader, _rank_rows, model)
            for number, table in enumerate(tables, first):
                yield table.with_columns(pl.col("row") + int(starts[number]))


@dataclass(frozen=True, eq=False)
class _Look:
    """What is known of the graded rows of one file."""

    n_rows: int
    n_groups: int
    grouped: bool
    features: tuple[str, ...] | None
    mean: Floats
    spread: Floats
    sentences: list[str]
    questions: list[str]
    skipped: pl.DataFrame | None


class _GradedRows:
    """The graded rows of one file."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.read: ReadResult = columns["read"]
        self.data: Grades = columns["read"].data

    def __sizeof__(self) -> int:
        return 1000 + 8 * (self.data.items.n_features + 3) * len(self.data)


def _each_file(
    files: Sequence[str], reader: FileReader, work: Callable[..., Any], *arguments: Any
) -> list[Any]:
    """Return what work returns for the graded rows of each file."""
    source = PartitionedFiles(files, reader)
    with closing(open_partitions(source, _GradedRows)) as opened:
        return opened.each(work, *arguments)


def look_at_grades(
    many: ManyFiles, report: Callable[[str], None] | None = None
) -> GradedFiles:
    """Return graded rows in many files, with their features, means and variances."""
    reader = FileReader("", "grades", many.reading, report=report)
    looks: list[_Look] = _each_file(many.files, reader, _look_at)
    features = looks[0].features
    if any(look.features != features for look in looks):
        features = _shared_features(many.files, looks)
        reader = replace(reader, wanted=Wanted(len(features), features))
        again = _each_file(many.files, reader, _look_at)
        looks = [
            replace(look, sentences=first.sentences, questions=first.questions)
            for first, look in zip(looks, again, strict=True)
        ]
    if len(many.files) > 1 and not looks[0].grouped:
        raise FileError(
            Path(many.files[0]),
            "no column says which rows are compared with each other, so all of them "
            "are one group, and a group must lie in one file. Name the column with "
            f"{flag('query')}, or put all rows in one file.",
        )
    n_rows = sum(look.n_rows for look in looks)
    n_groups = sum(look.n_groups for look in looks)
    detected = [
        *many.sentences,
        *join_sentences(many.files, [look.sentences for look in looks]),
        f"{plural(n_rows, 'graded row')} in {plural(n_groups, 'group')}, with "
        f"{plural(len(looks[0].mean), 'feature')}.",
        *dict.fromkeys(question for look in looks for question in look.questions),
    ]
    counts, scaler = tuple(look.n_rows for look in looks), _make_scaler(looks, features)
    grouped = looks[0].grouped
    skipped = _join_skipped(many.files, [look.skipped for look in looks])
    known = (many.files, reader, counts, n_groups, grouped, scaler, detected)
    return GradedFiles(*known, skipped)


def _look_at(part: _GradedRows) -> _Look:
    read, data = part.read, part.data
    if not data.items.n_features:
        raise ValueError("The files grade items but have no features to learn from.")
    X = data.items.dense()
    mean = X.mean(axis=0)
    spread = ((X - mean) ** 2).sum(axis=0)
    # The first says how the file is written, and the one that counts its rows comes
    # before what a table of items adds.
    counted = f"{plural(len(X), 'graded row')} in "
    said = [one for one in read.sentences[1:] if not one.startswith(counted)]
    names = data.items.feature_names
    known = (len(X), data.n_groups, data.has_groups, names, mean, spread, said)
    return _Look(*known, read.questions, read.skipped)


def _shared_features(files: Sequence[str], looks: Sequence[_Look]) -> tuple[str, ...]:
    """Return the features of all files: numbers as they are, and all words of any."""
    found = [look.features for look in looks]
    if any(names is None for names in found):
        sizes = [len(look.mean) for look in looks]
        other = next(k for k, size in enumerate(sizes) if size != sizes[0])
        what = f"{sizes[other]:,} features, but {sizes[0]:,} in {files[0]}."
        raise FileError(Path(files[other]), what)
    columns = [_by_column(names or ()) for names in found]
    every = dict.fromkeys(column for one in columns for column in one)
    shared: list[str] = []
    for column in every:
        lacking = [k for k, one in enumerate(columns) if column not in one]
        if lacking:
            raise FileError(
                Path(files[lacking[0]]),
                f"{shorten(column)} cannot be used as a feature here, but in other "
                "files: a column must hold numbers, true and false, or few words, in "
                "all of them.",
            )
        plain = {None in one[column] for one in columns}
        words = sorted({w for one in columns for w in one[column] if w is not None})
        if len(plain) > 1 or len(words) > MOST_WORDS:
            why = "numbers in some files and words in others"
            if len(plain) == 1:
                why = f"more than {MOST_WORDS} different words: {first_of(words, 3)}"
            what = f"{shorten(column)} holds {why}, over all files"
            raise FileError(Path(files[0]), f"{what}; leave the column out.")
        shared += [f"{column}={word}" for word in words] or [column]
    return tuple(shared)


def _by_column(names: Sequence[str]) -> dict[str, set[str | None]]:
    """Return the words of each column; None stands for the column itself."""
    columns: dict[str, set[str | None]] = {}
    for name in names:
        column, sign, word = name.rpartition("=")
        key, value = (column, word) if sign else (name, None)
        columns.setdefault(key, set()).add(value)
    return columns


def _make_scaler(looks: Sequence[_Look], features: tuple[str, ...] | None) -> OnItems:
    """Return the scaler that a fit on all rows would give."""
    n, mean, spread = 0, np.zeros(len(looks[0].mean)), np.zeros(len(looks[0].mean))
    for look in looks:
        both, apart = n + look.n_rows, look.mean - mean
        spread = spread + look.spread + apart**2 * (n * look.n_rows / both)
        mean = mean + apart * (look.n_rows / both)
        n = both
    variance = spread / n
    # A feature that is constant but for rounding is not blown up.
    eps = np.finfo(np.float64).eps
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    inner = StandardScaler()
    inner.mean_, inner.var_ = mean, variance
    inner.scale_ = np.where(constant, 1.0, np.sqrt(variance))
    inner.n_samples_seen_, inner.n_features_in_ = n, len(mean)
    scaler = OnItems(StandardScaler())
    scaler.transformer_ = inner
    remember_features(scaler, ItemTable(mean[None, :], features))
    return scaler


def _take_queries(part: _GradedRows, share: float) -> Grades:
    """Return about a fraction of the rows, in whole queries."""
    data = part.data
    if share >= 1.0:
        return data
    sizes = np.bincount(data.group)
    order = np.random.default_rng(0).permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), share * len(data))) + 1
    return data.take(np.flatnonzero(np.isin(data.group, order[:enough])))


def _rank_rows(part: _GradedRows, model: Any) -> pl.DataFrame:
    return rank_rows(item_utilities(model, part.data.items), part.data)
