# SPDX-License-Identifier: BSD-3-Clause
"""Tables in CSV, Parquet and Arrow files, of which only the columns asked for are read.

Every field of a CSV file is text until it is asked for as a number, so that nothing is
inferred: ``007`` stays a name. Text is kept as numbers of distinct values while it is
read, which is why ten million rows need the memory of their columns only.

The records of a CSV file with their lines, for what polars does not tell.

A record is a row of the table. It ends with the line, unless the line ends within
quotation marks. This is slower than polars and only used to find and count lines.

Text that a spreadsheet would run as a formula, made harmless and restored.

A text cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets
an apostrophe in front, also one that begins with apostrophes and then one of these.
Reading takes one apostrophe away from exactly such cells, so nothing is lost.
"""

from __future__ import annotations

import csv
import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.columns import Distinct, TextColumn, number_keys
from tiebreak.io.formats import Sniffed, open_bytes
from tiebreak.io.result import BrokenRows, FileError, plural, shorten

_QUOTED = re.compile(rb'"[^"]*(?:""[^"]*)*"')
_MARK = b"\xef\xbb\xbf"


def read_records(path: Path, gzipped: bool) -> Iterator[tuple[int, bytes]]:
    """Give the records of a file, the header first.

    Parameters
    ----------
    path : Path
        The file.
    gzipped : bool
        Whether it is packed by gzip.

    Yields
    ------
    line : int
        Number of the first line of the record, from 1.
    record : bytes
        The record, with its line end.
    """
    with open_bytes(path, gzipped) as stream:
        start, inside = 1, False
        parts: list[bytes] = []
        for number, line in enumerate(stream, start=1):
            parts.append(line)
            inside ^= line.count(b'"') % 2 == 1
            if not inside:
                yield start, b"".join(parts)
                start, parts = number + 1, []
        if parts:
            yield start, b"".join(parts)


def check_records(path: Path, sniffed: Sniffed, expected: int) -> None:
    """Refuse records with stray quotation marks, or of another length.

    Parameters
    ----------
    path : Path
        The file.
    sniffed : Sniffed
        What the first look found.
    expected : int
        Number of fields of the header.

    Raises
    ------
    FileError
        If there are such records; the message counts them and names the first lines.
    """
    separator = sniffed.separator.encode()
    ragged: list[str] = []
    stray: list[str] = []
    for line, record in read_records(path, sniffed.gzipped):
        if not record.strip(b" \r\n"):
            continue
        bare = record
        if b'"' in record:
            bare = _QUOTED.sub(b"", record)
            if b'"' in bare or _is_stray(record, separator):
                stray.append(f"line {line}")
                continue
        found = bare.count(separator) + 1
        if found != expected:
            ragged.append(f"line {line} ({found})")
    if stray:
        raise FileError(
            path,
            f"{plural(len(stray), 'row')} with a quotation mark inside a field, so "
            f"nothing was read: {_first(stray)}. Quote the whole field and write the "
            'mark twice: "5"" pipe".',
        )
    if ragged:
        raise FileError(
            path,
            f"{plural(len(ragged), 'row')} with another number of fields than the "
            f"{expected} of the header, so nothing was read: {_first(ragged)}.",
        )


def _is_stray(record: bytes, separator: bytes) -> bool:
    """Tell whether a quoted section is only a part of its field."""
    for match in _QUOTED.finditer(record):
        start, end = match.span()
        begins = start == 0 or record[start - 1 : start] == separator
        if not begins and record[:start] != _MARK:
            return True
        if record[end : end + 1] not in (b"", separator, b"\r", b"\n"):
            return True
    return False


def _first(places: list[str]) -> str:
    more = len(places) - 5
    return ", ".join(places[:5]) + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True, eq=False)
class Text:
    """A column of text by its distinct values.

    Attributes
    ----------
    codes : ndarray of int64 of shape (n,)
        The number of the value of each row; -1 where there is none.
    values : list of str
        The distinct values, in order of first appearance.
    """

    codes: NDArray[np.int64]
    values: list[str]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value, shape (n,)."""
        return self.codes < 0

    def take(self, rows: NDArray[Any]) -> Text:
        """Make the column of some rows, and of the values that they hold."""
        codes = self.codes[rows]
        keys = codes.astype(np.uint64)
        new, first = number_keys(keys)
        values = [self.values[code] for code in codes[first]]
        return Text(new, values)

    def array(self) -> TextColumn:
        """Give the column as an array of str, when no value is missing."""
        _, first = number_keys(self.codes.astype(np.uint64))
        return TextColumn.of(Distinct(self.codes, first, self.values))


def number_text(series: pl.Series) -> Text:
    """Number the distinct values of a column of text.

    Parameters
    ----------
    series : polars.Series
        Text, as it is or as categories; null where there is none.

    Returns
    -------
    Text
    """
    series = series.cast(pl.Categorical)
    physical = series.to_physical()
    missing = series.is_null().to_numpy()
    keys = physical.fill_null(0).to_numpy().astype(np.uint64)
    rows = np.flatnonzero(~missing) if missing.any() else None
    codes, first = number_keys(keys if rows is None else keys[rows])
    kept = series.gather(first if rows is None else rows[first]).cast(pl.String)
    if rows is not None:
        filled = np.full(len(series), -1, dtype=np.int64)
        filled[rows] = codes
        codes = filled
    return Text(codes, kept.to_list())


_HEAD = 1000
_TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)
_UNREADABLE_TYPES = (pl.Binary, pl.Object)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns that were read together.

    Attributes
    ----------
    text : dict of str to Text
        Columns asked for as text.
    numbers : dict of str to ndarray of float64 of shape (n,)
        Columns asked for as numbers; NaN where there is none.
    bad : dict of str to ndarray of int64
        The rows where a column of numbers holds something else, or NaN, or an
        infinite number.
    raw : dict of str to polars.Series
        Columns asked for as text of which most values may be different.
    """

    text: dict[str, Text]
    numbers: dict[str, NDArray[np.float64]]
    bad: dict[str, NDArray[np.int64]]
    raw: dict[str, pl.Series]

    def note_bad(self, column: str, what: str, broken: BrokenRows) -> None:
        """Note the rows where a column of numbers holds something else, or nothing.

        Parameters
        ----------
        column : str
            The column.
        what : str
            What a number in it is called.
        broken : BrokenRows
            Where the rows are noted.
        """
        bad = self.bad[column]
        missing = np.setdiff1d(np.flatnonzero(np.isnan(self.numbers[column])), bad)
        broken.add(f"no {what} in {column}", missing)
        if len(bad):
            fault = f"values of {column} that are not finite numbers"
            broken.add(fault, bad, broken.values(column, bad))


class Table:
    """A file with named columns, checked for its form and not yet read.

    Parameters
    ----------
    path : Path
        The file.
    sniffed : Sniffed
        What the first look found.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    left_out : list of str
        Columns of a Parquet or Arrow file that hold lists, structures or bytes, which
        no cell of a table holds; they are not among `columns`.

    Raises
    ------
    FileError
        If there is no usable header, no row, or a row of another length.
    """

    def __init__(self, path: Path, sniffed: Sniffed) -> None:
        self.path = path
        self.sniffed = sniffed
        # An Arrow file has columns with types too.
        self.is_parquet = sniffed.format in ("parquet", "arrow")
        self.left_out: list[str] = []
        self._frame = self._scan_parquet() if self.is_parquet else self._scan_csv()
        if len(self.columns) < 2:
            expected = "columns separated by a comma, a semicolon or a tab"
            if self.is_parquet:
                expected = "two at least" + " that hold no lists" * bool(self.left_out)
            raise FileError(
                path,
                f"the file has one column only ({shorten(self.columns[0])}); expected "
                f"{expected}.",
            )
        self._check_form()
        head = self._collect([self._col(c) for c in self.columns], _HEAD)
        self.head = self._without_blank(head)
        self.head.columns = self.columns
        if self.n_rows == 0:
            raise FileError(path, "the file has a header and no rows.")

    def _scan_parquet(self) -> pl.LazyFrame:
        try:
            frame = self._scan_typed()
            schema = frame.collect_schema()
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise FileError(
                self.path,
                f"the {self._kind} file is damaged or cut short ({reason}); get it "
                "again, whole.",
            ) from None
        self.columns = schema.names()
        self._types = dict(schema)
        self.left_out = [
            name
            for name, kind in schema.items()
            if kind.is_nested() or kind in _UNREADABLE_TYPES
        ]
        self.columns = [c for c in self.columns if c not in set(self.left_out)]
        if not self.columns:
            raise FileError(self.path, "the file has no columns of text or numbers.")
        return frame.rename(self._inner(schema.names()))

    @property
    def _kind(self) -> str:
        return "Arrow" if self.sniffed.format == "arrow" else "Parquet"

    def _scan_typed(self) -> pl.LazyFrame:
        path = self.path.absolute()
        if self.sniffed.format == "parquet":
            return pl.scan_parquet(path, glob=False)
        # Which has no such switch, and takes brackets in a name for a pattern.
        return pl.scan_ipc(glob.escape(str(path)))

    def _scan_csv(self) -> pl.LazyFrame:
        self.columns = self._header()
        self._types = dict.fromkeys(self.columns, pl.String())
        return pl.scan_csv(
            self.path.absolute(),
            separator=self.sniffed.separator,
            infer_schema=False,
            new_columns=list(self._inner(self.columns).values()),
            glob=False,
        )

    def _inner(self, columns: list[str]) -> dict[str, str]:
        """Name columns by number, since polars reads some names as patterns."""
        self._inner_names = {name: f"c{i}" for i, name in enumerate(columns)}
        return self._inner_names

    def _col(self, column: str) -> pl.Expr:
        return pl.col(self._inner_names[column])

    def _header(self) -> list[str]:
        _, record = next(self._records())
        line = record.decode("utf-8").lstrip("\ufeff").rstrip("\r\n")
        if not line.strip():
            raise FileError(
                self.path, "line 1 is blank; the first line must name the columns."
            )
        names = next(csv.reader([line], delimiter=self.sniffed.separator, strict=False))
        names = [name.strip() for name in names]
        if len(names) > 1 and all(_is_number(name) for name in names):
            raise FileError(
                self.path,
                f"line 1 holds numbers ({shorten(line)}); the first line must name the "
                "columns.",
            )
        # A first column without a name is what data frames write for row numbers.
        names = [name or f"column {place}" for place, name in enumerate(names, 1)]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise FileError(
                self.path,
                f"line 1 names {plural(len(repeated), 'column')} twice: "
                f"{', '.join(map(shorten, repeated))}; the first line must name the "
                "columns, and each otherwise.",
            )
        return names

    @property
    def n_rows(self) -> int:
        """Number of rows, blank lines left out."""
        return self._n_records - len(self._blank)

    @cached_property
    def _blank(self) -> NDArray[np.int64]:
        """The numbers of the records that are blank lines, ascending."""
        if self.is_parquet or not self.sniffed.blank:
            return np.empty(0, dtype=np.int64)
        records = enumerate(self._records(), start=-1)
        rows = [row for row, (_, record) in records if not record.strip()]
        return np.asarray(rows, dtype=np.int64)

    def places(self, rows: NDArray[np.int64]) -> list[str]:
        """Name places in the file.

        Parameters
        ----------
        rows : ndarray of int64
            Rows of the table, from 0, without blank lines.

        Returns
        -------
        list of str
            ``"line 2"`` for the first row below the header; ``"row 1"`` in Parquet.
        """
        if self.is_parquet:
            return [f"row {row + 1}" for row in rows.tolist()]
        records = rows + np.zeros(len(rows), dtype=np.int64)
        for blank in self._blank:
            records[records >= blank] += 1
        if not self.sniffed.quoted:
            return [f"line {record + 2}" for record in records.tolist()]
        wanted, found = set(records.tolist()), {}
        for record, (line, _) in enumerate(self._records(), start=-1):
            if record in wanted:
                found[record] = line
                if len(found) == len(wanted):
                    break
        return [f"line {found[record]}" for record in records.tolist()]

    def say_left_out(self) -> str:
        """Say which columns hold what no cell of a table holds."""
        listed = ", ".join(map(shorten, self.left_out))
        return f"Left out, because of lists, structures or bytes in them: {listed}."

    def broken(self) -> BrokenRows:
        """Make the collector of rows that cannot be read."""
        return BrokenRows(self.path, self.places, self.values)

    def values(self, column: str, rows: NDArray[np.int64]) -> list[Any]:
        """Give the first few values of some rows, as they stand in the file."""
        frame = self._without_blank(self._collect([self._col(column)]))
        return frame.to_series().gather(rows[:5]).to_list()

    def _records(self) -> Iterator[tuple[int, bytes]]:
        return read_records(self.path, self.sniffed.gzipped)

    def read(
        self,
        text: Sequence[str] = (),
        numbers: Sequence[str] = (),
        raw: Sequence[str] = (),
    ) -> Columns:
        """Read columns.

        Parameters
        ----------
        text, numbers, raw : sequence of str
            Columns to be read as text, as numbers, and as text that is not numbered;
            one may be several.

        Returns
        -------
        Columns

        Raises
        ------
        FileError
            If the file is not a table throughout.
        """
        text, numbers = list(dict.fromkeys(text)), list(dict.fromkeys(numbers))
        wanted = [
            self._as_text(c).cast(pl.Categorical).alias(f"text {i}")
            for i, c in enumerate(text)
        ]
        wanted += [self._as_text(c).alias(f"raw {i}") for i, c in enumerate(raw)]
        for i, column in enumerate(numbers):
            value, bad = self._as_number(column)
            wanted += [value.alias(f"number {i}"), bad.alias(f"bad {i}")]
        frame = self._without_blank(self._collect(wanted))
        result = Columns({}, {}, {}, {})
        for i, column in enumerate(raw):
            result.raw[column] = frame.drop_in_place(f"raw {i}")
        for i, column in enumerate(text):
            result.text[column] = number_text(frame.drop_in_place(f"text {i}"))
        for i, column in enumerate(numbers):
            faulty = frame.drop_in_place(f"bad {i}").to_numpy()
            result.bad[column] = np.flatnonzero(faulty)
            series = frame.drop_in_place(f"number {i}").fill_null(np.nan)
            result.numbers[column] = series.to_numpy()
        return result

    def _as_text(self, column: str) -> pl.Expr:
        value, kind = self._col(column), self._types[column]
        if kind.is_float():
            # Numbers that are names are whole: 7.0 is called 7.
            whole = value.cast(pl.Int64, strict=False)
            value = (
                pl.when(whole == value)
                .then(whole.cast(pl.String))
                .otherwise(value.cast(pl.String))
            )
        elif kind != pl.String:
            value = value.cast(pl.String)
        empty = value.str.strip_chars() == ""
        return pl.when(empty).then(None).otherwise(value)

    def _as_number(self, column: str) -> tuple[pl.Expr, pl.Expr]:
        value, kind = self._col(column), self._types[column]
        if kind in _TEXT_TYPES:
            value = value.cast(pl.String).str.strip_chars()
            if self.sniffed.separator == ";":
                value = value.str.replace(r"^([-+]?\d*),(\d+)$", "$1.$2")
            number = value.cast(pl.Float64, strict=False)
            given = value.is_not_null() & (value != "")
        else:
            number = value.cast(pl.Float64, strict=False)
            given = value.is_not_null()
        return number, given & ~number.is_finite().fill_null(False)

    def _without_blank(self, frame: pl.DataFrame) -> pl.DataFrame:
        if not len(self._blank):
            return frame
        kept = np.ones(frame.height, dtype=bool)
        kept[self._blank[self._blank < frame.height]] = False
        return frame.filter(pl.Series(kept))

    def _check_form(self) -> None:
        """Read every field once and keep nothing, to see that all rows are whole.

        Fields too many are an error of polars, but only when all columns are read.
        Fields too few are read as missing values, in the last column too.
        """
        last = self._col(self.columns[-1]).is_null().any().alias("last")
        others = [
            self._col(column).is_null().any().alias(f"other {number}")
            for number, column in enumerate(self.columns[:-1])
        ]
        found = self._collect([pl.len().alias("number of rows"), last, *others])
        self._n_records = int(found["number of rows"].item())
        if not self.is_parquet and found["last"].item():
            check_records(self.path, self.sniffed, len(self.columns))

    def _collect(self, wanted: list[pl.Expr], first: int | None = None) -> pl.DataFrame:
        frame = self._frame if first is None else self._frame.head(first)
        try:
            return frame.select(wanted).collect(engine="streaming")
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).partition("\n")[0]
        if not self.is_parquet:
            check_records(self.path, self.sniffed, len(self.columns))
        what = f"{self._kind} file" if self.is_parquet else "table"
        raise FileError(self.path, f"the {what} is damaged ({reason}).")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def neutralize_formulas(series: pl.Series) -> pl.Series:
    """Put an apostrophe before text that a spreadsheet would run.

    Parameters
    ----------
    series : polars.Series
        A column; of any type but text it is given back as it is.

    Returns
    -------
    polars.Series

    Examples
    --------
    >>> neutralize_formulas(pl.Series(["=1+1", "Ada", "'=1"])).to_list()
    ["'=1+1", 'Ada', "''=1"]
    """
    if series.dtype != pl.String:
        return series
    risky = series.str.contains(r"^'*[=+\-@\t\r]")
    return series.zip_with(~risky.fill_null(False), "'" + series)


def restore_names(left: Text, right: Text, sentences: list[str]) -> tuple[Text, Text]:
    """Undo the apostrophes before formulas, and blanks that tell two names apart.

    Parameters
    ----------
    left, right : Text
        Columns of names from a CSV file.
    sentences : list of str
        Where it is said what was changed.

    Returns
    -------
    left, right : Text
    """
    names = dict.fromkeys((*left.values, *right.values))
    new = {name: name[1:] if _GUARDED.match(name) else name for name in names}
    if guarded := sum(old != name for old, name in new.items()):
        sentences.append(
            "The apostrophe that guards against formulas was taken away from "
            f"{plural(guarded, 'name')}."
        )
    if len({name.strip() for name in new.values()}) < len(set(new.values())):
        blanks = sum(name != name.strip() for name in new.values())
        new = {old: name.strip() for old, name in new.items()}
        sentences.append(
            f"Blanks around {plural(blanks, 'name')} were taken away, because names "
            "differed by them alone."
        )
    return _rename(left, new), _rename(right, new)


def _rename(text: Text, new: dict[str, str]) -> Text:
    renamed = [new[value] for value in text.values]
    if renamed == text.values:
        return text
    number: dict[str, int] = {}
    codes = [number.setdefault(value, len(number)) for value in renamed]
    # One more, because a missing value has the number -1.
    return Text(np.array([*codes, -1], dtype=np.int64)[text.codes], list(number))
