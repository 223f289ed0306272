# SPDX-License-Identifier: BSD-3-Clause
"""Tables in CSV, TSV, Parquet and Arrow files, read by column and written.

A table is one polars scan of one file, or of several with the same columns. Every field
of a CSV file is text until it is read as a number: ``007`` stays a name. A record is a
row of a CSV file; its quoted fields may hold ends of lines.

In CSV and TSV, text that a spreadsheet would run as a formula is written with an
apostrophe in front, which reading removes.
"""

from __future__ import annotations

import csv
import glob
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.atomic import atomic_path
from tiebreak.data.columns import (
    Distinct,
    TextColumn,
    factorize,
    find_spellings,
    number_keys,
)
from tiebreak.data.messages import list_rows
from tiebreak.io.answers import read_answers
from tiebreak.io.formats import DAMAGED, FileFormat, open_bytes
from tiebreak.io.frames import (
    as_frame,
    find_repeated,
    read_json,
    read_json_lines,
    read_pgn,
    read_workbook,
)
from tiebreak.io.result import (
    BrokenRows,
    FileError,
    NeedsAnswer,
    WriteError,
    first_of,
    is_finite,
    plural,
    shorten,
)
from tiebreak.options import flag

SHOWN = 5  # so many rows are named in a message, the others are counted
_HEAD = 1000
_QUOTED = re.compile(rb'"[^"]*(?:""[^"]*)*"')
_NOT_A_NAME = {"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"}
_ZEROS = re.compile(r"^0*(0|(?!0)\d+)(?:\.0+)?$")  # that a number begins or ends with
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)
_UNREADABLE_TYPES = (pl.Binary, pl.Object)
MEMORY = "memory"  # the format of a table that is no file
_NAMES = {
    "csv": "CSV", "tsv": "TSV", "json": "JSON", "jsonl": "JSON Lines",
    "parquet": "Parquet", "arrow": "Arrow", "excel": "Excel", "sqlite": "SQLite",
    "pgn": "PGN", MEMORY: "Table",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Text:
    """A column of text by its distinct values."""

    codes: Codes  # (n,) the number of each row's value; -1 where none is
    values: list[str]  # the distinct values, in order of first appearance

    @classmethod
    def of(cls, series: pl.Series) -> Text:
        """Number the distinct values of categories; null becomes -1."""
        distinct = series.drop_nulls().unique(maintain_order=True).cast(pl.String)
        codes = series.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64)
        return cls(codes.fill_null(-1).to_numpy(), distinct.to_list())

    @property
    def missing(self) -> Flags:
        """Which rows have no value, shape (n,)."""
        return self.codes < 0

    def take(self, rows: NDArray[Any]) -> Text:
        """Select rows, and the values that they hold."""
        codes = self.codes[rows]
        new, first = number_keys(codes.astype(np.uint64))
        return Text(new, [self.values[code] for code in codes[first]])

    def array(self) -> TextColumn:
        """Return the column as an array of str; no value may be missing."""
        _, first = number_keys(self.codes.astype(np.uint64))
        return TextColumn.of(Distinct(self.codes, first, self.values))

    def in_rows(self, rows: Codes) -> list[str | None]:
        """Return the values of the first few rows, or None."""
        codes = self.codes[rows[:SHOWN]]
        return [None if code < 0 else self.values[code] for code in codes]

    def per_row(self, function: Callable[[str], Any], missing: Any) -> NDArray[Any]:
        """Apply a function to every row, once per distinct value."""
        return np.array([*map(function, self.values), missing])[self.codes]

    def rename(self, new: dict[str, str]) -> Text:
        """Make the column with new values, possibly equal ones."""
        if all(new[value] == value for value in self.values):
            return self
        codes, values = factorize(new[value] for value in self.values)
        # One more, because a missing value has the number -1.
        return Text(np.append(codes, -1)[self.codes], values)


class Columns:
    """Columns that were read together, and all their faults."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.text: dict[str, Text] = {}
        self.numbers: dict[str, Floats] = {}  # NaN where there is none
        # Rows where a column of numbers holds text, NaN or an infinite number.
        self.bad: dict[str, Codes] = {}
        self.raw: dict[str, pl.Series] = {}  # text of which most values may differ
        self.advice = ""
        self._faults: list[tuple[str, Codes]] = []
        self._said: list[str] = []

    def note(self, fault: str, rows: Any, values: Any = None) -> None:
        """Note rows (or which they are) of one fault, with the values of a column."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        if not len(rows):
            return
        if isinstance(values, Text):
            values = values.in_rows(rows)
        elif isinstance(values, str):
            values = self.table.values(values, rows)
        self._faults.append((fault, rows))
        self._said.append(f"{fault}: {self.table.list_places(rows, values)}")

    def note_missing(self, what: str, *columns: str) -> None:
        """Note the rows where columns of text hold nothing."""
        for column in columns:
            text = self.text[column]
            self.note(f"no {what} in {column}", text.missing)
            if what == "name" and not self.table.keep_na:
                absent = text.per_row(_NOT_A_NAME.__contains__, False)
                fault = f"values of {column} that stand for a missing name"
                self.note(fault, absent, text)
                if absent.any():
                    self.advice = f" {flag('keep_na')} takes them for names."

    def note_bad(self, what: str, *columns: str) -> None:
        """Note rows where columns of numbers hold something else."""
        for column in columns:
            bad, missing = self.bad[column], np.isnan(self.numbers[column])
            missing = np.setdiff1d(np.flatnonzero(missing), bad)
            if what:
                self.note(f"no {what} in {column}", missing)
            fault = f"values of {column} that are not finite numbers"
            self.note(fault, bad, column)

    def refuse_broken(self) -> None:
        """Raise a `FileError` that counts the noted rows and shows some."""
        if not self._faults:
            return
        table = self.table
        count = len(np.unique(np.concatenate([rows for _, rows in self._faults])))
        advice = self.advice
        # Where many rows are broken, the table is read wrongly: all ties, perhaps.
        if table.can_skip and (count <= SHOWN or 20 * count <= table.n_rows):
            advice += f" {flag('skip_bad_rows')} goes on without them."
        error = BrokenRows(
            table.path,
            f"{plural(count, 'row')} cannot be read, so nothing was read. "
            f"{'; '.join(self._said)}.{advice}",
        )
        error.faults = self._faults
        raise error

    def restore_names(self, sentences: list[str], *columns: str) -> list[Text]:
        """Undo apostrophes before formulas; spellings of one name become one."""
        texts = [self.text[column] for column in columns]
        names = dict.fromkeys(name for text in texts for name in text.values)
        new = {name: name for name in names}
        if not self.table.is_typed:
            new = {name: name[1:] if _GUARDED.match(name) else name for name in names}
        if guarded := sum(old != name for old, name in new.items()):
            sentences.append(
                "The apostrophe that guards against formulas was taken away from "
                f"{plural(guarded, 'name')}."
            )
        distinct = [*dict.fromkeys(new.values())]
        groups = find_spellings(distinct)
        one_name = {name: key for key, group in groups.items() for name in group}
        new = {old: one_name.get(name, name) for old, name in new.items()}
        said = _say_similar([*new.values()])
        if groups:
            listed = [
                f"{shorten(k)} ({len(group)} ways)" for k, group in groups.items()
            ]
            written = f"Names written in several ways are one item: {first_of(listed)}."
            said.insert(0, written)
        self.table.warnings += said
        sentences += said
        return [text.rename(new) for text in texts]


def _say_similar(names: list[str]) -> list[str]:
    """Point out names that differ only in case, blanks or zeros."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        key = _ZEROS.sub(r"\1", "".join(name.casefold().split()))
        groups.setdefault(key, []).append(shorten(name))
    similar = [" and ".join(group) for group in groups.values() if len(group) > 1]
    start = "Names that differ only in case, blanks or zeros are different items"
    return [f"{start}: {first_of(similar, SHOWN)}."] if similar else []


class TableFile:
    """One file of a table, or a frame: its columns, rows and lines."""

    def __init__(
        self,
        path: Path,
        detected: FileFormat,
        frame: pl.DataFrame | None = None,
        *,
        fewest: int = 2,
    ) -> None:
        self.path = path
        self.detected = detected
        self.notes: list[str] = []
        self.is_typed = detected.format not in ("csv", "tsv")
        self.columns: list[str] = []
        self.types: dict[str, Any] = {}
        # Columns of lists or bytes; they are not among `columns`.
        self.skipped: list[str] = []
        self._lines: list[int] = []  # of the rows of JSON Lines
        # Its columns are c0, c1, …, since polars reads some names as patterns.
        self.frame = self._find_typed(frame) if self.is_typed else self._scan_csv()
        if len(self.columns) < fewest:
            unread = f", beside lists or bytes in {first_of(self.skipped)}"
            raise self.error(
                f"the table has one column only ({shorten(self.columns[0])})"
                f"{unread * bool(self.skipped)}; expected two at least, in CSV with a "
                "comma, ; or tab in between."
            )
        self.n_records = self._count_records()

    def _scan(self) -> pl.LazyFrame | pl.DataFrame:
        if self.detected.format == "json":
            return read_json(self.path, self.detected)
        if self.detected.format == "jsonl":
            frame, self._lines = read_json_lines(self.path, self.detected)
            return frame
        if self.detected.format == "pgn":
            frame, self._lines = read_pgn(self.path, self.detected, self.notes)
            return frame
        if self.detected.format == "excel":
            return self._name(read_workbook(self.path, self.detected, self.notes))
        path = self._place
        if self.detected.format == "sqlite":
            return read_answers(path)
        try:
            if self.detected.format == "parquet":
                scan = pl.scan_parquet(path, glob=False)
            else:
                # Which has no such switch, and takes brackets in a name for a pattern.
                scan = pl.scan_ipc(glob.escape(str(path)))
            scan.collect_schema()
        except DAMAGED as error:
            reason = str(error).partition("\n")[0]
            raise self.error(
                f"the {self.format_name} file is damaged or cut short ({reason}); get "
                "it again, whole."
            ) from None
        return scan

    def _find_typed(self, frame: pl.DataFrame | None) -> pl.LazyFrame:
        """Find the typed columns, and the fields of structures."""
        scan = (self._scan() if frame is None else frame).lazy()
        try:
            while pl.Struct in scan.collect_schema().dtypes():
                scan = scan.unnest(selectors.struct(), separator=".")
        except pl.exceptions.DuplicateError as error:
            raise self.error(str(error).partition("\n")[0]) from None
        schema = scan.collect_schema()
        read = [
            i
            for i, kind in enumerate(schema.dtypes())
            if not (kind.is_nested() or kind in _UNREADABLE_TYPES)
        ]
        names = schema.names()
        self.columns = [names[i] for i in read]
        self.types = {name: schema[name] for name in self.columns}
        self.skipped = [name for name in names if name not in self.types]
        if not self.columns:
            raise self.error("the table has no columns of text or numbers.")
        # By number, since polars reads some names as patterns.
        return scan.select(
            selectors.by_index(place).alias(f"c{i}") for i, place in enumerate(read)
        )

    def _name(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Name the columns of a sheet."""
        if self.detected.names is None:
            filled = _fill(["" if "UNNAMED" in c else c for c in frame.columns])
        else:
            filled = self._names(frame.width)
        return frame.rename(dict(zip(frame.columns, filled, strict=True)))

    def _names(self, count: int) -> list[str]:
        """Name the columns of a table without a header."""
        names = (
            self.detected.names or (("left", "right", "outcome")[: 3 * (count == 3)])
        )
        if len(names) != count or len(set(names)) < count:
            raise self.error(
                f"it has {plural(count, 'column')}; name them all, each otherwise, "
                f"with {flag('columns')}."
            )
        return list(names)

    def _scan_csv(self) -> pl.LazyFrame:
        self.columns = self._header()
        self.types = dict.fromkeys(self.columns, pl.String())
        return pl.scan_csv(
            self._place,
            has_header=self.detected.names is None,
            skip_lines=self.detected.skip,
            separator=self.detected.separator,
            infer_schema=False,
            new_columns=[f"c{i}" for i in range(len(self.columns))],
            glob=False,
        )

    def _header(self) -> list[str]:
        _, record = next(self._records())
        line = record.decode("utf-8").lstrip("\ufeff").rstrip("\r\n")
        names, fault = [], ""
        try:
            fields = next(csv.reader([line], delimiter=self.detected.separator))
            names = [name.strip() for name in fields]
        except csv.Error as error:
            fault = f"cannot be read ({error})"
        if self.detected.names is not None and names:
            return self._names(len(names))
        filled = _fill(names)
        if not line.strip():
            fault = "is blank"
        elif "\r" in line:
            fault = "holds a carriage return inside"
        elif len(names) > 1 and all(map(is_finite, names)):
            fault = f"holds numbers ({shorten(line)}; {flag('no_header')} if a row)"
        elif repeated := [*map(shorten, find_repeated(filled))]:
            fault = f"names {plural(len(repeated), 'column')} twice: "
            fault += f"{first_of(repeated)} ({flag('no_header')} if a row)"
        if fault:
            raise self.error(
                f"line {self._above} {fault}; the first line must name the columns, "
                "each otherwise."
            )
        return filled

    @property
    def _above(self) -> int:
        """Number of lines above the first row."""
        return self.detected.skip + (self.detected.names is None)

    def _count_records(self) -> int:
        """Count the records; those of CSV must be complete."""
        count = pl.len().alias("n")
        if self.is_typed:
            return int(self.collect(self.frame.select(count)).item())
        # Fields too many are an error of polars, but only when all columns are read.
        # Fields too few are read as missing values, in the last column too.
        form = self.collect(self.frame.select(count, pl.all().is_null().any()))
        if form[f"c{len(self.columns) - 1}"].item():
            self._check_records()
        return int(form["n"].item())

    def _check_records(self) -> None:
        """Refuse records with stray quotation marks, or of another length."""
        separator = self.detected.separator.encode()
        field = rb'(?:%b|[^"%b]*)' % (_QUOTED.pattern, separator)
        ends = re.escape(separator)
        whole = re.compile(
            rb"(?:\xef\xbb\xbf)?%b(?:%b%b)*[\r\n]*" % (field, ends, field)
        )
        broken: list[str] = []
        for line, record in self._records():
            n_fields = _QUOTED.sub(b"", record).count(separator) + 1
            if not record.strip(b" \r\n"):
                continue
            if b'"' in record and not whole.fullmatch(record):
                broken.append(f"line {line} (a quotation mark inside a field)")
            elif n_fields != len(self.columns):
                broken.append(f"line {line} ({n_fields})")
        if broken:
            raise self.error(
                f"{plural(len(broken), 'row')} with another number of fields than the "
                f"{len(self.columns)} of the header: {first_of(broken, SHOWN)}."
            )

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Collect columns; errors of polars become a `FileError`."""
        try:
            return frame.collect(engine="streaming")
        except DAMAGED as error:
            known = isinstance(error, Exception)
            reason = str(error).partition("\n")[0] if known else "it has no such pages"
        if not self.is_typed:
            self._check_records()
        what = f"{self.format_name} file" if self.is_typed else "table"
        raise self.error(f"the {what} is damaged ({reason}).")

    def error(self, reason: str) -> FileError:
        """Return the error of an unreadable file."""
        return FileError(self.path, reason)

    @property
    def _place(self) -> Path:
        """Where the file, or its plain copy, is."""
        copy = self.detected.copy
        return self.path.absolute() if copy is None else copy.place

    @property
    def format_name(self) -> str:
        """The format as people write it, such as CSV."""
        return _NAMES[self.detected.format]

    @cached_property
    def blank(self) -> Codes:
        """The numbers of blank records, ascending."""
        if self.is_typed or not self.detected.blank:
            return np.empty(0, dtype=np.int64)
        first = -(self.detected.names is None)
        records = enumerate(self._records(), start=first)
        rows = [row for row, (_, record) in records if not record.strip()]
        return np.asarray(rows, dtype=np.int64)

    def places(self, records: Codes) -> list[str]:
        """Name records: "line 2" is the first, or "row 1" in Parquet, 0 in memory."""
        numbers = records.tolist()
        if self.is_typed:
            if self._lines:
                return [f"line {self._lines[row]}" for row in numbers]
            first = 0 if self.detected.format == MEMORY else 1
            return [f"row {row + first}" for row in numbers]
        if not self.detected.quoted:
            return [f"line {record + self._above + 1}" for record in numbers]
        wanted, lines = set(numbers), {}
        first = -(self.detected.names is None)
        for record, (line, _) in enumerate(self._records(), start=first):
            if record in wanted:
                lines[record] = line
                if len(lines) == len(wanted):
                    break
        return [f"line {lines[record]}" for record in numbers]

    def _records(self) -> Iterator[tuple[int, bytes]]:
        """Give the first line (from 1) and the bytes of every record, header first."""
        with open_bytes(self.path, self.detected.copy) as stream:
            skip = self.detected.skip
            start, inside = 1 + skip, False
            parts: list[bytes] = []
            for number, line in enumerate(islice(stream, skip, None), start=start):
                parts.append(line)
                inside ^= line.count(b'"') % 2 == 1
                if not inside:
                    yield start, b"".join(parts)
                    start, parts = number + 1, []
            if parts:
                yield start, b"".join(parts)


class Table:
    """Named columns of one file or several, or of a frame, not yet read."""

    def __init__(self, files: Sequence[TableFile], path: Path | None = None) -> None:
        # ``path`` stands for several files in messages.
        first = files[0]
        for file in files[1:]:
            _refuse_other_table(file, first)
        self.files, self.detected, self.is_typed = files, first.detected, first.is_typed
        self.path = first.path
        if len(files) > 1:
            others = plural(len(files) - 1, "other file")
            self.path = path or Path(f"{first.path.name} and {others}")
        self.can_skip = False  # whether rows that cannot be read may be left out
        self.keep_na = False  # whether NA may be the name of an item
        # What is to be known even by those who read no sentences.
        self.warnings = [note for file in files for note in file.notes]
        self.columns = first.columns
        self.skipped = list(dict.fromkeys(c for file in files for c in file.skipped))
        self._inner_names = {name: f"c{i}" for i, name in enumerate(self.columns)}
        self._frame = first.frame if len(files) == 1 else self._join()
        types = self._frame.collect_schema().dtypes()
        self._types = dict(zip(self.columns, types, strict=True))
        self._starts = np.cumsum([0, *(file.n_records for file in files)])
        # The records that are no rows: blank lines, and what is left out.
        blank = zip(files, self._starts, strict=False)
        self._absent = np.concatenate([file.blank + start for file, start in blank])
        if self.n_rows == 0:
            raise self.error("the table has a header and no rows.")
        self._look_at_head()
        self._refuse_row_as_header()

    @classmethod
    def of(cls, source: Any) -> Table:
        """Open a table that is in memory."""
        path, detected = Path(type(source).__name__), FileFormat(MEMORY)
        return cls([TableFile(path, detected, as_frame(source))])

    def _join(self) -> pl.LazyFrame:
        """Concatenate the rows of all files in common types."""
        mixed = {c for c in self.columns if _is_mixed([f.types[c] for f in self.files])}
        frames = []
        for file in self.files:
            place = {name: pl.col(f"c{i}") for i, name in enumerate(file.columns)}
            frames.append(
                file.frame.select(
                    (_as_text(place[c], file.types[c]) if c in mixed else place[c])
                    .alias(self._inner_names[c])
                    for c in self.columns
                )
            )  # fmt: skip
        return pl.concat(frames, how="vertical_relaxed")

    def _look_at_head(self) -> None:
        head = self._collect([self._col(c) for c in self.columns], _HEAD)
        self.head = self._without_absent(head)
        self.head.columns = self.columns
        self.numeric = {c for c in self.columns if self._is_numeric(self.head[c])}

    def _is_numeric(self, values: pl.Series) -> bool:
        """Say whether half of the first values of a column are numbers."""
        values = values.drop_nulls()
        if values.dtype != pl.String:
            return values.dtype.is_numeric() or values.dtype == pl.Boolean
        values = values.str.strip_chars()
        values = values.filter(values != "")
        if self.detected.separator == ";":
            values = values.str.replace(",", ".", literal=True)
        good = values.cast(pl.Float64, strict=False).is_not_null().sum()
        return 2 * int(good) > len(values)

    def _refuse_row_as_header(self) -> None:
        """Refuse a first line that is a row: its fields recur below themselves."""
        if self.detected.format not in ("csv", "tsv", "excel"):
            return
        head = self.head.select(pl.all().cast(pl.String).str.strip_chars())
        same = pl.DataFrame([head[c] == c for c in self.columns])
        again = same.filter(~pl.all_horizontal(pl.all()))  # not the header once more
        if sum(again[c].any() for c in self.columns) > 1:
            line = shorten(", ".join(self.columns))
            raise self.question(
                f"the first line ({line}) looks like a row and no header; say "
                f"{flag('no_header')}, and {flag('columns')} if its columns are not "
                "left, right and outcome."
            )

    def drop(self, faults: Sequence[tuple[str, NDArray[Any]]]) -> pl.DataFrame:
        """Leave out rows with faults; return their places and faults."""
        reasons: dict[int, list[str]] = {}
        for fault, rows in faults:
            for row in rows.tolist():
                reasons.setdefault(row, []).append(fault)
        rows = np.array(sorted(reasons), dtype=np.int64)
        why = ["; ".join(reasons[row]) for row in rows.tolist()]
        placed = [pl.Series("place", self.places(rows)), pl.Series("reason", why)]
        free = [c for c in self.columns if c not in ("place", "reason")]
        skipped = pl.DataFrame(placed).hstack(self.frame(free)[rows])
        if len(rows) == self.n_rows:
            raise self.error(
                f"no row can be read: {first_of([*dict.fromkeys(why)], SHOWN)}."
            )
        kept = np.ones(self.n_rows, dtype=bool)
        kept[rows] = False
        self.keep(kept)
        return skipped

    def _col(self, column: str) -> pl.Expr:
        return pl.col(self._inner_names[column])

    def error(self, reason: str) -> FileError:
        """Return the error of an unreadable table."""
        return FileError(self.path, reason)

    def question(self, reason: str) -> NeedsAnswer:
        """Return the error of an ambiguous table."""
        return NeedsAnswer(self.path, reason)

    @property
    def n_rows(self) -> int:
        """Number of rows, without blank and dropped ones."""
        return int(self._starts[-1]) - len(self._absent)

    def numbers(self, rows: Codes) -> Codes:
        """Return the numbers of the records of rows."""
        if not len(self._absent):
            return rows
        kept = np.setdiff1d(np.arange(self._starts[-1]), self._absent)
        return kept[rows]

    def keep(self, rows: Flags) -> None:
        """Keep only these of the current rows."""
        left_out = self.numbers(np.flatnonzero(~rows))
        self._absent = np.union1d(self._absent, left_out)
        self._look_at_head()

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """Give columns as they stand in the file."""
        frame = self._without_absent(self._collect([self._col(c) for c in columns]))
        frame.columns = list(columns)
        return frame

    def fingerprint(self) -> NDArray[np.uint64]:
        """Give equal rows of all tables equal numbers, shape (n,)."""
        texts = self.frame(sorted(self.columns)).select(pl.all().cast(pl.String))
        return texts.hash_rows(seed=0).to_numpy()

    def places(self, rows: Codes) -> list[str]:
        """Name rows by line or number, and by file if several."""
        records = self.numbers(rows)
        if len(self.files) == 1:
            return self.files[0].places(records)
        names = [file.path.name for file in self.files]
        if find_repeated(names):
            names = [str(file.path) for file in self.files]
        owner = np.searchsorted(self._starts, records, side="right") - 1
        places = np.empty(len(records), dtype=object)
        for number in np.unique(owner):
            mine = owner == number
            inside = self.files[number].places(records[mine] - self._starts[number])
            places[mine] = [f"{names[number]} {place}" for place in inside]
        return list(places)

    def list_places(
        self, rows: NDArray[Any], values: Sequence[Any] | None = None
    ) -> str:
        """Name the first five rows, with values, and count the others."""
        return list_rows(np.asarray(rows, dtype=np.int64), values, self.places)

    def describe(self) -> list[str]:
        """Describe format, length and unread columns."""
        written, rows = self.detected.written, plural(self.n_rows, "row")
        how = f" ({', '.join(written)})" if written else ""
        sentences = [f"{self.files[0].format_name}{how} with {rows}."]
        if len(self.files) > 1:
            formats = " and ".join(sorted({file.format_name for file in self.files}))
            files = plural(len(self.files), f"{formats} file")
            sentences = [f"{files} with {rows} in all."]
        sentences += [note for file in self.files for note in file.notes]
        return sentences + self.describe_skipped()

    def describe_skipped(self) -> list[str]:
        """Say which columns are not read, if any."""
        if not self.skipped:
            return []
        listed = first_of([*map(shorten, self.skipped)])
        return [f"Left out, because of lists or bytes in them: {listed}."]

    def list_columns(self) -> str:
        """Say which columns there are."""
        return f"The columns are: {first_of([*map(shorten, self.columns)], 20)}."

    def repeats(self, column: str) -> bool:
        """Say whether a value occurs twice in the first rows."""
        return bool(self.head[column].is_duplicated().any())

    def values(self, column: str, rows: Codes) -> list[Any]:
        """Return the raw values of the first few rows."""
        return self.frame([column]).to_series().gather(rows[:SHOWN]).to_list()

    def read(
        self,
        text: Sequence[str] = (),
        numbers: Sequence[str] = (),
        raw: Sequence[str] = (),
    ) -> Columns:
        """Read columns as text, as numbers, and as plain text."""
        text, numbers = list(dict.fromkeys(text)), list(dict.fromkeys(numbers))
        wanted = [self._as_text(c).cast(pl.Categorical) for c in text]
        wanted += [self._as_text(column) for column in raw]
        for column in numbers:
            wanted += self._as_number(column)
        wanted = [value.alias(f"column {i}") for i, value in enumerate(wanted)]
        # Of thousands of columns each is taken in no time, and let go after that.
        series = self._without_absent(self._collect(wanted)).get_columns()[::-1]
        result = Columns(self)
        for column in text:
            result.text[column] = Text.of(series.pop())
        for column in raw:
            result.raw[column] = series.pop()
        for column in numbers:
            result.numbers[column] = series.pop().to_numpy()
            result.bad[column] = np.flatnonzero(series.pop().to_numpy())
        return result

    def _as_text(self, column: str) -> pl.Expr:
        return _as_text(self._col(column), self._types[column])

    def _as_number(self, column: str) -> tuple[pl.Expr, pl.Expr]:
        value = self._col(column)
        has_value = value.is_not_null()
        if self._types[column] in _TEXT_TYPES:
            value = value.cast(pl.String).str.strip_chars()
            if self.detected.separator == ";":
                value = value.str.replace(r"^([-+]?\d*),(\d+)$", "$1.$2")
            has_value = value.is_not_null() & (value != "")
        number = value.cast(pl.Float64, strict=False)
        bad = has_value & ~number.is_finite().fill_null(False)
        return number.fill_null(math.nan), bad

    def _without_absent(self, frame: pl.DataFrame) -> pl.DataFrame:
        if not len(self._absent):
            return frame
        kept = np.ones(frame.height, dtype=bool)
        kept[self._absent[self._absent < frame.height]] = False
        return frame.filter(pl.Series(kept))

    def _collect(self, wanted: list[pl.Expr], first: int | None = None) -> pl.DataFrame:
        frame = self._frame if first is None else self._frame.head(first)
        if len(self.files) == 1:
            return self.files[0].collect(frame.select(wanted))
        try:
            return frame.select(wanted).collect(engine="streaming")
        except DAMAGED as error:
            for file in self.files:  # that which is broken says so
                file.collect(file.frame)
            reason = str(error).partition("\n")[0]
            raise self.error(f"the files cannot be read together ({reason}).") from None


def _fill(names: Sequence[str]) -> list[str]:
    """Name columns without a name, as data frames write row numbers."""
    return [name or f"column {place}" for place, name in enumerate(names, 1)]


def _is_mixed(types: list[Any]) -> bool:
    """Say whether types differ and are not all numeric."""
    kinds = {kind for kind in types if kind != pl.Null}
    return len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds)


def _as_text(value: pl.Expr, kind: Any) -> pl.Expr:
    """Return a column of some type as text; blank text is null."""
    if kind.is_float():
        # Numbers that are names are whole: 7.0 is called 7.
        whole = value.cast(pl.Int64, strict=False)
        names = whole.cast(pl.String), value.cast(pl.String)
        value = pl.when(whole == value).then(names[0]).otherwise(names[1])
    elif kind != pl.String:
        value = value.cast(pl.String)
    empty = value.str.strip_chars() == ""
    return pl.when(empty).then(None).otherwise(value)


def _refuse_other_table(file: TableFile, first: TableFile) -> None:
    """Refuse a file that cannot stand below another one."""
    missing = [shorten(c) for c in first.columns if c not in set(file.columns)]
    more = [shorten(c) for c in file.columns if c not in set(first.columns)]
    differences = [f"it has no {first_of(missing)}"] if missing else []
    differences += [f"it has {first_of(more)} besides"] if more else []
    ways = [(one.is_typed, one.detected.separator) for one in (file, first)]
    if ways[0] != ways[1]:
        differences.append("it is written in another way")
    if differences:
        raise file.error(
            f"it cannot be read together with {first.path}: "
            f"{', and '.join(differences)}."
        )


def check_ending(path: str | os.PathLike[str]) -> Path:
    """Refuse a name to write whose ending is no format."""
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise WriteError(path, "the name must end with .csv, .tsv or .parquet.")
    return path


def write_table(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a table, whole or not at all.

    Parameters
    ----------
    path : str or path
        A ``.csv``, ``.tsv`` or ``.parquet`` file.
    frame : polars.DataFrame
        The table. In CSV and TSV, text and names of columns that a spreadsheet would
        run as formulas get an apostrophe in front.

    Raises
    ------
    WriteError
        If the file cannot be written, or its name has another ending.
    """
    path = check_ending(path)
    ending = path.suffix.lower()
    with writing(path) as temporary:
        if ending == ".parquet":
            frame.write_parquet(temporary)
        else:
            frame = neutralize_formulas(frame)
            frame.write_csv(temporary, separator="\t" if ending == ".tsv" else ",")


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give a temporary file that replaces the target; errors become `WriteError`."""
    try:
        with atomic_path(path) as temporary:
            yield temporary
    except OSError as error:
        reason = error.strerror or str(error).partition("\n")[0]
        raise WriteError(path, f"cannot be written: {reason}.") from None


def neutralize_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text that a spreadsheet would run."""
    risky = r"^('*[=+\-@\t\r])"
    frame = frame.with_columns(pl.col(pl.String).str.replace(risky, "'$1"))
    return frame.rename(lambda name: re.sub(risky, r"'\1", name))
